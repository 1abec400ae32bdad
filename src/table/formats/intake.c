/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "data/recode.h"

enum { INTAKE_MAX_MASKS = 1 << 20 };

typedef struct intake_variable {
    const char *name;
    cellar_domain domain;
    code_numbers numbers; /* of the codes seen so far; without a list until the end: observed */
} intake_variable;

struct cellar_intake {
    const cellar_source *source;
    cellar_arena *arena; /* names and codes */
    intake_variable variables[CELLAR_MAX_VARIABLES];
    size_t n_variables;
    uint32_t *row_codes; /* n_variables a row */
    size_t row_capacity;
    cells_builder built; /* the indices are filled in when the schema is known */
    cellar_intake_layout layout;
    uint64_t *masks; /* margins seen, each once, ascending */
    size_t n_masks, mask_capacity;
    uint64_t last_mask;
    uint64_t hierarchies;
};

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_intake_create(const cellar_source *source, cellar_intake **out,
                                   cellar_error *err)
{
    cellar_intake *intake = cellar_alloc(1, sizeof *intake);

    *out = NULL;
    if (intake == NULL)
        return cellar_fail_memory(err, "a table file");
    intake->source = source;
    intake->arena = cellar_arena_create((size_t) 1 << 32);
    if (intake->arena == NULL) {
        cellar_free(intake);
        return cellar_fail_memory(err, "a table file");
    }
    *out = intake;
    return CELLAR_OK;
}

void cellar_intake_free(cellar_intake *intake)
{
    if (intake == NULL)
        return;
    for (size_t v = 0; v < intake->n_variables; v++)
        cellar_code_numbers_clear(&intake->variables[v].numbers);
    cellar_arena_free(intake->arena);
    cellar_free(intake->row_codes);
    cellar_cells_clear(&intake->built.cells);
    cellar_free(intake->masks);
    cellar_free(intake);
}

cellar_status cellar_intake_add_variable(cellar_intake *intake, const char *name,
                                         const cellar_codelist *listed, cellar_error *err)
{
    const cellar_table_read_options *options = intake->source->options;
    intake_variable *variable = &intake->variables[intake->n_variables];
    int ok;

    if (intake->n_variables == CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: more than %d variables",
                           intake->source->name, CELLAR_MAX_VARIABLES);
    variable->domain = CELLAR_DOMAIN_OBSERVED;
    for (size_t i = 0; i < options->n_codelists; i++)
        if (strcmp(options->codelists[i].variable, name) == 0) {
            listed = options->codelists[i].codelist;
            variable->domain = cellar_codelist_domain(listed, 0);
        }
    variable->name = cellar_arena_copy(intake->arena, name, strlen(name));
    ok = cellar_code_numbers_init(
        &variable->numbers, listed != NULL ? cellar_codelist_retain(listed) : NULL, intake->arena);
    intake->n_variables++;
    if (variable->name == NULL || !ok)
        return cellar_fail_memory(err, "a table file");
    return CELLAR_OK;
}

uint32_t cellar_intake_code(cellar_intake *intake, size_t v, const char *text, size_t length)
{
    return cellar_code_numbers_find(&intake->variables[v].numbers, text, length);
}

/* ---- rows ------------------------------------------------------------------ */

/* Makes room for rows in the arrays that they fill; an empty table has those arrays too. */
static cellar_status intake_reserve(cellar_intake *intake, cellar_error *err)
{
    static cellar_int128 some_weight;
    static uint64_t some_key;
    static uint8_t some_status;
    cellar_cells like = {.weight = intake->layout.weights ? &some_weight : NULL,
                         .key = intake->layout.keys ? &some_key : NULL,
                         .status = intake->layout.statuses ? &some_status : NULL};
    return cellar_cells_reserve(&intake->built, &like, 1, err);
}

cellar_status cellar_intake_begin(cellar_intake *intake, const cellar_intake_layout *layout,
                                  cellar_error *err)
{
    intake->layout = *layout;
    return intake_reserve(intake, err);
}

