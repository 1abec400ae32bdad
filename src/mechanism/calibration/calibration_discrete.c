/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discrete Gaussian noise X, sensitivity 1. With T(k) = P(X >= k) the loss of the outcome k is
 * (2k+1)/(2 sigma^2); it exceeds epsilon from k = m on, m = floor(sigma^2 epsilon - 1/2) + 1, so
 *   delta   = T(m) - e^epsilon T(m+1)     (approximate; the maximum over all m)
 *   delta_p = T(m) + T(m+1)               (probabilistic; a tie is no violation).
 * m jumps where sigma^2 = (n + 1/2) / epsilon, and neither is monotone in sigma. Far out both are
 * at most 2 T(m) with T(m) <= P(N(0, sigma^2) >= m - 1), because e^{-k^2/2sigma^2} is at most its
 * integral over (k-1, k) and the sum of all weights at least sigma sqrt(2 pi) (Canonne, Kamath and
 * Steinke 2020, Proposition 25). */
#include "mechanism/calibration/calibration.h"

#include <math.h>

#include "base/error.h"
#include "math/ball.h"
#include "math/normal.h"
#include "math/rational.h"
#include "mechanism/noise/weighted.h"

enum { BITS = 96 };

/* Encloses T(m) and T(m+1) for the rate 1 / 2 sigma^2, m >= 0. */
static void discrete_tails(const arb_t rate, int64_t m, int64_t bits, arb_ptr tails)
{
    arb_t total;
    arb_init(total);
    cellar_weighted_total(rate, 2, INT64_MAX, bits, total);
    cellar_weighted_sums(rate, 2, INT64_MAX, m, 2, bits, tails);
    arb_div(tails, tails, total, bits);
    arb_div(tails + 1, tails + 1, total, bits);
    arb_clear(total);
}

/* Encloses 1 / 2 sigma^2 for sigma^2 = (n + 1/2) / epsilon. */
static void rate_of_piece(int64_t n, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    fmpq_t exact;
    fmpq_init(exact);
    fmpq_set_si(exact, 1, (ulong) (2 * n + 1));
    fmpq_mul(exact, exact, epsilon);
    arb_set_fmpq(out, exact, bits);
    fmpq_clear(exact);
}

/* Encloses that sigma. */
static void sigma_of_piece(int64_t n, const fmpq_t epsilon, arb_t out)
{
    rate_of_piece(n, epsilon, BITS, out);
    arb_mul_2exp_si(out, out, 1);
    arb_rsqrt(out, out, BITS);
}

/* ---- probabilistic --------------------------------------------------------- */

/* The sup of delta_p for sigma^2 in [(n+1/2)/epsilon, (n+3/2)/epsilon), where m = n+1: as tails
 * grow with sigma, it is the limit at the right end. */
static int pdp_piece_does(int64_t n, const fmpq_t epsilon, const arb_t delta)
{
    arb_ptr tails = _arb_vec_init(2);
    arb_t rate;
    int yes;

    arb_init(rate);
    rate_of_piece(n + 1, epsilon, BITS + 64, rate);
    discrete_tails(rate, n + 1, BITS, tails);
    arb_add(rate, tails, tails + 1, BITS);
    yes = arb_le(rate, delta);
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
    sigma_of_piece(high, epsilon, limit);
    sigma = cellar_ball_upper(limit);
    arb_clear(limit);
    return sigma;
}

/* ---- approximate -----------------------------------------------------------
 *
 * delta is the largest of all D_m = T(m) - e^epsilon T(m+1), and D_m > delta0 says
 *   G_m(r) = e^{r m^2} sum_k (g(k) - delta0) e^{-r k^2} > 0,   r = 1 / 2 sigma^2,
 * with g(k) = 1 at k = m, 1 - e^epsilon at k > m and 0 elsewhere. Terms of |k| = m do not depend on
 * r, and all others have negative coefficients: G_m is concave. So each D_m exceeds delta0 on an
 * interval of sigma, if at all, and a line through two points of G_m bounds it outside of them. The
 * answer is where the last of these intervals ends. */

typedef struct concave {
    int64_t m;
    arb_t factor, limit; /* e^epsilon, delta0 */
} concave;

/* 1 / 2 sigma^2. */
static void rate_of(double sigma, int64_t bits, arb_t out)
{
    arb_set_d(out, sigma);
    arb_mul(out, out, out, bits);
    arb_mul_2exp_si(out, out, 1);
    arb_inv(out, out, bits);
}

