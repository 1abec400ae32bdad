/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar utility: what an analyst loses. */
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/release_file.h>

#include "lists.h"
#include "reader.h"
#include "table_in.h"
#include "terminal.h"
#include "utility.h"

#define AT(member) offsetof(utility_values, member)
static const cli_option utility_options[] = {
    SECTION("What is released"),
    MANY("mechanism", "SPEC", mechanism,
         "what is done to each cell (see cellar mechanism); repeated: side by side"),
    TEXT("epsilon", "GRID", epsilon, "at these values: 0.1,0.5,1 or 0.01..10/20"),
    MANY("vary", "KEY=GRID", vary, "the same for any parameter; repeated: all combinations"),
    TEXT("delta", "D", delta,
         "complete each mechanism so that its delta is at most D: m of truncated ones, the "
         "calibration of Gaussian ones, alpha of kernels"),
    CHOICE("negatives", "keep|zero", negatives, "what becomes of values below zero [keep]"),
    NUMBER("threshold", "T", threshold, 1, INT64_MAX, "values below T become zero, too"),
    NUMBER("copies", "R", copies, 0, 10000000,
           "simulate so many copies; 0: exact expectations only [100]"),
    NUMBER("seed", "S", seed, 0, 0, "the seed of the copies [1]"),
    SECTION("What to measure"),
    TEXT("counts", "N,N,...", counts, "original counts to look at one by one [0..10]"),
    TEXT("within", "R,R,...", within, "the distances r of P(|b-a| <= r) [0..4]"),
    NUMBER("ways", "N", ways, 0, 3, "margins of up to N variables, at most 3 [3]"),
    NUMBER("top", "K", top, 0, 1000, "rank the K largest cells [10]"),
    CHOICE("propensity", "logistic|tree|both", propensity,
           "also guess by such a model which records were released, and show its pMSE"),
    SECTION("Beside it the risk (cellar risk)"),
    TEXT("qid", "A,B", qid,
         "the columns an attacker knows: with --sensitive, every row shows the risk of the "
         "homogeneity attack, too"),
    TEXT("sensitive", "Y,Z", sensitive, "the column, or columns jointly, to be learnt"),
    SECTION("A file of perturbed counts that another program wrote"),
    TEXT("column", "NAME", column, "the column that holds them [count, or the only other one]"),
    SECTION("The table"),
    MANY("domain", "VAR=FILE", domain,
         "declare the categories of a variable that the table's file does not declare; may be "
         "repeated"),
    SECTION("Writing it"),
    OUTPUT(path, "write to a file that only you can read [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    CHOICE("csv", "results|spreads|distances", csv,
           "print CSV: the measures, how differences spread over cells and margins, or the "
           "distances d1, d2 and d3 of one release or file"),
    NUMBER("threads", "N", threads, 1, 1024,
           "use so many processors; the result is the same [all]"),
    SECTION("Other"),
};

static const char *const utility_examples[] = {
    "cellar utility table.json --mechanism discrete-laplace:epsilon=1",
    "cellar utility table.json --mechanism truncated-laplace --mechanism truncated-normal "
    "--epsilon 0.1,0.5,1,2 --delta 0.001 --csv results -o chart.csv",
    "cellar utility table.json --mechanism laplace --mechanism discrete-gaussian --epsilon "
    "0.1..10/20 --delta 1e-6 --qid region,sex --sensitive diagnosis --csv results -o chart.csv",
    "cellar utility table.json release.csv --json",
    "cellar utility table.json perturbed.csv --column puwc --csv distances",
    NULL};

