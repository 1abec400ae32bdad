/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_matrix_create(size_t n_rows, cellar_matrix_large large, uint64_t n_keys,
                                   cellar_matrix **out, cellar_error *err)
{
    cellar_matrix *matrix = cellar_alloc(1, sizeof *matrix);
    *out = NULL;
    if (matrix == NULL)
        return cellar_fail_memory(err, "a matrix");
    *matrix = (cellar_matrix){.n_rows = n_rows, .large = large, .n_keys = n_keys};
    matrix->rows = cellar_alloc(n_rows, sizeof *matrix->rows);
    if (matrix->rows == NULL) {
        cellar_free(matrix);
        return cellar_fail_memory(err, "a matrix");
    }
    for (size_t r = 0; r < n_rows; r++)
        matrix->rows[r].asked = NAN;
    *out = matrix;
    return CELLAR_OK;
}

static void law_clear(cellar_matrix_law *law)
{
    for (size_t i = 0; law->cdf != NULL && i < law->n; i++)
        fmpq_clear(law->cdf + i);
    cellar_free(law->cdf);
    cellar_free(law->changes);
    cellar_free(law->p);
    *law = (cellar_matrix_law){0};
}

void cellar_matrix_free(cellar_matrix *matrix)
{
    if (matrix == NULL)
        return;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        cellar_matrix_part *row = &matrix->rows[r];
        for (size_t i = 0; i < row->n_segments; i++)
            fmpq_clear(row->segments[i].end);
        cellar_free(row->segments);
        law_clear(&row->law);
    }
    cellar_free(matrix->rows);
    cellar_free(matrix);
}

/* ---- making one ------------------------------------------------------------ */

cellar_status cellar_matrix_add(cellar_matrix *matrix, size_t row, int64_t change, const fmpq_t end,
                                cellar_error *err)
{
    cellar_matrix_part *part = &matrix->rows[row];
    cellar_segment *last = part->n_segments > 0 ? &part->segments[part->n_segments - 1] : NULL;
    if (last != NULL && last->change == change) {
        fmpq_set(last->end, end);
        return CELLAR_OK;
    }
    if (!cellar_grow(&part->segments, &part->capacity, part->n_segments + 1,
                     sizeof *part->segments))
        return cellar_fail_memory(err, "a matrix");
    last = &part->segments[part->n_segments++];
    last->change = change;
    fmpq_init(last->end);
    fmpq_set(last->end, end);
    return CELLAR_OK;
}

static int change_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* Sorts the changes that have a probability, each once; answers how many. */
static size_t law_changes(const cellar_matrix_part *row, int64_t *changes)
{
    size_t n = 0, n_distinct = 0;
    for (size_t i = 0; i < row->n_segments; i++)
        if (i == 0 ? !fmpq_is_zero(row->segments[i].end)
                   : !fmpq_equal(row->segments[i].end, row->segments[i - 1].end))
            changes[n++] = row->segments[i].change;
    qsort(changes, n, sizeof *changes, change_order);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || changes[i] != changes[i - 1])
            changes[n_distinct++] = changes[i];
    return n_distinct;
}

/* The position of a change in a row's law, or SIZE_MAX. */
static size_t law_find(const cellar_matrix_law *law, int64_t change)
{
    const int64_t *found =
        law->n == 0 ? NULL
                    : bsearch(&change, law->changes, law->n, sizeof *law->changes, change_order);
    return found != NULL ? (size_t) (found - law->changes) : SIZE_MAX;
}

/* The doubles, each the nearest to an exact rational; ends with cdf as running sums. */
static void law_numbers(cellar_matrix_law *law)
{
    fmpq_t above;
    fmpq_init(above);
    for (size_t i = 0; i < law->n; i++) {
        law->p[i] = cellar_rational_double(law->cdf + i);
        law->log_p[i] = log(law->p[i]);
        if (i > 0)
            fmpq_add(law->cdf + i, law->cdf + i, law->cdf + i - 1);
        law->below[i] = cellar_rational_double(law->cdf + i);
        fmpq_set_si(above, 1, 1);
        fmpq_sub(above, above, law->cdf + i);
        law->above[i] = cellar_rational_double(above);
    }
    fmpq_clear(above);
}

