/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/counter.h"

#include "base/error.h"
#include "data/stored/file.h"

enum { TOGETHER_MAX = 16 };

cellar_status serve_counter_open(serve_counter *counter, const cellar_plan *records,
                                 cellar_error *err)
{
    *counter = (serve_counter){0};
    if (!cellar_stored_is(records->data.file))
        return CELLAR_OK;
    if (pthread_mutex_init(&counter->lock, NULL) != 0)
        return cellar_fail_memory(err, "a vault");
    if (pthread_cond_init(&counter->answered, NULL) != 0) {
        pthread_mutex_destroy(&counter->lock);
        return cellar_fail_memory(err, "a vault");
    }
    counter->has_lock = 1;
    return cellar_store_open(records->data.file, &counter->store, err);
}

void serve_counter_close(serve_counter *counter)
{
    cellar_store_close(counter->store);
    if (counter->has_lock) {
        pthread_cond_destroy(&counter->answered);
        pthread_mutex_destroy(&counter->lock);
    }
    *counter = (serve_counter){0};
}

/* Answers what waits, in one pass. The lock is held, but not while counting. */
static void count_waiting(serve_counter *counter)
{
    counter_question *questions[TOGETHER_MAX];
    cellar_tabulate_spec specs[TOGETHER_MAX];
    cellar_store_answer answers[TOGETHER_MAX];
    size_t n = 0;
    for (; counter->waiting != NULL && n < TOGETHER_MAX; n++) {
        questions[n] = counter->waiting;
        specs[n] = *questions[n]->spec;
        counter->waiting = counter->waiting->next;
    }
    counter->n_passes++;
    counter->is_counting = 1;
    pthread_mutex_unlock(&counter->lock);
    cellar_store_tabulate(counter->store, specs, n, 0, answers);
    pthread_mutex_lock(&counter->lock);
    counter->is_counting = 0;
    for (size_t i = 0; i < n; i++) {
        questions[i]->answer = answers[i];
        questions[i]->is_answered = 1;
    }
    pthread_cond_broadcast(&counter->answered);
}

cellar_status serve_counter_ask(serve_counter *counter, const cellar_tabulate_spec *spec,
                                cellar_table **out, cellar_error *err)
{
    counter_question mine = {.spec = spec};
    if (counter->store == NULL)
        return cellar_tabulate(spec, out, NULL, err);
    pthread_mutex_lock(&counter->lock);
    mine.next = counter->waiting;
    counter->waiting = &mine;
    while (!mine.is_answered)
        if (counter->is_counting)
            pthread_cond_wait(&counter->answered, &counter->lock);
        else
            count_waiting(counter);
    pthread_mutex_unlock(&counter->lock);
    *out = mine.answer.table;
    return mine.answer.status == CELLAR_OK
               ? CELLAR_OK
               : cellar_fail(err, mine.answer.status, "%s", mine.answer.error.message);
}
