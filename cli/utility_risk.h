/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack beside the losses of cellar utility: the other axis of a risk-utility
 * chart. */
#ifndef CELLAR_CLI_UTILITY_RISK_H
#define CELLAR_CLI_UTILITY_RISK_H

#include <cellar/risk.h>

#include "results.h"

/* The groups that an attacker sees; `groups` NULL: nothing was asked. {0} is an empty one. */
typedef struct utility_risk {
    cellar_groups *groups;
    int is_lower_bound; /* the table holds more than the groups: margins, further variables */
} utility_risk;

/* What a mechanism does to the groups. */
typedef struct utility_risk_point {
    cellar_risk_summary local, expected;
} utility_risk_point;

/* The groups of the columns `qid` (with commas) and the values of `sensitive`; nothing when both
 * are NULL. Answers CLI_GO_ON, or an exit code after a message; so below. Clear in every case. */
int utility_risk_open(const cellar_table *table, const char *qid, const char *sensitive,
                      utility_risk *out);
void utility_risk_clear(utility_risk *risk);

/* The risk under the mechanism of `spec`. */
int utility_risk_assess(const utility_risk *risk, const char *spec, int n_threads,
                        utility_risk_point *out);

/* The columns that every row of a grid point gets. */
void utility_risk_columns(cli_results *results, const utility_risk_point *point);
/* The fields of a row of its own. */
void utility_risk_row(cli_results *results, const cellar_risk_summary *summary);

#endif
