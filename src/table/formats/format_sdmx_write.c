/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SDMX-CSV 2.1 (the CSV of SDMX 3.1). It is read with what stands beside it. */
#include "table/formats/format.h"

#include <string.h>

#include "base/error.h"
#include "table/formats/csv_fields.h"

/* SDMX's cross-domain code list CL_OBS_STATUS: A normal, M missing because it cannot exist, Q
 * missing because suppressed, O missing, U of low reliability. */
static const char *const sdmx_statuses[] = {
    [CELLAR_CELL_NORMAL] = "A",     [CELLAR_CELL_STRUCTURAL_ZERO] = "M",
    [CELLAR_CELL_SUPPRESSED] = "Q", [CELLAR_CELL_NOT_AVAILABLE] = "O",
    [CELLAR_CELL_UNRELIABLE] = "U",
};

const char *cellar_sdmx_status(cellar_cell_status status)
{
    return sdmx_statuses[status];
}

int cellar_sdmx_find_status(const char *code, size_t length, cellar_cell_status *out)
{
    for (size_t i = 0; i < sizeof sdmx_statuses / sizeof *sdmx_statuses; i++)
        if (length == 1 && code[0] == sdmx_statuses[i][0]) {
            *out = (cellar_cell_status) i;
            return 1;
        }
    return 0;
}

/* The names of dimensions are identifiers in SDMX; ours may be anything, so that the columns that
 * SDMX itself has must not be among them. */
static cellar_status sdmx_check_names(const cellar_schema *schema, cellar_error *err)
{
    static const char *const taken[] = {"STRUCTURE",   "STRUCTURE_ID",        "ACTION",
                                        "OBS_VALUE",   "OBS_STATUS",          "CONF_STATUS",
                                        "COMMENT_OBS", CELLAR_SDMX_ERROR_NAME};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (cellar_schema_find_variable(schema, taken[i]) != CELLAR_NO_CODE)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a variable called '%s' cannot be written in SDMX-CSV; rename it",
                               taken[i]);
    return CELLAR_OK;
}

static void sdmx_write_header(const cellar_sheet *sheet, int neutralise, cellar_text *row)
{
    const cellar_schema *schema = sheet->schema;
    cellar_text_add_string(row, "STRUCTURE,STRUCTURE_ID,ACTION,");
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        cellar_csv_add_safe(row, cellar_schema_variable(schema, v), neutralise);
        cellar_text_add_char(row, ',');
    }
    cellar_text_printf(row, "OBS_VALUE,%sOBS_STATUS,CONF_STATUS%s\n",
                       sheet->with_errors ? CELLAR_SDMX_ERROR_NAME "," : "",
                       sheet->stamp != NULL ? ",COMMENT_OBS" : "");
}

static void sdmx_write_row(const cellar_sheet_walk *walk, const cellar_text *lead,
                           const cellar_csv_fields *fields, cellar_text *row)
{
    const cellar_sheet *sheet = walk->sheet;
    cellar_text_add(row, lead->bytes, lead->length);
    cellar_csv_fields_add(fields, walk->categories, row);
    if (cellar_sheet_shows(sheet, &walk->cell))
        cellar_sheet_add_value(sheet, &walk->cell, row);
    if (sheet->with_errors) {
        cellar_text_add_char(row, ',');
        cellar_sheet_add_error(sheet, &walk->cell, row);
    }
    cellar_text_add_char(row, ',');
    cellar_text_add_string(row, sdmx_statuses[walk->cell.status]);
    cellar_text_add_string(row, sheet->confidential ? ",C" : ",F");
    if (sheet->stamp != NULL) {
        cellar_text_add_char(row, ',');
        cellar_csv_add_safe(row, sheet->stamp, 0);
    }
    cellar_text_add_char(row, '\n');
}

cellar_status cellar_format_sdmx_write(const cellar_sheet *sheet,
                                       const cellar_table_write_options *options,
                                       cellar_output *output, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *id = options->structure_id != NULL ? options->structure_id : "CELLAR:TABLE(1.0)";
    cellar_sheet_extent extent =
        cellar_sheet_lists_all(sheet, options->zeros) ? CELLAR_SHEET_CELLS : CELLAR_SHEET_STORED;
    cellar_csv_fields *fields = NULL;
    cellar_sheet_walk walk;
    cellar_text row = {0}, lead = {0};

    CELLAR_TRY(sdmx_check_names(sheet->schema, err));
    CELLAR_TRY(cellar_csv_fields_create(sheet->schema, options->neutralise_formulas, &fields, err));
    CELLAR_TRY(cellar_sheet_walk_init(&walk, sheet, extent, err));
    if (output == NULL)
        goto out;
    cellar_text_add_string(&lead, "dataflow,");
    cellar_csv_add_safe(&lead, id, options->neutralise_formulas);
    cellar_text_add_string(&lead, ",I,"); /* information: no order to change a database */
    row.failed = lead.failed;
    sdmx_write_header(sheet, options->neutralise_formulas, &row);
    while (!row.failed && cellar_sheet_walk_next(&walk)) {
        sdmx_write_row(&walk, &lead, fields, &row);
        if (row.length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(&row, output);
    }
    if (row.failed)
        status = cellar_fail_memory(err, "a row of an SDMX-CSV file");
    else
        cellar_csv_flush(&row, output);
out:
    cellar_csv_fields_free(fields);
    cellar_text_clear(&row);
    cellar_text_clear(&lead);
    return status;
}
