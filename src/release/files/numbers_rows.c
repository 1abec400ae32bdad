/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a CSV or SDMX-CSV file whose description stands beside it. */
#include "release/files/numbers_read.h"

#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "table/formats/extension.h"

int cellar_numbers_is_sdmx(const cellar_source *source)
{
    static const char lead[] = "STRUCTURE,STRUCTURE_ID,ACTION,";
    return source->options->format == CELLAR_TABLE_SDMX ||
           (source->length >= sizeof lead - 1 && memcmp(source->bytes, lead, sizeof lead - 1) == 0);
}

/* The columns in order; CELLAR_CSV_NO_COLUMN for those that are not there. */
typedef struct csv_columns {
    int sdmx;
    size_t first; /* variable */
    size_t value, se, status;
    size_t extra; /* the first of those that are not read, and how many there are */
    size_t n_extra;
    size_t n; /* at least so many; SDMX may have a comment after them */
} csv_columns;

/* Weights and keys of a true table: the description has them too. */
static size_t csv_count_extras(const cellar_csv *csv, size_t first)
{
    size_t n = 0;
    while (first + n < csv->n_columns && (strncmp(csv->header[first + n], "weighted", 8) == 0 ||
                                          strncmp(csv->header[first + n], "record_key", 10) == 0))
        n++;
    return n;
}

static csv_columns csv_columns_of(const cellar_source *source, const cellar_csv *csv,
                                  const cellar_loaded *loaded)
{
    const int sdmx = cellar_numbers_is_sdmx(source);
    csv_columns columns = {.sdmx = sdmx,
                           .first = sdmx ? 3 : 0,
                           .se = CELLAR_CSV_NO_COLUMN,
                           .status = CELLAR_CSV_NO_COLUMN};
    columns.value = columns.first + cellar_schema_n_variables(loaded->schema);
    columns.n = columns.value + 1;
    if (loaded->with_errors)
        columns.se = columns.n++;
    columns.extra = columns.n;
    if (source->kind == CELLAR_SHEET_TABLE && !sdmx)
        columns.n_extra = csv_count_extras(csv, columns.n);
    columns.n += columns.n_extra;
    if (sdmx || csv->n_columns > columns.n)
        columns.status = columns.n++;
    columns.n += sdmx ? 1 : 0;
    return columns;
}

/* The name that a column has to have; NULL where there should be none. */
static const char *csv_column_name(const csv_columns *columns, const cellar_loaded *loaded,
                                   const char *value, size_t column)
{
    static const char *const lead[] = {"STRUCTURE", "STRUCTURE_ID", "ACTION"};
    static const char *const tail[] = {"CONF_STATUS", "COMMENT_OBS"};
    if (column < columns->first)
        return lead[column];
    if (column < columns->value)
        return cellar_schema_variable(loaded->schema, column - columns->first);
    if (column == columns->value)
        return columns->sdmx ? "OBS_VALUE" : value;
    if (column == columns->se)
        return columns->sdmx ? CELLAR_SDMX_ERROR_NAME : CELLAR_SHEET_ERROR_NAME;
    if (column == columns->status)
        return columns->sdmx ? "OBS_STATUS" : "status";
    return columns->sdmx && column - columns->status - 1 < 2 ? tail[column - columns->status - 1]
                                                             : NULL;
}

static cellar_status csv_check_header(const cellar_csv *csv, const csv_columns *columns,
                                      const cellar_loaded *loaded, const char *value,
                                      cellar_error *err)
{
    for (size_t c = 0; c < csv->n_columns; c++) {
        if (c >= columns->extra && c < columns->extra + columns->n_extra)
            continue;
        const char *expected = csv_column_name(columns, loaded, value, c);
        if (expected == NULL)
            return cellar_csv_fail(csv, c, err, "expected no further column");
        if (strcmp(csv->header[c], expected) != 0)
            return cellar_csv_fail(csv, c, err, "expected the column '%s'", expected);
    }
    return csv->n_columns >= columns->n
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: no column '%s'", csv->name,
                             csv_column_name(columns, loaded, value, csv->n_columns));
}

