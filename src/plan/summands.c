/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many numbers with noise are added up for the cells of a margin. Structural zeros have none:
 * a cell is one when every cell of the interior that it sums is. */
#include "plan/summands.h"

#include "table/schema/schema.h"

enum { VISITED_MAX = 1 << 18 };

static double n_leaves(const cellar_schema *schema, uint64_t mask)
{
    double n = 1;
    for (size_t v = 0; v < schema->n_variables; v++)
        if (mask >> v & 1)
            n *= schema->axes[v].n_leaves;
    return n;
}

/* The index of the cell at `position` among those of `mask`, other variables at their first leaf.
 */
static uint64_t index_at(const cellar_schema *schema, uint64_t mask, uint64_t position)
{
    uint64_t index = 0;
    for (size_t v = schema->n_variables; v-- > 0;)
        if (mask >> v & 1) {
            index += position % schema->axes[v].n_leaves * schema->axes[v].stride;
            position /= schema->axes[v].n_leaves;
        }
    return index;
}

/* 1 when some cell of the interior within this one is no structural zero. */
static int is_possible(const cellar_schema *schema, uint64_t mask, uint64_t index)
{
    uint64_t rest = cellar_schema_full_mask(schema->n_variables) & ~mask;
    uint64_t n = (uint64_t) n_leaves(schema, rest);
    for (uint64_t i = 0; i < n; i++)
        if (!cellar_schema_is_structural_zero(schema, index + index_at(schema, rest, i)))
            return 1;
    return 0;
}

plan_summands cellar_plan_summands(const cellar_schema *schema, uint64_t from, uint64_t to)
{
    const double n_cells = n_leaves(schema, to), n_each = n_leaves(schema, from & ~to);
    plan_summands found = {.least = n_each};
    if (schema->structural == NULL ||
        n_leaves(schema, cellar_schema_full_mask(schema->n_variables)) > VISITED_MAX)
        return (plan_summands){n_cells, n_each, n_each, n_cells * n_each};
    for (uint64_t i = 0; i < (uint64_t) n_cells; i++) {
        uint64_t index = index_at(schema, to, i), n = 0;
        for (uint64_t k = 0; k < (uint64_t) n_each; k++)
            n += is_possible(schema, from, index + index_at(schema, from & ~to, k)) != 0;
        if (n == 0)
            continue;
        found.n_cells++;
        found.total += (double) n;
        found.least = (double) n < found.least ? (double) n : found.least;
        found.most = (double) n > found.most ? (double) n : found.most;
    }
    return found;
}
