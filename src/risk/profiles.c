/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/profiles.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/build.h"

/* ---- life and queries ------------------------------------------------------- */

void cellar_profiles_free(cellar_profiles *profiles)
{
    if (profiles == NULL)
        return;
    for (size_t c = 0; c < profiles->n_columns; c++) {
        if (profiles->names != NULL)
            cellar_free(profiles->names[c]);
        if (profiles->domains != NULL)
            cellar_codelist_free(profiles->domains[c]);
        if (profiles->levels != NULL)
            cellar_free(profiles->levels[c]);
    }
    cellar_free(profiles->names);
    cellar_free(profiles->domains);
    cellar_free(profiles->levels);
    cellar_free(profiles->counts);
    cellar_free(profiles);
}

size_t cellar_profiles_n_columns(const cellar_profiles *profiles)
{
    return profiles->n_columns;
}

const char *cellar_profiles_column(const cellar_profiles *profiles, size_t column)
{
    return profiles->names[column];
}

size_t cellar_profiles_n_levels(const cellar_profiles *profiles, size_t column)
{
    return cellar_codelist_n_leaves(profiles->domains[column]);
}

const char *cellar_profiles_level(const cellar_profiles *profiles, size_t column, size_t level)
{
    const cellar_codelist *domain = profiles->domains[column];
    return cellar_codelist_code(domain, cellar_codelist_leaf(domain, level));
}

size_t cellar_profiles_n_rows(const cellar_profiles *profiles)
{
    return profiles->n_rows;
}

uint64_t cellar_profiles_n_people(const cellar_profiles *profiles)
{
    return profiles->n_people;
}
