/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From --by, --domain, --band and their kin to the variables of a table. */
#ifndef CELLAR_CLI_VARIABLES_H
#define CELLAR_CLI_VARIABLES_H

#include <stddef.h>

#include <cellar/microdata.h>
#include <cellar/table.h>

#include "options.h"

/* What the options said. */
typedef struct cli_variable_options {
    const char *by;
    const char *by_option; /* what names them, NULL for "by" */
    cli_words domain, recode, band, band_origin, band_closed, top, bottom, missing_as, level;
    int domain_public, domain_labels;
    int missing_wildcard; /* 1: --missing-as takes the word wildcard, a level to the reader */
} cli_variable_options;

/* The rows of an option table that make categories of values, for a cli_variable_options at that
 * offset in the verb's values. */
/* clang-format off */
#define CLI_RECODE_OPTIONS(at)                                                                     \
    {CLI_MANY, "recode", "VAR=FILE", "map values by a CSV with the columns from,to",               \
     (at) + offsetof(cli_variable_options, recode), 0, 0, 0},                                      \
    {CLI_MANY, "bottom", "VAR=B", "numbers of at most B become '<=B'",                             \
     (at) + offsetof(cli_variable_options, bottom), 0, 0, 0},                                      \
    {CLI_MANY, "top", "VAR=T", "numbers of at least T become '>=T'",                               \
     (at) + offsetof(cli_variable_options, top), 0, 0, 0},                                         \
    {CLI_MANY, "band", "VAR=WIDTH", "numbers become intervals of that width",                      \
     (at) + offsetof(cli_variable_options, band), 0, 0, 0},                                        \
    {CLI_MANY, "band-origin", "VAR=X", "where an interval begins [0]",                             \
     (at) + offsetof(cli_variable_options, band_origin), 0, 0, 0},                                 \
    {CLI_MANY, "band-closed", "[VAR=]SIDE",                                                        \
     "the end that belongs to an interval: left, [20,25), or right, (20,25] [left]",               \
     (at) + offsetof(cli_variable_options, band_closed), 0, 0, 0}
/* clang-format on */

/* clang-format off */
#define CLI_DOMAIN_OPTIONS(at)                                                                     \
    {CLI_MANY, "domain", "VAR=FILE",                                                               \
     "declare the categories with a code list (.csv, or .hrc of tau-Argus); FILE alone when it "   \
     "is named after the variable, or a folder of such files; may be repeated",                    \
     (at) + offsetof(cli_variable_options, domain), 0, 0, 0},                                      \
    {CLI_FLAG, "domain-labels", NULL,                                                              \
     "declare them by the value labels of an SPSS or Stata file; SAS files hold none",             \
     (at) + offsetof(cli_variable_options, domain_labels), 0, 0, 0},                               \
    {CLI_FLAG, "domain-public", NULL,                                                              \
     "you assert that the categories found in the data are public knowledge",                      \
     (at) + offsetof(cli_variable_options, domain_public), 0, 0, 0}
/* clang-format on */

/* What was read for a variable; its spec points here. NULL: nothing. */
typedef struct cli_variable_sources {
    cellar_codelist *codelist;
    cellar_recode_map *map;
} cli_variable_sources;

typedef struct cli_variables {
    const char *by_option;
    cli_words names;
    cellar_missing_policy missing_policy; /* of variables that --missing-as does not name */
    cellar_variable_spec *specs;
    cli_variable_sources *sources;
} cli_variables;

/* Reads what the options name; `path` is the data file (its value labels may be asked for).
 * Answers CLI_GO_ON, or an exit code after a message. Clear `out` in every case. */
int cli_variables_read(const cli_variable_options *options, const char *path,
                       const cellar_reader_options *reader, cli_variables *out);
/* The same for variables that have been split already, of which there may be any number. */
int cli_variables_read_names(const cli_variable_options *options, const char *by_option,
                             const cli_words *names, const char *path,
                             const cellar_reader_options *reader, cli_variables *out);
void cli_variables_clear(cli_variables *variables);

/* The names in the argument of an option, none empty and none twice. Answers CLI_GO_ON or CLI_USAGE
 * with a message. */
int cli_variables_split(const char *option, const char *by, cli_words *names);
/* The same, and not more than a table may have. */
int cli_variables_names(const char *option, const char *by, cli_words *names);

/* The positions of such names in a table, after the `*n` that are there already, each once; room is
 * for CELLAR_MAX_VARIABLES. */
int cli_variables_positions(const cellar_schema *schema, const char *option, const char *text,
                            size_t *positions, size_t *n);

/* The position of a variable named on the command line, or a message and (size_t) -1. */
size_t cli_variables_find(const cli_variables *variables, const char *option, const char *name);

#endif
