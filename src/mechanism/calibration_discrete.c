/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discrete Gaussian noise X, sensitivity 1. With T(k) = P(X >= k) the loss of the outcome k is
 * (2k+1)/(2 sigma^2); it exceeds epsilon from k = m on, m = floor(sigma^2 epsilon - 1/2) + 1, so
 *   delta   = T(m) - e^epsilon T(m+1)     (approximate; the maximum over all m)
 *   delta_p = T(m) + T(m+1)               (probabilistic; a tie is no violation).
 * m jumps where sigma^2 = (n + 1/2) / epsilon, and neither is monotone in sigma. Far out both are
 * at most 2 T(m) with T(m) <= P(N(0, sigma^2) >= m - 1), because e^{-k^2/2sigma^2} is at most its
 * integral over (k-1, k) and the sum of all weights at least sigma sqrt(2 pi) (Canonne, Kamath and
 * Steinke 2020, Proposition 25). */
#include "mechanism/calibration.h"

#include <math.h>

#include "base/error.h"
#include "math/ball.h"
#include "math/normal.h"
#include "math/rational.h"
#include "mechanism/weighted.h"

enum { BITS = 96 };

/* Encloses T(m) and T(m+1) for the rate 1 / 2 sigma^2, m >= 0. */
static void discrete_tails(const arb_t rate, int64_t m, arb_ptr tails)
{
    arb_t total;
    arb_init(total);
    cellar_weighted_total(rate, 2, INT64_MAX, BITS, total);
    cellar_weighted_sums(rate, 2, INT64_MAX, m, 2, BITS, tails);
    arb_div(tails, tails, total, BITS);
    arb_div(tails + 1, tails + 1, total, BITS);
    arb_clear(total);
}

/* ---- probabilistic --------------------------------------------------------- */

/* The sup of delta_p for sigma^2 in [(n+1/2)/epsilon, (n+3/2)/epsilon), where m = n+1: as tails
 * grow with sigma, it is the limit at the right end. */
static int pdp_piece_does(int64_t n, const fmpq_t epsilon, const arb_t delta)
{
    arb_ptr tails = _arb_vec_init(2);
    arb_t rate;
    fmpq_t exact;
    int yes;

    arb_init(rate);
    fmpq_init(exact);
    fmpq_set_si(exact, 1, (ulong) (2 * n + 3)); /* 1 / 2 sigma^2 = epsilon / (2n+3) */
    fmpq_mul(exact, exact, epsilon);
    arb_set_fmpq(rate, exact, BITS + 64);
    discrete_tails(rate, n + 1, tails);
    arb_add(rate, tails, tails + 1, BITS);
    yes = arb_le(rate, delta);
    fmpq_clear(exact);
    arb_clear(rate);
    _arb_vec_clear(tails, 2);
    return yes;
}

/* Is 2 P(N >= n) <= delta for sigma^2 = (n+3/2)/epsilon? True from some n on. */
static int pdp_bound_does(int64_t n, double epsilon, double delta)
{
    double x = (double) n * sqrt(epsilon / ((double) n + 1.5)) * (1 - 1e-12);
    return log(2.0) + cellar_normal_log_tail(x) <= log(delta) - 1e-9;
}

double cellar_calibrate_discrete_pdp(const fmpq_t epsilon, const fmpq_t delta)
{
    double e = cellar_rational_double(epsilon), d = cellar_rational_double(delta), sigma;
    int64_t low = 0, high = 1;
    arb_t limit;

    while (!pdp_bound_does(high, e, d)) {
        high *= 2;
        if (high > INT64_C(1) << 50)
            return INFINITY;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (pdp_bound_does(middle, e, d))
            high = middle;
        else
            low = middle;
    }
    arb_init(limit);
    arb_set_fmpq(limit, delta, BITS);
    /* All pieces from `high` on do; go down while they still do. Below piece 0 delta_p is 1. */
    while (high > 0 && pdp_piece_does(high - 1, epsilon, limit))
        high--;
    arb_set_fmpq(limit, epsilon, BITS); /* sigma = sqrt((high + 1/2) / epsilon) */
    arb_mul_2exp_si(limit, limit, 1);
    arb_ui_div(limit, (ulong) (2 * high + 1), limit, BITS);
    arb_sqrt(limit, limit, BITS);
    sigma = cellar_ball_upper(limit);
    arb_clear(limit);
    return sigma;
}

/* ---- approximate ----------------------------------------------------------- */

