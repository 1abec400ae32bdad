/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/panel.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/special.h"

/* Terms below e^-46 = 1e-20 of the largest do not matter. */
static const double NEGLIGIBLE = 46;
enum { PANEL_LOWEST = -40 };

/* ---- where panels lie ------------------------------------------------------- */

/* From 4 on, equally spaced in sqrt(mean): two units are four standard deviations of a Poisson
 * count. Below, one panel for every factor e, down to where all that matters is the first term. */
int cellar_panel_index(double mean)
{
    double below;
    if (mean >= 4)
        return (int) floor(sqrt(mean) / 2);
    below = floor(log(4 / mean));
    return below < -PANEL_LOWEST ? -(int) below : PANEL_LOWEST;
}

static void panel_range(int index, double *low, double *high)
{
    double k = index;
    *low = index > 0 ? 4 * k * k : 4 * exp(k - 1);
    *high = index > 0 ? 4 * (k + 1) * (k + 1) : 4 * exp(k);
}

/* ---- weights ---------------------------------------------------------------- */

double cellar_weights_log(cellar_weights *weights, int64_t count, int64_t released)
{
    const cellar_channel *channel = weights->channel;
    int64_t k = released < count ? count - released : released - count;
    double *known;
    if (weights->n_known <= k || (released == 0 && cellar_channel_is_clamped(channel)))
        return cellar_channel_log_pmf(channel, count, released);
    known = &weights->log_q[k];
    if (isnan(*known))
        *known = cellar_channel_log_pmf(channel, count, released);
    return *known;
}

/* ---- the counts that matter --------------------------------------------------- */

typedef struct window {
    int64_t first, last;
} window;

/* ln of the term of count a + 1 over that of count a. */
static double term_step(cellar_weights *weights, int64_t released, double log_mean, int64_t a)
{
    return log_mean - log((double) a + 1) + cellar_weights_log(weights, a + 1, released) -
           cellar_weights_log(weights, a, released);
}

/* The counts that an additive channel can have turned into the number. */
static window additive_support(const cellar_channel *channel, int64_t released)
{
    int64_t reach = cellar_channel_reach(channel);
    window w = {0, INT64_MAX / 4};
    if (reach < INT64_MAX / 8) {
        int64_t top = released;
        if (released == 0 && cellar_channel_is_clamped(channel)) /* a tail, not a point */
            top = channel->threshold > 0 ? channel->threshold - 1 : 0;
        else
            w.first = released - reach > 0 ? released - reach : 0;
        w.last = top + reach;
    }
    return w;
}

/* The likeliest count: terms are log-concave, so it is found by bisection. It lies between the
 * mean and the released number, since both factors rise before the smaller and fall after the
 * larger of them. */
