/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No noise, for comparisons. */
#include <math.h>
#include <string.h>

#include "mechanism/registry.h"

static double identity_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    (void) m;
    return count == released ? 0 : -INFINITY;
}

static void identity_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                              int64_t bits, arb_t out)
{
    (void) m;
    (void) bits;
    arb_set_ui(out, count == released);
}

static void identity_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                             int64_t *high)
{
    (void) m;
    (void) tail;
    *low = *high = count;
}

static cellar_status identity_sample_many(const cellar_mechanism *m, const int64_t *counts,
                                          size_t n, cellar_rng *rng, int64_t *released,
                                          cellar_error *err)
{
    (void) m;
    (void) rng;
    (void) err;
    memmove(released, counts, n * sizeof *released);
    return CELLAR_OK;
}

static const cellar_parameter_rule identity_parameters[] = {{0}};

const cellar_mechanism_ops cellar_identity_ops = {
    .name = "identity",
    .revision = 1,
    .summary = "no noise, for comparisons",
    .size = sizeof(cellar_mechanism),
    .parameters = identity_parameters,
    .log_pmf = identity_log_pmf,
    .pmf_ball = identity_pmf_ball,
    .support = identity_support,
    .sample_many = identity_sample_many,
    .is_additive = 1,
    .facts = &cellar_additive_facts,
};
