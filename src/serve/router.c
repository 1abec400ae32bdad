/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a request to a response: which route, and what HTTP wants around its reply. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/access.h"
#include "serve/guarantee.h"
#include "serve/pages.h"
#include "serve/request.h"
#include "serve/source.h"

enum { CALL_ARENA_BYTES = 1 << 26 };

/* ---- routes ------------------------------------------------------------------------------------
 */

typedef struct route {
    const char *prefix; /* "api/v2": whole segments */
    serve_route *run;
} route;

/* What exists; the first prefix that fits decides. */
static const route routes[] = {{"api/v2", serve_route_pxweb2}, {"api/v1", serve_route_pxweb1},
                               {"sdmx", serve_route_sdmx},     {"v1", serve_route_v1},
                               {"t", serve_route_table},       {NULL, NULL}};

/* How many segments of the call the prefix takes; 0: it is another one. */
static size_t match(const char *prefix, const serve_call *call)
{
    size_t n = 0;
    for (const char *at = prefix; *at != '\0'; n++) {
        const size_t length = strcspn(at, "/");
        if (n == call->n_segments || strlen(call->segments[n]) != length ||
            strncmp(call->segments[n], at, length) != 0)
            return 0;
        at += length + (at[length] == '/');
    }
    return n;
}

static cellar_status dispatch(cellar_site *site, serve_call *call, serve_reply *reply,
                              cellar_error *err)
{
    for (const route *r = routes; r->prefix != NULL; r++) {
        const size_t n = match(r->prefix, call);
        if (n > 0) {
            call->segments += n;
            call->n_segments -= n;
            return r->run(site, call, reply, err);
        }
    }
    return serve_route_pages(site, call, reply, err);
}

/* ---- what a request asks for -------------------------------------------------------------------
 */

static int is_method(const cellar_request *request, const char *method)
{
    return request->method != NULL && strcmp(request->method, method) == 0;
}

/* What a vault drew for another front, or for one that ended meanwhile. A folder that cannot be
 * read is that of the next draw to complain about. */
static void refresh(const cellar_site *site)
{
    for (size_t i = 0; i < site->n_datasets; i++) {
        const serve_dataset *dataset = &site->datasets[i];
        if (serve_kind_grows(dataset->kind))
            (void) !serve_source_refresh(dataset->source, dataset, NULL);
    }
}

static cellar_status run(cellar_site *site, serve_call *call, const cellar_request *request,
                         serve_reply *reply, cellar_error *err)
{
    const char *wrong = NULL, *language;
    int is_admitted;
    cellar_status status;
    if (is_method(request, "OPTIONS")) {
        reply->status = 204;
        return CELLAR_OK;
    }
    if (!is_method(request, "GET") && !is_method(request, "HEAD") && !is_method(request, "POST"))
        return serve_reply_problem(reply, 405, "Only GET, HEAD, POST and OPTIONS are answered.");
    status = serve_access_admit(site, call, reply, &is_admitted);
    if (status != CELLAR_OK || !is_admitted)
        return status;
    if (!serve_call_decode(request, call, &wrong))
        return wrong != NULL ? serve_reply_problem(reply, 400, "%s", wrong)
                             : cellar_fail_memory(err, "a request");
    call->language = serve_language_accepted(site, request->language);
    language = serve_parameter_find(call, "lang");
    if (language != NULL) {
        call->language = serve_language_find(site, language, strlen(language));
        if (call->language == SIZE_MAX)
            return serve_reply_problem(reply, 400, "There are no texts in language '%.60s'.",
                                       language);
    }
    refresh(site);
    return dispatch(site, call, reply, err);
}

/* A failure becomes an answer: what the client did wrong is said, what we did is not. */
static cellar_status settle(serve_reply *reply, cellar_status status, const cellar_error *err)
{
    switch (status) {
    case CELLAR_OK:
        return CELLAR_OK;
    case CELLAR_ERR_ARGUMENT:
    case CELLAR_ERR_INPUT:
        return serve_reply_problem(reply, 400, "%s", err->message);
    case CELLAR_ERR_RULE:
    case CELLAR_ERR_BUDGET:
        return serve_reply_problem(reply, 403, "%s", err->message);
    case CELLAR_ERR_MEMORY:
        return serve_reply_problem(reply, 503, "Not enough memory now; ask again.");
    default:
        return serve_reply_problem(reply, 500, "The server could not do this.");
    }
}

/* ---- the response ------------------------------------------------------------------------------
 */

/* What a response points into. */
typedef struct storage {
    serve_reply reply;
    cellar_arena *arena;
    char etag[SERVE_ID_TEXT + 2];
    char number[16];
    char disposition[256];
} storage;

