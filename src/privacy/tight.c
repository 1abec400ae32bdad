/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/tight.h"

#include <math.h>

#include "privacy/listed.h"
#include "privacy/losses.h"

static const double GAP = 1e-3;
static const double CELLS_FEW = 0x1p14; /* that many cells are always used */

typedef struct question {
    double epsilon; /* NAN: asks for it */
    double delta;
    double enough; /* bounds need not meet where the upper one is at most this */
} question;

static int asks_epsilon(const question *asked)
{
    return isnan(asked->epsilon);
}

/* ---- one question on one grid ------------------------------------------------------ */

/* Upper and lower bounds, and how far apart they are in epsilon; spacing 0 is the lattice. */
static cellar_status losses_ask(cellar_losses *t, double spacing, const cellar_tilt *tilt,
                                const question *asked, cellar_bounds *out, double *gap,
                                cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = cellar_losses_put(t, spacing, CELLAR_PLD_SPLIT, 1, err);
    if (status == CELLAR_OK)
        status = cellar_sum_create(t->parts, t->n, tilt, &sum, err);
    if (status != CELLAR_OK)
        return status;
    if (asks_epsilon(asked)) {
        out->upper = cellar_sum_epsilon_upper(sum, asked->delta);
        out->lower = cellar_sum_epsilon_lower(sum, asked->delta);
        *gap = out->upper - out->lower;
    } else {
        out->upper = cellar_sum_delta_upper(sum, asked->epsilon);
        out->lower = cellar_sum_delta_lower(sum, asked->epsilon);
        *gap = asked->epsilon - cellar_sum_epsilon_lower(sum, out->upper);
    }
    cellar_sum_free(sum);
    return CELLAR_OK;
}

/* Few losses need no grid: *found when their sums could be listed. So little is moved that it does
 * not show in delta. */
static cellar_status losses_list(const cellar_losses *t, const question *asked, cellar_bounds *out,
                                 int *found, cellar_error *err)
{
    double about = asks_epsilon(asked) ? asked->delta : 1e-6;
    cellar_listed *list;
    cellar_status status;
    *found = 0;
    for (int round = 0; round < 2; round++) {
        double scale;
        status = cellar_listed_create(t->atoms, t->times, t->n, about * 1e-13, &list, err);
        if (status != CELLAR_OK || list == NULL)
            return status;
        if (asks_epsilon(asked)) {
            out->upper = cellar_listed_epsilon_upper(list, asked->delta);
            out->lower = fmin(out->upper, cellar_listed_epsilon_lower(list, asked->delta));
        } else {
            out->upper = cellar_listed_delta_upper(list, asked->epsilon);
            out->lower = fmin(out->upper, cellar_listed_delta_lower(list, asked->epsilon));
        }
        cellar_listed_free(list);
        scale = asks_epsilon(asked) ? asked->delta : out->upper;
        if (about <= scale)
            break;
        about = 0;
    }
    *found = 1;
    return CELLAR_OK;
}

/* ---- a fine enough grid ------------------------------------------------------------ */

/* The lower bound is off by about 7 k h^2 / sd in epsilon (compose_split.h, five deviations out; in
 * proportion further out), h the spacing, k the number of parts, sd the deviation of the sum. */
static double grid_wanted(const cellar_losses *t, const question *asked)
{
    double deviation = t->deviation * sqrt(t->n_times), out = 5;
    if (asks_epsilon(asked))
        out = fmax(out, sqrt(-2 * log(asked->delta)));
    return fmin(GAP, fmin(deviation / 512, sqrt(GAP * deviation / (2.4 * out * t->n_times))));
}

/* Transforms have powers of two of cells: the grid is made finer until it uses all of them. */
static double grid_filled(double spacing, const cellar_tilt *tilt)
{
    double cells = CELLS_FEW;
    while (cells < 0x1p60 && cells < tilt->width / spacing)
        cells *= 2;
    return fmin(spacing, 1.005 * tilt->width / (cells - 8));
}

