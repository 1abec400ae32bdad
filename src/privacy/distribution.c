/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/distribution.h"

#include <math.h>

/* Rows of double-doubles are right to some 80 bits: a first enclosure of 128 bits may come from
 * one, and whoever asks for more gets balls. */
enum { ROW_BITS = 128 };

void cellar_distribution_init(cellar_distribution *d, const cellar_mechanism *m, int64_t count,
                              cellar_negatives negatives)
{
    *d = (cellar_distribution){.m = m, .count = count};
    m->ops->support(m, count, 0, &d->low, &d->high);
    if (negatives == CELLAR_NEGATIVES_ZERO && d->low < 0) {
        d->is_clamped = 1;
        d->low = 0;
        d->high = d->high < 0 ? 0 : d->high;
    }
    d->has_row = m->ops->law_row != NULL && m->ops->law_row(m, count, &d->row);
}

void cellar_distribution_clear(cellar_distribution *d)
{
    if (d->has_row)
        cellar_law_row_clear(&d->row);
    *d = (cellar_distribution){0};
}

int cellar_distribution_holds(const cellar_distribution *d, int64_t b)
{
    return b >= d->low && b <= d->high;
}

void cellar_distribution_window(const cellar_distribution *d, double tail, int64_t *low,
                                int64_t *high)
{
    d->m->ops->support(d->m, d->count, tail, low, high);
    *low = *low < d->low ? d->low : *low;
    *high = *high > d->high ? d->high : *high;
    *high = *high < *low ? *low : *high;
}

/* ---- the mechanism's own distribution, negatives kept ---------------------------------- */

/* Additive noise does not depend on the count, and is symmetric. */
static void own_pmf(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = d->m;
    if (m->ops->is_additive)
        m->ops->pmf_ball(m, 0, b < d->count ? d->count - b : b - d->count, bits, out);
    else if (d->has_row && bits <= ROW_BITS && cellar_law_row_reach(&d->row, b))
        cellar_law_row_pmf(&d->row, b, out);
    else
        m->ops->pmf_ball(m, d->count, b, bits, out);
}

static int64_t own_step(const cellar_mechanism *m)
{
    const cellar_facts *facts = m->ops->facts;
    return facts != NULL && facts->step != NULL ? facts->step(m) : 1;
}

/* The sum of P(first), P(first + step), ..., up to `last`; P(first) may be positive. */
static void own_sum(cellar_distribution *d, int64_t first, int64_t last, int64_t bits, arb_t out)
{
    const int64_t step = own_step(d->m);
    arb_t term;
    arb_init(term);
    arb_zero(out);
    for (int64_t b = first; b <= last; b += step) {
        own_pmf(d, b, bits, term);
        arb_add(out, out, term, bits);
    }
    arb_clear(term);
}

/* P(>= b) from the row, carried on until what lies beyond it is below 2^-60 of P(b). */
static int upper_by_row(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    enum { MORE = 60, DEEPEST = 700 };
    int depth;
    double p;
    if (!d->has_row || bits > ROW_BITS || !cellar_law_row_reach(&d->row, b))
        return 0;
    p = d->row.p[b - d->row.first].high;
    depth = p > 0 ? MORE - ilogb(p) : DEEPEST;
    depth = depth < DEEPEST ? depth : DEEPEST;
    if (b - d->row.first >= (int64_t) d->row.n_above || d->row.after > p * 0x1p-60)
        if (!cellar_law_row_finish(&d->row, depth))
            return 0;
    cellar_law_row_above(&d->row, b, out);
    return arb_rel_accuracy_bits(out) >= MORE - 4;
}

static int lower_by_row(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    enum { ENOUGH = 56 };
    if (!d->has_row || bits > ROW_BITS || !cellar_law_row_reach(&d->row, b))
        return 0;
    cellar_law_row_below(&d->row, b, out);
    return arb_rel_accuracy_bits(out) >= ENOUGH;
}

static void complement(arb_t ball, int64_t bits)
{
    arb_sub_ui(ball, ball, 1, bits);
    arb_neg(ball, ball);
}

static void own_upper(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = d->m;
    int64_t low, high;
    m->ops->support(m, d->count, 0, &low, &high);
    if (b <= low) {
        arb_one(out);
    } else if (b > high) {
        arb_zero(out);
    } else if (m->ops->is_additive && m->ops->survival_ball != NULL) {
        m->ops->survival_ball(m, 0, b - 1 - d->count, bits, out);
    } else if (upper_by_row(d, b, bits, out)) {
        return;
    } else if (m->ops->survival_ball != NULL) {
        m->ops->survival_ball(m, d->count, b - 1, bits, out);
    } else if (high != INT64_MAX) {
        own_sum(d, high - (high - b) / own_step(m) * own_step(m), high, bits, out);
    } else {
        own_sum(d, low, b - 1, bits, out);
        complement(out, bits);
    }
}

/* A lower tail is enclosed by itself where that is known how, and is otherwise what the upper tail
 * leaves. */
static void own_lower(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    enum { SHORT = 4096 };
    const cellar_mechanism *m = d->m;
    int64_t low, high;
    m->ops->support(m, d->count, 0, &low, &high);
    if (b < low) {
        arb_zero(out);
    } else if (b >= high) {
        arb_one(out);
    } else if (m->ops->is_additive) {
        own_upper(d, 2 * d->count - b, bits, out);
    } else if (m->ops->cdf_ball != NULL) {
        m->ops->cdf_ball(m, d->count, b, bits, out);
    } else if (lower_by_row(d, b, bits, out)) {
        return;
    } else if (low != INT64_MIN && (b - low < SHORT || m->ops->survival_ball == NULL)) {
        own_sum(d, low, b, bits, out);
    } else {
        own_upper(d, b + 1, bits, out);
        complement(out, bits);
    }
}

/* ---- what is released ----------------------------------------------------------------- */

void cellar_distribution_pmf(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    if (d->is_clamped && b == 0)
        own_lower(d, 0, bits, out);
    else if (!cellar_distribution_holds(d, b))
        arb_zero(out);
    else
        own_pmf(d, b, bits, out);
}

void cellar_distribution_upper(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    if (d->is_clamped && b <= 0)
        arb_one(out);
    else
        own_upper(d, b, bits, out);
}

void cellar_distribution_lower(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    if (d->is_clamped && b < 0)
        arb_zero(out);
    else
        own_lower(d, b, bits, out);
}

/* The high word is the double-double rounded to nearest: 2^-53, and the error of the row, which is
 * below 2^-60 as long as its units of 2^-106 stay below 2^46. */
int cellar_distribution_near(cellar_distribution *d, int64_t b, double *p)
{
    if (d->is_clamped || !d->has_row || !cellar_law_row_reach(&d->row, b) ||
        !(d->row.run.error < 0x1p46))
        return 0;
    *p = d->row.p[b - d->row.first].high;
    return *p > 0;
}
