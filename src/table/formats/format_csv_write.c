/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long CSV: one row a cell. Codes are escaped once, rows are copied together from the pieces. */
#include "table/formats/format.h"

#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/memory.h"
#include "table/formats/csv_fields.h"

static const char csv_status_name[] = "status";
static const char csv_weighted_name[] = "weighted";
static const char csv_key_name[] = "record_key";

typedef struct csv_layout {
    int weighted, keyed, statuses;
} csv_layout;

/* A variable may not be called like a column that follows the variables. */
static cellar_status csv_check_names(const cellar_sheet *sheet, const csv_layout *layout,
                                     cellar_error *err)
{
    const char *taken[] = {
        cellar_sheet_value_name(sheet->kind), layout->weighted ? csv_weighted_name : "",
        sheet->with_errors ? CELLAR_SHEET_ERROR_NAME : "", layout->statuses ? csv_status_name : ""};
    for (size_t v = 0; v < cellar_schema_n_variables(sheet->schema); v++)
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (strcmp(cellar_schema_variable(sheet->schema, v), taken[i]) == 0)
                return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                   "a variable called '%s' cannot be distinguished from the column "
                                   "of that name in a CSV file; rename the variable",
                                   taken[i]);
    return CELLAR_OK;
}

static void csv_write_header(const cellar_sheet *sheet, const csv_layout *layout, int neutralise,
                             cellar_text *row)
{
    for (size_t v = 0; v < cellar_schema_n_variables(sheet->schema); v++) {
        cellar_csv_add_safe(row, cellar_schema_variable(sheet->schema, v), neutralise);
        cellar_text_add_char(row, ',');
    }
    cellar_text_add_string(row, cellar_sheet_value_name(sheet->kind));
    if (sheet->with_errors)
        cellar_text_add_string(row, "," CELLAR_SHEET_ERROR_NAME);
    if (layout->weighted) {
        cellar_text_add_char(row, ',');
        cellar_csv_add_bounded_name(row, csv_weighted_name, sheet->max_weight);
    }
    if (layout->keyed) {
        cellar_text_add_char(row, ',');
        cellar_csv_add_bounded_name(row, csv_key_name, sheet->key_range);
    }
    if (layout->statuses)
        cellar_text_printf(row, ",%s", csv_status_name);
    cellar_text_add_char(row, '\n');
}

static void csv_write_row(const cellar_sheet_walk *walk, const csv_layout *layout,
                          const cellar_csv_fields *fields, cellar_text *row)
{
    cellar_csv_fields_add(fields, walk->categories, row);
    if (cellar_sheet_shows(walk->sheet, &walk->cell))
        cellar_sheet_add_value(walk->sheet, &walk->cell, row);
    if (walk->sheet->with_errors) {
        cellar_text_add_char(row, ',');
        cellar_sheet_add_error(walk->sheet, &walk->cell, row);
    }
    if (layout->weighted) {
        cellar_text_add_char(row, ',');
        cellar_text_add_decimal(row, walk->cell.weight, CELLAR_WEIGHT_SCALE);
    }
    if (layout->keyed) {
        cellar_text_add_char(row, ',');
        cellar_text_add_u64(row, walk->cell.key);
    }
    if (layout->statuses) {
        cellar_text_add_char(row, ',');
        cellar_text_add_string(row, cellar_cell_status_name(walk->cell.status));
    }
    cellar_text_add_char(row, '\n');
}

cellar_status cellar_format_csv_write(const cellar_sheet *sheet,
                                      const cellar_table_write_options *options,
                                      cellar_output *output, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const int all = cellar_sheet_lists_all(sheet, options->zeros);
    csv_layout layout = {.weighted = sheet->weighted,
                         .keyed = sheet->keyed,
                         .statuses = cellar_sheet_has_status(sheet, all)};
    cellar_csv_fields *fields = NULL;
    cellar_sheet_walk walk;
    cellar_text row = {0};

    CELLAR_TRY(csv_check_names(sheet, &layout, err));
    CELLAR_TRY(cellar_csv_fields_create(sheet->schema, options->neutralise_formulas, &fields, err));
    CELLAR_TRY(
        cellar_sheet_walk_init(&walk, sheet, all ? CELLAR_SHEET_CELLS : CELLAR_SHEET_STORED, err));
    if (output == NULL)
        goto out;
    csv_write_header(sheet, &layout, options->neutralise_formulas, &row);
    while (cellar_sheet_walk_next(&walk)) {
        csv_write_row(&walk, &layout, fields, &row);
        if (row.length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(&row, output);
    }
    if (row.failed)
        status = cellar_fail_memory(err, "a row of a CSV file");
    else
        cellar_csv_flush(&row, output);
out:
    cellar_csv_fields_free(fields);
    cellar_text_clear(&row);
    return status;
}
