/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/shuffler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/joint.h"
#include "protocol/keys.h"

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status paths_make(const char *folder, cellar_shuffler *shuffler, cellar_error *err)
{
    const char *label = round_label(&shuffler->round);
    int spool =
        snprintf(shuffler->spool_path, SHUFFLER_PATH_BYTES, "%s/round-%s.spool", folder, label);
    int batch =
        snprintf(shuffler->batch_path, SHUFFLER_PATH_BYTES, "%s/round-%s.batch", folder, label);
    if (spool < 0 || spool >= SHUFFLER_PATH_BYTES || batch < 0 || batch >= SHUFFLER_PATH_BYTES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    if (access(shuffler->batch_path, F_OK) == 0) {
        unlink(shuffler->spool_path); /* a crash may have left it after the batch was written */
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: the round is over", shuffler->batch_path);
    }
    return CELLAR_OK;
}

static cellar_status seen_add(cellar_shuffler *shuffler, const unsigned char *peeled,
                              cellar_error *err)
{
    int known;
    for (size_t i = 0; i < shuffler->round.n_messages; i++)
        if (!id_set_add(&shuffler->seen, peeled + i * shuffler->peeled_bytes, &known))
            return cellar_fail_memory(err, "ids of messages");
    return CELLAR_OK;
}

static cellar_status seen_visit(void *context, const unsigned char *record, cellar_error *err)
{
    return seen_add(context, record, err);
}

static cellar_status shuffler_begin(const char *folder, cellar_shuffler *shuffler,
                                    cellar_error *err)
{
    size_t record;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(paths_make(folder, shuffler, err));
    shuffler->peeled_bytes = MESSAGE_ID_BYTES + round_inner_bytes(&shuffler->round);
    record = shuffler->round.n_messages * shuffler->peeled_bytes;
    shuffler->peeled = cellar_alloc(1, record + MESSAGE_HEAD_BYTES);
    if (shuffler->peeled == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a submission"));
    CELLAR_TRY(spool_open(shuffler->spool_path, &shuffler->round, shuffler->keys->spool_secret,
                          record, seen_visit, shuffler, &shuffler->spool, err));
out:
    return status;
}

static cellar_status shuffler_open(const char *folder, const cellar_invitation *invitation,
                                   const collect_round *round, const cellar_collect_keys *keys,
                                   cellar_shuffler **out, cellar_error *err)
{
    cellar_shuffler *shuffler = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(keys_check(keys, invitation, CELLAR_COLLECT_SHUFFLER, err));
    shuffler = cellar_alloc(1, sizeof *shuffler);
    if (shuffler == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a shuffler"));
    shuffler->keys = keys;
    shuffler->round = *round;
    CELLAR_TRY(shuffler_begin(folder, shuffler, err));
    *out = shuffler;
    shuffler = NULL;
out:
    cellar_shuffler_close(shuffler);
    return status;
}

cellar_status cellar_shuffler_open(const char *folder, const cellar_invitation *invitation,
                                   const cellar_decision *decision, const cellar_collect_keys *keys,
                                   cellar_shuffler **out, cellar_error *err)
{
    collect_round round;
    cellar_status status = round_of(invitation, decision, &round, err);
    *out = NULL;
    return status == CELLAR_OK ? shuffler_open(folder, invitation, &round, keys, out, err) : status;
}

cellar_status cellar_shuffler_open_asked(const char *folder, const cellar_invitation *invitation,
                                         const cellar_question *question,
                                         const cellar_collect_keys *keys, cellar_shuffler **out,
                                         cellar_error *err)
{
    collect_round round;
    *out = NULL;
    round_asked(invitation, question->id, (int) question->order, question->n_asked, &round);
    return shuffler_open(folder, invitation, &round, keys, out, err);
}

void cellar_shuffler_close(cellar_shuffler *shuffler)
{
    if (shuffler == NULL)
        return;
    spool_close(shuffler->spool);
    id_set_clear(&shuffler->seen);
    cellar_free(shuffler->peeled);
    cellar_free(shuffler);
}

/* ---- queries --------------------------------------------------------------- */

size_t cellar_shuffler_size_bytes(const cellar_shuffler *shuffler)
{
    return round_submission_bytes(&shuffler->round);
}

uint64_t cellar_shuffler_n_held(const cellar_shuffler *shuffler)
{
    return shuffler->spool != NULL ? spool_n_records(shuffler->spool) : 0;
}

uint64_t cellar_shuffler_n_announced(const cellar_shuffler *shuffler)
{
    return shuffler->round.n_people;
}

uint64_t cellar_shuffler_n_cut(const cellar_shuffler *shuffler)
{
    return shuffler->spool != NULL ? spool_n_cut(shuffler->spool) : 0;
}

/* ---- taking ---------------------------------------------------------------- */

/* Peels all messages; *n_known counts those that are here already. */
static cellar_status submission_peel(cellar_shuffler *shuffler, const unsigned char *messages,
                                     size_t *n_known, cellar_error *err)
{
    size_t outer_bytes = round_outer_bytes(&shuffler->round);
    *n_known = 0;
    for (size_t i = 0; i < shuffler->round.n_messages; i++) {
        unsigned char *id = shuffler->peeled + i * shuffler->peeled_bytes;
        if (!message_peel(&shuffler->round, shuffler->keys, messages + i * outer_bytes, id,
                          id + MESSAGE_ID_BYTES))
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "message %zu of the submission is corrupt, or was not sealed for "
                               "this shuffler and round",
                               i + 1);
        *n_known += (size_t) id_set_has(&shuffler->seen, id);
        for (size_t j = 0; j < i; j++)
            if (memcmp(id, shuffler->peeled + j * shuffler->peeled_bytes, MESSAGE_ID_BYTES) == 0)
                return cellar_fail(err, CELLAR_ERR_RULE,
                                   "two messages of the submission have one id");
    }
    return CELLAR_OK;
}

cellar_status cellar_shuffler_take(cellar_shuffler *shuffler, const void *submission, size_t length,
                                   int *is_new, cellar_error *err)
{
    const unsigned char *bytes = submission;
    size_t n_known;
    cellar_status status = CELLAR_OK;

    *is_new = 0;
    if (shuffler->is_over)
        return cellar_fail(err, CELLAR_ERR_RULE, "the round is over");
    CELLAR_TRY(submission_check(&shuffler->round, bytes, length, err));
    CELLAR_TRY(submission_peel(shuffler, bytes + SUBMISSION_HEADER_BYTES, &n_known, err));
    if (n_known == shuffler->round.n_messages)
        return CELLAR_OK; /* sent again: acknowledged again, counted once */
    if (n_known > 0)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_RULE, "the submission repeats messages of another one"));
    if (!id_set_reserve(&shuffler->seen, shuffler->round.n_messages)) /* before it is too late */
        CELLAR_TRY(cellar_fail_memory(err, "ids of messages"));
    CELLAR_TRY(spool_append(shuffler->spool, shuffler->peeled, err));
    *is_new = 1;
    CELLAR_TRY(seen_add(shuffler, shuffler->peeled, err));
out:
    return status;
}

