/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection_search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Depth first. A node holds a set that is allowed and the items that may still join it, each of
 * which is allowed alone with the set. It is heavier by at most the sum, over groups of items no
 * two of which can be together, of the heaviest item of each; groups are found greedily among pairs
 * known to conflict. Sets known to be allowed or not answer for their subsets and supersets, so
 * most questions never reach the data. */

enum { MAX_ITEMS = 64, MAX_KNOWN = 4096 };

/* Sets that answer for others: the newest of them. */
typedef struct known_sets {
    uint64_t sets[MAX_KNOWN];
    size_t n;
} known_sets;

typedef struct selection_search {
    const selection_problem *problem;
    selection_result *result;
    uint64_t conflicts[MAX_ITEMS]; /* items that cannot be with this one, in the must set */
    known_sets *forbidden, *allowed;
    double open; /* the heaviest that sets left unexplored can be */
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

static void known_add(known_sets *known, uint64_t set)
{
    known->sets[known->n++ % MAX_KNOWN] = set;
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

static cellar_status search_evaluate(selection_search *s, uint64_t set, double *value,
                                     cellar_error *err)
{
    const cellar_progress *progress = &s->problem->progress;
    s->result->n_evaluations++;
    if (progress->report != NULL && progress->report(progress->context, "choosing",
                                                     (double) s->result->n_evaluations /
                                                         (double) s->problem->max_evaluations) != 0)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "the search was cancelled");
    return s->problem->value(s->problem->context, set, value, err);
}

static cellar_status search_allows(selection_search *s, uint64_t set, int *allowed,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double value;
    *allowed = search_recall(s, set);
    if (*allowed >= 0)
        return CELLAR_OK;
    CELLAR_TRY(search_evaluate(s, set, &value, err));
    *allowed = value <= s->problem->limit;
    known_add(*allowed ? s->allowed : s->forbidden, set);
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

static cellar_status search_is_maximal(selection_search *s, uint64_t set, int *maximal,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *maximal = 1;
    for (size_t i = 0; i < s->problem->n_items && *maximal; i++) {
        int allowed;
        if (((set | s->problem->must_not) >> i & 1) != 0)
            continue;
        CELLAR_TRY(search_allows(s, set | BIT(i), &allowed, err));
        *maximal = !allowed;
    }
out:
    return status;
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
    CELLAR_TRY(search_evaluate(s, set, &entry.exposure, err));
    if (result->n_sets < s->problem->n_wanted)
        result->n_sets++;
    for (at = result->n_sets - 1; at > 0 && result->sets[at - 1].weight < entry.weight; at--)
        result->sets[at] = result->sets[at - 1];
    result->sets[at] = entry;
out:
    return status;
}

/* ---- how heavy can it get? -------------------------------------------------- */

/* At most one item of each group of mutual conflicts can join. Items come heaviest first. */
static double search_bound(const selection_search *s, uint64_t candidates)
{
    double sum = 0;
    while (candidates != 0) {
        uint64_t group = candidates;
        double heaviest = 0;
        for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
            size_t i = (size_t) __builtin_ctzll(rest);
            if ((group >> i & 1) == 0)
                continue;
            heaviest = fmax(heaviest, s->problem->weights[i]);
            candidates &= ~BIT(i);
            group &= s->conflicts[i];
        }
        sum += heaviest;
    }
    return sum;
}

/* ---- the tree --------------------------------------------------------------- */

/* The candidates that are allowed alone with the set. */
static cellar_status search_filter(selection_search *s, uint64_t set, uint64_t *candidates,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (uint64_t rest = *candidates; rest != 0; rest &= rest - 1) {
        size_t i = (size_t) __builtin_ctzll(rest);
        int allowed;
        CELLAR_TRY(search_allows(s, set | BIT(i), &allowed, err));
        if (!allowed)
            *candidates &= ~BIT(i);
    }
out:
    return status;
}

static size_t search_heaviest(const selection_search *s, uint64_t candidates)
{
    size_t best = (size_t) __builtin_ctzll(candidates);
    for (; candidates != 0; candidates &= candidates - 1) {
        size_t i = (size_t) __builtin_ctzll(candidates);
        if (s->problem->weights[i] > s->problem->weights[best])
            best = i;
    }
    return best;
}

static int search_can_improve(const selection_search *s, uint64_t set, uint64_t candidates)
{
    double most = set_weight(s->problem, set) + search_bound(s, candidates);
    return most > search_threshold(s) * (1 + 1e-12);
}

/* Excluding an item is the loop, including one the recursion: the depth is at most the number of
 * items. */
static cellar_status search_node(selection_search *s, uint64_t set, uint64_t candidates,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int allowed;

    CELLAR_TRY(search_filter(s, set, &candidates, err));
    while (search_can_improve(s, set, candidates)) {
        size_t item;
        if (s->result->n_evaluations >= s->problem->max_evaluations) {
            s->open = fmax(s->open, set_weight(s->problem, set) + search_bound(s, candidates));
            goto out;
        }
        if (candidates == 0) {
            CELLAR_TRY(search_record(s, set, err));
            break;
        }
        CELLAR_TRY(search_allows(s, set | candidates, &allowed, err));
        if (allowed) { /* all other sets of the node are subsets of this one */
            CELLAR_TRY(search_record(s, set | candidates, err));
            break;
        }
        item = search_heaviest(s, candidates);
        candidates &= ~BIT(item);
        CELLAR_TRY(search_node(s, set | BIT(item), candidates, err));
    }
out:
    return status;
}

/* Which pairs of items cannot both join the items that must be there. */
static cellar_status search_pairs(selection_search *s, uint64_t candidates, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (uint64_t a = candidates; a != 0; a &= a - 1)
        for (uint64_t b = a & (a - 1); b != 0; b &= b - 1) {
            size_t i = (size_t) __builtin_ctzll(a), j = (size_t) __builtin_ctzll(b);
            int allowed;
            if (s->result->n_evaluations >= s->problem->max_evaluations)
                return CELLAR_OK; /* a conflict not known is a bound not used */
            CELLAR_TRY(search_allows(s, s->problem->must | BIT(i) | BIT(j), &allowed, err));
            if (!allowed) {
                s->conflicts[i] |= BIT(j);
                s->conflicts[j] |= BIT(i);
            }
        }
out:
    return status;
}

/* A first answer: items in turn, heaviest first, as long as they fit. */
static cellar_status search_greedy(selection_search *s, uint64_t set, uint64_t candidates,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    while (candidates != 0) {
        size_t item = search_heaviest(s, candidates);
        int allowed;
        candidates &= ~BIT(item);
        CELLAR_TRY(search_allows(s, set | BIT(item), &allowed, err));
        if (allowed)
            set |= BIT(item);
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
    CELLAR_TRY(search_allows(&s, problem->must, &allowed, err));
    if (!allowed)
        goto out;
    CELLAR_TRY(search_filter(&s, problem->must, &candidates, err));
    CELLAR_TRY(search_greedy(&s, problem->must, candidates, err));
    CELLAR_TRY(search_pairs(&s, candidates, err));
    CELLAR_TRY(search_node(&s, problem->must, candidates, err));
    result->gap = fmax(0, s.open - result->sets[0].weight);
out:
    cellar_free(s.allowed);
    cellar_free(s.forbidden);
    return status;
}
