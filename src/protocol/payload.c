/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/payload.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/invitation.h"

enum { PATH_BYTES = 4096 };

/* ---- before it is sealed ---------------------------------------------------- */

/* A path that does not begin with a slash begins where the CSV file lies. */
static int payload_path(const char *csv_path, const cellar_csv_field *field, char path[PATH_BYTES])
{
    const char *slash = strrchr(csv_path, '/');
    size_t folder = slash == NULL || field->bytes[0] == '/' ? 0 : (size_t) (slash - csv_path) + 1;
    if (folder + field->length >= PATH_BYTES || memchr(field->bytes, '\0', field->length) != NULL)
        return 0;
    memcpy(path, csv_path, folder);
    memcpy(path + folder, field->bytes, field->length);
    path[folder + field->length] = '\0';
    return 1;
}

cellar_status payload_read(const char *csv_path, const cellar_csv_field *field, uint64_t most,
                           char **bytes, size_t *length, cellar_error *err)
{
    char path[PATH_BYTES];
    cellar_status status;

    *bytes = NULL;
    *length = 0;
    if (field->length == 0)
        return CELLAR_OK;
    if (!payload_path(csv_path, field, path))
        return cellar_fail(err, CELLAR_ERR_INPUT, "the path of the payload is too long");
    if (most == 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "the invitation asks for no payload");
    status = cellar_file_read_plain(path, CELLAR_COLLECT_PAYLOAD_MAX, bytes, length, err);
    if (status == CELLAR_OK && *length > most)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: has %zu bytes; the invitation takes payloads of at most %llu", path,
                           *length, (unsigned long long) most);
    return status;
}

/* ---- after it was opened ---------------------------------------------------- */

int payload_is_valid(const unsigned char *payload, uint64_t most)
{
    uint64_t length = bytes_get(payload, MESSAGE_PAYLOAD_HEAD_BYTES);
    unsigned char set = 0;
    if (length > most)
        return 0;
    for (uint64_t i = length; i < most; i++)
        set |= payload[MESSAGE_PAYLOAD_HEAD_BYTES + i];
    return set == 0;
}

/* The rows of a batch, each with a file for its payload. */
typedef struct unpacking {
    const cellar_invitation *invitation;
    const cellar_decision *decision;
    const char *folder;
    cellar_text rows; /* as CSV */
    uint64_t n;
    cellar_status status; /* of the first file that could not be written */
    cellar_error *err;
} unpacking;

static void rows_begin(unpacking *u)
{
    for (size_t i = 0; i < u->decision->n_columns; i++) {
        cellar_csv_add_field(&u->rows, u->invitation->names[u->decision->columns[i]], ',');
        cellar_text_add_char(&u->rows, ',');
    }
    cellar_text_add_string(&u->rows, "payload\n");
}

static void row_add(unpacking *u, const uint32_t *levels, const char *name)
{
    for (size_t i = 0; i < u->decision->n_columns; i++) {
        const cellar_codelist *codes = u->invitation->codes[u->decision->columns[i]];
        int is_redacted = levels[i] == cellar_codelist_n_codes(codes);
        cellar_csv_add_field(
            &u->rows, is_redacted ? REDACTED_CODE : cellar_codelist_code(codes, levels[i]), ',');
        cellar_text_add_char(&u->rows, ',');
    }
    cellar_text_add_string(&u->rows, name);
    cellar_text_add_char(&u->rows, '\n');
}

static cellar_status file_write(const char *folder, const char *name, const void *bytes,
                                size_t length, cellar_error *err)
{
    char path[PATH_BYTES];
    cellar_output *output = NULL;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    cellar_status status;

    if (n < 0 || n >= PATH_BYTES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    status = cellar_output_open(path, NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_output_write(output, bytes, length);
    return cellar_output_commit(output, err);
}

/* Numbers in the order of the batch, which is that of a secret permutation. */
static int unpack_row(void *context, const unsigned char *id, const unsigned char *body)
{
    unpacking *u = context;
    const unsigned char *payload = body + 4 * u->decision->n_columns;
    size_t length = (size_t) bytes_get(payload, MESSAGE_PAYLOAD_HEAD_BYTES);
    uint32_t levels[CELLAR_MAX_VARIABLES];
    char name[32] = "";

    (void) id;
    if (!row_read(u->invitation, u->decision, body, levels))
        return 0;
    u->n++;
    if (length > 0)
        snprintf(name, sizeof name, "%08llu", (unsigned long long) u->n);
    if (length > 0 && u->status == CELLAR_OK)
        u->status =
            file_write(u->folder, name, payload + MESSAGE_PAYLOAD_HEAD_BYTES, length, u->err);
    row_add(u, levels, name);
    return 1;
}

cellar_status cellar_collect_payloads_write(const char *batch_path,
                                            const cellar_invitation *invitation,
                                            const cellar_decision *decision,
                                            const cellar_collect_keys *analyst, const char *folder,
                                            cellar_collect_report *report, cellar_error *err)
{
    collect_round round;
    collect_batch batch = {0};
    unpacking u = {.invitation = invitation, .decision = decision, .folder = folder, .err = err};
    cellar_status status = CELLAR_OK;

    if (invitation->terms.payload == 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "the invitation asks for no payload");
    CELLAR_TRY(keys_check(analyst, invitation, CELLAR_COLLECT_ANALYST, err));
    CELLAR_TRY(round_of(invitation, decision, &round, err));
    CELLAR_TRY(collect_batch_read(batch_path, &round, &batch, err));
    if (mkdir(folder, 0700) != 0)
        CELLAR_TRY(cellar_fail_errno(err, folder, "make"));
    rows_begin(&u);
    CELLAR_TRY(collect_batch_open_all(&batch, &round, analyst, unpack_row, &u, report, err));
    CELLAR_TRY(u.status);
    if (u.rows.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the rows"));
    CELLAR_TRY(file_write(folder, "rows.csv", u.rows.bytes, u.rows.length, err));
out:
    cellar_text_clear(&u.rows);
    collect_batch_clear(&batch);
    return status;
}
