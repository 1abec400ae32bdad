/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/structural/structural_cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "table/structural/structural_rules.h"

/* ---- classes of leaves ---- */

/* A leaf and the rules it meets, to be sorted into classes. */
typedef struct leaf_signature {
    const uint64_t *met;
    size_t n_words, n_met;
    uint32_t leaf;
} leaf_signature;

static int signature_compare(const void *a, const void *b)
{
    const leaf_signature *x = a, *y = b;
    if (x->n_met != y->n_met)
        return x->n_met < y->n_met ? -1 : 1;
    for (size_t w = 0; w < x->n_words; w++)
        if (x->met[w] != y->met[w])
            return x->met[w] < y->met[w] ? -1 : 1;
    return 0;
}

/* met[leaf] gets the bits of the rules whose box allows the leaf. */
static void signatures_fill(const cellar_structural *s, size_t v, uint32_t n_leaves, uint64_t *met)
{
    for (size_t r = 0; r < s->n_rules; r++)
        for (uint32_t leaf = 0; leaf < n_leaves; leaf++)
            if (s->boxes[r][v] == NULL || bits_has(s->boxes[r][v], leaf))
                bits_set(met + leaf * s->n_words, r);
}

static cellar_status axis_number_classes(cellar_structural *s, structural_axis *axis,
                                         leaf_signature *leaves, uint32_t n_leaves,
                                         cellar_error *err)
{
    qsort(leaves, n_leaves, sizeof *leaves, signature_compare);
    for (uint32_t k = 0; k < n_leaves; k++) {
        if (k == 0 || signature_compare(&leaves[k - 1], &leaves[k]) != 0)
            axis->n_classes++;
        axis->class_of_leaf[leaves[k].leaf] = axis->n_classes - 1;
    }
    axis->met = cellar_arena_alloc(s->arena, axis->n_classes * s->n_words, sizeof *axis->met);
    if (axis->met == NULL)
        return cellar_fail_memory(err, "the structural zeros");
    for (uint32_t k = 0; k < n_leaves; k++)
        memcpy(axis->met + axis->class_of_leaf[leaves[k].leaf] * s->n_words, leaves[k].met,
               s->n_words * sizeof *axis->met);
    return CELLAR_OK;
}

static cellar_status axis_fill_classes(cellar_structural *s, size_t v, uint32_t n_leaves,
                                       cellar_error *err)
{
    structural_axis *axis = &s->axes[v];
    cellar_status status = CELLAR_OK;
    uint64_t *met = cellar_alloc(n_leaves * s->n_words, sizeof *met);
    leaf_signature *leaves = cellar_alloc(n_leaves, sizeof *leaves);

    axis->class_of_leaf = cellar_arena_alloc(s->arena, n_leaves, sizeof *axis->class_of_leaf);
    if (met == NULL || leaves == NULL || axis->class_of_leaf == NULL) {
        status = cellar_fail_memory(err, "the structural zeros");
        goto out;
    }
    signatures_fill(s, v, n_leaves, met);
    for (uint32_t leaf = 0; leaf < n_leaves; leaf++)
        leaves[leaf] = (leaf_signature){met + leaf * s->n_words, s->n_words,
                                        bits_count(met + leaf * s->n_words, s->n_words), leaf};
    CELLAR_TRY(axis_number_classes(s, axis, leaves, n_leaves, err));
out:
    cellar_free(met);
    cellar_free(leaves);
    return status;
}

