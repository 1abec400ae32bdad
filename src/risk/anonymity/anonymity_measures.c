/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/anonymity/anonymity_measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- the tree of the sensitive variable ------------------------------------- */

#define NO_NODE UINT32_MAX

/* Heights by climbing from every leaf; a node is at least one above each of its children. */
static void tree_climb(const cellar_codelist *list, uint32_t *height_of)
{
    for (size_t leaf = 0; leaf < cellar_codelist_n_leaves(list); leaf++) {
        size_t code = cellar_codelist_leaf(list, leaf);
        uint32_t height = 0;
        height_of[code] = 0;
        while ((code = cellar_codelist_parent(list, 0, code)) != CELLAR_NO_CODE) {
            height++;
            if (height_of[code] == NO_NODE || height_of[code] < height)
                height_of[code] = height;
            height = height_of[code];
        }
    }
}

/* Numbers the inner nodes in the order of their heights, after the leaves; answers the largest
 * height. */
static uint32_t tree_number(const cellar_codelist *list, const uint32_t *height_of,
                            uint32_t *node_of, sensitive_tree *tree)
{
    size_t n_codes = cellar_codelist_n_codes(list), n_leaves = cellar_codelist_n_leaves(list);
    uint32_t highest = 0;

    for (size_t leaf = 0; leaf < n_leaves; leaf++)
        node_of[cellar_codelist_leaf(list, leaf)] = (uint32_t) leaf;
    tree->n_nodes = n_leaves;
    for (size_t code = 0; code < n_codes; code++)
        if (height_of[code] != NO_NODE && height_of[code] > highest)
            highest = height_of[code];
    for (uint32_t height = 1; height <= highest; height++)
        for (size_t code = 0; code < n_codes; code++)
            if (height_of[code] == height) {
                tree->height[tree->n_nodes] = height;
                node_of[code] = (uint32_t) tree->n_nodes++;
            }
    return highest;
}

static void tree_fill(const cellar_codelist *list, uint32_t *height_of, uint32_t *node_of,
                      sensitive_tree *tree)
{
    size_t n_codes = cellar_codelist_n_codes(list), n_tops = 0;
    int has_hierarchy = cellar_codelist_n_hierarchies(list) > 0;
    uint32_t highest, root;

    memset(height_of, 0xff, n_codes * sizeof *height_of);
    for (size_t leaf = 0; leaf < cellar_codelist_n_leaves(list); leaf++)
        height_of[cellar_codelist_leaf(list, leaf)] = 0;
    if (has_hierarchy)
        tree_climb(list, height_of);
    highest = tree_number(list, height_of, node_of, tree);
    for (size_t code = 0; code < n_codes; code++)
        n_tops += height_of[code] != NO_NODE &&
                  (!has_hierarchy || cellar_codelist_parent(list, 0, code) == CELLAR_NO_CODE);
    if (n_tops > 1) /* a forest gets a root */
        tree->height[tree->n_nodes++] = highest + 1;
    root = (uint32_t) tree->n_nodes - 1;
    for (size_t code = 0; code < n_codes; code++) {
        size_t parent = has_hierarchy ? cellar_codelist_parent(list, 0, code) : CELLAR_NO_CODE;
        if (height_of[code] != NO_NODE)
            tree->parent[node_of[code]] = parent != CELLAR_NO_CODE ? node_of[parent] : root;
    }
}

cellar_status cellar_sensitive_tree_make(const cellar_codelist *list, sensitive_tree *out,
                                         cellar_error *err)
{
    size_t n = cellar_codelist_n_codes(list);
    uint32_t *height_of = cellar_alloc(n, sizeof *height_of);
    uint32_t *node_of = cellar_alloc(n, sizeof *node_of);
    int ok;

    out->parent = cellar_alloc(n + 1, sizeof *out->parent);
    out->height = cellar_alloc(n + 1, sizeof *out->height);
    ok = height_of != NULL && node_of != NULL && out->parent != NULL && out->height != NULL;
    if (ok)
        tree_fill(list, height_of, node_of, out);
    cellar_free(node_of);
    cellar_free(height_of);
    return ok ? CELLAR_OK : cellar_fail_memory(err, "a hierarchy");
}

