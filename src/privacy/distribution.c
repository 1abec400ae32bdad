/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/distribution.h"

#include <math.h>

#include "base/memory.h"
#include "math/ball.h"
#include "math/work.h"

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

void cellar_distribution_far(cellar_distribution *d, int64_t *low, int64_t *high)
{
    const int64_t far = INT64_C(1) << 60; /* sums of two still fit */
    if (!d->has_far) {
        cellar_distribution_window(d, d->m->ops->is_additive ? 0 : 1e-320, &d->far_low,
                                   &d->far_high);
        d->far_low = d->far_low < -far ? -far : d->far_low;
        d->far_high = d->far_high > far ? far : d->far_high;
        d->has_far = 1;
    }
    *low = d->far_low;
    *high = d->far_high;
}

/* ---- the mechanism's own distribution, negatives kept ---------------------------------- */

/* Additive noise does not depend on the count, and is symmetric. */
static void own_pmf(cellar_distribution *d, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = d->m;
    const int64_t count = m->ops->is_additive ? 0 : d->count;
    const int64_t value = m->ops->is_additive && b < d->count ? d->count - b : b - d->count + count;
    if (d->has_row && bits <= ROW_BITS && cellar_law_row_reach(&d->row, b)) {
        cellar_law_row_pmf(&d->row, b, out);
    } else if (cellar_work_is_over()) {
        cellar_ball_set_probability(out);
    } else {
        m->ops->pmf_ball(m, count, value, bits, out);
        if (m->ops->facts != NULL && m->ops->facts->period != NULL)
            cellar_work_add_balls(1, bits); /* read off a table */
        else
            cellar_work_add_closed(bits);
    }
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
    for (int64_t b = first; b <= last && !cellar_work_is_over(); b += step) {
        own_pmf(d, b, bits, term);
        arb_add(out, out, term, bits);
    }
    if (cellar_work_is_over())
        cellar_ball_set_probability(out);
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
    } else if (!m->ops->is_additive && upper_by_row(d, b, bits, out)) {
        return;
    } else if (cellar_work_is_over()) {
        cellar_ball_set_probability(out);
    } else if (m->ops->survival_ball != NULL) {
        const int is_noise = m->ops->is_additive; /* the same for every count */
        m->ops->survival_ball(m, is_noise ? 0 : d->count, is_noise ? b - 1 - d->count : b - 1, bits,
                              out);
        cellar_work_add_closed(bits);
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
    } else if (m->ops->cdf_ball != NULL && cellar_work_is_over()) {
        cellar_ball_set_probability(out);
    } else if (m->ops->cdf_ball != NULL) {
        m->ops->cdf_ball(m, d->count, b, bits, out);
        cellar_work_add_closed(bits);
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

/* ---- in doubles ----------------------------------------------------------------------- */

void cellar_noise_table_clear(cellar_noise_table *table)
{
    cellar_free(table->q);
    *table = (cellar_noise_table){0};
}

/* Goes on to k, doubling the table; 0 when it would be too large, or memory ends. */
static int noise_reach(cellar_noise_table *table, const cellar_mechanism *m, int64_t k)
{
    enum { FIRST = 256, MOST = 1 << 19, CHUNK = 256, BITS = 80, ENOUGH = 56 };
    size_t n = table->n > 0 ? table->n : FIRST;
    double *q;
    arb_ptr balls;
    while ((int64_t) n <= k && n <= MOST)
        n *= 2;
    if (n > MOST || m->ops->pmf_balls == NULL)
        return 0;
    if (n == table->n)
        return 1;
    q = cellar_realloc(table->q, n, sizeof *q);
    if (q == NULL) {
        cellar_work_note_memory();
        return 0;
    }
    table->q = q;
    balls = _arb_vec_init(CHUNK);
    for (; table->n < n; table->n += CHUNK) {
        m->ops->pmf_balls(m, 0, (int64_t) table->n, CHUNK, BITS, balls);
        for (size_t i = 0; i < CHUNK; i++)
            q[table->n + i] = arb_rel_accuracy_bits(balls + i) >= ENOUGH
                                  ? arf_get_d(arb_midref(balls + i), ARF_RND_NEAR)
                                  : 0;
    }
    _arb_vec_clear(balls, CHUNK);
    return 1;
}

/* Of a row the high word is the double-double rounded to nearest: 2^-53, and the error of the row,
 * which is below 2^-60 as long as its units of 2^-106 stay below 2^46. What is too small for a
 * double to be that precise is not answered. */
int cellar_distribution_near(cellar_distribution *d, int64_t b, double *p)
{
    const double least = 0x1p-960;
    if (d->is_clamped || !cellar_distribution_holds(d, b))
        return 0;
    if (d->m->ops->is_additive) {
        const int64_t k = b < d->count ? d->count - b : b - d->count;
        if (d->noise == NULL || ((int64_t) d->noise->n <= k && !noise_reach(d->noise, d->m, k)))
            return 0;
        *p = d->noise->q[k];
        return *p > least;
    }
    if (!d->has_row || !(d->row.run.error < 0x1p46))
        return 0;
    if (!cellar_law_row_reach(&d->row, b)) {
        *p = 0; /* a row ends where values have fallen below 2^-700, and go on falling */
        return d->row.has_ended && b >= d->row.first;
    }
    *p = d->row.p[b - d->row.first].high;
    return *p > least;
}

void cellar_distribution_cut(cellar_distribution *d, int64_t *high)
{
    if (d->has_row && !cellar_law_row_reach(&d->row, *high) && d->row.has_ended)
        *high = d->row.first + (int64_t) d->row.n - 1;
}

/* ---- what is left out -------------------------------------------------------------------- */

static double upper_end(const arb_t ball)
{
    return arb_is_finite(ball) ? fmin(1, fmax(0, cellar_ball_upper(ball))) : 1;
}

/* Beyond a value of a row a geometric series bounds all others. */
double cellar_distribution_above(cellar_distribution *d, int64_t b)
{
    double above = INFINITY, p;
    arb_t tail;
    if (b >= d->high)
        return 0;
    cellar_distribution_cut(d, &b);
    if (d->has_row && cellar_law_row_reach(&d->row, b)) {
        p = d->row.p[b - d->row.first].high * (1 + 0x1p-40);
        above = p > 0 && d->row.run.error < 0x1p46 ? cellar_law_row_rest(&d->row, b, p) : INFINITY;
    }
    if (above <= 1)
        return above;
    arb_init(tail);
    cellar_distribution_upper(d, b + 1, ROW_BITS, tail);
    above = upper_end(tail);
    arb_clear(tail);
    return above;
}

double cellar_distribution_below(cellar_distribution *d, int64_t b)
{
    double below;
    arb_t tail;
    if (b <= d->low)
        return 0;
    arb_init(tail);
    cellar_distribution_lower(d, b - 1, ROW_BITS, tail);
    below = upper_end(tail);
    arb_clear(tail);
    return below;
}
