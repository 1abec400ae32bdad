/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shuffler at a socket: submissions come, and are answered when they are on disk. */
#include <stdio.h>

#include "base/error.h"
#include "protocol/server.h"
#include "protocol/shuffler.h"

enum { N_WAITING = 64 };

typedef struct taking {
    cellar_shuffler *shuffler;
    int is_dirty; /* something was taken and not synced yet */
} taking;

/* Trouble of our own ends the service; the sender's is its answer. */
static cellar_status submission_take(void *context, const service_sender *sender,
                                     const unsigned char *frame, unsigned char *answer,
                                     cellar_error *err)
{
    taking *t = context;
    cellar_error why = {""};
    int is_new = 0;
    cellar_status status = cellar_shuffler_take(
        t->shuffler, frame, cellar_shuffler_size_bytes(t->shuffler), &is_new, &why);
    (void) sender;
    if (status == CELLAR_ERR_MEMORY || status == CELLAR_ERR_IO)
        return cellar_fail(err, status, "%s", why.message);
    t->is_dirty |= is_new;
    answer[0] = status != CELLAR_OK;
    snprintf((char *) answer + 1, ANSWER_BYTES - 1, "%.190s", why.message);
    return CELLAR_OK;
}

static cellar_status submissions_sync(void *context, cellar_error *err)
{
    taking *t = context;
    cellar_status status = t->is_dirty ? cellar_shuffler_sync(t->shuffler, err) : CELLAR_OK;
    t->is_dirty = 0;
    return status;
}

static int submissions_enough(void *context)
{
    const taking *t = context;
    return cellar_shuffler_n_held(t->shuffler) >= cellar_shuffler_n_announced(t->shuffler);
}

cellar_status cellar_shuffler_serve(cellar_shuffler *shuffler, const char *address,
                                    const cellar_collect_limits *limits, cellar_error *err)
{
    taking t = {shuffler, 0};
    const service s = {.round = &shuffler->round,
                       .keys = shuffler->keys,
                       .frame_bytes = cellar_shuffler_size_bytes(shuffler),
                       .answer_bytes = ANSWER_BYTES,
                       .n_waiting = N_WAITING,
                       .context = &t,
                       .take = submission_take,
                       .sync = submissions_sync,
                       .is_done = submissions_enough};
    return service_run(&s, address, limits, err);
}
