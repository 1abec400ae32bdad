/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variance floor of cell keys: how well margins could be known by putting released tables
 * together. It depends on which tables were released, never on a count.
 *
 * The model: every released cell has independent noise of one variance. The best linear unbiased
 * estimate of each margin from all released tables then has a variance that follows from the set of
 * tables (cube/precision.h). Hierarchies are taken to have as few children everywhere as at their
 * narrowest place: who knew that the other children are empty would estimate better, so what is
 * computed is at most the variance of any cell.
 *
 * It bounds linear averaging. It does not bound differencing, nor what follows from counts being
 * whole numbers, noise being bounded or zeros staying zero (docs/table-builder-attacks.md). */
#ifndef CELLAR_SERVE_FLOOR_H
#define CELLAR_SERVE_FLOOR_H

#include "serve/records.h"

/* What is known best. */
typedef struct serve_floor {
    double variance; /* of a cell of `margin`; INFINITY when no table was released */
    serve_table margin;
} serve_floor;

/* The smallest variance of any margin of these tables, of which each cell has noise of the given
 * variance. CELLAR_ERR_RULE: too many tables to be computed. */
cellar_status serve_floor_find(const serve_axes *axes, const serve_table *tables, size_t n,
                               double noise_variance, serve_floor *out, cellar_error *err);

#endif
