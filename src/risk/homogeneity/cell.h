/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What assessments of tables share with those of one group. */
#ifndef CELLAR_RISK_HOMOGENEITY_CELL_H
#define CELLAR_RISK_HOMOGENEITY_CELL_H

#include "risk/homogeneity/group.h"

#define CELLAR_RISK_MAX_SIZE (UINT64_C(1) << 53) /* members of a group: exact in a double */

/* Makes parts of weights: zeros are counted apart, equal ones put together. `parts` has room for
 * all and belongs to the caller. */
void cellar_group_set_parts(cellar_group *group, cellar_group_part *parts, const double *weights,
                            size_t n_values);

/* The measures with random counts, of a cell that was checked; it may have a single value. */
cellar_status cellar_risk_cell_random(const cellar_risk_cell *cell,
                                      const cellar_mechanism *mechanism,
                                      cellar_risk_measure measure, cellar_risk_method method,
                                      cellar_risk *out, cellar_error *err);

/* sum += weight * risk; the precision follows from the sums. */
void cellar_risk_add(cellar_risk *sum, const cellar_risk *risk, double weight);

#endif
