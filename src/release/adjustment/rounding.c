/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/rounding.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "table/schema/schema.h"

cellar_rounding_options cellar_rounding_options_default(void)
{
    return (cellar_rounding_options){.max_searched = 5000, .max_work = 200000, .max_move = NAN};
}

/* What is reported about the result, from the result. */
static void rounding_measure(cellar_rounding *rounding)
{
    const cellar_adjustment *fit = rounding->fit;
    for (size_t i = 0; i < rounding->n; i++) {
        const double moved = fabs(rounding->value[i] - rounding->before[i]);
        if (cellar_schema_is_interior(fit->schema, i)) {
            rounding->distance += moved;
            rounding->total += rounding->value[i];
        } else if (fit->weight[i] > 0 && moved >= 1)
            rounding->n_far++;
        if (fit->weight[i] > 0)
            rounding->largest_move =
                fmax(rounding->largest_move, fabs(rounding->value[i] - fit->estimate[i]));
    }
    /* the search weighs aggregates that are far before cells, so its own figure may be higher */
    if (rounding->proof == CELLAR_ROUNDING_OPTIMAL || rounding->bound > rounding->distance)
        rounding->bound = rounding->distance;
}

/* With one or two variables the constraints are those of a network, whose solution needs no
 * search. */
static int rounding_is_searched(const cellar_adjustment *fit,
                                const cellar_rounding_options *options)
{
    const size_t easier = fit->schema->n_variables <= 2 ? 4 : 1;
    return fit->n / easier <= options->max_searched;
}

/* Four standard deviations of the noisiest released value: noise alone explains no larger move. */
static double rounding_usual_move(const cellar_adjustment *fit)
{
    double least = INFINITY;
    for (size_t i = 0; i < fit->n; i++)
        if (fit->weight[i] > 0)
            least = fmin(least, fit->weight[i]);
    return isinf(least) ? 0 : 4 / sqrt(least);
}

cellar_status cellar_rounding_create(const cellar_adjustment *fit,
                                     const cellar_rounding_options *options, cellar_rounding **out,
                                     cellar_error *err)
{
    const int searched = rounding_is_searched(fit, options);
    cellar_status status = CELLAR_OK;
    cellar_rounding *rounding = cellar_alloc(1, sizeof *rounding);

    *out = NULL;
    if (rounding == NULL)
        return cellar_fail_memory(err, "a rounding");
    rounding->fit = fit;
    rounding->n = fit->n;
    rounding->before = cellar_alloc(fit->n, sizeof *rounding->before);
    rounding->value = cellar_alloc(fit->n, sizeof *rounding->value);
    if (rounding->before == NULL || rounding->value == NULL) {
        status = cellar_fail_memory(err, "a rounding");
        goto out;
    }
    rounding->max_move = isnan(options->max_move) ? rounding_usual_move(fit) : options->max_move;
    CELLAR_TRY(cellar_adjustment_nonnegative(fit, rounding->before, err));
    CELLAR_TRY(cellar_rounding_keep_near(rounding, searched, err));
    if (searched)
        CELLAR_TRY(cellar_rounding_search(rounding, options, err));
    else
        CELLAR_TRY(cellar_rounding_greedy(rounding, err));
    cellar_aggregate_sum(fit->schema, rounding->value);
    rounding_measure(rounding);
    rounding->fit = NULL;
    *out = rounding;
    rounding = NULL;
out:
    cellar_rounding_free(rounding);
    return status;
}

void cellar_rounding_free(cellar_rounding *rounding)
{
    if (rounding == NULL)
        return;
    cellar_free(rounding->before);
    cellar_free(rounding->value);
    cellar_free(rounding);
}

int64_t cellar_rounding_value(const cellar_rounding *rounding, uint64_t index)
{
    return index < rounding->n ? (int64_t) rounding->value[index] : 0;
}

int64_t cellar_rounding_total(const cellar_rounding *rounding)
{
    return (int64_t) rounding->total;
}

double cellar_rounding_before(const cellar_rounding *rounding, uint64_t index)
{
    return index < rounding->n ? rounding->before[index] : NAN;
}

cellar_rounding_proof cellar_rounding_proof_of(const cellar_rounding *rounding)
{
    return rounding->proof;
}

double cellar_rounding_distance(const cellar_rounding *rounding)
{
    return rounding->distance;
}

double cellar_rounding_bound(const cellar_rounding *rounding)
{
    return rounding->bound;
}

size_t cellar_rounding_n_far(const cellar_rounding *rounding)
{
    return rounding->n_far;
}

double cellar_rounding_max_move(const cellar_rounding *rounding)
{
    return rounding->max_move;
}

size_t cellar_rounding_n_beyond(const cellar_rounding *rounding)
{
    return rounding->n_beyond;
}

double cellar_rounding_largest_move(const cellar_rounding *rounding)
{
    return rounding->largest_move;
}
