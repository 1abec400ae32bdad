/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual of the problem has three multipliers: p_k = exp(t . T_k) with T_k = (1, v_k, v_k^2),
 * where the conditions on p bind it otherwise (Giessing, "Computational issues in the design of
 * transition probabilities and disclosure risk estimation for additive noise", PSD 2016, states
 * the problem). For given multipliers the best p under the monotony is found by pooling adjacent
 * violators: a pool has one probability, whose logarithm is the mean of its members' exponents. The
 * dual is convex and once differentiable, its gradient is what the constraints lack, and Newton's
 * method with a line search minimises it. */
#include "mechanism/entropy_row.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

enum { N_MULTIPLIERS = 3, ITERATIONS_MAX = 1000, STEP_MAX = 10000000 };

/* Neighbours that share one probability. */
typedef struct pool {
    size_t n;
    long double sums[N_MULTIPLIERS]; /* of T over the members */
    long double exponent;            /* the mean of t . T */
    long double p;
    int is_free; /* 0: p is held by the bound on staying */
} pool;

typedef struct solver {
    const cellar_entropy_row *row;
    size_t stay_at;    /* the position of change 0, or n */
    size_t n_chain;    /* the first so many points are monotone */
    size_t n_active;   /* multipliers in use: 3, or 2 when the variance is free */
    int is_held;       /* 1: the chance of staying is its bound, and no chance below exceeds it */
    long double scale; /* changes are divided by it */
    long double target[N_MULTIPLIERS];
    pool *pools;
    size_t n_pools;
} solver;

/* A point of the dual: value and what the constraints lack. */
typedef struct dual {
    long double t[N_MULTIPLIERS];
    long double value;
    long double gradient[N_MULTIPLIERS];
} dual;

/* ---- the range of variances -------------------------------------------------- */

static size_t row_stay_at(const cellar_entropy_row *row)
{
    size_t at = 0;
    while (at < row->n && row->changes[at] != 0)
        at++;
    return at;
}

double cellar_entropy_row_lowest(const cellar_entropy_row *row)
{
    size_t above = 0;
    if (row_stay_at(row) < row->n)
        return 0;
    while (row->changes[above] < 0)
        above++;
    return (double) (-row->changes[above - 1] * row->changes[above]);
}

/* A law on changes <= 0 (a point, or the even one from a point up to 0), completed to mean zero by
 * the largest change M, with whole mass 1. Changes between would carry the same mean with less
 * variance and more mass. */
typedef struct atom {
    size_t first, last; /* the points it is even on */
    long double own;    /* its mass before completion */
    long double variance, stay;
} atom;

static atom atom_make(const cellar_entropy_row *row, size_t first, size_t last, size_t stay_at)
{
    long double mean = 0, square = 0, n = (long double) (last - first + 1);
    long double top = (long double) row->changes[row->n - 1];
    atom a = {.first = first, .last = last};
    for (size_t k = first; k <= last; k++) {
        mean -= (long double) row->changes[k] / n;
        square += (long double) (row->changes[k] * row->changes[k]) / n;
    }
    a.own = 1 / (1 + mean / top);
    a.variance = a.own * (square + mean * top);
    a.stay = last == stay_at ? a.own / n : 0;
    return a;
}

static atom atom_at(const cellar_entropy_row *row, size_t k, size_t stay_at)
{
    return atom_make(row, k, row->monotone && stay_at < row->n ? stay_at : k, stay_at);
}

static void atom_add(const cellar_entropy_row *row, const atom *a, long double weight,
                     long double *p)
{
    for (size_t k = a->first; k <= a->last; k++)
        p[k] += weight * a->own / (long double) (a->last - a->first + 1);
    p[row->n - 1] += weight * (1 - a->own);
}

/* How much of the one and the rest of the other has the largest variance and stays enough. */
static long double atom_weight(const atom *one, const atom *two, long double stay)
{
    if (two->variance <= one->variance)
        return 1;
    return two->stay >= stay ? 0 : (stay - two->stay) / (one->stay - two->stay);
}

/* A linear programme with three constraints (mass, mean, staying): after completion its best law
 * mixes at most two atoms, one that stays often enough and one that need not. */
double cellar_entropy_row_highest(const cellar_entropy_row *row, long double *p)
{
    size_t stay_at = row_stay_at(row), n = 0, one = 0, two = 0;
    long double stay = stay_at < row->n ? row->stay : 0, best = -1, weight = 1;
    atom atoms[CELLAR_ENTROPY_REACH_MAX + 1];

    for (; n < row->n && row->changes[n] <= 0; n++) {
        CELLAR_ASSERT(n <= CELLAR_ENTROPY_REACH_MAX);
        atoms[n] = atom_at(row, n, stay_at);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; atoms[i].stay >= stay && k < n; k++) {
            long double w = atom_weight(&atoms[i], &atoms[k], stay);
            long double variance = w * atoms[i].variance + (1 - w) * atoms[k].variance;
            if (variance > best) {
                best = variance;
                weight = w;
                one = i;
                two = k;
            }
        }
    for (size_t k = 0; p != NULL && k < row->n; k++)
        p[k] = 0;
    if (p != NULL) {
        atom_add(row, &atoms[one], weight, p);
        atom_add(row, &atoms[two], 1 - weight, p);
    }
    return (double) best;
}

/* ---- the best probabilities for given multipliers ----------------------------- */

