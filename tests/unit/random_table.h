/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded random code lists and tables, and what they must add up to, computed the slow way. */
#ifndef CELLAR_TESTS_RANDOM_TABLE_H
#define CELLAR_TESTS_RANDOM_TABLE_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "check.h"
#include "splitmix.h"
#include "table/build.h"

static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return next_random(state) % n;
}

/* A list of 1 to 5 bottom codes and 0 to 5 upper ones, each of one of 0 to 3 hierarchies of uneven
 * depth, with or without a total at their top. An upper code nobody names is a leaf. */
static inline cellar_codelist *random_codelist(uint64_t *state)
{
    size_t n_bottom = 1 + random_below(state, 5), n_hierarchies = random_below(state, 4);
    size_t n_upper = n_hierarchies == 0 ? 0 : random_below(state, 6);
    size_t n_codes = n_bottom + n_upper + random_below(state, 2);
    cellar_codelist *list = NULL;
    cellar_text text = {0};
    cellar_error err;

    cellar_text_add_string(&text, "code,role");
    for (size_t h = 0; h < n_hierarchies; h++)
        cellar_text_printf(&text, ",parent:h%zu", h);
    for (size_t k = 0; k < n_codes; k++) {
        cellar_text_printf(&text, "\nc%zu,%s", k, k == n_bottom + n_upper ? "total" : "");
        for (size_t h = 0; h < n_hierarchies; h++) {
            /* upper code n_bottom + j belongs to hierarchy j mod n_hierarchies */
            size_t parent = (k < n_bottom ? n_bottom : k + 1) + random_below(state, 6);
            int fits = parent < n_bottom + n_upper ? (parent - n_bottom) % n_hierarchies == h
                                                   : parent < n_codes;
            int mine = k < n_bottom || (k - n_bottom) % n_hierarchies == h;
            cellar_text_add_char(&text, ',');
            if (fits && mine && k < n_bottom + n_upper)
                cellar_text_printf(&text, "c%zu", parent);
        }
    }
    cellar_text_add_char(&text, '\n');
    assert_false(text.failed);
    if (cellar_codelist_parse("random", text.bytes, text.length, &list, &err) != CELLAR_OK)
        fail_msg("%s\n%s", err.message, text.bytes);
    cellar_text_clear(&text);
    return list;
}

/* 1 when a leaf is part of a code: the code itself, the total, or above it in some hierarchy.
 * Finds out by trying every way up. */
static inline int is_part_of(const cellar_codelist *list, size_t code, size_t whole)
{
    if (code == whole || cellar_codelist_role(list, whole) == CELLAR_CODE_TOTAL)
        return 1;
    for (size_t h = 0; h < cellar_codelist_n_hierarchies(list); h++) {
        size_t parent = cellar_codelist_parent(list, h, code);
        if (parent != CELLAR_NO_CODE && is_part_of(list, parent, whole))
            return 1;
    }
    return 0;
}

/* 1 when the cell `index` of `schema` sums the interior cell with the leaves `leaves`, judged by
 * codes alone. */
static inline int cell_sums(const cellar_schema *schema, uint64_t index, const uint32_t *leaves)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, index, categories);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        const cellar_codelist *list = cellar_schema_codelist(schema, v);
        const char *code = cellar_schema_code(schema, v, categories[v]);
        size_t whole = cellar_codelist_find(list, code, strlen(code));
        if (whole != CELLAR_NO_CODE &&
            !is_part_of(list, cellar_codelist_leaf(list, leaves[v]), whole))
            return 0;
    }
    return 1;
}

static inline cellar_schema *random_schema(uint64_t *state, size_t n_variables,
                                           const cellar_structural_rules *rules)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    cellar_schema_variable_def defs[4];
    cellar_schema *schema = NULL;
    for (size_t v = 0; v < n_variables; v++)
        defs[v] =
            (cellar_schema_variable_def){names[v], CELLAR_DOMAIN_DECLARED, random_codelist(state)};
    assert_int_equal(cellar_schema_create(defs, n_variables, rules, &schema, NULL), CELLAR_OK);
    for (size_t v = 0; v < n_variables; v++)
        cellar_codelist_free((cellar_codelist *) (uintptr_t) defs[v].codelist);
    return schema;
}

enum { RANDOM_WEIGHTS = 1, RANDOM_KEYS = 2, RANDOM_STATUSES = 4 };

static inline cellar_cells cells_make(size_t n, int with)
{
    cellar_cells cells = {.n = n};
    cells.index = cellar_alloc(n, sizeof *cells.index);
    cells.count = cellar_alloc(n, sizeof *cells.count);
    cells.weight = with & RANDOM_WEIGHTS ? cellar_alloc(n, sizeof *cells.weight) : NULL;
    cells.key = with & RANDOM_KEYS ? cellar_alloc(n, sizeof *cells.key) : NULL;
    cells.status = with & RANDOM_STATUSES ? cellar_alloc(n, sizeof *cells.status) : NULL;
    return cells;
}

/* A table in which about `percent` of the interior cells have counts, in random order and in
 * pieces; impossible cells stay empty. */
static inline cellar_table *random_table(uint64_t *state, const cellar_schema *schema,
                                         unsigned percent, int with, uint64_t key_range)
{
    uint64_t n_indices = cellar_schema_n_indices(schema);
    cellar_cells cells = cells_make((size_t) n_indices, with);
    cellar_table *table = NULL;
    cells.n = 0;
    for (size_t k = 0; k < n_indices; k++) {
        uint64_t index = random_below(state, n_indices);
        if (random_below(state, 100) >= percent || cellar_schema_is_structural_zero(schema, index))
            continue;
        cells.index[cells.n] = index;
        cells.count[cells.n] = random_below(state, 5);
        if (cells.weight != NULL)
            cells.weight[cells.n] = (cellar_int128) random_below(state, 1000) - 300;
        if (cells.key != NULL)
            cells.key[cells.n] = next_random(state);
        cells.n++;
    }
    assert_int_equal(cellar_table_from_cells(schema, &cells, key_range, &table, NULL), CELLAR_OK);
    return table;
}

#endif
