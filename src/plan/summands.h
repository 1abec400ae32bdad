/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is added up for a margin that is not released. */
#ifndef CELLAR_PLAN_SUMMANDS_H
#define CELLAR_PLAN_SUMMANDS_H

#include <stdint.h>

#include <cellar/table.h>

typedef struct plan_summands {
    double n_cells;     /* of the margin, that are no structural zeros */
    double least, most; /* numbers with noise that one of them adds up */
    double total;       /* that all of them do */
} plan_summands;

/* The cells of the margin `to` (a mask of variables, lowest levels) added up from those of `from`,
 * which holds it. In tables of more than 2^18 interior cells structural zeros count like others. */
plan_summands cellar_plan_summands(const cellar_schema *schema, uint64_t from, uint64_t to);

#endif
