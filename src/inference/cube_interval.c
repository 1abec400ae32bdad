/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals from a cube. */
#include <cellar/cube_inference.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"
#include "inference/compare.h"
#include "inference/cube_sum.h"

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

static cellar_status check_sets(const cellar_cube *cube, const cellar_cube_sum *sum,
                                cellar_comparison comparison, const cellar_cube_sum *other,
                                cellar_error *err)
{
    if ((comparison == CELLAR_COMPARE_NONE) != (other == NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a comparison needs two sets of cells");
    if (comparison != CELLAR_COMPARE_NONE && cellar_cube_sum_is_within(cube, sum, other) &&
        cellar_cube_sum_is_within(cube, other, sum))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the two sets have the same cells");
    if (comparison == CELLAR_COMPARE_PROPORTION && !cellar_cube_sum_is_within(cube, sum, other))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a proportion is of a set within a larger one");
    return CELLAR_OK;
}

cellar_status cellar_cube_compare(const cellar_cube *cube, const cellar_cube_sum *sum,
                                  cellar_comparison comparison, const cellar_cube_sum *other,
                                  double confidence, cellar_cube_finding *out, cellar_error *err)
{
    cube_functional sums[CUBE_SUMS_MAX] = {{0}};
    double values[CUBE_SUMS_MAX] = {sum->value, other != NULL ? other->value : 0}, tail;
    cube_terms terms = {0};
    cellar_status status = CELLAR_OK;
    *out = (cellar_cube_finding){NAN, NAN, -INFINITY, INFINITY, NAN, 0};
    CELLAR_TRY(check_tail(confidence, 1, &tail, err));
    CELLAR_TRY(check_sets(cube, sum, comparison, other, err));
    sums[0] = cellar_cube_sum_functional(sum);
    if (other != NULL)
        sums[1] = cellar_cube_sum_functional(other);
    CELLAR_TRY(cellar_cube_terms_init(&terms, cube, sums, other != NULL ? 2 : 1, err));
    CELLAR_TRY(cellar_compare_sums(&terms, values, comparison, tail, out, err));
out:
    cellar_cube_terms_clear(&terms);
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
