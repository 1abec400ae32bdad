/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/collect.h>

#include <math.h>
#include <string.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/output.h"
#include "protocol/invitation.h"
#include "protocol/joint.h"
#include "protocol/lines.h"
#include "protocol/participant.h"
#include "protocol/response.h"
#include "random/locked.h"

/* ---- the certificate of round one ------------------------------------------ */

cellar_collect_certificate cellar_collect_certify(const cellar_invitation *invitation)
{
    /* multiplied as a whole number, so that three times 0.1 is 0.3 */
    const uint64_t value = invitation->terms.epsilon;
    const cellar_int128 record = (cellar_int128) value * (cellar_int128) invitation->n_columns;
    if (value == 0)
        return (cellar_collect_certificate){INFINITY, INFINITY};
    return (cellar_collect_certificate){(double) value / 1e18, (double) record / 1e18};
}

double cellar_collect_certify_shuffled(const cellar_invitation *invitation, double delta)
{
    double sum = 0, last = 0;
    size_t n_last = 0;
    if (invitation->terms.epsilon == 0)
        return INFINITY;
    for (size_t c = 0; c < invitation->n_columns; c++) {
        size_t n_codes = cellar_codelist_n_codes(invitation->codes[c]);
        response told = response_of(invitation->terms.epsilon, n_codes);
        if (n_codes != n_last) /* columns alike are alike */
            last = response_shuffled_epsilon(&told, invitation->terms.n_people,
                                             delta / (double) invitation->n_columns);
        n_last = n_codes;
        sum += last;
    }
    return sum;
}

/* ---- memory of decisions --------------------------------------------------- */

/* Writes once what was accepted; the second time it must be the same. */
static cellar_status paper_remember(const char *path, const cellar_invitation *invitation,
                                    const char *what, const unsigned char *id, cellar_error *err)
{
    cellar_text text = {0};
    cellar_output *output = NULL;
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    cellar_text_add_string(&text, "cellar collect memory 1\n");
    lines_add_hex(&text, "session", invitation->session, sizeof invitation->session);
    lines_add_hex(&text, what, id, CELLAR_COLLECT_ID_BYTES);
    if (text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a memory"));
    status = cellar_output_open(path, NULL, &output, err);
    if (status == CELLAR_OK) {
        cellar_output_text(output, &text);
        status = cellar_output_commit(output, err);
    }
    if (status != CELLAR_ERR_EXISTS)
        goto out;
    CELLAR_TRY(cellar_file_read_plain(path, 4096, &bytes, &length, err));
    if (length != text.length || memcmp(bytes, text.bytes, length) != 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "%s: another %s was accepted before; a curator that asks "
                               "twice gets no second answer",
                               path, what));
out:
    cellar_free(bytes);
    cellar_text_clear(&text);
    return status;
}

cellar_status cellar_participant_remember(const char *path, const cellar_invitation *invitation,
                                          const cellar_decision *decision, cellar_error *err)
{
    return paper_remember(path, invitation, "decision", decision->id, err);
}

cellar_status cellar_participant_remember_question(const char *path,
                                                   const cellar_invitation *invitation,
                                                   const cellar_question *question,
                                                   cellar_error *err)
{
    return paper_remember(path, invitation, "question", question->id, err);
}

/* ---- life cycle ------------------------------------------------------------ */

/* Whoever has the key of a role knows from it what makes a participant's ids and random answers. */
static cellar_status key_check(const cellar_invitation *invitation, const cellar_key *key,
                               cellar_error *err)
{
    unsigned char id[CELLAR_COLLECT_KEY_ID_BYTES];
    keys_file_id(key, id);
    for (int role = CELLAR_COLLECT_CURATOR; role <= CELLAR_COLLECT_ANALYST; role++)
        if (memcmp(id, invitation->identities[role].key, sizeof id) == 0)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the key file is that of the %s of this collection; a participant "
                               "needs its own",
                               keys_role_word((cellar_collect_role) role));
    return CELLAR_OK;
}

