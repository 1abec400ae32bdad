/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Precisions and noise of a cube, for its budget and its wishes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cube/picks.h"
#include "cube/precision_pure.h"
#include "plan/cube_design.h"

enum { SEARCH_STEPS = 14, TIGHTENINGS = 12 };

/* ---- choosing ------------------------------------------------------------------------------- */

/* What precisions add up to when a unit may pay `budget` of rho: 2 rho / (records^2 sides). Of pure
 * epsilon, when all tables share it equally: w = epsilon^2 / 2. */
static double cost_for(const cellar_cube_design *d, double rho)
{
    const double records = (double) d->work.per_unit * (double) d->work.max_weight;
    const double n = (double) d->cube->lattice.n,
                 epsilon = rho / (records * (double) d->work.n_sides);
    if (cellar_cube_design_is_pure(d))
        return epsilon * epsilon / (2 * n);
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

/* The precisions that are known, at cost 1. */
static void known_at(const cellar_cube_design *d, double cost, double *out)
{
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        out[t] = d->mechanism_of[t] == CUBE_MEASURED_BEFORE ? d->cube->w[t] / cost : 0;
}

/* The split of a pure epsilon. Default caps are the variance of a quarter of it in equal parts, as
 * those of rho are: 2 / share^2 where that is 1 / share. They are aims only: choice->over is that
 * of the wishes, and where these are missed the search begins again without default caps. `room`
 * has caps, then known precisions. */
static cellar_status improve_pure(const cellar_cube_design *d, double epsilon, int with_defaults,
                                  cube_objective *objective, double *room, cube_choice *choice,
                                  cellar_error *err)
{
    const double records = (double) d->work.per_unit * (double) d->work.max_weight;
    const double each = epsilon / (records * (double) d->work.n_sides), square = each * each;
    const size_t n = d->cube->lattice.n;
    cellar_status status;
    for (size_t t = 0; t < n; t++)
        room[t] = fmin(with_defaults ? 2 * d->cap[t] * d->cap[t] : INFINITY, d->aim[t] * square);
    known_at(d, square, room + n);
    status = cellar_cube_improve_pure(&d->cube->lattice, objective, choice, err);
    choice->over = 0;
    for (size_t t = 0; status == CELLAR_OK && t < n; t++)
        choice->over = fmax(choice->over, choice->variance[t] / (d->aim[t] * square));
    return status;
}

/* out->over above 1: the wishes are not met. */
static cellar_status choose_at(cellar_cube_design *d, double rho, cube_choice *out,
                               cellar_error *err)
{
    const cube_lattice *l = &d->cube->lattice;
    cube_objective objective = cellar_cube_objective_default();
    double *cap = cellar_alloc(2 * l->n, sizeof *cap);
    const int is_pure = cellar_cube_design_is_pure(d);
    cellar_status status = CELLAR_OK;
    if (cap == NULL)
        return cellar_fail_memory(err, "the design of a cube");
    if (is_pure) /* wishes are those of the improved split */
        memcpy(cap, d->cap, l->n * sizeof *cap);
    else
        caps_at(d, cost_for(d, rho), cap);
    known_at(d, cost_for(d, rho), cap + l->n);
    objective.weight = d->weight;
    objective.cap = cap;
    objective.known = d->published != NULL ? cap + l->n : NULL;
    if (d->plan->universe.objective == PLAN_OBJECTIVE_LARGEST) {
        for (size_t t = 0; t < l->n; t++)
            cap[t] = isfinite(cap[t]) ? cap[t] : 1 / (d->weight[t] * l->n_cells[t]);
        objective.gap = 0.01;
        CELLAR_TRY(cellar_cube_choose_minimax(l, &objective, out, err));
        if (is_pure)
            CELLAR_TRY(cellar_cube_improve_pure_minimax(l, &objective, out, err));
        out->over = 0; /* goals, not caps */
    } else {
        CELLAR_TRY(cellar_cube_choose(l, &objective, 1, out, err));
        if (is_pure)
            CELLAR_TRY(improve_pure(d, rho, 1, &objective, cap, out, err));
        if (is_pure && out->over > 1) {
            cellar_cube_choice_clear(out);
            memcpy(cap, d->cap, l->n * sizeof *cap);
            CELLAR_TRY(cellar_cube_choose(l, &objective, 1, out, err));
            CELLAR_TRY(improve_pure(d, rho, 0, &objective, cap, out, err));
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

/* The largest rho whose cube has epsilon at delta, to a ten-thousandth of epsilon: by the
 * certificate itself. The search begins at what zero-concentrated privacy proves, epsilon = rho + 2
 * sqrt(rho ln(1/delta)) (Bun and Steinke 2016), and goes on where a line through the last two
 * points leads, in logarithms, or to the middle of what is left. Aims are none yet. */
static cellar_status search_rho(cellar_cube_design *d, double epsilon, double *out,
                                cellar_error *err)
{
    const double root = log(1 / strtod(d->plan->budget.delta, NULL));
    double low = pow(sqrt(root + epsilon) - sqrt(root), 2), high = INFINITY;
    double rho = low, slope = 0.75, before = 0, found_before = 0;
    cube_choice choice = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(choose_at(d, rho, &choice, err));
    for (size_t i = 0; i < SEARCH_STEPS && high > low * 1.0001; i++) {
        double found;
        CELLAR_TRY(cellar_cube_design_noise(d, &choice, rho, 1, err));
        found = epsilon_of(d);
        if (found <= epsilon)
            low = rho;
        else
            high = rho;
        if (found <= epsilon && found >= epsilon * 0.9999)
            break;
        if (i > 0 && rho != before && found != found_before)
            slope = fmin(fmax(log(found / found_before) / log(rho / before), 0.4), 1.2);
        before = rho;
        found_before = found;
        rho *= pow(epsilon * 0.99995 / found, 1 / slope);
        if (!(rho > low && rho < high))
            rho = isfinite(high) ? sqrt(low * high) : low * 1.01;
    }
    *out = low;
out:
    cellar_cube_choice_clear(&choice);
    return status;
}

/* Precisions for an amount of rho (or pure epsilon) and their noise. Those that wishes ask for may
 * have a slightly larger epsilon at the rho that was found without them, which is lowered then.
 * *over above 1: the aims cannot be met, and there is no noise. */
static cellar_status find_noise(cellar_cube_design *d, double epsilon, double *amount,
                                cube_choice *choice, double *over, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < SEARCH_STEPS; i++) {
        cellar_cube_choice_clear(choice);
        CELLAR_TRY(choose_at(d, *amount, choice, err));
        *over = choice->over > 1.0001 ? choice->over : 1;
        if (*over > 1)
            return CELLAR_OK;
        CELLAR_TRY(cellar_cube_design_noise(d, choice, *amount, 1, err));
        if (d->plan->budget.delta == NULL || epsilon_of(d) <= epsilon)
            return CELLAR_OK;
        *amount *= pow(epsilon * 0.99995 / epsilon_of(d), 2);
    }
    status = cellar_plan_fail_at(d->plan, "budget", err,
                                 "no noise was found for this epsilon and delta; give a rho");
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

/* Precisions and noise for a budget, the plan's or another. *amount: the rho that it buys. *over
 * above 1: the wishes are missed by about so much. */
static cellar_status try_budget(cellar_cube_design *d, double budget, cube_choice *choice,
                                double *amount, double *over, cellar_error *err)
{
    const size_t n = d->cube->lattice.n;
    cellar_status status = CELLAR_OK;
    int is_possible = 1;
    *amount = budget;
    *over = INFINITY;
    for (size_t t = 0; t < n; t++)
        d->aim[t] = INFINITY;
    if (d->plan->budget.delta != NULL)
        CELLAR_TRY(search_rho(d, budget, amount, err));
    memcpy(d->aim, d->wish, n * sizeof *d->aim);
    for (size_t i = 0; i < TIGHTENINGS && is_possible && *over > 1; i++) {
        CELLAR_TRY(find_noise(d, budget, amount, choice, over, err));
        is_possible = *over <= 1;
        if (is_possible)
            CELLAR_TRY(lower_aims(d, over, err));
    }
out:
    return status;
}

/* Refuses wishes that are missed by `over`, and names a budget of three digits that was tried and
 * meets them: default caps are shares of the budget and leave wishes no more than a part of what is
 * added, and noise is rounded, so that no factor is right without a trial. */
static cellar_status fail_wishes(cellar_cube_design *d, double over, cube_choice *choice,
                                 cellar_error *err)
{
    const int is_rho = d->plan->budget.rho != NULL;
    double budget = strtod(is_rho ? d->plan->budget.rho : d->plan->budget.epsilon, NULL);
    char enough[64] = "no budget that was tried";
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < SEARCH_STEPS && status == CELLAR_OK && over > 1; i++) {
        double step, amount;
        char text[32];
        budget *= is_rho ? fmax(over, 1.01) : sqrt(fmax(over, 1.02));
        step = pow(10, floor(log10(budget)) - 2);
        snprintf(text, sizeof text, "%.3g", ceil(budget / step) * step);
        budget = strtod(text, NULL);
        status = try_budget(d, budget, choice, &amount, &over, err);
        if (status == CELLAR_OK && over <= 1)
            snprintf(enough, sizeof enough, "%s: %s", is_rho ? "rho" : "epsilon", text);
    }
    if (status == CELLAR_ERR_MEMORY)
        return status;
    status = cellar_plan_fail_at(d->plan, "budget", err,
                                 "the standard deviations that were asked for %s: %s would be "
                                 "enough",
                                 cellar_cube_design_is_pure(d) ? "are met by no split that was "
                                                                 "found"
                                                               : "cannot all be met",
                                 enough);
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_ERR_RULE;
}

cellar_status cellar_cube_design_choose(cellar_cube_design *d, cube_choice *choice,
                                        cellar_error *err)
{
    const plan_budget *budget = &d->plan->budget;
    double over, amount;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(try_budget(d, strtod(budget->rho != NULL ? budget->rho : budget->epsilon, NULL),
                          choice, &amount, &over, err));
    if (over > 1)
        CELLAR_TRY(fail_wishes(d, over, choice, err));
    CELLAR_TRY(cellar_cube_design_noise(d, choice, amount, 0, err));
out:
    return status;
}
