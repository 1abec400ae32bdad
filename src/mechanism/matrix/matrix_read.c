/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Perturbation tables as text: what differs between the layouts ends here, in rows of segments. */
#include "mechanism/matrix/matrix_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "math/rational.h"

enum { FILE_LIMIT = 256 << 20 };

enum { BOUND_BITS = 133 }; /* of the denominator: 10^40 has no more */

/* What a layout calls its first three columns. */
static const struct {
    cellar_matrix_layout layout;
    const char *names[CELLAR_MATRIX_COLUMNS];
} layouts[] = {
    {CELLAR_MATRIX_PTABLE, {"i", "j", "p_int_ub"}},
    {CELLAR_MATRIX_PTABLE, {"i", "j", "p_ij_ub"}},
    {CELLAR_MATRIX_PTABLE, {"i", "j", "ub"}}, /* inside the R package cellKey */
    {CELLAR_MATRIX_ONS, {"pcv", "ckey", "pvalue"}},
    {CELLAR_MATRIX_CANTABULAR, {"cell_value", "cell_key", "perturbation"}},
};

/* ---- the header ------------------------------------------------------------ */

static cellar_status reader_header(cellar_matrix_reader *r, cellar_error *err)
{
    cellar_status status = cellar_csv_read_header(&r->csv, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        size_t n_found = 0;
        for (size_t k = 0; k < CELLAR_MATRIX_COLUMNS; k++) {
            r->columns[k] = cellar_csv_find_column(&r->csv, layouts[i].names[k]);
            n_found += r->columns[k] != CELLAR_CSV_NO_COLUMN;
        }
        r->layout = layouts[i].layout;
        if (n_found == CELLAR_MATRIX_COLUMNS)
            return CELLAR_OK;
    }
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s:1: is no perturbation table: its header has neither i;j;p;v;p_int_ub "
                       "nor pcv,ckey,pvalue nor cell_value,cell_key,perturbation",
                       r->csv.name);
}

/* ---- records ---------------------------------------------------------------- */

/* The R package ptable pads the fields of a column to one width. */
cellar_status cellar_matrix_reader_next(cellar_matrix_reader *r, int *found, cellar_error *err)
{
    cellar_status status = cellar_csv_next(&r->csv, found, err);
    if (status == CELLAR_OK && *found)
        cellar_csv_trim(&r->csv);
    return status;
}

/* ---- fields ----------------------------------------------------------------- */

cellar_status cellar_matrix_reader_integer(const cellar_matrix_reader *r, size_t column,
                                           int64_t low, int64_t high, int64_t *out,
                                           cellar_error *err)
{
    const cellar_csv_field *f = &r->csv.fields[column];
    if (!cellar_parse_i64(f->bytes, f->length, out) || *out < low || *out > high)
        return cellar_csv_fail(&r->csv, column, err,
                               "expected a whole number from %" PRId64 " to %" PRId64, low, high);
    return CELLAR_OK;
}

/* ---- i;j;p;v;p_int_ub --------------------------------------------------------- */

/* The tables of the R package ptable for magnitudes have changes between whole numbers and rows
 * for some magnitudes only; they differ from those for counts in their type and in column j. */
static cellar_status ptable_check_kind(const cellar_matrix_reader *r, cellar_error *err)
{
    size_t type = cellar_csv_find_column(&r->csv, "type");
    const cellar_csv_field *j = &r->csv.fields[r->columns[1]];
    int typed = type != CELLAR_CSV_NO_COLUMN && !cellar_csv_field_is(&r->csv.fields[type], "all");
    if (!typed && (j->length == 0 || memchr(j->bytes, '.', j->length) == NULL))
        return CELLAR_OK;
    return cellar_csv_fail(&r->csv, typed ? type : r->columns[1], err,
                           "is of a perturbation table for magnitudes: counts need one for "
                           "counts, as create_cnt_ptable() of the R package ptable makes it");
}

/* The row being read, until its last line is known. */
typedef struct open_row {
    int64_t count;
    fmpq_t end;
} open_row;

