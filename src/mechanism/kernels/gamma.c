/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gamma noise, discretised: X has the gamma distribution of mean mu = count + alpha and variance
 * sigma^2 mu (gamlss: GAF with nu = 1), that is of shape K = mu/sigma^2 and scale theta = sigma^2,
 * and is rounded to the nearest whole number: P(b) = P(b - 1/2 <= X < b + 1/2). Where sigma < 1 it
 * spreads less than a Poisson count. Jackson, Mitra, Francis and Dove name the discretised gamma
 * family as what comes after Poisson counts.
 *
 * Differences of incomplete gamma functions cancel: P(b) is an integral of the density over one
 * interval here, by Gauss's rule for doubles and by a Taylor series with a proven rest for balls.
 */
#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "math/ball.h"
#include "math/special.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/registry.h"

typedef struct gamma_kernel {
    cellar_kernel kernel;
    long double theta;
    fmpq_t theta_exact;
} gamma_kernel;

static long double gamma_theta(const cellar_kernel *k)
{
    return ((const gamma_kernel *) k)->theta;
}

static long double gamma_shape(const cellar_kernel *k, int64_t count)
{
    return cellar_kernel_mean(k, count) / gamma_theta(k);
}

/* ---- doubles -------------------------------------------------------------------------- */

/* ln of y^K e^-y / Gamma(K + 1), Loader's form. */
static long double log_power(long double shape, long double y)
{
    static const long double log_2pi = 1.837877066409345483560659472811235279L;
    return -cellar_stirling_error(shape) - cellar_deviance(shape, y) - (log_2pi + logl(shape)) / 2;
}

static long double log_density(long double shape, long double theta, long double x)
{
    return log_power(shape, x / theta) + logl(shape / x);
}

/* P(X < 1/2): a series of positive terms. */
static long double log_first(long double shape, long double theta)
{
    const long double y = 0.5L / theta;
    long double term = 1, sum = 1;
    for (int n = 1; term > 1e-21L * sum; n++) {
        term *= y / (shape + n);
        sum += term;
    }
    return log_power(shape, y) + logl(sum);
}

/* The density over [x, x + h], h of either sign, relative to e^reference: Gauss's rule of 16
 * points. */
static long double gauss(long double shape, long double theta, long double x, long double h,
                         long double reference)
{
    static const double points[][2] = {
        {0.095012509837637454, 0.18945061045506859}, {0.28160355077925892, 0.18260341504492361},
        {0.45801677765722737, 0.16915651939500262},  {0.61787624440264377, 0.14959598881657676},
        {0.755404408355003, 0.12462897125553403},    {0.86563120238783176, 0.095158511682492591},
        {0.9445750230732326, 0.062253523938647706},  {0.98940093499164994, 0.027152459411754037},
    };
    const long double half = h / 2, middle = x + half;
    long double sum = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        for (int side = -1; side <= 1; side += 2)
            sum += points[i][1] *
                   expl(log_density(shape, theta, middle + side * points[i][0] * half) - reference);
    return sum * fabsl(half);
}

/* From x to `end`, in steps within which the density changes by a moderate factor, until it is too
 * small to count: it falls on the way. */
static long double integral_from(long double shape, long double theta, long double x,
                                 long double end, long double reference)
{
    long double sum = 0;
    while (x != end) {
        const long double slope = fabsl((shape - 1) / x - 1 / theta);
        const long double bend = sqrtl(fabsl(shape - 1)) / x;
        long double h = fminl(3 / (slope + bend), x / 4);
        if (h >= fabsl(end - x))
            h = fabsl(end - x);
        h = end > x ? h : -h;
        sum += gauss(shape, theta, x, h, reference);
        if (log_density(shape, theta, x + h) - reference < -60)
            break;
        x = fabsl(end - x) > fabsl(h) ? x + h : end;
    }
    return sum;
}

