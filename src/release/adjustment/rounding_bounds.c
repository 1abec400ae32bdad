/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeping a non-negative table near its unbiased estimate.
 *
 * The nearest table in the sense of squares may move one number far to spare many others a little.
 * When a released cell or aggregate is further than the bound from its estimate, a linear programme
 * changes the table as little as possible (in sum over cells) so that none is. Where that cannot be
 * had, for totals below zero say, the excess is as small as possible: it has a price above all that
 * moving cells could save. The total stays as it is. Cell i becomes before + up - down, where
 * 0 <= down <= before. */
#include <glpk.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/member_walk.h"
#include "release/adjustment/rounding.h"
#include "table/schema/schema.h"

static const double bounds_slack = 1e-7; /* what the solver may leave */

typedef struct bounds {
    glp_prob *problem;
    cellar_rounding *rounding;
    int *up, *columns; /* the column of up, that of down is the next; scratch of a row */
    double *factors;
    double price;
} bounds;

/* How much further than the bound the number at an index is from its estimate. */
static double bounds_excess(const cellar_rounding *rounding, size_t i)
{
    const cellar_adjustment *fit = rounding->fit;
    if (!(fit->weight[i] > 0))
        return 0;
    return fabs(rounding->before[i] - fit->estimate[i]) - rounding->max_move;
}

static void bounds_add_cell(bounds *b, size_t i)
{
    const double before = b->rounding->before[i];
    b->up[i] = glp_add_cols(b->problem, 2);
    glp_set_col_bnds(b->problem, b->up[i], GLP_LO, 0, 0);
    glp_set_col_bnds(b->problem, b->up[i] + 1, before > 0 ? GLP_DB : GLP_FX, 0, before);
    glp_set_obj_coef(b->problem, b->up[i], 1);
    glp_set_obj_coef(b->problem, b->up[i] + 1, 1);
}

static int bounds_put(bounds *b, int n, int column, double factor)
{
    b->columns[++n] = column;
    b->factors[n] = factor;
    return n;
}

/* estimate - bound <= before + sum of (up - down) - too much + too little <= estimate + bound. */
static void bounds_add_row(bounds *b, size_t i)
{
    const double from = b->rounding->fit->estimate[i] - b->rounding->before[i];
    const double bound = b->rounding->max_move;
    const int row = glp_add_rows(b->problem, 1), excess = glp_add_cols(b->problem, 2);
    cellar_member_walk walk;
    int n = 0;
    cellar_member_walk_start(&walk, b->rounding->fit->schema, i);
    do {
        const int up = b->up[cellar_member_walk_index(&walk)];
        if (up == 0)
            continue; /* impossible: it stays zero */
        n = bounds_put(b, n, up, 1);
        n = bounds_put(b, n, up + 1, -1);
    } while (cellar_member_walk_next(&walk));
    for (int side = 0; side < 2; side++) {
        glp_set_col_bnds(b->problem, excess + side, GLP_LO, 0, 0);
        glp_set_obj_coef(b->problem, excess + side, b->price);
        n = bounds_put(b, n, excess + side, side == 0 ? -1 : 1);
    }
    if (bound > 0)
        glp_set_row_bnds(b->problem, row, GLP_DB, from - bound, from + bound);
    else
        glp_set_row_bnds(b->problem, row, GLP_FX, from, from);
    glp_set_mat_row(b->problem, row, n, b->columns, b->factors);
}

/* sum of (up - down) over all cells = 0. */
static void bounds_hold_total(bounds *b)
{
    const int row = glp_add_rows(b->problem, 1);
    int n = 0;
    for (size_t i = 0; i < b->rounding->n; i++)
        if (b->up[i] != 0) {
            n = bounds_put(b, n, b->up[i], 1);
            n = bounds_put(b, n, b->up[i] + 1, -1);
        }
    glp_set_row_bnds(b->problem, row, GLP_FX, 0, 0);
    glp_set_mat_row(b->problem, row, n, b->columns, b->factors);
}

static cellar_status bounds_build(bounds *b, cellar_error *err)
{
    const cellar_adjustment *fit = b->rounding->fit;
    b->up = cellar_alloc(fit->n, sizeof *b->up);
    b->columns = cellar_alloc(2 * fit->n + 3, sizeof *b->columns);
    b->factors = cellar_alloc(2 * fit->n + 3, sizeof *b->factors);
    if (b->up == NULL || b->columns == NULL || b->factors == NULL)
        return cellar_fail_memory(err, "a rounding");
    glp_term_out(GLP_OFF);
    b->problem = glp_create_prob();
    b->price = 10.0 * (double) fit->n;
    for (size_t i = 0; i < fit->n; i++)
        if (cellar_schema_is_interior(fit->schema, i) && fit->diagonal[i] > 0)
            bounds_add_cell(b, i);
    for (size_t i = 0; i < fit->n; i++)
        if (fit->weight[i] > 0)
            bounds_add_row(b, i);
    bounds_hold_total(b);
    return CELLAR_OK;
}

static cellar_status bounds_solve(bounds *b, cellar_error *err)
{
    double *before = b->rounding->before;
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = GLP_ON;
    if (glp_simplex(b->problem, &how) != 0 || glp_get_status(b->problem) != GLP_OPT)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "a table within the bound of its estimates could not be found");
    for (size_t i = 0; i < b->rounding->n; i++)
        if (b->up[i] != 0)
            before[i] = fmax(before[i] + glp_get_col_prim(b->problem, b->up[i]) -
                                 glp_get_col_prim(b->problem, b->up[i] + 1),
                             0);
    cellar_aggregate_sum(b->rounding->fit->schema, before);
    return CELLAR_OK;
}

static size_t bounds_count(const cellar_rounding *rounding)
{
    size_t n = 0;
    for (size_t i = 0; i < rounding->n; i++)
        n += bounds_excess(rounding, i) > bounds_slack;
    return n;
}

cellar_status cellar_rounding_keep_near(cellar_rounding *rounding, int searched, cellar_error *err)
{
    bounds b = {.rounding = rounding};
    cellar_status status = CELLAR_OK;
    rounding->n_beyond = bounds_count(rounding);
    if (rounding->n_beyond == 0 || !searched)
        return CELLAR_OK;
    CELLAR_TRY(bounds_build(&b, err));
    CELLAR_TRY(bounds_solve(&b, err));
    rounding->n_beyond = bounds_count(rounding);
out:
    if (b.problem != NULL)
        glp_delete_prob(b.problem);
    cellar_free(b.up);
    cellar_free(b.columns);
    cellar_free(b.factors);
    return status;
}
