/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about the laws of synthetic counts. All are mixed Poisson: b is Poisson with mean
 * mu G, mu = count + alpha, G of mean 1 and of a law that does not depend on the count.
 *
 * Monotone ratios. P(b | mu) = E Poisson(b | mu G). The Poisson law is totally positive of order 2
 * in (mean, b); ln(mu G) is ln mu plus ln G, and totally positive in (mu, .) when the density of
 * ln G is log-concave. Total positivity is kept by composition (Karlin 1968), so P(b | mu') /
 * P(b | mu) does not decrease in b for mu' > mu. For ln G with G generalised inverse Gaussian,
 * ln density = nu x - (A e^x + B e^-x)/2 + const, which is concave; the gamma law is B = 0.
 *
 * Large counts. Drawing b forgets G: the laws of b for mu and mu e^tau are a post-processing of
 * those of ln G and ln G + tau. Their hockey-stick curve does not decrease in tau (a shift of a
 * log-concave density), and tau = ln(1 + shift/mu) falls with the count. So the curve of the shift
 * that belongs to `from` bounds all pairs of counts from there on; it is bounded in turn by
 * delta(epsilon) = E max(0, 1 - e^{epsilon - L}) <= c_t e^{-t epsilon} E e^{tL} for every t > 0,
 * where c_t = t^t / (1+t)^{1+t} is the maximum of (1 - e^-x) e^{-tx}. */
#include "mechanism/facts.h"

#include <arb_hypgeom.h>

#include "math/ball.h"
#include "mechanism/kernel.h"
#include "mechanism/sichel.h"

static int facts_yes(const cellar_mechanism *m)
{
    (void) m;
    return 1;
}

/* ---- Chernoff ---------------------------------------------------------------- */

/* The pair (from, from + shift) whose bound is asked for. */
typedef struct large_pair {
    const cellar_kernel *k;
    int64_t from, shift;
    arb_t tau; /* ln(1 + shift / (from + alpha)) */
} large_pair;

/* ln E e^{tL}, where t (e^tau - 1) = share < 1; P is the law of the smaller count, or of the
 * larger one. */
typedef void (*log_moment)(const large_pair *pair, const arb_t t, const arb_t share, int larger,
                           int64_t bits, arb_t out);

static void ball_min(arb_t best, const arb_t value, int64_t bits)
{
    if (arb_is_finite(value))
        arb_min(best, best, value, bits);
}

/* ln c_t = t ln t - (1+t) ln(1+t). */
static void chernoff_constant(const arb_t t, int64_t bits, arb_t out)
{
    arb_t more;
    arb_init(more);
    arb_log(out, t, bits);
    arb_mul(out, out, t, bits);
    arb_log1p(more, t, bits);
    arb_sub(out, out, more, bits);
    arb_submul(out, t, more, bits);
    arb_clear(more);
}

/* The larger of the two orders' best bound over some t, at most 1: of delta, or of
 * P(L > epsilon) <= e^{-t epsilon} E e^{tL}, which falls likewise: E e^{tL} bounds the moment of
 * every later pair, by data processing. */
static void chernoff(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                     log_moment moment, int exceeds, int64_t bits, arb_t out)
{
    enum { N_TRIED = 12 };
    large_pair pair = {.k = (const cellar_kernel *) m, .from = from, .shift = shift};
    arb_t share, value, t, best;
    arb_init(pair.tau);
    arb_init(share);
    arb_init(value);
    arb_init(t);
    arb_init(best);
    cellar_kernel_mean_ball(pair.k, from, bits, t);
    arb_ui_div(t, (ulong) shift, t, bits); /* e^tau - 1 */
    arb_log1p(pair.tau, t, bits);
    arb_zero(out);
    for (int larger = 0; larger < 2; larger++) {
        double t_value = 0.5;
        arb_one(best);
        for (int i = 0; i < N_TRIED; i++) {
            if (i > 0)
                t_value *= i < 6 ? 2 : 3;
            arb_set_d(t, t_value);
            arb_expm1(share, pair.tau, bits);
            arb_mul(share, share, t, bits);
            if (cellar_ball_upper(share) > 0.95)
                break;
            moment(&pair, t, share, larger, bits, value);
            if (!exceeds) {
                chernoff_constant(t, bits, share);
                arb_add(value, value, share, bits);
            }
            arb_submul(value, t, epsilon, bits);
            arb_exp(value, value, bits);
            ball_min(best, value, bits);
        }
        arb_max(out, out, best, bits);
    }
    arb_clear(pair.tau);
    arb_clear(share);
    arb_clear(value);
    arb_clear(t);
    arb_clear(best);
}

/* ---- Poisson ------------------------------------------------------------------- */

/* Adding an independent Poisson count of mean c to both laws takes (mu, mu + s) to (mu + c,
 * mu + c + s): every pair of larger counts is a post-processing of the first. */
static int poisson_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                             int64_t released, fmpq_t out)
{
    (void) m;
    if (released != 0)
        return 0;
    fmpq_set_si(out, neighbour - count, 1);
    return 1;
}

