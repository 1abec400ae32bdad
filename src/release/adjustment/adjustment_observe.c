/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Released values become observations: each finds its place among the fit's cells. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/adjustment.h"
#include "release/adjustment/noise_moments.h"
#include "table/schema/schema.h"

/* The way from a release's index to the fit's. steps[v][c] is what category c of the release's
 * variable v adds; `base` is what the totals of all variables it does not have add. */
typedef struct adjustment_map {
    const cellar_schema *from;
    uint64_t base;
    uint64_t *steps[CELLAR_MAX_VARIABLES];
} adjustment_map;

static void adjustment_map_clear(adjustment_map *map)
{
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_free(map->steps[v]);
}

/* What the total of a variable adds to an index; a variable without one is in every release. */
static uint64_t adjustment_map_total(const cellar_schema *to, size_t v)
{
    return to->axes[v].has_total ? (to->axes[v].n_categories - 1) * to->axes[v].stride : 0;
}

/* Totals go to the total, however they are spelled; every other category to that of its code, be it
 * a leaf or an inner node of a hierarchy. */
static cellar_status adjustment_map_variable(adjustment_map *map, const cellar_schema *to, size_t v,
                                             cellar_error *err)
{
    const schema_axis *from = &map->from->axes[v];
    const size_t variable = cellar_schema_find_variable(to, from->name);
    CELLAR_ASSERT(variable != CELLAR_NO_CODE); /* the fit's schema has all of them */
    map->steps[v] = cellar_alloc(from->n_categories, sizeof *map->steps[v]);
    if (map->steps[v] == NULL)
        return cellar_fail_memory(err, "a fit");
    map->base -= adjustment_map_total(to, variable);
    for (uint32_t c = 0; c < from->n_categories; c++) {
        const char *code = cellar_schema_code(map->from, v, c);
        const int total = from->has_total && c == from->n_categories - 1;
        const size_t category = total ? to->axes[variable].n_categories - 1
                                      : cellar_schema_find_code(to, variable, code, strlen(code));
        if (category == CELLAR_NO_CODE)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "variable '%s': the first release has no category '%s'", from->name,
                               code);
        map->steps[v][c] = category * to->axes[variable].stride;
    }
    return CELLAR_OK;
}

static cellar_status adjustment_map_init(adjustment_map *map, const cellar_schema *from,
                                         const cellar_schema *to, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *map = (adjustment_map){.from = from};
    for (size_t v = 0; v < to->n_variables; v++) /* all totals, until a variable says otherwise */
        map->base += adjustment_map_total(to, v);
    for (size_t v = 0; v < from->n_variables && status == CELLAR_OK; v++)
        status = adjustment_map_variable(map, to, v, err);
    return status;
}

static uint64_t adjustment_map_index(const adjustment_map *map, uint64_t index)
{
    uint64_t at = map->base;
    for (size_t v = 0; v < map->from->n_variables; v++)
        at += map->steps[v][schema_category(map->from, v, index)];
    return at;
}

cellar_status cellar_adjustment_observe(cellar_adjustment *fit, const cellar_release *release,
                                        cellar_error *err)
{
    const cellar_schema *schema = release->schema;
    const cellar_cells *cells = &release->cells;
    cellar_noise_moments noise = {0};
    adjustment_map map;
    size_t next = 0; /* the listed cells are in the order of their indices */
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(adjustment_map_init(&map, schema, fit->schema, err));
    CELLAR_TRY(cellar_noise_moments_init(&noise, release, err));
    fit->is_estimated |= isnan(noise.variance);
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        const int listed = next < cells->n && cells->index[next] == index;
        const int64_t released = listed ? (int64_t) cells->count[next] : 0;
        const int marked = listed && cells->status != NULL && cells->status[next] != 0;
        next += (size_t) listed;
        if (marked || !cellar_schema_has_cell(schema, index) ||
            cellar_schema_is_structural_zero(schema, index))
            continue;
        const uint64_t at = adjustment_map_index(&map, index);
        const double weight = 1 / cellar_noise_moments_variance(&noise, released);
        fit->weight[at] += weight;
        fit->observed[at] += weight * ((double) released - noise.offset);
    }
out:
    cellar_noise_moments_clear(&noise);
    adjustment_map_clear(&map);
    return status;
}
