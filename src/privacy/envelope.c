/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With g = e^epsilon, H(g) = sum_b max(0, P(b) - g Q(b)) is convex and does not increase in g >= 0,
 * H(0) = 1 and H(g) >= 1 - g; the supremum of such curves over all pairs of counts is one again.
 * Every such curve belongs to a pair of laws (Zhu, Dong and Wang 2022, Proposition 9): where its
 * slope changes by q at g, Q has the mass q and P the mass gq, the loss being ln g; what is left
 * for large g is the mass of infinite loss. For negative epsilon H is that of the pair exchanged,
 * so the envelope covers both orders as they belong together.
 *
 * Here the supremum is taken at some g. The largest convex function through or below upper bounds
 * of its values there, their convex hull, lies above the whole curve. Values are sums over doubles
 * that were rounded from balls to the safe side. */
#include "privacy/envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "privacy/envelope_laws.h"

enum { KINKS_MAX = 3600, KINKS_FEW = 1000, KINKS_LOW = 600, EVEN_NODES = 600 };
static const double LOSS_MAX = 600; /* larger losses count as infinite */

/* g is e^epsilon, `value` a bound on H there. */
typedef cellar_curve_node node;

int cellar_envelope_exists(const cellar_reach *reach)
{
    int64_t n;
    return cellar_laws_exist(reach, &n);
}

/* ---- where to look -------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
    double x = ((const node *) a)->g, y = ((const node *) b)->g;
    return (x > y) - (x < y);
}

/* The ratio of the j-th number of a pair goes to *loss: 0 where it is not finite. */
static int loss_at(const cellar_laws *l, size_t p, size_t q, size_t j, double *loss)
{
    double up = l->upper[p * l->width + j], low = l->lower[q * l->width + j];
    *loss = up > 0 && low > 0 ? log(up / low) : NAN;
    return fabs(*loss) <= LOSS_MAX;
}

/* Some of the many ratios of a pair: those of the first numbers, and then such that no mass beyond
 * a number, on the nearer side of it, falls by much more than on average before the next is taken.
 */
static size_t kinks_of_wide(const cellar_laws *l, size_t p, size_t q, size_t most, node *nodes)
{
    const double *own = l->upper + p * l->width, *other = l->upper + q * l->width;
    const double body = 40; /* so much counts what lies between the tails */
    double total = 0, below = 0, range = 0, step, last = 0, loss;
    size_t n = 0;
    for (size_t j = 0; j < l->width; j++)
        total += own[j] + other[j];
    range = 2 * log(total) - log(own[0] + other[0]) - log(own[l->width - 1] + other[l->width - 1]);
    step = (body + fmax(range, 1)) / (double) (most - KINKS_LOW);
    for (size_t j = 0; j < l->width && n < most; j++) {
        double at;
        below += own[j] + other[j];
        at = below < total / 2 ? log(below) : 2 * log(total / 2) - log(fmax(total - below, 1e-300));
        at += body * below / total;
        if (j >= KINKS_LOW && at - last < step)
            continue;
        last = at;
        if (loss_at(l, p, q, j, &loss))
            nodes[n++].g = exp(loss);
    }
    return n;
}

/* The ratios of the pairs, at which their curves bend, first pair first; and losses all over their
 * range. Any choice gives a bound. Answers how many. */
static size_t nodes_choose(const cellar_laws *l, int larger, node *nodes)
{
    const size_t most = l->reach->shift > 2 ? KINKS_FEW : KINKS_MAX; /* pairs are many, or not */
    const int is_wide = l->width > most;
    double widest = 1, bend, loss;
    size_t n = 0, kept = 0, p, q;
    for (size_t k = 0; cellar_laws_pair(l, k, larger, &p, &q); k++) {
        if (is_wide && k == 0)
            n = kinks_of_wide(l, p, q, most, nodes);
        if (k > 0 && l->is_bounded && (is_wide || n == most))
            break;
        for (size_t j = 0; j < l->width; j++) {
            if (!loss_at(l, p, q, j, &loss))
                continue;
            widest = k == 0 || !l->is_bounded ? fmax(widest, fabs(loss)) : widest;
            if (n < most && !is_wide)
                nodes[n++].g = exp(loss);
        }
    }
    widest *= 1 + 1e-8;       /* beyond all of them */
    bend = log1p(widest) / 2; /* closer to each other where losses are small */
    for (int i = 0; i <= EVEN_NODES; i++)
        nodes[n++].g = exp(widest * sinh(bend * (2.0 * i / EVEN_NODES - 1)) / sinh(bend));
    for (size_t i = 0; l->is_bounded && i < CELLAR_LAWS_RESTS && l->rest_at[i] < widest; i++)
        for (int sign = -1; sign <= 1; sign += 2) /* where the bound of all others falls */
            nodes[n++].g = exp(sign * l->rest_at[i] * (1 + 1e-9));
    qsort(nodes, n, sizeof *nodes, compare_nodes);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || nodes[i].g > nodes[kept - 1].g * (1 + 1e-9))
            nodes[kept++] = nodes[i];
    return kept;
}

/* ---- the hull ---------------------------------------------------------------------------------
 */

