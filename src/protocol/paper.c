/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/paper.h"

#include <string.h>

#include "base/error.h"

void paper_write_head(const char *header, const cellar_invitation *invitation, cellar_text *text)
{
    cellar_text_printf(text, "%s\n", header);
    lines_add_hex(text, "session", invitation->session, sizeof invitation->session);
}

cellar_status paper_begin(cellar_lines *lines, const char *name, const char *bytes, size_t length,
                          const char *header, const cellar_invitation *invitation,
                          cellar_error *err)
{
    const unsigned char *signer = invitation->identities[CELLAR_COLLECT_CURATOR].sign;
    unsigned char session[CELLAR_COLLECT_ID_BYTES];
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_begin_signed(lines, name, bytes, length, header, signer, err));
    CELLAR_TRY(lines_take_hex(lines, "session", session, sizeof session, err));
    if (memcmp(session, invitation->session, sizeof session) != 0)
        status = cellar_fail(err, CELLAR_ERR_RULE, "%s: is about another collection", name);
out:
    return status;
}
