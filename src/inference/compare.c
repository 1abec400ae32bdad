/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons of two sums whose noise is known. A ratio lies in the interval when the first count
 * and so many times the second differ by no more than noise explains (Fieller 1954, Some problems
 * in interval estimation, Journal of the Royal Statistical Society B 16): with m times the standard
 * error as the limit, where a quadratic in the ratio is negative. For noise that is not normal m
 * depends on the ratio; each end is found with its own. */
#include "inference/compare.h"

#include <math.h>

#include "base/error.h"

typedef struct comparing {
    const double *value;
    size_t n; /* sums */
    double tail;
    const cube_terms *terms;
    double v[2][2]; /* the covariances */
} comparing;

/* ---- sums and differences -------------------------------------------------------------- */

static cellar_status compare_linear(const comparing *c, double second, cellar_cube_finding *out,
                                    cellar_error *err)
{
    cellar_weighted_noise *noise = NULL;
    cellar_status status = cellar_cube_terms_noise(c->terms, 1, second, &noise, err);
    double width;
    if (status != CELLAR_OK)
        return status;
    width = cellar_weighted_noise_width(noise, c->tail);
    out->estimate = c->value[0] + (c->n == 2 ? second * c->value[1] : 0);
    out->se = cellar_weighted_noise_sd(noise);
    out->low = out->estimate - width;
    out->high = out->estimate + width;
    if (c->n == 2)
        out->p_value = cellar_weighted_noise_outside(noise, fabs(out->estimate));
    cellar_weighted_noise_free(noise);
    return CELLAR_OK;
}

/* ---- ratios --------------------------------------------------------------------------------- */

/* How many standard errors of `first` times the one sum plus `second` times the other noise
 * explains. */
static cellar_status multiplier(const comparing *c, double first, double second, double *out,
                                cellar_error *err)
{
    cellar_weighted_noise *noise = NULL;
    cellar_status status = cellar_cube_terms_noise(c->terms, first, second, &noise, err);
    if (status == CELLAR_OK && cellar_weighted_noise_sd(noise) > 0)
        *out = cellar_weighted_noise_width(noise, c->tail) / cellar_weighted_noise_sd(noise);
    cellar_weighted_noise_free(noise);
    return status;
}

/* One end of all r with (a - r b)^2 <= m^2 Var(a - r b); NAN when they are not bounded. */
static double fieller_end(const comparing *c, double m, int side)
{
    const double a = c->value[0], b = c->value[1], mm = m * m;
    const double square = b * b - mm * c->v[1][1], half = a * b - mm * c->v[0][1];
    const double constant = a * a - mm * c->v[0][0], root = half * half - square * constant;
    return square > 0 ? (half + side * sqrt(fmax(0, root))) / square : NAN;
}

/* The end with the multiplier of its own ratio. */
static cellar_status find_end(const comparing *c, double m, int side, double *out,
                              cellar_error *err)
{
    enum { ROUNDS = 8 };
    cellar_status status = CELLAR_OK;
    double before = m;
    *out = fieller_end(c, m, side);
    for (int round = 0; status == CELLAR_OK && round < ROUNDS && isfinite(*out); round++) {
        status = multiplier(c, 1, -*out, &m, err);
        *out = fieller_end(c, m, side);
        if (fabs(m - before) < 1e-5 * m)
            break;
        before = m;
    }
    return status;
}

static cellar_status compare_ratio(const comparing *c, cellar_cube_finding *out, cellar_error *err)
{
    const double a = c->value[0], b = c->value[1], r = b != 0 ? a / b : NAN;
    const double variance = c->v[0][0] - 2 * r * c->v[0][1] + r * r * c->v[1][1];
    double m = 0;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(multiplier(c, 0, 1, &m, err)); /* is what it is divided by away from 0? */
    CELLAR_TRY(find_end(c, m, -1, &out->low, err));
    CELLAR_TRY(find_end(c, m, 1, &out->high, err));
    out->estimate = r;
    out->is_undetermined = !isfinite(out->low) || !isfinite(out->high);
    out->se = out->is_undetermined ? NAN : sqrt(fmax(0, variance)) / fabs(b);
    if (out->is_undetermined) {
        out->low = -INFINITY;
        out->high = INFINITY;
    }
out:
    return status;
}

cellar_status cellar_compare_sums(const cube_terms *terms, const double *values,
                                  cellar_comparison comparison, double tail,
                                  cellar_cube_finding *out, cellar_error *err)
{
    comparing c = {.value = values,
                   .n = comparison == CELLAR_COMPARE_NONE ? 1 : 2,
                   .tail = tail,
                   .terms = terms};
    cellar_status status;
    *out = (cellar_cube_finding){NAN, NAN, -INFINITY, INFINITY, NAN, 0};
    for (size_t i = 0; i < c.n; i++)
        for (size_t j = 0; j < c.n; j++)
            c.v[i][j] = cellar_cube_terms_covariance(terms, i, j);
    if (comparison == CELLAR_COMPARE_NONE || comparison == CELLAR_COMPARE_DIFFERENCE)
        return compare_linear(&c, c.n == 1 ? 0 : -1, out, err);
    status = compare_ratio(&c, out, err);
    if (comparison == CELLAR_COMPARE_PROPORTION && !out->is_undetermined) {
        out->low = fmin(1, fmax(0, out->low));
        out->high = fmin(1, fmax(0, out->high));
    }
    return status;
}
