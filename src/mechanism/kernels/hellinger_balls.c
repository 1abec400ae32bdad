/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Euler-Maclaurin formula with proven remainders.
 *
 * e^{-rate sqrt t} is completely monotone: its derivatives alternate in sign, and the remainder is
 * no larger than the first term left out. e^{rate sqrt t} = 2 cosh(rate sqrt t) - e^{-rate sqrt t};
 * the first is a power series in t with positive coefficients, so the integral of its 2J-th
 * derivative up to M is at most the (2J-1)-th derivative C at M, and the remainder at most 4/(2
 * pi)^{2J} C (DLMF 2.10.1 with |B_2J| <= 4 (2J)!/(2 pi)^{2J}). */
#include <math.h>
#include <stdint.h>

#include "mechanism/kernels/hellinger_sums.h"

/* Taylor coefficients at n of e^{r sqrt t}: the recurrence of y in 4 t y'' + 2 y' = r^2 y. */
static void taylor_balls(const arb_t r, int64_t n, size_t n_coefficients, int64_t bits, arb_ptr c)
{
    arb_t square, t;
    arb_init(square);
    arb_init(t);
    arb_mul(square, r, r, bits);
    arb_sqrt_ui(t, (ulong) n, bits);
    arb_mul(c, r, t, bits);
    arb_exp(c, c, bits);
    arb_mul_2exp_si(t, t, 1);
    arb_div(t, r, t, bits);
    arb_mul(c + 1, c, t, bits);
    for (size_t i = 0; i + 2 < n_coefficients; i++) {
        arb_mul_ui(t, c + i + 1, (i + 1) * (4 * i + 2), bits);
        arb_mul(c + i + 2, c + i, square, bits);
        arb_sub(c + i + 2, c + i + 2, t, bits);
        if (n < INT64_C(1) << 40) { /* one division, which does not overflow */
            arb_div_ui(c + i + 2, c + i + 2, (ulong) n * 4 * (i + 2) * (i + 1), bits);
        } else {
            arb_div_ui(c + i + 2, c + i + 2, (ulong) n, bits);
            arb_div_ui(c + i + 2, c + i + 2, 4 * (i + 2) * (i + 1), bits);
        }
    }
    arb_clear(t);
    arb_clear(square);
}

/* sum_{j = 1}^{J} B_2j/(2j) c_{2j-1} */
static void end_balls(const cellar_hellinger_start *start, arb_srcptr c, int64_t bits, arb_t out)
{
    arb_zero(out);
    for (size_t j = start->n_terms; j >= 1; j--)
        arb_addmul(out, start->bernoulli + j - 1, c + 2 * j - 1, bits);
}

/* Twice the integral of u e^{r u}: 2 e^{r u} (u/r - 1/r^2) at u = sqrt n. */
static void antiderivative_ball(const arb_t r, int64_t n, int64_t bits, arb_t out)
{
    arb_t u, e;
    arb_init(u);
    arb_init(e);
    arb_sqrt_ui(u, (ulong) n, bits);
    arb_mul(u, u, r, bits);
    arb_exp(e, u, bits);
    arb_sub_ui(u, u, 1, bits);
    arb_mul(e, e, u, bits);
    arb_div(e, e, r, bits);
    arb_div(e, e, r, bits);
    arb_mul_2exp_si(out, e, 1);
    arb_clear(e);
    arb_clear(u);
}

static void add_terms(const arb_t r, int64_t first, int64_t last, int64_t bits, arb_t sum)
{
    arb_t t;
    arb_init(t);
    for (int64_t b = first; b <= last; b++) {
        arb_sqrt_ui(t, (ulong) b, bits);
        arb_mul(t, t, r, bits);
        arb_exp(t, t, bits);
        arb_add(sum, sum, t, bits);
    }
    arb_clear(t);
}

static size_t n_terms_for(int64_t bits)
{
    return (size_t) bits / 6 + 4;
}

static int64_t first_smooth(const arb_t rate, int64_t bits)
{
    double r = fabs(arf_get_d(arb_midref(rate), ARF_RND_NEAR));
    return 16 + bits / 4 + (int64_t) (r * r);
}

