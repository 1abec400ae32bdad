/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/compose_tilt.h"

#include <math.h>

static const double OUTSIDE = 30; /* -ln of the tilted mass outside the window, a side */

/* ---- cumulants ------------------------------------------------------------------- */

cellar_cumulants cellar_pld_cumulants(const cellar_pld *pld, double theta)
{
    double top = -INFINITY, sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < pld->n_filled; i++) {
        double exponent = pld->log_mass[i] + theta * pld->loss[i];
        top = exponent > top ? exponent : top;
    }
    for (size_t i = 0; i < pld->n_filled; i++) {
        double exponent = pld->log_mass[i] + theta * pld->loss[i] - top, weight;
        if (exponent < -80) /* nothing to the sums, which are needed to a few digits but for K */
            continue;
        weight = exp(exponent);
        sum += weight;
        first += weight * pld->loss[i];
        second += weight * pld->loss[i] * pld->loss[i];
    }
    first /= sum;
    return (cellar_cumulants){top + log(sum), first, fmax(0, second / sum - first * first)};
}

static cellar_cumulants parts_cumulants(const cellar_part *parts, size_t n_parts, double theta)
{
    cellar_cumulants all = {0};
    for (size_t i = 0; i < n_parts; i++) {
        cellar_cumulants one = cellar_pld_cumulants(parts[i].pld, theta);
        double times = (double) parts[i].times;
        all.value += times * one.value;
        all.mean += times * one.mean;
        all.variance += times * one.variance;
    }
    return all;
}

/* ---- the window -------------------------------------------------------------------- */

/* The smallest and the largest sum there can be. */
static double parts_low(const cellar_part *parts, size_t n_parts)
{
    double low = 0;
    for (size_t i = 0; i < n_parts; i++)
        low += (double) parts[i].times * parts[i].pld->loss[0];
    return low;
}

static double parts_high(const cellar_part *parts, size_t n_parts)
{
    double high = 0;
    for (size_t i = 0; i < n_parts; i++)
        high += (double) parts[i].times * parts[i].pld->loss[parts[i].pld->n_filled - 1];
    return high;
}

/* How far from its tilted mean the sum strays to one side, but for e^-OUTSIDE (Chernoff): the
 * tilt by `t` more tells. */
static double reach_of(const cellar_part *parts, size_t n_parts, double theta, cellar_cumulants at,
                       double t)
{
    double k = parts_cumulants(parts, n_parts, theta + t).value;
    return (k - at.value - t * at.mean + OUTSIDE + 1) / fabs(t);
}

cellar_window cellar_tilt_window(const cellar_tilt *tilt, const cellar_part *parts, size_t n_parts)
{
    cellar_cumulants at = parts_cumulants(parts, n_parts, tilt->theta);
    double least = parts_low(parts, n_parts), most = parts_high(parts, n_parts);
    cellar_window w = {.log_k = at.value, .outside = exp(-OUTSIDE)};
    w.low = at.mean - reach_of(parts, n_parts, tilt->theta, at, -tilt->below);
    w.high = at.mean + reach_of(parts, n_parts, tilt->theta, at, tilt->above);
    if (least >= w.low && most <= w.high) /* there is nothing outside */
        w = (cellar_window){.log_k = at.value, .low = least, .high = most};
    return w;
}

/* ---- the tilt ---------------------------------------------------------------------- */

/* ln E e^{-theta y} (1 - e^-y)^+ e^{K - theta K'}, y the distance from the tilted mean, about: with
 * a normal distribution of deviation s that is 1/(sqrt(2 pi) theta (theta + 1) s) for a large one,
 * and s/sqrt(2 pi) for a small one. */
static double log_delta_about(cellar_cumulants c, double theta)
{
    double s = sqrt(c.variance);
    return c.value - theta * c.mean - log(2.5 * (1 / fmax(s, 1e-300) + theta * (theta + 1) * s));
}

/* K'(theta) = epsilon, or delta is about that at epsilon = K'(theta). Both are monotone, nearly. */
static double choose_theta(const cellar_part *parts, size_t n_parts, double epsilon, double delta,
                           double most)
{
    double low = 0, high = 1, largest = 0;
    int found = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const cellar_pld *pld = parts[i].pld;
        largest = fmax(largest, pld->loss[pld->n_filled - 1] - pld->loss[0] + pld->spacing);
    }
    most = fmin(most, 1e5 / largest);
    for (int i = 0; i < 40 && high - low > 0.01 * high && high > 1e-3; i++) {
        double theta = found ? low + (high - low) / 2 : high;
        cellar_cumulants c = parts_cumulants(parts, n_parts, theta);
        if (isnan(epsilon) ? log_delta_about(c, theta) < log(delta) : c.mean > epsilon) {
            high = theta;
            found = 1;
        } else if (found) {
            low = theta;
        } else {
            low = high;
            found = high > most;
            high *= found ? 1 : 2;
        }
    }
    high = fmin(high, most);
    return high > 1e-3 ? high : 0;
}

/* The best of some. */
static double choose_reach(const cellar_part *parts, size_t n_parts, double theta,
                           cellar_cumulants at, int sign)
{
    double best = INFINITY, t = sqrt(2 * OUTSIDE / fmax(at.variance, 1e-18)), best_t = t;
    for (int i = 0; i < 6; i++) {
        double reach = reach_of(parts, n_parts, theta, at, sign * t);
        if (reach < best) {
            best = reach;
            best_t = t;
        }
        t /= 2;
    }
    return best_t;
}

/* Chernoff's bound, ln E e^{theta (sum - epsilon)}. */
static double log_bound(const cellar_part *parts, size_t n_parts, double theta, double value,
                        double epsilon)
{
    double slack = 1e-9 + 1e-12 * (fabs(value) + theta * fabs(epsilon));
    for (size_t i = 0; i < n_parts; i++)
        slack += (double) parts[i].times *
                 (parts[i].pld->mass_error + theta * parts[i].pld->loss_error) * 1.01;
    return fmin(0, value - theta * epsilon + slack);
}

cellar_tilt cellar_tilt_find(const cellar_part *parts, size_t n_parts, double epsilon, double delta,
                             double most)
{
    cellar_tilt tilt = {.theta = choose_theta(parts, n_parts, epsilon, delta, most)};
    cellar_cumulants at = parts_cumulants(parts, n_parts, tilt.theta);
    cellar_window w;
    tilt.below = choose_reach(parts, n_parts, tilt.theta, at, -1);
    tilt.above = choose_reach(parts, n_parts, tilt.theta, at, 1);
    w = cellar_tilt_window(&tilt, parts, n_parts);
    tilt.width = w.high - w.low;
    if (!isnan(epsilon))
        tilt.log_bound = log_bound(parts, n_parts, tilt.theta, at.value, epsilon);
    return tilt;
}
