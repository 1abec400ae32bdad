/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for readers: labels instead of codes, rounded numbers, symbols. What is rounded was
 * released before, so nothing is given away, and nothing is gained either. */
#include <inttypes.h>
#include <string.h>

#include "plan/pack.h"
#include "table/schema/schema.h"

static void write_quoted(cellar_output *output, const char *mark, const char *text)
{
    cellar_output_printf(output, "\"%s", mark);
    for (; *text != '\0'; text++)
        cellar_output_write(output, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    cellar_output_string(output, "\"");
}

/* Harmless for spreadsheets, which compute what begins like a formula. */
static void write_field(cellar_output *output, const char *text)
{
    int formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    write_quoted(output, formula ? "'" : "", text);
}

/* To the nearest multiple, halves away from zero. */
static int64_t rounded(int64_t number, uint64_t base)
{
    int64_t b = (int64_t) base, rest;
    if (b <= 1 || b > INT32_MAX)
        return number;
    rest = number % b;
    if (2 * (rest < 0 ? -rest : rest) >= b)
        return number - rest + (number < 0 ? -b : b);
    return number - rest;
}

static void write_number(const plan_display *display, const cellar_released_cell *cell,
                         cellar_output *output)
{
    int64_t number = rounded(cell->released, display->rounding);
    if (cell->status == CELLAR_CELL_SUPPRESSED)
        write_quoted(output, "", display->suppressed != NULL ? display->suppressed : "suppressed");
    else if (cell->status == CELLAR_CELL_STRUCTURAL_ZERO && display->structural_zero != NULL)
        write_quoted(output, "", display->structural_zero);
    else if (number < 0 && display->negative != NULL)
        write_quoted(output, "", display->negative);
    else if (number == 0 && display->zero != NULL)
        write_quoted(output, "", display->zero);
    else
        cellar_output_printf(output, "%" PRId64, number);
}

static void write_row(const cellar_plan *plan, const cellar_release *release, uint64_t index,
                      cellar_output *output)
{
    const cellar_schema *schema = cellar_release_schema(release);
    cellar_released_cell cell = cellar_release_at(release, index);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, index, categories);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        write_field(output, cellar_schema_n_languages(schema) > 0
                                ? cellar_schema_label(schema, v, categories[v], 0)
                                : cellar_schema_code(schema, v, categories[v]));
        cellar_output_string(output, ",");
    }
    write_number(&plan->display, &cell, output);
    cellar_output_string(output, "\n");
}

void cellar_plan_pack_display(const cellar_plan *plan, const cellar_release *release,
                              cellar_output *output)
{
    enum { ALL_ROWS_MAX = 1 << 22 };
    const cellar_schema *schema = cellar_release_schema(release);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        write_field(output, cellar_schema_variable(schema, v));
        cellar_output_string(output, ",");
    }
    cellar_output_string(output, "\"released, as displayed\"\n");
    if (cellar_schema_n_indices(schema) <= ALL_ROWS_MAX)
        for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
            if (cellar_schema_has_cell(schema, index))
                write_row(plan, release, index, output);
        }
    else
        for (size_t i = 0; i < cellar_release_n_cells(release); i++)
            write_row(plan, release, cellar_release_cell(release, i).index, output);
}
