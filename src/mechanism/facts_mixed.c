/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about synthetic counts that are Poisson with mean mu G, mu = count + alpha, G of
 * mean 1 and of a law that does not depend on the count: generalised inverse Gaussian (Sichel), or
 * a constant plus a gamma variable (Delaporte).
 *
 * Monotone ratios. P(b | mu) = E Poisson(b | mu G). The Poisson law is totally positive of order 2
 * in (mean, b); ln(mu G) is ln mu plus ln G, and totally positive in (mu, .) when the density of
 * ln G is log-concave. Total positivity is kept by composition (Karlin 1968), so P(b | mu') /
 * P(b | mu) does not decrease in b for mu' > mu. For ln G with G generalised inverse Gaussian,
 * ln density = nu x - (A e^x + B e^-x)/2 + const, which is concave; the gamma law is B = 0.
 *
 * Ordered, where ratios are monotone: no pair of counts is further apart, in either order and at
 * any epsilon >= 0, than the first one. Write S(b | mu) = P(>= b | mu) and mu' = mu + s. Since dS(b
 * | mu)/dmu = E G Poisson(b - 1 | mu G) = b P(b | mu) / mu, the curve of the pair, the largest over
 * b of f(b) = S(b | mu') - e^epsilon S(b | mu), has the derivative b (P(b | mu') / mu' - e^epsilon
 * P(b | mu) / mu) in mu, at the b where it is taken (Danskin 1966). Let R(b) = P(b | mu') / P(b |
 * mu); the derivative is not positive if R(b) <= e^epsilon mu'/mu. There R(b - 1) <= e^epsilon, for
 * b is where R first exceeds it; and R(b) <= R(b - 1) mu'/mu always: P(b | mu) / P(b - 1 | mu) is
 * mu/b times the mean of G under the weights G^{b-1} e^{-mu G}, which falls with mu (its derivative
 * is minus a variance). With P that of the smaller count, the largest over c of P(<= c | mu) -
 * e^epsilon P(<= c | mu') has the derivative (c + 1) (e^epsilon P(c + 1 | mu') / mu' - P(c + 1 |
 * mu) / mu), which is not positive since R(c) <= e^-epsilon, and so R(c + 1) <= e^-epsilon mu'/mu.
 * For all epsilon in both orders this says that larger counts are a post-processing of the first
 * (Blackwell 1953).
 *
 * Concave, where ratios are monotone: with theta = ln mu, the derivative of ln P(b | mu) in theta
 * is v(mu) = b - E[mu G | b], and the mean of mu G given b does not decrease in mu: ln(mu G) is
 * theta plus a variable of log-concave density, so that the laws of mu G given b, whose densities
 * are those of mu G times one function of mu G, have monotone likelihood ratios in mu. So ln P(b |
 * mu) is concave in theta, of which two things follow for ln R(b), the integral of v over theta
 * from ln mu to ln mu'. Where R(b) >= 1 it does not increase in mu. Its logarithm has the
 * derivative v(mu')/mu' - v(mu)/mu. If v(mu') >= 0 then v(mu) >= v(mu') and 1/mu > 1/mu'; if v(mu')
 * < 0 <= v(mu) it is clear; and if v(mu) < 0 then R(b) < 1. So what exceeds e^epsilon >= 1 at some
 * mu did so at all smaller ones. ln R(b) / tau, tau = ln(mu'/mu), is the mean of v over that
 * interval, whose ends both grow with mu: it does not increase in mu. So if ln R(b) < -epsilon at
 * some mu in mu1 .. mu2 then at mu2 ln R(b) <= tau(mu2)/tau(mu) ln R(b at mu) < -epsilon
 * tau(mu2)/tau(mu1), tau falling with mu.
 *
 * Where they are not, and for delta_p, which has no such order: two bounds on all pairs of counts
 * from one on, whichever is better. G forgotten. Drawing b forgets G: the laws of b for mu and mu
 * e^tau are a post-processing of those of ln G and ln G + tau. Their divergences do not decrease in
 * tau, and tau = ln(1 + shift/mu) falls with the count. Good when G varies much. G told. b is a
 * post-processing of (b, G), and given G the counts are Poisson: E e^{tL} is the mean over G of
 * those of Poisson counts, which fall with the count for every G. Good when G varies little. */
#include "mechanism/facts.h"

#include "math/ball.h"
#include <arb_hypgeom.h>

#include "math/bessel_ball.h"
#include "mechanism/chernoff.h"
#include "mechanism/facts_delaporte.h"
#include "mechanism/facts_mixing.h"
#include "mechanism/sichel.h"

static int facts_yes(const cellar_mechanism *m)
{
    (void) m;
    return 1;
}

/* ---- Sichel and Poisson-inverse Gaussian --------------------------------------------- */

/* 1 when nu is 1/2 or -1/2. */
static int order_is_half(const cellar_sichel *s)
{
    return fmpz_cmp_ui(fmpq_denref(s->order), 2) == 0 && fmpz_is_pm1(fmpq_numref(s->order));
}

/* ln K_nu(u) - ln K_nu(w), w = 1/sigma; K_{1/2}(u) is e^-u sqrt(pi / 2u). */
static void log_bessel_ratio(const cellar_sichel *s, const arb_t u, const arb_t w, int64_t bits,
                             arb_t out)
{
    enum { K_BITS = 28 }; /* of what is a factor of a bound */
    const double near = 2, far = 25 + fabs((double) s->nu);
    arb_t order, ratio, k;
    if (order_is_half(s)) {
        arb_t root;
        arb_init(root);
        arb_div(root, w, u, bits);
        arb_log(root, root, bits);
        arb_mul_2exp_si(root, root, -1);
        arb_sub(root, root, u, bits);
        arb_add(out, root, w, bits);
        arb_clear(root);
        return;
    }
    arb_init(order);
    arb_set_fmpq(order, s->order, bits);
    arb_abs(order, order); /* K_-nu is K_nu */
    arb_init(ratio);
    arb_init(k); /* u may be where the answer goes */
    if (arf_cmp_d(arb_midref(u), near) < 0 || arf_cmp_d(arb_midref(u), far) > 0)
        arb_hypgeom_bessel_k_scaled(k, order, u, K_BITS); /* quicker there */
    else
        arb_indeterminate(k);
    if (arb_rel_accuracy_bits(k) < K_BITS / 2)
        cellar_bessel_k_balls(order, u, K_BITS, k, ratio);
    arb_div(k, k, s->k_ball, bits);
    arb_log(k, k, bits);
    arb_sub(k, k, u, bits);
    arb_add(out, k, w, bits);
    arb_clear(k);
    arb_clear(ratio);
    arb_clear(order);
}

static void inverse_sigma(const cellar_kernel *k, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, cellar_kernel_parameter(k, "sigma")->value, bits);
    arb_inv(out, out, bits);
}

