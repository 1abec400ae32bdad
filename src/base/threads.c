/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <cellar/process.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct pool_lane {
    cellar_pool *pool;
    pthread_t thread;
    cellar_error error;
    cellar_status status;
    int index;
    int started;
} pool_lane;

struct cellar_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    pool_lane *lanes;
    cellar_job *job;
    void *context;
    uint64_t generation; /* goes up with every run; a lane runs each generation once */
    int n_lanes;
    int n_running;
    int stopping;
};

static void pool_lane_run(pool_lane *lane)
{
    lane->error.message[0] = '\0';
    lane->status = lane->pool->job(lane->pool->context, lane->index, &lane->error);
}

static void *pool_lane_main(void *argument)
{
    pool_lane *lane = argument;
    cellar_pool *pool = lane->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stopping && pool->generation == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stopping)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        pool_lane_run(lane);
        pthread_mutex_lock(&pool->lock);
        if (--pool->n_running == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

cellar_status cellar_pool_create(int n_lanes, cellar_pool **out, cellar_error *err)
{
    cellar_pool *pool;

    *out = NULL;
    if (n_lanes <= 0)
        n_lanes = cellar_process_n_processors();
    pool = cellar_alloc(1, sizeof *pool);
    if (pool == NULL)
        return cellar_fail_memory(err, "threads");
    pool->lanes = cellar_alloc((size_t) n_lanes, sizeof *pool->lanes);
    if (pool->lanes == NULL) {
        cellar_free(pool);
        return cellar_fail_memory(err, "threads");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->n_lanes = n_lanes;
    for (int i = 0; i < n_lanes; i++) {
        pool->lanes[i].pool = pool;
        pool->lanes[i].index = i;
        if (i == 0)
            continue;
        if (pthread_create(&pool->lanes[i].thread, NULL, pool_lane_main, &pool->lanes[i]) != 0) {
            cellar_pool_free(pool);
            return cellar_fail(err, CELLAR_ERR_MEMORY, "cannot start %d threads", n_lanes);
        }
        pool->lanes[i].started = 1;
    }
    *out = pool;
    return CELLAR_OK;
}

void cellar_pool_free(cellar_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i < pool->n_lanes; i++)
        if (pool->lanes[i].started)
            pthread_join(pool->lanes[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    cellar_free(pool->lanes);
    cellar_free(pool);
}

int cellar_pool_n_lanes(const cellar_pool *pool)
{
    return pool->n_lanes;
}

cellar_status cellar_pool_run(cellar_pool *pool, cellar_job *job, void *context, cellar_error *err)
{
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->context = context;
    pool->n_running = pool->n_lanes - 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    pool_lane_run(&pool->lanes[0]);

    pthread_mutex_lock(&pool->lock);
    while (pool->n_running > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->n_lanes; i++)
        if (pool->lanes[i].status != CELLAR_OK)
            return cellar_fail(err, pool->lanes[i].status, "%s", pool->lanes[i].error.message);
    return CELLAR_OK;
}

/* ---- ranges --------------------------------------------------------------- */

typedef struct range_work {
    cellar_range_job *body;
    void *context;
    size_t n, grain;
    _Atomic size_t next;
} range_work;

static cellar_status range_lane(void *context, int lane, cellar_error *err)
{
    range_work *work = context;
    for (;;) {
        size_t first = atomic_fetch_add(&work->next, work->grain), last;
        cellar_status status;
        if (first >= work->n)
            return CELLAR_OK;
        last = work->n - first < work->grain ? work->n : first + work->grain;
        status = work->body(work->context, first, last, lane, err);
        if (status != CELLAR_OK) {
            atomic_store(&work->next, work->n);
            return status;
        }
    }
}

cellar_status cellar_pool_for(cellar_pool *pool, size_t n, size_t grain, cellar_range_job *body,
                              void *context, cellar_error *err)
{
    range_work work = {.body = body, .context = context, .n = n, .grain = grain ? grain : 1};
    if (work.grain > n)
        work.grain = n > 0 ? n : 1;
    CELLAR_ASSERT(n < SIZE_MAX / ((size_t) pool->n_lanes + 2)); /* `next` never wraps */
    return cellar_pool_run(pool, range_lane, &work, err);
}
