/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar plan run: from a plan to a release pack. */
#include "plan.h"

#include <cellar/report.h>

#include "json_out.h"
#include "terminal.h"

static cellar_status tell_json(const cellar_plan *plan, const cellar_plan_run_result *result,
                               cellar_error *err)
{
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "folder", cellar_plan_folder(plan));
    cli_json_count(&json, "tables", cellar_plan_n_tables(plan));
    cli_json_truth(&json, "drawn_now", result->is_new);
    cli_json_truth(&json, "charged", result->is_charged);
    cli_json_text(&json, "ledger", result->is_charged ? result->stamp : NULL);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

int cli_plan_run(const cellar_plan *plan, const plan_values *values)
{
    cellar_plan_run_options options = cellar_plan_run_options_default();
    cellar_plan_run_result result;
    cellar_error err;
    cellar_status status;
    options.n_threads = (int) values->threads.value;
    options.date = values->date;
    options.progress = cli_progress_begin();
    options.extra = cellar_report_pack;
    status = cellar_plan_run(plan, &options, &result, &err);
    cli_progress_end();
    if (status == CELLAR_OK && values->json)
        status = tell_json(plan, &result, &err);
    else if (status == CELLAR_OK)
        cli_message("%s: %s; %s", cellar_plan_folder(plan),
                    result.is_new ? "the release pack is there"
                                  : "the release pack of an earlier run, nothing was drawn",
                    result.is_charged ? result.stamp : "unaccounted, not for publication");
    if (status == CELLAR_ERR_EXISTS) /* there is no --force to name */
        status = CELLAR_ERR_IO;
    return cli_exit(status, &err);
}
