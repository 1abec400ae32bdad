/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact draws of many different laws on 0, 1, ..., one law a cell: the sampler of kernels, whose
 * law depends on the count.
 *
 * A law is kept as the first 64 bits of its distribution function with proven bounds, as in
 * thresholds.h: T < 2^64 P(Y <= j) <= T + 1. 64 random bits U give Y = #{j : T_j < U} unless U
 * equals some T_j, a chance below 2^-50; then the exact law decides with more bits.
 *
 * Time and the memory that is read depend on the laws alone: every threshold is compared. Lists of
 * more than CELLAR_INVERSE_SCANNED thresholds are compared by their first 32 bits, and those whose
 * 32 bits tie, a chance below 2^-16, by 64 bits once more; lists of more than
 * CELLAR_INVERSE_HALVES that 32 bits tell apart, by 64 bits at once. */
#ifndef CELLAR_RANDOM_INVERSE_H
#define CELLAR_RANDOM_INVERSE_H

#include "random/thresholds.h"

enum {
    CELLAR_INVERSE_SCANNED = 256,
    CELLAR_INVERSE_HALVES = 1 << 16,
    CELLAR_INVERSE_BLOCK = 16384, /* cells drawn together */
    CELLAR_INVERSE_BEST = 2, /* the fastest comparisons the machine has; 1: AVX2; 0: any machine */
};

typedef struct cellar_inverse cellar_inverse;

/* `low` and `high` are where the first and the last threshold that is neither all zeros nor all
 * ones are expected; wrong guesses cost time only. Fails with CELLAR_ERR_ARGUMENT when more than
 * `n_max` thresholds are needed. Keeps law.context. On failure *out is NULL. */
cellar_status cellar_inverse_create(cellar_law law, int64_t low, int64_t high, size_t n_max,
                                    cellar_inverse **out, cellar_error *err);

/* The same from its list of thresholds: t[i] + 2^63 = T for P(Y <= first + i), proven. The first
 * may be all zeros, the last must be all ones or that of law.last - 1. */
cellar_status cellar_inverse_create_list(cellar_law law, int64_t first, const int64_t *t, size_t n,
                                         cellar_inverse **out, cellar_error *err);

/* The thresholds of first.. by balls, as they are kept. */
void cellar_inverse_prove(const cellar_law *law, int64_t first, size_t n, int64_t *t);

void cellar_inverse_free(cellar_inverse *inverse); /* NULL is fine */
size_t cellar_inverse_n_thresholds(const cellar_inverse *inverse);
const void *cellar_inverse_context(const cellar_inverse *inverse);

/* values[i] is drawn from laws[i], i < n. */
cellar_status cellar_inverse_draw_many(const cellar_inverse *const *laws, size_t n, cellar_rng *rng,
                                       int64_t *values, cellar_error *err);

/* The same with the first 64 bits of each cell given, less 2^63; n <= CELLAR_INVERSE_BLOCK. The
 * numbers do not depend on `level`. */
cellar_status cellar_inverse_decide_many(const cellar_inverse *const *laws, size_t n,
                                         const int64_t *bits, int level, cellar_rng *rng,
                                         int64_t *values, cellar_error *err);

#endif
