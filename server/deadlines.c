/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "deadlines.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { LOOK_MS = 250 };

struct deadlines {
    pthread_mutex_t lock;
    pthread_cond_t end;
    pthread_t thread;
    seat first; /* of a ring */
    size_t n;
    int64_t step_ms;
    int is_ending;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The library that serves HTTP sees the end of the connection and clears it away; seats leave
 * before their descriptor is closed, so that it is never another's. */
static void cut(const seat *at)
{
    shutdown(at->fd, SHUT_RDWR);
}

static void *watch(void *context)
{
    deadlines *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->is_ending) {
        const int64_t now = now_ms();
        struct timespec at;
        for (seat *s = all->first.after; s != &all->first; s = s->after)
            if (now > s->by_ms)
                cut(s);
        clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_nsec += LOOK_MS * 1000000;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&all->end, &all->lock, &at);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

deadlines *deadlines_start(int seconds)
{
    deadlines *all = calloc(1, sizeof *all);
    pthread_condattr_t monotonic;
    if (all == NULL)
        return NULL;
    all->first.before = all->first.after = &all->first;
    all->step_ms = (int64_t) seconds * 1000;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&all->thread, NULL, watch, all) == 0)
        return all;
    free(all);
    return NULL;
}

void deadlines_stop(deadlines *all)
{
    pthread_mutex_lock(&all->lock);
    all->is_ending = 1;
    pthread_cond_signal(&all->end);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_cond_destroy(&all->end);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

seat *deadlines_sit(deadlines *all, int fd)
{
    seat *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    *s = (seat){.fd = fd, .is_idle = 1, .by_ms = now_ms() + all->step_ms, .before = &all->first};
    pthread_mutex_lock(&all->lock);
    s->after = all->first.after;
    s->after->before = s;
    all->first.after = s;
    all->n++;
    pthread_mutex_unlock(&all->lock);
    return s;
}

void deadlines_leave(deadlines *all, seat *at)
{
    pthread_mutex_lock(&all->lock);
    at->before->after = at->after;
    at->after->before = at->before;
    all->n--;
    pthread_mutex_unlock(&all->lock);
    free(at);
}

static void set(deadlines *all, seat *at, int64_t by_ms, int is_idle)
{
    pthread_mutex_lock(&all->lock);
    at->by_ms = by_ms;
    at->is_idle = is_idle;
    pthread_mutex_unlock(&all->lock);
}

void deadlines_set(deadlines *all, seat *at, size_t bytes, int is_idle)
{
    set(all, at, now_ms() + all->step_ms + (int64_t) (bytes / BYTES_A_SECOND) * 1000, is_idle);
}

void deadlines_lift(deadlines *all, seat *at)
{
    set(all, at, INT64_MAX, 0);
}

size_t deadlines_n(deadlines *all)
{
    size_t n;
    pthread_mutex_lock(&all->lock);
    n = all->n;
    pthread_mutex_unlock(&all->lock);
    return n;
}

void deadlines_cut_idle(deadlines *all)
{
    pthread_mutex_lock(&all->lock);
    for (seat *s = all->first.after; s != &all->first; s = s->after)
        if (s->is_idle)
            cut(s);
    pthread_mutex_unlock(&all->lock);
}
