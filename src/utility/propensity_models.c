/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/propensity_models.h"

#include "base/error.h"
#include "base/memory.h"

static double positive(int64_t value)
{
    return value > 0 ? (double) value : 0;
}

cellar_status cellar_utility_pooled_init(utility_pooled *pooled, const utility_frame *frame,
                                         const utility_cells *released, cellar_error *err)
{
    const size_t room = frame->original.n + released->n;
    utility_walk walk = {0};
    *pooled = (utility_pooled){
        .frame = frame,
        .leaves = cellar_alloc(room * frame->n_variables, sizeof *pooled->leaves),
        .released = cellar_alloc(room, sizeof *pooled->released),
        .records = cellar_alloc(room, sizeof *pooled->records),
    };
    if (pooled->leaves == NULL || pooled->released == NULL || pooled->records == NULL)
        return cellar_fail_memory(err, "a propensity model");
    while (utility_walk_next(&walk, &frame->original, released)) {
        const double b = positive(walk.released), t = positive(walk.count) + b;
        if (t == 0)
            continue;
        utility_leaves(frame, walk.index, pooled->leaves + pooled->n * frame->n_variables);
        pooled->released[pooled->n] = b;
        pooled->records[pooled->n++] = t;
        pooled->n_records += t;
        pooled->n_released += b;
    }
    return CELLAR_OK;
}

void cellar_utility_pooled_clear(utility_pooled *pooled)
{
    cellar_free(pooled->leaves);
    cellar_free(pooled->released);
    cellar_free(pooled->records);
    *pooled = (utility_pooled){0};
}
