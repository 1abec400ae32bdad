/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear programmes of an audit.
 *
 * Unknown are the cells, none negative. Line by line the cells it names, plus what the value is too
 * large, less what it is too small, make the value; both differences are bounded by its limits. The
 * programme is solved once for the table nearest to all values (the smallest sum of differences,
 * each over the width of its limits: the decoding of Dinur and Nissim 2003), then for the least and
 * the largest number of each cell. Every solution is a table that fits: a cell that it leaves empty
 * needs no programme for its least number, and one that it brings to a limit none for its largest.
 */
#include <glpk.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/audit.h"

static const double slack = 1e-6; /* what the solver may leave, relative to numbers above 1 */

typedef struct programme {
    cellar_audit *audit;
    glp_prob *problem;
    double *factors;             /* scratch of a row */
    double *least, *most, *caps; /* of each cell: seen in solutions; the lowest of its lines */
} programme;

static double slack_of(double value)
{
    return slack * fmax(1, fabs(value));
}

/* ---- building --------------------------------------------------------------------------- */

/* A column for the difference of a line to one side, unless there can be none. */
static int add_difference(programme *p, double most, double price)
{
    int column;
    if (!(most > 0))
        return 0;
    column = glp_add_cols(p->problem, 1);
    glp_set_col_bnds(p->problem, column, isinf(most) ? GLP_LO : GLP_DB, 0, most);
    glp_set_obj_coef(p->problem, column, price);
    return column;
}

static void add_row(programme *p, const audit_line *line, int *columns)
{
    const double width = isinf(line->high) ? line->value - line->low : line->high - line->low;
    const int above = add_difference(p, line->value - line->low, 1 / (1 + width));
    const int below = add_difference(p, line->high - line->value, 1 / (1 + width));
    const int row = glp_add_rows(p->problem, 1);
    int n = (int) line->n_members;
    memcpy(columns + 1, p->audit->members + line->first, line->n_members * sizeof *columns);
    for (int i = 1; i <= n; i++) {
        p->factors[i] = 1;
        p->caps[columns[i] - 1] = fmin(p->caps[columns[i] - 1], line->high);
    }
    if (above != 0) {
        columns[++n] = above;
        p->factors[n] = 1;
    }
    if (below != 0) {
        columns[++n] = below;
        p->factors[n] = -1;
    }
    glp_set_row_bnds(p->problem, row, GLP_FX, line->value, line->value);
    glp_set_mat_row(p->problem, row, n, columns, p->factors);
}

static cellar_status programme_build(programme *p, cellar_error *err)
{
    const size_t n = p->audit->n_cells;
    int *columns = cellar_alloc(n + 3, sizeof *columns);
    p->factors = cellar_alloc(n + 3, sizeof *p->factors);
    p->least = cellar_alloc(n, sizeof *p->least);
    p->most = cellar_alloc(n, sizeof *p->most);
    p->caps = cellar_alloc(n, sizeof *p->caps);
    if (columns == NULL || p->factors == NULL || p->least == NULL || p->most == NULL ||
        p->caps == NULL) {
        cellar_free(columns);
        return cellar_fail_memory(err, "an audit");
    }
    glp_term_out(GLP_OFF);
    p->problem = glp_create_prob();
    glp_add_cols(p->problem, (int) n);
    for (size_t i = 0; i < n; i++) {
        glp_set_col_bnds(p->problem, (int) i + 1, GLP_LO, 0, 0);
        p->least[i] = p->caps[i] = INFINITY;
        p->most[i] = -INFINITY;
    }
    for (size_t l = 0; l < p->audit->n_lines; l++)
        add_row(p, &p->audit->lines[l], columns);
    cellar_free(columns);
    return CELLAR_OK;
}

/* ---- solving ---------------------------------------------------------------------------- */

static void programme_see(programme *p)
{
    for (size_t i = 0; i < p->audit->n_cells; i++) {
        const double value = glp_get_col_prim(p->problem, (int) i + 1);
        p->least[i] = fmin(p->least[i], value);
        p->most[i] = fmax(p->most[i], value);
    }
}

/* Solves from the last solution on; from the beginning where that fails. Answers GLPK's status. */
static int programme_run(programme *p)
{
    glp_smcp how;
    int status;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    if (glp_simplex(p->problem, &how) != 0) {
        glp_std_basis(p->problem);
        how.presolve = GLP_ON;
        if (glp_simplex(p->problem, &how) != 0)
            return glp_get_status(p->problem) == GLP_OPT ? GLP_UNDEF : GLP_NOFEAS;
    }
    status = glp_get_status(p->problem);
    if (status == GLP_OPT)
        programme_see(p);
    return status;
}

static cellar_status programme_guess(programme *p, cellar_error *err)
{
    const int found = programme_run(p);
    if (found == GLP_NOFEAS || found == GLP_INFEAS)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "no table has sums within the limits of all values: the files do not "
                           "count the same people, or noise was larger than the confidence allows "
                           "for, and a larger --confidence may help");
    if (found != GLP_OPT)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "the linear programme was not solved");
    for (size_t i = 0; i < p->audit->n_cells; i++)
        p->audit->cells[i].guess = llround(glp_get_col_prim(p->problem, (int) i + 1));
    for (int column = 1; column <= glp_get_num_cols(p->problem); column++)
        glp_set_obj_coef(p->problem, column, 0);
    return CELLAR_OK;
}

/* The least (GLP_MIN) or the largest number (GLP_MAX; INFINITY where there is no limit) of a cell.
 */
static cellar_status programme_extreme(programme *p, size_t cell, int direction, double *out,
                                       cellar_error *err)
{
    const int column = (int) cell + 1;
    int found;
    glp_set_obj_dir(p->problem, direction);
    glp_set_obj_coef(p->problem, column, 1);
    found = programme_run(p);
    glp_set_obj_coef(p->problem, column, 0);
    if (found == GLP_OPT)
        *out = glp_get_col_prim(p->problem, column);
    else if (found == GLP_UNBND && direction == GLP_MAX)
        *out = INFINITY;
    else
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "the linear programme was not solved");
    return CELLAR_OK;
}

static cellar_status programme_bound(programme *p, size_t i, cellar_error *err)
{
    cellar_audit_cell *cell = &p->audit->cells[i];
    double low = 0, high = p->caps[i];
    cellar_status status = CELLAR_OK;
    if (p->least[i] > slack)
        status = programme_extreme(p, i, GLP_MIN, &low, err);
    if (status == CELLAR_OK && !(p->most[i] >= high - slack_of(high)))
        status = programme_extreme(p, i, GLP_MAX, &high, err);
    cell->index = i;
    cell->low = (int64_t) fmax(0, ceil(low - slack_of(low)));
    cell->high = isinf(high) ? CELLAR_AUDIT_NO_LIMIT : (int64_t) floor(high + slack_of(high));
    return status;
}

cellar_status cellar_audit_solve(cellar_audit *audit, const cellar_progress *progress,
                                 cellar_error *err)
{
    programme p = {.audit = audit};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(programme_build(&p, err));
    CELLAR_TRY(programme_guess(&p, err));
    for (size_t i = 0; i < audit->n_cells; i++) {
        if (progress->report != NULL && progress->report(progress->context, "auditing",
                                                         (double) i / (double) audit->n_cells) != 0)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled"));
        CELLAR_TRY(programme_bound(&p, i, err));
    }
out:
    if (p.problem != NULL)
        glp_delete_prob(p.problem);
    cellar_free(p.factors);
    cellar_free(p.least);
    cellar_free(p.most);
    cellar_free(p.caps);
    return status;
}
