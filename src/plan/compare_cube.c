/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The universe is what the plan asks for and all that lies below it. For rho the precisions are
 * those of cube/precision.h. For pure epsilon no optimum is known: of several splits that the
 * problem of rho suggests, with more and fewer tables, the best is taken. */
#include "plan/compare_cube.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cube/precision.h"
#include "cube/variable.h"
#include "table/schema/schema.h"

typedef struct universe {
    const plan_cube_question *q;
    cube_variable
        variables[CELLAR_MAX_VARIABLES]; /* of the plan; those that no table has are {0} */
    cube_lattice lattice;
    double *weight; /* of a cell of each table */
    double *w, *tau, *variance;
} universe;

static const cellar_schema *schema_of(const universe *u, size_t table)
{
    return cellar_table_schema(u->q->work->pieces[table].counts);
}

/* ---- the universe -------------------------------------------------------------------------- */

static int has_cube(const plan_cube_question *q)
{
    const cellar_plan *plan = q->work->plan;
    int ok = plan->negatives == CELLAR_NEGATIVES_KEEP && plan->threshold == 0 &&
             plan->variables.n <= CELLAR_MAX_VARIABLES;
    for (size_t t = 0; t < q->work->n; t++)
        ok = ok && q->work->pieces[t].n_structural == 0 &&
             q->work->pieces[t].table->n_variables <= CUBE_ORDER_MAX;
    return ok;
}

/* Every variable of a table, with levels where some table has them. */
static cellar_status open_variables(universe *u, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (int pass = 0; pass < 2; pass++) /* those with levels first */
        for (size_t t = 0; t < u->q->work->n; t++) {
            const plan_table *table = u->q->work->pieces[t].table;
            for (size_t v = 0; v < table->n_variables; v++) {
                const schema_axis *axis = &schema_of(u, t)->axes[v];
                cube_variable *variable = &u->variables[table->variables[v]];
                if (variable->name == NULL && (pass == 1 || axis->n_inner > 0))
                    CELLAR_TRY(cellar_cube_variable_init(variable, axis->name, axis->domain,
                                                         axis->codelist, axis->n_inner > 0, err));
            }
        }
out:
    return status;
}

/* The tables of a target: its variables, at the levels that `combination` counts up; answers 0
 * after the last. */
static int target_space(const universe *u, const plan_cube_target *target, size_t combination,
                        cube_space *out)
{
    const plan_table *table = u->q->work->pieces[target->table].table;
    *out = (cube_space){0};
    for (size_t p = 0; p < u->q->work->plan->variables.n; p++) /* in ascending order */
        for (size_t v = 0; v < table->n_variables; v++)
            if (table->variables[v] == p && (target->mask >> v & 1) != 0) {
                const size_t top = u->variables[p].axis.n_levels;
                const int has_levels = schema_of(u, target->table)->axes[v].n_inner > 0;
                out->variable[out->order] = (uint8_t) p;
                out->level[out->order++] = (uint8_t) (has_levels ? top - combination % top : top);
                combination /= has_levels ? top : 1;
            }
    return combination == 0;
}

