/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair.h"
#include "privacy/pair_normal.h"

#include <math.h>

#include "math/ball.h"

/* ---- the two laws ---------------------------------------------------------- */

void cellar_pair_init(cellar_pair *pair, const cellar_mechanism *m, int64_t count,
                      int64_t neighbour, cellar_negatives negatives)
{
    const cellar_facts *facts = m->ops->facts;
    *pair = (cellar_pair){.m = m, .count = {count, neighbour}};
    pair->step = facts != NULL && facts->step != NULL ? facts->step(m) : 1;
    pair->monotone = cellar_facts_monotone(m);
    pair->flat = pair->monotone && cellar_facts_flat(m);
    pair->wide = cellar_pair_law_is_wide(m, count);
    for (int side = 0; side < 2; side++) {
        m->ops->support(m, pair->count[side], 0, &pair->low[side], &pair->high[side]);
        if (negatives == CELLAR_NEGATIVES_ZERO && pair->low[side] < 0) {
            pair->clamped = 1;
            pair->low[side] = 0;
            if (pair->high[side] < 0)
                pair->high[side] = 0;
        }
    }
}

/* P(B = b) within the support. */
static void raw_pmf(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t count = pair->count[side];
    if (m->ops->is_additive) { /* what is known of one count is known of all */
        b = b < count ? count - b : b - count;
        count = 0;
    }
    if (cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_PMF, count, b, bits, out) ||
        cellar_pair_cache_pmf(pair->cache, m, count, b, bits, out))
        return;
    m->ops->pmf_ball(m, count, b, bits, out);
    cellar_work_add(cellar_pair_cache_work(pair->cache), cellar_pair_pmf_cost(m));
    cellar_pair_cache_put(pair->cache, m, CELLAR_PAIR_PMF, count, b, bits, out);
}

/* P(noise > b) where that of the number before or after it is held, and single numbers are quick.
 */
static int noise_beside(const cellar_pair *pair, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int is_after, found;
    arb_t q;
    if (m->ops->facts != &cellar_weighted_facts || b <= 0)
        return 0;
    arb_init(q);
    is_after = cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_UPPER, 0, b - 1, bits, out);
    found =
        is_after || cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_UPPER, 0, b + 1, bits, out);
    if (found) {
        m->ops->pmf_ball(m, 0, is_after ? b : b + 1, bits, q);
        if (is_after)
            arb_sub(out, out, q, bits);
        else
            arb_add(out, out, q, bits);
        found = arb_rel_accuracy_bits(out) >= bits - 20;
    }
    arb_clear(q);
    return found;
}

/* Between 0 and a bound of P(B > b) where what P, the first law, has there need not be known: where
 * losses rise e^epsilon times that of the other law is no more. */
static int tail_is_nothing(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    const int64_t count = pair->count[side];
    arb_t half;
    if (!pair->wide || !cellar_pair_tail_is_nothing(m, pair->count[0], b))
        return 0;
    cellar_work_add(cellar_pair_cache_work(pair->cache), cellar_pair_pmf_cost(m));
    arb_init(half);
    m->ops->pmf_ball(m, count, b + 1, bits, out);
    arb_set_d(half, m->ops->tail_factor(m, count, b + 1));
    arb_mul(out, out, half, bits);
    arb_set_d(half, 0.5); /* from 0 on */
    mag_set_d(arb_radref(half), 0.5);
    arb_mul(out, out, half, bits);
    arb_clear(half);
    return arb_is_finite(out);
}

/* P(B > b), by the mechanism's own survival_ball. */
static void raw_survival(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t count = pair->count[side];
    if (m->ops->is_additive) {
        b -= count;
        count = 0;
    }
    if (cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_UPPER, count, b, bits, out) ||
        cellar_pair_cache_upper(pair->cache, m, count, b, bits, out))
        return;
    if (!tail_is_nothing(pair, side, b, bits, out) &&
        !cellar_pair_cache_tail(pair->cache, m, count, b, bits, out) &&
        !noise_beside(pair, b, bits, out)) {
        m->ops->survival_ball(m, count, b, bits, out);
        cellar_work_add(cellar_pair_cache_work(pair->cache), cellar_pair_upper_cost(m, count));
    }
    cellar_pair_cache_put(pair->cache, m, CELLAR_PAIR_UPPER, count, b, bits, out);
}

