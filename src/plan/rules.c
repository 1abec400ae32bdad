/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/figures.h"

cellar_status cellar_plan_judge(plan_figures *figures, const cellar_plan_options *options,
                                cellar_error *err)
{
    (void) figures;
    (void) options;
    (void) err;
    return CELLAR_OK;
}
