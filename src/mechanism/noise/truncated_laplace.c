/* SPDX-License-Identifier: GPL-3.0-or-later */
/* q(k) proportional to e^{-epsilon |k|}, |k| <= m. */
#include "mechanism/registry.h"
#include "mechanism/noise/weighted.h"

static cellar_status truncated_laplace_init(cellar_mechanism *m, cellar_error *err)
{
    const cellar_additive *a = (const cellar_additive *) m;
    int64_t last = (int64_t) cellar_additive_parameter(a, "m")->nearest;
    return cellar_weighted_init(m, cellar_additive_parameter(a, "epsilon")->value, 1, last, err);
}

const cellar_mechanism_ops cellar_truncated_laplace_ops = {
    .name = "truncated-laplace",
    .revision = 1,
    .summary = "two-sided geometric noise, at most m",
    .size = sizeof(cellar_weighted),
    .parameters = cellar_truncated_parameters,
    .init = truncated_laplace_init,
    .clear = cellar_weighted_clear,
    .facts = &cellar_truncated_facts,
    CELLAR_ADDITIVE_SLOTS,
};
