/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect analyst: the table of the released columns, with the decision and what came of
 * it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/output.h>

#include "collect.h"
#include "table_out.h"

/* "-o FILE" and an ending. */
static int beside_path(const collect_values *values, const char *ending,
                       char path[COLLECT_PATH_BYTES])
{
    int length = snprintf(path, COLLECT_PATH_BYTES, "%s.%s", values->path, ending);
    if (length < 0 || length >= COLLECT_PATH_BYTES)
        return cli_usage("collect: -o: the path is too long");
    return CLI_GO_ON;
}

/* The exposure that the table has in fact: computed from true counts, so for its owner alone. */
static cellar_status achieved_write(const char *path, const collect_place *place,
                                    const cellar_table *table, cellar_error *err)
{
    size_t variables[CELLAR_MAX_VARIABLES], n = cellar_decision_n_columns(place->decision);
    uint64_t k = cellar_invitation_k(place->invitation);
    cellar_exposure_curve *curve = NULL;
    cellar_output *output;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        variables[i] = i;
    status = cellar_exposure_curve_create(table, variables, n, &curve, err);
    if (status == CELLAR_OK)
        status = cellar_output_open(path, NULL, &output, err);
    if (status == CELLAR_OK) {
        cellar_output_printf(output,
                             "cellar collect achieved 1\npeople %" PRIu64 "\nk %" PRIu64
                             "\nexposure %.17g\nbound %.17g\n",
                             cellar_table_n_records(table), k, cellar_exposure_value(curve, k),
                             cellar_decision_bound(place->decision));
        status = cellar_output_commit(output, err);
    }
    cellar_exposure_curve_free(curve);
    return status;
}

/* Beside the table: the decision as it was signed, and what came of it. */
static int decision_tell(const collect_values *values, const collect_place *place,
                         const cellar_table *table)
{
    char path[COLLECT_PATH_BYTES];
    size_t length;
    const char *text = cellar_decision_text(place->decision, &length);
    cellar_error err;
    int result = beside_path(values, "decision", path);
    if (result == CLI_GO_ON)
        result = collect_publish(path, text, length);
    if (result == CLI_GO_ON)
        result = beside_path(values, "achieved", path);
    if (result == CLI_GO_ON)
        result = cli_exit_kept(achieved_write(path, place, table, &err), &err);
    return result;
}

static int table_write(const collect_values *values, const collect_place *place,
                       const cellar_table *table)
{
    const cli_table_options options = {.path = values->path};
    cli_table_out out = {0};
    cellar_error err;
    int result = cli_table_out_open(&options, 0, &out);
    if (result == CLI_GO_ON)
        result = cli_exit_kept(cli_table_out_write(&out, table, &err), &err);
    cli_table_out_clear(&out);
    return result == CLI_DONE ? decision_tell(values, place, table) : result;
}

static int table_make(const collect_values *values, const collect_place *place)
{
    char path[COLLECT_PATH_BYTES];
    cellar_table *table = NULL;
    cellar_collect_report report;
    cellar_error err;
    cellar_status status;
    int result = collect_path(values, "round-2.batch", path);
    if (result != CLI_GO_ON)
        return result;
    status = cellar_collect_table_read(path, place->invitation, place->decision, place->keys,
                                       &table, &report, &err);
    if (status == CELLAR_OK)
        collect_tell_refused(&report, "messages");
    if (status == CELLAR_OK)
        status = cellar_decision_check_table(place->decision, place->invitation, table, &err);
    if (status == CELLAR_OK && values->payloads != NULL)
        status = cellar_collect_payloads_write(path, place->invitation, place->decision,
                                               place->keys, values->payloads, &report, &err);
    result = status == CELLAR_OK ? table_write(values, place, table) : cli_exit_kept(status, &err);
    cellar_table_free(table);
    return result;
}

int collect_run_analyst(const collect_values *values, const char *action, const char *file)
{
    collect_place place = {0};
    int result;
    if (file != NULL || (strcmp(action, "table") != 0 && strcmp(action, "serve") != 0))
        return cli_usage("collect analyst: say identity, serve or table");
    if (values->curator == NULL)
        return cli_usage("collect analyst: --curator names the identity of the curator");
    if (strcmp(action, "serve") == 0)
        return collect_run_serve(values, CELLAR_COLLECT_ANALYST);
    if (values->path == NULL)
        return cli_usage("collect analyst table needs -o FILE");
    result = collect_place_open(values, CELLAR_COLLECT_ANALYST, &place);
    if (result == CLI_GO_ON)
        result = collect_place_invited(values, &place);
    if (result == CLI_GO_ON && place.decision == NULL)
        result = cli_usage("collect analyst table: the curator has not decided yet");
    if (result == CLI_GO_ON)
        result = table_make(values, &place);
    collect_place_clear(&place);
    return result;
}
