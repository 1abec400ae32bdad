/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/kernel.h"

#include <math.h>

#include "base/error.h"
#include "math/ball.h"
#include "math/special.h"
#include "mechanism/kernels/kernel_sampler.h"

enum { CHUNK = 64 }; /* ratios made at a time */

/* Nothing is released beyond: no distribution reaches that far. */
static const int64_t FAR = INT64_C(1) << 61;

static const cellar_kernel *kernel_of(const cellar_mechanism *m)
{
    return (const cellar_kernel *) m;
}

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_kernel_init(cellar_mechanism *m, const cellar_count_law *law,
                                 cellar_error *err)
{
    cellar_kernel *k = (cellar_kernel *) m;
    const cellar_parameter *alpha = cellar_parameter_find(&m->parameters, "alpha");
    k->law = law;
    if (alpha != NULL)
        k->alpha = cellar_long_double_of_rational(alpha->value);
    return cellar_kernel_sampler_create(&k->sampler, err);
}

void cellar_kernel_clear(cellar_mechanism *m)
{
    cellar_kernel_sampler_free(((cellar_kernel *) m)->sampler);
}

const cellar_parameter *cellar_kernel_parameter(const cellar_kernel *k, const char *name)
{
    const cellar_parameter *p = cellar_parameter_find(&k->base.parameters, name);
    CELLAR_ASSERT(p != NULL);
    return p;
}

int64_t cellar_kernel_low_number(const cellar_kernel *k, int64_t count, int64_t high, int64_t bits)
{
    const long double log_tail = -0.6931472L * (long double) bits;
    int64_t low = 0;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (k->law->log_p(k, count, middle) + logl((long double) middle) <= log_tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int kernel_adds_alpha(const cellar_kernel *k, int64_t count)
{
    return count == 0 || !k->alpha_for_zeros;
}

long double cellar_kernel_mean(const cellar_kernel *k, int64_t count)
{
    return (long double) count + (kernel_adds_alpha(k, count) ? k->alpha : 0);
}

void cellar_kernel_mean_rational(const cellar_kernel *k, int64_t count, fmpq_t out)
{
    fmpz_t whole;
    fmpz_init_set_si(whole, count);
    if (kernel_adds_alpha(k, count))
        fmpq_add_fmpz(out, cellar_kernel_parameter(k, "alpha")->value, whole);
    else
        fmpq_set_fmpz(out, whole);
    fmpz_clear(whole);
}

void cellar_kernel_mean_ball(const cellar_kernel *k, int64_t count, int64_t bits, arb_t out)
{
    fmpq_t mean;
    fmpq_init(mean);
    cellar_kernel_mean_rational(k, count, mean);
    arb_set_fmpq(out, mean, bits);
    fmpq_clear(mean);
}

/* ---- both tails ------------------------------------------------------------ */

static long double kernel_ratio(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double ratio;
    k->law->ratios(k, count, b, 1, &ratio);
    return ratio;
}

/* sum_{c >= b} P(c) / P(b), b beyond the mode. */
static long double sum_up(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double ratios[CHUNK], term = 1, sum = 1;
    for (;; b += CHUNK) {
        k->law->ratios(k, count, b, CHUNK, ratios);
        for (size_t i = 0; i < CHUNK; i++) {
            term *= ratios[i];
            sum += term;
            if (ratios[i] < 1 && term * ratios[i] < 1e-21L * sum * (1 - ratios[i]))
                return sum;
        }
    }
}

/* sum_{c <= b} P(c) / P(b), b before the mode: the c terms left are no larger than the last. */
static long double sum_down(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double ratios[CHUNK], term = 1, sum = 1;
    while (b > 0) {
        int64_t first = b > CHUNK ? b - CHUNK : 0;
        k->law->ratios(k, count, first, (size_t) (b - first), ratios);
        for (; b > first; b--) {
            term /= ratios[b - 1 - first];
            sum += term;
            if (term * (long double) b < 1e-21L * sum)
                return sum;
        }
    }
    return sum;
}

/* P(at most b) and P(more than b): the smaller side is summed, outwards from b. */
static void kernel_tails(const cellar_kernel *k, int64_t count, int64_t b, long double *below,
                         long double *above)
{
    if (kernel_ratio(k, count, b) >= 1) {
        *below = expl(k->law->log_p(k, count, b)) * sum_down(k, count, b);
        *above = 1 - *below;
    } else {
        *above = expl(k->law->log_p(k, count, b + 1)) * sum_up(k, count, b + 1);
        *below = 1 - *above;
    }
}

double cellar_kernel_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    long double below, above;
    if (released < 0 || released >= FAR)
        return released >= FAR;
    kernel_tails(kernel_of(m), count, released, &below, &above);
    return (double) below;
}

double cellar_kernel_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_kernel *k = kernel_of(m);
    long double below, above;
    if (released < 0 || released >= FAR)
        return released < 0;
    if (released == 0)
        return (double) -expm1l(k->law->log_p(k, count, 0));
    kernel_tails(k, count, released, &below, &above);
    return (double) above;
}