/* Refines the grid until the bounds are close, or the next grid would be too fine. */
static cellar_status losses_refine(cellar_losses *t, const question *asked, cellar_bounds *out,
                                   cellar_error *err)
{
    double gap = INFINITY, spacing = grid_wanted(t, asked);
    cellar_tilt tilt;
    cellar_status status =
        cellar_losses_tilt(t, asked->epsilon, asked->delta, 1, 0.25 / spacing, &tilt, err);
    if (status != CELLAR_OK)
        return status;
    spacing = grid_filled(spacing, &tilt);
    for (int coarser = 0; coarser < 12; coarser++, spacing *= 4) {
        status = losses_ask(t, spacing, &tilt, asked, out, &gap, err);
        if (status != CELLAR_ERR_OVERFLOW)
            break;
    }
    for (int finer = 0; finer < 6 && status == CELLAR_OK && gap > GAP; finer++) {
        cellar_bounds closer = {0};
        if (out->upper <= asked->enough ||
            (!asks_epsilon(asked) && out->upper <= 1e4 * t->left_out) ||
            (!asks_epsilon(asked) && out->upper - out->lower <= 1e-4 * out->upper))
            break; /* all is left out yet; or the curve is flat there, and no epsilon near */
        spacing *= fmin(0.5, fmax(0.25, 0.9 * sqrt(GAP / gap)));
        status = losses_ask(t, spacing, &tilt, asked, &closer, &gap, err);
        if (status == CELLAR_OK)
            *out = closer;
        if (status != CELLAR_ERR_OVERFLOW)
            continue;
        status = CELLAR_OK; /* as fine as it gets */
        break;
    }
    return status;
}

static cellar_status losses_answer(cellar_losses *t, const question *asked, cellar_bounds *out,
                                   cellar_error *err)
{
    cellar_status status;
    *out = (cellar_bounds){.upper = asks_epsilon(asked) ? INFINITY : 1};
    if (cellar_losses_are_empty(t))
        return CELLAR_OK;
    if (!asks_epsilon(asked) && asked->epsilon >= t->largest) {
        *out = (cellar_bounds){t->infinite, t->infinite_true, t->is_lattice};
        return CELLAR_OK;
    }
    if (t->is_lattice) {
        double gap;
        cellar_tilt tilt;
        status = cellar_losses_tilt(t, asked->epsilon, asked->delta, 1, INFINITY, &tilt, err);
        if (status == CELLAR_OK)
            status = losses_ask(t, 0, &tilt, asked, out, &gap, err);
        out->is_lattice = 1;
        if (status != CELLAR_ERR_OVERFLOW)
            return status;
        out->is_lattice = 0; /* finer than is any use */
    } else {
        int found;
        status = losses_list(t, asked, out, &found, err);
        if (status != CELLAR_OK || found)
            return status;
    }
    return losses_refine(t, asked, out, err);
}

/* Mass that was left out counts as infinite loss: so little is left out that it does not show. What
 * delta is about shows first in its lower bound. */
static cellar_status stakes_answer(const cellar_stake *stakes, size_t n, const question *asked,
                                   cellar_bounds *out, cellar_error *err)
{
    const double share = 1e-6, tail_min = 1e-305;
    double times = 0, tail;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        times += (double) stakes[i].times;
    tail = fmax(tail_min, (asks_epsilon(asked) ? asked->delta : 1e-12) * share / times);
    for (int round = 0; round < 4; round++) {
        cellar_losses t;
        double scale, left_out;
        status = cellar_losses_init(&t, stakes, n, tail, err);
        if (status != CELLAR_OK)
            return status;
        status = losses_answer(&t, asked, out, err);
        left_out = t.left_out;
        cellar_losses_clear(&t);
        scale = asks_epsilon(asked) ? asked->delta : out->upper;
        if (status != CELLAR_OK || tail <= tail_min || left_out <= 1e-4 * scale ||
            (!asks_epsilon(asked) && out->upper <= asked->enough))
            break;
        tail = round == 0 ? fmin(1e-3 * tail, (out->lower > 0 ? out->lower : 1e-94) * share / times)
                          : tail * tail;
        tail = fmax(tail, tail_min);
    }
    return status;
}

/* ---- delta and epsilon --------------------------------------------------------------- */

cellar_status cellar_tight_delta(const cellar_stake *stakes, size_t n, double epsilon,
                                 double enough, cellar_bounds *out, cellar_error *err)
{
    question asked = {epsilon, NAN, enough};
    *out = (cellar_bounds){.upper = 1};
    return stakes_answer(stakes, n, &asked, out, err);
}

cellar_status cellar_tight_epsilon(const cellar_stake *stakes, size_t n, double delta,
                                   double enough, cellar_bounds *out, cellar_error *err)
{
    question asked = {NAN, delta, enough};
    *out = (cellar_bounds){.upper = INFINITY};
    return stakes_answer(stakes, n, &asked, out, err);
}

/* ---- probabilities ----------------------------------------------------------------------- */

/* P(loss > epsilon) or, with sign -1, P(-loss > epsilon), every loss rounded up on its grid. What
 * has infinite loss counts on the side of sign 1; what was given a larger loss, on the other. */
