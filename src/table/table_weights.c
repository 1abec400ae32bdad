/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on the weights of records, and weighted sums as whole numbers. */
#include "table/table.h"

#include "base/error.h"
#include "base/memory.h"

cellar_status cellar_table_set_max_weight(cellar_table *table, uint64_t max_weight,
                                          cellar_error *err)
{
    const cellar_cells *cells = &table->cells;

    if (max_weight == 0)
        return CELLAR_OK;
    if (cells->weight == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a bound on weights, and the table has no weights");
    if (max_weight > CELLAR_WEIGHT_BOUND_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound on weights is at most %d",
                           CELLAR_WEIGHT_BOUND_MAX);
    for (size_t i = 0; i < cells->n; i++) {
        cellar_int128 most =
            (cellar_int128) cells->count[i] * (int64_t) max_weight * CELLAR_WEIGHT_UNIT;
        if (cells->weight[i] < 0 || cells->weight[i] > most)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "a weighted sum does not fit its count and the bound on weights");
    }
    table->max_weight = max_weight;
    return CELLAR_OK;
}

cellar_status cellar_table_round_weights(const cellar_table *table, cellar_table **out,
                                         cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_cells like = {.status = table->cells.status}, cells = {0};

    *out = NULL;
    CELLAR_ASSERT(table->max_weight != 0);
    CELLAR_TRY(cellar_cells_create_like(&like, table->cells.n, &cells, err));
    for (size_t i = 0; i < table->cells.n; i++) {
        cellar_int128 sum = (table->cells.weight[i] + CELLAR_WEIGHT_UNIT / 2) / CELLAR_WEIGHT_UNIT;
        if (sum > INT64_MAX) {
            status = cellar_fail(err, CELLAR_ERR_OVERFLOW, "a weighted sum is too large");
            goto out;
        }
        cells_copy(&cells, i, &table->cells, i);
        cells.count[i] = (uint64_t) sum;
    }
    cellar_cells_compact(&cells);
    CELLAR_TRY(cellar_table_create(table->schema, &cells, 0, table->n_records, out, err));
    status = cellar_table_set_tabulation(*out, table->tabulation, err);
    if (status != CELLAR_OK) {
        cellar_table_free(*out);
        *out = NULL;
    }
out:
    cellar_cells_clear(&cells);
    return status;
}
