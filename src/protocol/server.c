/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/address.h"
#include "random/locked.h"

enum {
    DEFAULT_TIMEOUT_MS = 10000,
    DEFAULT_CONNECTIONS = 256,
    TURNED_AWAY = 16, /* at once, beyond the limit: they are told that we are busy */
    TURN_MS = 200
};

typedef enum stage { AT_HELLO, AT_HEADER, AT_FRAMES, AT_END } stage;

typedef struct connection {
    int fd;
    stage stage;
    int is_busy; /* one too many */
    uint64_t number;
    int64_t deadline_ms;
    size_t got;         /* bytes of what is being received */
    unsigned char *in;  /* room for it: a frame is the longest */
    unsigned char *out; /* room for a welcome and the answers that may wait */
    size_t out_n, out_sent;
    channel channel;
} connection;

typedef struct server {
    const service *service;
    int listener;
    int64_t timeout_ms;
    size_t max_connections, capacity, n;
    uint64_t n_accepted;
    connection *connections; /* in locked memory, for their keys; the first n are open */
    struct pollfd *polls;    /* the listener comes first */
    unsigned char *buffers;  /* of all connections */
    unsigned char *plain, *answer;
    size_t frame_bytes, answer_bytes, out_bytes; /* as they are sent */
} server;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- one connection -------------------------------------------------------- */

static size_t connection_wants(const server *s, const connection *c)
{
    switch (c->stage) {
    case AT_HELLO:
        return HELLO_BYTES;
    case AT_HEADER:
        return STREAM_HEADER_BYTES;
    default:
        return s->frame_bytes;
    }
}

static int connection_has_room(const server *s, const connection *c)
{
    return c->out_n + s->answer_bytes <= s->out_bytes;
}

static cellar_status frame_take(server *s, connection *c, cellar_error *err)
{
    const service *of = s->service;
    const service_sender sender = {c->number, c->channel.binding};
    cellar_status status;

    if (!channel_open(&c->channel, c->in, s->frame_bytes, s->plain)) {
        c->stage = AT_END; /* changed, repeated or out of order: nothing more is believed */
        return CELLAR_OK;
    }
    memset(s->answer, 0, of->answer_bytes);
    status = of->take(of->context, &sender, s->plain, s->answer, err);
    if (status != CELLAR_OK)
        return status;
    channel_seal(&c->channel, s->answer, of->answer_bytes, c->out + c->out_n);
    c->out_n += s->answer_bytes;
    return CELLAR_OK;
}

/* Something is complete: the next stage. */
static cellar_status connection_step(server *s, connection *c, cellar_error *err)
{
    channel_verdict verdict = c->is_busy ? CHANNEL_BUSY : CHANNEL_GO_ON;
    cellar_status status = CELLAR_OK;

    c->got = 0;
    c->deadline_ms = now_ms() + s->timeout_ms;
    if (c->stage == AT_HELLO) {
        c->stage = AT_END;
        if (channel_welcome(&c->channel, s->service->round, s->service->keys, c->in, &verdict,
                            c->out)) {
            c->out_n = WELCOME_BYTES;
            c->stage = verdict == CHANNEL_GO_ON ? AT_HEADER : AT_END;
        }
    } else if (c->stage == AT_HEADER) {
        c->stage = channel_begin(&c->channel, c->in) ? AT_FRAMES : AT_END;
    } else {
        status = frame_take(s, c, err);
    }
    return status;
}

