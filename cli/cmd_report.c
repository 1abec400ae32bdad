/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar report: one page that shows it all. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/release_file.h>
#include <cellar/report.h>

#include "options.h"
#include "reader.h"
#include "terminal.h"

typedef struct report_values {
    int is_public;
    const char *title, *charts, *path;
    cli_number rows;
    int force;
} report_values;

#define AT(member) offsetof(report_values, member)
static const cli_option report_options[] = {
    {CLI_SECTION, "The page for the public", NULL, NULL, 0, 0, 0, 0},
    {CLI_FLAG, "public", NULL, "make it from releases and their certificates alone", AT(is_public),
     0, 0, 0},
    {CLI_NUMBER, "rows", "N", "show so many rows of each release at most; 0: none [200]", AT(rows),
     0, 0, 0},
    {CLI_SECTION, "Writing it", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "title", "TEXT", "the title of the page", AT(title), 0, 0, 0},
    {CLI_TEXT, "output", "FILE", "the page [standard output]", AT(path), 'o', 0, 0},
    {CLI_TEXT, "charts", "DIR", "put every chart there, too, as SVG and PNG", AT(charts), 0, 0, 0},
    {CLI_FLAG, "force", NULL, "replace existing files", AT(force), 0, 0, 0},
    {CLI_SECTION, "Other", NULL, NULL, 0, 0, 0, 0},
};

static const char *const report_examples[] = {
    "cellar report --public release.csv -o page.html",
    "cellar report --public regions.csv ages.json --title 'Census tables' -o page.html", NULL};

static const cli_command report_command = {
    "report",
    "--public RELEASE... -o page.html",
    "Writes one HTML page that needs nothing else: no network, no script, charts inside, to be "
    "read "
    "on a screen or printed. With --public it is made from releases and their certificates alone: "
    "what is released, what is proved about it, the noise every number carries, how to test with "
    "it.",
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

static int report_public(const report_values *values, const cli_words *files)
{
    cellar_report_options options = report_how(values);
    cellar_release **releases = cli_alloc(files->n, sizeof *releases);
    const char **names = cli_alloc(files->n, sizeof *names);
    cellar_error err;
    cellar_status status = CELLAR_OK;

    for (size_t i = 0; i < files->n && status == CELLAR_OK; i++) {
        names[i] = report_file_name(files->items[i]);
        status = cellar_release_read(files->items[i], CELLAR_TABLE_AUTO, &releases[i], &err);
    }
    if (status == CELLAR_OK) {
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

/* ---- the verb ---------------------------------------------------------------------------------
 */

static int report_check(const report_values *values, const cli_words *files)
{
    if (!values->is_public)
        return cli_usage("report: say --public and name releases");
    if (files->n == 0)
        return cli_usage("report: name the releases, files that cellar protect wrote");
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
    if (result == CLI_GO_ON)
        result = report_make_folder(values.charts);
    if (result == CLI_GO_ON)
        result = report_public(&values, &files);
    cli_words_clear(&files);
    cli_options_clear(&report_command, &values);
    return result;
}
