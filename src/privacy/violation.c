/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P(|loss| > epsilon) of some cells of noise. It need not grow with their number (two losses may
 * cancel), so every number is tried; but most are seen not to be the worst on a coarse grid on
 * which losses are rounded up. */
#include <math.h>

#include "base/error.h"
#include "privacy/listed.h"
#include "privacy/losses.h"
#include "privacy/normal_sums.h"

enum { RUNGS_MAX = 5 };
static const double CELLS_FIRST = 0x1p12 - 64, CELLS_FEW = 0x1p14; /* that take no time */
static const double CELLS_MANY = 0x1p17 - 64, CELLS_MOST = 0x1p18; /* that take some ms */

/* The losses of one cell on finer and finer grids, of which the last may be their lattice. */
typedef struct ladder {
    cellar_losses t;
    double spacing[RUNGS_MAX]; /* 0: the lattice */
    cellar_pld rungs[RUNGS_MAX];
    int is_made[RUNGS_MAX];
    int n;
    int is_fitted; /* the lattice is not theirs but near */
    double about;  /* of the order of what is not left out, as far as it was seen */
} ladder;

static void ladder_clear(ladder *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->is_made[i])
            cellar_pld_clear(&l->rungs[i]);
    cellar_losses_clear(&l->t);
}

/* From a grid for Chernoff's bound to the lattice, or without a quick one to a grid on which the
 * sum is off by 1e-5, or the finest that is quick. */
static void ladder_plan(ladder *l, double width)
{
    double lattice = l->t.is_lattice ? cellar_losses_spacing(&l->t) : 0;
    double finest = fmax(1e-5 / l->t.n_times, 1.01 * width / CELLS_MANY);
    double spacing = 1.01 * width / CELLS_FIRST;
    int is_lattice = lattice > 0 && width / lattice <= CELLS_MOST;
    if (is_lattice)
        finest = width / lattice > CELLS_FEW ? 2 * lattice : INFINITY;
    while (spacing > finest * 1.01 && l->n + 1 < RUNGS_MAX) {
        l->spacing[l->n++] = spacing;
        spacing /= 8;
    }
    l->spacing[l->n++] = is_lattice ? 0 : finest;
}

static cellar_status ladder_rung(ladder *l, int i, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (l->is_made[i])
        return CELLAR_OK;
    status = cellar_pld_create(&l->t.atoms[0], l->spacing[i], 1, CELLAR_PLD_UP, &l->rungs[i], err);
    l->is_made[i] = status == CELLAR_OK;
    return status;
}

/* Losses of normal noise nearly lie on a lattice: it is used when they are off it by less than by
 * the finest grid. */
static void ladder_fit(ladder *l)
{
    double grid = 16 * l->t.deviation * sqrt(l->t.n_times) / CELLS_MANY;
    if (l->t.is_lattice || l->t.atoms[0].split > 0)
        return;
    cellar_atoms_find_steps(&l->t.atoms[0], grid / (1 + fabs(l->t.largest) / l->t.n_times));
    l->t.is_lattice = l->is_fitted = l->t.atoms[0].is_lattice;
    l->t.refine[0] = 1;
}

/* All but `tail` of the law, which counts. */
static cellar_status ladder_init(ladder *l, const cellar_stake *stake, double epsilon, double tail,
                                 cellar_error *err)
{
    cellar_part part = {&l->rungs[0], stake->times};
    cellar_status status;
    *l = (ladder){.n = 1};
    status = cellar_losses_init(&l->t, stake, 1, tail, 0, err);
    if (status != CELLAR_OK || cellar_losses_are_empty(&l->t))
        return status;
    ladder_fit(l);
    l->spacing[0] = l->t.deviation / 16;
    status = CELLAR_ERR_OVERFLOW;
    for (int i = 0; i < 12 && status == CELLAR_ERR_OVERFLOW; i++) {
        status = ladder_rung(l, 0, err);
        l->spacing[0] *= 16;
    }
    if (status == CELLAR_OK)
        ladder_plan(l, cellar_tilt_find(&part, 1, epsilon, NAN, INFINITY).width);
    else
        ladder_clear(l);
    return status;
}

