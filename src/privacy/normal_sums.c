/* SPDX-License-Identifier: GPL-3.0-or-later */
/* n cells change by k, with noise x_i of deviation sigma, h = 1/sigma; S = x_1 + ... + x_n, tau^2 =
 * n sigma^2.
 *
 * Discrete normal noise. The losses are h^2/2 (2 k x_i + k^2), so that S says all. P(S = s) is the
 * sum of e^{-h^2 |x|^2 / 2} over whole x that add up to s, |x|^2 = s^2/n + |x - s/n|^2, and the sum
 * of the second part over this shifted lattice A_{n-1} is by Poisson's formula the same for all s
 * but for a relative sum over the non-zero w of its dual of e^{-2 pi^2 sigma^2 |w|^2}, |w|^2 >=
 * 1 - 1/n. With sum_w e^{-|w|^2} <= sqrt(n) pi^{n/2} 1.001^n, the same way, that is less than
 * e^-1000 for 9.8 sigma^2 >= 1010 + 0.6 n. So S is discrete normal noise of variance n sigma^2.
 *
 * Rounded normal noise. The numbers are a post-processing of normal ones, whose delta bounds theirs
 * from above. Given what the numbers were rounded by, u_i, each is a discrete normal number about
 * -u_i, and the u_i are uniform on (-1/2, 1/2), both but for e^{-2 pi^2 sigma^2}. So, as above, S
 * has the law of discrete normal noise of variance n sigma^2 about -(u_1 + ... + u_n), and with f
 * the density of N(0, tau^2), P(S >= s) = E sum_{j >= s} f(j + u_1 + ... + u_n) = E F(s - 1/2 + v),
 * v = u_2 + ... + u_n, F the normal tail, since u_1 puts the pieces together. v has the variance
 * (n-1)/12 and mean 0, so P(S >= s) lies within (n-1)/24 times the range of F'' from F(s - 1/2).
 * The losses are h^2/2 (2kx + k^2) - ln J(x + k)/J(x),  J(x) = int_{-1/2}^{1/2} cosh(h^2 x u)
 * e^{-h^2 u^2/2} du. (ln J)'' in z = h^2 x is the variance of u under a law that is uniform but for
 * e^{zu} and a factor within e^{-h^2/8}, that is (1/12 - t z^2/240) (1 + t' h^2), 0 <= t <= 1, |t'|
 * <= 1. So a loss is h^2/2 (2kx + k^2) (1 - h^2/12 + r), |r| <= h^4/12 + h^2 Z^2/480, Z = h^2 (|x|
 * + k). */
#include "privacy/normal_sums.h"

#include <math.h>

#include "math/ball.h"
#include "math/normal.h"
#include "math/rational.h"
#include "mechanism/calibration.h"
#include "mechanism/gaussian.h"
#include "mechanism/weighted.h"

enum { BITS = 256, REST_BITS = 130 }; /* 2^-REST_BITS covers what is said to be negligible above */
static const double SIGMA_DISCRETE = 16, SIGMA_ROUNDED = 800;
static const double FAR = 38; /* deviations beyond which noise has less than 1e-315 */

typedef struct normal_sum {
    double n, k, sigma; /* k: by how much a cell changes */
    int is_rounded;
    arb_t rate;  /* h^2 / 2 */
    arb_t total; /* sum of e^{-rate j^2 / n} over all j */
} normal_sum;

static int is_discrete_normal(const cellar_mechanism *m)
{
    const cellar_weighted *w = (const cellar_weighted *) m;
    return m->ops->facts == &cellar_weighted_facts && w->power == 2 && w->last == INT64_MAX;
}

