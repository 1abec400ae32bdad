/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a curator receives: any bytes are refused with a reason, and so is noise well signed. */
#include <string.h>

#include "base/memory.h"
#include "fuzz_collection.h"
#include "protocol/batch.h"

static int take_none(void *context, const unsigned char *id, const unsigned char *body)
{
    (void) context;
    (void) id;
    (void) body;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    collect_round round;
    collect_batch batch = {0};
    cellar_collect_report report;
    cellar_error err = {""};

    round_one(c->invitation, &round);
    CELLAR_ASSERT(collect_batch_parse("fuzz", data, size, &round, &batch, &err) != CELLAR_OK);
    CELLAR_ASSERT(err.message[0] != '\0');
    batch = (collect_batch){NULL, data, size / round_inner_bytes(&round)};
    CELLAR_ASSERT(collect_batch_open_all(&batch, &round, c->keys[1], take_none, NULL, &report,
                                         &err) == CELLAR_OK);
    CELLAR_ASSERT(report.n_refused == batch.n);
    return 0;
}
