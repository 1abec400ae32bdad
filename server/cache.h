/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Responses that are the same whenever they are asked for, kept ready to be sent. */
#ifndef CELLAR_SERVER_CACHE_H
#define CELLAR_SERVER_CACHE_H

#include <stddef.h>

#include <microhttpd.h>

typedef struct cache cache;

/* A cache of at most so many bytes; NULL when memory ends. */
cache *cache_create(size_t bytes);
void cache_free(cache *all); /* NULL is fine */

/* Queues the response that is kept under `key`. 0 when there is none, or it cannot be queued.
 * *bytes is the size of its body. */
int cache_send(cache *all, const char *key, struct MHD_Connection *connection, size_t *bytes);
/* Takes a response (200) of `bytes` bytes that was queued, and keeps it unless it is large; those
 * not asked for longest go. */
void cache_keep(cache *all, const char *key, struct MHD_Response *response, size_t bytes);

#endif
