/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a shuffler finds on its disk: no record is believed that it did not write. */
#include <string.h>

#include <sodium.h>

#include "base/memory.h"
#include "fuzz_collection.h"
#include "protocol/keys.h"
#include "protocol/spool.h"

enum { RECORD_BYTES = 20, FACTS_BYTES = 44, HEADER_BYTES = 1024 };

static cellar_status no_record(void *context, const unsigned char *record, cellar_error *err)
{
    (void) context;
    (void) err;
    CELLAR_ASSERT(record == NULL); /* nobody wrote any */
    return CELLAR_OK;
}

/* What the shuffler did not write is refused, or cut. */
static void visit(const char *path, const collect_round *round, const unsigned char *key)
{
    collect_spool *spool = NULL;
    cellar_error err = {""};
    if (spool_open(path, round, key, RECORD_BYTES, no_record, NULL, &spool, &err) != CELLAR_OK)
        CELLAR_ASSERT(err.message[0] != '\0');
    else
        CELLAR_ASSERT(spool_n_records(spool) == 0);
    spool_close(spool);
}

/* The bytes as they are, and behind a good header. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char start[] = {'C', 'S', 'P', 'L', 2, 1, 0, 0};
    const fuzz_collection *c = fuzz_collection_open();
    const unsigned char *key = c->keys[2]->spool_secret;
    unsigned char *bytes = cellar_alloc(HEADER_BYTES + size, 1);
    char path[FUZZ_PATH_BYTES];
    collect_round round;

    CELLAR_ASSERT(bytes != NULL);
    round_one(c->invitation, &round);
    fuzz_file(data, size, path);
    visit(path, &round, key);
    unlink(path);
    memcpy(bytes, start, sizeof start);
    bytes_put(bytes + 8, 4, RECORD_BYTES);
    memcpy(bytes + 12, round.id, sizeof round.id);
    crypto_generichash(bytes + FACTS_BYTES, 16, bytes, FACTS_BYTES, key, 32);
    memcpy(bytes + HEADER_BYTES, data, size);
    fuzz_file(bytes, HEADER_BYTES + size, path);
    visit(path, &round, key);
    unlink(path);
    cellar_free(bytes);
    return 0;
}
