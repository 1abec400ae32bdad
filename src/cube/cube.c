/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/cube.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/file.h"
#include "cube/picks.h"
#include "cube/precision.h"
#include "release/guarantee/recertify.h"
#include "table/build.h"
#include "table/formats/extension.h"

/* ---- life cycle -------------------------------------------------------------------- */

static cellar_status cube_lay_out(cellar_cube *cube, const cube_space *tables, size_t n_tables,
                                  cellar_error *err)
{
    cube_axis *axes = cellar_alloc(cube->n_variables, sizeof *axes);
    cellar_status status = CELLAR_OK;
    if (axes == NULL)
        return cellar_fail_memory(err, "a cube");
    for (size_t v = 0; v < cube->n_variables; v++)
        axes[v] = cube->variables[v].axis;
    CELLAR_TRY(
        cellar_cube_lattice_init(&cube->lattice, axes, cube->n_variables, tables, n_tables, err));
    cube->tables = cellar_alloc(cube->lattice.n, sizeof *cube->tables);
    cube->w = cellar_alloc(cube->lattice.n, sizeof *cube->w);
    cube->tau = cellar_alloc(cube->lattice.n, sizeof *cube->tau);
    if (cube->tables == NULL || cube->w == NULL || cube->tau == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
out:
    cellar_free(axes);
    return status;
}

cellar_status cellar_cube_create(cube_variable *variables, size_t n_variables,
                                 const cube_space *tables, size_t n_tables, cellar_cube **out,
                                 cellar_error *err)
{
    cellar_cube *cube = cellar_alloc(1, sizeof *cube);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (cube != NULL)
        cube->variables = cellar_alloc(n_variables, sizeof *variables);
    if (cube == NULL || cube->variables == NULL) {
        for (size_t v = 0; v < n_variables; v++)
            cellar_cube_variable_clear(&variables[v]);
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    }
    memcpy(cube->variables, variables, n_variables * sizeof *variables);
    memset(variables, 0, n_variables * sizeof *variables);
    cube->n_variables = n_variables;
    cube->decimals = CUBE_DECIMALS;
    CELLAR_TRY(cube_lay_out(cube, tables, n_tables, err));
    *out = cube;
    cube = NULL;
out:
    cellar_cube_close(cube);
    return status;
}

void cellar_cube_close(cellar_cube *cube)
{
    if (cube == NULL)
        return;
    for (size_t v = 0; cube->variables != NULL && v < cube->n_variables; v++)
        cellar_cube_variable_clear(&cube->variables[v]);
    for (size_t t = 0; cube->tables != NULL && t < cube->lattice.n; t++)
        cellar_free(cube->tables[t].mechanism);
    cellar_free(cube->variables);
    cellar_free(cube->tables);
    cellar_free(cube->w);
    cellar_free(cube->tau);
    cellar_free(cube->measured);
    cellar_free(cube->description_text);
    cellar_free(cube->path);
    json_decref(cube->description);
    cellar_cube_lattice_clear(&cube->lattice);
    cellar_cube_values_clear(&cube->estimates);
    if (cube->map != NULL)
        munmap(cube->map, cube->map_length);
    cellar_free(cube);
}

/* ---- making one ---------------------------------------------------------------------- */

cellar_status cellar_cube_plan_measure(cellar_cube *cube, uint32_t table, const char *mechanism,
                                       double variance, cellar_error *err)
{
    const size_t length = strlen(mechanism);
    cube_measure *measure = &cube->tables[table];
    measure->mechanism = cellar_alloc(length + 1, 1);
    if (measure->mechanism == NULL)
        return cellar_fail_memory(err, "a cube");
    memcpy(measure->mechanism, mechanism, length);
    measure->variance = variance;
    cube->w[table] = variance > 0 ? 1 / variance : 0;
    if (!(variance > 0))
        cellar_cube_lattice_fix(&cube->lattice, table);
    return CELLAR_OK;
}

cellar_status cellar_cube_settle(cellar_cube *cube, cellar_error *err)
{
    const cube_lattice *l = &cube->lattice;
    double *variance = cellar_alloc(l->n, sizeof *variance);
    if (variance == NULL)
        return cellar_fail_memory(err, "a cube");
    cellar_cube_evaluate(l, cube->w, cube->tau, variance);
    cellar_free(variance);
    for (size_t t = 0; t < l->n; t++)
        if (!(cube->tau[t] > 0))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "no measured table says anything about one of the tables");
    return CELLAR_OK;
}

