/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hierarchies of a code list: parents found, leaves told from aggregates, and nothing that would
 * make a sum ambiguous. All of it takes time linear in codes times hierarchies. */
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist_build.h"

static const char *tree_column(const cellar_codelist *list, size_t hierarchy)
{
    const char *column = list->parent_columns[hierarchy];
    return column != NULL ? column : "parent";
}

static cellar_status tree_find_parents(cellar_codelist *list, size_t hierarchy, cellar_error *err)
{
    uint32_t *parents = &list->parents[hierarchy * list->n_codes];

    for (size_t i = 0; i < list->n_codes; i++) {
        const codelist_entry *entry = &list->entries[i];
        const char *parent = entry->parents[hierarchy], *column = tree_column(list, hierarchy);
        size_t found;
        parents[i] = CODELIST_NONE;
        if (parent == NULL)
            continue;
        if (entry->role == CELLAR_CODE_TOTAL)
            return cellar_codelist_fail(list, entry, column, "the total cannot have a parent", err);
        found = cellar_codelist_find(list, parent, strlen(parent));
        if (found == CELLAR_NO_CODE)
            return cellar_codelist_fail(list, entry, column, "the parent is not in the list", err);
        if (list->entries[found].role == CELLAR_CODE_OTHER)
            return cellar_codelist_fail(
                list, entry, column,
                "the parent has the role 'other', which receives values and cannot be a sum", err);
        parents[i] = (uint32_t) found;
    }
    return CELLAR_OK;
}

static cellar_status tree_find_leaves(cellar_codelist *list, cellar_error *err)
{
    size_t n = list->n_codes;

    list->leaves = cellar_arena_alloc(list->arena, n, sizeof *list->leaves);
    list->leaf_of = cellar_arena_alloc(list->arena, n, sizeof *list->leaf_of);
    if (list->leaves == NULL || list->leaf_of == NULL)
        return cellar_fail_memory(err, "a code list");
    for (size_t k = 0; k < n * list->n_hierarchies; k++)
        if (list->parents[k] != CODELIST_NONE)
            list->leaf_of[list->parents[k]] = CODELIST_NONE;
    for (size_t i = 0; i < n; i++) {
        if (list->entries[i].role == CELLAR_CODE_TOTAL || list->leaf_of[i] == CODELIST_NONE) {
            list->leaf_of[i] = CODELIST_NONE;
            continue;
        }
        list->leaf_of[i] = (uint32_t) list->n_leaves;
        list->leaves[list->n_leaves++] = (uint32_t) i;
    }
    return CELLAR_OK;
}

/* ---- checks ---------------------------------------------------------------- */

/* Work space for one hierarchy after the other. `sums` is the sum over the leaves below a code of
 * a keyed hash of each: equal sets of leaves have equal sums, and different ones differ but for a
 * chance of 2^-64 that no author of a file can influence. */
typedef struct tree_check {
    uint32_t *n_children; /* not yet taken away */
    uint32_t *queue;      /* codes all of whose children are taken away: children first */
    uint64_t *sums;
    uint64_t *known; /* the sums in the first hierarchy where the code has children */
    uint8_t *is_known;
} tree_check;

