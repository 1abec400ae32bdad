/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From components to a question about their sum: how much of each distribution may be left out, on
 * which grid the losses are added up (compose.h), and whether the bounds are close enough. */
#include "privacy/tight.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "privacy/compose.h"
#include "privacy/envelope.h"

enum { REFINE_MAX = 4096, ROUNDS = 6 };
static const double LATTICE_CELLS = 0x1p18;                  /* a finer lattice is put on a grid */
static const double GRID_CELLS[] = {0x1p14, 0x1p16, 0x1p18}; /* of the window, tried in turn */
enum { GRIDS = sizeof GRID_CELLS / sizeof *GRID_CELLS };
static const double CLOSE = 1e-4, GAP = 1e-3; /* relative, and of epsilon */
static const double TAIL_MIN = 1e-305;

typedef struct question {
    double epsilon; /* NAN: asks for it */
    double delta;
} question;

/* The losses of all components, one by one and on a common grid. */
typedef struct losses_sum {
    size_t n;
    cellar_losses *losses;
    uint64_t *times;
    uint64_t *refine; /* of the common lattice, per component */
    cellar_pld *plds;
    cellar_part *parts;
    int is_lattice;
    double n_times;   /* of all components */
    double deviation; /* of the sum, about */
    double infinite, infinite_true;
} losses_sum;

/* ---- the losses of all components ---------------------------------------------------------- */

static void sum_clear(losses_sum *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->losses != NULL)
            cellar_losses_clear(&s->losses[i]);
        if (s->plds != NULL)
            cellar_pld_clear(&s->plds[i]);
    }
    cellar_free(s->losses);
    cellar_free(s->times);
    cellar_free(s->refine);
    cellar_free(s->plds);
    cellar_free(s->parts);
}

/* The common lattice of all components: the greatest common divisor of their spacings, unless it is
 * much finer than they are. */
static void find_lattice(losses_sum *s)
{
    fmpq_t common, ratio;
    fmpq_init(common);
    fmpq_init(ratio);
    s->is_lattice = 1;
    for (size_t i = 0; i < s->n; i++) {
        s->is_lattice &= s->losses[i].is_lattice;
        fmpq_gcd(common, common, s->losses[i].spacing);
    }
    for (size_t i = 0; i < s->n && s->is_lattice; i++) {
        fmpq_div(ratio, s->losses[i].spacing, common);
        s->is_lattice = fmpz_cmp_ui(fmpq_numref(ratio), REFINE_MAX) <= 0;
        s->refine[i] = s->is_lattice ? fmpz_get_ui(fmpq_numref(ratio)) : 1;
    }
    fmpq_clear(common);
    fmpq_clear(ratio);
}

static void measure(losses_sum *s)
{
    double variance = 0, widest = 1e-9, finite = 0, finite_true = 0;
    for (size_t i = 0; i < s->n; i++) {
        const cellar_losses *l = &s->losses[i];
        const double times = (double) s->times[i];
        double sum = 0, square = 0, mass = 1e-300;
        for (size_t k = 0; k < l->n; k++) {
            mass += l->items[k].mass;
            sum += l->items[k].mass * l->items[k].loss;
            square += l->items[k].mass * l->items[k].loss * l->items[k].loss;
            widest = fmax(widest, fabs(l->items[k].loss));
        }
        s->n_times += times;
        variance += times * fmax(square / mass - sum / mass * (sum / mass), 0);
        finite += times * log1p(-fmin(l->infinite, 1));
        finite_true += times * log1p(-fmin(l->infinite_true, 1));
    }
    s->deviation = fmax(sqrt(variance), 1e-3 * widest); /* all losses may be one */
    s->infinite = fmax(0, -expm1(finite) * (1 + 1e-12));
    s->infinite_true = fmax(0, -expm1(finite_true) * (1 - 1e-12));
}

static cellar_status component_losses(const cellar_component *c, double tail, cellar_losses *out,
                                      cellar_error *err)
{
    cellar_pair pair;
    if (c->is_envelope)
        return cellar_envelope_create(c->cell, c->larger_is_p, tail, out, err);
    pair = cellar_one_cell_pair(c->cell, c->cell->smallest, c->cell->shift, c->larger_is_p,
                                CELLAR_NEGATIVES_KEEP);
    return cellar_losses_create(&pair, tail, out, err);
}

/* All but `tail` of each distribution, which counts as infinite loss. To be cleared on failure too.
 */
