/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "data/recode.h"

/* What a file writes for the total of a variable whose list names none. */
static const char intake_total_code[] = "_T";

enum { INTAKE_MAX_CODES = 1 << 23, INTAKE_FIRST_SLOTS = 256, INTAKE_MAX_MASKS = 1 << 20 };

typedef enum intake_part { INTAKE_LEAF, INTAKE_INNER, INTAKE_TOTAL } intake_part;

typedef struct intake_code {
    const char *text; /* NUL-terminated */
    uint32_t length;
    uint32_t hash;
    intake_part part;
} intake_code;

/* A variable: the codes seen so far, found by open addressing. */
typedef struct intake_variable {
    const char *name;
    cellar_codelist *list; /* NULL: observed */
    cellar_domain domain;
    intake_code *codes;
    size_t n_codes, capacity;
    uint32_t *slots; /* code number + 1; 0 is free */
    size_t n_slots;
    uint32_t last; /* rows come sorted: the code is often the last one's */
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
    for (size_t v = 0; v < intake->n_variables; v++) {
        cellar_codelist_free(intake->variables[v].list);
        cellar_free(intake->variables[v].codes);
        cellar_free(intake->variables[v].slots);
    }
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

    if (intake->n_variables == CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: more than %d variables",
                           intake->source->name, CELLAR_MAX_VARIABLES);
    variable->domain = CELLAR_DOMAIN_OBSERVED;
    for (size_t i = 0; i < options->n_codelists; i++)
        if (strcmp(options->codelists[i].variable, name) == 0) {
            listed = options->codelists[i].codelist;
            variable->domain = CELLAR_DOMAIN_DECLARED;
        }
    variable->name = cellar_arena_copy(intake->arena, name, strlen(name));
    variable->slots = cellar_alloc(INTAKE_FIRST_SLOTS, sizeof *variable->slots);
    if (listed != NULL)
        variable->list = cellar_codelist_retain(listed);
    variable->n_slots = INTAKE_FIRST_SLOTS;
    intake->n_variables++;
    if (variable->name == NULL || variable->slots == NULL)
        return cellar_fail_memory(err, "a table file");
    return CELLAR_OK;
}

/* ---- codes ----------------------------------------------------------------- */

/* FNV-1a, then folded: short codes are hashed byte by byte anyway. */
static uint32_t intake_hash(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t) (hash ^ (hash >> 29));
}

static int intake_code_is(const intake_code *code, const char *text, size_t length)
{
    return code->length == length && memcmp(code->text, text, length) == 0;
}

static uint32_t *intake_slot(const intake_variable *variable, uint32_t hash, const char *text,
                             size_t length)
{
    for (size_t i = hash & (variable->n_slots - 1);; i = (i + 1) & (variable->n_slots - 1)) {
        uint32_t *slot = &variable->slots[i];
        if (*slot == 0)
            return slot;
        if (variable->codes[*slot - 1].hash == hash &&
            intake_code_is(&variable->codes[*slot - 1], text, length))
            return slot;
    }
}

static int intake_grow_slots(intake_variable *variable)
{
    uint32_t *old = variable->slots;
    variable->slots = cellar_alloc(variable->n_slots * 2, sizeof *variable->slots);
    if (variable->slots == NULL) {
        variable->slots = old;
        return 0;
    }
    variable->n_slots *= 2;
    for (size_t i = 0; i < variable->n_codes; i++) {
        const intake_code *code = &variable->codes[i];
        *intake_slot(variable, code->hash, code->text, code->length) = (uint32_t) i + 1;
    }
    cellar_free(old);
    return 1;
}

/* What the code is in its list. 0 when it is not of the list. */
static int intake_classify(const intake_variable *variable, const char *text, size_t length,
                           intake_part *part)
{
    size_t found;
    *part = INTAKE_LEAF;
    if (variable->list != NULL) {
        found = cellar_codelist_find(variable->list, text, length);
        if (found != CELLAR_NO_CODE) {
            if (cellar_codelist_role(variable->list, found) == CELLAR_CODE_TOTAL)
                *part = INTAKE_TOTAL;
            else if (!cellar_codelist_is_leaf(variable->list, found))
                *part = INTAKE_INNER;
            return 1;
        }
    }
    if (length == strlen(intake_total_code) && memcmp(text, intake_total_code, length) == 0) {
        *part = INTAKE_TOTAL;
        return 1;
    }
    return variable->list == NULL;
}

