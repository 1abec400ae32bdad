/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection/selection_search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Depth first. A node holds a set that is allowed and the items that may still join it, each of
 * which is allowed alone with the set. It is heavier by at most the sum, over groups of items no
 * two of which can be together, of the heaviest item of each; groups are found greedily among pairs
 * known to conflict. Sets known to be allowed or not answer for their subsets and supersets, so
 * most questions never reach the data. */

enum { MAX_ITEMS = 64, MAX_PAIRS = MAX_ITEMS * (MAX_ITEMS - 1) / 2, MAX_KNOWN = 4096 };

/* Sets that answer for others: the newest of them, and their values. */
typedef struct known_sets {
    uint64_t sets[MAX_KNOWN];
    double values[MAX_KNOWN];
    size_t n;
} known_sets;

typedef struct selection_search {
    const selection_problem *problem;
    selection_result *result;
    known_sets *forbidden, *allowed;
    double open; /* the heaviest that sets left unexplored can be */
    uint64_t asked[MAX_PAIRS];
    double values[MAX_PAIRS];
} selection_search;

#define BIT(i) (UINT64_C(1) << (i))

static double set_weight(const selection_problem *problem, uint64_t set)
{
    double sum = 0;
    for (; set != 0; set &= set - 1)
        sum += problem->weights[__builtin_ctzll(set)];
    return sum;
}

/* ---- is a set allowed? ------------------------------------------------------ */

static void known_add(known_sets *known, uint64_t set, double value)
{
    size_t at = known->n++ % MAX_KNOWN;
    known->sets[at] = set;
    known->values[at] = value;
}

static size_t known_count(const known_sets *known)
{
    return known->n < MAX_KNOWN ? known->n : MAX_KNOWN;
}

/* 1 or 0, or -1 when nobody knows. */
static int search_recall(const selection_search *s, uint64_t set)
{
    for (size_t i = known_count(s->forbidden); i-- > 0;)
        if ((s->forbidden->sets[i] & ~set) == 0)
            return 0;
    for (size_t i = known_count(s->allowed); i-- > 0;)
        if ((set & ~s->allowed->sets[i]) == 0)
            return 1;
    return -1;
}

cellar_status cellar_selection_ask(const selection_problem *problem, uint64_t base,
                                   const uint64_t *sets, size_t n, double *values,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (problem->values != NULL)
        return problem->values(problem->context, base, sets, n, values, err);
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(problem->value(problem->context, sets[i], &values[i], err));
out:
    return status;
}

static cellar_status search_evaluate(selection_search *s, uint64_t base, const uint64_t *sets,
                                     size_t n, double *values, cellar_error *err)
{
    const cellar_progress *progress = &s->problem->progress;
    s->result->n_evaluations += n;
    if (progress->report != NULL && progress->report(progress->context, "choosing",
                                                     (double) s->result->n_evaluations /
                                                         (double) s->problem->max_evaluations) != 0)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "the search was cancelled");
    return cellar_selection_ask(s->problem, base, sets, n, values, err);
}

static int search_learn(selection_search *s, uint64_t set, double value)
{
    int allowed = value <= s->problem->limit;
    known_add(allowed ? s->allowed : s->forbidden, set, value);
    return allowed;
}

/* `base` is a part of the set that other questions share. */
static cellar_status search_allows(selection_search *s, uint64_t base, uint64_t set, int *allowed,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double value;
    *allowed = search_recall(s, set);
    if (*allowed >= 0)
        return CELLAR_OK;
    CELLAR_TRY(search_evaluate(s, base, &set, 1, &value, err));
    *allowed = search_learn(s, set, value);
out:
    return status;
}

/* ---- the best so far -------------------------------------------------------- */

/* The weight that a new set must exceed. */
static double search_threshold(const selection_search *s)
{
    const selection_result *result = s->result;
    return result->n_sets == s->problem->n_wanted ? result->sets[result->n_sets - 1].weight
                                                  : -INFINITY;
}

static int search_is_over(const selection_search *s)
{
    return s->result->n_evaluations >= s->problem->max_evaluations;
}

/* When time is over nobody knows: the set is taken for one. */
static cellar_status search_is_maximal(selection_search *s, uint64_t set, int *maximal,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *maximal = 1;
    for (size_t i = 0; i < s->problem->n_items && *maximal && !search_is_over(s); i++) {
        int allowed;
        if (((set | s->problem->must_not) >> i & 1) != 0)
            continue;
        CELLAR_TRY(search_allows(s, set, set | BIT(i), &allowed, err));
        *maximal = !allowed;
    }
out:
    return status;
}

/* The value of an allowed set, NAN when it is not remembered and time is over. */
static cellar_status search_tell(selection_search *s, uint64_t set, double *value,
                                 cellar_error *err)
{
    for (size_t i = known_count(s->allowed); i-- > 0;)
        if (s->allowed->sets[i] == set) {
            *value = s->allowed->values[i];
            return CELLAR_OK;
        }
    *value = NAN;
    return search_is_over(s) ? CELLAR_OK : search_evaluate(s, set, &set, 1, value, err);
}