const cellar_facts cellar_poisson_facts = {
    .is_monotone = facts_yes,
    .log_ratio = poisson_log_ratio,
    .is_ordered = facts_yes,
};

/* ---- negative binomial ------------------------------------------------------------ */

/* G gamma of shape k = 1/sigma: L = k tau - k G (1 - e^-tau) for G against G e^tau, and
 * L = k G (e^tau - 1) - k tau for G against G e^-tau: P that of the smaller and of the larger
 * count. E e^{tL} is e^{tk tau} (1 + t(1 - e^-tau))^-k and e^{-tk tau} (1 - t(e^tau - 1))^-k. */
static void gamma_moment(const large_pair *pair, const arb_t t, const arb_t share, int larger,
                         int64_t bits, arb_t out)
{
    arb_t shape;
    arb_init(shape);
    arb_set_fmpq(shape, cellar_kernel_parameter(pair->k, "sigma")->value, bits);
    arb_inv(shape, shape, bits);
    if (larger) {
        arb_neg(out, share);
        arb_log1p(out, out, bits);
        arb_addmul(out, t, pair->tau, bits);
    } else {
        arb_neg(out, pair->tau);
        arb_expm1(out, out, bits);
        arb_mul(out, out, t, bits);
        arb_neg(out, out);
        arb_log1p(out, out, bits);
        arb_submul(out, t, pair->tau, bits);
    }
    arb_mul(out, out, shape, bits);
    arb_neg(out, out);
    arb_clear(shape);
}

static void negbin_tail(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                        int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, gamma_moment, 0, bits, out);
}

static void negbin_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, gamma_moment, 1, bits, out);
}

const cellar_facts cellar_negbin_facts = {
    .is_monotone = facts_yes,
    .tail = negbin_tail,
    .exceeds = negbin_exceeds,
};

/* ---- Sichel and Poisson-inverse Gaussian --------------------------------------------- */

/* ln e^w K_nu(w). */
static void log_bessel(const fmpq_t nu, const arb_t w, int64_t bits, arb_t out)
{
    arb_t order;
    arb_init(order);
    arb_set_fmpq(order, nu, bits);
    arb_hypgeom_bessel_k_scaled(out, order, w, bits);
    arb_log(out, out, bits);
    arb_clear(order);
}

/* G generalised inverse Gaussian, ln density nu x - (A e^x + B e^-x)/2, AB = w^2, w = 1/sigma:
 * L = -nu tau + [A G (e^tau - 1) - (B/G)(1 - e^-tau)]/2 for P of the larger count, and with nu, A,
 * B exchanged for -nu, B, A for P of the smaller. The density times e^{tL} is of the same form, so
 * with a = 1 - t(e^tau - 1), b = 1 + t(1 - e^-tau), ln E e^{tL} = -t nu tau + ln K_nu(w sqrt(ab)) -
 * ln K_nu(w) + (nu/2) ln(b/a). */
