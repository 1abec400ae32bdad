/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Hellinger counts, for all of them at once; facts_hellinger_spans.c bounds
 * them some at a time. */
#include "mechanism/facts_hellinger.h"

#include "mechanism/kernel.h"

static int facts_yes(const cellar_mechanism *m)
{
    (void) m;
    return 1;
}

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

/* The first count's, unless doubles find one that may be larger. */
static int hellinger_pure(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out)
{
    enum { TRIES = 10000 };
    int64_t count = 1, wide = 1;
    arb_t value;
    arb_init(value);
    hellinger_loss(m, 0, shift, bits, out);
    for (int i = 0; i < TRIES; i++) {
        double found = arf_get_d(arb_midref(out), ARF_RND_DOWN);
        if (cellar_hellinger_largest_loss(m, count, INT64_MAX, shift) < found)
            break;
        if (cellar_hellinger_largest_loss(m, count, count + wide - 1, shift) < found) {
            count += wide;
            wide *= 2;
        } else if (wide > 1) {
            wide /= 2;
        } else {
            hellinger_loss(m, count++, shift, bits, value);
            arb_max(out, out, value, bits);
        }
        if (i == TRIES - 1) { /* still a bound of all the others */
            hellinger_largest(m, count, shift, bits, value);
            arb_max(out, out, value, bits);
        }
    }
    arb_clear(value);
    return 1;
}

/* The losses of a pair span M = 2rD, whatever their largest one t is. Splitting each between the
 * ends t and t - M, so that both laws keep their mass, gives a pair that dominates it, with the
 * mass p(t) = (e^M - e^t) / (e^M - 1) of P at t. So delta <= p(t) (1 - e^{epsilon - t}), which is
 * largest at t = (M + epsilon)/2, where it is (1 - e^{(epsilon - M)/2})^2 / (1 - e^-M) (Dong,
 * Durfee and Rogers 2020, of mechanisms of bounded range). It rises with M. */
static void hellinger_tail(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    arb_t range;
    arb_init(range);
    hellinger_largest(m, from, shift, bits, range);
    arb_sub(out, epsilon, range, bits);
    if (!arb_is_negative(out)) {
        arb_zero(out);
    } else {
        arb_mul_2exp_si(out, out, -1);
        arb_expm1(out, out, bits);
        arb_mul(out, out, out, bits);
        arb_neg(range, range);
        arb_expm1(range, range, bits);
        arb_neg(range, range);
        arb_div(out, out, range, bits);
    }
    arb_clear(range);
}

/* Numbers whose loss exceeds epsilon are most likely when it does so barely: p(epsilon). */
static void hellinger_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                              const arb_t epsilon, int64_t bits, arb_t out)
{
    arb_t range;
    arb_init(range);
    hellinger_largest(m, from, shift, bits, range);
    arb_sub(out, epsilon, range, bits);
    if (!arb_is_negative(out)) {
        arb_zero(out);
    } else {
        arb_expm1(out, out, bits); /* (1 - e^{epsilon - M}) / (1 - e^-M) */
        arb_neg(range, range);
        arb_expm1(range, range, bits);
        arb_div(out, out, range, bits);
    }
    arb_clear(range);
}

const cellar_facts cellar_hellinger_facts = {
    .is_monotone = facts_yes,
    .has_flat_ends = facts_yes,
    .pure = hellinger_pure,
    .tail = hellinger_tail,
    .exceeds = hellinger_exceeds,
    .spans = cellar_hellinger_spans,
    .shares = cellar_hellinger_shares,
};
