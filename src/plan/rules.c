/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disclosure rules. Rules on true counts are the custodian's and are judged before anything is
 * drawn; rules that an outsider could trigger are judged on what is released. No message tells a
 * count. */
#include "plan/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/risk.h>

#include "base/error.h"
#include "plan/pack.h"
#include "table/table.h"

void cellar_plan_rule_words(const plan_rule *rule, cellar_text *out)
{
    if (rule->max_empty_share != NULL)
        cellar_text_printf(out, "at most a share of %s of the cells is empty",
                           rule->max_empty_share);
    else if (rule->max_small_share != NULL)
        cellar_text_printf(out, "at most a share of %s of the cells has a count of 1 to %" PRIu64,
                           rule->max_small_share, rule->small);
    else if (rule->min_population > 0)
        cellar_text_printf(out, "at least %" PRIu64 " record%s", rule->min_population,
                           rule->min_population == 1 ? "" : "s");
    else if (rule->max_cells > 0)
        cellar_text_printf(out, "at most %" PRIu64 " cell%s", rule->max_cells,
                           rule->max_cells == 1 ? "" : "s");
    else if (rule->max_risk != NULL)
        cellar_text_printf(out, "an expected homogeneity risk of at most %s", rule->max_risk);
    else
        cellar_text_printf(out,
                           "at most a share of %s of the records in cells of fewer than %" PRIu64,
                           rule->max_exposure, rule->small);
}

int cellar_plan_rule_is_covered(const plan_rule *rule)
{
    return rule->evaluate == 2 || rule->max_cells > 0;
}

/* 1 when the rule is about that table. */
static int rule_concerns(const cellar_plan *plan, const plan_rule *rule, size_t table)
{
    return rule->table == NULL || strcmp(rule->table, plan_table_at(plan, table)->name) == 0;
}

/* ---- what is measured ---------------------------------------------------- */

/* The interior of a table or a release: cells that are not structural zeros. */
typedef struct interior {
    double n_cells, n_empty, n_small, sum;
} interior;

static int exceeds(double n, double total, const char *share)
{
    return total > 0 && n > strtod(share, NULL) * total;
}

static int interior_breaks(const plan_rule *rule, const interior *in)
{
    if (rule->max_empty_share != NULL)
        return exceeds(in->n_empty, in->n_cells, rule->max_empty_share);
    if (rule->max_small_share != NULL)
        return exceeds(in->n_small, in->n_cells, rule->max_small_share);
    if (rule->min_population > 0)
        return in->sum < (double) rule->min_population;
    return 0;
}

/* Cells of the interior without structural zeros. */
static double n_interior(const cellar_schema *schema)
{
    enum { VISITED_MAX = 1 << 24 };
    double n = 1;
    uint64_t n_structural = 0;
    for (size_t v = 0; v < schema->n_variables; v++)
        n *= (double) schema->axes[v].n_leaves;
    if (schema->structural != NULL && schema->n_indices <= VISITED_MAX)
        for (uint64_t index = 0; index < schema->n_indices; index++)
            n_structural += cellar_schema_is_interior(schema, index) &&
                            cellar_schema_is_structural_zero(schema, index);
    return n - (double) n_structural;
}

static void interior_meet(interior *in, double number, uint64_t small)
{
    in->sum += number;
    in->n_empty -= number != 0;
    in->n_small += number >= 1 && number <= (double) small;
}

static interior interior_of_table(const cellar_table *table, uint64_t small)
{
    const cellar_schema *schema = cellar_table_schema(table);
    interior in = {.n_cells = n_interior(schema)};
    in.n_empty = in.n_cells;
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        if (cell.count > 0 && cellar_schema_is_interior(schema, cell.index))
            interior_meet(&in, (double) cell.count, small);
    }
    return in;
}

static interior interior_of_release(const cellar_release *release, uint64_t small)
{
    const cellar_schema *schema = cellar_release_schema(release);
    interior in = {.n_cells = n_interior(schema)};
    in.n_empty = in.n_cells;
    for (size_t i = 0; i < cellar_release_n_cells(release); i++) {
        cellar_released_cell cell = cellar_release_cell(release, i);
        if (cell.status == CELLAR_CELL_NORMAL && cellar_schema_is_interior(schema, cell.index))
            interior_meet(&in, (double) cell.released, small);
    }
    return in;
}

/* ---- risk and exposure --------------------------------------------------- */

/* Positions in the table of the variables a rule names; all others when it names none. */
static cellar_status rule_columns(const cellar_plan *plan, const plan_rule *rule,
                                  const cellar_schema *schema, const plan_list *names,
                                  const plan_list *without, size_t *columns, size_t *n,
                                  cellar_error *err)
{
    *n = 0;
    for (size_t i = 0; i < names->n; i++) {
        size_t v = cellar_schema_find_variable(schema, plan_text_at(names, i));
        if (v == CELLAR_NO_CODE || *n >= CELLAR_MAX_VARIABLES)
            return cellar_plan_fail(plan->name, &rule->place, NULL, err,
                                    "the table has no variable '%.60s'", plan_text_at(names, i));
        columns[(*n)++] = v;
    }
    for (size_t v = 0; names->n == 0 && v < cellar_schema_n_variables(schema); v++)
        if (!cellar_plan_has_text(without, cellar_schema_variable(schema, v)))
            columns[(*n)++] = v;
    return CELLAR_OK;
}

