/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar utility: what an analyst loses. */
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>
#include <cellar/release_file.h>
#include <cellar/utility.h>

#include "lists.h"
#include "options.h"
#include "reader.h"
#include "results.h"
#include "table_in.h"
#include "terminal.h"
#include "utility_risk.h"
#include "vary.h"

typedef struct utility_values {
    cli_words mechanism, vary, domain;
    const char *epsilon, *delta;
    int negatives;
    cli_number threshold, copies, seed, ways, top, threads;
    const char *counts, *within;
    const char *qid, *sensitive;
    const char *path;
    int force, json, csv;
} utility_values;

#define AT(member) offsetof(utility_values, member)
static const cli_option utility_options[] = {
    {CLI_SECTION, "What is released", NULL, NULL, 0, 0, 0, 0},
    {CLI_MANY, "mechanism", "SPEC",
     "what is done to each cell (cellar mechanism tells more); repeated: side by side",
     AT(mechanism), 0, 0, 0},
    {CLI_TEXT, "epsilon", "GRID", "at these values: 0.1,0.5,1 or 0.01..10/20", AT(epsilon), 0, 0,
     0},
    {CLI_MANY, "vary", "KEY=GRID", "the same for any parameter; repeated: all combinations",
     AT(vary), 0, 0, 0},
    {CLI_TEXT, "delta", "D",
     "complete each mechanism so that its delta is at most D: m of truncated ones, the "
     "calibration of Gaussian ones",
     AT(delta), 0, 0, 0},
    {CLI_CHOICE, "negatives", "keep|zero", "what becomes of numbers below zero [keep]",
     AT(negatives), 0, 0, 0},
    {CLI_NUMBER, "threshold", "T", "numbers below T become zero, too", AT(threshold), 0, 1,
     INT64_MAX},
    {CLI_NUMBER, "copies", "R", "simulate so many copies; 0: exact expectations only [100]",
     AT(copies), 0, 0, 10000000},
    {CLI_NUMBER, "seed", "S", "the seed of the copies [1]", AT(seed), 0, 0, 0},
    {CLI_SECTION, "What to measure", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "counts", "N,N,...", "original counts to look at one by one [0..10]", AT(counts), 0,
     0, 0},
    {CLI_TEXT, "within", "R,R,...", "the distances r of P(|b-a| <= r) [0..4]", AT(within), 0, 0, 0},
    {CLI_NUMBER, "ways", "N", "margins of up to N variables, at most 3 [3]", AT(ways), 0, 0, 3},
    {CLI_NUMBER, "top", "K", "rank the K largest cells [10]", AT(top), 0, 0, 1000},
    {CLI_SECTION, "Beside it the risk (cellar risk)", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "qid", "A,B",
     "the columns an attacker knows: with --sensitive, every row tells "
     "the risk of the homogeneity attack, too",
     AT(qid), 0, 0, 0},
    {CLI_TEXT, "sensitive", "Y,Z", "the column, or columns jointly, to be learnt", AT(sensitive), 0,
     0, 0},
    {CLI_SECTION, "The table", NULL, NULL, 0, 0, 0, 0},
    {CLI_MANY, "domain", "VAR=FILE",
     "declare the categories of a variable that the table's file does not declare; may be repeated",
     AT(domain), 0, 0, 0},
    {CLI_SECTION, "Writing it", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "output", "FILE", "write to a file that only you can read [standard output]",
     AT(path), 'o', 0, 0},
    {CLI_FLAG, "force", NULL, "replace an existing file", AT(force), 0, 0, 0},
    {CLI_FLAG, "json", NULL, "print JSON", AT(json), 0, 0, 0},
    {CLI_CHOICE, "csv", "results|spreads",
     "print CSV: the measures, or how differences spread over cells and margins", AT(csv), 0, 0, 0},
    {CLI_NUMBER, "threads", "N", "use so many processors; the result is the same [all]",
     AT(threads), 0, 1, 1024},
    {CLI_SECTION, "Other", NULL, NULL, 0, 0, 0, 0},
};

