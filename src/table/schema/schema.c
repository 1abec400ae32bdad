/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/schema/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist.h"
#include "table/structural/structural_cover.h"

uint64_t cellar_schema_full_mask(size_t n_variables)
{
    return n_variables >= 64 ? UINT64_MAX : (UINT64_C(1) << n_variables) - 1;
}

/* ---- one variable ---- */

static cellar_status axis_fill_leaves(schema_axis *axis, cellar_arena *arena, cellar_error *err)
{
    const cellar_codelist *list = axis->codelist;
    size_t n_codes = cellar_codelist_n_codes(list), n_leaves = cellar_codelist_n_leaves(list);

    if (n_codes >= SCHEMA_NO_CATEGORY - 1)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "variable '%s' has too many codes",
                           axis->name);
    if (n_leaves == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%s' has no category", axis->name);
    axis->code_of = cellar_arena_alloc(arena, n_codes, sizeof *axis->code_of);
    axis->category_of = cellar_arena_alloc(arena, n_codes, sizeof *axis->category_of);
    axis->leaves = cellar_arena_alloc(arena, n_leaves, sizeof *axis->leaves);
    if (axis->code_of == NULL || axis->category_of == NULL || axis->leaves == NULL)
        return cellar_fail_memory(err, "the categories of a variable");
    axis->n_leaves = (uint32_t) n_leaves;
    axis->total_code = CELLAR_NO_CODE;
    for (size_t code = 0; code < n_codes; code++) {
        size_t leaf = cellar_codelist_leaf_of(list, code);
        axis->category_of[code] = leaf == CELLAR_NO_CODE ? SCHEMA_NO_CATEGORY : (uint32_t) leaf;
        if (axis->total_code == CELLAR_NO_CODE &&
            cellar_codelist_role(list, code) == CELLAR_CODE_TOTAL)
            axis->total_code = code;
    }
    for (size_t leaf = 0; leaf < n_leaves; leaf++) {
        axis->code_of[leaf] = (uint32_t) cellar_codelist_leaf(list, leaf);
        axis->leaves[leaf] = (uint32_t) leaf;
    }
    return CELLAR_OK;
}

static cellar_status axis_fill(schema_axis *axis, const schema_axis_def *def, int has_total,
                               cellar_arena *arena, cellar_error *err)
{
    cellar_status status;
    axis->domain = def->domain;
    axis->codelist = cellar_codelist_retain(def->codelist);
    axis->has_inner = def->has_inner;
    axis->has_total = has_total;
    axis->name = cellar_arena_copy(arena, def->name, strlen(def->name));
    if (axis->name == NULL)
        return cellar_fail_memory(err, "the name of a variable");
    status = axis_fill_leaves(axis, arena, err);
    if (status == CELLAR_OK && axis->has_inner)
        status = cellar_schema_axis_climb(axis, arena, err);
    if (status != CELLAR_OK)
        return status;
    if (has_total && axis->total_code == CELLAR_NO_CODE &&
        cellar_codelist_find(axis->codelist, SCHEMA_TOTAL_CODE, strlen(SCHEMA_TOTAL_CODE)) !=
            CELLAR_NO_CODE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': '%s' is one of its codes, so the total needs another: "
                           "give the code list a code with the role total",
                           axis->name, SCHEMA_TOTAL_CODE);
    axis->n_categories = axis->n_leaves + axis->n_inner + (uint32_t) has_total;
    return CELLAR_OK;
}

/* ---- all of it ---- */

static size_t schema_language(const cellar_schema *schema, const char *tag)
{
    for (size_t k = 0; k < schema->n_languages; k++)
        if (strcmp(schema->languages[k], tag) == 0)
            return k;
    return CELLAR_NO_CODE;
}

/* The languages of the schema are those of its code lists together, in order of appearance. */
static cellar_status schema_fill_languages(cellar_schema *schema, cellar_error *err)
{
    size_t n_all = 0;
    for (size_t v = 0; v < schema->n_variables; v++)
        n_all += cellar_codelist_n_languages(schema->axes[v].codelist);
    schema->languages = cellar_arena_alloc(schema->arena, n_all, sizeof *schema->languages);
    if (schema->languages == NULL)
        return cellar_fail_memory(err, "the languages of a table");
    for (size_t v = 0; v < schema->n_variables; v++) {
        const cellar_codelist *list = schema->axes[v].codelist;
        for (size_t k = 0; k < cellar_codelist_n_languages(list); k++)
            if (schema_language(schema, cellar_codelist_language(list, k)) == CELLAR_NO_CODE)
                schema->languages[schema->n_languages++] = cellar_codelist_language(list, k);
    }
    for (size_t v = 0; v < schema->n_variables; v++) {
        schema_axis *axis = &schema->axes[v];
        axis->language_of =
            cellar_arena_alloc(schema->arena, schema->n_languages, sizeof *axis->language_of);
        if (axis->language_of == NULL)
            return cellar_fail_memory(err, "the languages of a table");
        for (size_t k = 0; k < schema->n_languages; k++)
            axis->language_of[k] = CELLAR_NO_CODE;
        for (size_t k = 0; k < cellar_codelist_n_languages(axis->codelist); k++) {
            const char *tag = cellar_codelist_language(axis->codelist, k);
            axis->language_of[schema_language(schema, tag)] = k;
        }
    }
    return CELLAR_OK;
}

static cellar_status schema_fill_strides(cellar_schema *schema, cellar_error *err)
{
    uint64_t n = 1;
    for (size_t v = schema->n_variables; v-- > 0;) {
        schema->axes[v].stride = n;
        if (__builtin_mul_overflow(n, (uint64_t) schema->axes[v].n_categories, &n) ||
            n > (uint64_t) INT64_MAX)
            return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                               "the table would have 2^63 possible cells or more");
    }
    schema->n_indices = n;
    return CELLAR_OK;
}