static int64_t additive_mode(cellar_weights *weights, int64_t released, double mean, window support)
{
    double m = mean < 1e15 ? mean : 1e15, log_mean = log(mean);
    int64_t x = released > 0 ? released : 0, low = (int64_t) m < x ? (int64_t) m : x;
    int64_t high = (int64_t) m + 1 > x ? (int64_t) m + 1 : x;
    if (weights->channel->threshold > high) /* a zero that stands for all below the threshold */
        high = weights->channel->threshold;
    if (released == 0 && cellar_channel_is_clamped(weights->channel))
        low = 0;
    low = low < support.first ? support.first : low;
    high = high > support.last ? support.last : high;
    while (low < high) { /* the first count that the next one does not beat */
        int64_t middle = low + (high - low) / 2;
        if (term_step(weights, released, log_mean, middle) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static window additive_window(cellar_weights *weights, int64_t released, double mean)
{
    window support = additive_support(weights->channel, released), w;
    double log_mean = log(mean), fall;
    int64_t mode = additive_mode(weights, released, mean, support);
    w.first = w.last = mode;
    for (fall = 0; w.last < support.last; w.last++) {
        fall += term_step(weights, released, log_mean, w.last);
        if (fall < -NEGLIGIBLE)
            break;
    }
    for (fall = 0; w.first > support.first; w.first--) {
        fall -= term_step(weights, released, log_mean, w.first - 1);
        if (fall < -NEGLIGIBLE)
            break;
    }
    return w;
}

static double log_term(cellar_weights *weights, int64_t released, double mean, int64_t a)
{
    return (double) cellar_log_poisson(a, mean) + cellar_weights_log(weights, a, released);
}

/* Any kernel: no weight exceeds 1, so counts whose Poisson probability alone is negligible
 * against some term do not matter. Bennett's inequality tells how far they are. */
static window kernel_window(cellar_weights *weights, int64_t released, double mean)
{
    enum { N_TRIES = 24, N_NEAR = 16 };
    double best = -INFINITY, t;
    double from = released > 0 ? (double) released : 0, to = mean;
    window w;
    for (int i = 0; i <= N_TRIES; i++) {
        double a = from + (to - from) * i / N_TRIES;
        best = fmax(best, log_term(weights, released, mean, (int64_t) a));
    }
    for (int64_t a = released - N_NEAR > 0 ? released - N_NEAR : 0; a <= released + N_NEAR; a++)
        best = fmax(best, log_term(weights, released, mean, a));
    if (best == -INFINITY) /* no count was met that may have become the number */
        best = -600;
    t = NEGLIGIBLE - best;
    w.first = (int64_t) fmax(0, floor(mean - sqrt(2 * mean * t)));
    w.last = (int64_t) ceil(mean + t / 3 + sqrt(t * t / 9 + 2 * mean * t));
    return w;
}

static window panel_window(cellar_weights *weights, int64_t released, double low, double high)
{
    window a, b;
    if (cellar_channel_is_additive(weights->channel)) {
        a = additive_window(weights, released, low);
        b = additive_window(weights, released, high);
    } else {
        a = kernel_window(weights, released, low);
        b = kernel_window(weights, released, high);
    }
    a.first = a.first < b.first ? a.first : b.first;
    a.last = a.last > b.last ? a.last : b.last;
    return a;
}

/* ---- the panel ---------------------------------------------------------------- */

/* Turns logarithms of terms (relative to the anchor) into coefficients of at most 1. */
static void panel_scale(cellar_panel *panel)
{
    double largest = -INFINITY;
    size_t from = 0;
    for (size_t j = 0; j < panel->n; j++)
        largest = fmax(largest, panel->coefficients[j]);
    panel->log_scale = largest;
    if (largest == -INFINITY)
        return; /* the number is impossible */
    for (size_t j = 0; j < panel->n; j++)
        panel->coefficients[j] = exp(panel->coefficients[j] - largest);
    while (panel->n > 1 && panel->coefficients[panel->n - 1] == 0)
        panel->n--;
    while (from + 1 < panel->n && panel->coefficients[from] == 0)
        from++;
    panel->first += (int64_t) from;
    panel->n -= from;
    for (size_t j = 0; from > 0 && j < panel->n; j++)
        panel->coefficients[j] = panel->coefficients[j + from];
}

/* Gives back what the scaling found to be nothing; far from the number that is most of a panel.
 * NULL when memory ends, and then the panel is gone. */
static cellar_panel *panel_shrink(cellar_panel *panel, size_t n_before)
{
    cellar_panel *smaller;
    if (panel->n >= n_before / 2)
        return panel;
    smaller = cellar_realloc(panel, 1, sizeof *panel + panel->n * sizeof panel->coefficients[0]);
    if (smaller == NULL)
        cellar_free(panel);
    return smaller;
}

cellar_status cellar_panel_create(cellar_weights *weights, int64_t released, int index,
                                  cellar_panel **out, cellar_error *err)
{
    double low, high, log_middle, term = 0;
    cellar_panel *panel;
    window w;
    size_t n;

    *out = NULL;
    panel_range(index, &low, &high);
    w = panel_window(weights, released, low, high);
    n = (size_t) (w.last - w.first + 1);
    if (n > (size_t) 1 << 28)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "a released value is too large for its likelihood");
    panel = cellar_alloc(1, sizeof *panel + n * sizeof panel->coefficients[0]);
    if (panel == NULL)
        return cellar_fail_memory(err, "the likelihood of a cell");
    panel->index = index;
    panel->low = index > PANEL_LOWEST ? low : 0;
    panel->high = high;
    panel->middle = sqrt(low * high);
    panel->first = w.first;
    panel->n = n;
    log_middle = log(panel->middle);
    panel->anchor = (int64_t) fmin(fmax(panel->middle, (double) w.first), (double) w.last);
    for (int64_t a = panel->anchor; a <= w.last; a++) { /* ln [middle^(a-anchor) anchor!/a!] */
        term += a > panel->anchor ? log_middle - log((double) a) : 0;
        panel->coefficients[a - w.first] = term + cellar_weights_log(weights, a, released);
    }
    term = 0;
    for (int64_t a = panel->anchor - 1; a >= w.first; a--) {
        term -= log_middle - log((double) a + 1);
        panel->coefficients[a - w.first] = term + cellar_weights_log(weights, a, released);
    }
    panel->anchor_const = (double) cellar_log_poisson(
        panel->anchor, panel->anchor > 0 ? (long double) panel->anchor : 0);
    panel_scale(panel);
    *out = panel_shrink(panel, n);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a likelihood");
}

/* ln P_mean(anchor), without cancellation where the two are near. */
static double panel_log_anchor(const cellar_panel *panel, double mean)
{
    double a = (double) panel->anchor, u;
    if (panel->anchor == 0)
        return -mean;
    u = (mean - a) / a;
    return panel->anchor_const - a * (u - (u > -0.5 ? log1p(u) : log(mean / a)));
}

/* The sum and its first two derivatives in one Horner scheme. */
cellar_posterior cellar_panel_at(const cellar_panel *panel, double mean)
{
    cellar_posterior p = {-INFINITY, 0, 0};
    double r = mean / panel->middle, sum = 0, slope = 0, bend = 0, first, second;
    if (panel->log_scale == -INFINITY)
        return p;
    for (size_t j = panel->n; j-- > 0;) {
        bend = bend * r + slope;
        slope = slope * r + sum;
        sum = sum * r + panel->coefficients[j];
    }
    first = r * slope / sum;         /* E[j] */
    second = 2 * r * r * bend / sum; /* E[j(j-1)] */
    p.mean = (double) panel->first + first;
    p.variance = fmax(0, second + first - first * first);
    p.log_likelihood = panel_log_anchor(panel, mean) + panel->log_scale + log(sum) +
                       (double) (panel->first - panel->anchor) * log(r);
    return p;
}
