/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Continuous normal noise, rounded half up: q(k) = Phi((k+1/2)/sigma) - Phi((k-1/2)/sigma). */
#include "mechanism/noise/gaussian.h"

#include <math.h>

#include "math/flint.h"
#include "math/normal.h"
#include "mechanism/noise/additive.h"
#include "mechanism/registry.h"

typedef struct gaussian {
    cellar_additive additive;
    double sigma;
} gaussian;

static const gaussian *gaussian_of(const cellar_additive *a)
{
    return (const gaussian *) a;
}

static double gaussian_log_q(const cellar_additive *a, int64_t k)
{
    double sigma = gaussian_of(a)->sigma, half = 0.5 / sigma;
    if (k > 0)
        return cellar_normal_log_interval((double) k / sigma, half);
    return half < 1 ? log(erf(half * M_SQRT1_2)) : log1p(-erfc(half * M_SQRT1_2));
}

static double gaussian_tail(const cellar_additive *a, int64_t k)
{
    return exp(cellar_normal_log_tail(((double) k - 0.5) / gaussian_of(a)->sigma));
}

/* (k - 1/2) / sigma. */
static void gaussian_edge(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    fmpq_t x;
    fmpq_init(x);
    fmpq_set_si(x, 2 * k - 1, 2);
    fmpq_div(x, x, cellar_additive_parameter(a, "sigma")->value);
    arb_set_fmpq(out, x, bits);
    fmpq_clear(x);
}

static void gaussian_tail_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                                arb_ptr out)
{
    for (size_t i = 0; i < n; i++) {
        /* The tail falls by x^2 relative to the error of x, and x^2 may have 40 bits. */
        gaussian_edge(a, first + (int64_t) i, bits + 96, out + i);
        cellar_normal_tail_ball(out + i, out + i, bits + 64);
    }
}

static void gaussian_q_ball(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    arb_t next;
    arb_init(next);
    gaussian_tail_balls(a, k + 1, 1, bits + 32, next);
    if (k > 0) {
        gaussian_tail_balls(a, k, 1, bits + 32, out);
        arb_sub(out, out, next, bits);
    } else {
        arb_mul_2exp_si(next, next, 1);
        arb_sub_ui(out, next, 1, bits);
        arb_neg(out, out);
    }
    arb_clear(next);
}

/* Each tail is the upper end of one number and the lower end of the next. */
static void gaussian_q_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                             arb_ptr out)
{
    arb_t above, difference;
    arb_init(above);
    arb_init(difference);
    gaussian_tail_balls(a, first + 1, n, bits + 32, out);
    if (first > 0)
        gaussian_tail_balls(a, first, 1, bits + 32, above);
    else
        arb_sub_ui(above, out, 1, bits + 96);
    if (first == 0)
        arb_neg(above, above); /* P(noise >= 0) = 1 - P(noise >= 1) */
    for (size_t i = 0; i < n; i++) {
        arb_sub(difference, above, out + i, bits);
        arb_swap(above, out + i);
        arb_swap(out + i, difference);
    }
    arb_clear(above);
    arb_clear(difference);
}

static const cellar_noise gaussian_noise = {
    .log_q = gaussian_log_q,
    .tail = gaussian_tail,
    .q_ball = gaussian_q_ball,
    .q_balls = gaussian_q_balls,
    .tail_balls = gaussian_tail_balls,
};

static cellar_status gaussian_init(cellar_mechanism *m, cellar_error *err)
{
    gaussian *g = (gaussian *) m;
    cellar_status status =
        cellar_gaussian_sigma(&m->parameters, CELLAR_GAUSSIAN_ROUNDED, m->ops->name, err);
    if (status != CELLAR_OK)
        return status;
    g->sigma = cellar_additive_parameter(&g->additive, "sigma")->nearest;
    return cellar_additive_init(m, &gaussian_noise, err);
}

const cellar_mechanism_ops cellar_gaussian_ops = {
    .name = "gaussian",
    .revision = 1,
    .summary = "rounded normal noise",
    .size = sizeof(gaussian),
    .parameters = cellar_gaussian_parameters,
    .init = gaussian_init,
    .clear = cellar_additive_clear,
    .facts = &cellar_gaussian_facts,
    CELLAR_ADDITIVE_SLOTS,
};
