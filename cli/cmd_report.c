/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar report: one page that shows it all. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/cube.h>
#include <cellar/manifest.h>
#include <cellar/plan.h>
#include <cellar/release_file.h>
#include <cellar/report.h>

#include "cube.h"
#include "lists.h"
#include "options.h"
#include "reader.h"
#include "table_in.h"
#include "terminal.h"
#include "variables.h"

typedef struct report_values {
    const char *qid, *sensitive, *epsilon, *release, *plan;
    cli_words mechanism, domain;
    int negatives;
    cli_number copies, seed, groups;
    int is_public;
    cli_number rows;
    cli_words table;
    const char *verify, *title, *charts, *path;
    int force;
    cli_number threads;
} report_values;

#define AT(member) offsetof(report_values, member)
static const cli_option report_options[] = {
    SECTION("The page for the committee"),
    TEXT("plan", "PLAN", plan,
         "assess what this plan releases: its tables, mechanisms and unit; names no table and no "
         "mechanism besides"),
    TEXT("qid", "A,B", qid, "the columns an attacker knows: they make the groups"),
    TEXT("sensitive", "Y,Z", sensitive, "the column, or columns jointly, to be learnt"),
    MANY("mechanism", "SPEC", mechanism,
         "what is planned for each cell (see cellar mechanism); repeated, up to 6: what to "
         "compare it with"),
    TEXT("epsilon", "GRID", epsilon,
         "look at mechanisms with an epsilon at these values [0.01..100/41]"),
    CHOICE("negatives", "keep|zero", negatives, "what is to become of values below zero [keep]"),
    TEXT("release", "RELEASE", release,
         "look at this release of the table, too; of a plan with a universe, this cube"),
    NUMBER("groups", "N", groups, 0, 100000, "name so many of the most exposed groups [20]"),
    NUMBER("copies", "R", copies, 2, 10000000,
           "simulate so many copies for what analysts lose [30]"),
    NUMBER("seed", "S", seed, 0, 0, "the seed of the copies [1]"),
    MANY("domain", "VAR=FILE", domain,
         "declare the categories of a variable that the table's file does not declare; may be "
         "repeated"),
    SECTION("The page for the public"),
    FLAG("public", is_public, "make it from releases and their certificates alone"),
    TEXT("verify", "KEY", verify,
         "check first that the owner of this public key signed the folder of each release; the "
         "page says so, and else that nothing was verified"),
    NUMBER("rows", "N", rows, 0, 0, "show so many rows of each release at most; 0: none [200]"),
    MANY("table", "A,B", table,
         "of a cube: show this table, region^1 for a level; may be repeated [some of two "
         "variables]"),
    SECTION("Writing it"),
    TEXT("title", "TEXT", title, "the title of the page"),
    OUTPUT(path, "the page [standard output]"),
    TEXT("charts", "DIR", charts, "put every chart there, too, as SVG and PNG"),
    FLAG("force", force, "replace existing files"),
    NUMBER("threads", "N", threads, 1, 1024, "use so many processors; the page is the same [all]"),
    SECTION("Other"),
};

static const char *const report_examples[] = {
    "cellar report table.csv --qid region,age --sensitive diagnosis --mechanism "
    "discrete-laplace:epsilon=1 -o page.html",
    "cellar report table.json --qid region,age --sensitive diagnosis --mechanism "
    "discrete-laplace:epsilon=1 --mechanism poisson:alpha=0.5 --charts charts -o page.html",
    "cellar report --plan plan.yaml --qid region,age --sensitive diagnosis -o page.html",
    "cellar report --public release.csv -o page.html",
    "cellar report --public country.cube --table region,sex -o page.html",
    "cellar report --public regions.csv ages.json --title 'Census tables' -o page.html",
    NULL};

static const cli_command report_command = {
    "report",
    "--plan PLAN --qid A,B --sensitive Y -o page.html, or TABLE --qid A,B --sensitive Y "
    "--mechanism SPEC -o page.html, or --public RELEASE...|CUBE -o page.html",
    "Writes one HTML page that needs nothing else: no network, no script, charts inside, to be "
    "read "
    "on a screen or printed. The page for the committee is computed from true counts and "
    "confidential: risk against epsilon, what analysts lose, delta, exposure, the most exposed "
    "groups, the noise, the certificate, what is not covered, a checklist to sign. With --plan it "
    "is about the plan that will run, each table with its own mechanism. With --public "
    "the page is made from releases and their certificates alone: what is released, what is "
    "proved about it, the noise of every value, how to test with it; of a cube some tables with "
    "intervals, and the error of each.",
    report_options,
    sizeof report_options / sizeof report_options[0],
    report_examples};

