/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/count_balls.h"

void cellar_poisson_balls(const fmpq_t mean, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    arb_t m, log_p;
    int64_t work = bits + 96; /* logarithms of up to 2^62 terms of size 2^6 */

    if (fmpq_is_zero(mean)) {
        for (size_t i = 0; i < n; i++)
            arb_set_ui(out + i, first == 0 && i == 0);
        return;
    }
    arb_init(m);
    arb_init(log_p);
    arb_set_fmpq(m, mean, work);
    arb_log(log_p, m, work);
    arb_mul_si(log_p, log_p, first, work);
    arb_sub(log_p, log_p, m, work);
    arb_set_si(out, first);
    arb_add_ui(out, out, 1, work);
    arb_lgamma(out, out, work);
    arb_sub(log_p, log_p, out, work);
    arb_exp(out, log_p, bits + 16);
    arb_set_fmpq(m, mean, bits + 16);
    for (size_t i = 1; i < n; i++) {
        arb_mul(out + i, out + i - 1, m, bits + 16);
        arb_div_si(out + i, out + i, first + (int64_t) i, bits + 16);
    }
    arb_clear(log_p);
    arb_clear(m);
}

/* With r = 1/sigma and q = sigma mean / (1 + sigma mean), the ratios are q (b + r) / (b + 1). */
void cellar_negbin_balls(const fmpq_t mean, const fmpq_t sigma, int64_t first, size_t n,
                         int64_t bits, arb_ptr out)
{
    arb_t x, q, size, t, log_p;
    int64_t work = bits + 96;

    arb_init(x);
    arb_init(q);
    arb_init(size);
    arb_init(t);
    arb_init(log_p);
    arb_set_fmpq(size, sigma, work);
    arb_set_fmpq(x, mean, work);
    arb_mul(x, x, size, work);
    arb_inv(size, size, work);
    arb_add_ui(t, x, 1, work);
    arb_div(q, x, t, work);
    arb_log(log_p, t, work); /* -ln(1-q) */
    arb_mul(log_p, log_p, size, work);
    arb_log(t, q, work);
    arb_mul_si(t, t, first, work);
    arb_sub(log_p, t, log_p, work);
    arb_add_si(t, size, first, work);
    arb_lgamma(t, t, work);
    arb_add(log_p, log_p, t, work);
    arb_lgamma(t, size, work);
    arb_sub(log_p, log_p, t, work);
    arb_set_si(t, first);
    arb_add_ui(t, t, 1, work);
    arb_lgamma(t, t, work);
    arb_sub(log_p, log_p, t, work);
    arb_exp(out, log_p, bits + 16);
    for (size_t i = 1; i < n; i++) {
        int64_t b = first + (int64_t) i;
        arb_add_si(t, size, b - 1, bits + 16);
        arb_mul(t, t, q, bits + 16);
        arb_mul(out + i, out + i - 1, t, bits + 16);
        arb_div_si(out + i, out + i, b, bits + 16);
    }
    arb_clear(log_p);
    arb_clear(t);
    arb_clear(size);
    arb_clear(q);
    arb_clear(x);
}
