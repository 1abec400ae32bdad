/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told about a matrix: bias, variance, entropy, reach, and what it gives away. */
#include "mechanism/matrix/matrix.h"

#include "base/error.h"

void cellar_matrix_row_at(const cellar_matrix *matrix, size_t row, cellar_matrix_row *out)
{
    const cellar_matrix_law *law;
    size_t stay;
    CELLAR_ASSERT(row < matrix->n_rows);
    law = &matrix->rows[row].law;
    stay = cellar_matrix_law_find(law, 0);
    *out = (cellar_matrix_row){.count = row,
                               .n_changes = law->n,
                               .lowest = law->changes[0],
                               .highest = law->changes[law->n - 1],
                               .entropy = cellar_matrix_law_entropy(law),
                               .stay = stay != SIZE_MAX ? law->p[stay] : 0,
                               .asked = matrix->rows[row].asked};
    cellar_matrix_law_moments(law, &out->bias, &out->variance);
}

uint64_t cellar_matrix_largest_change(const cellar_matrix *matrix)
{
    int64_t largest = 0;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const cellar_matrix_law *law = &matrix->rows[r].law;
        largest = -law->changes[0] > largest ? -law->changes[0] : largest;
        largest = law->changes[law->n - 1] > largest ? law->changes[law->n - 1] : largest;
    }
    return (uint64_t) largest;
}

static int matrix_releases(const cellar_matrix *matrix, int64_t released, int64_t reach)
{
    for (int64_t count = released > reach ? released - reach : 0; count <= released + reach;
         count++)
        if (cellar_matrix_law_find(&matrix->rows[cellar_matrix_row_of(matrix, count)].law,
                                   released - count) != SIZE_MAX)
            return 1;
    return 0;
}

int64_t cellar_matrix_forbidden(const cellar_matrix *matrix, size_t index)
{
    int64_t reach = (int64_t) cellar_matrix_largest_change(matrix);
    for (int64_t b = 0; b < (int64_t) matrix->n_rows; b++)
        if (!matrix_releases(matrix, b, reach) && index-- == 0)
            return b;
    return -1;
}

/* P(a cell of `count` records and one of a record more differ). Their keys differ by the key of
 * that record, which is uniform and independent: the two changes are independent draws. */
static double pair_difference(const cellar_matrix *matrix, int64_t count)
{
    const cellar_matrix_law *less = &matrix->rows[cellar_matrix_row_of(matrix, count)].law;
    const cellar_matrix_law *more = &matrix->rows[cellar_matrix_row_of(matrix, count + 1)].law;
    double differ = 0;
    if (count == 0) { /* no records, no key: released as 0 */
        for (size_t k = 0; k < more->n; k++)
            differ += more->changes[k] != -1 ? more->p[k] : 0;
        return differ;
    }
    for (size_t i = 0; i < less->n; i++)
        for (size_t k = 0; k < more->n; k++)
            if (less->changes[i] != more->changes[k] + 1)
                differ += less->p[i] * more->p[k];
    return differ;
}

double cellar_matrix_difference(const cellar_matrix *matrix, uint64_t *count)
{
    int64_t n = (int64_t) matrix->n_rows;
    double worst = -1;
    if (matrix->large == CELLAR_MATRIX_LARGE_ROTATE)
        n += CELLAR_MATRIX_ROTATE_PERIOD;
    for (int64_t a = 0; a <= n; a++) {
        double differ = pair_difference(matrix, a);
        if (differ > worst) {
            worst = differ;
            *count = (uint64_t) a;
        }
    }
    return worst < 1 ? worst : 1;
}
