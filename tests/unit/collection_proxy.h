/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A proxy, in a thread, that does to connections what networks and enemies do. */
#ifndef CELLAR_TESTS_COLLECTION_PROXY_H
#define CELLAR_TESTS_COLLECTION_PROXY_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "protocol/address.h"
#include "protocol/channel.h"

static inline void pause_ms(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* What becomes of a connection, in turn. */
typedef enum fault { CLEAN, CUT, CHANGED, REPEATED, REORDERED, DEAF, N_FAULTS } fault;

typedef struct proxy {
    const char *server; /* its address */
    int listener;
    pthread_t thread;
    _Atomic int stop;
    int n_connections, n_of[N_FAULTS];
} proxy;

/* Passes on what was sent after the greeting, with a fault. */
static inline void proxy_mangle(fault what, unsigned char *bytes, ssize_t n, int to)
{
    unsigned char half[4096];
    size_t middle = (size_t) n / 2;
    if (what == CUT) {
        (void) !send(to, bytes, middle, MSG_NOSIGNAL);
        shutdown(to, SHUT_RDWR);
        return;
    }
    if (what == CHANGED)
        bytes[middle] ^= 4;
    if (what == REORDERED) { /* the second half first */
        memcpy(half, bytes, middle);
        memmove(bytes, bytes + middle, (size_t) n - middle);
        memcpy(bytes + (size_t) n - middle, half, middle);
    }
    (void) !send(to, bytes, (size_t) n, MSG_NOSIGNAL);
    if (what == REPEATED)
        (void) !send(to, bytes, (size_t) n, MSG_NOSIGNAL);
}

/* The first 96 bytes from the participant are its greeting (hello and stream header). */
static inline void proxy_relay(int client, int server, fault what)
{
    unsigned char bytes[4096];
    size_t passed = 0;
    for (;;) {
        struct pollfd polls[] = {{.fd = client, .events = POLLIN},
                                 {.fd = server, .events = POLLIN}};
        ssize_t n;
        if (poll(polls, 2, 3000) <= 0)
            return;
        if (polls[0].revents != 0) {
            size_t limit = passed < HELLO_BYTES ? HELLO_BYTES - passed
                           : passed < 96        ? 96 - passed
                                                : sizeof bytes;
            n = recv(client, bytes, limit, 0);
            if (n <= 0)
                return;
            passed += (size_t) n;
            proxy_mangle(passed > 96 ? what : CLEAN, bytes, n, server);
        }
        if (polls[1].revents != 0) {
            n = recv(server, bytes, sizeof bytes, 0);
            if (n <= 0 || (what == DEAF && passed > 96))
                return; /* taken, but the participant never hears of it */
            (void) !send(client, bytes, (size_t) n, MSG_NOSIGNAL);
        }
    }
}

static inline void *proxy_run(void *context)
{
    proxy *p = context;
    while (!p->stop) {
        struct pollfd polls[] = {{.fd = p->listener, .events = POLLIN}};
        int client, server;
        fault what;
        if (poll(polls, 1, 50) <= 0)
            continue;
        client = accept(p->listener, NULL, NULL);
        if (client < 0)
            continue;
        what = (fault) (p->n_connections++ % N_FAULTS);
        p->n_of[what]++;
        if (address_connect(p->server, 3000, &server, NULL) == CELLAR_OK) {
            proxy_relay(client, server, what);
            close(server);
        }
        close(client);
    }
    return NULL;
}

static inline void proxy_start(proxy *p, const char *address, const char *server)
{
    cellar_error err;
    *p = (proxy){.server = server};
    if (address_listen(address, &p->listener, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pthread_create(&p->thread, NULL, proxy_run, p), 0);
}

/* Every fault must have been there. */
static inline void proxy_stop(proxy *p)
{
    p->stop = 1;
    pthread_join(p->thread, NULL);
    close(p->listener);
    for (int i = 0; i < N_FAULTS; i++)
        assert_true(p->n_of[i] > 0);
}

/* ---- servers, in processes of their own ------------------------------------ */

/* Waits until somebody listens. */
static inline void server_wait(const char *address)
{
    int fd = -1;
    for (int i = 0; i < 500 && fd < 0; i++) {
        pause_ms(10);
        if (address_connect(address, 1000, &fd, NULL) != CELLAR_OK)
            fd = -1;
    }
    assert_true(fd >= 0);
    close(fd);
}

static inline void server_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#endif
