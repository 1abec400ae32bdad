/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The design of a cube: precisions for the budget, and what they give beside what else could be
 * done with it. */
#include "plan/cube_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cube/picks.h"
#include "table/build.h"

enum { SEARCH_STEPS = 14, TIGHTENINGS = 12 };

/* ---- choosing ------------------------------------------------------------------------------- */

/* What precisions add up to when a unit may pay `budget` of rho: 2 rho / (records^2 sides). */
static double cost_for(const cellar_cube_design *d, double rho)
{
    const double records = (double) d->work.per_unit * (double) d->work.max_weight;
    return 2 * rho / (records * records * (double) d->work.n_sides);
}

/* The caps of the plan as variances at cost 1: what is aimed at for its own wishes at the given
 * cost, and the default ones, which are shares of it. */
static void caps_at(const cellar_cube_design *d, double cost, double *out)
{
    memcpy(out, d->cap, d->cube->lattice.n * sizeof *out);
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        if (isfinite(d->aim[t]) && d->aim[t] * cost < out[t])
            out[t] = d->aim[t] * cost;
}

static cellar_status fail_wishes(const cellar_cube_design *d, double over, cellar_error *err)
{
    const plan_budget *budget = &d->plan->budget;
    const cellar_status status = cellar_plan_fail_at(
        d->plan, "budget", err,
        "the standard deviations that were asked for cannot all be met: about %.3g times the %s "
        "would be enough",
        budget->rho != NULL ? over : sqrt(over), budget->rho != NULL ? "rho" : "epsilon");
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_ERR_RULE;
}

static cellar_status choose(cellar_cube_design *d, double rho, cube_choice *out, cellar_error *err)
{
    const cube_lattice *l = &d->cube->lattice;
    cube_objective objective = cellar_cube_objective_default();
    double *cap = cellar_alloc(l->n, sizeof *cap);
    cellar_status status = CELLAR_OK;
    if (cap == NULL)
        return cellar_fail_memory(err, "the design of a cube");
    caps_at(d, cost_for(d, rho), cap);
    objective.weight = d->weight;
    objective.cap = cap;
    if (d->plan->universe.objective == PLAN_OBJECTIVE_LARGEST) {
        for (size_t t = 0; t < l->n; t++)
            cap[t] = isfinite(cap[t]) ? cap[t] : 1 / (d->weight[t] * l->n_cells[t]);
        CELLAR_TRY(cellar_cube_choose_minimax(l, cap, 0.01, objective.rounds_max, out, err));
    } else {
        CELLAR_TRY(cellar_cube_choose(l, &objective, 1, out, err));
        if (out->over > 1.0001) {
            const double over = out->over;
            cellar_cube_choice_clear(out);
            CELLAR_TRY(fail_wishes(d, over, err));
        }
    }
out:
    cellar_free(cap);
    return status;
}

/* ---- how much of rho an epsilon at delta buys -------------------------------------------------
 */

static double epsilon_of(const cellar_cube_design *d)
{
    return cellar_certificate_epsilon_at(d->certificate, 0).epsilon;
}

/* The largest rho, to a thousandth, whose cube has epsilon at delta: by the certificate itself. The
 * search begins at what zero-concentrated privacy proves, epsilon = rho + 2 sqrt(rho ln(1/delta))
 * (Bun and Steinke 2016). */
static cellar_status search_rho(cellar_cube_design *d, cube_choice *choice, cellar_error *err)
{
    const double epsilon = strtod(d->plan->budget.epsilon, NULL);
    const double root = log(1 / strtod(d->plan->budget.delta, NULL));
    double low = pow(sqrt(root + epsilon) - sqrt(root), 2), high = 4 * low;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < SEARCH_STEPS && high > low * 1.001; i++) {
        const double middle = sqrt(low * high);
        cellar_cube_choice_clear(choice);
        CELLAR_TRY(choose(d, middle, choice, err));
        CELLAR_TRY(cellar_cube_design_noise(d, choice, middle, err));
        if (epsilon_of(d) <= epsilon)
            low = middle;
        else
            high = middle;
    }
    cellar_cube_choice_clear(choice);
    CELLAR_TRY(choose(d, low, choice, err));
    CELLAR_TRY(cellar_cube_design_noise(d, choice, low, err));
    if (!(epsilon_of(d) <= epsilon))
        CELLAR_TRY(cellar_plan_fail_at(
            d->plan, "budget", err, "no noise was found for this epsilon and delta; give a rho"));