static size_t n_cells_of(const cellar_cube *cube, size_t table)
{
    return (size_t) cube->lattice.n_cells[table];
}

cellar_status cellar_cube_measured_alloc(cellar_cube *cube, cellar_error *err)
{
    size_t n = 0;
    for (size_t t = 0; t < cube->lattice.n; t++)
        n += cube->tables[t].mechanism != NULL ? n_cells_of(cube, t) : 0;
    cube->measured = cellar_alloc(n, sizeof *cube->measured);
    if (cube->measured == NULL)
        return cellar_fail_memory(err, "the measured tables of a cube");
    n = 0;
    for (size_t t = 0; t < cube->lattice.n; t++)
        if (cube->tables[t].mechanism != NULL) {
            cube->tables[t].measured = cube->measured + n;
            n += n_cells_of(cube, t);
        }
    return CELLAR_OK;
}

int64_t *cellar_cube_measured_room(cellar_cube *cube, uint32_t table)
{
    return cube->measured + (cube->tables[table].measured - cube->measured);
}

/* Estimates from the measured tables of a cube, which may be mapped. */
static cellar_status estimate_into(const cellar_cube *cube, cube_values *out, cellar_error *err)
{
    const int64_t **measured = cellar_alloc(cube->lattice.n, sizeof *measured);
    cellar_status status = CELLAR_OK;
    if (measured == NULL)
        return cellar_fail_memory(err, "the tables of a cube");
    for (size_t t = 0; t < cube->lattice.n; t++)
        measured[t] = cube->tables[t].measured;
    CELLAR_TRY(cellar_cube_values_init(out, &cube->lattice, err));
    CELLAR_TRY(cellar_cube_reconstruct(&cube->lattice, cube->w, cube->tau, measured, cube->decimals,
                                       out, err));
out:
    cellar_free(measured);
    return status;
}

cellar_status cellar_cube_estimate_all(cellar_cube *cube, cellar_error *err)
{
    cellar_status status = estimate_into(cube, &cube->estimates, err);
    for (size_t t = 0; status == CELLAR_OK && t < cube->lattice.n; t++)
        cube->tables[t].values = cube->estimates.tables[t];
    return status;
}

cellar_status cellar_cube_describe(cellar_cube *cube, json_t *description, cellar_error *err)
{
    json_decref(cube->description);
    cellar_free(cube->description_text);
    cube->description = description;
    cube->description_text = cellar_json_text(description, JSON_SORT_KEYS | JSON_COMPACT);
    return cube->description_text != NULL ? CELLAR_OK : cellar_fail_memory(err, "a cube");
}

/* ---- checking one ---------------------------------------------------------------------- */

static cellar_status fail_table(const cellar_cube *cube, size_t table, const char *name,
                                const char *what, cellar_error *err)
{
    cellar_text words = {0};
    cellar_status status;
    cellar_cube_table_name(cube, (uint32_t) table, &words);
    status = cellar_fail(err, CELLAR_ERR_INPUT, "%s: table %s %s", name,
                         words.failed ? "?" : words.bytes, what);
    cellar_text_clear(&words);
    return status;
}

/* Another machine may round a value otherwise: by a unit, and by as many in a cell that follows
 * from others by subtraction. */
static int is_estimate(const int64_t *values, const int64_t *again, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double away = (double) values[i] - (double) again[i];
        if (away > (double) n + 1 || -away > (double) n + 1)
            return 0;
    }
    return 1;
}

/* `again` was estimated now; its cells serve as room once a table was compared. */
static cellar_status check_values(const cellar_cube *cube, cube_values *again, const char *name,
                                  cellar_error *err)
{
    const int64_t **values = cellar_alloc(cube->lattice.n, sizeof *values);
    cellar_status status = CELLAR_OK;
    if (values == NULL)
        return cellar_fail_memory(err, "the tables of a cube");
    for (size_t t = 0; t < cube->lattice.n; t++) {
        values[t] = cube->tables[t].values;
        if (!is_estimate(values[t], again->tables[t], n_cells_of(cube, t)))
            CELLAR_TRY(
                fail_table(cube, t, name, "is not the estimate from the measured ones", err));
    }
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        if (!cellar_cube_table_adds(&cube->lattice, t, values, again->cells))
            CELLAR_TRY(fail_table(cube, t, name, "does not add up to those below it", err));
out:
    cellar_free(values);
    return status;
}