/* P(B >= b) of the mechanism itself, negatives kept. */
static void raw_upper(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t low, high;
    arb_t term;

    m->ops->support(m, pair->count[side], 0, &low, &high);
    if (b <= low) {
        arb_one(out);
        return;
    }
    if (b > high) {
        arb_zero(out);
        return;
    }
    if (m->ops->survival_ball != NULL) {
        raw_survival(pair, side, b - 1, bits, out);
        return;
    }
    arb_init(term);
    arb_zero(out);
    if (high != INT64_MAX) {
        for (int64_t x = high; x >= b; x -= pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
    } else {
        for (int64_t x = low; x < b; x += pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    }
    arb_clear(term);
}

/* P(B <= b) of a kernel where that is little, and what the upper tail leaves would be nothing. */
static int raw_lower_far(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const double little = -6, deviations = 4; /* about what is summed */
    const cellar_mechanism *m = pair->m;
    const int64_t count = pair->count[side];
    double mean, variance;
    if (m->ops->lower_ball == NULL || bits > CELLAR_PAIR_BITS ||
        m->ops->log_pmf(m, count, b) > little)
        return 0;
    cellar_mechanism_mean_variance(m, count, &mean, &variance);
    cellar_work_add(cellar_pair_cache_work(pair->cache),
                    2 * cellar_pair_pmf_cost(m) +
                        deviations * CELLAR_PAIR_WORD_COST * sqrt(variance));
    return m->ops->lower_ball(m, count, b, out);
}

/* The same of one that encloses many numbers at once, term by term. */
static int raw_lower_summed(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    enum { NUMBERS_MAX = 4096 };
    const double little = -6;
    const cellar_mechanism *m = pair->m;
    const int64_t count = pair->count[side];
    arb_ptr row;
    if (m->ops->law_row == NULL || m->ops->pmf_balls == NULL || b >= NUMBERS_MAX ||
        m->ops->log_pmf(m, count, b) > little)
        return 0;
    cellar_work_add(cellar_pair_cache_work(pair->cache),
                    cellar_pair_pmf_cost(m) + CELLAR_PAIR_ROW_COST * (double) b);
    row = _arb_vec_init(b + 1);
    m->ops->pmf_balls(m, count, 0, (size_t) b + 1, bits, row);
    arb_zero(out);
    for (int64_t i = 0; i <= b; i++)
        arb_add(out, out, row + i, bits);
    _arb_vec_clear(row, b + 1);
    return 1;
}

/* P(B <= b), negatives kept. Additive noise is symmetric, so its lower tail is as accurate as its
 * upper one. Elsewhere short tails are summed, and long ones are what the upper tail leaves. */
static void raw_lower(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    enum { SHORT = 64 };
    const cellar_mechanism *m = pair->m;
    int64_t low, high, count = pair->count[side];
    m->ops->support(m, count, 0, &low, &high);
    if (b < low) {
        arb_zero(out);
    } else if (b >= high) {
        arb_one(out);
    } else if (m->ops->is_additive) {
        raw_upper(pair, side, 2 * count - b, bits, out);
    } else if (m->ops->cdf_ball != NULL) {
        m->ops->cdf_ball(m, count, b, bits, out);
    } else if (cellar_pair_cache_lower(pair->cache, m, count, b, bits, out) ||
               raw_lower_far(pair, side, b, bits, out) ||
               raw_lower_summed(pair, side, b, bits, out)) {
        return;
    } else if (low != INT64_MIN && (b - low < SHORT || m->ops->survival_ball == NULL)) {
        arb_t term;
        arb_init(term);
        arb_zero(out);
        for (int64_t x = low; x <= b; x += pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
        arb_clear(term);
    } else {
        raw_upper(pair, side, b + 1, bits, out);
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    }
}

void cellar_pair_pmf(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b == 0)
        raw_lower(pair, side, 0, bits, out);
    else if (b < pair->low[side] || b > pair->high[side])
        arb_zero(out);
    else
        raw_pmf(pair, side, b, bits, out);
}

void cellar_pair_upper(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b <= 0)
        arb_one(out);
    else
        raw_upper(pair, side, b, bits, out);
}

void cellar_pair_lower(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b < 0)
        arb_zero(out);
    else
        raw_lower(pair, side, b, bits, out);
}

