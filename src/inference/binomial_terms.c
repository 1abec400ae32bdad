/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/binomial_terms.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

enum { KNOWN_NOISES = 8192, GRID = 64, STEPS_MAX = 100 };
static const double NEGLIGIBLE = 46; /* 1e-20 of the largest term */

cellar_status cellar_binomial_terms_init(cellar_binomial_terms *t, uint64_t n_trials,
                                         const cellar_channel *channel, cellar_error *err)
{
    long double choose = 0;
    *t = (cellar_binomial_terms){.n = (int64_t) n_trials, .channel = *channel};
    t->is_additive = cellar_channel_is_additive(channel);
    t->log_choose = cellar_alloc((size_t) t->n + 1, sizeof *t->log_choose);
    if (t->is_additive)
        t->log_q = cellar_alloc(KNOWN_NOISES, sizeof *t->log_q);
    else
        t->log_weights = cellar_alloc((size_t) t->n + 1, sizeof *t->log_weights);
    if (t->log_choose == NULL || (t->log_q == NULL && t->log_weights == NULL))
        return cellar_fail_memory(err, "the binomial test");
    for (int64_t a = 1; a <= t->n; a++) {
        choose += logl((long double) (t->n - a + 1)) - logl((long double) a);
        t->log_choose[a] = (double) choose;
    }
    for (int64_t k = 0; t->log_q != NULL && k < KNOWN_NOISES; k++)
        t->log_q[k] = cellar_mechanism_log_pmf(channel->mechanism, 0, k);
    return CELLAR_OK;
}

void cellar_binomial_terms_clear(cellar_binomial_terms *t)
{
    cellar_free(t->log_choose);
    cellar_free(t->log_q);
    cellar_free(t->log_weights);
}

/* A zero that stands for all that is small. */
static int number_is_tail(const cellar_binomial_terms *t)
{
    return t->number == 0 && cellar_channel_is_clamped(&t->channel);
}

void cellar_binomial_terms_turn(cellar_binomial_terms *t, int64_t number)
{
    int64_t reach;
    t->number = number;
    t->first = 0;
    t->last = t->n;
    if (!t->is_additive) {
        for (int64_t a = 0; a <= t->n; a++)
            t->log_weights[a] = cellar_channel_log_pmf(&t->channel, a, number);
        while (t->first < t->last && t->log_weights[t->first] == -INFINITY)
            t->first++;
        while (t->last > t->first && t->log_weights[t->last] == -INFINITY)
            t->last--;
        return;
    }
    reach = cellar_channel_reach(&t->channel);
    if (reach >= INT64_MAX / 8)
        return;
    if (!number_is_tail(t) && number - reach > t->first)
        t->first = number - reach;
    if (number + reach < t->last)
        t->last = number + reach;
}

static double weight_of(const cellar_binomial_terms *t, int64_t a)
{
    int64_t k = a < t->number ? t->number - a : a - t->number;
    if (!t->is_additive)
        return t->log_weights[a];
    if (number_is_tail(t) || k >= KNOWN_NOISES)
        return cellar_channel_log_pmf(&t->channel, a, t->number);
    return t->log_q[k];
}

/* ---- sums --------------------------------------------------------------------------- */

/* The likelihood at p, and the first two moments of the count given the number. */
typedef struct moments {
    double log_likelihood, mean, variance;
} moments;

static double term_of(const cellar_binomial_terms *t, int64_t a, double log_p, double log_q)
{
    return weight_of(t, a) + t->log_choose[a] + (a > 0 ? (double) a * log_p : 0) +
           (a < t->n ? (double) (t->n - a) * log_q : 0);
}