static const char *const utility_examples[] = {
    "cellar utility table.json --mechanism discrete-laplace:epsilon=1",
    "cellar utility table.json --mechanism truncated-laplace --mechanism truncated-normal "
    "--epsilon 0.1,0.5,1,2 --delta 0.001 --csv results -o chart.csv",
    "cellar utility table.json --mechanism laplace --mechanism discrete-gaussian --epsilon "
    "0.1..10/20 --delta 1e-6 --qid region,sex --sensitive health --csv results -o chart.csv",
    "cellar utility table.json release.csv --json", NULL};

static const cli_command utility_command = {
    "utility",
    "TABLE --mechanism SPEC [options], or TABLE RELEASE [options]",
    "Tells how far released numbers are from the true ones: cell by cell, in margins, in tests and "
    "rankings. With a mechanism from seeded copies, which never become a release, and exactly "
    "where "
    "a sum over its law gives the expectation; with a release for that one. What it prints is an "
    "assessment: computed from true counts, and confidential.",
    utility_options,
    sizeof utility_options / sizeof utility_options[0],
    utility_examples};

/* A run of the verb. */
typedef struct utility_run {
    const utility_values *values;
    cellar_table *table;
    cellar_utility_options options;
    uint64_t *counts, *radii;
    cli_vary grid;
    utility_risk risk;
    cli_results header, original, results, spreads, risks;
    cli_words notes;
} utility_run;

static void run_clear(utility_run *run)
{
    cellar_table_free(run->table);
    free(run->counts);
    free(run->radii);
    cli_vary_clear(&run->grid);
    utility_risk_clear(&run->risk);
    cli_results_clear(&run->header);
    cli_results_clear(&run->original);
    cli_results_clear(&run->results);
    cli_results_clear(&run->spreads);
    cli_results_clear(&run->risks);
    cli_words_clear(&run->notes);
}

/* ---- what was asked ------------------------------------------------------------- */

static int run_read_options(utility_run *run)
{
    const utility_values *v = run->values;
    cellar_utility_options *o = &run->options;
    int result = CLI_GO_ON;

    *o = cellar_utility_options_default();
    o->negatives = v->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    o->threshold = (int64_t) v->threshold.value;
    o->copies = v->copies.given ? v->copies.value : o->copies;
    o->seed = v->seed.given ? v->seed.value : o->seed;
    o->max_ways = v->ways.given ? (size_t) v->ways.value : o->max_ways;
    o->top = v->top.given ? (size_t) v->top.value : o->top;
    o->n_threads = (int) v->threads.value;
    if (v->counts != NULL) {
        result = cli_list_counts("counts", v->counts, 0, &run->counts, &o->n_counts);
        o->counts = run->counts;
    }
    if (v->within != NULL && result == CLI_GO_ON) {
        result = cli_list_counts("within", v->within, 0, &run->radii, &o->n_radii);
        o->radii = run->radii;
    }
    return result;
}

static int utility_check(const utility_values *values, const cli_words *files)
{
    int simulation = values->mechanism.n > 0;
    if (files->n == 0)
        return cli_usage("utility: name the table, a file that cellar tabulate wrote");
    if (files->n > 2)
        return cli_usage("utility takes a table and a release, and '%s' is a third file",
                         files->items[2]);
    if (files->n == 1 && !simulation)
        return cli_usage("utility: say --mechanism SPEC, or name a release of the table");
    if (files->n == 2 && (simulation || values->vary.n > 0 || values->epsilon != NULL ||
                          values->delta != NULL || values->negatives != 0 ||
                          values->threshold.given || values->copies.given || values->seed.given))
        return cli_usage("utility: a release tells how it was made; --mechanism and what belongs "
                         "to it are for simulations");
    if (values->json && values->csv > 0)
        return cli_usage("utility: --json or --csv, not both");
    if ((values->qid != NULL) != (values->sensitive != NULL))
        return cli_usage("utility: the risk needs --qid A,B and --sensitive Y");
    if (values->qid != NULL && (files->n == 2 || values->threshold.given))
        return cli_usage("utility: the risk is that of a mechanism without a threshold; leave out "
                         "--qid and --sensitive");
    return CLI_GO_ON;
}