/* ---- comparing a loss with epsilon ----------------------------------------- */

int cellar_pair_in_support(const cellar_pair *pair, int side, int64_t b)
{
    return b >= pair->low[side] && b <= pair->high[side];
}

/* Order by an exactly known loss, or one that is known closely enough; OPEN when it is not. */
static cellar_order pair_compare_exactly(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const cellar_facts *facts = pair->m->ops->facts;
    int64_t k = b - pair->count[0], k_other = b - pair->count[1];
    cellar_order order = CELLAR_ORDER_OPEN;
    fmpq_t loss;
    int sign;

    if (pair->clamped && b == 0)
        return CELLAR_ORDER_OPEN;
    fmpq_init(loss);
    if ((pair->m->ops->is_additive && (k == k_other || k == -k_other)) ||
        (facts != NULL && facts->log_ratio != NULL &&
         facts->log_ratio(pair->m, pair->count[0], pair->count[1], b, loss))) {
        sign = fmpq_cmp(loss, epsilon); /* loss is 0 for equal |k| */
        order = sign < 0 ? CELLAR_ORDER_BELOW : sign > 0 ? CELLAR_ORDER_ABOVE : CELLAR_ORDER_TIE;
    }
    fmpq_clear(loss);
    return order == CELLAR_ORDER_OPEN ? cellar_pair_compare_normal(pair, b, epsilon) : order;
}

/* In doubles, where the loss is not too close to epsilon; OPEN elsewhere. */
static cellar_order pair_compare_doubles(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const int64_t far = 1 << 19;
    const double each = 0.01; /* us */
    const cellar_facts *facts = pair->m->ops->facts;
    const double level = fmpq_get_d(epsilon);
    double loss, error;
    if (facts == NULL || facts->loss == NULL || b < 0 || b > far || (pair->clamped && b == 0))
        return CELLAR_ORDER_OPEN;
    loss = facts->loss(pair->m, pair->count[0], pair->count[1], b, &error);
    error += 0x1p-50 * fabs(level);
    cellar_work_add(cellar_pair_cache_work(pair->cache), each * (double) b);
    return loss > level + error   ? CELLAR_ORDER_ABOVE
           : loss < level - error ? CELLAR_ORDER_BELOW
                                  : CELLAR_ORDER_OPEN;
}

cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const double each = 5; /* what it takes besides */
    cellar_order order;
    arb_t p, q;

    if (!cellar_pair_in_support(pair, 0, b))
        return CELLAR_ORDER_BELOW;
    if (!cellar_pair_in_support(pair, 1, b)) {
        order = CELLAR_ORDER_ABOVE;
        if (pair->monotone)
            return order;
    } else {
        order = pair_compare_exactly(pair, b, epsilon);
        if (order == CELLAR_ORDER_OPEN)
            order = pair_compare_doubles(pair, b, epsilon);
        if (order != CELLAR_ORDER_OPEN)
            return order;
    }
    arb_init(p);
    arb_init(q);
    order = CELLAR_ORDER_OPEN;
    for (int64_t bits = CELLAR_PAIR_BITS;
         bits <= CELLAR_PAIR_BITS_MAX && order == CELLAR_ORDER_OPEN; bits *= 2) {
        arb_t factor;
        arb_init(factor);
        cellar_work_add(cellar_pair_cache_work(pair->cache), each);
        cellar_pair_pmf(pair, 0, b, bits, p);
        cellar_pair_pmf(pair, 1, b, bits, q);
        arb_set_fmpq(factor, epsilon, bits + 64);
        arb_exp(factor, factor, bits);
        arb_mul(q, q, factor, bits);
        if (arb_is_zero(p) || arb_lt(p, q)) /* a hole in the support of P counts for nothing */
            order = CELLAR_ORDER_BELOW;
        else if (arb_gt(p, q))
            order = CELLAR_ORDER_ABOVE;
        arb_clear(factor);
    }
    arb_clear(p);
    arb_clear(q);
    return order;
}
