/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "call.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http.h"

typedef struct call {
    job job; /* first */
    http_shared *shared;
    struct MHD_Connection *connection;
    seat *seat;
    int is_begun, is_computed;
    cellar_request request;
    cellar_response response;
    char *path, *query; /* in one piece of memory, which is `path` */
    char *key;          /* of the cache; NULL: not to be kept */
    char *body;
    size_t body_length, body_room, n_dropped;
    size_t held_bytes;
    char address[INET6_ADDRSTRLEN];
} call;

/* ---- a request --------------------------------------------------------------------------------
 */

void *http_call_begin(void *shared, const char *uri, struct MHD_Connection *connection)
{
    call *c = calloc(1, sizeof *c);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (c == NULL)
        return NULL;
    c->shared = shared;
    c->connection = connection;
    c->seat = info != NULL ? info->socket_context : NULL;
    c->path = strdup(uri);
    if (c->path != NULL) {
        char *mark = strchr(c->path, '?');
        c->query = mark != NULL ? mark + 1 : NULL;
        if (mark != NULL)
            *mark = '\0';
    }
    return c;
}

void http_call_end(void *shared, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode how)
{
    call *c = *place;
    (void) shared, (void) connection, (void) how;
    *place = NULL;
    if (c == NULL)
        return;
    if (c->seat != NULL)
        deadlines_set(c->shared->deadlines, c->seat, 0, 1);
    atomic_fetch_sub(&c->shared->held_bytes, c->held_bytes);
    cellar_response_clear(&c->response);
    free(c->path);
    free(c->key);
    free(c->body);
    free(c);
}

static const char *header(const call *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

/* At a Unix socket the last address in X-Forwarded-For, which the proxy put there itself. */
static const char *address_of(call *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *from = info != NULL ? info->client_addr : NULL;
    if (c->shared->is_unix) {
        const char *list = header(c, "X-Forwarded-For");
        const char *last = list != NULL ? strrchr(list, ',') : NULL;
        if (list == NULL)
            return NULL;
        last = last != NULL ? last + 1 : list;
        snprintf(c->address, sizeof c->address, "%s", last + strspn(last, " "));
    } else if (from != NULL && from->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *) (const void *) from)->sin_addr,
                  c->address, sizeof c->address);
    else if (from != NULL && from->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) (const void *) from)->sin6_addr,
                  c->address, sizeof c->address);
    return c->address[0] != '\0' ? c->address : NULL;
}

static void fill_request(call *c, const char *method)
{
    c->request = (cellar_request){.method = method,
                                  .path = c->path,
                                  .query = c->query,
                                  .accept = header(c, MHD_HTTP_HEADER_ACCEPT),
                                  .language = header(c, MHD_HTTP_HEADER_ACCEPT_LANGUAGE),
                                  .authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION),
                                  .etag = header(c, MHD_HTTP_HEADER_IF_NONE_MATCH),
                                  .content_type = header(c, MHD_HTTP_HEADER_CONTENT_TYPE),
                                  .address = address_of(c),
                                  .body = c->body,
                                  .body_length = c->body_length};
}

/* What decides a response that may be kept: two requests of one key have the same one. */
static void make_key(call *c)
{
    const cellar_request *r = &c->request;
    const char *query = r->query != NULL ? r->query : "";
    const char *accept = r->accept != NULL ? r->accept : "";
    const char *language = r->language != NULL ? r->language : "";
    size_t length;
    if ((strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0) ||
        r->authorization != NULL || r->etag != NULL)
        return;
    length = strlen(r->path) + strlen(query) + strlen(accept) + strlen(language) + 4;
    c->key = malloc(length);
    if (c->key != NULL)
        snprintf(c->key, length, "%s\n%s\n%s\n%s", r->path, query, accept, language);
}

/* ---- bodies -----------------------------------------------------------------------------------
 */

/* Of a body that is too large the rest is read and dropped, as long as it is not endless. */
static enum MHD_Result take_body(call *c, const char *data, size_t size)
{
    if (c->n_dropped > 0 || size > HTTP_BODY_BYTES - c->body_length) {
        c->n_dropped += size;
        return c->n_dropped <= 16 * (size_t) HTTP_BODY_BYTES ? MHD_YES : MHD_NO;
    }
    if (c->body_length + size > c->body_room) {
        const size_t room = 2 * (c->body_length + size);
        char *body = realloc(c->body, room);
        if (body == NULL)
            return MHD_NO;
        c->body = body;
        c->body_room = room;
    }
    memcpy(c->body + c->body_length, data, size);
    c->body_length += size;
    return MHD_YES;
}

static int is_too_large(const call *c)
{
    const char *length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length != NULL && strtoull(length, NULL, 10) > HTTP_BODY_BYTES;
}

/* The headers of a request that say how long its body is. */
typedef struct framing {
    int n, n_unknown; /* of a coding that is not known */
} framing;

static enum MHD_Result count_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    framing *found = context;
    const int is_coding = strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    (void) kind;
    if (is_coding || strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
        found->n++;
    if (is_coding && (value == NULL || strcasecmp(value, "chunked") != 0))
        found->n_unknown++;
    return MHD_YES;
}

/* What is wrong with them, as a response; NULL: nothing. A proxy in front might believe the other
 * one of two: RFC 9112, section 6.3. */
