/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of the weights e^{-rate k^power} over many k, in a time that does not depend on how many: a
 * geometric series for power 1, and for power 2 Euler and Maclaurin's formula.
 *
 * With f(x) = e^{-rate x^2}, c = sqrt(2 rate), u = c k >= 0 and He_n the Hermite polynomials, the
 * derivatives are f^(n)(k) = (-c)^n He_n(u) f(k), and
 *   sum_{j >= k} f(j) = int_k^inf f + f(k) (1/2 + sum_{i=1}^p B_2i/(2i)! c^(2i-1) He_{2i-1}(u) +
 * R), f(k) |R| <= 2 zeta(2p) / (2 pi)^(2p) int_k^inf |f^(2p)| (Apostol 1999, "An elementary view of
 * Euler's summation formula"). Let H_n be He_n with all signs made positive, H_{n+1}(t) = t H_n(t)
 * + n H_{n-1}(t) and H_n' = n H_{n-1}. By parts, J_n = int_u^inf H_n(t) e^{-t^2/2} dt is e^{-u^2/2}
 * H_{n-1}(u) + 2 (n-1) J_{n-2}, and J_0 is at most sqrt(pi/2) e^{-u^2/2}. So |R| <= 4 (2 pi)^(-2p)
 * c^(2p-1) j_2p,  j_n = H_{n-1}(u) + 2 (n-1) j_{n-2},  j_0 = 1.26. */
#include <math.h>

#include "math/ball.h"
#include "math/flint.h"
#include "math/normal.h"
#include "mechanism/noise/weighted.h"

/* Shorter sums are made one by one, and so are those for which so many terms are not enough. */
enum { SHORT = 100, TERMS_MAX = 32 };

/* Where weights have fallen by a factor of 2^-bits since k. Any end is right, this one is near. */
static int64_t weights_end(double rate, int power, int64_t last, int64_t k, int64_t bits)
{
    double fall = (double) bits * log(2.0) / rate, from = (double) k;
    double more = power == 1 ? fall : fall / (from + sqrt(from * from + fall));
    return more + 2 < (double) (last - k) ? k + 2 + (int64_t) more : last;
}

/* e^{-rate a b}. */
static void weight_ball(const arb_t rate, int64_t a, int64_t b, int64_t bits, arb_t out)
{
    fmpz_t product;
    fmpz_init_set_si(product, a);
    fmpz_mul_si(product, product, -b);
    arb_mul_fmpz(out, rate, product, bits + 64);
    arb_exp(out, out, bits);
    fmpz_clear(product);
}

/* What lies beyond `end` when there is no last: weights fall there by at least the factor
 * f = e^{-rate(2 end + 1)}, so that the rest is at most w(end) f / (1 - f). */
static void weights_rest(const arb_t rate, int64_t end, const arb_t weight, int64_t bits, arb_t out)
{
    arb_t factor;
    arb_init(factor);
    weight_ball(rate, 2 * end + 1, 1, bits, factor);
    arb_mul(out, weight, factor, bits);
    arb_sub_ui(factor, factor, 1, bits);
    arb_neg(factor, factor);
    arb_div(out, out, factor, bits);
    arb_clear(factor);
}

/* Each weight is the one below it times e^{-rate ((k+1)^p - k^p)}, and for power 2 that factor is
 * the one before it times e^{-2 rate}. */
void cellar_weighted_list(const arb_t rate, int power, int64_t first, size_t n, int64_t bits,
                          arb_ptr out)
{
    int64_t work = bits + 16 + 2 * (int64_t) FLINT_BIT_COUNT((ulong) n);
    arb_t weight, down, step;
    arb_init(weight);
    arb_init(down);
    arb_init(step);
    weight_ball(rate, first, power == 1 ? 1 : first, work, weight);
    weight_ball(rate, power == 1 ? 1 : 2 * first + 1, 1, work, down);
    weight_ball(rate, 2, 1, work, step);
    for (size_t i = 0; i < n; i++) {
        arb_set_round(out + i, weight, work);
        arb_mul(weight, weight, down, work);
        if (power == 2)
            arb_mul(down, down, step, work);
    }
    arb_clear(weight);
    arb_clear(down);
    arb_clear(step);
}

/* From 0 to what a ball holds. */
static void ball_from_zero(arb_t ball)
{
    arb_mul_2exp_si(ball, ball, -1);
    arb_add_error(ball, ball);
}

/* ---- long sums ------------------------------------------------------------------- */

/* What bounds R: H_{2i-2}(u), H_{2i-1}(u), j_2i and (2 pi)^(-2i) c^(2i-1), rounded up. */
typedef struct long_error {
    mag_t u, c, even, odd, j, share, bound;
} long_error;

static void long_error_init(long_error *r, const arb_t c, const arb_t u)
{
    mag_init(r->u);
    mag_init(r->c);
    mag_init(r->even);
    mag_init(r->odd);
    mag_init(r->j);
    mag_init(r->share);
    mag_init(r->bound);
    arb_get_mag(r->u, u);
    arb_get_mag(r->c, c);
    mag_one(r->even);
    mag_set(r->odd, r->u);
    mag_set_d(r->j, 2.52); /* 2 j_0 */
    mag_add(r->j, r->j, r->odd);
    mag_set_d(r->share, 0.0253304); /* 1 / 4 pi^2 */
    mag_mul(r->share, r->share, r->c);
    mag_mul(r->bound, r->share, r->j);
}

static void long_error_clear(long_error *r)
{
    mag_clear(r->u);
    mag_clear(r->c);
    mag_clear(r->even);
    mag_clear(r->odd);
    mag_clear(r->j);
    mag_clear(r->share);
    mag_clear(r->bound);
}

/* From i to i + 1. */
static void long_error_next(long_error *r, ulong i)
{
    mag_mul_ui(r->even, r->even, 2 * i - 1);
    mag_addmul(r->even, r->u, r->odd);
    mag_mul_ui(r->odd, r->odd, 2 * i);
    mag_addmul(r->odd, r->u, r->even);
    mag_mul_ui(r->j, r->j, 4 * i + 2);
    mag_add(r->j, r->j, r->odd);
    mag_set_d(r->bound, 0.0253304);
    mag_mul(r->share, r->share, r->bound);
    mag_mul(r->share, r->share, r->c);
    mag_mul(r->share, r->share, r->c);
    mag_mul(r->bound, r->share, r->j);
}

/* Encloses 1/2 + the sum over i + R to about 2^-bits; 0 when it does not converge so far. */
static int long_corrections(const arb_t c, const arb_t u, int64_t bits, arb_t out)
{
    arb_t even, odd, power, term; /* He_{2i-2}(u), He_{2i-1}(u), c^(2i-1) / (2i)! */
    long_error r;
    int settled = 0;
    arb_init(even);
    arb_init(odd);
    arb_init(power);
    arb_init(term);
    long_error_init(&r, c, u);
    arb_one(even);
    arb_set(odd, u);
    arb_mul_2exp_si(power, c, -1);
    arb_set_d(out, 0.5);
    for (ulong i = 1; i <= TERMS_MAX && !settled; i++) {
        arb_bernoulli_ui(term, 2 * i, bits);
        arb_mul(term, term, odd, bits);
        arb_addmul(out, term, power, bits);
        settled = mag_cmp_2exp_si(r.bound, -bits - 2) < 0;
        if (settled)
            break;
        arb_mul_ui(even, even, 2 * i - 1, bits);
        arb_neg(even, even);
        arb_addmul(even, u, odd, bits);
        arb_mul_ui(odd, odd, 2 * i, bits);
        arb_neg(odd, odd);
        arb_addmul(odd, u, even, bits);
        arb_mul(power, power, c, bits);
        arb_mul(power, power, c, bits);
        arb_div_ui(power, power, (2 * i + 1) * (2 * i + 2), bits);
        long_error_next(&r, i);
    }
    mag_mul_2exp_si(r.bound, r.bound, 2);
    arb_add_error_mag(out, r.bound);
    long_error_clear(&r);
    arb_clear(even);
    arb_clear(odd);
    arb_clear(power);
    arb_clear(term);
    return settled;
}

/* Encloses the sum of e^{-rate j^2} over all j >= k, or answers 0. */
static int long_normal(const arb_t rate, int64_t k, int64_t bits, arb_t out)
{
    arb_t c, u;
    int done;
    arb_init(c);
    arb_init(u);
    arb_mul_2exp_si(c, rate, 1);
    arb_sqrt(c, c, bits + 64);
    arb_mul_si(u, c, k, bits + 64);
    done = long_corrections(c, u, bits, out);
    if (done) {
        weight_ball(rate, k, k, bits, c);
        arb_mul(out, out, c, bits);
        cellar_normal_tail_ball(u, u, bits + 64);
        arb_const_pi(c, bits);
        arb_div(c, c, rate, bits);
        arb_sqrt(c, c, bits);
        arb_addmul(out, c, u, bits); /* sqrt(pi / rate) P(Z >= u) is the integral */
    }
    arb_clear(c);
    arb_clear(u);
    return done;
}

/* Sum of e^{-rate j} over j = k..last. */
static void long_geometric(const arb_t rate, int64_t k, int64_t last, int64_t bits, arb_t out)
{
    arb_t factor;
    arb_init(factor);
    arb_mul_si(out, rate, k - last - 1, bits + 64);
    arb_expm1(out, out, bits);
    arb_neg(factor, rate);
    arb_expm1(factor, factor, bits);
    arb_div(out, out, factor, bits);
    weight_ball(rate, k, 1, bits, factor);
    arb_mul(out, out, factor, bits);
    arb_clear(factor);
}

/* The same for either power, or 0. What lies beyond `last` is taken off the infinite sum: nearly
 * nothing when the weights have fallen `before` it. */
static int long_sum(const arb_t rate, int power, int64_t last, int64_t k, int before, int64_t bits,
                    arb_t out)
{
    arb_t rest;
    int done = 1;
    if (power == 1) {
        long_geometric(rate, k, last, bits, out);
        return 1;
    }
    if (!long_normal(rate, k, bits, out))
        return 0;
    if (last == INT64_MAX)
        return 1;
    arb_init(rest);
    if (before) {
        weight_ball(rate, last, last, bits, rest);
        weights_rest(rate, last, rest, bits, rest);
        ball_from_zero(rest);
    } else {
        done = long_normal(rate, last + 1, bits, rest);
    }
    arb_sub(out, out, rest, bits);
    arb_clear(rest);
    return done;
}

/* ---- all sums ---------------------------------------------------------------------- */

/* Sums downwards. Each weight is the one above it times e^{rate (k^p - (k-1)^p)}, and for power 2
 * that factor is the one before it times e^{-2 rate}. */
void cellar_weighted_sums(const arb_t rate, int power, int64_t last, int64_t first, size_t n,
                          int64_t bits, arb_ptr out)
{
    double low = cellar_ball_lower(rate);
    int64_t k_last = first + (int64_t) n - 1, end, work;
    int is_long = 0;
    arb_t weight, up, step, sum;

    k_last = k_last < last ? k_last : last;
    end = weights_end(low, power, last, k_last, bits + 16);
    work = bits + 32 + 2 * (int64_t) FLINT_BIT_COUNT((ulong) (end - first) + 1);
    arb_init(weight);
    arb_init(up);
    arb_init(step);
    arb_init(sum);
    if (end - k_last > SHORT && long_sum(rate, power, last, k_last + 1, end < last, work, sum)) {
        end = k_last;
        is_long = 1;
    }
    weight_ball(rate, end, power == 1 ? 1 : end, work, weight);
    weight_ball(rate, power == 1 ? 1 : 2 * end - 1, -1, work, up);
    weight_ball(rate, 2, 1, work, step);
    if (!is_long) {
        if (last == INT64_MAX)
            weights_rest(rate, end, weight, work, sum);
        else /* each of those left out is at most the last one counted */
            arb_mul_si(sum, weight, last - end, work);
        ball_from_zero(sum);
    }
    for (size_t i = n; i-- > 0 && first + (int64_t) i > last;)
        arb_zero(out + i);
    for (int64_t k = end; k >= first; k--) {
        arb_add(sum, sum, weight, work);
        if (k <= k_last)
            arb_set_round(out + (k - first), sum, work);
        arb_mul(weight, weight, up, work);
        if (power == 2)
            arb_mul(up, up, step, work);
    }
    arb_clear(weight);
    arb_clear(up);
    arb_clear(step);
    arb_clear(sum);
}

/* Sum over all integers of e^{-rate k^2} by Poisson's formula, for small rates:
 * sqrt(pi/rate) (1 + 2 sum_{n>=1} e^{-pi^2 n^2 / rate}). */
static void total_by_poisson(const arb_t rate, int64_t bits, arb_t out)
{
    arb_t dual, sum;
    arb_init(dual);
    arb_init(sum);
    arb_const_pi(dual, bits + 32);
    arb_div(out, dual, rate, bits + 32);
    arb_mul(dual, dual, out, bits + 32);
    arb_sqrt(out, out, bits + 32);
    cellar_weighted_sums(dual, 2, INT64_MAX, 1, 1, bits, sum);
    arb_mul_2exp_si(sum, sum, 1);
    arb_add_ui(sum, sum, 1, bits + 32);
    arb_mul(out, out, sum, bits + 32);
    arb_clear(dual);
    arb_clear(sum);
}

void cellar_weighted_total(const arb_t rate, int power, int64_t last, int64_t bits, arb_t out)
{
    if (last == INT64_MAX && cellar_ball_upper(rate) < 3) {
        total_by_poisson(rate, bits, out);
        return;
    }
    cellar_weighted_sums(rate, power, last, 1, 1, bits, out);
    arb_mul_2exp_si(out, out, 1);
    arb_add_ui(out, out, 1, bits + 32);
}
