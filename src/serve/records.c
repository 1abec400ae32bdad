/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting canonical tables. The finest levels are counted, and added up to the levels asked for:
 * so tables of all levels count the same records, with the same keys. */
#include "serve/records.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plan/cube_design.h"
#include "plan/work.h"
#include "table/build.h"
#include "table/table.h"

/* ---- levels --------------------------------------------------------------------------------- */

static cellar_status axis_init(serve_axis *axis, const cellar_plan *records, size_t v,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text id = {0};
    CELLAR_TRY(cellar_plan_open_variable(records, v, &axis->domain, &axis->variable, err));
    for (size_t level = 1; level <= axis->variable.axis.n_levels; level++) {
        id = (cellar_text){0};
        CELLAR_TRY(cellar_cube_variable_list(&axis->variable, level, &axis->lists[level], err));
        cellar_text_add_string(&id, axis->variable.name);
        if (level < axis->variable.axis.n_levels)
            cellar_text_printf(&id, "^%zu", level);
        axis->ids[level] = id.bytes;
        if (id.failed)
            CELLAR_TRY(cellar_fail_memory(err, "a variable"));
    }
out:
    return status;
}

cellar_status serve_axes_init(serve_axes *axes, const cellar_plan *records, cellar_error *err)
{
    *axes = (serve_axes){.items = cellar_alloc(records->variables.n, sizeof *axes->items)};
    if (axes->items == NULL)
        return cellar_fail_memory(err, "the variables of a data set");
    for (; axes->n < records->variables.n; axes->n++) {
        cellar_status status = axis_init(&axes->items[axes->n], records, axes->n, err);
        if (status != CELLAR_OK) {
            axes->n++;
            return status;
        }
    }
    return CELLAR_OK;
}

void serve_axes_clear(serve_axes *axes)
{
    for (size_t v = 0; v < axes->n; v++) {
        serve_axis *axis = &axes->items[v];
        for (size_t level = 1; level <= CUBE_LEVELS_MAX; level++) {
            cellar_codelist_free(axis->lists[level]);
            cellar_free(axis->ids[level]);
        }
        cellar_cube_variable_clear(&axis->variable);
        cellar_schema_free(axis->domain);
    }
    cellar_free(axes->items);
    *axes = (serve_axes){0};
}

/* ---- the schema of a table --------------------------------------------------------------------
 */

/* The variables of a table. */
typedef struct chosen {
    size_t variables[CELLAR_MAX_VARIABLES], levels[CELLAR_MAX_VARIABLES];
    size_t n;
    int is_finest; /* each at its finest level */
} chosen;

static chosen choose(const serve_axes *axes, const serve_table *table)
{
    chosen c = {.is_finest = 1};
    for (size_t v = 0; v < axes->n; v++) {
        const size_t level = table->levels[v];
        if (level == 0)
            continue;
        CELLAR_ASSERT(level <= axes->items[v].variable.axis.n_levels);
        c.is_finest &= level == axes->items[v].variable.axis.n_levels;
        c.variables[c.n] = v;
        c.levels[c.n++] = level;
    }
    return c;
}

static cellar_status schema_make(const serve_axes *axes, const chosen *c, cellar_schema **out,
                                 cellar_error *err)
{
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES];
    for (size_t k = 0; k < c->n; k++) {
        const serve_axis *axis = &axes->items[c->variables[k]];
        defs[k] = (cellar_schema_variable_def){.name = axis->ids[c->levels[k]],
                                               .domain = axis->variable.domain,
                                               .codelist = axis->lists[c->levels[k]]};
    }
    return cellar_schema_create(defs, c->n, NULL, out, err);
}

/* ---- counting ---------------------------------------------------------------------------------
 */

/* The node of a coarser level above a category. */
static uint32_t node_above(const cube_axis *axis, uint32_t node, size_t level)
{
    for (size_t at = axis->n_levels; at > level; at--)
        node = cube_axis_parent(axis, at, node);
    return node;
}

static cellar_status cells_make_room(const cellar_table *fine, cellar_cells *out, cellar_error *err)
{
    const size_t n = fine->cells.n;
    out->index = cellar_alloc(n, sizeof *out->index);
    out->count = cellar_alloc(n, sizeof *out->count);
    if (fine->cells.key != NULL)
        out->key = cellar_alloc(n, sizeof *out->key);
    return out->index == NULL || out->count == NULL || (fine->cells.key != NULL && out->key == NULL)
               ? cellar_fail_memory(err, "a table")
               : CELLAR_OK;
}

/* Every cell of the finest levels, under the index of the cell that it is added to. */
static void cells_move(const serve_axes *axes, const chosen *c, const cellar_table *fine,
                       const cellar_schema *coarse, cellar_cells *out)
{
    const cellar_schema *schema = cellar_table_schema(fine);
    for (size_t i = 0; i < fine->cells.n; i++) {
        uint32_t nodes[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(schema, table_index(fine, i), nodes);
        for (size_t k = 0; k < c->n; k++)
            nodes[k] =
                node_above(&axes->items[c->variables[k]].variable.axis, nodes[k], c->levels[k]);
        cells_append_sum(out, &fine->cells, i, cellar_schema_index(coarse, nodes));
    }
}

static cellar_status add_up(const serve_axes *axes, const chosen *c, const cellar_table *fine,
                            cellar_table **out, cellar_error *err)
{
    cellar_schema *coarse = NULL;
    cellar_cells cells = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(schema_make(axes, c, &coarse, err));
    CELLAR_TRY(cells_make_room(fine, &cells, err));
    cells_move(axes, c, fine, coarse, &cells);
    CELLAR_TRY(cellar_table_from_cells(coarse, &cells, cellar_table_key_range(fine), out, err));
out:
    cellar_cells_clear(&cells);
    cellar_schema_free(coarse);
    return status;
}

cellar_status serve_records_count(const cellar_plan *records, serve_counter *counter,
                                  const serve_axes *axes, const serve_table *table,
                                  const serve_record_keys *keys, cellar_table **out,
                                  cellar_error *err)
{
    const chosen c = choose(axes, table);
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec =
        cellar_plan_tabulate_spec(records, c.variables, c.n, NULL, variables);
    cellar_table *fine = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (keys != NULL) {
        spec.record_key_column = keys->column;
        spec.record_id_column = keys->id_column;
        spec.record_secret = keys->secret;
        spec.key_range = keys->range;
    }
    spec.n_threads = 1; /* the vault counts several tables at once */
    CELLAR_TRY(serve_counter_ask(counter, &spec, &fine, err));
    if (c.is_finest) {
        *out = fine;
        return CELLAR_OK;
    }
    CELLAR_TRY(add_up(axes, &c, fine, out, err));
out:
    cellar_table_free(fine);
    return status;
}
