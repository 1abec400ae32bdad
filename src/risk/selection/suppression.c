/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/selection.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/selection/profiles.h"
#include "risk/selection/selection_search.h"
#include "risk/selection/suppressor.h"

/* Redacting more values of a column merges more of them into one level, so exposure never rises as
 * rules are added: the pairs of column and value that are kept make the same problem as columns
 * that are released, each weighing as many entries as people hold it. Beyond 64 pairs the heaviest
 * are kept in turn as long as that is allowed. Rules that are to be hidden are another problem:
 * suppression_hidden.c. */

enum { EXACT_PAIRS = 64, MAX_EVALUATIONS = 100000, MIN_EVALUATIONS = 100 };

/* Rows visited by default, over all evaluations: some seconds. */
static const double default_work = 1e9, default_hidden_work = 3e8;

struct cellar_suppression {
    cellar_suppression_summary summary;
    cellar_suppression_rule *rules;
    size_t n_rules;
    double *chance; /* by column */
};

/* ---- the exposure that rules leave ------------------------------------------ */

static void suppressor_relabel(suppressor *s, size_t column)
{
    size_t n_levels = cellar_profiles_n_levels(s->profiles, column);
    for (size_t level = 0; level < n_levels; level++)
        s->label[level] = (uint32_t) (s->dropped[column] ? n_levels : level);
    for (size_t i = 0; i < s->n_pairs; i++)
        if (s->pairs[i].column == column && !s->kept[i])
            s->label[s->pairs[i].level] = (uint32_t) n_levels;
    for (size_t row = 0; row < s->profiles->n_rows; row++)
        s->relabelled[column][row] = s->label[s->profiles->levels[column][row]];
}

cellar_status cellar_suppressor_exposure(suppressor *s, double *value, cellar_error *err)
{
    partition now, next;
    s->n_evaluations++;
    if (!cellar_partition_whole(s->profiles, &now))
        return cellar_fail_memory(err, "partitions");
    for (size_t c = 0; c < s->profiles->n_columns; c++) {
        int ok;
        suppressor_relabel(s, c);
        ok = cellar_partition_refine(&s->refiner, &now, s->relabelled[c], s->options->k, &next);
        cellar_partition_clear(&now);
        if (!ok)
            return cellar_fail_memory(err, "partitions");
        now = next;
    }
    *value = (double) now.dropped / (double) s->profiles->n_people;
    cellar_partition_clear(&now);
    return CELLAR_OK;
}

static cellar_status suppressor_value(void *context, uint64_t set, double *value, cellar_error *err)
{
    suppressor *s = context;
    for (size_t i = 0; i < s->n_pairs; i++)
        s->kept[i] = set >> i & 1;
    return cellar_suppressor_exposure(s, value, err);
}

/* ---- choosing rules --------------------------------------------------------- */

static cellar_status suppressor_exact(suppressor *s, double limit, uint64_t budget, double *gap,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double weights[EXACT_PAIRS];
    cellar_selection_set best = {0};
    selection_result result = {.sets = &best};
    selection_problem problem = {.n_items = s->n_pairs,
                                 .weights = weights,
                                 .limit = limit,
                                 .n_wanted = 1,
                                 .max_evaluations = budget,
                                 .value = suppressor_value,
                                 .context = s,
                                 .progress = s->options->progress};
    for (size_t i = 0; i < s->n_pairs; i++)
        weights[i] = (double) s->pairs[i].n_people;
    CELLAR_TRY(cellar_selection_search(&problem, &result, err));
    for (size_t i = 0; i < s->n_pairs; i++)
        s->kept[i] = best.columns >> i & 1;
    *gap = result.gap;
out:
    return status;
}

/* How many of the heaviest pairs can be kept, all others being redacted: by bisection. */
static cellar_status suppressor_prefix(suppressor *s, double limit, uint64_t last, size_t *n_kept,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t low = 0, high = s->n_pairs;
    while (low < high && s->n_evaluations < last) {
        size_t middle = low + (high - low + 1) / 2;
        double value;
        for (size_t i = 0; i < s->n_pairs; i++)
            s->kept[i] = i < middle;
        CELLAR_TRY(cellar_suppressor_exposure(s, &value, err));
        if (value <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    *n_kept = low;
out:
    return status;
}

static cellar_status suppressor_greedy(suppressor *s, double limit, uint64_t last,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_progress *progress = &s->options->progress;
    size_t n_kept;

    CELLAR_TRY(suppressor_prefix(s, limit, last, &n_kept, err));
    for (size_t i = 0; i < s->n_pairs; i++)
        s->kept[i] = i < n_kept;
    for (size_t i = n_kept + 1; i < s->n_pairs && s->n_evaluations < last; i++) {
        double value;
        if (progress->report != NULL &&
            progress->report(progress->context, "choosing", (double) i / (double) s->n_pairs)) {
            status = cellar_fail(err, CELLAR_ERR_CANCELLED, "the search was cancelled");
            goto out;
        }
        s->kept[i] = 1;
        CELLAR_TRY(cellar_suppressor_exposure(s, &value, err));
        s->kept[i] = value <= limit;
    }
out:
    return status;
}

static uint64_t suppressor_lost(const suppressor *s)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < s->n_pairs; i++)
        lost += s->kept[i] ? 0 : s->pairs[i].n_people;
    return lost;
}

