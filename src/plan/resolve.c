/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a plan says to what it means: names become variables, margins become masks, code lists
 * are read, and what contradicts itself is refused, all before any data are touched. */
#include "plan/plan.h"

#include <stdlib.h>
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

/* ---- who pays how much ------------------------------------------------------------------ */

static int names_parameter(const char *spec, const char *key)
{
    const char *at = strchr(spec, ':');
    size_t length = strlen(key);
    for (; at != NULL; at = strchr(at, ','))
        if (strncmp(++at, key, length) == 0 && at[length] == '=')
            return 1;
    return 0;
}

/* Noise without an epsilon of its own: its sigma is found for epsilon and delta. */
static cellar_status check_noise(const cellar_plan *plan, const plan_table *table,
                                 cellar_error *err)
{
    const plan_budget *budget = &plan->budget;
    const size_t length = strcspn(table->mechanism, ":");
    const int is_gaussian =
        (length == 8 && strncmp(table->mechanism, "gaussian", 8) == 0) ||
        (length == 17 && strncmp(table->mechanism, "discrete-gaussian", 17) == 0);
    if (budget->delta != NULL && !is_gaussian)
        return cellar_plan_fail(plan->name, &table->place, "mechanism", err,
                                "a budget of epsilon and delta finds the sigma of gaussian or "
                                "discrete-gaussian; for other noise leave the delta out");
    if (budget->epsilon != NULL && budget->delta == NULL && is_gaussian)
        return cellar_plan_fail(plan->name, &table->place, "mechanism", err,
                                "%.*s has no epsilon of its own that could be split: give the "
                                "budget a delta as well, which finds sigma, or a rho instead",
                                (int) length, table->mechanism);
    return CELLAR_OK;
}

