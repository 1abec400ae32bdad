/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Papers that the curator signs within a collection, decisions and questions: the first line names
 * the kind, the second the collection. */
#ifndef CELLAR_PROTOCOL_PAPER_H
#define CELLAR_PROTOCOL_PAPER_H

#include "protocol/invitation.h"
#include "protocol/lines.h"

/* The first two lines. */
void paper_write_head(const char *header, const cellar_invitation *invitation, cellar_text *text);

/* Verifies the curator's signature and takes the first two lines; *lines begins after them. */
cellar_status paper_begin(cellar_lines *lines, const char *name, const char *bytes, size_t length,
                          const char *header, const cellar_invitation *invitation,
                          cellar_error *err);

#endif
