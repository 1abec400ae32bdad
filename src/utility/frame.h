/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is compared: the cells of leaves, true and released, by one index. */
#ifndef CELLAR_UTILITY_FRAME_H
#define CELLAR_UTILITY_FRAME_H

#include <cellar/release.h>

#include "table/table.h"

/* Cells with a number, ascending by index; all others hold zero. The index is the mixed-radix
 * number of leaves, whatever aggregates the table has. */
typedef struct utility_cells {
    size_t n, capacity;
    uint64_t *index;
    int64_t *value;
} utility_cells;

void cellar_utility_cells_clear(utility_cells *cells);
/* All cells with a number, aggregates included, by the index of their schema. */
cellar_status cellar_utility_cells_all(const cellar_cells *listed, utility_cells *out,
                                       cellar_error *err);

typedef struct utility_frame {
    const cellar_schema *schema;
    size_t n_variables;
    uint32_t radix[CELLAR_MAX_VARIABLES]; /* leaves */
    uint64_t n_leaves;                    /* the product of all radices */
    uint64_t n_cells;                     /* without structural zeros */
    utility_cells original;
    double total;
} utility_frame;

/* Reads the table, which passed the checks of protection. */
cellar_status cellar_utility_frame_init(utility_frame *frame, const cellar_table *table,
                                        cellar_error *err);
void cellar_utility_frame_clear(utility_frame *frame);

/* The released numbers of the leaves among cells listed by the schema of the table. */
cellar_status cellar_utility_frame_pick(const utility_frame *frame, const cellar_cells *listed,
                                        utility_cells *out, cellar_error *err);
/* The same for a release, whose schema may order things otherwise. */
cellar_status cellar_utility_frame_match(const utility_frame *frame, const cellar_release *release,
                                         utility_cells *out, cellar_error *err);

/* The leaf of each variable. */
static inline void utility_leaves(const utility_frame *frame, uint64_t index, uint32_t *leaves)
{
    for (size_t v = frame->n_variables; v-- > 0;) {
        uint64_t above = schema_quotient(index, frame->radix[v]);
        leaves[v] = (uint32_t) (index - above * frame->radix[v]);
        index = above;
    }
}

/* Walks the cells that hold a number in one list or both. Starts zeroed; answers 0 at the end. */
typedef struct utility_walk {
    size_t i, j;
    uint64_t index;
    int64_t count, released;
} utility_walk;

static inline int utility_walk_next(utility_walk *walk, const utility_cells *original,
                                    const utility_cells *released)
{
    uint64_t a = walk->i < original->n ? original->index[walk->i] : UINT64_MAX;
    uint64_t b = walk->j < released->n ? released->index[walk->j] : UINT64_MAX;
    if (a == UINT64_MAX && b == UINT64_MAX)
        return 0;
    walk->index = a < b ? a : b;
    walk->count = a <= b ? original->value[walk->i++] : 0;
    walk->released = b <= a ? released->value[walk->j++] : 0;
    return 1;
}

#endif