/* Encloses G_m(rate). */
static void concave_at(const concave *g, const arb_t rate, arb_t out)
{
    arb_ptr sums = _arb_vec_init(2);
    arb_t total;
    arb_init(total);
    cellar_weighted_total(rate, 2, INT64_MAX, BITS, total);
    cellar_weighted_sums(rate, 2, INT64_MAX, g->m, 2, BITS, sums);
    arb_submul(sums, sums + 1, g->factor, BITS);
    arb_submul(sums, total, g->limit, BITS);
    arb_mul_si(total, rate, g->m, BITS + 64);
    arb_mul_si(total, total, g->m, BITS + 64);
    arb_exp(total, total, BITS);
    arb_mul(out, sums, total, BITS);
    arb_clear(total);
    _arb_vec_clear(sums, 2);
}

/* Is G_m <= 0 between the rates `from` and `to`, which is smaller? By Newton's method from above,
 * with a short chord for the tangent: G_m <= 0 as far as the line is, and everywhere below when the
 * line does not fall. It comes to a halt at `halt` where G_m is about to be positive. */
static int concave_is_safe(const concave *g, const arb_t from, const arb_t to, arb_t halt)
{
    enum { STEPS_MAX = 100, CHORD = 20, STEP_LEAST = 40 };
    arb_t here, rise, width;
    int safe = 0, moves = 1;
    arb_init(here);
    arb_init(rise);
    arb_init(width);
    arb_set(halt, from);
    for (int i = 0; i < STEPS_MAX && !safe && moves; i++) {
        concave_at(g, halt, here);
        if (!arb_is_nonpositive(here))
            break;
        arb_mul_2exp_si(width, halt, -CHORD);
        arb_add(rise, halt, width, BITS + 64);
        concave_at(g, rise, rise);
        arb_sub(rise, rise, here, BITS);
        safe = arb_is_nonnegative(rise);
        if (safe || !arb_is_negative(rise))
            break;
        arb_mul(width, width, here, BITS);
        arb_div(width, width, rise, BITS); /* to where the line is zero */
        arb_get_lbound_arf(arb_midref(here), width, BITS);
        mag_zero(arb_radref(here));
        arb_mul_2exp_si(width, halt, -STEP_LEAST);
        moves = arb_gt(here, width);
        arb_sub(halt, halt, here, BITS + 64);
        safe = arb_le(halt, to);
    }
    arb_clear(here);
    arb_clear(rise);
    arb_clear(width);
    return safe;
}

/* The sign of G_m: 1, -1 (or zero), or 0 when it is open. */
static int concave_sign(const concave *g, double sigma)
{
    arb_t rate;
    int sign;
    arb_init(rate);
    rate_of(sigma, BITS + 64, rate);
    concave_at(g, rate, rate);
    sign = arb_is_nonpositive(rate) ? -1 : arb_is_positive(rate);
    arb_clear(rate);
    return sign;
}

/* The sigma from which on G_m <= 0 up to `edge`; `edge`, rounded up, when there is none before. The
 * interval of G_m > 0 begins where the other search came to a halt. */
static double concave_end(const concave *g, const arb_t halt, const arb_t edge)
{
    double low = 1 / sqrt(2 * arf_get_d(arb_midref(halt), ARF_RND_NEAR)) * (1 + 0x1p-32);
    double high = cellar_ball_lower(edge);
    if (!(low < high) || concave_sign(g, low) <= 0 || concave_sign(g, high) >= 0)
        return cellar_ball_upper(edge);
    while (nextafter(low, high) < high) {
        double middle = low + (high - low) / 2;
        if (concave_sign(g, middle) < 0)
            high = middle;
        else
            low = middle;
    }
    return concave_sign(g, low) > 0 ? high : cellar_ball_upper(edge);
}

