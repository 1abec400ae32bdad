/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a decision and of the margins it is made from. */
#ifndef CELLAR_PROTOCOL_DECISION_H
#define CELLAR_PROTOCOL_DECISION_H

#include <cellar/collect.h>

#include "base/text.h"
#include "protocol/message.h"
#include "protocol/redaction.h"

struct cellar_decision {
    cellar_text text; /* as signed, the signature included */
    unsigned char id[CELLAR_COLLECT_ID_BYTES];
    uint64_t n_people;
    uint64_t bound; /* in units of 10^-18, rounded up */
    uint64_t worst; /* of a decision by a model: what the theorems bound, so below */
    int theorem;
    size_t n_columns;
    size_t columns[CELLAR_MAX_VARIABLES];
    redaction redactions[CELLAR_MAX_VARIABLES];      /* of each of these columns */
    unsigned char tally_id[CELLAR_COLLECT_ID_BYTES]; /* of an open collection; so below */
};

struct cellar_collect_margins {
    uint64_t n_people;
    size_t n_columns;
    uint64_t **counts; /* by column and level: reports, when values were randomised */
    unsigned char tally_id[CELLAR_COLLECT_ID_BYTES];
    unsigned char *rows; /* TALLY_ROW_BYTES each, by id */
    size_t n_rows, rows_capacity;
};

/* A message as it was counted: its id and its body. */
enum { TALLY_ROW_BYTES = MESSAGE_ID_BYTES + MESSAGE_VALUE_BYTES };

/* Margins of nobody yet. On failure *out may need freeing. */
cellar_status margins_create(const cellar_invitation *invitation, cellar_collect_margins **out,
                             cellar_error *err);
/* Counts a message of round one; 0 when it makes no sense. */
int margins_count(cellar_collect_margins *margins, const cellar_invitation *invitation,
                  const unsigned char body[MESSAGE_VALUE_BYTES]);
/* Every column has the same total, which is the number of people, and no fewer than announced. */
cellar_status margins_check(const cellar_invitation *invitation, cellar_collect_margins *margins,
                            cellar_error *err);

/* Round one without a decision, round two with one; CELLAR_ERR_RULE when it releases nothing. */
cellar_status round_of(const cellar_invitation *invitation, const cellar_decision *decision,
                       collect_round *out, cellar_error *err);

/* Are these the keys that the invitation names for the role? */
cellar_status keys_check(const cellar_collect_keys *keys, const cellar_invitation *invitation,
                         cellar_collect_role role, cellar_error *err);

#endif