void cellar_sensitive_tree_clear(sensitive_tree *tree)
{
    cellar_free(tree->parent);
    cellar_free(tree->height);
    *tree = (sensitive_tree){0};
}

/* ---- diversity -------------------------------------------------------------- */

static int measure_descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x < y) - (x > y);
}

static void measure_diversity(const sensitive_whole *whole, const uint64_t *counts,
                              cellar_anonymity_group *group)
{
    double entropy = 0, n = (double) group->n_matches;
    uint64_t tail = 0;

    memcpy(whole->sorted, counts, whole->n_values * sizeof *counts);
    qsort(whole->sorted, whole->n_values, sizeof *whole->sorted, measure_descending);
    group->n_distinct = group->recursive_l = 0;
    while (group->n_distinct < whole->n_values && whole->sorted[group->n_distinct] > 0) {
        double p = (double) whole->sorted[group->n_distinct++] / n;
        entropy -= p * log(p);
    }
    group->entropy_l = exp(entropy);
    for (size_t l = (size_t) group->n_distinct; l >= 1 && group->recursive_l == 0; l--) {
        tail += whole->sorted[l - 1];
        if ((double) whole->sorted[0] < whole->recursive_c * (double) tail) /* never for NAN */
            group->recursive_l = l;
    }
}

/* ---- closeness -------------------------------------------------------------- */

/* With a_s of the group's n and A_s of the whole's N, p_g - p = (a_s N - A_s n) / (n N): distances
 * are sums of whole numbers, divided once. */

static cellar_int128 measure_absolute(cellar_int128 x)
{
    return x < 0 ? -x : x;
}

/* The earth mover's distance on a tree: what crosses each edge times its length. Half the
 * difference in height of its ends is the length that makes the way between two values the height
 * of their lowest common node (an ultrametric). */
static double measure_tree(const sensitive_tree *tree, cellar_int128 *net, double scale)
{
    cellar_int128 sum = 0;
    size_t root = tree->n_nodes - 1;
    if (tree->height[root] == 0)
        return 0; /* a single value */
    for (size_t node = 0; node < root; node++) {
        uint32_t parent = tree->parent[node];
        sum += measure_absolute(net[node]) * (tree->height[parent] - tree->height[node]);
        net[parent] += net[node];
    }
    return (double) sum / (2 * (double) tree->height[root] * scale);
}

static void measure_closeness(const sensitive_whole *whole, const uint64_t *counts,
                              cellar_anonymity_group *group)
{
    cellar_int128 *net = whole->net, equal = 0, ordered = 0, running = 0;
    double scale = (double) group->n_matches * (double) whole->total;

    memset(net, 0, whole->tree.n_nodes * sizeof *net);
    for (size_t s = 0; s < whole->n_values; s++) {
        net[s] = (cellar_int128) counts[s] * whole->total -
                 (cellar_int128) whole->counts[s] * group->n_matches;
        equal += measure_absolute(net[s]);
        running += net[s];
        ordered += measure_absolute(running);
    }
    group->t_equal = (double) equal / (2 * scale);
    group->t_ordered =
        whole->n_values > 1 ? (double) ordered / (scale * (double) (whole->n_values - 1)) : 0;
    group->t_hierarchical = measure_tree(&whole->tree, net, scale);
}

/* ---- disclosure and likeness ------------------------------------------------ */

static void measure_ratios(const sensitive_whole *whole, const uint64_t *counts,
                           cellar_anonymity_group *group)
{
    group->delta = group->beta = 0;
    group->enhanced = 1;
    for (size_t s = 0; s < whole->n_values; s++) {
        double p = (double) whole->counts[s] / (double) whole->total;
        double p_group = (double) counts[s] / (double) group->n_matches;
        if (whole->counts[s] == 0)
            continue; /* nobody has it */
        group->delta = fmax(group->delta, counts[s] > 0 ? fabs(log(p_group / p)) : INFINITY);
        if (p_group > p) {
            double gain = (p_group - p) / p;
            group->beta = fmax(group->beta, gain);
            group->enhanced &= gain <= -log(p);
        }
    }
}

void cellar_anonymity_measure(const sensitive_whole *whole, const uint64_t *counts,
                              cellar_anonymity_group *group)
{
    measure_diversity(whole, counts, group);
    measure_closeness(whole, counts, group);
    measure_ratios(whole, counts, group);
}
