/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan says in one place and contradicts in another is refused, with the place and what to
 * leave out, before any data are touched. */
#ifndef CELLAR_PLAN_CONTRADICTIONS_H
#define CELLAR_PLAN_CONTRADICTIONS_H

#include "plan/plan.h"

/* Where the records are and how they are read. */
cellar_status cellar_plan_check_data(const cellar_plan *plan, cellar_error *err);
/* Tables or a universe, and what goes with a universe. */
cellar_status cellar_plan_check_universe(const cellar_plan *plan, cellar_error *err);
/* One limit a rule, on a table that there is. */
cellar_status cellar_plan_check_rule(const cellar_plan *plan, const plan_rule *rule,
                                     cellar_error *err);
/* Either the plan or each table says how much noise. */
cellar_status cellar_plan_check_budget(const cellar_plan *plan, cellar_error *err);
/* Acceptances, outputs, thresholds. */
cellar_status cellar_plan_check_rest(const cellar_plan *plan, cellar_error *err);

#endif
