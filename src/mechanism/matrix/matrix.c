/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/matrix/matrix.h"

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
        size_t at = cellar_matrix_law_find(law, row->segments[i].change);
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
    int failed = 0;

    crypto_generichash_init(&state, NULL, 0, sizeof bytes);
    cellar_text_printf(&text, "%d;%" PRIu64 "\n", matrix->large == CELLAR_MATRIX_LARGE_ROTATE,
                       matrix->n_keys);
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const cellar_matrix_part *row = &matrix->rows[r];
        for (size_t i = 0; i < row->n_segments; i++) {
            cellar_text_printf(&text, "%zu;%" PRId64 ";", r, row->segments[i].change);
            cellar_rational_add(&text, row->segments[i].end);
            cellar_text_add_char(&text, '\n');
        }
        if (text.bytes != NULL)
            crypto_generichash_update(&state, (const unsigned char *) text.bytes, text.length);
        failed |= text.failed;
        cellar_text_reset(&text);
    }
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

cellar_status cellar_matrix_keep_zeros(cellar_matrix *matrix, cellar_error *err)
{
    cellar_matrix_part *row = &matrix->rows[0];
    cellar_status status;
    fmpq_t one;
    for (size_t i = 0; i < row->n_segments; i++)
        fmpq_clear(row->segments[i].end);
    row->n_segments = 0;
    law_clear(&row->law);
    fmpq_init(one);
    fmpq_one(one);
    status = cellar_matrix_add(matrix, 0, 0, one, err);
    fmpq_clear(one);
    return status == CELLAR_OK ? row_finish(row, err) : status;
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

cellar_status cellar_matrix_create_rounded(const cellar_matrix *matrix, uint64_t n_keys,
                                           cellar_matrix **out, cellar_error *err)
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
