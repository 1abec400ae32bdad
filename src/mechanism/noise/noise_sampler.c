/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/noise/noise_sampler.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "random/symmetric.h"

enum { RADIX = 16, TOP_THRESHOLDS = 24 };

/* A digit of a geometric variable. */
typedef struct digit {
    const cellar_additive *a;
    int64_t weight;
    int64_t last; /* RADIX - 1, or INT64_MAX for the highest */
} digit;

struct cellar_noise_sampler {
    pthread_mutex_t lock;
    cellar_symmetric *symmetric; /* NULL until the first draw */
    digit digits[CELLAR_SYMMETRIC_DIGITS_MAX];
};

cellar_status cellar_noise_sampler_create(cellar_noise_sampler **out, cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    pthread_mutex_init(&(*out)->lock, NULL);
    return CELLAR_OK;
}

void cellar_noise_sampler_free(cellar_noise_sampler *sampler)
{
    if (sampler == NULL)
        return;
    cellar_symmetric_free(sampler->symmetric);
    pthread_mutex_destroy(&sampler->lock);
    cellar_free(sampler);
}

/* ---- the distributions of sign and digits -------------------------------------------- */

/* The sign: P(noise < 0), P(noise != 0). */
static void sign_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_additive *a = context;
    for (size_t i = 0; i < n; i++) {
        a->noise->tail_balls(a, 1, 1, bits, out + i);
        if (first + (int64_t) i == 1)
            arb_mul_2exp_si(out + i, out + i, 1);
    }
}

/* |noise| - 1 given that there is noise, of a general distribution: 1 - P(noise >= j+2) / P(noise
 * >= 1). */
static void size_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_additive *a = context;
    arb_t all;

    arb_init(all);
    a->noise->tail_balls(a, 1, 1, bits + 16, all);
    a->noise->tail_balls(a, first + 2, n, bits + 16, out);
    for (size_t i = 0; i < n; i++) {
        arb_div(out + i, out + i, all, bits + 16);
        arb_sub_ui(out + i, out + i, 1, bits + 16);
        arb_neg(out + i, out + i);
    }
    arb_clear(all);
}

/* e^{-rate w (j+1)}. */
static void digit_power(const digit *d, int64_t j, int64_t bits, arb_t out)
{
    fmpq_t exponent;
    fmpz_t factor;
    fmpq_init(exponent);
    fmpz_init_set_si(factor, d->weight);
    fmpz_mul_si(factor, factor, j + 1);
    fmpq_mul_fmpz(exponent, d->a->noise->rate(d->a), factor);
    fmpq_neg(exponent, exponent);
    arb_set_fmpq(out, exponent, bits + 32);
    arb_exp(out, out, bits + 32);
    fmpz_clear(factor);
    fmpq_clear(exponent);
}

/* One digit of a geometric variable G with P(G = g) proportional to r^g: as r^g is the product of
 * r^(w_i d_i) over its digits d_i of weight w_i, the digits are independent, and
 * P(D <= j) = (1 - r^(w(j+1))) / (1 - r^(w(last+1))). */
static void digit_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const digit *d = context;
    arb_t all;
    int64_t work = bits + 64; /* 1 - r^w may be as small as 1e-6 */

    arb_init(all);
    arb_one(all);
    if (d->last != INT64_MAX) {
        digit_power(d, d->last, work, all);
        arb_sub_ui(all, all, 1, work);
        arb_neg(all, all);
    }
    for (size_t i = 0; i < n; i++) {
        digit_power(d, first + (int64_t) i, work, out + i);
        arb_sub_ui(out + i, out + i, 1, work);
        arb_neg(out + i, out + i);
        arb_div(out + i, out + i, all, work);
    }
    arb_clear(all);
}

/* ---- making and using it ---------------------------------------------------- */

/* A geometric size: digits of radix 16 until the highest needs few thresholds. Its distribution
 * function is within 2^-32 of one from 32 ln 2 / (rate weight) on. */
static cellar_status sampler_make_geometric(cellar_noise_sampler *sampler, const cellar_additive *a,
                                            cellar_law sign, cellar_error *err)
{
    double rate = cellar_rational_double(a->noise->rate(a));
    cellar_law laws[CELLAR_SYMMETRIC_DIGITS_MAX];
    int64_t weights[CELLAR_SYMMETRIC_DIGITS_MAX], weight = 1;
    size_t n = 0;

    for (int top = 0; !top; weight *= RADIX, n++) {
        CELLAR_ASSERT(n < CELLAR_SYMMETRIC_DIGITS_MAX);
        top = rate * (double) weight * TOP_THRESHOLDS >= 22.2;
        sampler->digits[n] = (digit){a, weight, top ? INT64_MAX : RADIX - 1};
        laws[n] = (cellar_law){digit_cdf_balls, &sampler->digits[n], sampler->digits[n].last};
        weights[n] = weight;
    }
    return cellar_symmetric_create(sign, laws, weights, n, &sampler->symmetric, err);
}

static cellar_status sampler_make(cellar_noise_sampler *sampler, const cellar_additive *a,
                                  cellar_error *err)
{
    cellar_law sign = {sign_cdf_balls, a, 2}, size = {size_cdf_balls, a, INT64_MAX};
    const int64_t weight = 1;
    if (a->noise->rate != NULL)
        return sampler_make_geometric(sampler, a, sign, err);
    if (a->noise->last != NULL)
        size.last = a->noise->last(a) - 1;
    return cellar_symmetric_create(sign, &size, &weight, size.last > 0, &sampler->symmetric, err);
}

cellar_status cellar_noise_sampler_add(cellar_noise_sampler *sampler, const cellar_additive *a,
                                       const int64_t *counts, size_t n, cellar_rng *rng,
                                       int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    pthread_mutex_lock(&sampler->lock);
    if (sampler->symmetric == NULL)
        status = sampler_make(sampler, a, err);
    pthread_mutex_unlock(&sampler->lock);
    if (status != CELLAR_OK)
        return status;
    return cellar_symmetric_add_noise(sampler->symmetric, counts, n, rng, released, err);
}

cellar_symmetric *cellar_noise_sampler_symmetric(cellar_noise_sampler *sampler)
{
    return sampler->symmetric;
}
