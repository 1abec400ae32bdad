/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/contrast.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { LEVELS = CUBE_LEVELS_MAX + 1 };

/* <z_c, z'_c'> of one variable over the nodes of its level a. */
typedef struct axis_products {
    double at[LEVELS][LEVELS][LEVELS]; /* a, c, c' */
} axis_products;

/* ---- one variable ------------------------------------------------------------------- */

void cellar_cube_free_of_means(const cube_axis *axis, size_t level, const double *u,
                               const size_t *start, double *sums, double *z)
{
    memcpy(z + start[level], u, axis->n[level] * sizeof *z);
    for (size_t c = level; c > 0; c--) {
        double *here = z + start[c], *above = z + start[c - 1];
        memset(above, 0, axis->n[c - 1] * sizeof *above);
        memset(sums, 0, axis->n[c - 1] * sizeof *sums);
        for (uint32_t node = 0; node < axis->n[c]; node++) {
            const uint32_t parent = cube_axis_parent(axis, c, node);
            sums[parent] += here[node];
            above[parent] += cube_axis_share(axis, c, node) * here[node];
        }
        for (uint32_t node = 0; node < axis->n[c]; node++)
            here[node] -= cube_axis_share(axis, c, node) * sums[cube_axis_parent(axis, c, node)];
    }
}

void cellar_cube_path_up(const cube_axis *axis, size_t a, uint32_t node, uint32_t path[LEVELS])
{
    path[a] = node;
    for (size_t c = a; c > 0; c--)
        path[c - 1] = cube_axis_parent(axis, c, path[c]);
}

static void multiply_out(const cube_axis *axis, size_t level, const size_t *start, const double *z,
                         const double *y, axis_products *out)
{
    for (size_t a = 0; a <= axis->n_levels; a++)
        for (uint32_t node = 0; node < axis->n[a]; node++) {
            const size_t top = a < level ? a : level;
            uint32_t path[LEVELS];
            cellar_cube_path_up(axis, a, node, path);
            for (size_t c = 0; c <= top; c++)
                for (size_t d = 0; d <= top; d++)
                    out->at[a][c][d] += z[start[c] + path[c]] * y[start[d] + path[d]];
        }
}

static cellar_status products_init(const cube_axis *axis, size_t level, const double *u,
                                   const double *v, axis_products *out, cellar_error *err)
{
    size_t start[LEVELS], n = 0;
    double *room;
    for (size_t c = 0; c <= level; c++) {
        start[c] = n;
        n += axis->n[c];
    }
    room = cellar_alloc(3 * n, sizeof *room);
    if (room == NULL)
        return cellar_fail_memory(err, "the variance of a sum");
    cellar_cube_free_of_means(axis, level, u, start, room + 2 * n, room);
    cellar_cube_free_of_means(axis, level, v, start, room + 2 * n, room + n);
    *out = (axis_products){{{{0}}}};
    multiply_out(axis, level, start, room, room + n, out);
    cellar_free(room);
    return CELLAR_OK;
}

/* ---- all of them ---------------------------------------------------------------------- */

/* An interaction below both the table and A. */
typedef struct shared {
    uint8_t level[CUBE_ORDER_MAX]; /* of the table's variables */
    double alpha;
} shared;

/* Those of measured table A; answers how many. */
static size_t shared_below(const cube_lattice *l, const double *w, const double *tau,
                           uint32_t table, size_t a, const size_t *levels_of_a, shared *out)
{
    const cube_space *space = &l->spaces[table];
    size_t n = 0;
    for (size_t k = l->start[table]; k < l->start[table + 1]; k++) {
        const uint32_t c = l->below[k];
        shared *one = &out[n];
        int is_below = 1;
        for (size_t i = 0; i < space->order; i++) {
            one->level[i] = cube_space_level(&l->spaces[c], space->variable[i]);
            is_below &= one->level[i] <= levels_of_a[i];
        }
        if (is_below) {
            one->alpha = w[a] * l->n_cells[c] / (l->n_cells[a] * tau[c]);
            n++;
        }
    }
    return n;
}

/* The part of the covariance that comes from the noise of table A. */
static double noise_of(const cube_lattice *l, const double *w, const double *tau, uint32_t table,
                       size_t a, const axis_products *products, shared *room)
{
    const cube_space *space = &l->spaces[table];
    size_t levels[CUBE_ORDER_MAX], n;
    double others = l->n_cells[a], sum = 0; /* cells of A over the variables that the table lacks */
    for (size_t i = 0; i < space->order; i++) {
        levels[i] = cube_space_level(&l->spaces[a], space->variable[i]);
        others /= l->axes[space->variable[i]].n[levels[i]];
    }
    n = shared_below(l, w, tau, table, a, levels, room);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) {
            double product = room[j].alpha * room[k].alpha;
            for (size_t i = 0; i < space->order; i++)
                product *= products[i].at[levels[i]][room[j].level[i]][room[k].level[i]];
            sum += product;
        }
    return sum * others / w[a];
}

cellar_status cellar_cube_covariance(const cube_lattice *lattice, const double *w,
                                     const double *tau, uint32_t table, const double *const *u,
                                     const double *const *v, double *out, cellar_error *err)
{
    const cube_space *space = &lattice->spaces[table];
    axis_products *products = cellar_alloc(space->order, sizeof *products);
    shared *room = cellar_alloc(lattice->start[table + 1] - lattice->start[table], sizeof *room);
    cellar_status status = CELLAR_OK;

    *out = 0;
    if (products == NULL || room == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the variance of a sum"));
    for (size_t i = 0; i < space->order; i++)
        CELLAR_TRY(products_init(&lattice->axes[space->variable[i]], space->level[i], u[i], v[i],
                                 &products[i], err));
    for (size_t a = 0; a < lattice->n; a++)
        if (w[a] > 0)
            *out += noise_of(lattice, w, tau, table, a, products, room);
out:
    cellar_free(products);
    cellar_free(room);
    return status;
}
