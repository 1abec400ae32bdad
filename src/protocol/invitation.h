/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of an invitation. */
#ifndef CELLAR_PROTOCOL_INVITATION_H
#define CELLAR_PROTOCOL_INVITATION_H

#include <cellar/collect.h>

#include "base/text.h"
#include "protocol/terms.h"

struct cellar_invitation {
    cellar_text text; /* as signed, the signature included */
    unsigned char session[CELLAR_COLLECT_ID_BYTES];
    char *title;
    collect_terms terms;
    cellar_collect_identity identities[4]; /* by role */
    size_t n_columns;
    char **names;
    cellar_codelist **codes; /* leaves only, in order */
};

#endif