static void inverse_gaussian_moment(const large_pair *pair, const arb_t t, const arb_t share,
                                    int larger, int64_t bits, arb_t out)
{
    const cellar_sichel *s = (const cellar_sichel *) pair->k;
    arb_t a, b, w, u, order;
    arb_init(a);
    arb_init(b);
    arb_init(w);
    arb_init(u);
    arb_init(order);
    arb_set_fmpq(order, s->order, bits);
    if (!larger)
        arb_neg(order, order);
    arb_set_fmpq(w, cellar_kernel_parameter(&s->kernel, "sigma")->value, bits);
    arb_inv(w, w, bits);
    arb_sub_ui(a, share, 1, bits);
    arb_neg(a, a);
    arb_neg(u, pair->tau);
    arb_expm1(u, u, bits);
    arb_mul(b, t, u, bits);
    arb_sub_ui(b, b, 1, bits);
    arb_neg(b, b);
    arb_div(out, b, a, bits);
    arb_log(out, out, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_submul(out, t, pair->tau, bits);
    arb_mul(out, out, order, bits); /* nu (ln(b/a)/2 - t tau) */
    arb_mul(u, a, b, bits);
    arb_sqrt(u, u, bits);
    arb_mul(u, u, w, bits);
    log_bessel(s->order, u, bits, a); /* K_nu = K_-nu */
    arb_log(b, s->k_ball, bits);
    arb_add(out, out, a, bits);
    arb_sub(out, out, b, bits);
    arb_sub(out, out, u, bits);
    arb_add(out, out, w, bits);
    arb_clear(a);
    arb_clear(b);
    arb_clear(w);
    arb_clear(u);
    arb_clear(order);
}

static void sichel_tail(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                        int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, inverse_gaussian_moment, 0, bits, out);
}

static void sichel_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, inverse_gaussian_moment, 1, bits, out);
}

const cellar_facts cellar_sichel_facts = {
    .is_monotone = facts_yes,
    .tail = sichel_tail,
    .exceeds = sichel_exceeds,
};

/* ---- Delaporte ---------------------------------------------------------------------- */

/* G = nu + (1 - nu) gamma. The density of its logarithm is concave when the gamma's shape 1/sigma
 * is at least 1: its second derivative has the terms -(1/sigma - 1) N e^-x / (1 - N e^-x)^2 and
 * -(1 - nu)^-1 e^x / sigma, N = nu. */
static int delaporte_is_monotone(const cellar_mechanism *m)
{
    return fmpq_cmp_si(cellar_kernel_parameter((const cellar_kernel *) m, "sigma")->value, 1) <= 0;
}

/* The Poisson part: means l = mu nu and l + s nu, r = ln of their ratio. L = b r - s nu when P is
 * that of the larger mean, s nu - b r of the smaller: ln E e^{tL} = (l + s nu)(e^{tr} - 1) - t s nu
 * and l (e^{-tr} - 1) + t s nu. Here r = tau. */
static void poisson_moment(const large_pair *pair, const arb_t t, int larger, int64_t bits,
                           arb_t out)
{
    arb_t low, more, power;
    arb_init(low);
    arb_init(more);
    arb_init(power);
    arb_set_fmpq(more, cellar_kernel_parameter(pair->k, "nu")->value, bits);
    cellar_kernel_mean_ball(pair->k, pair->from, bits, low);
    arb_mul(low, low, more, bits);
    arb_mul_si(more, more, pair->shift, bits);
    arb_mul(power, t, pair->tau, bits);
    if (!larger)
        arb_neg(power, power);
    arb_expm1(power, power, bits);
    arb_mul(out, power, low, bits);
    if (larger) {
        arb_addmul(out, power, more, bits);
        arb_submul(out, t, more, bits);
    } else {
        arb_addmul(out, t, more, bits);
    }
    arb_clear(low);
    arb_clear(more);
    arb_clear(power);
}

/* What is released is the sum of two independent parts, a post-processing of both together: the
 * product of their E e^{tL} bounds that of the sum (data processing of Renyi divergences, van Erven
 * and Harremoes 2014), and falls with the count as each part's divergences do: the Poisson part's
 * because counts may be added, the other's as above. */
