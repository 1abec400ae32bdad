/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every index gets a draw, in blocks that lanes take in turn. What is not a cell, or is a
 * structural zero, is dropped afterwards: the schema is public, so time may depend on it. */
#include "release/draw/draw.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/draw/predicate.h"

enum { DENSE_BLOCK = 1 << 15, DENSE_BLOCKS = 1 << 7 }; /* 4 million cells at a time: 48 MB */

/* A run of blocks. Each holds its listed cells at its beginning. */
typedef struct dense_segment {
    cellar_draw *draw;
    uint64_t start, end;
    int64_t *values;
    uint32_t *offsets;             /* of the listed cells, within the block */
    size_t *n_listed;              /* by block */
    size_t *places;                /* where the block's cells go in the output */
    cellar_predicate **predicates; /* one per lane, for keyed noise; or NULL */
} dense_segment;

static size_t dense_length(const dense_segment *segment, size_t block)
{
    uint64_t start = segment->start + (uint64_t) block * DENSE_BLOCK;
    return segment->end - start < DENSE_BLOCK ? (size_t) (segment->end - start) : DENSE_BLOCK;
}

/* The true counts of a block, zeros included. */
static void dense_fill(const cellar_table *table, uint64_t start, size_t length, int64_t *values)
{
    memset(values, 0, length * sizeof *values);
    for (size_t i = cellar_draw_position(table, start); i < table->cells.n; i++) {
        uint64_t index = table_index(table, i);
        if (index - start >= length)
            break;
        values[index - start] = (int64_t) table->cells.count[i];
    }
}

/* Each cell by itself, with the bits of its own predicate. */
static cellar_status dense_draw_keyed(const dense_segment *segment, uint64_t start, size_t length,
                                      int64_t *values, int lane, cellar_error *err)
{
    cellar_draw *draw = segment->draw;
    cellar_rng *rng = draw->rngs[lane];
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < length && status == CELLAR_OK; i++) {
        if (!cellar_draw_has(draw, start + i))
            continue;
        status = cellar_predicate_select(segment->predicates[lane], start + i, rng, err);
        if (status == CELLAR_OK)
            status =
                cellar_mechanism_sample_many(draw->mechanism, &values[i], 1, rng, &values[i], err);
    }
    return status;
}

/* Moves the listed numbers to the front without a branch on them. */
static size_t dense_compact(const cellar_listing *listing, size_t length, int64_t *values,
                            uint32_t *offsets)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        int64_t value = values[i];
        values[n] = value;
        offsets[n] = (uint32_t) i;
        n += (size_t) cellar_listing_has(listing, value);
    }
    return n;
}

static size_t dense_drop(const cellar_draw *draw, uint64_t start, size_t n, int64_t *values,
                         uint32_t *offsets)
{
    const cellar_schema *schema = draw->table->schema;
    size_t n_kept = 0;
    if (schema->n_possible == schema->n_indices && schema->structural == NULL &&
        draw->table->cells.status == NULL)
        return n;
    for (size_t i = 0; i < n; i++)
        if (cellar_draw_has(draw, start + offsets[i])) {
            values[n_kept] = values[i];
            offsets[n_kept++] = offsets[i];
        }
    return n_kept;
}

static cellar_status dense_block(void *context, size_t first, size_t last, int lane,
                                 cellar_error *err)
{
    dense_segment *segment = context;
    cellar_draw *draw = segment->draw;
    cellar_status status = CELLAR_OK;

    for (size_t block = first; block < last && status == CELLAR_OK; block++) {
        uint64_t start = segment->start + (uint64_t) block * DENSE_BLOCK;
        size_t length = dense_length(segment, block), n;
        int64_t *values = segment->values + block * DENSE_BLOCK;
        uint32_t *offsets = segment->offsets + block * DENSE_BLOCK;

        dense_fill(draw->table, start, length, values);
        if (draw->keyed)
            status = dense_draw_keyed(segment, start, length, values, lane, err);
        else
            status = cellar_mechanism_sample_many(draw->mechanism, values, length, draw->rngs[lane],
                                                  values, err);
        if (status != CELLAR_OK)
            break;
        n = dense_compact(&draw->listing, length, values, offsets);
        segment->n_listed[block] = dense_drop(draw, start, n, values, offsets);
    }
    cellar_draw_leave(lane);
    return status;
}

