/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cholesky.h"

#include <math.h>

static double row_product(const double *a, const double *b, size_t n)
{
    double sums[4] = {0}, rest = 0;
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t l = 0; l < 4; l++) /* four sums, which a compiler can hold in one register */
            sums[l] += a[k + l] * b[k + l];
    for (; k < n; k++)
        rest += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}

size_t cellar_cholesky_factor(double *matrix, size_t n, double tolerance)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * n, pivot;
        for (size_t j = 0; j < i; j++) {
            const double *other = matrix + j * n;
            row[j] = other[j] > 0 ? (row[j] - row_product(row, other, j)) / other[j] : 0;
        }
        pivot = row[i] - row_product(row, row, i);
        if (pivot > tolerance * row[i] && pivot > 0) {
            row[i] = sqrt(pivot);
            rank++;
        } else
            row[i] = 0;
    }
    return rank;
}

void cellar_cholesky_solve(const double *factor, size_t n, double *vector)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = factor + i * n;
        vector[i] = row[i] > 0 ? (vector[i] - row_product(row, vector, i)) / row[i] : 0;
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = factor + i * n;
        vector[i] = row[i] > 0 ? vector[i] / row[i] : 0;
        for (size_t j = 0; j < i; j++)
            vector[j] -= row[j] * vector[i];
    }
}