/* Somebody who is exposed stays so unless one of their own entries is redacted: as many entries as
 * people must be lost. */
static double suppressor_least_lost(const suppressor *s, double before, double limit)
{
    double n = (double) s->profiles->n_people;
    return fmax(0, ceil(before * n - limit * n - 1e-6));
}

cellar_status cellar_suppressor_choose(suppressor *s, double before, double limit, uint64_t last,
                                       double *gap, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t budget = last > s->n_evaluations ? last - s->n_evaluations : 0;
    double lost;
    *gap = INFINITY;
    if (before <= limit)
        memset(s->kept, 1, s->n_pairs);
    else if (budget == 0)
        memset(s->kept, 0, s->n_pairs);
    else if (s->n_pairs <= EXACT_PAIRS)
        CELLAR_TRY(suppressor_exact(s, limit, budget, gap, err));
    else
        CELLAR_TRY(suppressor_greedy(s, limit, last, err));
    lost = (double) suppressor_lost(s);
    *gap = fmin(*gap, lost - fmin(lost, suppressor_least_lost(s, before, limit)));
out:
    return status;
}

/* ---- all of it -------------------------------------------------------------- */

/* Rules alone. */
static cellar_status suppressor_rules(suppressor *s, cellar_suppression_summary *summary,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_suppressor_choose(s, summary->before, s->options->exposure,
                                        s->max_evaluations, &summary->gap, err));
    CELLAR_TRY(cellar_suppressor_exposure(s, &summary->after_rules, err));
    s->n_evaluations--; /* of the search this was none */
    summary->after = summary->after_rules;
    summary->lost_to_rules = suppressor_lost(s);
    summary->met = summary->after <= s->options->exposure;
out:
    return status;
}

static cellar_status suppressor_run(suppressor *s, cellar_suppression *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_suppression_summary *summary = &out->summary;

    memset(s->kept, 1, s->n_pairs);
    CELLAR_TRY(cellar_suppressor_exposure(s, &summary->before, err));
    summary->after_rules = summary->after = summary->before;
    summary->met = summary->before <= s->options->exposure;
    /* Fewer than k people stand out together, whatever they redact. */
    if (!summary->met && s->profiles->n_people >= s->options->k) {
        if (s->options->hide < 1)
            CELLAR_TRY(cellar_suppressor_hide(s, summary->before, out->chance, summary, err));
        else
            CELLAR_TRY(suppressor_rules(s, summary, err));
    }
    summary->n_evaluations = s->n_evaluations;
out:
    return status;
}

/* ---- life ------------------------------------------------------------------- */

static int pair_compare(const void *a, const void *b)
{
    const cellar_suppression_rule *x = a, *y = b;
    if (x->n_people != y->n_people)
        return x->n_people > y->n_people ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->level < y->level ? -1 : 1;
}

/* The pairs that somebody has. */
static int suppressor_make_pairs(suppressor *s)
{
    const cellar_profiles *profiles = s->profiles;
    size_t n_levels = 0, capacity = 0;
    for (size_t c = 0; c < profiles->n_columns; c++) {
        size_t first = s->n_pairs;
        n_levels = cellar_profiles_n_levels(profiles, c);
        if (!cellar_grow(&s->pairs, &capacity, first + n_levels, sizeof *s->pairs))
            return 0;
        for (size_t level = 0; level < n_levels; level++)
            s->pairs[first + level] = (cellar_suppression_rule){c, level, 0};
        for (size_t row = 0; row < profiles->n_rows; row++)
            s->pairs[first + profiles->levels[c][row]].n_people += profiles->counts[row];
        for (size_t level = 0; level < n_levels; level++)
            if (s->pairs[first + level].n_people > 0)
                s->pairs[s->n_pairs++] = s->pairs[first + level];
    }
    qsort(s->pairs, s->n_pairs, sizeof *s->pairs, pair_compare);
    return 1;
}

/* How many exposures to look at when nobody said. With chance every row is seen in every pattern of
 * redactions. */
static uint64_t suppressor_evaluations(const suppressor *s)
{
    double rows = (double) s->profiles->n_rows, columns = (double) s->profiles->n_columns;
    double n = s->options->hide < 1
                   ? default_hidden_work / (rows * exp2(columns) * (double) s->options->k)
                   : default_work / (rows * columns);
    return (uint64_t) fmin(MAX_EVALUATIONS, fmax(MIN_EVALUATIONS, n));
}

