/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first guess of which cells of the nearest non-negative table are zero.
 *
 * Modified proportioning with reduced gradient projections (Dostál and Schöberl 2005): conjugate
 * gradients within the cells that are positive, a projected step of fixed length when one of them
 * would become negative, and a step that frees zeros when these are what is wrong. Each step costs
 * one or two products with E'WE, however many cells change sides. It need not end: after a number
 * of steps the guess is good enough to be corrected. Variables are scaled by the root of the
 * diagonal, which keeps their signs. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/rounding.h"

enum { ACTIVE_MAX_STEPS = 60, ACTIVE_N_ARRAYS = 5 };
static const double active_tolerance = 1e-8; /* of the projected gradient, relative to E'Wy */

typedef struct active {
    const cellar_adjustment *fit;
    double *memory, *scale, *x, *gradient, *direction, *product;
    double length; /* of a projected step: no more than one over the largest eigenvalue */
} active;

/* product = D^-1/2 E'WE D^-1/2 from, on the unknowns. */
static void active_multiply(active *a, const double *from)
{
    const cellar_adjustment *fit = a->fit;
    for (size_t i = 0; i < fit->n; i++)
        a->product[i] = from[i] * a->scale[i];
    cellar_aggregate_sum(fit->schema, a->product);
    for (size_t i = 0; i < fit->n; i++)
        a->product[i] *= fit->weight[i];
    cellar_aggregate_spread(fit->schema, a->product);
    for (size_t i = 0; i < fit->n; i++)
        a->product[i] *= a->scale[i];
}

/* The part of the gradient in cells that are positive. */
static double active_free(const active *a, size_t i)
{
    return a->x[i] > 0 ? a->gradient[i] : 0;
}

/* The part in cells at zero that would have them grow. */
static double active_chopped(const active *a, size_t i)
{
    return a->x[i] > 0 ? 0 : fmin(a->gradient[i], 0);
}

/* The gradient at x from scratch; returns the squared length of D^-1/2 E'Wy. */
static double active_restart(active *a)
{
    const cellar_adjustment *fit = a->fit;
    double size = 0;
    for (size_t i = 0; i < fit->n; i++)
        a->gradient[i] = fit->weight[i] * fit->observed[i];
    cellar_aggregate_spread(fit->schema, a->gradient);
    active_multiply(a, a->x);
    for (size_t i = 0; i < fit->n; i++) {
        const double right = a->gradient[i] * a->scale[i];
        size += right * right;
        a->gradient[i] = a->product[i] - right;
    }
    return size;
}

static cellar_status active_init(active *a, const cellar_adjustment *fit, cellar_error *err)
{
    double largest = 0;
    *a = (active){.fit = fit};
    a->memory = cellar_alloc(fit->n, ACTIVE_N_ARRAYS * sizeof *a->memory);
    if (a->memory == NULL)
        return cellar_fail_memory(err, "a fit");
    a->scale = a->memory;
    a->x = a->memory + fit->n;
    a->gradient = a->memory + 2 * fit->n;
    a->direction = a->memory + 3 * fit->n;
    a->product = a->memory + 4 * fit->n;
    for (size_t i = 0; i < fit->n; i++) {
        a->scale[i] = fit->diagonal[i] > 0 ? 1 / sqrt(fit->diagonal[i]) : 0;
        a->direction[i] = 1;
    }
    /* the matrix has no negative entry, so no eigenvalue is above the largest sum of a row */
    active_multiply(a, a->direction);
    for (size_t i = 0; i < fit->n; i++)
        largest = fmax(largest, a->product[i]);
    a->length = largest > 0 ? 1 / largest : 0;
    for (size_t i = 0; i < fit->n; i++)
        a->x[i] = a->scale[i] > 0 ? fmax(fit->estimate[i], 0) / a->scale[i] : 0;
    return CELLAR_OK;
}

/* What decides about the next step. */
typedef struct active_state {
    double free, chopped, reduced;    /* squared lengths; of free times what the step may use */
    double slope, curvature, longest; /* along the direction; the longest step that stays >= 0 */
} active_state;

static void active_look(const active *a, active_state *s)
{
    *s = (active_state){0};
    for (size_t i = 0; i < a->fit->n; i++) {
        const double f = active_free(a, i), c = active_chopped(a, i);
        s->free += f * f;
        s->chopped += c * c;
        s->reduced += f * fmin(a->x[i] / a->length, f);
    }
}

static void active_look_along(active *a, active_state *s)
{
    active_multiply(a, a->direction);
    s->slope = s->curvature = 0;
    s->longest = INFINITY;
    for (size_t i = 0; i < a->fit->n; i++) {
        s->slope += a->gradient[i] * a->direction[i];
        s->curvature += a->product[i] * a->direction[i];
        if (a->direction[i] > 0)
            s->longest = fmin(s->longest, a->x[i] / a->direction[i]);
    }
}

static void active_go(active *a, double step)
{
    for (size_t i = 0; i < a->fit->n; i++) {
        a->x[i] = fmax(a->x[i] - step * a->direction[i], 0);
        a->gradient[i] -= step * a->product[i];
    }
}

/* direction = free gradient - keep * direction. */
static void active_turn(active *a, double keep)
{
    for (size_t i = 0; i < a->fit->n; i++)
        a->direction[i] = active_free(a, i) - keep * a->direction[i];
}

/* Along the direction to the minimum, or to the first zero and on by a projected step. */
static void active_step_free(active *a, active_state *s)
{
    double along = 0;
    active_look_along(a, s);
    if (!(s->curvature > 0)) {
        active_turn(a, 0);
        return;
    }
    if (s->slope / s->curvature <= s->longest) {
        active_go(a, s->slope / s->curvature);
        for (size_t i = 0; i < a->fit->n; i++)
            along += active_free(a, i) * a->product[i];
        active_turn(a, along / s->curvature);
        return;
    }
    active_go(a, s->longest);
    for (size_t i = 0; i < a->fit->n; i++)
        a->x[i] = fmax(a->x[i] - a->length * active_free(a, i), 0);
    active_restart(a);
    active_turn(a, 0);
}

static void active_step_chopped(active *a, active_state *s)
{
    for (size_t i = 0; i < a->fit->n; i++)
        a->direction[i] = active_chopped(a, i);
    active_look_along(a, s);
    if (s->curvature > 0)
        active_go(a, s->slope / s->curvature);
    active_turn(a, 0);
}

cellar_status cellar_adjustment_guess_zeros(const cellar_adjustment *fit, double *diagonal,
                                            cellar_error *err)
{
    active a;
    active_state s;
    cellar_status status = active_init(&a, fit, err);
    if (status != CELLAR_OK)
        return status;
    const double enough = active_tolerance * active_tolerance * active_restart(&a);
    active_turn(&a, 0);
    for (int step = 0; step < ACTIVE_MAX_STEPS; step++) {
        active_look(&a, &s);
        if (s.free + s.chopped <= enough)
            break;
        if (s.chopped <= s.reduced)
            active_step_free(&a, &s);
        else
            active_step_chopped(&a, &s);
    }
    for (size_t i = 0; i < fit->n; i++)
        diagonal[i] = a.x[i] > 0 ? fit->diagonal[i] : 0;
    cellar_free(a.memory);
    return CELLAR_OK;
}
