/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Newton's method in many bits. A designed matrix must be the same on every machine, for the noise
 * that a key repeats is drawn with it; the exponentials of a machine's library differ in their last
 * bits. */
#include "mechanism/matrix/entropy_pool.h"

#include "base/memory.h"
#include "math/flint.h"

enum { N = CELLAR_ENTROPY_MULTIPLIERS, BITS = CELLAR_ENTROPY_BITS, STEPS_MAX = 40 };

/* One step's numbers. */
typedef struct refinement {
    const cellar_entropy_row *row;
    const cellar_entropy_pool *pools;
    size_t n_pools, n_active;
    arb_t t[N];
    arb_t p, e; /* of one pool */
    arb_mat_t hessian, gradient;
} refinement;

/* The macro of FLINT 3.6 multiplies the numbers as they are. */
static arb_ptr entry(const arb_mat_t matrix, size_t row, size_t column)
{
    return arb_mat_entry(matrix, (slong) row, (slong) column);
}

static void refinement_init(refinement *r, const long double *t, double scale)
{
    for (size_t j = 0; j < N; j++) {
        arb_init(r->t[j]);
        arb_set_d(r->t[j], (double) t[j]);
        for (size_t i = 0; i < j; i++) {
            arb_t divisor;
            arb_init(divisor);
            arb_set_d(divisor, scale);
            arb_div(r->t[j], r->t[j], divisor, BITS);
            arb_clear(divisor);
        }
    }
    arb_init(r->p);
    arb_init(r->e);
    arb_mat_init(r->hessian, (slong) r->n_active, (slong) r->n_active);
    arb_mat_init(r->gradient, (slong) r->n_active, 1);
}

static void refinement_clear(refinement *r)
{
    for (size_t j = 0; j < N; j++)
        arb_clear(r->t[j]);
    arb_clear(r->p);
    arb_clear(r->e);
    arb_mat_clear(r->hessian);
    arb_mat_clear(r->gradient);
}

/* Sums of 1, v and v^2 over the pool that begins with change `first`, and its probability. */
static void pool_evaluate(refinement *r, size_t i, size_t first, int64_t sums[N])
{
    const cellar_entropy_pool *pool = &r->pools[i];
    sums[0] = (int64_t) pool->n;
    sums[1] = sums[2] = 0;
    for (size_t k = first; k < first + pool->n; k++) {
        sums[1] += r->row->changes[k];
        sums[2] += r->row->changes[k] * r->row->changes[k];
    }
    if (!pool->is_free) {
        arb_set_d(r->p, r->row->stay);
        return;
    }
    arb_zero(r->p);
    for (size_t j = 0; j < N; j++)
        arb_addmul_si(r->p, r->t[j], sums[j], BITS);
    arb_div_ui(r->p, r->p, pool->n, BITS);
    arb_exp(r->p, r->p, BITS);
    arb_get_mid_arb(r->p, r->p); /* errors are bounded by the residual, not by radii */
}

static void refinement_evaluate(refinement *r)
{
    arb_mat_zero(r->hessian);
    arb_set_si(entry(r->gradient, 0, 0), -1);
    arb_zero(entry(r->gradient, 1, 0));
    if (r->n_active == N) {
        arb_set_d(entry(r->gradient, 2, 0), r->row->variance);
        arb_neg(entry(r->gradient, 2, 0), entry(r->gradient, 2, 0));
    }
    for (size_t i = 0, first = 0; i < r->n_pools; first += r->pools[i++].n) {
        int64_t sums[N] = {0};
        pool_evaluate(r, i, first, sums);
        for (size_t j = 0; j < r->n_active; j++) {
            arb_addmul_si(entry(r->gradient, j, 0), r->p, sums[j], BITS);
            arb_mul_si(r->e, r->p, sums[j], BITS);
            arb_div_ui(r->e, r->e, r->pools[i].n, BITS);
            for (size_t k = 0; r->pools[i].is_free && k < r->n_active; k++)
                arb_addmul_si(entry(r->hessian, j, k), r->e, sums[k], BITS);
        }
    }
}

/* Is what every constraint lacks below 2^-(BITS/2)? */
static int refinement_is_done(const refinement *r)
{
    for (size_t j = 0; j < r->n_active; j++)
        if (arf_cmpabs_2exp_si(arb_midref(entry(r->gradient, j, 0)), -BITS / 2) > 0)
            return 0;
    return 1;
}

static int refinement_step(refinement *r)
{
    arb_mat_get_mid(r->hessian, r->hessian);
    arb_mat_get_mid(r->gradient, r->gradient);
    if (!arb_mat_solve(r->gradient, r->hessian, r->gradient, BITS))
        return 0;
    for (size_t j = 0; j < r->n_active; j++) {
        arb_sub(r->t[j], r->t[j], entry(r->gradient, j, 0), BITS);
        arb_get_mid_arb(r->t[j], r->t[j]);
    }
    return 1;
}

int cellar_entropy_refine(const cellar_entropy_row *row, const cellar_entropy_pool *pools,
                          size_t n_pools, size_t n_active, const long double *t, double scale,
                          arb_ptr p)
{
    refinement r = {.row = row, .pools = pools, .n_pools = n_pools, .n_active = n_active};
    int done = 0;

    refinement_init(&r, t, scale);
    for (int step = 0; !done && step < STEPS_MAX; step++) {
        refinement_evaluate(&r);
        done = refinement_is_done(&r);
        if (!done && !refinement_step(&r))
            break;
    }
    for (size_t i = 0, k = 0; done && i < n_pools; i++) {
        int64_t sums[N] = {0};
        pool_evaluate(&r, i, k, sums);
        for (size_t j = 0; j < pools[i].n; j++)
            arb_set(p + k++, r.p);
    }
    refinement_clear(&r);
    return done;
}
