/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing a Poisson count forgets its mean: the counts of mu = count + alpha and mu' = mu + s are a
 * post-processing of the means mu G and mu' G, and no further apart at any epsilon. Where G varies
 * much more than a Poisson count of its mean does, they are hardly closer either.
 *
 * ln G is a constant plus X, whose density is h(x) proportional to e^{nu x - w cosh x}, w =
 * 1/sigma: the pair of means is that of X and X + tau, tau = ln(1 + s/mu). h is log-concave, so
 * likelihood ratios are monotone, and delta is the largest over t of P(X + tau > t) - e^epsilon P(X
 * > t), or of P(X < t) - e^epsilon P(X + tau < t) in the other order. Both grow with tau at every
 * t, and tau falls with the count: no pair of larger counts is further apart.
 *
 * With P of the larger count, at v = e^X the loss is -nu tau + (w/2)(v (e^tau - 1) - (1 -
 * e^-tau)/v), which grows with v, and is epsilon at the v > 0 with
 *
 *   a v^2 - 2 k v - b = 0,   a = e^tau - 1 = s/mu, b = 1 - e^-tau = s/mu', k = (epsilon + nu
 * tau)/w.
 *
 * So delta = P(V > v) - e^epsilon P(V > v e^tau) = P(v < V <= v e^tau) - (e^epsilon - 1) P(V > v
 * e^tau). The other order is this one of 1/V, whose order is -nu. */
#include "mechanism/facts_mixing.h"

#include <math.h>

#include "math/ball.h"
#include "math/gig.h"

typedef struct mixing {
    int64_t bits;
    arb_t order, rate, ratio, tau; /* nu, w, mu'/mu and its logarithm */
    arb_t a, b;
} mixing;

/* The least bits with which a difference of order tau is told well. */
static int64_t mixing_bits(const cellar_sichel *s, int64_t from, int64_t shift)
{
    enum { BITS = 60 };
    double mean = (double) cellar_kernel_mean(&s->kernel, from);
    return BITS + (int64_t) fmax(log2(mean / (double) shift), 0);
}

static void mixing_init(mixing *x, const cellar_sichel *s, int64_t from, int64_t shift)
{
    arb_t mean;
    x->bits = mixing_bits(s, from, shift);
    arb_init(mean);
    arb_init(x->order);
    arb_init(x->rate);
    arb_init(x->ratio);
    arb_init(x->tau);
    arb_init(x->a);
    arb_init(x->b);
    arb_set_fmpq(x->order, s->order, x->bits);
    arb_set_fmpq(x->rate, cellar_kernel_parameter(&s->kernel, "sigma")->value, x->bits);
    arb_inv(x->rate, x->rate, x->bits);
    cellar_kernel_mean_ball(&s->kernel, from, x->bits, mean);
    arb_set_si(x->b, shift);
    arb_div(x->a, x->b, mean, x->bits);
    arb_add(mean, mean, x->b, x->bits);
    arb_div(x->b, x->b, mean, x->bits);
    arb_add_ui(x->ratio, x->a, 1, x->bits);
    arb_log1p(x->tau, x->a, x->bits);
    arb_clear(mean);
}

static void mixing_clear(mixing *x)
{
    arb_clear(x->order);
    arb_clear(x->rate);
    arb_clear(x->ratio);
    arb_clear(x->tau);
    arb_clear(x->a);
    arb_clear(x->b);
}

/* The v at which the loss is epsilon. */
static void mixing_threshold(const mixing *x, const arb_t epsilon, arb_t out)
{
    arb_t k, root;
    arb_init(k);
    arb_init(root);
    arb_set(k, epsilon);
    arb_addmul(k, x->order, x->tau, x->bits);
    arb_div(k, k, x->rate, x->bits);
    arb_mul(root, x->a, x->b, x->bits);
    arb_addmul(root, k, k, x->bits);
    arb_sqrt(root, root, x->bits);
    if (arf_sgn(arb_midref(k)) >= 0) {
        arb_add(out, root, k, x->bits);
        arb_div(out, out, x->a, x->bits);
    } else {
        arb_sub(out, root, k, x->bits);
        arb_div(out, x->b, out, x->bits);
    }
    arb_clear(k);
    arb_clear(root);
}

/* P that of the larger count, not yet divided by the integral of all. The ends of the two tails are
 * taken where that makes delta larger. */
static int mixing_larger(const mixing *x, const arb_t epsilon, arb_t out)
{
    arf_t low, high, end;
    arb_t v, rest;
    int is_known;
    arf_init(low);
    arf_init(high);
    arf_init(end);
    arb_init(v);
    arb_init(rest);
    mixing_threshold(x, epsilon, v);
    arb_get_lbound_arf(low, v, x->bits);
    arb_mul(v, v, x->ratio, x->bits);
    arb_get_ubound_arf(high, v, x->bits);
    arf_pos_inf(end);
    is_known = arf_sgn(low) > 0 && arf_is_finite(high) &&
               cellar_gig_integral(x->order, x->rate, low, high, x->bits, out) &&
               cellar_gig_integral(x->order, x->rate, high, end, x->bits, rest);
    arb_expm1(v, epsilon, x->bits);
    arb_submul(out, v, rest, x->bits);
    arf_clear(low);
    arf_clear(high);
    arf_clear(end);
    arb_clear(v);
    arb_clear(rest);
    return is_known;
}

int cellar_sichel_mixing(const cellar_mechanism *m, int64_t from, int64_t shift, int larger,
                         const arb_t epsilon, arb_t out)
{
    const cellar_sichel *s = (const cellar_sichel *) m;
    mixing x;
    int is_known;
    mixing_init(&x, s, from, shift);
    if (!larger)
        arb_neg(x.order, x.order);
    is_known = mixing_larger(&x, epsilon, out);
    arb_div(out, out, s->k_ball, x.bits);
    arb_mul_2exp_si(out, out, -1); /* all is 2 e^w K_nu(w), and K_-nu = K_nu */
    mixing_clear(&x);
    return is_known;
}