/* ---- answers ---------------------------------------------------------------------- */

static void put_header(utility_run *run, const cellar_utility *u)
{
    cellar_association a = cellar_utility_original(u);
    if (run->header.n > 0)
        return;
    cli_results_begin(&run->header, "table");
    if (run->grid.specs.n <= 1)
        cli_results_text(&run->header, "mechanism", cellar_utility_mechanism(u));
    cli_results_count(&run->header, "cells", cellar_utility_n_cells(u));
    cli_results_count(&run->header, "copies", cellar_utility_n_copies(u));
    if (run->grid.specs.n > 0) {
        cli_results_count(&run->header, "seed", run->options.seed);
        cli_results_text(&run->header, "negatives",
                         run->options.negatives == CELLAR_NEGATIVES_ZERO ? "zero" : "keep");
    }
    cli_results_begin(&run->original, "original");
    cli_results_real(&run->original, "total", a.total);
    cli_results_real(&run->original, "chi_square", a.chi_square);
    cli_results_real(&run->original, "df", a.df);
    cli_results_real(&run->original, "g_square", a.g_square);
    cli_results_real(&run->original, "cramers_v", a.cramers_v);
    cli_results_real(&run->original, "p_value_chi_square", a.p_chi_square);
    cli_results_real(&run->original, "p_value_g_square", a.p_g_square);
}

/* Where in the grid a row belongs. */
static void put_place(const utility_run *run, size_t spec, const char *mechanism, double delta,
                      cli_results *results)
{
    if (run->grid.specs.n <= 1)
        return;
    cli_results_text(results, "mechanism", mechanism);
    for (size_t k = 0; k < run->grid.keys.n; k++)
        cli_results_real(results, run->grid.keys.items[k],
                         strtod(run->grid.values.items[spec * run->grid.keys.n + k], NULL));
    if (cli_vary_value(&run->grid, spec, "epsilon") != NULL)
        cli_results_real(results, "delta", delta);
}

static void put_result(cli_results *results, const cellar_utility_result *r, int for_people)
{
    if (r->variables != NULL)
        cli_results_text(results, "variables", r->variables);
    if (r->count >= 0 || r->is_above) {
        cli_results_count(results, r->is_above ? "count_above" : "count",
                          r->count >= 0 ? (uint64_t) r->count : 0);
        cli_results_count(results, "cells", r->cells);
    }
    if (r->radius >= 0)
        cli_results_count(results, "r", (uint64_t) r->radius);
    if (!isnan(r->original) || !for_people)
        cli_results_real(results, "original", r->original);
    cli_results_real(results, "mean", r->mean);
    cli_results_real(results, "sd", r->sd);
    cli_results_real(results, "expected", r->expected);
    if (for_people)
        return;
    cli_results_real(results, "minimum", r->minimum);
    cli_results_real(results, "quartile_1", r->quartile_1);
    cli_results_real(results, "median", r->median);
    cli_results_real(results, "quartile_3", r->quartile_3);
    cli_results_real(results, "maximum", r->maximum);
    cli_results_count(results, "copies", r->copies);
}

static void put_spread(cli_results *results, const cellar_utility_spread *s)
{
    static const char *const keys[CELLAR_UTILITY_N_LEVELS] = {
        "minimum",    "quantile_0.05", "quartile_1", "median",
        "quartile_3", "quantile_0.95", "maximum"};
    cli_results_text(results, "source", s->source);
    if (s->count >= 0)
        cli_results_count(results, "count", (uint64_t) s->count);
    if (s->ways > 0)
        cli_results_count(results, "ways", s->ways);
    cli_results_real(results, "n", s->n);
    cli_results_real(results, "mean", s->mean);
    for (size_t k = 0; k < CELLAR_UTILITY_N_LEVELS; k++)
        cli_results_real(results, keys[k], s->quantiles[k]);
}

static void put_note(utility_run *run, const char *note)
{
    if (cli_words_find(&run->notes, note) == (size_t) -1)
        cli_words_add(&run->notes, note, strlen(note));
}