/* How steeply the curve falls from one node to the next, right to 2^-62. */
static long double hull_slope(const node *a, const node *b)
{
    return ((long double) a->value - b->value) / ((long double) b->g - a->g);
}

/* Keeps the nodes at which the slope rises; the first one stays, and the curve is flat after the
 * last. A node that is left out for rounding makes the curve no smaller. */
static size_t hull_make(node *nodes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && nodes[i].value >= nodes[kept - 1].value)
            continue; /* the curve does not rise */
        while (kept >= 2 && hull_slope(&nodes[kept - 2], &nodes[kept - 1]) <=
                                hull_slope(&nodes[kept - 1], &nodes[i]))
            kept--;
        nodes[kept++] = nodes[i];
    }
    return kept;
}

/* The mass of P at node b, rounded up: g times the change of slope. `c` is NULL after the last. */
static double hull_mass(const node *a, const node *b, const node *c)
{
    long double before = hull_slope(a, b), after = c != NULL ? hull_slope(b, c) : 0;
    long double change = fmaxl(0, before - after) + (before + after) * 0x1p-61L;
    return (double) (change * b->g) * (1 + 0x1p-51);
}

/* ---- the pair ------------------------------------------------------------------------------ */

static cellar_status envelope_fill(const node *nodes, size_t n, cellar_atoms *out,
                                   cellar_error *err)
{
    out->items = cellar_alloc(n, sizeof *out->items);
    if (out->items == NULL)
        return cellar_fail_memory(err, "an envelope");
    for (size_t i = 1; i < n; i++) {
        cellar_atom *atom = &out->items[out->n++];
        atom->mass = hull_mass(&nodes[i - 1], &nodes[i], i + 1 < n ? &nodes[i + 1] : NULL);
        atom->loss = log(nodes[i].g);
        out->loss_error = fmax(out->loss_error, fabs(atom->loss) * 0x1p-51 + 0x1p-80);
    }
    out->infinite = nodes[n - 1].value;
    return CELLAR_OK;
}

enum { NODES = KINKS_MAX + EVEN_NODES + 2 * CELLAR_LAWS_RESTS + 2 };

/* The corners of the curve: *n of them in `nodes`, which has room for all. */
static cellar_status curve_make(const cellar_laws *l, int larger, node *nodes, size_t *n,
                                cellar_error *err)
{
    cellar_status status;
    nodes[0] = (node){0, 1};
    *n = 1 + nodes_choose(l, larger, nodes + 1);
    status = cellar_laws_curve(l, larger, nodes + 1, *n - 1, err);
    *n = hull_make(nodes, *n);
    return status;
}

/* Remembers a curve, if there is memory for it. */
static void curve_keep(cellar_curve *known, const node *nodes, size_t n, double tail)
{
    cellar_free(known->nodes);
    known->nodes = cellar_alloc(n, sizeof *nodes);
    known->n = n;
    known->tail = tail;
    if (known->nodes != NULL)
        memcpy(known->nodes, nodes, n * sizeof *nodes);
}

/* That of the other order is made on the way, where it will be remembered: laws take longest. */
static cellar_status curves_make(const cellar_reach *reach, int larger, double tail, node *nodes,
                                 size_t *n, cellar_error *err)
{
    cellar_laws l = {0};
    cellar_status status = cellar_laws_init(&l, reach, tail, err);
    tail = l.is_flat ? 0 : tail;
    for (int k = 0; k < 2 && status == CELLAR_OK; k++) {
        int side = k == 0 ? !larger : larger; /* the one asked for comes last, and stays */
        cellar_curve *known =
            cellar_pair_cache_curve(reach->cache, reach->m, reach->shift, reach->smallest, side);
        if (k == 0 && (known == NULL || (known->nodes != NULL && known->tail <= tail)))
            continue;
        status = curve_make(&l, side, nodes, n, err);
        if (status == CELLAR_OK && known != NULL)
            curve_keep(known, nodes, *n, tail);
    }
    cellar_laws_clear(&l);
    return status;
}

/* One that leaves out less does as well. */
static cellar_status curve_find(const cellar_reach *reach, int larger, double tail, node *nodes,
                                size_t *n, cellar_error *err)
{
    const cellar_curve *known =
        cellar_pair_cache_curve(reach->cache, reach->m, reach->shift, reach->smallest, larger);
    if (known == NULL || known->nodes == NULL || known->tail > tail)
        return curves_make(reach, larger, tail, nodes, n, err);
    *n = known->n;
    memcpy(nodes, known->nodes, *n * sizeof *nodes);
    return CELLAR_OK;
}

cellar_status cellar_envelope_create(const cellar_reach *reach, int larger, double tail,
                                     cellar_atoms *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    node *nodes = cellar_alloc(NODES, sizeof *nodes);
    size_t n;

    *out = (cellar_atoms){0};
    fmpq_init(out->offset);
    fmpq_init(out->spacing);
    if (nodes == NULL)
        return cellar_fail_memory(err, "an envelope");
    CELLAR_TRY(curve_find(reach, larger, tail, nodes, &n, err));
    CELLAR_TRY(envelope_fill(nodes, n, out, err));
out:
    cellar_free(nodes);
    if (status != CELLAR_OK)
        cellar_atoms_clear(out);
    return status;
}