static uint64_t tree_leaf_hash(const cellar_codelist *list, uint32_t code_index)
{
    unsigned char digest[crypto_shorthash_BYTES];
    uint64_t hash;
    crypto_shorthash(digest, (const unsigned char *) &code_index, sizeof code_index,
                     list->hash_key);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

/* Takes away codes without children until none is left. Each code has one parent at most, so what
 * cannot be taken away lies on a cycle. */
static cellar_status tree_order(const cellar_codelist *list, size_t hierarchy, tree_check *check,
                                cellar_error *err)
{
    const uint32_t *parents = &list->parents[hierarchy * list->n_codes];
    size_t n = list->n_codes, n_queued = 0;

    memset(check->n_children, 0, n * sizeof *check->n_children);
    for (size_t i = 0; i < n; i++)
        if (parents[i] != CODELIST_NONE)
            check->n_children[parents[i]]++;
    for (size_t i = 0; i < n; i++)
        if (check->n_children[i] == 0)
            check->queue[n_queued++] = (uint32_t) i;
    for (size_t k = 0; k < n_queued; k++) {
        uint32_t parent = parents[check->queue[k]];
        if (parent != CODELIST_NONE && --check->n_children[parent] == 0)
            check->queue[n_queued++] = parent;
    }
    for (size_t i = 0; n_queued < n && i < n; i++)
        if (check->n_children[i] > 0)
            return cellar_codelist_fail(list, &list->entries[i], tree_column(list, hierarchy),
                                        "the code is among its own ancestors", err);
    return CELLAR_OK;
}

/* An aggregate means one sum. In each hierarchy that uses it, it has children there, and they
 * come down to the same leaves. */
static cellar_status tree_check_sums(const cellar_codelist *list, size_t hierarchy,
                                     tree_check *check, cellar_error *err)
{
    const uint32_t *parents = &list->parents[hierarchy * list->n_codes];
    const char *column = tree_column(list, hierarchy);

    memset(check->sums, 0, list->n_codes * sizeof *check->sums);
    for (size_t i = 0; i < list->n_codes; i++)
        if (parents[i] != CODELIST_NONE)
            check->n_children[parents[i]] = 1;
    for (size_t k = 0; k < list->n_codes; k++) {
        uint32_t code = check->queue[k];
        const codelist_entry *entry = &list->entries[code];
        if (list->leaf_of[code] != CODELIST_NONE)
            check->sums[code] = tree_leaf_hash(list, code);
        else if (check->n_children[code] == 0 && parents[code] != CODELIST_NONE)
            return cellar_codelist_fail(
                list, entry, column,
                "the code is a sum in another hierarchy but has no children in this one", err);
        else if (check->n_children[code] > 0 && entry->role != CELLAR_CODE_TOTAL) {
            if (check->is_known[code] && check->known[code] != check->sums[code])
                return cellar_codelist_fail(
                    list, entry, column,
                    "the code sums other codes in this hierarchy than in another", err);
            check->known[code] = check->sums[code];
            check->is_known[code] = 1;
        }
        if (parents[code] != CODELIST_NONE)
            check->sums[parents[code]] += check->sums[code];
    }
    return CELLAR_OK;
}

static cellar_status tree_check_all(const cellar_codelist *list, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = list->n_codes;
    tree_check check = {
        .n_children = cellar_alloc(n, sizeof *check.n_children),
        .queue = cellar_alloc(n, sizeof *check.queue),
        .sums = cellar_alloc(n, sizeof *check.sums),
        .known = cellar_alloc(n, sizeof *check.known),
        .is_known = cellar_alloc(n, sizeof *check.is_known),
    };

    if (check.n_children == NULL || check.queue == NULL || check.sums == NULL ||
        check.known == NULL || check.is_known == NULL)
        status = cellar_fail_memory(err, "a code list");
    for (size_t h = 0; status == CELLAR_OK && h < list->n_hierarchies; h++) {
        CELLAR_TRY(tree_order(list, h, &check, err));
        CELLAR_TRY(tree_check_sums(list, h, &check, err));
    }
out:
    cellar_free(check.n_children);
    cellar_free(check.queue);
    cellar_free(check.sums);
    cellar_free(check.known);
    cellar_free(check.is_known);
    return status;
}

cellar_status cellar_codelist_grow_trees(cellar_codelist *list, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    list->parents =
        cellar_arena_alloc(list->arena, list->n_codes * list->n_hierarchies, sizeof *list->parents);
    if (list->parents == NULL)
        return cellar_fail_memory(err, "a code list");
    for (size_t h = 0; h < list->n_hierarchies; h++)
        CELLAR_TRY(tree_find_parents(list, h, err));
    CELLAR_TRY(tree_find_leaves(list, err));
    CELLAR_TRY(tree_check_all(list, err));
out:
    return status;
}
