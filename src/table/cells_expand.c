/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include "base/error.h"

/* One step of an expansion. A sum of counts cannot overflow unless the number of records does,
 * but weights and hostile input may, so everything is checked. */
typedef struct axis_step {
    const cellar_schema *schema;
    const schema_axis *axis;
    size_t variable;
    int totals;
    uint64_t key_range;
    cellar_error *err;
} axis_step;

static cellar_status step_fail_overflow(const axis_step *step)
{
    return cellar_fail(step->err, CELLAR_ERR_OVERFLOW, "a sum over '%s' is too large",
                       step->axis->name);
}

/* How many cells the step adds before they are added up. */
static size_t step_size(const axis_step *step, const cellar_cells *cells)
{
    const schema_axis *axis = step->axis;
    size_t n = 0;
    if (axis->n_inner == 0)
        return cells->n;
    for (size_t i = 0; i < cells->n; i++) {
        uint32_t leaf = schema_category(step->schema, step->variable, cells->index[i]);
        if (leaf < axis->n_leaves)
            n +=
                axis->ancestor_start[leaf + 1] - axis->ancestor_start[leaf] + (size_t) step->totals;
    }
    return n;
}

/* ---- by blocks ---- */

/* The cells that agree on the variables before this one are neighbours: a block. Its sums go into
 * an array with a place for each combination of an aggregate of this variable and the categories
 * of the later ones; a bit tells which places are taken. Read in order, they are sorted. */
typedef struct axis_block {
    cellar_cells sums;
    uint64_t *taken;
    size_t n_places;
} axis_block;

static int block_add(axis_block *block, size_t place, const axis_step *step,
                     const cellar_cells *cells, size_t i)
{
    block->taken[place / 64] |= UINT64_C(1) << (place % 64);
    return cells_add(&block->sums, place, cells, i, step->key_range);
}

/* Adds cell i, whose leaf and place among the later variables are known, to all its sums. */
static int block_add_all(axis_block *block, const axis_step *step, const cellar_cells *cells,
                         size_t i, uint32_t leaf, uint64_t low)
{
    const schema_axis *axis = step->axis;
    if (axis->n_inner > 0)
        for (uint32_t k = axis->ancestor_start[leaf]; k < axis->ancestor_start[leaf + 1]; k++)
            if (!block_add(block, (axis->ancestors[k] - axis->n_leaves) * axis->stride + low, step,
                           cells, i))
                return 0;
    return !step->totals || block_add(block, axis->n_inner * axis->stride + low, step, cells, i);
}

/* Moves the sums of a block that begins at index `first` to the end of `out`, which has room. */
static void block_flush(axis_block *block, const axis_step *step, uint64_t first, cellar_cells *out)
{
    for (size_t w = 0; w * 64 < block->n_places; w++)
        for (; block->taken[w] != 0; block->taken[w] &= block->taken[w] - 1) {
            size_t place = w * 64 + (size_t) __builtin_ctzll(block->taken[w]);
            cells_append_sum(out, &block->sums, place,
                             first + step->axis->n_leaves * step->axis->stride + place);
            block->sums.count[place] = 0;
            if (block->sums.weight != NULL)
                block->sums.weight[place] = 0;
            if (block->sums.key != NULL)
                block->sums.key[place] = 0;
        }
}

static cellar_status blocks_walk(axis_block *block, const axis_step *step,
                                 const cellar_cells *cells, cellar_cells *out)
{
    const schema_axis *axis = step->axis;
    uint64_t size = axis->stride * axis->n_categories;

    for (size_t i = 0; i < cells->n;) {
        uint64_t first = schema_quotient(cells->index[i], size) * size, row = first;
        uint64_t end = first + axis->n_leaves * axis->stride;
        uint32_t leaf = 0;
        for (; i < cells->n && cells->index[i] < end; i++) {
            uint64_t past = cells->index[i] - row;
            if (past >= axis->stride) {
                leaf += (uint32_t) schema_quotient(past, axis->stride);
                row = first + leaf * axis->stride;
            }
            if (!block_add_all(block, step, cells, i, leaf, cells->index[i] - row))
                return step_fail_overflow(step);
        }
        while (i < cells->n && cells->index[i] < first + size)
            i++; /* already sums over this variable */
        block_flush(block, step, first, out);
    }
    return CELLAR_OK;
}

