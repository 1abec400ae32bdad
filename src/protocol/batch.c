/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/batch.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/ids.h"
#include "protocol/keys.h"
#include "random/urn.h"

static const unsigned char MAGIC[] = {'C', 'B', 'A', 'T'};

enum { HEADER_BYTES = 52 };

/* Fisher and Yates, with exactly uniform draws. */
cellar_status collect_batch_permute(unsigned char *messages, size_t n, size_t bytes,
                                    cellar_rng *rng, cellar_error *err)
{
    unsigned char *spare = cellar_alloc(1, bytes);
    cellar_status status = CELLAR_OK;

    if (spare == NULL)
        return cellar_fail_memory(err, "a permutation");
    for (size_t i = n; i > 1; i--) {
        uint64_t j;
        CELLAR_TRY(cellar_uniform_below(rng, i, &j, err));
        memcpy(spare, messages + j * bytes, bytes);
        memmove(messages + j * bytes, messages + (i - 1) * bytes, bytes);
        memcpy(messages + (i - 1) * bytes, spare, bytes);
    }
out:
    cellar_free(spare);
    return status;
}

static void header_fill(const collect_round *round, uint64_t n, unsigned char header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC);
    header[4] = MESSAGE_VERSION;
    header[5] = (unsigned char) round->number;
    bytes_put(header + 8, 4, round_inner_bytes(round));
    bytes_put(header + 12, 8, n);
    memcpy(header + 20, round->id, CELLAR_COLLECT_ID_BYTES);
}

cellar_status collect_batch_write(const char *path, const collect_round *round,
                                  const cellar_collect_keys *shuffler,
                                  const unsigned char *messages, size_t n, cellar_error *err)
{
    unsigned char header[HEADER_BYTES], signature[COLLECT_SIGNATURE_BYTES];
    size_t length = n * round_inner_bytes(round);
    crypto_sign_state state;
    cellar_output *output = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_output_open(path, NULL, &output, err));
    header_fill(round, n, header);
    cellar_output_write(output, header, sizeof header);
    cellar_output_write(output, messages, length);
    crypto_sign_init(&state);
    crypto_sign_update(&state, header, sizeof header);
    crypto_sign_update(&state, messages, length);
    crypto_sign_final_create(&state, signature, NULL, shuffler->sign_secret);
    cellar_output_write(output, signature, sizeof signature);
    status = cellar_output_commit(output, err);
out:
    return status;
}

/* ---- reading --------------------------------------------------------------- */

cellar_status collect_batch_parse(const char *name, const unsigned char *bytes, size_t length,
                                  const collect_round *round, collect_batch *out, cellar_error *err)
{
    unsigned char header[HEADER_BYTES], signature[COLLECT_SIGNATURE_BYTES];
    size_t body = length - HEADER_BYTES - COLLECT_SIGNATURE_BYTES;
    size_t message_bytes = round_inner_bytes(round);
    crypto_sign_state state;

    if (length < HEADER_BYTES + COLLECT_SIGNATURE_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is no batch", name);
    if (bytes[4] != MESSAGE_VERSION)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: is of version %d; this program speaks version %d", name,
                           (int) bytes[4], MESSAGE_VERSION);
    header_fill(round, bytes_get(bytes + 12, 8), header);
    if (memcmp(bytes, header, sizeof header) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: belongs to another collection, round or decision", name);
    if (body % message_bytes != 0 || body / message_bytes != bytes_get(bytes + 12, 8))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is cut or too long", name);
    memcpy(signature, bytes + HEADER_BYTES + body, sizeof signature);
    crypto_sign_init(&state);
    crypto_sign_update(&state, bytes, HEADER_BYTES + body);
    if (crypto_sign_final_verify(&state, signature, round->shuffler.sign) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: is not signed by the shuffler", name);
    out->messages = bytes + HEADER_BYTES;
    out->n = body / message_bytes;
    return CELLAR_OK;
}

cellar_status collect_batch_read(const char *path, const collect_round *round, collect_batch *out,
                                 cellar_error *err)
{
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = (collect_batch){0};
    CELLAR_TRY(cellar_file_read_plain(path, SIZE_MAX / 2, &out->bytes, &length, err));
    CELLAR_TRY(
        collect_batch_parse(path, (const unsigned char *) out->bytes, length, round, out, err));
out:
    return status;
}

void collect_batch_clear(collect_batch *batch)
{
    cellar_free(batch->bytes);
    *batch = (collect_batch){0};
}

void report_refuse(cellar_collect_report *report, const char *why)
{
    enum { MOST = sizeof report->reasons / sizeof *report->reasons };
    size_t i = 0;
    report->n_refused++;
    while (i < report->n_reasons && strcmp(report->reasons[i].why, why) != 0)
        i++;
    if (i >= MOST)
        i = MOST - 1;
    if (i == report->n_reasons) {
        snprintf(report->reasons[i].why, sizeof report->reasons[i].why, "%s",
                 i + 1 < MOST ? why : "for other reasons");
        report->n_reasons++;
    }
    report->reasons[i].n++;
}

cellar_status collect_batch_open_all(const collect_batch *batch, const collect_round *round,
                                     const cellar_collect_keys *recipient, collect_batch_body *take,
                                     void *context, cellar_collect_report *report,
                                     cellar_error *err)
{
    unsigned char id[MESSAGE_ID_BYTES];
    size_t bytes = round_inner_bytes(round), body_bytes = round->body_bytes + MESSAGE_HEAD_BYTES;
    unsigned char *body = cellar_alloc(1, body_bytes);
    id_set seen = {0};
    cellar_status status = CELLAR_OK;

    *report = (cellar_collect_report){.n_messages = batch->n};
    if (body == NULL)
        return cellar_fail_memory(err, "a message");
    for (size_t i = 0; i < batch->n; i++) {
        int known = 0;
        if (!message_open(round, recipient, batch->messages + i * bytes, id, body)) {
            report_refuse(report, "not sealed for this role and round, or changed");
            continue;
        }
        if (!id_set_add(&seen, id, &known))
            CELLAR_TRY(cellar_fail_memory(err, "ids of messages"));
        if (known)
            report->n_duplicates++;
        else if (take(context, id, body))
            report->n_counted++;
        else
            report_refuse(report, "no value that was asked for");
    }
out:
    cellar_wipe(body, body_bytes);
    cellar_free(body);
    id_set_clear(&seen);
    return status;
}
