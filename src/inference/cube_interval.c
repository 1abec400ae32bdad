/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals from a cube. A ratio lies in the interval when the first count and so many times the
 * second differ by no more than noise explains (Fieller 1954, Some problems in interval estimation,
 * Journal of the Royal Statistical Society B 16): with m times the standard error as the limit,
 * where a quadratic in the ratio is negative. For noise that is not normal m depends on the ratio;
 * each end is found with its own. */
#include <cellar/cube_inference.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"
#include "inference/cube_sum.h"

typedef struct comparing {
    const cellar_cube_sum *sum, *other;
    double tail;
    cube_terms terms;
    double v[2][2]; /* the covariances */
} comparing;

static cellar_status comparing_init(comparing *c, const cellar_cube *cube, cellar_error *err)
{
    cube_functional sums[2];
    const size_t n = c->other != NULL ? 2 : 1;
    cellar_status status;
    sums[0] = cellar_cube_sum_functional(c->sum);
    if (n == 2)
        sums[1] = cellar_cube_sum_functional(c->other);
    status = cellar_cube_terms_init(&c->terms, cube, sums, n, err);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++)
        for (size_t j = 0; j < n; j++)
            c->v[i][j] = cellar_cube_terms_covariance(&c->terms, i, j);
    return status;
}

/* ---- sums and differences -------------------------------------------------------------- */

static cellar_status compare_linear(const comparing *c, double second, cellar_cube_finding *out,
                                    cellar_error *err)
{
    cellar_weighted_noise *noise = NULL;
    cellar_status status = cellar_cube_terms_noise(&c->terms, 1, second, &noise, err);
    double width;
    if (status != CELLAR_OK)
        return status;
    width = cellar_weighted_noise_width(noise, c->tail);
    out->estimate = c->sum->value + (c->other != NULL ? second * c->other->value : 0);
    out->se = cellar_weighted_noise_sd(noise);
    out->low = out->estimate - width;
    out->high = out->estimate + width;
    if (c->other != NULL)
        out->p_value = cellar_weighted_noise_outside(noise, fabs(out->estimate));
    cellar_weighted_noise_free(noise);
    return CELLAR_OK;
}

/* ---- ratios --------------------------------------------------------------------------------- */

/* How many standard errors of `first` times the one sum plus `second` times the other noise
 * explains. */
static cellar_status multiplier(const comparing *c, double first, double second, double *out,
                                cellar_error *err)
{
    cellar_weighted_noise *noise = NULL;
    cellar_status status = cellar_cube_terms_noise(&c->terms, first, second, &noise, err);
    if (status == CELLAR_OK && cellar_weighted_noise_sd(noise) > 0)
        *out = cellar_weighted_noise_width(noise, c->tail) / cellar_weighted_noise_sd(noise);
    cellar_weighted_noise_free(noise);
    return status;
}

/* One end of all r with (a - r b)^2 <= m^2 Var(a - r b); NAN when they are not bounded. */
static double fieller_end(const comparing *c, double m, int side)
{
    const double a = c->sum->value, b = c->other->value, mm = m * m;
    const double square = b * b - mm * c->v[1][1], half = a * b - mm * c->v[0][1];
    const double constant = a * a - mm * c->v[0][0], root = half * half - square * constant;
    return square > 0 ? (half + side * sqrt(fmax(0, root))) / square : NAN;
}

/* The end with the multiplier of its own ratio. */
static cellar_status find_end(const comparing *c, double m, int side, double *out,
                              cellar_error *err)
{
    enum { ROUNDS = 8 };
    cellar_status status = CELLAR_OK;
    double before = m;
    *out = fieller_end(c, m, side);
    for (int round = 0; status == CELLAR_OK && round < ROUNDS && isfinite(*out); round++) {
        status = multiplier(c, 1, -*out, &m, err);
        *out = fieller_end(c, m, side);
        if (fabs(m - before) < 1e-5 * m)
            break;
        before = m;
    }
    return status;
}

