/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/tight.h"

#include <math.h>

#include "privacy/listed.h"
#include "privacy/losses.h"
#include "privacy/normal_sums.h"
#include "privacy/one_part.h"

static const double GAP = 1e-3;
static const double CELLS_GLANCE = 0x1p12;                   /* that take no time */
static const double CELLS_FEW = 0x1p14, CELLS_MANY = 0x1p17; /* and up to some ms */
static const double CELLS_MOST = 0x1p17 - 64;                /* of a grid that is no lattice */
static const double CELLS_ROUGH = 0x1p16;                    /* where bounds need not meet */
static const double TIMES_SAME = 64;                         /* fewer leave out the same */
static const double CLOSE = 1e-4; /* relative: closer bounds are of no use */

typedef struct question {
    double epsilon; /* NAN: asks for it */
    double delta;
    double enough; /* the upper bound need not be close where it is at most this */
} question;

static int asks_epsilon(const question *asked)
{
    return isnan(asked->epsilon);
}

/* ---- one question on one grid ------------------------------------------------------ */

/* About what a sum on a grid takes. */
static double grid_cost(const cellar_losses *t, double spacing, const cellar_tilt *tilt)
{
    const double each = 0.07, cells = tilt->width / spacing;
    return each * exp2(ceil(log2(fmax(cells, CELLS_GLANCE)))) * (double) t->n;
}

