/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The high bits of a key's hash choose the part, the following ones the first slot in it. A batch
 * of keys is sorted by part first, so a lock is taken once for many keys and a part's slots are
 * near when they are needed. */
#include "table/counting/cellmap.h"

#include <pthread.h>
#include <stdatomic.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"

enum { LOG2_PARTS = 8, N_PARTS = 1 << LOG2_PARTS, FIRST_LOG2_SLOTS = 4, PREFETCH_AHEAD = 8 };

typedef struct map_part {
    pthread_mutex_t lock;
    uint64_t *keys; /* key + 1, or 0 for an empty slot */
    uint64_t *counts;
    cellar_int128 *weights;
    uint64_t *record_keys;
    size_t n;
    unsigned log2_slots;
} map_part;

struct cellar_cellmap {
    map_part parts[N_PARTS];
    _Atomic size_t n;
    uint64_t multiplier; /* odd and random: which cells collide cannot be foreseen */
    uint64_t key_range;
    int weighted;
};

/* ---- life cycle ------------------------------------------------------------ */

static void part_free_slots(map_part *part)
{
    cellar_free(part->keys);
    cellar_free(part->counts);
    cellar_free(part->weights);
    cellar_free(part->record_keys);
}

static int part_alloc_slots(const cellar_cellmap *map, map_part *part, unsigned log2_slots)
{
    size_t n = (size_t) 1 << log2_slots;
    part->log2_slots = log2_slots;
    part->keys = cellar_alloc(n, sizeof *part->keys);
    part->counts = cellar_alloc(n, sizeof *part->counts);
    part->weights = map->weighted ? cellar_alloc(n, sizeof *part->weights) : NULL;
    part->record_keys = map->key_range > 0 ? cellar_alloc(n, sizeof *part->record_keys) : NULL;
    return part->keys != NULL && part->counts != NULL &&
           (!map->weighted || part->weights != NULL) &&
           (map->key_range == 0 || part->record_keys != NULL);
}

cellar_cellmap *cellar_cellmap_create(int weighted, uint64_t key_range)
{
    cellar_cellmap *map = cellar_alloc(1, sizeof *map);
    if (map == NULL || sodium_init() < 0) {
        cellar_free(map);
        return NULL;
    }
    map->weighted = weighted;
    map->key_range = key_range;
    randombytes_buf(&map->multiplier, sizeof map->multiplier);
    map->multiplier |= 1;
    for (size_t i = 0; i < N_PARTS; i++)
        pthread_mutex_init(&map->parts[i].lock, NULL);
    for (size_t i = 0; i < N_PARTS; i++)
        if (!part_alloc_slots(map, &map->parts[i], FIRST_LOG2_SLOTS)) {
            cellar_cellmap_free(map);
            return NULL;
        }
    return map;
}

void cellar_cellmap_free(cellar_cellmap *map)
{
    if (map == NULL)
        return;
    for (size_t i = 0; i < N_PARTS; i++) {
        part_free_slots(&map->parts[i]);
        pthread_mutex_destroy(&map->parts[i].lock);
    }
    cellar_free(map);
}

size_t cellar_cellmap_n(const cellar_cellmap *map)
{
    return atomic_load_explicit(&map->n, memory_order_relaxed);
}

void cellar_cellmap_scratch_clear(cellar_cellmap_scratch *scratch)
{
    cellar_free(scratch->order);
    *scratch = (cellar_cellmap_scratch){0};
}

/* ---- adding ---------------------------------------------------------------- */

/* The high bits of a product depend on all lower bits of the key; folding the high half in makes
 * them depend on all of it. */
static inline uint64_t map_hash(const cellar_cellmap *map, uint64_t key)
{
    key ^= key >> 32;
    return key * map->multiplier;
}

static inline size_t part_of(uint64_t hash)
{
    return (size_t) (hash >> (64 - LOG2_PARTS));
}

static inline size_t first_slot(const map_part *part, uint64_t hash)
{
    return (size_t) (hash << LOG2_PARTS >> (64 - part->log2_slots));
}

/* The slot of a key: where it is, or the empty one where it belongs. */
static inline size_t part_slot(const map_part *part, uint64_t hash, uint64_t key)
{
    size_t last = ((size_t) 1 << part->log2_slots) - 1, slot = first_slot(part, hash);
    while (part->keys[slot] != 0 && part->keys[slot] != key + 1)
        slot = (slot + 1) & last;
    return slot;
}

static void part_put(const cellar_cellmap *map, map_part *part, size_t slot,
                     const cellar_cellmap_entry *entry)
{
    part->keys[slot] = entry->key + 1;
    part->counts[slot] += entry->count;
    if (part->weights != NULL)
        part->weights[slot] += entry->weight;
    if (part->record_keys != NULL) {
        uint64_t key = part->record_keys[slot], sum = key + entry->record_key;
        CELLAR_ASSERT(entry->record_key < map->key_range);
        part->record_keys[slot] = sum < key || sum >= map->key_range ? sum - map->key_range : sum;
    }
}

static cellar_cellmap_entry part_entry(const map_part *part, size_t slot)
{
    return (cellar_cellmap_entry){.key = part->keys[slot] - 1,
                                  .count = part->counts[slot],
                                  .weight = part->weights != NULL ? part->weights[slot] : 0,
                                  .record_key =
                                      part->record_keys != NULL ? part->record_keys[slot] : 0};
}