/* Keeps the masks ascending, so that many margins are found fast too. */
static int intake_note_mask(cellar_intake *intake, uint64_t mask)
{
    size_t low = 0, high = intake->n_masks;

    if (intake->n_masks > 0 && intake->last_mask == mask)
        return 1;
    intake->last_mask = mask;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (intake->masks[middle] < mask)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < intake->n_masks && intake->masks[low] == mask)
        return 1;
    if (intake->n_masks == INTAKE_MAX_MASKS ||
        !cellar_grow(&intake->masks, &intake->mask_capacity, intake->n_masks + 1,
                     sizeof *intake->masks))
        return 0;
    memmove(intake->masks + low + 1, intake->masks + low,
            (intake->n_masks - low) * sizeof *intake->masks);
    intake->masks[low] = mask;
    intake->n_masks++;
    return 1;
}

cellar_status cellar_intake_add_row(cellar_intake *intake, const uint32_t *codes,
                                    const cellar_sheet_cell *cell, cellar_error *err)
{
    cellar_cells *cells = &intake->built.cells;
    size_t n = cells->n, n_variables = intake->n_variables;
    uint64_t mask = 0;
    cellar_status status = intake_reserve(intake, err);

    if (status != CELLAR_OK)
        return status;
    if (!cellar_grow(&intake->row_codes, &intake->row_capacity, (n + 1) * n_variables,
                     sizeof *intake->row_codes))
        return cellar_fail_memory(err, "the cells of a table file");
    for (size_t v = 0; v < n_variables; v++) {
        code_part part = intake->variables[v].numbers.codes[codes[v]].part;
        intake->row_codes[n * n_variables + v] = codes[v];
        if (part != CODE_TOTAL)
            mask |= UINT64_C(1) << v;
        if (part == CODE_INNER)
            intake->hierarchies |= UINT64_C(1) << v;
    }
    if (!intake_note_mask(intake, mask))
        return cellar_fail_memory(err, "the margins of a table file");
    cells->count[n] = (uint64_t) cell->value;
    if (cells->weight != NULL)
        cells->weight[n] = cell->weight;
    if (cells->key != NULL)
        cells->key[n] = cell->key;
    if (cells->status != NULL)
        cells->status[n] = (uint8_t) cell->status;
    cells->n++;
    return CELLAR_OK;
}

/* ---- from rows to a schema ------------------------------------------------- */

static int intake_compare_codes(const void *a, const void *b)
{
    return cellar_category_compare(*(const char *const *) a, *(const char *const *) b);
}

