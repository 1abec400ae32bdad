/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An open-addressing table of keyed 128-bit hashes (SipHash-2-4): two of n units share one with
 * probability below n^2 / 2^129, less than 1e-20 for a billion units. */
#include "data/units.h"

#include <sodium.h>

#include "base/memory.h"

typedef struct unit_slot {
    uint64_t low, high;
    uint64_t n_records; /* 0: empty; of numbered units: the number and one */
} unit_slot;

struct cellar_units {
    unsigned char key[crypto_shorthash_siphashx24_KEYBYTES];
    unit_slot *slots;
    size_t n, n_slots;
    uint64_t max_per_unit;
};

enum { FIRST_SLOTS = 1024 };

_Static_assert(crypto_shorthash_siphashx24_BYTES == 2 * sizeof(uint64_t), "two words a hash");

cellar_units *cellar_units_create(uint64_t max_per_unit)
{
    cellar_units *units = cellar_alloc(1, sizeof *units);
    if (units == NULL || sodium_init() < 0)
        goto fail;
    randombytes_buf(units->key, sizeof units->key);
    units->max_per_unit = max_per_unit;
    units->n_slots = FIRST_SLOTS;
    units->slots = cellar_alloc(units->n_slots, sizeof *units->slots);
    if (units->slots != NULL)
        return units;
fail:
    cellar_units_free(units);
    return NULL;
}

void cellar_units_free(cellar_units *units)
{
    if (units == NULL)
        return;
    cellar_wipe(units->key, sizeof units->key);
    cellar_free(units->slots);
    cellar_free(units);
}

size_t cellar_units_n(const cellar_units *units)
{
    return units->n;
}

static unit_slot *units_find(unit_slot *slots, size_t n_slots, uint64_t low, uint64_t high)
{
    size_t slot = (size_t) low & (n_slots - 1);
    while (slots[slot].n_records != 0 && (slots[slot].low != low || slots[slot].high != high))
        slot = (slot + 1) & (n_slots - 1);
    return &slots[slot];
}

static int units_grow(cellar_units *units)
{
    size_t n_slots = 2 * units->n_slots;
    unit_slot *slots = cellar_alloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return 0;
    for (size_t i = 0; i < units->n_slots; i++)
        if (units->slots[i].n_records != 0)
            *units_find(slots, n_slots, units->slots[i].low, units->slots[i].high) =
                units->slots[i];
    cellar_free(units->slots);
    units->slots = slots;
    units->n_slots = n_slots;
    return 1;
}

/* The place of a unit, perhaps still empty; NULL when memory ends. */
static unit_slot *units_look_up(cellar_units *units, const char *identifier, size_t length)
{
    uint64_t hash[2];
    unit_slot *slot;

    if (units->n * 2 >= units->n_slots && !units_grow(units))
        return NULL;
    crypto_shorthash_siphashx24((unsigned char *) hash, (const unsigned char *) identifier, length,
                                units->key);
    slot = units_find(units->slots, units->n_slots, hash[0], hash[1]);
    slot->low = hash[0];
    slot->high = hash[1];
    return slot;
}

int cellar_units_admit(cellar_units *units, const char *identifier, size_t length)
{
    unit_slot *slot = units_look_up(units, identifier, length);
    if (slot == NULL)
        return -1;
    if (slot->n_records >= units->max_per_unit)
        return 0;
    units->n += slot->n_records == 0;
    slot->n_records++;
    return 1;
}

int cellar_units_number(cellar_units *units, const char *identifier, size_t length,
                        uint64_t *number)
{
    unit_slot *slot = units_look_up(units, identifier, length);
    if (slot == NULL)
        return 0;
    if (slot->n_records == 0)
        slot->n_records = ++units->n;
    *number = slot->n_records - 1;
    return 1;
}
