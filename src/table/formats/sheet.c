/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/sheet.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "table/table.h"

/* ---- the view of a table --------------------------------------------------- */

static cellar_sheet_cell sheet_table_cell(const void *source, size_t position)
{
    const cellar_table *table = source;
    cellar_cell cell = cellar_table_cell(table, position);
    return (cellar_sheet_cell){.index = cell.index,
                               .value = (int64_t) cell.count,
                               .weight = cellar_table_weight(table, position),
                               .key = cell.key,
                               .status = cell.status};
}

cellar_status cellar_sheet_of_table(const cellar_table *table, cellar_sheet *out, cellar_error *err)
{
    size_t n_cells = cellar_table_n_cells(table);

    for (size_t i = 0; i < n_cells; i++)
        if (cellar_table_cell(table, i).count > INT64_MAX)
            return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                               "a count does not fit into the 63 bits that files hold");
    *out = (cellar_sheet){.schema = cellar_table_schema(table),
                          .kind = CELLAR_SHEET_TABLE,
                          .confidential = 1,
                          .weighted = cellar_table_is_weighted(table),
                          .keyed = table->cells.key != NULL,
                          .key_range = cellar_table_key_range(table),
                          .max_weight = cellar_table_max_weight(table),
                          .tabulation = cellar_table_tabulation(table),
                          .n_cells = n_cells,
                          .source = table,
                          .cell = sheet_table_cell};
    return CELLAR_OK;
}

const char *cellar_sheet_kind_name(cellar_sheet_kind kind)
{
    static const char *const names[] = {"table", "release", "fit", "estimate"};
    return names[kind];
}

const char *cellar_sheet_value_name(cellar_sheet_kind kind)
{
    static const char *const names[] = {"count", "released", "fitted", "estimate"};
    return names[kind];
}

int cellar_sheet_shows(const cellar_sheet *sheet, const cellar_sheet_cell *cell)
{
    return sheet->confidential ||
           (cell->status != CELLAR_CELL_SUPPRESSED && cell->status != CELLAR_CELL_NOT_AVAILABLE);
}

int cellar_sheet_has_status(const cellar_sheet *sheet, int with_zeros)
{
    if (with_zeros && (sheet->schema->structural != NULL || sheet->absent != CELLAR_CELL_NORMAL))
        return 1;
    for (size_t i = 0; i < sheet->n_cells; i++)
        if (sheet->cell(sheet->source, i).status != CELLAR_CELL_NORMAL)
            return 1;
    return 0;
}

int cellar_sheet_lists_all(const cellar_sheet *sheet, int zeros)
{
    return zeros || sheet->absent != CELLAR_CELL_NORMAL;
}

uint64_t cellar_sheet_hierarchies(const cellar_sheet *sheet)
{
    const cellar_schema *schema = sheet->schema;
    uint64_t hierarchies = 0;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        size_t n_leaves = cellar_schema_n_leaves(schema, v);
        size_t n = cellar_schema_n_categories(schema, v);
        if (n > n_leaves && cellar_schema_role(schema, v, n_leaves) != CELLAR_CODE_TOTAL)
            hierarchies |= UINT64_C(1) << v;
    }
    return hierarchies;
}

/* ---- statuses -------------------------------------------------------------- */

static const char *const status_names[] = {
    [CELLAR_CELL_NORMAL] = "",
    [CELLAR_CELL_STRUCTURAL_ZERO] = "structural-zero",
    [CELLAR_CELL_SUPPRESSED] = "suppressed",
    [CELLAR_CELL_NOT_AVAILABLE] = "not-available",
    [CELLAR_CELL_UNRELIABLE] = "unreliable",
};

const char *cellar_cell_status_name(cellar_cell_status status)
{
    return status_names[status];
}

int cellar_cell_status_find(const char *name, size_t length, cellar_cell_status *out)
{
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (strlen(status_names[i]) == length && memcmp(name, status_names[i], length) == 0) {
            *out = (cellar_cell_status) i;
            return 1;
        }
    return 0;
}

/* ---- walking --------------------------------------------------------------- */

#define SHEET_MAX_INDICES UINT64_C(10000000000)

