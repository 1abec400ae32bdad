/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_curve.h"

/* Exposure is constant for thresholds in ((k-1)/n, k/n], and the bound never falls as the threshold
 * grows: the bound at k/n holds for every smaller threshold. So the bounds at k = 1 and at k = n
 * hold everywhere between, and an interval is halved, in the logarithm, until the bounds at its
 * ends differ by no more than the tolerance or nothing lies between. */

typedef struct curve_end {
    uint64_t k;
    double value;
    int theorem;
} curve_end;

struct cellar_exposure_bound_curve {
    cellar_exposure_bound_step *steps;
    size_t n, capacity;
};

typedef struct curve_builder {
    const cellar_exposure_curve *const *columns;
    size_t n;
    const cellar_exposure_bound_options *options;
    double tolerance, people;
    cellar_exposure_bound_curve *curve;
} curve_builder;

static cellar_status builder_at(const curve_builder *b, uint64_t k, curve_end *out,
                                cellar_error *err)
{
    cellar_exposure_bound bounds[2];
    cellar_status status =
        cellar_exposure_bounds(b->columns, b->n, (double) k / b->people, b->options, bounds, err);
    if (status == CELLAR_OK)
        *out = (curve_end){k, bounds[0].value, bounds[0].theorem};
    return status;
}

static cellar_status builder_add(const curve_builder *b, uint64_t first, double excess,
                                 const curve_end *last, cellar_error *err)
{
    cellar_exposure_bound_curve *curve = b->curve;
    if (curve->n > 0 && curve->steps[curve->n - 1].value >= 1) { /* it says nothing from here on */
        curve->steps[curve->n - 1].last = last->k;
        return CELLAR_OK;
    }
    if (!cellar_grow(&curve->steps, &curve->capacity, curve->n + 1, sizeof *curve->steps))
        return cellar_fail_memory(err, "a curve of bounds");
    curve->steps[curve->n++] = (cellar_exposure_bound_step){
        .first = first,
        .last = last->k,
        .theorem = last->theorem,
        .value = last->value,
        .excess = excess,
        .lower = cellar_exposure_lower_bound(b->columns, b->n, (double) first / b->people)};
    return CELLAR_OK;
}

/* A whole number between the ends, near their geometric mean. */
static uint64_t builder_middle(const curve_builder *b, uint64_t low, uint64_t high)
{
    double mean = floor(sqrt((double) low) * sqrt((double) high));
    uint64_t middle = mean < b->people ? (uint64_t) mean : high;
    return middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
}

/* The open ends lie on a stack, the nearest on top: each halving adds one, and the logarithm of the
 * ratio of two whole numbers is halved until they are neighbours. */
static cellar_status builder_run(const curve_builder *b, curve_end low, cellar_error *err)
{
    enum { MAX_OPEN = 256 };
    cellar_status status = CELLAR_OK;
    curve_end open[MAX_OPEN];
    size_t n_open = 1;

    CELLAR_TRY(builder_at(b, (uint64_t) b->people, &open[0], err));
    while (n_open > 0) {
        curve_end *high = &open[n_open - 1];
        int close = high->value - low.value <= b->tolerance || n_open == MAX_OPEN;
        if (high->k <= low.k) {
            n_open--;
        } else if (close || high->k == low.k + 1) {
            double excess = high->k == low.k + 1 ? 0 : fmax(0, high->value - low.value);
            CELLAR_TRY(builder_add(b, low.k + 1, excess, high, err));
            low = *high;
            n_open--;
        } else {
            CELLAR_TRY(builder_at(b, builder_middle(b, low.k, high->k), &open[n_open], err));
            n_open++;
        }
    }
out:
    return status;
}

/* A search that was cut short may leave a bound that a later one undercuts: that holds here too. */
static void curve_smooth(cellar_exposure_bound_curve *curve)
{
    for (size_t i = curve->n; i-- > 1;)
        if (curve->steps[i].value < curve->steps[i - 1].value) {
            curve->steps[i - 1].value = curve->steps[i].value;
            curve->steps[i - 1].theorem = curve->steps[i].theorem;
        }
}

static cellar_status curve_check(const curve_builder *b, cellar_error *err)
{
    if (b->n == 0 || b->n > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound needs 1 to %d columns, not %zu",
                           CELLAR_MAX_VARIABLES, b->n);
    if (!(b->tolerance >= 0 && b->tolerance <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the tolerance of a curve of bounds lies from 0 to 1, not %g",
                           b->tolerance);
    for (size_t j = 1; j < b->n; j++)
        if (b->columns[j]->total != b->columns[0]->total)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the columns must be of the same people, as many in each");
    if (b->columns[0]->total > UINT64_C(1) << 53)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a curve of bounds is of at most 2^53 people");
    return CELLAR_OK;
}

cellar_status
cellar_exposure_bound_curve_create(const cellar_exposure_curve *const *columns, size_t n,
                                   const cellar_exposure_bound_options *options, double tolerance,
                                   cellar_exposure_bound_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    curve_builder b = {columns, n, options, tolerance, 0, NULL};
    curve_end first;

    *out = NULL;
    CELLAR_TRY(curve_check(&b, err));
    b.people = (double) columns[0]->total;
    b.curve = cellar_alloc(1, sizeof *b.curve);
    if (b.curve == NULL) {
        status = cellar_fail_memory(err, "a curve of bounds");
        goto out;
    }
    CELLAR_TRY(builder_at(&b, 1, &first, err));
    CELLAR_TRY(builder_add(&b, 1, 0, &first, err));
    CELLAR_TRY(builder_run(&b, first, err));
    curve_smooth(b.curve);
    *out = b.curve;
    b.curve = NULL;
out:
    cellar_exposure_bound_curve_free(b.curve);
    return status;
}

void cellar_exposure_bound_curve_free(cellar_exposure_bound_curve *curve)
{
    if (curve == NULL)
        return;
    cellar_free(curve->steps);
    cellar_free(curve);
}

size_t cellar_exposure_bound_curve_n_steps(const cellar_exposure_bound_curve *curve)
{
    return curve->n;
}

cellar_exposure_bound_step
cellar_exposure_bound_curve_step(const cellar_exposure_bound_curve *curve, size_t step)
{
    return curve->steps[step];
}
