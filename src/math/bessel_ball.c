/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/bessel_ball.h"

#include <math.h>

#include "base/error.h"
#include "math/flint.h"

/* K_v(x) = 1/2 int f(t) dt, f(t) = e^{-x cosh t + v t}, v >= 0. On the line Im t = theta the
 * modulus of f integrates to 2 K_v(x cos theta), so that the rule of step h is wrong by at most 4
 * K_v(x cos theta) / (e^{2 pi theta/h} - 1) in int f (Trefethen and Weideman 2014, theorem 5.1).
 * K_v is log-convex in v, so R_v = K_{v+1}/K_v >= R_{v-1}; with R_v = 2v/x + 1/R_{v-1} that gives
 * R_v >= (v + |(v, x)|)/x and then R_v <= (v + 1 + |(v-1, x)|)/x. Hence
 * -K_v'/K_v = R_v - v/x <= max(v, 2)/x + 1, and
 * K_v(x cos theta) <= K_v(x) (cos theta)^{-max(v, 2)} e^{x (1 - cos theta)}. */
typedef struct trapezoid {
    arb_t x, v;
    double peak, h, theta; /* exact; the peak is near the largest f */
    int64_t bits;
    arb_t e_peak, e_step; /* e^peak, e^h */
    arb_t sum, sum_next;  /* sums of f(t) and of f(t) e^t, both times e^x */
} trapezoid;

