/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include <string.h>

#include "base/error.h"

void cellar_cells_clear(cellar_cells *cells)
{
    cellar_free(cells->index);
    cellar_free(cells->count);
    cellar_free(cells->weight);
    cellar_free(cells->key);
    cellar_free(cells->status);
    *cells = (cellar_cells){0};
}

size_t cellar_cells_position(const cellar_cells *cells, uint64_t index)
{
    size_t low = 0, high = cells->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cells->index[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

cellar_status cellar_cells_create_like(const cellar_cells *like, size_t n, cellar_cells *out,
                                       cellar_error *err)
{
    *out = (cellar_cells){.n = n};
    out->index = cellar_alloc(n, sizeof *out->index);
    out->count = cellar_alloc(n, sizeof *out->count);
    if (like->weight != NULL)
        out->weight = cellar_alloc(n, sizeof *out->weight);
    if (like->key != NULL)
        out->key = cellar_alloc(n, sizeof *out->key);
    if (like->status != NULL)
        out->status = cellar_alloc(n, sizeof *out->status);
    if (out->index == NULL || out->count == NULL || (like->weight != NULL && out->weight == NULL) ||
        (like->key != NULL && out->key == NULL) || (like->status != NULL && out->status == NULL)) {
        cellar_cells_clear(out);
        return cellar_fail_memory(err, "the cells of a table");
    }
    return CELLAR_OK;
}

void cellar_cells_compact(cellar_cells *cells)
{
    size_t n = 0;
    if (cells->index == NULL) /* all are stored: where a cell is says which it is */
        return;
    for (size_t i = 0; i < cells->n; i++) {
        if (cells->count[i] == 0 && (cells->weight == NULL || cells->weight[i] == 0) &&
            (cells->status == NULL || cells->status[i] == CELLAR_CELL_NORMAL))
            continue;
        if (n != i)
            cells_copy(cells, n, cells, i);
        n++;
    }
    cells->n = n;
}

/* ---- growing ---- */

static int cells_widen(void *array_pointer, int wanted, size_t n, size_t size)
{
    void *array, *grown;
    if (!wanted)
        return 1;
    memcpy(&array, array_pointer, sizeof array); /* any object pointer type */
    grown = cellar_realloc(array, n, size);
    if (grown != NULL)
        memcpy(array_pointer, &grown, sizeof grown);
    return grown != NULL;
}

cellar_status cellar_cells_reserve(cells_builder *builder, const cellar_cells *like, size_t more,
                                   cellar_error *err)
{
    cellar_cells *cells = &builder->cells;
    size_t needed, wanted = builder->capacity + builder->capacity / 2;
    if (__builtin_add_overflow(cells->n, more, &needed))
        return cellar_fail_memory(err, "the cells of a table");
    if (needed <= builder->capacity && cells->index != NULL)
        return CELLAR_OK;
    if (wanted < needed)
        wanted = needed;
    if (!cells_widen(&cells->index, 1, wanted, sizeof *cells->index) ||
        !cells_widen(&cells->count, 1, wanted, sizeof *cells->count) ||
        !cells_widen(&cells->weight, like->weight != NULL, wanted, sizeof *cells->weight) ||
        !cells_widen(&cells->key, like->key != NULL, wanted, sizeof *cells->key) ||
        !cells_widen(&cells->status, like->status != NULL, wanted, sizeof *cells->status))
        return cellar_fail_memory(err, "the cells of a table");
    builder->capacity = wanted;
    return CELLAR_OK;
}

cellar_status cellar_cells_append(cells_builder *builder, const cellar_cells *source,
                                  cellar_error *err)
{
    cellar_status status = cellar_cells_reserve(builder, source, source->n, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < source->n; i++)
        cells_copy(&builder->cells, builder->cells.n + i, source, i);
    builder->cells.n += source->n;
    return CELLAR_OK;
}

cellar_status cellar_cells_append_zero(cells_builder *builder, uint64_t index, cellar_error *err)
{
    cellar_cells *cells = &builder->cells;
    cellar_status status = cellar_cells_reserve(builder, cells, 1, err);
    if (status != CELLAR_OK)
        return status;
    cells->index[cells->n] = index;
    cells->count[cells->n] = 0;
    if (cells->weight != NULL)
        cells->weight[cells->n] = 0;
    if (cells->key != NULL)
        cells->key[cells->n] = 0;
    cells->status[cells->n++] = CELLAR_CELL_STRUCTURAL_ZERO;
    return CELLAR_OK;
}

/* ---- sorting ---- */

int cellar_cells_are_ascending(const cellar_cells *cells)
{
    for (size_t i = 1; i < cells->n; i++)
        if (cells->index[i - 1] >= cells->index[i])
            return 0;
    return 1;
}

/* Few indices for the number of cells: one bit per index tells which occur, and the number of
 * bits before it is where the cell belongs. Writes positions; answers how many are distinct. */
static size_t cells_rank_by_bits(const cellar_cells *cells, uint64_t *bits, uint64_t *ranks,
                                 size_t n_words, size_t *position)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < cells->n; i++)
        bits[cells->index[i] / 64] |= UINT64_C(1) << (cells->index[i] % 64);
    for (size_t w = 0; w < n_words; w++) {
        ranks[w] = rank;
        rank += (uint64_t) __builtin_popcountll(bits[w]);
    }
    for (size_t i = 0; i < cells->n; i++) {
        uint64_t below = bits[cells->index[i] / 64] & ((UINT64_C(1) << (cells->index[i] % 64)) - 1);
        position[i] =
            (size_t) (ranks[cells->index[i] / 64] + (uint64_t) __builtin_popcountll(below));
    }
    return (size_t) rank;
}

