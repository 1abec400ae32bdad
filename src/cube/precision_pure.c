/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The split of a pure epsilon. A table with the share e_A has discrete Laplace noise of precision
 * about e_A^2 / 2, and the shares add up to 1. The loss is not convex in the shares, so what is
 * found is a local optimum and nothing is proved about it.
 *
 * With g_A = -dloss/dw_A (cube/precision.c), -dloss/de_A = e_A g_A =: h_A, and where a share is not
 * zero a local optimum has h_A equal to their mean. The step e_A <- e_A (h_A / mean h)^s goes
 * downhill for small s, because h and log h grow together; s is halved where the loss did not
 * become smaller. Small shares may vanish on the way, so several beginnings are tried: the split
 * of the problem of rho, which is convex, and the finest tables alone.
 *
 * For the smallest largest variance an adversary weighs the tables anew after each descent, as in
 * cube/precision.c. */
#include "cube/precision_pure.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { STEPS = 100, CAP_ROUNDS = 40, ADVERSARY_ROUNDS = 100 };

typedef struct splitting {
    const cube_lattice *l;
    const cube_objective *objective;
    int is_minimax; /* caps are goals, and the loss is the largest variance over its goal */
    double *begin, *share, *next, *q, *w, *tau, *variance, *v, *h;
} splitting;

static int splitting_init(splitting *s)
{
    double **const arrays[] = {&s->begin, &s->share,    &s->next, &s->q, &s->w,
                               &s->tau,   &s->variance, &s->v,    &s->h};
    int ok = 1;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cellar_alloc(s->l->n, sizeof **arrays[i]);
        ok &= *arrays[i] != NULL;
    }
    return ok;
}

static void splitting_clear(splitting *s)
{
    cellar_free(s->begin);
    cellar_free(s->share);
    cellar_free(s->next);
    cellar_free(s->q);
    cellar_free(s->w);
    cellar_free(s->tau);
    cellar_free(s->variance);
    cellar_free(s->v);
    cellar_free(s->h);
}

static int is_known(const splitting *s, size_t a)
{
    return s->objective->known != NULL && s->objective->known[a] > 0;
}

/* Variances of the shares; answers the loss with the weights q. */
static double evaluate(splitting *s, const double *share)
{
    double loss = 0;
    for (size_t a = 0; a < s->l->n; a++)
        s->w[a] = is_known(s, a) ? s->objective->known[a] : share[a] * share[a] / 2;
    cellar_cube_evaluate(s->l, s->w, s->tau, s->variance);
    for (size_t b = 0; b < s->l->n; b++)
        loss += s->q[b] > 0 ? s->q[b] * s->variance[b] : 0;
    return loss;
}

/* h of the shares that were evaluated last; answers their mean. */
static double slopes(splitting *s)
{
    const cube_lattice *l = s->l;
    double mean = 0;
    memset(s->v, 0, l->n * sizeof *s->v);
    for (size_t b = 0; b < l->n; b++)
        for (size_t k = l->start[b]; s->q[b] > 0 && k < l->start[b + 1]; k++)
            s->v[l->below[k]] += s->q[b] / (l->ratio[k] * l->ratio[k]);
    for (size_t c = 0; c < l->n; c++)
        s->v[c] *= cube_is_exact(l, c) ? 0 : l->free_share[c];
    for (size_t a = 0; a < l->n; a++) {
        s->h[a] = 0;
        for (size_t k = l->start[a]; s->share[a] > 0 && k < l->start[a + 1]; k++) {
            const uint32_t c = l->below[k];
            s->h[a] += s->share[a] * s->v[c] / (s->tau[c] * s->tau[c] * l->ratio[k]);
        }
        mean += s->share[a] * s->h[a];
    }
    return mean;
}

/* Downhill from the present shares for the present weights. */
static void descend(splitting *s)
{
    double loss = evaluate(s, s->share), power = 0.5;
    for (size_t step = 0; step < STEPS && power > 1e-4; step++) {
        const double mean = slopes(s);
        double lower = INFINITY;
        while (power > 1e-4) {
            double sum = 0;
            for (size_t a = 0; a < s->l->n; a++) {
                s->next[a] = s->share[a] > 0 ? s->share[a] * pow(s->h[a] / mean, power) : 0;
                sum += s->next[a];
            }
            for (size_t a = 0; a < s->l->n; a++)
                s->next[a] /= sum;
            lower = evaluate(s, s->next);
            if (lower < loss)
                break;
            power /= 2;
        }
        if (lower < loss) {
            double *swap = s->share;
            s->share = s->next;
            s->next = swap;
            power = fmin(1, power * 1.5);
            if (lower > loss * (1 - 1e-6))
                power = 0;
            loss = lower;
        }
        evaluate(s, s->share);
    }
}

/* The loss without multipliers; *over: the largest variance over its cap, 0 for goals. */
static double judge(const splitting *s, double *over)
{
    const cube_objective *o = s->objective;
    double loss = 0;
    *over = 0;
    for (size_t b = 0; b < s->l->n; b++) {
        loss += o->weight[b] > 0 ? o->weight[b] * s->l->n_cells[b] * s->variance[b] : 0;
        if (o->cap != NULL && isfinite(o->cap[b]))
            *over = fmax(*over, s->variance[b] / o->cap[b]);
    }
    if (s->is_minimax) {
        loss = *over;
        *over = 0;
    }
    return loss;
}