static cellar_status sum_init(losses_sum *s, const cellar_component *components, size_t n,
                              double tail, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *s = (losses_sum){.n = n};
    s->losses = cellar_alloc(n, sizeof *s->losses);
    s->times = cellar_alloc(n, sizeof *s->times);
    s->refine = cellar_alloc(n, sizeof *s->refine);
    s->plds = cellar_alloc(n, sizeof *s->plds);
    s->parts = cellar_alloc(n, sizeof *s->parts);
    if (s->losses == NULL || s->times == NULL || s->refine == NULL || s->plds == NULL ||
        s->parts == NULL)
        return cellar_fail_memory(err, "a composition");
    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        s->times[i] = components[i].times;
        status = component_losses(&components[i], tail, &s->losses[i], err);
    }
    if (status == CELLAR_OK) {
        find_lattice(s);
        measure(s);
    }
    return status;
}

/* All mass of some component is infinite. */
static int is_empty(const losses_sum *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->losses[i].n == 0)
            return 1;
    return 0;
}

/* 1 when epsilon is at least the largest finite sum, exactly where that is rational. */
static int is_beyond(const losses_sum *s, const fmpq_t epsilon)
{
    int is_exact = 1, answer;
    double largest = 0, size = 0;
    fmpq_t total, one;
    fmpq_init(total);
    fmpq_init(one);
    for (size_t i = 0; i < s->n; i++) {
        const cellar_losses *l = &s->losses[i];
        const double most = l->items[l->n - 1].loss + l->loss_error;
        largest += (double) s->times[i] * most;
        size += (double) s->times[i] * fabs(most);
        is_exact &= l->has_largest;
        fmpq_mul_ui(one, l->largest, s->times[i]);
        fmpq_add(total, total, one);
    }
    largest += size * ((double) s->n + 4) * 0x1p-50;
    answer = is_exact ? fmpq_cmp(total, epsilon) <= 0 : largest <= cellar_rational_double(epsilon);
    fmpq_clear(total);
    fmpq_clear(one);
    return answer;
}

/* ---- on one grid ------------------------------------------------------------------------ */

/* Puts all losses on a grid, or with spacing 0 on the common lattice. */
static cellar_status sum_put(losses_sum *s, double spacing, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < s->n && status == CELLAR_OK; i++) {
        cellar_pld_clear(&s->plds[i]);
        status = cellar_pld_create(&s->losses[i], spacing, s->refine[i], &s->plds[i], err);
        s->parts[i] = (cellar_part){&s->plds[i], s->times[i]};
    }
    return status;
}

static cellar_status sum_ask(losses_sum *s, double spacing, const cellar_tilt *tilt,
                             const question *asked, cellar_bounds *out, cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = sum_put(s, spacing, err);
    if (status == CELLAR_OK)
        status = cellar_sum_create(s->parts, s->n, tilt, &sum, err);
    if (status != CELLAR_OK)
        return status;
    if (isnan(asked->epsilon)) {
        out->upper = cellar_sum_epsilon_upper(sum, asked->delta);
        out->lower = fmin(out->upper, cellar_sum_epsilon_lower(sum, asked->delta));
    } else {
        out->upper = cellar_sum_delta_upper(sum, asked->epsilon);
        out->lower = fmin(out->upper, cellar_sum_delta_lower(sum, asked->epsilon));
    }
    cellar_sum_free(sum);
    return CELLAR_OK;
}

/* The tilt for a question, found on a coarse grid: a sixteenth of the deviation of a component, or
 * more where losses are few and far between. */
static cellar_status find_tilt(losses_sum *s, const question *asked, cellar_tilt *out,
                               cellar_error *err)
{
    enum { TRIES = 12, FACTOR = 16 };
    double spacing = s->deviation / sqrt(s->n_times) / FACTOR;
    cellar_status status = CELLAR_ERR_OVERFLOW;
    for (int i = 0; i < TRIES && status == CELLAR_ERR_OVERFLOW; i++) {
        status = sum_put(s, spacing, err);
        spacing *= FACTOR;
    }
    if (status == CELLAR_OK)
        *out = cellar_tilt_find(s->parts, s->n, asked->epsilon, asked->delta, INFINITY);
    return status;
}

/* Bounds are close when they differ by little in what was asked for, or in epsilon. */
static int is_close(const losses_sum *s, const question *asked, const cellar_bounds *b)
{
    const double gap = GAP * fmax(1, s->deviation / 4);
    if (isnan(asked->epsilon))
        return !(b->upper - b->lower > fmin(gap, CLOSE * b->upper));
    return b->upper - b->lower <= CLOSE * b->upper;
}

