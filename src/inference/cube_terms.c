/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The weight of a measured cell in a sum over table B is (cube/contrast.h)
 *     h_A(cell) = sum over C below A and B of alpha_{C,A} product over i of z_{i,C_i}(node of C_i),
 * with z_i the weights of variable i, averaged to each level and freed of the means of siblings. It
 * depends on the cell through the variables of B only, and nodes of a variable with the same z at
 * all levels give the same weight: so cells of A fall into few classes. */
#include "inference/cube_terms.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/contrast.h"

enum { LEVELS = CUBE_LEVELS_MAX + 1, AXES_MAX = CUBE_SUMS_MAX * CUBE_ORDER_MAX };

/* ---- classes of nodes of one variable ---------------------------------------------- */

/* Nodes of one level with the same z in all sums, at all levels. */
typedef struct node_class {
    double n;
    double z[CUBE_SUMS_MAX][LEVELS];
} node_class;

typedef struct node_classes {
    node_class *items;
    size_t n, room;
} node_classes;

/* A variable that some sum names. */
typedef struct axis_view {
    const cube_axis *axis;
    uint8_t variable;
    size_t level[CUBE_SUMS_MAX]; /* in each sum; 0: it is summed over */
    size_t start[LEVELS];        /* of the z of each level */
    double *z[CUBE_SUMS_MAX];
    node_classes at[LEVELS]; /* of each level */
} axis_view;

static int split_weights(axis_view *view, const double *const weights[CUBE_SUMS_MAX], size_t n_sums)
{
    double *sums;
    size_t n = 0;
    for (size_t c = 0; c <= view->axis->n_levels; c++) {
        view->start[c] = n;
        n += view->axis->n[c];
    }
    sums = cellar_alloc(n, sizeof *sums);
    if (sums == NULL)
        return 0;
    for (size_t k = 0; k < n_sums; k++) {
        view->z[k] = cellar_alloc(n, sizeof *view->z[k]);
        if (view->z[k] == NULL)
            break;
        if (view->level[k] > 0)
            cellar_cube_free_of_means(view->axis, view->level[k], weights[k], view->start, sums,
                                      view->z[k]);
        else
            view->z[k][0] = 1;
    }
    cellar_free(sums);
    return view->z[n_sums - 1] != NULL && view->z[0] != NULL;
}

/* What the node of a level is to all sums. */
static node_class class_of(const axis_view *view, size_t n_sums, size_t level, uint32_t node)
{
    node_class one = {.n = 1};
    uint32_t path[LEVELS];
    cellar_cube_path_up(view->axis, level, node, path);
    for (size_t k = 0; k < n_sums; k++)
        for (size_t c = 0; c <= level && c <= view->level[k]; c++)
            one.z[k][c] = view->z[k][view->start[c] + path[c]];
    return one;
}

static int is_same_class(const node_class *a, const node_class *b)
{
    for (size_t k = 0; k < CUBE_SUMS_MAX; k++)
        for (size_t c = 0; c < LEVELS; c++)
            if (a->z[k][c] != b->z[k][c])
                return 0;
    return 1;
}

static int classify_level(axis_view *view, size_t n_sums, size_t level)
{
    node_classes *classes = &view->at[level];
    for (uint32_t node = 0; node < view->axis->n[level]; node++) {
        const node_class one = class_of(view, n_sums, level, node);
        size_t k = 0;
        while (k < classes->n && !is_same_class(&classes->items[k], &one))
            k++;
        if (k < classes->n) {
            classes->items[k].n++;
            continue;
        }
        if (!cellar_grow(&classes->items, &classes->room, classes->n + 1, sizeof one))
            return 0;
        classes->items[classes->n++] = one;
    }
    return 1;
}

/* ---- the variables of all sums ------------------------------------------------------- */

typedef struct views {
    const cellar_cube *cube;
    const cube_functional *sums;
    size_t n_sums;
    axis_view axes[AXES_MAX];
    size_t n;
} views;

