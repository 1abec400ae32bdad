/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a table goes: a file in a format, or a terminal in aligned columns. */
#ifndef CELLAR_CLI_TABLE_OUT_H
#define CELLAR_CLI_TABLE_OUT_H

#include <cellar/table.h>
#include <cellar/table_file.h>

#include "about.h"
#include "options.h"

typedef struct cli_table_options {
    const char *path; /* -o */
    int force, format, zeros, sparse, neutralise_formulas;
    cli_number limit;
    cli_about about;
} cli_table_options;

/* A place for a table that is not made yet, so that a run of an hour does not end at a file that
 * exists already. */
typedef struct cli_table_out {
    cli_roles roles;
    cellar_table_write_options write;
    cellar_output *output;
    cellar_output *description; /* the CSVW description beside a CSV */
    char *description_path;
    int for_people;
    uint64_t limit;
} cli_table_out;

/* Answers CLI_GO_ON, or an exit code after a message. `to_stdout` tells whether the table may go
 * to standard output when no file is named; otherwise it then goes nowhere. */
int cli_table_out_open(const cli_table_options *options, int to_stdout, cli_table_out *out);
/* Writes the table and lets the files appear. */
cellar_status cli_table_out_write(cli_table_out *out, const cellar_table *table, cellar_error *err);
/* Frees everything; what was not written never appears. */
void cli_table_out_clear(cli_table_out *out);

#endif