static cellar_status step_by_blocks(const axis_step *step, const cellar_cells *cells,
                                    size_t n_places, cells_builder *out)
{
    cellar_status status = CELLAR_OK;
    axis_block block = {.n_places = n_places};
    cellar_cells like = *cells;

    like.status = NULL;
    CELLAR_TRY(cellar_cells_create_like(&like, n_places, &block.sums, step->err));
    block.taken = cellar_alloc(n_places / 64 + 1, sizeof *block.taken);
    if (block.taken == NULL) {
        status = cellar_fail_memory(step->err, "the sums of a table");
        goto out;
    }
    CELLAR_TRY(cellar_cells_reserve(out, cells, step_size(step, cells), step->err));
    CELLAR_TRY(blocks_walk(&block, step, cells, &out->cells));
out:
    cellar_cells_clear(&block.sums);
    cellar_free(block.taken);
    return status;
}

/* ---- by sorting ---- */

static cellar_status step_by_sorting(const axis_step *step, const cellar_cells *cells,
                                     cells_builder *out)
{
    const schema_axis *axis = step->axis;
    cellar_status status = cellar_cells_reserve(out, cells, step_size(step, cells), step->err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < cells->n; i++) {
        uint32_t leaf = schema_category(step->schema, step->variable, cells->index[i]);
        uint64_t base = cells->index[i] - leaf * axis->stride;
        if (leaf >= axis->n_leaves)
            continue; /* already a sum over this variable */
        if (axis->n_inner > 0)
            for (uint32_t k = axis->ancestor_start[leaf]; k < axis->ancestor_start[leaf + 1]; k++)
                cells_append_sum(&out->cells, cells, i, base + axis->ancestors[k] * axis->stride);
        if (step->totals)
            cells_append_sum(&out->cells, cells, i, base + (axis->n_categories - 1) * axis->stride);
    }
    return cellar_cells_sort(&out->cells, step->schema->n_indices, step->key_range, step->err);
}

/* ---- the step ---- */

/* Merges two sorted lists without a common index, from their ends, in the place of the first. */
static cellar_status pool_merge(cells_builder *pool, const cellar_cells *sums, cellar_error *err)
{
    cellar_cells *cells = &pool->cells;
    size_t i = cells->n, j = sums->n;
    cellar_status status = cellar_cells_reserve(pool, sums, sums->n, err);
    if (status != CELLAR_OK)
        return status;
    cells->n += sums->n;
    while (j > 0) {
        if (i > 0 && cells->index[i - 1] > sums->index[j - 1]) {
            cells_copy(cells, i + j - 1, cells, i - 1);
            i--;
        } else {
            cells_copy(cells, i + j - 1, sums, j - 1);
            j--;
        }
    }
    return CELLAR_OK;
}

cellar_status cellar_cells_expand_axis(const cellar_schema *schema, size_t v, int totals,
                                       uint64_t key_range, cells_builder *pool, cellar_error *err)
{
    const schema_axis *axis = &schema->axes[v];
    const axis_step step = {schema, axis, v, totals, key_range, err};
    cellar_status status = CELLAR_OK;
    cells_builder sums = {0};
    uint64_t n_places = axis->stride * (axis->n_inner + (uint64_t) totals);

    /* Blocks cost their places in memory, and together at most a bit per index in time. */
    if (n_places / 8 <= pool->cells.n && schema->n_indices / 256 <= pool->cells.n)
        CELLAR_TRY(step_by_blocks(&step, &pool->cells, (size_t) n_places, &sums));
    else
        CELLAR_TRY(step_by_sorting(&step, &pool->cells, &sums));
    CELLAR_TRY(pool_merge(pool, &sums.cells, err));
out:
    cellar_cells_clear(&sums.cells);
    return status;
}
