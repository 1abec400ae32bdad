/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan says about its universe: which tables there are, and how much each is worth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/cube_design.h"
#include "table/build.h"

/* ---- variables ---------------------------------------------------------------------------- */

cellar_status cellar_plan_open_variable(const cellar_plan *plan, size_t v, cellar_schema **domain,
                                        cube_variable *out, cellar_error *err)
{
    const plan_variable *variable = plan_variable_at(plan, v);
    cellar_variable_spec spec;
    const cellar_tabulate_spec question = cellar_plan_tabulate_spec(plan, &v, 1, NULL, &spec);
    cellar_table *empty = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_tabulate_declared(&question, &empty, err));
    if (empty == NULL)
        return cellar_plan_fail(plan->name, &variable->place, NULL, err,
                                "categories are fixed before the data are read: '%.60s' needs a "
                                "codelist, or a band with top and bottom",
                                variable->name);
    *domain = cellar_schema_retain(cellar_table_schema(empty));
    CELLAR_TRY(cellar_cube_variable_init(out, variable->name, cellar_schema_domain(*domain, 0),
                                         cellar_schema_codelist(*domain, 0),
                                         variable->hierarchy == PLAN_YES, err));
out:
    cellar_table_free(empty);
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* "region", or "region^1": a variable and a level of it. */
static cellar_status read_side(const cellar_plan *plan, const cube_variable *variables,
                               const plan_place *place, const char *key, const char *text,
                               size_t length, uint8_t level[CELLAR_MAX_VARIABLES],
                               cellar_error *err)
{
    size_t at = length, number, v = 0;
    for (size_t i = length; i-- > 0 && text[i] >= '0' && text[i] <= '9';)
        at = i;
    at = at > 0 && at < length && text[at - 1] == '^' ? at - 1 : length;
    while (v < plan->variables.n &&
           (strlen(variables[v].name) != at || strncmp(variables[v].name, text, at) != 0))
        v++;
    if (v == plan->variables.n)
        return cellar_plan_fail(plan->name, place, key, err, "the plan has no variable '%.*s'",
                                (int) (at < 60 ? at : 60), text);
    number = at < length ? strtoul(text + at + 1, NULL, 10) : variables[v].axis.n_levels;
    if (number == 0 || number > variables[v].axis.n_levels)
        return cellar_plan_fail(plan->name, place, key, err, "'%.60s' has levels 1 to %zu",
                                variables[v].name, variables[v].axis.n_levels);
    if (level[v] != 0)
        return cellar_plan_fail(plan->name, place, key, err, "'%.60s' is named twice",
                                variables[v].name);
    level[v] = (uint8_t) number;
    return CELLAR_OK;
}

static cellar_status space_of(const cellar_plan *plan, const plan_place *place, const char *key,
                              const uint8_t level[CELLAR_MAX_VARIABLES], cube_space *out,
                              cellar_error *err)
{
    *out = (cube_space){0};
    for (size_t v = 0; v < plan->variables.n; v++) {
        if (level[v] == 0)
            continue;
        if (out->order == CUBE_ORDER_MAX)
            return cellar_plan_fail(plan->name, place, key, err,
                                    "a table of a universe crosses at most %d variables",
                                    CUBE_ORDER_MAX);
        out->variable[out->order] = (uint8_t) v;
        out->level[out->order++] = level[v];
    }
    return CELLAR_OK;
}

/* A table that the plan names. */
static cellar_status named_table(const cellar_plan *plan, const cube_variable *variables, size_t t,
                                 cube_space *out, cellar_error *err)
{
    const plan_universe_table *table = plan_universe_table_at(plan, t);
    uint8_t level[CELLAR_MAX_VARIABLES] = {0};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < table->by.n; i++) {
        const char *text = plan_text_at(&table->by, i);
        CELLAR_TRY(read_side(plan, variables, &table->place, "by", text, strlen(text), level, err));
    }
    CELLAR_TRY(space_of(plan, &table->place, "by", level, out, err));
out:
    return status;
}

