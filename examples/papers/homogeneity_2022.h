/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files of the program homogeneity_2022 share. */
#ifndef EXAMPLES_HOMOGENEITY_2022_H
#define EXAMPLES_HOMOGENEITY_2022_H

#include "homogeneity.h"

enum { N_CURVE = 51, N_SETS = 3, N_DELTAS = 3 };

/* Adult as the paper counts it, Bankruptcy and its subset; Adult by its columns. */
typedef struct data_sets {
    cellar_groups *of[N_SETS], *by_columns;
} data_sets;

extern const char *const set_names[N_SETS];
extern const char *const deltas[N_DELTAS]; /* the paper prints none */

/* Adds the rows of the text, and the curves of the global risk that section 4 describes. */
void homogeneity_text(report *r, const data_sets *d);

#endif
