/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/choices.h"
#include "serve/released.h"
#include "serve/rules.h"
#include "serve/source.h"

enum { DEFAULT_VARIABLES = 2, DEFAULT_CELLS = 200 };

/* *out is 1 when the table can be answered now. */
static cellar_status default_can(const serve_dataset *dataset, const serve_table *table, int *out,
                                 cellar_error *err)
{
    const serve_source *source = dataset->source;
    serve_status known;
    cellar_status status;
    *out = 0;
    if (serve_table_n_cells(dataset, table) > dataset->max_cells ||
        !serve_rules_allow(dataset, table))
        return CELLAR_OK;
    status = source->ops->status(source, dataset, table, &known, err);
    if (status != CELLAR_OK || !known.exists)
        return status;
    return serve_released_passes(dataset, table, out, err);
}

/* Adds variable v at the finest level that keeps the table small. */
static cellar_status default_add(const serve_dataset *dataset, size_t v, serve_table *table,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int can = 0;
    for (size_t level = dataset->variables[v].n_levels; level > 0 && !can; level--) {
        serve_table larger = *table;
        larger.levels[v] = (unsigned char) level;
        if (serve_table_n_cells(dataset, &larger) > DEFAULT_CELLS)
            continue;
        status = default_can(dataset, &larger, &can, err);
        if (status != CELLAR_OK)
            return status;
        if (can)
            *table = larger;
    }
    return CELLAR_OK;
}

/* Variables are added in the order of the data set, as long as the table can be answered. Where not
 * even one can, a table that exists is taken. */
cellar_status serve_default_table(const serve_dataset *dataset, serve_table *out, cellar_error *err)
{
    const serve_source *source = dataset->source;
    serve_table all = {{0}}, near;
    cellar_status status = CELLAR_OK;
    int can = 0;

    *out = (serve_table){{0}};
    for (size_t v = 0; status == CELLAR_OK && v < dataset->n_variables; v++) {
        if (!dataset->variables[v].is_constant &&
            serve_table_n_variables(dataset, out) < DEFAULT_VARIABLES)
            status = default_add(dataset, v, out, err);
        if (!dataset->variables[v].is_constant)
            all.levels[v] = (unsigned char) dataset->variables[v].n_levels;
    }
    if (status != CELLAR_OK || serve_table_n_variables(dataset, out) > 0 ||
        source->ops->nearest(source, dataset, &all, &near, 1) == 0)
        return status;
    status = default_can(dataset, &near, &can, err);
    if (can)
        *out = near;
    return status;
}
