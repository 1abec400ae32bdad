/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways to spend one budget on a list (Rinott, O'Keefe, Shlomo and Skinner 2018, section 7).
 *
 * The interior alone has d = 1, and a margin that users add up from C cells has sqrt(C) times its
 * standard deviation; margins of their own cost every cell the more the more of them there are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "plan/compare_cube.h"
#include "plan/summands.h"
#include "plan/work.h"
#include "table/schema/schema.h"

enum { N_STRATEGIES = 6, MASKS_MAX = 1 << 12 };
enum { INTERIOR, MARGINS, EVERYTHING, PLAN, OPTIMAL, CUBE };

/* A margin of a table that some strategy releases, with what the plan wants. */
typedef struct margin {
    size_t table;
    uint64_t mask;
    int is_wanted; /* the plan releases it */
    int is_inner;
    double n_cells, d; /* cells, and those that one record touches; upper levels included */
    double n_leaves;   /* that all these cells sum, if each is added up from leaves */
    double share;      /* of them that are no structural zeros; taken from the lowest levels */
    double variance;   /* of a cell under the strategy at hand; NAN: not released */
} margin;

typedef struct comparing {
    cellar_plan_comparison told; /* first: what the caller sees */
    cellar_arena *arena;
    plan_work work;
    margin *margins;
    size_t n, capacity;
    double budget, factor; /* of the list; what a unit multiplies a cell's cost by */
    int by_rho;
} comparing;

void cellar_plan_comparison_free(cellar_plan_comparison *told)
{
    comparing *c = (comparing *) told; /* its first member */
    if (c == NULL)
        return;
    cellar_plan_work_close(&c->work);
    cellar_free(c->margins);
    cellar_arena_free(c->arena);
    cellar_free(c);
}

/* ---- what can be released ----------------------------------------------------------------- */

static int is_listed(const cellar_schema *schema, uint64_t mask)
{
    for (size_t m = 0; m < schema->n_margins; m++)
        if (schema->margins[m] == mask)
            return 1;
    return 0;
}

/* Leaves of all upper categories together. */
static double axis_n_members(const schema_axis *axis)
{
    return axis->n_inner > 0 ? axis->member_start[axis->n_inner] : 0;
}

static cellar_status add_margin(comparing *c, size_t t, uint64_t mask, cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(c->work.pieces[t].counts);
    margin *m;
    double n_lowest = 1;
    if (!cellar_grow(&c->margins, &c->capacity, c->n + 1, sizeof *c->margins))
        return cellar_fail_memory(err, "the margins of a set of tables");
    m = &c->margins[c->n++];
    *m = (margin){.table = t,
                  .mask = mask,
                  .is_wanted = is_listed(schema, mask),
                  .is_inner = mask == cellar_schema_full_mask(schema->n_variables),
                  .n_cells = 1,
                  .n_leaves = 1,
                  .d = 1};
    for (size_t v = 0; v < schema->n_variables; v++)
        if (mask >> v & 1) {
            m->n_cells *= schema->axes[v].n_leaves + schema->axes[v].n_inner;
            m->n_leaves *= schema->axes[v].n_leaves + axis_n_members(&schema->axes[v]);
            m->d *= 1 + schema->axes[v].max_ancestors;
            n_lowest *= schema->axes[v].n_leaves;
        }
    m->share = cellar_plan_summands(schema, mask, mask).n_cells / n_lowest;
    return CELLAR_OK;
}

/* Every margin of every table, the interior first; the grand total only where it is wanted. */
static cellar_status list_margins(comparing *c, cellar_error *err)
{
    for (size_t t = 0; t < c->work.n; t++) {
        const cellar_schema *schema = cellar_table_schema(c->work.pieces[t].counts);
        uint64_t full = cellar_schema_full_mask(schema->n_variables);
        if (full >= MASKS_MAX)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "table %s has too many variables to compare all its margins",
                               c->work.pieces[t].table->name);
        for (uint64_t mask = full + 1; mask-- > 0;) {
            cellar_status status = CELLAR_OK;
            if (mask != 0 || is_listed(schema, 0))
                status = add_margin(c, t, mask, err);
            if (status != CELLAR_OK)
                return status;
        }
    }
    return CELLAR_OK;
}