static long double gamma_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    const long double theta = gamma_theta(k), shape = gamma_shape(k, count);
    const long double low = (long double) b - 0.5L, high = (long double) b + 0.5L;
    long double top, reference;
    if (b == 0)
        return log_first(shape, theta);
    top = fminl(fmaxl((shape - 1) * theta, low), high); /* where the density is largest */
    reference = log_density(shape, theta, top);
    return reference + logl(integral_from(shape, theta, top, low, reference) +
                            integral_from(shape, theta, top, high, reference));
}

static void gamma_ratios(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                         long double *out)
{
    long double here = gamma_log_p(k, count, first), next;
    for (size_t i = 0; i < n; i++) {
        next = gamma_log_p(k, count, first + (int64_t) i + 1);
        out[i] = expl(next - here);
        here = next;
    }
}

/* The density at x + 1 over that at x is (1 + 1/x)^(K-1) e^(-1/theta), which rises to its limit or
 * falls to it. The first cell is half as wide, and its ratio is taken as it is. */
static long double gamma_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    const long double shape = gamma_shape(k, count), limit = expl(-1 / gamma_theta(k));
    const long double x = (long double) (b > 0 ? b : 1) - 0.5L;
    const long double here = expl((shape - 1) * log1pl(1 / x)) * limit;
    long double bound = fmaxl(here, limit), first;
    if (b == 0) {
        gamma_ratios(k, count, 0, 1, &first);
        bound = fmaxl(bound, first);
    }
    return bound * (1 + 1e-15L);
}

/* Rounding adds 1/12 to the variance and nothing to the mean but what the characteristic function
 * |1 + 2 pi i theta|^-K lets through; where that is not small, values are added up. */
static void gamma_mean_variance(const cellar_kernel *k, int64_t count, double *mean,
                                double *variance)
{
    const long double mu = cellar_kernel_mean(k, count), theta = gamma_theta(k);
    const long double shape = gamma_shape(k, count), turn = 6.283185307179586477L * theta;
    long double first = 0, second = 0, p;
    *mean = (double) mu;
    *variance = (double) (theta * mu + 1 / 12.0L);
    if (shape * log1pl(turn * turn) / 2 > 50)
        return;
    for (int64_t b = 1;; b++) {
        const long double x = (long double) b;
        p = expl(gamma_log_p(k, count, b));
        first += x * p;
        second += x * x * p;
        if (x > mu && p * x * x * theta < 1e-19L * second)
            break;
    }
    *mean = (double) first;
    *variance = (double) (second - first * first);
}

/* ---- balls ---------------------------------------------------------------------------- */

/* The shape, ln Gamma of it, and theta. */
typedef struct gamma_balls {
    int64_t bits;
    double shape_double, theta_double;
    arb_t shape, log_gamma, theta, inverse;
} gamma_balls;

static void balls_init(gamma_balls *g, const cellar_kernel *k, int64_t count, int64_t bits)
{
    fmpq_t shape;
    fmpq_init(shape);
    arb_init(g->shape);
    arb_init(g->log_gamma);
    arb_init(g->theta);
    arb_init(g->inverse);
    cellar_kernel_mean_rational(k, count, shape);
    fmpq_div(shape, shape, ((const gamma_kernel *) k)->theta_exact);
    g->bits = bits;
    g->shape_double = (double) gamma_shape(k, count);
    g->theta_double = (double) gamma_theta(k);
    arb_set_fmpq(g->shape, shape, bits);
    arb_set_fmpq(g->theta, ((const gamma_kernel *) k)->theta_exact, bits);
    arb_inv(g->inverse, g->theta, bits);
    arb_lgamma(g->log_gamma, g->shape, bits);
    fmpq_clear(shape);
}

static void balls_clear(gamma_balls *g)
{
    arb_clear(g->shape);
    arb_clear(g->log_gamma);
    arb_clear(g->theta);
    arb_clear(g->inverse);
}

/* y^K e^-y / Gamma(K). */
static void balls_power(const gamma_balls *g, const arb_t y, arb_t out)
{
    arb_log(out, y, g->bits);
    arb_mul(out, out, g->shape, g->bits);
    arb_sub(out, out, y, g->bits);
    arb_sub(out, out, g->log_gamma, g->bits);
    arb_exp(out, out, g->bits);
}

