/* SPDX-License-Identifier: GPL-3.0-or-later */
/* q(k) proportional to e^{-epsilon k^2 / (2m+1)}, |k| <= m. */
#include "mechanism/registry.h"
#include "mechanism/noise/weighted.h"

static cellar_status truncated_normal_init(cellar_mechanism *m, cellar_error *err)
{
    const cellar_additive *a = (const cellar_additive *) m;
    int64_t last = (int64_t) cellar_additive_parameter(a, "m")->nearest;
    cellar_status status;
    fmpq_t rate;
    fmpq_init(rate);
    fmpq_set_si(rate, 1, (ulong) (2 * last + 1));
    fmpq_mul(rate, rate, cellar_additive_parameter(a, "epsilon")->value);
    status = cellar_weighted_init(m, rate, 2, last, err);
    fmpq_clear(rate);
    return status;
}

const cellar_mechanism_ops cellar_truncated_normal_ops = {
    .name = "truncated-normal",
    .revision = 1,
    .summary = "discrete normal noise, at most m",
    .size = sizeof(cellar_weighted),
    .parameters = cellar_truncated_parameters,
    .init = truncated_normal_init,
    .clear = cellar_weighted_clear,
    .facts = &cellar_truncated_facts,
    CELLAR_ADDITIVE_SLOTS,
};
