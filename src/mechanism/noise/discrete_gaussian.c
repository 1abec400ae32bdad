/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The discrete Gaussian distribution, q(k) proportional to exp(-k^2 / 2 sigma^2) (Canonne, Kamath
 * and Steinke, "The discrete Gaussian for differential privacy", 2020). */
#include "mechanism/noise/gaussian.h"
#include "mechanism/registry.h"
#include "mechanism/noise/weighted.h"

static cellar_status discrete_gaussian_init(cellar_mechanism *m, cellar_error *err)
{
    fmpq_t rate;
    cellar_status status =
        cellar_gaussian_sigma(&m->parameters, CELLAR_GAUSSIAN_DISCRETE, m->ops->name, err);
    if (status != CELLAR_OK)
        return status;
    fmpq_init(rate);
    fmpq_set(rate, cellar_additive_parameter((cellar_additive *) m, "sigma")->value);
    fmpq_mul(rate, rate, rate);
    fmpq_add(rate, rate, rate);
    fmpq_inv(rate, rate);
    status = cellar_weighted_init(m, rate, 2, INT64_MAX, err);
    fmpq_clear(rate);
    return status;
}

const cellar_mechanism_ops cellar_discrete_gaussian_ops = {
    .name = "discrete-gaussian",
    .revision = 1,
    .summary = "normal distribution on whole numbers",
    .size = sizeof(cellar_weighted),
    .parameters = cellar_gaussian_parameters,
    .init = discrete_gaussian_init,
    .clear = cellar_weighted_clear,
    .facts = &cellar_weighted_facts,
    CELLAR_ADDITIVE_SLOTS,
};
