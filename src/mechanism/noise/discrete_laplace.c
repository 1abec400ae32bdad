/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two-sided geometric distribution q(k) = (1-r)/(1+r) r^|k|, r = e^-epsilon (Ghosh, Roughgarden
 * and Sundararajan, "Universally utility-maximizing privacy mechanisms", 2012). */
#include <math.h>

#include "mechanism/noise/geometric.h"
#include "mechanism/registry.h"

/* p/2 = r / (1+r) = 1 / (1 + e^epsilon). */
static void discrete_laplace_half_ball(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 32);
    arb_exp(out, out, bits + 16);
    arb_add_ui(out, out, 1, bits + 16);
    arb_inv(out, out, bits);
}

static cellar_status discrete_laplace_init(cellar_mechanism *m, cellar_error *err)
{
    cellar_geometric *g = (cellar_geometric *) m;
    double r;
    g->epsilon = cellar_additive_parameter(&g->additive, "epsilon")->nearest;
    r = exp(-g->epsilon);
    g->log_half = -g->epsilon - log1p(r);
    g->log_zero = log(-expm1(-g->epsilon)) - log1p(r);
    g->nonzero = 2 * r / (1 + r);
    g->half_ball = discrete_laplace_half_ball;
    return cellar_additive_init(m, &cellar_geometric_noise, err);
}

const cellar_mechanism_ops cellar_discrete_laplace_ops = {
    .name = "discrete-laplace",
    .revision = 1,
    .summary = "two-sided geometric noise",
    .size = sizeof(cellar_geometric),
    .parameters = cellar_geometric_parameters,
    .init = discrete_laplace_init,
    .clear = cellar_additive_clear,
    .facts = &cellar_geometric_facts,
    CELLAR_ADDITIVE_SLOTS,
};
