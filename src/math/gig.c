/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By power series on panels c - h .. c + h. With y = v - c,
 *
 *   v^2 f' = ((order - 1) v - (rate/2)(v^2 - 1)) f,
 *
 * so that the coefficients g_k of f in y/h have a recurrence of four terms, (k+1) g_{k+1} =
 * (A - 2rk) g_k + (B - r^2 (k-1)) g_{k-1} + C g_{k-2}, r = h/c. Only the even ones integrate.
 *
 * What n of them leave out: |g_k| <= M (h/R)^k where |f| <= M on the disc |y| <= R < c (Cauchy).
 * There v = e^{x + i phi} with |sin phi| <= R/c, and ln |f| = (order - 1) x - rate (cosh x cos phi
 * - 1), which with cos phi >= sqrt(1 - (R/c)^2) is bounded by a concave function of x, whose
 * largest value between ln(c - R) and ln(c + R) is M's logarithm.
 *
 * What lies beyond v: e^x f(e^x) has the logarithmic derivative order - rate sinh x, which falls,
 * so that the rest is at most v f(v) / (rate (v - 1/v)/2 - order) where that is positive. */
#include "math/gig.h"

#include <math.h>

enum { PANELS_MAX = 300, TERMS_MAX = 600, GUARD_BITS = 40 };

typedef struct gig {
    arb_srcptr order, rate;
    double order_near, rate_near;
    int64_t bits;
} gig;

typedef struct panel {
    arb_t centre, half; /* exact */
    double c, h, radius;
} panel;

/* ---- what is known in doubles ------------------------------------------------------- */

/* (order - 1) ln v - rate (turn (v + 1/v)/2 - 1), and no less: doubles are right to far more. */
static double log_most(const gig *g, double turn, double v)
{
    static const double safe = 1e-9;
    double power = (g->order_near - 1) * log(v), mean = (v + 1 / v) / 2;
    return power - g->rate_near * (turn * mean - 1) +
           safe * (1 + fabs(power) + g->rate_near * (mean + 1));
}

/* ln M, where R is the radius. */
static double panel_log_most(const gig *g, const panel *p)
{
    double share = p->radius / p->c, turn = sqrt((1 - share) * (1 + share));
    double power = g->order_near - 1, slope = turn * g->rate_near, root = hypot(power, slope);
    double peak = power > 0 ? (power + root) / slope : slope / (root - power);
    return log_most(g, turn, fmin(fmax(peak, p->c - p->radius), p->c + p->radius));
}

/* ln of a bound of what lies beyond v; INFINITY where there is none. */
static double log_rest(const gig *g, double v)
{
    double fall = g->rate_near * (v - 1 / v) / 2 - g->order_near;
    return fall > 1e-3 * g->rate_near ? log_most(g, 1, v) + log(v) - log(fall) + 1e-6 : INFINITY;
}

static double log_of(const arb_t x)
{
    fmpz_t exponent;
    double mantissa;
    arf_t part;
    if (arf_is_special(arb_midref(x)))
        return -INFINITY;
    fmpz_init(exponent);
    arf_init(part);
    arf_frexp(part, exponent, arb_midref(x));
    mantissa = arf_get_d(part, ARF_RND_NEAR);
    mantissa = log(fabs(mantissa)) + fmpz_get_d(exponent) * 0.6931471805599453;
    arf_clear(part);
    fmpz_clear(exponent);
    return mantissa;
}

/* Adds an error of at most e^log. */
static void error_add(arb_t sum, double log_error)
{
    mag_t error;
    arb_t power;
    mag_init(error);
    arb_init(power);
    arb_set_d(power, log_error);
    arb_exp(power, power, 53);
    arb_get_mag(error, power);
    arb_add_error_mag(sum, error);
    arb_clear(power);
    mag_clear(error);
}

/* ---- panels ---------------------------------------------------------------------------- */

