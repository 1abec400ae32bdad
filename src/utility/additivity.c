/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums lie in an array of all indices of the schema, aggregates included, and are carried along
 * one variable after the other: each aggregate of a variable sums its leaves. */
#include "utility/additivity.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define ADDITIVITY_MAX_INDICES (UINT64_C(1) << 25)

int cellar_additivity_is_known(const cellar_schema *schema)
{
    return !cellar_schema_has_no_aggregate(schema) && schema->n_indices <= ADDITIVITY_MAX_INDICES;
}

static void sums_expand_line(const cellar_schema *schema, size_t v, double *line)
{
    const schema_axis *axis = &schema->axes[v];
    for (uint32_t c = axis->n_leaves; c < axis->n_categories; c++) {
        size_t n;
        const uint32_t *members = cellar_schema_members(schema, v, c, &n);
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += line[members[k] * axis->stride];
        line[c * axis->stride] = sum;
    }
}

/* Fills the aggregates of an array that holds the interior. */
static void sums_expand(const cellar_schema *schema, double *sums)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        uint64_t stride = schema->axes[v].stride, span = stride * schema->axes[v].n_categories;
        for (uint64_t block = 0; block < schema->n_indices; block += span)
            for (uint64_t i = 0; i < stride; i++)
                sums_expand_line(schema, v, sums + block + i);
    }
}

/* 1 for an aggregate that is released: of a listed margin, and not impossible. */
static int is_aggregate(const cellar_schema *schema, uint64_t index)
{
    return cellar_schema_has_cell(schema, index) && !cellar_schema_is_interior(schema, index) &&
           !cellar_schema_is_structural_zero(schema, index);
}

void cellar_additivity_gaps(const cellar_schema *schema, const cellar_cells *listed, double *sums,
                            utility_gaps *out)
{
    size_t position = 0;
    *out = (utility_gaps){0};
    memset(sums, 0, (size_t) schema->n_indices * sizeof *sums);
    for (size_t i = 0; i < listed->n; i++) {
        uint64_t index = listed->index == NULL ? i : listed->index[i];
        if (cellar_schema_is_interior(schema, index))
            sums[index] = (double) (int64_t) listed->count[i];
    }
    sums_expand(schema, sums);
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        double released = 0, gap;
        if (position < listed->n &&
            (listed->index == NULL ? position : listed->index[position]) == index)
            released = (double) (int64_t) listed->count[position++];
        if (!is_aggregate(schema, index))
            continue;
        gap = fabs(released - sums[index]);
        out->n++;
        out->mean += gap;
        out->square += gap * gap;
        out->largest = fmax(out->largest, gap);
    }
    out->mean /= out->n;
    out->square /= out->n;
}

/* ---- expectations --------------------------------------------------------------------------- */

size_t cellar_additivity_counts(const cellar_table *table, uint64_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < table->cells.n; i++)
        if (!cellar_schema_is_interior(table->schema, table_index(table, i)))
            out[n++] = table->cells.count[i];
    return n;
}

/* The moments of every interior cell that can be; impossible ones have none. */
static void expect_fill(const cellar_table *table, const utility_expectations *expectations,
                        double *bias, double *variance)
{
    const cellar_schema *schema = table->schema;
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        cellar_cell cell;
        const utility_moments *m;
        if (!cellar_schema_is_interior(schema, index))
            continue;
        cell = cellar_table_at(table, index);
        if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO)
            continue;
        m = &expectations->moments[cellar_utility_find(expectations, (int64_t) cell.count)];
        bias[index] = m->bias;
        variance[index] = m->square - m->bias * m->bias;
    }
    sums_expand(schema, bias);
    sums_expand(schema, variance);
}

cellar_status cellar_additivity_expect(const cellar_table *table,
                                       const utility_expectations *expectations, double *out,
                                       cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    size_t n_indices = (size_t) schema->n_indices;
    double *bias = cellar_alloc(n_indices, sizeof *bias), n = 0;
    double *variance = cellar_alloc(n_indices, sizeof *variance);
    int found = bias != NULL && variance != NULL;

    *out = 0;
    if (found)
        expect_fill(table, expectations, bias, variance);
    for (uint64_t index = 0; found && index < schema->n_indices; index++) {
        const utility_moments *m;
        double away;
        if (!is_aggregate(schema, index))
            continue;
        m = &expectations->moments[cellar_utility_find(
            expectations, (int64_t) cellar_table_at(table, index).count)];
        away = m->bias - bias[index];
        *out += m->square - m->bias * m->bias + variance[index] + away * away;
        n++;
    }
    *out /= n;
    cellar_free(bias);
    cellar_free(variance);
    return found ? CELLAR_OK : cellar_fail_memory(err, "margins");
}
