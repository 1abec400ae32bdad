/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long CSV: the columns before the value are variables, those after it are known by name. */
#include "table/formats/format.h"

#include <inttypes.h>
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "table/formats/intake.h"

/* Where the columns are; CELLAR_CSV_NO_COLUMN for those the file does not have. */
typedef struct csv_columns {
    size_t value, weighted, key, status;
    uint64_t key_range, max_weight;
} csv_columns;

static cellar_status csv_find_value(const cellar_source *source, const cellar_csv *csv,
                                    csv_columns *columns, cellar_error *err)
{
    const char *wanted = cellar_sheet_value_name(source->kind);
    size_t found = cellar_csv_find_column(csv, wanted);

    /* Whichever comes last is the value; the others would be variables of that name. */
    for (cellar_sheet_kind kind = CELLAR_SHEET_TABLE; kind <= CELLAR_SHEET_ESTIMATE; kind++) {
        size_t other = cellar_csv_find_column(csv, cellar_sheet_value_name(kind));
        if (other != CELLAR_CSV_NO_COLUMN && (found == CELLAR_CSV_NO_COLUMN || other > found))
            return cellar_source_fail_kind(source, kind, err);
    }
    if (found == CELLAR_CSV_NO_COLUMN)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: no column '%s'; a file without one is microdata, to be tabulated "
                           "first (cellar tabulate)",
                           source->name, wanted);
    columns->value = found;
    return CELLAR_OK;
}

/* "record_key", or "record_key:4096" for keys below 4096; and so for weights up to a bound. */
static int csv_is_bounded(const char *name, const char *wanted, uint64_t *bound)
{
    size_t n = strlen(wanted);
    *bound = 0;
    if (strncmp(name, wanted, n) != 0)
        return 0;
    return name[n] == '\0' ||
           (name[n] == ':' && cellar_parse_u64(name + n + 1, strlen(name + n + 1), bound) &&
            *bound > 0);
}

static cellar_status csv_find_columns(const cellar_source *source, const cellar_csv *csv,
                                      csv_columns *columns, cellar_error *err)
{
    size_t none = CELLAR_CSV_NO_COLUMN;
    cellar_status status;

    *columns = (csv_columns){none, none, none, none, 0, 0};
    status = csv_find_value(source, csv, columns, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = columns->value + 1; i < csv->n_columns; i++) {
        const char *name = csv->header[i];
        if (columns->weighted == none && csv_is_bounded(name, "weighted", &columns->max_weight))
            columns->weighted = i;
        else if (strcmp(name, "status") == 0)
            columns->status = i;
        else if (columns->key == none && csv_is_bounded(name, "record_key", &columns->key_range))
            columns->key = i;
        else
            return cellar_csv_fail(csv, i, err,
                                   "variables stand before '%s'; after it come only "
                                   "'weighted:BOUND', 'record_key:RANGE' and 'status'",
                                   csv->header[columns->value]);
    }
    return CELLAR_OK;
}

/* ---- one row --------------------------------------------------------------- */

static cellar_status csv_read_codes(const cellar_csv *csv, cellar_intake *intake, size_t n,
                                    uint32_t *codes, cellar_error *err)
{
    for (size_t v = 0; v < n; v++) {
        const cellar_csv_field *field = &csv->fields[v];
        if (field->length == 0)
            return cellar_csv_fail(csv, v, err, "no code");
        codes[v] = cellar_intake_code(intake, v, field->bytes, field->length);
        if (codes[v] == CODE_NUMBER_UNLISTED)
            return cellar_csv_fail(csv, v, err, "a code that the code list does not have");
        if (codes[v] == CODE_NUMBER_NO_MEMORY)
            return cellar_fail_memory(err, "the codes of a table file");
    }
    return CELLAR_OK;
}

/* A cell without a number is one that its status explains. */
static cellar_status csv_read_value(const cellar_source *source, const cellar_csv *csv,
                                    const csv_columns *columns, cellar_sheet_cell *cell,
                                    cellar_error *err)
{
    const cellar_csv_field *field = &csv->fields[columns->value];
    int negative;

    if (field->length == 0) {
        if (cell->status == CELLAR_CELL_NORMAL)
            return cellar_csv_fail(csv, columns->value, err,
                                   "empty, and no status says why; expected a whole number");
        return CELLAR_OK;
    }
    if (!cellar_parse_i64(field->bytes, field->length, &cell->value))
        return cellar_csv_fail(csv, columns->value, err, "expected a whole number below 2^63");
    negative = cell->value < 0;
    if (negative && source->kind == CELLAR_SHEET_TABLE)
        return cellar_csv_fail(csv, columns->value, err, "a count cannot be negative");
    if (cell->value != 0 && cell->status == CELLAR_CELL_STRUCTURAL_ZERO)
        return cellar_csv_fail(csv, columns->value, err, "a structural zero has to be 0");
    if (cell->value == 0 && cell->weight != 0)
        return cellar_csv_fail(csv, columns->weighted, err, "a weight, but nothing was counted");
    return CELLAR_OK;
}

