/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A regression tree of "released", 0 or 1 (Breiman, Friedman, Olshen and Stone 1984): a node is
 * split by the variable and the two groups of its categories that lower the sum of squares most.
 * For two classes the best groups are found among those that are ordered by the share of a category
 * (their theorem 4.5). Nodes and leaves have at least so many records as in rpart with minbucket
 * = 5. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "utility/propensity_models.h"

enum { LEAST_LEAF = 5, LEAST_NODE = 15, DEPTH_MAX = 30, EXCHANGES = 10 };
static const double LEAST_GAIN = 1e-8; /* of the sum of squares of all records */

typedef struct category {
    uint32_t leaf;
    double records, released;
} category;

typedef struct tree {
    const utility_pooled *pooled;
    const double *released; /* of each cell: as it is, or with labels exchanged */
    double least_gain, pmse;
    uint32_t *cells;        /* permuted so that every node is a range */
    uint32_t *aside;        /* room for one side of a split */
    category *categories;   /* of one variable in one node */
    unsigned char *is_left; /* by leaf, of the best split */
} tree;

typedef struct split {
    size_t variable;
    double gain;
} split;

static int category_order(const void *a, const void *b)
{
    const category *x = a, *y = b;
    const double p = x->released * y->records, q = y->released * x->records;
    if (p != q)
        return p < q ? -1 : 1;
    return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/* The categories of a variable that the node has, ordered by their shares. */
static size_t tree_categories(tree *t, const uint32_t *cells, size_t n, size_t variable)
{
    const utility_frame *frame = t->pooled->frame;
    size_t n_found = 0;
    memset(t->categories, 0, frame->radix[variable] * sizeof *t->categories);
    for (size_t i = 0; i < n; i++) {
        const uint32_t leaf = t->pooled->leaves[cells[i] * frame->n_variables + variable];
        t->categories[leaf].records += t->pooled->records[cells[i]];
        t->categories[leaf].released += t->released[cells[i]];
    }
    for (uint32_t leaf = 0; leaf < frame->radix[variable]; leaf++)
        if (t->categories[leaf].records > 0) {
            t->categories[n_found] = t->categories[leaf];
            t->categories[n_found++].leaf = leaf;
        }
    qsort(t->categories, n_found, sizeof *t->categories, category_order);
    return n_found;
}

/* The best split of a node by one variable, into *best when it is better. */
static void tree_try(tree *t, const uint32_t *cells, size_t n, size_t variable, split *best)
{
    const size_t n_categories = tree_categories(t, cells, n, variable);
    double records = 0, released = 0, left = 0, left_released = 0;
    int is_best = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < n_categories; i++) {
        records += t->categories[i].records;
        released += t->categories[i].released;
    }
    for (size_t i = 0; i + 1 < n_categories; i++) {
        double right, gain;
        left += t->categories[i].records;
        left_released += t->categories[i].released;
        right = records - left;
        if (left < LEAST_LEAF || right < LEAST_LEAF)
            continue;
        gain = left_released / left - (released - left_released) / right;
        gain = gain * gain * left * right / records;
        if (gain > best->gain) {
            best->gain = gain;
            best->variable = variable;
            n_left = i + 1;
            is_best = 1;
        }
    }
    if (!is_best)
        return;
    memset(t->is_left, 0, t->pooled->frame->radix[variable]);
    for (size_t i = 0; i < n_left; i++)
        t->is_left[t->categories[i].leaf] = 1;
}

/* Puts the cells of the left side first; answers how many they are. */
static size_t tree_part(const tree *t, uint32_t *cells, size_t n, size_t variable)
{
    const size_t d = t->pooled->frame->n_variables;
    size_t n_left = 0, n_right = 0;
    for (size_t i = 0; i < n; i++)
        if (t->is_left[t->pooled->leaves[cells[i] * d + variable]])
            cells[n_left++] = cells[i];
        else
            t->aside[n_right++] = cells[i];
    memcpy(cells + n_left, t->aside, n_right * sizeof *cells);
    return n_left;
}

