/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/exposure/exposure_minimum.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Branch and bound. A choice is a step i_j of each column: then Q_j costs below[i_j], t_j may be
 * anything up to share[i_j], and the best t_j are found in closed form (a convex problem). A node
 * allows a range of steps in each column. Its lower bound is the Lagrangian dual of the constraint
 * sum ln t_j >= ln t,
 *     D(lambda) = lambda ln t + sum_j min over (i, t <= share_i) of below_i + weight t - lambda ln
 * t, which is concave in lambda and separable in the columns: each minimum is attained at a vertex
 * of the lower convex hull of the points (ln share_i, below_i + weight share_i), or at t =
 * lambda/weight in the first step that reaches so far. The best lambda lies where sum ln t_j
 * crosses ln t; the column whose minimiser jumps there is the one whose range is split. */

/* Costs lie in [0,1]: what is within this of the minimum is the minimum. */
static const double minimum_tolerance = 1e-13;
/* Relative slack for products of shares that equal the threshold but for rounding. */
static const double minimum_rounding = 2e-14;

/* The steps that a node allows a column, and the hull over them. */
typedef struct range {
    size_t first, last;
    size_t n_vertices;
    uint32_t *vertices; /* steps, ascending */
} range;

typedef struct choice {
    size_t step;
    double x; /* ln t */
} choice;

typedef struct search {
    const minimum_column *columns;
    size_t n;
    double log_t;
    uint64_t max_nodes;
    range ranges[MINIMUM_MAX_COLUMNS];
    minimum_solution *best;
    double open; /* the least lower bound among nodes left unexplored */
    int out_of_memory;
} search;

static double column_cost(const minimum_column *column, size_t i)
{
    return column->below[i] + column->weight * column->share[i];
}

/* ---- hulls ------------------------------------------------------------------ */

/* 1 when b lies on or above the line from a to c. */
static int hull_drops(const minimum_column *column, size_t a, size_t b, size_t c)
{
    double xa = column->log_share[a], xb = column->log_share[b], xc = column->log_share[c];
    double ya = column_cost(column, a), yb = column_cost(column, b), yc = column_cost(column, c);
    return (yb - ya) * (xc - xa) >= (yc - ya) * (xb - xa);
}

static int range_make(const minimum_column *column, size_t first, size_t last, range *out)
{
    *out = (range){first, last, 0, cellar_alloc(last - first + 1, sizeof *out->vertices)};
    if (out->vertices == NULL)
        return 0;
    for (size_t i = first; i <= last; i++) {
        while (out->n_vertices >= 2 && hull_drops(column, out->vertices[out->n_vertices - 2],
                                                  out->vertices[out->n_vertices - 1], i))
            out->n_vertices--;
        out->vertices[out->n_vertices++] = (uint32_t) i;
    }
    return 1;
}

/* The vertex with the least cost - lambda x: the first after which the hull is steeper. */
static size_t range_vertex(const minimum_column *column, const range *r, double lambda)
{
    size_t low = 0, high = r->n_vertices - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2, a = r->vertices[middle],
               b = r->vertices[middle + 1];
        double rise = column_cost(column, b) - column_cost(column, a);
        if (rise < lambda * (column->log_share[b] - column->log_share[a]))
            low = middle + 1;
        else
            high = middle;
    }
    return r->vertices[low];
}

