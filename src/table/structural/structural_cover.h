/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structural zeros bound to a schema: which cells are impossible. */
#ifndef CELLAR_TABLE_STRUCTURAL_STRUCTURAL_COVER_H
#define CELLAR_TABLE_STRUCTURAL_STRUCTURAL_COVER_H

#include "table/schema/schema.h"
#include "table/structural/structural.h"

/* A rule bound to a schema is a box: per variable the leaves that meet its conditions, as bits,
 * or NULL for all of them. It is never empty, and a set that holds all leaves is NULL. */
typedef uint64_t **structural_box;

/* How the rules see one variable. Leaves that meet the same rules form a class. */
typedef struct structural_axis {
    int constrained;         /* some rule has a condition on it */
    uint32_t n_classes;      /* classes that meet fewer rules come first */
    uint32_t *class_of_leaf; /* leaf -> class */
    uint64_t *met;           /* class -> the rules it meets, n_words words */
    uint32_t *class_start;   /* inner node -> where its classes begin */
    uint32_t *classes;       /* ascending, distinct */
    uint64_t *settled;       /* the rules without conditions on later variables */
} structural_axis;

struct cellar_structural {
    cellar_arena *arena;
    size_t n_rules, n_words;
    structural_box *boxes; /* n_rules */
    structural_axis *axes; /* one per variable of the schema */
};

/* Looks up the rules' variables and codes. On failure *out is NULL and the message names the line
 * of the rule file. *out is NULL, too, when no rule can ever apply. */
cellar_status cellar_structural_bind(const cellar_structural_rules *rules,
                                     const cellar_schema *schema, cellar_structural **out,
                                     cellar_error *err);
/* Makes the classes of `n_rules` boxes, which are copied. */
cellar_status cellar_structural_create(const cellar_schema *schema, const structural_box *boxes,
                                       size_t n_rules, cellar_structural **out, cellar_error *err);
void cellar_structural_free(cellar_structural *structural); /* NULL is fine */

/* The structural zeros of a schema `to` whose variable k is the variable kept[k] of `from`. A
 * variable not kept is held at the category `fixed[variable]` of `from`, or summed over when
 * `fixed` is NULL: a cell is impossible when all it sums is. *out is NULL when nothing is
 * impossible any more. */
cellar_status cellar_structural_derive(const cellar_structural *structural,
                                       const cellar_schema *from, const size_t *kept,
                                       const uint32_t *fixed, const cellar_schema *to,
                                       cellar_structural **out, cellar_error *err);

/* 1 when every interior cell that the cell `index` sums is impossible. */
int cellar_structural_covers(const cellar_structural *structural, const cellar_schema *schema,
                             uint64_t index);
/* The first rule, counted from 1, that declares an interior cell impossible, or 0. */
size_t cellar_structural_first_rule(const cellar_structural *structural,
                                    const cellar_schema *schema, uint64_t index);
/* The rules as a rule file. */
void cellar_structural_add_text(const cellar_structural *structural, const cellar_schema *schema,
                                cellar_text *text);

static inline size_t bits_words(size_t n)
{
    return (n + 63) / 64;
}

static inline int bits_has(const uint64_t *bits, size_t k)
{
    return (int) (bits[k / 64] >> (k % 64) & 1);
}

static inline void bits_set(uint64_t *bits, size_t k)
{
    bits[k / 64] |= UINT64_C(1) << (k % 64);
}

static inline size_t bits_count(const uint64_t *bits, size_t n_words)
{
    size_t n = 0;
    for (size_t w = 0; w < n_words; w++)
        n += (size_t) __builtin_popcountll(bits[w]);
    return n;
}

#endif