static cellar_status participant_create(const cellar_invitation *invitation,
                                        const collect_round *round,
                                        const cellar_collect_policy *policy, const cellar_key *key,
                                        cellar_participant **out, cellar_error *err)
{
    int unused;
    cellar_status status = key_check(invitation, key, err);
    if (status != CELLAR_OK)
        return status;
    *out = cellar_locked_alloc(sizeof **out, &unused);
    if (*out == NULL)
        return cellar_fail_memory(err, "a participant");
    cellar_key_secret(key, CELLAR_KEY_COLLECT, (*out)->secret);
    (*out)->invitation = invitation;
    (*out)->round = *round;
    (*out)->budget = policy != NULL ? policy->budget : NULL;
    return CELLAR_OK;
}

cellar_status cellar_participant_create(const cellar_invitation *invitation,
                                        const cellar_decision *decision,
                                        const cellar_collect_policy *policy, const cellar_key *key,
                                        cellar_participant **out, cellar_error *err)
{
    collect_round round;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (decision != NULL && policy == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "round two needs a policy");
    if (decision != NULL)
        CELLAR_TRY(cellar_collect_policy_check(policy, invitation, decision, err));
    else if (policy != NULL)
        CELLAR_TRY(cellar_collect_policy_check_invitation(policy, invitation, err));
    CELLAR_TRY(round_of(invitation, decision, &round, err));
    CELLAR_TRY(participant_create(invitation, &round, policy, key, out, err));
    (*out)->decision = decision;
out:
    return status;
}

cellar_status cellar_participant_create_asked(const cellar_invitation *invitation,
                                              const cellar_question *question,
                                              const cellar_collect_policy *policy,
                                              const cellar_key *key, cellar_participant **out,
                                              cellar_error *err)
{
    collect_round round;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (policy != NULL)
        CELLAR_TRY(cellar_collect_policy_check_invitation(policy, invitation, err));
    round_asked(invitation, question->id, (int) question->order, question->n_asked, &round);
    CELLAR_TRY(participant_create(invitation, &round, policy, key, out, err));
    (*out)->question = question;
out:
    return status;
}

void cellar_participant_free(cellar_participant *participant)
{
    cellar_locked_free(participant, sizeof *participant);
}

size_t cellar_participant_size_bytes(const cellar_participant *participant)
{
    return round_submission_bytes(&participant->round);
}

void cellar_participant_payload_column(cellar_participant *participant, const char *column)
{
    participant->payload_column = column;
}

/* ---- sealing --------------------------------------------------------------- */

static cellar_status level_find(const cellar_participant *participant, size_t column,
                                const char *value, uint32_t *level, cellar_error *err)
{
    size_t found =
        cellar_codelist_find(participant->invitation->codes[column], value, strlen(value));
    if (found == CELLAR_NO_CODE) /* the value itself is nobody's business */
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "column '%.200s': the value is not among the codes of the invitation",
                           participant->invitation->names[column]);
    *level = (uint32_t) found;
    return CELLAR_OK;
}

cellar_status participant_levels(const cellar_participant *participant, const char *const *values,
                                 uint32_t levels[CELLAR_MAX_VARIABLES], cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t c = 0; c < participant->invitation->n_columns && status == CELLAR_OK; c++)
        status = level_find(participant, c, values[c], &levels[c], err);
    return status;
}

uint32_t participant_response(const cellar_participant *participant,
                              const unsigned char ticket[TICKET_BYTES], size_t column,
                              uint32_t level)
{
    const cellar_invitation *invitation = participant->invitation;
    response told =
        response_of(invitation->terms.epsilon, cellar_codelist_n_codes(invitation->codes[column]));
    return response_draw(&told, &participant->round, ticket, column, level);
}

/* What is sent along with a row. */
typedef struct attachment {
    const void *bytes;
    size_t length;
} attachment;

