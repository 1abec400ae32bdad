/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of a cube. Each combination of variables is counted once, at the finest levels;
 * tables of upper levels, and the total, are summed from that. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/cube_design.h"
#include "table/table.h"

typedef struct counting {
    const cellar_cube_design *design;
    uint64_t *masks; /* of the combinations, ascending */
    cellar_tabulate_set *sets;
    cellar_table **sources; /* of each combination */
    size_t n;
} counting;

/* ---- combinations of variables --------------------------------------------------------- */

/* That of the total is the first variable. */
static uint64_t mask_of(const cube_space *space)
{
    uint64_t mask = space->order == 0 ? 1 : 0;
    for (size_t i = 0; i < space->order; i++)
        mask |= UINT64_C(1) << space->variable[i];
    return mask;
}

static int compare_masks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

/* Variables ascend, as those of tables of the lattice do. */
static cellar_tabulate_set set_of(uint64_t mask)
{
    cellar_tabulate_set set = {0};
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        if ((mask >> v & 1) != 0)
            set.variables[set.n++] = (uint8_t) v;
    return set;
}

static cellar_status find_combinations(counting *c, const uint32_t *tables, size_t n,
                                       cellar_error *err)
{
    c->masks = cellar_alloc(n, sizeof *c->masks);
    c->sets = cellar_alloc(n, sizeof *c->sets);
    c->sources = cellar_alloc(n, sizeof *c->sources);
    if (c->masks == NULL || c->sets == NULL || c->sources == NULL)
        return cellar_fail_memory(err, "the tables of a cube");
    for (size_t i = 0; i < n; i++)
        c->masks[i] = mask_of(&c->design->cube->lattice.spaces[tables[i]]);
    qsort(c->masks, n, sizeof *c->masks, compare_masks);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || c->masks[i] != c->masks[c->n - 1]) {
            c->masks[c->n] = c->masks[i];
            c->sets[c->n++] = set_of(c->masks[i]);
        }
    return CELLAR_OK;
}

static cellar_status count_sources(counting *c, const cellar_cube_build_options *options,
                                   cellar_error *err)
{
    const cellar_plan *plan = c->design->plan;
    const cellar_plan_options reading = {.n_threads = options->n_threads,
                                         .progress = options->progress};
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    size_t all[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec;
    for (size_t v = 0; v < plan->variables.n; v++)
        all[v] = v;
    spec = cellar_plan_tabulate_spec(plan, all, plan->variables.n, &reading, variables);
    if (plan->data.table != NULL) {
        const cellar_sql_source source = cellar_plan_source(plan);
        const cellar_status status = cellar_plan_need_places(plan, err);
        return status == CELLAR_OK
                   ? cellar_tabulate_many_at(&spec, &source, plan->places, plan->n_places, c->sets,
                                             c->n, c->sources, err)
                   : status;
    }
    return cellar_tabulate_many(&spec, c->sets, c->n, c->sources, NULL, err);
}

/* ---- levels ------------------------------------------------------------------------------ */

/* Where the categories of a variable lie in a table of one of its levels: node times stride. */
static uint64_t *places_of(const cube_axis *axis, size_t level, uint64_t stride)
{
    const uint32_t n = axis->n[axis->n_levels];
    uint64_t *places = cellar_alloc(n, sizeof *places);
    for (uint32_t category = 0; places != NULL && category < n; category++) {
        uint32_t node = category;
        for (size_t c = axis->n_levels; c > level; c--)
            node = cube_axis_parent(axis, c, node);
        places[category] = level > 0 ? node * stride : 0;
    }
    return places;
}

/* Adds the cells of a source up to those of a coarser table of the same variables. */
static cellar_status add_up(const cellar_table *source, uint64_t *const *places, size_t n_axes,
                            cellar_cells *out, cellar_error *err)
{
    const cellar_cells *from = &source->cells;
    for (size_t i = 0; i < out->n; i++)
        out->index[i] = i;
    for (size_t i = 0; i < from->n; i++) {
        uint32_t categories[CELLAR_MAX_VARIABLES];
        uint64_t index = 0;
        cellar_schema_categories(source->schema, table_index(source, i), categories);
        for (size_t k = 0; k < n_axes; k++)
            index += places[k][categories[k]];
        if (!cells_add(out, (size_t) index, from, i, 0))
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a sum of counts is too large");
    }
    return CELLAR_OK;
}

/* The cells of a table of upper levels. */
static cellar_status coarse_cells(const cellar_cube *cube, const cube_space *space,
                                  const cellar_table *source, uint64_t n_cells, cellar_cells *out,
                                  cellar_error *err)
{
    const size_t n = space->order > 0 ? space->order : 1;
    uint64_t *places[CUBE_ORDER_MAX] = {NULL}, stride = 1;
    cellar_status status = CELLAR_OK;
    for (size_t k = n; k-- > 0;) {
        const cube_axis *axis = &cube->variables[space->variable[k]].axis;
        places[k] = places_of(axis, space->level[k], stride);
        if (places[k] == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "the tables of a cube"));
        stride *= axis->n[space->level[k]];
    }
    CELLAR_TRY(cellar_cells_create_like(&source->cells, (size_t) n_cells, out, err));
    CELLAR_TRY(add_up(source, places, n, out, err));
out:
    for (size_t k = 0; k < n; k++)
        cellar_free(places[k]);
    return status;
}

/* Those of a table of the finest levels. */
static cellar_status finest_cells(const cellar_table *source, cellar_cells *out, cellar_error *err)
{
    cellar_status status = cellar_cells_create_like(&source->cells, source->cells.n, out, err);
    for (size_t i = 0; status == CELLAR_OK && i < source->cells.n; i++)
        cells_copy(out, i, &source->cells, i);
    return status;
}

static int is_finest(const cellar_cube *cube, const cube_space *space)
{
    int is = space->order > 0;
    for (size_t i = 0; i < space->order; i++)
        is &= space->level[i] == cube->variables[space->variable[i]].axis.n_levels;
    return is;
}

static cellar_status make_table(const counting *c, uint32_t table, cellar_table **out,
                                cellar_error *err)
{
    const cellar_cube *cube = c->design->cube;
    const cube_space *space = &cube->lattice.spaces[table];
    const uint64_t mask = mask_of(space);
    const uint64_t *found = bsearch(&mask, c->masks, c->n, sizeof mask, compare_masks);
    const cellar_table *source = c->sources[found - c->masks];
    cellar_schema *schema = NULL;
    cellar_cells cells = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_cube_table_schema(cube, table, &schema, err));
    if (is_finest(cube, space))
        CELLAR_TRY(finest_cells(source, &cells, err));
    else
        CELLAR_TRY(coarse_cells(cube, space, source, cellar_schema_n_indices(schema), &cells, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &cells, 0, out, err));
    CELLAR_TRY(cellar_table_set_max_weight(*out, cellar_table_max_weight(source), err));
out:
    cellar_cells_clear(&cells);
    cellar_schema_free(schema);
    return status;
}

cellar_status cellar_cube_count(const cellar_cube_design *design, const uint32_t *tables, size_t n,
                                const cellar_cube_build_options *options, cellar_table **out,
                                cellar_error *err)
{
    counting c = {.design = design};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(find_combinations(&c, tables, n, err));
    CELLAR_TRY(count_sources(&c, options, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(make_table(&c, tables[i], &out[i], err));
out:
    for (size_t s = 0; s < c.n; s++)
        cellar_table_free(c.sources[s]);
    cellar_free(c.masks);
    cellar_free(c.sets);
    cellar_free(c.sources);
    return status;
}