/* The observed leaves in the order of observed categories. */
static cellar_status intake_observed_list(const code_numbers *numbers, cellar_codelist **out,
                                          cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;
    size_t n = 0;
    const char **codes = cellar_alloc(numbers->n, sizeof *codes);

    *out = NULL;
    if (codes == NULL)
        return cellar_fail_memory(err, "the codes of a table file");
    for (size_t i = 0; i < numbers->n; i++)
        if (numbers->codes[i].part == CODE_LEAF)
            codes[n++] = numbers->codes[i].text;
    qsort(codes, n, sizeof *codes, intake_compare_codes);
    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(cellar_codelist_add(list, codes[i], NULL, NULL, CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    cellar_free(codes);
    return status;
}

static cellar_status intake_make_schema(cellar_intake *intake, cellar_schema **out,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES];
    cellar_schema *interior = NULL;
    cellar_margins margins = {
        .masks = intake->masks, .n_masks = intake->n_masks, .hierarchies = intake->hierarchies};

    for (size_t v = 0; v < intake->n_variables; v++) {
        intake_variable *variable = &intake->variables[v];
        if (variable->numbers.list == NULL)
            CELLAR_TRY(intake_observed_list(&variable->numbers, &variable->numbers.list, err));
        defs[v] =
            (cellar_schema_variable_def){variable->name, variable->domain, variable->numbers.list};
    }
    CELLAR_TRY(cellar_schema_create(defs, intake->n_variables, NULL, &interior, err));
    CELLAR_TRY(cellar_schema_expand(interior, &margins, out, err));
out:
    cellar_schema_free(interior);
    return status;
}

/* Numbers of codes become categories, and the codes of a row its index. */
static cellar_status intake_index_rows(cellar_intake *intake, const cellar_schema *schema,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_variables = intake->n_variables;
    uint32_t *maps[CELLAR_MAX_VARIABLES] = {0}, categories[CELLAR_MAX_VARIABLES];
    cellar_cells *cells = &intake->built.cells;

    for (size_t v = 0; status == CELLAR_OK && v < n_variables; v++) {
        const code_numbers *numbers = &intake->variables[v].numbers;
        maps[v] = cellar_alloc(numbers->n, sizeof **maps);
        if (maps[v] == NULL)
            status = cellar_fail_memory(err, "the codes of a table file");
        for (size_t i = 0; status == CELLAR_OK && i < numbers->n; i++) {
            const numbered_code *code = &numbers->codes[i];
            maps[v][i] = (uint32_t) cellar_schema_find_code(schema, v, code->text, code->length);
        }
    }
    for (size_t row = 0; status == CELLAR_OK && row < cells->n; row++) {
        const uint32_t *codes = intake->row_codes + row * n_variables;
        for (size_t v = 0; v < n_variables; v++)
            categories[v] = maps[v][codes[v]];
        cells->index[row] = cellar_schema_index(schema, categories);
    }
    for (size_t v = 0; v < n_variables; v++)
        cellar_free(maps[v]);
    return status;
}

typedef struct intake_place {
    uint64_t index;
    size_t row;
} intake_place;

static int intake_compare_places(const void *a, const void *b)
{
    const intake_place *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* A bit per index tells whether one comes twice, where that costs no more than the rows do. */
static cellar_status intake_may_repeat(const cellar_cells *cells, uint64_t n_indices, int *may,
                                       cellar_error *err)
{
    uint64_t *bits;

    *may = 1;
    if (n_indices / 64 > cells->n)
        return CELLAR_OK;
    bits = cellar_alloc((size_t) (n_indices / 64) + 1, sizeof *bits);
    if (bits == NULL)
        return cellar_fail_memory(err, "the cells of a table file");
    *may = 0;
    for (size_t i = 0; i < cells->n && !*may; i++) {
        uint64_t bit = UINT64_C(1) << cells->index[i] % 64;
        *may = (bits[cells->index[i] / 64] & bit) != 0;
        bits[cells->index[i] / 64] |= bit;
    }
    cellar_free(bits);
    return CELLAR_OK;
}

/* Files of ours are in canonical order, and then no two rows can be equal. */
static cellar_status intake_check_repeats(const cellar_cells *cells, uint64_t n_indices,
                                          cellar_intake_repeat *repeat, cellar_error *err)
{
    intake_place *places;
    cellar_status status;
    int may_repeat;

    if (cellar_cells_are_ascending(cells))
        return CELLAR_OK;
    status = intake_may_repeat(cells, n_indices, &may_repeat, err);
    if (status != CELLAR_OK || !may_repeat)
        return status;
    places = cellar_alloc(cells->n, sizeof *places);
    if (places == NULL)
        return cellar_fail_memory(err, "the cells of a table file");
    for (size_t i = 0; i < cells->n; i++)
        places[i] = (intake_place){cells->index[i], i};
    qsort(places, cells->n, sizeof *places, intake_compare_places);
    for (size_t i = 1; i < cells->n && !repeat->found; i++)
        if (places[i - 1].index == places[i].index)
            *repeat = (cellar_intake_repeat){1, places[i - 1].row, places[i].row};
    cellar_free(places);
    return repeat->found ? CELLAR_ERR_INPUT : CELLAR_OK;
}

cellar_status cellar_intake_finish(cellar_intake *intake, cellar_loaded *out,
                                   cellar_intake_repeat *repeat, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    *repeat = (cellar_intake_repeat){0};
    CELLAR_TRY(intake_make_schema(intake, &out->schema, err));
    CELLAR_TRY(intake_index_rows(intake, out->schema, err));
    CELLAR_TRY(intake_check_repeats(&intake->built.cells, cellar_schema_n_indices(out->schema),
                                    repeat, err));
    out->built = intake->built;
    out->key_range = intake->layout.key_range;
    out->max_weight = intake->layout.max_weight;
    intake->built = (cells_builder){0};
out:
    return status;
}

/* ---- categories that a file states ----------------------------------------- */

cellar_status cellar_intake_state_codes(cellar_intake *intake, size_t v,
                                        const cellar_stated_categories *stated, cellar_error *err)
{
    for (size_t i = 0; i < stated->n; i++) {
        uint32_t code = cellar_intake_code(intake, v, stated->codes[i], strlen(stated->codes[i]));
        if (code == CODE_NUMBER_NO_MEMORY)
            return cellar_fail_memory(err, "the codes of a table file");
        if (code == CODE_NUMBER_UNLISTED)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: variable '%s': a code that the code list does not have",
                               intake->source->name, intake->variables[v].name);
        if (code != i)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: variable '%s': a code twice",
                               intake->source->name, intake->variables[v].name);
    }
    return CELLAR_OK;
}
