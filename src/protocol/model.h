/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a model that was counted: a sample, or a cube. */
#ifndef CELLAR_PROTOCOL_MODEL_H
#define CELLAR_PROTOCOL_MODEL_H

#include <cellar/collect.h>
#include <cellar/cube.h>

#include "protocol/invitation.h"
#include "risk/exposure/exposure_fitted.h"
#include "risk/selection/profiles.h"

struct cellar_collect_model {
    cellar_collect_model_kind kind;
    unsigned char id[CELLAR_COLLECT_ID_BYTES];
    uint64_t n_people;
    cellar_profiles *sample; /* one of the two, the other NULL */
    cellar_cube *cube;
};

/* Columns of the invitation, by position. */
typedef struct model_set {
    size_t n, columns[CELLAR_MAX_VARIABLES];
} model_set;

/* The part of delta that is for the noise of a cube: half. A sample has none. */
double model_noise_delta(const cellar_collect_model *model, double delta);
/* Refuses a delta that is too small for what is known of a cube's noise. */
cellar_status model_check_delta(const cellar_collect_model *model, double delta, cellar_error *err);

/* How often combinations of these columns occur among the people of the model; between which ends,
 * but for a chance of delta for all sets together (a sample is counted exactly). *known is 0 when
 * the model cannot say: a cube without that table, or more combinations than a decision looks at.
 * Clear *out in every case. */
cellar_status model_cells(const cellar_collect_model *model, const cellar_invitation *invitation,
                          const model_set *set, double delta, fitted_cells *out, int *known,
                          cellar_error *err);

#endif