int cellar_normal_sums_apply(const cellar_stake *stake)
{
    const cellar_mechanism *m = stake->pair.m;
    const cellar_parameter *parameter;
    double sigma, k = fabs((double) (stake->pair.count[0] - stake->pair.count[1]));
    int is_rounded = m->ops->facts == &cellar_gaussian_facts;
    if (stake->is_envelope || stake->pair.clamped || (!is_rounded && !is_discrete_normal(m)))
        return 0;
    parameter = cellar_parameter_find(&m->parameters, "sigma");
    if (parameter == NULL)
        return 0;
    sigma = fmpq_get_d(parameter->value);
    return sigma >= (is_rounded ? SIGMA_ROUNDED : SIGMA_DISCRETE) &&
           9.8 * sigma * sigma >= 1010 + 0.6 * (double) stake->times &&
           (!is_rounded || k < sigma) && (double) stake->times * fmax(k, sigma) < 0x1p40;
}

static void sum_init(normal_sum *sum, const cellar_stake *stake, uint64_t times)
{
    const cellar_mechanism *m = stake->pair.m;
    fmpq_t rate;
    arb_t each;
    fmpq_init(rate);
    arb_init(each);
    arb_init(sum->rate);
    arb_init(sum->total);
    fmpq_set(rate, cellar_parameter_find(&m->parameters, "sigma")->value);
    fmpq_mul(rate, rate, rate);
    fmpq_add(rate, rate, rate);
    fmpq_inv(rate, rate);
    arb_set_fmpq(sum->rate, rate, BITS);
    arb_div_ui(each, sum->rate, times, BITS);
    sum->n = (double) times;
    sum->sigma = fmpq_get_d(cellar_parameter_find(&m->parameters, "sigma")->value);
    sum->k = fabs((double) (stake->pair.count[0] - stake->pair.count[1]));
    sum->is_rounded = m->ops->facts == &cellar_gaussian_facts;
    if (!sum->is_rounded)
        cellar_weighted_total(each, 2, INT64_MAX, BITS, sum->total);
    fmpq_clear(rate);
    arb_clear(each);
}

static void sum_clear(normal_sum *sum)
{
    arb_clear(sum->rate);
    arb_clear(sum->total);
}

/* ---- tails ---------------------------------------------------------------------------------- */

/* P(S >= s) of discrete noise, s > 0. */
static void discrete_tail(const normal_sum *sum, int64_t s, arb_t out)
{
    arb_t each;
    arb_init(each);
    arb_set_d(each, sum->n);
    arb_div(each, sum->rate, each, BITS);
    cellar_weighted_sums(each, 2, INT64_MAX, s, 1, BITS, out);
    arb_div(out, out, sum->total, BITS);
    arb_clear(each);
}

/* The largest (sign 1) or smallest (-1) that z e^{-z^2/2} / sqrt(2 pi) gets within `reach` of z; it
 * turns at 1 and -1. */
static double slope_bound(double z, double reach, int sign)
{
    const double low = z - reach, high = z + reach;
    const double places[] = {low, high, fmin(high, fmax(low, 1)), fmin(high, fmax(low, -1))};
    double best = -INFINITY;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        best = fmax(best, sign * places[i] * exp(-places[i] * places[i] / 2) / sqrt(2 * M_PI));
    return sign * (best + fabs(best) * 1e-9);
}

/* P(S >= s) of rounded noise. */
static void rounded_tail(const normal_sum *sum, int64_t s, arb_t out)
{
    double tau = sum->sigma * sqrt(sum->n), z, most, least;
    arb_t x, spread;
    arb_init(x);
    arb_init(spread);
    arb_set_d(x, 2 * sum->n);
    arb_div(x, x, sum->rate, BITS); /* 4 tau^2 */
    arb_sqrt(x, x, BITS);
    arb_set_si(out, s);
    arb_mul_2exp_si(out, out, 1);
    arb_sub_ui(out, out, 1, BITS);
    arb_div(x, out, x, BITS); /* (s - 1/2) / tau */
    z = arf_get_d(arb_midref(x), ARF_RND_NEAR);
    cellar_normal_tail_ball(out, x, BITS);
    most = slope_bound(z, (sum->n - 1) / 2 / tau, 1) * (sum->n - 1) / 24 / (tau * tau);
    least = slope_bound(z, (sum->n - 1) / 2 / tau, -1) * (sum->n - 1) / 24 / (tau * tau);
    arb_set_d(spread, most);
    arb_set_d(x, least);
    arb_union(spread, spread, x, BITS);
    arb_add(out, out, spread, BITS);
    arb_clear(x);
    arb_clear(spread);
}