uint32_t cellar_intake_code(cellar_intake *intake, size_t v, const char *text, size_t length)
{
    intake_variable *variable = &intake->variables[v];
    intake_code code = {0};
    uint32_t *slot;

    if (variable->n_codes > 0 && intake_code_is(&variable->codes[variable->last], text, length))
        return variable->last;
    code.hash = intake_hash(text, length);
    slot = intake_slot(variable, code.hash, text, length);
    if (*slot != 0)
        return variable->last = *slot - 1;

    if (!intake_classify(variable, text, length, &code.part))
        return CELLAR_INTAKE_UNKNOWN;
    code.length = (uint32_t) length;
    code.text = cellar_arena_copy(intake->arena, text, length);
    if (length > UINT32_MAX || variable->n_codes == INTAKE_MAX_CODES || code.text == NULL ||
        !cellar_grow(&variable->codes, &variable->capacity, variable->n_codes + 1, sizeof code))
        return CELLAR_INTAKE_NO_MEMORY;
    variable->codes[variable->n_codes] = code;
    *slot = (uint32_t) ++variable->n_codes;
    if (variable->n_codes * 2 > variable->n_slots && !intake_grow_slots(variable))
        return CELLAR_INTAKE_NO_MEMORY;
    return variable->last = (uint32_t) variable->n_codes - 1;
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
        intake_part part = intake->variables[v].codes[codes[v]].part;
        intake->row_codes[n * n_variables + v] = codes[v];
        if (part != INTAKE_TOTAL)
            mask |= UINT64_C(1) << v;
        if (part == INTAKE_INNER)
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
static cellar_status intake_observed_list(const intake_variable *variable, cellar_codelist **out,
                                          cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;
    size_t n = 0;
    const char **codes = cellar_alloc(variable->n_codes, sizeof *codes);

    *out = NULL;
    if (codes == NULL)
        return cellar_fail_memory(err, "the codes of a table file");
    for (size_t i = 0; i < variable->n_codes; i++)
        if (variable->codes[i].part == INTAKE_LEAF)
            codes[n++] = variable->codes[i].text;
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
        if (variable->list == NULL)
            CELLAR_TRY(intake_observed_list(variable, &variable->list, err));
        defs[v] = (cellar_schema_variable_def){variable->name, variable->domain, variable->list};
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
        const intake_variable *variable = &intake->variables[v];
        maps[v] = cellar_alloc(variable->n_codes, sizeof **maps);
        if (maps[v] == NULL)
            status = cellar_fail_memory(err, "the codes of a table file");
        for (size_t i = 0; status == CELLAR_OK && i < variable->n_codes; i++) {
            const intake_code *code = &variable->codes[i];
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

static int intake_is_ascending(const cellar_cells *cells)
{
    for (size_t i = 1; i < cells->n; i++)
        if (cells->index[i - 1] >= cells->index[i])
            return 0;
    return 1;
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

    if (intake_is_ascending(cells))
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

cellar_status cellar_stated_codelist(const char *name, const cellar_stated_categories *stated,
                                     cellar_codelist **out, cellar_error *err)
{
    cellar_text text = {0}, column = {0}, where = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    cellar_text_printf(&where, "%s: categories of '%s'", name, stated->variable);
    cellar_text_add_string(&text, "code,role");
    for (size_t l = 0; l < stated->n_languages; l++) {
        int tagged = stated->languages[l][0] != '\0';
        cellar_text_reset(&column);
        cellar_text_printf(&column, "label%s%s", tagged ? "@" : "", stated->languages[l]);
        cellar_text_add_char(&text, ',');
        if (!column.failed)
            cellar_csv_add_field(&text, column.bytes, ',');
    }
    cellar_text_add_char(&text, '\n');
    for (size_t i = 0; i < stated->n; i++) {
        cellar_csv_add_field(&text, stated->codes[i], ',');
        cellar_text_add_string(&text, i == stated->total ? ",total" : ",");
        for (size_t l = 0; l < stated->n_languages; l++) {
            const char *label = stated->labels[l][i];
            cellar_text_add_char(&text, ',');
            if (label != NULL)
                cellar_csv_add_field(&text, label, ',');
        }
        cellar_text_add_char(&text, '\n');
    }
    if (text.failed || column.failed || where.failed)
        status = cellar_fail_memory(err, "a code list");
    else
        status = cellar_codelist_parse(where.bytes, text.bytes, text.length, out, err);
    cellar_text_clear(&where);
    cellar_text_clear(&text);
    cellar_text_clear(&column);
    return status;
}

cellar_status cellar_intake_state_codes(cellar_intake *intake, size_t v,
                                        const cellar_stated_categories *stated, cellar_error *err)
{
    for (size_t i = 0; i < stated->n; i++) {
        uint32_t code = cellar_intake_code(intake, v, stated->codes[i], strlen(stated->codes[i]));
        if (code == CELLAR_INTAKE_NO_MEMORY)
            return cellar_fail_memory(err, "the codes of a table file");
        if (code == CELLAR_INTAKE_UNKNOWN)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: variable '%s': a code that the code list does not have",
                               intake->source->name, intake->variables[v].name);
        if (code != i)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: variable '%s': a code twice",
                               intake->source->name, intake->variables[v].name);
    }
    return CELLAR_OK;
}
