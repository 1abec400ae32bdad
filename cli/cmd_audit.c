/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar audit: what can be worked out about single cells from several tables together. */
#include "verbs.h"

#include <math.h>
#include <stdlib.h>

#include <cellar/audit.h>
#include <cellar/release_file.h>

#include "lists.h"
#include "reader.h"
#include "results.h"
#include "table_in.h"
#include "terminal.h"

typedef struct audit_values {
    cli_words tables, domains;
    const char *truth, *confidence, *path;
    cli_number max_cells, limit;
    int force, json, csv;
} audit_values;

#define AT(member) offsetof(audit_values, member)
static const cli_option audit_options[] = {
    MANY("table", "FILE", tables,
         "a table of true counts, as if it were published without noise; may be repeated"),
    TEXT("truth", "FILE", truth,
         "the table of true counts, to see how well the attack does against it"),
    MANY("domain", "VAR=FILE", domains,
         "the categories of a variable of --table and --truth; may be repeated"),
    TEXT("confidence", "C", confidence,
         "with which the limits of all released values hold together [0.95]"),
    NUMBER("max-cells", "N", max_cells, 1, 100000000,
           "refuse files whose variables have more combinations of categories [20000]"),
    NUMBER("limit", "N", limit, 0, 0, "show N cells, 0 for all; --json and --csv: all [20]"),
    OUTPUT(path, "write to a file that only you can read [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    FLAG("csv", csv, "print the cells as CSV"),
};

static const char *const audit_examples[] = {
    "cellar audit cells.csv margins.csv",
    "cellar audit release.json --confidence 0.99 --truth table.json",
    "cellar audit --table region-sex.json --table region-diagnosis.json --table sex-diagnosis.json",
    NULL};

static const cli_command audit_command = {
    "audit",
    "[RELEASE...] [options]",
    "Attacks tables of the same people with a linear programme: what the least and the largest "
    "number of each cell of all variables together can be, given every released value and how it "
    "was made, and the table that fits all values best. Tables of true counts (--table) stand for "
    "what would be published without noise. With --table or --truth the answer is an assessment: "
    "computed from true counts, and confidential.",
    audit_options,
    sizeof audit_options / sizeof audit_options[0],
    audit_examples};

typedef struct audit_run {
    const audit_values *values;
    cellar_release **releases;
    size_t n_releases, n_tables;
    cellar_table **tables, *truth;
    cellar_audit *audit;
    cli_results header, cells;
} audit_run;

static void audit_run_clear(audit_run *run)
{
    for (size_t r = 0; r < run->n_releases; r++)
        cellar_release_free(run->releases[r]);
    free(run->releases);
    for (size_t t = 0; t < run->n_tables; t++)
        cellar_table_free(run->tables[t]);
    free(run->tables);
    cellar_table_free(run->truth);
    cellar_audit_free(run->audit);
    cli_results_clear(&run->header);
    cli_results_clear(&run->cells);
}

/* ---- the attack --------------------------------------------------------------------------- */

static int audit_read(audit_run *run, const cli_words *paths)
{
    const audit_values *values = run->values;
    int result = CLI_GO_ON;
    run->releases = cli_alloc(paths->n, sizeof(cellar_release *));
    run->tables = cli_alloc(values->tables.n, sizeof(cellar_table *));
    run->n_releases = paths->n;
    run->n_tables = values->tables.n;
    for (size_t r = 0; r < paths->n && result == CLI_GO_ON; r++) {
        cellar_error err;
        const cellar_status status =
            cellar_release_read(paths->items[r], CELLAR_TABLE_AUTO, &run->releases[r], &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    for (size_t t = 0; t < run->n_tables && result == CLI_GO_ON; t++)
        result = cli_table_in_read(values->tables.items[t], &values->domains, &run->tables[t]);
    if (result == CLI_GO_ON && values->truth != NULL)
        result = cli_table_in_read(values->truth, &values->domains, &run->truth);
    return result;
}

static int audit_attack(audit_run *run)
{
    cellar_audit_options options = cellar_audit_options_default();
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON;
    if (run->values->confidence != NULL)
        result = cli_list_real("confidence", run->values->confidence, &options.confidence);
    if (result != CLI_GO_ON)
        return result;
    if (run->values->max_cells.given)
        options.max_cells = run->values->max_cells.value;
    options.progress = cli_progress_begin();
    status = cellar_audit_create((const cellar_release *const *) run->releases, run->n_releases,
                                 (const cellar_table *const *) run->tables, run->n_tables, &options,
                                 &run->audit, &err);
    cli_progress_end();
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("audit: %s", err.message);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* ---- what came of it ------------------------------------------------------------------------ */

static void audit_sum_up(audit_run *run)
{
    const cellar_audit_summary found = cellar_audit_summarize(run->audit);
    cli_results *header = &run->header;
    cli_results_begin(header, "audit");
    cli_results_count(header, "values", found.n_values);
    cli_results_count(header, "exact_values", found.n_exact);
    cli_results_count(header, "cells", cellar_audit_n_cells(run->audit));
    cli_results_count(header, "pinned", found.n_pinned);
    cli_results_count(header, "pinned_present", found.n_pinned_present);
    cli_results_count(header, "pinned_ones", found.n_pinned_ones);
    cli_results_count(header, "surely_present", found.n_present);
    cli_results_count(header, "people_located", found.n_located);
    cli_results_real(header, "mean_width", found.mean_width);
}

static int audit_score(audit_run *run)
{
    cellar_audit_score score;
    cellar_error err;
    cellar_status status;
    if (run->truth == NULL)
        return CLI_GO_ON;
    status = cellar_audit_compare(run->audit, run->truth, &score, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cli_results_count(&run->header, "true_present", score.n_present);
    cli_results_count(&run->header, "within_limits", score.n_held);
    cli_results_count(&run->header, "guessed", score.n_guessed);
    cli_results_count(&run->header, "present_guessed", score.n_present_guessed);
    cli_results_real(&run->header, "mean_error", score.mean_error);
    return CLI_GO_ON;
}

static void audit_list(audit_run *run)
{
    const audit_values *values = run->values;
    const size_t n = cellar_audit_n_cells(run->audit);
    const uint64_t limit = values->limit.given ? values->limit.value : 20;
    const size_t shown =
        values->json || values->csv || limit == 0 || limit > n ? n : (size_t) limit;
    for (size_t i = 0; i < shown; i++) {
        const cellar_audit_cell cell = cellar_audit_cell_at(run->audit, i);
        cli_results_begin(&run->cells, "cell");
        for (size_t v = 0; v < cellar_audit_n_variables(run->audit); v++)
            cli_results_text(&run->cells, cellar_audit_variable(run->audit, v),
                             cellar_audit_code(run->audit, cell.index, v));
        cli_results_count(&run->cells, "least", (uint64_t) cell.low);
        cli_results_real(&run->cells, "most",
                         cell.high == CELLAR_AUDIT_NO_LIMIT ? INFINITY : (double) cell.high);
        cli_results_real(&run->cells, "guess", (double) cell.guess);
    }
}

static int audit_is_confidential(const audit_run *run)
{
    return run->values->tables.n > 0 || run->truth != NULL;
}

static void audit_write_json(const audit_run *run, cellar_output *output)
{
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "assessment", "audit");
    cli_json_truth(&json, "confidential", audit_is_confidential(run));
    cli_results_json_header(&run->header, &json);
    cli_results_json(&run->cells, &json, "results");
    cli_json_end(&json, '}');
}

static void audit_write_people(const audit_run *run, cellar_output *output)
{
    const size_t n = cellar_audit_n_cells(run->audit);
    if (audit_is_confidential(run))
        cellar_output_string(output, "Confidential: an assessment of true counts\n\n");
    cli_results_people(&run->header, "measure", output);
    cellar_output_string(output, "\n");
    cli_results_people(&run->cells, "measure", output);
    if (run->cells.n < n)
        cellar_output_string(output, "... (--limit 0 shows all)\n");
    cellar_output_string(
        output, "\npinned: one count is possible. surely_present: not empty, whatever the noise "
                "was. people_located: the sum of the least counts.\n");
    if (run->n_releases > 0)
        cellar_output_string(output, "Limits hold together with the confidence asked for; guess is "
                                     "the table that fits all values best.\n");
}

static int audit_main(const audit_values *values, const cli_words *paths)
{
    cellar_output_options how = cellar_output_options_default();
    audit_run run = {.values = values};
    cellar_output *output;
    int result;
    how.replace = values->force;
    result = cli_answer_open(values->path, &how, &output);
    if (result == CLI_GO_ON)
        result = audit_read(&run, paths);
    if (result == CLI_GO_ON)
        result = audit_attack(&run);
    if (result == CLI_GO_ON) {
        audit_sum_up(&run);
        audit_list(&run);
        result = audit_score(&run);
    }
    if (result == CLI_GO_ON) {
        if (values->json)
            audit_write_json(&run, output);
        else if (values->csv)
            cli_results_csv(&run.cells, output);
        else
            audit_write_people(&run, output);
    }
    result = cli_answer_close(output, result);
    audit_run_clear(&run);
    return result;
}

static int audit_check(const audit_values *values, const cli_words *paths)
{
    int result = CLI_GO_ON;
    if (paths->n + values->tables.n == 0)
        return cli_usage("audit needs a release, or --table FILE");
    if (values->json && values->csv)
        return cli_usage("audit: --json or --csv, not both");
    if (values->domains.n > 0 && values->tables.n == 0 && values->truth == NULL)
        return cli_usage("audit: --domain is for --table and --truth");
    for (size_t i = 0; i < paths->n && result == CLI_GO_ON; i++)
        result = cli_reader_spare(paths->items[i], values->path);
    for (size_t i = 0; i < values->tables.n && result == CLI_GO_ON; i++)
        result = cli_reader_spare(values->tables.items[i], values->path);
    if (result == CLI_GO_ON && values->truth != NULL)
        result = cli_reader_spare(values->truth, values->path);
    return result;
}

int cli_audit(int argc, char **argv)
{
    audit_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&audit_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON)
        result = audit_check(&values, &words);
    if (result == CLI_GO_ON)
        result = audit_main(&values, &words);
    cli_words_clear(&words);
    cli_options_clear(&audit_command, &values);
    return result;
}