/* A field in units of 10^-decimals. */
static int csv_parse_units(const cellar_csv_field *field, int decimals, int64_t *out)
{
    cellar_int128 units;
    int exact;
    if (decimals == 0)
        return cellar_parse_i64(field->bytes, field->length, out);
    if (!cellar_parse_decimal(field->bytes, field->length, decimals, &units, &exact) || !exact ||
        units > INT64_MAX || units < -INT64_MAX)
        return 0;
    *out = (int64_t) units;
    return 1;
}

static int csv_find_status(const csv_columns *columns, const cellar_csv_field *field,
                           cellar_cell_status *out)
{
    return columns->sdmx ? cellar_sdmx_find_status(field->bytes, field->length, out)
                         : cellar_cell_status_find(field->bytes, field->length, out);
}

static cellar_status csv_read_values(const cellar_csv *csv, const csv_columns *columns,
                                     const cellar_loaded *loaded, cellar_sheet_cell *cell,
                                     cellar_error *err)
{
    const cellar_csv_field *fields = csv->fields;
    if (columns->status != CELLAR_CSV_NO_COLUMN &&
        !csv_find_status(columns, &fields[columns->status], &cell->status))
        return cellar_csv_fail(csv, columns->status, err,
                               columns->sdmx ? "expected A, M, Q, O or U"
                                             : "expected nothing, structural-zero or suppressed");
    if ((cell->status != CELLAR_CELL_SUPPRESSED || fields[columns->value].length > 0) &&
        !csv_parse_units(&fields[columns->value], loaded->decimals, &cell->value))
        return cellar_csv_fail(csv, columns->value, err,
                               loaded->decimals > 0 ? "expected a number of at most %d decimals"
                                                    : "expected a whole number below 2^63",
                               loaded->decimals);
    cell->se = CELLAR_SHEET_NO_ERROR;
    if (loaded->with_errors && fields[columns->se].length > 0 &&
        (!csv_parse_units(&fields[columns->se], loaded->decimals, &cell->se) || cell->se < 0))
        return cellar_csv_fail(csv, columns->se, err,
                               "expected nothing or a number of at most %d decimals that is not "
                               "negative",
                               loaded->decimals);
    return CELLAR_OK;
}

static cellar_status csv_read_row(const cellar_csv *csv, const csv_columns *columns,
                                  const cellar_source *source, cellar_loaded *loaded,
                                  cellar_error *err)
{
    const size_t n = cellar_schema_n_variables(loaded->schema);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_sheet_cell cell = {0};
    cellar_status status;

    for (size_t v = 0; v < n; v++) {
        const cellar_csv_field *field = &csv->fields[columns->first + v];
        size_t category = cellar_schema_find_code(loaded->schema, v, field->bytes, field->length);
        if (category == CELLAR_NO_CODE)
            return cellar_csv_fail(csv, columns->first + v, err,
                                   "a code that the description does not have");
        categories[v] = (uint32_t) category;
    }
    cell.index = cellar_schema_index(loaded->schema, categories);
    status = csv_read_values(csv, columns, loaded, &cell, err);
    if (status != CELLAR_OK)
        return status;
    if (loaded->built.cells.n > 0 &&
        loaded->built.cells.index[loaded->built.cells.n - 1] >= cell.index)
        return cellar_csv_fail(csv, columns->value, err, "the cells are not in canonical order");
    return cellar_extension_add_cell(source, loaded, &cell, err);
}

cellar_status cellar_numbers_rows(const cellar_source *source, const char *value,
                                  cellar_loaded *loaded, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_csv csv;
    int found;

    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    CELLAR_TRY(cellar_csv_read_header(&csv, err));
    const csv_columns columns = csv_columns_of(source, &csv, loaded);
    CELLAR_TRY(csv_check_header(&csv, &columns, loaded, value, err));
    for (;;) {
        CELLAR_TRY(cellar_csv_next(&csv, &found, err));
        if (!found)
            break;
        CELLAR_TRY(csv_read_row(&csv, &columns, source, loaded, err));
    }
out:
    cellar_csv_clear(&csv);
    return status;
}