static void solver_push(solver *s, size_t k, const long double *t, int pooling)
{
    long double x = (long double) s->row->changes[k] / s->scale;
    pool *last = &s->pools[s->n_pools++];
    *last = (pool){.n = 1, .sums = {1, x, x * x}, .is_free = 1};
    last->exponent = t[0] + t[1] * x + t[2] * x * x;
    while (pooling && s->n_pools > 1 && last[-1].exponent > last->exponent) {
        long double n = (long double) (last[-1].n + last->n);
        last[-1].exponent = ((long double) last[-1].n * last[-1].exponent +
                             (long double) last->n * last->exponent) /
                            n;
        last[-1].n += last->n;
        for (size_t i = 0; i < N_MULTIPLIERS; i++)
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
        pool *q = &s->pools[i];
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
    for (size_t i = 0; i < N_MULTIPLIERS; i++) {
        at->gradient[i] = -s->target[i];
        at->value -= at->t[i] * s->target[i];
    }
    for (size_t i = 0; i < s->n_pools; i++) {
        const pool *q = &s->pools[i];
        long double own = q->is_free ? 1 : 1 + q->exponent - logl(q->p);
        at->value += (long double) q->n * q->p * own;
        for (size_t j = 0; j < N_MULTIPLIERS; j++)
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
static int cholesky_solve(size_t n, long double h[N_MULTIPLIERS][N_MULTIPLIERS], long double *x)
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
        long double h[N_MULTIPLIERS][N_MULTIPLIERS] = {{0}}, trace = 0;
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
    long double slope = 0, lack = dual_lack(s, at);
    for (size_t i = 0; i < s->n_active; i++)
        slope += step[i] * at->gradient[i];
    for (long double size = 1; size > 1e-24L; size /= 2) {
        dual next = *at;
        for (size_t i = 0; i < s->n_active; i++)
            next.t[i] += size * step[i];
        solver_evaluate(s, &next);
        if (next.value <= at->value + 1e-4L * size * slope || dual_lack(s, &next) < lack / 2) {
            *at = next;
            return 1;
        }
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
        long double step[N_MULTIPLIERS] = {0};
        solver_direction(s, &at, step);
        if (!solver_step(s, &at, step))
            break;
    }
    return dual_lack(s, &at) < 1e-12L;
}

static void solver_probabilities(const solver *s, long double *p)
{
    size_t k = 0;
    for (size_t i = 0; i < s->n_pools; i++)
        for (size_t j = 0; j < s->pools[i].n; j++)
            p[k++] = (long double) s->pools[i].p;
}

/* ---- one row --------------------------------------------------------------------- */

/* The law with the least variance: the two changes next to zero, or none. */
static void row_lowest_law(const cellar_entropy_row *row, long double *p)
{
    size_t stay_at = row_stay_at(row), above = 0;
    long double low, high;
    for (size_t k = 0; k < row->n; k++)
        p[k] = k == stay_at;
    if (stay_at < row->n)
        return;
    while (row->changes[above] < 0)
        above++;
    low = (long double) -row->changes[above - 1];
    high = (long double) row->changes[above];
    p[above - 1] = high / (low + high);
    p[above] = low / (low + high);
}

static long double row_variance(const cellar_entropy_row *row, const long double *p)
{
    long double sum = 0;
    for (size_t k = 0; k < row->n; k++)
        sum += p[k] * (long double) (row->changes[k] * row->changes[k]);
    return sum;
}

static int row_solve_dual(const cellar_entropy_row *row, solver *s, size_t n_active, int is_held,
                          long double *p)
{
    long double first = (long double) -row->changes[0];
    long double last = (long double) row->changes[row->n - 1];
    s->row = row;
    s->stay_at = row_stay_at(row);
    s->n_chain = row->monotone && s->stay_at < row->n ? s->stay_at + 1 : 0;
    s->n_active = n_active;
    s->is_held = is_held;
    s->scale = first > last ? first : last;
    s->target[0] = 1;
    s->target[1] = 0;
    s->target[2] = (long double) row->variance / (s->scale * s->scale);
    if (!solver_run(s))
        return 0;
    solver_probabilities(s, p);
    return 1;
}

/* A condition that the law without it breaks binds the law with it: the problem is convex. */
static int row_solve_stay(const cellar_entropy_row *row, solver *s, size_t n_active, long double *p)
{
    size_t stay_at = row_stay_at(row);
    if (row_solve_dual(row, s, n_active, 0, p) && (stay_at == row->n || p[stay_at] >= row->stay))
        return 1;
    return stay_at < row->n && row_solve_dual(row, s, n_active, 1, p);
}

static int row_solve_inside(const cellar_entropy_row *row, solver *s, long double *p)
{
    if (row->at_most && row_solve_stay(row, s, 2, p) && row_variance(row, p) <= row->variance)
        return 1;
    return row_solve_stay(row, s, 3, p);
}

cellar_status cellar_entropy_row_solve(const cellar_entropy_row *row, long double *p,
                                       cellar_error *err)
{
    const double nearly = 1e-12; /* so near to an end of the range, its law is as good */
    double lowest = cellar_entropy_row_lowest(row), highest = cellar_entropy_row_highest(row, p);
    solver s = {0};
    int solved;

    if (row->variance < lowest)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the smallest feasible variance is %g",
                           lowest);
    if (highest <= 0 || (!row->at_most && row->variance >= highest * (1 - nearly)))
        return CELLAR_OK; /* p has it */
    if (row->variance <= lowest * (1 + nearly)) {
        row_lowest_law(row, p);
        return CELLAR_OK;
    }
    s.pools = cellar_alloc(row->n, sizeof *s.pools);
    if (s.pools == NULL)
        return cellar_fail_memory(err, "a matrix");
    solved = row_solve_inside(row, &s, p);
    cellar_free(s.pools);
    if (!solved)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the maximum-entropy law of variance %g cannot be found: it is too near "
                           "to the ends %g and %g of what is feasible",
                           row->variance, lowest, highest);
    return CELLAR_OK;
}