/* G forgotten. With ln density nu x - (A e^x + B e^-x)/2, AB = w^2:
 * L = -nu tau + [A G (e^tau - 1) - (B/G)(1 - e^-tau)]/2 for P of the larger count, and with nu, A,
 * B exchanged for -nu, B, A for P of the smaller. The density times e^{tL} is of the same form, so
 * with a = 1 - t(e^tau - 1), b = 1 + t(1 - e^-tau), ln E e^{tL} = -t nu tau + ln K_nu(w sqrt(ab)) -
 * ln K_nu(w) + (nu/2) ln(b/a). */
static void sichel_forgotten(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                             arb_t out)
{
    const cellar_sichel *s = (const cellar_sichel *) pair->k;
    arb_t a, b, w, order;
    arb_init(a);
    arb_init(b);
    arb_init(w);
    arb_init(order);
    arb_set_fmpq(order, s->order, bits);
    if (!larger)
        arb_neg(order, order);
    inverse_sigma(pair->k, bits, w);
    arb_expm1(a, pair->tau, bits);
    arb_mul(a, a, t, bits);
    arb_sub_ui(a, a, 1, bits);
    arb_neg(a, a);
    arb_neg(b, pair->tau);
    arb_expm1(b, b, bits);
    arb_mul(b, b, t, bits);
    arb_sub_ui(b, b, 1, bits);
    arb_neg(b, b);
    if (!arb_is_positive(a)) {
        arb_indeterminate(out);
    } else {
        arb_div(out, b, a, bits);
        arb_log(out, out, bits);
        arb_mul_2exp_si(out, out, -1);
        arb_submul(out, t, pair->tau, bits);
        arb_mul(out, out, order, bits); /* nu (ln(b/a)/2 - t tau) */
        arb_mul(a, a, b, bits);
        arb_sqrt(a, a, bits);
        arb_mul(a, a, w, bits);
        log_bessel_ratio(s, a, w, bits, b);
        arb_add(out, out, b, bits);
    }
    arb_clear(a);
    arb_clear(b);
    arb_clear(w);
    arb_clear(order);
}