static cellar_status compare_ratio(const comparing *c, cellar_cube_finding *out, cellar_error *err)
{
    const double a = c->sum->value, b = c->other->value, r = b != 0 ? a / b : NAN;
    const double variance = c->v[0][0] - 2 * r * c->v[0][1] + r * r * c->v[1][1];
    double m = 0;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(multiplier(c, 0, 1, &m, err)); /* is what it is divided by away from 0? */
    CELLAR_TRY(find_end(c, m, -1, &out->low, err));
    CELLAR_TRY(find_end(c, m, 1, &out->high, err));
    out->estimate = r;
    out->is_undetermined = !isfinite(out->low) || !isfinite(out->high);
    out->se = out->is_undetermined ? NAN : sqrt(fmax(0, variance)) / fabs(b);
    if (out->is_undetermined) {
        out->low = -INFINITY;
        out->high = INFINITY;
    }
out:
    return status;
}

/* ---- all comparisons ------------------------------------------------------------------------- */

static cellar_status check_tail(double confidence, double n, double *tail, cellar_error *err)
{
    if (!(confidence > 0) || !(confidence < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "confidence lies between 0 and 1");
    *tail = (1 - confidence) / n;
    if (*tail < CELLAR_SMALLEST_TAIL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "an interval that misses with probability %.2g is beyond what is "
                           "computed: choose a lower confidence or fewer cells",
                           *tail);
    return CELLAR_OK;
}

static cellar_status check_sets(const cellar_cube *cube, const comparing *c,
                                cellar_comparison comparison, cellar_error *err)
{
    if ((comparison == CELLAR_COMPARE_NONE) != (c->other == NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a comparison needs two sets of cells");
    if (comparison != CELLAR_COMPARE_NONE && cellar_cube_sum_is_within(cube, c->sum, c->other) &&
        cellar_cube_sum_is_within(cube, c->other, c->sum))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the two sets have the same cells");
    if (comparison == CELLAR_COMPARE_PROPORTION &&
        !cellar_cube_sum_is_within(cube, c->sum, c->other))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a proportion is of a set within a larger one");
    return CELLAR_OK;
}

cellar_status cellar_cube_compare(const cellar_cube *cube, const cellar_cube_sum *sum,
                                  cellar_comparison comparison, const cellar_cube_sum *other,
                                  double confidence, cellar_cube_finding *out, cellar_error *err)
{
    comparing c = {.sum = sum, .other = other};
    cellar_status status = CELLAR_OK;
    *out = (cellar_cube_finding){NAN, NAN, -INFINITY, INFINITY, NAN, 0};
    CELLAR_TRY(check_tail(confidence, 1, &c.tail, err));
    CELLAR_TRY(check_sets(cube, &c, comparison, err));
    CELLAR_TRY(comparing_init(&c, cube, err));
    if (comparison == CELLAR_COMPARE_NONE || comparison == CELLAR_COMPARE_DIFFERENCE)
        CELLAR_TRY(compare_linear(&c, comparison == CELLAR_COMPARE_NONE ? 0 : -1, out, err));
    else
        CELLAR_TRY(compare_ratio(&c, out, err));
    if (comparison == CELLAR_COMPARE_PROPORTION && !out->is_undetermined) {
        out->low = fmin(1, fmax(0, out->low));
        out->high = fmin(1, fmax(0, out->high));
    }
out:
    cellar_cube_terms_clear(&c.terms);
    return status;
}

/* ---- every cell of a table ---------------------------------------------------------------------
 */

/* The picks of the sides, and one width for each combination of their classes. */
typedef struct widths {
    cube_asking asking;
    cube_classes sides[CUBE_ORDER_MAX];
    double *of_class;
    size_t n_classes, n_cells, order;
} widths;

static cellar_status widths_classify(widths *w, cellar_error *err)
{
    const cellar_cube *cube = w->asking.cube;
    const cube_space *space = &cube->lattice.spaces[w->asking.table];
    w->order = space->order;
    w->n_classes = w->n_cells = 1;
    for (size_t k = 0; k < w->order; k++) {
        if (!cellar_cube_classify(&cube->variables[space->variable[k]].axis, space->level[k],
                                  &w->asking.picks[k], &w->sides[k]))
            return cellar_fail_memory(err, "the intervals of a table");
        w->n_classes *= w->sides[k].n;
        w->n_cells *= w->asking.picks[k].n;
    }
    w->of_class = cellar_alloc(w->n_classes, sizeof *w->of_class);
    return w->of_class != NULL ? CELLAR_OK : cellar_fail_memory(err, "the intervals of a table");
}

static cellar_status width_of_class(widths *w, size_t combination, double tail, cellar_error *err)
{
    const cellar_cube *cube = w->asking.cube;
    const cube_space *space = &cube->lattice.spaces[w->asking.table];
    cube_functional functional = {.table = w->asking.table};
    cube_terms terms = {0};
    cellar_weighted_noise *noise = NULL;
    cellar_status status = CELLAR_OK;
    size_t rest = combination;
    for (size_t k = w->order; k-- > 0;) {
        const size_t pick = w->sides[k].first[rest % w->sides[k].n];
        cellar_cube_pick_weights(&w->asking.picks[k], pick,
                                 cube->variables[space->variable[k]].axis.n[space->level[k]],
                                 w->sides[k].weights);
        functional.weights[k] = w->sides[k].weights;
        rest /= w->sides[k].n;
    }
    CELLAR_TRY(cellar_cube_terms_init(&terms, cube, &functional, 1, err));
    CELLAR_TRY(cellar_cube_terms_noise(&terms, 1, 0, &noise, err));
    w->of_class[combination] = cellar_weighted_noise_width(noise, tail);
out:
    cellar_weighted_noise_free(noise);
    cellar_cube_terms_clear(&terms);
    return status;
}

/* Cells of the answer are in the order of the question's sides, not of the table's. */
static void widths_spread(const widths *w, double *out)
{
    size_t stride[CUBE_ORDER_MAX], step = 1; /* by side of the question */
    for (size_t i = w->order; i-- > 0;) {
        stride[i] = step;
        for (size_t k = 0; k < w->order; k++)
            if (w->asking.side_of[k] == i)
                step *= w->asking.picks[k].n;
    }
    for (size_t cell = 0; cell < w->n_cells; cell++) {
        size_t rest = cell, index = 0, at = 0, radix = 1;
        for (size_t k = w->order; k-- > 0;) {
            const size_t pick = rest % w->asking.picks[k].n;
            index += stride[w->asking.side_of[k]] * pick;
            at += radix * w->sides[k].of[pick];
            radix *= w->sides[k].n;
            rest /= w->asking.picks[k].n;
        }
        out[index] = w->of_class[at];
    }
}

cellar_status cellar_cube_half_widths(const cellar_cube *cube, const cellar_cube_question *question,
                                      double confidence, int simultaneous, double *half_widths,
                                      size_t n, cellar_error *err)
{
    widths w = {.asking = {.cube = cube, .question = question}};
    double tail;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_cube_asking_open(&w.asking, err));
    CELLAR_TRY(widths_classify(&w, err));
    if (w.n_cells != n)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table has %zu cells", w.n_cells));
    CELLAR_TRY(check_tail(confidence, simultaneous ? (double) n : 1, &tail, err));
    for (size_t k = 0; k < w.n_classes; k++)
        CELLAR_TRY(width_of_class(&w, k, tail, err));
    widths_spread(&w, half_widths);
out:
    for (size_t k = 0; k < CUBE_ORDER_MAX; k++)
        cellar_cube_classes_clear(&w.sides[k]);
    cellar_free(w.of_class);
    cellar_cube_asking_close(&w.asking);
    return status;
}
