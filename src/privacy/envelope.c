/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With g = e^epsilon, H(g) = sum_b max(0, P(b) - g Q(b)) is convex and does not increase in g >= 0,
 * H(0) = 1 and H(g) >= 1 - g; the supremum of such curves over all pairs of counts is one again.
 * Every such curve belongs to a pair of distributions (Zhu, Dong and Wang 2022, Proposition 9):
 * where its slope changes by q at g, Q has the mass q and P the mass gq, the loss being ln g; what
 * is left for large g is the mass of infinite loss. For negative epsilon H is that of the pair
 * exchanged, so the envelope covers both orders as they belong together.
 *
 * Here upper bounds of the supremum are taken at some g. The largest convex function through or
 * below them, their convex hull, lies above the whole curve, whatever the g are. */
#include "privacy/envelope.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/work.h"

enum { KINKS_MAX = 1500, EVEN_NODES = 500, COUNTS_MAX = 64, RESTS = 64 };
static const double LOSS_MAX = 600; /* larger losses count as infinite */

/* g is e^x, `value` a bound on H there. */
typedef struct node {
    double x, g, value;
} node;

typedef struct envelope {
    cellar_one_cell *cell;
    int larger_is_p;
    double tail;
    node *nodes;
    size_t n;
    double widest;                      /* of all losses */
    double rest_at[RESTS], rest[RESTS]; /* bounds on delta of all counts not looked at */
    int has_rest;
} envelope;

/* ---- which counts -------------------------------------------------------------------------- */

/* The first count whose pair is like that of a smaller count; 0 when there is none, or too many. */
static int64_t first_repeated_count(const cellar_one_cell *cell)
{
    const cellar_facts *facts = cell->m->ops->facts;
    int64_t from, period;
    if (facts == NULL || facts->period == NULL || !facts->period(cell->m, &from, &period))
        return 0;
    from = from > cell->smallest ? from : cell->smallest;
    return from + period - cell->smallest <= 1024 ? from + period : 0;
}

int cellar_envelope_exists(const cellar_one_cell *cell)
{
    const cellar_facts *facts = cell->m->ops->facts;
    return first_repeated_count(cell) > 0 || (facts != NULL && facts->bound != NULL);
}

/* ---- where to look -------------------------------------------------------------------------- */

static int by_x(const void *a, const void *b)
{
    double x = ((const node *) a)->x, y = ((const node *) b)->x;
    return (x > y) - (x < y);
}

/* Adds the losses of a pair, at which its curve bends, as long as there is room. */
static void add_kinks(envelope *e, const cellar_losses *l)
{
    const size_t stride = l->n / KINKS_MAX + 1;
    for (size_t i = 0; i < l->n; i += stride) {
        const double x = l->items[i].loss;
        if (fabs(x) > LOSS_MAX)
            continue;
        e->widest = fmax(e->widest, fabs(x) * (1 + 1e-8));
        if (e->n < KINKS_MAX)
            e->nodes[e->n++].x = x;
    }
}

/* Adds losses all over the range, closer to each other where they are small, and sorts. */
static void spread_nodes(envelope *e)
{
    const double bend = 1;
    size_t n = e->n, kept = 0;
    for (int i = 0; i <= EVEN_NODES; i++)
        e->nodes[n++].x = e->widest * sinh(bend * (2.0 * i / EVEN_NODES - 1)) / sinh(bend);
    qsort(e->nodes, n, sizeof *e->nodes, by_x);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || e->nodes[i].x > e->nodes[kept - 1].x + 1e-9 * e->widest)
            e->nodes[kept++] = (node){e->nodes[i].x, exp(e->nodes[i].x), 0};
    e->n = kept;
}

/* ---- the curve ------------------------------------------------------------------------------- */

/* H of one pair at all nodes, from the largest down. With A the Q of all losses above a node, H at
 * it is H at the next, plus their distance times A, plus what losses between the two add: sums of
 * positive terms. Q is known from the masses and losses of P: relative to it P errs by 2^-45, and
 * losses by loss_error, so that H is off by no more than `error` times the P above the node. */
static void raise_curve(envelope *e, const cellar_losses *l)
{
    const double error = 0x1p-44 + 4 * l->loss_error + (double) (l->n + e->n) * 0x1p-50;
    double value = l->infinite, mass = l->infinite, above = 0;
    size_t k = l->n;
    cellar_work_add((double) (l->n + e->n));
    for (size_t i = e->n; i-- > 0;) {
        node *at = &e->nodes[i];
        if (i + 1 < e->n)
            value += (e->nodes[i + 1].g - at->g) * above;
        for (; k > 0 && l->items[k - 1].loss > at->x; k--) {
            const cellar_loss *item = &l->items[k - 1];
            value += item->mass * -expm1(at->x - item->loss);
            above += item->mass * exp(-item->loss);
            mass += item->mass;
        }
        at->value = fmax(at->value, fmin(1, value + error * mass));
    }
}

/* Does something with the losses of all shifts at one smaller count. */
static cellar_status each_pair(envelope *e, int64_t smaller,
                               void (*take)(envelope *, const cellar_losses *), cellar_error *err)
{
    const int64_t least = cellar_facts_monotone(e->cell->m) ? e->cell->shift : 1;
    cellar_status status = CELLAR_OK;
    for (int64_t shift = e->cell->shift; shift >= least && status == CELLAR_OK; shift--) {
        cellar_losses l;
        cellar_pair pair =
            cellar_one_cell_pair(e->cell, smaller, shift, e->larger_is_p, CELLAR_NEGATIVES_KEEP);
        status = cellar_losses_create(&pair, e->tail, &l, err);
        if (status == CELLAR_OK) {
            take(e, &l);
            cellar_losses_clear(&l);
        }
    }
    return status;
}

