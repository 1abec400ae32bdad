/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON-stat 2.0 of Cellar and of others. Ours states its schema in `extension.cellar`; from others
 * the categories are taken as they are listed. */
#include "table/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/formats/extension.h"
#include "table/formats/intake.h"
#include "table/formats/jsonstat.h"

/* ---- Cellar's own ---------------------------------------------------------- */

/* The dimension that an estimate with standard errors has after its variables. */
static int jsonstat_is_measure(const cellar_jsonstat_dimension *dimension)
{
    return strcmp(dimension->name, CELLAR_SHEET_MEASURE_NAME) == 0 && dimension->n == 2 &&
           strcmp(dimension->codes[1], CELLAR_SHEET_ERROR_NAME) == 0;
}

/* What others see must be what the extension states: a file edited by hand is refused. */
static cellar_status jsonstat_check_agreement(const cellar_source *source,
                                              const cellar_jsonstat *file,
                                              const cellar_loaded *loaded, cellar_error *err)
{
    const cellar_schema *schema = loaded->schema;
    const size_t n = cellar_schema_n_variables(schema);
    int agree = file->n_variables == n + (size_t) loaded->with_errors;
    if (agree && loaded->with_errors)
        agree = jsonstat_is_measure(&file->dimensions[n]);
    for (size_t v = 0; agree && v < n; v++) {
        const cellar_jsonstat_dimension *dimension = &file->dimensions[v];
        agree = strcmp(dimension->name, cellar_schema_variable(schema, v)) == 0 &&
                dimension->n == cellar_schema_n_categories(schema, v);
        for (size_t c = 0; agree && c < dimension->n; c++)
            agree = strcmp(dimension->codes[c], cellar_schema_code(schema, v, c)) == 0;
        if (!agree)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: dimension '%s': its categories are not those that "
                               "extension.cellar states",
                               source->name, dimension->name);
    }
    if (!agree)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: its dimensions are not those that extension.cellar states",
                           source->name);
    return CELLAR_OK;
}

/* The standard error of a cell: what stands after its value; null where it is not known. */
static cellar_status jsonstat_read_error(const cellar_source *source, const cellar_jsonstat *file,
                                         cellar_jsonstat_cursor *cursor, int decimals, int64_t *se,
                                         cellar_error *err)
{
    cellar_jsonstat_cursor next = *cursor;
    cellar_sheet_cell cell;
    int stated;
    *se = CELLAR_SHEET_NO_ERROR;
    if (!cellar_jsonstat_next_mentioned(file, &next) || next.index != cursor->index + 1)
        return CELLAR_OK;
    *cursor = next;
    if (next.value == NULL)
        return CELLAR_OK;
    cellar_status status = cellar_jsonstat_cell(source, &next, decimals, &cell, &stated, err);
    if (status == CELLAR_OK && cell.value < 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: value %" PRIu64 ": a standard error cannot be negative",
                             source->name, next.index);
    *se = cell.value;
    return status;
}

/* The cell at the cursor, which steps on to its standard error where there is one. *stated is 0
 * where the file has neither value nor status, which is right outside the margins only. */
static cellar_status jsonstat_read_cell(const cellar_source *source, const cellar_jsonstat *file,
                                        const cellar_loaded *loaded, cellar_jsonstat_cursor *cursor,
                                        cellar_sheet_cell *cell, int *stated, cellar_error *err)
{
    const uint64_t at = cursor->index;
    cellar_status status =
        cellar_jsonstat_cell(source, cursor, loaded->decimals, cell, stated, err);
    if (status != CELLAR_OK || !loaded->with_errors)
        return status;
    if (at % 2 != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: value %" PRIu64 ": a standard error without a value", source->name,
                           at);
    cell->index = at / 2;
    return jsonstat_read_error(source, file, cursor, loaded->decimals, &cell->se, err);
}

