/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/schema/schema.h"

#include "base/error.h"
#include "table/structural/structural_cover.h"

/* ---- hierarchies ---- */

/* What the climb keeps while it walks up from one leaf after another. */
typedef struct climb {
    const schema_axis *axis;
    uint32_t *stamp; /* code -> 1 + the last leaf that reached it */
    uint32_t *stack;
    uint32_t *found; /* codes of ancestors, leaf by leaf */
    size_t n_found, capacity;
} climb;

/* To be below a code in any hierarchy is to be part of it, so the ancestors of a leaf are all
 * codes reached through parents of any hierarchy; every leaf is part of the total. */
static int climb_from(climb *c, uint32_t leaf)
{
    const cellar_codelist *list = c->axis->codelist;
    size_t depth = 0, n_hierarchies = cellar_codelist_n_hierarchies(list);

    c->stack[depth++] = c->axis->code_of[leaf];
    if (c->axis->total_code != CELLAR_NO_CODE) {
        c->stamp[c->axis->total_code] = leaf + 1;
        c->stack[depth++] = (uint32_t) c->axis->total_code;
    }
    while (depth > 0) {
        uint32_t code = c->stack[--depth];
        for (size_t h = 0; h < n_hierarchies; h++) {
            size_t parent = cellar_codelist_parent(list, h, code);
            if (parent == CELLAR_NO_CODE || c->stamp[parent] == leaf + 1)
                continue;
            c->stamp[parent] = leaf + 1;
            c->stack[depth++] = (uint32_t) parent;
            if (cellar_codelist_role(list, parent) == CELLAR_CODE_TOTAL)
                continue;
            if (!cellar_grow(&c->found, &c->capacity, c->n_found + 1, sizeof *c->found))
                return 0;
            c->found[c->n_found++] = (uint32_t) parent;
        }
    }
    return 1;
}

/* Inner nodes are categories in the order of the code list; `found` becomes categories. */
static void climb_number(climb *c, schema_axis *axis)
{
    size_t n_codes = cellar_codelist_n_codes(axis->codelist);
    for (size_t code = 0; code < n_codes; code++)
        c->stamp[code] = 0;
    for (size_t k = 0; k < c->n_found; k++)
        c->stamp[c->found[k]] = 1;
    for (uint32_t code = 0; code < n_codes; code++)
        if (c->stamp[code] != 0) {
            axis->category_of[code] = axis->n_leaves + axis->n_inner;
            axis->code_of[axis->category_of[code]] = code;
            axis->n_inner++;
        }
    for (size_t k = 0; k < c->n_found; k++)
        c->found[k] = axis->category_of[c->found[k]];
}

/* Members are ancestors turned around: counted, then filled leaf by leaf, hence ascending. */
static cellar_status axis_fill_members(schema_axis *axis, cellar_arena *arena, const climb *c,
                                       cellar_error *err)
{
    uint32_t *next = c->stack; /* no longer needed as a stack, and large enough */
    axis->ancestors = cellar_arena_alloc(arena, c->n_found, sizeof *axis->ancestors);
    axis->members = cellar_arena_alloc(arena, c->n_found, sizeof *axis->members);
    axis->member_start =
        cellar_arena_alloc(arena, (size_t) axis->n_inner + 1, sizeof *axis->member_start);
    if (axis->ancestors == NULL || axis->members == NULL || axis->member_start == NULL)
        return cellar_fail_memory(err, "a hierarchy");
    for (size_t k = 0; k < c->n_found; k++) {
        axis->ancestors[k] = c->found[k];
        axis->member_start[c->found[k] - axis->n_leaves + 1]++;
    }
    for (uint32_t k = 0; k < axis->n_inner; k++) {
        axis->member_start[k + 1] += axis->member_start[k];
        next[k] = axis->member_start[k];
    }
    for (uint32_t leaf = 0; leaf < axis->n_leaves; leaf++) {
        uint32_t first = axis->ancestor_start[leaf], last = axis->ancestor_start[leaf + 1];
        for (uint32_t k = first; k < last; k++)
            axis->members[next[axis->ancestors[k] - axis->n_leaves]++] = leaf;
        if (last - first > axis->max_ancestors)
            axis->max_ancestors = last - first;
    }
    return CELLAR_OK;
}

