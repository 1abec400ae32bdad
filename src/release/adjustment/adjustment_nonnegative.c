/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The non-negative table nearest to what was released among those with the unbiased total.
 *
 * Without the condition on the total, lifting every negative cell to zero adds about half of the
 * noise of all empty cells: a sparse table would grow many times over. The sum of the unbiased
 * estimates has no such bias, so it is held. In a table without margins the answer is the
 * projection onto a simplex: max(y - theta, 0), theta such that the total is right (Held, Wolfe and
 * Crowder 1974).
 *
 * Block principal pivoting (Portugal, Júdice and Vicente 1994): guess which cells are zero (a good
 * guess comes from adjustment_active.c), solve for the others, and exchange all cells whose sign
 * contradicts the guess; when that stops helping, only the last of them (Murty's rule). With the
 * multiplier theta of the total the other cells x satisfy E'WE x + theta 1 = E'Wy and 1'x = total:
 * x = u - theta v, where E'WE u = E'Wy and E'WE v = 1. At the end cells are >= 0 and the gradient
 * at no zero is above theta, which proves the minimum since the problem is convex. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/rounding.h"

enum { PIVOT_PATIENCE = 10, PIVOT_MAX_ROUNDS = 500 };

typedef struct pivot {
    const cellar_adjustment *fit;
    cellar_adjustment reduced; /* the fit in which cells guessed to be zero are no unknowns */
    double *right, *x, *gradient, *unit; /* unit: v */
    double theta;
} pivot;

static cellar_status pivot_init(pivot *p, const cellar_adjustment *fit, cellar_error *err)
{
    *p = (pivot){.fit = fit, .reduced = *fit};
    p->reduced.diagonal = cellar_alloc(fit->n, sizeof *fit->diagonal);
    p->right = cellar_alloc(fit->n, sizeof *p->right);
    p->x = cellar_alloc(fit->n, sizeof *p->x);
    p->gradient = cellar_alloc(fit->n, sizeof *p->gradient);
    p->unit = cellar_alloc(fit->n, sizeof *p->unit);
    if (p->reduced.diagonal == NULL || p->right == NULL || p->x == NULL || p->gradient == NULL ||
        p->unit == NULL)
        return cellar_fail_memory(err, "a fit");
    return cellar_adjustment_guess_zeros(fit, p->reduced.diagonal, err);
}

static void pivot_clear(pivot *p)
{
    cellar_free(p->reduced.diagonal);
    cellar_free(p->right);
    cellar_free(p->x);
    cellar_free(p->gradient);
    cellar_free(p->unit);
}

/* gradient = E'W(y - Ex): a cell at zero should grow where it is above theta. */
static void pivot_gradient(pivot *p)
{
    const cellar_adjustment *fit = p->fit;
    memcpy(p->gradient, p->x, fit->n * sizeof *p->gradient);
    cellar_aggregate_sum(fit->schema, p->gradient);
    for (size_t i = 0; i < fit->n; i++)
        p->gradient[i] = fit->weight[i] * (fit->observed[i] - p->gradient[i]);
    cellar_aggregate_spread(fit->schema, p->gradient);
}

/* Solves E'WE x = right in the unknowns of the guess; p->right is changed. */
static cellar_status pivot_solve_for(pivot *p, double *x, cellar_error *err)
{
    cellar_adjustment_solution solution;
    for (size_t i = 0; i < p->fit->n; i++)
        if (p->reduced.diagonal[i] == 0)
            p->right[i] = 0;
    memset(x, 0, p->fit->n * sizeof *x);
    return cellar_adjustment_solve(&p->reduced, p->right, x, NULL, &solution, err);
}

/* x = u - theta v with the total that is held. */
static void pivot_hold_total(pivot *p)
{
    double sum = 0, unit = 0;
    for (size_t i = 0; i < p->fit->n; i++) {
        sum += p->x[i];
        unit += p->unit[i];
    }
    p->theta = unit > 0 ? (sum - p->fit->total) / unit : 0;
    for (size_t i = 0; i < p->fit->n; i++)
        p->x[i] -= p->theta * p->unit[i];
}

static cellar_status pivot_solve(pivot *p, cellar_error *err)
{
    const cellar_adjustment *fit = p->fit;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < fit->n; i++)
        p->right[i] = fit->weight[i] * fit->observed[i];
    cellar_aggregate_spread(fit->schema, p->right);
    CELLAR_TRY(pivot_solve_for(p, p->x, err));
    for (size_t i = 0; i < fit->n; i++)
        p->right[i] = 1;
    CELLAR_TRY(pivot_solve_for(p, p->unit, err));
    pivot_hold_total(p);
    pivot_gradient(p);
out:
    return status;
}

/* 1 when the guess about cell i is wrong: an unknown is negative, or a zero should grow. */
static int pivot_contradicted(const pivot *p, size_t i)
{
    if (p->fit->diagonal[i] == 0)
        return 0;
    if (p->reduced.diagonal[i] > 0)
        return p->x[i] < -1e-9;
    return p->gradient[i] - p->theta > 1e-9 * p->fit->diagonal[i];
}

/* Exchanges the contradicted cells, all or the last only; returns how many there were. */
static size_t pivot_exchange(pivot *p, int all)
{
    size_t n_wrong = 0;
    for (size_t i = p->fit->n; i-- > 0;) {
        if (!pivot_contradicted(p, i))
            continue;
        if (all || n_wrong == 0)
            p->reduced.diagonal[i] = p->reduced.diagonal[i] > 0 ? 0 : p->fit->diagonal[i];
        n_wrong++;
    }
    return n_wrong;
}

cellar_status cellar_adjustment_nonnegative(const cellar_adjustment *fit, double *out,
                                            cellar_error *err)
{
    if (!(fit->total > 0)) { /* no other table without negative cells has a total of zero */
        memset(out, 0, fit->n * sizeof *out);
        return CELLAR_OK;
    }
    pivot p;
    size_t fewest = SIZE_MAX;
    int patience = PIVOT_PATIENCE;
    cellar_status status = pivot_init(&p, fit, err);
    if (status != CELLAR_OK)
        goto out;
    for (int round = 0; round < PIVOT_MAX_ROUNDS; round++) {
        CELLAR_TRY(pivot_solve(&p, err));
        const size_t n_wrong = pivot_exchange(&p, patience > 0);
        if (n_wrong == 0) {
            for (size_t i = 0; i < fit->n; i++)
                out[i] = fmax(p.x[i], 0);
            cellar_aggregate_sum(fit->schema, out);
            goto out;
        }
        patience = n_wrong < fewest ? PIVOT_PATIENCE : patience - 1;
        fewest = n_wrong < fewest ? n_wrong : fewest;
    }
    status = cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                         "no non-negative table was found in %d rounds", (int) PIVOT_MAX_ROUNDS);
out:
    pivot_clear(&p);
    return status;
}