/* G told: E e^{cG}, c that of Poisson counts. Mean 1 makes A = w g, g = K_{nu+1}(w)/K_nu(w); e^{cG}
 * takes A to A - 2c, so with f = 1 - 2c/(w g), ln E e^{cG} = -(nu/2) ln f + ln K_nu(w sqrt f) -
 * ln K_nu(w). */
static void sichel_told(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                        arb_t out)
{
    const cellar_sichel *s = (const cellar_sichel *) pair->k;
    arb_t f, w, order;
    arb_init(f);
    arb_init(w);
    arb_init(order);
    inverse_sigma(pair->k, bits, w);
    cellar_poisson_moment(pair, t, larger, bits, f);
    arb_mul_2exp_si(f, f, 1);
    arb_div(f, f, w, bits);
    arb_div(f, f, s->g_ball, bits);
    arb_sub_ui(f, f, 1, bits);
    arb_neg(f, f);
    if (!arb_is_positive(f)) {
        arb_indeterminate(out);
    } else {
        arb_sqrt(out, f, bits);
        arb_mul(out, out, w, bits);
        log_bessel_ratio(s, out, w, bits, out);
        arb_set_fmpq(order, s->order, bits);
        arb_mul_2exp_si(order, order, -1);
        arb_log(f, f, bits);
        arb_submul(out, order, f, bits);
    }
    arb_clear(f);
    arb_clear(w);
    arb_clear(order);
}

/* ---- Delaporte ---------------------------------------------------------------------- */

/* G = nu + (1 - nu) gamma. The density of its logarithm is concave when the gamma's shape 1/sigma
 * is at least 1: its second derivative has the terms -(1/sigma - 1) N e^-x / (1 - N e^-x)^2 and
 * -(1 - nu)^-1 e^x / sigma, N = nu. */
static int delaporte_is_monotone(const cellar_mechanism *m)
{
    return fmpq_cmp_si(cellar_kernel_parameter((const cellar_kernel *) m, "sigma")->value, 1) <= 0;
}

/* G gamma of shape k = 1/sigma, forgotten: L = k tau - k G (1 - e^-tau) for G against G e^tau, and
 * L = k G (e^tau - 1) - k tau for G against G e^-tau: P that of the smaller and of the larger
 * count. E e^{tL} is e^{tk tau} (1 + t(1 - e^-tau))^-k and e^{-tk tau} (1 - t(e^tau - 1))^-k. */
static void gamma_forgotten(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                            arb_t out)
{
    arb_t shape, tau;
    arb_init(shape);
    arb_init(tau);
    inverse_sigma(pair->k, bits, shape);
    arb_set(tau, pair->tau);
    if (!larger)
        arb_neg(tau, tau);
    arb_expm1(out, tau, bits); /* the two orders are one formula, with tau and with -tau */
    arb_mul(out, out, t, bits);
    arb_neg(out, out);
    arb_log1p(out, out, bits);
    arb_addmul(out, t, tau, bits);
    arb_mul(out, out, shape, bits);
    arb_neg(out, out);
    arb_clear(shape);
    arb_clear(tau);
}

