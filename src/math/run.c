/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/run.h"

#include "base/error.h"

enum { LAG_BITS = CELLAR_RUN_LAG_BITS };

void cellar_run_set(cellar_run *run, cellar_dword *coefficient, const arb_t ball)
{
    double error = 0;
    *coefficient = arb_is_zero(ball) ? (cellar_dword){0} : cellar_dword_of_ball(ball, &error);
    if (!(error <= 4))
        run->error = INFINITY;
}

static void run_take(cellar_run *run, const arb_t ball, cellar_dword *out)
{
    double error;
    *out = cellar_dword_of_ball(ball, &error);
    if (!(error <= run->error))
        run->error = error;
}

void cellar_run_start(cellar_run *run, int64_t first, arb_srcptr p, size_t n)
{
    arb_t scaled;
    fmpz_t exponent;
    CELLAR_ASSERT(n >= 1 && n <= CELLAR_RUN_HEAD && (run->kind != CELLAR_RUN_PAIRED || n >= 2));
    arb_init(scaled);
    fmpz_init(exponent);
    arf_abs_bound_lt_2exp_fmpz(exponent, arb_midref(p)); /* the first is the smallest of them */
    if (fmpz_cmp_si(exponent, -LAG_BITS) < 0 && fmpz_cmp_si(exponent, -(INT64_C(1) << 40)) > 0)
        run->lag = (-fmpz_get_si(exponent) - LAG_BITS / 2) / LAG_BITS;
    for (size_t i = 0; i < n; i++) {
        arb_mul_2exp_si(scaled, p + i, LAG_BITS * run->lag);
        run->before = run->p;
        run_take(run, scaled, &run->p);
        run->head[i] = run->lag > 0 ? (cellar_dword){0} : run->p;
    }
    run->b = first + (int64_t) n - 1;
    run->inverse = cellar_dword_inverse((double) run->b);
    run->n_head = n - 1; /* the last one is handed out by the recurrence */
    fmpz_clear(exponent);
    arb_clear(scaled);
}

int64_t cellar_run_raise(cellar_run *run)
{
    const int64_t exponent = LAG_BITS * run->lag + LAG_BITS;
    if (run->lag == 0 && (run->p.high > 0x1p-400 || run->n_head > 1))
        return 0;
    if (run->n_head > 1)
        run->error = INFINITY; /* they are not held */
    run->p = cellar_dword_scale(run->p, 0x1p400);
    run->before = cellar_dword_scale(run->before, 0x1p400);
    run->s = cellar_dword_scale(run->s, 0x1p400);
    run->head[0] = run->before;
    run->lag = 0;
    return exponent;
}

/* ---- steps ------------------------------------------------------------------ */

/* Numbers grow until they reach their true size. */
CELLAR_DWORD_INLINE void run_catch_up(cellar_run *run)
{
    if (run->lag > 0 && run->p.high > 1) {
        run->p = cellar_dword_scale(run->p, 0x1p-400);
        run->before = cellar_dword_scale(run->before, 0x1p-400);
        run->s = cellar_dword_scale(run->s, 0x1p-400);
        run->lag--;
    }
}

CELLAR_DWORD_INLINE void run_step(cellar_run *run, cellar_run_kind kind)
{
    double b = (double) run->b;
    cellar_dword factor = run->constant, next, inverse = cellar_dword_inverse(b + 1);

    if (run->slope.high > 0)
        factor = cellar_dword_add(
            factor, cellar_dword_mul(run->slope, cellar_dword_add_double(run->shift, b)));
    if (kind == CELLAR_RUN_FADING) {
        run->s = cellar_dword_add(cellar_dword_mul(run->feed, run->p),
                                  cellar_dword_mul(run->fade, run->s));
        next = cellar_dword_add(cellar_dword_mul(factor, run->p), run->s);
        next = cellar_dword_mul(next, inverse);
    } else if (kind == CELLAR_RUN_PAIRED) {
        cellar_dword pair = cellar_dword_mul(run->pair, run->inverse);
        next = cellar_dword_add(cellar_dword_mul(cellar_dword_mul(factor, inverse), run->p),
                                cellar_dword_mul(cellar_dword_mul(pair, inverse), run->before));
    } else {
        next = cellar_dword_mul(cellar_dword_mul(factor, inverse), run->p);
    }
    run->before = run->p;
    run->p = next;
    run->inverse = inverse;
    run->b++;
    run->error += CELLAR_RUN_STEP;
}

CELLAR_DWORD_INLINE void run_steps(cellar_run *given, cellar_run_kind kind, size_t n,
                                   cellar_dword *out)
{
    cellar_run run = *given;
    for (size_t i = 0; i < n; i++) {
        run_catch_up(&run);
        out[i] = run.lag > 0 ? (cellar_dword){0} : run.p;
        run_step(&run, kind);
    }
    *given = run;
}

CELLAR_DWORD_INLINE void run_weights(cellar_run *run, size_t n, cellar_dword *out)
{
    const cellar_run_weights *w = &run->weights;
    for (size_t i = 0; i < n; i++, run->b++) {
        if (run->b >= w->n) {
            out[i] = (cellar_dword){0};
            run->error = INFINITY;
        } else if (run->b < w->turn) {
            out[i] = cellar_dword_mul(w->rising[run->b], w->scale_rising);
        } else {
            out[i] = cellar_dword_mul(w->falling[run->b], w->scale_falling);
        }
    }
}

CELLAR_DWORD_INLINE void run_next_body(cellar_run *run, size_t n, cellar_dword *out)
{
    if (run->kind == CELLAR_RUN_FADING)
        run_steps(run, CELLAR_RUN_FADING, n, out);
    else if (run->kind == CELLAR_RUN_PAIRED)
        run_steps(run, CELLAR_RUN_PAIRED, n, out);
    else if (run->kind == CELLAR_RUN_SIMPLE)
        run_steps(run, CELLAR_RUN_SIMPLE, n, out);
    else
        run_weights(run, n, out);
}

static void run_next_portable(cellar_run *run, size_t n, cellar_dword *out)
{
    run_next_body(run, n, out);
}

#if defined __x86_64__ && !defined __FMA__
__attribute__((target("fma"))) static void run_next_fma(cellar_run *run, size_t n,
                                                        cellar_dword *out)
{
    run_next_body(run, n, out);
}

static int machine_has_fma(void)
{
    return __builtin_cpu_supports("fma") != 0;
}
#else
#define run_next_fma run_next_portable
static int machine_has_fma(void)
{
    return 0;
}
#endif

void cellar_run_next(cellar_run *run, size_t n, cellar_dword *out)
{
    for (; n > 0 && run->n_used < run->n_head; n--)
        *out++ = run->head[run->n_used++];
    (machine_has_fma() ? run_next_fma : run_next_portable)(run, n, out);
}
