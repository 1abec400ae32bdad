/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that compute answers, so that those that read and write sockets never wait for one. */
#ifndef CELLAR_SERVER_JOBS_H
#define CELLAR_SERVER_JOBS_H

typedef struct jobs jobs;

/* Something to be done; the first member of what it is about. */
typedef struct job {
    void (*run)(struct job *job);
    struct job *next;
} job;

enum { JOBS_WAITING_MAX = 1024 };

jobs *jobs_start(int n_threads); /* NULL: no memory or no threads */
/* Does what waits, and ends the threads. */
void jobs_stop(jobs *all);
/* 0 when too many wait already. */
int jobs_add(jobs *all, job *one);

#endif
