/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of true counts read from a file, with code lists from --domain. */
#ifndef CELLAR_CLI_TABLE_IN_H
#define CELLAR_CLI_TABLE_IN_H

#include <cellar/table.h>

#include "words.h"

/* `domains` holds VARIABLE=FILE. Answers CLI_GO_ON, or an exit code after a message; *out is then
 * NULL. */
int cli_table_in_read(const char *path, const cli_words *domains, cellar_table **out);

#endif