static cellar_status row_finish(cellar_matrix_part *row, cellar_error *err)
{
    cellar_matrix_law *law = &row->law;
    fmpq_t width;
    CELLAR_ASSERT(row->n_segments > 0 && fmpq_is_one(row->segments[row->n_segments - 1].end));
    law->changes = cellar_alloc(row->n_segments, sizeof *law->changes);
    law->cdf = cellar_alloc(row->n_segments, sizeof *law->cdf);
    law->p = cellar_alloc(4 * row->n_segments, sizeof *law->p);
    if (law->changes == NULL || law->cdf == NULL || law->p == NULL)
        return cellar_fail_memory(err, "a matrix");
    law->n = law_changes(row, law->changes);
    law->log_p = law->p + law->n;
    law->below = law->p + 2 * law->n;
    law->above = law->p + 3 * law->n;
    for (size_t i = 0; i < law->n; i++)
        fmpq_init(law->cdf + i);
    fmpq_init(width);
    for (size_t i = 0; i < row->n_segments; i++) {
        size_t at = law_find(law, row->segments[i].change);
        fmpq_set(width, row->segments[i].end);
        if (i > 0)
            fmpq_sub(width, width, row->segments[i - 1].end);
        if (at != SIZE_MAX)
            fmpq_add(law->cdf + at, law->cdf + at, width);
    }
    fmpq_clear(width);
    law_numbers(law);
    return CELLAR_OK;
}

/* A keyed hash is not needed: the matrix is published with the mechanism. */
static cellar_status matrix_digest(cellar_matrix *matrix, cellar_error *err)
{
    crypto_generichash_state state;
    unsigned char bytes[16];
    cellar_text text = {0};
    int failed;

    crypto_generichash_init(&state, NULL, 0, sizeof bytes);
    cellar_text_printf(&text, "%d;%" PRIu64 "\n", (int) matrix->large, matrix->n_keys);
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const cellar_matrix_part *row = &matrix->rows[r];
        for (size_t i = 0; i < row->n_segments; i++) {
            cellar_text_printf(&text, "%zu;%" PRId64 ";", r, row->segments[i].change);
            cellar_rational_add(&text, row->segments[i].end);
            cellar_text_add_char(&text, '\n');
        }
        if (text.bytes != NULL)
            crypto_generichash_update(&state, (const unsigned char *) text.bytes, text.length);
        cellar_text_reset(&text);
    }
    failed = text.failed;
    cellar_text_clear(&text);
    if (failed)
        return cellar_fail_memory(err, "a matrix");
    crypto_generichash_final(&state, bytes, sizeof bytes);
    sodium_bin2hex(matrix->digest, sizeof matrix->digest, bytes, sizeof bytes);
    return CELLAR_OK;
}

cellar_status cellar_matrix_finish(cellar_matrix *matrix, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    for (size_t r = 0; status == CELLAR_OK && r < matrix->n_rows; r++)
        status = row_finish(&matrix->rows[r], err);
    return status == CELLAR_OK ? matrix_digest(matrix, err) : status;
}

/* U becomes floor(U n + 1/2) / n: rounding keeps the order of the ends, and 1. */
static void end_round(fmpq_t end, uint64_t n_keys)
{
    fmpz_t n, twice;
    fmpz_init_set_ui(n, n_keys);
    fmpz_init(twice);
    fmpq_mul_fmpz(end, end, n);
    fmpz_mul_2exp(fmpq_numref(end), fmpq_numref(end), 1);
    fmpz_add(fmpq_numref(end), fmpq_numref(end), fmpq_denref(end));
    fmpz_mul_2exp(twice, fmpq_denref(end), 1);
    fmpz_fdiv_q(fmpq_numref(end), fmpq_numref(end), twice);
    fmpz_set(fmpq_denref(end), n);
    fmpq_canonicalise(end);
    fmpz_clear(n);
    fmpz_clear(twice);
}

