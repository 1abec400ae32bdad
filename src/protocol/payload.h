/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Payloads: what goes to the analyst beside the columns of a row, in the same envelope. All have
 * the length that the invitation says, so that an envelope shows nothing of its payload.
 *
 *   length (4), the payload, zeros up to the length of the invitation
 */
#ifndef CELLAR_PROTOCOL_PAYLOAD_H
#define CELLAR_PROTOCOL_PAYLOAD_H

#include "base/csv_record.h"
#include "protocol/decision.h"

/* Reads the file that a field of the CSV file `csv_path` names, which must have at most `most`
 * bytes; nothing for an empty field. Free *bytes. */
cellar_status payload_read(const char *csv_path, const cellar_csv_field *field, uint64_t most,
                           char **bytes, size_t *length, cellar_error *err);
/* 1 when the length is at most `most`, and zeros follow the payload. */
int payload_is_valid(const unsigned char *payload, uint64_t most);

/* The levels of a row of round two; 0 when it makes no sense. */
int row_read(const cellar_invitation *invitation, const cellar_decision *decision,
             const unsigned char *body, uint32_t levels[CELLAR_MAX_VARIABLES]);

#endif
