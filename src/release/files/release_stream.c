/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases and estimates as rows of a data frame. */
#include <cellar/arrow.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/files/arrow_out.h"
#include "table/formats/sheet.h"

/* The next row of a table: its index. */
typedef struct row_walk {
    const cellar_schema *schema;
    uint64_t next;
    size_t position;
} row_walk;

static cellar_status rows_begin(const cellar_schema *schema, uint64_t n_rows, size_t n_values,
                                arrow_rows **out, cellar_error *err)
{
    const size_t n = cellar_schema_n_variables(schema);
    *out = NULL;
    if (n_rows > INT32_MAX)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a stream has at most %d rows", INT32_MAX);
    *out = arrow_rows_create(n + n_values, (int64_t) n_rows);
    if (*out == NULL)
        return cellar_fail_memory(err, "a stream");
    for (size_t v = 0; v < n; v++) {
        int ok = arrow_rows_begin(*out, v, cellar_schema_variable(schema, v), "i", sizeof(int32_t));
        for (size_t c = 0; ok && c < cellar_schema_n_categories(schema, v); c++)
            ok = arrow_rows_add_level(*out, v, cellar_schema_code(schema, v, c));
        if (!ok)
            return cellar_fail_memory(err, "a stream");
    }
    return CELLAR_OK;
}

static void put_codes(arrow_rows *rows, const cellar_schema *schema, int64_t row, uint64_t index)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, index, categories);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        ((int32_t *) rows->columns[v].values)[row] = (int32_t) categories[v];
}

/* ---- releases ------------------------------------------------------------------ */

static const cellar_cell_status shown_statuses[] = {CELLAR_CELL_NORMAL, CELLAR_CELL_STRUCTURAL_ZERO,
                                                    CELLAR_CELL_SUPPRESSED};

static int begin_statuses(arrow_rows *rows, size_t c)
{
    int ok = arrow_rows_begin(rows, c, "status", "c", 1);
    for (size_t i = 0; ok && i < sizeof shown_statuses / sizeof *shown_statuses; i++)
        ok = arrow_rows_add_level(rows, c,
                                  shown_statuses[i] == CELLAR_CELL_NORMAL
                                      ? "normal"
                                      : cellar_cell_status_name(shown_statuses[i]));
    return ok;
}

static cellar_released_cell released_row(const cellar_release *release, row_walk *walk, int zeros)
{
    if (!zeros)
        return cellar_release_cell(release, walk->position++);
    while (!cellar_schema_has_cell(walk->schema, walk->next))
        walk->next++;
    return cellar_release_at(release, walk->next++);
}

cellar_status cellar_release_stream(const cellar_release *release, int zeros,
                                    struct ArrowArrayStream *out, cellar_error *err)
{
    row_walk walk = {.schema = cellar_release_schema(release)};
    const uint64_t n =
        zeros ? cellar_schema_n_possible(walk.schema) : cellar_release_n_cells(release);
    const size_t value = cellar_schema_n_variables(walk.schema);
    arrow_rows *rows = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(rows_begin(walk.schema, n, 2, &rows, err));
    if (!arrow_rows_begin(rows, value, "released", "l", sizeof(int64_t)) ||
        !begin_statuses(rows, value + 1))
        CELLAR_TRY(cellar_fail_memory(err, "a stream"));
    for (int64_t row = 0; row < rows->n_rows; row++) {
        const cellar_released_cell cell = released_row(release, &walk, zeros);
        put_codes(rows, walk.schema, row, cell.index);
        ((int64_t *) rows->columns[value].values)[row] = cell.released;
        ((int8_t *) rows->columns[value + 1].values)[row] = (int8_t) cell.status;
        if (cell.status == CELLAR_CELL_SUPPRESSED && !arrow_rows_set_null(rows, value, row))
            CELLAR_TRY(cellar_fail_memory(err, "a stream"));
    }
    status = arrow_rows_stream(rows, out, err);
    rows = NULL;
out:
    arrow_rows_drop(rows);
    return status;
}

/* ---- estimates ------------------------------------------------------------------ */

cellar_status cellar_estimate_stream(const cellar_estimate *estimate, struct ArrowArrayStream *out,
                                     cellar_error *err)
{
    const cellar_schema *schema = cellar_estimate_schema(estimate);
    const size_t n = cellar_schema_n_variables(schema);
    const int has_errors = cellar_estimate_has_errors(estimate);
    const int has_whole = cellar_estimate_has_whole(estimate);
    const size_t se = n + 1, whole = has_errors ? se + 1 : se;
    arrow_rows *rows = NULL;
    cellar_status status = CELLAR_OK;
    int ok;

    CELLAR_TRY(rows_begin(schema, cellar_estimate_n_cells(estimate),
                          whole - n + (has_whole ? 1 : 0), &rows, err));
    ok = arrow_rows_begin(rows, n, "estimate", "g", sizeof(double)) &&
         (!has_errors || arrow_rows_begin(rows, se, "se", "g", sizeof(double))) &&
         (!has_whole || arrow_rows_begin(rows, whole, "fitted", "l", sizeof(int64_t)));
    for (int64_t row = 0; ok && row < rows->n_rows; row++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, (size_t) row);
        put_codes(rows, schema, row, cell.index);
        ((double *) rows->columns[n].values)[row] = cell.value;
        if (has_errors && isnan(cell.se))
            ok = arrow_rows_set_null(rows, se, row);
        else if (has_errors)
            ((double *) rows->columns[se].values)[row] = cell.se;
        if (has_whole)
            ((int64_t *) rows->columns[whole].values)[row] = cell.whole;
    }
    if (!ok)
        CELLAR_TRY(cellar_fail_memory(err, "a stream"));
    status = arrow_rows_stream(rows, out, err);
    rows = NULL;
out:
    arrow_rows_drop(rows);
    return status;
}