/* A bound on H for the counts not looked at: delta at the next smaller epsilon that was asked for
 * g >= 1, and 1 - g + g H(1/g) of the pair exchanged for g < 1. */
static double rest_value(const envelope *e, const node *at)
{
    const double epsilon = fabs(at->x) * (1 - 1e-12);
    size_t i = 0;
    while (i + 1 < RESTS && e->rest_at[i + 1] <= epsilon)
        i++;
    return at->x < 0 ? fmin(1, (1 - at->g + at->g * e->rest[i]) * (1 + 0x1p-50)) : e->rest[i];
}

/* Bounds all counts from one on; answers 1 when they add nothing to the curve. */
static int find_rest(envelope *e, int64_t from)
{
    const double widest = e->nodes[e->n - 1].x;
    int is_covered = 1;
    for (size_t i = 0; i < RESTS; i++) {
        e->rest_at[i] = i == 0 ? 0 : widest * exp((double) i / (RESTS - 1) * 8 - 8);
        e->rest[i] = i > 0 && e->rest[i - 1] <= 0
                         ? 0
                         : fmin(1, e->cell->m->ops->facts->bound(e->cell->m, from, e->cell->shift,
                                                                 e->rest_at[i]));
    }
    for (size_t i = 0; i < e->n && is_covered; i++)
        is_covered = rest_value(e, &e->nodes[i]) <= e->nodes[i].value;
    e->has_rest = 1;
    return is_covered;
}

/* Nodes where some curve bends: of all pairs where rows repeat, else of the first. */
static cellar_status choose_nodes(envelope *e, cellar_error *err)
{
    const int64_t first = e->cell->smallest, end = first_repeated_count(e->cell);
    cellar_status status = CELLAR_OK;
    e->widest = 1e-9;
    for (int64_t count = first; count < (end > 0 ? end : first + 1) && status == CELLAR_OK; count++)
        status = each_pair(e, count, add_kinks, err);
    spread_nodes(e);
    return status;
}

static cellar_status raise_by_all(envelope *e, cellar_error *err)
{
    const int64_t end = first_repeated_count(e->cell), first = e->cell->smallest;
    const double work_start = cellar_work_done();
    int64_t next = first + 1;
    cellar_status status = choose_nodes(e, err);
    for (int64_t count = first; status == CELLAR_OK && (end == 0 || count < end); count++) {
        if (end == 0 && count >= next) { /* after 1, 2, 4, ... counts */
            if (find_rest(e, count) || count - first >= COUNTS_MAX ||
                cellar_work_done() - work_start >= e->cell->work_max)
                break;
            next = count + (count - first);
        }
        status = each_pair(e, count, raise_curve, err);
        if (cellar_work_done() - work_start >= e->cell->work_max)
            next = count + 1;
    }
    for (size_t i = 0; i < e->n && e->has_rest; i++)
        e->nodes[i].value = fmax(e->nodes[i].value, rest_value(e, &e->nodes[i]));
    return status;
}

/* ---- the hull ---------------------------------------------------------------------------------
 */

/* How steeply the curve falls from one node to the next: right to 2^-51 of itself. */
static double slope(const node *a, const node *b)
{
    return (a->value - b->value) / (b->g - a->g);
}

/* Keeps the nodes at which the slope rises; the first one stays, and the curve is flat after the
 * last. A node that is left out for rounding makes the curve no smaller. */
static size_t make_hull(node *nodes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && nodes[i].value >= nodes[kept - 1].value)
            continue; /* the curve does not rise */
        while (kept >= 2 &&
               slope(&nodes[kept - 2], &nodes[kept - 1]) <= slope(&nodes[kept - 1], &nodes[i]))
            kept--;
        nodes[kept++] = nodes[i];
    }
    return kept;
}

/* The pair that belongs to the hull: at a node P has g times the change of slope, rounded up. */
static cellar_status fill(const node *nodes, size_t n, cellar_losses *out, cellar_error *err)
{
    cellar_status status = cellar_losses_init(out, n, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 1; i < n; i++) {
        const double before = slope(&nodes[i - 1], &nodes[i]);
        const double after = i + 1 < n ? slope(&nodes[i], &nodes[i + 1]) : 0;
        const double change = fmax(0, before - after) + (before + after) * 0x1p-50;
        out->items[out->n++] = (cellar_loss){change * nodes[i].g * (1 + 0x1p-50), nodes[i].x, 0};
        out->loss_error = fmax(out->loss_error, fabs(nodes[i].x) * 0x1p-51 + 0x1p-60);
    }
    out->infinite = nodes[n - 1].value;
    return CELLAR_OK;
}

cellar_status cellar_envelope_create(cellar_one_cell *cell, int larger_is_p, double tail,
                                     cellar_losses *out, cellar_error *err)
{
    envelope e = {.cell = cell, .larger_is_p = larger_is_p, .tail = tail};
    cellar_status status = CELLAR_OK;
    node *nodes = cellar_alloc(KINKS_MAX + EVEN_NODES + 4, sizeof *nodes);
    *out = (cellar_losses){0};
    if (nodes == NULL)
        return cellar_fail_memory(err, "an envelope");
    nodes[0] = (node){-INFINITY, 0, 1};
    e.nodes = nodes + 1;
    CELLAR_TRY(raise_by_all(&e, err));
    CELLAR_TRY(fill(nodes, make_hull(nodes, e.n + 1), out, err));
out:
    cellar_free(nodes);
    return status;
}
