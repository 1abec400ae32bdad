/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers from the total downwards, for tables too large to search.
 *
 * The total is rounded. Variables that no margin sums over come first: the total is divided among
 * all combinations of their categories. Each part is then divided among the categories of the first
 * variable that has a total, each of these among those of the second, and so on, every time by
 * largest remainders. So the totals over the last variables stay within one of what they were;
 * those over the first ones need not. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/rounding.h"
#include "table/schema/schema.h"

typedef struct greedy_part {
    double fraction;
    uint64_t index;
} greedy_part;

typedef struct greedy {
    cellar_rounding *rounding;
    const cellar_schema *schema;
    greedy_part *parts; /* of one division; impossible cells are not among them */
    size_t n_parts;
    double rest; /* of the whole that is divided: what the parts do not have yet */
} greedy;

static int greedy_compare(const void *a, const void *b)
{
    const greedy_part *x = a, *y = b;
    if (x->fraction != y->fraction)
        return x->fraction > y->fraction ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void greedy_begin(greedy *g, double whole)
{
    g->n_parts = 0;
    g->rest = whole;
}

/* A part takes the whole number below it. */
static void greedy_offer(greedy *g, uint64_t index)
{
    const double before = g->rounding->before[index], whole = floor(before + 1e-9);
    g->rounding->value[index] = whole;
    g->rest -= whole;
    if (before > 0)
        g->parts[g->n_parts++] = (greedy_part){before - whole, index};
}

/* Gives the rest to the parts with the largest remainders. The parts have too much only when the
 * whole was itself rounded down. */
static void greedy_share(greedy *g)
{
    double *value = g->rounding->value;
    const size_t n = g->n_parts;
    qsort(g->parts, n, sizeof *g->parts, greedy_compare);
    for (size_t k = 0; g->rest > 0.5 && n > 0; k = k + 1 < n ? k + 1 : 0) {
        value[g->parts[k].index]++;
        g->rest--;
    }
    for (size_t k = n; g->rest < -0.5 && n > 0;) {
        k = k > 0 ? k - 1 : n - 1;
        if (value[g->parts[k].index] > 0) {
            value[g->parts[k].index]--;
            g->rest++;
        }
    }
}

/* Divides the whole number at `index`, whose variables from v on stand at their totals, among the
 * leaves of v. */
static void greedy_divide(greedy *g, uint64_t index, size_t v)
{
    const schema_axis *axis = &g->schema->axes[v];
    const uint64_t first = index - (axis->n_categories - 1) * axis->stride;
    greedy_begin(g, g->rounding->value[index]);
    for (uint32_t c = 0; c < axis->n_leaves; c++)
        greedy_offer(g, first + c * axis->stride);
    greedy_share(g);
}

static void greedy_collect(greedy *g, uint64_t index, size_t v)
{
    (void) v;
    greedy_offer(g, index);
}

/* Visits all cells whose variables before v are leaves, and the others at their totals where they
 * have one. `index` begins with every such total and the first leaf of the other variables. */
static void greedy_visit(greedy *g, size_t v, size_t depth, uint64_t index,
                         void (*work)(greedy *g, uint64_t index, size_t v))
{
    if (depth == g->schema->n_variables) {
        work(g, index, v);
        return;
    }
    const schema_axis *axis = &g->schema->axes[depth];
    if (axis->has_total && depth >= v) {
        greedy_visit(g, v, depth + 1, index, work);
        return;
    }
    const uint64_t first =
        axis->has_total ? index - (axis->n_categories - 1) * axis->stride : index;
    for (uint32_t c = 0; c < axis->n_leaves; c++)
        greedy_visit(g, v, depth + 1, first + c * axis->stride, work);
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

/* Where a visit begins, and how many parts the largest division has. */
static uint64_t greedy_start(const cellar_schema *schema, size_t *most_parts)
{
    uint64_t start = 0;
    size_t together = 1, longest = 1;
    for (size_t v = 0; v < schema->n_variables; v++) {
        const schema_axis *axis = &schema->axes[v];
        if (axis->has_total) {
            start += (axis->n_categories - 1) * axis->stride;
            longest = axis->n_leaves > longest ? axis->n_leaves : longest;
        } else
            together *= axis->n_leaves;
    }
    *most_parts = together > longest ? together : longest;
    return start;
}

static double greedy_total(const cellar_rounding *rounding)
{
    double sum = 0;
    for (size_t i = 0; i < rounding->n; i++)
        if (cellar_schema_is_interior(rounding->fit->schema, i))
            sum += rounding->before[i];
    return nearbyint(sum);
}

cellar_status cellar_rounding_greedy(cellar_rounding *rounding, cellar_error *err)
{
    const cellar_schema *schema = rounding->fit->schema;
    greedy g = {.rounding = rounding, .schema = schema};
    size_t most_parts;
    const uint64_t start = greedy_start(schema, &most_parts);
    g.parts = cellar_alloc(most_parts, sizeof *g.parts);
    if (g.parts == NULL)
        return cellar_fail_memory(err, "a rounding");
    greedy_begin(&g, greedy_total(rounding));
    greedy_visit(&g, 0, 0, start, greedy_collect);
    greedy_share(&g);
    for (size_t v = 0; v < schema->n_variables; v++)
        if (schema->axes[v].has_total)
            greedy_visit(&g, v, 0, start, greedy_divide);
    cellar_free(g.parts);
    rounding->proof = CELLAR_ROUNDING_GREEDY;
    rounding->bound = greedy_bound(rounding);
    return CELLAR_OK;
}
