/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/atoms_store.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { FIRST_LOOK = 1024 }; /* losses that do for one */

static void kept_clear(cellar_atoms_kept *kept)
{
    if (kept->m == NULL)
        return;
    cellar_atoms_clear(&kept->atoms);
    cellar_atoms_clear(&kept->thin);
    kept->m = NULL;
}

void cellar_atoms_store_clear(cellar_atoms_store *store)
{
    for (size_t i = 0; i < CELLAR_ATOMS_KEPT; i++)
        kept_clear(&store->items[i]);
}

static cellar_status atoms_copy(const cellar_atoms *from, cellar_atoms *out, cellar_error *err)
{
    cellar_atom *items;
    int64_t *index;
    cellar_status status = cellar_atoms_init(out, from->n + 1, err);
    if (status != CELLAR_OK)
        return status;
    items = out->items;
    index = out->index;
    if (from->n > 0) {
        memcpy(items, from->items, from->n * sizeof *items);
        memcpy(index, from->index, from->n * sizeof *index);
    }
    fmpq_clear(out->offset);
    fmpq_clear(out->spacing);
    *out = *from;
    out->items = items;
    out->index = index;
    fmpq_init(out->offset);
    fmpq_init(out->spacing);
    fmpq_set(out->offset, from->offset);
    fmpq_set(out->spacing, from->spacing);
    return CELLAR_OK;
}

static int kept_is_of(const cellar_atoms_kept *kept, const cellar_pair *pair)
{
    return kept->m == pair->m && kept->count[0] == pair->count[0] &&
           kept->count[1] == pair->count[1];
}

/* The place of a pair: its own, or the one used longest ago. */
static cellar_atoms_kept *store_find(cellar_atoms_store *store, const cellar_pair *pair)
{
    cellar_atoms_kept *oldest = store->items;
    for (size_t i = 0; i < CELLAR_ATOMS_KEPT; i++) {
        if (kept_is_of(&store->items[i], pair))
            return &store->items[i];
        if (store->items[i].used < oldest->used)
            oldest = &store->items[i];
    }
    return oldest;
}

/* Pairs that are asked for again with smaller tails will be so once more. */
static double tail_to_make(const cellar_atoms_kept *kept, const cellar_pair *pair, double tail)
{
    const double least = 1e-305;
    return kept_is_of(kept, pair) ? fmin(tail, fmax(least, pow(tail, 1.3))) : tail;
}

const cellar_atoms *cellar_atoms_hold(const cellar_pair *pair, double most, double tail,
                                      cellar_error *err)
{
    cellar_atoms_store *store = cellar_pair_cache_atoms(pair->cache);
    cellar_atoms_kept *kept;
    cellar_atoms atoms;
    cellar_status status;
    if (store == NULL || pair->clamped)
        return NULL;
    kept = store_find(store, pair);
    if (!kept_is_of(kept, pair) || kept->tail > most) {
        tail = tail_to_make(kept, pair, tail);
        status = cellar_atoms_create(pair, tail, &atoms, err);
        store->is_short |= status == CELLAR_ERR_MEMORY;
        if (status != CELLAR_OK)
            return NULL;
        kept_clear(kept);
        *kept = (cellar_atoms_kept){
            .m = pair->m, .count = {pair->count[0], pair->count[1]}, .tail = tail, .atoms = atoms};
    }
    kept->used = ++store->n_asked;
    return &kept->atoms;
}

cellar_status cellar_atoms_get_thin(const cellar_pair *pair, double tail, cellar_atoms *out,
                                    cellar_error *err)
{
    const cellar_atoms *held = cellar_atoms_hold(pair, tail, tail, err);
    cellar_atoms_kept *kept;
    if (held == NULL)
        return cellar_atoms_create(pair, tail, out, err);
    kept = store_find(cellar_pair_cache_atoms(pair->cache), pair);
    if (kept->thin.n == 0) {
        cellar_status status = cellar_atoms_thin(held, FIRST_LOOK, &kept->thin, err);
        if (status != CELLAR_OK)
            return status;
    }
    return atoms_copy(&kept->thin, out, err);
}

cellar_status cellar_atoms_get(const cellar_pair *pair, double tail, cellar_atoms *out,
                               cellar_error *err)
{
    const cellar_atoms *held = cellar_atoms_hold(pair, tail, tail, err);
    return held != NULL ? atoms_copy(held, out, err) : cellar_atoms_create(pair, tail, out, err);
}