static const char *find_framing_fault(const call *c)
{
    framing found = {0, 0};
    MHD_get_connection_values(c->connection, MHD_HEADER_KIND, count_framing, &found);
    return found.n > 1 ? "{\"type\":\"about:blank\",\"title\":\"The request is not understood\","
                         "\"status\":400,\"detail\":\"More than one header says how long the body "
                         "is.\"}"
           : found.n_unknown > 0
               ? "{\"type\":\"about:blank\",\"title\":\"The request is not understood\","
                 "\"status\":400,\"detail\":\"The only transfer coding that is read is chunked.\"}"
               : NULL;
}

/* ---- responses --------------------------------------------------------------------------------
 */

static void set_deadline(const call *c, size_t bytes)
{
    if (c->seat != NULL)
        deadlines_set(c->shared->deadlines, c->seat, bytes, 0);
}

/* One that was not computed: a constant text. */
static enum MHD_Result send_words(call *c, struct MHD_Connection *connection, unsigned status,
                                  const char *words)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(words), (void *) words, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_NO;
    if (response == NULL)
        return MHD_NO;
    if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                "application/problem+json") == MHD_YES &&
        MHD_add_response_header(response, "Access-Control-Allow-Origin", "*") == MHD_YES &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    if (c != NULL)
        set_deadline(c, 0);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_busy(call *c, struct MHD_Connection *connection)
{
    return send_words(c, connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "{\"type\":\"about:blank\",\"title\":\"Not now\",\"status\":503,"
                      "\"detail\":\"Too much is asked at the moment; ask again.\"}");
}

static void free_kept(void *context)
{
    cellar_response *response = context;
    cellar_response_clear(response);
    free(response);
}

/* A response whose body lives as long as it does. NULL when memory ends. */
static struct MHD_Response *make_response(call *c)
{
    cellar_response *kept = malloc(sizeof *kept);
    struct MHD_Response *out;
    if (kept == NULL)
        return NULL;
    *kept = c->response;
    out = MHD_create_response_from_buffer_with_free_callback_cls(
        kept->body_length, (void *) kept->body, free_kept, kept);
    if (out == NULL) {
        free(kept);
        return NULL;
    }
    c->response.storage = NULL; /* it is kept's now */
    for (size_t i = 0; i < kept->n_headers; i++)
        if (MHD_add_response_header(out, kept->headers[i].name, kept->headers[i].value) !=
            MHD_YES) {
            MHD_destroy_response(out);
            return NULL;
        }
    return out;
}

static enum MHD_Result send_computed(call *c)
{
    const int is_kept = c->key != NULL && c->response.is_immutable && c->response.status == 200;
    const int is_closing = atomic_load(&c->shared->is_closing);
    const unsigned status = (unsigned) c->response.status;
    const size_t bytes = c->response.body_length;
    struct MHD_Response *response;
    enum MHD_Result result;
    if (atomic_fetch_add(&c->shared->held_bytes, bytes) + bytes > HTTP_HELD_BYTES) {
        atomic_fetch_sub(&c->shared->held_bytes, bytes);
        return send_busy(c, c->connection);
    }
    c->held_bytes = bytes;
    response = make_response(c);
    if (response == NULL)
        return MHD_NO;
    if (is_closing)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    set_deadline(c, bytes);
    result = MHD_queue_response(c->connection, status, response);
    if (is_kept && !is_closing && result == MHD_YES)
        cache_keep(c->shared->cache, c->key, response, bytes);
    else
        MHD_destroy_response(response);
    return result;
}

/* ---- the way of a request ---------------------------------------------------------------------
 */

static void compute(job *one)
{
    call *c = (call *) (void *) one;
    cellar_site_answer(c->shared->site, &c->request, &c->response);
    c->is_computed = 1;
    MHD_resume_connection(c->connection);
}

static enum MHD_Result answer(call *c, const char *method)
{
    size_t bytes;
    if (c->n_dropped > 0)
        return send_words(c, c->connection, MHD_HTTP_CONTENT_TOO_LARGE,
                          "{\"type\":\"about:blank\",\"title\":\"The request is too large\","
                          "\"status\":413,\"detail\":\"A body has at most 65536 bytes.\"}");
    fill_request(c, method);
    make_key(c);
    if (c->key != NULL && !atomic_load(&c->shared->is_closing) &&
        cache_send(c->shared->cache, c->key, c->connection, &bytes)) {
        set_deadline(c, bytes);
        return MHD_YES;
    }
    if (c->seat != NULL)
        deadlines_lift(c->shared->deadlines, c->seat);
    c->job.run = compute;
    MHD_suspend_connection(c->connection);
    if (jobs_add(c->shared->jobs, &c->job))
        return MHD_YES;
    c->is_computed = -1; /* too much waits already */
    MHD_resume_connection(c->connection);
    return MHD_YES;
}

enum MHD_Result http_call_on_request(void *shared, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *data, size_t *size, void **place)
{
    call *c = *place;
    (void) shared, (void) url, (void) version;
    if (c == NULL || c->path == NULL)
        return send_busy(NULL, connection);
    if (!c->is_begun) {
        const char *fault = find_framing_fault(c);
        c->is_begun = 1;
        if (fault != NULL)
            return send_words(c, connection, MHD_HTTP_BAD_REQUEST, fault);
        c->n_dropped = is_too_large(c) ? 1 : 0;
        set_deadline(c, 0);
        return c->n_dropped > 0 ? answer(c, method) : MHD_YES;
    }
    if (*size > 0) {
        const enum MHD_Result result = take_body(c, data, *size);
        *size = 0;
        return result;
    }
    if (c->is_computed < 0)
        return send_busy(c, connection);
    return c->is_computed ? send_computed(c) : answer(c, method);
}
