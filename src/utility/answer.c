/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an assessment tells. */
#include "base/error.h"
#include "utility/run.h"

void cellar_utility_free(cellar_utility *utility)
{
    if (utility == NULL)
        return;
    cellar_free(utility->results);
    cellar_free(utility->spreads);
    cellar_arena_free(utility->arena);
    cellar_free(utility);
}

cellar_association cellar_utility_original(const cellar_utility *utility)
{
    return utility->original;
}

const char *cellar_utility_mechanism(const cellar_utility *utility)
{
    return utility->mechanism;
}

uint64_t cellar_utility_n_copies(const cellar_utility *utility)
{
    return utility->n_copies;
}

uint64_t cellar_utility_n_cells(const cellar_utility *utility)
{
    return utility->n_cells;
}

size_t cellar_utility_n_results(const cellar_utility *utility)
{
    return utility->n_results;
}

const cellar_utility_result *cellar_utility_result_at(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_results);
    return &utility->results[index];
}

const char *cellar_spread_source_name(cellar_spread_source source)
{
    return source == CELLAR_SPREAD_DISTRIBUTION ? "law" : "copies";
}

size_t cellar_utility_n_spreads(const cellar_utility *utility)
{
    return utility->n_spreads;
}

const cellar_utility_spread *cellar_utility_spread_at(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_spreads);
    return &utility->spreads[index];
}

size_t cellar_utility_n_distances(const cellar_utility *utility)
{
    return utility->n_distances;
}

const cellar_utility_distance *cellar_utility_distance_at(const cellar_utility *utility,
                                                          size_t index)
{
    CELLAR_ASSERT(index < utility->n_distances);
    return &utility->distances[index];
}

size_t cellar_utility_n_notes(const cellar_utility *utility)
{
    return utility->n_notes;
}

const char *cellar_utility_note(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_notes);
    return utility->notes[index];
}