static void gig_density(const gig *g, const arb_t v, arb_t out)
{
    arb_t part;
    arb_init(part);
    arb_sub_ui(part, v, 1, g->bits);
    arb_sqr(part, part, g->bits);
    arb_div(part, part, v, g->bits); /* v + 1/v - 2 */
    arb_mul_2exp_si(part, part, -1);
    arb_mul(part, part, g->rate, g->bits);
    arb_log(out, v, g->bits);
    arb_neg(part, part);
    arb_sub(part, part, out, g->bits);
    arb_addmul(part, out, g->order, g->bits);
    arb_exp(out, part, g->bits);
    arb_clear(part);
}

/* A, B, C, r and r^2. */
enum { COEFFICIENT_A, COEFFICIENT_B, COEFFICIENT_C, COEFFICIENT_R, COEFFICIENT_RR, COEFFICIENTS };

static void panel_coefficients(const gig *g, const panel *p, arb_ptr k)
{
    arb_t power, half;
    arb_init(power);
    arb_init(half);
    arb_sub_ui(power, g->order, 1, g->bits);
    arb_mul_2exp_si(half, g->rate, -1);
    arb_div(k + COEFFICIENT_R, p->half, p->centre, g->bits);
    arb_sqr(k + COEFFICIENT_RR, k + COEFFICIENT_R, g->bits);
    arb_mul(k + COEFFICIENT_C, half, p->half, g->bits); /* -(rate/2) h r^2 */
    arb_mul(k + COEFFICIENT_C, k + COEFFICIENT_C, k + COEFFICIENT_RR, g->bits);
    arb_neg(k + COEFFICIENT_C, k + COEFFICIENT_C);
    arb_mul(k + COEFFICIENT_B, g->rate, p->centre, g->bits); /* (power - rate c) r^2 */
    arb_sub(k + COEFFICIENT_B, power, k + COEFFICIENT_B, g->bits);
    arb_mul(k + COEFFICIENT_B, k + COEFFICIENT_B, k + COEFFICIENT_RR, g->bits);
    arb_inv(k + COEFFICIENT_A, p->centre, g->bits); /* (power - (rate/2)(c - 1/c)) r */
    arb_sub(k + COEFFICIENT_A, p->centre, k + COEFFICIENT_A, g->bits);
    arb_mul(k + COEFFICIENT_A, k + COEFFICIENT_A, half, g->bits);
    arb_sub(k + COEFFICIENT_A, power, k + COEFFICIENT_A, g->bits);
    arb_mul(k + COEFFICIENT_A, k + COEFFICIENT_A, k + COEFFICIENT_R, g->bits);
    arb_clear(power);
    arb_clear(half);
}

/* The sum of g_k / (k + 1) over even k < n. */
static void panel_series(const gig *g, const panel *p, slong n, arb_t sum)
{
    arb_ptr k = _arb_vec_init(COEFFICIENTS), term = _arb_vec_init(4), other; /* g_k, g_{k-1}, .. */
    panel_coefficients(g, p, k);
    gig_density(g, p->centre, term);
    arb_mul_2exp_si(k + COEFFICIENT_R, k + COEFFICIENT_R, 1);
    arb_add(k + COEFFICIENT_B, k + COEFFICIENT_B, k + COEFFICIENT_RR, g->bits);
    arb_zero(sum);
    other = term + 3;
    for (slong i = 0; i < n; i++) {
        if (i % 2 == 0) {
            arb_div_ui(other, term, (ulong) i + 1, g->bits);
            arb_add(sum, sum, other, g->bits);
        }
        arb_mul(other, k + COEFFICIENT_A, term, g->bits);
        arb_addmul(other, k + COEFFICIENT_B, term + 1, g->bits);
        arb_addmul(other, k + COEFFICIENT_C, term + 2, g->bits);
        arb_div_ui(other, other, (ulong) i + 1, g->bits);
        arb_swap(term + 2, other);
        arb_swap(term + 1, term + 2);
        arb_swap(term, term + 1);
        arb_sub(k + COEFFICIENT_A, k + COEFFICIENT_A, k + COEFFICIENT_R, g->bits);
        arb_sub(k + COEFFICIENT_B, k + COEFFICIENT_B, k + COEFFICIENT_RR, g->bits);
    }
    _arb_vec_clear(k, COEFFICIENTS);
    _arb_vec_clear(term, 4);
}

