/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/likelihood.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/panel.h"

enum { KNOWN_WEIGHTS = 4096, FIRST_SLOTS = 256 };
/* A panel of a kernel lists every count within many standard deviations of the mean. */
static const int64_t KERNEL_MAX = 100000000;

struct cellar_observation {
    cellar_likelihood *owner;
    int64_t released;
    cellar_panel **panels; /* in order of their index */
    size_t n_panels, capacity;
    cellar_panel *latest;
    cellar_peak peak;
    int has_peak, is_empty;
};

struct cellar_likelihood {
    cellar_weights weights;
    cellar_observation **slots; /* a hash table with open addressing */
    size_t n_slots, n_used;
};

/* ---- life cycle --------------------------------------------------------------- */

cellar_status cellar_likelihood_create(const cellar_channel *channel, cellar_likelihood **out,
                                       cellar_error *err)
{
    cellar_likelihood *l = cellar_alloc(1, sizeof *l);
    *out = NULL;
    if (l == NULL)
        return cellar_fail_memory(err, "the likelihood");
    l->weights.channel = channel;
    l->n_slots = FIRST_SLOTS;
    l->slots = cellar_alloc(l->n_slots, sizeof *l->slots);
    if (cellar_channel_is_additive(channel))
        l->weights.log_q = cellar_alloc(KNOWN_WEIGHTS, sizeof *l->weights.log_q);
    if (l->slots == NULL || (cellar_channel_is_additive(channel) && l->weights.log_q == NULL)) {
        cellar_likelihood_free(l);
        return cellar_fail_memory(err, "the likelihood");
    }
    for (int64_t k = 0; l->weights.log_q != NULL && k < KNOWN_WEIGHTS; k++)
        l->weights.log_q[k] = NAN;
    l->weights.n_known = l->weights.log_q != NULL ? KNOWN_WEIGHTS : 0;
    *out = l;
    return CELLAR_OK;
}

static void observation_free(cellar_observation *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->n_panels; i++)
        cellar_free(o->panels[i]);
    cellar_free(o->panels);
    cellar_free(o);
}

void cellar_likelihood_free(cellar_likelihood *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; l->slots != NULL && i < l->n_slots; i++)
        observation_free(l->slots[i]);
    cellar_free(l->slots);
    cellar_free(l->weights.log_q);
    cellar_free(l);
}

/* ---- observations ------------------------------------------------------------- */

static size_t likelihood_slot(cellar_observation *const *slots, size_t n_slots, int64_t released)
{
    size_t i = (size_t) ((uint64_t) released * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (n_slots - 1);
    while (slots[i] != NULL && slots[i]->released != released)
        i = (i + 1) & (n_slots - 1);
    return i;
}

static cellar_status likelihood_grow(cellar_likelihood *l, cellar_error *err)
{
    size_t n = 2 * l->n_slots;
    cellar_observation **slots;
    if (2 * l->n_used < l->n_slots)
        return CELLAR_OK;
    slots = cellar_alloc(n, sizeof *slots);
    if (slots == NULL)
        return cellar_fail_memory(err, "the likelihood");
    for (size_t i = 0; i < l->n_slots; i++)
        if (l->slots[i] != NULL)
            slots[likelihood_slot(slots, n, l->slots[i]->released)] = l->slots[i];
    cellar_free(l->slots);
    l->slots = slots;
    l->n_slots = n;
    return CELLAR_OK;
}

static cellar_status observation_check(cellar_observation *o, cellar_error *err)
{
    const cellar_channel *channel = o->owner->weights.channel;
    cellar_status status = CELLAR_OK;
    cellar_posterior p;
    double mean = o->released > 0 ? (double) o->released : 1;
    CELLAR_TRY(cellar_observation_at(o, mean, &p, err));
    if (!(p.log_likelihood > -INFINITY))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the released value %" PRId64 " cannot have been released by %s%s",
                           o->released, cellar_mechanism_spec(channel->mechanism),
                           cellar_channel_is_clamped(channel) ? ", negatives set to zero" : "");
    o->is_empty = p.mean == 0 && p.variance == 0;
out:
    return status;
}

