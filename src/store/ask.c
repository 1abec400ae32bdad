/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many tables in one pass over a store that is open. */
#include <cellar/store.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"
#include "table/counting/tabulate.h"

/* A question on its way to an answer. */
typedef struct asked {
    cellar_tabulate_spec spec;
    cellar_tabulate_set set;
    cellar_tabulation run;
    cellar_stored_request request;
    int is_shared; /* it is counted with the others */
    cellar_store_answer *answer;
} asked;

static void begin(asked *a, const cellar_tabulate_spec *spec, cellar_stored_file *file,
                  int n_threads, cellar_store_answer *answer)
{
    cellar_scan_options options;
    cellar_scan *scan = NULL;
    *answer = (cellar_store_answer){.status = CELLAR_OK};
    a->answer = answer;
    a->spec = *spec;
    a->spec.path = file->name;
    a->spec.reader = cellar_reader_options_default();
    a->spec.n_threads = n_threads;
    a->set = cellar_tabulate_set_all(spec->n_variables);
    answer->status = cellar_scan_open_stored(file, &a->spec.reader, &scan, &answer->error);
    if (answer->status == CELLAR_OK)
        answer->status =
            cellar_tabulation_prepare(&a->run, &a->spec, &a->set, 1, scan, &answer->error);
    if (answer->status != CELLAR_OK)
        return;
    options = cellar_tabulation_options(&a->run);
    a->is_shared =
        cellar_scan_counts_first(a->run.scan, a->run.uses, a->run.n_uses, &options, &a->request);
}

/* Counts what can be counted together. */
static void count_shared(asked *questions, size_t n, const cellar_stored_file *file, int n_threads)
{
    cellar_stored_request **requests = cellar_alloc(n, sizeof *requests);
    cellar_error err = {""};
    cellar_status status = CELLAR_OK;
    size_t n_shared = 0;

    for (size_t i = 0; requests != NULL && i < n; i++)
        if (questions[i].is_shared)
            requests[n_shared++] = &questions[i].request;
    if (requests == NULL)
        status = cellar_fail_memory(&err, "counters");
    else if (n_shared > 0)
        status = cellar_stored_count(file, requests, n_shared, n_threads, NULL, &err);
    for (size_t i = 0; i < n; i++) {
        if (!questions[i].is_shared)
            continue;
        if (status == CELLAR_OK)
            cellar_scan_use_counts(questions[i].run.scan, &questions[i].request);
        else {
            questions[i].answer->status = status;
            questions[i].answer->error = err;
        }
    }
    cellar_free(requests);
}

static void finish(asked *a)
{
    cellar_store_answer *answer = a->answer;
    if (answer->status == CELLAR_OK)
        answer->status = cellar_tabulation_count(&a->run, &answer->rows, &answer->error);
    if (answer->status == CELLAR_OK)
        answer->status = cellar_tabulation_tables(&a->run, &answer->table, &answer->error);
    cellar_tabulation_clear(&a->run);
    cellar_stored_request_clear(&a->request);
}

void cellar_store_tabulate(const cellar_store *store, const cellar_tabulate_spec *questions,
                           size_t n, int n_threads, cellar_store_answer *answers)
{
    asked *all = cellar_alloc(n, sizeof *all);
    for (size_t i = 0; all == NULL && i < n; i++) {
        answers[i] = (cellar_store_answer){.status = CELLAR_OK};
        answers[i].status = cellar_fail_memory(&answers[i].error, "questions");
    }
    if (all == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        begin(&all[i], &questions[i], store->file, n_threads, &answers[i]);
    count_shared(all, n, store->file, n_threads);
    for (size_t i = 0; i < n; i++)
        finish(&all[i]);
    cellar_free(all);
}
