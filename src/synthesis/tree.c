/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which variable depends on which: a junction tree, grown by one variable at a time within the
 * tables that the cube has.
 *
 * A table {v} u S whose information is I gains I for the model, and costs what its noise does: the
 * model takes the noisy table for the truth, and the divergence that this adds is, to the order of
 * sd^2/2E, what the noise adds to the information itself. So the gain of v given S is I less that,
 * as Akaike (1973) subtracts the number of parameters once for the bias and once for the
 * prediction.
 *
 * S lies in a table of an earlier factor, which makes the tree. So a choice also decides what
 * others can depend on: the next v and S are those with the largest sum of their gain and of the
 * best gains that all variables still to come would then have. A variable without any gain is
 * independent. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "synthesis/model.h"

typedef struct score {
    int is_known;
    double information, gain;
} score;

typedef struct growing {
    cellar_synthesis_model *model;
    synthesis_excess excess;
    uint64_t max_cells;
    score **scores; /* by table, of each of its variables; NULL: not yet looked at */
    uint8_t *is_placed;
    double *reachable; /* of each variable that waits: its best gain within the tables placed */
} growing;

/* ---- levels --------------------------------------------------------------------------- */

/* The finest level at which the cube has a table of the variable. */
static cellar_status choose_levels(cellar_synthesis_model *m, cellar_error *err)
{
    const cellar_cube *cube = m->cube;
    m->level = cellar_alloc(cube->n_variables, sizeof *m->level);
    if (m->level == NULL)
        return cellar_fail_memory(err, "a model");
    for (size_t t = 0; t < cube->lattice.n; t++) {
        const cube_space *space = &cube->lattice.spaces[t];
        if (space->order == 1 && space->level[0] > m->level[space->variable[0]])
            m->level[space->variable[0]] = space->level[0];
    }
    return CELLAR_OK;
}

/* ---- gains ------------------------------------------------------------------------------ */

/* What v given S gains; *out is NULL when the cube has no such table, or too large a one. */
static cellar_status find_score(growing *g, uint8_t variable, const cube_space *given,
                                const score **out, cellar_error *err)
{
    const cube_lattice *l = &g->model->cube->lattice;
    cube_space space;
    uint32_t table;
    score *s;
    double noise = 0;
    size_t k = 0;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (given->order == CUBE_ORDER_MAX)
        return CELLAR_OK;
    space = synthesis_with(g->model, *given, variable);
    table = cellar_cube_lattice_find(l, &space);
    if (table == CUBE_NO_SPACE || l->n_cells[table] > (double) g->max_cells)
        return CELLAR_OK;
    if (g->scores[table] == NULL)
        g->scores[table] = cellar_alloc(space.order, sizeof **g->scores);
    if (g->scores[table] == NULL)
        return cellar_fail_memory(err, "a model");
    while (space.variable[k] != variable)
        k++;
    s = &g->scores[table][k];
    if (!s->is_known) {
        CELLAR_TRY(cellar_synthesis_information(g->model->cube, table, variable, &g->excess,
                                                &s->information, &noise, err));
        s->gain = s->information - noise;
        s->is_known = 1;
    }
    *out = s;
out:
    return status;
}

static int waits(const growing *g, size_t variable)
{
    return !g->is_placed[variable] && g->model->level[variable] > 0;
}

/* The variables of a space whose bits are set. */
static cube_space subset(const growing *g, const cube_space *space, unsigned mask)
{
    cube_space some = {0};
    for (size_t k = 0; k < space->order; k++)
        if ((mask >> k & 1) != 0)
            some = synthesis_with(g->model, some, space->variable[k]);
    return some;
}

/* Raises *best to the best gain of a variable given any variables of a clique. */
static cellar_status best_within(growing *g, uint8_t variable, const cube_space *clique,
                                 double *best, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (unsigned mask = 1; mask < 1U << clique->order; mask++) {
        const cube_space given = subset(g, clique, mask);
        const score *found;
        CELLAR_TRY(find_score(g, variable, &given, &found, err));
        if (found != NULL && found->gain > *best)
            *best = found->gain;
    }
out:
    return status;
}

/* ---- growing -------------------------------------------------------------------------------- */

/* Looks at v given S: keeps it when it is worth more, with what it makes possible. */
static cellar_status try_factor(growing *g, uint8_t variable, const cube_space *given,
                                synthesis_factor *best, double *best_worth, cellar_error *err)
{
    const score *found;
    cube_space clique;
    double worth;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(find_score(g, variable, given, &found, err));
    if (found == NULL || !(found->gain > 0))
        goto out;
    worth = found->gain;
    clique = synthesis_with(g->model, *given, variable);
    for (size_t w = 0; w < g->model->cube->n_variables; w++)
        if (w != variable && waits(g, w)) {
            double gain = g->reachable[w];
            CELLAR_TRY(best_within(g, (uint8_t) w, &clique, &gain, err));
            worth += gain;
        }
    if (worth > *best_worth) {
        *best_worth = worth;
        *best = (synthesis_factor){.variable = variable,
                                   .given = *given,
                                   .table = 0,
                                   .information = found->information,
                                   .gain = found->gain};
    }
out:
    return status;
}

