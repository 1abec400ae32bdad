/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a ledger with its key. */
#ifndef CELLAR_CLI_LEDGER_OPEN_H
#define CELLAR_CLI_LEDGER_OPEN_H

#include <cellar/ledger.h>

/* The key's file: the one named, or LEDGER.key. free() frees it. */
char *cli_ledger_key_path(const char *ledger_path, const char *key_path);

/* Answers CLI_GO_ON, or an exit code after a message. `key_path` may be NULL. */
int cli_ledger_open(const char *path, const char *key_path, cellar_ledger **out);

#endif
