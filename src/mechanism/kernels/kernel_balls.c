/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven distribution functions of kernels, by summing proven probabilities. */
#include <math.h>

#include "base/error.h"
#include "math/ball.h"
#include "math/work.h"
#include "mechanism/kernels/kernel.h"

enum { RUN = 4096 }; /* probabilities held at a time */

/* Sums probabilities from b on, in runs. */
typedef struct summation {
    const cellar_kernel *k;
    int64_t count, next, bits;
    arb_ptr p;
    size_t n, n_used, n_run;
} summation;

static void summation_init(summation *s, const cellar_kernel *k, int64_t count, int64_t from,
                           size_t n_expected, int64_t bits)
{
    *s = (summation){.k = k, .count = count, .next = from, .bits = bits};
    s->n_run = n_expected < RUN ? n_expected : RUN;
    s->p = _arb_vec_init(RUN);
}

static void summation_clear(summation *s)
{
    _arb_vec_clear(s->p, RUN);
}

static arb_ptr summation_next(summation *s)
{
    if (s->n_used == s->n) {
        s->k->law->p_balls(s->k, s->count, s->next, s->n_run, s->bits, s->p);
        cellar_work_add_closed(s->bits);
        cellar_work_add_balls((double) s->n_run, s->bits);
        s->next += (int64_t) s->n_run;
        s->n = s->n_run;
        s->n_used = 0;
        s->n_run = s->n_run < RUN ? 2 * s->n_run : RUN;
    }
    return s->p + s->n_used++;
}

/* A value below `high` on the rising side with b P(b) < 2^-bits, found in long doubles, and proven:
 * out is a bound of P(< b). 0 when there is none. */
static int64_t low_end(const cellar_kernel *k, int64_t count, int64_t high, int64_t bits, arb_t out)
{
    int64_t low = cellar_kernel_low_number(k, count, high, bits + 2);
    arb_struct pair[2];

    arb_zero(out);
    if (low == 0)
        return 0;
    arb_init(pair);
    arb_init(pair + 1);
    k->law->p_balls(k, count, low, 2, 64, pair);
    if (arb_le(pair, pair + 1))
        arb_mul_si(out, pair, low, 64);
    else
        low = 0; /* not rising: sum from the start */
    arb_clear(pair + 1);
    arb_clear(pair);
    return low;
}

void cellar_kernel_cdf_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                             int64_t bits, arb_ptr out)
{
    arb_t sum, bound;
    mag_t radius;
    int64_t b, last = first + (int64_t) n - 1;
    summation s;

    arb_init(sum);
    arb_init(bound);
    mag_init(radius);
    b = low_end(k, count, count, bits, bound);
    arb_get_mag(radius, bound);
    for (int64_t j = first; j <= last && j < b; j++) { /* between 0 and the bound */
        arb_zero(out + (j - first));
        arb_add_error_mag(out + (j - first), radius);
    }
    arb_add_error_mag(sum, radius);
    if (b <= last)
        summation_init(&s, k, count, b, (size_t) (last - b) + 1, bits + 8);
    else
        summation_init(&s, k, count, b, 1, bits + 8);
    for (; b <= last && !cellar_work_is_over(); b++) {
        arb_add(sum, sum, summation_next(&s), bits + 32);
        if (b >= first)
            arb_set(out + (b - first), sum);
    }
    for (b = b > first ? b : first; b <= last; b++)
        cellar_ball_set_probability(out + (b - first));
    summation_clear(&s);
    mag_clear(radius);
    arb_clear(bound);
    arb_clear(sum);
}

/* P(more than released): terms until a geometric series bounds the rest by 2^-bits of the sum. */
static void sum_above(const cellar_kernel *k, int64_t count, int64_t from, int64_t bits, arb_t out)
{
    enum { EVERY = 16 }; /* values between two looks at the end */
    int is_done = 0;
    summation s;
    arb_t rest;
    mag_t radius;

    arb_init(rest);
    mag_init(radius);
    arb_zero(out);
    summation_init(&s, k, count, from, 128, bits + 16);
    for (int64_t b = from; !is_done; b++) {
        arb_ptr p = summation_next(&s);
        double r;
        arb_add(out, out, p, bits + 32);
        if ((b - from) % EVERY != 0)
            continue;
        if (cellar_work_is_over()) {
            cellar_ball_set_probability(out);
            break;
        }
        /* P(c+1)/P(c) <= r for c >= b; the bound is a long double, so it is widened */
        r = (double) k->law->ratio_bound(k, count, b) * (1 + 1e-12);
        if (r >= 1)
            continue;
        arb_set_d(rest, r / (1 - r) * (1 + 1e-12));
        arb_mul(rest, rest, p, 64);
        arb_mul_2exp_si(rest, rest, bits + 2);
        is_done = arb_lt(rest, out);
        if (is_done) {
            arb_mul_2exp_si(rest, rest, -bits - 2);
            arb_get_mag(radius, rest);
            arb_add_error_mag(out, radius);
        }
    }
    summation_clear(&s);
    mag_clear(radius);
    arb_clear(rest);
}