static cellar_status search_record(selection_search *s, uint64_t set, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    selection_result *result = s->result;
    cellar_selection_set entry = {.columns = set, .weight = set_weight(s->problem, set)};
    size_t at;
    int maximal;

    if (!(entry.weight > search_threshold(s)))
        return CELLAR_OK;
    CELLAR_TRY(search_is_maximal(s, set, &maximal, err));
    if (!maximal)
        goto out;
    for (size_t i = 0; i < result->n_sets; i++)
        if (result->sets[i].columns == set)
            goto out;
    CELLAR_TRY(search_tell(s, set, &entry.exposure, err));
    if (isnan(entry.exposure))
        goto out;
    if (result->n_sets < s->problem->n_wanted)
        result->n_sets++;
    for (at = result->n_sets - 1; at > 0 && result->sets[at - 1].weight < entry.weight; at--)
        result->sets[at] = result->sets[at - 1];
    result->sets[at] = entry;
out:
    return status;
}

/* ---- how heavy can it get? -------------------------------------------------- */

/* At most one item of each group of mutual conflicts can join; friends[i] are those that can be
 * with item i. */
static double search_bound(const selection_search *s, uint64_t candidates, const uint64_t *friends)
{
    double sum = 0;
    while (candidates != 0) {
        uint64_t group = candidates;
        double heaviest = 0;
        while (group != 0) {
            size_t i = (size_t) __builtin_ctzll(group);
            heaviest = fmax(heaviest, s->problem->weights[i]);
            candidates &= ~BIT(i);
            group &= ~friends[i] & ~BIT(i);
        }
        sum += heaviest;
    }
    return sum;
}

static int search_exceeds(const selection_search *s, double weight)
{
    return weight > search_threshold(s) * (1 + 1e-12);
}

/* Leaves out items with too little to join them, until there are none. */
static uint64_t search_prune(const selection_search *s, uint64_t set, uint64_t candidates,
                             const uint64_t *friends)
{
    double weight = set_weight(s->problem, set);
    uint64_t before;
    do {
        before = candidates;
        for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
            size_t i = (size_t) __builtin_ctzll(rest);
            if (!search_exceeds(s, weight + s->problem->weights[i] +
                                       search_bound(s, friends[i] & candidates, friends)))
                candidates &= ~BIT(i);
        }
    } while (candidates != before);
    return candidates;
}

/* ---- the tree --------------------------------------------------------------- */

/* The candidates that are allowed alone with the set; when time is over, all that may be. */
static cellar_status search_filter(selection_search *s, uint64_t set, uint64_t *candidates,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (uint64_t rest = *candidates; rest != 0 && !search_is_over(s); rest &= rest - 1) {
        size_t i = (size_t) __builtin_ctzll(rest);
        int allowed;
        CELLAR_TRY(search_allows(s, set, set | BIT(i), &allowed, err));
        if (!allowed)
            *candidates &= ~BIT(i);
    }
out:
    return status;
}

static void pair_part(uint64_t pair, uint64_t *friends)
{
    friends[__builtin_ctzll(pair)] &= ~pair;
    friends[__builtin_ctzll(pair & (pair - 1))] &= ~pair;
}

/* Which pairs of candidates can both join the set. None of them tells anything about another, so
 * they are asked about together. When time is over, all are believed to: the bound is then weaker,
 * not wrong. */
static cellar_status search_pairs(selection_search *s, uint64_t set, uint64_t candidates,
                                  uint64_t *friends, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t left = search_is_over(s) ? 0 : s->problem->max_evaluations - s->result->n_evaluations;
    size_t n = 0;
    for (uint64_t rest = candidates; rest != 0; rest &= rest - 1)
        friends[__builtin_ctzll(rest)] = candidates & ~(rest & -rest);
    for (uint64_t a = candidates; a != 0; a &= a - 1)
        for (uint64_t b = a & (a - 1); b != 0; b &= b - 1) {
            uint64_t pair = (a & -a) | (b & -b);
            int allowed = search_recall(s, set | pair);
            if (allowed == 0)
                pair_part(pair, friends);
            else if (allowed < 0 && n < left)
                s->asked[n++] = set | pair;
        }
    if (n > 0)
        CELLAR_TRY(search_evaluate(s, set, s->asked, n, s->values, err));
    for (size_t i = 0; i < n; i++)
        if (!search_learn(s, s->asked[i], s->values[i]))
            pair_part(s->asked[i] & ~set, friends);
out:
    return status;
}