static axis_view *view_of(views *v, uint8_t variable)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->axes[i].variable == variable)
            return &v->axes[i];
    v->axes[v->n] = (axis_view){.axis = &v->cube->lattice.axes[variable], .variable = variable};
    return &v->axes[v->n++];
}

static int views_init(views *v)
{
    const double *weights[AXES_MAX][CUBE_SUMS_MAX] = {{NULL}};
    for (size_t k = 0; k < v->n_sums; k++) {
        const cube_space *space = &v->cube->lattice.spaces[v->sums[k].table];
        for (size_t s = 0; s < space->order; s++) {
            axis_view *view = view_of(v, space->variable[s]);
            view->level[k] = space->level[s];
            weights[view - v->axes][k] = v->sums[k].weights[s];
        }
    }
    for (size_t i = 0; i < v->n; i++) {
        if (!split_weights(&v->axes[i], weights[i], v->n_sums))
            return 0;
        for (size_t level = 0; level <= v->axes[i].axis->n_levels; level++)
            if (!classify_level(&v->axes[i], v->n_sums, level))
                return 0;
    }
    return 1;
}

static void views_clear(views *v)
{
    for (size_t i = 0; i < v->n; i++) {
        for (size_t k = 0; k < CUBE_SUMS_MAX; k++)
            cellar_free(v->axes[i].z[k]);
        for (size_t level = 0; level < LEVELS; level++)
            cellar_free(v->axes[i].at[level].items);
    }
}

/* ---- the weights of measured cells ------------------------------------------------------ */

/* An interaction that a sum has in common with the measured table. */
typedef struct shared {
    uint8_t level[AXES_MAX];
    double alpha;
} shared;

/* Those of sum k and table A, whose levels are given; answers how many. */
static size_t shared_below(const views *v, size_t k, uint32_t a, const size_t *levels, shared *out)
{
    const cube_lattice *l = &v->cube->lattice;
    const uint32_t table = v->sums[k].table;
    size_t n = 0;
    for (size_t j = l->start[table]; j < l->start[table + 1]; j++) {
        const uint32_t c = l->below[j];
        int is_below = 1;
        for (size_t i = 0; i < v->n; i++) {
            out[n].level[i] = cube_space_level(&l->spaces[c], v->axes[i].variable);
            is_below &= out[n].level[i] <= levels[i];
        }
        out[n].alpha = v->cube->w[a] * l->n_cells[c] / (l->n_cells[a] * v->cube->tau[c]);
        n += (size_t) is_below;
    }
    return n;
}

static double weight_of(const views *v, size_t k, const shared *below, size_t n_below,
                        const node_class *const *classes)
{
    double sum = 0;
    for (size_t j = 0; j < n_below; j++) {
        double product = below[j].alpha;
        for (size_t i = 0; i < v->n; i++)
            product *= classes[i]->z[k][below[j].level[i]];
        sum += product;
    }
    return sum;
}

/* Room for the interactions of both sums. */
typedef struct terms_room {
    shared *below[CUBE_SUMS_MAX];
    size_t n_below[CUBE_SUMS_MAX];
} terms_room;

/* One term for each combination of classes. */
static int add_terms(cube_terms *terms, const views *v, uint32_t a, terms_room *room)
{
    const cube_lattice *l = &v->cube->lattice;
    size_t levels[AXES_MAX], n_combinations = 1;
    double others = l->n_cells[a]; /* cells of A over the variables that no sum names */
    for (size_t i = 0; i < v->n; i++) {
        levels[i] = cube_space_level(&l->spaces[a], v->axes[i].variable);
        others /= v->axes[i].axis->n[levels[i]];
        n_combinations *= v->axes[i].at[levels[i]].n;
    }
    for (size_t k = 0; k < v->n_sums; k++)
        room->n_below[k] = shared_below(v, k, a, levels, room->below[k]);
    for (size_t combination = 0; combination < n_combinations; combination++) {
        const node_class *classes[AXES_MAX];
        cube_term one = {.table = a, .n_cells = others};
        size_t rest = combination;
        for (size_t i = 0; i < v->n; i++) {
            const node_classes *at = &v->axes[i].at[levels[i]];
            classes[i] = &at->items[rest % at->n];
            one.n_cells *= classes[i]->n;
            rest /= at->n;
        }
        for (size_t k = 0; k < v->n_sums; k++)
            one.weight[k] = weight_of(v, k, room->below[k], room->n_below[k], classes);
        if (!cellar_grow(&terms->items, &terms->room, terms->n + 1, sizeof one))
            return 0;
        terms->items[terms->n++] = one;
    }
    return 1;
}

