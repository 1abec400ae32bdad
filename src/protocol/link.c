/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A participant's connection to the shuffler. */
#include "base/error.h"
#include "base/memory.h"
#include "protocol/budget.h"
#include "protocol/participant.h"
#include "protocol/wire.h"
#include "random/locked.h"

enum { WINDOW = 32 };

struct cellar_collect_link { /* in locked memory */
    size_t submission_bytes;
    wire wire;
};

cellar_status cellar_collect_link_open(const cellar_participant *participant, const char *address,
                                       uint32_t timeout_ms, cellar_collect_link **out,
                                       cellar_error *err)
{
    int unused;
    cellar_collect_link *link = cellar_locked_alloc(sizeof *link, &unused);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (link == NULL)
        return cellar_fail_memory(err, "a connection");
    link->submission_bytes = round_submission_bytes(&participant->round);
    CELLAR_TRY(
        wire_open(&link->wire, "the shuffler", address, &participant->round, timeout_ms, err));
    *out = link;
    link = NULL;
out:
    cellar_collect_link_close(link);
    return status;
}

void cellar_collect_link_close(cellar_collect_link *link)
{
    if (link == NULL)
        return;
    wire_close(&link->wire);
    cellar_locked_free(link, sizeof *link);
}

/* The first refusal is told; all answers are heard. */
static cellar_status link_answers(cellar_collect_link *link, size_t n, cellar_error *err)
{
    unsigned char frame[ANSWER_BYTES + FRAME_EXTRA_BYTES], answer[ANSWER_BYTES];
    cellar_status status = CELLAR_OK, refused = CELLAR_OK;
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(wire_receive(&link->wire, answer, sizeof answer, frame, err));
        answer[ANSWER_BYTES - 1] = '\0';
        if (answer[0] != 0 && refused == CELLAR_OK)
            refused = cellar_fail(err, CELLAR_ERR_RULE, "the shuffler refuses: %s",
                                  (const char *) answer + 1);
    }
    status = refused;
out:
    return status;
}

cellar_status cellar_collect_link_send(cellar_collect_link *link, const void *submissions, size_t n,
                                       cellar_error *err)
{
    const unsigned char *next = submissions;
    unsigned char *frame = cellar_alloc(1, link->submission_bytes + FRAME_EXTRA_BYTES);
    cellar_status status = CELLAR_OK;

    if (frame == NULL)
        return cellar_fail_memory(err, "a frame");
    while (n > 0) {
        size_t now = n < WINDOW ? n : WINDOW;
        for (size_t i = 0; i < now; i++, next += link->submission_bytes)
            CELLAR_TRY(wire_send(&link->wire, next, link->submission_bytes, frame, err));
        CELLAR_TRY(link_answers(link, now, err));
        n -= now;
    }
out:
    cellar_free(frame);
    return status;
}

/* One record, as its number and the numbers of its values. */
static cellar_status record_charge(const cellar_participant *participant, uint64_t row,
                                   const char *const *values, cellar_error *err)
{
    uint32_t levels[CELLAR_MAX_VARIABLES] = {0};
    unsigned char bytes[8 + 4 * CELLAR_MAX_VARIABLES] = {0};
    cellar_status status = participant_levels(participant, values, levels, err);

    bytes_put(bytes, 8, row);
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        bytes_put(bytes + 8 + 4 * c, 4, levels[c]);
    if (status == CELLAR_OK)
        status = budget_charge(participant, bytes, sizeof bytes, err);
    cellar_wipe(levels, sizeof levels);
    cellar_wipe(bytes, sizeof bytes);
    return status;
}

cellar_status cellar_participant_post(const cellar_participant *participant, uint64_t row,
                                      const char *const *values, const char *address,
                                      uint32_t timeout_ms, cellar_error *err)
{
    unsigned char *sealed = cellar_alloc(1, cellar_participant_size_bytes(participant));
    cellar_collect_link *link = NULL;
    cellar_status status = CELLAR_OK;

    if (sealed == NULL)
        return cellar_fail_memory(err, "a submission");
    CELLAR_TRY(cellar_participant_seal(participant, row, values, sealed, err));
    CELLAR_TRY(cellar_collect_link_open(participant, address, timeout_ms, &link, err));
    CELLAR_TRY(record_charge(participant, row, values, err));
    CELLAR_TRY(cellar_collect_link_send(link, sealed, 1, err));
out:
    cellar_collect_link_close(link);
    cellar_free(sealed);
    return status;
}
