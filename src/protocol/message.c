/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/message.h"

#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/invitation.h"
#include "protocol/keys.h"

static const unsigned char MAGIC[] = {'C', 'S', 'U', 'B'};

enum { INNER = 0, OUTER = 1, CONTEXT_BYTES = 16, HEAD_BYTES = MESSAGE_HEAD_BYTES };

_Static_assert(MESSAGE_SEAL_BYTES == crypto_box_SEALBYTES, "an envelope is a sealed box");
_Static_assert(sizeof((cellar_collect_keys *) 0)->box_secret == crypto_box_SECRETKEYBYTES, "");

void bytes_put(unsigned char *bytes, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char) (value >> 8 * i);
}

uint64_t bytes_get(const unsigned char *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t) bytes[i] << 8 * i;
    return value;
}

/* ---- rounds ---------------------------------------------------------------- */

/* The name of a layer of a round: a hash under a label of its own. */
static void round_contexts(collect_round *round)
{
    static const char *const labels[] = {"cellar collect inner 1", "cellar collect outer 1"};
    for (int layer = INNER; layer <= OUTER; layer++)
        crypto_generichash(round->context[layer], CONTEXT_BYTES,
                           (const unsigned char *) labels[layer], strlen(labels[layer]), round->id,
                           sizeof round->id);
}

static void round_fill(const cellar_invitation *invitation, const unsigned char *paper,
                       cellar_collect_role recipient, collect_round *round)
{
    static const char label[] = "cellar collect round";
    crypto_generichash_state state;
    unsigned char number = (unsigned char) round->number;

    crypto_generichash_init(&state, NULL, 0, sizeof round->id);
    crypto_generichash_update(&state, (const unsigned char *) label, sizeof label);
    crypto_generichash_update(&state, &number, 1);
    crypto_generichash_update(&state, invitation->session, sizeof invitation->session);
    if (paper != NULL) /* the decision or the question that it answers */
        crypto_generichash_update(&state, paper, CELLAR_COLLECT_ID_BYTES);
    crypto_generichash_final(&state, round->id, sizeof round->id);
    round->n_people = round->number == 2 && invitation->terms.population > 0
                          ? invitation->terms.population
                          : invitation->terms.n_people;
    round->shuffler = invitation->identities[CELLAR_COLLECT_SHUFFLER];
    round->recipient = invitation->identities[recipient];
    round_contexts(round);
}

void round_one(const cellar_invitation *invitation, collect_round *out)
{
    *out = (collect_round){
        .number = 1, .n_messages = invitation->n_columns, .body_bytes = MESSAGE_VALUE_BYTES};
    round_fill(invitation, NULL, CELLAR_COLLECT_CURATOR, out);
}

void round_two(const cellar_invitation *invitation,
               const unsigned char decision[CELLAR_COLLECT_ID_BYTES], size_t n_columns,
               collect_round *out)
{
    CELLAR_ASSERT(n_columns >= 1 && n_columns <= CELLAR_MAX_VARIABLES);
    *out = (collect_round){.number = 2, .n_messages = 1, .body_bytes = 4 * n_columns};
    if (invitation->terms.payload > 0)
        out->body_bytes += MESSAGE_PAYLOAD_HEAD_BYTES + (size_t) invitation->terms.payload;
    round_fill(invitation, decision, CELLAR_COLLECT_ANALYST, out);
}

void round_asked(const cellar_invitation *invitation,
                 const unsigned char question[CELLAR_COLLECT_ID_BYTES], int order, size_t n_asked,
                 collect_round *out)
{
    *out = (collect_round){
        .number = order + 1, .n_messages = n_asked, .body_bytes = MESSAGE_ANSWER_BYTES};
    round_fill(invitation, question, CELLAR_COLLECT_CURATOR, out);
}

const char *round_label(const collect_round *round)
{
    static const char *const labels[] = {"", "1", "2", "pairs", "triples"};
    return labels[round->number];
}

size_t round_inner_bytes(const collect_round *round)
{
    return round->body_bytes + MESSAGE_LAYER_BYTES;
}

size_t round_outer_bytes(const collect_round *round)
{
    return round_inner_bytes(round) + MESSAGE_LAYER_BYTES;
}

size_t round_submission_bytes(const collect_round *round)
{
    return SUBMISSION_HEADER_BYTES + round->n_messages * round_outer_bytes(round);
}

/* ---- one message ----------------------------------------------------------- */

void ticket_of_row(const unsigned char secret[TICKET_BYTES], uint64_t row,
                   unsigned char ticket[TICKET_BYTES])
{
    static const char label[] = "cellar collect row";
    unsigned char input[sizeof label + 8];
    memcpy(input, label, sizeof label);
    bytes_put(input + sizeof label, 8, row);
    crypto_generichash(ticket, TICKET_BYTES, input, sizeof input, secret, TICKET_BYTES);
}

static void message_id(const collect_round *round, const unsigned char *ticket, int layer,
                       size_t index, unsigned char id[MESSAGE_ID_BYTES])
{
    unsigned char input[CONTEXT_BYTES + 8];
    memcpy(input, round->context[layer], CONTEXT_BYTES);
    bytes_put(input + CONTEXT_BYTES, 8, index);
    crypto_generichash(id, MESSAGE_ID_BYTES, input, sizeof input, ticket, TICKET_BYTES);
}

