/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/matrix/matrix.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/output.h"
#include "math/rational.h"

/* ---- i;j;p;v;p_int_ub --------------------------------------------------------- */

static void ptable_add_row(const cellar_matrix_part *row, size_t count, cellar_text *text)
{
    fmpq_t end, width;
    fmpq_init(end);
    fmpq_init(width);
    for (size_t i = 0; i < row->n_segments; i++) {
        const cellar_segment *s = &row->segments[i];
        fmpq_sub(width, s->end, end);
        fmpq_set(end, s->end);
        cellar_text_printf(text, "%zu;%" PRId64 ";", count, (int64_t) count + s->change);
        cellar_rational_add(text, width);
        cellar_text_printf(text, ";%" PRId64 ";", s->change);
        cellar_rational_add(text, end);
        cellar_text_add_char(text, '\n');
    }
    fmpq_clear(end);
    fmpq_clear(width);
}

static cellar_status ptable_add(const cellar_matrix *matrix, cellar_text *text, cellar_error *err)
{
    cellar_text_add_string(text, "i;j;p;v;p_int_ub\n");
    for (size_t r = 0; r < matrix->n_rows; r++)
        ptable_add_row(&matrix->rows[r], r, text);
    if (text->bytes != NULL && strchr(text->bytes, '/') != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a probability of this matrix is no decimal, and the layout "
                           "i;j;p;v;p_int_ub can only write decimals");
    return CELLAR_OK;
}

/* ---- keys ------------------------------------------------------------------------ */

/* The number of keys up to the end of a segment. */
static cellar_status segment_keys(const cellar_segment *s, uint64_t n_keys, uint64_t *out,
                                  cellar_error *err)
{
    fmpz_t keys;
    int exact;
    fmpz_init_set_ui(keys, n_keys);
    exact = fmpz_divisible(keys, fmpq_denref(s->end));
    if (exact) {
        fmpz_divexact(keys, keys, fmpq_denref(s->end));
        fmpz_mul(keys, keys, fmpq_numref(s->end));
        *out = fmpz_get_ui(keys);
    }
    fmpz_clear(keys);
    if (exact)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "the probabilities are no multiples of 1/%" PRIu64
                       ": round the matrix to that number of keys first",
                       n_keys);
}

static void keys_add_range(cellar_matrix_layout layout, size_t count, uint64_t first, uint64_t end,
                           int64_t change, cellar_text *text)
{
    if (layout == CELLAR_MATRIX_CANTABULAR && end - first > 1) {
        cellar_text_printf(text, "%zu,%" PRIu64 "-%" PRIu64 ",%" PRId64 "\n", count, first, end - 1,
                           change);
        return;
    }
    for (; first < end; first++)
        cellar_text_printf(text, "%zu,%" PRIu64 ",%" PRId64 "\n", count, first, change);
}

/* The ONS layout always has rows for counts up to 750, which larger counts use in turn. */
static cellar_status keys_add(const cellar_matrix *matrix, cellar_matrix_layout layout,
                              uint64_t n_keys, cellar_text *text, cellar_error *err)
{
    size_t n_rows = layout == CELLAR_MATRIX_ONS ? CELLAR_MATRIX_ROTATE_LAST + 1 : matrix->n_rows;
    if (matrix->n_rows > n_rows)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "pcv,ckey,pvalue has rows up to %d, the matrix has %zu",
                           CELLAR_MATRIX_ROTATE_LAST, matrix->n_rows - 1);
    cellar_text_add_string(text, layout == CELLAR_MATRIX_ONS
                                     ? "pcv,ckey,pvalue\n"
                                     : "cell_value,cell_key,perturbation\n");
    for (size_t r = 0; r < n_rows; r++) {
        const cellar_matrix_part *row = &matrix->rows[cellar_matrix_row_of(matrix, (int64_t) r)];
        uint64_t first = 0, end;
        for (size_t i = 0; i < row->n_segments; i++) {
            cellar_status status = segment_keys(&row->segments[i], n_keys, &end, err);
            if (status != CELLAR_OK)
                return status;
            keys_add_range(layout, r, first, end, row->segments[i].change, text);
            first = end;
        }
    }
    return CELLAR_OK;
}

/* ---- all together ----------------------------------------------------------- */

cellar_status cellar_matrix_add_text(const cellar_matrix *matrix, cellar_matrix_layout layout,
                                     uint64_t n_keys, cellar_text *text, cellar_error *err)
{
    cellar_status status;
    if (n_keys == 0)
        n_keys = matrix->n_keys;
    if (layout != CELLAR_MATRIX_PTABLE && (n_keys == 0 || n_keys > UINT32_MAX))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a layout that lists keys needs their number, 1 to %" PRIu32,
                           UINT32_MAX);
    status = layout == CELLAR_MATRIX_PTABLE ? ptable_add(matrix, text, err)
                                            : keys_add(matrix, layout, n_keys, text, err);
    if (status == CELLAR_OK && text->failed)
        return cellar_fail_memory(err, "a matrix as text");
    return status;
}

cellar_status cellar_matrix_write(const cellar_matrix *matrix, cellar_matrix_layout layout,
                                  uint64_t n_keys, cellar_output *output, cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status = cellar_matrix_add_text(matrix, layout, n_keys, &text, err);
    if (status == CELLAR_OK)
        cellar_output_text(output, &text);
    cellar_text_clear(&text);
    return status;
}
