/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invitations: any bytes give an invitation with a session, or a message. */
#include <stdint.h>

#include <cellar/collect.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_invitation *invitation;
    cellar_error err = {""};
    cellar_status status =
        cellar_invitation_parse("fuzz", (const char *) data, size, &invitation, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    CELLAR_ASSERT((status == CELLAR_OK) == (invitation != NULL));
    cellar_invitation_free(invitation);
    return 0;
}
