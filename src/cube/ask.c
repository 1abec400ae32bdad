/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a question to an estimate: which table of the lattice, which of its nodes (ask_picks.c), and
 * the schema that the answer has. */
#include <math.h>
#include <string.h>

#include <cellar/adjustment.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"
#include "data/codelist.h"
#include "release/estimate/estimate.h"
#include "table/build.h"
#include "table/schema/schema.h"

/* ---- which table ------------------------------------------------------------------------ */

static cellar_status find_variable(const cellar_cube *cube, const char *name, size_t *out,
                                   cellar_error *err)
{
    cellar_text known = {0};
    cellar_status status;
    for (size_t v = 0; v < cube->n_variables; v++)
        if (strcmp(cube->variables[v].name, name) == 0) {
            *out = v;
            return CELLAR_OK;
        }
    for (size_t v = 0; v < cube->n_variables; v++)
        cellar_text_printf(&known, "%s%s", v > 0 ? ", " : "", cube->variables[v].name);
    status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "the cube has no variable '%.200s'; it has %s",
                         name, known.failed ? "others" : known.bytes);
    cellar_text_clear(&known);
    return status;
}

static cellar_status find_sides(cube_asking *a, cellar_error *err)
{
    if (a->question->n_sides > CUBE_ORDER_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE, "a table crosses at most %d variables",
                           CUBE_ORDER_MAX);
    for (size_t i = 0; i < a->question->n_sides; i++) {
        const cellar_cube_side *side = &a->question->sides[i];
        cellar_status status = find_variable(a->cube, side->variable, &a->variable[i], err);
        const size_t n_levels =
            status == CELLAR_OK ? a->cube->variables[a->variable[i]].axis.n_levels : 0;
        if (status != CELLAR_OK)
            return status;
        if (side->level > n_levels)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "variable '%.200s' has %zu level%s, and no level %zu",
                               side->variable, n_levels, n_levels == 1 ? "" : "s", side->level);
        a->level[i] = side->level > 0 ? side->level : n_levels;
        for (size_t j = 0; j < i; j++)
            if (a->variable[j] == a->variable[i])
                return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' is named twice",
                                   side->variable);
    }
    return CELLAR_OK;
}

/* How many variables of the question a table has; 0 when it has another one, or a finer level. */
static size_t n_shared(const cube_asking *a, const cube_space *space)
{
    for (size_t k = 0; k < space->order; k++) {
        size_t i = 0;
        while (i < a->question->n_sides && a->variable[i] != space->variable[k])
            i++;
        if (i == a->question->n_sides || space->level[k] > a->level[i])
            return 0;
    }
    return space->order;
}

/* Up to three tables inside the universe that have as many variables of the question as can be. */
static cellar_status fail_outside(const cube_asking *a, cellar_error *err)
{
    const cube_lattice *l = &a->cube->lattice;
    cellar_text words = {0};
    size_t most = 0, n_named = 0;
    cellar_status status;
    for (size_t t = 0; t < l->n; t++)
        most = n_shared(a, &l->spaces[t]) > most ? n_shared(a, &l->spaces[t]) : most;
    for (size_t t = l->n; t-- > 0 && n_named < 3;)
        if (n_shared(a, &l->spaces[t]) == most) {
            cellar_text_add_string(&words, n_named++ > 0 ? "; " : "");
            cellar_cube_table_name(a->cube, (uint32_t) t, &words);
        }
    status = cellar_fail(err, CELLAR_ERR_RULE,
                         "the cube does not have this table; the nearest it has: %s",
                         words.failed ? "others" : words.bytes);
    cellar_text_clear(&words);
    return status;
}

/* The table of the lattice, whose variables ascend. */
static cellar_status find_table(cube_asking *a, cellar_error *err)
{
    cube_space space = {0};
    for (size_t v = 0; v < a->cube->n_variables; v++)
        for (size_t i = 0; i < a->question->n_sides; i++)
            if (a->variable[i] == v) {
                a->side_of[space.order] = i;
                space.variable[space.order] = (uint8_t) v;
                space.level[space.order++] = (uint8_t) a->level[i];
            }
    a->table = cellar_cube_lattice_find(&a->cube->lattice, &space);
    return a->table != CUBE_NO_SPACE ? CELLAR_OK : fail_outside(a, err);
}

