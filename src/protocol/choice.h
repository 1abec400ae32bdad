/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing the columns of round two from what the curator knows: a function of the margins and the
 * invitation, so that everybody who has both can do it again. */
#ifndef CELLAR_PROTOCOL_CHOICE_H
#define CELLAR_PROTOCOL_CHOICE_H

#include "protocol/joint.h"

typedef struct choice {
    size_t n_columns, columns[CELLAR_MAX_VARIABLES]; /* ascending */
    redaction redactions[CELLAR_MAX_VARIABLES];      /* of each of these columns */
    double worst;                                    /* by a model: what the theorems bound */
    double bound;
    int theorem;
} choice;

/* Frees what a choice, {0} at first, holds; fine in every case. */
void choice_clear(choice *chosen);

/* The most columns whose exposure is bounded by what the invitation allows; of redactions that
 * allow as many, those of the smallest threshold. Clear it in every case. */
cellar_status choice_make(const cellar_collect_margins *margins,
                          const cellar_invitation *invitation, choice *chosen, cellar_error *err);
/* The same by the sample or the cube that the invitation names. CELLAR_ERR_RULE when the margins
 * contradict it. */
cellar_status choice_make_modelled(const cellar_collect_margins *margins,
                                   const cellar_invitation *invitation,
                                   const cellar_collect_model *model, choice *chosen,
                                   cellar_error *err);
/* Chooses again with what is known about sets of columns: each as one column, beside the others.
 * Theorem 1 means that the exposure was counted, not bounded. */
cellar_status choice_refine(const cellar_collect_margins *margins,
                            const cellar_collect_joints *joints,
                            const cellar_invitation *invitation, choice *chosen, cellar_error *err);

#endif
