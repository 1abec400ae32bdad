/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals for Poisson means, by the profile of the likelihood: what cannot be rejected by the
 * likelihood ratio with its chi-square reference of one degree of freedom. */
#include <math.h>

#include "inference/chi_square.h"
#include "inference/interval_parts.h"
#include "inference/likelihood.h"

enum { POINTS = 12, GOLDEN_STEPS = 28, HALVINGS = 32 };

/* One or two means under a constraint. */
typedef struct profile {
    cellar_likelihood *likelihoods[2];
    cellar_observation *cells[2];
    int n_cells;
    cellar_comparison comparison;
    cellar_peak peaks[2];
    double best;    /* the largest likelihood */
    double allowed; /* how far twice it may fall */
    double widest;  /* a mean that none of the two exceeds */
    cellar_status status;
    cellar_error *err;
} profile;

static double profile_cell(profile *p, int cell, double mean)
{
    cellar_posterior at = {-INFINITY, 0, 0};
    if (p->status == CELLAR_OK)
        p->status = cellar_observation_at(p->cells[cell], mean, &at, p->err);
    return at.log_likelihood;
}

/* The likelihood at constraint c and nuisance t^2. */
static double profile_pair(profile *p, double c, double t)
{
    double nuisance = t * t;
    if (p->comparison == CELLAR_COMPARE_DIFFERENCE)
        return profile_cell(p, 0, nuisance + fmax(c, 0)) +
               profile_cell(p, 1, nuisance + fmax(-c, 0));
    return profile_cell(p, 0, nuisance * c) + profile_cell(p, 1, nuisance * (1 - c));
}

/* The largest likelihood at constraint c: a look at a grid, then the golden section. */
static double profile_largest(profile *p, double c)
{
    const double golden = 0.6180339887498949;
    double width = sqrt(p->widest + fabs(c)) / POINTS, best = -INFINITY, at = 0, low, high;
    if (p->n_cells == 1)
        return profile_cell(p, 0, c);
    for (int i = 0; i <= POINTS; i++) {
        double value = profile_pair(p, c, i * width);
        if (value > best) {
            best = value;
            at = i * width;
        }
    }
    low = fmax(0, at - width);
    high = at + width;
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        double a = profile_pair(p, c, left), b = profile_pair(p, c, right);
        best = fmax(best, fmax(a, b));
        if (a > b)
            high = right;
        else
            low = left;
    }
    return best;
}

static int profile_allows(profile *p, double c)
{
    return 2 * (p->best - profile_largest(p, c)) <= p->allowed;
}

/* Between a value that is allowed and one that is not. */
static double profile_edge(profile *p, double in, double out)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (in + out) / 2;
        if (profile_allows(p, middle))
            in = middle;
        else
            out = middle;
    }
    return in;
}

/* The end of the interval towards `limit`, from `inside`, in steps that double. */
static double profile_end(profile *p, double inside, double step, double limit)
{
    double in = inside, out = inside;
    for (int i = 0; i < 64 && p->status == CELLAR_OK; i++) {
        out += step;
        step *= 2;
        if (step > 0 ? out > limit : out < limit)
            out = limit;
        if (!profile_allows(p, out))
            return profile_edge(p, in, out);
        in = out;
        if (out == limit)
            break;
    }
    return limit;
}

static void profile_run(profile *p, cellar_interval_estimate *out)
{
    double a = p->peaks[0].mean, b = p->peaks[1].mean;
    double step = 1 + sqrt(a + b);
    switch (p->comparison) {
    case CELLAR_COMPARE_NONE:
        *out = (cellar_interval_estimate){a, profile_end(p, a, -step, 0),
                                          profile_end(p, a, step, INFINITY)};
        break;
    case CELLAR_COMPARE_DIFFERENCE:
        *out = (cellar_interval_estimate){a - b, profile_end(p, a - b, -step, -INFINITY),
                                          profile_end(p, a - b, step, INFINITY)};
        break;
    case CELLAR_COMPARE_RATIO:
    case CELLAR_COMPARE_PROPORTION: {
        double share = a + b > 0 ? a / (a + b) : 0.5;
        *out = (cellar_interval_estimate){share, profile_end(p, share, -0.02, 0),
                                          profile_end(p, share, 0.02, 1)};
        break;
    }
    }
}

static cellar_status profile_add(profile *p, const cellar_reading *reading, cellar_error *err)
{
    int i = p->n_cells;
    cellar_status status = cellar_likelihood_create(&reading->channel, &p->likelihoods[i], err);
    if (status == CELLAR_OK)
        status = cellar_likelihood_observe(p->likelihoods[i], reading->number, &p->cells[i], err);
    if (status == CELLAR_OK)
        status = cellar_observation_peak(p->cells[i], &p->peaks[i], err);
    p->best += p->peaks[i].log_likelihood;
    p->widest += 2 * p->peaks[i].mean + 50;
    p->n_cells++;
    return status;
}

cellar_status cellar_interval_profile(const cellar_reading *a, const cellar_reading *b,
                                      cellar_comparison comparison, double confidence,
                                      cellar_interval_estimate *out, cellar_error *err)
{
    profile p = {.comparison = comparison,
                 .allowed = cellar_chi_square_quantile(1 - confidence, 1),
                 .err = err};
    cellar_status status = profile_add(&p, a, err);
    if (status == CELLAR_OK && b != NULL)
        status = profile_add(&p, b, err);
    if (status == CELLAR_OK) {
        profile_run(&p, out);
        status = p.status;
    }
    cellar_likelihood_free(p.likelihoods[0]);
    cellar_likelihood_free(p.likelihoods[1]);
    return status;
}