cellar_status cellar_sheet_walk_init(cellar_sheet_walk *walk, const cellar_sheet *sheet,
                                     cellar_sheet_extent extent, cellar_error *err)
{
    *walk = (cellar_sheet_walk){.sheet = sheet,
                                .extent = extent,
                                .n_indices = cellar_schema_n_indices(sheet->schema),
                                .structural = sheet->schema->structural != NULL};
    if (extent != CELLAR_SHEET_STORED && walk->n_indices > SHEET_MAX_INDICES)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "the table has %" PRIu64 " possible cells, too many to write its "
            "zeros or suppressed cells; write it as CSV without zeros or as sparse JSON-stat",
            walk->n_indices);
    return CELLAR_OK;
}

static int sheet_walk_stored(cellar_sheet_walk *walk)
{
    const cellar_sheet *sheet = walk->sheet;
    if (walk->position == sheet->n_cells)
        return 0;
    walk->cell = sheet->cell(sheet->source, walk->position++);
    walk->in_table = 1;
    cellar_schema_categories(sheet->schema, walk->cell.index, walk->categories);
    return 1;
}

/* The cell at the next index, stored or not; its categories are left to the caller. */
static void sheet_walk_take(cellar_sheet_walk *walk)
{
    const cellar_sheet *sheet = walk->sheet;
    uint64_t index = walk->next_index++;
    if (walk->position < sheet->n_cells) {
        walk->cell = sheet->cell(sheet->source, walk->position);
        if (walk->cell.index == index) {
            walk->position++;
            walk->in_table = 1;
            return;
        }
    }
    walk->in_table = cellar_schema_has_cell(sheet->schema, index);
    walk->cell = (cellar_sheet_cell){.index = index,
                                     .status = walk->in_table ? sheet->absent : CELLAR_CELL_NORMAL};
    if (walk->in_table && walk->structural &&
        cellar_schema_is_structural_zero(sheet->schema, index))
        walk->cell.status = CELLAR_CELL_STRUCTURAL_ZERO;
}

static void sheet_walk_step(cellar_sheet_walk *walk)
{
    const cellar_schema *schema = walk->sheet->schema;
    for (size_t v = cellar_schema_n_variables(schema); v-- > 0;) {
        if (++walk->categories[v] < cellar_schema_n_categories(schema, v))
            return;
        walk->categories[v] = 0;
    }
}

int cellar_sheet_walk_next(cellar_sheet_walk *walk)
{
    if (walk->extent == CELLAR_SHEET_STORED)
        return sheet_walk_stored(walk);
    while (walk->next_index < walk->n_indices) {
        if (walk->next_index > 0)
            sheet_walk_step(walk);
        sheet_walk_take(walk);
        if (walk->in_table || walk->extent == CELLAR_SHEET_INDICES)
            return 1;
    }
    return 0;
}

/* ---- values ---------------------------------------------------------------- */

static void sheet_add_units(const cellar_sheet *sheet, int64_t units, cellar_text *text)
{
    if (sheet->decimals == 0)
        cellar_text_add_i64(text, units);
    else
        cellar_text_add_decimal(text, units, sheet->decimals);
}

void cellar_sheet_add_value(const cellar_sheet *sheet, const cellar_sheet_cell *cell,
                            cellar_text *text)
{
    sheet_add_units(sheet, cell->value, text);
}

void cellar_sheet_add_error(const cellar_sheet *sheet, const cellar_sheet_cell *cell,
                            cellar_text *text)
{
    if (cell->se != CELLAR_SHEET_NO_ERROR)
        sheet_add_units(sheet, cell->se, text);
}

/* ---- digits ---------------------------------------------------------------- */

void cellar_text_add_u64(cellar_text *text, uint64_t value)
{
    char digits[20];
    size_t start = sizeof digits;
    do
        digits[--start] = (char) ('0' + value % 10);
    while ((value /= 10) != 0);
    cellar_text_add(text, digits + start, sizeof digits - start);
}

void cellar_text_add_i64(cellar_text *text, int64_t value)
{
    if (value < 0)
        cellar_text_add_char(text, '-');
    cellar_text_add_u64(text, value < 0 ? -(uint64_t) value : (uint64_t) value);
}
