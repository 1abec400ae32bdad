/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two searches for redactions share: rules alone, and rules hidden among chance. */
#ifndef CELLAR_RISK_SELECTION_SUPPRESSOR_H
#define CELLAR_RISK_SELECTION_SUPPRESSOR_H

#include "risk/selection/profiles.h"

typedef struct suppressor {
    const cellar_profiles *profiles;
    const cellar_suppression_options *options;
    cellar_suppression_rule *pairs; /* all there are, most people first */
    size_t n_pairs;
    unsigned char *kept;    /* by pair: 0 where a rule redacts it */
    unsigned char *dropped; /* by column: 1 where everybody redacts it */
    uint32_t **relabelled;  /* levels with redacted ones replaced */
    uint32_t *label;        /* room: what a level becomes */
    refiner refiner;
    uint64_t max_evaluations, n_evaluations;
} suppressor;

static inline int suppressor_is_over(const suppressor *s)
{
    return s->n_evaluations >= s->max_evaluations;
}

/* The exposure after the rules and the dropped columns, without chance; `relabelled` is filled. */
cellar_status cellar_suppressor_exposure(suppressor *s, double *value, cellar_error *err);

/* Sets `kept` so that the exposure after the rules is within a limit below `before`, losing as few
 * entries as possible; at most *gap more than necessary. Exposures are looked at until there were
 * `last` in all. */
cellar_status cellar_suppressor_choose(suppressor *s, double before, double limit, uint64_t last,
                                       double *gap, cellar_error *err);

/* Rules, dropped columns and chances that bring the expected exposure down to what the options ask
 * for, and lose as few entries as possible. There are at least k people. */
cellar_status cellar_suppressor_hide(suppressor *s, double before, double *chance,
                                     cellar_suppression_summary *summary, cellar_error *err);

#endif