cellar_status cellar_likelihood_observe(cellar_likelihood *l, int64_t released,
                                        cellar_observation **out, cellar_error *err)
{
    cellar_status status = likelihood_grow(l, err);
    size_t slot;
    cellar_observation *o;

    *out = NULL;
    if (status != CELLAR_OK)
        return status;
    if (released > INT64_C(1) << 50 || released < -(INT64_C(1) << 50))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "a released value is too large for its likelihood");
    if (released > KERNEL_MAX && !cellar_channel_is_additive(l->weights.channel))
        return cellar_fail(
            err, CELLAR_ERR_INPUT,
            "the distribution of %s is not summed for released values above %" PRId64,
            cellar_mechanism_name(l->weights.channel->mechanism), KERNEL_MAX);
    slot = likelihood_slot(l->slots, l->n_slots, released);
    if (l->slots[slot] != NULL) {
        *out = l->slots[slot];
        return CELLAR_OK;
    }
    o = cellar_alloc(1, sizeof *o);
    if (o == NULL)
        return cellar_fail_memory(err, "the likelihood");
    o->owner = l;
    o->released = released;
    status = observation_check(o, err);
    if (status != CELLAR_OK) {
        observation_free(o);
        return status;
    }
    l->slots[slot] = o;
    l->n_used++;
    *out = o;
    return CELLAR_OK;
}

int64_t cellar_observation_released(const cellar_observation *observation)
{
    return observation->released;
}

int cellar_observation_is_empty(const cellar_observation *observation)
{
    return observation->is_empty;
}

