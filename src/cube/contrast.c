/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/contrast.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Averages weights of nodes at `level` over siblings, in place: parents come first. */
static void average_siblings(const cube_axis *axis, size_t level, const double *x, double *out)
{
    const double share = (double) axis->n[level - 1] / axis->n[level];
    memset(out, 0, axis->n[level - 1] * sizeof *out);
    for (uint32_t node = 0; node < axis->n[level]; node++)
        out[cube_axis_parent(axis, level, node)] += share * x[node];
}

static double inner_product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* part[c] = <Q_c u, Q_c v> for all levels up to `level`; `room` has four times its nodes. */
static void axis_parts(const cube_axis *axis, size_t level, const double *u, const double *v,
                       double *room, double *part)
{
    const size_t n = axis->n[level];
    double *x = room, *y = room + n, *mean_x = room + 2 * n, *mean_y = room + 3 * n;
    memcpy(x, u, n * sizeof *x);
    memcpy(y, v, n * sizeof *y);
    for (size_t c = level; c > 0; c--) {
        const double siblings = (double) axis->n[c] / axis->n[c - 1];
        average_siblings(axis, c, x, mean_x);
        average_siblings(axis, c, y, mean_y);
        part[c] = inner_product(x, y, axis->n[c]) -
                  siblings * inner_product(mean_x, mean_y, axis->n[c - 1]);
        memcpy(x, mean_x, axis->n[c - 1] * sizeof *x);
        memcpy(y, mean_y, axis->n[c - 1] * sizeof *y);
    }
    part[0] = x[0] * y[0];
}

/* The level of a variable in a table; 0 when it is not in it. */
static size_t level_in(const cube_space *space, uint8_t variable)
{
    for (size_t i = 0; i < space->order; i++)
        if (space->variable[i] == variable)
            return space->level[i];
    return 0;
}

cellar_status cellar_cube_covariance(const cube_lattice *lattice, const double *tau, uint32_t table,
                                     const double *const *u, const double *const *v, double *out,
                                     cellar_error *err)
{
    const cube_space *space = &lattice->spaces[table];
    double part[CUBE_ORDER_MAX][CUBE_LEVELS_MAX + 1];

    *out = 0;
    for (size_t i = 0; i < space->order; i++) {
        const cube_axis *axis = &lattice->axes[space->variable[i]];
        double *room = cellar_alloc(4 * (size_t) axis->n[space->level[i]], sizeof *room);
        if (room == NULL)
            return cellar_fail_memory(err, "the variance of a sum");
        axis_parts(axis, space->level[i], u[i], v[i], room, part[i]);
        cellar_free(room);
    }
    for (size_t k = lattice->start[table]; k < lattice->start[table + 1]; k++) {
        const uint32_t below = lattice->below[k];
        double product = 1 / tau[below];
        for (size_t i = 0; i < space->order; i++)
            product *= part[i][level_in(&lattice->spaces[below], space->variable[i])];
        *out += product;
    }
    return CELLAR_OK;
}
