/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The attack on many groups, by simulated releases. */
#include <cellar/attribute.h>

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/attribute/posterior.h"

/* Posterior probabilities that differ by rounding are ties. */
#define TIE 1e-9
static const double SURE = 0.95;

cellar_attribute_options cellar_attribute_options_default(void)
{
    return (cellar_attribute_options){.negatives = CELLAR_NEGATIVES_KEEP, .copies = 10, .seed = 1};
}

cellar_status cellar_attribute_posterior(const cellar_mechanism *mechanism,
                                         cellar_negatives negatives, const double *prior,
                                         size_t n_values, uint64_t size, const int64_t *released,
                                         double *posterior, cellar_error *err)
{
    cellar_belief belief;
    cellar_status status =
        cellar_belief_init(&belief, mechanism, negatives, prior, n_values, size, err);
    if (status == CELLAR_OK && size == 0)
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "a group has a member");
    if (status == CELLAR_OK)
        status = cellar_belief_update(&belief, size, released, posterior, err);
    cellar_belief_clear(&belief);
    return status;
}

/* ---- groups ------------------------------------------------------------------------------- */

typedef struct attack {
    cellar_belief belief;
    const cellar_attribute_options *options;
    size_t n_values;
    double *posterior;
    int64_t *drawn;
    double success, confidence, truth, sure, sure_right; /* sums over people */
} attack;

/* The success of the most likely values in `belief`, each with the same chance when several are. */
static double success_of(const double *belief, const uint64_t *counts, size_t n_values)
{
    double largest = 0, members = 0, n_ties = 0;
    for (size_t k = 0; k < n_values; k++)
        largest = fmax(largest, belief[k]);
    for (size_t k = 0; k < n_values; k++)
        if (belief[k] >= largest * (1 - TIE)) {
            members += (double) counts[k];
            n_ties++;
        }
    return members / n_ties;
}

static uint64_t size_of(const uint64_t *counts, size_t n_values)
{
    uint64_t size = 0;
    for (size_t k = 0; k < n_values; k++)
        size += counts[k];
    return size;
}

static cellar_status attack_group(attack *a, const uint64_t *counts, cellar_rng *rng,
                                  cellar_error *err)
{
    const uint64_t size = size_of(counts, a->n_values);
    cellar_status status = CELLAR_OK;
    if (size == 0)
        return CELLAR_OK;
    for (size_t k = 0; k < a->n_values; k++)
        a->drawn[k] = (int64_t) counts[k];
    CELLAR_TRY(cellar_mechanism_sample_many(a->belief.mechanism, a->drawn, a->n_values, rng,
                                            a->drawn, err));
    for (size_t k = 0; k < a->n_values; k++)
        if (a->options->negatives == CELLAR_NEGATIVES_ZERO && a->drawn[k] < 0)
            a->drawn[k] = 0;
    CELLAR_TRY(cellar_belief_update(&a->belief, size, a->drawn, a->posterior, err));
    a->success += success_of(a->posterior, counts, a->n_values);
    for (size_t k = 0; k < a->n_values; k++) {
        a->truth += (double) counts[k] * a->posterior[k];
        if (a->posterior[k] >= SURE) {
            a->sure += (double) size;
            a->sure_right += (double) counts[k];
        }
    }
    double largest = 0;
    for (size_t k = 0; k < a->n_values; k++)
        largest = fmax(largest, a->posterior[k]);
    a->confidence += largest * (double) size;
out:
    return status;
}

/* One simulated release of all groups. */
static cellar_status attack_copy(attack *a, const uint64_t *counts, size_t n_groups, uint64_t copy,
                                 cellar_error *err)
{
    cellar_rng *rng = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_rng_create_seeded(a->options->seed, copy, &rng, err));
    for (size_t g = 0; g < n_groups; g++) {
        const cellar_progress *progress = &a->options->progress;
        if (g % 1024 == 0 && progress->report != NULL &&
            progress->report(progress->context, "attacking",
                             (double) copy / (double) a->options->copies) != 0)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled"));
        CELLAR_TRY(attack_group(a, counts + g * a->n_values, rng, err));
    }
out:
    cellar_rng_free(rng);
    return status;
}

static cellar_status attack_all(attack *a, const uint64_t *counts, size_t n_groups, double n_people,
                                cellar_attribute_success *out, cellar_error *err)
{
    const double copies = (double) a->options->copies;
    double first = 0, sum = 0, squares = 0; /* of what differs from the first copy */
    for (uint64_t copy = 0; copy < a->options->copies; copy++) {
        const double before = a->success;
        const cellar_status status = attack_copy(a, counts, n_groups, copy, err);
        if (status != CELLAR_OK)
            return status;
        const double share = (a->success - before) / n_people;
        first = copy == 0 ? share : first;
        sum += share - first;
        squares += (share - first) * (share - first);
    }
    out->success = first + sum / copies;
    out->se = sqrt(fmax(0, squares / copies - sum / copies * sum / copies) / (copies - 1));
    out->confidence = a->confidence / copies / n_people;
    out->truth = a->truth / copies / n_people;
    out->sure = a->sure / copies / n_people;
    out->sure_right = a->sure > 0 ? a->sure_right / a->sure : NAN;
    return CELLAR_OK;
}

cellar_status cellar_attribute_assess(const cellar_mechanism *mechanism, const uint64_t *counts,
                                      size_t n_groups, size_t n_values,
                                      const cellar_attribute_options *options,
                                      cellar_attribute_success *out, cellar_error *err)
{
    attack a = {.options = options, .n_values = n_values};
    uint64_t largest = 0;
    double n_people = 0, guessed = 0;
    cellar_status status = CELLAR_OK;

    *out = (cellar_attribute_success){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (options->prior == NULL || options->copies < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "attribute inference needs a prior and two copies or more");
    for (size_t g = 0; g < n_groups; g++) {
        const uint64_t size = size_of(counts + g * n_values, n_values);
        largest = size > largest ? size : largest;
        n_people += (double) size;
    }
    if (!(n_people > 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is nobody to attack");
    CELLAR_TRY(cellar_belief_init(&a.belief, mechanism, options->negatives, options->prior,
                                  n_values, largest, err));
    a.posterior = cellar_alloc(n_values, sizeof *a.posterior);
    a.drawn = cellar_alloc(n_values, sizeof *a.drawn);
    if (a.posterior == NULL || a.drawn == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a group"));
    for (size_t g = 0; g < n_groups; g++)
        guessed += success_of(options->prior, counts + g * n_values, n_values);
    CELLAR_TRY(attack_all(&a, counts, n_groups, n_people, out, err));
    out->baseline = guessed / n_people;
out:
    cellar_belief_clear(&a.belief);
    cellar_free(a.posterior);
    cellar_free(a.drawn);
    return status;
}