static void delaporte_moment(const large_pair *pair, const arb_t t, const arb_t share, int larger,
                             int64_t bits, arb_t out)
{
    arb_t part;
    arb_init(part);
    gamma_moment(pair, t, share, larger, bits, out);
    poisson_moment(pair, t, larger, bits, part);
    arb_add(out, out, part, bits);
    arb_clear(part);
}

static void delaporte_tail(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, delaporte_moment, 0, bits, out);
}

static void delaporte_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                              const arb_t epsilon, int64_t bits, arb_t out)
{
    chernoff(m, from, shift, epsilon, delaporte_moment, 1, bits, out);
}

const cellar_facts cellar_delaporte_facts = {
    .is_monotone = delaporte_is_monotone,
    .tail = delaporte_tail,
    .exceeds = delaporte_exceeds,
};

/* ---- Hellinger ---------------------------------------------------------------------- */

/* P(b | a) = e^{-r |sqrt b - sqrt a|} / Z(a), r = epsilon/2. For a' = a + s the logarithm of
 * P(b | a') / P(b | a) is ln Z(a)/Z(a') + r (|sqrt b - sqrt a| - |sqrt b - sqrt a'|), which is
 * constant up to a, rises to a', and is constant from there on: monotone, with its extremes at a
 * and a'. All weights change by a factor within e^{+-rD}, D = sqrt a' - sqrt a, so Z does too, and
 * no loss exceeds 2rD, which falls with the count. */
static void hellinger_largest(const cellar_mechanism *m, int64_t count, int64_t shift, int64_t bits,
                              arb_t out)
{
    arb_t root;
    arb_init(root);
    arb_sqrt_ui(root, (ulong) count, bits);
    arb_sqrt_ui(out, (ulong) (count + shift), bits);
    arb_sub(out, out, root, bits);
    arb_set_fmpq(root, cellar_kernel_parameter((const cellar_kernel *) m, "epsilon")->value, bits);
    arb_mul(out, out, root, bits);
    arb_clear(root);
}

/* The losses at a and a + shift, the larger in absolute value. */
static void hellinger_loss(const cellar_mechanism *m, int64_t count, int64_t shift, int64_t bits,
                           arb_t out)
{
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_zero(out);
    for (int end = 0; end < 2; end++) {
        int64_t b = end ? count + shift : count;
        cellar_kernel_pmf_ball(m, count + shift, b, bits, p);
        cellar_kernel_pmf_ball(m, count, b, bits, q);
        arb_div(p, p, q, bits);
        arb_log(p, p, bits);
        arb_abs(p, p);
        arb_max(out, out, p, bits);
    }
    arb_clear(p);
    arb_clear(q);
}

static int hellinger_pure(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out)
{
    enum { COUNTS_MAX = 10000 };
    arb_t value;
    arb_init(value);
    arb_zero(out);
    for (int64_t count = 0; count < COUNTS_MAX; count++) {
        hellinger_largest(m, count, shift, bits, value);
        if (arb_le(value, out))
            break;
        if (count == COUNTS_MAX - 1) /* still a bound of all the others */
            arb_max(out, out, value, bits);
        hellinger_loss(m, count, shift, bits, value);
        arb_max(out, out, value, bits);
    }
    arb_clear(value);
    return 1;
}

/* With no loss above M, delta <= 1 - e^{epsilon - M}. */
static void hellinger_tail(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    hellinger_largest(m, from, shift, bits, out);
    arb_sub(out, epsilon, out, bits);
    arb_expm1(out, out, bits);
    arb_neg(out, out);
    if (arb_is_negative(out))
        arb_zero(out);
}

static void hellinger_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                              const arb_t epsilon, int64_t bits, arb_t out)
{
    hellinger_largest(m, from, shift, bits, out);
    if (arb_le(out, epsilon))
        arb_zero(out);
    else
        arb_one(out);
}

const cellar_facts cellar_hellinger_facts = {
    .is_monotone = facts_yes,
    .pure = hellinger_pure,
    .tail = hellinger_tail,
    .exceeds = hellinger_exceeds,
};