static int add_all(cube_terms *terms, const views *v)
{
    const cube_lattice *l = &v->cube->lattice;
    terms_room room = {{NULL}, {0}};
    int ok = 1;
    for (size_t k = 0; k < v->n_sums; k++) {
        const uint32_t table = v->sums[k].table;
        room.below[k] =
            cellar_alloc(l->start[table + 1] - l->start[table] + 1, sizeof **room.below);
        ok &= room.below[k] != NULL;
    }
    for (uint32_t a = 0; ok && a < l->n; a++)
        if (v->cube->w[a] > 0)
            ok = add_terms(terms, v, a, &room);
    for (size_t k = 0; k < v->n_sums; k++)
        cellar_free(room.below[k]);
    return ok;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static cellar_status find_waves(cube_terms *terms, const cellar_cube *cube, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; status == CELLAR_OK && t < cube->lattice.n; t++) {
        size_t known = 0;
        if (!(cube->w[t] > 0))
            continue;
        while (known < t && (cube->tables[known].mechanism == NULL ||
                             strcmp(cube->tables[known].mechanism, cube->tables[t].mechanism) != 0))
            known++;
        if (known < t)
            terms->waves[t] = terms->waves[known];
        else
            status = cellar_noise_wave_init(&terms->waves[t], cube->tables[t].mechanism, err);
    }
    return status;
}

cellar_status cellar_cube_terms_init(cube_terms *terms, const cellar_cube *cube,
                                     const cube_functional *sums, size_t n_sums, cellar_error *err)
{
    views v = {.cube = cube, .sums = sums, .n_sums = n_sums};
    cellar_status status = CELLAR_OK;
    CELLAR_ASSERT(n_sums > 0 && n_sums <= CUBE_SUMS_MAX);
    *terms = (cube_terms){0};
    terms->waves = cellar_alloc(cube->lattice.n, sizeof *terms->waves);
    if (terms->waves == NULL || !views_init(&v) || !add_all(terms, &v))
        CELLAR_TRY(cellar_fail_memory(err, "the noise of a sum"));
    CELLAR_TRY(find_waves(terms, cube, err));
out:
    views_clear(&v);
    return status;
}

void cellar_cube_terms_clear(cube_terms *terms)
{
    cellar_free(terms->items);
    cellar_free(terms->waves);
    *terms = (cube_terms){0};
}

double cellar_cube_terms_covariance(const cube_terms *terms, size_t i, size_t j)
{
    double sum = 0;
    for (size_t t = 0; t < terms->n; t++) {
        const cube_term *term = &terms->items[t];
        sum +=
            term->n_cells * term->weight[i] * term->weight[j] * terms->waves[term->table].variance;
    }
    return sum;
}

cellar_status cellar_cube_terms_noise(const cube_terms *terms, double first, double second,
                                      cellar_weighted_noise **out, cellar_error *err)
{
    cellar_noise_term *weighted = cellar_alloc(terms->n + 1, sizeof *weighted);
    cellar_status status;
    *out = NULL;
    if (weighted == NULL)
        return cellar_fail_memory(err, "the noise of a sum");
    for (size_t t = 0; t < terms->n; t++) {
        const cube_term *term = &terms->items[t];
        weighted[t] =
            (cellar_noise_term){&terms->waves[term->table],
                                first * term->weight[0] + second * term->weight[1], term->n_cells};
    }
    status = cellar_weighted_noise_create(weighted, terms->n, out, err);
    cellar_free(weighted);
    return status;
}