/* The classes of the members of each inner node. */
static cellar_status axis_fill_nodes(cellar_structural *s, const cellar_schema *schema, size_t v,
                                     cellar_error *err)
{
    structural_axis *axis = &s->axes[v];
    uint32_t n_leaves = schema->axes[v].n_leaves, n_inner = schema->axes[v].n_inner;
    cellar_status status = CELLAR_OK;
    uint32_t *classes = NULL;
    uint8_t *seen = cellar_alloc(axis->n_classes, 1);
    size_t n = 0, capacity = 0;

    axis->class_start = cellar_arena_alloc(s->arena, n_inner + 1, sizeof *axis->class_start);
    if (seen == NULL || axis->class_start == NULL)
        goto memory;
    for (uint32_t node = 0; node < n_inner; node++) {
        size_t n_members;
        const uint32_t *members = cellar_schema_members(schema, v, n_leaves + node, &n_members);
        memset(seen, 0, axis->n_classes);
        for (size_t k = 0; k < n_members; k++)
            seen[axis->class_of_leaf[members[k]]] = 1;
        if (!cellar_grow(&classes, &capacity, n + axis->n_classes, sizeof *classes))
            goto memory;
        for (uint32_t c = 0; c < axis->n_classes; c++)
            if (seen[c])
                classes[n++] = c;
        axis->class_start[node + 1] = (uint32_t) n;
    }
    axis->classes = cellar_arena_alloc(s->arena, n, sizeof *axis->classes);
    if (axis->classes == NULL)
        goto memory;
    if (n > 0)
        memcpy(axis->classes, classes, n * sizeof *classes);
    goto out;
memory:
    status = cellar_fail_memory(err, "the structural zeros");
out:
    cellar_free(seen);
    cellar_free(classes);
    return status;
}

/* ---- life cycle ---- */

static cellar_status structural_copy_boxes(cellar_structural *s, const cellar_schema *schema,
                                           const structural_box *boxes, cellar_error *err)
{
    for (size_t r = 0; r < s->n_rules; r++) {
        s->boxes[r] = cellar_arena_alloc(s->arena, schema->n_variables, sizeof *s->boxes[r]);
        if (s->boxes[r] == NULL)
            return cellar_fail_memory(err, "the structural zeros");
        for (size_t v = 0; v < schema->n_variables; v++) {
            size_t n_words = bits_words(schema->axes[v].n_leaves);
            if (boxes[r][v] == NULL)
                continue;
            s->axes[v].constrained = 1;
            s->boxes[r][v] = cellar_arena_alloc(s->arena, n_words, sizeof(uint64_t));
            if (s->boxes[r][v] == NULL)
                return cellar_fail_memory(err, "the structural zeros");
            memcpy(s->boxes[r][v], boxes[r][v], n_words * sizeof(uint64_t));
        }
    }
    return CELLAR_OK;
}

static cellar_status structural_fill_axis(cellar_structural *s, const cellar_schema *schema,
                                          size_t v, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    s->axes[v].settled = cellar_arena_alloc(s->arena, s->n_words, sizeof(uint64_t));
    if (s->axes[v].settled == NULL)
        return cellar_fail_memory(err, "the structural zeros");
    for (size_t r = 0; r < s->n_rules; r++) {
        size_t later = v + 1;
        while (later < schema->n_variables && s->boxes[r][later] == NULL)
            later++;
        if (later == schema->n_variables)
            bits_set(s->axes[v].settled, r);
    }
    if (s->axes[v].constrained)
        status = axis_fill_classes(s, v, schema->axes[v].n_leaves, err);
    if (status == CELLAR_OK && s->axes[v].constrained && schema->axes[v].n_inner > 0)
        status = axis_fill_nodes(s, schema, v, err);
    return status;
}

cellar_status cellar_structural_create(const cellar_schema *schema, const structural_box *boxes,
                                       size_t n_rules, cellar_structural **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_structural *s = cellar_alloc(1, sizeof *s);

    *out = NULL;
    if (s == NULL)
        return cellar_fail_memory(err, "the structural zeros");
    s->n_rules = n_rules;
    s->n_words = bits_words(n_rules);
    s->arena = cellar_arena_create(SIZE_MAX);
    if (s->arena != NULL) {
        s->boxes = cellar_arena_alloc(s->arena, n_rules, sizeof *s->boxes);
        s->axes = cellar_arena_alloc(s->arena, schema->n_variables, sizeof *s->axes);
    }
    if (s->boxes == NULL || s->axes == NULL) {
        status = cellar_fail_memory(err, "the structural zeros");
        goto out;
    }
    CELLAR_TRY(structural_copy_boxes(s, schema, boxes, err));
    for (size_t v = 0; v < schema->n_variables; v++)
        CELLAR_TRY(structural_fill_axis(s, schema, v, err));
    *out = s;
out:
    if (status != CELLAR_OK)
        cellar_structural_free(s);
    return status;
}

