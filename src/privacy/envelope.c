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
#include "math/ball.h"
#include "privacy/envelope_laws.h"

enum { KINKS_MAX = 800, EVEN_NODES = 300 };
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

/* The ratios of the pairs, at which their curves bend, first pair first; and evenly spaced losses
 * between them. Any choice gives a bound. Answers how many. */
static size_t nodes_choose(const cellar_laws *l, int larger, node *nodes)
{
    double widest = 1;
    size_t n = 0, kept = 0, p, q;
    for (size_t k = 0; cellar_laws_pair(l, k, larger, &p, &q); k++)
        for (size_t j = 0; j < l->width; j++) {
            double up = l->upper[p * l->width + j], low = l->lower[q * l->width + j];
            double loss = up > 0 && low > 0 ? log(up / low) : NAN;
            if (!(fabs(loss) <= LOSS_MAX))
                continue;
            widest = k == 0 || !l->is_bounded ? fmax(widest, fabs(loss)) : widest;
            if (n < KINKS_MAX)
                nodes[n++].g = exp(loss);
        }
    for (int i = 0; i <= EVEN_NODES; i++)
        nodes[n++].g = exp(widest * (2.0 * i / EVEN_NODES - 1));
    qsort(nodes, n, sizeof *nodes, compare_nodes);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || nodes[i].g > nodes[kept - 1].g * (1 + 1e-9))
            nodes[kept++] = nodes[i];
    return kept;
}

/* ---- the hull ---------------------------------------------------------------------------------
 */

/* (b.value - a.value) (c.g - b.g) - (c.value - b.value) (b.g - a.g), exactly: negative when the
 * slope rises at b. */
static void hull_turn(const node *a, const node *b, const node *c, arf_t out)
{
    arf_t x, y, z;
    arf_init(x);
    arf_init(y);
    arf_init(z);
    arf_set_d(x, b->value);
    arf_set_d(y, a->value);
    arf_sub(x, x, y, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_set_d(y, c->g);
    arf_set_d(z, b->g);
    arf_sub(y, y, z, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_mul(out, x, y, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_set_d(x, c->value);
    arf_set_d(y, b->value);
    arf_sub(x, x, y, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_set_d(y, a->g);
    arf_sub(y, z, y, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_mul(x, x, y, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_sub(out, out, x, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_clear(x);
    arf_clear(y);
    arf_clear(z);
}

/* Keeps the nodes at which the slope rises; the first one stays, and the curve is flat after the
 * last. */
static size_t hull_make(node *nodes, size_t n)
{
    size_t kept = 0;
    arf_t turn;
    arf_init(turn);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && nodes[i].value >= nodes[kept - 1].value)
            continue; /* the curve does not rise */
        while (kept >= 2) {
            hull_turn(&nodes[kept - 2], &nodes[kept - 1], &nodes[i], turn);
            if (arf_sgn(turn) < 0)
                break;
            kept--;
        }
        nodes[kept++] = nodes[i];
    }
    arf_clear(turn);
    return kept;
}

/* The mass of P at node b, rounded up: g times the change of slope. `c` is NULL after the last. */
static double hull_mass(const node *a, const node *b, const node *c)
{
    double mass;
    arf_t exact;
    arb_t value, width;
    arf_init(exact);
    arb_init(value);
    arb_init(width);
    arb_set_d(width, b->g);
    arb_set_d(value, a->g);
    arb_sub(width, width, value, 256);
    if (c != NULL) {
        hull_turn(a, b, c, exact);
        arb_set_arf(value, exact);
        arb_neg(value, value);
        arb_div(value, value, width, 256);
        arf_set_d(exact, c->g);
        arb_set_arf(width, exact);
        arf_set_d(exact, b->g);
        arb_sub_arf(width, width, exact, 256);
    } else {
        arb_set_d(value, a->value);
        arf_set_d(exact, b->value);
        arb_sub_arf(value, value, exact, 256);
    }
    arb_div(value, value, width, 256);
    arf_set_d(exact, b->g);
    arb_mul_arf(value, value, exact, 256);
    mass = cellar_ball_upper(value);
    arf_clear(exact);
    arb_clear(value);
    arb_clear(width);
    return mass;
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

/* The corners of the curve: *n of them in `nodes`, which has room for all. */
static cellar_status curve_make(const cellar_reach *reach, int larger, double tail, node *nodes,
                                size_t *n, cellar_error *err)
{
    cellar_laws l = {0};
    cellar_status status = cellar_laws_init(&l, reach, tail, err);
    CELLAR_TRY(status);
    nodes[0] = (node){0, 1};
    *n = 1 + nodes_choose(&l, larger, nodes + 1);
    CELLAR_TRY(cellar_laws_curve(&l, larger, nodes + 1, *n - 1, err));
    *n = hull_make(nodes, *n);
out:
    cellar_laws_clear(&l);
    return status;
}

/* Remembered where no tail is left out. */
static cellar_status curve_find(const cellar_reach *reach, int larger, double tail, node *nodes,
                                size_t *n, cellar_error *err)
{
    cellar_curve *known =
        cellar_laws_are_flat(reach)
            ? cellar_pair_cache_curve(reach->cache, reach->m, reach->shift, reach->smallest, larger)
            : NULL;
    cellar_status status;
    if (known != NULL && known->nodes != NULL) {
        *n = known->n;
        memcpy(nodes, known->nodes, *n * sizeof *nodes);
        return CELLAR_OK;
    }
    status = curve_make(reach, larger, tail, nodes, n, err);
    if (status == CELLAR_OK && known != NULL) {
        known->n = *n;
        known->nodes = cellar_alloc(*n, sizeof *nodes); /* or it is not remembered */
        if (known->nodes != NULL)
            memcpy(known->nodes, nodes, *n * sizeof *nodes);
    }
    return status;
}

cellar_status cellar_envelope_create(const cellar_reach *reach, int larger, double tail,
                                     cellar_atoms *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    node *nodes = cellar_alloc(KINKS_MAX + EVEN_NODES + 2, sizeof *nodes);
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
