/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/floor.h"

#include <math.h>

#include "base/error.h"
#include "cube/precision.h"

/* The fewest children of a node of the level above. */
static uint32_t fewest_children(const cube_axis *axis, size_t level, uint32_t *n_children)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t node = 0; node < axis->n[level - 1]; node++)
        n_children[node] = 0;
    for (uint32_t node = 0; node < axis->n[level]; node++)
        n_children[cube_axis_parent(axis, level, node)]++;
    for (uint32_t node = 0; node < axis->n[level - 1]; node++)
        if (n_children[node] < fewest)
            fewest = n_children[node];
    return fewest;
}

/* The same levels, each node with the fewest children of its level. */
static cellar_status narrow(const cube_axis *axis, cube_axis *out, cellar_error *err)
{
    uint32_t *n_children = cellar_alloc(axis->n[axis->n_levels], sizeof *n_children);
    if (n_children == NULL)
        return cellar_fail_memory(err, "the variance floor");
    *out = (cube_axis){.n_levels = axis->n_levels, .n = {1}};
    for (size_t level = 1; level <= axis->n_levels; level++)
        out->n[level] = out->n[level - 1] * fewest_children(axis, level, n_children);
    cellar_free(n_children);
    return CELLAR_OK;
}

static cellar_status space_of(const serve_axes *axes, const serve_table *table, cube_space *out,
                              cellar_error *err)
{
    *out = (cube_space){0};
    for (size_t v = 0; v < axes->n; v++) {
        if (table->levels[v] == 0)
            continue;
        if (out->order == CUBE_ORDER_MAX)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "tables of more than %d variables are not drawn", CUBE_ORDER_MAX);
        out->variable[out->order] = (uint8_t) v;
        out->level[out->order++] = table->levels[v];
    }
    return CELLAR_OK;
}

static serve_table table_of(const cube_space *space)
{
    serve_table table = {{0}};
    for (size_t k = 0; k < space->order; k++)
        table.levels[space->variable[k]] = space->level[k];
    return table;
}

/* Measured tables have the precision of the noise, a table that was released twice counts once. */
static cellar_status evaluate(const cube_lattice *lattice, const cube_space *spaces, size_t n,
                              double noise_variance, serve_floor *out, cellar_error *err)
{
    double *room = cellar_alloc(3 * lattice->n, sizeof *room);
    double *w = room, *tau = room + lattice->n, *variance = room + 2 * lattice->n;
    if (room == NULL)
        return cellar_fail_memory(err, "the variance floor");
    for (size_t i = 0; i < n; i++)
        w[cellar_cube_lattice_find(lattice, &spaces[i])] = 1 / noise_variance;
    cellar_cube_evaluate(lattice, w, tau, variance);
    for (size_t t = 0; t < lattice->n; t++)
        if (variance[t] < out->variance)
            *out = (serve_floor){variance[t], table_of(&lattice->spaces[t])};
    cellar_free(room);
    return CELLAR_OK;
}

cellar_status serve_floor_find(const serve_axes *axes, const serve_table *tables, size_t n,
                               double noise_variance, serve_floor *out, cellar_error *err)
{
    cube_axis narrowed[CELLAR_MAX_VARIABLES];
    cube_space *spaces = cellar_alloc(n, sizeof *spaces);
    cube_lattice lattice = {0};
    cellar_status status = CELLAR_OK;
    *out = (serve_floor){.variance = INFINITY};
    if (n == 0 || spaces == NULL) {
        cellar_free(spaces);
        return n == 0 ? CELLAR_OK : cellar_fail_memory(err, "the variance floor");
    }
    for (size_t v = 0; v < axes->n; v++)
        CELLAR_TRY(narrow(&axes->items[v].variable.axis, &narrowed[v], err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(space_of(axes, &tables[i], &spaces[i], err));
    CELLAR_TRY(cellar_cube_lattice_init(&lattice, narrowed, axes->n, spaces, n, err));
    CELLAR_TRY(evaluate(&lattice, spaces, n, noise_variance, out, err));
out:
    cellar_cube_lattice_clear(&lattice);
    cellar_free(spaces);
    return status;
}