/* "region*occupation": several variables, each with a level. */
static cellar_status read_sides(const cellar_plan *plan, const cube_variable *variables,
                                const char *key, const char *text,
                                uint8_t level[CELLAR_MAX_VARIABLES], cellar_error *err)
{
    const plan_place place = {cellar_plan_line(plan, key), NULL};
    memset(level, 0, CELLAR_MAX_VARIABLES);
    for (;;) {
        const size_t length = strcspn(text, "*");
        cellar_status status = read_side(plan, variables, &place, key, text, length, level, err);
        if (status != CELLAR_OK || text[length] == '\0')
            return status;
        text += length + 1;
    }
}

/* 1 when a table crosses all the variables of a combination that is left out. */
static int crosses(const cube_space *space, const uint8_t level[CELLAR_MAX_VARIABLES],
                   size_t n_variables)
{
    size_t n_wanted = 0, n_found = 0;
    for (size_t v = 0; v < n_variables; v++)
        n_wanted += level[v] > 0;
    for (size_t k = 0; k < space->order; k++)
        n_found += level[space->variable[k]] > 0;
    return n_found == n_wanted;
}

static cellar_status leave_out(const cellar_plan *plan, const cube_variable *variables,
                               cube_space *tables, size_t *n, cellar_error *err)
{
    for (size_t i = 0; i < plan->universe.without.n; i++) {
        uint8_t level[CELLAR_MAX_VARIABLES];
        size_t kept = 0;
        cellar_status status = read_sides(plan, variables, "universe.without",
                                          plan_text_at(&plan->universe.without, i), level, err);
        if (status != CELLAR_OK)
            return status;
        for (size_t t = 0; t < *n; t++)
            if (!crosses(&tables[t], level, plan->variables.n))
                tables[kept++] = tables[t];
        *n = kept;
    }
    return CELLAR_OK;
}

/* ---- what is published exactly ---------------------------------------------------------- */

/* Where a unit is one record without a weight that takes other values, the number of records is the
 * same in both data sets. */
static int has_exact_total(const cellar_cube_design *d)
{
    return d->work.n_sides == 2 && d->work.per_unit == 1 && d->plan->data.weight == NULL;
}

static cellar_status check_invariants(const cellar_cube_design *d, cellar_error *err)
{
    if (d->plan->universe.invariants.n > 0 && d->work.n_sides != 2)
        return cellar_plan_fail_at(d->plan, "universe.invariants", err,
                                   "an exact table shows whether a unit is in the data: "
                                   "invariants need neighbours: substitute");
    if (d->plan->universe.invariants.n > 0 && d->plan->data.weight != NULL)
        return cellar_plan_fail_at(d->plan, "universe.invariants", err,
                                   "invariants are counts of records, and the data are weighted");
    return CELLAR_OK;
}

static cellar_status read_invariant(const cellar_plan *plan, const cube_variable *variables,
                                    const char *text, cube_space *out, cellar_error *err)
{
    static const char key[] = "universe.invariants";
    const plan_place place = {cellar_plan_line(plan, key), NULL};
    uint8_t level[CELLAR_MAX_VARIABLES];
    cellar_status status = CELLAR_OK;
    *out = (cube_space){0};
    if (strcmp(text, "total") == 0)
        return CELLAR_OK;
    CELLAR_TRY(read_sides(plan, variables, key, text, level, err));
    CELLAR_TRY(space_of(plan, &place, key, level, out, err));
out:
    return status;
}

/* The exact tables: the total where it is, then those that the plan names; or those of the cube
 * that is extended. */
static cellar_status read_invariants(cellar_cube_design *d, const cube_variable *variables,
                                     cellar_error *err)
{
    const plan_list *list = &d->plan->universe.invariants;
    const cellar_cube *published = d->published;
    const size_t n_before = published != NULL ? published->lattice.n : 0;
    cellar_status status = CELLAR_OK;
    d->exact = cellar_alloc(list->n + 1 + n_before, sizeof *d->exact);
    if (d->exact == NULL)
        return cellar_fail_memory(err, "a universe");
    CELLAR_TRY(check_invariants(d, err));
    if (d->published == NULL && has_exact_total(d))
        d->exact[d->n_exact++] = (cube_space){0};
    for (size_t i = 0; i < list->n; i++)
        CELLAR_TRY(read_invariant(d->plan, variables, plan_text_at(list, i),
                                  &d->exact[d->n_exact++], err));
    for (size_t t = 0; t < n_before; t++)
        if (published->tables[t].mechanism != NULL && !(published->w[t] > 0))
            d->exact[d->n_exact++] = published->lattice.spaces[t];
out:
    return status;
}

