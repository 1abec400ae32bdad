/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A participant's connection to the shuffler. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/address.h"
#include "protocol/channel.h"
#include "protocol/participant.h"
#include "random/locked.h"

enum { WINDOW = 32, DEFAULT_TIMEOUT_MS = 10000 };

struct cellar_collect_link { /* in locked memory */
    int fd;
    size_t submission_bytes;
    channel channel;
};

/* ---- bytes ----------------------------------------------------------------- */

static cellar_status link_write(const cellar_collect_link *link, const unsigned char *bytes,
                                size_t n, cellar_error *err)
{
    while (n > 0) {
        ssize_t sent = send(link->fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return cellar_fail_errno(err, "the shuffler", "send to");
        bytes += sent;
        n -= (size_t) sent;
    }
    return CELLAR_OK;
}

static cellar_status link_read(const cellar_collect_link *link, unsigned char *bytes, size_t n,
                               cellar_error *err)
{
    while (n > 0) {
        ssize_t got = recv(link->fd, bytes, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return cellar_fail(err, CELLAR_ERR_IO, "the shuffler hung up before it answered");
        if (got < 0)
            return cellar_fail_errno(err, "the shuffler", "hear from");
        bytes += got;
        n -= (size_t) got;
    }
    return CELLAR_OK;
}

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status link_greet(cellar_collect_link *link, const collect_round *round,
                                cellar_error *err)
{
    unsigned char hello[HELLO_BYTES], welcome[WELCOME_BYTES], header[STREAM_HEADER_BYTES];
    channel_verdict verdict = CHANNEL_BUSY;
    cellar_status status = CELLAR_OK;

    channel_hello(&link->channel, round, hello);
    CELLAR_TRY(link_write(link, hello, sizeof hello, err));
    CELLAR_TRY(link_read(link, welcome, sizeof welcome, err));
    if (!channel_welcomed(&link->channel, round, welcome, &verdict, header))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "what answers is not the shuffler of the invitation"));
    if (verdict == CHANNEL_OTHER_ROUND)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the shuffler is at another collection, round or decision"));
    if (verdict == CHANNEL_BUSY)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_IO, "the shuffler is busy; try again later"));
    CELLAR_TRY(link_write(link, header, sizeof header, err));
out:
    return status;
}

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
        address_connect(address, timeout_ms > 0 ? timeout_ms : DEFAULT_TIMEOUT_MS, &link->fd, err));
    CELLAR_TRY(link_greet(link, &participant->round, err));
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
    if (link->fd > 0)
        close(link->fd);
    cellar_locked_free(link, sizeof *link);
}

/* ---- sending --------------------------------------------------------------- */

/* The first refusal is told; all answers are heard. */
static cellar_status link_answers(cellar_collect_link *link, size_t n, cellar_error *err)
{
    unsigned char frame[ANSWER_BYTES + FRAME_EXTRA_BYTES], answer[ANSWER_BYTES];
    cellar_status status = CELLAR_OK, refused = CELLAR_OK;
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(link_read(link, frame, sizeof frame, err));
        if (!channel_open(&link->channel, frame, sizeof frame, answer))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_IO, "an answer of the shuffler was changed"));
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
    size_t frame_bytes = link->submission_bytes + FRAME_EXTRA_BYTES;
    unsigned char *frame = cellar_alloc(1, frame_bytes);
    cellar_status status = CELLAR_OK;

    if (frame == NULL)
        return cellar_fail_memory(err, "a frame");
    while (n > 0) {
        size_t now = n < WINDOW ? n : WINDOW;
        for (size_t i = 0; i < now; i++, next += link->submission_bytes) {
            channel_seal(&link->channel, next, link->submission_bytes, frame);
            CELLAR_TRY(link_write(link, frame, frame_bytes, err));
        }
        CELLAR_TRY(link_answers(link, now, err));
        n -= now;
    }
out:
    cellar_free(frame);
    return status;
}
