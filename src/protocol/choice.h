/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing the columns of round two from what the curator knows: a function of the margins and the
 * invitation, so that everybody who has both can do it again. */
#ifndef CELLAR_PROTOCOL_CHOICE_H
#define CELLAR_PROTOCOL_CHOICE_H

#include "protocol/decision.h"

typedef struct choice {
    size_t n_columns, columns[CELLAR_MAX_VARIABLES]; /* ascending */
    double bound;
    int theorem;
} choice;

/* The most columns whose exposure is bounded by what the invitation allows. */
cellar_status choice_make(const cellar_collect_margins *margins,
                          const cellar_invitation *invitation, choice *chosen, cellar_error *err);

#endif
