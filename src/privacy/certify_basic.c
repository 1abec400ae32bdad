/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What compositions are compared with: the parts one by one, basic and advanced. */
#include "privacy/certify.h"

#include <math.h>

#include "math/rational.h"
#include "privacy/one_part.h"
#include "privacy/supremum_part.h"

/* ---- one part ------------------------------------------------------------------------------ */

/* The losses of a law that goes on for long are put together for its composition, and tell what one
 * part does as well; one by one they would take longer. The worst order, from the first counts. */
static int part_is_long(const cellar_setting *s, size_t i, double tail)
{
    cellar_stake stake = cellar_setting_stake(s, i, 1, s->shift, 1);
    return !stake.is_envelope && cellar_one_part_is_long(&stake, tail);
}

static double part_epsilon(const cellar_setting *s, size_t i, double delta)
{
    double worst = 0;
    if (part_is_long(s, i, delta * CELLAR_ONE_PART_LEFT)) {
        for (int larger = 0; larger < 2; larger++) {
            cellar_stake stake = cellar_setting_stake(s, i, larger, s->shift, 1);
            worst = fmax(worst, cellar_one_part_epsilon(&stake, delta));
        }
        if (isfinite(worst))
            return worst;
    }
    return cellar_setting_epsilon(s, i, delta).upper;
}

double cellar_setting_part_epsilon(const cellar_setting *s, size_t i, double delta)
{
    cellar_parts_found *found = i == 0 ? s->found : NULL;
    double epsilon;
    for (size_t k = 0; found != NULL && k < found->n; k++)
        if (found->delta[k] == delta)
            return found->epsilon[k];
    epsilon = part_epsilon(s, i, delta);
    if (found != NULL && found->n < CELLAR_PARTS_KEPT) {
        found->delta[found->n] = delta;
        found->epsilon[found->n++] = epsilon;
    }
    return epsilon;
}

/* Of both orders: answers how much of it is for what was left out. */
static double part_delta_but_for(const cellar_setting *s, size_t i, double epsilon, double tail,
                                 cellar_worst *worst)
{
    double most = 0;
    *worst = (cellar_worst){.is_proved = 1, .is_attained = 1};
    for (int larger = 0; larger < 2; larger++) {
        cellar_stake stake = cellar_setting_stake(s, i, larger, s->shift, 1);
        double left_out, bound = cellar_one_part_delta(&stake, epsilon, tail, &left_out);
        most = fmax(most, left_out);
        if (bound < worst->bound)
            continue;
        worst->bound = bound;
        worst->count = stake.pair.count[0];
        worst->neighbour = stake.pair.count[1];
    }
    return most;
}

/* 1 and a bound for all counts at once, where the tails of the first pair take a while. */
static int part_delta_bounded(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                              cellar_worst *worst)
{
    const double share = 0.25;
    const cellar_reach reach = cellar_setting_reach(s, i);
    const cellar_stake stake = cellar_setting_stake(s, i, 1, s->shift, 1);
    const int64_t *count = stake.pair.count;
    if (!cellar_reach_has_mixing(&reach) || !cellar_pair_law_is_wide(reach.m, count[0]) ||
        cellar_pair_upper_cost(reach.m, count[0]) <
            share * cellar_work_limit(cellar_pair_cache_work(s->cache)))
        return 0;
    *worst = (cellar_worst){.is_proved = 1, .count = count[0], .neighbour = count[1]};
    worst->bound = cellar_supremum_bound(&reach, epsilon);
    return 1;
}

/* Further and further out, until what is left out does not show. */
static void part_delta(const cellar_setting *s, size_t i, const fmpq_t epsilon, cellar_worst *worst)
{
    const double most = 1e-12, least = 1e-290, visible = 1e-5;
    cellar_stake stake = cellar_setting_stake(s, i, 1, s->shift, 1);
    double about = cellar_one_part_about(&stake, fmpq_get_d(epsilon));
    double tail = (isnan(about) ? most : fmax(least, fmin(about, most))) * CELLAR_ONE_PART_LEFT;
    while (part_is_long(s, i, tail)) {
        double left_out = part_delta_but_for(s, i, fmpq_get_d(epsilon), tail, worst);
        if (left_out <= visible * worst->bound)
            return;
        if (left_out > 2 * tail)
            break; /* it goes no further */
        tail = tail * tail;
    }
    if (!part_delta_bounded(s, i, epsilon, worst))
        cellar_setting_delta(s, i, epsilon, worst);
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Basic composition at a given epsilon: an equal share for each part. */
double cellar_setting_basic_delta(const cellar_setting *s, const fmpq_t epsilon,
                                  cellar_worst *worst)
{
    double total = 0, largest = 0;
    fmpq_t share;
    fmpz_t parts;
    fmpq_init(share);
    fmpz_init_set_ui(parts, cellar_setting_parts(s));
    fmpq_div_fmpz(share, epsilon, parts);
    fmpz_clear(parts);
    for (size_t i = 0; i < s->n; i++) {
        cellar_worst one;
        part_delta(s, i, share, &one);
        total += one.bound * (double) cellar_setting_parts_each(s);
        if (one.bound >= largest) {
            largest = one.bound;
            *worst = one;
        }
    }
    if (s->options->parallel)
        total = largest * (double) cellar_setting_parts_each(s);
    fmpq_clear(share);
    return fmin(1, total * (1 + 1e-12));
}

/* Sum over all parts of the epsilon each has at an equal share of delta. */
double cellar_setting_basic_epsilon(const cellar_setting *s, double delta)
{
    double sum = 0, largest = 0, share = delta / (double) cellar_setting_parts(s) * (1 - 1e-15);
    for (size_t i = 0; i < s->n; i++) {
        double epsilon =
            cellar_setting_part_epsilon(s, i, share) * (double) cellar_setting_parts_each(s);
        sum += epsilon;
        largest = fmax(largest, epsilon);
    }
    return fmin((s->options->parallel ? largest : sum) * (1 + 1e-12), s->c->pure);
}

/* Dwork, Rothblum and Vadhan 2010, in the form that lets parts differ (Kairouz, Oh and Viswanath
 * 2017): delta/2 for the parts and delta/2 for the deviation. */
double cellar_setting_advanced_epsilon(const cellar_setting *s, double delta)
{
    double squares = 0, bias = 0, times = (double) cellar_setting_parts_each(s);
    double share = delta / 2 / (double) cellar_setting_parts(s) * (1 - 1e-15);
    for (size_t i = 0; i < s->n; i++) {
        double epsilon = cellar_setting_part_epsilon(s, i, share);
        squares += times * epsilon * epsilon;
        bias += times * epsilon * expm1(epsilon);
    }
    return (sqrt(2 * log(2 / delta) * squares) + bias) * (1 + 1e-12);
}
