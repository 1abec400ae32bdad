/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many people of the population a group stands for, and the risk of each of its records. */
#ifndef CELLAR_RISK_ANONYMITY_SAMPLE_RISK_H
#define CELLAR_RISK_ANONYMITY_SAMPLE_RISK_H

#include <cellar/anonymity.h>

#include "risk/anonymity/anonymity_wildcard.h"

/* Fills `population` and `risk` of every group from the weighted sums of `margin`, the weighted
 * table of the quasi-identifiers, whose cells with records are the groups in order. `wildcards` are
 * as in cellar_anonymity_match(), or NULL. n_matches must be known. */
cellar_status cellar_anonymity_weigh(const anonymity_groups *groups, const cellar_table *margin,
                                     const uint32_t *wildcards, cellar_anonymity_group *list,
                                     cellar_error *err);

#endif
