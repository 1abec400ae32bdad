/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What shuffling adds to randomised response, for one column of m values and n people who all
 * follow the protocol.
 *
 * Somebody has x or x'. Tell the observer which of the other reports are true: of the n-1 others N,
 * a binomial number with probability g = 1 - keep, drew theirs uniformly and hide the one in
 * question, whose report is x with probability keep and else uniform, too. Let T = N + 1 and h the
 * counts of these T reports. A uniform multinomial W of T has P(U = h - e_y) = P(W = h) m h_y / T
 * for the N others U, hence
 *
 *     P(h | x) = P(W = h) [a h_x + g],   a = keep m / T,
 *
 * and delta(epsilon) = E_W [a h_x + g - e^epsilon (a h_x' + g)]+. With M = h_x + h_x', which is
 * binomial (T, 2/m), h_x is binomial (M, 1/2), and what is left are sums over its upper tails,
 * since the bracket is positive from some h_x on. Knowing more only helps the observer, and more
 * uniform reports only hinder it (anybody could add them): so the value at the smallest T of a
 * range bounds all of it. */
#define MATHLIB_STANDALONE
#include "protocol/response.h"

#include <math.h>

#include <Rmath.h>

/* E[(c h - d)+] for h binomial (both, 1/2), c > 0: positive from h = s on, and
 * E[h; h >= s] = both/2 P(Bin(both-1, 1/2) >= s-1). */
static double upper_mean(double c, double d, double both)
{
    double s = floor(d / c) + 1;
    if (s > both)
        return 0;
    if (s <= 0)
        return c * both / 2 - d;
    return c * both / 2 * pbinom(s - 2, both - 1, 0.5, 0, 0) - d * pbinom(s - 1, both, 0.5, 0, 0);
}

/* delta(epsilon) of T reports. What is left out on either side of M counts with the most that the
 * bracket can be there, m. */
static double delta_of_total(const response *r, double total, double epsilon)
{
    double keep = response_keep(r), m = r->n_values, e = exp(epsilon);
    double a = keep * m / total, share = 2 / m, sum = 0;
    double reach = 10 * sqrt(total * share * (1 - share)) + 40;
    double low = fmax(0, floor(total * share - reach)), high = ceil(total * share + reach);

    if (r->n_values == 2)
        return fmin(1, upper_mean(a * (1 + e), a * e * total + (e - 1) * (1 - keep), total));
    high = fmin(total, high);
    for (int64_t i = (int64_t) low; i <= (int64_t) high; i++) {
        double both = (double) i;
        sum += dbinom(both, total, share, 0) *
               fmax(0, upper_mean(a * (1 + e), a * e * both + (e - 1) * (1 - keep), both));
    }
    return fmin(1,
                sum + m * (pbinom(low - 1, total, share, 1, 0) + pbinom(high, total, share, 0, 0)));
}

double response_shuffled_delta(const response *r, uint64_t n_people, double epsilon)
{
    static const double quantiles[] = {0, 1e-15, 1e-10, 1e-7, 1e-4, 0.01, 0.2, 1};
    enum { N_RANGES = sizeof quantiles / sizeof *quantiles - 1 };
    double others = (double) n_people - 1, g = 1 - response_keep(r), sum = 0, first = 0, before = 0;

    if (g <= 0)
        return 1;
    if (r->n_values == 1)
        return 0;
    for (int i = 0; i < N_RANGES; i++) { /* N from `first` to below `next` */
        double next = i + 1 < N_RANGES ? qbinom(quantiles[i + 1], others, g, 1, 0) : others + 1;
        double upto = i + 1 < N_RANGES ? pbinom(next - 1, others, g, 1, 0) : 1;
        if (next > first)
            sum += fmax(0, upto - before) * delta_of_total(r, first + 1, epsilon);
        first = fmax(first, next);
        before = fmax(before, upto);
    }
    return fmin(1, sum * (1 + 1e-6));
}

double response_shuffled_epsilon(const response *r, uint64_t n_people, double delta)
{
    double keep = response_keep(r), low = 0;
    double high = log1p(keep * r->n_values / (1 - keep)); /* without any shuffling */

    if (r->n_values == 1)
        return 0;
    for (int i = 0; i < 12; i++) {
        double middle = low + (high - low) / 2;
        if (response_shuffled_delta(r, n_people, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    return high;
}