static cellar_status cells_rank_few(const cellar_cells *cells, uint64_t n_indices, size_t *position,
                                    size_t *n_distinct, cellar_error *err)
{
    size_t n_words = (size_t) (n_indices / 64 + 1);
    uint64_t *bits = cellar_alloc(n_words, sizeof *bits);
    uint64_t *ranks = cellar_alloc(n_words, sizeof *ranks);
    cellar_status status = CELLAR_OK;
    if (bits == NULL || ranks == NULL)
        status = cellar_fail_memory(err, "sorting cells");
    else
        *n_distinct = cells_rank_by_bits(cells, bits, ranks, n_words, position);
    cellar_free(bits);
    cellar_free(ranks);
    return status;
}

typedef struct cells_entry {
    uint64_t index;
    size_t from;
} cells_entry;

enum { CELLS_DIGIT_BITS = 11, CELLS_DIGITS = 1 << CELLS_DIGIT_BITS };

/* One pass of a radix sort, least significant digit first: stable. */
static void cells_radix_pass(const cells_entry *in, cells_entry *out, size_t n, unsigned shift)
{
    size_t start[CELLS_DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        start[in[i].index >> shift & (CELLS_DIGITS - 1)]++;
    for (size_t d = 0; d < CELLS_DIGITS; d++) {
        size_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        out[start[in[i].index >> shift & (CELLS_DIGITS - 1)]++] = in[i];
}

static cellar_status cells_rank_many(const cellar_cells *cells, uint64_t n_indices,
                                     size_t *position, size_t *n_distinct, cellar_error *err)
{
    cells_entry *in = cellar_alloc(cells->n, sizeof *in), *out = cellar_alloc(cells->n, sizeof *in);
    size_t n_seen = 0;
    if (in == NULL || out == NULL) {
        cellar_free(in);
        cellar_free(out);
        return cellar_fail_memory(err, "sorting cells");
    }
    for (size_t i = 0; i < cells->n; i++)
        in[i] = (cells_entry){cells->index[i], i};
    for (unsigned shift = 0; shift < 64 && (n_indices - 1) >> shift != 0;
         shift += CELLS_DIGIT_BITS) {
        cells_entry *swap = in;
        cells_radix_pass(in, out, cells->n, shift);
        in = out;
        out = swap;
    }
    for (size_t i = 0; i < cells->n; i++) {
        n_seen += i > 0 && in[i].index != in[i - 1].index;
        position[in[i].from] = n_seen;
    }
    *n_distinct = n_seen + 1;
    cellar_free(in);
    cellar_free(out);
    return CELLAR_OK;
}

cellar_status cellar_cells_sort(cellar_cells *cells, uint64_t n_indices, uint64_t key_range,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_cells sorted = {0};
    size_t *position = NULL, n_distinct = 0;

    if (cellar_cells_are_ascending(cells))
        return CELLAR_OK;
    position = cellar_alloc(cells->n, sizeof *position);
    if (position == NULL)
        return cellar_fail_memory(err, "sorting cells");
    if (n_indices / 64 <= cells->n)
        CELLAR_TRY(cells_rank_few(cells, n_indices, position, &n_distinct, err));
    else
        CELLAR_TRY(cells_rank_many(cells, n_indices, position, &n_distinct, err));
    CELLAR_TRY(cellar_cells_create_like(cells, n_distinct, &sorted, err));
    for (size_t i = 0; i < cells->n; i++) {
        sorted.index[position[i]] = cells->index[i];
        if (!cells_add(&sorted, position[i], cells, i, key_range)) {
            status = cellar_fail(err, CELLAR_ERR_OVERFLOW, "a sum of counts is too large");
            goto out;
        }
    }
    cellar_cells_clear(cells);
    *cells = sorted;
    sorted = (cellar_cells){0};
out:
    cellar_cells_clear(&sorted);
    cellar_free(position);
    return status;
}
