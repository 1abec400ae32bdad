/* SPDX-License-Identifier: GPL-3.0-or-later */
/* e^{rate sqrt b} and its sums for the first b, as balls: made once, they give the distribution of
 * every small count without another exponential. Sums that were asked for last are remembered. */
#ifndef CELLAR_MECHANISM_KERNELS_HELLINGER_TABLE_H
#define CELLAR_MECHANISM_KERNELS_HELLINGER_TABLE_H

#include <stddef.h>

#include <cellar/status.h>

#include "math/flint.h"

typedef struct cellar_hellinger_table cellar_hellinger_table;

/* Numbers above are not in it, nor is more precision. */
enum { CELLAR_HELLINGER_TABLE_MAX = 256, CELLAR_HELLINGER_TABLE_BITS = 128 };

cellar_status cellar_hellinger_table_create(const fmpq_t rate, cellar_hellinger_table **out,
                                            cellar_error *err);
void cellar_hellinger_table_free(cellar_hellinger_table *table); /* NULL is fine */

/* P(first + i | count), i < n, P(more than b | count) and P(at most b | count); first + n, count
 * and b below the largest. Many threads may ask. */
void cellar_hellinger_table_pmf(cellar_hellinger_table *table, int64_t count, int64_t first,
                                size_t n, arb_ptr out);
void cellar_hellinger_table_survival(cellar_hellinger_table *table, int64_t count, int64_t b,
                                     arb_t out);
void cellar_hellinger_table_cdf(cellar_hellinger_table *table, int64_t count, int64_t b, arb_t out);

/* Encloses sum_{b <= n} e^{rate sqrt b}, and sum_{b >= n} e^{-rate sqrt b}, of any n >= 0. */
void cellar_hellinger_table_below(cellar_hellinger_table *table, int64_t n, int64_t bits,
                                  arb_t out);
void cellar_hellinger_table_above(cellar_hellinger_table *table, int64_t n, int64_t bits,
                                  arb_t out);

#endif
