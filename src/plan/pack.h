/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run leaves: the release pack, a folder. */
#ifndef CELLAR_PLAN_PACK_H
#define CELLAR_PLAN_PACK_H

#include "plan/figures.h"

/* Writes the pack of these releases into `folder`, which is there and empty. `stamp` is that of the
 * charge, or NULL, and so is the `key` that signs. Rules on released counts may refuse
 * (CELLAR_ERR_RULE). */
cellar_status cellar_plan_pack_write(const plan_figures *figures, cellar_release *const *releases,
                                     const cellar_plan_run_options *options, const cellar_key *key,
                                     const char *folder, const char *stamp, cellar_error *err);

/* Refuses what writing the pack would refuse: tables that a format of the plan cannot hold. */
cellar_status cellar_plan_pack_check(const plan_work *work, cellar_error *err);

/* certificate.json: the guarantee of the whole list, and what it does not cover. */
cellar_status cellar_plan_pack_certificate(const plan_figures *figures, const char *stamp,
                                           cellar_output *output, cellar_error *err);

/* method-note.md: draft text for the metadata that agencies publish. */
cellar_status cellar_plan_pack_note(const plan_figures *figures, const char *stamp,
                                    cellar_output *output, cellar_error *err);

/* NAME.display.csv: labels, symbols and rounded numbers for readers. */
void cellar_plan_pack_display(const cellar_plan *plan, const cellar_release *release,
                              cellar_output *output);

/* The rules on released counts, on one table. */
cellar_status cellar_plan_judge_release(const cellar_plan *plan, size_t table,
                                        const cellar_release *release, cellar_error *err);

#endif