out:
    return status;
}

static cellar_status find_noise(cellar_cube_design *d, cube_choice *choice, cellar_error *err)
{
    const plan_budget *budget = &d->plan->budget;
    const double amount = strtod(budget->rho != NULL ? budget->rho : budget->epsilon, NULL);
    cellar_status status = CELLAR_OK;
    if (budget->delta != NULL)
        return search_rho(d, choice, err);
    /* Of pure epsilon: the split that the problem of rho suggests. Its caps are shares only. */
    CELLAR_TRY(choose(d, amount, choice, err));
    CELLAR_TRY(cellar_cube_design_noise(d, choice, amount, err));
out:
    return status;
}

/* The aim of every wish that is missed is lowered by as much as was missed: the choice knows
 * neither that noise is rounded to few sizes nor that the cells of a hierarchy which is not
 * balanced differ. *over: the largest variance over its wish, 1 when all are met. */
static cellar_status lower_aims(cellar_cube_design *d, double *over, cellar_error *err)
{
    *over = 1;
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        double variance;
        cellar_status status;
        if (!isfinite(d->wish[t]))
            continue;
        status = cellar_cube_largest_variance(d->cube, (uint32_t) t, &variance, err);
        if (status != CELLAR_OK)
            return status;
        if (variance > d->wish[t] * 1.0002) {
            *over = fmax(*over, variance / d->wish[t]);
            d->aim[t] *= d->wish[t] / variance;
        }
    }
    return CELLAR_OK;
}

static cellar_status meet_wishes(cellar_cube_design *d, cube_choice *choice, cellar_error *err)
{
    double over = INFINITY;
    cellar_status status = CELLAR_OK;
    memcpy(d->aim, d->wish, d->cube->lattice.n * sizeof *d->aim);
    for (size_t i = 0; i < TIGHTENINGS && over > 1; i++) {
        cellar_cube_choice_clear(choice);
        CELLAR_TRY(find_noise(d, choice, err));
        CELLAR_TRY(lower_aims(d, &over, err));
    }
    if (over > 1)
        CELLAR_TRY(fail_wishes(d, over, err));
out:
    return status;
}

/* ---- what it gives ------------------------------------------------------------------------------
 */

/* 1 when no other table lies above. */
static void mark_finest(const cube_lattice *l, unsigned char *is_finest)
{
    memset(is_finest, 1, l->n);
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
        sum += pow(d->weight[t] * l->n_cells[t], power);
    for (size_t t = 0; t < l->n; t++)
        d->independent_sd[t] = sqrt(alone(d, pow(d->weight[t] * l->n_cells[t], power) / sum));
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
        d->inner_sd[t] = INFINITY;
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
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        double variance;
        CELLAR_TRY(cellar_cube_largest_variance(d->cube, (uint32_t) t, &variance, err));
        d->sd[t] = sqrt(variance);
    }
    d->loss_to_bound = is_optimum ? choice->loss / choice->least : NAN;
    d->loss_to_optimum = is_optimum ? choice->loss / choice->free_least : NAN;
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
        if (table->largest_sd != NULL && cellar_cube_design_is_pure(d))
            return cellar_plan_fail(plan->name, &table->place, "largest_sd", err,
                                    "for a budget of pure epsilon no optimum is known and no "
                                    "precision can be asked for: give a delta or a rho");
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
    CELLAR_TRY(meet_wishes(d, &choice, err));
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
    return (cellar_cube_design_table){.name = d->names[table],
                                      .n_variables = d->cube->lattice.spaces[table].order,
                                      .n_cells = (uint64_t) d->cube->lattice.n_cells[table],
                                      .mechanism = d->cube->tables[table].mechanism,
                                      .sd = d->sd[table],
                                      .independent_sd = d->independent_sd[table],
                                      .inner_sd = d->inner_sd[table]};
}

size_t cellar_cube_design_n_measured(const cellar_cube_design *d)
{
    size_t n = 0;
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        n += d->mechanism_of[t] != CUBE_NOT_MEASURED;
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

double cellar_cube_design_loss_to_bound(const cellar_cube_design *d)
{
    return d->loss_to_bound;
}

double cellar_cube_design_loss_to_optimum(const cellar_cube_design *d)
{
    return d->loss_to_optimum;
}
