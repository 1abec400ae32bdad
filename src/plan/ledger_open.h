/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger that a plan names. */
#ifndef CELLAR_PLAN_LEDGER_OPEN_H
#define CELLAR_PLAN_LEDGER_OPEN_H

#include "plan/plan.h"

/* Opens it with its key: the one that is named, or FILE.key. On failure *out is NULL. */
cellar_status cellar_plan_open_ledger(const cellar_plan *plan, cellar_ledger **out,
                                      cellar_error *err);

#endif
