/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
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
    TURNED_AWAY = 16, /* at once, beyond the limit: they are told that the server is busy */
    LEAST_CONNECTIONS = 4,
    OTHER_FILES = 16, /* descriptors that are left for files */
    TURN_MS = 200,
    LIFE = 6,         /* timeouts that a connection lasts without a frame, */
    FRAMES_EARN = 10, /* and frames that earn it another one */
    GRACE = 10        /* a connection is idle after this part of a timeout */
};

typedef enum stage { AT_HELLO, AT_HEADER, AT_FRAMES, AT_END } stage;

typedef struct connection {
    int fd;
    stage stage;
    int is_busy; /* one too many */
    uint64_t number;
    uint64_t origin;     /* the network it comes from: see address_accept() */
    size_t n_alike;      /* connections of this origin, without those that are one too many */
    int64_t active_ms;   /* when it came, or last completed a frame */
    int64_t deadline_ms; /* of the greeting, then of each frame */
    int64_t end_ms;      /* of the connection */
    size_t got;          /* bytes of what is being received */
    unsigned char *in;   /* room for it: a frame is the longest */
    unsigned char *out;  /* room for a welcome and the answers that may wait */
    size_t out_n, out_sent;
    channel channel;
} connection;

typedef struct server {
    const service *service;
    int listener;
    int64_t timeout_ms, accept_ms; /* nobody is let in before accept_ms */
    size_t max_connections, max_per_address, capacity, n, n_busy;
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

/* The next frame has its time, and the connection lasts longer. A greeting has one deadline. */
static void connection_extend(const server *s, connection *c)
{
    c->active_ms = now_ms();
    c->deadline_ms = c->active_ms + s->timeout_ms;
    c->end_ms += s->timeout_ms / FRAMES_EARN;
}

/* Something is complete: the next stage. */
static cellar_status connection_step(server *s, connection *c, cellar_error *err)
{
    channel_verdict verdict = c->is_busy ? CHANNEL_BUSY : CHANNEL_GO_ON;
    cellar_status status = CELLAR_OK;

    c->got = 0;
    if (c->stage == AT_HELLO) {
        c->stage = AT_END;
        if (channel_welcome(&c->channel, s->service->round, s->service->keys, c->in, &verdict,
                            c->out)) {
            c->out_n = WELCOME_BYTES;
            c->stage = verdict == CHANNEL_GO_ON ? AT_HEADER : AT_END;
        }
    } else if (c->stage == AT_HEADER) {
        c->stage = channel_begin(&c->channel, c->in) ? AT_FRAMES : AT_END;
        connection_extend(s, c);
    } else {
        status = frame_take(s, c, err);
        connection_extend(s, c);
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

/* Counts the connections of an origin, each of which knows the number. */
static size_t server_count(server *s, uint64_t origin)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += !s->connections[i].is_busy && s->connections[i].origin == origin;
    for (size_t i = 0; i < s->n; i++)
        if (s->connections[i].origin == origin)
            s->connections[i].n_alike = n;
    return n;
}

/* The last connection takes the place of one that ended; each keeps its buffers. */
static void server_drop(server *s, size_t i)
{
    connection *last = &s->connections[--s->n], *c = &s->connections[i];
    unsigned char *in = c->in, *out = c->out;
    uint64_t origin = c->origin;
    s->n_busy -= (size_t) c->is_busy;
    close(c->fd);
    if (c != last)
        *c = *last;
    cellar_wipe(&last->channel, sizeof last->channel);
    last->in = in;
    last->out = out;
    server_count(s, origin);
}

/* ---- who is let in --------------------------------------------------------- */

/* Which connections may be closed in favour of another one. */
typedef struct wish_to_close {
    int is_busy;      /* of those that were told to come back */
    uint64_t origin;  /* of this origin; 0: of any */
    int64_t since_ms; /* that completed nothing since */
} wish_to_close;

/* The one that completed nothing for longest; s->n when there is none. */
static size_t server_idlest(const server *s, const wish_to_close *wish)
{
    size_t found = s->n;
    for (size_t i = 0; i < s->n; i++) {
        const connection *c = &s->connections[i];
        if (c->is_busy == wish->is_busy && (wish->origin == 0 || c->origin == wish->origin) &&
            c->active_ms <= wish->since_ms &&
            (found == s->n || c->active_ms < s->connections[found].active_ms))
            found = i;
    }
    return found;
}

/* One of the origin with the most connections; NULL when there are none. */
static const connection *server_heaviest(const server *s)
{
    const connection *heaviest = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (heaviest == NULL || s->connections[i].n_alike > heaviest->n_alike)
            heaviest = &s->connections[i];
    return heaviest;
}

/* Makes a place for a connection of this origin: 0 when there is none, and it is told so. An origin
 * with its full share takes the place of an idle connection of its own. When all places are taken,
 * an origin with few connections takes one of the origin with the most. */
static int server_make_place(server *s, uint64_t origin, int64_t now)
{
    const connection *heaviest = server_heaviest(s);
    wish_to_close wish = {0, origin, now - s->timeout_ms / GRACE};
    size_t n_own = server_count(s, origin), idlest;

    if (origin == ADDRESS_LOCAL || n_own < s->max_per_address) {
        if (s->n - s->n_busy < s->max_connections)
            return 1;
        wish.origin = 0;
        if (heaviest != NULL && heaviest->n_alike > n_own + 1) {
            wish.origin = heaviest->origin;
            wish.since_ms = now;
        }
    }
    idlest = server_idlest(s, &wish);
    if (idlest == s->n)
        return 0;
    server_drop(s, idlest);
    return 1;
}

/* Descriptors or memory of the system have run out: whoever waits is let in a little later, when
 * idle connections have made room. */
static void server_pause(server *s, int64_t now)
{
    const wish_to_close idle = {0, 0, now - s->timeout_ms / GRACE};
    size_t idlest = server_idlest(s, &idle);
    if (idlest < s->n)
        server_drop(s, idlest);
    s->accept_ms = now + TURN_MS;
}

static void server_add(server *s, int fd, uint64_t origin, int64_t now)
{
    int is_busy = !server_make_place(s, origin, now);
    connection *c;
    unsigned char *in, *out;

    if (is_busy && s->n_busy == TURNED_AWAY)
        server_drop(s, server_idlest(s, &(wish_to_close){1, 0, now}));
    c = &s->connections[s->n++];
    in = c->in;
    out = c->out;
    *c = (connection){.fd = fd,
                      .in = in,
                      .out = out,
                      .number = s->n_accepted++,
                      .origin = origin,
                      .is_busy = is_busy,
                      .active_ms = now,
                      .deadline_ms = now + s->timeout_ms,
                      .end_ms = now + LIFE * s->timeout_ms};
    s->n_busy += (size_t) is_busy;
    server_count(s, origin);
}

/* Everybody who waits, but no more in one turn than there are places. */
static void server_accept(server *s)
{
    int64_t now = now_ms();
    for (size_t i = 0; i < s->capacity; i++) {
        uint64_t origin;
        int fd = address_accept(s->listener, &origin);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            server_pause(s, now);
        if (fd < 0)
            return;
        server_add(s, fd, origin, now);
    }
}

/* ---- turns ----------------------------------------------------------------- */

static void server_clean(server *s)
{
    int64_t now = now_ms();
    for (size_t i = s->n; i-- > 0;) {
        const connection *c = &s->connections[i];
        if ((c->stage == AT_END && c->out_n == 0) || now > c->deadline_ms || now > c->end_ms)
            server_drop(s, i);
    }
}

/* One turn: wait, read, sync, answer. */
static cellar_status server_turn(server *s, int may_read, cellar_error *err)
{
    size_t n = s->n;
    int may_accept = may_read && now_ms() >= s->accept_ms;
    cellar_status status = CELLAR_OK;

    s->polls[0] = (struct pollfd){.fd = may_accept ? s->listener : -1, .events = POLLIN};
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
    server_clean(s);
    if ((s->polls[0].revents & POLLIN) != 0)
        server_accept(s);
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

cellar_collect_limits cellar_collect_limits_default(void)
{
    return (cellar_collect_limits){.timeout_ms = DEFAULT_TIMEOUT_MS,
                                   .max_connections = DEFAULT_CONNECTIONS};
}

/* No more connections than there are descriptors for. */
static void server_limit(server *s, const cellar_collect_limits *limits)
{
    const cellar_collect_limits given = limits != NULL ? *limits : cellar_collect_limits_default();
    struct rlimit files;

    s->timeout_ms = given.timeout_ms > 0 ? given.timeout_ms : DEFAULT_TIMEOUT_MS;
    s->max_connections = given.max_connections > 0 ? given.max_connections : DEFAULT_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
        files.rlim_cur < s->max_connections + TURNED_AWAY + OTHER_FILES)
        s->max_connections = files.rlim_cur > TURNED_AWAY + OTHER_FILES + LEAST_CONNECTIONS
                                 ? (size_t) files.rlim_cur - TURNED_AWAY - OTHER_FILES
                                 : LEAST_CONNECTIONS;
    s->max_per_address =
        given.max_per_address > 0 ? given.max_per_address : (s->max_connections + 3) / 4;
}

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
    server s = {.service = of, .listener = -1};
    cellar_status status = CELLAR_OK;
    int64_t last;

    server_limit(&s, limits);
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
