/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/tally.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/invitation.h"
#include "protocol/keys.h"
#include "protocol/participant.h"
#include "protocol/response.h"

enum { HEADER_BYTES = 48 };

static void header_fill(const collect_round *round, uint64_t n, unsigned char header[HEADER_BYTES])
{
    static const unsigned char start[] = {'C', 'T', 'A', 'L', MESSAGE_VERSION, 1, 0, 0};
    memcpy(header, start, sizeof start);
    bytes_put(header + 8, 8, n);
    memcpy(header + 16, round->id, CELLAR_COLLECT_ID_BYTES);
}

static int row_compare(const void *a, const void *b)
{
    return memcmp(a, b, MESSAGE_ID_BYTES);
}

/* The name is a hash of all but the signature. */
static void tally_name(const collect_round *round, cellar_collect_margins *margins)
{
    unsigned char header[HEADER_BYTES];
    crypto_generichash_state state;
    header_fill(round, margins->n_rows, header);
    crypto_generichash_init(&state, NULL, 0, sizeof margins->tally_id);
    crypto_generichash_update(&state, header, sizeof header);
    crypto_generichash_update(&state, margins->rows, margins->n_rows * TALLY_ROW_BYTES);
    crypto_generichash_final(&state, margins->tally_id, sizeof margins->tally_id);
}

void tally_finish(const collect_round *round, cellar_collect_margins *margins)
{
    if (margins->rows == NULL)
        return;
    qsort(margins->rows, margins->n_rows, TALLY_ROW_BYTES, row_compare);
    tally_name(round, margins);
}

/* ---- writing --------------------------------------------------------------- */

cellar_status cellar_collect_tally_write(const cellar_collect_margins *margins,
                                         const cellar_invitation *invitation,
                                         const cellar_collect_keys *curator, const char *path,
                                         cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    unsigned char header[HEADER_BYTES], signature[COLLECT_SIGNATURE_BYTES];
    size_t length = margins->n_rows * TALLY_ROW_BYTES;
    options.shared = 1;
    collect_round round;
    crypto_sign_state state;
    cellar_output *output = NULL;
    cellar_status status = CELLAR_OK;

    if (margins->rows == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the invitation does not promise a tally: exact margins are not "
                           "published");
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    round_one(invitation, &round);
    header_fill(&round, margins->n_rows, header);
    cellar_output_write(output, header, sizeof header);
    cellar_output_write(output, margins->rows, length);
    crypto_sign_init(&state);
    crypto_sign_update(&state, header, sizeof header);
    crypto_sign_update(&state, margins->rows, length);
    crypto_sign_final_create(&state, signature, NULL, curator->sign_secret);
    cellar_output_write(output, signature, sizeof signature);
    status = cellar_output_commit(output, err);
out:
    return status;
}

/* ---- reading --------------------------------------------------------------- */

static cellar_status tally_check(const char *name, const unsigned char *bytes, size_t length,
                                 const collect_round *round, const cellar_invitation *invitation,
                                 cellar_error *err)
{
    unsigned char header[HEADER_BYTES];
    size_t body = length - HEADER_BYTES - COLLECT_SIGNATURE_BYTES;
    crypto_sign_state state;

    if (length < HEADER_BYTES + COLLECT_SIGNATURE_BYTES || memcmp(bytes, "CTAL", 4) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is no tally", name);
    header_fill(round, bytes_get(bytes + 8, 8), header);
    if (memcmp(bytes, header, sizeof header) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: is of another version, or belongs to another collection", name);
    if (body % TALLY_ROW_BYTES != 0 || body / TALLY_ROW_BYTES != bytes_get(bytes + 8, 8))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is cut or too long", name);
    crypto_sign_init(&state);
    crypto_sign_update(&state, bytes, HEADER_BYTES + body);
    if (crypto_sign_final_verify(&state, bytes + HEADER_BYTES + body,
                                 invitation->identities[CELLAR_COLLECT_CURATOR].sign) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: is not signed by the curator", name);
    return CELLAR_OK;
}

/* Ids ascend, so that no message is there twice. */
static cellar_status rows_count(const char *name, const cellar_invitation *invitation,
                                cellar_collect_margins *margins, cellar_error *err)
{
    for (size_t i = 0; i < margins->n_rows; i++) {
        const unsigned char *row = margins->rows + i * TALLY_ROW_BYTES;
        if ((i > 0 && row_compare(row - TALLY_ROW_BYTES, row) >= 0) ||
            !margins_count(margins, invitation, row + MESSAGE_ID_BYTES))
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "%s: row %zu is out of order, or no value of the invitation", name,
                               i + 1);
    }
    return margins_check(invitation, margins, err);
}

cellar_status tally_parse(const char *name, const unsigned char *bytes, size_t length,
                          const cellar_invitation *invitation, cellar_collect_margins **out,
                          cellar_error *err)
{
    collect_round round;
    cellar_collect_margins *margins = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (!invitation->terms.is_open)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: the invitation promises no tally", name);
    round_one(invitation, &round);
    CELLAR_TRY(tally_check(name, bytes, length, &round, invitation, err));
    CELLAR_TRY(margins_create(invitation, &margins, err));
    margins->n_rows = (length - HEADER_BYTES - COLLECT_SIGNATURE_BYTES) / TALLY_ROW_BYTES;
    margins->rows = cellar_alloc(margins->n_rows + 1, TALLY_ROW_BYTES);
    if (margins->rows == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a tally"));
    memcpy(margins->rows, bytes + HEADER_BYTES, margins->n_rows * TALLY_ROW_BYTES);
    CELLAR_TRY(rows_count(name, invitation, margins, err));
    tally_name(&round, margins);
    *out = margins;
    margins = NULL;
out:
    cellar_collect_margins_free(margins);
    return status;
}

cellar_status cellar_collect_tally_read(const char *path, const cellar_invitation *invitation,
                                        cellar_collect_margins **out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_file_read_plain(path, SIZE_MAX / 2, &bytes, &length, err));
    CELLAR_TRY(tally_parse(path, (const unsigned char *) bytes, length, invitation, out, err));
out:
    cellar_free(bytes);
    return status;
}

/* ---- looking for oneself --------------------------------------------------- */

cellar_status cellar_participant_find(const cellar_participant *participant, uint64_t row,
                                      const char *const *values,
                                      const cellar_collect_margins *tally, cellar_error *err)
{
    const collect_round *round = &participant->round;
    unsigned char ticket[TICKET_BYTES], wanted[TALLY_ROW_BYTES];
    uint32_t levels[CELLAR_MAX_VARIABLES] = {0};
    cellar_status status = CELLAR_OK;

    if (participant->round.number != 1 || tally->rows == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "only a tally of round one can be searched");
    CELLAR_TRY(participant_levels(participant, values, levels, err));
    ticket_of_row(participant->secret, row, ticket);
    for (size_t c = 0; c < round->n_messages; c++) {
        const unsigned char *found;
        message_id_inner(round, ticket, c, wanted);
        value_write(c, participant_response(participant, ticket, c, levels[c]),
                    wanted + MESSAGE_ID_BYTES);
        found = bsearch(wanted, tally->rows, tally->n_rows, TALLY_ROW_BYTES, row_compare);
        if (found == NULL || memcmp(found, wanted, TALLY_ROW_BYTES) != 0)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                                   "column '%.200s': what was sent is not in the tally as it was "
                                   "sent",
                                   participant->invitation->names[c]));
    }
out:
    cellar_wipe(ticket, sizeof ticket);
    cellar_wipe(levels, sizeof levels);
    return status;
}
