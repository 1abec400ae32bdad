/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/picks.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/contrast.h"
#include "cube/precision.h"

/* ---- lists of picks ---------------------------------------------------------------- */

void cellar_cube_picks_clear(cube_picks *picks)
{
    cellar_free(picks->start);
    cellar_free(picks->nodes);
    *picks = (cube_picks){0};
}

int cellar_cube_picks_begin(cube_picks *picks)
{
    if (!cellar_grow(&picks->start, &picks->start_room, picks->n + 2, sizeof *picks->start))
        return 0;
    picks->start[picks->n++] = picks->n_nodes;
    picks->start[picks->n] = picks->n_nodes;
    return 1;
}

int cellar_cube_picks_add(cube_picks *picks, uint32_t node)
{
    if (!cellar_grow(&picks->nodes, &picks->nodes_room, picks->n_nodes + 1, sizeof *picks->nodes))
        return 0;
    picks->nodes[picks->n_nodes++] = node;
    picks->start[picks->n] = picks->n_nodes;
    return 1;
}

int cellar_cube_picks_all(cube_picks *picks, uint32_t n)
{
    for (uint32_t node = 0; node < n; node++)
        if (!cellar_cube_picks_begin(picks) || !cellar_cube_picks_add(picks, node))
            return 0;
    return 1;
}

static size_t pick_size(const cube_picks *picks, size_t p)
{
    return picks->start[p + 1] - picks->start[p];
}

/* ---- a walk over the cells of the answer ---------------------------------------------- */

static size_t n_answers(const cube_space *space, const cube_picks *picks)
{
    size_t n = 1;
    for (size_t s = 0; s < space->order; s++)
        n *= picks[s].n;
    return n;
}

static void picks_of(const cube_space *space, const cube_picks *picks, size_t cell, size_t *out)
{
    for (size_t s = space->order; s-- > 0;) {
        out[s] = cell % picks[s].n;
        cell /= picks[s].n;
    }
}

/* ---- values ------------------------------------------------------------------------------ */

/* 0 when the sum is too large, as values of a file may be that no cube was made with. */
static int add_from(const cellar_cube *cube, const cube_space *space, const int64_t *values,
                    const cube_picks *picks, const size_t *pick, size_t side, size_t at,
                    int64_t *sum)
{
    if (side == space->order)
        return !__builtin_add_overflow(*sum, values[at], sum);
    for (size_t k = 0; k < pick_size(&picks[side], pick[side]); k++) {
        const uint32_t node = picks[side].nodes[picks[side].start[pick[side]] + k];
        const size_t n = cube->variables[space->variable[side]].axis.n[space->level[side]];
        if (!add_from(cube, space, values, picks, pick, side + 1, at * n + node, sum))
            return 0;
    }
    return 1;
}

int cellar_cube_picks_values(const cellar_cube *cube, uint32_t table, const cube_picks *picks,
                             int64_t *out)
{
    const cube_space *space = &cube->lattice.spaces[table];
    const size_t n = n_answers(space, picks);
    for (size_t cell = 0; cell < n; cell++) {
        size_t pick[CUBE_ORDER_MAX];
        picks_of(space, picks, cell, pick);
        out[cell] = 0;
        if (!add_from(cube, space, cube->tables[table].values, picks, pick, 0, 0, &out[cell]))
            return 0;
    }
    return 1;
}

/* ---- variances ---------------------------------------------------------------------------- */

/* How many nodes of each level lie below each node of each level, itself included. */
typedef struct descendants {
    size_t start[CUBE_LEVELS_MAX + 1];
    uint32_t (*n)[CUBE_LEVELS_MAX + 1]; /* of start[level] + node */
} descendants;

static int descendants_count(const cube_axis *axis, descendants *out)
{
    size_t n = 0;
    for (size_t c = 0; c <= axis->n_levels; c++) {
        out->start[c] = n;
        n += axis->n[c];
    }
    out->n = cellar_alloc(n, sizeof *out->n);
    for (size_t a = 0; out->n != NULL && a <= axis->n_levels; a++)
        for (uint32_t node = 0; node < axis->n[a]; node++) {
            uint32_t path[CUBE_LEVELS_MAX + 1];
            cellar_cube_path_up(axis, a, node, path);
            for (size_t c = 0; c <= a; c++)
                out->n[out->start[c] + path[c]][a]++;
        }
    return out->n != NULL;
}

/* 1 when equally many nodes of each level lie below both nodes, and below those above them all the
 * way up: the inner products of contrast.h have no other sizes, so that their variances are equal.
 */
static int is_alike(const cube_axis *axis, const descendants *below, size_t level, uint32_t a,
                    uint32_t b)
{
    for (size_t c = level; c > 0; c--) {
        if (memcmp(below->n[below->start[c] + a], below->n[below->start[c] + b],
                   sizeof *below->n) != 0)
            return 0;
        a = cube_axis_parent(axis, c, a);
        b = cube_axis_parent(axis, c, b);
    }
    return 1;
}

void cellar_cube_classes_clear(cube_classes *c)
{
    cellar_free(c->of);
    cellar_free(c->first);
    cellar_free(c->weights);
}