/* Adds the integral over the panel; errors below e^goal do not matter. */
static int panel_add(const gig *g, const panel *p, double goal, arb_t sum)
{
    double most = panel_log_most(g, p) + log(2 * p->h), share = p->h / p->radius;
    double n = fmax(ceil((most - log1p(-share) - goal) / -log(share)), 1);
    arb_t series;
    if (!(n < TERMS_MAX))
        return 0;
    arb_init(series);
    panel_series(g, p, (slong) n, series);
    arb_mul(series, series, p->half, g->bits);
    arb_mul_2exp_si(series, series, 1);
    error_add(series, most - log1p(-share) + n * log(share) + 1e-6);
    arb_add(sum, sum, series, g->bits);
    arb_clear(series);
    return 1;
}

/* The panel that begins at v: so wide that on its disc f varies by a factor e^32 or so, and no
 * wider than to `high`. *v becomes its end. */
static void panel_place(const gig *g, arf_t v, const arf_t high, panel *p)
{
    static const double variation = 32, share = 0.37;
    double at = arf_get_d(v, ARF_RND_NEAR), power = g->order_near - 1, rate = g->rate_near;
    double slope = fabs(power - rate * (at - 1 / at) / 2) / at;
    double bend = fabs(power) / (at * at) + rate / (at * at * at);
    arf_t half, centre;
    arf_init(half);
    arf_init(centre);
    p->radius = fmin(at / 2, variation / (slope + sqrt(variation * bend)));
    arf_set_d(half, share * p->radius);
    arf_mul_2exp_si(centre, half, 1);
    arf_add(centre, centre, v, ARF_PREC_EXACT, ARF_RND_DOWN);
    if (arf_cmp(centre, high) >= 0) {
        arf_sub(half, high, v, ARF_PREC_EXACT, ARF_RND_DOWN);
        arf_mul_2exp_si(half, half, -1);
    }
    arf_add(centre, v, half, ARF_PREC_EXACT, ARF_RND_DOWN);
    arb_set_arf(p->centre, centre);
    arb_set_arf(p->half, half);
    arf_add(v, centre, half, ARF_PREC_EXACT, ARF_RND_DOWN);
    p->c = arf_get_d(centre, ARF_RND_NEAR);
    p->h = arf_get_d(half, ARF_RND_UP);
    arf_clear(half);
    arf_clear(centre);
}

int cellar_gig_integral(const arb_t order, const arb_t rate, const arf_t low, const arf_t high,
                        int64_t bits, arb_t out)
{
    const double least = (double) bits * 0.6931471805599453;
    gig g = {.order = order, .rate = rate, .bits = bits + GUARD_BITS};
    int is_done = arf_cmp(low, high) >= 0, goes_on = 1;
    panel p;
    arf_t v;
    arf_init(v);
    arb_init(p.centre);
    arb_init(p.half);
    g.order_near = arf_get_d(arb_midref(order), ARF_RND_NEAR);
    g.rate_near = arf_get_d(arb_midref(rate), ARF_RND_NEAR);
    arf_set(v, low);
    arb_zero(out);
    for (int i = 0; i < PANELS_MAX && goes_on && !is_done; i++) {
        double here = log_most(&g, 1, arf_get_d(v, ARF_RND_NEAR)), rest;
        panel_place(&g, v, high, &p);
        goes_on = panel_add(&g, &p, fmax(here + log(p.h), log_of(out)) - least, out);
        rest = log_rest(&g, arf_get_d(v, ARF_RND_DOWN));
        is_done = arf_cmp(v, high) >= 0;
        if (goes_on && !is_done && rest < log_of(out) - least) {
            error_add(out, rest);
            is_done = 1;
        }
    }
    arf_clear(v);
    arb_clear(p.centre);
    arb_clear(p.half);
    return is_done && goes_on;
}