/* Every variable that waits, given any variables of a clique. */
static cellar_status try_clique(growing *g, const cube_space *clique, synthesis_factor *best,
                                double *best_worth, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (unsigned mask = 1; mask < 1U << clique->order; mask++) {
        const cube_space given = subset(g, clique, mask);
        for (size_t v = 0; v < g->model->cube->n_variables; v++)
            if (waits(g, v) && cube_space_level(clique, (uint8_t) v) == 0)
                CELLAR_TRY(try_factor(g, (uint8_t) v, &given, best, best_worth, err));
    }
out:
    return status;
}

/* The best next variable; its table is CUBE_NO_SPACE when nothing gains. The first one comes with
 * its parent, which place() puts before it. */
static cellar_status find_best(growing *g, synthesis_factor *best, cellar_error *err)
{
    cellar_synthesis_model *m = g->model;
    double worth = 0;
    cellar_status status = CELLAR_OK;

    *best = (synthesis_factor){.table = CUBE_NO_SPACE};
    for (size_t f = 0; f < m->n_factors; f++)
        CELLAR_TRY(try_clique(g, &m->cube->lattice.spaces[m->factors[f].table], best, &worth, err));
    for (size_t v = 0; v < m->cube->n_variables && m->n_factors == 0; v++)
        if (m->level[v] > 0) {
            const cube_space alone = synthesis_with(m, (cube_space){0}, (uint8_t) v);
            CELLAR_TRY(try_clique(g, &alone, best, &worth, err));
        }
out:
    return status;
}

/* What each variable that waits can gain, now that the last factor is there. */
static cellar_status reach(growing *g, cellar_error *err)
{
    const cellar_synthesis_model *m = g->model;
    const cube_space *clique = &m->cube->lattice.spaces[m->factors[m->n_factors - 1].table];
    cellar_status status = CELLAR_OK;
    for (size_t w = 0; w < m->cube->n_variables; w++)
        if (waits(g, w))
            CELLAR_TRY(best_within(g, (uint8_t) w, clique, &g->reachable[w], err));
out:
    return status;
}

static cellar_status place(growing *g, synthesis_factor factor, cellar_error *err)
{
    cellar_synthesis_model *m = g->model;
    cube_space space = {0};
    cellar_text words = {0};

    if (factor.table == CUBE_NO_SPACE) { /* nothing gains: any variable that waits, alone */
        while (g->is_placed[factor.variable] || m->level[factor.variable] == 0)
            factor.variable++;
        factor.given = space;
        factor.information = factor.gain = 0;
    }
    if (m->n_factors == 0 && factor.given.order > 0) { /* the parent of the best pair comes first */
        const cellar_status status = place(
            g, (synthesis_factor){.variable = factor.given.variable[0], .given = space, .table = 0},
            err);
        if (status != CELLAR_OK)
            return status;
    }
    space = synthesis_with(m, factor.given, factor.variable);
    factor.table = cellar_cube_lattice_find(&m->cube->lattice, &space);
    if (factor.given.order > 0)
        cellar_cube_table_name(m->cube, cellar_cube_lattice_find(&m->cube->lattice, &factor.given),
                               &words);
    if (words.failed)
        return cellar_fail_memory(err, "a model");
    if (words.length > 0)
        strncpy(factor.given_text, words.bytes, sizeof factor.given_text - 1);
    cellar_text_clear(&words);
    g->is_placed[factor.variable] = 1;
    m->factors[m->n_factors++] = factor;
    return reach(g, err);
}

cellar_status cellar_synthesis_grow(cellar_synthesis_model *m, uint64_t max_cells,
                                    cellar_error *err)
{
    const cellar_cube *cube = m->cube;
    growing g = {.model = m, .max_cells = max_cells};
    size_t n = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(choose_levels(m, err));
    for (size_t v = 0; v < cube->n_variables; v++)
        n += m->level[v] > 0;
    m->factors = cellar_alloc(cube->n_variables, sizeof *m->factors);
    g.scores = cellar_alloc(cube->lattice.n, sizeof *g.scores);
    g.is_placed = cellar_alloc(cube->n_variables, sizeof *g.is_placed);
    g.reachable = cellar_alloc(cube->n_variables, sizeof *g.reachable);
    if (m->factors == NULL || g.scores == NULL || g.is_placed == NULL || g.reachable == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a model"));
    cellar_synthesis_excess_init(&g.excess);
    while (m->n_factors < n) {
        synthesis_factor best;
        CELLAR_TRY(find_best(&g, &best, err));
        CELLAR_TRY(place(&g, best, err));
    }
out:
    for (size_t t = 0; g.scores != NULL && t < cube->lattice.n; t++)
        cellar_free(g.scores[t]);
    cellar_free(g.scores);
    cellar_free(g.is_placed);
    cellar_free(g.reachable);
    return status;
}