cellar_status cellar_matrix_round(const cellar_matrix *matrix, uint64_t n_keys, cellar_matrix **out,
                                  cellar_error *err)
{
    cellar_matrix *rounded = NULL;
    cellar_status status = CELLAR_OK;
    fmpq_t end, before;

    fmpq_init(end);
    fmpq_init(before);
    *out = NULL;
    if (n_keys < 2 || n_keys > INT64_MAX)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "a matrix needs at least 2 keys"));
    CELLAR_TRY(cellar_matrix_create(matrix->n_rows, matrix->large, n_keys, &rounded, err));
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const cellar_matrix_part *row = &matrix->rows[r];
        rounded->rows[r].asked = row->asked;
        fmpq_zero(before);
        for (size_t i = 0; i < row->n_segments; i++) {
            fmpq_set(end, row->segments[i].end);
            end_round(end, n_keys);
            if (!fmpq_equal(end, before))
                CELLAR_TRY(cellar_matrix_add(rounded, r, row->segments[i].change, end, err));
            fmpq_set(before, end);
        }
    }
    CELLAR_TRY(cellar_matrix_finish(rounded, err));
    *out = rounded;
    rounded = NULL;
out:
    cellar_matrix_free(rounded);
    fmpq_clear(end);
    fmpq_clear(before);
    return status;
}

/* ---- queries --------------------------------------------------------------- */

size_t cellar_matrix_row_of(const cellar_matrix *matrix, int64_t count)
{
    uint64_t n = count < 0 ? 0 : (uint64_t) count;
    if (matrix->large == CELLAR_MATRIX_LARGE_ROTATE && n > CELLAR_MATRIX_ROTATE_LAST)
        n = (n - 1) % CELLAR_MATRIX_ROTATE_PERIOD + CELLAR_MATRIX_ROTATE_FIRST;
    return n < matrix->n_rows ? (size_t) n : matrix->n_rows - 1;
}

size_t cellar_matrix_n_rows(const cellar_matrix *matrix)
{
    return matrix->n_rows;
}

cellar_matrix_large cellar_matrix_large_rule(const cellar_matrix *matrix)
{
    return matrix->large;
}

uint64_t cellar_matrix_n_keys(const cellar_matrix *matrix)
{
    return matrix->n_keys;
}

const char *cellar_matrix_digest(const cellar_matrix *matrix)
{
    return matrix->digest;
}

static const cellar_matrix_law *matrix_law(const cellar_matrix *matrix, size_t row)
{
    CELLAR_ASSERT(row < matrix->n_rows);
    return &matrix->rows[row].law;
}

int64_t cellar_matrix_change(const cellar_matrix *matrix, size_t row, size_t index)
{
    CELLAR_ASSERT(index < matrix_law(matrix, row)->n);
    return matrix_law(matrix, row)->changes[index];
}

double cellar_matrix_probability(const cellar_matrix *matrix, size_t row, size_t index)
{
    CELLAR_ASSERT(index < matrix_law(matrix, row)->n);
    return matrix_law(matrix, row)->p[index];
}

/* Mean and variance in exact arithmetic: an unbiased matrix shows a bias of 0, not of 1e-17. */
static void law_exact_moments(const cellar_matrix_law *law, double *mean, double *variance)
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

static double law_entropy(const cellar_matrix_law *law)
{
    double entropy = 0;
    for (size_t i = 0; i < law->n; i++)
        entropy -= law->p[i] * law->log_p[i];
    return entropy > 0 ? entropy : 0; /* not -0 */
}

void cellar_matrix_row_at(const cellar_matrix *matrix, size_t row, cellar_matrix_row *out)
{
    const cellar_matrix_law *law = matrix_law(matrix, row);
    size_t stay = law_find(law, 0);
    *out = (cellar_matrix_row){.count = row,
                               .n_changes = law->n,
                               .lowest = law->changes[0],
                               .highest = law->changes[law->n - 1],
                               .entropy = law_entropy(law),
                               .stay = stay != SIZE_MAX ? law->p[stay] : 0,
                               .asked = matrix->rows[row].asked};
    law_exact_moments(law, &out->bias, &out->variance);
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
        if (law_find(&matrix->rows[cellar_matrix_row_of(matrix, count)].law, released - count) !=
            SIZE_MAX)
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

/* ---- the law of a mechanism that is a matrix --------------------------------- */

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

double cellar_matrix_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t at = law_find(law, change_of(count, released));
    return at != SIZE_MAX ? law->log_p[at] : -INFINITY;
}

void cellar_matrix_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                            int64_t bits, arb_t out)
{
    const cellar_matrix_law *law = law_of(m, count);
    size_t at = law_find(law, change_of(count, released));
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
    law_exact_moments(law, &mean, &out->variance);
    out->mean = (double) count + mean;
    out->entropy = law_entropy(law);
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