static cellar_status open_lattice(universe *u, cellar_error *err)
{
    const size_t n = u->q->work->plan->variables.n;
    cube_axis axes[CELLAR_MAX_VARIABLES] = {{0}};
    cube_space *tables = cellar_alloc(u->q->n, sizeof *tables);
    cellar_status status = CELLAR_OK;
    if (tables == NULL)
        return cellar_fail_memory(err, "a cube");
    for (size_t v = 0; v < n; v++) {
        axes[v] = u->variables[v].axis;
        axes[v].n[0] = 1;
    }
    for (size_t i = 0; i < u->q->n; i++)
        (void) target_space(u, &u->q->targets[i], 0, &tables[i]);
    CELLAR_TRY(cellar_cube_lattice_init(&u->lattice, axes, n, tables, u->q->n, err));
    u->weight = cellar_alloc(u->lattice.n, sizeof *u->weight);
    u->w = cellar_alloc(u->lattice.n, sizeof *u->w);
    u->tau = cellar_alloc(u->lattice.n, sizeof *u->tau);
    u->variance = cellar_alloc(u->lattice.n, sizeof *u->variance);
    if (u->weight == NULL || u->w == NULL || u->tau == NULL || u->variance == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    for (size_t i = 0; i < u->q->n; i++) {
        cube_space space;
        for (size_t c = 0; target_space(u, &u->q->targets[i], c, &space); c++)
            u->weight[cellar_cube_lattice_find(&u->lattice, &space)] += u->q->targets[i].weight;
    }
out:
    cellar_free(tables);
    return status;
}

static void universe_clear(universe *u)
{
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_cube_variable_clear(&u->variables[v]);
    cellar_cube_lattice_clear(&u->lattice);
    cellar_free(u->weight);
    cellar_free(u->w);
    cellar_free(u->tau);
    cellar_free(u->variance);
}

/* ---- what to measure --------------------------------------------------------------------------
 */

/* The loss of the present precisions; INFINITY when they leave something open. */
static double evaluate(universe *u)
{
    double loss = 0;
    cellar_cube_evaluate(&u->lattice, u->w, u->tau, u->variance);
    for (size_t t = 0; t < u->lattice.n; t++)
        loss += u->weight[t] > 0 ? u->weight[t] * u->lattice.n_cells[t] * u->variance[t] : 0;
    return isfinite(loss) ? loss : INFINITY;
}

/* The precision of a discrete Laplace noise of epsilon: its variance is 2 p / (1 - p)^2, p =
 * e^-epsilon. */
static double laplace_precision(double epsilon)
{
    const double q = -expm1(-epsilon);
    return q * q / (2 * exp(-epsilon));
}

/* 1 when a table adds at least the share `least` to some precision. */
static int is_of_use(const cube_lattice *l, const cube_choice *choice, size_t a, double least)
{
    for (size_t k = l->start[a]; k < l->start[a + 1]; k++)
        if (choice->w[a] / l->ratio[k] >= least * choice->tau[l->below[k]])
            return 1;
    return 0;
}

/* Shares of the budget in proportion to a power of the precisions, for tables that are of use. */
static void split(universe *u, const cube_choice *choice, double least, double power)
{
    const cube_lattice *l = &u->lattice;
    double sum = 0;
    for (size_t a = 0; a < l->n; a++) {
        u->w[a] = is_of_use(l, choice, a, least) ? pow(choice->w[a], power) : 0;
        sum += u->w[a];
    }
    for (size_t a = 0; a < l->n; a++) {
        const double share = u->q->budget * u->w[a] / sum;
        u->w[a] = u->q->by_rho ? 2 * share : share > 0 ? laplace_precision(share) : 0;
    }
}

static void measure_pure(universe *u, const cube_choice *choice)
{
    static const double leasts[] = {0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9};
    static const double powers[] = {1.0 / 2, 1.0 / 3, 0};
    enum { N_LEASTS = sizeof leasts / sizeof *leasts, N = N_LEASTS * 3 };
    double best = INFINITY;
    size_t chosen = 0;
    for (size_t i = 0; i < N; i++) {
        double loss;
        split(u, choice, leasts[i % N_LEASTS], powers[i / N_LEASTS]);
        loss = evaluate(u);
        if (loss < best) {
            best = loss;
            chosen = i;
        }
    }
    split(u, choice, leasts[chosen % N_LEASTS], powers[chosen / N_LEASTS]);
}

static cellar_status measure(universe *u, cellar_error *err)
{
    cube_objective objective = cellar_cube_objective_default();
    cube_choice choice = {0};
    cellar_status status;
    objective.weight = u->weight;
    status = cellar_cube_choose(&u->lattice, &objective, 1, &choice, err);
    if (status != CELLAR_OK)
        return status;
    if (u->q->by_rho)
        split(u, &choice, 0.001, 1);
    else
        measure_pure(u, &choice);
    cellar_cube_choice_clear(&choice);
    return CELLAR_OK;
}

/* ---- what users get ----------------------------------------------------------------------------
 */

static void judge_target(const universe *u, plan_cube_target *target)
{
    cube_space space;
    target->loss = 0;
    for (size_t c = 0; target_space(u, target, c, &space); c++) {
        const uint32_t t = cellar_cube_lattice_find(&u->lattice, &space);
        if (c == 0)
            target->variance = u->variance[t];
        target->loss += target->weight * u->lattice.n_cells[t] * u->variance[t];
    }
}

cellar_status cellar_plan_compare_cube(const plan_cube_question *question, size_t *n_measured,
                                       cellar_error *err)
{
    universe *u = cellar_alloc(1, sizeof *u);
    cellar_status status = CELLAR_OK;
    *n_measured = 0;
    if (u == NULL)
        return cellar_fail_memory(err, "a cube");
    u->q = question;
    if (has_cube(question)) {
        CELLAR_TRY(open_variables(u, err));
        CELLAR_TRY(open_lattice(u, err));
        CELLAR_TRY(measure(u, err));
        (void) evaluate(u);
        for (size_t t = 0; t < u->lattice.n; t++)
            *n_measured += u->w[t] > 0;
        for (size_t i = 0; i < question->n; i++)
            judge_target(u, &question->targets[i]);
    }
out:
    universe_clear(u);
    cellar_free(u);
    return status;
}
