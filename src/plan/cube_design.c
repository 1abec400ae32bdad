/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The design of a cube: what its precisions give, beside what else could be done with the budget.
 */
#include "plan/cube_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cube/picks.h"
#include "table/build.h"

/* ---- what it gives ------------------------------------------------------------------------------
 */

/* 1 when no other table lies above, and it has noise. */
static void mark_finest(const cube_lattice *l, unsigned char *is_finest)
{
    for (size_t a = 0; a < l->n; a++)
        is_finest[a] = !cube_is_exact(l, a);
    for (size_t a = 0; a < l->n; a++)
        for (size_t k = l->start[a]; k < l->start[a + 1]; k++)
            if (l->below[k] != a)
                is_finest[l->below[k]] = 0;
}

/* The variance of one cell when a budget for precisions of 1 in all is split so that each table has
 * the share that is proportional to `part`: 1 / part for rho; a Laplace variance is 2 / epsilon^2.
 */
static double alone(const cellar_cube_design *d, double share)
{
    const plan_budget *budget = &d->plan->budget;
    const double records = (double) d->work.per_unit * (double) d->work.max_weight;
    if (cellar_cube_design_is_pure(d)) {
        const double epsilon =
            share * strtod(budget->epsilon, NULL) / (records * (double) d->work.n_sides);
        return 2 / (epsilon * epsilon);
    }
    return 1 / (share * d->cost);
}

/* Every table with noise of its own: shares that minimise the same loss. */
static void independent_errors(cellar_cube_design *d)
{
    const cube_lattice *l = &d->cube->lattice;
    const double power = cellar_cube_design_is_pure(d) ? 1.0 / 3 : 0.5;
    double sum = 0;
    for (size_t t = 0; t < l->n; t++)
        sum += cube_is_exact(l, t) ? 0 : pow(d->weight[t] * l->n_cells[t], power);
    for (size_t t = 0; t < l->n; t++)
        d->independent_sd[t] = cube_is_exact(l, t)
                                   ? 0
                                   : sqrt(alone(d, pow(d->weight[t] * l->n_cells[t], power) / sum));
}

/* Only the finest tables, equally: users add up. */
static cellar_status inner_errors(cellar_cube_design *d, cellar_error *err)
{
    const cube_lattice *l = &d->cube->lattice;
    unsigned char *is_finest = cellar_alloc(l->n, 1);
    size_t n_finest = 0;
    if (is_finest == NULL)
        return cellar_fail_memory(err, "the design of a cube");
    mark_finest(l, is_finest);
    for (size_t t = 0; t < l->n; t++) {
        d->inner_sd[t] = cube_is_exact(l, t) ? 0 : INFINITY;
        n_finest += is_finest[t];
    }
    for (size_t a = 0; a < l->n; a++)
        for (size_t k = l->start[a]; is_finest[a] && k < l->start[a + 1]; k++) {
            const double sd = sqrt(alone(d, 1 / (double) n_finest) * l->ratio[k]);
            if (sd < d->inner_sd[l->below[k]])
                d->inner_sd[l->below[k]] = sd;
        }
    cellar_free(is_finest);
    return CELLAR_OK;
}

static cellar_status measure_errors(cellar_cube_design *d, const cube_choice *choice,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const int is_optimum = !cellar_cube_design_is_pure(d);
    d->is_balanced = 1;
    for (size_t v = 0; v < d->cube->n_variables; v++)
        d->is_balanced &= cube_axis_is_balanced(&d->cube->variables[v].axis);
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        double variance;
        CELLAR_TRY(cellar_cube_largest_variance(d->cube, (uint32_t) t, &variance, err));
        d->sd[t] = sqrt(variance);
    }
    if (d->published != NULL) {
        CELLAR_TRY(cellar_cube_extend_certify(d, err));
        for (size_t t = 0; t < d->cube->lattice.n; t++)
            d->independent_sd[t] = d->inner_sd[t] = NAN;
    }
    d->loss_to_bound = is_optimum ? choice->loss / choice->least : NAN;
    /* The closed optimum is that of add-remove neighbours and of balanced hierarchies. */
    d->loss_to_optimum = is_optimum && d->is_balanced && d->work.n_sides == 1
                             ? choice->loss / choice->free_least
                             : NAN;
    if (d->published != NULL)
        goto out;
    independent_errors(d);
    CELLAR_TRY(inner_errors(d, err));
out:
    return status;
}

/* ---- life cycle
 * ------------------------------------------------------------------------------------ */

/* The largest standard deviations that the plan names, as variances. */
static cellar_status read_wishes(cellar_cube_design *d, cellar_error *err)
{
    const cellar_plan *plan = d->plan;
    for (size_t i = 0; i < plan->universe.tables.n; i++) {
        const plan_universe_table *table = plan_universe_table_at(plan, i);
        const double sd = table->largest_sd != NULL ? strtod(table->largest_sd, NULL) : INFINITY;
        if (table->largest_sd != NULL && plan->universe.objective == PLAN_OBJECTIVE_LARGEST)
            return cellar_plan_fail(plan->name, &table->place, "largest_sd", err,
                                    "objective: largest makes the largest of all standard "
                                    "deviations smallest: give a weight instead, or leave the "
                                    "objective out");
        d->wish[d->named[i]] = fmin(d->wish[d->named[i]], sd * sd);
    }
    return CELLAR_OK;
}