/* ---- what is remembered ---------------------------------------------------------------- */

void cellar_hellinger_start_init(cellar_hellinger_start *start)
{
    start->bits = start->sum_bits = 0;
    start->bernoulli = NULL;
    start->n_terms = 0;
    arb_init(start->sum);
    arb_init(start->remainder);
}

static void start_drop_terms(cellar_hellinger_start *start)
{
    if (start->bernoulli != NULL)
        _arb_vec_clear(start->bernoulli, (slong) start->n_terms + 1);
    start->bernoulli = NULL;
}

void cellar_hellinger_start_clear(cellar_hellinger_start *start)
{
    start_drop_terms(start);
    arb_clear(start->sum);
    arb_clear(start->remainder);
}

static void start_find_terms(cellar_hellinger_start *start, int64_t bits)
{
    if (start->bits == bits)
        return;
    start_drop_terms(start);
    start->bits = bits;
    start->n_terms = n_terms_for(bits);
    start->bernoulli = _arb_vec_init((slong) start->n_terms + 1);
    for (size_t j = 1; j <= start->n_terms + 1; j++) {
        arb_bernoulli_ui(start->bernoulli + j - 1, 2 * j, bits + 64);
        arb_div_ui(start->bernoulli + j - 1, start->bernoulli + j - 1, 2 * j, bits + 64);
    }
}

/* ---- e^{-rate sqrt b} ------------------------------------------------------------------ */

static void widen(arb_t x, const arb_t by)
{
    mag_t radius;
    mag_init(radius);
    arb_get_mag(radius, by);
    arb_add_error_mag(x, radius);
    mag_clear(radius);
}

/* Adds a bound of all terms from n on to the radius when it is below 2^-bits of the sum: they are
 * at most the first and the integral. */
static int rest_is_small(const arb_t r, int64_t n, int64_t bits, arb_t sum)
{
    arb_t rest, scaled;
    int small;
    arb_init(rest);
    arb_init(scaled);
    antiderivative_ball(r, n, 64, rest);
    arb_neg(rest, rest);
    add_terms(r, n, n, 64, rest);
    arb_mul_2exp_si(scaled, rest, bits);
    small = arb_lt(scaled, sum);
    if (small)
        widen(sum, rest);
    arb_clear(scaled);
    arb_clear(rest);
    return small;
}

void cellar_hellinger_above_from(cellar_hellinger_start *start, const arb_t rate, int64_t n,
                                 int64_t bits, arb_t out)
{
    size_t n_terms = n_terms_for(bits), n_coefficients = 2 * n_terms + 2;
    int64_t work = bits + 64, smooth = first_smooth(rate, bits);
    arb_ptr c = _arb_vec_init((slong) n_coefficients);
    arb_t r, t;
    int done = 0;

    arb_init(r);
    arb_init(t);
    arb_neg(r, rate);
    arb_zero(out);
    for (int64_t last; n < smooth && !done; n = last + 1) {
        last = n + 63 < smooth - 1 ? n + 63 : smooth - 1;
        add_terms(r, n, last, work, out);
        done = rest_is_small(r, last + 1, bits + 8, out);
    }
    if (!done) {
        start_find_terms(start, bits);
        taylor_balls(r, n, n_coefficients, work, c);
        antiderivative_ball(r, n, work, t);
        arb_sub(out, out, t, work);
        arb_mul_2exp_si(t, c, -1);
        arb_add(out, out, t, work);
        end_balls(start, c, work, t);
        arb_sub(out, out, t, work);
        arb_mul(t, start->bernoulli + n_terms, c + 2 * n_terms + 1, 64); /* the first left out */
        widen(out, t);
    }
    arb_clear(t);
    arb_clear(r);
    _arb_vec_clear(c, (slong) n_coefficients);
}

void cellar_hellinger_above_ball(const arb_t rate, int64_t n, int64_t bits, arb_t out)
{
    cellar_hellinger_start start;
    cellar_hellinger_start_init(&start);
    cellar_hellinger_above_from(&start, rate, n, bits, out);
    cellar_hellinger_start_clear(&start);
}