static cellar_status csv_read_extras(const cellar_csv *csv, const csv_columns *columns,
                                     cellar_sheet_cell *cell, cellar_error *err)
{
    const cellar_csv_field *field;
    int exact;

    if (columns->status != CELLAR_CSV_NO_COLUMN) {
        field = &csv->fields[columns->status];
        if (!cellar_cell_status_find(field->bytes, field->length, &cell->status))
            return cellar_csv_fail(csv, columns->status, err,
                                   "expected nothing, structural-zero, suppressed, not-available "
                                   "or unreliable");
    }
    if (columns->weighted != CELLAR_CSV_NO_COLUMN) {
        field = &csv->fields[columns->weighted];
        if (!cellar_parse_decimal(field->bytes, field->length, CELLAR_WEIGHT_SCALE, &cell->weight,
                                  &exact) ||
            !exact)
            return cellar_csv_fail(csv, columns->weighted, err,
                                   "expected a decimal number with at most %d places",
                                   CELLAR_WEIGHT_SCALE);
    }
    if (columns->key != CELLAR_CSV_NO_COLUMN) {
        field = &csv->fields[columns->key];
        if (!cellar_parse_u64(field->bytes, field->length, &cell->key) ||
            (columns->key_range != 0 && cell->key >= columns->key_range))
            return cellar_csv_fail(csv, columns->key, err,
                                   "expected a whole number below the range of keys");
    }
    return CELLAR_OK;
}

/* ---- the file -------------------------------------------------------------- */

/* The line on which the record of a row stands: the file is read again, for only a file with a
 * fault pays for that. */
static uint64_t csv_line_of_row(const cellar_source *source, size_t row)
{
    cellar_csv csv;
    uint64_t line;
    int found = 1;

    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    for (size_t i = 0; found && i <= row + 1; i++)
        if (cellar_csv_next(&csv, &found, NULL) != CELLAR_OK)
            break;
    line = cellar_csv_line(&csv);
    cellar_csv_clear(&csv);
    return line;
}

static cellar_status csv_read_rows(const cellar_source *source, cellar_csv *csv,
                                   const csv_columns *columns, cellar_intake *intake,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint32_t codes[CELLAR_MAX_VARIABLES];
    int found;

    for (;;) {
        cellar_sheet_cell cell = {0};
        CELLAR_TRY(cellar_csv_next(csv, &found, err));
        if (!found)
            break;
        CELLAR_TRY(csv_read_codes(csv, intake, columns->value, codes, err));
        CELLAR_TRY(csv_read_extras(csv, columns, &cell, err));
        CELLAR_TRY(csv_read_value(source, csv, columns, &cell, err));
        CELLAR_TRY(cellar_intake_add_row(intake, codes, &cell, err));
    }
out:
    return status;
}

cellar_status cellar_format_csv_read(const cellar_source *source, cellar_loaded *out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_csv csv;
    cellar_intake *intake = NULL;
    cellar_intake_layout layout;
    cellar_intake_repeat repeat = {0};
    csv_columns columns;

    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    CELLAR_TRY(cellar_csv_read_header(&csv, err));
    CELLAR_TRY(csv_find_columns(source, &csv, &columns, err));
    CELLAR_TRY(cellar_intake_create(source, &intake, err));
    layout = (cellar_intake_layout){.weights = columns.weighted != CELLAR_CSV_NO_COLUMN,
                                    .keys = columns.key != CELLAR_CSV_NO_COLUMN,
                                    .statuses = columns.status != CELLAR_CSV_NO_COLUMN,
                                    .key_range = columns.key_range,
                                    .max_weight = columns.max_weight};
    for (size_t v = 0; v < columns.value; v++)
        CELLAR_TRY(cellar_intake_add_variable(intake, csv.header[v], NULL, err));
    CELLAR_TRY(cellar_intake_begin(intake, &layout, err));
    CELLAR_TRY(csv_read_rows(source, &csv, &columns, intake, err));
    status = cellar_intake_finish(intake, out, &repeat, err);
    if (repeat.found)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": the same cell as on line %" PRIu64,
                        source->name, csv_line_of_row(source, repeat.second),
                        csv_line_of_row(source, repeat.first));
out:
    cellar_intake_free(intake);
    cellar_csv_clear(&csv);
    return status;
}
