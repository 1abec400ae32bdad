/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar plan: a set of tables with a budget. */
#include "verbs.h"

#include <stddef.h>
#include <string.h>

#include <cellar/text.h>

#include "plan.h"
#include "terminal.h"

#define AT(member) offsetof(plan_values, member)
static const cli_option plan_options[] = {
    FLAG("without-counts", without_counts,
         "check: as if every count were zero, so that the output is not confidential"),
    MANY("from", "PLACE", from,
         "the database that counts the table which the plan names: sqlite:FILE, "
         "postgresql:CONNINFO, odbc:DATASOURCE or clickhouse:URL; repeat it for shards"),
    TEXT("date", "DAY", date, "run: the day of the releases, such as 2026-07-01 [today]"),
    FLAG("json", json, "print JSON"),
    NUMBER("threads", "N", threads, 1, 1024, "use so many processors [all]"),
};

static const char *const plan_examples[] = {
    "cellar plan check plan.yaml", "cellar plan check plan.yaml --without-counts --json",
    "cellar plan compare plan.yaml", "cellar plan run plan.yaml", NULL};

static const cli_command plan_command = {
    "plan",
    "check|compare|run PLAN [options]",
    "Reads a plan (YAML; docs/plans.md describes it) of tables that are released together. "
    "check shows what all tables cost, and the noise, bias and size of everything in them, and "
    "draws nothing; its output comes from true counts and is confidential. compare sets other "
    "ways to spend the same budget beside it. run charges the "
    "ledger, draws all tables and lets the release pack appear whole or not at all; asked again, "
    "it "
    "finishes or finds what was drawn, and never draws twice.",
    plan_options,
    sizeof plan_options / sizeof plan_options[0],
    plan_examples};

cellar_plan_options cli_plan_options(const plan_values *values)
{
    cellar_plan_options options = cellar_plan_options_default();
    options.without_counts = values->without_counts;
    options.n_threads = (int) values->threads.value;
    options.progress = cli_progress_begin();
    return options;
}

static const struct plan_action {
    const char *name;
    int (*run)(const cellar_plan *plan, const plan_values *values);
} plan_actions[] = {
    {"check", cli_plan_check}, {"compare", cli_plan_compare}, {"run", cli_plan_run}};
enum { N_ACTIONS = sizeof plan_actions / sizeof plan_actions[0] };

static int plan_run(const char *action, const char *path, const plan_values *values)
{
    const char *names[N_ACTIONS + 1] = {0}, *nearest;
    for (size_t i = 0; i < N_ACTIONS; i++) {
        cellar_plan *plan;
        cellar_error err;
        cellar_status status;
        int result;
        names[i] = plan_actions[i].name;
        if (strcmp(action, names[i]) != 0)
            continue;
        status = cellar_plan_read(path, &plan, &err);
        if (status == CELLAR_OK && values->from.n > 0)
            status = cellar_plan_ask(plan, cli_words_items(&values->from), values->from.n, &err);
        if (status != CELLAR_OK) {
            cellar_plan_free(plan);
            return cli_exit(status, &err);
        }
        result = plan_actions[i].run(plan, values);
        cellar_plan_free(plan);
        return result;
    }
    nearest = cellar_nearest_word(action, names);
    if (nearest != NULL)
        return cli_usage("plan: there is no '%s'; did you mean '%s'?", action, nearest);
    return cli_usage("plan: say what to do, such as check, not '%s'", action);
}

int cli_plan(int argc, char **argv)
{
    plan_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&plan_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage("plan needs what to do and the plan: plan check PLAN.yaml");
    if (result == CLI_GO_ON)
        result = plan_run(words.items[0], words.items[1], &values);
    cli_words_clear(&words);
    cli_options_clear(&plan_command, &values);
    return result;
}