/* ---- what both pages need --------------------------------------------------------------- */

static cellar_report_options report_how(const report_values *values)
{
    cellar_report_options options = cellar_report_options_default();
    options.title = values->title;
    options.charts = values->charts;
    options.replace = values->force;
    options.max_rows = values->rows.given ? values->rows.value : options.max_rows;
    return options;
}

/* The folder of the charts is made when it is not there. */
static int report_make_folder(const char *path)
{
    if (path == NULL || mkdir(path, 0777) == 0 || errno == EEXIST)
        return CLI_GO_ON;
    cli_message("%s: cannot make the folder: %s", path, strerror(errno));
    return CLI_FAILED;
}

/* ---- the page for the public -------------------------------------------------------------- */

static const char *report_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The signature of the folder that the release lies in. */
static cellar_status report_verify(const char *path, const cellar_public_key *key,
                                   cellar_error *err)
{
    size_t length = (size_t) (report_file_name(path) - path);
    char *folder = cli_alloc(length + 2, 1);
    cellar_status status;
    if (length > 0)
        memcpy(folder, path, length > 1 ? length - 1 : 1);
    else
        folder[0] = '.';
    status = cellar_manifest_verify(folder, key, NULL, err);
    free(folder);
    return status;
}

/* Reads a release and looks whether its certificate can be true. */
static cellar_status report_read(const char *path, cellar_release **out, cellar_error *err)
{
    int is_checked = 0;
    cellar_status status = cellar_release_read(path, CELLAR_TABLE_AUTO, out, err);
    if (status == CELLAR_OK)
        status = cellar_release_recertify(*out, path, &is_checked, err);
    if (status == CELLAR_OK && !is_checked)
        cli_message("%s: its certificate cannot be computed again from what it says about its "
                    "mechanism",
                    path);
    return status;
}

static int report_public(const report_values *values, const cli_words *files)
{
    cellar_report_options options = report_how(values);
    cellar_release **releases = cli_alloc(files->n, sizeof *releases);
    const char **names = cli_alloc(files->n, sizeof *names);
    cellar_public_key key;
    cellar_error err;
    cellar_status status = CELLAR_OK;

    if (values->verify != NULL)
        status = cellar_public_key_read(values->verify, &key, &err);
    for (size_t i = 0; i < files->n && status == CELLAR_OK; i++) {
        names[i] = report_file_name(files->items[i]);
        status = report_read(files->items[i], &releases[i], &err);
        if (status == CELLAR_OK && values->verify != NULL)
            status = report_verify(files->items[i], &key, &err);
    }
    if (status == CELLAR_OK) {
        options.signer = values->verify != NULL ? key.id : NULL;
        options.names = names;
        options.progress = cli_progress_begin();
        status = cellar_report_public((const cellar_release *const *) releases, files->n, &options,
                                      values->path != NULL ? values->path : "-", &err);
        cli_progress_end();
    }
    for (size_t i = 0; i < files->n; i++)
        cellar_release_free(releases[i]);
    free(releases);
    free(names);
    return cli_exit(status, &err);
}

/* The tables of a cube that are asked for: one question each, with their sides and names. */
typedef struct report_tables {
    cellar_cube_question *questions;
    cellar_cube_side (*sides)[CELLAR_MAX_VARIABLES];
    cli_words *names;
} report_tables;

static int report_tables_read(const cli_words *tables, report_tables *out)
{
    int result = CLI_GO_ON;
    out->questions = cli_alloc(tables->n + 1, sizeof *out->questions);
    out->sides = cli_alloc(tables->n + 1, sizeof *out->sides);
    out->names = cli_alloc(tables->n + 1, sizeof *out->names);
    for (size_t i = 0; i < tables->n && result == CLI_GO_ON; i++) {
        cli_words_split(&out->names[i], tables->items[i], ',', 1);
        result = cli_cube_sides(&out->names[i], out->sides[i]);
        out->questions[i] = (cellar_cube_question){out->sides[i], out->names[i].n, 1};
    }
    return result;
}

static void report_tables_clear(report_tables *tables, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cli_words_clear(&tables->names[i]);
    free(tables->questions);
    free(tables->sides);
    free(tables->names);
}

