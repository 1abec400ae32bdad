/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread answers all: a submission is taken when it is on disk, and there are few each second.
 */
#include "door.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "server.h"

enum { PATH_BYTES = 4096, TEXT_BYTES = 320, SPARE_SUBMISSIONS = 1024 };

struct door {
    door_options options;
    const cellar_invitation *invitation;
    cellar_decision *decision; /* NULL before it is in the folder */
    uint64_t n_left[3];        /* by round: submissions taken since the inbox was counted */
    struct MHD_Daemon *daemon;
};

/* A request that is being read. */
typedef struct request {
    unsigned status; /* of a refusal before the body; 0: none */
    char why[TEXT_BYTES];
    int round;           /* 1 or 2: a submission to it; 0: a question */
    unsigned char *body; /* of a submission */
    size_t length, expected;
} request;

/* ---- what is in the folder ----------------------------------------------------- */

static void decision_look(door *d)
{
    char path[PATH_BYTES];
    cellar_error err;
    int n = snprintf(path, sizeof path, "%s/decision", d->options.folder);
    if (d->decision != NULL || n < 0 || n >= PATH_BYTES || access(path, F_OK) != 0)
        return;
    if (cellar_decision_read(path, d->invitation, &d->decision, &err) != CELLAR_OK)
        server_say("%s", err.message);
}

static uint64_t inbox_count(const door *d, int round)
{
    char path[PATH_BYTES];
    uint64_t n = 0;
    DIR *folder;
    snprintf(path, sizeof path, "%.4000s/inbox-%d", d->options.folder, round);
    folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        n++;
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* Nobody fills the disk: twice as many submissions wait as were announced, and some. */
static int inbox_is_full(door *d, int round)
{
    uint64_t announced = round == 2 && cellar_invitation_population(d->invitation) > 0
                             ? cellar_invitation_population(d->invitation)
                             : cellar_invitation_n_people(d->invitation);
    const uint64_t most = 2 * announced + SPARE_SUBMISSIONS;
    if (d->n_left[round] >= most)
        d->n_left[round] = inbox_count(d, round);
    return d->n_left[round] >= most;
}

/* ---- origins -------------------------------------------------------------------- */

/* Browsers say which page asks, and a page cannot lie about it. Whoever is no page says nothing,
 * and could come anyway. A page of another origin, or of none ("null"), gets no answer: it could
 * only take part as a stranger with its visitor's address. */
static int origin_is_allowed(const door *d, const char *origin)
{
    for (size_t i = 0; i < d->options.n_origins; i++)
        if (strcmp(origin, d->options.origins[i]) == 0)
            return 1;
    return 0;
}

/* ---- answers -------------------------------------------------------------------- */

static enum MHD_Result answer_send(const door *d, struct MHD_Connection *connection,
                                   unsigned status, const char *text, size_t length)
{
    const char *origin =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, (void *) text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy", "default-src 'none'");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Vary", "Origin");
    if (origin != NULL && origin_is_allowed(d, origin)) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "Content-Type");
    }
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_say(const door *d, struct MHD_Connection *connection, unsigned status,
                                  const char *why)
{
    char text[TEXT_BYTES + 1];
    snprintf(text, sizeof text, "%.300s\n", why);
    return answer_send(d, connection, status, text, strlen(text));
}

static enum MHD_Result paper_give(door *d, struct MHD_Connection *connection, const char *path)
{
    size_t length = 0;
    const char *text = NULL;
    if (strcmp(path, "/invitation") == 0)
        text = cellar_invitation_text(d->invitation, &length);
    if (strcmp(path, "/decision") == 0 && d->decision != NULL)
        text = cellar_decision_text(d->decision, &length);
    return text != NULL
               ? answer_send(d, connection, MHD_HTTP_OK, text, length)
               : answer_say(d, connection, MHD_HTTP_NOT_FOUND, "it has not been published");
}

static enum MHD_Result submission_take(door *d, struct MHD_Connection *connection, request *r)
{
    cellar_error err = {""};
    cellar_status status =
        cellar_collect_inbox_put(d->options.folder, d->invitation,
                                 r->round == 2 ? d->decision : NULL, r->body, r->length, &err);
    if (status == CELLAR_OK) {
        d->n_left[r->round]++;
        return answer_say(d, connection, MHD_HTTP_OK, "taken");
    }
    if (status == CELLAR_ERR_RULE || status == CELLAR_ERR_INPUT)
        return answer_say(d, connection,
                          status == CELLAR_ERR_RULE ? MHD_HTTP_CONFLICT : MHD_HTTP_BAD_REQUEST,
                          err.message);
    server_say("%s", err.message); /* about the disk, which is nobody else's business */
    return answer_say(d, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "try again later");
}