/* p and v repeat what i, j and the ends say; they must not say otherwise. */
static cellar_status ptable_check(const cellar_matrix_reader *r, int64_t change, const fmpq_t width,
                                  cellar_error *err)
{
    size_t p_column = cellar_csv_find_column(&r->csv, "p");
    size_t v_column = cellar_csv_find_column(&r->csv, "v");
    cellar_status status = CELLAR_OK;
    fmpq_t p, most;
    int64_t v;

    fmpq_init(p);
    fmpq_init(most);
    fmpq_set_si(most, 1, 1000); /* as few digits as 1.23E-01 */
    if (p_column != CELLAR_CSV_NO_COLUMN) {
        const cellar_csv_field *f = &r->csv.fields[p_column];
        if (!cellar_rational_parse(f->bytes, f->length, p))
            CELLAR_TRY(cellar_csv_fail(&r->csv, p_column, err, "expected a probability"));
        fmpq_sub(p, p, width);
        fmpq_abs(p, p);
        if (fmpq_cmp(p, most) > 0)
            CELLAR_TRY(cellar_csv_fail(&r->csv, p_column, err,
                                       "is not the difference of the bounds in column '%s'",
                                       r->csv.header[r->columns[2]]));
    }
    if (v_column != CELLAR_CSV_NO_COLUMN) {
        CELLAR_TRY(cellar_matrix_reader_integer(r, v_column, -CELLAR_MATRIX_CHANGE_MAX,
                                                CELLAR_MATRIX_CHANGE_MAX, &v, err));
        if (v != change)
            CELLAR_TRY(cellar_csv_fail(&r->csv, v_column, err, "is not j - i"));
    }
out:
    fmpq_clear(p);
    fmpq_clear(most);
    return status;
}

/* Reads the bound into `end`: from the bound before to 1, where 1e-6 is taken for rounding. */
static cellar_status ptable_end(const cellar_matrix_reader *r, const fmpq_t before, fmpq_t end,
                                cellar_error *err)
{
    const cellar_csv_field *f = &r->csv.fields[r->columns[2]];
    fmpq_t gap, slack;
    cellar_status status = CELLAR_OK;

    fmpq_init(gap);
    fmpq_init(slack);
    fmpq_set_si(slack, 1, 1000000);
    if (!cellar_rational_parse(f->bytes, f->length, end) || fmpq_cmp(end, before) < 0)
        CELLAR_TRY(cellar_csv_fail(&r->csv, r->columns[2], err,
                                   "expected a number up to 1, not below that of the line before"));
    /* the differences of bounds must be writable as decimals that are read again */
    if (fmpz_bits(fmpq_denref(end)) > BOUND_BITS)
        CELLAR_TRY(cellar_csv_fail(&r->csv, r->columns[2], err,
                                   "expected a number of at most 40 decimals"));
    fmpq_set_si(gap, 1, 1);
    fmpq_sub(gap, end, gap);
    if (fmpq_cmp(gap, slack) > 0)
        CELLAR_TRY(cellar_csv_fail(&r->csv, r->columns[2], err, "must not be above 1"));
    if (fmpq_sgn(gap) > 0)
        fmpq_set_si(end, 1, 1);
out:
    fmpq_clear(gap);
    fmpq_clear(slack);
    return status;
}

/* The last bound of a row is 1; one that is 1e-6 less was rounded. */
static cellar_status ptable_close(cellar_matrix_reader *r, open_row *row, cellar_error *err)
{
    cellar_matrix_part *part;
    fmpq_t least;
    int enough;
    if (row->count < 0)
        return CELLAR_OK;
    fmpq_init(least);
    fmpq_set_si(least, 999999, 1000000);
    enough = fmpq_cmp(row->end, least) >= 0;
    fmpq_clear(least);
    if (!enough)
        return cellar_fail(
            err, CELLAR_ERR_INPUT,
            "%s:%" PRIu64 ": column '%s': the row i = %" PRId64 " before must end with 1",
            r->csv.name, cellar_csv_line(&r->csv), r->csv.header[r->columns[2]], row->count);
    part = &r->matrix->rows[row->count];
    fmpq_set_si(part->segments[part->n_segments - 1].end, 1, 1);
    return CELLAR_OK;
}

