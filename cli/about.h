/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user says about a table: options of every verb that writes one. */
#ifndef CELLAR_CLI_ABOUT_H
#define CELLAR_CLI_ABOUT_H

#include <cellar/table_file.h>

#include "options.h"

typedef struct cli_about {
    const char *title, *source, *note, *units, *updated, *matrix, *structure_id;
    cli_words role;
} cli_about;

/* The rows of the options; `at` is the offset of the cli_about in the verb's values. */
/* clang-format off */
#define CLI_ABOUT_OPTIONS(at)                                                                      \
    {CLI_TEXT, "title", "TEXT", "what the table is about",                                         \
     (at) + offsetof(cli_about, title), 0, 0, 0},                                                  \
    {CLI_TEXT, "source", "TEXT", "who made it",                                                    \
     (at) + offsetof(cli_about, source), 0, 0, 0},                                                 \
    {CLI_TEXT, "note", "TEXT", "a remark for its readers",                                         \
     (at) + offsetof(cli_about, note), 0, 0, 0},                                                   \
    {CLI_TEXT, "units", "TEXT", "what is counted, such as persons",                                \
     (at) + offsetof(cli_about, units), 0, 0, 0},                                                  \
    {CLI_TEXT, "updated", "DATE", "when it was made: 2026-11-18 or 2026-11-18T10:00 [unsaid]",     \
     (at) + offsetof(cli_about, updated), 0, 0, 0},                                                \
    {CLI_MANY, "role", "VAR=time|geo", "a variable is time or place; may be repeated",             \
     (at) + offsetof(cli_about, role), 0, 0, 0},                                                   \
    {CLI_TEXT, "matrix", "NAME", "the name of the table in a database (px) [CELLAR]",              \
     (at) + offsetof(cli_about, matrix), 0, 0, 0},                                                 \
    {CLI_TEXT, "structure-id", "ID",                                                               \
     "the structure the data belong to (sdmx) [CELLAR:TABLE(1.0)]",                                \
     (at) + offsetof(cli_about, structure_id), 0, 0, 0}
/* clang-format on */

/* The roles, with the names they point to. {0} is empty. */
typedef struct cli_roles {
    cellar_variable_role *items;
    cli_words names;
} cli_roles;
void cli_roles_clear(cli_roles *roles);

/* Gives the options for writing what the user said; they borrow it, and the roles. Answers
 * CLI_GO_ON or CLI_USAGE with a message. */
int cli_about_options(const cli_about *about, cli_roles *roles, cellar_table_write_options *write);

#endif
