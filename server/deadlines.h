/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a connection may take. A client that sends or reads a byte now and then is never idle;
 * each step of a request has a time by which it is done, and then the connection is cut. */
#ifndef CELLAR_SERVER_DEADLINES_H
#define CELLAR_SERVER_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

typedef struct deadlines deadlines;

/* A connection; its time is set while a request goes its way. */
typedef struct seat {
    int fd;
    int is_idle; /* 1: between two requests */
    int64_t by_ms;
    struct seat *before, *after;
} seat;

enum {
    REQUEST_MS =
        20000, /* to send the header, counted from the request before, and to send the body */
    RESPONSE_MS = 30000, /* to read the response, and a second more for each so many bytes: */
    RESPONSE_BYTES = 32768
};

deadlines *deadlines_start(void); /* NULL: no memory or no thread */
/* Ends the thread; connections must be gone. */
void deadlines_stop(deadlines *all);

seat *deadlines_sit(deadlines *all, int fd); /* NULL when memory ends */
void deadlines_leave(deadlines *all, seat *at);
/* From now on `ms` milliseconds; negative: as long as it takes. */
void deadlines_set(deadlines *all, seat *at, int64_t ms, int is_idle);
/* How many connections there are. */
size_t deadlines_n(deadlines *all);
/* Cuts the connections between two requests. */
void deadlines_cut_idle(deadlines *all);

#endif
