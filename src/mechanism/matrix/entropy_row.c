/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual of the problem has three multipliers: p_k = exp(t . T_k) with T_k = (1, v_k, v_k^2),
 * where the conditions on p bind it otherwise (Giessing, "Computational issues in the design of
 * transition probabilities and disclosure risk estimation for additive noise", PSD 2016, states
 * the problem). For given multipliers the best p under the monotony is found by pooling adjacent
 * violators: a pool has one probability, whose logarithm is the mean of its members' exponents. The
 * dual is convex and once differentiable, its gradient is what the constraints lack, and Newton's
 * method with a line search minimises it. What it finds, to the precision of a machine, is then
 * refined until that no longer matters. */
#include "mechanism/matrix/entropy_row.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/matrix/entropy_pool.h"

enum { ITERATIONS_MAX = 1000, HALVINGS_MAX = 80, STEP_MAX = 10000000 };

typedef struct solver {
    const cellar_entropy_row *row;
    size_t stay_at;    /* the position of change 0, or n */
    size_t n_chain;    /* the first so many points are monotone */
    size_t n_active;   /* multipliers in use: 3, or 2 when the variance is free */
    int is_held;       /* 1: the chance of staying is its bound, and no chance below exceeds it */
    long double scale; /* changes are divided by it */
    long double target[CELLAR_ENTROPY_MULTIPLIERS];
    cellar_entropy_pool *pools;
    size_t n_pools;
    long double t[CELLAR_ENTROPY_MULTIPLIERS]; /* of the solution */
} solver;

/* A point of the dual: value and what the constraints lack. */
typedef struct dual {
    long double t[CELLAR_ENTROPY_MULTIPLIERS];
    long double value;
    long double gradient[CELLAR_ENTROPY_MULTIPLIERS];
} dual;

/* ---- the best probabilities for given multipliers ----------------------------- */

static void solver_push(solver *s, size_t k, const long double *t, int pooling)
{
    long double x = (long double) s->row->changes[k] / s->scale;
    cellar_entropy_pool *last = &s->pools[s->n_pools++];
    *last = (cellar_entropy_pool){.n = 1, .sums = {1, x, x * x}, .is_free = 1};
    last->exponent = t[0] + t[1] * x + t[2] * x * x;
    while (pooling && s->n_pools > 1 && last[-1].exponent > last->exponent) {
        long double n = (long double) (last[-1].n + last->n);
        last[-1].exponent = ((long double) last[-1].n * last[-1].exponent +
                             (long double) last->n * last->exponent) /
                            n;
        last[-1].n += last->n;
        for (size_t i = 0; i < CELLAR_ENTROPY_MULTIPLIERS; i++)
            last[-1].sums[i] += last->sums[i];
        s->n_pools--;
        last--;
    }
    last->p = expl(last->exponent);
}

/* All pools for the multipliers. */
static void solver_pool(solver *s, const long double *t)
{
    s->n_pools = 0;
    for (size_t k = 0; k < s->row->n; k++)
        solver_push(s, k, t, k < s->n_chain && !(s->is_held && k == s->stay_at));
    if (!s->is_held)
        return;
    for (size_t i = 0, k = 0; i < s->n_pools; k += s->pools[i++].n) {
        cellar_entropy_pool *q = &s->pools[i];
        if (k == s->stay_at || (k < s->n_chain && q->p > s->row->stay)) {
            q->p = s->row->stay;
            q->is_free = 0;
        }
    }
}

static void solver_evaluate(solver *s, dual *at)
{
    solver_pool(s, at->t);
    at->value = 0;
    for (size_t i = 0; i < CELLAR_ENTROPY_MULTIPLIERS; i++) {
        at->gradient[i] = -s->target[i];
        at->value -= at->t[i] * s->target[i];
    }
    for (size_t i = 0; i < s->n_pools; i++) {
        const cellar_entropy_pool *q = &s->pools[i];
        long double own = q->is_free ? 1 : 1 + q->exponent - logl(q->p);
        at->value += (long double) q->n * q->p * own;
        for (size_t j = 0; j < CELLAR_ENTROPY_MULTIPLIERS; j++)
            at->gradient[j] += q->p * q->sums[j];
    }
}

/* ---- Newton's method ------------------------------------------------------------ */

static long double dual_lack(const solver *s, const dual *at)
{
    long double worst = 0;
    for (size_t i = 0; i < s->n_active; i++)
        worst = fabsl(at->gradient[i]) > worst ? fabsl(at->gradient[i]) : worst;
    return isfinite(worst) ? worst : INFINITY;
}

/* Solves H x = g by Cholesky's decomposition in place; 0 when H is not positive. */
static int cholesky_solve(size_t n,
                          long double h[CELLAR_ENTROPY_MULTIPLIERS][CELLAR_ENTROPY_MULTIPLIERS],
                          long double *x)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            long double sum = h[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= h[i][k] * h[j][k];
            if (i == j && !(sum > 0))
                return 0;
            h[i][j] = i == j ? sqrtl(sum) : sum / h[j][j];
        }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= h[i][k] * x[k];
        x[i] /= h[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= h[k][i] * x[k];
        x[i] /= h[i][i];
    }
    return 1;
}

/* The direction of descent: Newton's, with as little added to the diagonal as makes it one, and no
 * longer than exponents can be trusted. */
