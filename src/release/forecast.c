/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells with the same count expect the same, so counts are sorted and each is evaluated once. */
#include "release/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"
#include "table/table.h"

/* Probability that is left out of sums. */
static const double FORECAST_TAIL = 1e-15;

double cellar_forecast_listed(const cellar_mechanism *m, const cellar_listing *listing,
                              int64_t count)
{
    if (listing->negatives == CELLAR_NEGATIVES_ZERO)
        return cellar_mechanism_survival(m, count, listing->threshold - 1);
    return cellar_mechanism_survival(m, count, 0) + cellar_mechanism_cdf(m, count, -1);
}

/* ---- the bias of a cell ---------------------------------------------------- */

/* Sums of q(k) and k q(k) over k < x for additive noise, moved up from one x to the next. */
typedef struct forecast_sweep {
    const cellar_mechanism *mechanism;
    int64_t low, high; /* where the noise is */
    int64_t next;      /* the first k not yet summed */
    double mass, moment;
} forecast_sweep;

/* Sum of b p(a,b) over b < threshold: what setting small numbers to zero takes away. Counts must
 * not increase from call to call. */
static double sweep_lost(forecast_sweep *sweep, int64_t count, int64_t threshold)
{
    int64_t end = threshold - count; /* noise below it makes a number below the threshold */
    if (end <= sweep->low)
        return 0;
    for (; sweep->next < end && sweep->next <= sweep->high; sweep->next++) {
        double q = cellar_mechanism_pmf(sweep->mechanism, 0, sweep->next);
        sweep->mass += q;
        sweep->moment += (double) sweep->next * q;
    }
    return sweep->moment + (double) count * sweep->mass;
}

/* The same for a law that has no negatives. */
static double kernel_lost(const cellar_mechanism *m, int64_t count, int64_t threshold)
{
    double lost = 0;
    for (int64_t b = 1; b < threshold; b++)
        lost += (double) b * cellar_mechanism_pmf(m, count, b);
    return lost;
}

/* E(released) - count. */
static double forecast_bias(forecast_sweep *sweep, const cellar_listing *listing, int64_t count)
{
    const cellar_mechanism *m = sweep->mechanism;
    double mean, variance;

    if (m->ops->is_additive)
        return listing->negatives != CELLAR_NEGATIVES_ZERO
                   ? 0
                   : -sweep_lost(sweep, count, listing->threshold);
    cellar_mechanism_mean_variance(m, count, &mean, &variance);
    if (listing->negatives == CELLAR_NEGATIVES_ZERO)
        mean -= kernel_lost(m, count, listing->threshold);
    return mean - (double) count;
}

/* ---- the table ------------------------------------------------------------- */

/* A true count, and whether its cell is part of the sum of the interior. */
typedef struct forecast_item {
    int64_t count;
    int is_inner;
} forecast_item;

static int forecast_order(const void *a, const void *b)
{
    int64_t x = ((const forecast_item *) a)->count, y = ((const forecast_item *) b)->count;
    return (x < y) - (x > y); /* largest first, for the sweep */
}

static cellar_status forecast_collect(const cellar_table *table, forecast_item **items, size_t *n,
                                      cellar_error *err)
{
    int all = cellar_schema_has_no_aggregate(table->schema);
    *n = 0;
    *items = cellar_alloc(table->cells.n, sizeof **items);
    if (*items == NULL)
        return cellar_fail_memory(err, "a forecast");
    for (size_t i = 0; i < table->cells.n; i++)
        if (table->cells.count[i] > 0)
            (*items)[(*n)++] = (forecast_item){
                (int64_t) table->cells.count[i],
                all || cellar_schema_is_interior(table->schema, table_index(table, i))};
    qsort(*items, *n, sizeof **items, forecast_order);
    return CELLAR_OK;
}

static double forecast_n_leaves(const cellar_schema *schema)
{
    double n = 1;
    for (size_t v = 0; v < schema->n_variables; v++)
        n *= schema->axes[v].n_leaves;
    return n;
}

cellar_status cellar_forecast_fill(const cellar_table *table, const cellar_mechanism *mechanism,
                                   const cellar_listing *listing, cellar_forecast *out,
                                   cellar_error *err)
{
    forecast_sweep sweep = {.mechanism = mechanism};
    forecast_item *items = NULL;
    size_t n, n_interior = 0;
    int64_t positive = listing->negatives != CELLAR_NEGATIVES_ZERO ? 1 : listing->threshold;
    double listed = 0, bias = 0, n_zeros;
    cellar_status status = forecast_collect(table, &items, &n, err);

    if (status != CELLAR_OK)
        return status;
    cellar_mechanism_support(mechanism, 0, FORECAST_TAIL, &sweep.low, &sweep.high);
    sweep.next = sweep.low;
    out->size = out->bias = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || items[i].count != items[i - 1].count) {
            listed = cellar_forecast_listed(mechanism, listing, items[i].count);
            bias = forecast_bias(&sweep, listing, items[i].count);
        }
        out->size += listed;
        if (items[i].is_inner) {
            out->bias += bias;
            n_interior++;
        }
    }
    n_zeros = fmax((double) out->n_possible - (double) n, 0);
    out->size += n_zeros * cellar_forecast_listed(mechanism, listing, 0);
    out->false_positives = n_zeros * cellar_mechanism_survival(mechanism, 0, positive - 1);
    n_zeros = fmax(forecast_n_leaves(table->schema) - (double) n_interior, 0);
    out->bias += n_zeros * forecast_bias(&sweep, listing, 0);
    cellar_wipe(items, n * sizeof *items);
    cellar_free(items);
    return CELLAR_OK;
}