/* ---- the distribution --------------------------------------------------------------- */

double cellar_kernel_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    const cellar_kernel *k = kernel_of(m);
    return released < 0 ? -INFINITY : (double) k->law->log_p(k, count, released);
}

void cellar_kernel_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                            int64_t bits, arb_t out)
{
    const cellar_kernel *k = kernel_of(m);
    if (released < 0)
        arb_zero(out);
    else
        k->law->p_balls(k, count, released, 1, bits, out);
}

void cellar_kernel_pmf_balls(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                             int64_t bits, arb_ptr out)
{
    const cellar_kernel *k = kernel_of(m);
    k->law->p_balls(k, count, first, n, bits, out);
}

/* ln of a bound of P(>= b): a geometric series. */
static long double log_bound_above(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double ratio = k->law->ratio_bound(k, count, b);
    return ratio < 1 ? k->law->log_p(k, count, b) - log1pl(-ratio) : INFINITY;
}

/* The smallest b from `from` on with P(> b) <= e^log_tail, by doubling and bisection; INT64_MAX
 * when no number goes that far. */
static int64_t reach_above(const cellar_kernel *k, int64_t count, int64_t from,
                           long double log_tail)
{
    int64_t low = from - 1, high = from, step = 1;
    while (log_bound_above(k, count, high + 1) > log_tail) {
        if (step > INT64_MAX / 2 - high / 2)
            return INT64_MAX;
        low = high;
        high += step;
        step *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (log_bound_above(k, count, middle + 1) > log_tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The largest b up to `to` with b P(b) <= e^log_tail on the rising side, or 0: P(< b) <= b P(b). */
static int64_t reach_below(const cellar_kernel *k, int64_t count, int64_t to, long double log_tail)
{
    int64_t low = 0, high = to;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (kernel_ratio(k, count, middle - 1) >= 1 &&
            k->law->log_p(k, count, middle) + logl((long double) middle) <= log_tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void cellar_kernel_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                           int64_t *high)
{
    const cellar_kernel *k = kernel_of(m);
    double mean, variance;
    if (!(tail > 0)) {
        *low = 0;
        *high = INT64_MAX;
        return;
    }
    k->law->mean_variance(k, count, &mean, &variance);
    *low = reach_below(k, count, (int64_t) mean, logl((long double) tail / 2));
    *high = reach_above(k, count, (int64_t) mean, logl((long double) tail / 2));
}

/* -sum p ln p from the mean outwards: on one side when `up`, at b itself too. */
static long double entropy_side(const cellar_kernel *k, int64_t count, int64_t b, int up)
{
    long double log_p = k->law->log_p(k, count, b), ratios[CHUNK], p, sum = 0;
    if (up)
        sum = -log_p * expl(log_p);
    while (up || b > 0) {
        int64_t first = up ? b : b > CHUNK ? b - CHUNK : 0;
        size_t n = up ? CHUNK : (size_t) (b - first);
        k->law->ratios(k, count, first, n, ratios);
        for (size_t i = 0; i < n; i++) {
            long double ratio = up ? ratios[i] : 1 / ratios[n - 1 - i];
            log_p += logl(ratio);
            p = expl(log_p);
            sum -= p * log_p;
            /* beyond the mode, what is left is about p / (1 - ratio) or fewer terms */
            if (ratio < 1 && -p * (log_p - 1) < 1e-18L * (1 - ratio))
                return sum;
        }
        b += up ? CHUNK : -(int64_t) n;
    }
    return sum;
}

void cellar_kernel_mean_variance(const cellar_mechanism *m, int64_t count, double *mean,
                                 double *variance)
{
    const cellar_kernel *k = kernel_of(m);
    k->law->mean_variance(k, count, mean, variance);
}

void cellar_kernel_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    const cellar_kernel *k = kernel_of(m);
    k->law->mean_variance(k, count, &out->mean, &out->variance);
    out->entropy = (double) (entropy_side(k, count, (int64_t) out->mean, 1) +
                             entropy_side(k, count, (int64_t) out->mean, 0));
}

cellar_status cellar_kernel_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, cellar_error *err)
{
    const cellar_kernel *k = kernel_of(m);
    return cellar_kernel_sampler_draw(k->sampler, k, counts, n, rng, released, err);
}