/* On finer and finer grids, until the bounds are close. */
static cellar_status refine(losses_sum *s, const cellar_tilt *tilt, const question *asked,
                            cellar_bounds *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int n_found = 0;
    for (int i = 0; i < GRIDS && status == CELLAR_OK; i++) {
        const double spacing = 1.01 * tilt->width / (GRID_CELLS[i] - 64);
        cellar_tilt on_grid = *tilt;
        cellar_bounds found;
        on_grid.theta = fmin(tilt->theta, 0.25 / spacing); /* splitting blurs steeper tilts */
        status = sum_ask(s, spacing, &on_grid, asked, &found, err);
        if (status == CELLAR_ERR_OVERFLOW)
            status = CELLAR_OK; /* a finer grid may have room */
        else if (status == CELLAR_OK) {
            out->upper = n_found > 0 ? fmin(out->upper, found.upper) : found.upper;
            out->lower = n_found > 0 ? fmax(out->lower, found.lower) : found.lower;
            n_found++;
            if (is_close(s, asked, out))
                break;
        }
    }
    if (status == CELLAR_OK && n_found == 0)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                           "the privacy losses are too far apart to be composed on one grid");
    return status;
}

/* ---- one question ------------------------------------------------------------------------ */

static cellar_status sum_answer(losses_sum *s, const question *asked, const fmpq_t epsilon,
                                cellar_bounds *out, cellar_error *err)
{
    const int asks_epsilon = isnan(asked->epsilon);
    cellar_tilt tilt;
    cellar_status status;
    double bound;
    *out = (cellar_bounds){0, asks_epsilon ? INFINITY : 1};
    if (is_empty(s))
        return CELLAR_OK;
    if (!asks_epsilon && is_beyond(s, epsilon)) {
        *out = (cellar_bounds){s->infinite_true, fmin(1, s->infinite)};
        return CELLAR_OK;
    }
    status = find_tilt(s, asked, &tilt, err);
    if (status != CELLAR_OK)
        return status;
    bound = exp(tilt.log_bound) * (1 + 1e-12) + 1e-306; /* Chernoff */
    if (!asks_epsilon && bound <= 1e-3 * (s->infinite - s->infinite_true)) {
        *out = (cellar_bounds){s->infinite_true, fmin(1, s->infinite + bound)};
        return CELLAR_OK;
    }
    if (s->is_lattice && tilt.width <= LATTICE_CELLS *
                                           cellar_rational_double(s->losses[0].spacing) /
                                           (double) s->refine[0])
        return sum_ask(s, 0, &tilt, asked, out, err);
    return refine(s, &tilt, asked, out, err);
}

/* Mass that was left out counts as infinite loss: so little is left out that it does not show. */
static cellar_status answer(const cellar_component *components, size_t n, const question *asked,
                            const fmpq_t epsilon, cellar_bounds *out, cellar_error *err)
{
    const double share = 1e-7, visible = 1e-4;
    const int asks_epsilon = isnan(asked->epsilon);
    double times = 0, tail;
    cellar_status status = CELLAR_OK;
    *out = (cellar_bounds){0, asks_epsilon ? INFINITY : 1};
    for (size_t i = 0; i < n; i++)
        times += (double) components[i].times;
    tail = fmax(TAIL_MIN, (asks_epsilon ? asked->delta : 1e-12) * share / times);
    for (int round = 0; round < ROUNDS; round++) {
        losses_sum s;
        double left_out, rest;
        cellar_bounds found = *out;
        status = sum_init(&s, components, n, tail, err);
        if (status == CELLAR_OK)
            status = sum_answer(&s, asked, epsilon, &found, err);
        if (status == CELLAR_OK)
            *out = found;
        else if (status == CELLAR_ERR_OVERFLOW && round > 0)
            status = CELLAR_OK; /* the answer before stands */
        left_out = s.infinite - s.infinite_true;
        sum_clear(&s);
        if (status != CELLAR_OK || asks_epsilon || tail <= TAIL_MIN || !(left_out > 0) ||
            left_out <= visible * out->upper || left_out > 4 * tail * times)
            break; /* in the last case the list goes no further */
        rest = fmax(out->upper - left_out, 1e-3 * tail * tail);
        tail = fmax(TAIL_MIN, fmin(1e-3 * tail, rest * share / times));
    }
    return status;
}

static cellar_status no_lower(const cellar_component *components, size_t n, cellar_status status,
                              cellar_bounds *out)
{
    for (size_t i = 0; i < n; i++)
        if (components[i].is_envelope)
            out->lower = 0;
    return status;
}

cellar_status cellar_tight_delta(const cellar_component *components, size_t n, const fmpq_t epsilon,
                                 cellar_bounds *out, cellar_error *err)
{
    const question asked = {cellar_rational_double(epsilon), NAN};
    return no_lower(components, n, answer(components, n, &asked, epsilon, out, err), out);
}

cellar_status cellar_tight_epsilon(const cellar_component *components, size_t n, double delta,
                                   cellar_bounds *out, cellar_error *err)
{
    const question asked = {NAN, delta};
    cellar_status status;
    fmpq_t none;
    fmpq_init(none);
    status = answer(components, n, &asked, none, out, err);
    fmpq_clear(none);
    return no_lower(components, n, status, out);
}
