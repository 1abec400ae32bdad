/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/epsilon_tail.h"

#include <math.h>

#include "privacy/pair_cost.h"

typedef struct tail {
    const cellar_mechanism *m;
    int64_t larger, smaller;
    int64_t step; /* over which slopes are taken */
} tail;

static double tail_log_p(const tail *t, int64_t x)
{
    return t->m->ops->log_pmf(t->m, t->larger, x);
}

static double tail_loss(const tail *t, int64_t x)
{
    return tail_log_p(t, x) - t->m->ops->log_pmf(t->m, t->smaller, x);
}

/* About ln delta where the loss at x is epsilon: with P falling by e^-a and the loss rising by s
 * from one number to the next, delta is P(x) times the sum of e^{-a k} - e^{-(a + s) k}. */
static double tail_log_delta(const tail *t, int64_t x)
{
    const double log_p = tail_log_p(t, x), step = (double) t->step;
    const double a = (log_p - tail_log_p(t, x + t->step)) / step;
    const double s = (tail_loss(t, x + t->step) - tail_loss(t, x)) / step;
    if (!(a > 0)) /* it rises yet */
        return 0;
    return s > 0 ? log_p + log(1 / expm1(a) - 1 / expm1(a + s)) : log_p;
}

/* No less than ln P(>= x). */
static double tail_log_above(const tail *t, int64_t x)
{
    const double factor = t->m->ops->tail_factor(t->m, t->larger, x);
    return isfinite(factor) ? tail_log_p(t, x) + log(factor) : 0;
}

/* The first number above the mean where `log_of`, which falls, is no more than `goal`; 0 where
 * there is none that can be held. */
static int64_t tail_first(const tail *t, double (*log_of)(const tail *, int64_t), double goal)
{
    double mean, variance;
    int64_t low, high;
    cellar_mechanism_mean_variance(t->m, t->larger, &mean, &variance);
    low = (int64_t) fmin(mean, 0x1p60);
    for (high = 2 * low + 1; log_of(t, high) > goal; high *= 2)
        if (high > INT64_MAX / 4)
            return 0;
    while (high - low > 1) {
        int64_t x = low + (high - low) / 2;
        if (log_of(t, x) > goal)
            low = x;
        else
            high = x;
    }
    return high;
}

/* Falls as losses rise. */
static double tail_loss_falling(const tail *t, int64_t x)
{
    return -tail_loss(t, x);
}

double cellar_epsilon_tail_about(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                 double delta)
{
    const tail t = {m, larger, smaller, 1 + (int64_t) fmin(cellar_pair_fall(m, larger) / 8, 1e12)};
    const int64_t x = tail_first(&t, tail_log_delta, log(delta));
    const double loss = x > 0 ? tail_loss(&t, x) : 1;
    return isfinite(loss) && loss > 0 ? loss : 1;
}

double cellar_epsilon_tail_enough(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                  double delta)
{
    const double room = 1e-6;
    const tail t = {m, larger, smaller, 1};
    const int64_t x = tail_first(&t, tail_log_above, log(delta) - room);
    const double loss = x > 0 ? fmax(tail_loss(&t, x), -tail_loss(&t, 0)) : INFINITY;
    return isfinite(loss) ? fmax(loss, 0) * (1 + room) + room : INFINITY;
}

double cellar_epsilon_tail_delta(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                 double epsilon)
{
    const double room = 1e-6;
    const tail t = {m, larger, smaller, 1};
    const double above = epsilon * (1 - room) - room;
    int64_t x;
    if (!(-tail_loss(&t, 0) < above))
        return 1;
    x = tail_first(&t, tail_loss_falling,
                   -above); /* and no earlier one, if that is not the first */
    return x > 0 && tail_loss(&t, x - 1) < above
               ? fmin(1, exp(tail_log_above(&t, x) + room) + 1e-307)
               : 1;
}