/* Few losses need no grid. */
static cellar_status ladder_list(const ladder *l, uint64_t times, double epsilon,
                                 cellar_bounds *out, int *found, cellar_error *err)
{
    cellar_listed *list;
    cellar_status status = cellar_listed_create(l->t.atoms, &times, 1, 1e-25, &list, err);
    *found = status == CELLAR_OK && list != NULL;
    if (*found)
        *out = (cellar_bounds){cellar_listed_violation_upper(list, epsilon), 0, 1};
    cellar_listed_free(list);
    return status;
}

static cellar_status ladder_ask(ladder *l, int i, uint64_t times, const cellar_tilt *tilt,
                                double epsilon, cellar_bounds *out, cellar_error *err)
{
    cellar_part part = {&l->rungs[i], times};
    cellar_sum *sum = NULL;
    cellar_status status = ladder_rung(l, i, err);
    if (status == CELLAR_OK)
        status = cellar_sum_create(&part, 1, tilt, &sum, err);
    if (status == CELLAR_OK)
        *out = (cellar_bounds){
            cellar_sum_violation_upper(sum, epsilon, (double) times * l->spacing[i]), 0,
            l->spacing[i] == 0 && !l->is_fitted};
    cellar_sum_free(sum);
    return status;
}

/* So many cells: as close as it takes to see whether they are above `enough`. */
static cellar_status ladder_climb(ladder *l, uint64_t times, double epsilon, double enough,
                                  cellar_bounds *out, cellar_error *err)
{
    cellar_part part = {&l->rungs[0], times};
    cellar_tilt tilt = cellar_tilt_find(&part, 1, epsilon, NAN, INFINITY);
    double infinite = (2 * l->t.infinite - l->t.infinite_true) * (1 + 1e-12); /* of all cells */
    double bound = 2 * exp(tilt.log_bound) * (1 + 1e-12) + 1e-306;
    cellar_status status = CELLAR_OK;
    int found = 0, i = 1;
    l->about = fmax(l->about, bound);
    *out = (cellar_bounds){fmin(1, infinite + bound), 0, l->t.is_lattice && !l->is_fitted};
    if (out->upper <= enough || bound <= fmax(1e-3 * l->t.left_out, 1e-12 * infinite))
        return CELLAR_OK;
    if (enough > 0 && i + 1 < l->n)
        status = ladder_ask(l, i++, times, &tilt, epsilon, out, err);
    if (status == CELLAR_OK && out->upper > enough && !l->t.is_lattice)
        status = ladder_list(l, times, epsilon, out, &found, err);
    for (i = enough > 0 ? i : l->n - 1;
         i < l->n && status == CELLAR_OK && !found && out->upper > enough; i++)
        status = ladder_ask(l, i, times, &tilt, epsilon, out, err);
    return status == CELLAR_ERR_OVERFLOW ? CELLAR_OK : status;
}

/* Long tails are looked at only where short ones would show. */
cellar_status cellar_tight_violation(const cellar_stake *stake, double epsilon, cellar_bounds *out,
                                     cellar_error *err)
{
    const double shortest = 1e-300;
    double tail = 1e-18;
    cellar_status status = CELLAR_OK;
    if (cellar_normal_sums_apply(stake)) {
        cellar_normal_sums_violation(stake, epsilon, out);
        return CELLAR_OK;
    }
    for (int round = 0; round < 4; round++) {
        ladder l;
        int is_last;
        CELLAR_TRY(ladder_init(&l, stake, epsilon, tail, err));
        *out = (cellar_bounds){cellar_losses_are_empty(&l.t) ? 1 : 0, 0, 1};
        for (uint64_t times = stake->times; times > 0 && out->upper < 1 && status == CELLAR_OK;
             times--) {
            cellar_bounds one;
            status = ladder_climb(&l, times, epsilon, out->upper, &one, err);
            if (status == CELLAR_OK && one.upper > out->upper)
                *out = one;
        }
        is_last = l.t.left_out <= 1e-6 * out->upper || tail <= shortest;
        tail = fmax(shortest, fmin(1e-9 * l.about / l.t.n_times, 1e-6 * tail));
        ladder_clear(&l);
        if (status != CELLAR_OK || is_last)
            break;
    }
out:
    return status;
}