void message_id_inner(const collect_round *round, const unsigned char ticket[TICKET_BYTES],
                      size_t index, unsigned char id[MESSAGE_ID_BYTES])
{
    message_id(round, ticket, INNER, index, id);
}

/* `outer` is where the inner plain text is put together; the outer one has a place of its own. */
int message_seal(const collect_round *round, const unsigned char ticket[TICKET_BYTES], size_t index,
                 const unsigned char *body, unsigned char *outer)
{
    size_t inner_bytes = round_inner_bytes(round);
    unsigned char *plain = cellar_alloc(1, HEAD_BYTES + inner_bytes);

    if (plain == NULL)
        return 0;
    memcpy(outer, round->context[INNER], CONTEXT_BYTES);
    message_id(round, ticket, INNER, index, outer + CONTEXT_BYTES);
    memcpy(outer + HEAD_BYTES, body, round->body_bytes);
    crypto_box_seal(plain + HEAD_BYTES, outer, HEAD_BYTES + round->body_bytes,
                    round->recipient.box);
    memcpy(plain, round->context[OUTER], CONTEXT_BYTES);
    message_id(round, ticket, OUTER, index, plain + CONTEXT_BYTES);
    crypto_box_seal(outer, plain, HEAD_BYTES + inner_bytes, round->shuffler.box);
    cellar_free(plain);
    return 1;
}

/* Opens one layer and looks whether it is of this round. The content is opened behind its head and
 * then moved: it may be large, and is in one place only. */
static int layer_open(const collect_round *round, int layer, const cellar_collect_keys *keys,
                      const unsigned char *sealed, size_t content_bytes,
                      unsigned char id[MESSAGE_ID_BYTES], unsigned char *content)
{
    int ok;
    if (crypto_box_seal_open(content, sealed, content_bytes + MESSAGE_LAYER_BYTES,
                             keys->identity.box, keys->box_secret) != 0)
        return 0;
    ok = sodium_memcmp(content, round->context[layer], CONTEXT_BYTES) == 0;
    if (ok) {
        memcpy(id, content + CONTEXT_BYTES, MESSAGE_ID_BYTES);
        memmove(content, content + HEAD_BYTES, content_bytes);
        cellar_wipe(content + content_bytes, HEAD_BYTES);
    } else {
        cellar_wipe(content, HEAD_BYTES + content_bytes);
    }
    return ok;
}

int message_peel(const collect_round *round, const cellar_collect_keys *shuffler,
                 const unsigned char *outer, unsigned char id[MESSAGE_ID_BYTES],
                 unsigned char *inner)
{
    return layer_open(round, OUTER, shuffler, outer, round_inner_bytes(round), id, inner);
}

int message_open(const collect_round *round, const cellar_collect_keys *recipient,
                 const unsigned char *inner, unsigned char id[MESSAGE_ID_BYTES],
                 unsigned char *body)
{
    return layer_open(round, INNER, recipient, inner, round->body_bytes, id, body);
}

/* ---- bodies ---------------------------------------------------------------- */

/* Column (2), two zeros, value (4). */
void value_write(size_t column, uint32_t level, unsigned char body[MESSAGE_VALUE_BYTES])
{
    bytes_put(body, 4, column);
    bytes_put(body + 4, 4, level);
}

int value_read(const cellar_invitation *invitation, const unsigned char body[MESSAGE_VALUE_BYTES],
               size_t *column, uint32_t *level)
{
    *column = (size_t) bytes_get(body, 4);
    *level = (uint32_t) bytes_get(body + 4, 4);
    return *column < invitation->n_columns &&
           *level < cellar_codelist_n_codes(invitation->codes[*column]);
}

/* ---- submissions ----------------------------------------------------------- */

void submission_header(const collect_round *round, unsigned char out[SUBMISSION_HEADER_BYTES])
{
    memcpy(out, MAGIC, sizeof MAGIC);
    out[4] = MESSAGE_VERSION;
    out[5] = (unsigned char) round->number;
    bytes_put(out + 6, 2, round->n_messages);
    bytes_put(out + 8, 4, round_outer_bytes(round));
    memcpy(out + 12, round->id, sizeof round->id);
}

cellar_status submission_check(const collect_round *round, const unsigned char *bytes,
                               size_t length, cellar_error *err)
{
    unsigned char expected[SUBMISSION_HEADER_BYTES];
    submission_header(round, expected);
    if (length < SUBMISSION_HEADER_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "this is no submission");
    if (bytes[4] != MESSAGE_VERSION)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "the submission is of version %d; this program speaks version %d",
                           (int) bytes[4], MESSAGE_VERSION);
    if (memcmp(bytes, expected, sizeof expected) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the submission belongs to another collection, round or decision");
    if (length != round_submission_bytes(round))
        return cellar_fail(err, CELLAR_ERR_INPUT, "the submission is cut or too long");
    return CELLAR_OK;
}
