/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/wire.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/address.h"

enum { DEFAULT_TIMEOUT_MS = 10000 };

/* The other side ended: by a crash, or of trouble that it tells its own user. */
static cellar_status fail_hung_up(const wire *w, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_IO,
                       "%s hung up before it answered; do this again when it is back, what was "
                       "taken counts once",
                       w->peer);
}

static cellar_status bytes_write(const wire *w, const unsigned char *bytes, size_t n,
                                 cellar_error *err)
{
    while (n > 0) {
        ssize_t sent = send(w->fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
            return fail_hung_up(w, err);
        if (sent <= 0)
            return cellar_fail_errno(err, w->peer, "send to");
        bytes += sent;
        n -= (size_t) sent;
    }
    return CELLAR_OK;
}

static cellar_status bytes_read(const wire *w, unsigned char *bytes, size_t n, cellar_error *err)
{
    while (n > 0) {
        ssize_t got = recv(w->fd, bytes, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return fail_hung_up(w, err);
        if (got < 0)
            return cellar_fail_errno(err, w->peer, "hear from");
        bytes += got;
        n -= (size_t) got;
    }
    return CELLAR_OK;
}

static cellar_status wire_greet(wire *w, const collect_round *round, cellar_error *err)
{
    unsigned char hello[HELLO_BYTES], welcome[WELCOME_BYTES], header[STREAM_HEADER_BYTES];
    channel_verdict verdict = CHANNEL_BUSY;
    cellar_status status = CELLAR_OK;

    channel_hello(&w->channel, round, hello);
    CELLAR_TRY(bytes_write(w, hello, sizeof hello, err));
    CELLAR_TRY(bytes_read(w, welcome, sizeof welcome, err));
    if (!channel_welcomed(&w->channel, round, welcome, &verdict, header))
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_RULE, "what answers is not %s of the invitation", w->peer));
    if (verdict == CHANNEL_OTHER_ROUND)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "%s is at another collection, round or decision", w->peer));
    if (verdict == CHANNEL_BUSY)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_IO, "%s is busy; try again later", w->peer));
    CELLAR_TRY(bytes_write(w, header, sizeof header, err));
out:
    return status;
}

cellar_status wire_open(wire *w, const char *peer, const char *address, const collect_round *round,
                        uint32_t timeout_ms, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    w->peer = peer;
    CELLAR_TRY(
        address_connect(address, timeout_ms > 0 ? timeout_ms : DEFAULT_TIMEOUT_MS, &w->fd, err));
    CELLAR_TRY(wire_greet(w, round, err));
out:
    return status;
}

void wire_close(wire *w)
{
    if (w->fd > 0)
        close(w->fd);
    cellar_wipe(w, sizeof *w);
}

cellar_status wire_send(wire *w, const unsigned char *plain, size_t n, unsigned char *frame,
                        cellar_error *err)
{
    channel_seal(&w->channel, plain, n, frame);
    return bytes_write(w, frame, n + FRAME_EXTRA_BYTES, err);
}

cellar_status wire_receive(wire *w, unsigned char *plain, size_t n, unsigned char *frame,
                           cellar_error *err)
{
    cellar_status status = bytes_read(w, frame, n + FRAME_EXTRA_BYTES, err);
    if (status == CELLAR_OK && !channel_open(&w->channel, frame, n + FRAME_EXTRA_BYTES, plain))
        status = cellar_fail(err, CELLAR_ERR_IO, "an answer of %s was changed", w->peer);
    return status;
}