static void tree_grow(tree *t, uint32_t *cells, size_t n, int depth)
{
    const double c = t->pooled->n_released / t->pooled->n_records;
    double records = 0, released = 0;
    split best = {.gain = t->least_gain};
    size_t n_left;
    for (size_t i = 0; i < n; i++) {
        records += t->pooled->records[cells[i]];
        released += t->released[cells[i]];
    }
    if (records >= LEAST_NODE && depth < DEPTH_MAX)
        for (size_t v = 0; v < t->pooled->frame->n_variables; v++)
            tree_try(t, cells, n, v, &best);
    if (best.gain <= t->least_gain) {
        t->pmse += records * (released / records - c) * (released / records - c);
        return;
    }
    n_left = tree_part(t, cells, n, best.variable);
    tree_grow(t, cells, n_left, depth + 1);
    tree_grow(t, cells + n_left, n - n_left, depth + 1);
}

static double tree_pmse(tree *t, const double *released)
{
    const utility_pooled *pooled = t->pooled;
    const double c = pooled->n_released / pooled->n_records;
    t->released = released;
    t->pmse = 0;
    t->least_gain = LEAST_GAIN * pooled->n_records * c * (1 - c);
    for (size_t i = 0; i < pooled->n; i++)
        t->cells[i] = (uint32_t) i;
    tree_grow(t, t->cells, pooled->n, 0);
    return t->pmse / pooled->n_records;
}

/* Deals the labels anew: each record takes one of those that are left. */
static cellar_status exchange_labels(const utility_pooled *pooled, cellar_rng *rng,
                                     double *released, cellar_error *err)
{
    enum { BLOCK = 1024 };
    uint64_t bits[BLOCK];
    size_t n_used = BLOCK;
    uint64_t left = (uint64_t) pooled->n_records, labels = (uint64_t) pooled->n_released;
    for (size_t cell = 0; cell < pooled->n; cell++) {
        released[cell] = 0;
        for (uint64_t k = (uint64_t) pooled->records[cell]; k > 0; k--, left--) {
            if (n_used == BLOCK) {
                cellar_status status = cellar_rng_bytes(rng, bits, sizeof bits, err);
                if (status != CELLAR_OK)
                    return status;
                n_used = 0;
            }
            if ((double) (bits[n_used++] >> 11) * 0x1p-53 * (double) left < (double) labels) {
                released[cell]++;
                labels--;
            }
        }
    }
    return CELLAR_OK;
}

cellar_status cellar_utility_tree(const utility_pooled *pooled, uint64_t seed,
                                  double out[UTILITY_N_TREE], cellar_error *err)
{
    const utility_frame *frame = pooled->frame;
    cellar_status status = CELLAR_OK;
    tree t = {.pooled = pooled};
    double *exchanged = NULL, expected = 0;
    cellar_rng *rng = NULL;
    uint32_t most = 1;

    out[0] = out[1] = NAN;
    if (!(pooled->n_released > 0 && pooled->n_released < pooled->n_records))
        return CELLAR_OK;
    for (size_t v = 0; v < frame->n_variables; v++)
        most = frame->radix[v] > most ? frame->radix[v] : most;
    t.cells = cellar_alloc(2 * pooled->n, sizeof *t.cells);
    t.categories = cellar_alloc(most, sizeof *t.categories);
    t.is_left = cellar_alloc(most, 1);
    exchanged = cellar_alloc(pooled->n, sizeof *exchanged);
    if (t.cells == NULL || t.categories == NULL || t.is_left == NULL || exchanged == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a propensity model"));
    t.aside = t.cells + pooled->n;
    out[0] = tree_pmse(&t, pooled->released);
    CELLAR_TRY(cellar_rng_create_seeded(seed, UINT64_MAX, &rng, err));
    for (int i = 0; i < EXCHANGES; i++) {
        CELLAR_TRY(exchange_labels(pooled, rng, exchanged, err));
        expected += tree_pmse(&t, exchanged) / EXCHANGES;
    }
    /* Labels exchanged at random spread by c (1 - c); against fixed true counts, as the
     * expectations of the other models have it, a synthetic table spreads by (1 - c) of that. */
    expected *= 1 - pooled->n_released / pooled->n_records;
    out[1] = expected > 0 ? out[0] / expected : NAN;
out:
    cellar_rng_free(rng);
    cellar_free(t.cells);
    cellar_free(t.categories);
    cellar_free(t.is_left);
    cellar_free(exchanged);
    return status;
}
