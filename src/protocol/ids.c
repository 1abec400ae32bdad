/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/ids.h"

#include <string.h>

#include <sodium.h>

#include "base/memory.h"

/* Open addressing, at most half full. Senders choose ids, so places come from a keyed hash: nobody
 * can make ids that meet. */
static size_t id_place(const id_set *set, const unsigned char *id)
{
    unsigned char hash[crypto_shorthash_BYTES];
    size_t place;
    crypto_shorthash(hash, id, MESSAGE_ID_BYTES, set->key);
    place = (size_t) bytes_get(hash, sizeof hash) & (set->capacity - 1);
    while (set->used[place] && memcmp(set->ids[place], id, MESSAGE_ID_BYTES) != 0)
        place = (place + 1) & (set->capacity - 1);
    return place;
}

static void id_put(id_set *set, size_t place, const unsigned char *id)
{
    memcpy(set->ids[place], id, MESSAGE_ID_BYTES);
    set->used[place] = 1;
    set->n++;
}

int id_set_reserve(id_set *set, size_t n_more)
{
    id_set larger = {.capacity = set->capacity > 0 ? set->capacity : 1024};
    if (2 * (set->n + n_more) <= set->capacity)
        return 1;
    while (larger.capacity < 2 * (set->n + n_more))
        larger.capacity *= 2;
    larger.ids = cellar_alloc(larger.capacity, sizeof *larger.ids);
    larger.used = cellar_alloc(larger.capacity, 1);
    if (larger.ids == NULL || larger.used == NULL) {
        id_set_clear(&larger);
        return 0;
    }
    randombytes_buf(larger.key, sizeof larger.key);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->used[i])
            id_put(&larger, id_place(&larger, set->ids[i]), set->ids[i]);
    id_set_clear(set);
    *set = larger;
    return 1;
}

void id_set_clear(id_set *set)
{
    cellar_free(set->ids);
    cellar_free(set->used);
    *set = (id_set){0};
}

int id_set_has(const id_set *set, const unsigned char id[MESSAGE_ID_BYTES])
{
    return set->capacity > 0 && set->used[id_place(set, id)];
}

int id_set_add(id_set *set, const unsigned char id[MESSAGE_ID_BYTES], int *known)
{
    size_t place;
    if (!id_set_reserve(set, 1))
        return 0;
    place = id_place(set, id);
    *known = set->used[place];
    if (!*known)
        id_put(set, place, id);
    return 1;
}
