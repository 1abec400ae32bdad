/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a shuffler. */
#ifndef CELLAR_PROTOCOL_SHUFFLER_H
#define CELLAR_PROTOCOL_SHUFFLER_H

#include "protocol/ids.h"
#include "protocol/spool.h"

enum { SHUFFLER_PATH_BYTES = 4096 };

struct cellar_shuffler {
    collect_round round;
    const cellar_collect_keys *keys;
    char spool_path[SHUFFLER_PATH_BYTES], batch_path[SHUFFLER_PATH_BYTES];
    collect_spool *spool;
    id_set seen;
    size_t peeled_bytes;   /* of one message: id and inner envelope */
    unsigned char *peeled; /* room for a submission, and for opening its last message */
    int is_over;
};

#endif