/* The length, the payload, zeros: everybody's is as long as the invitation says. */
static void attachment_write(const attachment *with, size_t most, unsigned char *out)
{
    bytes_put(out, MESSAGE_PAYLOAD_HEAD_BYTES, with->length);
    memset(out + MESSAGE_PAYLOAD_HEAD_BYTES, 0, most);
    if (with->length > 0)
        memcpy(out + MESSAGE_PAYLOAD_HEAD_BYTES, with->bytes, with->length);
}

static cellar_status attachment_check(const cellar_participant *participant, const attachment *with,
                                      cellar_error *err)
{
    uint64_t most = participant->invitation->terms.payload;
    if (with->length == 0 || participant->decision == NULL) /* nothing goes along in round one */
        return CELLAR_OK;
    if (most == 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "the invitation asks for no payload");
    if (with->length > most)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the payload has %zu bytes; the invitation takes at most %llu",
                           with->length, (unsigned long long) most);
    return CELLAR_OK;
}

/* The released columns, with what the decision asks to redact. */
static void row_write(const cellar_participant *participant, const unsigned char *ticket,
                      const uint32_t *levels, unsigned char *body)
{
    const cellar_decision *decision = participant->decision;
    for (size_t i = 0; i < decision->n_columns; i++) {
        size_t column = decision->columns[i];
        size_t n_codes = cellar_codelist_n_codes(participant->invitation->codes[column]);
        bytes_put(body + 4 * i, 4,
                  redaction_draw(&decision->redactions[i], n_codes, &participant->round, ticket,
                                 column, levels[column]));
    }
}

static void body_write(const cellar_participant *participant, const unsigned char *ticket,
                       size_t index, const uint32_t *levels, const attachment *with,
                       unsigned char *body)
{
    size_t most = (size_t) participant->invitation->terms.payload;
    if (participant->decision != NULL) {
        row_write(participant, ticket, levels, body);
        if (most > 0)
            attachment_write(with, most, body + 4 * participant->decision->n_columns);
    } else if (participant->question != NULL)
        answer_write(participant->question, index, levels, body);
    else
        value_write(index, participant_response(participant, ticket, index, levels[index]), body);
}

cellar_status cellar_participant_seal(const cellar_participant *participant, uint64_t row,
                                      const char *const *values, void *bytes, cellar_error *err)
{
    return cellar_participant_seal_with(participant, row, values, NULL, 0, bytes, err);
}

cellar_status cellar_participant_seal_with(const cellar_participant *participant, uint64_t row,
                                           const char *const *values, const void *payload,
                                           size_t length, void *bytes, cellar_error *err)
{
    const collect_round *round = &participant->round;
    const attachment with = {payload, length};
    unsigned char ticket[TICKET_BYTES] = {0}, *body = cellar_alloc(1, round->body_bytes);
    unsigned char *next = (unsigned char *) bytes + SUBMISSION_HEADER_BYTES;
    uint32_t levels[CELLAR_MAX_VARIABLES] = {0};
    cellar_status status = CELLAR_OK;

    if (body == NULL)
        return cellar_fail_memory(err, "a message");
    CELLAR_TRY(participant_levels(participant, values, levels, err));
    CELLAR_TRY(attachment_check(participant, &with, err));
    ticket_of_row(participant->secret, row, ticket);
    submission_header(round, bytes);
    for (size_t i = 0; i < round->n_messages; i++, next += round_outer_bytes(round)) {
        body_write(participant, ticket, i, levels, &with, body);
        if (!message_seal(round, ticket, i, body, next))
            CELLAR_TRY(cellar_fail_memory(err, "a message"));
    }
out:
    cellar_wipe(ticket, sizeof ticket);
    cellar_wipe(body, round->body_bytes);
    cellar_free(body);
    cellar_wipe(levels, sizeof levels);
    return status;
}
