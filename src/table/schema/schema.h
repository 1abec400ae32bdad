/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a schema, for the files of this layer that walk it. */
#ifndef CELLAR_TABLE_SCHEMA_SCHEMA_H
#define CELLAR_TABLE_SCHEMA_SCHEMA_H

#include <stdatomic.h>

#include "base/memory.h"
#include "table/build.h"

typedef struct cellar_structural cellar_structural; /* table/structural_cover.h */

#define SCHEMA_NO_CATEGORY UINT32_MAX
/* The total of a variable whose code list names none. */
#define SCHEMA_TOTAL_CODE "_T"
#define SCHEMA_TOTAL_LABEL "Total"

/* One variable. Categories: n_leaves leaves, n_inner inner nodes, the total if has_total. */
typedef struct schema_axis {
    const char *name;
    cellar_domain domain;
    cellar_codelist *codelist;
    uint64_t stride; /* of a category in the index */
    uint32_t n_leaves, n_inner, n_categories;
    int has_inner; /* hierarchies were asked for, even if there is none */
    int has_total;
    size_t total_code;        /* in the code list, or CELLAR_NO_CODE */
    uint32_t *code_of;        /* leaf or inner node -> code */
    uint32_t *category_of;    /* code -> leaf or inner node, or SCHEMA_NO_CATEGORY */
    uint32_t *leaves;         /* 0, 1, 2, ...: what the total sums */
    uint32_t *member_start;   /* n_inner + 1: where an inner node's members begin */
    uint32_t *members;        /* leaves, ascending */
    uint32_t *ancestor_start; /* n_leaves + 1, when n_inner > 0 */
    uint32_t *ancestors;      /* categories of the inner nodes above a leaf */
    size_t *language_of;      /* language of the schema -> of the code list */
    uint32_t max_ancestors;   /* of one leaf */
} schema_axis;

struct cellar_schema {
    atomic_size_t owners;
    cellar_arena *arena; /* holds all below but `structural` */
    size_t n_variables;
    schema_axis *axes;
    size_t n_languages;
    const char **languages;
    size_t n_margins;
    uint64_t *margins; /* ascending; the last is the interior */
    uint64_t n_indices, n_possible, cells_per_record;
    cellar_structural *structural; /* NULL when there are no rules */
};

/* A variable of a schema to be built. */
typedef struct schema_axis_def {
    const char *name;
    cellar_domain domain;
    const cellar_codelist *codelist;
    int has_inner;
} schema_axis_def;

/* What every schema is made with: `masks` are its margins besides the interior, in any order and
 * repeated at will. Structural zeros are attached afterwards. */
cellar_status cellar_schema_build(const schema_axis_def *defs, size_t n_variables,
                                  const uint64_t *masks, size_t n_masks, cellar_schema **out,
                                  cellar_error *err);

/* The definition of a variable of an existing schema. */
schema_axis_def cellar_schema_axis_definition(const cellar_schema *schema, size_t variable);

/* The mask with the first n bits set. */
uint64_t cellar_schema_full_mask(size_t n_variables);

/* Division of 32-bit numbers is several times faster, and most tables have fewer cells. */
static inline uint64_t schema_quotient(uint64_t a, uint64_t b)
{
    return ((a | b) >> 32) != 0 ? a / b : (uint32_t) a / (uint32_t) b;
}

static inline uint32_t schema_category(const cellar_schema *schema, size_t variable, uint64_t index)
{
    const schema_axis *axis = &schema->axes[variable];
    uint64_t above = schema_quotient(index, axis->stride);
    return (uint32_t) (above - schema_quotient(above, axis->n_categories) * axis->n_categories);
}

/* 1 when every category of every variable is a leaf. */
int cellar_schema_has_no_aggregate(const cellar_schema *schema);
/* 1 when every category of the cell is a leaf. */
int cellar_schema_is_interior(const cellar_schema *schema, uint64_t index);

/* The schema of the variables `kept`, in that order. A variable not kept is held at the category
 * `fixed[variable]`, or summed over when `fixed` is NULL; structural zeros follow. */
cellar_status cellar_schema_project(const cellar_schema *schema, const size_t *kept, size_t n_kept,
                                    const uint32_t *fixed, const uint64_t *masks, size_t n_masks,
                                    int has_inner, cellar_schema **out, cellar_error *err);

/* Fills the hierarchy of an axis: members, ancestors, n_inner, code_of, category_of. */
cellar_status cellar_schema_axis_climb(schema_axis *axis, cellar_arena *arena, cellar_error *err);

#endif
