/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/structural/structural_cover.h"

#include <string.h>

#include "base/error.h"
#include "table/structural/structural_rules.h"

/* Dropping a variable turns "some rule is met" into "whatever the leaf of that variable, some
 * rule is met". With R(l) the boxes that allow leaf l, a cell of the other variables is
 * impossible iff it lies in the intersection over l of the union of R(l), which is multiplied
 * out into a union of boxes again. Boxes inside others are left out on the way, so that the
 * usual cases stay small; the work is bounded for those that do not. */

enum { DERIVE_MAX_STEPS = 1 << 20, DERIVE_MAX_BYTES = 1 << 28 };

typedef struct box_list {
    structural_box *boxes;
    size_t n, capacity;
} box_list;

typedef struct deriver {
    const cellar_schema *schema; /* of the boxes */
    cellar_arena *arena;
    size_t n_steps;
    cellar_error *err;
} deriver;

static cellar_status derive_fail_memory(const deriver *d)
{
    return cellar_fail_memory(d->err, "the structural zeros of a margin");
}

static cellar_status derive_fail_size(const deriver *d)
{
    return cellar_fail(d->err, CELLAR_ERR_UNSUPPORTED,
                       "the structural zeros of this margin are too many to work out");
}

/* 1 when every cell of `a` is in `b`. */
static int box_within(const deriver *d, structural_box a, structural_box b)
{
    for (size_t v = 0; v < d->schema->n_variables; v++) {
        if (b[v] == NULL || b[v] == a[v])
            continue;
        if (a[v] == NULL)
            return 0;
        for (size_t w = 0; w < bits_words(d->schema->axes[v].n_leaves); w++)
            if ((a[v][w] & ~b[v][w]) != 0)
                return 0;
    }
    return 1;
}

/* *out is the intersection, NULL when it is empty; the set of `dropped` no longer matters. */
static cellar_status box_intersect(deriver *d, structural_box a, structural_box b, size_t dropped,
                                   structural_box *out)
{
    structural_box box = cellar_arena_alloc(d->arena, d->schema->n_variables, sizeof *box);
    *out = NULL;
    if (box == NULL)
        return derive_fail_memory(d);
    for (size_t v = 0; v < d->schema->n_variables; v++) {
        size_t n_words = bits_words(d->schema->axes[v].n_leaves);
        uint64_t any = 0;
        if (v == dropped)
            continue;
        box[v] = a[v] == NULL ? b[v] : a[v];
        if (a[v] == NULL || b[v] == NULL || a[v] == b[v])
            continue;
        box[v] = cellar_arena_alloc(d->arena, n_words, sizeof **box);
        if (box[v] == NULL)
            return derive_fail_memory(d);
        for (size_t w = 0; w < n_words; w++)
            any |= box[v][w] = a[v][w] & b[v][w];
        if (any == 0)
            return CELLAR_OK;
    }
    *out = box;
    return CELLAR_OK;
}

/* Adds a box unless it lies in one of the list; drops those that lie in it. */
static cellar_status list_absorb(const deriver *d, box_list *list, structural_box box)
{
    size_t n = 0;
    for (size_t k = 0; k < list->n; k++)
        if (box_within(d, box, list->boxes[k]))
            return CELLAR_OK;
    for (size_t k = 0; k < list->n; k++)
        if (!box_within(d, list->boxes[k], box))
            list->boxes[n++] = list->boxes[k];
    list->n = n;
    if (n == STRUCTURAL_MAX_RULES)
        return derive_fail_size(d);
    if (!cellar_grow(&list->boxes, &list->capacity, n + 1, sizeof *list->boxes))
        return derive_fail_memory(d);
    list->boxes[list->n++] = box;
    return CELLAR_OK;
}

/* product := every box of `sum` that remains inside a box that allows `leaf`. */
static cellar_status derive_leaf(deriver *d, const box_list *boxes, size_t dropped, uint32_t leaf,
                                 const box_list *sum, box_list *product)
{
    product->n = 0;
    for (size_t i = 0; i < boxes->n; i++) {
        const uint64_t *set = boxes->boxes[i][dropped];
        if (set != NULL && !bits_has(set, leaf))
            continue;
        for (size_t k = 0; k < sum->n; k++) {
            structural_box box;
            cellar_status status;
            if (++d->n_steps > DERIVE_MAX_STEPS)
                return derive_fail_size(d);
            status = box_intersect(d, sum->boxes[k], boxes->boxes[i], dropped, &box);
            if (status == CELLAR_OK && box != NULL)
                status = list_absorb(d, product, box);
            if (status != CELLAR_OK)
                return status;
        }
    }
    return CELLAR_OK;
}