static int suppressor_make(suppressor *s)
{
    const cellar_profiles *profiles = s->profiles;
    size_t widest = 0;
    int ok = suppressor_make_pairs(s);

    for (size_t c = 0; c < profiles->n_columns; c++)
        if (cellar_profiles_n_levels(profiles, c) > widest)
            widest = cellar_profiles_n_levels(profiles, c);
    s->max_evaluations = s->options->max_evaluations;
    if (s->max_evaluations == 0)
        s->max_evaluations = suppressor_evaluations(s);
    s->kept = cellar_alloc(s->n_pairs, 1);
    s->dropped = cellar_alloc(profiles->n_columns, 1);
    s->label = cellar_alloc(widest + 1, sizeof *s->label);
    s->relabelled = cellar_alloc(profiles->n_columns, sizeof *s->relabelled);
    ok = ok && s->kept != NULL && s->dropped != NULL && s->label != NULL && s->relabelled != NULL &&
         cellar_refiner_init(profiles, &s->refiner);
    for (size_t c = 0; ok && c < profiles->n_columns; c++) {
        s->relabelled[c] = cellar_alloc(profiles->n_rows, sizeof *s->relabelled[c]);
        ok = s->relabelled[c] != NULL;
    }
    return ok;
}

static void suppressor_clear(suppressor *s)
{
    for (size_t c = 0; s->relabelled != NULL && c < s->profiles->n_columns; c++)
        cellar_free(s->relabelled[c]);
    cellar_free(s->relabelled);
    cellar_free(s->label);
    cellar_free(s->dropped);
    cellar_free(s->kept);
    cellar_free(s->pairs);
    cellar_refiner_clear(&s->refiner);
}

static int rule_compare(const void *a, const void *b)
{
    const cellar_suppression_rule *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->level > y->level) - (x->level < y->level);
}

/* The pairs not kept, in order. */
static void suppressor_list(const suppressor *s, cellar_suppression *out)
{
    for (size_t i = 0; i < s->n_pairs; i++)
        if (!s->kept[i])
            out->rules[out->n_rules++] = s->pairs[i];
    qsort(out->rules, out->n_rules, sizeof *out->rules, rule_compare);
}

cellar_suppression_options cellar_suppression_options_default(void)
{
    return (cellar_suppression_options){.exposure = NAN, .hide = NAN};
}

static cellar_status suppression_check(const cellar_suppression_options *options, cellar_error *err)
{
    if (options->k == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "suppression needs a k of at least 1");
    if (!(options->exposure >= 0 && options->exposure <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "suppression needs the exposure allowed, from 0 to 1");
    if (!(options->hide > 0 && options->hide <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the share of redactions that may come from the rules is above 0 and up "
                           "to 1");
    return CELLAR_OK;
}

cellar_status cellar_suppression_create(const cellar_profiles *profiles,
                                        const cellar_suppression_options *options,
                                        cellar_suppression **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    suppressor s = {.profiles = profiles, .options = options};
    cellar_suppression *suppression = NULL;

    *out = NULL;
    CELLAR_TRY(suppression_check(options, err));
    suppression = cellar_alloc(1, sizeof *suppression);
    if (suppression == NULL || !suppressor_make(&s)) {
        status = cellar_fail_memory(err, "suppression");
        goto out;
    }
    suppression->chance = cellar_alloc(profiles->n_columns, sizeof *suppression->chance);
    suppression->rules = cellar_alloc(s.n_pairs, sizeof *suppression->rules);
    if (suppression->chance == NULL || suppression->rules == NULL) {
        status = cellar_fail_memory(err, "suppression");
        goto out;
    }
    CELLAR_TRY(suppressor_run(&s, suppression, err));
    suppressor_list(&s, suppression);
    *out = suppression;
    suppression = NULL;
out:
    cellar_suppression_free(suppression);
    suppressor_clear(&s);
    return status;
}

void cellar_suppression_free(cellar_suppression *suppression)
{
    if (suppression == NULL)
        return;
    cellar_free(suppression->rules);
    cellar_free(suppression->chance);
    cellar_free(suppression);
}

cellar_suppression_summary cellar_suppression_summarise(const cellar_suppression *suppression)
{
    return suppression->summary;
}

size_t cellar_suppression_n_rules(const cellar_suppression *suppression)
{
    return suppression->n_rules;
}

cellar_suppression_rule cellar_suppression_rule_at(const cellar_suppression *suppression,
                                                   size_t position)
{
    return suppression->rules[position];
}

double cellar_suppression_chance(const cellar_suppression *suppression, size_t column)
{
    return suppression->chance[column];
}
