/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errands to the desk of another role: fetching what it published, delivering a batch. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cellar/collect.h>
#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/desk.h"
#include "protocol/keys.h"
#include "protocol/wire.h"
#include "random/locked.h"

static const uint64_t PAPER_MAX = UINT64_C(1) << 36;

typedef struct errand {
    wire wire;
    unsigned char plain[DESK_FRAME_BYTES];
    unsigned char frame[DESK_FRAME_BYTES + FRAME_EXTRA_BYTES];
} errand;

static const char *desk_owner(cellar_collect_role role)
{
    return role == CELLAR_COLLECT_ANALYST ? "the analyst" : "the curator";
}

static cellar_status errand_open(const cellar_collect_desk *at, errand **out, cellar_error *err)
{
    collect_round round;
    int unused;
    *out = cellar_locked_alloc(sizeof **out, &unused);
    if (*out == NULL)
        return cellar_fail_memory(err, "a connection");
    desk_round(&at->identity, at->role, &round);
    return wire_open(&(*out)->wire, desk_owner(at->role), at->address, &round, at->timeout_ms, err);
}

static void errand_close(errand *e)
{
    if (e == NULL)
        return;
    wire_close(&e->wire);
    cellar_locked_free(e, sizeof *e);
}

static cellar_status errand_ask(errand *e, const desk_frame *wish, cellar_error *err)
{
    desk_write(wish, e->plain);
    return wire_send(&e->wire, e->plain, DESK_FRAME_BYTES, e->frame, err);
}

/* A refusal is CELLAR_ERR_RULE, and says why; what is not there yet is CELLAR_ERR_IO. */
static cellar_status errand_hear(errand *e, desk_frame *answer, cellar_error *err)
{
    cellar_status status = wire_receive(&e->wire, e->plain, DESK_FRAME_BYTES, e->frame, err);
    if (status != CELLAR_OK)
        return status;
    if (!desk_read(e->plain, answer) || answer->kind > DESK_NOT_YET)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s gives no answer that makes sense",
                           e->wire.peer);
    if (answer->kind == DESK_REFUSED)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s refuses: %.*s", e->wire.peer,
                           (int) (answer->length < 200 ? answer->length : 200),
                           (const char *) answer->bytes);
    return CELLAR_OK;
}

/* ---- fetching -------------------------------------------------------------- */

static cellar_status fetch_rest(errand *e, size_t paper, cellar_output *output, int *found,
                                cellar_error *err)
{
    uint64_t offset = 0, total = 1;
    cellar_status status = CELLAR_OK;

    *found = 1;
    while (offset < total) {
        desk_frame answer;
        CELLAR_TRY(
            errand_ask(e, &(desk_frame){DESK_GET, (unsigned char) paper, 0, offset, NULL}, err));
        CELLAR_TRY(errand_hear(e, &answer, err));
        if (answer.kind == DESK_NOT_YET) {
            *found = 0;
            break;
        }
        if ((offset > 0 && answer.offset != total) || answer.length == 0 ||
            answer.offset > PAPER_MAX || answer.length > answer.offset - offset)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s gives no answer that makes sense",
                                   e->wire.peer));
        total = answer.offset;
        offset += answer.length;
        cellar_output_write(output, answer.bytes, answer.length);
    }
out:
    return status;
}

cellar_status cellar_collect_fetch(const cellar_collect_desk *at, const char *paper,
                                   const char *path, int *found, cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    size_t number = desk_find(paper);
    options.shared = 1;
    errand *e = NULL;
    cellar_output *output = NULL;
    cellar_status status = CELLAR_OK;

    *found = 0;
    if (number >= DESK_PAPERS)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no paper '%.200s'", paper);
    CELLAR_TRY(errand_open(at, &e, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    CELLAR_TRY(fetch_rest(e, number, output, found, err));
    if (*found) {
        status = cellar_output_commit(output, err);
        output = NULL;
    }
out:
    *found = *found && status == CELLAR_OK;
    cellar_output_discard(output);
    errand_close(e);
    return status;
}

/* ---- delivering ------------------------------------------------------------ */

static cellar_status deliver_parts(errand *e, size_t paper, const unsigned char *bytes,
                                   uint64_t length, cellar_error *err)
{
    uint64_t sent = 0;
    size_t n_waiting = 0;
    desk_frame answer;
    cellar_status status = CELLAR_OK;

    while (sent < length || n_waiting > 0) {
        while (sent < length && n_waiting < DESK_WINDOW / 2) {
            uint32_t now =
                length - sent < DESK_CHUNK ? (uint32_t) (length - sent) : (uint32_t) DESK_CHUNK;
            CELLAR_TRY(errand_ask(
                e, &(desk_frame){DESK_PART, (unsigned char) paper, now, sent, bytes + sent}, err));
            sent += now;
            n_waiting++;
        }
        CELLAR_TRY(errand_hear(e, &answer, err));
        n_waiting--;
    }
out:
    return status;
}

static cellar_status deliver_all(errand *e, size_t paper, const cellar_collect_keys *shuffler,
                                 const unsigned char *bytes, uint64_t length, cellar_error *err)
{
    unsigned char digest[32], signature[COLLECT_SIGNATURE_BYTES];
    const unsigned char number = (unsigned char) paper;
    desk_frame answer;
    cellar_status status = CELLAR_OK;

    desk_digest(e->wire.channel.binding, paper, length, digest);
    crypto_sign_detached(signature, NULL, digest, sizeof digest, shuffler->sign_secret);
    CELLAR_TRY(
        errand_ask(e, &(desk_frame){DESK_BEGIN, number, sizeof signature, length, signature}, err));
    CELLAR_TRY(errand_hear(e, &answer, err));
    CELLAR_TRY(deliver_parts(e, paper, bytes, length, err));
    CELLAR_TRY(errand_ask(e, &(desk_frame){DESK_FINISH, number, 0, length, NULL}, err));
    CELLAR_TRY(errand_hear(e, &answer, err));
out:
    return status;
}

cellar_status cellar_collect_deliver(const cellar_collect_desk *at,
                                     const cellar_collect_keys *shuffler, const char *name,
                                     const char *path, cellar_error *err)
{
    size_t number = desk_find(name), length;
    errand *e = NULL;
    char *bytes = NULL;
    cellar_status status = CELLAR_OK;

    if (number < DESK_PAPERS || number == DESK_NAMES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no batch '%.200s'", name);
    CELLAR_TRY(cellar_file_read_plain(path, SIZE_MAX / 2, &bytes, &length, err));
    CELLAR_TRY(errand_open(at, &e, err));
    CELLAR_TRY(deliver_all(e, number, shuffler, (const unsigned char *) bytes, length, err));
out:
    cellar_free(bytes);
    errand_close(e);
    return status;
}
