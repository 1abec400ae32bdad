/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure under a model: the columns are independent, but for a share of the people about whom
 * nothing is assumed.
 *
 * Let c_j people of n have somebody's value of column j. Of the n-1 others c_j - 1 have it, so that
 * under independence the share p = prod_j (c_j-1)/(n-1) of them is expected to have all of
 * somebody's values v. Their number is taken for binomial, and so somebody is in a small group with
 * the chance f(p) = P(Bin(n-1, p) <= k-2), or for certain when c_j < k for some j. With q the
 * product of the columns' shares, the share expected in small groups is sum_v q_v f(p_v). (Not
 * f(q_v): who counts the person among those who might be with her expects too many. The columns of
 * people whose counts are fixed match at random, so that the number of others is hypergeometric or
 * less spread still.)
 *
 * The share tau of the people may have any values. f falls, so the share expected in small groups
 * is at most
 *
 *   (1-tau) sum_v q_v f((1-tau) p_v) + tau.
 *
 * The sum has as many terms as there are combinations. -ln p_v is a sum over the columns, so its
 * distribution is a convolution: each column's is rounded up to a grid, which lowers p_v and so
 * never lowers the result. */
#include <math.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_curve.h"

/* Steps of 1/512 in -ln p, up to 32: what is rarer counts as exposed. */
enum { STEPS_PER_UNIT = 512, N_BUCKETS = 32 * STEPS_PER_UNIT };

/* The bucket of a share; N_BUCKETS - 1 for the rarest. A hair is added against rounding. */
static size_t bucket_of(double share)
{
    double at = ceil(-log(share) * STEPS_PER_UNIT + 1e-9 * (share < 1));
    return at < N_BUCKETS - 1 ? (size_t) at : N_BUCKETS - 1;
}

/* The masses of the product with one more column; `spare` has the same room. */
static void column_join(const cellar_exposure_curve *column, const cellar_exposure_model *model,
                        const double *mass, double *spare)
{
    for (size_t b = 0; b < N_BUCKETS; b++)
        spare[b] = 0;
    for (size_t i = 0; i < column->n_steps; i++) {
        double share = curve_share(column, i), weight = share * (double) column->steps[i].n_cells;
        size_t shift = bucket_of(exposure_others(model, share));
        for (size_t b = 0; b < N_BUCKETS; b++)
            if (mass[b] > 0)
                spare[b + shift < N_BUCKETS ? b + shift : N_BUCKETS - 1] += weight * mass[b];
    }
}

static double masses_expose(const double *mass, const cellar_exposure_model *model)
{
    double sum = 0, kept = 1 - model->tolerance;
    for (size_t b = 0; b < N_BUCKETS; b++)
        if (mass[b] > 0) {
            double share = kept * exp(-(double) b / STEPS_PER_UNIT);
            sum += mass[b] * (b == N_BUCKETS - 1
                                  ? 1
                                  : cellar_exposure_few_others(model->population, model->k, share,
                                                               1 - share, 1));
        }
    return fmin(kept * sum * (1 + 1e-12) + model->tolerance, 1);
}

cellar_status cellar_exposure_independent(const cellar_exposure_curve *const *columns, size_t n,
                                          const cellar_exposure_model *model, double *value,
                                          cellar_error *err)
{
    double *both = cellar_alloc((size_t) 2 * N_BUCKETS, sizeof *both), *mass, *spare;

    if (model->population == 0 || model->k == 0 ||
        !(model->tolerance >= 0 && model->tolerance < 1)) {
        cellar_free(both);
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the model needs a population and a k of at least 1, and a tolerance "
                           "from 0 to below 1");
    }
    if (both == NULL)
        return cellar_fail_memory(err, "a model");
    mass = both;
    spare = both + N_BUCKETS;
    mass[0] = 1;
    for (size_t c = 0; c < n; c++) {
        double *swap = mass;
        column_join(columns[c], model, mass, spare);
        mass = spare;
        spare = swap;
    }
    *value = masses_expose(mass, model);
    cellar_free(both);
    return CELLAR_OK;
}
