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

enum { BYTES_A_SECOND = 32768 }; /* that a client reads of a response, at least */

/* Each step may take `seconds`: to send a header, counted from the request before; to send a body;
 * to read a response, with a second more for each BYTES_A_SECOND. NULL: no memory or no thread. */
deadlines *deadlines_start(int seconds);
/* Ends the thread; connections must be gone. */
void deadlines_stop(deadlines *all);

seat *deadlines_sit(deadlines *all, int fd); /* NULL when memory ends */
void deadlines_leave(deadlines *all, seat *at);
/* The next step begins: a header (`is_idle`: between two requests), a body, or a response of so
 * many bytes. */
void deadlines_set(deadlines *all, seat *at, size_t bytes, int is_idle);
/* The client waits for us, as long as it takes. */
void deadlines_lift(deadlines *all, seat *at);
/* How many connections there are. */
size_t deadlines_n(deadlines *all);
/* Cuts the connections between two requests. */
void deadlines_cut_idle(deadlines *all);

#endif