/* floor(sigma^2 epsilon - 1/2) + 1, or a number one off it when rounding says so. */
static int64_t first_violation(double sigma, double epsilon)
{
    double m = floor(sigma * sigma * epsilon - 0.5) + 1;
    return m > 0 ? (int64_t) m : 0;
}

/* The least and the largest m that occur for sigma in [low, high]; more do no harm. */
static void violations_between(double low, double high, const fmpq_t epsilon, int64_t m[2])
{
    double e = cellar_rational_double(epsilon);
    m[0] = first_violation(low * (1 - 1e-12), e);
    m[1] = first_violation(high * (1 + 1e-12), e);
}

/* 1 / 2 sigma^2. */
static void rate_of(double sigma, arb_t out)
{
    arb_set_d(out, sigma);
    arb_mul(out, out, out, BITS + 64);
    arb_mul_2exp_si(out, out, 1);
    arb_inv(out, out, BITS + 64);
}

/* Encloses the sum of k^2 e^{-rate k^2} over k >= m, with what is left out after the weights have
 * fallen by 2^-BITS: terms fall there by at least (1 + 1/k)^2 e^{-rate(2k+1)}. */
static void second_moment(double sigma, int64_t m, arb_t out)
{
    int64_t end =
        m + 2 + (int64_t) (sqrt((double) m * (double) m + 140 * sigma * sigma) - (double) m);
    arb_t rate, term, fall;
    arb_init(rate);
    arb_init(term);
    arb_init(fall);
    rate_of(sigma, rate);
    arb_zero(out);
    for (int64_t k = m; k <= end; k++) {
        arb_mul_si(term, rate, -k * k, BITS + 32);
        arb_exp(term, term, BITS);
        arb_mul_si(term, term, k * k, BITS);
        arb_add(out, out, term, BITS);
    }
    arb_mul_si(fall, rate, -2 * end - 1, BITS);
    arb_exp(fall, fall, BITS);
    arb_mul_si(fall, fall, (end + 1) * (end + 1), BITS);
    arb_div_si(fall, fall, end * end, BITS);
    arb_mul(term, term, fall, BITS);
    arb_sub_ui(fall, fall, 1, BITS);
    arb_neg(fall, fall);
    arb_div(term, term, fall, BITS);
    arb_add_error(out, term); /* not finite, and then no proof, when terms do not fall */
    arb_clear(rate);
    arb_clear(term);
    arb_clear(fall);
}

/* Encloses T(m) at one sigma and T(m+1) at another, then T(m) - e^epsilon T(m+1). */
static void delta_between(double sigma, double other, int64_t m, const fmpq_t epsilon, arb_t out)
{
    arb_ptr tails = _arb_vec_init(2), other_tails = _arb_vec_init(2);
    arb_t rate;
    arb_init(rate);
    rate_of(sigma, rate);
    discrete_tails(rate, m, tails);
    rate_of(other, rate);
    discrete_tails(rate, m, other_tails);
    arb_set_fmpq(rate, epsilon, BITS);
    arb_exp(rate, rate, BITS);
    arb_submul(tails, rate, other_tails + 1, BITS);
    arb_set(out, tails);
    arb_clear(rate);
    _arb_vec_clear(other_tails, 2);
    _arb_vec_clear(tails, 2);
}

/* Is delta(sigma) at most `limit` on all of [low, high]? Tails grow with sigma, so there
 * T(m) - e^epsilon T(m+1) is at most T(m) at `high` less e^epsilon T(m+1) at `low`. */
static int piece_is_below(double low, double high, const fmpq_t epsilon, const arb_t limit)
{
    int64_t m[2];
    arb_t delta;
    int yes = 1;
    arb_init(delta);
    violations_between(low, high, epsilon, m);
    for (; yes && m[0] <= m[1]; m[0]++) {
        delta_between(high, low, m[0], epsilon, delta);
        yes = arb_le(delta, limit);
    }
    arb_clear(delta);
    return yes;
}

/* Does delta fall with sigma on all of [low, high]? It is E g(X) with g the indicator of k >= m
 * less e^epsilon that of k > m, and its derivative in 1/2sigma^2 is -Cov(g(X), X^2). As E g(X) >= 0
 * for the m that occurs, E[g(X) X^2] < 0 is enough; sums over k >= m of k^2 e^{-k^2/2sigma^2} grow
 * with sigma, so that it is enough to look at both ends. */