static int report_public_cube(const report_values *values, const char *path)
{
    cellar_report_options options = report_how(values);
    const char *name = report_file_name(path);
    report_tables tables = {0};
    cellar_cube *cube = NULL;
    cellar_public_key key;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = report_tables_read(&values->table, &tables);
    if (result == CLI_GO_ON) {
        if (values->verify != NULL)
            status = cellar_public_key_read(values->verify, &key, &err);
        if (status == CELLAR_OK && values->verify != NULL)
            status = report_verify(path, &key, &err);
        if (status == CELLAR_OK)
            status = cellar_cube_open(path, &cube, &err);
        if (status == CELLAR_OK)
            status = cellar_cube_recertify(cube, path, &err);
        options.signer = values->verify != NULL ? key.id : NULL;
        options.names = &name;
        if (status == CELLAR_OK)
            status = cellar_report_cube(cube, tables.questions, values->table.n, &options,
                                        values->path != NULL ? values->path : "-", &err);
        result = cli_exit(status, &err);
    }
    cellar_cube_close(cube);
    report_tables_clear(&tables, values->table.n);
    return result;
}

/* ---- the page for the committee ------------------------------------------------------------- */

/* A run for the committee. */
typedef struct report_run {
    cellar_table *table;
    cellar_release *release;
    size_t positions[CELLAR_MAX_VARIABLES];
    cli_words epsilons;
    cellar_committee_options committee;
} report_run;

/* How much is looked at. */
static void report_assessment(const report_values *values, cellar_committee_options *c,
                              const cli_words *epsilons)
{
    c->epsilons = values->epsilon != NULL ? cli_words_items(epsilons) : NULL;
    c->n_epsilons = epsilons->n;
    c->copies = values->copies.given ? values->copies.value : c->copies;
    c->seed = values->seed.given ? values->seed.value : c->seed;
    c->n_groups = values->groups.given ? (size_t) values->groups.value : c->n_groups;
    c->n_threads = (int) values->threads.value;
}

/* What the options say; the table has been read. */
static int report_committee_options(const report_values *values, report_run *run)
{
    cellar_committee_options *c = &run->committee;
    size_t n = 0;
    const cellar_schema *schema = cellar_table_schema(run->table);
    int result = cli_variables_positions(schema, "qid", values->qid, run->positions, &n);
    *c = cellar_committee_options_default();
    c->qid = run->positions;
    c->n_qid = n;
    if (result == CLI_GO_ON)
        result =
            cli_variables_positions(schema, "sensitive", values->sensitive, run->positions, &n);
    if (result == CLI_GO_ON && values->epsilon != NULL)
        result = cli_list_decimals("epsilon", values->epsilon, &run->epsilons);
    c->sensitive = run->positions + c->n_qid;
    c->n_sensitive = n - c->n_qid;
    c->mechanisms = cli_words_items(&values->mechanism);
    c->n_mechanisms = values->mechanism.n;
    c->release = run->release;
    c->negatives = values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    report_assessment(values, c, &run->epsilons);
    return result;
}

static int report_committee_write(const report_values *values, const report_run *run)
{
    cellar_report_options options = report_how(values);
    cellar_error err;
    cellar_status status;
    options.progress = cli_progress_begin();
    status = cellar_report_committee(run->table, &run->committee, &options,
                                     values->path != NULL ? values->path : "-", &err);
    cli_progress_end();
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("report: %s", err.message);
    return cli_exit(status, &err);
}

static int report_committee(const report_values *values, const char *path)
{
    report_run run = {.table = NULL};
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = cli_table_in_read(path, &values->domain, &run.table);
    if (result == CLI_GO_ON && values->release != NULL)
        status = cellar_release_read(values->release, CELLAR_TABLE_AUTO, &run.release, &err);
    if (status != CELLAR_OK)
        result = cli_exit(status, &err);
    if (result == CLI_GO_ON)
        result = report_committee_options(values, &run);
    if (result == CLI_GO_ON)
        result = report_committee_write(values, &run);
    cellar_table_free(run.table);
    cellar_release_free(run.release);
    cli_words_clear(&run.epsilons);
    return result;
}

/* ---- the page about a plan ---- */