/* P(0) = y^K e^-y / Gamma(K) times the sum of y^n / (K ... (K + n)), y = 1/(2 theta): when n > y
 * the rest is below the last term. */
static void balls_first(const gamma_balls *g, arb_t out)
{
    const double y_double = 0.5 / g->theta_double;
    arb_t y, term, sum, next;
    mag_t rest;
    arb_init(y);
    arb_init(term);
    arb_init(sum);
    arb_init(next);
    mag_init(rest);
    arb_mul_2exp_si(y, g->inverse, -1);
    arb_inv(term, g->shape, g->bits);
    arb_set(sum, term);
    for (int64_t n = 1;; n++) {
        arb_add_si(next, g->shape, n, g->bits);
        arb_div(next, y, next, g->bits);
        arb_mul(term, term, next, g->bits);
        arb_add(sum, sum, term, g->bits);
        if ((double) n < 2 * y_double + 1)
            continue;
        arb_mul_2exp_si(next, term, g->bits);
        if (arb_lt(next, sum))
            break;
    }
    arb_get_mag(rest, term);
    arb_add_error_mag(sum, rest);
    balls_power(g, y, out);
    arb_mul(out, out, sum, g->bits);
    arb_clear(y);
    arb_clear(term);
    arb_clear(sum);
    arb_clear(next);
    mag_clear(rest);
}

/* Where a series is bounded, around b: larger is better until the bound grows. */
static double circle_radius(double theta, int64_t b)
{
    return fmin(0.9 * (double) b, fmax(1, fmin(8, 4 * theta)));
}

/* log2 of a bound of |(1 + u/b)^(K-1) e^(-u/theta)| on that circle; beyond CIRCLE_MAX P(b) is below
 * 1e-300 and not worth its many terms. */
enum { CIRCLE_MAX = 1500 };
static double log2_circle(const cellar_kernel *k, int64_t count, int64_t b)
{
    const double power = (double) gamma_shape(k, count) - 1, theta = (double) gamma_theta(k);
    const double radius = circle_radius(theta, b);
    if (b == 0)
        return 0;
    return (power * log1p(copysign(radius / (double) b, power)) + radius / theta) * 1.4427 *
               (1 + 1e-9) +
           1;
}

/* The integral of (1 + u/c)^(K-1) e^(-u/theta) over |u| <= 1/2, c = b: a_0 = 1, and
 *   c (n + 1) a_{n+1} = (K - 1 - c/theta - n) a_n - a_{n-1}/theta.
 * On the circle the function is at most 2^circle, so that |a_n| <= 2^circle radius^-n (Cauchy). */
static void balls_series(const gamma_balls *g, int64_t c, double radius, double circle,
                         int64_t bits, arb_t out)
{
    const int64_t n_terms = (int64_t) (((double) bits + circle) / log2(2 * radius)) + 2;
    const int64_t work = bits + (int64_t) circle + 32;
    arb_t here, before, next, constant;
    mag_t rest;
    arb_init(here);
    arb_init(before);
    arb_init(next);
    arb_init(constant);
    mag_init(rest);
    arb_mul_si(constant, g->inverse, c, work);
    arb_sub(constant, g->shape, constant, work);
    arb_sub_ui(constant, constant, 1, work);
    arb_one(here);
    arb_zero(out);
    for (int64_t n = 0; n < n_terms; n++) {
        if (n % 2 == 0) { /* a_n 2 (1/2)^(n+1) / (n + 1) */
            arb_div_si(next, here, n + 1, work);
            arb_mul_2exp_si(next, next, -n);
            arb_add(out, out, next, work);
        }
        arb_sub_si(next, constant, n, work);
        arb_mul(next, next, here, work);
        arb_submul(next, before, g->inverse, work);
        arb_div_si(next, next, c, work);
        arb_div_si(next, next, n + 1, work);
        arb_swap(before, here);
        arb_swap(here, next);
    }
    /* the sum of 2^circle (2 radius)^-n from n_terms on; 2 radius >= 1.8 */
    mag_set_ui_2exp_si(rest, 1, (slong) ceil(circle - (double) n_terms * log2(2 * radius)) + 2);
    arb_add_error_mag(out, rest);
    arb_clear(here);
    arb_clear(before);
    arb_clear(next);
    arb_clear(constant);
    mag_clear(rest);
}