/* Reads what there is, as long as there is room for answers. */
static cellar_status connection_read(server *s, connection *c, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    while (c->stage != AT_END && connection_has_room(s, c)) {
        size_t wanted = connection_wants(s, c);
        ssize_t got = recv(c->fd, c->in + c->got, wanted - c->got, 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            break;
        if (got <= 0) {
            c->stage = AT_END;
            break;
        }
        c->got += (size_t) got;
        if (c->got == wanted)
            CELLAR_TRY(connection_step(s, c, err));
    }
out:
    return status;
}

static void connection_write(connection *c)
{
    while (c->out_sent < c->out_n) {
        ssize_t sent = send(c->fd, c->out + c->out_sent, c->out_n - c->out_sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return;
        if (sent <= 0) {
            c->stage = AT_END;
            break;
        }
        c->out_sent += (size_t) sent;
    }
    c->out_n = 0;
    c->out_sent = 0;
}

/* ---- all of them ----------------------------------------------------------- */

static void server_accept(server *s)
{
    while (s->n < s->capacity) {
        connection *c = &s->connections[s->n];
        unsigned char *in = c->in, *out = c->out;
        int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        *c = (connection){.fd = fd,
                          .in = in,
                          .out = out,
                          .number = s->n_accepted++,
                          .is_busy = s->n >= s->max_connections,
                          .deadline_ms = now_ms() + s->timeout_ms};
        s->n++;
    }
}

/* The last connection takes the place of one that ended; each keeps its buffers. */
static void server_drop(server *s, size_t i)
{
    connection *last = &s->connections[--s->n], *c = &s->connections[i];
    unsigned char *in = c->in, *out = c->out;
    close(c->fd);
    if (c != last)
        *c = *last;
    cellar_wipe(&last->channel, sizeof last->channel);
    last->in = in;
    last->out = out;
}

static void server_clean(server *s)
{
    int64_t now = now_ms();
    for (size_t i = s->n; i-- > 0;) {
        const connection *c = &s->connections[i];
        if ((c->stage == AT_END && c->out_n == 0) || now > c->deadline_ms)
            server_drop(s, i);
    }
}

/* One turn: wait, read, sync, answer. */
static cellar_status server_turn(server *s, int may_read, cellar_error *err)
{
    size_t n = s->n;
    cellar_status status = CELLAR_OK;

    s->polls[0] =
        (struct pollfd){.fd = may_read && n < s->capacity ? s->listener : -1, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        const connection *c = &s->connections[i];
        short in = may_read && c->stage != AT_END && connection_has_room(s, c) ? POLLIN : 0;
        s->polls[i + 1] = (struct pollfd){
            .fd = c->fd, .events = (short) (in | (c->out_n > c->out_sent ? POLLOUT : 0))};
    }
    if (poll(s->polls, n + 1, TURN_MS) < 0 && errno != EINTR)
        return cellar_fail_errno(err, "the sockets", "wait for");
    for (size_t i = 0; i < n && may_read; i++)
        if ((s->polls[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            CELLAR_TRY(connection_read(s, &s->connections[i], err));
    CELLAR_TRY(s->service->sync(s->service->context, err));
    for (size_t i = 0; i < n; i++)
        connection_write(&s->connections[i]);
    if ((s->polls[0].revents & POLLIN) != 0)
        server_accept(s);
    server_clean(s);
out:
    return status;
}

static int server_owes_answers(const server *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->connections[i].out_n > 0)
            return 1;
    return 0;
}

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status server_open(server *s, const char *address, cellar_error *err)
{
    int unused;
    size_t in_bytes, both;
    s->frame_bytes = s->service->frame_bytes + FRAME_EXTRA_BYTES;
    s->answer_bytes = s->service->answer_bytes + FRAME_EXTRA_BYTES;
    s->out_bytes = WELCOME_BYTES + s->service->n_waiting * s->answer_bytes;
    in_bytes = s->frame_bytes > HELLO_BYTES ? s->frame_bytes : HELLO_BYTES;
    both = in_bytes + s->out_bytes;
    s->capacity = s->max_connections + TURNED_AWAY;
    s->connections = cellar_locked_alloc(s->capacity * sizeof *s->connections, &unused);
    s->polls = cellar_alloc(s->capacity + 1, sizeof *s->polls);
    s->buffers = cellar_alloc(s->capacity, both);
    s->plain = cellar_alloc(1, s->frame_bytes);
    s->answer = cellar_alloc(1, s->answer_bytes);
    if (s->connections == NULL || s->polls == NULL || s->buffers == NULL || s->plain == NULL ||
        s->answer == NULL)
        return cellar_fail_memory(err, "connections");
    for (size_t i = 0; i < s->capacity; i++) {
        s->connections[i].in = s->buffers + i * both;
        s->connections[i].out = s->connections[i].in + in_bytes;
    }
    return address_listen(address, &s->listener, err);
}

static void server_close(server *s)
{
    while (s->n > 0)
        server_drop(s, s->n - 1);
    if (s->listener >= 0)
        close(s->listener);
    cellar_locked_free(s->connections, s->capacity * sizeof *s->connections);
    cellar_free(s->polls);
    cellar_free(s->buffers);
    cellar_free(s->plain);
    cellar_free(s->answer);
}

cellar_status service_run(const service *of, const char *address,
                          const cellar_collect_limits *limits, cellar_error *err)
{
    server s = {.service = of,
                .listener = -1,
                .timeout_ms = DEFAULT_TIMEOUT_MS,
                .max_connections = DEFAULT_CONNECTIONS};
    cellar_status status = CELLAR_OK;
    int64_t last;

    if (limits != NULL && limits->timeout_ms > 0)
        s.timeout_ms = limits->timeout_ms;
    if (limits != NULL && limits->max_connections > 0)
        s.max_connections = limits->max_connections;
    CELLAR_TRY(server_open(&s, address, err));
    while (!of->is_done(of->context))
        CELLAR_TRY(server_turn(&s, 1, err));
    last = now_ms() + s.timeout_ms;
    while (server_owes_answers(&s) && now_ms() < last)
        CELLAR_TRY(server_turn(&s, 0, err));
out:
    server_close(&s);
    return status;
}