cellar_status cellar_schema_axis_climb(schema_axis *axis, cellar_arena *arena, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_codes = cellar_codelist_n_codes(axis->codelist);
    climb c = {.axis = axis};

    c.stamp = cellar_alloc(n_codes, sizeof *c.stamp);
    c.stack = cellar_alloc(n_codes + 1, sizeof *c.stack);
    axis->ancestor_start =
        cellar_arena_alloc(arena, (size_t) axis->n_leaves + 1, sizeof *axis->ancestor_start);
    if (c.stamp == NULL || c.stack == NULL || axis->ancestor_start == NULL) {
        status = cellar_fail_memory(err, "a hierarchy");
        goto out;
    }
    for (uint32_t leaf = 0; leaf < axis->n_leaves; leaf++) {
        if (!climb_from(&c, leaf) || c.n_found > UINT32_MAX) {
            status = cellar_fail_memory(err, "a hierarchy");
            goto out;
        }
        axis->ancestor_start[leaf + 1] = (uint32_t) c.n_found;
    }
    climb_number(&c, axis);
    CELLAR_TRY(axis_fill_members(axis, arena, &c, err));
out:
    cellar_free(c.stamp);
    cellar_free(c.stack);
    cellar_free(c.found);
    return status;
}

/* ---- margins ---- */

enum { SCHEMA_MAX_ALL = 20 }; /* a million margins; more is surely not what was meant */

static cellar_status margins_all(size_t n_variables, uint64_t **masks, size_t *n_masks,
                                 cellar_error *err)
{
    if (n_variables > SCHEMA_MAX_ALL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "all margins of %zu variables are too many; list those needed (all of "
                           "them go up to %d variables)",
                           n_variables, SCHEMA_MAX_ALL);
    *n_masks = (size_t) 1 << n_variables;
    *masks = cellar_alloc(*n_masks, sizeof **masks);
    if (*masks == NULL)
        return cellar_fail_memory(err, "the list of margins");
    for (size_t m = 0; m < *n_masks; m++)
        (*masks)[m] = m;
    return CELLAR_OK;
}

/* Builds a schema and brings the structural zeros of another along. */
static cellar_status schema_make(const cellar_schema *from, const schema_axis_def *defs,
                                 const size_t *kept, size_t n_kept, const uint32_t *fixed,
                                 const uint64_t *masks, size_t n_masks, cellar_schema **out,
                                 cellar_error *err)
{
    cellar_status status = cellar_schema_build(defs, n_kept, masks, n_masks, out, err);
    if (status == CELLAR_OK && from->structural != NULL)
        status = cellar_structural_derive(from->structural, from, kept, fixed, *out,
                                          &(*out)->structural, err);
    if (status != CELLAR_OK) {
        cellar_schema_free(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_schema_project(const cellar_schema *schema, const size_t *kept, size_t n_kept,
                                    const uint32_t *fixed, const uint64_t *masks, size_t n_masks,
                                    int has_inner, cellar_schema **out, cellar_error *err)
{
    schema_axis_def defs[CELLAR_MAX_VARIABLES];
    for (size_t k = 0; k < n_kept; k++) {
        defs[k] = cellar_schema_axis_definition(schema, kept[k]);
        defs[k].has_inner &= has_inner;
    }
    return schema_make(schema, defs, kept, n_kept, fixed, masks, n_masks, out, err);
}

cellar_status cellar_schema_expand(const cellar_schema *schema, const cellar_margins *margins,
                                   cellar_schema **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    schema_axis_def defs[CELLAR_MAX_VARIABLES];
    size_t same[CELLAR_MAX_VARIABLES];
    const uint64_t *masks = margins->masks;
    size_t n_masks = margins->n_masks;
    uint64_t *all = NULL;

    *out = NULL;
    if ((margins->hierarchies & ~cellar_schema_full_mask(schema->n_variables)) != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a hierarchy is asked of a variable the table does not have");
    if (margins->all) {
        CELLAR_TRY(margins_all(schema->n_variables, &all, &n_masks, err));
        masks = all;
    }
    for (size_t v = 0; v < schema->n_variables; v++) {
        defs[v] = cellar_schema_axis_definition(schema, v);
        defs[v].has_inner = margins->hierarchies >> v & 1;
        same[v] = v;
    }
    CELLAR_TRY(
        schema_make(schema, defs, same, schema->n_variables, NULL, masks, n_masks, out, err));
out:
    cellar_free(all);
    return status;
}

cellar_status cellar_schema_assert_domains(const cellar_schema *schema, cellar_schema **out,
                                           cellar_error *err)
{
    schema_axis_def defs[CELLAR_MAX_VARIABLES];
    size_t same[CELLAR_MAX_VARIABLES];
    for (size_t v = 0; v < schema->n_variables; v++) {
        defs[v] = cellar_schema_axis_definition(schema, v);
        if (defs[v].domain == CELLAR_DOMAIN_OBSERVED)
            defs[v].domain = CELLAR_DOMAIN_ASSERTED;
        same[v] = v;
    }
    return schema_make(schema, defs, same, schema->n_variables, NULL, schema->margins,
                       schema->n_margins, out, err);
}
