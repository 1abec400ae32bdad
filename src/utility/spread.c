/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const double levels[CELLAR_UTILITY_N_LEVELS] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};

double cellar_utility_level(size_t index)
{
    return levels[index];
}

/* ---- tallies ------------------------------------------------------------------------------- */

enum { TALLY_FIRST = 256 };

void cellar_utility_tally_clear(utility_tally *tally)
{
    cellar_free(tally->entries);
    *tally = (utility_tally){0};
}

static utility_tally_entry *tally_place(utility_tally_entry *entries, size_t size, size_t stratum,
                                        int64_t away)
{
    uint64_t hash = ((uint64_t) away * 64 + stratum) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t) (hash >> 32) & (size - 1);
    while (entries[i].times != 0 && (entries[i].away != away || entries[i].stratum != stratum))
        i = (i + 1) & (size - 1);
    return &entries[i];
}

static int tally_grow(utility_tally *tally)
{
    size_t size = tally->size > 0 ? 2 * tally->size : TALLY_FIRST;
    utility_tally_entry *entries = cellar_alloc(size, sizeof *entries);
    if (entries == NULL)
        return 0;
    for (size_t i = 0; i < tally->size; i++) {
        const utility_tally_entry *old = &tally->entries[i];
        if (old->times != 0)
            *tally_place(entries, size, old->stratum, old->away) = *old;
    }
    cellar_free(tally->entries);
    tally->entries = entries;
    tally->size = size;
    return 1;
}

int cellar_utility_tally_add(utility_tally *tally, size_t stratum, int64_t away, uint64_t times)
{
    utility_tally_entry *entry;
    if (times == 0)
        return 1;
    if (2 * tally->n >= tally->size && !tally_grow(tally))
        return 0;
    entry = tally_place(tally->entries, tally->size, stratum, away);
    tally->n += entry->times == 0;
    entry->stratum = stratum;
    entry->away = away;
    entry->times += times;
    return 1;
}

int cellar_utility_tally_merge(utility_tally *tally, const utility_tally *from)
{
    for (size_t i = 0; i < from->size; i++) {
        const utility_tally_entry *entry = &from->entries[i];
        if (!cellar_utility_tally_add(tally, entry->stratum, entry->away, entry->times))
            return 0;
    }
    return 1;
}

/* ---- quantiles ------------------------------------------------------------------------------ */

static int weighted_order(const void *a, const void *b)
{
    double x = ((const utility_weighted *) a)->value, y = ((const utility_weighted *) b)->value;
    return (x > y) - (x < y);
}

void cellar_utility_spread_fill(utility_weighted *items, size_t n, cellar_utility_spread *out)
{
    double total = 0, sum = 0, below = 0;
    size_t level = 0;

    out->mean = NAN;
    for (size_t k = 0; k < CELLAR_UTILITY_N_LEVELS; k++)
        out->quantiles[k] = NAN;
    qsort(items, n, sizeof *items, weighted_order);
    for (size_t i = 0; i < n; i++) {
        total += items[i].weight;
        sum += items[i].weight * items[i].value;
    }
    if (!(total > 0))
        return;
    out->mean = sum / total;
    /* a level is reached within rounding of the sum: 0.25 of four values is the first of them */
    for (size_t i = 0; i < n; i++)
        for (below += items[i].weight;
             level < CELLAR_UTILITY_N_LEVELS && below >= levels[level] * total * (1 - 1e-12);)
            out->quantiles[level++] = items[i].value;
    for (; level < CELLAR_UTILITY_N_LEVELS; level++)
        out->quantiles[level] = items[n - 1].value;
}

double cellar_utility_quantile(const double *sorted, size_t n, double level)
{
    double place = level * (double) (n - 1), below = floor(place);
    size_t i = (size_t) below;
    if (n == 0)
        return NAN;
    return i + 1 < n ? sorted[i] + (place - below) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

int cellar_utility_order(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}