/* Where the panel of that index is, or belongs. */
static size_t observation_place(const cellar_observation *o, int index)
{
    size_t low = 0, high = o->n_panels;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->panels[middle]->index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cellar_status observation_turn_to(cellar_observation *o, double mean, cellar_error *err)
{
    int index = cellar_panel_index(mean);
    size_t place = observation_place(o, index);
    cellar_status status;
    cellar_panel *panel;
    if (place < o->n_panels && o->panels[place]->index == index) {
        o->latest = o->panels[place];
        return CELLAR_OK;
    }
    if (!cellar_grow(&o->panels, &o->capacity, o->n_panels + 1, sizeof *o->panels))
        return cellar_fail_memory(err, "the likelihood");
    status = cellar_panel_create(&o->owner->weights, o->released, index, &panel, err);
    if (status != CELLAR_OK)
        return status;
    CELLAR_ASSERT(o->panels != NULL && panel != NULL);
    for (size_t i = o->n_panels; i > place; i--)
        o->panels[i] = o->panels[i - 1];
    o->panels[place] = panel;
    o->n_panels++;
    o->latest = panel;
    return CELLAR_OK;
}

cellar_status cellar_observation_at(cellar_observation *o, double mean, cellar_posterior *out,
                                    cellar_error *err)
{
    cellar_status status;
    if (mean <= 0) {
        *out = (cellar_posterior){cellar_weights_log(&o->owner->weights, 0, o->released), 0, 0};
        return CELLAR_OK;
    }
    if (o->latest == NULL || mean < o->latest->low || mean >= o->latest->high) {
        status = observation_turn_to(o, mean, err);
        if (status != CELLAR_OK)
            return status;
    }
    *out = cellar_panel_at(o->latest, mean);
    return CELLAR_OK;
}

/* ---- the saturated model ------------------------------------------------------- */

/* Climbs to a maximum from `mean`: Newton steps in ln(mean) where the curvature allows, else EM
 * steps, which never fall. Ends at zero when the likelihood falls from there on. */
static cellar_status peak_climb(cellar_observation *o, double mean, cellar_peak *out,
                                cellar_error *err)
{
    enum { STEPS = 2000 };
    cellar_posterior p, q;
    cellar_status status = cellar_observation_at(o, mean, &p, err);
    for (int i = 0; i < STEPS && status == CELLAR_OK && mean > 1e-13; i++) {
        double bend = mean - p.variance, step = p.mean - mean, next = p.mean;
        if (fabs(step) * fabs(step) < 1e-15 * fmax(bend, 1e-3 * mean) || fabs(step) < 1e-13 * mean)
            break;
        if (bend > 1e-3 * mean)
            next = mean * exp(fmax(-3, fmin(3, step / bend)));
        status = cellar_observation_at(o, next, &q, err);
        if (status == CELLAR_OK && next != p.mean && q.log_likelihood < p.log_likelihood) {
            next = p.mean;
            status = cellar_observation_at(o, next, &q, err);
        }
        mean = next;
        p = q;
    }
    if (status == CELLAR_OK)
        *out = (cellar_peak){mean, p.log_likelihood};
    return status;
}

/* Where a kernel's likelihood may have peaks: counts from which the number is not too unlikely. */
static void peak_range(cellar_observation *o, double *low, double *high)
{
    const double unlikely = 15;
    int64_t x = o->released > 0 ? o->released : 0, a;
    double best = -INFINITY;
    for (a = x - 16 > 0 ? x - 16 : 0; a <= x + 16; a++)
        best = fmax(best, cellar_weights_log(&o->owner->weights, a, o->released));
    for (a = 1; a < 16 * (x + 16); a *= 2)
        if (cellar_weights_log(&o->owner->weights, x + a, o->released) < best - unlikely)
            break;
    *high = (double) (x + a);
    for (a = 1; a < x; a *= 2)
        if (cellar_weights_log(&o->owner->weights, x - a, o->released) < best - unlikely)
            break;
    *low = a < x ? (double) (x - a) : 0;
}

/* A kernel's likelihood may have several peaks: look everywhere, climb the best places. */
static cellar_status peak_scan(cellar_observation *o, cellar_peak *best, cellar_error *err)
{
    enum { POINTS = 64 };
    double low, high, values[POINTS], means[POINTS];
    cellar_status status = CELLAR_OK;
    peak_range(o, &low, &high);
    for (int i = 0; i < POINTS && status == CELLAR_OK; i++) {
        double root = sqrt(low) + (sqrt(high) - sqrt(low)) * (i + 0.5) / POINTS;
        cellar_posterior p = {0, 0, 0};
        means[i] = root * root;
        status = cellar_observation_at(o, means[i], &p, err);
        values[i] = p.log_likelihood;
    }
    for (int i = 0; i < POINTS && status == CELLAR_OK; i++) {
        cellar_peak peak;
        if ((i > 0 && values[i - 1] > values[i]) || (i < POINTS - 1 && values[i + 1] > values[i]))
            continue;
        status = peak_climb(o, means[i], &peak, err);
        if (status == CELLAR_OK && peak.log_likelihood > best->log_likelihood)
            *best = peak;
    }
    return status;
}

cellar_status cellar_observation_peak(cellar_observation *o, cellar_peak *out, cellar_error *err)
{
    cellar_peak best = {0, cellar_weights_log(&o->owner->weights, 0, o->released)};
    cellar_status status = CELLAR_OK;
    if (!o->has_peak && !o->is_empty) {
        cellar_peak peak = best;
        if (cellar_channel_is_additive(o->owner->weights.channel))
            status = peak_climb(o, o->released > 1 ? (double) o->released : 1, &peak, err);
        else
            status = peak_scan(o, &peak, err);
        if (status == CELLAR_OK && peak.log_likelihood > best.log_likelihood)
            best = peak;
    }
    if (!o->has_peak && status == CELLAR_OK) {
        o->peak = best;
        o->has_peak = 1;
    }
    *out = o->peak;
    return status;
}
