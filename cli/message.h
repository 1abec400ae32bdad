/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the program ends and what it says on standard error. */
#ifndef CELLAR_CLI_MESSAGE_H
#define CELLAR_CLI_MESSAGE_H

#include <stdio.h>

#include <cellar/export.h>
#include <cellar/status.h>

/* Exit codes, the same for every verb. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_REFUSED = 3,       /* a budget or a disclosure rule said no */
    CLI_INTERRUPTED = 130, /* by Ctrl-C, as shells report it */
    CLI_GO_ON = -1         /* not an exit code: nothing decided yet */
};

/* One line on standard error: "cellar: ...". Control characters are shown as '?': names and
 * labels in data files are hostile, and a terminal obeys them. */
void cli_message(const char *format, ...) CELLAR_PRINTF(1, 2);

/* The same for a mistake on the command line; answers CLI_USAGE, visibly to compilers. */
#define cli_usage(...) (cli_message(__VA_ARGS__), CLI_USAGE)

/* Says why a library call failed (nothing for CELLAR_OK) and answers the exit code. */
int cli_exit(cellar_status status, const cellar_error *err);
/* The same where there is no --force: what exists is never replaced. */
int cli_exit_kept(cellar_status status, const cellar_error *err);

/* Replaces in place what a terminal would obey: control characters and marks that reverse the
 * direction of text. The length stays. */
void cli_make_harmless(char *text);

#endif
