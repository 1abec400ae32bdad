/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a plan says to what it means: names become variables, margins become masks, code lists
 * are read, all before any data are touched. */
#include "plan/contradictions.h"

#include <string.h>

#include "base/error.h"

enum { TABLES_MAX = 200 };

int cellar_plan_has_text(const plan_list *list, const char *word)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(plan_text_at(list, i), word) == 0)
            return 1;
    return 0;
}

unsigned cellar_plan_accepts(const cellar_plan *plan)
{
    unsigned accepted = 0;
    for (size_t i = 0; i < plan->accept.n; i++)
        accepted |= cellar_acceptance_find(plan_text_at(&plan->accept, i));
    return accepted;
}

void cellar_plan_add_margin(cellar_text *text, const cellar_plan *plan, const plan_table *table,
                            uint64_t mask)
{
    const char *separator = "";
    if (mask == 0)
        cellar_text_add_string(text, "total");
    for (size_t k = 0; k < table->n_variables; k++)
        if (mask >> k & 1) {
            cellar_text_printf(text, "%s%s", separator,
                               plan_variable_at(plan, table->variables[k])->name);
            separator = "*";
        }
}

/* ---- names ------------------------------------------------------------------------------ */

/* Fails with the nearest of the plan's variables (or of a table's, when `table` is given). */
static cellar_status fail_variable(const cellar_plan *plan, const plan_table *table,
                                   const plan_place *place, const char *key, const char *word,
                                   cellar_error *err)
{
    size_t n = table != NULL ? table->n_variables : plan->variables.n;
    const char **names = cellar_arena_alloc(plan->arena, n + 1, sizeof *names), *nearest;
    if (names == NULL)
        return cellar_fail_memory(err, "a plan");
    for (size_t i = 0; i < n; i++)
        names[i] = plan_variable_at(plan, table != NULL ? table->variables[i] : i)->name;
    nearest = cellar_nearest_word(word, names);
    return cellar_plan_fail(plan->name, place, key, err, "%s has no variable '%.60s'%s%s%s",
                            table != NULL ? "the table" : "the plan", word,
                            nearest != NULL ? "; did you mean '" : "",
                            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static size_t find_variable(const cellar_plan *plan, const char *name, size_t length)
{
    for (size_t v = 0; v < plan->variables.n; v++) {
        const char *known = plan_variable_at(plan, v)->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return v;
    }
    return SIZE_MAX;
}

/* Which of the table's variables the name is. */
static size_t find_of_table(const cellar_plan *plan, const plan_table *table, const char *name,
                            size_t length)
{
    size_t v = find_variable(plan, name, length);
    for (size_t k = 0; k < table->n_variables; k++)
        if (table->variables[k] == v)
            return k;
    return SIZE_MAX;
}

/* ---- variables -------------------------------------------------------------------------- */

static cellar_status resolve_variable(cellar_plan *plan, size_t v, cellar_error *err)
{
    plan_variable *variable = plan_variable_at(plan, v);
    if (find_variable(plan, variable->name, strlen(variable->name)) != v)
        return cellar_plan_fail(plan->name, &variable->place, "name", err,
                                "there is a variable '%.60s' already", variable->name);
    if (strchr(variable->name, '*') != NULL)
        return cellar_plan_fail(plan->name, &variable->place, "name", err,
                                "a '*' separates variables in margins");
    if (variable->column == NULL)
        variable->column = variable->name;
    if (variable->hierarchy == PLAN_YES && variable->codelist_file == NULL)
        return cellar_plan_fail(plan->name, &variable->place, "hierarchy", err,
                                "a hierarchy needs a codelist with parents");
    return CELLAR_OK;
}

/* ---- tables ----------------------------------------------------------------------------- */

static cellar_status resolve_by(cellar_plan *plan, plan_table *table, cellar_error *err)
{
    if (table->by.n == 0 || table->by.n > CELLAR_MAX_VARIABLES)
        return cellar_plan_fail(plan->name, &table->place, "by", err, "expected 1 to %d variables",
                                (int) CELLAR_MAX_VARIABLES);
    for (size_t i = 0; i < table->by.n; i++) {
        const char *name = plan_text_at(&table->by, i);
        size_t v = find_variable(plan, name, strlen(name));
        if (v == SIZE_MAX)
            return fail_variable(plan, NULL, &table->place, "by", name, err);
        if (find_of_table(plan, table, name, strlen(name)) != SIZE_MAX)
            return cellar_plan_fail(plan->name, &table->place, "by", err, "'%.60s' is named twice",
                                    name);
        table->variables[table->n_variables++] = v;
    }
    return CELLAR_OK;
}

static cellar_status resolve_margin(cellar_plan *plan, plan_table *table, const char *text,
                                    uint64_t *mask, cellar_error *err)
{
    *mask = 0;
    if (strcmp(text, "total") == 0 && find_of_table(plan, table, text, 5) == SIZE_MAX)
        return CELLAR_OK;
    for (const char *name = text;; name++) {
        size_t length = strcspn(name, "*"), k = find_of_table(plan, table, name, length);
        if (k == SIZE_MAX) {
            const char *word = cellar_arena_copy(plan->arena, name, length);
            return word != NULL ? fail_variable(plan, table, &table->place, "margins", word, err)
                                : cellar_fail_memory(err, "a plan");
        }
        *mask |= UINT64_C(1) << k;
        name += length;
        if (*name == '\0')
            return CELLAR_OK;
    }
}

static cellar_status resolve_margins(cellar_plan *plan, plan_table *table, cellar_error *err)
{
    uint64_t *masks;
    if (table->margins.n == 0 ||
        (table->margins.n == 1 && strcmp(plan_text_at(&table->margins, 0), "none") == 0))
        return CELLAR_OK;
    if (table->margins.n == 1 && strcmp(plan_text_at(&table->margins, 0), "all") == 0) {
        table->wanted.all = 1;
        return CELLAR_OK;
    }
    masks = cellar_arena_alloc(plan->arena, table->margins.n, sizeof *masks);
    if (masks == NULL)
        return cellar_fail_memory(err, "a plan");
    for (size_t i = 0; i < table->margins.n; i++) {
        cellar_status status =
            resolve_margin(plan, table, plan_text_at(&table->margins, i), &masks[i], err);
        if (status != CELLAR_OK)
            return status;
    }
    table->wanted.masks = masks;
    table->wanted.n_masks = table->margins.n;
    return CELLAR_OK;
}

/* The levels above the leaves: of the variables named, else of all that have a hierarchy. */
static cellar_status resolve_hierarchies(cellar_plan *plan, plan_table *table, cellar_error *err)
{
    int none = table->hierarchy.n == 1 && strcmp(plan_text_at(&table->hierarchy, 0), "none") == 0;
    if (none)
        return CELLAR_OK;
    for (size_t k = 0; k < table->n_variables && table->hierarchy.n == 0; k++)
        if (plan_variable_at(plan, table->variables[k])->hierarchy == PLAN_YES)
            table->wanted.hierarchies |= UINT64_C(1) << k;
    for (size_t i = 0; i < table->hierarchy.n; i++) {
        const char *name = plan_text_at(&table->hierarchy, i);
        size_t k = find_of_table(plan, table, name, strlen(name));
        const plan_variable *variable;
        if (k == SIZE_MAX)
            return fail_variable(plan, table, &table->place, "hierarchy", name, err);
        variable = plan_variable_at(plan, table->variables[k]);
        if (variable->codelist_file == NULL)
            return cellar_plan_fail(plan->name, &table->place, "hierarchy", err,
                                    "'%.60s' has no codelist with parents", name);
        table->wanted.hierarchies |= UINT64_C(1) << k;
    }
    return CELLAR_OK;
}

/* The name becomes a file's. */
static int is_file_name(const char *name)
{
    size_t length =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return name[length] == '\0' && length <= 60 && strcmp(name, "certificate") != 0 &&
           strcmp(name, "manifest") != 0 && strcmp(name, "index") != 0;
}

static cellar_status resolve_table(cellar_plan *plan, size_t t, cellar_error *err)
{
    plan_table *table = plan_table_at(plan, t);
    cellar_status status = CELLAR_OK;
    if (!is_file_name(table->name))
        return cellar_plan_fail(plan->name, &table->place, "name", err,
                                "it becomes the name of a file: at most 60 letters, digits, '-' "
                                "and '_', and not certificate, manifest or index");
    for (size_t u = 0; u < t; u++)
        if (strcmp(plan_table_at(plan, u)->name, table->name) == 0)
            return cellar_plan_fail(plan->name, &table->place, "name", err,
                                    "there is a table '%s' already", table->name);
    if (table->mechanism == NULL)
        table->mechanism = plan->mechanism;
    if (table->mechanism == NULL)
        return cellar_plan_fail(plan->name, &table->place, NULL, err,
                                "no mechanism: give the plan one, or each table");
    CELLAR_TRY(resolve_by(plan, table, err));
    CELLAR_TRY(resolve_margins(plan, table, err));
    CELLAR_TRY(resolve_hierarchies(plan, table, err));
out:
    return status;
}

/* ---- all ---------------------------------------------------------------------------------- */

cellar_status cellar_plan_resolve_records(cellar_plan *plan, cellar_error *err)
{
    for (size_t v = 0; v < plan->variables.n; v++) {
        cellar_status status = resolve_variable(plan, v, err);
        if (status != CELLAR_OK)
            return status;
    }
    return cellar_plan_check_data(plan, err);
}

cellar_status cellar_plan_resolve(cellar_plan *plan, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_plan_check_universe(plan, err));
    if (plan->tables.n > TABLES_MAX)
        return cellar_plan_fail_at(plan, "tables", err, "at most %d tables", (int) TABLES_MAX);
    CELLAR_TRY(cellar_plan_resolve_records(plan, err));
    for (size_t t = 0; t < plan->tables.n; t++)
        CELLAR_TRY(resolve_table(plan, t, err));
    for (size_t r = 0; r < plan->rules.n; r++)
        CELLAR_TRY(cellar_plan_check_rule(plan, plan_rule_at(plan, r), err));
    CELLAR_TRY(cellar_plan_check_budget(plan, err));
    CELLAR_TRY(cellar_plan_check_rest(plan, err));
out:
    return status;
}

/* ---- files ------------------------------------------------------------------------------ */

static cellar_status read_codelist(const char *path, cellar_codelist **out, cellar_error *err)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".hrc") == 0
               ? cellar_codelist_read_hrc(path, "@", out, err)
               : cellar_codelist_read(path, out, err);
}

