/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mechanism to copy: "Add a mechanism in five steps" in docs/development.md goes through it. It
 * is not in the registry; tests/property builds it and has it pass the conformance suite.
 *
 * Logistic noise of scale s, rounded: with F(x) = 1 / (1 + e^{-x/s}),
 *   q(k)          = F(k + 1/2) - F(k - 1/2) = sinh(h) / (cosh(k/s) + cosh(h)),  h = 1/(2s),
 *   P(noise >= k) = 1 / (1 + e^{(k - 1/2)/s}).
 *
 * Noise that does not depend on the count fills the slots of a cellar_noise (additive.h), and the
 * exact sampler comes with it. Any other kernel fills the required slots of mechanism.h itself. */
#include <math.h>

#include "mechanism/noise/additive.h"

/* Step 1: the object. Its first member is a cellar_additive (or a cellar_mechanism). Keep here what
 * every call would compute again. The exact parameters are in base.parameters. */
typedef struct template
{
    cellar_additive additive;
    double scale;
}
template;

static double template_scale(const cellar_additive *a)
{
    return ((const template *) a)->scale;
}

/* Step 2: the doubles, accurate to 1e-12 relative down to 1e-300. Nothing is subtracted that is
 * nearly equal: ln(cosh x + cosh h) = x - ln 2 + ln(1 + e^{-2x} + 2 cosh(h) e^{-x}). */
static double template_log_q(const cellar_additive *a, int64_t k)
{
    double s = template_scale(a), x = (double) k / s, h = 0.5 / s;
    double log_sinh = h + log1p(-exp(-2 * h));
    return log_sinh - x - log1p(exp(-2 * x) + exp(h - x) + exp(-h - x));
}

static double template_tail(const cellar_additive *a, int64_t k)
{
    double x = ((double) k - 0.5) / template_scale(a);
    return exp(-x - log1p(exp(-x)));
}

/* Step 3: the balls, from the exact parameters. Certificates and thresholds read nothing else. */
static void template_tail_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                                arb_ptr out)
{
    fmpq_t x;
    fmpq_init(x);
    for (size_t i = 0; i < n; i++) {
        fmpq_set_si(x, 2 * (first + (int64_t) i) - 1, 2);
        fmpq_div(x, x, cellar_additive_parameter(a, "scale")->value);
        arb_set_fmpq(out + i, x, bits + 64);
        arb_exp(out + i, out + i, bits + 64);
        arb_add_ui(out + i, out + i, 1, bits + 64);
        arb_inv(out + i, out + i, bits + 64);
    }
    fmpq_clear(x);
}

static void template_q_ball(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    arb_ptr tails = _arb_vec_init(2);
    if (k > 0) {
        template_tail_balls(a, k, 2, bits + 32, tails);
    } else { /* P(noise >= 0) = 1 - P(noise >= 1) */
        template_tail_balls(a, 1, 1, bits + 32, tails + 1);
        arb_sub_ui(tails, tails + 1, 1, bits + 96);
        arb_neg(tails, tails);
    }
    arb_sub(out, tails, tails + 1, bits);
    _arb_vec_clear(tails, 2);
}

static const cellar_noise template_noise = {
    .log_q = template_log_q,
    .tail = template_tail,
    .q_ball = template_q_ball,
    .tail_balls = template_tail_balls,
};

/* Step 4: the parameters and their domains, and what follows from them. Bounds are checked, and
 * named in the message, before init is called. */
static const cellar_parameter_rule template_parameters[] = {
    {.name = "scale", .required = 1, .at_least = "0.01", .at_most = "1000"},
    {0},
};

static cellar_status template_init(cellar_mechanism *m, cellar_error *err)
{
    template *t = (template *) m;
    t->scale = cellar_additive_parameter(&t->additive, "scale")->nearest;
    return cellar_additive_init(m, &template_noise, err);
}

/* Step 5: the table of functions, named in registry.h and registry.c. */
extern const cellar_mechanism_ops cellar_template_ops;
const cellar_mechanism_ops cellar_template_ops = {
    .name = "template",
    .revision = 1,
    .summary = "rounded logistic noise",
    .size = sizeof(template),
    .parameters = template_parameters,
    .init = template_init,
    .clear = cellar_additive_clear,
    CELLAR_ADDITIVE_SLOTS,
};
