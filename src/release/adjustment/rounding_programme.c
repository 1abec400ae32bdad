/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Controlled rounding as an integer programme, solved by GLPK.
 *
 * A cell x with fraction f becomes floor(x) + z with z in {0, 1}, at the cost |z - f|, which is
 * linear: f + z (1 - 2f). A released aggregate and the total may take the two whole numbers around
 * them; a slack that costs more than all cells together lets it go further when nothing else adds
 * up. With two variables and nested categories the constraints are those of a network flow, whose
 * linear programme has whole solutions by itself; the search begins only when it has not. (Cox
 * 1987; Kelly, Golden and Assad 1990.) */
#include <glpk.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/member_walk.h"
#include "release/adjustment/rounding.h"
#include "table/schema/schema.h"

static const double programme_whole = 1e-7; /* nearer to a whole number is one */

typedef struct programme {
    glp_prob *problem;
    cellar_rounding *rounding;
    int *column;   /* of each index; 0 for none */
    int n_columns; /* cells that have a choice */
    int *rows;     /* scratch for one row: columns and coefficients, from 1 on */
    double *ones;
    double fixed_cost; /* what the objective does not hold: the sum of f */
    uint64_t n_nodes, max_nodes;
} programme;

static double programme_floor(double value)
{
    return floor(value + programme_whole);
}

static int programme_is_whole(double value)
{
    return fabs(value - nearbyint(value)) <= programme_whole;
}

/* Every cell with a fraction gets a column; the others are rounded at once. */
static void programme_add_cells(programme *p)
{
    cellar_rounding *rounding = p->rounding;
    for (size_t i = 0; i < rounding->n; i++) {
        if (!cellar_schema_is_interior(rounding->fit->schema, i))
            continue;
        const double whole = programme_floor(rounding->before[i]);
        rounding->value[i] = whole;
        if (programme_is_whole(rounding->before[i]))
            continue;
        const double fraction = rounding->before[i] - whole;
        p->column[i] = glp_add_cols(p->problem, 1);
        glp_set_col_bnds(p->problem, p->column[i], GLP_DB, 0, 1);
        glp_set_obj_coef(p->problem, p->column[i], 1 - 2 * fraction);
        glp_set_col_kind(p->problem, p->column[i], GLP_IV);
        p->fixed_cost += fraction;
        p->n_columns++;
    }
}

static int programme_add_slack(programme *p, double sign, double price, int n_used)
{
    const int column = glp_add_cols(p->problem, 1);
    glp_set_col_bnds(p->problem, column, GLP_LO, 0, 0);
    glp_set_obj_coef(p->problem, column, price);
    glp_set_col_kind(p->problem, column, GLP_IV);
    p->rows[n_used] = column;
    p->ones[n_used] = sign;
    return column;
}

/* One sum of cells while its row is put together. */
typedef struct programme_sum {
    double before, floors; /* of all its cells */
    int n;                 /* cells that have a choice */
} programme_sum;

static void programme_sum_add(programme *p, programme_sum *sum, uint64_t index)
{
    sum->before += p->rounding->before[index];
    sum->floors += p->rounding->value[index];
    if (p->column[index] != 0) {
        p->rows[++sum->n] = p->column[index];
        p->ones[sum->n] = 1;
    }
}

/* floor(X) - (the sum of its cells' floors) <= sum of z <= the same + 1. */
static void programme_add_row(programme *p, const programme_sum *sum)
{
    if (sum->n == 0)
        return;
    const double low = programme_floor(sum->before) - sum->floors;
    const double high = low + (programme_is_whole(sum->before) ? 0 : 1);
    const int row = glp_add_rows(p->problem, 1);
    glp_set_row_bnds(p->problem, row, low < high ? GLP_DB : GLP_FX, low, high);
    programme_add_slack(p, 1, 1.0 + p->n_columns, sum->n + 1);
    programme_add_slack(p, -1, 1.0 + p->n_columns, sum->n + 2);
    glp_set_mat_row(p->problem, row, sum->n + 2, p->rows, p->ones);
}

static void programme_add_aggregate(programme *p, uint64_t aggregate)
{
    const cellar_adjustment *fit = p->rounding->fit;
    programme_sum sum = {0};
    cellar_member_walk walk;
    cellar_member_walk_start(&walk, fit->schema, aggregate);
    do
        programme_sum_add(p, &sum, cellar_member_walk_index(&walk));
    while (cellar_member_walk_next(&walk));
    if (fit->exact > 0 && fit->weight[aggregate] >= fit->exact)
        sum.before = nearbyint(fit->estimate[aggregate]); /* but for what the solver left */
    programme_add_row(p, &sum);
}

