/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection/row_set.h"

#include <string.h>

#include "base/memory.h"

void cellar_row_set_clear(row_set *set)
{
    cellar_free(set->rows);
    cellar_free(set->counts);
    cellar_free(set->slots);
    *set = (row_set){0};
}

static size_t row_hash(const uint32_t *row, size_t width)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t c = 0; c < width; c++) {
        hash = (hash ^ row[c]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return (size_t) hash;
}

/* The slot of the row, or the empty one where it belongs. */
static uint32_t *row_set_slot(const row_set *set, const uint32_t *row)
{
    size_t mask = set->n_slots - 1, at = row_hash(row, set->width) & mask;
    while (set->slots[at] != 0 && memcmp(set->rows + (set->slots[at] - 1) * set->width, row,
                                         set->width * sizeof *row) != 0)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static int row_set_grow(row_set *set)
{
    size_t n_slots = set->n_slots > 0 ? 2 * set->n_slots : 1024;
    uint32_t *slots = cellar_alloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return 0;
    cellar_free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    for (size_t i = 0; i < set->n; i++)
        *row_set_slot(set, set->rows + i * set->width) = (uint32_t) i + 1;
    return 1;
}

int cellar_row_set_add(row_set *set, const uint32_t *row, uint64_t count)
{
    uint32_t *slot;
    if (2 * (set->n + 1) > set->n_slots && !row_set_grow(set))
        return 0;
    slot = row_set_slot(set, row);
    if (*slot == 0) {
        if (set->n >= UINT32_MAX - 1 ||
            !cellar_grow(&set->rows, &set->rows_capacity, (set->n + 1) * set->width,
                         sizeof *set->rows) ||
            !cellar_grow(&set->counts, &set->counts_capacity, set->n + 1, sizeof *set->counts))
            return 0;
        memcpy(set->rows + set->n * set->width, row, set->width * sizeof *row);
        set->counts[set->n++] = 0;
        *slot = (uint32_t) set->n;
    }
    set->counts[*slot - 1] += count;
    return 1;
}

size_t cellar_row_set_find(const row_set *set, const uint32_t *row)
{
    return *row_set_slot(set, row) - 1;
}
