/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells that occur, found by hashing: many threads add to it at once. */
#ifndef CELLAR_TABLE_COUNTING_CELLMAP_H
#define CELLAR_TABLE_COUNTING_CELLMAP_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

#include "base/text.h"

/* A hash table in parts, each with a lock of its own. Memory is proportional to the number of
 * different keys, however many threads there are. */
typedef struct cellar_cellmap cellar_cellmap;

typedef struct cellar_cellmap_entry {
    uint64_t key;
    uint64_t count;
    cellar_int128 weight;
    uint64_t record_key;
} cellar_cellmap_entry;

/* `weighted`: keep a sum of weights; `key_range` > 0: keep the sum of record keys modulo it. NULL
 * when memory ends. */
cellar_cellmap *cellar_cellmap_create(int weighted, uint64_t key_range);
void cellar_cellmap_free(cellar_cellmap *map); /* NULL is fine */
size_t cellar_cellmap_n(const cellar_cellmap *map);

/* What a thread needs to add many keys at once. Zeroed at first; clear it in the end. */
typedef struct cellar_cellmap_scratch {
    uint32_t *order;
    size_t capacity;
} cellar_cellmap_scratch;
void cellar_cellmap_scratch_clear(cellar_cellmap_scratch *scratch);

/* Adds `amount` to the count of each key (keys may repeat), or `amounts` where they are given (else
 * NULL), with weights and record keys where the
 * map holds them (else NULL). Keys are below 2^63. Thread-safe. 0 when memory ends. */
int cellar_cellmap_add(cellar_cellmap *map, const uint64_t *keys, size_t n, uint64_t amount,
                       const uint64_t *amounts, const cellar_int128 *weights,
                       const uint64_t *record_keys, cellar_cellmap_scratch *scratch);
/* Adds what another map holds under one key. One thread at a time. 0 when memory ends. */
int cellar_cellmap_add_entry(cellar_cellmap *map, const cellar_cellmap_entry *entry);

/* Walks all entries in no order: *cursor starts at 0; answers 0 at the end. */
int cellar_cellmap_next(const cellar_cellmap *map, uint64_t *cursor, cellar_cellmap_entry *entry);

#endif
