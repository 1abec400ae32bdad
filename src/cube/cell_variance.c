/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/cell_variance.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/contrast.h"

/* 1 when both nodes have the same numbers of siblings all the way up. */
static int is_alike(const cube_axis *axis, size_t level, uint32_t a, uint32_t b)
{
    for (size_t c = level; c > 0; c--) {
        if (cube_axis_share(axis, c, a) != cube_axis_share(axis, c, b))
            return 0;
        a = cube_axis_parent(axis, c, a);
        b = cube_axis_parent(axis, c, b);
    }
    return 1;
}

/* Gives every node the class of the first node that is like it; `first` has that node. */
static int classify(const cube_axis *axis, size_t level, cube_cell_variance *v, size_t side,
                    uint32_t *first)
{
    v->n_nodes[side] = axis->n[level];
    v->class_of[side] = cellar_alloc(axis->n[level], sizeof *v->class_of[side]);
    if (v->class_of[side] == NULL)
        return 0;
    for (uint32_t node = 0; node < axis->n[level]; node++) {
        uint32_t k = 0;
        while (k < v->n_classes[side] && !is_alike(axis, level, node, first[k]))
            k++;
        if (k == v->n_classes[side])
            first[v->n_classes[side]++] = node;
        v->class_of[side][node] = k;
    }
    return 1;
}

/* The variance of each combination of classes, by one of its cells. */
static cellar_status measure_classes(cube_cell_variance *v, const cellar_cube *cube, uint32_t table,
                                     uint32_t *const *first, double *const *weights,
                                     cellar_error *err)
{
    size_t n = 1;
    for (size_t s = 0; s < v->order; s++)
        n *= v->n_classes[s];
    v->variance = cellar_alloc(n, sizeof *v->variance);
    if (v->variance == NULL)
        return cellar_fail_memory(err, "the errors of a table");
    for (size_t k = 0; k < n; k++) {
        size_t rest = k;
        cellar_status status;
        for (size_t s = v->order; s-- > 0;) {
            memset(weights[s], 0, v->n_nodes[s] * sizeof **weights);
            weights[s][first[s][rest % v->n_classes[s]]] = 1;
            rest /= v->n_classes[s];
        }
        status = cellar_cube_covariance(&cube->lattice, cube->w, cube->tau, table,
                                        (const double *const *) weights,
                                        (const double *const *) weights, &v->variance[k], err);
        if (status != CELLAR_OK)
            return status;
        if (v->variance[k] > v->largest)
            v->largest = v->variance[k];
    }
    return CELLAR_OK;
}

cellar_status cellar_cube_cell_variance_init(cube_cell_variance *v, const cellar_cube *cube,
                                             uint32_t table, cellar_error *err)
{
    const cube_space *space = &cube->lattice.spaces[table];
    uint32_t *first[CUBE_ORDER_MAX] = {NULL};
    double *weights[CUBE_ORDER_MAX] = {NULL};
    cellar_status status = CELLAR_OK;

    *v = (cube_cell_variance){.order = space->order};
    for (size_t s = 0; s < space->order; s++) {
        const cube_axis *axis = &cube->variables[space->variable[s]].axis;
        const size_t level = space->level[s];
        first[s] = cellar_alloc(axis->n[level], sizeof **first);
        weights[s] = cellar_alloc(axis->n[level], sizeof **weights);
        if (first[s] == NULL || weights[s] == NULL || !classify(axis, level, v, s, first[s]))
            CELLAR_TRY(cellar_fail_memory(err, "the errors of a table"));
    }
    CELLAR_TRY(measure_classes(v, cube, table, first, weights, err));
out:
    for (size_t s = 0; s < space->order; s++) {
        cellar_free(first[s]);
        cellar_free(weights[s]);
    }
    if (status != CELLAR_OK)
        cellar_cube_cell_variance_clear(v);
    return status;
}

void cellar_cube_cell_variance_clear(cube_cell_variance *v)
{
    for (size_t s = 0; s < v->order; s++)
        cellar_free(v->class_of[s]);
    cellar_free(v->variance);
    *v = (cube_cell_variance){0};
}

double cellar_cube_cell_variance_at(const cube_cell_variance *v, size_t cell)
{
    size_t at = 0, stride = 1;
    for (size_t s = v->order; s-- > 0;) {
        at += stride * v->class_of[s][cell % v->n_nodes[s]];
        stride *= v->n_classes[s];
        cell /= v->n_nodes[s];
    }
    return v->variance[at];
}
