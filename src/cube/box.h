/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of a table as an array: one side for each variable, the last fastest. */
#ifndef CELLAR_CUBE_BOX_H
#define CELLAR_CUBE_BOX_H

#include <string.h>

#include "cube/lattice.h"

/* A table as a box: one side for each of its variables, which may be at level 0. */
typedef struct box {
    const cube_lattice *l;
    size_t order;
    uint8_t variable[CUBE_ORDER_MAX], level[CUBE_ORDER_MAX];
} box;

static inline box box_of(const cube_lattice *l, const cube_space *space)
{
    box b = {.l = l, .order = space->order};
    memcpy(b.variable, space->variable, sizeof b.variable);
    memcpy(b.level, space->level, sizeof b.level);
    return b;
}

static inline const cube_axis *box_axis(const box *b, size_t side)
{
    return &b->l->axes[b->variable[side]];
}

static inline size_t box_length(const box *b, size_t side)
{
    return box_axis(b, side)->n[b->level[side]];
}

/* Cells from one step along a side to the next. */
static inline size_t box_stride(const box *b, size_t side)
{
    size_t stride = 1;
    for (size_t i = side + 1; i < b->order; i++)
        stride *= box_length(b, i);
    return stride;
}

static inline size_t box_n_cells(const box *b)
{
    return b->order == 0 ? 1 : box_length(b, 0) * box_stride(b, 0);
}

static inline uint32_t box_number(const box *b)
{
    cube_space space = {0};
    for (size_t i = 0; i < b->order; i++)
        if (b->level[i] > 0) {
            space.variable[space.order] = b->variable[i];
            space.level[space.order++] = b->level[i];
        }
    return cellar_cube_lattice_find(b->l, &space);
}

#endif
