/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/calibration/calibration.h"

#include <math.h>

#include "math/ball.h"
#include "math/flint.h"
#include "math/normal.h"
#include "math/rational.h"

enum { BITS = 192 };

/* ---- the smallest that does ----------------------------------------------------- */

/* No calibration of use leaves these bounds. */
static const double SIGMA_LEAST = 1e-9, SIGMA_MOST = 1e12;

typedef struct search {
    cellar_sigma_delta *law;
    cellar_sigma_log_delta *about;
    fmpq epsilon, delta; /* shallow copies */
    arb_t limit, value;
} search;

/* First in the exponent, then in the digits. */
static double between(double low, double high)
{
    return high > 2 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
}

/* 1 when delta is proven to be met. Few bits nearly always tell. */
static int search_does(search *s, double sigma)
{
    s->law(sigma, &s->epsilon, BITS / 2, s->value);
    if (!arb_le(s->value, s->limit) && !arb_gt(s->value, s->limit))
        s->law(sigma, &s->epsilon, BITS, s->value);
    return arb_le(s->value, s->limit);
}

static double search_bisect(search *s, double low, double high)
{
    while (nextafter(low, high) < high) {
        double middle = between(low, high);
        if (search_does(s, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* How far ln sigma is off by a ball's word, to first order. */
static double search_off(search *s, double sigma, double slope)
{
    s->law(sigma, &s->epsilon, BITS / 2, s->value);
    arb_div(s->value, s->value, s->limit, BITS / 2);
    arb_sub_ui(s->value, s->value, 1, BITS / 2);
    return log1p(arf_get_d(arb_midref(s->value), ARF_RND_NEAR)) / slope;
}

/* Where the sigma lies by doubles, mended by balls: doubles cancel when sigma is large, or are
 * about another law. */
static double search_guess(search *s)
{
    enum { MENDS_MAX = 6 };
    double epsilon = cellar_rational_double(&s->epsilon), low = SIGMA_LEAST, high = SIGMA_MOST;
    double target = log(cellar_rational_double(&s->delta)), slope, off = 1;
    while (high - low > 1e-15 * high) {
        double middle = between(low, high);
        if (s->about(middle, epsilon) <= target)
            high = middle;
        else
            low = middle;
    }
    slope = (s->about(high * (1 + 1e-3), epsilon) - s->about(high * (1 - 1e-3), epsilon)) / 2e-3;
    for (int i = 0; i < MENDS_MAX && fabs(off) > 1e-12; i++) {
        double before = off;
        off = search_off(s, high, slope);
        if (!(fabs(off) < 1e-2)) /* doubles said nothing */
            break;
        if (i > 0 && fabs(off) < fabs(before) / 2) { /* by the line through the last two */
            slope *= 1 - off / before;
            off /= 1 - off / before;
        }
        high -= high * off;
    }
    return high;
}

/* From a guess outwards in growing steps of the last digit until the answer is enclosed. */
static double search_near(search *s, double guess)
{
    double low = guess, high = guess, step = nextafter(guess, INFINITY) - guess;
    if (search_does(s, guess)) {
        do {
            high = low;
            low = fmax(SIGMA_LEAST, high - step);
            step *= 2;
        } while (low > SIGMA_LEAST && search_does(s, low));
    } else {
        do {
            low = high;
            high = fmin(SIGMA_MOST, low + step);
            step *= 2;
        } while (!search_does(s, high) && high < SIGMA_MOST);
    }
    return high < SIGMA_MOST || search_does(s, high) ? search_bisect(s, low, high) : INFINITY;
}

double cellar_sigma_find(cellar_sigma_delta *law, cellar_sigma_log_delta *about,
                         const fmpq_t epsilon, const fmpq_t delta)
{
    search s = {.law = law, .about = about, .epsilon = *epsilon, .delta = *delta};
    double sigma;
    arb_init(s.limit);
    arb_init(s.value);
    arb_set_fmpq(s.limit, delta, BITS);
    sigma = search_near(&s, search_guess(&s));
    arb_clear(s.limit);
    arb_clear(s.value);
    return sigma;
}

/* ---- continuous noise ------------------------------------------------------------ */

/* near = P(Z >= epsilon sigma - 1/2sigma), far = P(Z >= epsilon sigma + 1/2sigma). */
static void normal_pair(double sigma, const fmpq_t epsilon, int64_t bits, arb_t near, arb_t far)
{
    arb_t middle, half;
    arb_init(middle);
    arb_init(half);
    arb_set_d(half, 2 * sigma);
    arb_inv(half, half, bits);
    arb_set_d(middle, sigma);
    arb_set_fmpq(near, epsilon, bits);
    arb_mul(middle, middle, near, bits);
    arb_sub(near, middle, half, bits);
    arb_add(far, middle, half, bits);
    cellar_normal_tail_ball(near, near, bits);
    cellar_normal_tail_ball(far, far, bits);
    arb_clear(half);
    arb_clear(middle);
}

/* ln of e^near + sign e^far; -INFINITY when doubles see nothing left. */
static double log_together(double near, double far, double sign)
{
    double share = sign * exp(far - near);
    return share > -1 ? near + log1p(share) : -INFINITY;
}

void cellar_gaussian_delta(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_t far, factor;
    arb_init(far);
    arb_init(factor);
    normal_pair(sigma, epsilon, bits, out, far);
    arb_set_fmpq(factor, epsilon, bits);
    arb_exp(factor, factor, bits);
    arb_submul(out, factor, far, bits);
    arb_clear(far);
    arb_clear(factor);
}

double cellar_gaussian_log_delta(double sigma, double epsilon)
{
    double near = cellar_normal_log_tail(epsilon * sigma - 0.5 / sigma);
    double far = cellar_normal_log_tail(epsilon * sigma + 0.5 / sigma);
    return log_together(near, far + epsilon, -1);
}

double cellar_calibrate_analytic(const fmpq_t epsilon, const fmpq_t delta)
{
    return cellar_sigma_find(cellar_gaussian_delta, cellar_gaussian_log_delta, epsilon, delta);
}

/* P(Z >= x - y) + P(Z >= x + y). Its derivative in sigma is
 * -phi(x-y)(epsilon + 1/2sigma^2) - phi(x+y)(epsilon - 1/2sigma^2) < 0: it is monotone. */
static void pdp_delta(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_t far;
    arb_init(far);
    normal_pair(sigma, epsilon, bits, out, far);
    arb_add(out, out, far, bits);
    arb_clear(far);
}

static double pdp_log_delta(double sigma, double epsilon)
{
    return log_together(cellar_normal_log_tail(epsilon * sigma - 0.5 / sigma),
                        cellar_normal_log_tail(epsilon * sigma + 0.5 / sigma), 1);
}

double cellar_calibrate_pdp(const fmpq_t epsilon, const fmpq_t delta)
{
    return cellar_sigma_find(pdp_delta, pdp_log_delta, epsilon, delta);
}

double cellar_calibrate_classic(const fmpq_t epsilon, const fmpq_t delta)
{
    arb_t x, e;
    double sigma;
    arb_init(x);
    arb_init(e);
    arb_set_fmpq(x, delta, BITS);
    arb_mul_ui(x, x, 4, BITS);
    arb_ui_div(x, 5, x, BITS);
    arb_log(x, x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_sqrt(x, x, BITS);
    arb_set_fmpq(e, epsilon, BITS);
    arb_div(x, x, e, BITS);
    sigma = cellar_ball_upper(x);
    arb_clear(x);
    arb_clear(e);
    return sigma;
}

/* 2 P(Z >= x). */
static void quantile_delta(double x, const fmpq_t epsilon, int64_t bits, arb_t out)
{
    (void) epsilon;
    arb_set_d(out, x);
    cellar_normal_tail_ball(out, out, bits);
    arb_mul_2exp_si(out, out, 1);
}

static double quantile_log_delta(double x, double epsilon)
{
    (void) epsilon;
    return M_LN2 + cellar_normal_log_tail(x);
}

double cellar_calibrate_pdp_liu(const fmpq_t epsilon, const fmpq_t delta)
{
    double minus_z = cellar_sigma_find(quantile_delta, quantile_log_delta, epsilon, delta);
    double sigma;
    arb_t z, e, root;
    arb_init(z);
    arb_init(e);
    arb_init(root);
    arb_set_d(z, minus_z);
    arb_set_fmpq(e, epsilon, BITS);
    arb_mul(root, z, z, BITS);
    arb_addmul_ui(root, e, 2, BITS);
    arb_sqrt(root, root, BITS);
    arb_add(root, root, z, BITS);
    arb_div(root, root, e, BITS);
    arb_mul_2exp_si(root, root, -1);
    sigma = cellar_ball_upper(root);
    arb_clear(z);
    arb_clear(e);
    arb_clear(root);
    return sigma;
}