cellar_status cellar_cube_verify(const cellar_cube *cube, const char *name, cellar_error *err)
{
    cube_values again = {0};
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < cube->lattice.n; t++)
        CELLAR_TRY(cellar_cube_check_table(cube, (uint32_t) t, name, err));
    CELLAR_TRY(estimate_into(cube, &again, err));
    CELLAR_TRY(check_values(cube, &again, name, err));
out:
    cellar_cube_values_clear(&again);
    return status;
}

cellar_status cellar_cube_recertify(const cellar_cube *cube, const char *name, cellar_error *err)
{
    json_t *heading = cellar_cube_heading(cube);
    const cellar_status status = heading != NULL ? cellar_recertify_cube(heading, name, err)
                                                 : cellar_fail_memory(err, "a certificate");
    json_decref(heading);
    return status;
}

cellar_status cellar_cube_table_schema(const cellar_cube *cube, uint32_t table, cellar_schema **out,
                                       cellar_error *err)
{
    static const char TOTAL[] = "code,label\n_T,Total\n";
    const cube_space *space = &cube->lattice.spaces[table];
    cellar_schema_variable_def defs[CUBE_ORDER_MAX] = {{0}};
    cellar_codelist *lists[CUBE_ORDER_MAX] = {NULL};
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (space->order == 0) {
        CELLAR_TRY(cellar_codelist_parse("total", TOTAL, sizeof TOTAL - 1, &lists[0], err));
        defs[0] = (cellar_schema_variable_def){"total", CELLAR_DOMAIN_DECLARED, lists[0]};
    }
    for (size_t i = 0; i < space->order; i++) {
        const cube_variable *v = &cube->variables[space->variable[i]];
        CELLAR_TRY(cellar_cube_variable_list(v, space->level[i], &lists[i], err));
        defs[i] = (cellar_schema_variable_def){v->name, v->domain, lists[i]};
    }
    CELLAR_TRY(cellar_schema_create(defs, space->order > 0 ? space->order : 1, NULL, out, err));
out:
    for (size_t i = 0; i < CUBE_ORDER_MAX; i++)
        cellar_codelist_free(lists[i]);
    return status;
}

/* ---- queries ------------------------------------------------------------------------------ */

const char *cellar_cube_description(const cellar_cube *cube)
{
    return cube->description_text;
}

size_t cellar_cube_n_variables(const cellar_cube *cube)
{
    return cube->n_variables;
}

const char *cellar_cube_variable(const cellar_cube *cube, size_t variable)
{
    return cube->variables[variable].name;
}

size_t cellar_cube_n_levels(const cellar_cube *cube, size_t variable)
{
    return cube->variables[variable].axis.n_levels;
}

size_t cellar_cube_n_categories(const cellar_cube *cube, size_t variable, size_t level)
{
    return cube->variables[variable].axis.n[level];
}

size_t cellar_cube_n_tables(const cellar_cube *cube)
{
    return cube->lattice.n;
}

void cellar_cube_table_name(const cellar_cube *cube, uint32_t table, cellar_text *out)
{
    const cube_space *space = &cube->lattice.spaces[table];
    if (space->order == 0)
        cellar_text_add_string(out, "total");
    for (size_t i = 0; i < space->order; i++) {
        const cube_variable *v = &cube->variables[space->variable[i]];
        cellar_text_printf(out, "%s%s", i > 0 ? " x " : "", v->name);
        if (space->level[i] < v->axis.n_levels)
            cellar_text_printf(out, "^%u", space->level[i]);
    }
}

cellar_status cellar_cube_table_at(const cellar_cube *cube, size_t table,
                                   cellar_cube_table_info *out, cellar_error *err)
{
    cellar_text name = {0};
    double variance;
    cellar_status status = CELLAR_OK;
    *out = (cellar_cube_table_info){.n_variables = cube->lattice.spaces[table].order,
                                    .n_cells = (uint64_t) cube->lattice.n_cells[table],
                                    .mechanism =
                                        cube->w[table] > 0 ? cube->tables[table].mechanism : NULL,
                                    .is_exact = cube_is_exact(&cube->lattice, table)};
    cellar_cube_table_name(cube, (uint32_t) table, &name);
    if (name.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a table"));
    snprintf(out->name, sizeof out->name, "%s", name.bytes);
    CELLAR_TRY(cellar_cube_largest_variance(cube, (uint32_t) table, &variance, err));
    out->sd = sqrt(variance);
out:
    cellar_text_clear(&name);
    return status;
}
