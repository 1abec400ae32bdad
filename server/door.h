/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The door of a collection: HTTP for participants in browsers. It hands out the invitation and the
 * decision, which are public and signed, and leaves submissions, which are sealed for others, in
 * the shuffler's inbox. It has no key: it can neither read nor make an answer.
 *
 *   GET  /invitation, /decision
 *   POST /round-1, /round-2        a submission, as application/octet-stream
 */
#ifndef CELLAR_SERVER_DOOR_H
#define CELLAR_SERVER_DOOR_H

#include <stddef.h>

#include <cellar/collect.h>

enum {
    DOOR_ORIGINS_MAX = 16,
    DOOR_CONNECTIONS = 256,   /* at once */
    DOOR_PER_ADDRESS = 16,    /* of them; from this machine, where a proxy is, all */
    DOOR_IDLE_SECONDS = 10,   /* without a byte */
    DOOR_HEADER_BYTES = 16384 /* of a request, its line included */
};

typedef struct door_options {
    const char *folder; /* of the shuffler: with invitation, inbox-1 and inbox-2 */
    const char
        *origins[DOOR_ORIGINS_MAX]; /* of pages that may take part: "https://survey.example" */
    size_t n_origins;
    int fd;       /* that listens */
    int is_local; /* 1: all connections come from this machine */
} door_options;

typedef struct door door;

/* Begins to answer, in a thread of its own. The invitation outlives it. NULL after a message. */
door *door_start(const door_options *options, const cellar_invitation *invitation);
void door_stop(door *d); /* NULL is fine */

#endif
