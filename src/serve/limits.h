/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often one may ask: a bucket for every token and for every prefix of addresses (IPv4 whole,
 * IPv6 the first 64 bits), in a table of fixed size. */
#ifndef CELLAR_SERVE_LIMITS_H
#define CELLAR_SERVE_LIMITS_H

#include <stdint.h>

#include <cellar/status.h>

typedef struct serve_limits serve_limits;

/* Each bucket holds `calls` and fills again within `window_seconds`. */
cellar_status serve_limits_create(unsigned calls, unsigned window_seconds, serve_limits **out,
                                  cellar_error *err);
void serve_limits_free(serve_limits *limits); /* NULL is fine */

/* Takes one call at the time `now_ms` (of a clock that never goes back). Who has a token is counted
 * by its name, others by `address` (NULL: all of these together). 0: go on; else the seconds after
 * which to ask again, for Retry-After. Threads may share it. */
unsigned serve_limits_take(serve_limits *limits, const char *token_name, const char *address,
                           int64_t now_ms);

#endif