/* Marks them in the cube, and collects the names that the certificate has. */
static cellar_status fix_tables(cellar_cube_design *d, cellar_error *err)
{
    size_t n_named = 0;
    d->invariants = cellar_alloc(d->n_exact + 1, sizeof *d->invariants);
    if (d->invariants == NULL)
        return cellar_fail_memory(err, "a universe");
    for (size_t i = 0; i < d->n_exact; i++) {
        const uint32_t t = cellar_cube_lattice_find(&d->cube->lattice, &d->exact[i]);
        cellar_status status = CELLAR_OK;
        if (d->mechanism_of[t] == CUBE_PUBLISHED)
            continue; /* named twice */
        status = cellar_cube_plan_measure(d->cube, t, CUBE_EXACT, 0, err);
        if (status != CELLAR_OK)
            return status;
        d->mechanism_of[t] = CUBE_PUBLISHED;
        d->invariants[n_named++] = d->names[t];
    }
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        if (!cube_is_exact(&d->cube->lattice, t))
            return CELLAR_OK;
    return cellar_plan_fail_at(d->plan, "universe.invariants", err,
                               "every table of the universe would be exact: nothing is left to "
                               "protect");
}

/* All tables: those of at most so many variables but for what is left out, the named ones, and
 * what is exact. */
static cellar_status list_tables(const cellar_cube_design *d, const cube_variable *variables,
                                 cube_space **out, size_t *n, cellar_error *err)
{
    const cellar_plan *plan = d->plan;
    const size_t n_before = d->published != NULL ? d->published->lattice.n : 0;
    cube_axis axes[CELLAR_MAX_VARIABLES];
    cube_space *more;
    cellar_status status = CELLAR_OK;
    for (size_t v = 0; v < plan->variables.n; v++)
        axes[v] = variables[v].axis;
    if (plan->universe.up_to > CUBE_ORDER_MAX)
        return cellar_plan_fail_at(plan, "universe.up_to", err, "at most %d variables",
                                   CUBE_ORDER_MAX);
    CELLAR_TRY(
        cellar_cube_tables_up_to(axes, plan->variables.n, plan->universe.up_to, out, n, err));
    CELLAR_TRY(leave_out(plan, variables, *out, n, err));
    more = cellar_realloc(*out, *n + plan->universe.tables.n + d->n_exact + n_before, sizeof **out);
    if (more == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a universe"));
    *out = more;
    for (size_t t = 0; t < plan->universe.tables.n; t++)
        CELLAR_TRY(named_table(plan, variables, t, &(*out)[(*n)++], err));
    for (size_t i = 0; i < d->n_exact; i++)
        (*out)[(*n)++] = d->exact[i];
    for (size_t i = 0; i < n_before; i++)
        (*out)[(*n)++] = d->published->lattice.spaces[i];
out:
    return status;
}

/* ---- what they are worth -------------------------------------------------------------------- */

/* The total and the tables of one variable may not have more variance than if a quarter of the
 * budget were spent on them alone, in equal parts: the loss alone would starve them. */
static double default_cap(const cube_lattice *l)
{
    size_t n = 0;
    for (size_t t = 0; t < l->n; t++)
        n += l->spaces[t].order <= 1;
    return 4 * (double) n;
}

static cellar_status weigh_tables(cellar_cube_design *d, cellar_error *err)
{
    const cube_lattice *l = &d->cube->lattice;
    const plan_universe *universe = &d->plan->universe;
    for (size_t t = 0; t < l->n; t++) {
        d->weight[t] = universe->objective == PLAN_OBJECTIVE_CELLS ? 1 : 1 / l->n_cells[t];
        d->cap[t] = universe->objective <= PLAN_OBJECTIVE_TABLES && l->spaces[t].order <= 1 &&
                            d->published == NULL
                        ? default_cap(l)
                        : INFINITY;
        d->wish[t] = INFINITY;
    }
    for (size_t i = 0; i < universe->tables.n; i++) {
        const plan_universe_table *table = plan_universe_table_at(d->plan, i);
        cube_space space;
        uint32_t t;
        cellar_status status = named_table(d->plan, d->cube->variables, i, &space, err);
        if (status != CELLAR_OK)
            return status;
        t = cellar_cube_lattice_find(l, &space);
        for (size_t k = 0; k < i; k++)
            if (d->named[k] == t)
                return cellar_plan_fail(d->plan->name, &table->place, "by", err,
                                        "the table is named twice: say all about it in one place");
        d->named[i] = t;
        if (table->weight != NULL)
            d->weight[t] *= strtod(table->weight, NULL);
    }
    return CELLAR_OK;
}

static cellar_status name_tables(cellar_cube_design *d, cellar_error *err)
{
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        cellar_text name = {0};
        cellar_cube_table_name(d->cube, (uint32_t) t, &name);
        if (name.failed) {
            cellar_text_clear(&name);
            return cellar_fail_memory(err, "a universe");
        }
        d->names[t] = name.bytes;
    }
    return CELLAR_OK;
}