/* Upper and lower bounds, and how far apart they are in epsilon; spacing 0 is the lattice. */
static cellar_status losses_ask(cellar_losses *t, double spacing, const cellar_tilt *tilt,
                                const question *asked, cellar_bounds *out, double *gap,
                                cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = cellar_losses_put(t, spacing, CELLAR_PLD_SPLIT, err);
    cellar_work_add(t->work, grid_cost(t, t->plds[0].spacing, tilt));
    if (status == CELLAR_OK)
        status = cellar_sum_create(t->parts, t->n, tilt, &sum, err);
    if (status != CELLAR_OK)
        return status;
    if (t->is_rough > 1) {
        *out = (cellar_bounds){.upper = asks_epsilon(asked)
                                            ? cellar_sum_epsilon_upper(sum, asked->delta)
                                            : cellar_sum_delta_upper(sum, asked->epsilon)};
        *gap = 0;
    } else if (asks_epsilon(asked)) {
        out->upper = cellar_sum_epsilon_upper(sum, asked->delta);
        out->lower = cellar_sum_epsilon_lower(sum, asked->delta);
        *gap = out->upper - out->lower;
    } else {
        out->upper = cellar_sum_delta_upper(sum, asked->epsilon);
        out->lower = cellar_sum_delta_lower(sum, asked->epsilon);
        *gap = out->upper - out->lower <= CLOSE * out->upper
                   ? 0 /* the curve may be flat there, and no epsilon near */
                   : asked->epsilon - cellar_sum_epsilon_lower(sum, out->upper);
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

/* How far bounds of epsilon may be apart: where the sum strays by more than a few, more. */
static double gap_wanted(double deviation)
{
    return GAP * fmax(1, deviation / 4);
}

/* The lower bound is off by about 7 k h^2 / sd in epsilon (compose_split.h, five deviations out; in
 * proportion further out), h the spacing, k the number of parts, sd the deviation of the sum. */
static double grid_wanted(const cellar_losses *t, const question *asked, double deviation)
{
    double gap = gap_wanted(deviation), out = 5;
    if (asks_epsilon(asked))
        out = fmax(out, sqrt(-2 * log(asked->delta)));
    return fmin(gap, fmin(deviation / 512, sqrt(gap * deviation / (2.4 * out * t->n_times))));
}

/* Transforms have powers of two of cells: the grid is made finer until it uses all of them, and at
 * least so many. */
static double grid_filled(double spacing, const cellar_tilt *tilt, double cells)
{
    while (cells < 0x1p60 && cells - 64 < 1.01 * tilt->width / spacing)
        cells *= 2;
    return fmin(spacing, 1.01 * tilt->width / (cells - 64));
}

/* Bounds that are as far apart are close enough. */
static int bounds_are_close(const question *asked, const cellar_bounds *bounds, double gap,
                            double deviation)
{
    double epsilon = asks_epsilon(asked) ? bounds->upper : asked->epsilon;
    return gap <= fmax(gap_wanted(deviation), CLOSE * epsilon);
}

/* 1 when a finer grid would tell no more that is asked for: all is left out yet, or infinite. */
static int losses_are_told(const cellar_losses *t, const question *asked,
                           const cellar_bounds *bounds)
{
    return t->is_rough == 1 || t->is_rough == 2 || bounds->upper <= asked->enough ||
           isinf(bounds->upper) ||
           (!asks_epsilon(asked) &&
            (bounds->upper <= 1e4 * t->left_out || (t->is_rough && bounds->upper >= 1)));
}

/* No grid need be finer, even if a finer one would take little time. */
static int bounds_are_very_close(const cellar_losses *t, const question *asked,
                                 const cellar_bounds *bounds, double gap)
{
    double close = t->is_rough ? 10 * CLOSE : CLOSE;
    if (bounds->upper <= asked->enough || isinf(bounds->upper) || t->is_rough > 1)
        return 1;
    return asks_epsilon(asked) ? gap <= close * bounds->upper
                               : bounds->upper - bounds->lower <= close * bounds->upper;
}

/* Refines the grid until the bounds are close, or the next grid would take too long. */
static cellar_status losses_refine(cellar_losses *t, double spacing, const cellar_tilt *tilt,
                                   const question *asked, cellar_bounds *out, cellar_error *err)
{
    double gap = INFINITY, deviation = tilt->width / 16, finest = 1.01 * tilt->width / CELLS_MOST;
    double first = 1.01 * tilt->width / (CELLS_FEW - 64);
    cellar_status status = CELLAR_ERR_OVERFLOW;
    spacing = fmax(spacing, finest);
    if (spacing < 0.9 * first) { /* fewer cells may do as well */
        status = losses_ask(t, first, tilt, asked, out, &gap, err);
        if (status == CELLAR_OK && (bounds_are_very_close(t, asked, out, gap) ||
                                    grid_cost(t, spacing, tilt) > cellar_work_left(t->work)))
            return CELLAR_OK;
        if (status != CELLAR_OK && status != CELLAR_ERR_OVERFLOW)
            return status;
        if (t->is_rough && gap < (asks_epsilon(asked) ? out->upper : asked->epsilon) / 2)
            spacing = fmax(spacing, 1.01 * tilt->width / (CELLS_ROUGH - 64));
    }
    for (int coarser = 0; coarser < 12; coarser++) {
        status = losses_ask(t, spacing, tilt, asked, out, &gap, err);
        if (status != CELLAR_ERR_OVERFLOW)
            break;
        spacing *= 4;
    }
    while (status == CELLAR_OK && spacing > 1.01 * finest &&
           !bounds_are_close(asked, out, gap, deviation) && !losses_are_told(t, asked, out)) {
        double wanted = gap_wanted(deviation);
        cellar_bounds closer = {0};
        spacing = fmax(finest, spacing * fmin(0.5, fmax(0.25, 0.9 * sqrt(wanted / gap))));
        if (grid_cost(t, spacing, tilt) > cellar_work_left(t->work))
            break; /* a finer one takes more than may be done */
        status = losses_ask(t, spacing, tilt, asked, &closer, &gap, err);
        if (status == CELLAR_OK)
            *out = closer;
        if (status == CELLAR_ERR_OVERFLOW)
            return CELLAR_OK; /* as fine as it gets */
    }
    return status;
}

/* Only an upper bound. What splitting adds to it falls with the square of the spacing, about: two
 * grids tell whether a third is of any use. */
static cellar_status losses_bound(cellar_losses *t, const cellar_tilt *tilt, const question *asked,
                                  cellar_bounds *out, cellar_error *err)
{
    const double cells[] = {CELLS_GLANCE * 2, CELLS_FEW * 2}, squares = 15;
    double first, more, gap;
    cellar_status status =
        losses_ask(t, 1.01 * tilt->width / (cells[0] - 64), tilt, asked, out, &gap, err);
    if (status != CELLAR_OK || losses_are_told(t, asked, out))
        return status;
    first = out->upper;
    status = losses_ask(t, 1.01 * tilt->width / (cells[1] - 64), tilt, asked, out, &gap, err);
    out->upper = fmin(out->upper, first);
    more = (first - out->upper) / squares;
    if (status != CELLAR_OK || losses_are_told(t, asked, out) || more <= CLOSE / 2 * out->upper)
        return status;
    first = out->upper;
    status = losses_ask(
        t, 1.01 * tilt->width / (more > 16 * CLOSE * out->upper ? CELLS_MOST : CELLS_ROUGH - 64),
        tilt, asked, out, &gap, err);
    out->upper = fmin(out->upper, first);
    return status;
}

/* 1 when Chernoff's bound says all there is to know. */
static int losses_are_nothing(cellar_losses *t, const cellar_tilt *tilt, const question *asked,
                              cellar_bounds *out)
{
    double bound = exp(tilt->log_bound) * (1 + 1e-12) + 1e-306;
    t->about = 1e-3 * bound;
    if (asks_epsilon(asked) || (bound > 1e-3 * t->left_out && t->infinite + bound > asked->enough))
        return 0;
    *out = (cellar_bounds){fmin(1, t->infinite + bound), t->infinite_true, t->is_lattice};
    return 1;
}

/* *found when a coarse grid shows that no more than `enough` is there; of an epsilon, that delta is
 * no more than asked there. */
static cellar_status losses_glance(cellar_losses *t, const question *asked, cellar_bounds *out,
                                   int *found, cellar_error *err)
{
    const question there =
        asks_epsilon(asked) ? (question){asked->enough, NAN, asked->delta} : *asked;
    cellar_tilt tilt;
    cellar_sum *sum = NULL;
    double upper = 1;
    cellar_status status =
        cellar_losses_tilt(t, there.epsilon, NAN, CELLAR_PLD_SPLIT, INFINITY, &tilt, err);
    if (status != CELLAR_OK)
        return status;
    *found = losses_are_nothing(t, &tilt, &there, out);
    if (*found)
        upper = out->upper;
    else
        status =
            cellar_losses_put(t, 1.01 * tilt.width / (CELLS_GLANCE - 64), CELLAR_PLD_SPLIT, err);
    if (status == CELLAR_OK && !*found)
        status = cellar_sum_create(t->parts, t->n, &tilt, &sum, err);
    if (status == CELLAR_OK && !*found)
        upper = cellar_sum_delta_upper(sum, there.epsilon);
    cellar_sum_free(sum);
    *found = upper <= there.enough || (*found && !asks_epsilon(asked));
    if (*found)
        *out = (cellar_bounds){.upper = asks_epsilon(asked) ? asked->enough : upper,
                               .lower = asks_epsilon(asked) ? 0 : t->infinite_true};
    return status == CELLAR_ERR_OVERFLOW ? CELLAR_OK : status;
}

/* On the lattice if it has one, unless that is finer than is any use. */
static cellar_status losses_add_up(cellar_losses *t, const question *asked, cellar_bounds *out,
                                   cellar_error *err)
{
    double gap, deviation = t->deviation * sqrt(t->n_times);
    double spacing = grid_wanted(t, asked, deviation);
    double most = t->is_lattice ? INFINITY : 0.25 / spacing;
    cellar_tilt tilt;
    cellar_status status =
        cellar_losses_tilt(t, asked->epsilon, asked->delta, CELLAR_PLD_SPLIT, most, &tilt, err);
    if (status != CELLAR_OK || losses_are_nothing(t, &tilt, asked, out))
        return status;
    if (t->is_lattice && tilt.width / cellar_losses_spacing(t) <= CELLS_MANY) {
        out->is_lattice = 1;
        return losses_ask(t, 0, &tilt, asked, out, &gap, err);
    }
    tilt.theta = fmin(tilt.theta, 0.25 / spacing);
    if (t->is_rough == 3)
        return losses_bound(t, &tilt, asked, out, err);
    if (tilt.width > 16 * deviation) /* far out the sum strays by more */
        spacing = fmax(spacing,
                       fmin(0.25 / fmax(tilt.theta, 1e-3), grid_wanted(t, asked, tilt.width / 16)));
    spacing = asks_epsilon(asked) && t->infinite > asked->delta /* a lower bound is all there is */
                  ? 1.01 * tilt.width / (CELLS_GLANCE - 64)
                  : grid_filled(spacing, &tilt, t->is_lattice ? CELLS_MANY : CELLS_FEW);
    return losses_refine(t, spacing, &tilt, asked, out, err);
}

/* *found when that needs no sum, or not more of one than a glance. */
static cellar_status losses_begin(cellar_losses *t, const question *asked, int may_glance,
                                  cellar_bounds *out, int *found, cellar_error *err)
{
    *found = 1;
    *out = (cellar_bounds){.upper = asks_epsilon(asked) ? INFINITY : 1};
    if (cellar_losses_are_empty(t))
        return CELLAR_OK;
    if (!asks_epsilon(asked) && asked->epsilon >= t->largest) {
        *out = (cellar_bounds){t->infinite, t->infinite_true, t->is_lattice};
        return CELLAR_OK;
    }
    if (asks_epsilon(asked) && t->infinite <= asked->delta && t->largest <= asked->enough) {
        out->upper = t->largest;
        return CELLAR_OK;
    }
    *found = 0;
    return may_glance ? losses_glance(t, asked, out, found, err) : CELLAR_OK;
}

static cellar_status losses_answer(cellar_losses *t, const question *asked, cellar_bounds *out,
                                   cellar_error *err)
{
    int found;
    cellar_status status = losses_begin(t, asked, 0, out, &found, err);
    if (status != CELLAR_OK || found)
        return status;
    if (!t->is_lattice) {
        status = losses_list(t, asked, out, &found, err);
        if (status != CELLAR_OK || found)
            return status;
    }
    status = losses_add_up(t, asked, out, err);
    if (asks_epsilon(asked) && t->infinite <= asked->delta)
        out->upper = fmin(out->upper, t->largest);
    if (out->lower > 0)
        t->about = out->lower;
    return status;
}

/* A delta to begin with: that which is asked for or is enough; or about that of one part, and of
 * many something between that and 1. */
static double known_delta(const cellar_stake *stakes, size_t n, const question *asked)
{
    const double most = 1e-12, least = 1e-290;
    double about = -1;
    if (asks_epsilon(asked))
        return asked->delta;
    if (asked->enough > 0)
        return asked->enough;
    for (size_t i = 0; i < n; i++)
        if (!stakes[i].is_envelope) {
            double one = cellar_one_part_about(&stakes[i], asked->epsilon);
            double times = (double) stakes[i].times;
            about = fmax(about, times > 3 ? pow(one, 2 / (1 + times)) : one);
        }
    return about < 0 ? most : fmax(least, fmin(about, most));
}

/* Few losses may show that no more is there than is enough. */
static cellar_status stakes_glance(const cellar_stake *stakes, size_t n, const question *asked,
                                   double tail, cellar_bounds *out, int *found, cellar_error *err)
{
    cellar_losses t;
    cellar_status status = cellar_losses_init(&t, stakes, n, tail, 1, err);
    *found = 0;
    if (status != CELLAR_OK)
        return status;
    status = losses_begin(&t, asked, 1, out, found, err);
    *found = *found && out->upper <= asked->enough;
    cellar_losses_clear(&t);
    return status;
}

/* Mass that was left out counts as infinite loss: so little is left out that it does not show. */
static cellar_status stakes_answer(const cellar_stake *stakes, size_t n, const question *asked,
                                   cellar_bounds *out, cellar_error *err)
{
    const double share = 1e-6, tail_min = asks_epsilon(asked) ? 1e-305 : 1e-303;
    double times = 0, tail;
    cellar_status status = CELLAR_OK;
    int found;
    for (size_t i = 0; i < n; i++)
        times += (double) stakes[i].times;
    times = fmax(times, TIMES_SAME);
    tail = fmax(tail_min, known_delta(stakes, n, asked) * share / times);
    if (asked->enough > 0 && isfinite(asked->enough)) {
        status = stakes_glance(stakes, n, asked, tail, out, &found, err);
        if (status != CELLAR_OK || found)
            return status;
    }
    for (int round = 0; round < 6; round++) {
        cellar_losses t;
        double scale, left_out, about;
        status = cellar_losses_init(&t, stakes, n, tail, 0, err);
        if (status != CELLAR_OK)
            return status;
        status = losses_answer(&t, asked, out, err);
        left_out = t.left_out;
        about = t.about;
        cellar_losses_clear(&t);
        scale = asks_epsilon(asked) ? asked->delta : out->upper;
        if (status != CELLAR_OK || tail <= tail_min || left_out <= 1e-4 * scale ||
            left_out > 4 * tail * times || isinf(out->upper) || /* the law goes no further */
            out->upper <= asked->enough)
            break;
        tail = fmin(1e-3 * tail, about > 0 ? about * share / times : tail * tail);
        tail = fmax(tail_min, fmin(tail, 1e-3 * left_out / times));
    }
    return status;
}

/* ---- delta and epsilon --------------------------------------------------------------- */

cellar_status cellar_tight_delta(const cellar_stake *stakes, size_t n, double epsilon,
                                 double enough, cellar_bounds *out, cellar_error *err)
{
    question asked = {epsilon, NAN, enough};
    *out = (cellar_bounds){.upper = 1};
    if (n == 1 && cellar_normal_sums_apply(stakes)) {
        cellar_normal_sums_delta(stakes, epsilon, out);
        return CELLAR_OK;
    }
    return stakes_answer(stakes, n, &asked, out, err);
}

cellar_status cellar_tight_epsilon(const cellar_stake *stakes, size_t n, double delta,
                                   double enough, cellar_bounds *out, cellar_error *err)
{
    question asked = {NAN, delta, enough};
    *out = (cellar_bounds){.upper = INFINITY};
    if (n == 1 && cellar_normal_sums_apply(stakes)) {
        cellar_normal_sums_epsilon(stakes, delta, out);
        return CELLAR_OK;
    }
    return stakes_answer(stakes, n, &asked, out, err);
}