static cellar_status losses_exceed(cellar_losses *t, double spacing, const cellar_tilt *tilt,
                                   double epsilon, int sign, double *out, cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = cellar_losses_put(t, spacing, CELLAR_PLD_UP, sign, err);
    for (size_t i = 0; i < t->n && status == CELLAR_OK && sign < 0; i++)
        t->plds[i].infinite = t->plds[i].moved;
    if (status == CELLAR_OK)
        status = cellar_sum_create(t->parts, t->n, tilt, &sum, err);
    if (status == CELLAR_OK)
        *out = cellar_sum_exceeds_upper(sum, epsilon);
    cellar_sum_free(sum);
    return status;
}

/* Both sides on one grid. */
static cellar_status losses_violate(cellar_losses *t, double spacing, const cellar_tilt tilts[2],
                                    double epsilon, double *out, cellar_error *err)
{
    double above = 1, below = 1;
    cellar_status status = losses_exceed(t, spacing, &tilts[0], epsilon, 1, &above, err);
    if (status == CELLAR_OK)
        status = losses_exceed(t, spacing, &tilts[1], epsilon, -1, &below, err);
    *out = fmin(1, above + below);
    return status;
}

/* From a grid on which the sum is far off by at most a hundredth of its deviation to one where it
 * is off by 1e-5, or the finest one that is quick, as long as there is need. */
static cellar_status violation_refine(cellar_losses *t, const cellar_tilt tilts[2], double epsilon,
                                      double enough, cellar_bounds *out, cellar_error *err)
{
    const double finest = fmax(1e-5 / t->n_times, fmax(tilts[0].width, tilts[1].width) / 0x1p17);
    double spacing = fmax(finest, 0.01 * t->deviation / sqrt(t->n_times));
    cellar_status status;
    for (int coarser = 0;; coarser++, spacing *= 4) {
        status = losses_violate(t, spacing, tilts, epsilon, &out->upper, err);
        if (status != CELLAR_ERR_OVERFLOW || coarser > 12)
            break;
    }
    while (status == CELLAR_OK && spacing > finest && out->upper > enough) {
        spacing = fmax(finest, spacing / 16);
        status = losses_violate(t, spacing, tilts, epsilon, &out->upper, err);
    }
    return status;
}

static cellar_status violation_list(const cellar_losses *t, double epsilon, cellar_bounds *out,
                                    int *found, cellar_error *err)
{
    cellar_listed *list;
    cellar_status status = cellar_listed_create(t->atoms, t->times, t->n, 1e-25, &list, err);
    *found = status == CELLAR_OK && list != NULL;
    if (*found)
        *out =
            (cellar_bounds){.upper = cellar_listed_violation_upper(list, epsilon), .is_lattice = 1};
    cellar_listed_free(list);
    return status;
}

/* The same of all but `tail` of each law, which counts. */
static cellar_status violation_to(const cellar_stake *stakes, size_t n, double epsilon,
                                  double enough, double tail, cellar_bounds *out, cellar_error *err)
{
    cellar_losses t;
    cellar_tilt tilts[2];
    int found = 0;
    cellar_status status = cellar_losses_init(&t, stakes, n, tail, err);
    if (status != CELLAR_OK)
        return status;
    *out = (cellar_bounds){.upper = 1};
    if (!cellar_losses_are_empty(&t) && !t.is_lattice)
        status = violation_list(&t, epsilon, out, &found, err);
    for (int side = 0; side < 2 && status == CELLAR_OK && !found; side++)
        status =
            cellar_losses_tilt(&t, epsilon, NAN, side == 0 ? 1 : -1, INFINITY, &tilts[side], err);
    if (status == CELLAR_OK && !found && !cellar_losses_are_empty(&t)) {
        status = CELLAR_ERR_OVERFLOW;
        if (t.is_lattice)
            status = losses_violate(&t, 0, tilts, epsilon, &out->upper, err);
        out->is_lattice = status == CELLAR_OK;
        if (status == CELLAR_ERR_OVERFLOW)
            status = violation_refine(&t, tilts, epsilon, enough, out, err);
    }
    cellar_losses_clear(&t);
    return status;
}

/* Long tails are looked at only where short ones would show. */
cellar_status cellar_tight_violation(const cellar_stake *stakes, size_t n, double epsilon,
                                     double enough, cellar_bounds *out, cellar_error *err)
{
    static const double tails[] = {1e-18, 1e-30, 1e-100, 1e-300};
    double times = 0;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        times += (double) stakes[i].times;
    for (size_t k = 0; k < sizeof tails / sizeof *tails && status == CELLAR_OK; k++) {
        status = violation_to(stakes, n, epsilon, enough, tails[k], out, err);
        if (out->upper <= enough || out->upper >= 1e6 * times * tails[k])
            break;
    }
    return status;
}
