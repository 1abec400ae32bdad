/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers from the total downwards, for tables too large to search.
 *
 * The total is rounded; then it is divided among the categories of the first variable, each of
 * these among the categories of the second, and so on, every time by largest remainders. So the
 * totals over the last variables stay within one of what they were; those over the first ones need
 * not. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/rounding.h"
#include "table/schema/schema.h"

typedef struct greedy_part {
    double fraction;
    uint32_t leaf;
} greedy_part;

typedef struct greedy {
    cellar_rounding *rounding;
    const cellar_schema *schema;
    greedy_part *parts; /* of one division; as many as the longest variable has leaves */
} greedy;

static int greedy_compare(const void *a, const void *b)
{
    const greedy_part *x = a, *y = b;
    if (x->fraction != y->fraction)
        return x->fraction > y->fraction ? -1 : 1;
    return x->leaf < y->leaf ? -1 : 1;
}

/* Divides the whole number at `index`, whose variables from v on stand at their totals, among the
 * leaves of v. The parts' floors add up to more than
 * the whole only when it was itself rounded down. */
static void greedy_divide(greedy *g, uint64_t index, size_t v)
{
    const schema_axis *axis = &g->schema->axes[v];
    const uint64_t first = index - (axis->n_categories - 1) * axis->stride;
    double *value = g->rounding->value, rest = value[index];
    uint32_t n_positive = 0; /* impossible cells are not among them */
    for (uint32_t c = 0; c < axis->n_leaves; c++) {
        const uint64_t at = first + c * axis->stride;
        const double before = g->rounding->before[at], whole = floor(before + 1e-9);
        value[at] = whole;
        rest -= whole;
        if (before > 0)
            g->parts[n_positive++] = (greedy_part){before - whole, c};
    }
    qsort(g->parts, n_positive, sizeof *g->parts, greedy_compare);
    for (uint32_t k = 0; rest > 0.5 && n_positive > 0; k = k + 1 < n_positive ? k + 1 : 0) {
        value[first + g->parts[k].leaf * axis->stride]++;
        rest--;
    }
    for (uint32_t k = n_positive; rest < -0.5 && n_positive > 0;) {
        k = k > 0 ? k - 1 : n_positive - 1;
        double *part = &value[first + g->parts[k].leaf * axis->stride];
        if (*part > 0) {
            (*part)--;
            rest++;
        }
    }
}

/* All cells whose first v variables are leaves and whose others stand at their totals. */
static void greedy_level(greedy *g, size_t v, size_t depth, uint64_t index)
{
    if (depth == v) {
        greedy_divide(g, index, v);
        return;
    }
    const schema_axis *axis = &g->schema->axes[depth];
    const uint64_t first = index - (axis->n_categories - 1) * axis->stride;
    for (uint32_t c = 0; c < axis->n_leaves; c++)
        greedy_level(g, v, depth + 1, first + c * axis->stride);
}

/* No rounding is nearer than every cell at its nearest whole number. */
static double greedy_bound(const cellar_rounding *rounding)
{
    double sum = 0;
    for (size_t i = 0; i < rounding->n; i++)
        if (cellar_schema_is_interior(rounding->fit->schema, i))
            sum += fabs(rounding->before[i] - nearbyint(rounding->before[i]));
    return sum;
}

cellar_status cellar_rounding_greedy(cellar_rounding *rounding, cellar_error *err)
{
    const cellar_schema *schema = rounding->fit->schema;
    greedy g = {.rounding = rounding, .schema = schema};
    size_t longest = 0;
    for (size_t v = 0; v < schema->n_variables; v++)
        longest = schema->axes[v].n_leaves > longest ? schema->axes[v].n_leaves : longest;
    g.parts = cellar_alloc(longest, sizeof *g.parts);
    if (g.parts == NULL)
        return cellar_fail_memory(err, "a rounding");
    const uint64_t total = schema->n_indices - 1; /* every variable at its last category */
    rounding->value[total] = nearbyint(rounding->before[total]);
    for (size_t v = 0; v < schema->n_variables; v++)
        greedy_level(&g, v, 0, total);
    cellar_free(g.parts);
    rounding->proof = CELLAR_ROUNDING_GREEDY;
    rounding->bound = greedy_bound(rounding);
    return CELLAR_OK;
}
