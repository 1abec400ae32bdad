/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of several records where one change does not dominate all ways to spread it, and what
 * follows from delta alone. */
#include "privacy/certify.h"

#include <math.h>

#include "math/rational.h"

double cellar_setting_group_factor(const cellar_setting *s, double epsilon)
{
    double m = (double) s->group, step = expm1(epsilon / m);
    if (s->group <= 1)
        return 1;
    return (step > 1e-12 ? expm1(epsilon) / step : m * exp(epsilon)) * (1 + 1e-12);
}

/* Of one record, or of a unit that needs no chain. */
static cellar_status record_delta_upper(const cellar_setting *s, const fmpq_t epsilon, double *out,
                                        cellar_error *err)
{
    const double nothing = 1e-300; /* and there is no use for less */
    cellar_status status = CELLAR_OK;
    cellar_bounds bounds;
    cellar_worst worst;
    if (cellar_setting_is_single(s) && s->group == 1) {
        cellar_setting_delta(s, 0, epsilon, &worst);
        *out = worst.bound;
        return CELLAR_OK;
    }
    *out = cellar_setting_basic_delta(s, epsilon, &worst);
    if (cellar_setting_is_single(s) || !cellar_setting_has_envelope(s) || *out <= nothing)
        return CELLAR_OK;
    status = cellar_setting_tight_delta(s, fmpq_get_d(epsilon), &bounds, err);
    if (status == CELLAR_OK)
        *out = fmin(*out, bounds.upper);
    return status;
}

/* No chain does better than all ways to spread the records. */
cellar_status cellar_setting_delta_upper(const cellar_setting *s, double epsilon, double *out,
                                         cellar_error *err)
{
    cellar_status status;
    cellar_bounds unit;
    fmpq_t share;
    status = cellar_setting_unit(s, epsilon * (1 - 0x1p-50), NAN, &unit, err);
    *out = unit.upper;
    if (status != CELLAR_OK || unit.upper < 1)
        return status;
    fmpq_init(share);
    cellar_rational_set_double(share, epsilon / (double) s->group * (1 - 0x1p-50));
    status = record_delta_upper(s, share, out, err);
    fmpq_clear(share);
    *out = fmin(1, *out * cellar_setting_group_factor(s, epsilon));
    return status;
}

/* The share of delta that a chain of changes needs, where a change has `epsilon` at a delta of
 * `share`, and at smaller ones as much more as their logarithms: tails that fall faster need less.
 */
static double group_share(const cellar_setting *s, double delta, double share, double epsilon)
{
    enum { ROUNDS = 30 };
    double next = share;
    for (int round = 0; round < ROUNDS && next > 0; round++) {
        const double all = (double) s->group * epsilon * fmax(1, log(next) / log(share));
        next = delta / cellar_setting_group_factor(s, all) * (1 - 1e-9);
    }
    return next;
}

/* Where no share of delta will do, some epsilon may: the first power of two, and then closer, as
 * long as there is work left. */
cellar_status cellar_setting_group_search(const cellar_setting *s, double delta, double *out,
                                          cellar_error *err)
{
    const double most = 0x1p20, close = 1.01;
    const cellar_work *work = cellar_pair_cache_work(s->cache);
    double low = 0.5, high = 1, upper = 1;
    cellar_status status = cellar_setting_delta_upper(s, high, &upper, err);
    while (status == CELLAR_OK && upper > delta && high < most && !cellar_work_is_over(work, 1)) {
        low = high;
        high *= 2;
        status = cellar_setting_delta_upper(s, high, &upper, err);
    }
    *out = upper <= delta ? high : INFINITY;
    while (status == CELLAR_OK && isfinite(*out) && *out > close * low &&
           !cellar_work_is_over(work, 1)) {
        const double middle = sqrt(low * *out);
        status = cellar_setting_delta_upper(s, middle, &upper, err);
        if (upper <= delta)
            *out = middle;
        else
            low = middle;
    }
    return status;
}

/* A smaller delta for each change, until what the chain makes of it is small enough. */
cellar_status cellar_setting_group_epsilon(const cellar_setting *s, double delta,
                                           cellar_epsilon_of each, cellar_bounds *out,
                                           cellar_error *err)
{
    enum { ROUNDS = 8 };
    double m = (double) s->group, share = delta / m;
    if (s->group <= 1)
        return each(s, delta, out, err);
    for (int round = 0; round < ROUNDS && share > 0; round++) {
        double one;
        cellar_status status = each(s, share, out, err);
        if (status != CELLAR_OK || isinf(out->upper))
            return status;
        one = out->upper;
        out->upper = one * m * (1 + 1e-15);
        out->lower = 0;
        if (share * cellar_setting_group_factor(s, out->upper) <= delta)
            return CELLAR_OK;
        share = group_share(s, delta, share, one);
    }
    out->upper = INFINITY;
    return CELLAR_OK;
}

/* Where the loss exceeds epsilon, P - e^epsilon' Q >= (1 - e^{epsilon' - epsilon}) P, so
 * P(loss > epsilon) <= delta(epsilon') / (1 - e^{epsilon' - epsilon}) for every epsilon' < epsilon;
 * and P(loss < -epsilon) <= e^-epsilon Q(-loss > epsilon), bounded likewise. That says nothing
 * where delta(epsilon), which is no larger, would say nothing. */
cellar_status cellar_setting_violation_bound(const cellar_setting *s, double epsilon,
                                             double delta_at, double *out, cellar_error *err)
{
    static const double shares[] = {0.8, 0.5, 0.9};
    size_t n = cellar_setting_is_single(s) && s->group == 1 ? 3 : 1; /* compositions cost more */
    cellar_setting rough = *s;
    rough.is_rough = 1;
    *out = 1;
    for (size_t i = 0; i < n && epsilon > 0; i++) {
        double smaller = epsilon * shares[i], delta;
        double factor = (1 + exp(-epsilon)) / -expm1(smaller - epsilon) * (1 + 1e-12);
        cellar_status status;
        if (delta_at * factor >= 1)
            continue;
        status = cellar_setting_delta_upper(&rough, smaller, &delta, err);
        if (status != CELLAR_OK)
            return status;
        delta *= factor;
        *out = fmin(*out, delta);
    }
    return CELLAR_OK;
}
