/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/normal.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "math/flint.h"

double cellar_normal_log_tail(double x)
{
    return pnorm5(x, 0, 1, 0, 1);
}

/* Narrow intervals by the generating function of the Hermite polynomials,
 * e^{-mt - t^2/2} = sum He_n(-m) t^n / n!, integrated over |t| <= h:
 * P = phi(m) 2 sum_j He_2j(m) h^(2j+1) / (2j+1)!. */
static double interval_by_series(double middle, double half)
{
    double sum = half, term, power = half; /* power: h^(2j+1) / (2j+1)! */
    double he_before = 1, he = middle;     /* He_{2j}, He_{2j+1} */
    for (int j = 1; j < 200; j++) {
        double n = 2.0 * j;
        double even = middle * he - (n - 1) * he_before;
        he = middle * even - n * he;
        he_before = even;
        power *= half * half / (n * (n + 1));
        term = even * power;
        sum += term;
        if (fabs(term) < 1e-18 * sum && fabs(he * power * half) < 1e-18 * sum)
            break;
    }
    return -middle * middle / 2 - 0.5 * log(2 * M_PI) + log(2 * sum);
}

double cellar_normal_log_interval(double middle, double half)
{
    double near, far;
    if (half <= 0.25 && middle * half <= 20)
        return interval_by_series(middle, half);
    near = cellar_normal_log_tail(middle - half);
    far = cellar_normal_log_tail(middle + half);
    return near + log1p(-exp(far - near));
}

void cellar_normal_tail_ball(arb_t out, const arb_t x, int64_t bits)
{
    arb_t scaled;
    arb_init(scaled);
    arb_sqrt_ui(scaled, 2, bits + 32);
    arb_div(scaled, x, scaled, bits + 32);
    arb_hypgeom_erfc(out, scaled, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(scaled);
}
