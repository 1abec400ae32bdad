/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a participant. */
#ifndef CELLAR_PROTOCOL_PARTICIPANT_H
#define CELLAR_PROTOCOL_PARTICIPANT_H

#include "protocol/decision.h"

struct cellar_participant { /* in locked memory */
    unsigned char secret[TICKET_BYTES];
    const cellar_invitation *invitation;
    const cellar_decision *decision; /* in round two */
    const cellar_question *question; /* in a round in between */
    collect_round round;
    const char *payload_column; /* of a file of records: where their payloads lie; or NULL */
    const char *budget;         /* a path; NULL: none is kept */
};

/* The numbers of the values on the lists of the invitation. */
cellar_status participant_levels(const cellar_participant *participant, const char *const *values,
                                 uint32_t levels[CELLAR_MAX_VARIABLES], cellar_error *err);
/* What is reported in round one: the value of a column, randomised if the invitation says so. */
uint32_t participant_response(const cellar_participant *participant,
                              const unsigned char ticket[TICKET_BYTES], size_t column,
                              uint32_t level);

#endif