static void trapezoid_init(trapezoid *q, const arb_t order, const arb_t x, int64_t bits)
{
    double v = arf_get_d(arb_midref(order), ARF_RND_NEAR);
    double y = arf_get_d(arb_midref(x), ARF_RND_NEAR), size = v + 3 + y;
    double digits = 0.6932 * (double) (bits + 8);

    arb_ptr all[] = {q->x, q->v, q->e_peak, q->e_step, q->sum, q->sum_next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    arb_set(q->x, x);
    arb_set(q->v, order);
    q->peak = asinh(v / y);
    q->bits = bits + 32 + (int64_t) (2 * log2(size));
    /* the exponent of the error, size theta^2/2 - 2 pi theta/h, is least at theta = 2 pi/(h size);
     * theta stays below 1, where 1 - cos theta and -ln cos theta are within 1.3 theta^2/2 */
    q->h = 2 * M_PI / sqrt(3.2 * size * digits);
    q->theta = 2 * M_PI / (1.3 * q->h * size);
    if (q->theta > 1) {
        q->theta = 1;
        q->h = 2 * M_PI / (digits + 0.65 * size);
    }
    arb_set_d(q->e_peak, q->peak);
    arb_exp(q->e_peak, q->e_peak, q->bits);
    arb_set_d(q->e_step, q->h);
    arb_exp(q->e_step, q->e_step, q->bits);
}

static void trapezoid_clear(trapezoid *q)
{
    arb_ptr all[] = {q->x, q->v, q->e_peak, q->e_step, q->sum, q->sum_next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

/* out = e^x f(peak + j h), given e^t and e^-t at that point, to so many bits. */
static void trapezoid_term(const trapezoid *q, int64_t j, const arb_t e_t, const arb_t e_minus,
                           int64_t bits, arb_t out)
{
    arb_t t, s;
    arb_init(t);
    arb_init(s);
    arb_add(s, e_t, e_minus, q->bits); /* x (1 - cosh t) + v t */
    arb_mul_2exp_si(s, s, -1);
    arb_sub_ui(s, s, 1, q->bits);
    arb_mul(s, s, q->x, q->bits);
    arb_set_d(t, q->h);
    arb_mul_si(t, t, j, q->bits);
    arb_set_d(out, q->peak);
    arb_add(t, t, out, q->bits);
    arb_mul(t, t, q->v, q->bits);
    arb_sub(out, t, s, q->bits);
    arb_exp(out, out, bits);
    arb_clear(s);
    arb_clear(t);
}

/* About log2 of sum / term, whatever their sizes; no more than MANY, and not below 0. */
static int64_t bits_below(const arb_t sum, const arb_t term)
{
    enum { MANY = 1 << 30 };
    fmpz_t large, small;
    int64_t bits = 0;
    fmpz_init(large);
    fmpz_init(small);
    arf_abs_bound_lt_2exp_fmpz(large, arb_midref(sum));
    arf_abs_bound_lt_2exp_fmpz(small, arb_midref(term));
    fmpz_sub(large, large, small);
    if (arf_is_zero(arb_midref(term)) || fmpz_cmp_si(large, MANY) > 0)
        bits = MANY;
    else if (fmpz_sgn(large) > 0)
        bits = fmpz_get_si(large);
    fmpz_clear(large);
    fmpz_clear(small);
    return bits;
}

/* Adds what is left after `term` when terms fall at least as fast as from `before` to it: both
 * sequences are log-concave. Answers 0 while that is not small. */
static int add_rest(arb_t sum, const arb_t before, const arb_t term, int64_t bits)
{
    arb_t rest, fall;
    mag_t radius;
    int small = 0;
    arb_init(rest);
    arb_init(fall);
    mag_init(radius);
    arb_sub(fall, before, term, 64); /* r/(1-r) = term / (before - term) */
    if (arb_is_positive(fall)) {
        arb_mul(rest, term, term, 64);
        arb_div(rest, rest, fall, 64);
        arb_mul_2exp_si(fall, rest, bits + 8);
        small = arb_lt(fall, sum);
        arb_get_mag(radius, rest);
        if (small)
            arb_add_error_mag(sum, radius);
    }
    mag_clear(radius);
    arb_clear(fall);
    arb_clear(rest);
    return small;
}

/* Sums to one side of the peak, the peak itself not included. Both sequences are log-concave, and
 * what lies beyond is asked for when terms have become small. */
static void trapezoid_side(trapezoid *q, int up, int64_t bits)
{
    enum { LEAST = 32 };
    arb_t e_t, e_minus, term, next, before, before_next, factor, inverse;
    int done = 0, done_next = 0;
    int64_t term_bits = q->bits, small, small_next;
    arb_ptr all[] = {e_t, e_minus, term, next, before, before_next, factor, inverse};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    arb_set(e_t, q->e_peak);
    arb_inv(e_minus, e_t, q->bits);
    arb_set(factor, q->e_step);
    arb_inv(inverse, factor, q->bits);
    if (!up)
        arb_swap(factor, inverse);
    for (int64_t j = 1; !(done && done_next); j++) {
        CELLAR_ASSERT(j < 1 << 20);
        arb_swap(before, term);
        arb_swap(before_next, next);
        arb_mul(e_t, e_t, factor, q->bits);
        arb_mul(e_minus, e_minus, inverse, q->bits);
        trapezoid_term(q, up ? j : -j, e_t, e_minus, term_bits, term);
        arb_mul(next, term, e_t, term_bits);
        arb_add(q->sum, q->sum, term, q->bits);
        arb_add(q->sum_next, q->sum_next, next, q->bits);
        small = bits_below(q->sum, term);
        small_next = bits_below(q->sum_next, next);
        small = small < small_next ? small : small_next;
        term_bits = small > 0 ? q->bits - small : q->bits; /* the last ones tell no more */
        term_bits = term_bits > LEAST ? term_bits : LEAST;
        if (small < bits - bits / 4)
            continue;
        done = add_rest(q->sum, before, term, bits);
        done_next = done && add_rest(q->sum_next, before_next, next, bits);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

/* Widens `k` by the error of the rule for order v: a relative
 * 2 (cos theta)^{-max(v, 2)} e^{x (1 - cos theta)} / (e^{2 pi theta/h} - 1), twice over as K is
 * unknown. */
static void trapezoid_widen(const trapezoid *q, const arb_t v, arb_t k)
{
    arb_t cosine, error, t;
    mag_t radius;
    arb_init(cosine);
    arb_init(error);
    arb_init(t);
    mag_init(radius);
    arb_set_d(cosine, q->theta);
    arb_cos(cosine, cosine, 64);
    arb_log(error, cosine, 64);
    arb_set_ui(t, 2);
    arb_max(t, t, v, 64);
    arb_mul(error, error, t, 64);
    arb_sub_ui(t, cosine, 1, 64);
    arb_addmul(error, t, q->x, 64);
    arb_neg(error, error);
    arb_exp(error, error, 64);
    arb_const_pi(t, 64);
    arb_mul_2exp_si(t, t, 1);
    arb_set_d(cosine, q->theta);
    arb_mul(t, t, cosine, 64);
    arb_set_d(cosine, q->h);
    arb_div(t, t, cosine, 64);
    arb_expm1(t, t, 64);
    arb_div(error, error, t, 64);
    arb_mul_2exp_si(error, error, 2);
    arb_mul(error, error, k, 64);
    arb_get_mag(radius, error);
    arb_add_error_mag(k, radius);
    mag_clear(radius);
    arb_clear(t);
    arb_clear(error);
    arb_clear(cosine);
}

/* The same for orders of at least 0. */
static void bessel_pair(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled, arb_t ratio)
{
    trapezoid q;
    arb_t v;
    trapezoid_init(&q, order, x, bits);
    arb_init(v);
    arb_inv(v, q.e_peak, q.bits);
    trapezoid_term(&q, 0, q.e_peak, v, q.bits, q.sum);
    arb_mul(q.sum_next, q.sum, q.e_peak, q.bits);
    trapezoid_side(&q, 1, bits);
    trapezoid_side(&q, 0, bits);
    trapezoid_widen(&q, q.v, q.sum);
    arb_add_ui(v, q.v, 1, q.bits);
    trapezoid_widen(&q, v, q.sum_next);
    arb_div(ratio, q.sum_next, q.sum, bits + 16);
    arb_set_d(v, q.h / 2);
    arb_mul(k_scaled, q.sum, v, bits + 16);
    arb_clear(v);
    trapezoid_clear(&q);
}

/* K_{1/2}(x) = sqrt(pi/(2x)) e^-x and K_{3/2}/K_{1/2} = 1 + 1/x, then R_v = 2v/x + 1/R_{v-1}.
 * Answers 0 for orders that are not small halves. */
static int bessel_half(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled, arb_t ratio)
{
    int64_t work = bits + 32, n;
    arb_t twice;
    int is_half;
    arb_init(twice);
    arb_mul_2exp_si(twice, order, 1);
    is_half = arb_is_int(twice) && arf_cmpabs_2exp_si(arb_midref(twice), 6) < 0;
    n = is_half ? arf_get_si(arb_midref(twice), ARF_RND_NEAR) : 0; /* 2 v, odd */
    arb_clear(twice);
    if (n <= 0 || n % 2 == 0)
        return 0;
    arb_const_pi(k_scaled, work);
    arb_div(k_scaled, k_scaled, x, work);
    arb_mul_2exp_si(k_scaled, k_scaled, -1);
    arb_sqrt(k_scaled, k_scaled, work);
    arb_inv(ratio, x, work);
    arb_add_ui(ratio, ratio, 1, work);
    for (int64_t i = 3; i <= n; i += 2) { /* v = i/2 */
        arb_t t;
        arb_init(t);
        arb_mul(k_scaled, k_scaled, ratio, work);
        arb_inv(ratio, ratio, work);
        arb_set_si(t, i);
        arb_div(t, t, x, work);
        arb_add(ratio, ratio, t, work);
        arb_clear(t);
    }
    return 1;
}

/* By the expansion for large x, where it is good enough. */
static int bessel_far(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled, arb_t ratio)
{
    arb_t next;
    int good = 0;
    if (arf_cmpabs_2exp_si(arb_midref(order), 5) > 0 ||
        arf_cmp_si(arb_midref(x), 48 + bits / 2) < 0)
        return 0;
    arb_init(next);
    arb_add_ui(next, order, 1, bits + 64);
    arb_hypgeom_bessel_k_scaled(k_scaled, order, x, bits + 32);
    arb_hypgeom_bessel_k_scaled(next, next, x, bits + 32);
    good = arb_rel_accuracy_bits(k_scaled) >= bits + 8 && arb_rel_accuracy_bits(next) >= bits + 8;
    if (good)
        arb_div(ratio, next, k_scaled, bits + 16);
    arb_clear(next);
    return good;
}

/* The fastest way there is, for orders of at least 0. */
static void bessel_any(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled, arb_t ratio)
{
    if (!bessel_half(order, x, bits, k_scaled, ratio) &&
        !bessel_far(order, x, bits, k_scaled, ratio))
        bessel_pair(order, x, bits, k_scaled, ratio);
}

void cellar_bessel_k_balls(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled,
                           arb_t ratio)
{
    arb_t v, part;
    if (arb_is_nonnegative(order)) {
        bessel_any(order, x, bits, k_scaled, ratio);
        return;
    }
    arb_init(v); /* K_{-v} = K_v, and K_{v-1}/K_v = K_{v+1}/K_v - 2v/x */
    arb_init(part);
    arb_neg(v, order);
    bessel_any(v, x, bits + 16, k_scaled, ratio);
    arb_mul_2exp_si(part, v, 1);
    arb_div(part, part, x, bits + 128);
    arb_sub(ratio, ratio, part, bits + 128);
    if (arb_rel_accuracy_bits(ratio) < bits) { /* much has cancelled */
        arb_add_ui(v, order, 1, bits + 128);
        arb_abs(v, v);
        bessel_any(v, x, bits, ratio, part);
        arb_div(ratio, ratio, k_scaled, bits + 16);
    }
    arb_clear(part);
    arb_clear(v);
}