/* 1 when a release holds the total, which then has its row. */
static int programme_has_total(const cellar_adjustment *fit)
{
    for (size_t v = 0; v < fit->schema->n_variables; v++)
        if (!fit->schema->axes[v].has_total)
            return 0;
    return fit->weight[fit->n - 1] > 0; /* every variable at its last category */
}

/* Released or not, the total is held. */
static void programme_add_total(programme *p)
{
    const cellar_rounding *rounding = p->rounding;
    programme_sum sum = {0};
    if (programme_has_total(rounding->fit))
        return;
    for (size_t i = 0; i < rounding->n; i++)
        if (cellar_schema_is_interior(rounding->fit->schema, i))
            programme_sum_add(p, &sum, i);
    programme_add_row(p, &sum);
}

static cellar_status programme_build(programme *p, cellar_rounding *rounding, cellar_error *err)
{
    p->rounding = rounding;
    p->column = cellar_alloc(rounding->n, sizeof *p->column);
    p->rows = cellar_alloc(rounding->n + 3, sizeof *p->rows);
    p->ones = cellar_alloc(rounding->n + 3, sizeof *p->ones);
    if (p->column == NULL || p->rows == NULL || p->ones == NULL)
        return cellar_fail_memory(err, "a rounding");
    glp_term_out(GLP_OFF);
    p->problem = glp_create_prob();
    programme_add_cells(p);
    for (size_t i = 0; i < rounding->n; i++)
        if (rounding->fit->weight[i] > 0 && !cellar_schema_is_interior(rounding->fit->schema, i))
            programme_add_aggregate(p, i);
    programme_add_total(p);
    return CELLAR_OK;
}

static void programme_clear(programme *p)
{
    if (p->problem != NULL)
        glp_delete_prob(p->problem);
    cellar_free(p->column);
    cellar_free(p->rows);
    cellar_free(p->ones);
}

/* The search counts its nodes and not its seconds: the same table always gets the same answer. */
static void programme_watch(glp_tree *tree, void *context)
{
    programme *p = context;
    if (glp_ios_reason(tree) == GLP_ISELECT && ++p->n_nodes > p->max_nodes)
        glp_ios_terminate(tree);
}

static int programme_solution_is_whole(const programme *p)
{
    const int n = glp_get_num_cols(p->problem);
    for (int j = 1; j <= n; j++)
        if (!programme_is_whole(glp_get_col_prim(p->problem, j)))
            return 0;
    return 1;
}

static void programme_take(programme *p, double (*value)(glp_prob *, int))
{
    cellar_rounding *rounding = p->rounding;
    for (size_t i = 0; i < rounding->n; i++)
        if (p->column[i] != 0)
            rounding->value[i] += nearbyint(value(p->problem, p->column[i]));
}

/* Branch and bound from the linear programme's solution on. Returns 0 when no solution was found
 * within the nodes allowed. */
static int programme_branch(programme *p)
{
    glp_iocp how;
    const double relaxed = glp_get_obj_val(p->problem);
    glp_init_iocp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.fp_heur = GLP_ON;
    how.cb_func = programme_watch;
    how.cb_info = p;
    glp_intopt(p->problem, &how);
    const int found = glp_mip_status(p->problem);
    if (found != GLP_OPT && found != GLP_FEAS)
        return 0;
    programme_take(p, glp_mip_col_val);
    p->rounding->proof = found == GLP_OPT ? CELLAR_ROUNDING_OPTIMAL : CELLAR_ROUNDING_GAP;
    p->rounding->bound = p->fixed_cost + (found == GLP_OPT ? glp_mip_obj_val(p->problem) : relaxed);
    return 1;
}

static cellar_status programme_solve(programme *p, cellar_error *err)
{
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = GLP_OFF;
    if (glp_simplex(p->problem, &how) != 0 || glp_get_status(p->problem) != GLP_OPT)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "the whole numbers nearest to a fit could not be found");
    if (programme_solution_is_whole(p)) {
        programme_take(p, glp_get_col_prim);
        p->rounding->proof = CELLAR_ROUNDING_OPTIMAL;
        return CELLAR_OK;
    }
    return programme_branch(p) ? CELLAR_OK : cellar_rounding_greedy(p->rounding, err);
}

cellar_status cellar_rounding_search(cellar_rounding *rounding,
                                     const cellar_rounding_options *options, cellar_error *err)
{
    programme p = {0};
    cellar_status status = programme_build(&p, rounding, err);
    p.max_nodes = options->max_work / ((uint64_t) p.n_columns + 1);
    if (status == CELLAR_OK)
        status = programme_solve(&p, err);
    programme_clear(&p);
    return status;
}
