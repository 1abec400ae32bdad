/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/chernoff.h"

void cellar_large_pair_init(cellar_large_pair *pair, const cellar_mechanism *m, int64_t from,
                            int64_t shift, int64_t bits)
{
    *pair = (cellar_large_pair){.k = (const cellar_kernel *) m, .from = from, .shift = shift};
    arb_init(pair->mean);
    arb_init(pair->tau);
    cellar_kernel_mean_ball(pair->k, from, bits, pair->mean);
    arb_ui_div(pair->tau, (ulong) shift, pair->mean, bits);
    arb_log1p(pair->tau, pair->tau, bits);
}

void cellar_large_pair_clear(cellar_large_pair *pair)
{
    arb_clear(pair->mean);
    arb_clear(pair->tau);
}

/* ln c_t = t ln t - (1+t) ln(1+t). */
static void chernoff_constant(const arb_t t, int64_t bits, arb_t out)
{
    arb_t more;
    arb_init(more);
    arb_log(out, t, bits);
    arb_mul(out, out, t, bits);
    arb_log1p(more, t, bits);
    arb_sub(out, out, more, bits);
    arb_submul(out, t, more, bits);
    arb_clear(more);
}

void cellar_chernoff(const cellar_large_pair *pair, const cellar_log_moments *moments,
                     const arb_t epsilon, int exceeds, int64_t bits, arb_t out)
{
    static const double tried[] = {0.5, 1, 2, 4, 8, 16, 32, 64, 150, 400, 1000, 3000, 10000};
    arb_t constant, value, t, best;
    arb_init(constant);
    arb_init(value);
    arb_init(t);
    arb_init(best);
    arb_zero(out);
    for (int larger = 0; larger < 2; larger++) {
        arb_one(best);
        for (size_t i = 0; i < sizeof tried / sizeof *tried * CELLAR_LOG_MOMENTS_MAX; i++) {
            cellar_log_moment moment = moments->of[i % CELLAR_LOG_MOMENTS_MAX];
            if (moment == NULL)
                continue;
            arb_set_d(t, tried[i / CELLAR_LOG_MOMENTS_MAX]);
            moment(pair, t, larger, bits, value);
            if (!exceeds) {
                chernoff_constant(t, bits, constant);
                arb_add(value, value, constant, bits);
            }
            arb_submul(value, t, epsilon, bits);
            arb_exp(value, value, bits);
            if (arb_is_finite(value))
                arb_min(best, best, value, bits);
        }
        arb_max(out, out, best, bits);
    }
    arb_clear(constant);
    arb_clear(value);
    arb_clear(t);
    arb_clear(best);
}

void cellar_poisson_moment(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                           arb_t out)
{
    arb_t power;
    arb_init(power);
    arb_mul(power, t, pair->tau, bits);
    if (!larger)
        arb_neg(power, power);
    arb_expm1(power, power, bits);
    arb_mul(out, power, pair->mean, bits);
    arb_mul_si(power, larger ? power : t, pair->shift, bits);
    arb_add(out, out, power, bits);
    if (larger) {
        arb_mul_si(power, t, pair->shift, bits);
        arb_sub(out, out, power, bits);
    }
    arb_clear(power);
}
