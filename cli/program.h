/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that come with this one and do the work of a verb: cellar-server, cellar-door. */
#ifndef CELLAR_CLI_PROGRAM_H
#define CELLAR_CLI_PROGRAM_H

/* Becomes the program arguments[0], which lies beside this one, where it is installed, or where the
 * environment variable says. Returns only after a message that it cannot be started. */
void cli_program_start(const char *variable, char *const *arguments);

#endif
