/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar merge: partial tables, counted apart, added up. */
#include "verbs.h"

#include <cellar/table_file.h>

#include "table_out.h"

typedef struct merge_values {
    cli_table_options table;
    cli_number threads;
} merge_values;

#define AT(member) offsetof(merge_values, member)
static const cli_option merge_options[] = {
    OUTPUT(table.path, "write to a file that only you can read [standard output]"),
    FLAG("force", table.force, "replace an existing file"),
    CHOICE("format", "csv|json|px|sdmx|csvw", table.format,
           "CSV, JSON-stat, PC-Axis, SDMX-CSV, or CSV with a CSVW description [by the ending]"),
    FLAG("zeros", table.zeros, "write cells without records too (csv, sdmx)"),
    FLAG("sparse", table.sparse, "write only the cells that hold something (json)"),
    CLI_ABOUT_OPTIONS(AT(table.about)),
    NUMBER("threads", "N", threads, 1, 1024,
           "read so many tables at the same time [all processors]"),
};

static const char *const merge_examples[] = {
    "cellar merge part1.json part2.json part3.json -o true.json", NULL};

static const cli_command merge_command = {
    "merge",
    "TABLE TABLE... -o FILE [options]",
    "Adds up tables of true counts that were counted apart with the same options, in JSON-stat: by "
    "the jobs of a cluster, or at several places. The result is the table of all records together, "
    "byte for byte. Tables that do not say the same about what was counted are refused, and so are "
    "categories that were not declared.",
    merge_options,
    sizeof merge_options / sizeof merge_options[0],
    merge_examples};

static int merge_run(const merge_values *values, const cli_words *files)
{
    cli_table_out out = {0};
    cellar_table *all = NULL;
    cellar_error err;
    int result = cli_table_out_open(&values->table, 1, &out);
    if (result == CLI_GO_ON) {
        cellar_status status = cellar_table_merge_files(cli_words_items(files), files->n, NULL,
                                                        (int) values->threads.value, &all, &err);
        if (status == CELLAR_OK)
            status = cli_table_out_write(&out, all, &err);
        result = cli_exit(status, &err);
    }
    cellar_table_free(all);
    cli_table_out_clear(&out);
    return result;
}

int cli_merge(int argc, char **argv)
{
    merge_values values = {0};
    cli_words files = {0};
    int result = cli_options_parse(&merge_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON && files.n < 2)
        result = cli_usage("merge: name at least two tables");
    if (result == CLI_GO_ON)
        result = merge_run(&values, &files);
    cli_words_clear(&files);
    cli_options_clear(&merge_command, &values);
    return result;
}
