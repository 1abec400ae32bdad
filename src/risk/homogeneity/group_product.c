/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small groups, factor by factor. */
#include "risk/homogeneity/group.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/product.h"

#define FLOOR 1e-306

/* The weights of one value: Poisson, or negative binomial with the mean that makes the sum's mean
 * the size. Answers the probability that all weights together give to the size. */
static double product_bases(const cellar_group *group, double (*bases)[CELLAR_PRODUCT_MAX + 1])
{
    double n = (double) group->size, keep = group->total / (group->total + n);
    for (size_t i = 0; i < group->n_parts; i++)
        for (size_t j = 0; j <= group->size; j++)
            bases[i][j] = group->has_prior ? dnbinom((double) j, group->parts[i].weight, keep, 0)
                                           : dpois((double) j, group->parts[i].weight, 0);
    return group->has_prior ? dnbinom(n, group->total, keep, 0) : dpois(n, n, 0);
}

/* Everything that one evaluation needs besides the products. */
typedef struct product_work {
    cellar_lane_table table;
    double bases[][CELLAR_PRODUCT_MAX + 1];
} product_work;

cellar_status cellar_group_by_product(const cellar_group *group, cellar_group_spread *out,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = (size_t) group->size, last = group->n_parts - 1;
    cellar_product products[2] = {{0}, {0}}, *now = &products[0], *next = &products[1];
    cellar_factor factor = {0};
    product_work *work = NULL;
    cellar_lanes at[PRODUCT_N_KINDS];
    double norm;

    CELLAR_ASSERT(n <= CELLAR_PRODUCT_MAX && group->n_parts > 0 && group->n_never == 0);
    work = cellar_alloc_pages(sizeof *work + group->n_parts * sizeof *work->bases);
    if (work == NULL || !cellar_product_init(now, n, FLOOR) ||
        !cellar_product_init(next, n, FLOOR)) {
        status = cellar_fail_memory(err, "the risk of a group");
        goto out;
    }
    cellar_lane_table_init(&work->table, &group->presence, 1);
    norm = product_bases(group, work->bases);
    for (size_t i = 0; i <= last; i++) {
        cellar_factor_clear(&factor);
        if (!cellar_factor_init(&factor, work->bases[i], &work->table, n, FLOOR)) {
            status = cellar_fail_memory(err, "the risk of a group");
            goto out;
        }
        for (uint64_t k = i == last; k < group->parts[i].times; k++) {
            cellar_product *swap = now;
            cellar_product_multiply(now, &factor, next);
            now = next;
            next = swap;
        }
    }
    cellar_product_last(now, &factor, n, at);
    *out = (cellar_group_spread){at[PRODUCT_EMPTY][0] / norm, at[PRODUCT_STRAY][0] / norm,
                                 at[PRODUCT_SHOWN][0] / norm,
                                 at[PRODUCT_RIGHT][0] / norm / (double) n};
out:
    cellar_factor_clear(&factor);
    cellar_product_clear(&products[0]);
    cellar_product_clear(&products[1]);
    cellar_free(work);
    return status;
}