static cellar_status jsonstat_read_own(const cellar_source *source, const cellar_jsonstat *file,
                                       cellar_loaded *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_jsonstat_cursor cursor = {0};
    cellar_sheet_cell cell;
    int stated;

    CELLAR_TRY(cellar_extension_begin(source, file->extension, out, err));
    CELLAR_TRY(jsonstat_check_agreement(source, file, out, err));
    while (cellar_jsonstat_next_mentioned(file, &cursor)) {
        CELLAR_TRY(jsonstat_read_cell(source, file, out, &cursor, &cell, &stated, err));
        if (!stated && !cellar_schema_has_cell(out->schema, cell.index))
            continue;
        if (!stated)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s: value %" PRIu64 ": null, and no status says why",
                                   source->name, cell.index));
        CELLAR_TRY(cellar_extension_add_cell(source, out, &cell, err));
    }
    CELLAR_TRY(cellar_extension_finish(source, file->extension, out, err));
out:
    return status;
}

/* ---- others' --------------------------------------------------------------- */

static cellar_status jsonstat_add_variables(const cellar_source *source,
                                            const cellar_jsonstat *file, cellar_intake *intake,
                                            cellar_error *err)
{
    static const char *const languages[] = {""};
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;

    for (size_t v = 0; v < file->n_variables; v++) {
        const cellar_jsonstat_dimension *dimension = &file->dimensions[v];
        const char *const *labels[] = {dimension->labels};
        cellar_stated_categories stated = {.variable = dimension->name,
                                           .n = dimension->n,
                                           .codes = dimension->codes,
                                           .n_languages = 1,
                                           .languages = languages,
                                           .labels = labels,
                                           .total = CELLAR_NO_CODE};
        for (size_t c = 0; dimension->n > 1 && c < dimension->n; c++)
            if (strcmp(dimension->codes[c], "_T") == 0)
                stated.total = c;
        CELLAR_TRY(cellar_stated_codelist(source->name, &stated, &list, err));
        CELLAR_TRY(cellar_intake_add_variable(intake, dimension->name, list, err));
        cellar_codelist_free(list);
        list = NULL;
        CELLAR_TRY(cellar_intake_state_codes(intake, v, &stated, err));
    }
out:
    cellar_codelist_free(list);
    return status;
}

static cellar_status jsonstat_read_foreign(const cellar_source *source, const cellar_jsonstat *file,
                                           cellar_loaded *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_intake *intake = NULL;
    cellar_intake_layout layout = {.statuses = 1};
    cellar_intake_repeat repeat;
    cellar_jsonstat_cursor cursor = {0};
    uint32_t codes[CELLAR_MAX_VARIABLES] = {0};

    if (source->kind != CELLAR_SHEET_TABLE)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: no extension.cellar, so nothing says that this is %s", source->name,
                           cellar_source_wanted(source));
    CELLAR_TRY(cellar_intake_create(source, &intake, err));
    CELLAR_TRY(jsonstat_add_variables(source, file, intake, err));
    CELLAR_TRY(cellar_intake_begin(intake, &layout, err));
    while (cellar_jsonstat_next(file, &cursor)) {
        cellar_sheet_cell cell;
        int stated;
        CELLAR_TRY(cellar_jsonstat_cell(source, &cursor, 0, &cell, &stated, err));
        if (!stated)
            cell.status = CELLAR_CELL_NOT_AVAILABLE;
        CELLAR_TRY(cellar_intake_add_row(intake, codes, &cell, err));
        for (size_t v = file->n_variables; v-- > 0;) {
            if (++codes[v] < file->dimensions[v].n)
                break;
            codes[v] = 0;
        }
    }
    CELLAR_TRY(cellar_intake_finish(intake, out, &repeat, err));
out:
    cellar_intake_free(intake);
    return status;
}

cellar_status cellar_format_jsonstat_read(const cellar_source *source, cellar_loaded *out,
                                          cellar_error *err)
{
    cellar_jsonstat file;
    cellar_status status = cellar_jsonstat_parse(source, &file, err);

    if (status == CELLAR_OK)
        status = file.extension != NULL ? jsonstat_read_own(source, &file, out, err)
                                        : jsonstat_read_foreign(source, &file, out, err);
    cellar_jsonstat_clear(&file);
    return status;
}