/* The m with the largest D_m, exactly. */
static int64_t first_violation(double sigma, const fmpq_t epsilon)
{
    int64_t m;
    fmpq_t x, half;
    fmpz_t floor;
    fmpq_init(x);
    fmpq_init(half);
    fmpz_init(floor);
    cellar_rational_set_double(x, sigma);
    fmpq_mul(x, x, x);
    fmpq_mul(x, x, epsilon);
    fmpq_set_si(half, 1, 2);
    fmpq_add(x, x, half);
    fmpz_fdiv_q(floor, fmpq_numref(x), fmpq_denref(x));
    m = fmpz_get_si(floor);
    fmpq_clear(x);
    fmpq_clear(half);
    fmpz_clear(floor);
    return m;
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

/* Beyond what mechanisms take, the bound is near enough; and far beyond m is no int64_t. */
static const double SIGMA_FAR = 2e4, SIGMA_BEYOND = 1e6;

static void discrete_delta(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_ptr tails;
    arb_t rate;
    if (sigma > SIGMA_BEYOND) {
        analytic_bound(sigma, epsilon, bits, out);
        return;
    }
    tails = _arb_vec_init(2);
    arb_init(rate);
    rate_of(sigma, bits + 64, rate);
    discrete_tails(rate, first_violation(sigma, epsilon), bits, tails);
    arb_set_fmpq(rate, epsilon, bits);
    arb_exp(rate, rate, bits);
    arb_submul(tails, rate, tails + 1, bits);
    arb_swap(out, tails);
    arb_clear(rate);
    _arb_vec_clear(tails, 2);
}

/* Sum of e^{-rate k^2} over the integers. */
static double total_nearest(double sigma)
{
    double sum = 0, rate = 0.5 / (sigma * sigma);
    if (sigma > 1)
        return sigma * sqrt(2 * M_PI) * (1 + 2 * exp(-2 * M_PI * M_PI * sigma * sigma));
    for (int k = 1; rate * k * k < 50; k++)
        sum += exp(-rate * k * k);
    return 1 + 2 * sum;
}

/* D_m is w(m) (1 - (e^epsilon - 1) sum_{k>m} w(k) / w(m)) over the total, w(k) = e^{-rate k^2}. */
static double discrete_log_delta(double sigma, double epsilon)
{
    static const double wide = 50; /* delta is about that of continuous noise */
    double rate = 0.5 / (sigma * sigma), m = floor(sigma * sigma * epsilon + 0.5);
    double ratio = exp(-rate * (2 * m + 1)), fall = exp(-2 * rate), left = 1;
    double term = expm1(epsilon) * ratio;
    if (sigma > wide)
        return cellar_gaussian_log_delta(sigma, epsilon);
    while (term > 1e-18) {
        left -= term;
        ratio *= fall;
        term *= ratio;
    }
    return left > 0 ? log(left / total_nearest(sigma)) - rate * m * m : -INFINITY;
}

static int bound_does(double sigma, const fmpq_t epsilon, const arb_t limit)
{
    arb_t bound;
    int yes;
    arb_init(bound);
    analytic_bound(sigma, epsilon, BITS, bound);
    yes = arb_le(bound, limit);
    arb_clear(bound);
    return yes;
}

/* From a sigma that meets delta where the one below it does not, upwards through the pieces of one
 * m each, until the bound holds for all the rest. */
static double discrete_climb(double sigma, const fmpq_t epsilon, const fmpq_t delta)
{
    concave g = {.m = first_violation(sigma, epsilon)};
    arb_t from, to, halt, edge;
    int ends = 0;

    arb_init(g.factor);
    arb_init(g.limit);
    arb_init(from);
    arb_init(to);
    arb_init(halt);
    arb_init(edge);
    arb_set_fmpq(g.limit, delta, BITS);
    arb_set_fmpq(g.factor, epsilon, BITS);
    arb_exp(g.factor, g.factor, BITS);
    rate_of(sigma, BITS + 64, from);
    for (; !ends; g.m++) {
        rate_of_piece(g.m, epsilon, BITS + 64, to);
        sigma_of_piece(g.m, epsilon, edge);
        if (!concave_is_safe(&g, from, to, halt))
            sigma = concave_end(&g, halt, edge);
        ends = bound_does(cellar_ball_lower(edge), epsilon, g.limit);
        arb_swap(from, to);
    }
    arb_clear(g.factor);
    arb_clear(g.limit);
    arb_clear(from);
    arb_clear(to);
    arb_clear(halt);
    arb_clear(edge);
    return sigma;
}

double cellar_calibrate_discrete_analytic(const fmpq_t epsilon, const fmpq_t delta)
{
    double e = cellar_rational_double(epsilon), d = cellar_rational_double(delta);
    if (analytic_log_bound(SIGMA_FAR, e) > log(d))
        return cellar_sigma_find(analytic_bound, analytic_log_bound, epsilon, delta);
    return discrete_climb(cellar_sigma_find(discrete_delta, discrete_log_delta, epsilon, delta),
                          epsilon, delta);
}
