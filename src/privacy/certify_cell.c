/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/certify.h"

#include <math.h>

cellar_reach cellar_setting_reach(const cellar_setting *s, size_t i)
{
    return (cellar_reach){.m = s->mechanisms[i],
                          .shift = s->shift,
                          .smallest = (int64_t) s->options->min_count,
                          .negatives = s->options->negatives,
                          .cache = s->cache};
}

/* Parts that one unit meets in each mechanism. */
uint64_t cellar_setting_parts_each(const cellar_setting *s)
{
    return s->options->n_cells * (s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1);
}

uint64_t cellar_setting_parts(const cellar_setting *s)
{
    if (s->options->parallel) /* what moves away from one table and into another */
        return cellar_setting_parts_each(s);
    return cellar_setting_parts_each(s) * s->n;
}

/* ---- one cell of one mechanism --------------------------------------------------------- */

/* The largest over all weights up to the largest one. */
static void worst_over_shifts(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                              void (*supremum)(const cellar_reach *, const fmpq_t, cellar_worst *),
                              cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    int is_delta = supremum == cellar_supremum_delta;
    if ((is_delta || supremum == cellar_supremum_violation) &&
        cellar_supremum_to(&reach, is_delta, epsilon, worst))
        return;
    supremum(&reach, epsilon, worst);
    for (reach.shift = 1; reach.shift < s->shift && worst->bound < 1; reach.shift++) {
        cellar_worst other;
        if (cellar_supremum_is_covered(&reach, supremum == cellar_supremum_delta, epsilon,
                                       worst->bound))
            continue;
        supremum(&reach, epsilon, &other);
        if (other.bound > worst->bound)
            *worst = other;
    }
}

/* Where ratios are monotone the largest weight dominates the smaller ones. */
void cellar_setting_delta(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                          cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    if (cellar_facts_monotone(s->mechanisms[i]))
        cellar_supremum_delta(&reach, epsilon, worst);
    else
        worst_over_shifts(s, i, epsilon, cellar_supremum_delta, worst);
}

static void supremum_infinite(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    (void) epsilon;
    cellar_supremum_infinite(reach, worst);
}

void cellar_setting_infinite(const cellar_setting *s, size_t i, cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    fmpq_t unused;
    fmpq_init(unused);
    if (cellar_facts_monotone(s->mechanisms[i]))
        cellar_supremum_infinite(&reach, worst);
    else
        worst_over_shifts(s, i, unused, supremum_infinite, worst);
    fmpq_clear(unused);
}

/* Nothing dominates anything here: the numbers that lie between two counts have small losses when
 * the counts are far apart, so a smaller change can violate more often. For noise two weights
 * tell of all others (supremum_weights.c); for kernels all are tried. */
void cellar_setting_cell_violation(const cellar_setting *s, const fmpq_t epsilon,
                                   cellar_worst *worst)
{
    enum { SHIFTS_MAX = 16 };
    *worst = (cellar_worst){.bound = NAN};
    if (s->options->per_unit > 1) /* a unit may also spread its records */
        return;
    if (s->mechanisms[0]->ops->is_additive && cellar_facts_monotone(s->mechanisms[0])) {
        cellar_reach reach = cellar_setting_reach(s, 0);
        cellar_supremum_violation_to(&reach, epsilon, worst);
    } else if (s->shift <= SHIFTS_MAX) {
        worst_over_shifts(s, 0, epsilon, cellar_supremum_violation, worst);
    }
}
