/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One budget, split over the tables of a list.
 *
 * A record touches d_t cells of table t, each of which costs x_t; the whole costs the sum of d_t
 * x_t. Even: all x_t are the same. By weights: d_t x_t is proportional to w_t. Optimal: the sum
 * over published cells of w_t times the variance is least. Noise that costs epsilon has a variance
 * of about 2/epsilon^2, and d/dx of (w_t n_t 2/x^2 + lambda d_t x) vanishes for x_t proportional to
 * (w_t n_t / d_t)^(1/3); noise that costs rho has the variance 1/(2 rho), and x_t is proportional
 * to (w_t n_t / d_t)^(1/2). */
#include "plan/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "release/guarantee/share.h"

double cellar_plan_weight(const plan_table *table)
{
    return table->weight != NULL ? strtod(table->weight, NULL) : 1;
}

double cellar_plan_optimal_size(double weight, double n_cells, double d, int by_rho)
{
    double ratio = weight * fmax(n_cells, 1) / d; /* of structural zeros alone: as if one was not */
    return by_rho ? sqrt(ratio) : cbrt(ratio);
}

void cellar_plan_relative_size(const plan_work *work, const plan_piece *piece, fmpq_t out)
{
    const plan_budget *budget = &work->plan->budget;
    fmpz_t d;
    fmpq_one(out);
    if (budget->split == PLAN_SPLIT_OPTIMAL) {
        cellar_rational_set_double(
            out, cellar_plan_optimal_size(cellar_plan_weight(piece->table),
                                          (double) (piece->n_cells - piece->n_structural),
                                          (double) piece->d, plan_budget_costs_rho(budget)));
        return;
    }
    if (budget->split != PLAN_SPLIT_WEIGHTS)
        return;
    if (piece->table->weight != NULL)
        cellar_rational_parse(piece->table->weight, strlen(piece->table->weight), out);
    fmpz_init_set_ui(d, piece->d);
    fmpq_div_fmpz(out, out, d);
    fmpz_clear(d);
}

/* For epsilon m w, and for rho its square, as a unit may put all its records into one cell; twice
 * that under substitution. */
void cellar_plan_unit_factor(const plan_work *work, int by_rho, fmpz_t out)
{
    fmpz_t shift;
    fmpz_init_set_ui(shift, work->per_unit);
    fmpz_mul_ui(shift, shift, work->max_weight);
    if (by_rho)
        fmpz_mul(shift, shift, shift);
    fmpz_mul_ui(out, shift, work->n_sides);
    fmpz_clear(shift);
}

char *cellar_plan_spec_with(const char *spec, const char *key, const char *value)
{
    size_t size = strlen(spec) + strlen(key) + strlen(value) + 3;
    char *text = cellar_alloc(size, 1);
    if (text != NULL &&
        cellar_mechanism_spec_add(spec, key, value, text, size, NULL) != CELLAR_OK) {
        cellar_free(text);
        text = NULL;
    }
    return text;
}

/* The sigma of noise that costs rho, rounded up. */
static void sigma_text(double rho, char out[64])
{
    double sigma = sqrt(1 / (2 * rho)) * (1 + 1e-11);
    snprintf(out, 64, "%.12g", sigma);
}

static cellar_status split_budget(const plan_work *work, char **specs, cellar_error *err)
{
    const plan_budget *budget = &work->plan->budget;
    const char *total = budget->rho != NULL ? budget->rho : budget->epsilon;
    cellar_status status = CELLAR_OK;
    char text[64];
    fmpq_t sum, size, part;
    fmpz_t factor;

    fmpq_init(sum);
    fmpq_init(size);
    fmpq_init(part);
    fmpz_init(factor);
    for (size_t t = 0; t < work->n; t++) {
        fmpz_set_ui(factor, work->pieces[t].d);
        cellar_plan_relative_size(work, &work->pieces[t], size);
        fmpq_mul_fmpz(size, size, factor);
        fmpq_add(sum, sum, size);
    }
    cellar_plan_unit_factor(work, budget->rho != NULL, factor);
    fmpq_mul_fmpz(sum, sum, factor);
    for (size_t t = 0; t < work->n; t++) {
        cellar_plan_relative_size(work, &work->pieces[t], size);
        fmpq_div(part, size, sum);
        CELLAR_TRY(cellar_share_part(total, part, text, err));
        if (budget->rho != NULL)
            sigma_text(strtod(text, NULL), text);
        specs[t] = cellar_plan_spec_with(work->pieces[t].table->mechanism,
                                         budget->rho != NULL ? "sigma" : "epsilon", text);
        if (specs[t] == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "a mechanism"));
    }
out:
    if (status == CELLAR_ERR_OVERFLOW)
        status = cellar_plan_fail_at(work->plan, "budget", err, "it cannot be split so finely");
    fmpz_clear(factor);
    fmpq_clear(part);
    fmpq_clear(size);
    fmpq_clear(sum);
    return status;
}

/* Each table has its own epsilon, split evenly over its cells, or a mechanism that says it all. */
static cellar_status own_spec(const plan_work *work, const plan_piece *piece, char **out,
                              cellar_error *err)
{
    const plan_table *table = piece->table;
    uint64_t n_parts;
    char share[64];
    cellar_status status;
    if (table->epsilon == NULL) {
        size_t length = strlen(table->mechanism);
        *out = cellar_alloc(length + 1, 1);
        if (*out == NULL)
            return cellar_fail_memory(err, "a mechanism");
        memcpy(*out, table->mechanism, length);
        return CELLAR_OK;
    }
    if (__builtin_mul_overflow(piece->d, work->per_unit, &n_parts) ||
        __builtin_mul_overflow(n_parts, work->max_weight * work->n_sides, &n_parts))
        return cellar_plan_fail(work->plan->name, &table->place, "epsilon", err,
                                "split over too many parts");
    status = cellar_protect_share(table->epsilon, n_parts, share, err);
    if (status != CELLAR_OK)
        return status;
    *out = cellar_plan_spec_with(table->mechanism, "epsilon", share);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a mechanism");
}

cellar_status cellar_plan_split(const plan_work *work, char **specs, cellar_error *err)
{
    const plan_budget *budget = &work->plan->budget;
    if (budget->delta != NULL)
        return cellar_plan_find_sigmas(work, specs, err);
    if (budget->epsilon != NULL || budget->rho != NULL)
        return split_budget(work, specs, err);
    for (size_t t = 0; t < work->n; t++) {
        cellar_status status = own_spec(work, &work->pieces[t], &specs[t], err);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}