/* The item with the least that can join it: its branch is small, and without it the rest is too. */
static size_t search_pick(const selection_search *s, uint64_t candidates, const uint64_t *friends)
{
    size_t best = 0;
    double least = INFINITY;
    for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
        size_t i = (size_t) __builtin_ctzll(rest);
        double weight = set_weight(s->problem, friends[i] & candidates);
        if (weight < least) {
            least = weight;
            best = i;
        }
    }
    return best;
}

/* Excluding an item is the loop, including one the recursion: the depth is at most the number of
 * items. */
static cellar_status search_node(selection_search *s, uint64_t set, uint64_t candidates,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t friends[MAX_ITEMS] = {0};
    double weight = set_weight(s->problem, set);
    int allowed;

    if (!search_exceeds(s, weight + set_weight(s->problem, candidates)))
        return CELLAR_OK;
    if (candidates == 0)
        return search_record(s, set, err);
    CELLAR_TRY(search_pairs(s, set, candidates, friends, err));
    for (;;) {
        size_t item;
        candidates = search_prune(s, set, candidates, friends);
        if (candidates == 0 || !search_exceeds(s, weight + search_bound(s, candidates, friends)))
            break;
        if (search_is_over(s)) {
            s->open = fmax(s->open, weight + search_bound(s, candidates, friends));
            goto out;
        }
        CELLAR_TRY(search_allows(s, set, set | candidates, &allowed, err));
        if (allowed) { /* all other sets of the node are subsets of this one */
            CELLAR_TRY(search_record(s, set | candidates, err));
            break;
        }
        item = search_pick(s, candidates, friends);
        candidates &= ~BIT(item);
        CELLAR_TRY(search_node(s, set | BIT(item), friends[item] & candidates, err));
    }
out:
    return status;
}

/* The candidate that comes next in a first answer: the heaviest, or the one that costs least for
 * its weight. Those that do not fit are left out; MAX_ITEMS when none is left or time is over. */
static cellar_status search_next(selection_search *s, uint64_t set, uint64_t *candidates,
                                 int by_cost, size_t *next, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double best = INFINITY;
    *next = MAX_ITEMS;
    for (uint64_t rest = *candidates; rest != 0 && !search_is_over(s); rest &= rest - 1) {
        size_t i = (size_t) __builtin_ctzll(rest);
        double value = 1, rank;
        if (by_cost)
            CELLAR_TRY(search_evaluate(s, set, (uint64_t[]){set | BIT(i)}, 1, &value, err));
        rank = value / s->problem->weights[i];
        if (value > s->problem->limit && by_cost)
            *candidates &= ~BIT(i);
        else if (rank < best) {
            best = rank;
            *next = i;
        }
    }
out:
    return status;
}

/* A first answer: items in turn, as long as they fit. */
static cellar_status search_greedy(selection_search *s, uint64_t set, uint64_t candidates,
                                   int by_cost, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    while (candidates != 0 && !search_is_over(s)) {
        size_t next;
        int allowed = 0;
        CELLAR_TRY(search_next(s, set, &candidates, by_cost, &next, err));
        if (next == MAX_ITEMS || search_is_over(s))
            break;
        CELLAR_TRY(search_allows(s, set, set | BIT(next), &allowed, err));
        candidates &= ~BIT(next);
        if (allowed)
            set |= BIT(next);
    }
    CELLAR_TRY(search_record(s, set, err));
out:
    return status;
}

static uint64_t problem_candidates(const selection_problem *problem)
{
    uint64_t all = problem->n_items == MAX_ITEMS ? ~UINT64_C(0) : BIT(problem->n_items) - 1;
    return all & ~problem->must & ~problem->must_not;
}

cellar_status cellar_selection_search(const selection_problem *problem, selection_result *result,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    selection_search s = {.problem = problem, .result = result, .open = -INFINITY};
    uint64_t candidates = problem_candidates(problem);
    int allowed;

    result->n_sets = 0;
    result->gap = 0;
    s.forbidden = cellar_alloc(1, sizeof *s.forbidden);
    s.allowed = cellar_alloc(1, sizeof *s.allowed);
    if (s.forbidden == NULL || s.allowed == NULL) {
        status = cellar_fail_memory(err, "a search");
        goto out;
    }
    CELLAR_TRY(search_allows(&s, problem->must, problem->must, &allowed, err));
    if (!allowed)
        goto out;
    CELLAR_TRY(search_filter(&s, problem->must, &candidates, err));
    CELLAR_TRY(search_greedy(&s, problem->must, candidates, 0, err));
    CELLAR_TRY(search_greedy(&s, problem->must, candidates, 1, err));
    CELLAR_TRY(search_node(&s, problem->must, candidates, err));
    if (result->n_sets == 0) /* there was time for little more than this */
        CELLAR_TRY(search_record(&s, problem->must, err));
    result->gap = fmax(0, s.open - result->sets[0].weight);
out:
    cellar_free(s.allowed);
    cellar_free(s.forbidden);
    return status;
}