cellar_status cellar_cube_design_universe(cellar_cube_design *d, cellar_error *err)
{
    cube_variable variables[CELLAR_MAX_VARIABLES] = {{0}};
    cube_space *tables = NULL;
    size_t n_tables = 0, n;
    cellar_status status = CELLAR_OK;

    if (d->plan->variables.n > CELLAR_MAX_VARIABLES)
        CELLAR_TRY(cellar_plan_fail_at(d->plan, "variables", err, "at most %d variables",
                                       CELLAR_MAX_VARIABLES));
    for (size_t v = 0; v < d->plan->variables.n; v++)
        CELLAR_TRY(cellar_plan_open_variable(d->plan, v, &d->domains[v], &variables[v], err));
    if (d->plan->universe.extends != NULL)
        CELLAR_TRY(cellar_cube_extend_open(d, variables, err));
    CELLAR_TRY(read_invariants(d, variables, err));
    CELLAR_TRY(list_tables(d, variables, &tables, &n_tables, err));
    CELLAR_TRY(
        cellar_cube_create(variables, d->plan->variables.n, tables, n_tables, &d->cube, err));
    n = d->cube->lattice.n;
    d->weight = cellar_alloc(n, sizeof *d->weight);
    d->cap = cellar_alloc(n, sizeof *d->cap);
    d->wish = cellar_alloc(n, sizeof *d->wish);
    d->aim = cellar_alloc(n, sizeof *d->aim);
    d->named = cellar_alloc(d->plan->universe.tables.n, sizeof *d->named);
    d->sd = cellar_alloc(n, sizeof *d->sd);
    d->independent_sd = cellar_alloc(n, sizeof *d->independent_sd);
    d->inner_sd = cellar_alloc(n, sizeof *d->inner_sd);
    d->names = cellar_alloc(n, sizeof *d->names);
    d->mechanism_of = cellar_alloc(n, sizeof *d->mechanism_of);
    if (d->weight == NULL || d->cap == NULL || d->wish == NULL || d->aim == NULL ||
        d->named == NULL || d->sd == NULL || d->independent_sd == NULL || d->inner_sd == NULL ||
        d->names == NULL || d->mechanism_of == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a universe"));
    CELLAR_TRY(weigh_tables(d, err));
    CELLAR_TRY(name_tables(d, err));
    memset(d->mechanism_of, CUBE_NOT_MEASURED, n);
    CELLAR_TRY(fix_tables(d, err));
    if (d->published != NULL)
        CELLAR_TRY(cellar_cube_extend_take(d, err));
out:
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_cube_variable_clear(&variables[v]);
    cellar_free(tables);
    return status;
}