/* The first step of the range that reaches x, or the last one. */
static size_t range_reach(const minimum_column *column, const range *r, double x)
{
    size_t low = r->first, high = r->last;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (column->log_share[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the dual --------------------------------------------------------------- */

static double range_minimum(const minimum_column *column, const range *r, double lambda, choice *at)
{
    size_t vertex = range_vertex(column, r, lambda);
    double value = column_cost(column, vertex) - lambda * column->log_share[vertex];
    *at = (choice){vertex, column->log_share[vertex]};
    if (column->weight > 0) {
        double x = log(lambda / column->weight);
        size_t step = range_reach(column, r, x);
        double t, inner;
        x = fmin(x, column->log_share[step]);
        t = exp(x);
        inner = column->below[step] + column->weight * t - lambda * x;
        if (inner < value) {
            value = inner;
            *at = (choice){step, x};
        }
    }
    return value;
}

/* D(lambda), and whether its minimisers meet the constraint. */
static double search_dual(const search *s, double lambda, choice *choices, int *feasible)
{
    double value = lambda * s->log_t, sum = 0;
    for (size_t j = 0; j < s->n; j++) {
        value += range_minimum(&s->columns[j], &s->ranges[j], lambda, &choices[j]);
        sum += choices[j].x;
    }
    *feasible = sum >= s->log_t - minimum_rounding;
    return value;
}

/* The largest D, and the minimisers on both sides of it: below they miss the constraint, above they
 * meet it. */
static double search_bound(const search *s, choice *below, choice *above)
{
    enum { ROUNDS = 70 };
    double low = -600, high = 300, best; /* ln lambda */
    choice choices[MINIMUM_MAX_COLUMNS];
    int feasible;

    best = search_dual(s, exp(low), below, &feasible);
    memcpy(above, below, s->n * sizeof *above);
    if (feasible)
        return best;
    best = fmax(best, search_dual(s, exp(high), above, &feasible));
    for (int round = 0; round < ROUNDS; round++) {
        double middle = low + (high - low) / 2;
        best = fmax(best, search_dual(s, exp(middle), choices, &feasible));
        memcpy(feasible ? above : below, choices, s->n * sizeof *choices);
        if (feasible)
            high = middle;
        else
            low = middle;
    }
    return best;
}

/* ---- one choice of steps ---------------------------------------------------- */

/* The weighted thresholds share what is left of ln t so that weight t is the same for all, except
 * for those that reach the end of their step. Answers 0 when even the ends do not do. */
static int choice_fill(const search *s, const choice *choices, double *x)
{
    double needed = s->log_t, level = INFINITY;
    size_t n_free = 0;
    char is_free[MINIMUM_MAX_COLUMNS];

    for (size_t j = 0; j < s->n; j++) {
        const minimum_column *column = &s->columns[j];
        is_free[j] = column->weight > 0;
        x[j] = column->log_share[choices[j].step];
        if (is_free[j]) {
            needed += log(column->weight);
            n_free++;
        } else {
            needed -= x[j];
        }
    }
    for (int changed = 1; changed && n_free > 0;) {
        changed = 0;
        level = needed / (double) n_free;
        for (size_t j = 0; j < s->n; j++) {
            double log_weight;
            if (!is_free[j])
                continue;
            log_weight = log(s->columns[j].weight);
            if (level - log_weight <= x[j])
                continue;
            is_free[j] = 0;
            n_free--;
            needed -= x[j] + log_weight;
            changed = 1;
        }
    }
    for (size_t j = 0; j < s->n; j++)
        if (is_free[j])
            x[j] = level - log(s->columns[j].weight);
    return n_free > 0 || needed <= minimum_rounding;
}

static void search_try(search *s, const choice *choices)
{
    double x[MINIMUM_MAX_COLUMNS], value = 0;
    if (!choice_fill(s, choices, x))
        return;
    for (size_t j = 0; j < s->n; j++)
        value += s->columns[j].below[choices[j].step] + s->columns[j].weight * exp(x[j]);
    if (!(value < s->best->value))
        return;
    s->best->value = value;
    for (size_t j = 0; j < s->n; j++)
        s->best->thresholds[j] = x[j] < s->columns[j].log_share[choices[j].step]
                                     ? exp(x[j])
                                     : s->columns[j].share[choices[j].step];
}

/* Moves one column at a time to the best step near its own, as long as that helps: good answers
 * early make for few nodes. */
static void search_polish(search *s, choice *choices)
{
    enum { REACH = 2, ROUNDS = 8 };
    double before = INFINITY;
    for (int round = 0; round < ROUNDS && s->best->value < before; round++) {
        before = s->best->value;
        for (size_t j = 0; j < s->n; j++) {
            size_t own = choices[j].step, best_step = own, n = s->columns[j].n;
            double best = s->best->value;
            for (size_t i = own >= REACH ? own - REACH : 0; i < n && i <= own + REACH; i++) {
                choices[j].step = i;
                search_try(s, choices);
                if (s->best->value < best) {
                    best = s->best->value;
                    best_step = i;
                }
            }
            choices[j].step = best_step;
        }
    }
}

/* ---- the tree --------------------------------------------------------------- */

static int search_can_reach(const search *s)
{
    double sum = 0;
    for (size_t j = 0; j < s->n; j++)
        sum += s->columns[j].log_share[s->ranges[j].last];
    return sum >= s->log_t - minimum_rounding;
}

/* The column whose minimiser jumps farthest where the constraint is met, and the last step of its
 * lower part: near where the constraint would be met exactly. s->n when there is none. */
static size_t search_split(const search *s, const choice *below, const choice *above, size_t *at)
{
    size_t column = s->n, a, b, step;
    double widest = -1, missing = s->log_t;
    for (size_t j = 0; j < s->n; j++) {
        missing -= below[j].x;
        if (below[j].step != above[j].step && fabs(above[j].x - below[j].x) > widest) {
            widest = fabs(above[j].x - below[j].x);
            column = j;
        }
    }
    if (column == s->n)
        return column;
    a = below[column].step < above[column].step ? below[column].step : above[column].step;
    b = below[column].step < above[column].step ? above[column].step : below[column].step;
    step = range_reach(&s->columns[column], &s->ranges[column], below[column].x + missing);
    *at = step < a ? a : step >= b ? b - 1 : step;
    return column;
}

static void search_node(search *s, int depth);

static void search_part(search *s, size_t column, size_t first, size_t last, int depth)
{
    range whole = s->ranges[column];
    if (!range_make(&s->columns[column], first, last, &s->ranges[column])) {
        s->out_of_memory = 1;
    } else {
        search_node(s, depth);
        cellar_free(s->ranges[column].vertices);
    }
    s->ranges[column] = whole;
}

/* Depth first: a node holds one hull, and the path to it at most a few hundred. */
static void search_node(search *s, int depth)
{
    enum { MAX_DEPTH = 2000 };
    choice below[MINIMUM_MAX_COLUMNS] = {{0, 0}}, above[MINIMUM_MAX_COLUMNS] = {{0, 0}};
    choice moved[MINIMUM_MAX_COLUMNS];
    double bound;
    size_t column, at;

    if (s->out_of_memory || !search_can_reach(s))
        return;
    bound = search_bound(s, below, above);
    if (bound >= s->best->value - minimum_tolerance)
        return;
    if (s->best->n_nodes++ >= s->max_nodes || depth > MAX_DEPTH) {
        s->open = fmin(s->open, bound);
        return;
    }
    memcpy(moved, above, sizeof moved);
    search_try(s, above);
    search_polish(s, moved);
    column = search_split(s, below, above, &at);
    if (column == s->n) { /* the dual and the choice agree but for rounding */
        s->open = fmin(s->open, bound);
        return;
    }
    search_part(s, column, at + 1, s->ranges[column].last, depth + 1);
    search_part(s, column, s->ranges[column].first, at, depth + 1);
}

cellar_status cellar_exposure_minimise(const minimum_column *columns, size_t n, double log_t,
                                       double known, uint64_t max_nodes, minimum_solution *solution,
                                       cellar_error *err)
{
    search s = {.columns = columns,
                .n = n,
                .log_t = log_t,
                .max_nodes = max_nodes,
                .best = solution,
                .open = INFINITY};
    size_t made = 0;

    CELLAR_ASSERT(n <= MINIMUM_MAX_COLUMNS);
    *solution = (minimum_solution){.value = known};
    while (made < n && range_make(&columns[made], 0, columns[made].n - 1, &s.ranges[made]))
        made++;
    if (made == n)
        search_node(&s, 0);
    for (size_t j = 0; j < made; j++)
        cellar_free(s.ranges[j].vertices);
    if (made < n || s.out_of_memory)
        return cellar_fail_memory(err, "the search for the least bound");
    solution->lower = fmin(s.open, solution->value - minimum_tolerance);
    if (!(solution->value < known))
        solution->value = INFINITY;
    return CELLAR_OK;
}