cellar_status cellar_cube_design_create(const cellar_plan *plan, cellar_cube_design **out,
                                        cellar_error *err)
{
    cellar_cube_design *d = cellar_alloc(1, sizeof *d);
    cube_choice choice = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (d == NULL)
        return cellar_fail_memory(err, "the design of a cube");
    d->plan = plan;
    if (plan->universe.file == NULL)
        CELLAR_TRY(
            cellar_plan_fail_at(plan, "tables", err,
                                "the plan lists tables and has no universe: use `cellar plan "
                                "check` and `cellar plan run`"));
    d->work = (plan_work){.plan = plan,
                          .per_unit = plan->unit.max_records > 0 ? plan->unit.max_records : 1,
                          .max_weight = plan->data.max_weight > 0 ? plan->data.max_weight : 1,
                          .n_sides = plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1};
    d->delta = plan->budget.delta != NULL ? plan->budget.delta : plan->ledger.delta;
    if (plan->data.weight != NULL && plan->data.max_weight == 0)
        CELLAR_TRY(cellar_plan_fail_at(plan, "data.max_weight", err,
                                       "weighted sums need a public bound on weights"));
    CELLAR_TRY(cellar_cube_design_universe(d, err));
    CELLAR_TRY(read_wishes(d, err));
    CELLAR_TRY(cellar_cube_design_choose(d, &choice, err));
    d->cost = 0;
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        d->cost += d->cube->w[t];
    CELLAR_TRY(measure_errors(d, &choice, err));
    *out = d;
    d = NULL;
out:
    cellar_cube_choice_clear(&choice);
    cellar_cube_design_free(d);
    return status;
}

void cellar_cube_design_free(cellar_cube_design *d)
{
    if (d == NULL)
        return;
    for (size_t k = 0; k < d->n_mechanisms; k++)
        cellar_mechanism_free(d->mechanisms[k]);
    for (size_t t = 0; d->names != NULL && t < d->cube->lattice.n; t++)
        cellar_free(d->names[t]);
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_schema_free(d->domains[v]);
    cellar_certificate_free(d->certificate);
    cellar_certificate_free(d->together);
    cellar_cube_close(d->published);
    cellar_free(d->before);
    cellar_free(d->before_sd);
    cellar_free(d->weight);
    cellar_free(d->cap);
    cellar_free(d->wish);
    cellar_free(d->aim);
    cellar_free(d->named);
    cellar_free(d->sd);
    cellar_free(d->independent_sd);
    cellar_free(d->inner_sd);
    cellar_free(d->names);
    cellar_free(d->mechanism_of);
    cellar_free(d->exact);
    cellar_free((void *) d->invariants);
    cellar_cube_close(d->cube);
    cellar_free(d);
}

/* ---- queries
 * --------------------------------------------------------------------------------------- */

size_t cellar_cube_design_n_tables(const cellar_cube_design *d)
{
    return d->cube->lattice.n;
}

cellar_cube_design_table cellar_cube_design_table_at(const cellar_cube_design *d, size_t table)
{
    return (cellar_cube_design_table){
        .name = d->names[table],
        .n_variables = d->cube->lattice.spaces[table].order,
        .n_cells = (uint64_t) d->cube->lattice.n_cells[table],
        .mechanism = d->cube->w[table] > 0 ? d->cube->tables[table].mechanism : NULL,
        .was_measured = d->mechanism_of[table] == CUBE_MEASURED_BEFORE,
        .is_exact = cube_is_exact(&d->cube->lattice, table),
        .sd = d->sd[table],
        .independent_sd = d->independent_sd[table],
        .inner_sd = d->inner_sd[table],
        .before_sd = d->published != NULL ? d->before_sd[table] : NAN};
}

size_t cellar_cube_design_n_measured(const cellar_cube_design *d)
{
    size_t n = 0;
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        n += d->mechanism_of[t] < CUBE_MECHANISMS_MAX;
    return n;
}

size_t cellar_cube_design_n_mechanisms(const cellar_cube_design *d)
{
    return d->n_mechanisms;
}

const cellar_certificate *cellar_cube_design_certificate(const cellar_cube_design *d)
{
    return d->certificate;
}

const cellar_certificate *cellar_cube_design_together(const cellar_cube_design *d)
{
    return d->together;
}

int cellar_cube_design_is_balanced(const cellar_cube_design *d)
{
    return d->is_balanced;
}

double cellar_cube_design_loss_to_bound(const cellar_cube_design *d)
{
    return d->loss_to_bound;
}

double cellar_cube_design_loss_to_optimum(const cellar_cube_design *d)
{
    return d->loss_to_optimum;
}