static cellar_status dense_copy(void *context, size_t first, size_t last, int lane,
                                cellar_error *err)
{
    dense_segment *segment = context;
    cellar_cells *out = &segment->draw->out.cells;
    (void) lane;
    (void) err;
    for (size_t block = first; block < last; block++) {
        uint64_t start = segment->start + (uint64_t) block * DENSE_BLOCK;
        size_t place = segment->places[block];
        for (size_t i = 0; i < segment->n_listed[block]; i++) {
            out->index[place + i] = start + segment->offsets[block * DENSE_BLOCK + i];
            out->count[place + i] = (uint64_t) segment->values[block * DENSE_BLOCK + i];
        }
    }
    return CELLAR_OK;
}

static cellar_status dense_run_segment(dense_segment *segment, cellar_error *err)
{
    cellar_draw *draw = segment->draw;
    size_t n_blocks = (size_t) ((segment->end - segment->start + DENSE_BLOCK - 1) / DENSE_BLOCK);
    size_t n_listed = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_pool_for(draw->pool, n_blocks, 1, dense_block, segment, err));
    for (size_t block = 0; block < n_blocks; block++) {
        segment->places[block] = draw->out.cells.n + n_listed;
        n_listed += segment->n_listed[block];
    }
    CELLAR_TRY(cellar_cells_reserve(&draw->out, &draw->out.cells, n_listed, err));
    CELLAR_TRY(cellar_pool_for(draw->pool, n_blocks, 1, dense_copy, segment, err));
    draw->out.cells.n += n_listed;
out:
    return status;
}

static cellar_status dense_open_predicates(dense_segment *segment, cellar_error *err)
{
    int n_lanes = cellar_pool_n_lanes(segment->draw->pool);
    cellar_status status = CELLAR_OK;
    if (!segment->draw->keyed)
        return CELLAR_OK;
    segment->predicates = cellar_alloc((size_t) n_lanes, sizeof *segment->predicates);
    if (segment->predicates == NULL)
        return cellar_fail_memory(err, "a release");
    for (int lane = 0; lane < n_lanes && status == CELLAR_OK; lane++)
        status = cellar_predicate_create(segment->draw->table, &segment->draw->fingerprint,
                                         &segment->predicates[lane], err);
    return status;
}

cellar_status cellar_draw_dense(cellar_draw *draw, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t n_indices = cellar_schema_n_indices(draw->table->schema);
    const size_t size = (size_t) DENSE_BLOCK * DENSE_BLOCKS;
    size_t n = n_indices < size ? (size_t) n_indices : size;
    dense_segment segment = {.draw = draw,
                             .values = cellar_alloc(n, sizeof(int64_t)),
                             .offsets = cellar_alloc(n, sizeof(uint32_t)),
                             .n_listed = cellar_alloc(DENSE_BLOCKS, sizeof(size_t)),
                             .places = cellar_alloc(DENSE_BLOCKS, sizeof(size_t))};

    if (segment.values == NULL || segment.offsets == NULL || segment.n_listed == NULL ||
        segment.places == NULL) {
        status = cellar_fail_memory(err, "a release");
        goto out;
    }
    CELLAR_TRY(dense_open_predicates(&segment, err));
    for (uint64_t start = 0; start < n_indices; start += n) {
        segment.start = start;
        segment.end = n_indices - start < n ? n_indices : start + n;
        CELLAR_TRY(dense_run_segment(&segment, err));
        CELLAR_TRY(cellar_draw_report(draw, (double) segment.end / (double) n_indices, err));
    }
out:
    if (segment.values != NULL)
        cellar_wipe(segment.values, n * sizeof *segment.values);
    for (int i = 0; segment.predicates != NULL && i < cellar_pool_n_lanes(draw->pool); i++)
        cellar_predicate_free(segment.predicates[i]);
    cellar_free(segment.predicates);
    cellar_free(segment.values);
    cellar_free(segment.offsets);
    cellar_free(segment.n_listed);
    cellar_free(segment.places);
    return status;
}
