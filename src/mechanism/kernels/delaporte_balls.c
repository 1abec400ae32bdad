/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Let b = J + N, J Poisson of mean lambda = mu nu, N negative binomial of size r = 1/sigma and mean
 * r beta = mu (1 - nu), and q = beta / (1 + beta). The logarithm of the generating function has the
 * derivative lambda + r q / (1 - q z), so that with S(b) = r q P(b) + q S(b - 1), S(-1) = 0,
 *
 *   (b + 1) P(b + 1) = lambda P(b) + S(b):
 *
 * sums of positive terms, whose relative errors do not grow. A run from `first` on needs P(first)
 * and S(first - 1). Near zero it starts at zero. Elsewhere P is the sum of the terms
 * T(j) = P(J = j) P(N = b - j) around the largest of them, some multiple of sqrt(b) many, and
 * S(first - 1) = first P(first) - lambda P(first - 1).
 *
 * What lies beyond the last term. With A = lambda / q and m = b - j,
 *   T(j+1) / T(j) = A / (j + 1) * m / (m - 1 + r).
 * For r >= 1 both factors fall with j (T is log-concave), and a geometric series bounds all terms
 * beyond either end by the ratio there. For r < 1: T(j) is a multiple of a(j) C(m), where
 * a(j+1) / a(j) = A / (j + 1) and C(m) = product over i = 1..m of (i - 1 + r) / i, which falls with
 * m, from C(0) = 1, and is at least r/m. So all terms above j together are at most T(j) (m/r) x /
 * (1 - x), x = A / (j + 1), if x < 1, and those below at most T(j) y / (1 - y), y = j / A < 1. */
#include "mechanism/kernels/delaporte_balls.h"

#include "math/work.h"
#include "mechanism/kernels/count_balls.h"

enum {
    FROM_ZERO_MAX = 1024, /* runs that begin below start at zero */
    SPARE_BITS = 64,
};

typedef struct delaporte_balls {
    const cellar_kernel *k;
    int64_t count, bits;
    arb_t lambda, r, q, feed, all; /* feed = r q, all = A */
    int is_small;                  /* r < 1 */
} delaporte_balls;

