/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables without negative cells that agree on what they share.
 *
 * Each table of the cube first goes to the nearest non-negative one with the same total (the
 * Euclidean projection onto a simplex: a constant is taken from all cells and what falls below zero
 * is zero). That draws its margins away from those that the cube knows well, so it is then scaled
 * to the non-negative tables of one variable less, side by side, until all of them are met
 * (iterative proportional fitting, Deming and Stephan 1940). Tables of a factor thus agree on their
 * separators, which are among the tables below them. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "synthesis/model.h"

/* Where the cube is at odds with itself a margin is met slowly: thousands of rounds are no rarity.
 * A large table gets as many as its cells allow, and the model says how far its margins are away.
 */
enum { ROUNDS_MIN = 200, ROUNDS_MAX = 20000 };
static const double STEPS_MAX = 1e9;   /* cells looked at for one table */
static const double TOLERANCE = 0.001; /* records of a margin, added up */
static const double SEED_SHARE = 1e-6; /* of independence, so that scaling can reach every cell */

/* ---- onto the simplex ----------------------------------------------------------------- */

/* Michelot's algorithm: take the constant that makes the sum of the cells above it right, drop
 * those below, and again, until none drops. `y` has shares that add to 1 afterwards. */
static void project(double *y, size_t n)
{
    double threshold = -INFINITY;
    for (size_t n_above = n + 1, n_now = n; n_now < n_above;) {
        double sum = 0, next;
        n_above = n_now;
        for (size_t i = 0; i < n; i++)
            sum += y[i] > threshold ? y[i] : 0;
        next = (sum - 1) / (double) n_above;
        n_now = 0;
        for (size_t i = 0; i < n; i++)
            n_now += y[i] > next && y[i] > threshold;
        threshold = next;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = fmax(y[i] - threshold, 0);
}

/* ---- to the margins ----------------------------------------------------------------------- */

/* One side of a table is summed away: what is before it, its length, what is after. */
typedef struct fold {
    size_t before, length, after;
} fold;

static fold fold_of(const cube_lattice *l, const cube_space *space, size_t side)
{
    fold f = {1, l->axes[space->variable[side]].n[space->level[side]], 1};
    for (size_t k = 0; k < space->order; k++) {
        const size_t n = l->axes[space->variable[k]].n[space->level[k]];
        f.before *= k < side ? n : 1;
        f.after *= k > side ? n : 1;
    }
    return f;
}

/* Scales the table to one margin; answers how far it was away. */
static double scale(double *y, const fold *f, const double *margin)
{
    double away = 0;
    for (size_t b = 0; b < f->before; b++)
        for (size_t a = 0; a < f->after; a++) {
            double *slice = y + b * f->length * f->after + a, sum = 0;
            const double want = margin[b * f->after + a];
            for (size_t i = 0; i < f->length; i++)
                sum += slice[i * f->after];
            away += fabs(sum - want);
            for (size_t i = 0; i < f->length && sum > 0; i++)
                slice[i * f->after] *= want / sum;
        }
    return away;
}

/* Mixes a little of the product of all margins of one variable into the table. */
static void add_seed(const cellar_synthesis_model *m, const cube_space *space, double *y, size_t n)
{
    const cube_lattice *l = &m->cube->lattice;
    const double *one[CUBE_ORDER_MAX];
    for (size_t k = 0; k < space->order; k++) {
        const cube_space alone = synthesis_with(m, (cube_space){0}, space->variable[k]);
        one[k] = m->positive[cellar_cube_lattice_find(l, &alone)];
    }
    for (size_t i = 0; i < n; i++) {
        double product = 1;
        size_t rest = i;
        for (size_t k = space->order; k-- > 0;) {
            const size_t length = l->axes[space->variable[k]].n[space->level[k]];
            product *= one[k][rest % length];
            rest /= length;
        }
        y[i] = (1 - SEED_SHARE) * y[i] + SEED_SHARE * product;
    }
}

/* Answers how far the margins were away in the last round, in shares. */
static double scale_to_all(const cellar_synthesis_model *m, const cube_space *space, double *y,
                           size_t n)
{
    const cube_lattice *l = &m->cube->lattice;
    /* Margins that are not quite those of each other cannot be met better than that. */
    const double enough = fmax(TOLERANCE, 2 * m->unmet) / (double) m->n_records;
    const double rounds = fmin(STEPS_MAX / (double) n, ROUNDS_MAX);
    double away = INFINITY;
    for (int round = 0; round < fmax(rounds, ROUNDS_MIN) && away > enough; round++) {
        away = 0;
        for (size_t k = 0; k < space->order; k++) {
            const cube_space face = synthesis_without(*space, k);
            const fold f = fold_of(l, space, k);
            away = fmax(away, scale(y, &f, m->positive[cellar_cube_lattice_find(l, &face)]));
        }
    }
    return away;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static cellar_status make(cellar_synthesis_model *m, uint32_t table, cellar_error *err)
{
    const cube_lattice *l = &m->cube->lattice;
    const cube_space *space = &l->spaces[table];
    const size_t n = (size_t) l->n_cells[table];
    const double total = (double) m->cube->tables[0].values[0];
    double *y;
    cellar_status status = CELLAR_OK;

    if (m->positive[table] != NULL)
        return CELLAR_OK;
    for (size_t k = 0; k < space->order && space->order > 1; k++) {
        const cube_space face = synthesis_without(*space, k);
        CELLAR_TRY(make(m, cellar_cube_lattice_find(l, &face), err));
    }
    y = m->positive[table] = cellar_alloc(n, sizeof *y);
    if (y == NULL)
        return cellar_fail_memory(err, "a table without negative cells");
    for (size_t i = 0; i < n; i++)
        y[i] = (double) m->cube->tables[table].values[i] / total;
    project(y, n);
    if (space->order > 1) {
        add_seed(m, space, y, n);
        m->unmet = fmax(m->unmet, scale_to_all(m, space, y, n) * (double) m->n_records);
    }
out:
    return status;
}

cellar_status cellar_synthesis_make_positive(cellar_synthesis_model *m, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    m->positive = cellar_alloc(m->cube->lattice.n, sizeof *m->positive);
    if (m->positive == NULL)
        return cellar_fail_memory(err, "tables without negative cells");
    for (size_t f = 0; f < m->n_factors; f++)
        CELLAR_TRY(make(m, m->factors[f].table, err));
out:
    return status;
}