static void balls_density(const gamma_balls *g, int64_t twice_x, arb_t out)
{
    arb_t y;
    arb_init(y);
    arb_mul_si(y, g->inverse, twice_x, g->bits);
    arb_mul_2exp_si(y, y, -1);
    balls_power(g, y, out);
    arb_div_si(out, out, twice_x, g->bits);
    arb_mul_2exp_si(out, out, 1);
    arb_clear(y);
}

/* So far out that a series takes too long: no more than the density where it is largest. */
static void balls_bound(const gamma_balls *g, int64_t b, arb_t out)
{
    const double mode = (g->shape_double - 1) * g->theta_double;
    balls_density(g, 2 * b + (mode > (double) b ? 1 : -1), out);
    cellar_ball_from_zero(out);
}

static void gamma_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                          int64_t bits, arb_ptr out)
{
    gamma_balls g;
    arb_t series;
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fmin(CIRCLE_MAX, log2_circle(k, count, first + (int64_t) i)));
    arb_init(series);
    balls_init(&g, k, count, bits + 128 + (int64_t) most);
    for (size_t i = 0; i < n; i++) {
        const int64_t b = first + (int64_t) i;
        const double circle = log2_circle(k, count, b);
        if (b == 0) {
            balls_first(&g, out);
        } else if (circle > CIRCLE_MAX) {
            balls_bound(&g, b, out + i);
        } else {
            balls_series(&g, b, circle_radius(g.theta_double, b), circle, bits + 16, series);
            balls_density(&g, 2 * b, out + i);
            arb_mul(out + i, out + i, series, bits + 16);
        }
    }
    balls_clear(&g);
    arb_clear(series);
}

/* ---- the mechanism ---------------------------------------------------------------------- */

static const cellar_count_law gamma_law = {
    .log_p = gamma_log_p,
    .p_balls = gamma_p_balls,
    .ratios = gamma_ratios,
    .ratio_bound = gamma_ratio_bound,
    .mean_variance = gamma_mean_variance,
};

static cellar_status gamma_init(cellar_mechanism *m, cellar_error *err)
{
    gamma_kernel *g = (gamma_kernel *) m;
    const fmpq *sigma = cellar_kernel_parameter(&g->kernel, "sigma")->value;
    fmpq_init(g->theta_exact);
    fmpq_mul(g->theta_exact, sigma, sigma);
    g->theta = cellar_long_double_of_rational(g->theta_exact);
    return cellar_kernel_init(m, &gamma_law, err);
}

static void gamma_clear(cellar_mechanism *m)
{
    fmpq_clear(((gamma_kernel *) m)->theta_exact);
    cellar_kernel_clear(m);
}

static double gamma_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    return pgamma((double) released + 0.5, (double) gamma_shape(k, count), (double) gamma_theta(k),
                  1, 0);
}

static double gamma_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    return pgamma((double) released + 0.5, (double) gamma_shape(k, count), (double) gamma_theta(k),
                  0, 0);
}

static const cellar_parameter_rule gamma_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "sigma", .required = 1, .at_least = "0.1", .at_most = "10"},
    {0},
};

const cellar_mechanism_ops cellar_gamma_ops = {
    .name = "gamma",
    .revision = 1,
    .summary = "gamma of mean count + alpha, rounded",
    .size = sizeof(gamma_kernel),
    .parameters = gamma_parameters,
    .init = gamma_init,
    .clear = gamma_clear,
    .facts = &cellar_gamma_facts,
    CELLAR_KERNEL_SLOTS_BASIC,
    .support = cellar_kernel_support,
    .cdf = gamma_cdf,
    .survival = gamma_survival,
    .moments = cellar_kernel_moments,
    .mean_variance = cellar_kernel_mean_variance,
    .survival_ball = cellar_kernel_survival_ball,
};
