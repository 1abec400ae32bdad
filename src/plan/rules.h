/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disclosure rules of a plan. */
#ifndef CELLAR_PLAN_RULES_H
#define CELLAR_PLAN_RULES_H

#include "plan/figures.h"

/* The rule in words, without the table: "at most 0.5 of the cells are empty". */
void cellar_plan_rule_words(const plan_rule *rule, cellar_text *out);

/* 1 when the rule tells nothing that the certificate does not cover: it is judged on what is
 * released, or depends on no count. */
int cellar_plan_rule_is_covered(const plan_rule *rule);

/* Whether a table of true counts breaks a rule on them. */
cellar_status cellar_plan_table_breaks(const cellar_plan *plan, const plan_rule *rule,
                                       const cellar_table *table, const cellar_mechanism *mechanism,
                                       int *breaks, cellar_error *err);

/* Adds what would let the table pass, in words; nothing when nothing is found. */
cellar_status cellar_plan_find_remedy(const plan_figures *figures, const plan_rule *rule, size_t t,
                                      cellar_text *out, cellar_error *err);

#endif