/* The risk of one place in the grid, in rows of its own. */
static void put_risks(utility_run *run, size_t spec, double delta, const char *mechanism,
                      const utility_risk_point *point)
{
    const cellar_risk_summary *summaries[] = {&point->local, &point->expected};
    const cellar_risk_measure measures[] = {CELLAR_RISK_LOCAL, CELLAR_RISK_EXPECTED};
    for (size_t i = 0; i < 2; i++) {
        cli_results_begin(&run->risks, cellar_risk_measure_name(measures[i]));
        put_place(run, spec, mechanism, delta, &run->risks);
        utility_risk_row(&run->risks, summaries[i]);
    }
    put_note(run, "risks are means over groups; read them beside precision and baseline (cellar "
                  "risk)");
    if (run->risk.is_lower_bound)
        put_note(run, "risks are lower bounds if all of the table is released: it holds margins or "
                      "further variables, with which an attacker can do more");
}

static void put_answer(utility_run *run, size_t spec, double delta, const cellar_utility *u,
                       const utility_risk_point *point)
{
    int for_people = !run->values->json && run->values->csv == 0;
    put_header(run, u);
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        cli_results_begin(&run->results, r->measure);
        put_place(run, spec, cellar_utility_mechanism(u), delta, &run->results);
        if (point != NULL && !for_people)
            utility_risk_columns(&run->results, point);
        put_result(&run->results, r, for_people);
    }
    if (point != NULL)
        put_risks(run, spec, delta, cellar_utility_mechanism(u), point);
    for (size_t i = 0; i < cellar_utility_n_spreads(u); i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(u, i);
        cli_results_begin(&run->spreads, s->measure);
        put_place(run, spec, cellar_utility_mechanism(u), delta, &run->spreads);
        put_spread(&run->spreads, s);
    }
    for (size_t i = 0; i < cellar_utility_n_notes(u); i++)
        put_note(run, cellar_utility_note(u, i));
}

/* ---- writing --------------------------------------------------------------------------- */

static void write_json(const utility_run *run, cellar_output *output)
{
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "assessment", "utility");
    cli_json_truth(&json, "confidential", 1);
    cli_results_json_header(&run->header, &json);
    cli_json_begin(&json, "original", '{');
    cli_results_json_header(&run->original, &json);
    cli_json_end(&json, '}');
    cli_results_json(&run->results, &json, "results");
    cli_results_json(&run->spreads, &json, "spreads");
    if (run->risks.n > 0)
        cli_results_json(&run->risks, &json, "risks");
    cli_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < run->notes.n; i++)
        cli_json_text(&json, NULL, run->notes.items[i]);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void write_people(const utility_run *run, cellar_output *output)
{
    cellar_output_string(output, "Confidential: an assessment of true counts\n\n");
    cli_results_people(&run->header, output);
    cellar_output_string(output, "\n");
    cli_results_people(&run->original, output);
    cellar_output_string(output, "\n");
    cli_results_people(&run->results, output);
    cellar_output_string(output, "\n");
    cli_results_people(&run->spreads, output);
    cellar_output_string(output, run->risks.n > 0 ? "\n" : "");
    cli_results_people(&run->risks, output);
    for (size_t i = 0; i < run->notes.n; i++)
        cellar_output_printf(output, "%s%s\n", i == 0 ? "\n" : "", run->notes.items[i]);
}

/* ---- the work ---------------------------------------------------------------------------- */

/* The delta of one cell at the epsilon that varies, proven; NAN when there is none. */
static double certified_delta(const char *spec, const char *epsilon)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    const cellar_mechanism *only;
    cellar_error err;
    double delta = NAN;

    options.epsilons = &epsilon;
    options.n_epsilons = 1;
    if (cellar_mechanism_create(spec, &mechanism, &err) == CELLAR_OK) {
        only = mechanism;
        if (cellar_certify(&only, 1, &options, &certificate, &err) == CELLAR_OK)
            delta = cellar_certificate_point(certificate, 0).delta;
    }
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return delta;
}