static cellar_status check_budget(const cellar_plan *plan, cellar_error *err)
{
    const plan_budget *budget = &plan->budget;
    int has_budget = budget->epsilon != NULL || budget->rho != NULL;
    if (budget->epsilon != NULL && budget->rho != NULL)
        return cellar_plan_fail_at(plan, "budget", err, "an epsilon or a rho is split, not both");
    if (budget->delta != NULL && budget->epsilon == NULL)
        return cellar_plan_fail_at(plan, "budget.delta", err, "a delta goes with an epsilon");
    if (budget->delta != NULL && plan->ledger.delta != NULL &&
        strtod(budget->delta, NULL) != strtod(plan->ledger.delta, NULL))
        return cellar_plan_fail_at(plan, "ledger.delta", err,
                                   "the ledger is charged at the delta of the budget: leave one "
                                   "of them out");
    if (budget->split != 0 && !has_budget)
        return cellar_plan_fail_at(plan, "budget", err, "there is nothing to split");
    for (size_t t = 0; t < plan->tables.n; t++) {
        const plan_table *table = plan_table_at(plan, t);
        int own = names_parameter(table->mechanism, "epsilon") ||
                  names_parameter(table->mechanism, "sigma");
        if (has_budget && (table->epsilon != NULL || own))
            return cellar_plan_fail(plan->name, &table->place, NULL, err,
                                    "the plan has a budget to split: leave epsilon and sigma out "
                                    "of the table and its mechanism");
        if (table->epsilon != NULL && own)
            return cellar_plan_fail(plan->name, &table->place, "epsilon", err,
                                    "the mechanism has an epsilon already");
        const cellar_status status = check_noise(plan, table, err);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

static cellar_status check_data(const cellar_plan *plan, cellar_error *err)
{
    const char *delimiter = plan->data.delimiter;
    if ((plan->unit.column != NULL) != (plan->unit.max_records > 0))
        return cellar_plan_fail_at(plan, "unit", err, "column and max_records need each other");
    if ((plan->data.file != NULL) == (plan->data.table != NULL))
        return cellar_plan_fail_at(plan, "data", err,
                                   "expected either a file or a table of a database");
    if (plan->data.order_by.n > 0 && (plan->data.table == NULL || plan->unit.column == NULL))
        return cellar_plan_fail_at(plan, "data.order_by", err,
                                   "it orders the records of a unit in a table of a database");
    if (plan->data.file != NULL && strcmp(plan->data.file, "-") == 0)
        return cellar_plan_fail_at(
            plan, "data.file", err,
            "the data are read once for each table, and standard input can be "
            "read once");
    if (delimiter != NULL && strcmp(delimiter, "tab") != 0 &&
        (strlen(delimiter) != 1 || delimiter[0] == '"' || (unsigned char) delimiter[0] >= 0x80))
        return cellar_plan_fail_at(plan, "data.delimiter", err,
                                   "expected one character (not a quote) or tab");
    if (plan->data.max_weight > 0 && plan->data.weight == NULL)
        return cellar_plan_fail_at(plan, "data.max_weight", err, "there is no weight");
    if (plan->data.count != NULL && strcmp(plan->data.count, "none") != 0 &&
        plan->unit.column != NULL)
        return cellar_plan_fail_at(
            plan, "data.count", err,
            "a row that stands for several records is no record of one unit: "
            "bound the records of each unit before they are counted");
    return CELLAR_OK;
}

static cellar_status check_rest(const cellar_plan *plan, cellar_error *err)
{
    static const char *const formats[] = {"csv", "json", "px", "sdmx", "csvw", "ods", "xlsx", NULL};
    for (size_t i = 0; i < plan->accept.n; i++)
        if (strcmp(plan_text_at(&plan->accept, i), "bias") != 0 &&
            strcmp(plan_text_at(&plan->accept, i), "delta") != 0 &&
            cellar_acceptance_find(plan_text_at(&plan->accept, i)) == 0)
            return cellar_plan_fail_at(plan, "accept", err,
                                       "expected bias, delta, no-protection, large-epsilon or "
                                       "unaccounted");
    for (size_t i = 0; i < plan->outputs.formats.n; i++) {
        const char *word = plan_text_at(&plan->outputs.formats, i);
        size_t f = 0;
        while (formats[f] != NULL && strcmp(formats[f], word) != 0)
            f++;
        if (formats[f] == NULL)
            return cellar_plan_fail_at(
                plan, "outputs.formats", err,
                "expected csv, json, px, sdmx, csvw, ods or xlsx, not '%.20s'", word);
        for (size_t j = 0; j < i; j++)
            if (strcmp(plan_text_at(&plan->outputs.formats, j), word) == 0)
                return cellar_plan_fail_at(plan, "outputs.formats", err, "'%s' is named twice",
                                           word);
    }
    if (cellar_plan_has_text(&plan->outputs.formats, "csv") +
            cellar_plan_has_text(&plan->outputs.formats, "csvw") +
            cellar_plan_has_text(&plan->outputs.formats, "sdmx") >
        1)
        return cellar_plan_fail_at(plan, "outputs.formats", err,
                                   "csv, csvw and sdmx are all NAME.csv: choose one of them");
    if (plan->outputs.folder != NULL &&
        plan->outputs.folder[strlen(plan->outputs.folder) - 1] == '/')
        return cellar_plan_fail_at(plan, "outputs.folder", err, "leave out the last slash");
    if (plan->threshold > 0 && plan->negatives == CELLAR_NEGATIVES_KEEP)
        return cellar_plan_fail_at(
            plan, "threshold", err,
            "a threshold sets smaller values to zero, so negatives must be zero too");
    if (plan->below == 2 && plan->threshold == 0)
        return cellar_plan_fail_at(plan, "below", err,
                                   "values are suppressed below a threshold, and there is none");
    return CELLAR_OK;
}

/* A limit of 20 was meant as 20 %, and would let everything pass. */
static cellar_status check_share(const cellar_plan *plan, const plan_rule *rule, const char *key,
                                 const char *share, cellar_error *err)
{
    if (share == NULL || (strtod(share, NULL) >= 0 && strtod(share, NULL) <= 1))
        return CELLAR_OK;
    return cellar_plan_fail(plan->name, &rule->place, key, err, "expected a share from 0 to 1");
}

static cellar_status check_shares(const cellar_plan *plan, const plan_rule *rule, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_share(plan, rule, "max_empty_share", rule->max_empty_share, err));
    CELLAR_TRY(check_share(plan, rule, "max_small_share", rule->max_small_share, err));
    CELLAR_TRY(check_share(plan, rule, "max_risk", rule->max_risk, err));
    CELLAR_TRY(check_share(plan, rule, "max_exposure", rule->max_exposure, err));
    for (size_t i = 0; i < rule->qid.n; i++)
        if (cellar_plan_has_text(&rule->sensitive, plan_text_at(&rule->qid, i)))
            return cellar_plan_fail(plan->name, &rule->place, "qid", err,
                                    "'%.60s' is sensitive too", plan_text_at(&rule->qid, i));
out:
    return status;
}

static cellar_status check_rule(const cellar_plan *plan, plan_rule *rule, cellar_error *err)
{
    int n = (rule->max_empty_share != NULL) + (rule->max_small_share != NULL) +
            (rule->max_risk != NULL) + (rule->max_exposure != NULL) + (rule->min_population > 0) +
            (rule->max_cells > 0);
    size_t t = 0;
    if (n != 1)
        return cellar_plan_fail(plan->name, &rule->place, NULL, err,
                                "expected one limit: max_empty_share, max_small_share, "
                                "min_population, max_cells, max_risk or max_exposure");
    if ((rule->max_small_share != NULL || rule->max_exposure != NULL) != (rule->small > 0))
        return cellar_plan_fail(plan->name, &rule->place, NULL, err,
                                "small goes with max_small_share and max_exposure, and they with "
                                "it");
    if ((rule->max_risk != NULL) != (rule->sensitive.n > 0))
        return cellar_plan_fail(plan->name, &rule->place, NULL, err,
                                "max_risk and sensitive need each other");
    if (rule->evaluate == 2 && (rule->max_risk != NULL || rule->max_exposure != NULL))
        return cellar_plan_fail(plan->name, &rule->place, "evaluate", err,
                                "risk and exposure are computed from true counts");
    while (rule->table != NULL && t < plan->tables.n &&
           strcmp(plan_table_at(plan, t)->name, rule->table) != 0)
        t++;
    if (rule->table != NULL && t == plan->tables.n)
        return cellar_plan_fail(plan->name, &rule->place, "table", err,
                                "the plan has no table '%.60s'", rule->table);
    return check_shares(plan, rule, err);
}

/* A plan has tables, or a universe. */
static cellar_status check_universe(const cellar_plan *plan, cellar_error *err)
{
    const plan_universe *universe = &plan->universe;
    const int has_delta = plan->budget.delta != NULL;
    if (universe->file == NULL && plan->tables.n == 0)
        return cellar_plan_fail_at(plan, "tables", err,
                                   "missing: a plan has tables, or a universe (docs/cube.md)");
    if (universe->file == NULL)
        return CELLAR_OK;
    if (plan->tables.n > 0 || plan->rules.n > 0)
        return cellar_plan_fail_at(plan, "universe", err,
                                   "a universe has no tables and rules beside it");
    if (plan->outputs.folder != NULL || plan->display.rounding > 0)
        return cellar_plan_fail_at(plan, "universe", err,
                                   "a cube is one file, universe.file: leave outputs and display "
                                   "out");
    if (universe->up_to == 0 && universe->tables.n == 0)
        return cellar_plan_fail_at(plan, "universe", err,
                                   "expected up_to, the number of variables that tables may cross, "
                                   "or tables");
    if (universe->extends != NULL && strcmp(universe->extends, universe->file) == 0)
        return cellar_plan_fail_at(plan, "universe.extends", err,
                                   "a published cube is never replaced: the cube with more tables "
                                   "needs another name");
    if (universe->extends != NULL && universe->invariants.n > 0)
        return cellar_plan_fail_at(plan, "universe.invariants", err,
                                   "what is exact is fixed by the published cube: leave "
                                   "invariants out");
    if (plan->mechanism != NULL || plan->budget.split != 0)
        return cellar_plan_fail_at(plan, "universe", err,
                                   "the budget says which noise is used: leave mechanism and split "
                                   "out");
    if (plan->budget.epsilon == NULL && plan->budget.rho == NULL)
        return cellar_plan_fail_at(plan, "budget", err,
                                   "a universe needs a budget: rho, or epsilon and delta, or "
                                   "epsilon alone for pure differential privacy");
    if (has_delta && plan->budget.epsilon == NULL)
        return cellar_plan_fail_at(plan, "budget.delta", err, "a delta goes with an epsilon");
    for (size_t t = 0; t < universe->tables.n; t++) {
        const plan_universe_table *table = plan_universe_table_at(plan, t);
        if (table->structural_zeros != NULL)
            return cellar_plan_fail(plan->name, &table->place, "structural_zeros", err,
                                    "a cube has the same noise in every cell, also in cells that "
                                    "cannot have records: leave structural zeros out, or release "
                                    "the table with cellar plan run");
    }
    if (plan->negatives == CELLAR_NEGATIVES_ZERO || plan->threshold > 0)
        return cellar_plan_fail_at(plan, "negatives", err,
                                   "a cube keeps negative values, or its tables would not add: "
                                   "expected keep, and no threshold");
    return CELLAR_OK;
}

cellar_status cellar_plan_resolve_records(cellar_plan *plan, cellar_error *err)
{
    for (size_t v = 0; v < plan->variables.n; v++) {
        cellar_status status = resolve_variable(plan, v, err);
        if (status != CELLAR_OK)
            return status;
    }
    return check_data(plan, err);
}

cellar_status cellar_plan_resolve(cellar_plan *plan, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_universe(plan, err));
    if (plan->tables.n > TABLES_MAX)
        return cellar_plan_fail_at(plan, "tables", err, "at most %d tables", (int) TABLES_MAX);
    CELLAR_TRY(cellar_plan_resolve_records(plan, err));
    for (size_t t = 0; t < plan->tables.n; t++)
        CELLAR_TRY(resolve_table(plan, t, err));
    for (size_t r = 0; r < plan->rules.n; r++)
        CELLAR_TRY(check_rule(plan, plan_rule_at(plan, r), err));
    CELLAR_TRY(check_budget(plan, err));
    CELLAR_TRY(check_rest(plan, err));
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