/* The same for a key that may be new. */
static inline void part_add_one(cellar_cellmap *map, map_part *part, uint64_t hash,
                                const cellar_cellmap_entry *entry)
{
    size_t slot = part_slot(part, hash, entry->key);
    if (part->keys[slot] == 0) {
        part->n++;
        atomic_fetch_add_explicit(&map->n, 1, memory_order_relaxed);
    }
    part_put(map, part, slot, entry);
}

/* Twice the slots. On failure the part is as it was. */
static int part_double(const cellar_cellmap *map, map_part *part)
{
    map_part old = *part, grown = *part;
    if (!part_alloc_slots(map, &grown, part->log2_slots + 1)) {
        part_free_slots(&grown);
        return 0;
    }
    for (size_t slot = 0; slot < (size_t) 1 << old.log2_slots; slot++)
        if (old.keys[slot] != 0) {
            cellar_cellmap_entry entry = part_entry(&old, slot);
            part_put(map, &grown, part_slot(&grown, map_hash(map, entry.key), entry.key), &entry);
        }
    part_free_slots(&old);
    part->keys = grown.keys;
    part->counts = grown.counts;
    part->weights = grown.weights;
    part->record_keys = grown.record_keys;
    part->log2_slots = grown.log2_slots;
    return 1;
}

/* Room for `more` new keys at a load of at most 5/8. */
static int part_reserve(const cellar_cellmap *map, map_part *part, size_t more)
{
    while ((part->n + more) / 5 >= ((size_t) 1 << part->log2_slots) / 8)
        if (!part_double(map, part))
            return 0;
    return 1;
}

typedef struct map_batch {
    const uint64_t *keys;
    uint64_t amount;
    const uint64_t *amounts;
    const cellar_int128 *weights;
    const uint64_t *record_keys;
} map_batch;

static int part_add(cellar_cellmap *map, map_part *part, const map_batch *batch,
                    const uint32_t *order, size_t n)
{
    enum { PIECE = 64 }; /* reserve for so many at a time: most keys are not new */
    for (size_t i = 0; i < n; i++) {
        uint64_t key = batch->keys[order[i]], hash = map_hash(map, key);
        cellar_cellmap_entry entry = {
            .key = key,
            .count = batch->amounts != NULL ? batch->amounts[order[i]] : batch->amount,
            .weight = batch->weights != NULL ? batch->weights[order[i]] : 0,
            .record_key = batch->record_keys != NULL ? batch->record_keys[order[i]] : 0};
        if (i % PIECE == 0 && !part_reserve(map, part, n - i < PIECE ? n - i : PIECE))
            return 0;
        if (i + PREFETCH_AHEAD < n) {
            uint64_t ahead = map_hash(map, batch->keys[order[i + PREFETCH_AHEAD]]);
            __builtin_prefetch(&part->keys[first_slot(part, ahead)]);
            __builtin_prefetch(&part->counts[first_slot(part, ahead)]);
        }
        part_add_one(map, part, hash, &entry);
    }
    return 1;
}

int cellar_cellmap_add(cellar_cellmap *map, const uint64_t *keys, size_t n, uint64_t amount,
                       const uint64_t *amounts, const cellar_int128 *weights,
                       const uint64_t *record_keys, cellar_cellmap_scratch *scratch)
{
    map_batch batch = {keys, amount, amounts, weights, record_keys};
    size_t start[N_PARTS + 1] = {0}, next[N_PARTS];
    int ok = 1;

    if (n > UINT32_MAX ||
        !cellar_grow(&scratch->order, &scratch->capacity, n, sizeof *scratch->order))
        return 0;
    for (size_t i = 0; i < n; i++)
        start[part_of(map_hash(map, keys[i])) + 1]++;
    for (size_t p = 0; p < N_PARTS; p++) {
        start[p + 1] += start[p];
        next[p] = start[p];
    }
    for (size_t i = 0; i < n; i++)
        scratch->order[next[part_of(map_hash(map, keys[i]))]++] = (uint32_t) i;
    for (size_t p = 0; ok && p < N_PARTS; p++) {
        if (start[p] == start[p + 1])
            continue;
        pthread_mutex_lock(&map->parts[p].lock);
        ok = part_add(map, &map->parts[p], &batch, scratch->order + start[p],
                      start[p + 1] - start[p]);
        pthread_mutex_unlock(&map->parts[p].lock);
    }
    return ok;
}

int cellar_cellmap_add_entry(cellar_cellmap *map, const cellar_cellmap_entry *entry)
{
    uint64_t hash = map_hash(map, entry->key);
    map_part *part = &map->parts[part_of(hash)];
    if (!part_reserve(map, part, 1))
        return 0;
    part_add_one(map, part, hash, entry);
    return 1;
}

/* ---- reading --------------------------------------------------------------- */

int cellar_cellmap_next(const cellar_cellmap *map, uint64_t *cursor, cellar_cellmap_entry *entry)
{
    /* the cursor holds the part in its high half-word and the slot below */
    for (size_t p = (size_t) (*cursor >> 48); p < N_PARTS; p++, *cursor = (uint64_t) p << 48) {
        const map_part *part = &map->parts[p];
        size_t slot = (size_t) (*cursor & (((uint64_t) 1 << 48) - 1));
        for (; slot < (size_t) 1 << part->log2_slots; slot++)
            if (part->keys[slot] != 0) {
                *entry = part_entry(part, slot);
                *cursor = ((uint64_t) p << 48) + slot + 1;
                return 1;
            }
    }
    return 0;
}
