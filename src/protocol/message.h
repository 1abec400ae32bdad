/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages: a few bytes in two envelopes, the outer for the shuffler, the inner for whom it
 * forwards to (errata: the shuffler must be able to take its layer off first). All messages of a
 * round have the same length.
 *
 *   outer  seal(shuffler, context 16, id 16, inner)
 *   inner  seal(recipient, context 16, id 16, body)
 *
 * A seal is crypto_box_seal: an ephemeral X25519 key, XSalsa20 and Poly1305. The context is a hash
 * of the round and the layer, so that a message of another collection, round, decision or layer is
 * none of this. The ids are hashes under a secret of the participant: sending again, even after a
 * crash and newly encrypted, gives the same ids and is counted once, while ids of different layers
 * or messages have nothing in common for anybody else. */
#ifndef CELLAR_PROTOCOL_MESSAGE_H
#define CELLAR_PROTOCOL_MESSAGE_H

#include <cellar/collect.h>

enum {
    MESSAGE_VERSION = 1,
    MESSAGE_ID_BYTES = 16,
    MESSAGE_SEAL_BYTES = 48,                                          /* of one envelope */
    MESSAGE_LAYER_BYTES = MESSAGE_SEAL_BYTES + 16 + MESSAGE_ID_BYTES, /* what it adds */
    MESSAGE_VALUE_BYTES = 8,                                          /* body in round one */
    MESSAGE_ANSWER_BYTES = 16,                                        /* in between */
    MESSAGE_HEAD_BYTES = 16 + MESSAGE_ID_BYTES,                       /* context and id */
    MESSAGE_ROW_MAX = 4 * CELLAR_MAX_VARIABLES,              /* in round two, without a payload */
    MESSAGE_PAYLOAD_HEAD_BYTES = 4,                          /* the length of a payload */
    MESSAGE_BODY_MAX = MESSAGE_ROW_MAX + MESSAGE_HEAD_BYTES, /* room to open a row in */
    MESSAGE_INNER_MAX = MESSAGE_BODY_MAX + MESSAGE_LAYER_BYTES,
    MESSAGE_OUTER_MAX = MESSAGE_INNER_MAX + MESSAGE_LAYER_BYTES,
    SUBMISSION_HEADER_BYTES = 44,
    TICKET_BYTES = 32
};

/* What a round of a collection is for everybody in it. */
typedef struct collect_round {
    int number; /* 1: values, 2: rows, 3: pairs, 4: triples */
    unsigned char id[CELLAR_COLLECT_ID_BYTES];
    uint64_t n_people; /* announced */
    size_t n_messages; /* of one participant */
    size_t body_bytes; /* of a message */
    cellar_collect_identity shuffler, recipient;
    unsigned char context[2][16]; /* of the inner and the outer layer */
} collect_round;

/* Round one of an invitation: a message for every column. */
void round_one(const cellar_invitation *invitation, collect_round *out);
/* Round two: one message with the values of `n_columns` columns, and a payload if the invitation
 * asks for one. `decision` is the hash of it. */
void round_two(const cellar_invitation *invitation,
               const unsigned char decision[CELLAR_COLLECT_ID_BYTES], size_t n_columns,
               collect_round *out);

/* A round in between: a message for every set of `order` columns that the question asks for. */
void round_asked(const cellar_invitation *invitation,
                 const unsigned char question[CELLAR_COLLECT_ID_BYTES], int order, size_t n_asked,
                 collect_round *out);
/* What its files are called: "1", "2", "pairs" or "triples". */
const char *round_label(const collect_round *round);

size_t round_inner_bytes(const collect_round *round);
size_t round_outer_bytes(const collect_round *round);
/* Of a participant's submission, header included. */
size_t round_submission_bytes(const collect_round *round);

/* ---- one message ---- */

/* Seals the body of the participant's message number `index` into `outer`, of round_outer_bytes().
 * `ticket` is the participant's secret. 0 when there is no memory. */
int message_seal(const collect_round *round, const unsigned char ticket[TICKET_BYTES], size_t index,
                 const unsigned char *body, unsigned char *outer);
/* The id that its inner envelope holds. */
void message_id_inner(const collect_round *round, const unsigned char ticket[TICKET_BYTES],
                      size_t index, unsigned char id[MESSAGE_ID_BYTES]);
/* Takes the outer layer off. 0 when it was not sealed for this shuffler and round. `inner` has room
 * for MESSAGE_HEAD_BYTES more than it will hold; so has `body` below. */
int message_peel(const collect_round *round, const cellar_collect_keys *shuffler,
                 const unsigned char *outer, unsigned char id[MESSAGE_ID_BYTES],
                 unsigned char *inner);
/* Opens the inner one into `body`; 0 when it was not sealed for this recipient and round. */
int message_open(const collect_round *round, const cellar_collect_keys *recipient,
                 const unsigned char *inner, unsigned char id[MESSAGE_ID_BYTES],
                 unsigned char *body);

/* The body of round one: the column and the number of its value. */
void value_write(size_t column, uint32_t level, unsigned char body[MESSAGE_VALUE_BYTES]);
/* 0 when there is no such column or value, or a byte is not as it is written. */
int value_read(const cellar_invitation *invitation, const unsigned char body[MESSAGE_VALUE_BYTES],
               size_t *column, uint32_t *level);

/* ---- a submission: all messages of one participant in a round ---- */

/* "CSUB", version, round, number of messages (2), length of one (4), round id (32). */
void submission_header(const collect_round *round, unsigned char out[SUBMISSION_HEADER_BYTES]);
/* Checks a submission of round_submission_bytes(); the messages follow the header. */
cellar_status submission_check(const collect_round *round, const unsigned char *bytes,
                               size_t length, cellar_error *err);

/* The secret of row `row` of a file of records. */
void ticket_of_row(const unsigned char secret[TICKET_BYTES], uint64_t row,
                   unsigned char ticket[TICKET_BYTES]);

/* Whole numbers in bytes, least first. */
void bytes_put(unsigned char *bytes, size_t n, uint64_t value);
uint64_t bytes_get(const unsigned char *bytes, size_t n);

#endif
