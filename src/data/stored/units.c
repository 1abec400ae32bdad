/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first records of each unit, in the order of the data: one counter a unit, one row after the
 * other. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/stored/count.h"

/* Values of a row are found through its group: in a sorted store neighbours in the data may lie
 * anywhere. */
typedef struct bounding {
    const cellar_stored_file *file;
    cellar_stored_request *request;
    const uint8_t *is_counted;
    const void **pieces; /* of each group: the columns of the request, then those below */
    size_t n_pieces, key, weight, unit, order;
    uint64_t *counts;
    uint8_t *few;   /* records of each unit so far, */
    uint32_t *many; /* if at most 255 may count; else here */
} bounding;

static cellar_status load(bounding *b, cellar_error *err)
{
    static const cellar_stored_beside beside[] = {CELLAR_STORED_KEY, CELLAR_STORED_WEIGHT,
                                                  CELLAR_STORED_UNIT, CELLAR_STORED_ORDER};
    const cellar_stored_request *r = b->request;
    const int is_needed[] = {r->adds_keys, r->adds_weights, 1,
                             b->file->columns[CELLAR_STORED_ORDER].width > 0};
    cellar_status status = CELLAR_OK;

    b->n_pieces = r->n + CELLAR_STORED_N_BESIDE;
    b->pieces = cellar_alloc(b->file->n_groups * b->n_pieces, sizeof *b->pieces);
    if (b->pieces == NULL)
        return cellar_fail_memory(err, "units");
    for (size_t g = 0; g < b->file->n_groups; g++) {
        const void **at = b->pieces + g * b->n_pieces;
        for (size_t d = 0; d < r->n; d++)
            CELLAR_TRY(cellar_stored_piece(b->file, g, r->columns[d], &at[d], err));
        for (size_t k = 0; k < CELLAR_STORED_N_BESIDE; k++)
            if (is_needed[k])
                CELLAR_TRY(cellar_stored_piece(b->file, g, beside[k], &at[r->n + k], err));
    }
    b->key = r->n + CELLAR_STORED_KEY;
    b->weight = r->n + CELLAR_STORED_WEIGHT;
    b->unit = r->n + CELLAR_STORED_UNIT;
    b->order = r->n + CELLAR_STORED_ORDER;
out:
    return status;
}

static cellar_status allocate(bounding *b, cellar_error *err)
{
    cellar_stored_request *r = b->request;
    const size_t n_units = (size_t) b->file->columns[CELLAR_STORED_UNIT].limit;
    b->counts = cellar_alloc(r->n_cells, sizeof *b->counts);
    if (r->max_per_unit <= UINT8_MAX)
        b->few = cellar_alloc(n_units, sizeof *b->few);
    else
        b->many = cellar_alloc(n_units, sizeof *b->many);
    if (r->adds_keys)
        r->keys = cellar_alloc(r->n_cells, sizeof *r->keys);
    if (r->adds_weights)
        r->weights = cellar_alloc(r->n_cells, sizeof *r->weights);
    return b->counts != NULL && (b->few != NULL || b->many != NULL) &&
                   (!r->adds_keys || r->keys != NULL) && (!r->adds_weights || r->weights != NULL)
               ? CELLAR_OK
               : cellar_fail_memory(err, "units");
}

/* One more record of a unit, if it may have one. A store has fewer than 2^32 records. */
static int admit(bounding *b, uint32_t unit)
{
    const uint64_t most = b->request->max_per_unit;
    if (b->few != NULL)
        return b->few[unit] < most && ++b->few[unit] > 0;
    return b->many[unit] < most && ++b->many[unit] > 0;
}

static void add_row(bounding *b, uint32_t cell, const void *const *at, size_t row)
{
    cellar_stored_request *r = b->request;
    b->counts[cell]++;
    if (r->adds_keys) {
        const uint64_t key = ((const uint64_t *) at[b->key])[row];
        const uint64_t room = b->file->key_range - key; /* sums stay within 64 bits */
        r->keys[cell] = r->keys[cell] >= room ? r->keys[cell] - room : r->keys[cell] + key;
    }
    if (r->adds_weights) {
        const uint64_t weight = ((const uint64_t *) at[b->weight])[row];
        const uint64_t largest = r->largest_weight > 0 ? r->largest_weight : UINT64_MAX;
        r->weights[cell] += weight < largest ? weight : largest;
    }
}

/* Rows that do not count for another reason do not use up a place of their unit. */
static uint64_t bound_rows(bounding *b)
{
    const int is_sorted = b->file->columns[CELLAR_STORED_ORDER].width > 0;
    uint64_t n_over = 0;
    for (uint64_t k = 0; k < b->file->n_rows; k++) {
        const size_t here = (size_t) (k / STORED_GROUP_ROWS) * b->n_pieces;
        const uint64_t at_row =
            is_sorted ? ((const uint32_t *) b->pieces[here + b->order])[k % STORED_GROUP_ROWS] : k;
        const void *const *at = b->pieces + (size_t) (at_row / STORED_GROUP_ROWS) * b->n_pieces;
        const size_t row = (size_t) (at_row % STORED_GROUP_ROWS);
        const uint32_t cell = cellar_stored_cell(b->request, at, row);
        if (!b->is_counted[cell])
            b->counts[cell]++;
        else if (admit(b, ((const uint32_t *) at[b->unit])[row]))
            add_row(b, cell, at, row);
        else
            n_over++;
    }
    return n_over;
}

cellar_status cellar_stored_bound_units(const cellar_stored_file *file,
                                        cellar_stored_request *request, const uint8_t *is_counted,
                                        uint64_t *n_over, cellar_error *err)
{
    bounding b = {.file = file, .request = request, .is_counted = is_counted};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(load(&b, err));
    CELLAR_TRY(allocate(&b, err));
    *n_over = bound_rows(&b);
    cellar_free(request->counts);
    request->counts = b.counts;
    b.counts = NULL;
out:
    cellar_free(b.pieces);
    cellar_free(b.counts);
    cellar_free(b.few);
    cellar_free(b.many);
    return status;
}
