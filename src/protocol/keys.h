/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The secrets of a role, for the files that use them. */
#ifndef CELLAR_PROTOCOL_KEYS_H
#define CELLAR_PROTOCOL_KEYS_H

#include <cellar/collect.h>

enum { COLLECT_SIGNATURE_BYTES = 64 };

struct cellar_collect_keys {
    cellar_collect_role role;
    cellar_collect_identity identity;
    unsigned char box_secret[32];
    unsigned char sign_secret[64];
    unsigned char spool_secret[32]; /* what a role keeps on its own disk is encrypted under this */
};

/* The id of a key file, in bytes. */
void keys_file_id(const cellar_key *key, unsigned char id[CELLAR_COLLECT_KEY_ID_BYTES]);
/* "curator", "shuffler" or "analyst". */
const char *keys_role_word(cellar_collect_role role);

#endif