/* ---- what it costs ------------------------------------------------------------------------ */

/* The variance of noise whose cell costs x. */
static cellar_status variance_at(const comparing *c, size_t t, double x, double *out,
                                 cellar_error *err)
{
    char value[64];
    char *spec;
    cellar_mechanism *mechanism = NULL;
    double mean;
    cellar_status status;
    snprintf(value, sizeof value, "%.12g", c->by_rho ? sqrt(1 / (2 * x)) : x);
    spec = cellar_plan_spec_with(c->work.pieces[t].table->mechanism,
                                 c->by_rho ? "sigma" : "epsilon", value);
    if (spec == NULL)
        return cellar_fail_memory(err, "a mechanism");
    status = cellar_mechanism_create(spec, &mechanism, err);
    if (status == CELLAR_OK)
        cellar_mechanism_mean_variance(mechanism, 0, &mean, out);
    cellar_mechanism_free(mechanism);
    cellar_free(spec);
    return status;
}

static int releases(int strategy, const margin *m)
{
    switch (strategy) {
    case INTERIOR:
        return m->is_inner;
    case MARGINS:
        return m->is_wanted && !m->is_inner;
    case EVERYTHING:
        return m->mask != 0;
    default:
        return m->is_wanted;
    }
}

/* The cost of a cell, up to a factor; users of the interior add up its leaves. */
static double size_of(const comparing *c, int strategy, const margin *m)
{
    return strategy == OPTIMAL
               ? cellar_plan_optimal_size(cellar_plan_weight(c->work.pieces[m->table].table),
                                          m->n_cells * m->share, m->d, c->by_rho)
               : 1;
}

static double d_of(int strategy, const margin *m)
{
    return strategy == INTERIOR ? 1 : m->d;
}

