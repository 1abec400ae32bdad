/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/weighted.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
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

/* Where weights have fallen by a factor of 2^-bits since k. Any end is right, this one is near. */
static int64_t weights_end(double rate, int power, int64_t last, int64_t k, int64_t bits)
{
    double fall = (double) bits * log(2.0) / rate, from = (double) k;
    double more = power == 1 ? fall : fall / (from + sqrt(from * from + fall));
    return more + 2 < (double) (last - k) ? k + 2 + (int64_t) more : last;
}

/* e^{-rate a b}. */
static void weight_ball(const arb_t rate, int64_t a, int64_t b, int64_t bits, arb_t out)
{
    fmpz_t product;
    fmpz_init_set_si(product, a);
    fmpz_mul_si(product, product, -b);
    arb_mul_fmpz(out, rate, product, bits + 64);
    arb_exp(out, out, bits);
    fmpz_clear(product);
}

/* What lies beyond `end` when there is no last: weights fall there by at least the factor
 * f = e^{-rate(2 end + 1)}, so that the rest is at most w(end) f / (1 - f). */
static void weights_rest(const arb_t rate, int64_t end, const arb_t weight, int64_t bits, arb_t out)
{
    arb_t factor;
    arb_init(factor);
    weight_ball(rate, 2 * end + 1, 1, bits, factor);
    arb_mul(out, weight, factor, bits);
    arb_sub_ui(factor, factor, 1, bits);
    arb_neg(factor, factor);
    arb_div(out, out, factor, bits);
    arb_clear(factor);
}

/* Sums downwards. Each weight is the one above it times e^{rate (k^p - (k-1)^p)}, and for power 2
 * that factor is the one before it times e^{-2 rate}. */
void cellar_weighted_sums(const arb_t rate, int power, int64_t last, int64_t first, size_t n,
                          int64_t bits, arb_ptr out)
{
    double low = cellar_ball_lower(rate);
    int64_t k_last = first + (int64_t) n - 1, end, work;
    arb_t weight, up, step, sum;

    k_last = k_last < last ? k_last : last;
    end = weights_end(low, power, last, k_last, bits + 16);
    work = bits + 32 + 2 * (int64_t) FLINT_BIT_COUNT((ulong) (end - first) + 1);
    arb_init(weight);
    arb_init(up);
    arb_init(step);
    arb_init(sum);
    weight_ball(rate, end, power == 1 ? 1 : end, work, weight);
    weight_ball(rate, power == 1 ? 1 : 2 * end - 1, -1, work, up);
    weight_ball(rate, 2, 1, work, step);
    if (last == INT64_MAX)
        weights_rest(rate, end, weight, work, sum);
    else /* each of those left out is at most the last one counted */
        arb_mul_si(sum, weight, last - end, work);
    arb_mul_2exp_si(sum, sum, -1); /* from 0 to that, as a ball */
    arb_add_error(sum, sum);
    for (size_t i = n; i-- > 0 && first + (int64_t) i > last;)
        arb_zero(out + i);
    for (int64_t k = end; k >= first; k--) {
        arb_add(sum, sum, weight, work);
        if (k <= k_last)
            arb_set_round(out + (k - first), sum, work);
        arb_mul(weight, weight, up, work);
        if (power == 2)
            arb_mul(up, up, step, work);
    }
    arb_clear(weight);
    arb_clear(up);
    arb_clear(step);
    arb_clear(sum);
}

/* Sum over all integers of e^{-rate k^2} by Poisson's formula, for small rates:
 * sqrt(pi/rate) (1 + 2 sum_{n>=1} e^{-pi^2 n^2 / rate}). */
static void total_by_poisson(const arb_t rate, int64_t bits, arb_t out)
{
    arb_t dual, sum;
    arb_init(dual);
    arb_init(sum);
    arb_const_pi(dual, bits + 32);
    arb_div(out, dual, rate, bits + 32);
    arb_mul(dual, dual, out, bits + 32);
    arb_sqrt(out, out, bits + 32);
    cellar_weighted_sums(dual, 2, INT64_MAX, 1, 1, bits, sum);
    arb_mul_2exp_si(sum, sum, 1);
    arb_add_ui(sum, sum, 1, bits + 32);
    arb_mul(out, out, sum, bits + 32);
    arb_clear(dual);
    arb_clear(sum);
}

void cellar_weighted_total(const arb_t rate, int power, int64_t last, int64_t bits, arb_t out)
{
    if (last == INT64_MAX && cellar_ball_upper(rate) < 3) {
        total_by_poisson(rate, bits, out);
        return;
    }
    cellar_weighted_sums(rate, power, last, 1, 1, bits, out);
    arb_mul_2exp_si(out, out, 1);
    arb_add_ui(out, out, 1, bits + 32);
}

static void weighted_rate_ball(const cellar_weighted *w, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, w->rate, bits + 96);
}

static void weighted_tail_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                                arb_ptr out)
{
    const cellar_weighted *w = weighted_of(a);
    arb_t rate, total;
    arb_init(rate);
    arb_init(total);
    weighted_rate_ball(w, bits, rate);
    cellar_weighted_total(rate, w->power, w->last, bits + 16, total);
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
    cellar_weighted_total(rate, w->power, w->last, bits + 16, total);
    arb_set_si(out, -k);
    if (w->power == 2)
        arb_mul_si(out, out, k, bits + 160);
    arb_mul(out, out, rate, bits + 96);
    arb_exp(out, out, bits + 16);
    arb_div(out, out, total, bits + 16);
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
    if (status != CELLAR_OK)
        return status;
    fmpq_set(w->rate, rate); /* a zeroed fmpq is valid but for its denominator, set here */
    w->power = power;
    w->last = last;
    w->rate_nearest = cellar_rational_double(rate);
    return weighted_fill(w, err);
}

void cellar_weighted_clear(cellar_mechanism *m)
{
    cellar_weighted *w = (cellar_weighted *) m;
    fmpq_clear(w->rate);
    cellar_free(w->tails);
    cellar_additive_clear(m);
}