/* 1 when the same boxes allow both leaves. */
static int derive_same_class(const box_list *boxes, size_t v, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < boxes->n; i++) {
        const uint64_t *set = boxes->boxes[i][v];
        if (set != NULL && bits_has(set, a) != bits_has(set, b))
            return 0;
    }
    return 1;
}

/* Replaces the boxes by those of the other variables, given that `dropped` takes all of
 * `members`. */
static cellar_status derive_drop(deriver *d, box_list *boxes, size_t dropped,
                                 const uint32_t *members, size_t n_members)
{
    cellar_status status = CELLAR_OK;
    box_list sum = {0}, product = {0};
    structural_box all = cellar_arena_alloc(d->arena, d->schema->n_variables, sizeof *all);

    if (all == NULL)
        return derive_fail_memory(d);
    CELLAR_TRY(list_absorb(d, &sum, all));
    for (size_t k = 0; k < n_members && sum.n > 0; k++) {
        box_list swap = sum;
        if (k > 0 && derive_same_class(boxes, dropped, members[k - 1], members[k]))
            continue;
        CELLAR_TRY(derive_leaf(d, boxes, dropped, members[k], &sum, &product));
        sum = product;
        product = swap;
    }
out:
    cellar_free(product.boxes);
    cellar_free(boxes->boxes);
    *boxes = sum;
    return status;
}

/* Puts the sets in the order of the kept variables. */
static cellar_status derive_reorder(deriver *d, box_list *boxes, const size_t *kept, size_t n_kept)
{
    for (size_t i = 0; i < boxes->n; i++) {
        structural_box box = cellar_arena_alloc(d->arena, n_kept, sizeof *box);
        if (box == NULL)
            return derive_fail_memory(d);
        for (size_t k = 0; k < n_kept; k++)
            box[k] = boxes->boxes[i][kept[k]];
        boxes->boxes[i] = box;
    }
    return CELLAR_OK;
}

static uint64_t derive_kept_mask(const size_t *kept, size_t n_kept)
{
    uint64_t mask = 0;
    for (size_t k = 0; k < n_kept; k++)
        mask |= UINT64_C(1) << kept[k];
    return mask;
}

cellar_status cellar_structural_derive(const cellar_structural *structural,
                                       const cellar_schema *from, const size_t *kept,
                                       const uint32_t *fixed, const cellar_schema *to,
                                       cellar_structural **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t kept_mask = derive_kept_mask(kept, to->n_variables);
    deriver d = {.schema = from, .err = err};
    box_list boxes = {0};

    *out = NULL;
    d.arena = cellar_arena_create(DERIVE_MAX_BYTES);
    if (d.arena == NULL ||
        !cellar_grow(&boxes.boxes, &boxes.capacity, structural->n_rules, sizeof *boxes.boxes)) {
        status = derive_fail_memory(&d);
        goto out;
    }
    memcpy(boxes.boxes, structural->boxes, structural->n_rules * sizeof *boxes.boxes);
    boxes.n = structural->n_rules;
    for (size_t v = 0; v < from->n_variables; v++) {
        const uint32_t *members = from->axes[v].leaves;
        size_t n_members = from->axes[v].n_leaves;
        if (kept_mask >> v & 1)
            continue;
        if (fixed != NULL)
            members = cellar_schema_members(from, v, fixed[v], &n_members);
        CELLAR_TRY(derive_drop(&d, &boxes, v, members, n_members));
    }
    CELLAR_TRY(derive_reorder(&d, &boxes, kept, to->n_variables));
    if (boxes.n > 0)
        CELLAR_TRY(cellar_structural_create(to, boxes.boxes, boxes.n, out, err));
out:
    cellar_free(boxes.boxes);
    cellar_arena_free(d.arena);
    return status;
}
