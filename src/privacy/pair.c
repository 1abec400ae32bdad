/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair_measures.h"

#include <math.h>

#include "math/ball.h"
#include "math/work.h"

void cellar_pair_init(cellar_pair *pair, cellar_distribution *p, cellar_distribution *q)
{
    const cellar_mechanism *m = p->m;
    const cellar_facts *facts = m->ops->facts;
    *pair = (cellar_pair){.p = p, .q = q};
    pair->step = facts != NULL && facts->step != NULL ? facts->step(m) : 1;
    cellar_distribution_far(p, &pair->low, &pair->high);
    pair->is_monotone = cellar_facts_monotone(m);
    pair->is_flat = pair->is_monotone && !p->is_clamped && !q->is_clamped && facts != NULL &&
                    facts->flat_ends != NULL && facts->flat_ends(m, &pair->flat_margin);
}

cellar_pair cellar_pair_swapped(const cellar_pair *pair)
{
    cellar_pair other = *pair;
    cellar_pair_init(&other, pair->q, pair->p);
    other.enough = pair->enough;
    return other;
}

/* ---- comparing a loss with epsilon ----------------------------------------------------- */

/* Symmetric noise has a loss of 0 where both counts are equally far away. */
int cellar_pair_log_ratio(const cellar_pair *pair, int64_t b, fmpq_t out)
{
    const cellar_mechanism *m = pair->p->m;
    const cellar_facts *facts = m->ops->facts;
    const int is_lump = (pair->p->is_clamped || pair->q->is_clamped) && b == 0;
    if (is_lump)
        return 0;
    if (m->ops->is_additive && b - pair->p->count == pair->q->count - b) {
        fmpq_zero(out);
        return 1;
    }
    return facts != NULL && facts->log_ratio != NULL &&
           facts->log_ratio(m, pair->p->count, pair->q->count, b, out);
}

static cellar_order compare_exactly(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    fmpq_t loss;
    fmpq_init(loss);
    if (cellar_pair_log_ratio(pair, b, loss)) {
        int sign = fmpq_cmp(loss, epsilon);
        order = sign < 0 ? CELLAR_ORDER_BELOW : sign > 0 ? CELLAR_ORDER_ABOVE : CELLAR_ORDER_TIE;
    }
    fmpq_clear(loss);
    return order;
}

static cellar_order compare_balls(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    arb_t p, q, factor;
    arb_init(p);
    arb_init(q);
    arb_init(factor);
    for (int64_t bits = CELLAR_PAIR_BITS;
         bits <= CELLAR_PAIR_BITS_MAX && order == CELLAR_ORDER_OPEN && !cellar_work_is_over();
         bits *= 2) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        cellar_distribution_pmf(pair->q, b, bits, q);
        cellar_pair_exp(epsilon, bits, factor);
        cellar_work_add_balls(4, bits);
        arb_mul(q, q, factor, bits);
        if (arb_is_zero(p) || arb_lt(p, q)) /* a hole in the support of P counts for nothing */
            order = CELLAR_ORDER_BELOW;
        else if (arb_gt(p, q))
            order = CELLAR_ORDER_ABOVE;
    }
    arb_clear(p);
    arb_clear(q);
    arb_clear(factor);
    return order;
}

cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    if (!cellar_distribution_holds(pair->p, b))
        return CELLAR_ORDER_BELOW;
    if (cellar_distribution_holds(pair->q, b))
        order = compare_exactly(pair, b, epsilon);
    else if (pair->is_monotone)
        return CELLAR_ORDER_ABOVE; /* its support has no holes */
    return order == CELLAR_ORDER_OPEN ? compare_balls(pair, b, epsilon) : order;
}

void cellar_pair_exp(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 64);
    arb_exp(out, out, bits);
}

int cellar_pair_is_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = cellar_pair_compare(pair, b, epsilon);
    return order == CELLAR_ORDER_ABOVE || order == CELLAR_ORDER_OPEN;
}

static int ball_is_tiny(const arb_t ball, slong exponent)
{
    return arf_cmpabs_2exp_si(arb_midref(ball), exponent) < 0 &&
           mag_cmp_2exp_si(arb_radref(ball), exponent) < 0;
}

int cellar_pair_is_settled(const cellar_pair *pair, const arb_t ball, slong bits)
{
    return arb_is_exact(ball) || arb_rel_accuracy_bits(ball) >= bits || ball_is_tiny(ball, -1100) ||
           (pair->enough > 0 && arb_is_finite(ball) && cellar_ball_upper(ball) <= pair->enough);
}

/* ---- either way -------------------------------------------------------------------------- */

/* Once the work is used up comparisons are left open, and a measure proves nothing. */
static void drop_unfinished(arb_t measure)
{
    if (cellar_work_is_over())
        cellar_ball_set_probability(measure);
}

void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->is_monotone)
        cellar_pair_delta_by_threshold(pair, epsilon, out);
    else
        cellar_pair_delta_by_values(pair, epsilon, out);
    drop_unfinished(out);
}

void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->is_monotone)
        cellar_pair_violation_by_threshold(pair, epsilon, out);
    else
        cellar_pair_violation_by_values(pair, epsilon, out);
    drop_unfinished(out);
}

static int is_finite(const cellar_distribution *d)
{
    return d->low != INT64_MIN && d->high != INT64_MAX;
}

/* Supports of monotone pairs are intervals; others may have holes. */
void cellar_pair_infinite(const cellar_pair *pair, arb_t out)
{
    const int64_t bits = CELLAR_PAIR_BITS;
    cellar_distribution *p = pair->p, *q = pair->q;
    arb_t mass, other;
    arb_init(mass);
    arb_init(other);
    arb_zero(out);
    if (pair->is_monotone || !is_finite(p)) {
        if (p->low < q->low)
            cellar_distribution_lower(p, q->low - 1, bits, out);
        if (p->high > q->high) {
            cellar_distribution_upper(p, q->high + 1, bits, mass);
            arb_add(out, out, mass, bits);
        }
    } else {
        for (int64_t b = p->low; b <= p->high; b += pair->step) {
            cellar_distribution_pmf(q, b, bits, other);
            if (!arb_is_zero(other))
                continue;
            cellar_distribution_pmf(p, b, bits, mass);
            arb_add(out, out, mass, bits);
        }
    }
    cellar_ball_clip(out);
    drop_unfinished(out);
    arb_clear(mass);
    arb_clear(other);
}

int cellar_pair_largest_loss(const cellar_pair *pair, arb_t out)
{
    const int64_t bits = CELLAR_PAIR_BITS;
    int finite = is_finite(pair->p) && is_finite(pair->q);
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_zero(out);
    for (int64_t b = pair->p->low; finite && b <= pair->p->high; b += pair->step) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        if (arb_is_zero(p))
            continue;
        cellar_distribution_pmf(pair->q, b, bits, q);
        finite = arb_is_positive(q) && arb_is_positive(p);
        arb_div(p, p, q, bits);
        arb_log(p, p, bits);
        arb_abs(p, p);
        arb_max(out, out, p, bits);
    }
    arb_clear(p);
    arb_clear(q);
    return finite;
}
