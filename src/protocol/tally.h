/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tally of an open collection: every message of round one as it was counted, for everybody to
 * count again. Values are randomised, and nobody but its sender knows whose an id is.
 *
 *   "CTAL", version, 1, 0 0, how many (8), round id (32); ids (16) and bodies (8), by id ascending;
 *   Ed25519ph signature of the curator (64) over all before it
 */
#ifndef CELLAR_PROTOCOL_TALLY_H
#define CELLAR_PROTOCOL_TALLY_H

#include "protocol/decision.h"

/* Puts the rows in order and names the tally: nothing when no rows were kept. */
void tally_finish(const collect_round *round, cellar_collect_margins *margins);

/* Counts a tally again. */
cellar_status tally_parse(const char *name, const unsigned char *bytes, size_t length,
                          const cellar_invitation *invitation, cellar_collect_margins **out,
                          cellar_error *err);

#endif
