/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/noise_sum.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/sum_law.h"
#include "mechanism/mechanism.h"

struct cellar_noise_sum {
    int64_t reach;
    double *pmf; /* of 0..reach; the other side is the same */
    double *cdf; /* of -reach..reach */
};

static cellar_status law_of_cell(const cellar_mechanism *mechanism, cellar_sum_law *out,
                                 cellar_error *err)
{
    int64_t low, high;
    cellar_status status;
    cellar_mechanism_support(mechanism, 0, CELLAR_SUM_LAW_TAIL / 64, &low, &high);
    status = cellar_sum_law_init(out, -high, high, err);
    for (int64_t k = -high; status == CELLAR_OK && k <= high; k++)
        out->pmf[k + high] = cellar_mechanism_pmf(mechanism, 0, k);
    return status;
}

static int64_t last_of(const cellar_sum_law *law)
{
    return law->first + (int64_t) law->n - 1;
}

cellar_status cellar_noise_sum_create(const cellar_mechanism *mechanism, uint64_t n_cells,
                                      cellar_noise_sum **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_noise_sum *sum = NULL;
    cellar_sum_law law = {0}, one = {0};
    double total = 0;

    *out = NULL;
    if (!mechanism->ops->is_additive)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s does not add noise of one distribution: the distribution of a sum "
                           "depends on the counts that were summed",
                           cellar_mechanism_name(mechanism));
    CELLAR_TRY(cellar_sum_law_init_nothing(&law, err));
    CELLAR_TRY(law_of_cell(mechanism, &one, err));
    CELLAR_TRY(cellar_sum_law_add(&law, &one, n_cells, err));
    sum = cellar_alloc(1, sizeof *sum);
    if (sum == NULL) {
        status = cellar_fail_memory(err, "the noise of a sum");
        goto out;
    }
    sum->reach = -law.first > last_of(&law) ? -law.first : last_of(&law);
    sum->pmf = cellar_alloc((size_t) sum->reach + 1, sizeof *sum->pmf);
    sum->cdf = cellar_alloc((size_t) (2 * sum->reach + 1), sizeof *sum->cdf);
    if (sum->pmf == NULL || sum->cdf == NULL) {
        status = cellar_fail_memory(err, "the noise of a sum");
        goto out;
    }
    for (int64_t k = law.first; k <= last_of(&law); k++) {
        double p = law.pmf[k - law.first];
        sum->pmf[k < 0 ? -k : k] = p;
        sum->cdf[k + sum->reach] = p;
    }
    for (int64_t i = 0; i < 2 * sum->reach + 1; i++)
        sum->cdf[i] = total += sum->cdf[i];
    *out = sum;
    sum = NULL;
out:
    cellar_noise_sum_free(sum);
    cellar_sum_law_clear(&law);
    cellar_sum_law_clear(&one);
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
