/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diversity and closeness of other people, of whom the data are a sample.
 *
 * With p(v,y) the share of people who have the quasi-identifiers v and the sensitive value y, let
 * the others among whom somebody of v with value y stands be Poisson in number, n-1 in the mean.
 * How many of them have (v,y') is then independent for all y', and at least one has with the chance
 * 1 - exp(-(n-1) p(v,y')): the number of further values in the group is a sum of independent
 * indicators, and
 *
 *   L = sum_{v,y} p(v,y) g_y(p),   g_y = P(1 + sum_{y' != y} indicator < l),
 *
 * is the share expected in groups of fewer than l values. g_y falls in every share. When every
 * share lies in an interval [low, high] that the sample gives,
 *
 *   sum low g_y(high) <= L <= 1 - sum low (1 - g_y(low)).
 *
 * Closeness is that of the groups in the population: the share of people in groups whose
 * distribution of y has a total variation distance of more than t to that of all. */
#include <math.h>
#include <string.h>

#include <cellar/anonymity.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/share_interval.h"
#include "table/build.h"

typedef struct diversity_work {
    const cellar_diversity_options *options;
    size_t n_values;
    double n_records, doubt;    /* of an end of an interval: -ln of its chance; NAN: no bands */
    const double *whole;        /* shares of the sensitive values */
    double *share, *low, *high; /* of one group */
    double *chances;            /* of 0 to l-2 further values */
    cellar_diversity *out;
} diversity_work;

cellar_diversity_options cellar_diversity_options_default(void)
{
    return (cellar_diversity_options){.t = NAN, .delta = NAN};
}

/* P(at most l-2 of the other values occur among the others), with these shares. */
static double few_values(const diversity_work *work, const double *share, size_t own)
{
    const size_t l = (size_t) work->options->l;
    const double others = (double) (work->options->population - 1);
    double sum = 0;
    if (l < 2)
        return 0;
    memset(work->chances, 0, (l - 1) * sizeof *work->chances);
    work->chances[0] = 1;
    for (size_t y = 0; y < work->n_values; y++) {
        double seen = y == own ? 0 : -expm1(-others * share[y]);
        if (seen <= 0)
            continue;
        for (size_t d = l - 2; d > 0; d--)
            work->chances[d] = work->chances[d] * (1 - seen) + work->chances[d - 1] * seen;
        work->chances[0] *= 1 - seen;
    }
    for (size_t d = 0; d + 1 < l; d++)
        sum += work->chances[d];
    return fmin(sum, 1);
}

static void group_diversity(diversity_work *work)
{
    cellar_diversity *out = work->out;
    for (size_t y = 0; y < work->n_values; y++) {
        if (work->share[y] > 0)
            out->below_l.value += work->share[y] * few_values(work, work->share, y);
        if (work->low[y] > 0) {
            out->below_l.lower += work->low[y] * few_values(work, work->high, y);
            out->below_l.upper -= work->low[y] * (1 - few_values(work, work->low, y));
        }
    }
}

static double sum_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* The least and the largest |a - b| for a and b in two intervals. */
static double least_gap(double a0, double a1, double b0, double b1)
{
    return fmax(fmax(a0 - b1, b0 - a1), 0);
}

static double largest_gap(double a0, double a1, double b0, double b1)
{
    return fmax(a1 - b0, b1 - a0);
}

/* The interval of a share; without bands it is the share itself. */
static void share_ends(const diversity_work *work, double share, double *low, double *high)
{
    *low = *high = share;
    if (isnan(work->doubt))
        return;
    *low = cellar_share_least(share, work->n_records, work->doubt);
    *high = cellar_share_most(share, work->n_records, work->doubt);
}

/* The distance of the group from the whole, and between which it lies. A share within the group is
 * least when this value is as rare as it may be, and the others are not. */
static void group_closeness(diversity_work *work)
{
    const double t = work->options->t, size = sum_of(work->share, work->n_values);
    const double size_low = sum_of(work->low, work->n_values);
    const double size_high = sum_of(work->high, work->n_values);
    double distance = 0, least = 0, largest = 0;
    for (size_t y = 0; y < work->n_values; y++) {
        double low = work->low[y], high = work->high[y], whole = work->whole[y], whole_low,
               whole_high;
        double from = low > 0 ? low / (low + size_high - high) : 0;
        double to = high > 0 ? high / (high + size_low - low) : 0;
        share_ends(work, whole, &whole_low, &whole_high);
        distance += fabs(work->share[y] / size - whole) / 2;
        least += least_gap(from, to, whole_low, whole_high) / 2;
        largest += largest_gap(from, to, whole_low, whole_high) / 2;
    }
    if (distance > t)
        work->out->beyond_t.value += size;
    if (least > t)
        work->out->beyond_t.lower += size_low;
    if (fmin(largest, 1) <= t)
        work->out->beyond_t.upper -= size_low;
}

static int group_add(void *context, const uint32_t *group, const uint64_t *counts, size_t n_values)
{
    diversity_work *work = context;
    (void) group;
    for (size_t y = 0; y < n_values; y++) {
        work->share[y] = (double) counts[y] / work->n_records;
        share_ends(work, work->share[y], &work->low[y], &work->high[y]);
    }
    group_diversity(work);
    if (!isnan(work->options->t))
        group_closeness(work);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------ */

typedef struct whole_sum {
    double *counts, n;
} whole_sum;

static int whole_add(void *context, const uint32_t *group, const uint64_t *counts, size_t n_values)
{
    whole_sum *whole = context;
    (void) group;
    for (size_t y = 0; y < n_values; y++) {
        whole->counts[y] += (double) counts[y];
        whole->n += (double) counts[y];
    }
    return 0;
}

/* Both ends of the shares of all combinations and of all sensitive values hold at once, but for
 * delta; NAN without one. */
static double sample_doubt(const cellar_table *table, const size_t *qid, size_t n_qid,
                           size_t n_values, double delta)
{
    double n_cells = (double) n_values;
    for (size_t i = 0; i < n_qid; i++)
        n_cells *= (double) cellar_schema_n_leaves(cellar_table_schema(table), qid[i]);
    return log(2 * (n_cells + (double) n_values) / delta);
}

static cellar_status options_check(const cellar_diversity_options *options, cellar_error *err)
{
    if (options->population == 0 || options->l == 0 || options->l > CELLAR_DIVERSITY_L_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "statistical diversity needs a population of at least 1 and an l from 1 "
                           "to %d",
                           CELLAR_DIVERSITY_L_MAX);
    if (options->t < 0 || options->t > 1 || options->delta <= 0 || options->delta >= 1)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a distance t lies in [0,1], a delta in (0,1)");
    return CELLAR_OK;
}

/* Without a delta nothing is known of the error, and a band says so. Whatever the shares, everybody
 * is in a group of at least one value, and of no more than there are. */
static void bands_finish(const cellar_diversity_options *options, size_t n_values,
                         cellar_diversity *out)
{
    cellar_diversity_share *const both[] = {&out->below_l, &out->beyond_t};
    for (size_t i = 0; i < 2; i++) {
        both[i]->value = fmin(both[i]->value, 1);
        both[i]->lower = isnan(options->delta) ? 0 : fmin(fmax(both[i]->lower, 0), 1);
        both[i]->upper = isnan(options->delta) ? 1 : fmin(fmax(both[i]->upper, 0), 1);
    }
    if (options->l == 1)
        out->below_l = (cellar_diversity_share){0, 0, 0};
    if (options->l > n_values)
        out->below_l = (cellar_diversity_share){1, 1, 1};
    if (isnan(options->t))
        out->beyond_t = (cellar_diversity_share){NAN, NAN, NAN};
}

cellar_status cellar_diversity_estimate(const cellar_table *table, const size_t *qid, size_t n_qid,
                                        size_t sensitive, const cellar_diversity_options *options,
                                        cellar_diversity *out, cellar_error *err)
{
    const size_t n_values = cellar_schema_n_leaves(cellar_table_schema(table), sensitive);
    double *room = NULL;
    whole_sum whole = {NULL, 0};
    diversity_work work = {.options = options, .n_values = n_values, .out = out};
    cellar_status status = CELLAR_OK;

    *out = (cellar_diversity){.below_l = {.upper = 1}, .beyond_t = {.upper = 1}};
    CELLAR_TRY(options_check(options, err));
    room = cellar_alloc(4 * n_values + (size_t) options->l, sizeof *room);
    if (room == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "shares of sensitive values"));
    whole.counts = room;
    CELLAR_TRY(cellar_table_groups(table, qid, n_qid, sensitive, whole_add, &whole, err));
    if (whole.n == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "there are no records"));
    for (size_t y = 0; y < n_values; y++)
        room[y] /= whole.n;
    work.whole = room;
    work.n_records = whole.n;
    work.share = room + n_values;
    work.low = room + 2 * n_values;
    work.high = room + 3 * n_values;
    work.chances = room + 4 * n_values;
    work.doubt = sample_doubt(table, qid, n_qid, n_values, options->delta);
    CELLAR_TRY(cellar_table_groups(table, qid, n_qid, sensitive, group_add, &work, err));
    bands_finish(options, n_values, out);
out:
    cellar_free(room);
    return status;
}
