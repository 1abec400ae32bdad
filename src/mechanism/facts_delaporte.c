/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Released is b = X + Y, X Poisson of mean lambda = nu mu, Y negative binomial of shape r = 1/sigma
 * < 1 and mean r beta, beta = k mu, k = sigma (1 - nu), mu = count + alpha; primes are those of
 * mu' = mu + s. R(b) = P'(b) / P(b) rises, falls and rises again: a Poisson hump is followed by the
 * tail of Y. Let D_c be the sum of max(0, P' - c P). c = e^epsilon makes it delta of one order, and
 * with c = e^-epsilon that of the other is e^epsilon (D_c - 1) + 1.
 *
 * Where A = {R > c} is an upper set, D_c does not increase with mu: its derivative is the sum of
 * b (P'(b) / mu' - c P(b) / mu) over those b where A begins, none of which is positive
 * (facts_mixed.c), minus the same where it ends. D_c can increase for a while with c close to
 * the top of the hump (sigma = 10, nu = 0.05, mu = 2752.26, s = 1, epsilon = 0.00458341), so
 * nothing can be said for all c. There D_c does not decrease with s either when one of mu' and mu
 * stays where it is: the derivative of P'(A) in mu' is b P'(b) / mu' and that of -c P(A) in mu is
 * -c b P(b) / mu, b where A begins. So if A is an upper set for all shifts of a range, not only
 * whole ones, and all mu, the first pair of the largest shift is the worst of them all: from any
 * pair mu falls until the shift is the largest or mu the first, and then both fall or mu' grows.
 *
 * c = e^-epsilon. b is Poisson given its mean, mu G of density f, and Poisson laws are totally
 * positive: c P - P' has no more changes of sign than c f - f' (Karlin 1968). The latter is
 * positive between lambda and lambda', where f' is 0; beyond, ln f'/f is the integral over
 * 0 .. tau = ln(mu'/mu) of the score -1 + (1 - r) g/(g - nu) + g/k at g = x e^-t/mu, which is at
 * least t0 = -r + nu/k + 2 sqrt((1 - r) nu/k). With -epsilon <= tau t0 there is one change. tau
 * is largest for the first pair of the largest shift.
 *
 * c = e^epsilon. X is X_a + Z, X_a of mean a = nu (from + alpha), Z Poisson and the same in both
 * laws. Adding Z makes no new changes of sign either, so A is an upper set for (mu, mu') if it is
 * one for X_a + Y and X_a' + Y', a' = a + nu s; these know mu by beta only, or by
 * q = beta/(1 + beta), a range up to 1 that is cut into blocks. Write m(b) = (b+1) P(b+1) / P(b),
 * so that R(b+1) / R(b) = m'(b) / m(b). From (b+1) P(b+1) = a P(b) + r sum_j q^{j+1} P(b-j),
 *
 *   m(b) = a + g(b), g(0) = r q, g(b+1) = r q + q g(b) (b+1) / m(b).
 *
 * Also m(b) = a + q (E(Y | b) + r), which increases with q, as R(0) = ((1 + beta)/(1 + beta'))^r
 * e^{-nu s} does; g increases with q and decreases with a. So A does not end at b + 1 if
 * m'(b) >= m(b) by the ends of a block, of q and of s, or R(b) <= c.
 *
 * From some number on the same is shown at once. Given b, X has weights proportional to
 * kappa^x/x! phi(b - x), kappa = a/q, phi(y) = Gamma(y + r)/y!. Restricted to X <= x0 < b it does
 * not increase with b nor with q in the order of likelihood ratios. The rest has a small
 * probability at all b: phi(b - x) / phi(b) is at most 2 for x <= b/2, at most (b + 1)/r always,
 * and Poisson tails beyond b/2 fall faster than b + 1 grows. With M a bound of the mean in
 *
 *   R(b) = R(0) (q'/q)^b E((a' q / a q')^X | b), a'/a >= q'/q,
 *
 * R(b) <= c while b ln(q'/q) <= u = epsilon - ln R(0) - ln M. Beyond, (q' - q) b >= q u. With
 * F(b) = E(1/(Y - 1 + r); Y > 0 | b), q E(X | b) = a (P(Y > 0 | b) + (1 - r) F(b)), so that
 *
 *   m'(b) - m(b) >= (q' - q)(b + r) - a P(Y = 0 | b) - (1 - r) (a' F'(b) - a F(b)),
 *
 * and q u has to exceed what is subtracted. The weights phi increase with x, so given X <= x0 the
 * mean of X is at least that of a Poisson law cut off there, x1, and F(b) at least 1/(b - x1 - 1 +
 * r) (Jensen) times P(X <= x0 | b). In F', 1/(b - x - 1 + r) is that times a ratio which falls with
 * b where x > x1, and is below 1 elsewhere.
 *
 * All is done in doubles, by sums and products of positive numbers, of which the last in a row of n
 * is right to 8n units: ROUNDING covers n < 2^20. */
#include "mechanism/facts_delaporte.h"

#include <math.h>

#include "mechanism/kernel.h"

static const double ROUNDING = 1e-9;
static const double LOSS_MAX = 1e7, END_MAX = 1 << 16, UNLIKELY = 1e-13;
static const double NARROW = 1e-3; /* what does not hold of such a block is given up */

typedef cellar_delaporte_setting setting;

static void setting_shifts(setting *d, double least, double most)
{
    d->least = least;
    d->s = most;
    d->a[0] = d->nu * d->mean;
    d->a[1] = d->nu * (d->mean + most);
    d->a_least = d->nu * (d->mean + least);
    d->tau = log1p(most / d->mean);
}

cellar_delaporte_setting cellar_delaporte_setting_of(const cellar_mechanism *m, int64_t from,
                                                     int64_t shift)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    setting d = {.mean = (double) cellar_kernel_mean(k, from)};
    double sigma = fmpq_get_d(cellar_kernel_parameter(k, "sigma")->value);
    fmpq_t rest;
    fmpq_init(rest);
    fmpq_set_si(rest, 1, 1);
    fmpq_sub(rest, rest, cellar_kernel_parameter(k, "nu")->value);
    d.k = sigma * fmpq_get_d(rest);
    fmpq_clear(rest);
    d.r = 1 / sigma;
    d.nu = fmpq_get_d(cellar_kernel_parameter(k, "nu")->value);
    setting_shifts(&d, (double) shift, (double) shift);
    return d;
}

/* ---- ordered ---------------------------------------------------------------------------- */

static int reverse_is_ordered(const setting *d, double epsilon)
{
    double t0 = -d->r + d->nu / d->k + 2 * sqrt((1 - d->r) * d->nu / d->k);
    return epsilon * (1 - ROUNDING) >= d->tau * (ROUNDING - t0);
}

/* No less than P(X > x) of a Poisson law. */
static double poisson_above(double mean, double x)
{
    double first = exp((x + 1) * log(mean) - mean - lgamma(x + 2));
    return x + 2 > 2 * mean ? 2 * first : x + 2 > mean ? first / (1 - mean / (x + 2)) : 1;
}

/* The parameters of a block: 1/beta in low .. high. */
typedef struct block {
    double low, high;
    double p_low, p_high, n_low, n_high; /* q and q' at its ends */
    double log_zero, tilt;               /* no less than ln R(0), and than a' q / a q' */
    double x0, end, rest;                /* P(X > x0 | b) <= rest for all b >= end > x0 */
} block;

static block block_of(const setting *d, double low, double high)
{
    block k = {.low = low,
               .high = high,
               .p_low = cellar_delaporte_share(high),
               .p_high = cellar_delaporte_share(low)};
    double factor;
    k.n_low = cellar_delaporte_next(d, high, d->least);
    k.n_high = cellar_delaporte_next(d, low, d->s);
    k.log_zero = -d->r * log1p(d->k * d->least * low / (1 + low)) - d->nu * d->least;
    k.tilt = d->a[1] / d->a[0] * k.p_high / cellar_delaporte_next(d, low, d->least);
    k.x0 = ceil(d->a[1] / k.n_low + 4);
    do {
        k.x0 = ceil(k.x0 * 1.03);
        factor = 2 + (2 * k.x0 + 3) / d->r;
        k.rest = 2 * factor * poisson_above(d->a[1] / k.n_low, k.x0);
    } while (k.rest > UNLIKELY && k.x0 < END_MAX);
    return k;
}

/* A sum of positive numbers that may leave the range of doubles. */
typedef struct long_sum {
    double term, sum, log_scale;
} long_sum;

static void long_sum_step(long_sum *a, double ratio)
{
    const double large = 1e200;
    a->term *= ratio;
    a->sum += a->term;
    if (a->sum > large) {
        a->term /= large;
        a->sum /= large;
        a->log_scale += log(large);
    }
}

/* ln of the mean of tilt^X given b = end and X <= x0. */
static double far_power(const setting *d, const block *k, double kappa)
{
    long_sum plain = {1, 1, 0}, tilted = {1, 1, 0};
    for (int64_t i = 0; i < (int64_t) k->x0; i++) {
        double x = (double) i, y = k->end - x, step = kappa / (x + 1) * y / (y - 1 + d->r);
        long_sum_step(&plain, step);
        long_sum_step(&tilted, step * k->tilt);
    }
    return log(tilted.sum / plain.sum) + tilted.log_scale - plain.log_scale;
}

/* Given the same the mean of max(1, (b - x1 - 1 + r)/(Y - 1 + r)). */
static double far_inverse(const setting *d, const block *k, double kappa, double x1)
{
    const double large = 1e200;
    double weight = 1, sum = 1, inverse = 1, y1 = k->end - x1 - 1 + d->r;
    for (int64_t i = 0; i < (int64_t) k->x0; i++) {
        double x = (double) i, y = k->end - x;
        weight *= kappa / (x + 1) * y / (y - 1 + d->r);
        sum += weight;
        inverse += weight * fmax(1, y1 / (y - 2 + d->r));
        if (sum > large) {
            weight /= large;
            sum /= large;
            inverse /= large;
        }
    }
    return inverse / sum;
}

/* 1 when A does not end after k->end. */
static int far_is_ordered(const setting *d, const block *k, double epsilon)
{
    double x1 = d->a[0] < 1 ? 0 : d->a[0] * (1 - k->rest), y1 = k->end - x1 - 1 + d->r;
    double power = far_power(d, k, d->a[0] / k->p_low), u, rest;
    double inverse = far_inverse(d, k, d->a[1] / k->n_low, x1);
    power += log1p(k->rest * exp(d->a[1] / k->n_low - d->a[0] - power));
    u = epsilon - k->log_zero - power;
    rest = (d->a[1] * inverse * (1 + ROUNDING) - d->a[0] * (1 - k->rest)) / y1;
    rest = d->a[0] * k->rest + (1 - d->r) * (rest + d->a[1] * k->rest / d->r);
    return k->p_low * (u - ROUNDING * (1 + fabs(power))) >
           rest + ROUNDING * (1 + rest + epsilon - k->log_zero);
}

/* 1 when A does not end up to k->end. */
static int near_is_ordered(const setting *d, const block *k, double epsilon)
{
    const double huge = 1e250, step = 200;
    double p_small = d->r * k->p_low, p_large = d->r * k->p_high; /* g at the four ends */
    double n_small = d->r * k->n_low, n_large = d->r * k->n_high;
    double below = fmin(0, k->log_zero - epsilon + step); /* ln of a factor left out of `ratio` */
    double ratio = exp(k->log_zero - epsilon - below) * (1 + ROUNDING); /* no less than R(b) / c */
    for (int64_t b = 0; b < (int64_t) k->end; b++) {
        double next = (double) (b + 1);
        double mp_small = d->a[0] + p_small, mp_large = d->a[0] + p_large;
        double mn_small = d->a_least + n_small, mn_large = d->a[1] + n_large;
        while (ratio > 1 && below < 0) {
            double part = fmax(below, -step);
            ratio *= exp(part);
            below -= part;
        }
        if (ratio > 1 && mn_small < mp_large * (1 + ROUNDING))
            return 0;
        ratio *= mn_large / mp_small;
        ratio = ratio < huge ? ratio : INFINITY; /* and it stays */
        p_small = k->p_low * (d->r + p_small * next / mp_small);
        p_large = k->p_high * (d->r + p_large * next / mp_large);
        n_small = k->n_low * (d->r + n_small * next / (d->a[1] + n_small));
        n_large = k->n_high * (d->r + n_large * next / (d->a_least + n_large));
    }
    return 1;
}

/* The first of some ends that does decides; *steps is how much work is left. */
static int block_is_ordered(const setting *d, double low, double high, double epsilon,
                            double *steps)
{
    static const double lengths[] = {1.2, 1.5, 2, 3, 5, 8, 16, 32};
    block k = block_of(d, low, high);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        k.end = ceil(k.x0 * lengths[i]) + 2;
        *steps -= k.x0;
        if (k.end > END_MAX)
            return 0;
        if (far_is_ordered(d, &k, epsilon)) {
            *steps -= k.end;
            return near_is_ordered(d, &k, epsilon);
        }
    }
    return 0;
}

/* Blocks from the first pair's beta up, each as wide as it can be. */
static int blocks_are_ordered(const setting *d, double epsilon, double *steps)
{
    const double first = 1 / (d->k * d->mean);
    double high = first, low = 0;
    if (!block_is_ordered(d, first, first, epsilon, steps) ||
        !block_is_ordered(d, 0, 0, epsilon, steps))
        return 0;
    while (high > 0 && high - low > NARROW * high && *steps > 0) {
        if (block_is_ordered(d, low, high, epsilon, steps)) {
            double width = high - low;
            high = low;
            low = fmax(0, high - 2 * width);
        } else {
            low = low > 0 ? low + (high - low) / 2 : high / 4;
        }
    }
    return high <= 0;
}

/* Ranges of shifts from the largest one down, likewise. */
static int shifts_are_ordered(const setting *d, double least, double epsilon, double *steps)
{
    setting part = *d;
    double high = d->s, low = least;
    while (high > least && high - low > NARROW * high && *steps > 0) {
        setting_shifts(&part, low, high);
        if (blocks_are_ordered(&part, epsilon, steps)) {
            double width = high - low;
            high = low;
            low = fmax(least, high - 2 * width);
        } else {
            low += (high - low) / 2;
        }
    }
    return high <= least;
}

int cellar_delaporte_is_ordered_at(const cellar_mechanism *m, int64_t from, int64_t least,
                                   int64_t shift, double epsilon, double *steps)
{
    setting d = cellar_delaporte_setting_of(m, from, shift);
    if (d.r >= 1)
        return 1;
    if (!(epsilon > 0))
        return 0;
    epsilon = fmin(epsilon, LOSS_MAX); /* what holds there holds beyond */
    return reverse_is_ordered(&d, epsilon) && blocks_are_ordered(&d, epsilon, steps) &&
           (least >= shift || shifts_are_ordered(&d, (double) least, epsilon, steps));
}