/* Both numbers are at most n_indices, so they fit. One record touches, in a margin, the product
 * over the kept variables of its leaf and the inner nodes above it; every factor grows with the
 * number of ancestors alone, so the record whose leaves have the most ancestors has the most. */
static void schema_fill_sizes(cellar_schema *schema)
{
    for (size_t m = 0; m < schema->n_margins; m++) {
        uint64_t cells = 1, touched = 1;
        for (size_t v = 0; v < schema->n_variables; v++)
            if (schema->margins[m] >> v & 1) {
                cells *= schema->axes[v].n_leaves + schema->axes[v].n_inner;
                touched *= 1 + schema->axes[v].max_ancestors;
            }
        schema->n_possible += cells;
        schema->cells_per_record += touched;
    }
}

static int mask_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static cellar_status schema_fill_margins(cellar_schema *schema, const uint64_t *masks,
                                         size_t n_masks, cellar_error *err)
{
    uint64_t full = cellar_schema_full_mask(schema->n_variables);
    size_t n = 0;
    schema->margins = cellar_arena_alloc(schema->arena, n_masks + 1, sizeof *schema->margins);
    if (schema->margins == NULL)
        return cellar_fail_memory(err, "the list of margins");
    for (size_t m = 0; m < n_masks; m++) {
        if ((masks[m] & ~full) != 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a margin names a variable the table does not have");
        schema->margins[m] = masks[m];
    }
    schema->margins[n_masks] = full;
    qsort(schema->margins, n_masks + 1, sizeof *schema->margins, mask_compare);
    for (size_t m = 0; m <= n_masks; m++)
        if (n == 0 || schema->margins[n - 1] != schema->margins[m])
            schema->margins[n++] = schema->margins[m];
    schema->n_margins = n;
    return CELLAR_OK;
}

static cellar_status schema_check_names(const schema_axis_def *defs, size_t n, cellar_error *err)
{
    if (n == 0 || n > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a table has between 1 and %d variables, not %zu", CELLAR_MAX_VARIABLES,
                           n);
    for (size_t v = 0; v < n; v++)
        for (size_t u = 0; u < v; u++)
            if (strcmp(defs[u].name, defs[v].name) == 0)
                return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%s' is named twice",
                                   defs[v].name);
    return CELLAR_OK;
}

cellar_status cellar_schema_build(const schema_axis_def *defs, size_t n_variables,
                                  const uint64_t *masks, size_t n_masks, cellar_schema **out,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_schema *schema = NULL;
    uint64_t always = cellar_schema_full_mask(n_variables); /* kept by every margin */

    *out = NULL;
    CELLAR_TRY(schema_check_names(defs, n_variables, err));
    schema = cellar_alloc(1, sizeof *schema);
    if (schema == NULL)
        return cellar_fail_memory(err, "the description of a table");
    atomic_init(&schema->owners, 1);
    schema->arena = cellar_arena_create(SIZE_MAX);
    if (schema->arena != NULL)
        schema->axes = cellar_arena_alloc(schema->arena, n_variables, sizeof *schema->axes);
    if (schema->axes == NULL) {
        status = cellar_fail_memory(err, "the description of a table");
        goto out;
    }
    schema->n_variables = n_variables;
    for (size_t m = 0; m < n_masks; m++)
        always &= masks[m];
    for (size_t v = 0; v < n_variables; v++)
        CELLAR_TRY(axis_fill(&schema->axes[v], &defs[v], !(always >> v & 1), schema->arena, err));
    CELLAR_TRY(schema_fill_margins(schema, masks, n_masks, err));
    CELLAR_TRY(schema_fill_languages(schema, err));
    CELLAR_TRY(schema_fill_strides(schema, err));
    schema_fill_sizes(schema);
    *out = schema;
out:
    if (status != CELLAR_OK)
        cellar_schema_free(schema);
    return status;
}

cellar_status cellar_schema_create(const cellar_schema_variable_def *variables, size_t n_variables,
                                   const cellar_structural_rules *rules, cellar_schema **out,
                                   cellar_error *err)
{
    cellar_status status;
    schema_axis_def defs[CELLAR_MAX_VARIABLES];
    for (size_t v = 0; v < n_variables && v < CELLAR_MAX_VARIABLES; v++)
        defs[v] =
            (schema_axis_def){variables[v].name, variables[v].domain, variables[v].codelist, 0};
    status = cellar_schema_build(defs, n_variables, NULL, 0, out, err);
    if (status == CELLAR_OK && rules != NULL)
        status = cellar_structural_bind(rules, *out, &(*out)->structural, err);
    if (status != CELLAR_OK) {
        cellar_schema_free(*out);
        *out = NULL;
    }
    return status;
}

schema_axis_def cellar_schema_axis_definition(const cellar_schema *schema, size_t variable)
{
    const schema_axis *axis = &schema->axes[variable];
    return (schema_axis_def){axis->name, axis->domain, axis->codelist, axis->has_inner};
}

cellar_schema *cellar_schema_retain(const cellar_schema *schema)
{
    cellar_schema *shared = (cellar_schema *) schema; /* only `owners` changes */
    atomic_fetch_add_explicit(&shared->owners, 1, memory_order_relaxed);
    return shared;
}

void cellar_schema_free(cellar_schema *schema)
{
    if (schema == NULL || atomic_fetch_sub_explicit(&schema->owners, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t v = 0; v < schema->n_variables; v++)
        cellar_codelist_free(schema->axes[v].codelist);
    cellar_structural_free(schema->structural);
    cellar_arena_free(schema->arena);
    cellar_free(schema);
}
