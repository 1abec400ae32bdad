/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attribute inference by Bayes: what somebody who knows a person's group, its size and how values
 * are spread believes about the person's value once the group's counts are released. */
#ifndef CELLAR_ATTRIBUTE_H
#define CELLAR_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/progress.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Larger groups are refused. */
enum { CELLAR_ATTRIBUTE_SIZE_MAX = 100000 };

/* The prior: the shares of the K values in a group are Dirichlet(prior), its members independent
 * given these. Answers in posterior[K] the probability of each value for a random member of a group
 * of `size` members, of which the K counts were released as `released`, each on its own. A prior of
 * 0 says that the value never occurs. CELLAR_ERR_RULE when no such group could have been released
 * so. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_attribute_posterior(
    const cellar_mechanism *mechanism, cellar_negatives negatives, const double *prior,
    size_t n_values, uint64_t size, const int64_t *released, double *posterior, cellar_error *err)
    CELLAR_NONNULL(1, 3, 6, 7);

/* Start from cellar_attribute_options_default(). */
typedef struct cellar_attribute_options {
    const double *prior;        /* required: one number per value */
    cellar_negatives negatives; /* [keep] */
    uint64_t copies, seed;      /* releases that are simulated, at least 2 [10, 1] */
    cellar_progress progress;
} cellar_attribute_options;

/* The values in brackets. */
CELLAR_API cellar_attribute_options cellar_attribute_options_default(void);

/* What the attack yields, as means over people and simulated releases. */
typedef struct cellar_attribute_success {
    double success;    /* the value believed most likely is the person's (ties shared) */
    double se;         /* the standard error of `success`, from copy to copy */
    double baseline;   /* the success of the most likely value of the prior, without a release */
    double confidence; /* the probability that the attacker gives to the guess */
    double truth;      /* the probability that the attacker gives to the person's own value */
    double sure;       /* people for whom some value has at least 95 % */
    double sure_right; /* of these, those whose own value it is; NAN when nobody is */
} cellar_attribute_success;

/* Attacks `n_groups` groups whose true counts are counts[n_groups][n_values]: confidential. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_attribute_assess(
    const cellar_mechanism *mechanism, const uint64_t *counts, size_t n_groups, size_t n_values,
    const cellar_attribute_options *options, cellar_attribute_success *out, cellar_error *err)
    CELLAR_NONNULL(1, 2, 5, 6);

#ifdef __cplusplus
}
#endif

#endif
