/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records with missing values match others as if they might hold anything. */
#ifndef CELLAR_RISK_ANONYMITY_ANONYMITY_WILDCARD_H
#define CELLAR_RISK_ANONYMITY_ANONYMITY_WILDCARD_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

/* Groups of quasi-identifiers with their counts by sensitive value. */
typedef struct anonymity_groups {
    size_t n, n_qid, n_values;
    uint32_t *categories; /* n x n_qid, groups in canonical order */
    uint64_t *counts;     /* n x n_values */
} anonymity_groups;

/* matches[g][s]: the records with value s of all groups that match group g: equal to it in every
 * column where neither has `wildcards[column]` (UINT32_MAX: the column has no such category). */
cellar_status cellar_anonymity_match(const anonymity_groups *groups, const uint32_t *wildcards,
                                     uint64_t *matches, cellar_error *err);

#endif