static cellar_status spend(comparing *c, int strategy, cellar_plan_strategy *out, cellar_error *err)
{
    double sum = 0, d = 0;
    for (size_t i = 0; i < c->n; i++)
        if (releases(strategy, &c->margins[i])) {
            sum += d_of(strategy, &c->margins[i]) * size_of(c, strategy, &c->margins[i]);
            d += d_of(strategy, &c->margins[i]);
        }
    out->cells_per_record = (uint64_t) d;
    out->is_possible = sum > 0;
    for (size_t i = 0; i < c->n; i++) {
        margin *m = &c->margins[i];
        cellar_status status = CELLAR_OK;
        m->variance = NAN;
        if (!releases(strategy, m))
            continue;
        if (strategy == PLAN) {
            double mean;
            cellar_mechanism_mean_variance(c->work.pieces[m->table].mechanism, 0, &mean,
                                           &m->variance);
        } else {
            status =
                variance_at(c, m->table, c->budget * size_of(c, strategy, m) / (sum * c->factor),
                            &m->variance, err);
        }
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

/* ---- what users get ----------------------------------------------------------------------- */

/* Its own number, or the best sum of others of its table; NAN when there is none. Where structural
 * zeros make sums differ it is the mean over the margin's cells. */
static double best_variance(const comparing *c, const margin *target, unsigned char *is_sum)
{
    const cellar_schema *schema = cellar_table_schema(c->work.pieces[target->table].counts);
    double best = target->variance;
    *is_sum = 0;
    for (size_t i = 0; i < c->n && isnan(target->variance); i++) {
        const margin *m = &c->margins[i];
        plan_summands summed;
        double variance;
        if (m->table != target->table || (m->mask & target->mask) != target->mask ||
            isnan(m->variance))
            continue;
        summed = cellar_plan_summands(schema, m->mask, target->mask);
        variance = summed.n_cells > 0 ? m->variance * summed.total / summed.n_cells : 0;
        if (!isnan(best) && variance >= best)
            continue;
        best = variance;
        *is_sum = 1;
    }
    return best;
}

static void add_loss(cellar_plan_strategy *strategy, const margin *m, double loss)
{
    strategy->loss += loss;
    if (!m->is_inner)
        strategy->margins_loss =
            isnan(strategy->margins_loss) ? loss : strategy->margins_loss + loss;
}

/* Upper levels are released with their margin, but under INTERIOR, where they are added up too. */
static void judge(comparing *c, int way, double *sd, unsigned char *sums,
                  cellar_plan_strategy *strategy)
{
    size_t k = 0;
    for (size_t i = 0; i < c->n; i++) {
        const margin *m = &c->margins[i];
        double loss;
        if (!m->is_wanted)
            continue;
        sd[k] = sqrt(best_variance(c, m, &sums[k]));
        loss = c->told.targets[k].weight * sd[k] * sd[k] * m->share *
               (way == INTERIOR ? m->n_leaves : m->n_cells);
        k++;
        add_loss(strategy, m, loss);
    }
}

/* A cube of all that the plan asks for. */
static cellar_status judge_cube(comparing *c, double *sd, cellar_plan_strategy *strategy,
                                cellar_error *err)
{
    plan_cube_question question = {.work = &c->work,
                                   .budget = c->budget / c->factor,
                                   .by_rho = c->by_rho,
                                   .n = c->told.n_targets};
    size_t n_measured, k = 0;
    cellar_status status = CELLAR_OK;
    question.targets = cellar_arena_alloc(c->arena, question.n, sizeof *question.targets);
    if (question.targets == NULL)
        return cellar_fail_memory(err, "a strategy");
    for (size_t i = 0; i < c->n; i++)
        if (c->margins[i].is_wanted) {
            question.targets[k] = (plan_cube_target){.table = c->margins[i].table,
                                                     .mask = c->margins[i].mask,
                                                     .weight = c->told.targets[k].weight};
            k++;
        }
    CELLAR_TRY(cellar_plan_compare_cube(&question, &n_measured, err));
    strategy->cells_per_record = n_measured;
    strategy->is_possible = n_measured > 0;
    strategy->loss = n_measured > 0 ? 0 : NAN;
    k = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->margins[i].is_wanted) {
            sd[k] = n_measured > 0 ? sqrt(question.targets[k].variance) : NAN;
            if (n_measured > 0)
                add_loss(strategy, &c->margins[i], question.targets[k].loss);
            k++;
        }
out:
    return status;
}

static cellar_status run_strategy(comparing *c, int way, cellar_plan_strategy *strategy,
                                  cellar_error *err)
{
    double *sd = cellar_arena_alloc(c->arena, c->told.n_targets, sizeof *sd);
    unsigned char *sums = cellar_arena_alloc(c->arena, c->told.n_targets, 1);
    cellar_status status;
    if (sd == NULL || sums == NULL)
        return cellar_fail_memory(err, "a strategy");
    strategy->sd = sd;
    strategy->sums = sums;
    strategy->margins_loss = NAN;
    if (way == CUBE)
        return judge_cube(c, sd, strategy, err);
    status = spend(c, way, strategy, err);
    if (status == CELLAR_OK)
        judge(c, way, sd, sums, strategy);
    return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static cellar_status list_targets(comparing *c, cellar_error *err)
{
    cellar_plan_target *targets = cellar_arena_alloc(c->arena, c->n, sizeof *targets);
    if (targets == NULL)
        return cellar_fail_memory(err, "the margins of a set of tables");
    c->told.targets = targets;
    for (size_t i = 0; i < c->n; i++) {
        const margin *m = &c->margins[i];
        const plan_table *table = c->work.pieces[m->table].table;
        cellar_text name = {0};
        char *copy;
        if (!m->is_wanted)
            continue;
        cellar_plan_add_margin(&name, c->work.plan, table, m->mask);
        copy = name.failed ? NULL : cellar_arena_copy(c->arena, name.bytes, name.length);
        cellar_text_clear(&name);
        if (copy == NULL)
            return cellar_fail_memory(err, "the margins of a set of tables");
        targets[c->told.n_targets++] = (cellar_plan_target){.table = table->name,
                                                            .margin = copy,
                                                            .is_inner = m->is_inner,
                                                            .n_cells = (uint64_t) m->n_cells,
                                                            .weight = cellar_plan_weight(table)};
    }
    return CELLAR_OK;
}

/* The rho of Gaussian noise whose sigmas were found for an epsilon and a delta. */
static double rho_of_plan(const comparing *c)
{
    double rho = 0;
    for (size_t t = 0; t < c->work.n; t++) {
        const plan_piece *piece = &c->work.pieces[t];
        double sigma = NAN;
        for (size_t i = 0; i < cellar_mechanism_n_parameters(piece->mechanism); i++)
            if (strcmp(cellar_mechanism_parameter_name(piece->mechanism, i), "sigma") == 0)
                sigma = cellar_mechanism_parameter_value(piece->mechanism, i);
        rho += (double) piece->d / (2 * sigma * sigma);
    }
    return rho * c->factor;
}

/* What a unit multiplies the cost of a cell by. */
static double find_factor(const comparing *c)
{
    fmpz_t factor;
    double value;
    fmpz_init(factor);
    cellar_plan_unit_factor(&c->work, c->by_rho, factor);
    value = fmpz_get_d(factor);
    fmpz_clear(factor);
    return value;
}

/* The budget of the whole list: the plan's, or the sum of its tables'. */
static cellar_status find_budget(comparing *c, cellar_error *err)
{
    const cellar_plan *plan = c->work.plan;
    const plan_budget *budget = &plan->budget;
    cellar_text text = {0};
    fmpq_t sum, one;
    c->by_rho = plan_budget_costs_rho(budget);
    c->factor = find_factor(c);
    fmpq_init(sum);
    fmpq_init(one);
    for (size_t t = 0; t < plan->tables.n && budget->epsilon == NULL && !c->by_rho; t++) {
        const char *epsilon = plan_table_at(plan, t)->epsilon;
        if (epsilon != NULL && cellar_rational_parse(epsilon, strlen(epsilon), one)) {
            fmpq_add(sum, sum, one);
            continue;
        }
        fmpq_clear(one);
        fmpq_clear(sum);
        return cellar_plan_fail(plan->name, &plan_table_at(plan, t)->place, NULL, err,
                                "strategies share a budget: give the plan one, or each table an "
                                "epsilon");
    }
    if (budget->delta != NULL) {
        cellar_text_printf(&text, "epsilon %s at delta %s", budget->epsilon, budget->delta);
        c->told.found_for =
            text.failed ? NULL : cellar_arena_copy(c->arena, text.bytes, text.length);
        cellar_text_reset(&text);
        cellar_text_printf(&text, "%.6g", rho_of_plan(c));
    } else if (budget->epsilon != NULL || c->by_rho)
        cellar_text_add_string(&text, c->by_rho ? budget->rho : budget->epsilon);
    else
        cellar_rational_add(&text, sum);
    fmpq_clear(one);
    fmpq_clear(sum);
    if (!text.failed)
        c->told.budget = cellar_arena_copy(c->arena, text.bytes, text.length);
    cellar_text_clear(&text);
    if (c->told.budget == NULL)
        return cellar_fail_memory(err, "a budget");
    c->budget = strtod(c->told.budget, NULL);
    c->told.is_rho = c->by_rho;
    return CELLAR_OK;
}

/* The least loss of all that gives everything asked for. */
static cellar_status recommend(comparing *c, cellar_error *err)
{
    const cellar_plan_strategy *s = c->told.strategies;
    const char *extra = "";
    cellar_text reason = {0};
    size_t best = PLAN;
    for (size_t k = 0; k < N_STRATEGIES; k++) /* a tie goes to the plan as it is */
        if (s[k].is_possible && s[k].loss < s[best].loss * (1 - 1e-9))
            best = k;
    if (s[MARGINS].is_possible && s[MARGINS].margins_loss < s[best].margins_loss * (1 - 1e-9))
        extra = "; if nobody needs the inner cells, margins alone have still less noise: make each "
                "margin a table of its own";
    c->told.recommended = best;
    if (best == CUBE)
        cellar_text_printf(&reason,
                           "a cube gives all that the plan asks for with %.3g times the plan's "
                           "weighted variance, and its totals add: write a universe instead of "
                           "tables (cellar cube, docs/cube.md)%s",
                           s[best].loss / s[PLAN].loss, extra);
    else if (best == PLAN)
        cellar_text_printf(
            &reason, "no other strategy releases all that the plan asks for with less noise%s",
            extra);
    else
        cellar_text_printf(&reason,
                           "this strategy releases all that the plan asks for with %.3g times the "
                           "plan's weighted variance%s",
                           s[best].loss / s[PLAN].loss, extra);
    if (best != CUBE && s[CUBE].is_possible)
        cellar_text_printf(
            &reason,
            "; a cube, whose totals add everywhere, would have %.3g times the plan's "
            "weighted variance (cellar cube, docs/cube.md)",
            s[CUBE].loss / s[PLAN].loss);
    if (!reason.failed)
        c->told.reason = cellar_arena_copy(c->arena, reason.bytes, reason.length);
    cellar_text_clear(&reason);
    return c->told.reason != NULL ? CELLAR_OK : cellar_fail_memory(err, "a reason");
}

static cellar_status compare_all(comparing *c, cellar_error *err)
{
    static const char *const names[N_STRATEGIES][2] = {
        {"inner", "the inner cells of each table; users add them up"},
        {"margins", "the margins asked for, without the inner cells"},
        {"everything", "the inner cells and all margins except the grand total"},
        {"plan", "what the plan releases, as it splits the budget"},
        {"optimal", "what the plan releases, each margin with the share that is best for the "
                    "weights"},
        {"cube", "a cube of what the plan releases: measured together, and every total adds"}};
    cellar_plan_strategy *strategies =
        cellar_arena_alloc(c->arena, N_STRATEGIES, sizeof *strategies);
    cellar_status status = CELLAR_OK;
    if (strategies == NULL)
        return cellar_fail_memory(err, "a comparison");
    c->told.strategies = strategies;
    c->told.n_strategies = N_STRATEGIES;
    CELLAR_TRY(find_budget(c, err));
    CELLAR_TRY(list_margins(c, err));
    CELLAR_TRY(list_targets(c, err));
    for (int k = 0; k < N_STRATEGIES; k++) {
        strategies[k].name = names[k][0];
        strategies[k].about = names[k][1];
        CELLAR_TRY(run_strategy(c, k, &strategies[k], err));
    }
    CELLAR_TRY(recommend(c, err));
out:
    return status;
}

cellar_status cellar_plan_compare(const cellar_plan *plan, const cellar_plan_options *options,
                                  cellar_plan_comparison **out, cellar_error *err)
{
    comparing *c = cellar_alloc(1, sizeof *c);
    cellar_plan_options empty = options != NULL ? *options : cellar_plan_options_default();
    cellar_status status = CELLAR_OK;
    *out = NULL;
    empty.without_counts = 1;
    if (c == NULL)
        return cellar_fail_memory(err, "a comparison");
    c->arena = cellar_arena_create(SIZE_MAX);
    if (c->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a comparison"));
    CELLAR_TRY(cellar_plan_work_open(&c->work, plan, &empty, err));
    CELLAR_TRY(compare_all(c, err));
    *out = &c->told;
    c = NULL;
out:
    cellar_plan_comparison_free(c != NULL ? &c->told : NULL);
    return status;
}
