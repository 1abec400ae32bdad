/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model of the people behind a cube: variables one after the other, each given some before it.
 *
 * The variables S on which a variable depends lie together in a table that an earlier variable has
 * with its own, so that the tables {v} u S are the cliques of a junction tree: the model has
 * exactly these margins, and variables that share no table are independent given those between
 * them. */
#ifndef CELLAR_SYNTHESIS_MODEL_H
#define CELLAR_SYNTHESIS_MODEL_H

#include <cellar/synthesis.h>

#include "cube/cube.h"
#include "synthesis/synthesis.h"

/* A variable and those it depends on. */
typedef struct synthesis_factor {
    uint8_t variable;
    cube_space given; /* may be empty */
    uint32_t table;   /* of the lattice: the variable with those given */
    double information, gain;
    char given_text[256];
} synthesis_factor;

struct cellar_synthesis_model {
    const cellar_cube *cube;
    uint8_t *level; /* of each variable: the finest that has a table; 0: none */
    synthesis_factor *factors;
    size_t n_factors;
    double **positive; /* by table of the lattice: made non-negative; NULL where it is not needed */
    uint64_t n_records;
    double unmet;       /* records by which the margins of a table are away from those below it */
    uint32_t *compared; /* tables that records can be compared with: every variable at its level */
    size_t n_compared;
    uint8_t *is_in_model; /* by table of the lattice */
};

/* ---- information.c ------------------------------------------------------------ */

/* How much noise alone adds to the information of a cell. */
enum { SYNTHESIS_EXCESS_POINTS = 113 };
typedef struct synthesis_excess {
    double value[SYNTHESIS_EXCESS_POINTS];
} synthesis_excess;

/* With h(u) = u ln u - u + 1 and Z standard normal, the expectation H(t) of h(max(1 + Z/t, 0)),
 * for t >= 1. */
void cellar_synthesis_excess_init(synthesis_excess *excess);
double cellar_synthesis_excess_at(const synthesis_excess *excess, double t);

/* The mutual information (nats) between a variable and the other variables of a table, as the cube
 * estimates it, less what noise adds on average if they are independent; and what noise adds. */
cellar_status cellar_synthesis_information(const cellar_cube *cube, uint32_t table,
                                           uint8_t variable, const synthesis_excess *excess,
                                           double *information, double *noise, cellar_error *err);

/* ---- tree.c --------------------------------------------------------------------- */

/* Chooses levels and factors; only tables of at most `max_cells` are looked at. */
cellar_status cellar_synthesis_grow(cellar_synthesis_model *model, uint64_t max_cells,
                                    cellar_error *err);

/* ---- positive.c ------------------------------------------------------------------ */

/* Fills in `positive` for the tables of all factors and those below them, and `unmet`. */
cellar_status cellar_synthesis_make_positive(cellar_synthesis_model *model, cellar_error *err);

/* ---- draw.c ------------------------------------------------------------------------ */

/* Category v of record r of the model's n_records is at out[r * n_variables + v], where v counts
 * the variables of the cube. */
cellar_status cellar_synthesis_draw_records(const cellar_synthesis_model *model, cellar_rng *rng,
                                            uint32_t *out, cellar_error *err);

/* ---- spaces -------------------------------------------------------------------------- */

static inline uint32_t synthesis_n_categories(const cellar_synthesis_model *m, uint8_t variable)
{
    return m->cube->variables[variable].axis.n[m->level[variable]];
}

/* A space with one more variable. */
static inline cube_space synthesis_with(const cellar_synthesis_model *m, cube_space space,
                                        uint8_t variable)
{
    size_t at = space.order++;
    for (; at > 0 && space.variable[at - 1] > variable; at--) {
        space.variable[at] = space.variable[at - 1];
        space.level[at] = space.level[at - 1];
    }
    space.variable[at] = variable;
    space.level[at] = m->level[variable];
    return space;
}

/* A space without its k-th variable. */
static inline cube_space synthesis_without(cube_space space, size_t k)
{
    space.order--;
    for (size_t i = k; i < space.order; i++) {
        space.variable[i] = space.variable[i + 1];
        space.level[i] = space.level[i + 1];
    }
    space.variable[space.order] = space.level[space.order] = 0;
    return space;
}

#endif