/* P(S >= s). */
static void sum_tail(const normal_sum *sum, int64_t s, arb_t out)
{
    int is_below = s <= 0;
    arb_t rest;
    arb_init(rest);
    if (is_below)
        s = 1 - s; /* P(S >= s) = 1 - P(S >= 1 - s) */
    if (sum->is_rounded)
        rounded_tail(sum, s, out);
    else
        discrete_tail(sum, s, out);
    if (is_below) {
        arb_sub_ui(out, out, 1, BITS);
        arb_neg(out, out);
    }
    arb_mul_2exp_si(rest, out, -REST_BITS);
    arb_add_error(out, rest);
    arb_clear(rest);
}

/* Losses c (2kS + nk^2), c = h^2/2 times `factor`, exceed epsilon where S is above that. */
static double sum_threshold(const normal_sum *sum, double epsilon, double factor)
{
    double c = factor / (2 * sum->sigma * sum->sigma);
    return (epsilon / c - sum->n * sum->k * sum->k) / (2 * sum->k);
}

/* ---- delta ---------------------------------------------------------------------------------- */

/* P(S >= s) - e^epsilon Q(S >= s): no more than delta, and all of it at the best s. */
static void sum_gain(const normal_sum *sum, double epsilon, int64_t s, arb_t out)
{
    arb_t other, factor;
    arb_init(other);
    arb_init(factor);
    arb_set_d(factor, epsilon);
    arb_exp(factor, factor, BITS);
    sum_tail(sum, s, out);
    sum_tail(sum, s + (int64_t) (sum->n * sum->k), other);
    arb_submul(out, factor, other, BITS);
    arb_clear(other);
    arb_clear(factor);
}

/* Of the sum of continuous noise that the numbers were rounded from; a little less noise. */
static double rounded_delta_upper(const normal_sum *sum, double epsilon)
{
    double upper;
    fmpq_t exact;
    arb_t delta;
    fmpq_init(exact);
    arb_init(delta);
    cellar_rational_set_double(exact, epsilon);
    cellar_gaussian_delta(sum->sigma / (sum->k * sqrt(sum->n)) * (1 - 1e-15), exact, BITS, delta);
    upper = cellar_ball_upper(delta);
    fmpq_clear(exact);
    arb_clear(delta);
    return upper;
}

static cellar_bounds sum_delta(const normal_sum *sum, double epsilon)
{
    double t = sum_threshold(sum, epsilon, 1), near = 1e-9 + 1e-12 * fabs(t);
    cellar_bounds out = {.upper = 1e-306, .is_lattice = !sum->is_rounded};
    int64_t first, last;
    arb_t gain;
    if (t > FAR * sum->sigma * sqrt(sum->n))
        return out;
    arb_init(gain);
    out.upper = 0;
    first = (int64_t) floor(sum->is_rounded ? t + 0.5 : t - near) + 1;
    last = (int64_t) floor(sum->is_rounded ? t + 0.5 : t + near) + 1;
    for (int64_t s = first; s <= last; s++) {
        sum_gain(sum, epsilon, s, gain);
        out.upper = fmax(out.upper, cellar_ball_upper(gain));
        out.lower = fmax(out.lower, cellar_ball_lower(gain));
    }
    if (sum->is_rounded)
        out.upper = rounded_delta_upper(sum, epsilon);
    out.upper = fmin(1, out.upper);
    arb_clear(gain);
    return out;
}

void cellar_normal_sums_delta(const cellar_stake *stake, double epsilon, cellar_bounds *out)
{
    normal_sum sum;
    sum_init(&sum, stake, stake->times);
    *out = sum_delta(&sum, epsilon);
    sum_clear(&sum);
}

/* ---- epsilon -------------------------------------------------------------------------------- */

/* About ln delta, by continuous noise. */
static double about_log_delta(const normal_sum *sum, double epsilon)
{
    return cellar_gaussian_log_delta(sum->sigma / (sum->k * sqrt(sum->n)), epsilon);
}

