/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/noise_sum.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"

/* Wider laws would take minutes. */
enum { SUM_REACH_MAX = 100000 };
static const double SUM_TAIL = 1e-30;

struct cellar_noise_sum {
    int64_t reach;
    double *pmf; /* of 0..reach; the other side is the same */
    double *cdf; /* of -reach..reach */
};

/* A symmetric law during the computation: pmf[k + reach]. */
typedef struct sum_law {
    int64_t reach;
    double *pmf;
} sum_law;

/* Leaves out what is negligible on both sides. */
static void law_trim(sum_law *law)
{
    double tail = 0;
    int64_t cut = 0;
    while (cut < law->reach && tail + law->pmf[cut] < SUM_TAIL / 64)
        tail += law->pmf[cut++];
    memmove(law->pmf, law->pmf + cut, (size_t) (2 * (law->reach - cut) + 1) * sizeof *law->pmf);
    law->reach -= cut;
}

/* *a becomes the law of the sum of *a and *b. */
static cellar_status law_convolve(sum_law *a, const sum_law *b, cellar_error *err)
{
    int64_t reach = a->reach + b->reach, width = 2 * b->reach + 1;
    double *pmf;
    if (reach > SUM_REACH_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the noise of the sum is too wide to be held: sum fewer cells, or use a "
                           "margin that was released");
    pmf = cellar_alloc((size_t) (2 * reach + 1), sizeof *pmf);
    if (pmf == NULL)
        return cellar_fail_memory(err, "the noise of a sum");
    for (int64_t i = 0; i < 2 * a->reach + 1; i++) {
        double p = a->pmf[i], *to = pmf + i;
        for (int64_t j = 0; j < width; j++)
            to[j] += p * b->pmf[j];
    }
    cellar_free(a->pmf);
    *a = (sum_law){reach, pmf};
    law_trim(a);
    return CELLAR_OK;
}

static cellar_status law_of_cell(const cellar_mechanism *mechanism, sum_law *out, cellar_error *err)
{
    int64_t low, high;
    cellar_mechanism_support(mechanism, 0, SUM_TAIL / 64, &low, &high);
    if (high > SUM_REACH_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the noise is too wide to be summed");
    out->reach = high;
    out->pmf = cellar_alloc((size_t) (2 * high + 1), sizeof *out->pmf);
    if (out->pmf == NULL)
        return cellar_fail_memory(err, "the noise of a sum");
    for (int64_t k = -high; k <= high; k++)
        out->pmf[k + high] = cellar_mechanism_pmf(mechanism, 0, k);
    return CELLAR_OK;
}

/* By squaring: the law of 2^i cells for each binary digit of n. */
static cellar_status law_power(const cellar_mechanism *mechanism, uint64_t n, sum_law *total,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    sum_law power = {0};
    total->pmf = cellar_alloc(1, sizeof *total->pmf);
    if (total->pmf == NULL)
        return cellar_fail_memory(err, "the noise of a sum");
    total->pmf[0] = 1;
    CELLAR_TRY(law_of_cell(mechanism, &power, err));
    for (; n > 0; n >>= 1) {
        if (n & 1)
            CELLAR_TRY(law_convolve(total, &power, err));
        if (n > 1)
            CELLAR_TRY(law_convolve(&power, &power, err));
    }
out:
    cellar_free(power.pmf);
    return status;
}

cellar_status cellar_noise_sum_create(const cellar_mechanism *mechanism, uint64_t n_cells,
                                      cellar_noise_sum **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_noise_sum *sum = NULL;
    sum_law law = {0};
    double total = 0;

    *out = NULL;
    if (!mechanism->ops->is_additive)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s adds no noise of its own law: the law of a sum depends on the "
                           "counts that were summed",
                           cellar_mechanism_name(mechanism));
    CELLAR_TRY(law_power(mechanism, n_cells, &law, err));
    sum = cellar_alloc(1, sizeof *sum);
    if (sum == NULL) {
        status = cellar_fail_memory(err, "the noise of a sum");
        goto out;
    }
    sum->reach = law.reach;
    sum->cdf = cellar_alloc((size_t) (2 * law.reach + 1), sizeof *sum->cdf);
    if (sum->cdf == NULL) {
        status = cellar_fail_memory(err, "the noise of a sum");
        goto out;
    }
    for (int64_t i = 0; i < 2 * law.reach + 1; i++)
        sum->cdf[i] = total += law.pmf[i];
    memmove(law.pmf, law.pmf + law.reach, (size_t) (law.reach + 1) * sizeof *law.pmf);
    sum->pmf = law.pmf;
    law.pmf = NULL;
    *out = sum;
    sum = NULL;
out:
    cellar_noise_sum_free(sum);
    cellar_free(law.pmf);
    return status;
}

void cellar_noise_sum_free(cellar_noise_sum *sum)
{
    if (sum == NULL)
        return;
    cellar_free(sum->pmf);
    cellar_free(sum->cdf);
    cellar_free(sum);
}

int64_t cellar_noise_sum_reach(const cellar_noise_sum *sum)
{
    return sum->reach;
}

double cellar_noise_sum_pmf(const cellar_noise_sum *sum, int64_t noise)
{
    int64_t k = noise < 0 ? -noise : noise;
    return k <= sum->reach ? sum->pmf[k] : 0;
}

double cellar_noise_sum_log_pmf(const cellar_noise_sum *sum, int64_t noise)
{
    return log(cellar_noise_sum_pmf(sum, noise));
}

double cellar_noise_sum_cdf(const cellar_noise_sum *sum, int64_t noise)
{
    double p;
    if (noise < -sum->reach)
        return 0;
    if (noise >= sum->reach)
        return 1;
    p = sum->cdf[noise + sum->reach];
    return p < 1 ? p : 1;
}
