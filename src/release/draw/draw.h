/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing the released numbers of a table: one law, two ways.
 *
 * The dense way draws every cell. The sparse way draws the cells that hold records, and finds the
 * listed ones among all others by exact gaps: for domains too large to visit. Both list a cell if
 * and only if its released number is listed, in canonical order, with the same law. */
#ifndef CELLAR_RELEASE_DRAW_DRAW_H
#define CELLAR_RELEASE_DRAW_DRAW_H

#include <cellar/progress.h>
#include <cellar/random.h>

#include "base/threads.h"
#include "release/draw/predicate.h"
#include "release/draw/zeros.h"
#include "table/table.h"

typedef struct cellar_draw {
    const cellar_table *table;
    const cellar_mechanism *mechanism;
    cellar_listing listing;
    const cellar_zeros *zeros; /* the sparse way only */

    cellar_pool *pool;
    cellar_rng **rngs;              /* one per lane */
    int keyed;                      /* 1: each cell selects its predicate first */
    cellar_fingerprint fingerprint; /* of the table, when keyed */
    cellar_progress progress;

    cells_builder out; /* the listed cells; numbers are two's complement in `count` */
} cellar_draw;

cellar_status cellar_draw_dense(cellar_draw *draw, cellar_error *err);
cellar_status cellar_draw_sparse(cellar_draw *draw, cellar_error *err);

/* 1 when the cell at `index` is drawn at all: a cell of the table, and no structural zero. */
int cellar_draw_has(const cellar_draw *draw, uint64_t index);

/* The first stored cell of the table whose index is at least `index`. */
size_t cellar_draw_position(const cellar_table *table, uint64_t index);

/* What a lane does last: Arb, which mechanisms and gaps compute with, caches memory by thread. */
void cellar_draw_leave(int lane);

/* Tells how far it is; fails with CELLAR_ERR_CANCELLED when the caller says so. */
cellar_status cellar_draw_report(const cellar_draw *draw, double fraction, cellar_error *err);

#endif