/* ---- the schema of the answer ------------------------------------------------------------- */

/* A name that a category or the totals have already would be read as that. One category may be a
 * group of its own name. */
static cellar_status check_name(const cube_asking *a, size_t i, size_t g, cellar_error *err)
{
    const cellar_cube_side *side = &a->question->sides[i];
    const cellar_cube_group *group = &side->groups[g];
    const cube_variable *v = &a->cube->variables[a->variable[i]];
    if (strcmp(group->code, SCHEMA_TOTAL_CODE) == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a group of variable '%.200s' is named '%s', as totals are: choose "
                           "another name",
                           v->name, SCHEMA_TOTAL_CODE);
    if (cellar_cube_variable_find(v, a->level[i], group->code) != CUBE_NO_SPACE &&
        !(group->n_codes == 1 && strcmp(group->codes[0], group->code) == 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a group of variable '%.200s' is named '%.200s', as one of its "
                           "categories is: choose another name",
                           v->name, group->code);
    for (size_t k = 0; k < g; k++)
        if (strcmp(side->groups[k].code, group->code) == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "two groups of variable '%.200s' are named '%.200s': name all "
                               "categories of a group at once",
                               v->name, group->code);
    return CELLAR_OK;
}

/* A code list of the groups, or of the picked nodes with their labels. */
static cellar_status list_of(const cube_asking *a, size_t k, cellar_codelist **out,
                             cellar_error *err)
{
    const size_t i = a->side_of[k];
    const cellar_cube_side *side = &a->question->sides[i];
    const cube_variable *v = &a->cube->variables[a->variable[i]];
    const cube_picks *picks = &a->picks[k];
    const size_t n = picks->n - (a->question->margins ? 1 : 0);
    cellar_codelist *list = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (side->n_groups == 0 && side->n_codes == 0)
        return cellar_cube_variable_list(v, a->level[i], out, err);
    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (size_t p = 0; p < n; p++) {
        const size_t code = v->code[a->level[i]][picks->nodes[picks->start[p]]];
        const cellar_cube_group *group = side->n_groups > 0 ? &side->groups[p] : NULL;
        const char *name = group != NULL ? group->code : cellar_codelist_code(v->codelist, code);
        const char *label = group == NULL          ? cellar_codelist_label(v->codelist, code, 0)
                            : group->label != NULL ? group->label
                                                   : group->code;
        if (group != NULL)
            CELLAR_TRY(check_name(a, i, p, err));
        CELLAR_TRY(cellar_codelist_add(list, name, label, NULL, CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}

static cellar_status make_schema(cube_asking *a, cellar_error *err)
{
    cellar_schema_variable_def defs[CUBE_ORDER_MAX] = {{0}};
    cellar_codelist *lists[CUBE_ORDER_MAX] = {NULL};
    const cellar_margins all = {.all = 1};
    const size_t n = a->question->n_sides;
    cellar_schema *inner = NULL;
    cellar_status status = CELLAR_OK;

    if (n == 0)
        return cellar_cube_table_schema(a->cube, a->table, &a->schema, err);
    for (size_t k = 0; k < n; k++) {
        const size_t i = a->side_of[k];
        const cube_variable *v = &a->cube->variables[a->variable[i]];
        CELLAR_TRY(list_of(a, k, &lists[i], err));
        defs[i] = (cellar_schema_variable_def){v->name, v->domain, lists[i]};
    }
    CELLAR_TRY(cellar_schema_create(defs, n, NULL, &inner, err));
    if (a->question->margins)
        CELLAR_TRY(cellar_schema_expand(inner, &all, &a->schema, err));
    else
        a->schema = cellar_schema_retain(inner);
out:
    for (size_t i = 0; i < CUBE_ORDER_MAX; i++)
        cellar_codelist_free(lists[i]);
    cellar_schema_free(inner);
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static cellar_status fail_large(cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "the cube: values or noise are too large to be counts");
}

static cellar_status compute(cube_asking *a, cellar_error *err)
{
    const size_t n = (size_t) cellar_schema_n_indices(a->schema), n_sides = a->question->n_sides;
    int64_t *values = cellar_alloc(n, sizeof *values);
    double *variances = cellar_alloc(n, sizeof *variances);
    cellar_status status = CELLAR_OK;
    a->value = cellar_alloc(n, sizeof *a->value);
    a->se = cellar_alloc(n, sizeof *a->se);
    if (values == NULL || variances == NULL || a->value == NULL || a->se == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a table of a cube"));
    if (!cellar_cube_picks_values(a->cube, a->table, a->picks, values))
        CELLAR_TRY(fail_large(err));
    CELLAR_TRY(cellar_cube_picks_variances(a->cube, a->table, a->picks, variances, err));
    for (size_t cell = 0; cell < n; cell++) { /* in the order of the table */
        uint32_t categories[CELLAR_MAX_VARIABLES] = {0};
        size_t rest = cell, index;
        double se;
        for (size_t k = n_sides; k-- > 0;) {
            categories[a->side_of[k]] = (uint32_t) (rest % a->picks[k].n);
            rest /= a->picks[k].n;
        }
        index = (size_t) cellar_schema_index(a->schema, categories);
        se = cellar_estimate_units(sqrt(variances[cell]), a->cube->decimals);
        if (!(se < (double) INT64_MAX))
            CELLAR_TRY(fail_large(err));
        a->value[index] = values[cell];
        a->se[index] = (int64_t) se;
    }
out:
    cellar_free(values);
    cellar_free(variances);
    return status;
}

static cellar_status make_estimate(const cube_asking *a, cellar_estimate **out, cellar_error *err)
{
    cellar_text table = {0};
    cellar_estimate_parts parts = {
        .schema = a->schema, .value = a->value, .se = a->se, .decimals = a->cube->decimals};
    cellar_status status;
    cellar_cube_table_name(a->cube, a->table, &table);
    parts.computed =
        table.failed ? NULL
                     : json_pack("{s:s, s:s, s:s}", "method",
                                 "a table of a cube: weighted least squares from all measured "
                                 "tables; values add exactly between tables of the cube",
                                 "table", table.bytes, "digest", a->cube->tables[a->table].digest);
    parts.sources = json_pack("[O]", a->cube->description);
    status = parts.computed != NULL && parts.sources != NULL
                 ? cellar_estimate_create(&parts, out, err)
                 : cellar_fail_memory(err, "a table of a cube");
    json_decref(parts.computed);
    json_decref(parts.sources);
    cellar_text_clear(&table);
    return status;
}

cellar_status cellar_cube_asking_open(cube_asking *a, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(find_sides(a, err));
    CELLAR_TRY(find_table(a, err));
    CELLAR_TRY(cellar_cube_check_table(a->cube, a->table, cube_name(a->cube), err));
    for (size_t k = 0; k < a->question->n_sides; k++)
        CELLAR_TRY(cellar_cube_pick_side(a, k, err));
out:
    return status;
}

void cellar_cube_asking_close(cube_asking *a)
{
    for (size_t k = 0; k < CUBE_ORDER_MAX; k++)
        cellar_cube_picks_clear(&a->picks[k]);
    cellar_schema_free(a->schema);
    cellar_free(a->value);
    cellar_free(a->se);
}

static cellar_status answer(cube_asking *a, cellar_estimate **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(cellar_cube_asking_open(a, err));
    CELLAR_TRY(make_schema(a, err));
    CELLAR_TRY(compute(a, err));
    CELLAR_TRY(make_estimate(a, out, err));
out:
    cellar_cube_asking_close(a);
    return status;
}

cellar_status cellar_cube_ask(const cellar_cube *cube, const cellar_cube_question *question,
                              cellar_estimate **out, cellar_error *err)
{
    cube_asking a = {.cube = cube, .question = question};
    return answer(&a, out, err);
}

cellar_status cellar_cube_ask_whole(const cellar_cube *cube, const cellar_cube_question *question,
                                    cellar_estimate **out, cellar_error *err)
{
    const cellar_rounding_options options = cellar_rounding_options_default();
    cube_asking a = {.cube = cube, .question = question, .is_whole = 1};
    cellar_estimate *estimate = NULL;
    cellar_status status = answer(&a, &estimate, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_estimate_round(estimate, &options, out, err);
    cellar_estimate_free(estimate);
    return status;
}