static int run_spec(utility_run *run, size_t index)
{
    const char *spec = run->grid.specs.items[index];
    const char *epsilon = cli_vary_value(&run->grid, index, "epsilon");
    size_t size = strlen(spec) + 128;
    char *full = cli_alloc(size, 1);
    cellar_utility *u = NULL;
    utility_risk_point point;
    int has_risk = run->risk.groups != NULL, result = CLI_GO_ON;
    cellar_error err;
    cellar_status status = CELLAR_OK;

    snprintf(full, size, "%s", spec);
    if (run->values->delta != NULL)
        status = cellar_utility_equal_delta(spec, run->values->delta, full, size, &err);
    if (status == CELLAR_OK) {
        run->options.progress = cli_progress_begin();
        status = cellar_utility_assess(run->table, full, &run->options, &u, &err);
        cli_progress_end();
    }
    if (status == CELLAR_OK && has_risk)
        result = utility_risk_assess(&run->risk, full, run->options.n_threads, &point);
    if (status == CELLAR_OK && result == CLI_GO_ON)
        put_answer(run, index,
                   epsilon != NULL && run->grid.specs.n > 1 ? certified_delta(full, epsilon) : NAN,
                   u, has_risk ? &point : NULL);
    cellar_utility_free(u);
    free(full);
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("utility: %s", err.message);
    return status == CELLAR_OK ? result : cli_exit(status, &err);
}

/* A release that does not fit the table is named. */
static cellar_status compare(const utility_run *run, const char *path,
                             const cellar_release *release, cellar_utility **out, cellar_error *err)
{
    cellar_error own;
    cellar_status status = cellar_utility_compare(run->table, release, &run->options, out, &own);
    if (status != CELLAR_OK)
        snprintf(err->message, sizeof err->message, "%.200s: %.800s", path, own.message);
    return status;
}

static int run_release(utility_run *run, const char *path)
{
    cellar_release *release = NULL;
    cellar_utility *u = NULL;
    cellar_error err;
    cellar_status status = cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err);
    if (status == CELLAR_OK)
        status = compare(run, path, release, &u, &err);
    if (status == CELLAR_OK)
        put_answer(run, 0, NAN, u, NULL);
    cellar_utility_free(u);
    cellar_release_free(release);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static int run_all(utility_run *run, const cli_words *files)
{
    const utility_values *v = run->values;
    int result = run_read_options(run);
    if (result == CLI_GO_ON)
        result = cli_vary_read(&v->mechanism, &v->vary, v->epsilon, &run->grid);
    if (result == CLI_GO_ON)
        result = cli_table_in_read(files->items[0], &v->domain, &run->table);
    if (result == CLI_GO_ON && files->n > 1)
        return run_release(run, files->items[1]);
    if (result == CLI_GO_ON)
        result = utility_risk_open(run->table, v->qid, v->sensitive, &run->risk);
    for (size_t i = 0; i < run->grid.specs.n && result == CLI_GO_ON; i++)
        result = run_spec(run, i);
    return result;
}

/* The output is opened first: no simulation of minutes ends at a file that exists already. */
static int utility_run_it(const utility_values *values, const cli_words *files)
{
    const cellar_output_options how = {.replace = values->force};
    utility_run run = {.values = values};
    cellar_output *output;
    cellar_error err;
    cellar_status status =
        cellar_output_open(values->path != NULL ? values->path : "-", &how, &output, &err);
    int result;

    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    result = run_all(&run, files);
    if (result != CLI_GO_ON) {
        cellar_output_discard(output);
    } else {
        if (values->json)
            write_json(&run, output);
        else if (values->csv > 0)
            cli_results_csv(values->csv == 2 ? &run.spreads : &run.results, output);
        else
            write_people(&run, output);
        result = cli_exit(cellar_output_commit(output, &err), &err);
    }
    run_clear(&run);
    return result;
}

int cli_utility(int argc, char **argv)
{
    utility_values values = {0};
    cli_words files = {0};
    int result = cli_options_parse(&utility_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = utility_check(&values, &files);
    for (size_t i = 0; i < files.n && result == CLI_GO_ON; i++)
        result = cli_reader_spare(files.items[i], values.path);
    if (result == CLI_GO_ON)
        result = utility_run_it(&values, &files);
    cli_words_clear(&files);
    cli_options_clear(&utility_command, &values);
    return result;
}