/* Where all ratios from b on are at most r, P(>= b) <= P(b) / (1 - r). A convex curve lies below
 * its chord: ratios at c >= b are at most R(c) = q - D/(c + 1), q the limit, D = (q - here) (b +
 * 1). With g(c) = 1 - R(c) = 1 - q + D/(c + 1) and h(c) = 1/(g(c) (1 - w)), h(c) - R(c) h(c + 1) =
 * (1 - R(c) D / ((c + 1) g(c) (c + 2) g(c + 1))) / (1 - w) >= 1 if w is that fraction's value at b
 * without R: (c + 1) g(c) rises. So P(c) h(c) falls by at least P(c) with each c, and P(>= b) <=
 * P(b) h(b). All in long doubles, and given some room. */
static double tail_factor(const cellar_kernel *k, int64_t count, int64_t b)
{
    const long double room = 1 + 1e-9L, next = (long double) b + 1;
    long double here, limit, d, w, r;
    r = k->law->ratio_bound(k, count, b);
    if (k->law->ratio_curve != NULL) {
        k->law->ratio_curve(k, count, b, &here, &limit);
        d = (limit - here) * next;
        w = d / ((1 - here) * next * ((1 - limit) * (next + 1) + d));
        if (d > 0 && w < 0.9L)
            return (double) (room / ((1 - here) * (1 - w)));
    }
    return r < 1 ? (double) (room / (1 - r)) : (double) INFINITY;
}

/* P(B >= from) in double-doubles: quick, and right to about 75 bits, or less where that takes too
 * many values: what is left then widens the ball. 0 where there is no run, or values are too small.
 */
static int sum_by_run(const cellar_kernel *k, int64_t count, int64_t from, arb_t out)
{
    enum { CHUNK = 512, CHUNKS_MAX = 1 << 13, SUM_STEP = 4 };
    const double unit = 0x1.001p-106, least = 0x1p-650, enough = 0x1p-76;
    cellar_dword p[CHUNK], sum = {0};
    double rest = INFINITY;
    cellar_run run = {0};
    int64_t raised;
    size_t n = 0;
    if (k->law->run == NULL || !k->law->run_anywhere ||
        k->law->run(k, count, from, &run, NULL) != CELLAR_OK)
        return 0;
    raised = cellar_run_raise(&run);
    while (!(rest < enough * sum.high) && n < (size_t) CHUNK * CHUNKS_MAX &&
           !cellar_work_is_over()) {
        cellar_run_next(&run, CHUNK, p);
        cellar_work_add(CHUNK);
        if (!(run.error < 0x1p30) || p[0].high < least)
            return 0;
        for (size_t i = 0; i < CHUNK; i++)
            sum = cellar_dword_add(sum, p[i]);
        n += CHUNK;
        rest = p[CHUNK - 1].high * (1 + 0x1p-40) * tail_factor(k, count, from + (int64_t) n - 1);
    }
    if (!isfinite(rest))
        return 0;
    cellar_dword_ball(sum, sum.high * (run.error + SUM_STEP * (double) n) * 1.001 * unit + rest,
                      out);
    arb_mul_2exp_si(out, out, -raised);
    return 1;
}

/* About how many values it takes P to fall by a factor e far out; 0 where that is not known. */
static double values_per_fall(const cellar_kernel *k, int64_t count)
{
    long double here, limit;
    if (k->law->ratio_curve == NULL)
        return 0;
    k->law->ratio_curve(k, count, 0, &here, &limit);
    return (double) (1 / (1 - limit));
}

void cellar_kernel_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                 int64_t bits, arb_t out)
{
    enum {
        RUN_BITS = 128,
        LOW_MAX = 1 << 16,
        FALL_SHORT = 300
    }; /* closed forms take longer than short sums */
    const cellar_kernel *k = (const cellar_kernel *) m;
    const int is_closed = k->law->upper_ball != NULL;
    /* below the mean of a wide distribution the values up to b are fewer than those beyond */
    const int is_low = released < count || (released < LOW_MAX &&
                                            (long double) released < cellar_kernel_mean(k, count));
    if (released < 0) {
        arb_one(out);
        return;
    }
    if (bits <= RUN_BITS && !is_low && (!is_closed || values_per_fall(k, count) < FALL_SHORT) &&
        sum_by_run(k, count, released + 1, out))
        return;
    if (is_closed) {
        k->law->upper_ball(k, count, released + 1, bits, out);
    } else if (is_low) {
        cellar_kernel_cdf_balls(k, count, released, 1, bits, out);
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    } else {
        sum_above(k, count, released + 1, bits, out);
    }
}
