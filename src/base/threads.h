/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small pool of threads that run the same job side by side. */
#ifndef CELLAR_BASE_THREADS_H
#define CELLAR_BASE_THREADS_H

#include <stddef.h>

#include <cellar/status.h>

typedef struct cellar_pool cellar_pool;

/* A pool of `n_lanes` lanes (0: one per processor). The caller's thread is lane 0, so a
 * pool of one lane starts no thread. On failure *out is NULL. */
cellar_status cellar_pool_create(int n_lanes, cellar_pool **out, cellar_error *err);
void cellar_pool_free(cellar_pool *pool); /* NULL is fine */
int cellar_pool_n_lanes(const cellar_pool *pool);

/* Calls job(context, lane) once on every lane at the same time and returns when all have
 * returned. Answers the status of the lowest lane that failed, with its message. Not to be
 * called from inside a job. */
typedef cellar_status cellar_job(void *context, int lane, cellar_error *err);
cellar_status cellar_pool_run(cellar_pool *pool, cellar_job *job, void *context, cellar_error *err);

/* Calls body(context, first, last, lane) until 0..n-1 is covered in pieces of at most
 * `grain`, each piece once, in no order; stops early when one fails. */
typedef cellar_status cellar_range_job(void *context, size_t first, size_t last, int lane,
                                       cellar_error *err);
cellar_status cellar_pool_for(cellar_pool *pool, size_t n, size_t grain, cellar_range_job *body,
                              void *context, cellar_error *err);

#endif
