/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files say about sums of cells: every value becomes a line of the linear programme. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/audit.h"
#include "inference/interval_parts.h"
#include "inference/noisy.h"
#include "table/schema/schema.h"

/* Cells named by all lines together: the memory of the programme grows with them. */
static const size_t MEMBERS_MAX = (size_t) 1 << 24;
/* Distributions of larger counts would take minutes. */
static const int64_t KERNEL_MAX = 100000000;

/* ---- the cells ------------------------------------------------------------------------ */

static size_t find_variable(const cellar_audit *audit, const char *name)
{
    for (size_t v = 0; v < audit->n_variables; v++)
        if (strcmp(audit->variables[v].schema->axes[audit->variables[v].variable].name, name) == 0)
            return v;
    return CELLAR_NO_CODE;
}

/* The leaf that the first file with the variable has for a code; CELLAR_NO_CODE when there is none.
 */
static size_t find_leaf(const audit_variable *known, const char *code)
{
    const size_t found =
        cellar_schema_find_code(known->schema, known->variable, code, strlen(code));
    return found < known->n_leaves ? found : CELLAR_NO_CODE;
}

static cellar_status same_leaves(const audit_variable *known, const cellar_schema *schema,
                                 size_t variable, cellar_error *err)
{
    const schema_axis *axis = &schema->axes[variable];
    for (uint32_t leaf = 0; leaf < axis->n_leaves; leaf++)
        if (axis->n_leaves != known->n_leaves ||
            find_leaf(known, cellar_schema_code(schema, variable, leaf)) == CELLAR_NO_CODE)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "variable '%s' has other categories in another file: files are "
                               "linked by variables with the same categories",
                               axis->name);
    return CELLAR_OK;
}

cellar_status cellar_audit_add_schema(cellar_audit *audit, const cellar_schema *schema,
                                      cellar_error *err)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        const size_t known = find_variable(audit, schema->axes[v].name);
        cellar_status status = CELLAR_OK;
        if (known != CELLAR_NO_CODE)
            status = same_leaves(&audit->variables[known], schema, v, err);
        else if (audit->n_variables == CELLAR_MAX_VARIABLES)
            status =
                cellar_fail(err, CELLAR_ERR_ARGUMENT,
                            "the files together have more than %d variables", CELLAR_MAX_VARIABLES);
        else
            audit->variables[audit->n_variables++] =
                (audit_variable){cellar_schema_retain(schema), v, schema->axes[v].n_leaves, 0};
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

cellar_status cellar_audit_number(cellar_audit *audit, uint64_t max_cells, cellar_error *err)
{
    audit->n_cells = 1;
    for (size_t v = audit->n_variables; v-- > 0;) {
        audit_variable *variable = &audit->variables[v];
        variable->stride = audit->n_cells;
        if (__builtin_mul_overflow(audit->n_cells, variable->n_leaves, &audit->n_cells) ||
            audit->n_cells > max_cells)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the variables of all files together have more than %llu "
                               "combinations of categories, each an unknown of the linear "
                               "programme (--max-cells)",
                               (unsigned long long) max_cells);
    }
    return CELLAR_OK;
}

/* ---- from a file's cells to the audit's ------------------------------------------------- */

typedef struct audit_map {
    const cellar_schema *from;
    size_t variable[CELLAR_MAX_VARIABLES]; /* of the audit's, the file's; or CELLAR_NO_CODE */
    uint32_t *leaf[CELLAR_MAX_VARIABLES];  /* the audit's leaf of each leaf of the file */
} audit_map;

static void audit_map_clear(audit_map *map)
{
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_free(map->leaf[v]);
}

static cellar_status audit_map_init(audit_map *map, const cellar_audit *audit,
                                    const cellar_schema *from, cellar_error *err)
{
    *map = (audit_map){.from = from};
    for (size_t v = 0; v < audit->n_variables; v++) {
        const audit_variable *known = &audit->variables[v];
        const char *name = known->schema->axes[known->variable].name;
        const size_t own = cellar_schema_find_variable(from, name);
        map->variable[v] = own;
        if (own == CELLAR_NO_CODE)
            continue;
        map->leaf[v] = cellar_alloc(from->axes[own].n_leaves, sizeof *map->leaf[v]);
        if (map->leaf[v] == NULL)
            return cellar_fail_memory(err, "an audit");
        for (uint32_t leaf = 0; leaf < from->axes[own].n_leaves; leaf++) {
            const size_t place = find_leaf(known, cellar_schema_code(from, own, leaf));
            if (place == CELLAR_NO_CODE)
                return cellar_fail(err, CELLAR_ERR_INPUT,
                                   "variable '%s' has other categories than in the files audited",
                                   name);
            map->leaf[v][leaf] = (uint32_t) place;
        }
    }
    return CELLAR_OK;
}

/* Which leaves of each of the audit's variables a cell of the file sums. */
typedef struct audit_walk {
    const cellar_audit *audit;
    const audit_map *map;
    const uint32_t *members[CELLAR_MAX_VARIABLES]; /* of the file; NULL: all leaves */
    size_t n[CELLAR_MAX_VARIABLES], at[CELLAR_MAX_VARIABLES];
} audit_walk;