/* ---- e^{rate sqrt b} ------------------------------------------------------------------ */

/* The terms before the formula begins, less what it has at its lower end, and the completely
 * monotone part of the remainder there, but for its factor. */
static void start_find_sum(cellar_hellinger_start *start, const arb_t rate, int64_t smooth,
                           int64_t bits)
{
    size_t n_coefficients = 2 * start->n_terms;
    int64_t work = bits + 64;
    arb_ptr c;
    arb_t t;
    if (start->sum_bits == bits)
        return;
    c = _arb_vec_init((slong) n_coefficients);
    arb_init(t);
    arb_zero(start->sum);
    add_terms(rate, 0, smooth - 1, work, start->sum);
    taylor_balls(rate, smooth, n_coefficients, work, c);
    antiderivative_ball(rate, smooth, work, t);
    arb_sub(start->sum, start->sum, t, work);
    arb_mul_2exp_si(t, c, -1);
    arb_add(start->sum, start->sum, t, work);
    end_balls(start, c, work, t);
    arb_sub(start->sum, start->sum, t, work);
    arb_neg(t, rate);
    taylor_balls(t, smooth, n_coefficients, work, c);
    arb_abs(start->remainder, c + n_coefficients - 1);
    start->sum_bits = bits;
    arb_clear(t);
    _arb_vec_clear(c, (slong) n_coefficients);
}

/* 4/(2 pi)^{2J} (2J-1)! (2 cosh part at `high`, plus the completely monotone part at the start). */
static void below_remainder(const cellar_hellinger_start *start, const arb_t rate,
                            arb_srcptr growing, int64_t high, size_t n_terms, int64_t bits,
                            arb_t out)
{
    size_t i = 2 * n_terms - 1;
    arb_ptr c = _arb_vec_init((slong) (2 * n_terms));
    arb_t t;
    arb_init(t);
    arb_neg(t, rate);
    taylor_balls(t, high, 2 * n_terms, bits, c);
    arb_add(out, growing + i, c + i, 64);
    arb_abs(out, out);
    arb_add(out, out, start->remainder, 64);
    arb_fac_ui(t, i, 64);
    arb_mul(out, out, t, 64);
    arb_const_pi(t, 64);
    arb_mul_2exp_si(t, t, 1);
    arb_pow_ui(t, t, i + 1, 64);
    arb_div(out, out, t, 64);
    arb_mul_2exp_si(out, out, 2);
    arb_clear(t);
    _arb_vec_clear(c, (slong) (2 * n_terms));
}

void cellar_hellinger_below_from(cellar_hellinger_start *start, const arb_t rate, int64_t n,
                                 int64_t bits, arb_t out)
{
    size_t n_terms = n_terms_for(bits), n_coefficients = 2 * n_terms;
    int64_t work = bits + 64, smooth = first_smooth(rate, bits);
    arb_ptr high;
    arb_t t;

    if (n <= smooth) {
        arb_zero(out);
        add_terms(rate, 0, n, work, out);
        return;
    }
    start_find_terms(start, bits);
    start_find_sum(start, rate, smooth, bits);
    high = _arb_vec_init((slong) n_coefficients);
    arb_init(t);
    taylor_balls(rate, n, n_coefficients, work, high);
    antiderivative_ball(rate, n, work, t);
    arb_add(out, start->sum, t, work);
    arb_mul_2exp_si(t, high, -1);
    arb_add(out, out, t, work);
    end_balls(start, high, work, t);
    arb_add(out, out, t, work);
    below_remainder(start, rate, high, n, n_terms, work, t);
    widen(out, t);
    arb_clear(t);
    _arb_vec_clear(high, (slong) n_coefficients);
}

void cellar_hellinger_below_ball(const arb_t rate, int64_t n, int64_t bits, arb_t out)
{
    cellar_hellinger_start start;
    cellar_hellinger_start_init(&start);
    cellar_hellinger_below_from(&start, rate, n, bits, out);
    cellar_hellinger_start_clear(&start);
}
