/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/memory.h"
#include "risk/selection/profiles.h"

int cellar_refiner_init(const cellar_profiles *profiles, refiner *out)
{
    size_t widest = 1;
    for (size_t c = 0; c < profiles->n_columns; c++)
        if (cellar_profiles_n_levels(profiles, c) > widest)
            widest = cellar_profiles_n_levels(profiles, c);
    widest += 2; /* a column may be relabelled with one level more; tallies write one ahead */
    *out = (refiner){profiles, cellar_alloc(widest, sizeof *out->people),
                     cellar_alloc(widest, sizeof *out->places),
                     cellar_alloc(widest, sizeof *out->touched)};
    return out->people != NULL && out->places != NULL && out->touched != NULL;
}

void cellar_refiner_clear(refiner *r)
{
    cellar_free(r->people);
    cellar_free(r->places);
    cellar_free(r->touched);
    *r = (refiner){0};
}

static int partition_alloc(size_t n_rows, partition *out)
{
    *out = (partition){.n_rows = n_rows,
                       .order = cellar_alloc(n_rows, sizeof *out->order),
                       .starts = cellar_alloc(n_rows + 1, sizeof *out->starts)};
    if (out->order != NULL && out->starts != NULL)
        return 1;
    cellar_partition_clear(out);
    return 0;
}

int cellar_partition_whole(const cellar_profiles *profiles, partition *out)
{
    if (!partition_alloc(profiles->n_rows, out))
        return 0;
    for (size_t i = 0; i < profiles->n_rows; i++)
        out->order[i] = (uint32_t) i;
    out->n_groups = 1;
    out->starts[1] = (uint32_t) profiles->n_rows;
    return 1;
}

void cellar_partition_clear(partition *p)
{
    cellar_free(p->order);
    cellar_free(p->starts);
    *p = (partition){0};
}

/* Adds up the people and rows of a group by level; answers how many levels it has. */
static size_t group_tally(refiner *r, const partition *from, size_t group, const uint32_t *levels)
{
    const uint64_t *counts = r->profiles->counts;
    size_t n = 0;
    for (uint32_t i = from->starts[group]; i < from->starts[group + 1]; i++) {
        uint32_t row = from->order[i], level = levels[row];
        if (r->places[level]++ == 0)
            r->touched[n++] = level;
        r->people[level] += counts[row];
    }
    return n;
}

/* Only people matter here, so rows are not counted. Most of a search is spent in this loop. */
static size_t group_tally_people(refiner *r, const partition *from, size_t group,
                                 const uint32_t *levels)
{
    const uint64_t *counts = r->profiles->counts;
    size_t n = 0;
    for (uint32_t i = from->starts[group]; i < from->starts[group + 1]; i++) {
        uint32_t row = from->order[i], level = levels[row];
        r->touched[n] = level;
        n += r->people[level] == 0;
        r->people[level] += counts[row];
    }
    return n;
}

void cellar_partition_visit(refiner *r, const partition *from, const uint32_t *levels,
                            partition_visitor *visit, void *context)
{
    int stop = 0;
    for (size_t group = 0; group < from->n_groups && !stop; group++) {
        size_t n = group_tally_people(r, from, group, levels);
        for (size_t i = 0; i < n; i++) {
            stop = stop || visit(context, r->people[r->touched[i]]);
            r->people[r->touched[i]] = 0;
        }
    }
}

int cellar_partition_refine(refiner *r, const partition *from, const uint32_t *levels, uint64_t k,
                            partition *out)
{
    uint32_t next = 0;
    if (!partition_alloc(from->n_rows, out))
        return 0;
    out->dropped = from->dropped;
    for (size_t group = 0; group < from->n_groups; group++) {
        size_t n = group_tally(r, from, group, levels);
        for (size_t i = 0; i < n; i++) {
            uint32_t level = r->touched[i], size = r->places[level];
            if (r->people[level] < k) {
                out->dropped += r->people[level];
                r->places[level] = UINT32_MAX;
                continue;
            }
            out->starts[out->n_groups++] = next;
            r->places[level] = next;
            next += size;
        }
        for (uint32_t i = from->starts[group]; i < from->starts[group + 1]; i++) {
            uint32_t row = from->order[i], level = levels[row];
            if (r->places[level] != UINT32_MAX)
                out->order[r->places[level]++] = row;
        }
        for (size_t i = 0; i < n; i++) {
            r->places[r->touched[i]] = 0;
            r->people[r->touched[i]] = 0;
        }
    }
    out->starts[out->n_groups] = next;
    out->n_rows = next;
    return 1;
}