static double about_epsilon(const normal_sum *sum, double delta)
{
    double low = 0, high = sum->k * sqrt(sum->n) / sum->sigma;
    while (about_log_delta(sum, high) > log(delta) && high < 1e6)
        high *= 2;
    for (int i = 0; i < 50; i++) {
        double middle = low + (high - low) / 2;
        if (about_log_delta(sum, middle) > log(delta))
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double bound_of(const normal_sum *sum, double epsilon, int upper)
{
    cellar_bounds bounds = sum_delta(sum, epsilon);
    return upper ? bounds.upper : bounds.lower;
}

/* Where a bound crosses delta: near what the continuous law says, by its slope; then on the safe
 * side of it. */
static double epsilon_of(const normal_sum *sum, double delta, double about, int upper)
{
    double epsilon = about, step = 1e-10 * about, width = 1e-4 * about, sign = upper ? 1 : -1;
    double slope = (about_log_delta(sum, about + width) - about_log_delta(sum, about)) / width;
    for (int i = 0; i < 3 && slope < 0; i++) {
        double value = bound_of(sum, epsilon, upper);
        if (value > 0)
            epsilon = fmax(epsilon / 2, epsilon + log(delta / value) / slope);
    }
    epsilon += sign * step;
    while (epsilon > 0 && (bound_of(sum, epsilon, upper) > delta) == upper) {
        epsilon += sign * step;
        step *= 4;
    }
    return fmax(epsilon, 0);
}

void cellar_normal_sums_epsilon(const cellar_stake *stake, double delta, cellar_bounds *out)
{
    normal_sum sum;
    double about;
    sum_init(&sum, stake, stake->times);
    *out = (cellar_bounds){.is_lattice = !sum.is_rounded};
    if (bound_of(&sum, 0, 1) > delta) {
        about = about_epsilon(&sum, delta);
        out->upper = epsilon_of(&sum, delta, about, 1);
        out->lower = fmin(out->upper, epsilon_of(&sum, delta, about, 0));
    }
    sum_clear(&sum);
}

/* ---- delta_p -------------------------------------------------------------------------------- */

/* By how many numbers the sum of losses may be off what S says. */
static double sum_slack(const normal_sum *sum, double t)
{
    double h2 = 1 / (sum->sigma * sum->sigma), slack = 1e-9 + 1e-12 * fabs(t), far, z;
    if (!sum->is_rounded)
        return slack;
    far = FAR * sum->sigma + sum->k;
    z = h2 * far;
    return slack + (h2 * h2 / 12 + h2 * z * z / 480) * sum->n * far * 1.01;
}

/* P(|loss| > epsilon), no less. */
static double sum_violation(const normal_sum *sum, double epsilon)
{
    double factor = sum->is_rounded ? 1 - 1 / (12 * sum->sigma * sum->sigma) : 1;
    double above = sum_threshold(sum, epsilon, factor),
           below = sum_threshold(sum, -epsilon, factor);
    double upper = 2e-306, far = FAR * sum->sigma * sqrt(sum->n);
    arb_t tail;
    arb_init(tail);
    if (above < far) {
        sum_tail(sum, (int64_t) floor(above - sum_slack(sum, above)) + 1, tail);
        upper += cellar_ball_upper(tail);
    }
    if (below > -far) {
        sum_tail(sum, 1 - (int64_t) ceil(below + sum_slack(sum, below)), tail);
        upper += cellar_ball_upper(tail);
    }
    arb_clear(tail);
    return fmin(1, upper * (1 + 1e-15));
}

void cellar_normal_sums_violation(const cellar_stake *stake, double epsilon, cellar_bounds *out)
{
    *out = (cellar_bounds){0};
    for (uint64_t times = stake->times; times > 0; times--) {
        normal_sum sum;
        sum_init(&sum, stake, times);
        out->upper = fmax(out->upper, sum_violation(&sum, epsilon));
        out->is_lattice = !sum.is_rounded;
        sum_clear(&sum);
    }
}