static cellar_status ptable_open(cellar_matrix_reader *r, open_row *row, int64_t count,
                                 cellar_error *err)
{
    cellar_matrix_part *rows;
    cellar_status status = ptable_close(r, row, err);
    if (status != CELLAR_OK)
        return status;
    if (count != row->count + 1)
        return cellar_csv_fail(&r->csv, r->columns[0], err,
                               "rows follow each other from 0 on: expected %" PRId64,
                               row->count + 1);
    rows = cellar_realloc(r->matrix->rows, (size_t) count + 1, sizeof *rows);
    if (rows == NULL)
        return cellar_fail_memory(err, "a matrix");
    r->matrix->rows = rows;
    r->matrix->n_rows = (size_t) count + 1;
    rows[count] = (cellar_matrix_part){.asked = NAN};
    row->count = count;
    fmpq_zero(row->end);
    return CELLAR_OK;
}

static cellar_status ptable_line(cellar_matrix_reader *r, open_row *row, cellar_error *err)
{
    int64_t count, released;
    cellar_status status = CELLAR_OK;
    fmpq_t end, width;

    fmpq_init(end);
    fmpq_init(width);
    CELLAR_TRY(ptable_check_kind(r, err));
    CELLAR_TRY(
        cellar_matrix_reader_integer(r, r->columns[0], 0, CELLAR_MATRIX_ROWS_MAX - 1, &count, err));
    CELLAR_TRY(cellar_matrix_reader_integer(r, r->columns[1], count - CELLAR_MATRIX_CHANGE_MAX,
                                            count + CELLAR_MATRIX_CHANGE_MAX, &released, err));
    if (count != row->count)
        CELLAR_TRY(ptable_open(r, row, count, err));
    CELLAR_TRY(ptable_end(r, row->end, end, err));
    fmpq_sub(width, end, row->end);
    CELLAR_TRY(ptable_check(r, released - count, width, err));
    CELLAR_TRY(cellar_matrix_add(r->matrix, (size_t) count, released - count, end, err));
    fmpq_set(row->end, end);
out:
    fmpq_clear(end);
    fmpq_clear(width);
    return status;
}

static cellar_status ptable_read(cellar_matrix_reader *r, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    open_row row = {.count = -1};
    int found = 1;

    fmpq_init(row.end);
    CELLAR_TRY(cellar_matrix_create(0, r->large, 0, &r->matrix, err));
    for (;;) {
        CELLAR_TRY(cellar_matrix_reader_next(r, &found, err));
        if (!found)
            break;
        CELLAR_TRY(ptable_line(r, &row, err));
    }
    CELLAR_TRY(ptable_close(r, &row, err));
    if (r->matrix->n_rows == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no rows", r->csv.name));
    if (r->large == CELLAR_MATRIX_LARGE_ROTATE &&
        r->matrix->n_rows != CELLAR_MATRIX_ROTATE_LAST + 1)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: rotation needs rows up to %d exactly",
                               r->csv.name, CELLAR_MATRIX_ROTATE_LAST));
out:
    fmpq_clear(row.end);
    return status;
}

/* ---- all together ----------------------------------------------------------- */

cellar_status cellar_matrix_parse(const char *name, const char *bytes, size_t length,
                                  cellar_matrix_large large, cellar_matrix **out, cellar_error *err)
{
    cellar_matrix_reader r = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    cellar_csv_init(&r.csv, name, bytes, length, cellar_csv_delimiter_of(bytes, length));
    CELLAR_TRY(reader_header(&r, err));
    r.large = r.layout == CELLAR_MATRIX_ONS ? CELLAR_MATRIX_LARGE_ROTATE : CELLAR_MATRIX_LARGE_LAST;
    if (large != CELLAR_MATRIX_LARGE_DEFAULT)
        r.large = large;
    CELLAR_TRY(r.layout == CELLAR_MATRIX_PTABLE ? ptable_read(&r, err)
                                                : cellar_matrix_reader_keys(&r, err));
    CELLAR_TRY(cellar_matrix_finish(r.matrix, err));
    *out = r.matrix;
    r.matrix = NULL;
out:
    cellar_matrix_free(r.matrix);
    cellar_free(r.ranges);
    cellar_csv_clear(&r.csv);
    return status;
}

cellar_status cellar_matrix_read(const char *path, cellar_matrix_large large, cellar_matrix **out,
                                 cellar_error *err)
{
    char *bytes;
    size_t length;
    cellar_status status;

    *out = NULL;
    status = cellar_file_read(path, FILE_LIMIT, &bytes, &length, err);
    if (status == CELLAR_OK)
        status = cellar_matrix_parse(path, bytes, length, large, out, err);
    cellar_free(bytes);
    return status;
}