static void keep(splitting *s, cube_choice *best)
{
    double over;
    const double loss = judge(s, &over);
    const int is_within = over <= 1, was_within = best->over <= 1;
    if (!(loss < INFINITY) || (was_within && !is_within) ||
        (was_within == is_within && (is_within ? loss >= best->loss : over >= best->over)))
        return;
    memcpy(best->w, s->w, s->l->n * sizeof *best->w);
    memcpy(best->tau, s->tau, s->l->n * sizeof *best->tau);
    memcpy(best->variance, s->variance, s->l->n * sizeof *best->variance);
    best->loss = loss;
    best->over = over;
}

/* The multiplier of a cap grows while it is exceeded. `loss` is that of the beginning. */
static void weigh_caps(splitting *s, double loss, size_t n_capped)
{
    const cube_objective *o = s->objective;
    for (size_t b = 0; b < s->l->n; b++) {
        const double wanted = o->weight[b] * s->l->n_cells[b];
        double *q = &s->q[b];
        if (!isfinite(o->cap[b]))
            continue;
        if (*q <= wanted)
            *q = wanted + 0.01 * loss / ((double) n_capped * o->cap[b]);
        else
            *q = wanted + (*q - wanted) * fmin(fmax(s->variance[b] / (0.99 * o->cap[b]), 0.2), 5);
    }
}

/* The adversary moves towards the largest variance over its goal. */
static void weigh_goals(splitting *s)
{
    const double *goal = s->objective->cap;
    double over;
    const double largest = judge(s, &over);
    for (size_t b = 0; goal != NULL && b < s->l->n; b++)
        if (s->q[b] > 0)
            s->q[b] *= fmax(s->variance[b] / (goal[b] * largest), 0.2);
}

/* From one beginning: descends, with other weights each time while there are caps or goals. Every
 * round begins anew, for a share that vanished does not come back. */
static void try_from(splitting *s, cube_choice *best)
{
    const cube_objective *o = s->objective;
    double sum = 0, loss, over;
    size_t n_capped = 0, n_rounds;
    for (size_t a = 0; a < s->l->n; a++)
        sum += s->share[a];
    for (size_t a = 0; a < s->l->n; a++) {
        const int has_cap = o->cap != NULL && isfinite(o->cap[a]);
        s->share[a] = s->begin[a] = s->share[a] / sum;
        s->q[a] = !s->is_minimax ? o->weight[a] * s->l->n_cells[a] : has_cap ? 1 / o->cap[a] : 0;
        n_capped += has_cap ? 1 : 0;
    }
    evaluate(s, s->share);
    keep(s, best);
    loss = judge(s, &over);
    n_rounds = s->is_minimax ? ADVERSARY_ROUNDS : n_capped > 0 ? CAP_ROUNDS : 1;
    for (size_t round = 0; round < n_rounds; round++) {
        if (s->is_minimax)
            weigh_goals(s);
        else if (n_capped > 0)
            weigh_caps(s, loss, n_capped);
        memcpy(s->share, s->begin, s->l->n * sizeof *s->share);
        descend(s);
        keep(s, best);
    }
}

/* Tables that nothing lies above, in equal shares. */
static void begin_finest(splitting *s)
{
    const cube_lattice *l = s->l;
    for (size_t a = 0; a < l->n; a++)
        s->share[a] = cube_is_exact(l, a) || is_known(s, a) ? 0 : 1;
    for (size_t a = 0; a < l->n; a++)
        for (size_t k = l->start[a]; k < l->start[a + 1]; k++)
            if (l->below[k] != a)
                s->share[l->below[k]] = 0;
}

static cellar_status improve(const cube_lattice *lattice, const cube_objective *objective,
                             int is_minimax, cube_choice *choice, cellar_error *err)
{
    splitting s = {.l = lattice, .objective = objective, .is_minimax = is_minimax};
    cellar_status status = CELLAR_OK;
    if (!splitting_init(&s))
        CELLAR_TRY(cellar_fail_memory(err, "the choice of tables to measure"));
    for (size_t a = 0; a < lattice->n; a++)
        s.share[a] = is_known(&s, a) ? 0 : sqrt(choice->w[a]);
    choice->loss = choice->over = INFINITY; /* of another problem */
    try_from(&s, choice);
    begin_finest(&s);
    try_from(&s, choice);
    choice->least = choice->free_least = NAN;
out:
    splitting_clear(&s);
    return status;
}

cellar_status cellar_cube_improve_pure(const cube_lattice *lattice, const cube_objective *objective,
                                       cube_choice *choice, cellar_error *err)
{
    return improve(lattice, objective, 0, choice, err);
}

cellar_status cellar_cube_improve_pure_minimax(const cube_lattice *lattice,
                                               const cube_objective *objective, cube_choice *choice,
                                               cellar_error *err)
{
    return improve(lattice, objective, 1, choice, err);
}
