/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One request on its way through the server. */
#ifndef CELLAR_SERVER_CALL_H
#define CELLAR_SERVER_CALL_H

#include <stdatomic.h>

#include <microhttpd.h>

#include <cellar/site.h>

#include "cache.h"
#include "deadlines.h"
#include "jobs.h"

/* What all requests share. */
typedef struct http_shared {
    cellar_site *site;
    cache *cache;
    deadlines *deadlines;
    jobs *jobs;
    int is_unix;
    atomic_int is_closing;    /* 1: connections end with their response */
    atomic_size_t held_bytes; /* of responses under way */
} http_shared;

/* Callbacks of libmicrohttpd: a request line came; its header, its body and then nothing more came;
 * the request is over. */
void *http_call_begin(void *shared, const char *uri, struct MHD_Connection *connection);
enum MHD_Result http_call_on_request(void *shared, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *data, size_t *size, void **place);
void http_call_end(void *shared, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode how);

#endif
