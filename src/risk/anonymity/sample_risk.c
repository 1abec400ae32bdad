/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The individual risk of Benedetti and Franconi (1998; Franconi and Polettini, "Individual risk
 * estimation in mu-Argus: a review", PSD 2004, LNCS 3050): of a group with f records in the sample,
 * F people of the population share the values, and a record is re-identified with probability 1/F.
 * Given f, F is taken to be negative binomial with success probability p = f / (sum of weights), so
 *
 *   r = E[1/F | f] = sum_{h >= f} C(h-1, f-1) p^f q^(h-f) / h,  q = 1 - p
 *     = p I(f),  I(f) = integral of u^(f-1) / (p + q u) over u from 0 to 1,
 *
 * by writing 1/h as the integral of s^(h-1) and substituting u = p s / (1 - q s). */
#include "risk/anonymity/sample_risk.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/build.h"

enum { SERIES_FROM = 32 }; /* records; fewer take the recurrence */

/* 1/(p + q u) = sum of q^k (1-u)^k, so I(f) = sum of q^k B(f, k+1): positive terms, each
 * q (k+1)/(f+k+1) times the one before. */
static double integral_series(double f, double q)
{
    double term = 1 / f, sum = 0;
    for (uint64_t k = 1; sum + term != sum; k++) {
        sum += term;
        term *= q * (double) k / (f + (double) k);
    }
    return sum;
}

/* q I(f+1) + p I(f) = 1/f, from I(1) = ln(1/p) / q; errors shrink by p/q. */
static double integral_recurrence(uint64_t f, double p, double q)
{
    double value = -log(p) / q;
    for (uint64_t i = 1; i < f; i++)
        value = (1 / (double) i - p * value) / q;
    return value;
}

double cellar_reidentification_risk(uint64_t sample, double population)
{
    double f = (double) sample, p = f / population, q = (population - f) / population;
    if (sample == 0 || isnan(population))
        return NAN;
    if (population <= f) /* everybody is in the sample */
        return 1 / f;
    if (p > 0.5 || sample >= SERIES_FROM)
        return p * integral_series(f, q);
    return p * integral_recurrence(sample, p, q);
}

/* The weighted sum of each group, in units of 1e-9. */
static cellar_status sums_read(const anonymity_groups *groups, const cellar_table *margin,
                               uint64_t *sums, cellar_error *err)
{
    cellar_int128 total = 0;
    size_t g = 0;
    for (size_t i = 0; i < cellar_table_n_cells(margin); i++) {
        if (cellar_table_cell(margin, i).count == 0)
            continue;
        CELLAR_ASSERT(g < groups->n);
        total += cellar_table_weight(margin, i);
        if (cellar_table_weight(margin, i) < 0 || total > (cellar_int128) UINT64_MAX)
            return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                               "the weights of the sample are negative, or add up to more than 18 "
                               "billion people");
        sums[g++] = (uint64_t) cellar_table_weight(margin, i);
    }
    CELLAR_ASSERT(g == groups->n);
    return CELLAR_OK;
}

cellar_status cellar_anonymity_weigh(const anonymity_groups *groups, const cellar_table *margin,
                                     const uint32_t *wildcards, cellar_anonymity_group *list,
                                     cellar_error *err)
{
    uint64_t *own = cellar_alloc(groups->n, sizeof *own), *matching = NULL;
    anonymity_groups weighed = *groups;
    cellar_status status = CELLAR_OK;

    if (own == NULL)
        return cellar_fail_memory(err, "weights");
    CELLAR_TRY(sums_read(groups, margin, own, err));
    if (wildcards != NULL) {
        matching = cellar_alloc(groups->n, sizeof *matching);
        if (matching == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "weights"));
        weighed.counts = own;
        weighed.n_values = 1;
        CELLAR_TRY(cellar_anonymity_match(&weighed, wildcards, matching, err));
    }
    for (size_t g = 0; g < groups->n; g++) {
        list[g].population =
            (double) (matching != NULL ? matching[g] : own[g]) / CELLAR_WEIGHT_UNIT;
        list[g].risk = cellar_reidentification_risk(list[g].n_matches, list[g].population);
    }
out:
    cellar_free(own);
    cellar_free(matching);
    return status;
}