static const cli_command utility_command = {
    "utility",
    "TABLE --mechanism SPEC [options], or TABLE RELEASE [options], or TABLE OTHER.csv [options]",
    "Shows how far released values are from the true ones: cell by cell, in margins, in tests and "
    "rankings. With a mechanism from seeded copies, which never become a release, and exactly "
    "where a sum over its distribution gives the expectation; with a release, or with a CSV file "
    "of perturbed counts that any program wrote, for that one. What it prints is an assessment: "
    "computed from true counts, and confidential.",
    utility_options,
    sizeof utility_options / sizeof utility_options[0],
    utility_examples};

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
    cli_results_clear(&run->distances);
    cli_results_clear(&run->risks);
    cli_results_clear(&run->measures);
    cli_results_clear(&run->by_count);
    cli_results_clear(&run->places);
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
    o->propensity = (unsigned) v->propensity; /* both is the sum of the two */
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
        return cli_usage("utility: say --mechanism SPEC, or name a release of the table, or a CSV "
                         "file of perturbed counts");
    if (files->n == 2 && (simulation || values->vary.n > 0 || values->epsilon != NULL ||
                          values->delta != NULL || values->negatives != 0 ||
                          values->threshold.given || values->copies.given || values->seed.given))
        return cli_usage("utility: a release says how it was made; --mechanism and what belongs "
                         "to it are for simulations");
    if (values->column != NULL && files->n < 2)
        return cli_usage("utility: --column is of a file that another program wrote: name it after "
                         "the table");
    if (values->json && values->csv > 0)
        return cli_usage("utility: --json or --csv, not both");
    if ((values->qid != NULL) != (values->sensitive != NULL))
        return cli_usage("utility: the risk needs --qid A,B and --sensitive Y");
    if (values->qid != NULL && (files->n == 2 || values->threshold.given))
        return cli_usage("utility: the risk is that of a mechanism without a threshold; leave out "
                         "--qid and --sensitive");
    return CLI_GO_ON;
}

/* ---- the work ---------------------------------------------------------------------------- */

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
        result = utility_complete(spec, epsilon, run->values->delta, full, size);
    if (result == CLI_GO_ON) {
        run->options.progress = cli_progress_begin();
        status = cellar_utility_assess(run->table, full, &run->options, &u, &err);
        cli_progress_end();
    }
    if (status == CELLAR_OK && result == CLI_GO_ON && has_risk)
        result = utility_risk_assess(&run->risk, full, run->options.n_threads, &point);
    if (status == CELLAR_OK && result == CLI_GO_ON)
        utility_put_answer(
            run, index,
            epsilon != NULL && run->grid.specs.n > 1 ? utility_certified_delta(full, epsilon) : NAN,
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
        utility_put_answer(run, 0, NAN, u, NULL);
    cellar_utility_free(u);
    cellar_release_free(release);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* A release has its certificate inside, or beside it as FILE.cellar.json. */
static int is_release(const char *path)
{
    cellar_table_format format = cellar_table_format_of_path(path);
    size_t size = strlen(path) + sizeof ".cellar.json";
    char *beside;
    FILE *file;

    if (format == CELLAR_TABLE_JSONSTAT || format == CELLAR_TABLE_PX)
        return 1;
    beside = cli_alloc(size, 1);
    snprintf(beside, size, "%s.cellar.json", path);
    file = fopen(beside, "rb");
    free(beside);
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static int run_file(utility_run *run, const char *path)
{
    cellar_utility *u = NULL;
    cellar_error err;
    cellar_status status =
        cellar_utility_compare_file(run->table, path, run->values->column, &run->options, &u, &err);
    if (status == CELLAR_OK)
        utility_put_answer(run, 0, NAN, u, NULL);
    cellar_utility_free(u);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* A release, or what another program wrote. */
static int run_second(utility_run *run, const char *path)
{
    if (!is_release(path))
        return run_file(run, path);
    if (run->values->column != NULL)
        return cli_usage("utility: %s is a release of Cellar: --column is for files of other "
                         "programs",
                         path);
    return run_release(run, path);
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
        return run_second(run, files->items[1]);
    if (result == CLI_GO_ON)
        result = utility_risk_open(run->table, v->qid, v->sensitive, &run->risk);
    for (size_t i = 0; i < run->grid.specs.n && result == CLI_GO_ON; i++)
        result = run_spec(run, i);
    return result;
}

static int utility_run_it(const utility_values *values, const cli_words *files)
{
    cellar_output_options how = cellar_output_options_default();
    utility_run run = {.values = values};
    cellar_output *output;
    int result;

    how.replace = values->force;
    result = cli_answer_open(values->path, &how, &output);
    if (result == CLI_GO_ON)
        result = run_all(&run, files);
    if (result == CLI_GO_ON)
        utility_write(&run, output);
    result = cli_answer_close(output, result);
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
