/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Hellinger counts. */
#include "mechanism/facts/facts.h"

#include <math.h>

#include "math/ball.h"
#include "mechanism/kernels/kernel.h"

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

/* The largest of the first counts' until the bound for all others, 2rD, is no more. */
static int hellinger_pure(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out)
{
    enum { COUNTS_MAX = 1000 };
    arb_t value;
    arb_init(value);
    hellinger_loss(m, 0, shift, bits, out);
    for (int64_t count = 1;; count++) {
        hellinger_largest(m, count, shift, bits, value);
        if (arb_le(value, out) || count == COUNTS_MAX) {
            arb_max(out, out, value, bits);
            break;
        }
        hellinger_loss(m, count, shift, bits, value);
        arb_max(out, out, value, bits);
    }
    arb_clear(value);
    return 1;
}

static int hellinger_flat_ends(const cellar_mechanism *m, int64_t *margin)
{
    (void) m;
    *margin = 0;
    return 1;
}

/* The losses of a pair span M = 2rD, whatever their largest one t is. Splitting each between the
 * ends t and t - M, so that both distributions keep their mass, gives a pair that dominates it,
 * with the mass p(t) = (e^M - e^t) / (e^M - 1) of P at t. So delta <= p(t) (1 - e^{epsilon - t}),
 * which is largest at t = (M + epsilon)/2, where it is (1 - e^{(epsilon - M)/2})^2 / (1 - e^-M)
 * (Dong, Durfee and Rogers 2020, of mechanisms of bounded range). It rises with M. */
static double hellinger_bound(const cellar_mechanism *m, int64_t from, int64_t shift,
                              double epsilon)
{
    enum { BITS = 64 };
    double bound = 0;
    arb_t range, out;
    arb_init(range);
    arb_init(out);
    hellinger_largest(m, from, shift, BITS, range);
    arb_set_d(out, epsilon);
    arb_sub(out, out, range, BITS);
    if (!arb_is_nonnegative(out)) {
        arb_mul_2exp_si(out, out, -1);
        arb_expm1(out, out, BITS);
        arb_mul(out, out, out, BITS);
        arb_neg(range, range);
        arb_expm1(range, range, BITS);
        arb_neg(range, range);
        arb_div(out, out, range, BITS);
        bound = cellar_ball_upper(out);
    }
    arb_clear(range);
    arb_clear(out);
    return fmin(bound, 1);
}

const cellar_facts cellar_hellinger_facts = {
    .is_monotone = cellar_facts_yes,
    .flat_ends = hellinger_flat_ends,
    .pure = hellinger_pure,
    .bound = hellinger_bound,
};
