/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The committee's page about a plan with a universe. */
#ifndef CELLAR_REPORT_COMMITTEE_CUBE_H
#define CELLAR_REPORT_COMMITTEE_CUBE_H

#include <cellar/report.h>

/* As cellar_report_plan(), which calls it for such plans; `options` is not NULL. */
cellar_status cellar_committee_cube(const cellar_plan *plan, const cellar_plan_attack *attack,
                                    const cellar_committee_options *committee,
                                    const cellar_report_options *options, const char *path,
                                    cellar_error *err);

#endif
