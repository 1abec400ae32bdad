/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTTP/1.1 in front of a site. */
#ifndef CELLAR_SERVER_HTTP_H
#define CELLAR_SERVER_HTTP_H

#include <cellar/site.h>

typedef struct http http;

/* Caps on what one client can make us hold. */
enum {
    HTTP_BODY_BYTES = 65536,     /* of a request */
    HTTP_HEADER_BYTES = 32768,   /* of a request, its line included */
    HTTP_CONNECTIONS = 4096,     /* at once */
    HTTP_PER_ADDRESS = 256,      /* of them; a proxy at a Unix socket has no address */
    HTTP_IDLE_SECONDS = 10,      /* between two requests */
    HTTP_HELD_BYTES = 256 << 20, /* of responses that clients did not read yet */
    HTTP_CACHE_BYTES = 64 << 20
};

typedef struct http_options {
    cellar_site *site;
    int fd;       /* that listens */
    int is_unix;  /* 1: X-Forwarded-For is the proxy's word */
    int is_local; /* 1: all connections come from this machine */
    int n_threads;
    int deadline; /* seconds, for each step of a request */
} http_options;

/* Starts answering. NULL after a message. */
http *http_start(const http_options *options);
/* Accepts no more connections, and finishes what was asked. With `is_patient` connections are kept
 * until clients close them or are idle for long, so that none finds its connection closed when it
 * asks. */
void http_stop(http *server, int is_patient);

#endif
