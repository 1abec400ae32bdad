/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/noise/additive.h"

#include "base/error.h"
#include "mechanism/noise/noise_sampler.h"

static const cellar_additive *additive_of(const cellar_mechanism *m)
{
    return (const cellar_additive *) m;
}

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_additive_init(cellar_mechanism *m, const cellar_noise *noise,
                                   cellar_error *err)
{
    cellar_additive *a = (cellar_additive *) m;
    a->noise = noise;
    return cellar_noise_sampler_create(&a->sampler, err);
}

void cellar_additive_clear(cellar_mechanism *m)
{
    cellar_noise_sampler_free(((cellar_additive *) m)->sampler);
}

const cellar_parameter *cellar_additive_parameter(const cellar_additive *a, const char *name)
{
    const cellar_parameter *p = cellar_parameter_find(&a->base.parameters, name);
    CELLAR_ASSERT(p != NULL);
    return p;
}

/* ---- the distribution --------------------------------------------------------------- */

/* released - count, kept within 2^62 on both sides: no noise reaches that far. */
static int64_t additive_noise_of(int64_t count, int64_t released)
{
    const int64_t limit = INT64_C(1) << 62;
    int64_t k;
    if (__builtin_sub_overflow(released, count, &k))
        k = released < count ? -limit : limit;
    return k > limit ? limit : k < -limit ? -limit : k;
}

double cellar_additive_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, released);
    return a->noise->log_q(a, k < 0 ? -k : k);
}

void cellar_additive_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                              int64_t bits, arb_t out)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, released);
    a->noise->q_ball(a, k < 0 ? -k : k, bits, out);
}

static void additive_q_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                             arb_ptr out)
{
    if (a->noise->q_balls != NULL && n > 0)
        a->noise->q_balls(a, first, n, bits, out);
    else
        for (size_t i = 0; i < n; i++)
            a->noise->q_ball(a, first + (int64_t) i, bits, out + i);
}

/* Noise below zero is that above it, backwards. */
void cellar_additive_pmf_balls(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                               int64_t bits, arb_ptr out)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, first);
    size_t below = k >= 0 ? 0 : (uint64_t) -k < n ? (size_t) -k : n;
    additive_q_balls(a, -k - (int64_t) below + 1, below, bits, out);
    for (size_t i = 0; i < below / 2; i++)
        arb_swap(out + i, out + below - 1 - i);
    additive_q_balls(a, k + (int64_t) below, n - below, bits, out + below);
}

double cellar_additive_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, released);
    return k < 0 ? a->noise->tail(a, -k) : 1 - a->noise->tail(a, k + 1);
}

double cellar_additive_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, released);
    return k < 0 ? 1 - a->noise->tail(a, -k) : a->noise->tail(a, k + 1);
}

void cellar_additive_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                   int64_t bits, arb_t out)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = additive_noise_of(count, released);
    a->noise->tail_balls(a, k < 0 ? -k : k + 1, 1, bits, out);
    if (k < 0)
        arb_sub_ui(out, out, 1, bits);
    if (k < 0)
        arb_neg(out, out);
}

static int64_t additive_last(const cellar_additive *a)
{
    return a->noise->last != NULL ? a->noise->last(a) : INT64_MAX;
}

/* The smallest k with P(|noise| > k) <= tail, by doubling and bisection. */
static int64_t additive_reach(const cellar_additive *a, double tail)
{
    int64_t low = -1, high = 0, last = additive_last(a);
    while (high < last && 2 * a->noise->tail(a, high + 1) > tail) {
        low = high;
        high = 2 * high + 1;
    }
    high = high < last ? high : last;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (2 * a->noise->tail(a, middle + 1) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void cellar_additive_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                             int64_t *high)
{
    const cellar_additive *a = additive_of(m);
    int64_t k = tail > 0 ? additive_reach(a, tail) : additive_last(a);
    *low = k == INT64_MAX ? INT64_MIN : count - k;
    *high = k == INT64_MAX ? INT64_MAX : count + k;
}

void cellar_additive_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    const cellar_additive *a = additive_of(m);
    if (a->noise->moments != NULL)
        a->noise->moments(a, out);
    else
        cellar_mechanism_moments_by_sum(m, count, CELLAR_NEGATIVES_KEEP, out);
    out->mean = (double) count;
}

cellar_status cellar_additive_sample_many(const cellar_mechanism *m, const int64_t *counts,
                                          size_t n, cellar_rng *rng, int64_t *released,
                                          cellar_error *err)
{
    const cellar_additive *a = additive_of(m);
    return cellar_noise_sampler_add(a->sampler, a, counts, n, rng, released, err);
}
