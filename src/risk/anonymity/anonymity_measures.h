/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the counts of a sensitive variable in one group say beside those of the whole. */
#ifndef CELLAR_RISK_ANONYMITY_ANONYMITY_MEASURES_H
#define CELLAR_RISK_ANONYMITY_ANONYMITY_MEASURES_H

#include <cellar/anonymity.h>
#include <cellar/codelist.h>

/* The hierarchy over the K values as a tree: nodes are the values, then inner nodes, children
 * before parents; the root is last. The distance of two values is the height of their lowest common
 * node over that of the root. */
typedef struct sensitive_tree {
    size_t n_nodes;
    uint32_t *parent;
    uint32_t *height;
} sensitive_tree;

/* From the first hierarchy of a code list; without one, a root over all values. */
cellar_status cellar_sensitive_tree_make(const cellar_codelist *list, sensitive_tree *out,
                                         cellar_error *err);
void cellar_sensitive_tree_clear(sensitive_tree *tree);

/* The whole, and room to work in. */
typedef struct sensitive_whole {
    size_t n_values;
    const uint64_t *counts;
    uint64_t total; /* below 2^55: sums of products then fit 128 bits */
    sensitive_tree tree;
    double recursive_c;
    uint64_t *sorted; /* n_values */
    void *net;        /* one 128-bit number per node */
} sensitive_whole;

/* Fills the part of `group` that is about the sensitive variable; its n_matches is known. */
void cellar_anonymity_measure(const sensitive_whole *whole, const uint64_t *counts,
                              cellar_anonymity_group *group);

#endif
