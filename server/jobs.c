/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t more;
    job *first, **last;
    int n_waiting, is_ending, n_threads;
    pthread_t threads[];
};

static void *work(void *context)
{
    jobs *all = context;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        job *one = all->first;
        if (one == NULL && all->is_ending)
            break;
        if (one == NULL) {
            pthread_cond_wait(&all->more, &all->lock);
            continue;
        }
        all->first = one->next;
        if (all->first == NULL)
            all->last = &all->first;
        all->n_waiting--;
        pthread_mutex_unlock(&all->lock);
        one->run(one);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

jobs *jobs_start(int n_threads)
{
    jobs *all = calloc(1, sizeof *all + (size_t) n_threads * sizeof *all->threads);
    if (all == NULL)
        return NULL;
    all->last = &all->first;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->more, NULL);
    while (all->n_threads < n_threads &&
           pthread_create(&all->threads[all->n_threads], NULL, work, all) == 0)
        all->n_threads++;
    if (all->n_threads > 0)
        return all;
    jobs_stop(all);
    return NULL;
}

void jobs_stop(jobs *all)
{
    pthread_mutex_lock(&all->lock);
    all->is_ending = 1;
    pthread_cond_broadcast(&all->more);
    pthread_mutex_unlock(&all->lock);
    for (int i = 0; i < all->n_threads; i++)
        pthread_join(all->threads[i], NULL);
    pthread_cond_destroy(&all->more);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

int jobs_add(jobs *all, job *one)
{
    int is_taken;
    pthread_mutex_lock(&all->lock);
    is_taken = all->n_waiting < JOBS_WAITING_MAX && !all->is_ending;
    if (is_taken) {
        one->next = NULL;
        *all->last = one;
        all->last = &one->next;
        all->n_waiting++;
        pthread_cond_signal(&all->more);
    }
    pthread_mutex_unlock(&all->lock);
    return is_taken;
}