static cellar_status load_variable(cellar_plan *plan, plan_variable *variable, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (variable->codelist_file != NULL)
        CELLAR_TRY(read_codelist(variable->codelist_file, &variable->codelist, err));
    if (variable->recode_file != NULL)
        CELLAR_TRY(cellar_recode_map_read(variable->recode_file, &variable->map, err));
    if (variable->hierarchy == PLAN_YES && cellar_codelist_n_hierarchies(variable->codelist) == 0)
        status = cellar_plan_fail(plan->name, &variable->place, "hierarchy", err,
                                  "the codelist has no parents");
out:
    return status;
}

cellar_status cellar_plan_load(cellar_plan *plan, cellar_error *err)
{
    for (size_t v = 0; v < plan->variables.n; v++) {
        cellar_status status = load_variable(plan, plan_variable_at(plan, v), err);
        if (status != CELLAR_OK)
            return status;
    }
    for (size_t t = 0; t < plan->tables.n; t++) {
        const plan_table *table = plan_table_at(plan, t);
        for (size_t k = 0; k < table->n_variables; k++) {
            const plan_variable *variable = plan_variable_at(plan, table->variables[k]);
            if ((table->wanted.hierarchies >> k & 1) != 0 &&
                cellar_codelist_n_hierarchies(variable->codelist) == 0)
                return cellar_plan_fail(plan->name, &table->place, "hierarchy", err,
                                        "the codelist of '%.60s' has no parents", variable->name);
        }
    }
    return CELLAR_OK;
}