static cellar_status risk_breaks(const cellar_plan *plan, const plan_rule *rule,
                                 const cellar_table *table, const cellar_mechanism *mechanism,
                                 int *breaks, cellar_error *err)
{
    static const plan_list none = {NULL, 0};
    const cellar_schema *schema = cellar_table_schema(table);
    size_t qid[CELLAR_MAX_VARIABLES], sensitive[CELLAR_MAX_VARIABLES], n_qid, n_sensitive;
    cellar_risk_options options = cellar_risk_options_default();
    cellar_risk_summary summary;
    cellar_groups *groups = NULL;
    cellar_status status = CELLAR_OK;
    options.measure = CELLAR_RISK_EXPECTED;
    options.n_threads = 1;
    CELLAR_TRY(
        rule_columns(plan, rule, schema, &rule->sensitive, &none, sensitive, &n_sensitive, err));
    CELLAR_TRY(rule_columns(plan, rule, schema, &rule->qid, &rule->sensitive, qid, &n_qid, err));
    CELLAR_TRY(cellar_groups_create(table, qid, n_qid, sensitive, n_sensitive, &groups, err));
    CELLAR_TRY(cellar_risk_assess(groups, &mechanism, 1, &options, &summary, err));
    *breaks = summary.mean.value > strtod(rule->max_risk, NULL);
out:
    cellar_groups_free(groups);
    return status;
}

static cellar_status exposure_breaks(const cellar_plan *plan, const plan_rule *rule,
                                     const cellar_table *table, int *breaks, cellar_error *err)
{
    static const plan_list none = {NULL, 0};
    size_t columns[CELLAR_MAX_VARIABLES], n;
    cellar_exposure_curve *curve = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(
        rule_columns(plan, rule, cellar_table_schema(table), &rule->qid, &none, columns, &n, err));
    CELLAR_TRY(cellar_exposure_curve_create(table, columns, n, &curve, err));
    *breaks = cellar_exposure_value(curve, rule->small) > strtod(rule->max_exposure, NULL);
out:
    cellar_exposure_curve_free(curve);
    return status;
}

cellar_status cellar_plan_table_breaks(const cellar_plan *plan, const plan_rule *rule,
                                       const cellar_table *table, const cellar_mechanism *mechanism,
                                       int *breaks, cellar_error *err)
{
    interior in;
    if (rule->max_cells > 0) {
        *breaks = cellar_schema_n_possible(cellar_table_schema(table)) > rule->max_cells;
        return CELLAR_OK;
    }
    if (rule->max_risk != NULL)
        return risk_breaks(plan, rule, table, mechanism, breaks, err);
    if (rule->max_exposure != NULL)
        return exposure_breaks(plan, rule, table, breaks, err);
    in = interior_of_table(table, rule->small);
    *breaks = interior_breaks(rule, &in);
    return CELLAR_OK;
}

/* ---- judging ------------------------------------------------------------- */

static cellar_status refuse(plan_figures *figures, const plan_rule *rule, size_t t,
                            const char *remedy, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    cellar_text words = {0};
    cellar_status status;
    cellar_plan_rule_words(rule, &words);
    status = words.failed ? cellar_fail_memory(err, "a rule")
                          : cellar_plan_say(figures, &figures->refusals, err,
                                            "%s:%zu: table %s breaks the rule '%s'%s%s", plan->name,
                                            rule->place.line, plan_table_at(plan, t)->name,
                                            words.bytes, remedy[0] != '\0' ? "; " : "", remedy);
    cellar_text_clear(&words);
    return status;
}

cellar_status cellar_plan_judge(plan_figures *figures, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    cellar_status status = CELLAR_OK;
    for (size_t r = 0; r < plan->rules.n; r++) {
        const plan_rule *rule = plan_rule_at(plan, r);
        for (size_t t = 0; t < figures->work.n; t++) {
            const plan_piece *piece = &figures->work.pieces[t];
            cellar_text remedy = {0};
            int breaks = 0;
            /* the number of cells depends on no count */
            if (!rule_concerns(plan, rule, t) || (rule->evaluate != 1 && rule->max_cells == 0))
                continue;
            CELLAR_TRY(cellar_plan_table_breaks(plan, rule, piece->counts, piece->mechanism,
                                                &breaks, err));
            if (!breaks)
                continue;
            status = cellar_plan_find_remedy(figures, rule, t, &remedy, err);
            if (status == CELLAR_OK)
                status = refuse(figures, rule, t, remedy.length > 0 ? remedy.bytes : "", err);
            cellar_text_clear(&remedy);
            CELLAR_TRY(status);
        }
    }
out:
    return status;
}

cellar_status cellar_plan_judge_release(const cellar_plan *plan, size_t table,
                                        const cellar_release *release, cellar_error *err)
{
    for (size_t r = 0; r < plan->rules.n; r++) {
        const plan_rule *rule = plan_rule_at(plan, r);
        cellar_text words = {0};
        cellar_status status = CELLAR_OK;
        interior in;
        if (rule->evaluate != 2 || !rule_concerns(plan, rule, table))
            continue;
        in = interior_of_release(release, rule->small);
        if (!interior_breaks(rule, &in))
            continue;
        cellar_plan_rule_words(rule, &words);
        status = words.failed ? cellar_fail_memory(err, "a rule")
                              : cellar_fail(err, CELLAR_ERR_RULE,
                                            "%s:%zu: the released values drawn for table %s break "
                                            "the rule '%s' and are discarded",
                                            plan->name, rule->place.line,
                                            plan_table_at(plan, table)->name, words.bytes);
        cellar_text_clear(&words);
        return status;
    }
    return CELLAR_OK;
}
