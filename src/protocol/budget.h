/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant has spent over all its collections, in a file of its own with mode 0600. Lines
 * are added, never changed:
 *
 *   cellar collect budget 1
 *   limit EPSILON                      the last one holds
 *   sent SESSION ROUND HASH EPSILON    an answer; "exact" when it is not randomised
 *
 * HASH stands for what was sent: the same records sent again to the same round cost nothing more,
 * and other records do. A line that a crash left unfinished is cut: nothing was sent before the
 * line was on disk. */
#ifndef CELLAR_PROTOCOL_BUDGET_H
#define CELLAR_PROTOCOL_BUDGET_H

#include "protocol/participant.h"

/* Charges the participant's budget, if it has one, for the answers in `bytes`. CELLAR_ERR_BUDGET
 * when the limit does not allow them; then nothing is charged. */
cellar_status budget_charge(const cellar_participant *participant, const void *bytes, size_t length,
                            cellar_error *err);

#endif
