/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program cellar-server: a supervisor, a front that speaks HTTP and, where a data set needs
 * one, a vault. The front is the only one that reads what strangers send, and can open neither data
 * nor keys nor the ledger; the vault is the only one that can, and has no network. */
#ifndef CELLAR_SERVER_SERVER_H
#define CELLAR_SERVER_SERVER_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include <cellar/export.h>

typedef struct server_options {
    const char *config; /* the path of the configuration */
    const char *listen; /* "127.0.0.1:8080", "[::1]:8080", "unix:/run/cellar/http" */
    const char *signer; /* the file of a public key that signed the configuration; NULL: nobody's */
    const char *front_user, *vault_user; /* whom they become; NULL: whoever started them */
    int n_threads;                       /* that answer requests; 0: some for each processor */
    int deadline;                        /* seconds to send a request and to read its response */
    int is_anywhere;                     /* 1: addresses other than loopback, too */
    int needs_sandbox; /* 1: do not serve where the kernel cannot confine the front */
} server_options;

/* One line on standard error: "PROGRAM: ...". Never about what a client sent. */
void server_say(const char *format, ...) CELLAR_PRINTF(1, 2);

/* ---- listening (listen.c) ------------------------------------------------------------------- */

typedef struct server_socket {
    int fd;
    int is_unix;   /* what a proxy says about its client is believed there only */
    char url[160]; /* "http://127.0.0.1:8080/"; "unix:/run/cellar/http" */
} server_socket;

/* The socket that a service manager passes (LISTEN_FDS), else one at the address of the options.
 * -1 after a message. */
int server_listen(const server_options *options, server_socket *out);
/* Removes the file of a Unix socket that server_listen() made. */
void server_listen_close(const server_options *options, server_socket *listening);

/* ---- the service manager (notify.c) --------------------------------------------------------- */

/* Reports a state such as "READY=1" where a service manager wants to know (NOTIFY_SOCKET). */
void server_notify(const char *state);

/* ---- the page (page.c) ---------------------------------------------------------------------- */

/* The folder of the page that came with this program; NULL when it was not built. */
const char *server_find_page(char path[PATH_MAX]);

/* ---- users (user.c) ------------------------------------------------------------------------- */

/* Becomes a user, with the groups of that user and no other; NULL stays. 0 after a message. */
int server_become(const char *user);

/* ---- processes ------------------------------------------------------------------------------ */

enum { SERVER_LINKS = 4 }; /* questions that the vault can be asked at once */

/* The supervisor: starts front and vault, starts new ones when they end or when a new configuration
 * is to be read (SIGHUP), stops (SIGTERM, SIGINT). Answers the exit code. */
int server_supervise(const server_options *options, server_socket *listening);

/* What a front starts with. */
typedef struct server_front {
    const server_options *options;
    server_socket socket;
    int links[SERVER_LINKS]; /* to the vault */
    int ready; /* once requests are answered it gets a byte: 'v' when a vault is needed */
} server_front;

/* The front: SIGTERM finishes what was asked and ends, SIGUSR1 does so when nobody asks any more.
 * Answers the exit code. */
int server_front_run(const server_front *front);
/* The vault: writes a byte to `ready`, then answers at every link until the front has closed all.
 */
int server_vault_run(const server_options *options, const int links[SERVER_LINKS], int ready);

#endif
