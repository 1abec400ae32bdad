/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/cut_make.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- whole tables ---------------------------------------------------------------- */

static const serve_pick *all_picks(const serve_level *level, size_t number, cellar_arena *arena)
{
    serve_pick *picks = cellar_arena_alloc(arena, level->n_categories, sizeof *picks);
    uint32_t *members = cellar_arena_alloc(arena, level->n_categories, sizeof *members);
    if (picks == NULL || members == NULL)
        return NULL;
    for (size_t k = 0; k < level->n_categories; k++) {
        members[k] = (uint32_t) k;
        picks[k] = (serve_pick){.code = level->categories[k].code,
                                .label = level->categories[k].code,
                                .level = number,
                                .members = &members[k],
                                .n_members = 1};
    }
    return picks;
}

cellar_status serve_cut_whole(const serve_dataset *dataset, const serve_table *table,
                              cellar_arena *arena, serve_cut *out, cellar_error *err)
{
    serve_side *sides = cellar_arena_alloc(arena, dataset->n_variables, sizeof *sides);
    *out = (serve_cut){.dataset = dataset, .table = *table, .sides = sides};
    if (sides == NULL)
        return cellar_fail_memory(err, "a table");
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const size_t number = table->levels[v];
        const serve_level *level = &dataset->variables[v].levels[number - (number > 0)];
        if (number == 0)
            continue;
        sides[out->n_sides] = (serve_side){v, all_picks(level, number, arena), level->n_categories};
        if (sides[out->n_sides++].picks == NULL)
            return cellar_fail_memory(err, "a table");
    }
    return CELLAR_OK;
}

/* ---- sets of cells ---------------------------------------------------------------- */

static cellar_status add_member(const serve_level *level, const json_t *code, uint32_t *members,
                                size_t *n, cellar_error *err)
{
    const char *text = json_string_value(code);
    size_t found;
    if (text == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "Categories are texts, or lists of them.");
    found = serve_find_category(level, text);
    if (found == SIZE_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT, "There is no category '%.60s' of '%.60s'.", text,
                           level->id);
    for (size_t i = 0; i < *n; i++)
        if (members[i] == found)
            return cellar_fail(err, CELLAR_ERR_INPUT, "Category '%.60s' is named twice.", text);
    members[(*n)++] = (uint32_t) found;
    return CELLAR_OK;
}

/* One pick that adds up the categories named. */
static cellar_status make_pick(const serve_level *level, size_t number, const json_t *codes,
                               cellar_arena *arena, const serve_pick **out, cellar_error *err)
{
    const size_t n_codes = json_is_array(codes) ? json_array_size(codes) : 1;
    serve_pick *pick = cellar_arena_alloc(arena, 1, sizeof *pick);
    uint32_t *members = cellar_arena_alloc(arena, n_codes, sizeof *members);
    size_t n = 0;
    cellar_status status = CELLAR_OK;
    if (pick == NULL || members == NULL)
        return cellar_fail_memory(err, "a set of cells");
    if (n_codes == 0 || n_codes > level->n_categories)
        return cellar_fail(err, CELLAR_ERR_INPUT, "'%.60s' has from 1 to %zu categories.",
                           level->id, level->n_categories);
    for (size_t i = 0; i < n_codes && status == CELLAR_OK; i++)
        status = add_member(level, json_is_array(codes) ? json_array_get(codes, i) : codes, members,
                            &n, err);
    *pick = (serve_pick){
        .code = "set", .label = "set", .level = number, .members = members, .n_members = n};
    *out = pick;
    return status;
}

/* The variable and level that "region^1" names. */
static cellar_status find_level(const serve_dataset *dataset, const char *id, size_t *variable,
                                size_t *number, cellar_error *err)
{
    serve_table one;
    cellar_status status = serve_table_parse(dataset, id, &one, err);
    if (status != CELLAR_OK)
        return status;
    if (serve_table_n_variables(dataset, &one) != 1)
        return cellar_fail(err, CELLAR_ERR_INPUT, "'%.60s' is no level of a variable.", id);
    for (*variable = 0; one.levels[*variable] == 0;)
        ++*variable;
    *number = one.levels[*variable];
    return CELLAR_OK;
}

cellar_status serve_cut_of_set(const serve_dataset *dataset, const json_t *set, cellar_arena *arena,
                               serve_cut *out, cellar_error *err)
{
    serve_side *sides = cellar_arena_alloc(arena, dataset->n_variables, sizeof *sides);
    const char *id;
    json_t *codes;
    cellar_status status = CELLAR_OK;
    *out = (serve_cut){.dataset = dataset, .sides = sides};
    if (sides == NULL)
        return cellar_fail_memory(err, "a set of cells");
    if (!json_is_object(set))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "A set of cells is an object of levels and their categories.");
    json_object_foreach((json_t *) (uintptr_t) set, id, codes)
    {
        serve_side *side = &sides[out->n_sides];
        size_t variable = 0, number = 0;
        CELLAR_TRY(find_level(dataset, id, &variable, &number, err));
        if (out->table.levels[variable] != 0)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "Variable '%.60s' is named twice.",
                                   dataset->variables[variable].code));
        *side = (serve_side){.variable = variable, .n_picks = 1};
        CELLAR_TRY(make_pick(&dataset->variables[variable].levels[number - 1], number, codes, arena,
                             &side->picks, err));
        out->table.levels[variable] = (unsigned char) number;
        out->n_sides++;
    }
out:
    return status;
}