void cellar_structural_free(cellar_structural *structural)
{
    if (structural == NULL)
        return;
    cellar_arena_free(structural->arena);
    cellar_free(structural);
}

/* ---- is a cell covered? ---- */

/* An interior cell is impossible when one rule is met on every variable: which, from 1, or 0. */
static size_t cover_leaf(const cellar_structural *s, const cellar_schema *schema,
                         const uint32_t *categories)
{
    for (size_t w = 0; w < s->n_words; w++) {
        uint64_t met = w + 1 < s->n_words || s->n_rules % 64 == 0
                           ? UINT64_MAX
                           : (UINT64_C(1) << (s->n_rules % 64)) - 1;
        for (size_t v = 0; v < schema->n_variables && met != 0; v++) {
            const structural_axis *axis = &s->axes[v];
            if (axis->constrained)
                met &= axis->met[axis->class_of_leaf[categories[v]] * s->n_words + w];
        }
        if (met != 0)
            return w * 64 + (size_t) __builtin_ctzll(met) + 1;
    }
    return 0;
}

/* The classes that a category's members fall into; for the total that is every class. */
static uint32_t cover_classes(const structural_axis *axis, const schema_axis *variable,
                              uint32_t category, const uint32_t **classes)
{
    if (category < variable->n_leaves) {
        *classes = &axis->class_of_leaf[category];
        return 1;
    }
    if (category < variable->n_leaves + variable->n_inner) {
        const uint32_t *start = axis->class_start + (category - variable->n_leaves);
        *classes = axis->classes + start[0];
        return start[1] - start[0];
    }
    *classes = NULL; /* 0, 1, 2, ... */
    return axis->n_classes;
}

/* Tries the combinations of classes, variable by variable, and gives up at the first that no rule
 * covers. `active` holds the rules met so far. Members of one class need one look only, and a
 * rule without further conditions settles all that follows. */
static int cover_from(const cellar_structural *s, const cellar_schema *schema,
                      const uint32_t *categories, size_t v, const uint64_t *active)
{
    uint64_t next[STRUCTURAL_MAX_RULES / 64];
    const uint32_t *classes;
    uint32_t n_classes;

    while (v < schema->n_variables && !s->axes[v].constrained)
        v++;
    if (v == schema->n_variables)
        return 1; /* some rule is active, and none has more to ask */
    n_classes = cover_classes(&s->axes[v], &schema->axes[v], categories[v], &classes);
    for (uint32_t k = 0; k < n_classes; k++) {
        const uint64_t *met = s->axes[v].met + (classes == NULL ? k : classes[k]) * s->n_words;
        uint64_t any = 0, settled = 0;
        for (size_t w = 0; w < s->n_words; w++) {
            next[w] = active[w] & met[w];
            any |= next[w];
            settled |= next[w] & s->axes[v].settled[w];
        }
        if (any == 0 || (settled == 0 && !cover_from(s, schema, categories, v + 1, next)))
            return 0;
    }
    return 1;
}

int cellar_structural_covers(const cellar_structural *s, const cellar_schema *schema,
                             uint64_t index)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    uint64_t active[STRUCTURAL_MAX_RULES / 64] = {0};
    int is_leaf = 1;
    cellar_schema_categories(schema, index, categories);
    for (size_t v = 0; v < schema->n_variables; v++)
        is_leaf &= categories[v] < schema->axes[v].n_leaves;
    if (is_leaf)
        return cover_leaf(s, schema, categories) != 0;
    for (size_t r = 0; r < s->n_rules; r++)
        bits_set(active, r);
    return cover_from(s, schema, categories, 0, active);
}

size_t cellar_structural_first_rule(const cellar_structural *structural,
                                    const cellar_schema *schema, uint64_t index)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, index, categories);
    return cover_leaf(structural, schema, categories);
}
