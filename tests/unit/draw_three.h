/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mechanism made from its spec and used: what check_fail_every() runs. */
#ifndef CELLAR_TESTS_DRAW_THREE_H
#define CELLAR_TESTS_DRAW_THREE_H

#include <cellar/mechanism.h>
#include <cellar/random.h>

static inline cellar_status draw_three(void *context, cellar_error *e)
{
    cellar_mechanism *m = NULL;
    cellar_rng *rng = NULL;
    int64_t counts[3] = {0, 1, 9}, released[3];
    cellar_status status = cellar_mechanism_create(context, &m, e);
    if (status == CELLAR_OK)
        status = cellar_rng_create_seeded(1, 0, &rng, e);
    if (status == CELLAR_OK)
        status = cellar_mechanism_sample_many(m, counts, 3, rng, released, e);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
    return status;
}

#endif
