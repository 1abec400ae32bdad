/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of true counts read from a file, with code lists from --domain. */
#ifndef CELLAR_CLI_TABLE_IN_H
#define CELLAR_CLI_TABLE_IN_H

#include <cellar/table.h>
#include <cellar/table_file.h>

#include "words.h"

/* Code lists by the names of their variables. {0} is empty. */
typedef struct cli_domains {
    cellar_named_codelist *lists;
    cellar_codelist **owned;
    size_t n;
    cli_words names;
} cli_domains;

/* Reads the lists of `given`, VARIABLE=FILE each, for the options, which borrow them. Answers
 * CLI_GO_ON, or an exit code after a message. Clear *out in every case. */
int cli_domains_read(const cli_words *given, cli_domains *out, cellar_table_read_options *how);
void cli_domains_clear(cli_domains *domains);

/* `domains` holds VARIABLE=FILE. Answers CLI_GO_ON, or an exit code after a message; *out is then
 * NULL. */
int cli_table_in_read(const char *path, const cli_words *domains, cellar_table **out);

#endif