static int report_plan(const report_values *values)
{
    cellar_report_options options = report_how(values);
    cellar_committee_options committee = cellar_committee_options_default();
    cli_words known = {0}, sensitive = {0}, epsilons = {0};
    cellar_plan *plan = NULL;
    cellar_cube *cube = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = CLI_GO_ON;
    if (!cli_words_split(&known, values->qid, ',', 1) ||
        !cli_words_split(&sensitive, values->sensitive, ',', 1))
        result = cli_usage("report: --qid or --sensitive: a quote is never closed");
    if (result == CLI_GO_ON && values->epsilon != NULL)
        result = cli_list_decimals("epsilon", values->epsilon, &epsilons);
    if (result == CLI_GO_ON) {
        const cellar_plan_attack attack = {cli_words_items(&known), known.n,
                                           cli_words_items(&sensitive), sensitive.n};
        report_assessment(values, &committee, &epsilons);
        status = cellar_plan_read(values->plan, &plan, &err);
        if (status == CELLAR_OK && values->release != NULL)
            status = cellar_cube_open(values->release, &cube, &err);
        committee.cube = cube;
        options.progress = cli_progress_begin();
        if (status == CELLAR_OK)
            status = cellar_report_plan(plan, &attack, &committee, &options,
                                        values->path != NULL ? values->path : "-", &err);
        cli_progress_end();
        result = status == CELLAR_ERR_ARGUMENT ? cli_usage("report: %s", err.message)
                                               : cli_exit(status, &err);
    }
    cellar_cube_close(cube);
    cellar_plan_free(plan);
    cli_words_clear(&known);
    cli_words_clear(&sensitive);
    cli_words_clear(&epsilons);
    return result;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static int report_check_public(const report_values *values, const cli_words *files)
{
    if (files->n == 0)
        return cli_usage("report --public: name the releases, files that cellar protect wrote");
    if (values->qid != NULL || values->sensitive != NULL || values->mechanism.n > 0 ||
        values->epsilon != NULL || values->release != NULL || values->negatives != 0 ||
        values->plan != NULL || values->domain.n > 0 || values->copies.given ||
        values->seed.given || values->groups.given)
        return cli_usage("report --public: releases say how they were made; --qid, --mechanism and "
                         "what belongs to them are for the committee's page");
    for (size_t i = 0; i < files->n; i++)
        if (cellar_cube_is_file(files->items[i]) && files->n > 1)
            return cli_usage("report --public: a cube has a page of its own; name it alone");
    if (values->table.n > 0 && !cellar_cube_is_file(files->items[0]))
        return cli_usage("report: --table is for a cube; a release has one table");
    return CLI_GO_ON;
}

static int report_check(const report_values *values, const cli_words *files)
{
    if (values->is_public)
        return report_check_public(values, files);
    if (values->plan != NULL &&
        (files->n > 0 || values->mechanism.n > 0 || values->negatives != 0 ||
         (values->release != NULL && !cellar_cube_is_file(values->release)) ||
         values->domain.n > 0))
        return cli_usage(
            "report --plan: the plan says which tables, mechanisms, negatives and code "
            "lists; leave out TABLE, --mechanism, --negatives, --domain, and --release unless it "
            "is a cube");
    if (values->plan == NULL && files->n != 1)
        return cli_usage("report: say --plan PLAN, or name one table, a file that cellar tabulate "
                         "wrote, or say --public and name releases");
    if (values->qid == NULL || values->sensitive == NULL)
        return cli_usage("report: say --qid A,B (what an attacker knows) and --sensitive Y");
    if (values->mechanism.n == 0 && values->plan == NULL)
        return cli_usage("report: say what is planned: --mechanism discrete-laplace:epsilon=1");
    if (values->rows.given)
        return cli_usage("report: --rows is for --public");
    if (values->verify != NULL)
        return cli_usage("report: --verify is for --public");
    if (values->table.n > 0)
        return cli_usage("report: --table is for --public and a cube");
    if (values->path == NULL && cli_stdout_is_terminal())
        return cli_usage("report: name the page: -o page.html");
    return CLI_GO_ON;
}

int cli_report(int argc, char **argv)
{
    report_values values = {0};
    cli_words files = {0};
    int result = cli_options_parse(&report_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = report_check(&values, &files);
    for (size_t i = 0; i < files.n && result == CLI_GO_ON; i++)
        result = cli_reader_spare(files.items[i], values.path);
    if (result == CLI_GO_ON && values.plan != NULL)
        result = cli_reader_spare(values.plan, values.path);
    if (result == CLI_GO_ON)
        result = report_make_folder(values.charts);
    if (result == CLI_GO_ON)
        result = values.is_public && cellar_cube_is_file(files.items[0])
                     ? report_public_cube(&values, files.items[0])
                 : values.is_public    ? report_public(&values, &files)
                 : values.plan != NULL ? report_plan(&values)
                                       : report_committee(&values, files.items[0]);
    cli_words_clear(&files);
    cli_options_clear(&report_command, &values);
    return result;
}
