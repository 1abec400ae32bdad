/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting for several threads. A store stays open, and questions that wait while others are
 * counted are then counted together, in one pass over it. */
#ifndef CELLAR_SERVE_COUNTER_H
#define CELLAR_SERVE_COUNTER_H

#include <pthread.h>

#include <cellar/store.h>

#include "plan/plan.h"

/* A question on its way; it lives with the thread that asks it. */
typedef struct counter_question {
    const cellar_tabulate_spec *spec;
    cellar_store_answer answer;
    int is_answered;
    struct counter_question *next;
} counter_question;

typedef struct serve_counter {
    cellar_store *store; /* NULL: other data, which each question reads for itself */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    counter_question *waiting; /* the newest first */
    size_t n_passes;           /* so far, for tests */
    int is_counting, has_lock;
} serve_counter;

/* Opens the data if they are a store. Close it in every case. */
cellar_status serve_counter_open(serve_counter *counter, const cellar_plan *records,
                                 cellar_error *err);
void serve_counter_close(serve_counter *counter); /* {0} is fine */

/* The table that cellar_tabulate() makes. Several threads may ask at once. On failure *out is NULL.
 */
cellar_status serve_counter_ask(serve_counter *counter, const cellar_tabulate_spec *spec,
                                cellar_table **out, cellar_error *err);

#endif
