/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/aggregate.h"

#include "table/schema/schema.h"

/* One variable in the array: `n` categories `stride` apart, in every block of stride * n. */
typedef struct aggregate_axis {
    const cellar_schema *schema;
    size_t variable;
    size_t stride, n_categories, n_leaves;
    uint64_t n_indices;
} aggregate_axis;

static aggregate_axis aggregate_axis_of(const cellar_schema *schema, size_t variable)
{
    const schema_axis *axis = &schema->axes[variable];
    return (aggregate_axis){
        schema,         variable,         (size_t) axis->stride, axis->n_categories,
        axis->n_leaves, schema->n_indices};
}

static void aggregate_add_row(double *to, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void aggregate_clear_row(double *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = 0;
}

static void aggregate_sum_block(const aggregate_axis *axis, double *block)
{
    for (size_t c = axis->n_leaves; c < axis->n_categories; c++) {
        size_t n_members;
        const uint32_t *members =
            cellar_schema_members(axis->schema, axis->variable, c, &n_members);
        double *sum = block + c * axis->stride;
        aggregate_clear_row(sum, axis->stride);
        for (size_t m = 0; m < n_members; m++)
            aggregate_add_row(sum, block + members[m] * axis->stride, axis->stride);
    }
}

static void aggregate_spread_block(const aggregate_axis *axis, double *block)
{
    for (size_t c = axis->n_leaves; c < axis->n_categories; c++) {
        size_t n_members;
        const uint32_t *members =
            cellar_schema_members(axis->schema, axis->variable, c, &n_members);
        for (size_t m = 0; m < n_members; m++)
            aggregate_add_row(block + members[m] * axis->stride, block + c * axis->stride,
                              axis->stride);
    }
}

static void aggregate_each_block(const cellar_schema *schema, double *values,
                                 void (*work)(const aggregate_axis *axis, double *block))
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        const aggregate_axis axis = aggregate_axis_of(schema, v);
        const size_t size = axis.stride * axis.n_categories;
        if (axis.n_leaves == axis.n_categories)
            continue;
        for (uint64_t first = 0; first < axis.n_indices; first += size)
            work(&axis, values + first);
    }
}

/* Aggregates of variables not summed yet hold anything; their own pass overwrites it. */
void cellar_aggregate_sum(const cellar_schema *schema, double *values)
{
    aggregate_each_block(schema, values, aggregate_sum_block);
}

void cellar_aggregate_spread(const cellar_schema *schema, double *values)
{
    aggregate_each_block(schema, values, aggregate_spread_block);
}
