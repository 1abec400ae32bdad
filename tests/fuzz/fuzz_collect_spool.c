/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a shuffler finds on its disk: no record is believed that it did not write. */
#include <string.h>

#include "base/memory.h"
#include "fuzz_collection.h"
#include "protocol/keys.h"
#include "protocol/spool.h"

enum { RECORD_BYTES = 20, HEADER_BYTES = 44 };

static cellar_status no_record(void *context, const unsigned char *record, cellar_error *err)
{
    (void) context;
    (void) err;
    CELLAR_ASSERT(record == NULL); /* nobody wrote any */
    return CELLAR_OK;
}

static void visit(const char *path, const collect_round *round, const unsigned char *key)
{
    collect_spool *spool = NULL;
    cellar_error err = {""};
    if (spool_open(path, round, key, RECORD_BYTES, &spool, &err) != CELLAR_OK)
        CELLAR_ASSERT(err.message[0] != '\0');
    else if (spool_n_records(spool) > 0)
        CELLAR_ASSERT(spool_visit(spool, no_record, NULL, &err) == CELLAR_ERR_INPUT);
    spool_close(spool);
}

/* The bytes as they are, and behind a good header. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char start[] = {'C', 'S', 'P', 'L', 1, 1, 0, 0};
    const fuzz_collection *c = fuzz_collection_open();
    unsigned char *bytes = cellar_alloc(HEADER_BYTES + size, 1);
    char path[FUZZ_PATH_BYTES];
    collect_round round;

    CELLAR_ASSERT(bytes != NULL);
    round_one(c->invitation, &round);
    fuzz_file(data, size, path);
    visit(path, &round, c->keys[2]->spool_secret);
    unlink(path);
    memcpy(bytes, start, sizeof start);
    bytes_put(bytes + 8, 4, RECORD_BYTES);
    memcpy(bytes + 12, round.id, sizeof round.id);
    memcpy(bytes + HEADER_BYTES, data, size);
    fuzz_file(bytes, HEADER_BYTES + size, path);
    visit(path, &round, c->keys[2]->spool_secret);
    unlink(path);
    cellar_free(bytes);
    return 0;
}
