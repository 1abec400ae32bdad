/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws on whole numbers, and their convolutions. */
#ifndef CELLAR_INFERENCE_SUM_LAW_H
#define CELLAR_INFERENCE_SUM_LAW_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

/* Probabilities of first, first + 1, ..., first + n - 1. What is left out at either end of a sum is
 * below 1e-30. All terms are positive, so that doubles keep their digits in both tails. */
typedef struct cellar_sum_law {
    int64_t first;
    size_t n;
    double *pmf;
} cellar_sum_law;

enum { CELLAR_SUM_LAW_MAX = 200001 }; /* wider laws would take minutes */
static const double CELLAR_SUM_LAW_TAIL = 1e-30;

/* All probabilities zero. Fails with CELLAR_ERR_ARGUMENT when it is too wide. */
cellar_status cellar_sum_law_init(cellar_sum_law *law, int64_t first, int64_t last,
                                  cellar_error *err);
/* The law of the number 0: where sums begin. */
cellar_status cellar_sum_law_init_nothing(cellar_sum_law *law, cellar_error *err);
void cellar_sum_law_clear(cellar_sum_law *law);

/* *law becomes that of the sum with `n` independent numbers of law *one, which is used up. */
cellar_status cellar_sum_law_add(cellar_sum_law *law, cellar_sum_law *one, uint64_t n,
                                 cellar_error *err);

/* The largest d with P(at least d) >= tail, and the smallest with P(at most d) >= tail. */
int64_t cellar_sum_law_highest(const cellar_sum_law *law, double tail);
int64_t cellar_sum_law_lowest(const cellar_sum_law *law, double tail);

#endif
