/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Poisson-inverse Gaussian distribution of mean mu = count + alpha and variance mu + sigma
 * mu^2: P(b) = sqrt(2c/pi) mu^b e^{1/sigma} K_{b-1/2}(c) / ((c sigma)^b b!), c^2 = 1/sigma^2 + 2
 * mu/sigma, which is the Sichel distribution of nu = -1/2. */
#include "mechanism/registry.h"
#include "mechanism/kernels/sichel.h"

static cellar_status pig_init(cellar_mechanism *m, cellar_error *err)
{
    cellar_status status;
    fmpq_t nu;
    fmpq_init(nu);
    fmpq_set_si(nu, -1, 2);
    status = cellar_sichel_init(m, nu, err);
    fmpq_clear(nu);
    return status;
}

static const cellar_parameter_rule pig_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "sigma", .required = 1, .at_least = "0.0001", .at_most = "100"},
    {0},
};

const cellar_mechanism_ops cellar_pig_ops = {
    .name = "pig",
    .revision = 1,
    .summary = "Poisson-inverse Gaussian",
    .size = sizeof(cellar_sichel),
    .parameters = pig_parameters,
    .init = pig_init,
    .clear = cellar_sichel_clear,
    .facts = &cellar_sichel_facts,
    CELLAR_KERNEL_SLOTS,
};
