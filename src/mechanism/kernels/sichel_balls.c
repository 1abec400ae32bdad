/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/sichel_balls.h"

#include "math/bessel_ball.h"

enum { MORE_BITS = 144 }; /* of what probabilities are made from, than of these */

/* What a run of probabilities is made from. */
typedef struct sichel_terms {
    arb_t nu, sigma, inverse, mu, g, c, k_nu, log_cs;
} sichel_terms;

void cellar_sichel_constants(const cellar_sichel *s, int64_t bits, arb_t k_scaled, arb_t g)
{
    int64_t work = bits + 128; /* the inputs' own error must not be what limits the result */
    arb_t nu, x;
    arb_init(nu);
    arb_init(x);
    arb_set_fmpq(nu, s->order, work);
    arb_set_fmpq(x, cellar_kernel_parameter(&s->kernel, "sigma")->value, work);
    arb_inv(x, x, work);
    cellar_bessel_k_balls(nu, x, bits, k_scaled, g);
    arb_clear(x);
    arb_clear(nu);
}

static void terms_init(sichel_terms *t, const cellar_sichel *s, int64_t count, int64_t bits)
{
    arb_ptr all[] = {t->nu, t->sigma, t->inverse, t->mu, t->g, t->c, t->k_nu, t->log_cs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    arb_set_fmpq(t->nu, s->order, bits);
    arb_set_fmpq(t->sigma, cellar_kernel_parameter(&s->kernel, "sigma")->value, bits);
    arb_inv(t->inverse, t->sigma, bits);
    cellar_kernel_mean_ball(&s->kernel, count, bits, t->mu);
    if (bits <= s->bits) {
        arb_set(t->k_nu, s->k_ball);
        arb_set(t->g, s->g_ball);
    } else {
        cellar_sichel_constants(s, bits, t->k_nu, t->g);
    }
    /* c^2 = (1/sigma + 2 mu/g) / sigma */
    arb_div(t->c, t->mu, t->g, bits);
    arb_mul_2exp_si(t->c, t->c, 1);
    arb_add(t->c, t->c, t->inverse, bits);
    arb_mul(t->c, t->c, t->inverse, bits);
    arb_sqrt(t->c, t->c, bits);
    arb_mul(t->log_cs, t->c, t->sigma, bits);
    arb_log(t->log_cs, t->log_cs, bits);
}

static void terms_clear(sichel_terms *t)
{
    arb_ptr all[] = {t->nu, t->sigma, t->inverse, t->mu, t->g, t->c, t->k_nu, t->log_cs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

/* P(b) from the definition, and R_{b+nu}(c). */
static void sichel_start(const sichel_terms *t, int64_t b, int64_t bits, arb_t p, arb_t ratio)
{
    arb_t order, x;
    arb_init(order);
    arb_init(x);
    arb_add_si(order, t->nu, b, bits);
    cellar_bessel_k_balls(order, t->c, bits - 96, x, ratio);
    arb_log(p, x, bits);
    arb_mul(x, order, t->log_cs, bits); /* (b + nu) ln(c sigma) */
    arb_sub(p, p, x, bits);
    arb_div(x, t->mu, t->g, bits);
    arb_log(x, x, bits);
    arb_mul_si(x, x, b, bits);
    arb_add(p, p, x, bits);
    arb_set_si(x, b);
    arb_add_ui(x, x, 1, bits);
    arb_lgamma(x, x, bits);
    arb_sub(p, p, x, bits);
    arb_sub(p, p, t->c, bits);
    arb_add(p, p, t->inverse, bits);
    arb_exp(p, p, bits);
    arb_div(p, p, t->k_nu, bits);
    arb_clear(x);
    arb_clear(order);
}

void cellar_sichel_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                           int64_t bits, arb_ptr out)
{
    sichel_terms t;
    arb_t ratio, factor, twice, v;
    int64_t work = bits + 16;

    terms_init(&t, (const cellar_sichel *) k, count, bits + MORE_BITS);
    arb_init(ratio);
    arb_init(factor);
    arb_init(twice);
    arb_init(v);
    sichel_start(&t, first, bits + 112, out, ratio);
    arb_mul(factor, t.g, t.c, bits + 64);
    arb_mul(factor, factor, t.sigma, bits + 64);
    arb_div(factor, t.mu, factor, work);
    arb_ui_div(twice, 2, t.c, work);
    arb_add_si(v, t.nu, first, work);
    for (size_t i = 1; i < n; i++) {
        arb_set_round(ratio, ratio, work);
        arb_mul(out + i, out + i - 1, ratio, work);
        arb_mul(out + i, out + i, factor, work);
        arb_div_si(out + i, out + i, first + (int64_t) i, work);
        arb_add_ui(v, v, 1, work); /* R_v = 2 v / c + 1 / R_{v-1} */
        arb_inv(ratio, ratio, work);
        arb_addmul(ratio, v, twice, work);
    }
    arb_set_round(out, out, work);
    arb_clear(v);
    arb_clear(twice);
    arb_clear(factor);
    arb_clear(ratio);
    terms_clear(&t);
}

/* How many numbers a run has to be given, and how precisely: those before cancel much. */
static size_t run_head(const cellar_sichel *s, int64_t first)
{
    size_t n = 2;
    while ((long double) (first + (int64_t) n) - 2 < -1.5L * s->nu)
        n++;
    return n;
}

static int64_t run_head_bits(size_t n)
{
    return CELLAR_KERNEL_RUN_BITS + 16 * ((int64_t) n - 2);
}

int64_t cellar_sichel_bits(const cellar_sichel *s)
{
    const int64_t usual = 256, run = run_head_bits(run_head(s, 0));
    return (run > usual ? run : usual) + MORE_BITS;
}

/* b (b+1) P(b+1) = 2 f (b+nu) / c b P(b) + f^2 P(b-1), f = mu/(g c sigma), from the recurrence of
 * K. For nu < 0 it starts where b + nu is no longer small. */
cellar_status cellar_sichel_run(const cellar_kernel *k, int64_t count, int64_t first,
                                cellar_run *out, cellar_error *err)
{
    const cellar_sichel *s = (const cellar_sichel *) k;
    int64_t bits = CELLAR_KERNEL_RUN_BITS;
    arb_struct p[CELLAR_RUN_HEAD];
    const size_t n = run_head(s, first);
    sichel_terms t;

    (void) err;
    for (size_t i = 0; i < n; i++)
        arb_init(p + i);
    terms_init(&t, s, count, bits + MORE_BITS);
    out->kind = CELLAR_RUN_PAIRED;
    cellar_run_set(out, &out->shift, t.nu);
    arb_mul(t.k_nu, t.g, t.c, bits);
    arb_mul(t.k_nu, t.k_nu, t.sigma, bits);
    arb_div(t.k_nu, t.mu, t.k_nu, bits);
    arb_mul_2exp_si(t.g, t.k_nu, 1);
    arb_div(t.g, t.g, t.c, bits);
    cellar_run_set(out, &out->slope, t.g);
    arb_mul(t.k_nu, t.k_nu, t.k_nu, bits);
    cellar_run_set(out, &out->pair, t.k_nu);
    cellar_sichel_p_balls(k, count, first, n, run_head_bits(n), p);
    cellar_run_start(out, first, p, n);
    terms_clear(&t);
    for (size_t i = 0; i < n; i++)
        arb_clear(p + i);
    return CELLAR_OK;
}