int cellar_cube_classify(const cube_axis *axis, size_t level, const cube_picks *picks,
                         cube_classes *out)
{
    descendants below;
    *out = (cube_classes){.of = cellar_alloc(picks->n, sizeof *out->of),
                          .first = cellar_alloc(picks->n, sizeof *out->first),
                          .weights = cellar_alloc(axis->n[level], sizeof *out->weights)};
    if (out->of == NULL || out->first == NULL || out->weights == NULL ||
        !descendants_count(axis, &below))
        return 0;
    for (size_t p = 0; p < picks->n; p++) {
        size_t k = pick_size(picks, p) == 1 ? 0 : out->n;
        while (k < out->n && (pick_size(picks, out->first[k]) != 1 ||
                              !is_alike(axis, &below, level, picks->nodes[picks->start[p]],
                                        picks->nodes[picks->start[out->first[k]]])))
            k++;
        if (k == out->n)
            out->first[out->n++] = p;
        out->of[p] = k;
    }
    cellar_free(below.n);
    return 1;
}

void cellar_cube_pick_weights(const cube_picks *picks, size_t pick, uint32_t n_nodes,
                              double *weights)
{
    memset(weights, 0, n_nodes * sizeof *weights);
    for (size_t k = picks->start[pick]; k < picks->start[pick + 1]; k++)
        weights[picks->nodes[k]] += 1;
}

/* The variance of one combination of classes. */
static cellar_status class_variance(const cellar_cube *cube, uint32_t table,
                                    const cube_picks *picks, cube_classes *sides,
                                    size_t combination, double *out, cellar_error *err)
{
    const cube_space *space = &cube->lattice.spaces[table];
    const double *weights[CUBE_ORDER_MAX];
    for (size_t s = space->order; s-- > 0;) {
        const size_t p = sides[s].first[combination % sides[s].n];
        const cube_axis *axis = &cube->variables[space->variable[s]].axis;
        cellar_cube_pick_weights(&picks[s], p, axis->n[space->level[s]], sides[s].weights);
        weights[s] = sides[s].weights;
        combination /= sides[s].n;
    }
    return cellar_cube_covariance(&cube->lattice, cube->w, cube->tau, table, weights, weights, out,
                                  err);
}

/* One variance for each combination of classes, the last variable fastest. */
static cellar_status variances_of_classes(const cellar_cube *cube, uint32_t table,
                                          const cube_picks *picks, cube_classes *sides,
                                          double **out, size_t *n, cellar_error *err)
{
    const cube_space *space = &cube->lattice.spaces[table];
    *n = 1;
    for (size_t s = 0; s < space->order; s++) {
        const cube_axis *axis = &cube->variables[space->variable[s]].axis;
        if (!cellar_cube_classify(axis, space->level[s], &picks[s], &sides[s]))
            return cellar_fail_memory(err, "the errors of a table");
        *n *= sides[s].n;
    }
    *out = cellar_alloc(*n, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "the errors of a table");
    for (size_t k = 0; k < *n; k++) {
        cellar_status status = class_variance(cube, table, picks, sides, k, &(*out)[k], err);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

cellar_status cellar_cube_picks_variances(const cellar_cube *cube, uint32_t table,
                                          const cube_picks *picks, double *out, cellar_error *err)
{
    const cube_space *space = &cube->lattice.spaces[table];
    cube_classes sides[CUBE_ORDER_MAX] = {{0}};
    double *variances = NULL;
    size_t n_classes;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(variances_of_classes(cube, table, picks, sides, &variances, &n_classes, err));
    for (size_t cell = 0; cell < n_answers(space, picks); cell++) {
        size_t pick[CUBE_ORDER_MAX], at = 0;
        picks_of(space, picks, cell, pick);
        for (size_t s = 0; s < space->order; s++)
            at = at * sides[s].n + sides[s].of[pick[s]];
        out[cell] = variances[at];
    }
out:
    for (size_t s = 0; s < space->order; s++)
        cellar_cube_classes_clear(&sides[s]);
    cellar_free(variances);
    return status;
}

/* 1: all cells of a table have the variance of the closed formula. */
static int is_balanced(const cellar_cube *cube, const cube_space *space)
{
    int is = 1;
    for (size_t s = 0; s < space->order; s++)
        is &= cube_axis_is_balanced(&cube->variables[space->variable[s]].axis);
    return is;
}

cellar_status cellar_cube_largest_variance(const cellar_cube *cube, uint32_t table, double *out,
                                           cellar_error *err)
{
    const cube_space *space = &cube->lattice.spaces[table];
    cube_picks picks[CUBE_ORDER_MAX] = {{0}};
    cube_classes sides[CUBE_ORDER_MAX] = {{0}};
    double *variances = NULL;
    size_t n_classes;
    cellar_status status = CELLAR_OK;

    *out = cellar_cube_variance(&cube->lattice, cube->tau, table);
    if (is_balanced(cube, space))
        return CELLAR_OK;
    *out = 0;
    for (size_t s = 0; s < space->order; s++)
        if (!cellar_cube_picks_all(&picks[s],
                                   cube->variables[space->variable[s]].axis.n[space->level[s]]))
            CELLAR_TRY(cellar_fail_memory(err, "the errors of a table"));
    CELLAR_TRY(variances_of_classes(cube, table, picks, sides, &variances, &n_classes, err));
    for (size_t k = 0; k < n_classes; k++)
        if (variances[k] > *out)
            *out = variances[k];
out:
    for (size_t s = 0; s < space->order; s++) {
        cellar_cube_picks_clear(&picks[s]);
        cellar_cube_classes_clear(&sides[s]);
    }
    cellar_free(variances);
    return status;
}
