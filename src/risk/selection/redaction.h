/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is exposed when some entries are redacted by rule and others at random. */
#ifndef CELLAR_RISK_SELECTION_REDACTION_H
#define CELLAR_RISK_SELECTION_REDACTION_H

#include "risk/selection/profiles.h"

/* The expected exposure at k when, independently, everybody redacts each column with probability
 * chance[column], besides what levels[column][row] says: n_levels(column) stands for an entry
 * redacted by rule. A redacted entry is a level of its own. *value is NAN when there are too many
 * patterns to add up. */
cellar_status cellar_redaction_expected(const cellar_profiles *profiles, uint32_t *const *levels,
                                        const double *chance, uint64_t k, double *value,
                                        cellar_error *err);

#endif
