/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar convert: a table in another format, with all that is said about it. */
#include "verbs.h"

#include <string.h>

#include <cellar/convert.h>

#include "about.h"
#include "reader.h"
#include "table_in.h"

typedef struct convert_values {
    const char *path;
    int from, format, zeros, sparse, force;
    cli_words domain;
    cli_about about;
} convert_values;

#define AT(member) offsetof(convert_values, member)
static const cli_option convert_options[] = {
    OUTPUT(path, "the file to write; - for JSON-stat or PC-Axis on standard output"),
    CHOICE("format", "csv|json|px|sdmx|csvw|ods|xlsx", format,
           "CSV, JSON-stat, PC-Axis, SDMX-CSV, CSV with a CSVW description, or a spreadsheet "
           "without true counts [by the ending of the name]"),
    CHOICE("from", "csv|json|px|sdmx|csvw", from,
           "the format of FILE [by its ending; SDMX-CSV by its header]"),
    MANY("domain", "VAR=FILE", domain,
         "declare the categories of a table of true counts with a code list; may be repeated"),
    FLAG("zeros", zeros, "write zero cells too (csv, sdmx, csvw)"),
    FLAG("sparse", sparse, "write only the cells that hold something (json)"),
    FLAG("force", force, "replace files that exist"),
    SECTION("What is said about the table [what FILE says]"),
    CLI_ABOUT_OPTIONS(AT(about)),
};

static const char *const convert_examples[] = {
    "cellar convert release.csv -o release.px --matrix POP01 --source 'Statistics Office'",
    "cellar convert release.json -o release.ods --title 'People by region'",
    "cellar convert release.px -o sdmx.csv --format sdmx --structure-id 'AGENCY:POP(1.0)'", NULL};

static const cli_command convert_command = {
    "convert",
    "FILE -o FILE [options]",
    "Writes a table in another format and keeps what it is: a table of true counts stays "
    "confidential, a release keeps its certificate and the digest of its values, an estimate its "
    "description. Labels, roles, units, title, source, date and notes are kept. What a format has "
    "no place for stands beside the file in FILE.cellar.json.",
    convert_options,
    sizeof convert_options / sizeof convert_options[0],
    convert_examples};

static int convert_check(const convert_values *values, const cli_words *files)
{
    const cellar_table_format format = (cellar_table_format) (CELLAR_TABLE_AUTO + values->format);
    if (files->n != 1)
        return cli_usage("convert: name one file, a table, a release or an estimate");
    if (values->path == NULL)
        return cli_usage("convert: name the file to write: -o table.px");
    if (strcmp(values->path, "-") == 0 && format != CELLAR_TABLE_JSONSTAT &&
        format != CELLAR_TABLE_PX)
        return cli_usage("convert: to standard output go --format json and px; the other formats "
                         "are several files");
    return cli_reader_spare(files->items[0], values->path);
}

static int convert_run(const convert_values *values, const char *path,
                       cellar_convert_options *options)
{
    cellar_conversion done;
    cellar_error err;
    cellar_status status;
    options->read.format = (cellar_table_format) (CELLAR_TABLE_AUTO + values->from);
    options->write.format = (cellar_table_format) (CELLAR_TABLE_AUTO + values->format);
    options->write.zeros = values->zeros;
    options->write.sparse = values->sparse;
    options->replace = values->force;
    status = cellar_convert(path, values->path, options, &done, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cli_message("%s: %s of %zu cells%s", values->path, done.kind, done.n_cells,
                strcmp(done.kind, "table") == 0 ? "; confidential: true counts" : "");
    return CLI_DONE;
}

int cli_convert(int argc, char **argv)
{
    convert_values values = {0};
    cellar_convert_options options = cellar_convert_options_default();
    cli_domains domains = {0};
    cli_roles roles = {0};
    cli_words files = {0};
    int result = cli_options_parse(&convert_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = convert_check(&values, &files);
    if (result == CLI_GO_ON)
        result = cli_about_options(&values.about, &roles, &options.write);
    if (result == CLI_GO_ON)
        result = cli_domains_read(&values.domain, &domains, &options.read);
    if (result == CLI_GO_ON)
        result = convert_run(&values, files.items[0], &options);
    cli_domains_clear(&domains);
    cli_roles_clear(&roles);
    cli_words_clear(&files);
    cli_options_clear(&convert_command, &values);
    return result;
}
