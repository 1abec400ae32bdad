/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libmicrohttpd reads and writes; threads of jobs.h compute. A connection whose answer is computed
 * is suspended meanwhile. Bodies are collected whole, for they are small, and parsed by the site.
 */
#include "http.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cellar/process.h>

#include "cache.h"
#include "call.h"
#include "server.h"

enum { SPARE_DESCRIPTORS = 64, LOOK_MS = 50, PATIENCE_MS = 60000, HASTE_MS = 15000 };

struct http {
    http_shared shared;
    struct MHD_Daemon *daemon;
};

/* ---- connections ------------------------------------------------------------------------------
 */

static void on_connection(void *context, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode what)
{
    http_shared *shared = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *place = info != NULL ? deadlines_sit(shared->deadlines, info->connect_fd) : NULL;
    } else if (*place != NULL) {
        deadlines_leave(shared->deadlines, *place);
        *place = NULL;
    }
}

/* Paths and queries come as they were sent: the site decodes them. */
static size_t keep_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void) context, (void) connection;
    return strlen(text);
}

/* What libmicrohttpd would log is about clients, and nobody's business. */
static void ignore(void *context, const char *format, va_list arguments)
{
    (void) context, (void) format, (void) arguments;
}

/* ---- life cycle -------------------------------------------------------------------------------
 */

/* As many connections as descriptors allow. */
static unsigned n_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return SPARE_DESCRIPTORS;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= HTTP_CONNECTIONS + SPARE_DESCRIPTORS)
        return HTTP_CONNECTIONS;
    return limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? (unsigned) limit.rlim_cur - SPARE_DESCRIPTORS
                                                  : SPARE_DESCRIPTORS;
}

static int start_daemon(http *server, const http_options *options)
{
    const unsigned n = n_connections();
    const unsigned n_loops = (unsigned) cellar_process_n_processors();
    const unsigned n_each = options->is_local ? n : (unsigned) HTTP_PER_ADDRESS;
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, http_call_on_request, &server->shared, /* the logger comes first */
        MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL, MHD_OPTION_LISTEN_SOCKET, options->fd,
        MHD_OPTION_THREAD_POOL_SIZE, n_loops > 1 ? n_loops : 2u, MHD_OPTION_CONNECTION_LIMIT, n,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) HTTP_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) HTTP_HEADER_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL, MHD_OPTION_URI_LOG_CALLBACK,
        http_call_begin, &server->shared, MHD_OPTION_NOTIFY_COMPLETED, http_call_end,
        &server->shared, MHD_OPTION_NOTIFY_CONNECTION, on_connection, &server->shared,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, n_each, MHD_OPTION_END);
    return server->daemon != NULL;
}

static void free_all(http *server)
{
    if (server->shared.jobs != NULL)
        jobs_stop(server->shared.jobs);
    if (server->shared.deadlines != NULL)
        deadlines_stop(server->shared.deadlines);
    cache_free(server->shared.cache);
    free(server);
}

http *http_start(const http_options *options)
{
    http *server = calloc(1, sizeof *server);
    http_shared *shared = server != NULL ? &server->shared : NULL;
    if (server == NULL)
        return NULL;
    shared->site = options->site;
    shared->is_unix = options->is_unix;
    shared->cache = cache_create(HTTP_CACHE_BYTES);
    shared->deadlines = deadlines_start(options->deadline);
    shared->jobs = jobs_start(options->n_threads);
    if (shared->cache != NULL && shared->deadlines != NULL && shared->jobs != NULL &&
        start_daemon(server, options))
        return server;
    server_say("cannot start to serve: not enough memory or threads");
    free_all(server);
    return NULL;
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

/* 1 when the process is told to end while it waits for clients. */
static int is_hurried(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

void http_stop(http *server, int is_patient)
{
    const MHD_socket fd = MHD_quiesce_daemon(server->daemon);
    long waited_ms = 0;
    atomic_store(&server->shared.is_closing, 1);
    while (deadlines_n(server->shared.deadlines) > 0 &&
           waited_ms < (is_patient && !is_hurried() ? PATIENCE_MS : HASTE_MS)) {
        if (!is_patient || is_hurried())
            deadlines_cut_idle(server->shared.deadlines);
        pause_ms(LOOK_MS);
        waited_ms += LOOK_MS;
    }
    jobs_stop(server->shared.jobs); /* resumes every connection that it answers */
    server->shared.jobs = NULL;
    MHD_stop_daemon(server->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    free_all(server);
}
