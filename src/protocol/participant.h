/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a participant. */
#ifndef CELLAR_PROTOCOL_PARTICIPANT_H
#define CELLAR_PROTOCOL_PARTICIPANT_H

#include "protocol/decision.h"

struct cellar_participant { /* in locked memory */
    unsigned char secret[TICKET_BYTES];
    const cellar_invitation *invitation;
    const cellar_decision *decision; /* NULL in round one */
    collect_round round;
};

#endif