static const char LAST_RESORT[] = "{\"type\":\"about:blank\",\"title\":\"Not now\",\"status\":503,"
                                  "\"detail\":\"Not enough memory now; ask again.\"}";

static void add_header(cellar_response *out, const char *name, const char *value)
{
    if (value != NULL && out->n_headers < CELLAR_RESPONSE_MAX_HEADERS)
        out->headers[out->n_headers++] = (cellar_response_header){name, value};
}

/* 1 when the tag is in a list as If-None-Match has it, weak or strong; "*" is every tag. */
static int has_tag(const char *list, const char *tag)
{
    const char *at = list != NULL ? strstr(list, tag) : NULL;
    return at != NULL || (list != NULL && strcmp(list, "*") == 0);
}

static void add_tag(storage *s, const cellar_request *request, cellar_response *out)
{
    char id[SERVE_ID_TEXT];
    if (out->status != 200 || is_method(request, "POST"))
        return;
    serve_digest(s->reply.body.bytes, s->reply.body.length, id);
    snprintf(s->etag, sizeof s->etag, "\"%s\"", id);
    add_header(out, "ETag", s->etag);
    if (!has_tag(request->etag, s->etag))
        return;
    out->status = 304;
    out->body = "";
    out->body_length = 0;
}

static void add_headers(storage *s, const cellar_request *request, cellar_response *out)
{
    const serve_reply *reply = &s->reply;
    if (out->body_length > 0)
        add_header(out, "Content-Type", reply->content_type);
    add_header(out, "Cache-Control",
               out->status != 200    ? "no-store"
               : reply->is_immutable ? "public, max-age=86400, immutable"
                                     : "no-cache");
    add_tag(s, request, out);
    add_header(out, "Vary", "Accept, Accept-Language, Authorization");
    add_header(out, "Access-Control-Allow-Origin", "*");
    add_header(out, "Access-Control-Expose-Headers", "ETag, Location, Retry-After");
    add_header(out, "X-Content-Type-Options", "nosniff");
    add_header(out, "Referrer-Policy", "no-referrer");
    add_header(out, "Content-Security-Policy",
               "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
               "object-src 'none'");
    add_header(out, "Location", reply->location);
    if (reply->retry_after > 0) {
        snprintf(s->number, sizeof s->number, "%u", reply->retry_after);
        add_header(out, "Retry-After", s->number);
    }
    if (reply->file_name != NULL) {
        snprintf(s->disposition, sizeof s->disposition, "attachment; filename=\"%s\"",
                 reply->file_name);
        add_header(out, "Content-Disposition", s->disposition);
    }
    if (is_method(request, "OPTIONS")) {
        add_header(out, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
        add_header(out, "Access-Control-Allow-Headers", "Authorization, Content-Type");
        add_header(out, "Access-Control-Max-Age", "86400");
    }
    if (out->status == 401)
        add_header(out, "WWW-Authenticate", "Bearer");
    if (out->status == 405)
        add_header(out, "Allow", "GET, HEAD, POST, OPTIONS");
}

static void respond_last(cellar_response *out)
{
    out->status = 503;
    out->body = LAST_RESORT;
    out->body_length = sizeof LAST_RESORT - 1;
    add_header(out, "Content-Type", "application/problem+json");
    add_header(out, "Retry-After", "5");
}

void cellar_response_clear(cellar_response *response)
{
    storage *s = response->storage;
    if (s != NULL) {
        cellar_text_clear(&s->reply.body);
        cellar_arena_free(s->arena);
        cellar_free(s);
    }
    *response = (cellar_response){0};
}

void cellar_site_answer(cellar_site *site, const cellar_request *request, cellar_response *out)
{
    storage *s = cellar_alloc(1, sizeof *s);
    serve_call call = {0};
    cellar_error err = {""};
    cellar_status status;
    *out = (cellar_response){.storage = s};
    if (s != NULL)
        s->arena = cellar_arena_create(CALL_ARENA_BYTES);
    if (s == NULL || s->arena == NULL) {
        respond_last(out);
        return;
    }
    s->reply.status = 200;
    call.request = request;
    call.arena = s->arena;
    status = run(site, &call, request, &s->reply, &err);
    if (status == CELLAR_OK && s->reply.body.failed)
        status = CELLAR_ERR_MEMORY;
    if (settle(&s->reply, status, &err) != CELLAR_OK) {
        respond_last(out);
        return;
    }
    out->status = s->reply.status;
    out->body = s->reply.body.length > 0 ? s->reply.body.bytes : "";
    out->body_length = s->reply.body.length;
    out->is_immutable = s->reply.is_immutable || s->reply.is_constant;
    add_headers(s, request, out);
    serve_metrics_response(&site->metrics, out->status);
}
