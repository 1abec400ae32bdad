/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Continuous Laplace noise of scale 1/epsilon, rounded half up:
 * q(k) = F(k + 1/2) - F(k - 1/2), so that P(noise != 0) = e^{-epsilon/2} and sizes are geometric.
 */
#include <math.h>

#include "mechanism/noise/geometric.h"
#include "mechanism/registry.h"

static void laplace_half_ball(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 32);
    arb_mul_2exp_si(out, out, -1);
    arb_neg(out, out);
    arb_exp(out, out, bits);
    arb_mul_2exp_si(out, out, -1);
}

static cellar_status laplace_init(cellar_mechanism *m, cellar_error *err)
{
    cellar_geometric *g = (cellar_geometric *) m;
    g->epsilon = cellar_additive_parameter(&g->additive, "epsilon")->nearest;
    g->log_half = -g->epsilon / 2 - log(2.0);
    g->log_zero = log(-expm1(-g->epsilon / 2));
    g->nonzero = exp(-g->epsilon / 2);
    g->half_ball = laplace_half_ball;
    return cellar_additive_init(m, &cellar_geometric_noise, err);
}

const cellar_mechanism_ops cellar_laplace_ops = {
    .name = "laplace",
    .revision = 1,
    .summary = "rounded Laplace noise",
    .size = sizeof(cellar_geometric),
    .parameters = cellar_geometric_parameters,
    .init = laplace_init,
    .clear = cellar_additive_clear,
    .facts = &cellar_rounded_geometric_facts,
    CELLAR_ADDITIVE_SLOTS,
};
