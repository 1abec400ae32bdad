/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routes: functions from a request to a response, without sockets. */
#ifndef CELLAR_SERVE_ROUTES_H
#define CELLAR_SERVE_ROUTES_H

#include <cellar/site.h>

#include "base/text.h"
#include "serve/answer.h"
#include "serve/site.h"

/* A request after decoding: path segments and query parameters are plain UTF-8. */
typedef struct serve_parameter {
    const char *name, *value;
} serve_parameter;

typedef struct serve_call {
    const cellar_request *request;
    const char *const *segments; /* of the path below the route's prefix */
    size_t n_segments;
    const serve_parameter *parameters;
    size_t n_parameters;
    size_t language;   /* of the site */
    serve_token token; /* without a name and a role: nobody's */
    cellar_arena *arena;
} serve_call;

/* What a route makes: a status and a body. serve_reply_problem() makes an error. */
typedef struct serve_reply {
    int status;
    const char *content_type;
    const char *etag;                 /* NULL: none; strong */
    int is_immutable;                 /* Cache-Control: immutable */
    int is_constant;                  /* the same request is answered so until the next reload */
    const char *location, *file_name; /* NULL: none */
    unsigned retry_after;             /* seconds; 0: none */
    cellar_text body;
} serve_reply;

typedef cellar_status serve_route(cellar_site *site, const serve_call *call, serve_reply *reply,
                                  cellar_error *err);

serve_route serve_route_pxweb2; /* /api/v2/... */
serve_route serve_route_pxweb1; /* /api/v1/LANGUAGE/... */
serve_route serve_route_sdmx;   /* /sdmx/... */
serve_route serve_route_v1;     /* /v1/...: ours */
serve_route serve_route_table;  /* /t/ID?...: the page of a table */

/* The value of a parameter, the name compared without regard to case; NULL when it is not there. */
const char *serve_parameter_find(const serve_call *call, const char *name);
/* application/problem+json {type, title, status, detail, instance}. */
cellar_status serve_reply_problem(serve_reply *reply, int status, const char *detail, ...)
    CELLAR_PRINTF(3, 4);
/* 403 with rule and first suggestion in `detail`, all suggestions in the member `suggestions`, cost
 * in `cost`. */
cellar_status serve_reply_refusal(serve_reply *reply, const serve_dataset *dataset,
                                  const serve_refusal *refusal);

#endif