cellar_status cellar_shuffler_sync(cellar_shuffler *shuffler, cellar_error *err)
{
    return shuffler->is_over ? CELLAR_OK : spool_sync(shuffler->spool, err);
}

/* ---- forwarding ------------------------------------------------------------ */

typedef struct gathering {
    const cellar_shuffler *shuffler;
    unsigned char *next;
} gathering;

static cellar_status gather_visit(void *context, const unsigned char *record, cellar_error *err)
{
    gathering *g = context;
    size_t inner_bytes = round_inner_bytes(&g->shuffler->round);
    (void) err;
    for (size_t i = 0; i < g->shuffler->round.n_messages; i++) {
        memcpy(g->next, record + i * g->shuffler->peeled_bytes + MESSAGE_ID_BYTES, inner_bytes);
        g->next += inner_bytes;
    }
    return CELLAR_OK;
}

cellar_status cellar_shuffler_forward(cellar_shuffler *shuffler, cellar_rng *rng, cellar_error *err)
{
    size_t bytes = round_inner_bytes(&shuffler->round);
    size_t n = (size_t) cellar_shuffler_n_held(shuffler) * shuffler->round.n_messages;
    gathering all = {shuffler, NULL};
    unsigned char *messages = NULL;
    cellar_status status = CELLAR_OK;

    if (shuffler->is_over)
        return cellar_fail(err, CELLAR_ERR_RULE, "the round is over");
    if (cellar_shuffler_n_held(shuffler) < shuffler->round.n_people)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "fewer people have sent than were announced: nothing is forwarded");
    if (!cellar_rng_is_secure(rng))
        return cellar_fail(err, CELLAR_ERR_RULE, "a batch is permuted by a secure generator only");
    messages = cellar_alloc(n, bytes);
    if (messages == NULL)
        return cellar_fail_memory(err, "a batch");
    all.next = messages;
    CELLAR_TRY(spool_visit(shuffler->spool, gather_visit, &all, err));
    CELLAR_TRY(collect_batch_permute(messages, n, bytes, rng, err));
    CELLAR_TRY(collect_batch_write(shuffler->batch_path, &shuffler->round, shuffler->keys, messages,
                                   n, err));
    shuffler->is_over = 1;
    if (unlink(shuffler->spool_path) != 0)
        CELLAR_TRY(cellar_fail_errno(err, shuffler->spool_path, "remove"));
out:
    cellar_free(messages);
    return status;
}
