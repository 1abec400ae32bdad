/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/contradictions.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

cellar_status cellar_plan_check_budget(const cellar_plan *plan, cellar_error *err)
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

cellar_status cellar_plan_check_data(const cellar_plan *plan, cellar_error *err)
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

cellar_status cellar_plan_check_rest(const cellar_plan *plan, cellar_error *err)
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

cellar_status cellar_plan_check_rule(const cellar_plan *plan, const plan_rule *rule,
                                     cellar_error *err)
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
cellar_status cellar_plan_check_universe(const cellar_plan *plan, cellar_error *err)
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