static void balls_init(delaporte_balls *d, const cellar_kernel *k, int64_t count, int64_t bits)
{
    arb_ptr all[] = {d->lambda, d->r, d->q, d->feed, d->all};
    const fmpq *sigma = cellar_kernel_parameter(k, "sigma")->value;
    *d = (delaporte_balls){.k = k, .count = count, .bits = bits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    d->is_small = fmpq_cmp_si(sigma, 1) > 0;
    arb_set_fmpq(d->r, sigma, bits);
    arb_set_fmpq(d->lambda, cellar_kernel_parameter(k, "nu")->value, bits);
    cellar_kernel_mean_ball(k, count, bits, d->all);
    arb_mul(d->lambda, d->lambda, d->all, bits);
    arb_sub(d->all, d->all, d->lambda, bits); /* mu (1 - nu) = r beta */
    arb_mul(d->q, d->all, d->r, bits);
    arb_add_ui(d->feed, d->q, 1, bits);
    arb_div(d->q, d->q, d->feed, bits);
    arb_inv(d->r, d->r, bits);
    arb_mul(d->feed, d->r, d->q, bits);
    arb_div(d->all, d->lambda, d->q, bits);
}

static void balls_clear(delaporte_balls *d)
{
    arb_ptr all[] = {d->lambda, d->r, d->q, d->feed, d->all};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

/* ---- one probability --------------------------------------------------------------------- */

/* T(j+1) / T(j) in doubles, for the search of the largest term only. */
static double ratio_about(const delaporte_balls *d, int64_t b, int64_t j)
{
    const double m = (double) (b - j), r = arf_get_d(arb_midref(d->r), ARF_RND_NEAR);
    return arf_get_d(arb_midref(d->all), ARF_RND_NEAR) / (double) (j + 1) * m / (m - 1 + r);
}

/* A j near the largest term; for r < 1 the one where a(j) is largest. */
static int64_t largest_term(const delaporte_balls *d, int64_t b)
{
    const double all = arf_get_d(arb_midref(d->all), ARF_RND_NEAR);
    int64_t low = 0, high = b;
    if (d->is_small)
        return all < (double) b ? (int64_t) all : b;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ratio_about(d, b, middle) >= 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* T(j+1) / T(j), or its inverse. */
static void term_ratio(const delaporte_balls *d, int64_t b, int64_t j, int up, arb_t spare,
                       arb_t out)
{
    arb_mul_si(spare, d->all, b - j, d->bits);
    arb_add_si(out, d->r, b - j - 1, d->bits);
    arb_mul_si(out, out, j + 1, d->bits);
    if (up)
        arb_div(out, spare, out, d->bits);
    else
        arb_div(out, out, spare, d->bits);
}

/* No less than the terms beyond `term` = T(j), as a multiple of it; 0 where there is no bound yet.
 * `ratio` is that of the term to the one before it. */
static int bound_beyond(const delaporte_balls *d, int64_t b, int64_t j, int up, const arb_t ratio,
                        arb_t spare, arb_t out)
{
    enum { BITS = 64 };
    if (!d->is_small) {
        arb_set_round(out, ratio, BITS);
    } else if (up) {
        arb_div_si(out, d->all, j + 1, BITS);
    } else {
        arb_set_si(out, j);
        arb_div(out, out, d->all, BITS);
    }
    arb_sub_ui(spare, out, 1, BITS);
    if (!arb_is_negative(spare))
        return 0;
    arb_neg(spare, spare);
    arb_div(out, out, spare, BITS);
    if (d->is_small && up) {
        arb_mul_si(out, out, b - j, BITS);
        arb_div(out, out, d->r, BITS);
    }
    return 1;
}

/* Adds the terms on one side of j, until those that are left are below 2^-bits of the sum. */
static void add_side(const delaporte_balls *d, int64_t b, int64_t j, int up, const arb_t largest,
                     arb_t sum)
{
    enum { EVERY = 8 }; /* terms between two looks at the end */
    int64_t n = 0;
    arb_t term, ratio, spare, rest;
    arb_init(term);
    arb_init(ratio);
    arb_init(spare);
    arb_init(rest);
    arb_set(term, largest);
    while (up ? j < b : j > 0) {
        n++;
        term_ratio(d, b, up ? j : j - 1, up, spare, ratio);
        arb_mul(term, term, ratio, d->bits);
        arb_add(sum, sum, term, d->bits);
        j += up ? 1 : -1;
        if (n % EVERY == 0 && bound_beyond(d, b, j, up, ratio, spare, rest)) {
            arb_mul(rest, rest, term, d->bits);
            arb_mul_2exp_si(spare, rest, d->bits);
            if (arb_lt(spare, sum)) {
                arb_add_error(sum, rest);
                break;
            }
        }
    }
    cellar_work_add_balls((double) n, d->bits);
    arb_clear(term);
    arb_clear(ratio);
    arb_clear(spare);
    arb_clear(rest);
}

static void p_by_terms(const delaporte_balls *d, int64_t b, arb_t out)
{
    const int64_t j = largest_term(d, b);
    arb_t largest;
    arb_init(largest);
    cellar_delaporte_part_balls(d->k, d->count, 0, j, 1, d->bits, largest);
    cellar_delaporte_part_balls(d->k, d->count, 1, b - j, 1, d->bits, out);
    arb_mul(largest, largest, out, d->bits);
    arb_set(out, largest);
    add_side(d, b, j, 1, largest, out);
    add_side(d, b, j, 0, largest, out);
    arb_clear(largest);
}

/* ---- runs of them ------------------------------------------------------------------------- */

/* From P(b) and S(b - 1) to P(b + 1) and S(b). */
static void step(const delaporte_balls *d, int64_t b, arb_t p, arb_t s)
{
    arb_mul(s, s, d->q, d->bits);
    arb_addmul(s, d->feed, p, d->bits);
    arb_mul(p, p, d->lambda, d->bits);
    arb_add(p, p, s, d->bits);
    arb_div_si(p, p, b + 1, d->bits);
}

/* P(0) = e^-lambda (1 - q)^r. */
static void p_of_zero(const delaporte_balls *d, arb_t out)
{
    arb_neg(out, d->q);
    arb_log1p(out, out, d->bits);
    arb_mul(out, out, d->r, d->bits);
    arb_sub(out, out, d->lambda, d->bits);
    arb_exp(out, out, d->bits);
}

/* P(first) and S(first - 1). */
static void start(const delaporte_balls *d, int64_t first, arb_t p, arb_t s)
{
    if (first < FROM_ZERO_MAX) {
        p_of_zero(d, p);
        arb_zero(s);
        for (int64_t b = 0; b < first; b++)
            step(d, b, p, s);
        return;
    }
    p_by_terms(d, first - 1, s);
    p_by_terms(d, first, p);
    arb_mul(s, s, d->lambda, d->bits);
    arb_neg(s, s);
    arb_addmul_si(s, p, first, d->bits);
}

/* The bits that the subtraction in start() may lose: S(b) >= r q P(b), so that lambda P / S is at
 * most lambda / (r q). */
static int64_t bits_lost(const cellar_kernel *k, int64_t count)
{
    enum { BITS = 64, MOST = 4096 };
    delaporte_balls d;
    int64_t lost;
    balls_init(&d, k, count, BITS);
    arb_div(d.all, d.lambda, d.feed, BITS);
    lost = arb_is_finite(d.all) ? arf_abs_bound_lt_2exp_si(arb_midref(d.all)) : MOST;
    balls_clear(&d);
    return lost < 0 ? 0 : lost < MOST ? lost : MOST;
}

void cellar_delaporte_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                              int64_t bits, arb_ptr out)
{
    delaporte_balls d;
    arb_t p, s;
    if (n == 0)
        return;
    balls_init(&d, k, count, bits + SPARE_BITS + (first < FROM_ZERO_MAX ? 0 : bits_lost(k, count)));
    arb_init(p);
    arb_init(s);
    if (n == 1 && first >= FROM_ZERO_MAX)
        p_by_terms(&d, first, p);
    else
        start(&d, first, p, s);
    for (size_t i = 0; i < n; i++) {
        arb_set_round(out + i, p, bits + 16);
        if (i + 1 < n)
            step(&d, first + (int64_t) i, p, s);
    }
    arb_clear(p);
    arb_clear(s);
    balls_clear(&d);
}

/* Takes S(first - 1) as the run takes P(first): times the same power of two. */
static void run_take_s(cellar_run *run, arb_t s)
{
    double error = 0;
    if (arb_is_zero(s))
        return;
    arb_mul_2exp_si(s, s, CELLAR_RUN_LAG_BITS * run->lag);
    run->s = cellar_dword_of_ball(s, &error);
    run->error = error > run->error || !(error >= 0) ? error : run->error;
}

cellar_status cellar_delaporte_run(const cellar_kernel *k, int64_t count, int64_t first,
                                   cellar_run *out, cellar_error *err)
{
    delaporte_balls d;
    arb_t p, s;
    (void) err;
    arb_init(p);
    arb_init(s);
    /* 1 - nu may cancel */
    balls_init(&d, k, count, (int64_t) 2 * CELLAR_KERNEL_RUN_BITS + bits_lost(k, count));
    out->kind = CELLAR_RUN_FADING;
    cellar_run_set(out, &out->constant, d.lambda);
    cellar_run_set(out, &out->fade, d.q);
    cellar_run_set(out, &out->feed, d.feed);
    start(&d, first, p, s);
    cellar_run_start(out, first, p, 1);
    run_take_s(out, s);
    balls_clear(&d);
    arb_clear(p);
    arb_clear(s);
    return CELLAR_OK;
}

/* ---- its two components -------------------------------------------------------------------- */

void cellar_delaporte_part_balls(const cellar_kernel *k, int64_t count, int part, int64_t first,
                                 size_t n, int64_t bits, arb_ptr out)
{
    fmpq_t mean, share;
    fmpq_init(mean);
    fmpq_init(share);
    cellar_kernel_mean_rational(k, count, mean);
    fmpq_mul(share, mean, cellar_kernel_parameter(k, "nu")->value);
    fmpq_sub(mean, mean, share);
    if (part == 0)
        cellar_poisson_balls(share, first, n, bits, out);
    else
        cellar_negbin_balls(mean, cellar_kernel_parameter(k, "sigma")->value, first, n, bits, out);
    fmpq_clear(share);
    fmpq_clear(mean);
}