/* The first count that the next one does not beat: terms are log-concave. */
static int64_t mode_of(const cellar_binomial_terms *t, double log_p, double log_q)
{
    int64_t low = t->first, high = t->last;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (term_of(t, middle + 1, log_p, log_q) > term_of(t, middle, log_p, log_q))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the term of a, relative to e^scale. */
static int add_term(const cellar_binomial_terms *t, int64_t a, int64_t origin, double log_p,
                    double log_q, double scale, double sums[3])
{
    double term = term_of(t, a, log_p, log_q) - scale, weight, d = (double) (a - origin);
    if (term < -NEGLIGIBLE)
        return 0;
    weight = exp(term);
    sums[0] += weight;
    sums[1] += weight * d;
    sums[2] += weight * d * d;
    return 1;
}

static int64_t largest_of(const cellar_binomial_terms *t, double log_p, double log_q)
{
    int64_t best = t->first;
    double largest = -INFINITY;
    for (int64_t a = t->first; a <= t->last; a++) {
        double term = term_of(t, a, log_p, log_q);
        best = term > largest ? a : best;
        largest = term > largest ? term : largest;
    }
    return best;
}

static moments terms_sum(const cellar_binomial_terms *t, double p)
{
    double log_p = log(p), log_q = log1p(-p), sums[3] = {0}, scale;
    moments m = {-INFINITY, 0, 0};
    int64_t top;
    if (t->first > t->last)
        return m;
    top = t->is_additive ? mode_of(t, log_p, log_q) : largest_of(t, log_p, log_q);
    scale = term_of(t, top, log_p, log_q);
    if (!(scale > -INFINITY))
        return m;
    for (int64_t a = top; a <= t->last; a++)
        if (!add_term(t, a, top, log_p, log_q, scale, sums) && t->is_additive)
            break;
    for (int64_t a = top - 1; a >= t->first; a--)
        if (!add_term(t, a, top, log_p, log_q, scale, sums) && t->is_additive)
            break;
    m.log_likelihood = scale + log(sums[0]);
    m.variance = fmax(0, sums[2] / sums[0] - sums[1] / sums[0] * (sums[1] / sums[0]));
    m.mean = (double) top + sums[1] / sums[0];
    return m;
}

/* All counts but one are impossible at the ends. */
static double terms_end(const cellar_binomial_terms *t, int64_t a)
{
    return a >= t->first && a <= t->last ? weight_of(t, a) : -INFINITY;
}

double cellar_binomial_terms_at(const cellar_binomial_terms *t, double p)
{
    return p <= 0 ? terms_end(t, 0) : p >= 1 ? terms_end(t, t->n) : terms_sum(t, p).log_likelihood;
}

/* ---- the peak ------------------------------------------------------------------------ */

/* The place of a grid with the largest likelihood. */
static double grid_best(const cellar_binomial_terms *t)
{
    double best = -INFINITY, best_p = 0;
    double low = (double) t->first / (double) t->n, high = (double) t->last / (double) t->n;
    for (int i = 0; i <= GRID; i++) {
        double p = low + (high - low) * i / GRID, value = cellar_binomial_terms_at(t, p);
        if (value > best) {
            best = value;
            best_p = p;
        }
    }
    return best_p;
}

/* Newton's method on E[a|x] - np, whose sign tells the slope, within a bracket that shrinks; where
 * there may be several peaks, after a look at a grid. */
double cellar_binomial_terms_peak(const cellar_binomial_terms *t, double *p_out)
{
    double n = (double) t->n, low = 0, high = 1, p, best;
    *p_out = 0;
    best = cellar_binomial_terms_at(t, 0);
    if (cellar_binomial_terms_at(t, 1) > best) {
        best = cellar_binomial_terms_at(t, 1);
        *p_out = 1;
    }
    p = (double) t->number / n;
    if (!t->is_additive) {
        double width = (double) (t->last - t->first) / n / GRID;
        p = grid_best(t);
        low = fmax(0, p - width);
        high = fmin(1, p + width);
    }
    for (int i = 0; i < STEPS_MAX && high - low > 1e-15; i++) {
        moments m;
        double slope, next;
        if (!(p > low) || !(p < high))
            p = low + (high - low) / 2;
        m = terms_sum(t, p);
        if (m.log_likelihood > best) {
            best = m.log_likelihood;
            *p_out = p;
        }
        if (m.mean > n * p)
            low = p;
        else
            high = p;
        slope = m.variance / (p * (1 - p)) - n;
        next = slope < 0 ? p - (m.mean - n * p) / slope : -1;
        if (fabs(next - p) < 1e-8 * sqrt(p * (1 - p) / n)) /* flat to 1e-16 of the likelihood */
            break;
        p = next;
    }
    return best;
}
