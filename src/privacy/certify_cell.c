/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/certify.h"

#include <math.h>

#include "math/rational.h"

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

typedef void (*supremum_of)(const cellar_reach *, const fmpq_t, cellar_worst *);

/* The largest over all weights up to the largest one, from there on down. 0 when some were left,
 * for there was no more work to be done on them. */
static int worst_over_shifts(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                             supremum_of supremum, const cellar_work *work, cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    int is_delta = supremum == cellar_supremum_delta;
    if ((is_delta || supremum == cellar_supremum_violation) &&
        cellar_supremum_to(&reach, is_delta, epsilon, worst))
        return 1;
    supremum(&reach, epsilon, worst);
    for (reach.shift = s->shift - 1; reach.shift > 0 && worst->bound < 1; reach.shift--) {
        cellar_worst other;
        if (cellar_work_is_over(work, 1))
            return 0;
        if (cellar_supremum_is_covered(&reach, is_delta, epsilon, worst->bound))
            continue;
        reach.enough = worst->bound;
        supremum(&reach, epsilon, &other);
        if (other.bound > worst->bound)
            *worst = other;
    }
    return 1;
}

/* Where ratios are monotone the largest weight dominates the smaller ones. */
void cellar_setting_delta(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                          cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    if (cellar_facts_monotone(s->mechanisms[i]))
        cellar_supremum_delta(&reach, epsilon, worst);
    else
        worst_over_shifts(s, i, epsilon, cellar_supremum_delta, NULL, worst);
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
        worst_over_shifts(s, i, unused, supremum_infinite, NULL, worst);
    fmpq_clear(unused);
}

/* Where the loss exceeds epsilon, P - e^epsilon' Q >= (1 - e^{epsilon' - epsilon}) P for every
 * epsilon' below: delta at one bounds delta_p at the other, for both signs of the loss and, as
 * delta does, for all weights at once. It is not asked, unless needed, when there is no time. */
static double violation_by_delta(const cellar_setting *s, const fmpq_t epsilon, int is_needed)
{
    const cellar_work *work = cellar_pair_cache_work(s->cache);
    const cellar_facts *facts = s->mechanisms[0]->ops->facts;
    const double cost = 2 * cellar_pair_upper_cost(s->mechanisms[0], s->shift);
    static const int tenths[] = {8, 5, 9};
    const double large = cellar_rational_double(epsilon);
    double least = 1;
    cellar_worst worst;
    fmpq_t smaller;
    if (!is_needed && facts != NULL && facts->quick != NULL)
        return 1; /* its scan has tried that */
    fmpq_init(smaller);
    for (size_t i = 0; i < sizeof tenths / sizeof *tenths && large > 0; i++) {
        if ((i > 0 || !is_needed) && cost > cellar_work_left(work))
            break;
        fmpq_set_si(smaller, tenths[i], 10);
        fmpq_mul(smaller, smaller, epsilon);
        cellar_setting_delta(s, 0, smaller, &worst);
        least = fmin(least, worst.bound * (1 + exp(-large)) / -expm1(fmpq_get_d(smaller) - large) *
                                (1 + 1e-12));
    }
    fmpq_clear(smaller);
    return least;
}

/* Weights one by one, as long as there is time for it. */
static void violation_of_kernel(const cellar_setting *s, const fmpq_t epsilon, cellar_worst *worst)
{
    enum { SHIFTS_MAX = 16 };
    const cellar_reach reach = cellar_setting_reach(s, 0);
    double bound;
    int is_all;
    if (s->shift <= SHIFTS_MAX)
        is_all = worst_over_shifts(s, 0, epsilon, cellar_supremum_violation,
                                   cellar_pair_cache_work(s->cache), worst);
    else
        is_all = cellar_supremum_to(&reach, 0, epsilon, worst);
    if (is_all && worst->is_attained)
        return;
    bound = violation_by_delta(s, epsilon, !is_all);
    if (!is_all || bound < worst->bound)
        *worst = (cellar_worst){.bound = bound};
}

/* Nothing dominates anything here: the numbers that lie between two counts have small losses when
 * the counts are far apart, so a smaller change can violate more often. For noise two weights
 * tell of all others (supremum_weights.c); for kernels all are tried. */
void cellar_setting_cell_violation(const cellar_setting *s, const fmpq_t epsilon,
                                   cellar_worst *worst)
{
    *worst = (cellar_worst){.bound = NAN};
    if (s->options->per_unit > 1) /* a unit may also spread its records */
        return;
    if (s->mechanisms[0]->ops->is_additive && cellar_facts_monotone(s->mechanisms[0])) {
        cellar_reach reach = cellar_setting_reach(s, 0);
        cellar_supremum_violation_to(&reach, epsilon, worst);
    } else {
        violation_of_kernel(s, epsilon, worst);
    }
}