/* What is released is the sum of two independent parts, a Poisson count of mean mu nu and one of
 * mean mu (1 - nu) gamma: a post-processing of both together. So the product of their E e^{tL}
 * bounds that of the sum (data processing of Renyi divergences, van Erven and Harremoes 2014), and
 * falls with the count as each part's do. */
static void delaporte_forgotten(const cellar_large_pair *pair, const arb_t t, int larger,
                                int64_t bits, arb_t out)
{
    arb_t part, nu;
    arb_init(part);
    arb_init(nu);
    arb_set_fmpq(nu, cellar_kernel_parameter(pair->k, "nu")->value, bits);
    cellar_poisson_moment(pair, t, larger, bits, part);
    gamma_forgotten(pair, t, larger, bits, out);
    arb_addmul(out, part, nu, bits);
    arb_clear(part);
    arb_clear(nu);
}

/* G told: ln E e^{cG} = c nu - k ln(1 - (1 - nu) c/k). */
static void delaporte_told(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                           arb_t out)
{
    arb_t c, nu, shape;
    arb_init(c);
    arb_init(nu);
    arb_init(shape);
    arb_set_fmpq(nu, cellar_kernel_parameter(pair->k, "nu")->value, bits);
    inverse_sigma(pair->k, bits, shape);
    cellar_poisson_moment(pair, t, larger, bits, c);
    arb_sub_ui(out, nu, 1, bits);
    arb_mul(out, out, c, bits);
    arb_div(out, out, shape, bits);
    arb_log1p(out, out, bits);
    arb_mul(out, out, shape, bits);
    arb_submul(out, c, nu, bits);
    arb_neg(out, out);
    arb_clear(c);
    arb_clear(nu);
    arb_clear(shape);
}

/* ---- both ---------------------------------------------------------------------------- */

static void mixed_bound(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                        int exceeds, int64_t bits, arb_t out)
{
    static const cellar_log_moments sichel = {{sichel_forgotten, sichel_told}};
    static const cellar_log_moments delaporte = {{delaporte_forgotten, delaporte_told}};
    cellar_large_pair pair;
    cellar_large_pair_init(&pair, m, from, shift, bits);
    cellar_chernoff(&pair, m->ops->facts == &cellar_sichel_facts ? &sichel : &delaporte, epsilon,
                    exceeds, bits, out);
    cellar_large_pair_clear(&pair);
}

static void mixed_tail(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                       int64_t bits, arb_t out)
{
    mixed_bound(m, from, shift, epsilon, 0, bits, out);
}

static void mixed_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                          const arb_t epsilon, int64_t bits, arb_t out)
{
    mixed_bound(m, from, shift, epsilon, 1, bits, out);
}

/* The better of two bounds: what is small, moments bound badly. */
static void delaporte_tail(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    double told = cellar_delaporte_told_apart(m, from, shift, cellar_ball_lower(epsilon));
    mixed_tail(m, from, shift, epsilon, bits, out);
    if (!arb_is_finite(out) || told < cellar_ball_upper(out))
        arb_set_d(out, told);
}

const cellar_facts cellar_sichel_facts = {
    .is_monotone = facts_yes,
    .tail = mixed_tail,
    .exceeds = mixed_exceeds,
    .is_ordered = facts_yes,
    .is_concave = facts_yes,
    .mixing = cellar_sichel_mixing,
};

const cellar_facts cellar_delaporte_facts = {
    .is_monotone = delaporte_is_monotone,
    .tail = delaporte_tail,
    .exceeds = mixed_exceeds,
    .is_ordered = delaporte_is_monotone,
    .is_concave = delaporte_is_monotone,
    .is_ordered_at = cellar_delaporte_is_ordered_at,
    .quick = cellar_delaporte_quick,
    .fill = cellar_delaporte_fill,
    .length = cellar_delaporte_length,
    .loss = cellar_delaporte_loss,
    .block = cellar_delaporte_block,
};
