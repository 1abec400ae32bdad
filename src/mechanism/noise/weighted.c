/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/noise/weighted.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"

const cellar_parameter_rule cellar_truncated_parameters[] = {
    {.name = "epsilon", .required = 1, .at_least = "0.000001", .at_most = "10000"},
    {.name = "m",
     .kind = CELLAR_PARAMETER_INTEGER,
     .required = 1,
     .at_least = "1",
     .at_most = "100000"},
    {0},
};

static const cellar_weighted *weighted_of(const cellar_additive *a)
{
    return (const cellar_weighted *) a;
}

/* ---- balls ----------------------------------------------------------------- */

static void weighted_rate_ball(const cellar_weighted *w, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, w->rate, bits + 96);
}

static void weighted_total_ball(const cellar_weighted *w, const arb_t rate, int64_t bits, arb_t out)
{
    if (bits <= CELLAR_WEIGHTED_BITS)
        arb_set(out, w->total);
    else
        cellar_weighted_total(rate, w->power, w->last, bits, out);
}

static void weighted_tail_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                                arb_ptr out)
{
    const cellar_weighted *w = weighted_of(a);
    arb_t rate, total;
    arb_init(rate);
    arb_init(total);
    weighted_rate_ball(w, bits, rate);
    weighted_total_ball(w, rate, bits + 16, total);
    cellar_weighted_sums(rate, w->power, w->last, first, n, bits + 16, out);
    for (size_t i = 0; i < n; i++)
        arb_div(out + i, out + i, total, bits + 16);
    arb_clear(rate);
    arb_clear(total);
}

static void weighted_q_ball(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    const cellar_weighted *w = weighted_of(a);
    arb_t rate, total;
    if (k > w->last) {
        arb_zero(out);
        return;
    }
    arb_init(rate);
    arb_init(total);
    weighted_rate_ball(w, bits, rate);
    weighted_total_ball(w, rate, bits + 16, total);
    arb_set_si(out, -k);
    if (w->power == 2)
        arb_mul_si(out, out, k, bits + 160);
    arb_mul(out, out, rate, bits + 96);
    arb_exp(out, out, bits + 16);
    arb_div(out, out, total, bits + 16);
    arb_clear(rate);
    arb_clear(total);
}

static void weighted_q_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                             arb_ptr out)
{
    const cellar_weighted *w = weighted_of(a);
    int64_t work = bits + 16;
    arb_t rate, total;
    arb_init(rate);
    arb_init(total);
    weighted_rate_ball(w, bits, rate);
    weighted_total_ball(w, rate, work, total);
    cellar_weighted_list(rate, w->power, first, n, work, out);
    for (size_t i = 0; i < n; i++) {
        if (first + (int64_t) i > w->last)
            arb_zero(out + i);
        else
            arb_div(out + i, out + i, total, work);
    }
    arb_clear(rate);
    arb_clear(total);
}

/* ---- doubles --------------------------------------------------------------- */

static double weighted_exponent(const cellar_weighted *w, double k)
{
    return -w->rate_nearest * (w->power == 1 ? k : k * k);
}

static double weighted_log_q(const cellar_additive *a, int64_t k)
{
    const cellar_weighted *w = weighted_of(a);
    return k > w->last ? -INFINITY : weighted_exponent(w, (double) k) - w->log_total;
}

static double weighted_tail(const cellar_additive *a, int64_t k)
{
    const cellar_weighted *w = weighted_of(a);
    return (uint64_t) k < w->n_tails ? w->tails[k] : 0;
}

static int64_t weighted_last(const cellar_additive *a)
{
    return weighted_of(a)->last;
}

static const cellar_noise weighted_noise = {
    .log_q = weighted_log_q,
    .tail = weighted_tail,
    .q_ball = weighted_q_ball,
    .q_balls = weighted_q_balls,
    .tail_balls = weighted_tail_balls,
    .last = weighted_last,
};

/* Running sums from the far end, where weights are smallest: all terms are positive, so every
 * partial sum is accurate. */
static cellar_status weighted_fill(cellar_weighted *w, cellar_error *err)
{
    double reach = 800 / w->rate_nearest, sum = 0;
    reach = w->power == 1 ? reach : sqrt(reach);
    w->n_tails = 2 + (size_t) (reach < (double) w->last ? reach : (double) w->last);
    w->tails = cellar_alloc(w->n_tails, sizeof *w->tails);
    if (w->tails == NULL)
        return cellar_fail_memory(err, "a mechanism");
    for (size_t k = w->n_tails; k-- > 0;) {
        if ((int64_t) k <= w->last)
            sum += exp(weighted_exponent(w, (double) k));
        w->tails[k] = sum;
    }
    sum += w->tails[1]; /* w(0) once, the others twice */
    w->log_total = log(sum);
    for (size_t k = 0; k < w->n_tails; k++)
        w->tails[k] /= sum;
    return CELLAR_OK;
}

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_weighted_init(cellar_mechanism *m, const fmpq_t rate, int power, int64_t last,
                                   cellar_error *err)
{
    cellar_weighted *w = (cellar_weighted *) m;
    cellar_status status = cellar_additive_init(m, &weighted_noise, err);
    arb_t ball;
    if (status != CELLAR_OK)
        return status;
    fmpq_set(w->rate, rate); /* a zeroed fmpq is valid but for its denominator, set here */
    w->power = power;
    w->last = last;
    w->rate_nearest = cellar_rational_double(rate);
    arb_init(w->total);
    arb_init(ball);
    weighted_rate_ball(w, CELLAR_WEIGHTED_BITS, ball);
    cellar_weighted_total(ball, power, last, CELLAR_WEIGHTED_BITS, w->total);
    arb_clear(ball);
    return weighted_fill(w, err);
}

void cellar_weighted_clear(cellar_mechanism *m)
{
    cellar_weighted *w = (cellar_weighted *) m;
    fmpq_clear(w->rate);
    arb_clear(w->total); /* zeroed memory is a valid ball */
    cellar_free(w->tails);
    cellar_additive_clear(m);
}