static int piece_falls(double low, double high, const fmpq_t epsilon)
{
    int64_t m[2];
    arb_t a, b, factor;
    int yes = 1;
    arb_init(a);
    arb_init(b);
    arb_init(factor);
    arb_set_fmpq(factor, epsilon, BITS);
    arb_exp(factor, factor, BITS);
    violations_between(low, high, epsilon, m);
    for (; yes && m[0] <= m[1]; m[0]++) {
        second_moment(high, m[0], a);
        second_moment(low, m[0] + 1, b);
        arb_submul(a, factor, b, BITS);
        yes = arb_is_negative(a);
    }
    arb_clear(a);
    arb_clear(b);
    arb_clear(factor);
    return yes;
}

/* A bound that falls with sigma. delta is the sum over the integers of the positive part of
 * h(x) = phi(x) - e^epsilon phi(x+1), phi the density of N(0, sigma^2) (whose sum over the integers
 * is at least 1). h rises from its zero x0 = epsilon sigma^2 - 1/2 to one peak and falls, so the
 * sum is at most its integral, the delta of continuous noise, and its peak. With y = x - x0,
 * h = phi(x)(1 - e^{-y/sigma^2}) <= phi(x0) e^{-x0 y/sigma^2} y/sigma^2 <= phi(x0) / (e x0). */
static void analytic_bound(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_t peak, zero, s;
    arb_init(peak);
    arb_init(zero);
    arb_init(s);
    arb_set_d(s, sigma);
    arb_set_fmpq(zero, epsilon, bits);
    arb_mul(zero, zero, s, bits);
    arb_mul_2exp_si(peak, s, 1);
    arb_inv(peak, peak, bits);
    arb_sub(zero, zero, peak, bits); /* x0 / sigma */
    if (arb_is_positive(zero)) {
        arb_mul(peak, zero, zero, bits);
        arb_mul_2exp_si(peak, peak, -1);
        arb_add_ui(peak, peak, 1, bits);
        arb_neg(peak, peak);
        arb_exp(peak, peak, bits);
        arb_div(peak, peak, zero, bits);
        arb_mul(s, s, s, bits);
        arb_div(peak, peak, s, bits);
        arb_const_pi(zero, bits);
        arb_mul_2exp_si(zero, zero, 1);
        arb_sqrt(zero, zero, bits);
        arb_div(peak, peak, zero, bits);
        cellar_gaussian_delta(sigma, epsilon, bits, out);
        arb_add(out, out, peak, bits);
    } else {
        arb_one(out);
    }
    arb_clear(peak);
    arb_clear(zero);
    arb_clear(s);
}

static double analytic_log_bound(double sigma, double epsilon)
{
    double zero = epsilon * sigma - 0.5 / sigma, delta, peak;
    if (!(zero > 0))
        return 0;
    delta = cellar_gaussian_log_delta(sigma, epsilon);
    peak = -zero * zero / 2 - 1 - log(zero * sigma * sigma * sqrt(2 * M_PI));
    return delta > peak ? delta + log1p(exp(peak - delta)) : peak + log1p(exp(delta - peak));
}

/* The smallest sigma of [low, high], where delta falls, that does. */
static double piece_bisect(double low, double high, const fmpq_t epsilon, const arb_t limit)
{
    while (high - low > 1e-15 * high) {
        double middle = low + (high - low) / 2;
        if (piece_is_below(middle, middle, epsilon, limit))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Sweeps down from a sigma beyond which the bound holds. A step is safe when delta is proven small
 * on all of it, or falling on all of it and small at its lower end; where it falls and is not
 * small at the lower end lies the answer. Steps that prove nothing are halved. */
double cellar_calibrate_discrete_analytic(const fmpq_t epsilon, const fmpq_t delta)
{
    double sigma = cellar_sigma_find(analytic_bound, analytic_log_bound, epsilon, delta);
    double step = 1e-3;
    arb_t limit;

    if (!(sigma < 2e4)) /* beyond what mechanisms take; the bound is then near enough */
        return sigma;
    arb_init(limit);
    arb_set_fmpq(limit, delta, BITS);
    while (step > 0x1p-40 && sigma > 1e-4) {
        double next = sigma * (1 - step);
        int falls = piece_falls(next, sigma, epsilon);
        if (falls && !piece_is_below(next, next, epsilon, limit)) {
            sigma = piece_bisect(next, sigma, epsilon, limit);
            break;
        }
        if (falls || piece_is_below(next, sigma, epsilon, limit)) {
            sigma = next;
            step = step < 0.01 ? 1.5 * step : step;
        } else {
            step /= 2;
        }
    }
    arb_clear(limit);
    return sigma;
}
