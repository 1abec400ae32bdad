/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the front gives up before it reads what a stranger sent. */
#ifndef CELLAR_SERVER_SANDBOX_H
#define CELLAR_SERVER_SANDBOX_H

#include <cellar/site.h>

/* From here on this process and its threads open no file but those that the site needs while it
 * answers (Landlock), and use no system call but those of a server that has its sockets already
 * (seccomp): they start no program, open no socket, reach no other process. There is no way back.
 * Before threads begin. Where the kernel cannot do so, answers 0 after a message if it `is_needed`,
 * else says so and goes on. */
int sandbox_enter(const cellar_site *site, int is_needed);

#endif
