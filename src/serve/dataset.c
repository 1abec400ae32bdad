/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

static const char TOTAL[] = "total";

/* ---- finding ------------------------------------------------------------------------------- */

const serve_variable *serve_find_variable(const serve_dataset *dataset, const char *code)
{
    const serve_variable *alike = NULL;
    for (size_t v = 0; v < dataset->n_variables; v++) {
        if (strcmp(dataset->variables[v].code, code) == 0)
            return &dataset->variables[v];
        if (alike == NULL && strcasecmp(dataset->variables[v].code, code) == 0)
            alike = &dataset->variables[v];
    }
    return alike;
}

const serve_level *serve_find_level(const serve_variable *variable, const char *id)
{
    const serve_level *alike = NULL;
    for (size_t l = 0; l < variable->n_levels; l++) {
        if (strcmp(variable->levels[l].id, id) == 0)
            return &variable->levels[l];
        if (alike == NULL && strcasecmp(variable->levels[l].id, id) == 0)
            alike = &variable->levels[l];
    }
    return alike;
}

/* Codes that differ in case only are neighbours, so that one search finds either. */
static int compare_codes(const char *a, const char *b)
{
    const int alike = strcasecmp(a, b);
    return alike != 0 ? alike : strcmp(a, b);
}

static int compare_positions(const void *a, const void *b, void *categories)
{
    const serve_category *of = categories;
    return compare_codes(of[*(const uint32_t *) a].code, of[*(const uint32_t *) b].code);
}

const uint32_t *serve_index_codes(const serve_category *categories, size_t n, cellar_arena *arena)
{
    uint32_t *positions = cellar_arena_alloc(arena, n, sizeof *positions);
    for (size_t i = 0; positions != NULL && i < n; i++)
        positions[i] = (uint32_t) i;
    if (positions != NULL)
        qsort_r(positions, n, sizeof *positions, compare_positions,
                (void *) (uintptr_t) categories);
    return positions;
}

static size_t position_at(const serve_level *level, size_t k)
{
    return level->by_code != NULL ? level->by_code[k] : k;
}

/* The first in the order of codes that is not before `code`. */
static size_t lower_bound(const serve_level *level, const char *code)
{
    size_t low = 0, high = level->n_categories;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcasecmp(level->categories[level->by_code[middle]].code, code) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t serve_find_category(const serve_level *level, const char *code)
{
    size_t alike = SIZE_MAX;
    for (size_t k = level->by_code != NULL ? lower_bound(level, code) : 0; k < level->n_categories;
         k++) {
        const size_t at = position_at(level, k);
        if (strcmp(level->categories[at].code, code) == 0)
            return at;
        if (strcasecmp(level->categories[at].code, code) != 0) {
            if (level->by_code != NULL)
                break;
        } else if (alike == SIZE_MAX)
            alike = at;
    }
    return alike;
}

/* ---- canonical tables ------------------------------------------------------------------------ */

void serve_table_text(const serve_dataset *dataset, const serve_table *table,
                      char out[SERVE_TABLE_TEXT])
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (table->levels[v] > 0) {
            const char *id = dataset->variables[v].levels[table->levels[v] - 1].id;
            const int n = snprintf(out + length, SERVE_TABLE_TEXT - length, "%s%s",
                                   length > 0 ? "*" : "", id);
            CELLAR_ASSERT(n > 0 && (size_t) n < SERVE_TABLE_TEXT - length);
            length += (size_t) n;
        }
    if (length == 0)
        memcpy(out, TOTAL, sizeof TOTAL);
}

/* "region^1", which is not terminated: sets the level of its variable. */
static cellar_status parse_part(const serve_dataset *dataset, const char *part, size_t length,
                                serve_table *out, cellar_error *err)
{
    char word[SERVE_TABLE_TEXT];
    const serve_variable *variable;
    const serve_level *level;
    size_t name;
    if (length == 0 || length >= sizeof word)
        return cellar_fail(err, CELLAR_ERR_INPUT, "a table is written as variables between '*'");
    memcpy(word, part, length);
    word[length] = '\0';
    name = strcspn(word, "^");
    word[name] = '\0';
    variable = serve_find_variable(dataset, word);
    if (variable == NULL || variable->is_constant)
        return cellar_fail(err, CELLAR_ERR_INPUT, "there is no variable '%.200s'", word);
    if (name < length)
        word[name] = '^';
    level = serve_find_level(variable, name < length ? word : variable->code);
    if (level == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "variable '%.200s' has no level '%.200s'",
                           variable->code, word);
    if (out->levels[variable - dataset->variables] > 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "variable '%.200s' is named twice",
                           variable->code);
    out->levels[variable - dataset->variables] = (unsigned char) (level - variable->levels + 1);
    return CELLAR_OK;
}

cellar_status serve_table_parse(const serve_dataset *dataset, const char *text, serve_table *out,
                                cellar_error *err)
{
    *out = (serve_table){{0}};
    if (strcasecmp(text, TOTAL) == 0)
        return CELLAR_OK;
    for (;;) {
        const size_t length = strcspn(text, "*");
        cellar_status status = parse_part(dataset, text, length, out, err);
        if (status != CELLAR_OK || text[length] == '\0')
            return status;
        text += length + 1;
    }
}

size_t serve_table_n_variables(const serve_dataset *dataset, const serve_table *table)
{
    size_t n = 0;
    for (size_t v = 0; v < dataset->n_variables; v++)
        n += table->levels[v] > 0;
    return n;
}

uint64_t serve_table_n_cells(const serve_dataset *dataset, const serve_table *table)
{
    uint64_t n = 1;
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (table->levels[v] > 0 &&
            __builtin_mul_overflow(
                n, dataset->variables[v].levels[table->levels[v] - 1].n_categories, &n))
            return UINT64_MAX;
    return n;
}

int serve_table_is_below(const serve_dataset *dataset, const serve_table *coarse,
                         const serve_table *fine)
{
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (coarse->levels[v] > fine->levels[v])
            return 0;
    return 1;
}