static void solver_direction(const solver *s, const dual *at, long double *step)
{
    long double ridge = 0, longest = 0;
    for (;;) {
        long double h[CELLAR_ENTROPY_MULTIPLIERS][CELLAR_ENTROPY_MULTIPLIERS] = {{0}}, trace = 0;
        for (size_t i = 0; i < s->n_pools; i++)
            for (size_t j = 0; s->pools[i].is_free && j < s->n_active; j++)
                for (size_t k = 0; k < s->n_active; k++)
                    h[j][k] += s->pools[i].p * s->pools[i].sums[j] * s->pools[i].sums[k] /
                               (long double) s->pools[i].n;
        for (size_t j = 0; j < s->n_active; j++) {
            trace += h[j][j];
            h[j][j] += ridge;
            step[j] = -at->gradient[j];
        }
        if (cholesky_solve(s->n_active, h, step))
            break;
        ridge = ridge > 0 ? 10 * ridge : 1e-18L * (1 + trace);
    }
    for (size_t j = 0; j < s->n_active; j++)
        longest = fabsl(step[j]) > longest ? fabsl(step[j]) : longest;
    for (size_t j = 0; j < s->n_active && longest > STEP_MAX; j++)
        step[j] *= STEP_MAX / longest;
}

/* Halves the step until the dual falls enough, or, where rounding hides that, the constraints lack
 * much less. 0 when no step does. */
static int solver_step(solver *s, dual *at, const long double *step)
{
    long double slope = 0, lack = dual_lack(s, at), size = 1;
    for (size_t i = 0; i < s->n_active; i++)
        slope += step[i] * at->gradient[i];
    for (int i = 0; i < HALVINGS_MAX; i++) {
        dual next = *at;
        for (size_t j = 0; j < s->n_active; j++)
            next.t[j] += size * step[j];
        solver_evaluate(s, &next);
        if (next.value <= at->value + 1e-4L * size * slope || dual_lack(s, &next) < lack / 2) {
            *at = next;
            return 1;
        }
        size /= 2;
    }
    solver_evaluate(s, at);
    return 0;
}

/* Minimises the dual; 1 when the constraints are met. */
static int solver_run(solver *s)
{
    dual at = {.t = {-logl((long double) s->row->n), 0, 0}};
    solver_evaluate(s, &at);
    for (int i = 0; i < ITERATIONS_MAX && dual_lack(s, &at) > 1e-17L; i++) {
        long double step[CELLAR_ENTROPY_MULTIPLIERS] = {0};
        solver_direction(s, &at, step);
        if (!solver_step(s, &at, step))
            break;
    }
    memcpy(s->t, at.t, sizeof s->t);
    return dual_lack(s, &at) < 1e-12L;
}

/* ---- one row --------------------------------------------------------------------- */

/* P(no change) and the variance as pooled. */
static long double solver_stay(const solver *s)
{
    for (size_t i = 0, k = 0; i < s->n_pools; i++) {
        k += s->pools[i].n;
        if (k > s->stay_at)
            return s->pools[i].p;
    }
    return 1;
}

static long double solver_variance(const solver *s)
{
    long double sum = 0;
    for (size_t i = 0; i < s->n_pools; i++)
        sum += s->pools[i].p * s->pools[i].sums[2];
    return sum * s->scale * s->scale;
}

static int row_solve_dual(const cellar_entropy_row *row, solver *s, size_t n_active, int is_held)
{
    long double first = (long double) -row->changes[0];
    long double last = (long double) row->changes[row->n - 1];
    s->row = row;
    s->stay_at = cellar_entropy_row_stay_at(row);
    s->n_chain = row->monotone && s->stay_at < row->n ? s->stay_at + 1 : 0;
    s->n_active = n_active;
    s->is_held = is_held;
    s->scale = first > last ? first : last;
    s->target[0] = 1;
    s->target[1] = 0;
    s->target[2] = (long double) row->variance / (s->scale * s->scale);
    return solver_run(s);
}

/* A condition that the distribution without it breaks binds the distribution with it: the problem
 * is convex. */
static int row_solve_stay(const cellar_entropy_row *row, solver *s, size_t n_active)
{
    if (row_solve_dual(row, s, n_active, 0) &&
        (s->stay_at == row->n || solver_stay(s) >= row->stay))
        return 1;
    return s->stay_at < row->n && row_solve_dual(row, s, n_active, 1);
}

static int row_solve_inside(const cellar_entropy_row *row, solver *s, arb_ptr p)
{
    int solved = row->at_most && row_solve_stay(row, s, 2) && solver_variance(s) <= row->variance;
    if (!solved && !row_solve_stay(row, s, 3))
        return 0;
    return cellar_entropy_refine(row, s->pools, s->n_pools, s->n_active, s->t, (double) s->scale,
                                 p);
}

cellar_status cellar_entropy_row_solve(const cellar_entropy_row *row, arb_ptr p, cellar_error *err)
{
    const double nearly = 1e-12; /* so near to an end of the range, its distribution is as good */
    double lowest = cellar_entropy_row_lowest(row), highest = cellar_entropy_row_highest(row);
    solver s = {0};
    int solved;

    if (row->variance < lowest)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the smallest feasible variance is %g",
                           lowest);
    if (highest <= 0 || (!row->at_most && row->variance >= highest * (1 - nearly))) {
        cellar_entropy_row_highest_law(row, p);
        return CELLAR_OK;
    }
    if (row->variance <= lowest * (1 + nearly)) {
        cellar_entropy_row_lowest_law(row, p);
        return CELLAR_OK;
    }
    s.pools = cellar_alloc(row->n, sizeof *s.pools);
    if (s.pools == NULL)
        return cellar_fail_memory(err, "a matrix");
    solved = row_solve_inside(row, &s, p);
    cellar_free(s.pools);
    if (!solved)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the maximum-entropy distribution of variance %g cannot be found: the "
                           "variance is too near to the ends %g and %g of the feasible range",
                           row->variance, lowest, highest);
    return CELLAR_OK;
}
