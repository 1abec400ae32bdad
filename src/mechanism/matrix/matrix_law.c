/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a row, and of a mechanism that is a matrix. */
#include "mechanism/matrix/matrix.h"

#include <math.h>

#include "math/rational.h"

/* ---- a row --------------------------------------------------------------------- */

/* How many changes of the row are at most `change`. */
static size_t law_n_at_most(const cellar_matrix_law *law, int64_t change)
{
    size_t low = 0, high = law->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (law->changes[middle] <= change)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t cellar_matrix_law_find(const cellar_matrix_law *law, int64_t change)
{
    size_t n = law_n_at_most(law, change);
    return n > 0 && law->changes[n - 1] == change ? n - 1 : SIZE_MAX;
}

/* Mean and variance in exact arithmetic: an unbiased matrix shows a bias of 0, not of 1e-17. */
void cellar_matrix_law_moments(const cellar_matrix_law *law, double *mean, double *variance)
{
    fmpq_t first, second, term;
    fmpz_t change;
    fmpq_init(first);
    fmpq_init(second);
    fmpq_init(term);
    fmpz_init(change);
    for (size_t i = 0; i < law->n; i++) {
        fmpz_set_si(change, law->changes[i]);
        fmpq_set(term, law->cdf + i);
        if (i > 0)
            fmpq_sub(term, term, law->cdf + i - 1);
        fmpq_mul_fmpz(term, term, change);
        fmpq_add(first, first, term);
        fmpq_mul_fmpz(term, term, change);
        fmpq_add(second, second, term);
    }
    *mean = cellar_rational_double(first);
    fmpq_mul(term, first, first);
    fmpq_sub(second, second, term);
    *variance = cellar_rational_double(second);
    fmpq_clear(first);
    fmpq_clear(second);
    fmpq_clear(term);
    fmpz_clear(change);
}

double cellar_matrix_law_entropy(const cellar_matrix_law *law)
{
    double entropy = 0;
    for (size_t i = 0; i < law->n; i++)
        entropy -= law->p[i] * law->log_p[i];
    return entropy > 0 ? entropy : 0; /* not -0 */
}

/* ---- a mechanism ----------------------------------------------------------------- */

static const cellar_matrix_law *law_of(const cellar_mechanism *m, int64_t count)
{
    const cellar_matrix *matrix = ((const cellar_matrix_mechanism *) m)->matrix;
    return &matrix->rows[cellar_matrix_row_of(matrix, count)].law;
}

const cellar_matrix *cellar_mechanism_matrix(const cellar_mechanism *m)
{
    return m->ops->clear == cellar_matrix_mechanism_clear
               ? ((const cellar_matrix_mechanism *) m)->matrix
               : NULL;
}

/* released - count, where changes are far smaller than what would overflow. */
static int64_t change_of(int64_t count, int64_t released)
{
    int64_t change;
    if (__builtin_sub_overflow(released, count, &change))
        return released < count ? INT64_MIN : INT64_MAX;
    return change;
}

double cellar_matrix_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t at = cellar_matrix_law_find(law, change_of(count, released));
    return at != SIZE_MAX ? law->log_p[at] : -INFINITY;
}

void cellar_matrix_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                            int64_t bits, arb_t out)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t at = cellar_matrix_law_find(law, change_of(count, released));
    fmpq_t p;
    arb_zero(out);
    if (at == SIZE_MAX)
        return;
    fmpq_init(p);
    fmpq_set(p, law->cdf + at);
    if (at > 0)
        fmpq_sub(p, p, law->cdf + at - 1);
    arb_set_fmpq(out, p, bits);
    fmpq_clear(p);
}

double cellar_matrix_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t n = law_n_at_most(law, change_of(count, released));
    return n > 0 ? law->below[n - 1] : 0;
}

double cellar_matrix_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t n = law_n_at_most(law, change_of(count, released));
    return n > 0 ? law->above[n - 1] : 1;
}

void cellar_matrix_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                 int64_t bits, arb_t out)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t n = law_n_at_most(law, change_of(count, released));
    fmpq_t p;
    fmpq_init(p);
    fmpq_set_si(p, 1, 1);
    if (n > 0)
        fmpq_sub(p, p, law->cdf + n - 1);
    arb_set_fmpq(out, p, bits);
    fmpq_clear(p);
}

void cellar_matrix_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                           int64_t *high)
{
    const cellar_matrix_law *law = law_of(m, count);
    (void) tail;
    *low = count + law->changes[0];
    *high = count + law->changes[law->n - 1];
}

void cellar_matrix_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    const cellar_matrix_law *law = law_of(m, count);
    double mean;
    cellar_matrix_law_moments(law, &mean, &out->variance);
    out->mean = (double) count + mean;
    out->entropy = cellar_matrix_law_entropy(law);
}

/* ---- what certificates rest on ------------------------------------------------ */

/* The last row serves all larger counts; a rotation serves a and a + 250 alike from 501 on, as
 * (a + 250 - 1) mod 250 + 501 = (a - 501) mod 250 + 501. Changes do not depend on the count. */
static int matrix_period(const cellar_mechanism *m, int64_t *from, int64_t *period)
{
    const cellar_matrix *matrix = ((const cellar_matrix_mechanism *) m)->matrix;
    int rotates = matrix->large == CELLAR_MATRIX_LARGE_ROTATE;
    *from = rotates ? CELLAR_MATRIX_ROTATE_FIRST : (int64_t) matrix->n_rows - 1;
    *period = rotates ? CELLAR_MATRIX_ROTATE_PERIOD : 1;
    return 1;
}

const cellar_facts cellar_matrix_facts = {.period = matrix_period};
