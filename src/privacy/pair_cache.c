/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair_cache.h"

#include "base/memory.h"

enum { ENTRIES = 1 << 13 };

/* A newer entry takes the place of an older one with the same place. */
typedef struct cache_entry {
    const cellar_mechanism *m; /* NULL: empty */
    cellar_pair_kind kind;
    int64_t count, b, bits;
    arb_t value;
} cache_entry;

struct cellar_pair_cache {
    cache_entry entries[ENTRIES];
};

cellar_pair_cache *cellar_pair_cache_create(void)
{
    return cellar_alloc(1, sizeof(cellar_pair_cache));
}

void cellar_pair_cache_free(cellar_pair_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < ENTRIES; i++)
        if (cache->entries[i].m != NULL)
            arb_clear(cache->entries[i].value);
    cellar_free(cache);
}

static size_t cache_place(cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits)
{
    uint64_t hash = (uint64_t) b * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) kind;
    hash ^= ((uint64_t) count + (uint64_t) bits) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (size_t) ((hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

int cellar_pair_cache_get(const cellar_pair_cache *cache, const cellar_mechanism *m,
                          cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits, arb_t out)
{
    const cache_entry *entry;
    if (cache == NULL)
        return 0;
    entry = &cache->entries[cache_place(kind, count, b, bits)];
    if (entry->m != m || entry->kind != kind || entry->count != count || entry->b != b ||
        entry->bits != bits)
        return 0;
    arb_set(out, entry->value);
    return 1;
}

void cellar_pair_cache_put(cellar_pair_cache *cache, const cellar_mechanism *m,
                           cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits,
                           const arb_t value)
{
    cache_entry *entry;
    if (cache == NULL)
        return;
    entry = &cache->entries[cache_place(kind, count, b, bits)];
    if (entry->m == NULL)
        arb_init(entry->value);
    entry->m = m;
    entry->kind = kind;
    entry->count = count;
    entry->b = b;
    entry->bits = bits;
    arb_set(entry->value, value);
}