/* Answers how many cells there are to walk; at most audit->n_cells. */
static size_t audit_walk_start(audit_walk *walk, const cellar_audit *audit, const audit_map *map,
                               uint64_t index)
{
    size_t n = 1;
    *walk = (audit_walk){.audit = audit, .map = map};
    for (size_t v = 0; v < audit->n_variables; v++) {
        const size_t own = map->variable[v];
        if (own == CELLAR_NO_CODE)
            walk->n[v] = audit->variables[v].n_leaves;
        else
            walk->members[v] = cellar_schema_members(
                map->from, own, schema_category(map->from, own, index), &walk->n[v]);
        n *= walk->n[v];
    }
    return n;
}

static uint64_t audit_walk_cell(const audit_walk *walk)
{
    uint64_t cell = 0;
    for (size_t v = 0; v < walk->audit->n_variables; v++) {
        const size_t at = walk->at[v];
        const size_t leaf =
            walk->members[v] == NULL ? at : walk->map->leaf[v][walk->members[v][at]];
        cell += leaf * walk->audit->variables[v].stride;
    }
    return cell;
}

static int audit_walk_next(audit_walk *walk)
{
    for (size_t v = walk->audit->n_variables; v-- > 0;) {
        if (++walk->at[v] < walk->n[v])
            return 1;
        walk->at[v] = 0;
    }
    return 0;
}

/* ---- lines ------------------------------------------------------------------------------ */

static cellar_status add_line(cellar_audit *audit, const audit_map *map, uint64_t index, double low,
                              double high, double value, cellar_error *err)
{
    audit_walk walk;
    const size_t n = audit_walk_start(&walk, audit, map, index);
    if (n > MEMBERS_MAX - audit->n_members)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the values sum too many cells for the linear programme: audit fewer "
                           "variables or margins together");
    if (!cellar_grow(&audit->lines, &audit->lines_room, audit->n_lines + 1, sizeof *audit->lines) ||
        !cellar_grow(&audit->members, &audit->members_room, audit->n_members + n,
                     sizeof *audit->members))
        return cellar_fail_memory(err, "an audit");
    audit->lines[audit->n_lines++] =
        (audit_line){low, high, fmin(fmax(value, low), high), audit->n_members, n};
    do
        audit->members[audit->n_members++] = (int) audit_walk_cell(&walk) + 1;
    while (audit_walk_next(&walk));
    return CELLAR_OK;
}

/* The limits of one released value. */
static cellar_status add_released(cellar_audit *audit, const audit_map *map,
                                  const cellar_noisy *noisy, const cellar_released_cell *cell,
                                  double tail, cellar_error *err)
{
    const cellar_reading reading = {
        .number = cell->released, .n_noises = 1, .channel = noisy->channel};
    double low, high;
    if (!cellar_channel_is_additive(&noisy->channel) && cell->released > KERNEL_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "limits of released values above %lld are not computed for %s",
                           (long long) KERNEL_MAX, cellar_mechanism_name(noisy->mechanism));
    cellar_interval_count(&reading, tail, &low, &high);
    return add_line(audit, map, cell->index, low, high, (double) cell->released, err);
}

cellar_status cellar_audit_add_release(cellar_audit *audit, const cellar_release *release,
                                       double tail, cellar_error *err)
{
    const cellar_schema *schema = cellar_release_schema(release);
    cellar_noisy *noisy = NULL;
    audit_map map = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_noisy_from_release(release, NULL, 0, &noisy, err));
    CELLAR_TRY(audit_map_init(&map, audit, schema, err));
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        const cellar_released_cell cell = cellar_release_at(release, index);
        if (!cellar_schema_has_cell(schema, index))
            continue;
        if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO ||
            cellar_schema_is_structural_zero(schema, index))
            CELLAR_TRY(add_line(audit, &map, index, 0, 0, 0, err));
        else
            CELLAR_TRY(add_released(audit, &map, noisy, &cell, tail, err));
    }
out:
    audit_map_clear(&map);
    cellar_noisy_free(noisy);
    return status;
}

cellar_status cellar_audit_add_table(cellar_audit *audit, const cellar_table *table,
                                     cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(table);
    audit_map map = {0};
    cellar_status status = CELLAR_OK;

    if (cellar_table_is_weighted(table))
        return cellar_fail(err, CELLAR_ERR_RULE, "weighted sums are no counts of people");
    CELLAR_TRY(audit_map_init(&map, audit, schema, err));
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        const cellar_cell cell = cellar_table_at(table, index);
        const double count = (double) cell.count;
        const int is_shown =
            cell.status == CELLAR_CELL_NORMAL || cell.status == CELLAR_CELL_STRUCTURAL_ZERO;
        if (cellar_schema_has_cell(schema, index) && is_shown)
            CELLAR_TRY(add_line(audit, &map, index, count, count, count, err));
    }
out:
    audit_map_clear(&map);
    return status;
}

cellar_status cellar_audit_true_counts(const cellar_audit *audit, const cellar_table *table,
                                       uint64_t *counts, cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(table);
    audit_map map = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(audit_map_init(&map, audit, schema, err));
    for (size_t v = 0; v < audit->n_variables; v++)
        if (map.variable[v] == CELLAR_NO_CODE)
            CELLAR_TRY(
                cellar_fail(err, CELLAR_ERR_INPUT, "the true table has no variable '%s'",
                            audit->variables[v].schema->axes[audit->variables[v].variable].name));
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        const cellar_cell cell = cellar_table_cell(table, i);
        audit_walk walk;
        if (!cellar_schema_is_interior(schema, cell.index))
            continue;
        audit_walk_start(&walk, audit, &map, cell.index);
        counts[audit_walk_cell(&walk)] += cell.count;
    }
out:
    audit_map_clear(&map);
    return status;
}