/* ---- requests ------------------------------------------------------------------- */

static void refuse(request *r, unsigned status, const char *why)
{
    r->status = status;
    snprintf(r->why, sizeof r->why, "%s", why);
}

/* Looks at all but the body of a submission. */
static void submission_begin(door *d, struct MHD_Connection *connection, request *r)
{
    const char *type =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    char digits[32];

    if (r->round == 2 && d->decision == NULL) {
        refuse(r, MHD_HTTP_CONFLICT, "the curator has not decided yet");
        return;
    }
    r->expected =
        cellar_collect_submission_bytes(d->invitation, r->round == 2 ? d->decision : NULL);
    snprintf(digits, sizeof digits, "%zu", r->expected);
    if (type == NULL || strcmp(type, "application/octet-stream") != 0)
        refuse(r, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "a submission is application/octet-stream");
    else if (r->expected == 0 || length == NULL || strcmp(length, digits) != 0)
        refuse(r, MHD_HTTP_BAD_REQUEST, "a submission of this round has another length");
    else if (inbox_is_full(d, r->round))
        refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
               "more submissions wait for the shuffler than were announced; try again later");
    else if ((r->body = malloc(r->expected)) == NULL)
        refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "try again later");
}

static void request_begin(door *d, struct MHD_Connection *connection, const char *path,
                          const char *method, request *r)
{
    const char *origin =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
    const int is_post = strcmp(method, "POST") == 0;
    decision_look(d);
    if (origin != NULL && !origin_is_allowed(d, origin))
        refuse(r, MHD_HTTP_FORBIDDEN, "pages of this origin do not take part here");
    else if (strcmp(path, "/round-1") == 0 && is_post)
        r->round = 1;
    else if (strcmp(path, "/round-2") == 0 && is_post)
        r->round = 2;
    else if (is_post)
        refuse(r, MHD_HTTP_NOT_FOUND, "there is no such round");
    else if (strcmp(method, "OPTIONS") == 0)
        refuse(r, MHD_HTTP_OK, ""); /* what a browser asks before a page may send */
    else if (strcmp(method, "GET") != 0)
        refuse(r, MHD_HTTP_METHOD_NOT_ALLOWED, "GET a paper, or POST a submission");
    if (r->round != 0)
        submission_begin(d, connection, r);
}

/* Called once for the header, for each part of the body, and at the end. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **place)
{
    door *d = context;
    request *r = *place;
    (void) version;
    if (r == NULL) {
        r = calloc(1, sizeof *r);
        *place = r;
        if (r == NULL)
            return MHD_NO;
        request_begin(d, connection, path, method, r);
        /* A refusal goes out at once: what was refused is not read. */
        return r->status >= 400 ? answer_say(d, connection, r->status, r->why) : MHD_YES;
    }
    if (*size > 0) {
        if (r->body == NULL || *size > r->expected - r->length)
            return MHD_NO; /* a question with a body, or more than was announced */
        memcpy(r->body + r->length, data, *size);
        r->length += *size;
        *size = 0;
        return MHD_YES;
    }
    if (r->status != 0)
        return answer_say(d, connection, r->status, r->why);
    return r->round != 0 ? submission_take(d, connection, r) : paper_give(d, connection, path);
}

static void on_end(void *context, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode why)
{
    request *r = *place;
    (void) context, (void) connection, (void) why;
    if (r != NULL)
        free(r->body);
    free(r);
    *place = NULL;
}

/* What libmicrohttpd would log is about clients. */
static void ignore(void *context, const char *format, va_list arguments)
{
    (void) context, (void) format, (void) arguments;
}

/* ---- life cycle ------------------------------------------------------------------ */

door *door_start(const door_options *options, const cellar_invitation *invitation)
{
    door *d = calloc(1, sizeof *d);
    if (d == NULL) {
        server_say("cannot start: not enough memory");
        return NULL;
    }
    d->options = *options;
    d->invitation = invitation;
    for (int round = 1; round <= 2; round++)
        d->n_left[round] = inbox_count(d, round);
    d->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        d, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL, MHD_OPTION_LISTEN_SOCKET, options->fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned) DOOR_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned) DOOR_IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t) DOOR_HEADER_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_NOTIFY_COMPLETED, on_end, d,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        options->is_local ? (unsigned) DOOR_CONNECTIONS : (unsigned) DOOR_PER_ADDRESS,
        MHD_OPTION_END);
    if (d->daemon != NULL)
        return d;
    server_say("cannot start: not enough memory or threads");
    free(d);
    return NULL;
}

void door_stop(door *d)
{
    if (d == NULL)
        return;
    MHD_stop_daemon(d->daemon);
    cellar_decision_free(d->decision);
    free(d);
}
