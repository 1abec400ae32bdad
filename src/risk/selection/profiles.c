/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection/profiles.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_curve.h"

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

/* ---- curves ----------------------------------------------------------------- */

typedef struct group_sizes {
    uint64_t *items;
    size_t n;
} group_sizes;

static int sizes_add(void *context, uint64_t people)
{
    group_sizes *sizes = context;
    sizes->items[sizes->n++] = people;
    return 0;
}

cellar_status cellar_exposure_curve_from_profiles(const cellar_profiles *profiles,
                                                  const size_t *columns, size_t n,
                                                  cellar_exposure_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    partition now = {0}, next = {0};
    refiner r = {0};
    group_sizes sizes = {.items = cellar_alloc(profiles->n_rows, sizeof *sizes.items)};
    double n_possible = 1;
    int ok = sizes.items != NULL && cellar_refiner_init(profiles, &r) &&
             cellar_partition_whole(profiles, &now);

    *out = NULL;
    for (size_t i = 0; ok && i < n; i++) {
        if (columns[i] >= profiles->n_columns) {
            status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no column number %zu",
                                 columns[i] + 1);
            goto out;
        }
        n_possible *= (double) cellar_profiles_n_levels(profiles, columns[i]);
        if (i + 1 == n) {
            cellar_partition_visit(&r, &now, profiles->levels[columns[i]], sizes_add, &sizes);
        } else {
            ok = cellar_partition_refine(&r, &now, profiles->levels[columns[i]], 0, &next);
            cellar_partition_clear(&now);
            now = next;
        }
    }
    if (!ok) {
        status = cellar_fail_memory(err, "an exposure curve");
        goto out;
    }
    CELLAR_TRY(cellar_exposure_curve_from_counts(sizes.items, sizes.n, 0, out, err));
    (*out)->n_possible = fmax(n_possible, (double) sizes.n);
out:
    cellar_partition_clear(&now);
    cellar_refiner_clear(&r);
    cellar_free(sizes.items);
    return status;
}
