/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta(epsilon) and epsilon(delta) of everything a unit meets. One cell is its worst pair of
 * counts. Several are composed, and the better of the tight bound and the basic one counts. A unit
 * whose records are changed one after the other is a chain of single changes. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "math/work.h"
#include "privacy/envelope.h"
#include "privacy/setting.h"

/* ---- which components a unit meets ------------------------------------------------------- */

/* One way in which a unit can meet the mechanisms. */
typedef struct scenario {
    cellar_component *components;
    size_t n;
} scenario;

static void scenario_add(scenario *sc, cellar_setting *s, size_t i, int larger_is_p)
{
    sc->components[sc->n++] =
        (cellar_component){.cell = &s->cells[i],
                           .larger_is_p = larger_is_p,
                           .times = s->options->n_cells * s->parts[i].times,
                           .is_envelope = !cellar_one_cell_has_first(&s->cells[i])};
}

static int is_same(const cellar_component *a, const cellar_component *b)
{
    return strcmp(cellar_mechanism_spec(a->cell->m), cellar_mechanism_spec(b->cell->m)) == 0 &&
           (cellar_one_cell_is_noise(a->cell) || a->larger_is_p == b->larger_is_p);
}

/* Puts equal components together; noise has the same losses in both orders. */
static void scenario_merge(scenario *sc)
{
    for (size_t i = 0; i < sc->n; i++)
        for (size_t k = i + 1; k < sc->n;)
            if (is_same(&sc->components[i], &sc->components[k])) {
                sc->components[i].times += sc->components[k].times;
                sc->components[k] = sc->components[--sc->n];
            } else {
                k++;
            }
}

static int is_symmetric(const cellar_setting *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!cellar_one_cell_is_noise(&s->cells[i]))
            return 0;
    return 1;
}

/* Fills in the k-th scenario; 0 beyond the last. A record is added or removed, or both at once. */
static int scenario_make(cellar_setting *s, size_t k, scenario *sc)
{
    const int substitute = s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE;
    sc->n = 0;
    if (!s->options->parallel) {
        if (k >= (substitute || is_symmetric(s) ? 1U : 2U))
            return 0;
        for (size_t i = 0; i < s->n; i++) {
            scenario_add(sc, s, i, k == 0);
            if (substitute)
                scenario_add(sc, s, i, 0);
        }
    } else if (!substitute) {
        if (k >= 2 * s->n)
            return 0;
        scenario_add(sc, s, k / 2, k % 2 == 0);
    } else {
        if (k >= s->n * s->n)
            return 0;
        scenario_add(sc, s, k / s->n, 1);
        scenario_add(sc, s, k % s->n, 0);
    }
    scenario_merge(sc);
    return 1;
}

static const double WORK_OF_SCENARIO = 5000;

/* ---- tight composition -------------------------------------------------------------------- */

/* delta at epsilon, or with delta > 0 epsilon at delta. */
static cellar_status scenario_ask(const scenario *sc, const fmpq_t epsilon, double delta,
                                  cellar_bounds *out, cellar_error *err)
{
    return delta > 0 ? cellar_tight_epsilon(sc->components, sc->n, delta, out, err)
                     : cellar_tight_delta(sc->components, sc->n, epsilon, out, err);
}

static int has_envelope(const scenario *sc)
{
    for (size_t i = 0; i < sc->n; i++)
        if (sc->components[i].is_envelope)
            return 1;
    return 0;
}

/* Envelopes bound nothing from below; the first counts do. Negatives are kept here: kernels have
 * none, and rows repeat at counts that no change makes negative. */
static cellar_status raise_lower(scenario *sc, const fmpq_t epsilon, double delta,
                                 cellar_bounds *out, cellar_error *err)
{
    cellar_bounds first;
    cellar_status status;
    if (!has_envelope(sc))
        return CELLAR_OK;
    for (size_t i = 0; i < sc->n; i++)
        sc->components[i].is_envelope = 0;
    status = scenario_ask(sc, epsilon, delta, &first, err);
    if (status == CELLAR_OK)
        out->lower = fmax(out->lower, fmin(first.lower, out->upper));
    return status;
}

static int can_compose(const cellar_setting *s)
{
    enum { SHIFTS_MAX = 16 }; /* an envelope looks at all smaller changes too */
    for (size_t i = 0; i < s->n; i++)
        if (!cellar_one_cell_has_first(&s->cells[i]) &&
            (s->cells[i].shift > SHIFTS_MAX || !cellar_envelope_exists(&s->cells[i])))
            return 0;
    return 1;
}

/* The worst of all scenarios. Where losses are too many or too far apart to be composed, upper is
 * trivial: the basic bound stands. */
static cellar_status compose(cellar_setting *s, const fmpq_t epsilon, double delta,
                             cellar_bounds *out, cellar_error *err)
{
    scenario sc = {cellar_alloc(2 * s->n, sizeof *sc.components), 0};
    cellar_status status = CELLAR_OK;
    *out = (cellar_bounds){0, 0};
    if (sc.components == NULL)
        return cellar_fail_memory(err, "a composition");
    for (size_t k = 0; scenario_make(s, k, &sc); k++) {
        cellar_bounds one;
        cellar_work_add(WORK_OF_SCENARIO);
        CELLAR_TRY(scenario_ask(&sc, epsilon, delta, &one, err));
        CELLAR_TRY(raise_lower(&sc, epsilon, delta, &one, err));
        out->upper = fmax(out->upper, one.upper);
        out->lower = fmax(out->lower, one.lower);
    }
out:
    cellar_free(sc.components);
    if (status == CELLAR_ERR_OVERFLOW) {
        *out = (cellar_bounds){0, delta > 0 ? INFINITY : 1};
        status = CELLAR_OK;
    }
    return status;
}

/* ---- one record ------------------------------------------------------------------------------ */

/* Basic composition at a given epsilon: an equal share for each cell. */
static double basic_delta(cellar_setting *s, const fmpq_t epsilon, cellar_worst *worst)
{
    double total = 0, largest = 0;
    fmpq_t share;
    fmpq_init(share);
    cellar_rational_set_double(share, cellar_setting_n_cells(s));
    fmpq_div(share, epsilon, share);
    for (size_t i = 0; i < s->n; i++) {
        cellar_worst one;
        double cost;
        cellar_worst_delta(&s->cells[i], share, &one);
        cost = one.upper * cellar_setting_cells_of(s, i);
        total += cost;
        if (cost >= largest) {
            largest = cost;
            *worst = one;
        }
    }
    fmpq_clear(share);
    return fmin(1, (s->options->parallel ? largest : total) * (1 + 1e-12));
}

static cellar_status record_delta(cellar_setting *s, const fmpq_t epsilon, cellar_curve_point *out,
                                  cellar_error *err)
{
    cellar_bounds tight = {0, 1};
    cellar_status status = CELLAR_OK;
    out->basic = basic_delta(s, epsilon, &out->worst);
    if (cellar_setting_is_single(s)) {
        out->bounds = (cellar_bounds){out->worst.lower, out->worst.upper};
        return CELLAR_OK;
    }
    if (can_compose(s) && out->basic > 0)
        status = compose(s, epsilon, 0, &tight, err);
    out->bounds = (cellar_bounds){fmin(tight.lower, out->basic), fmin(tight.upper, out->basic)};
    return status;
}

/* The sum over all cells of the epsilon each has at an equal share of delta. */
static double basic_epsilon(cellar_setting *s, double delta)
{
    const double share = delta / cellar_setting_n_cells(s) * (1 - 1e-15);
    double sum = 0, largest = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double epsilon =
            cellar_worst_epsilon(&s->cells[i], share).upper * cellar_setting_cells_of(s, i);
        sum += epsilon;
        largest = fmax(largest, epsilon);
    }
    return (s->options->parallel ? largest : sum) * (1 + 1e-12);
}

static cellar_status record_epsilon(cellar_setting *s, double delta, cellar_curve_point *out,
                                    cellar_error *err)
{
    cellar_bounds tight = {0, INFINITY};
    cellar_status status = CELLAR_OK;
    fmpq_t none;
    if (cellar_setting_is_single(s)) {
        out->bounds = cellar_worst_epsilon(&s->cells[0], delta);
        out->basic = out->bounds.upper;
        return CELLAR_OK;
    }
    out->basic = basic_epsilon(s, delta);
    fmpq_init(none);
    if (can_compose(s))
        status = compose(s, none, delta, &tight, err);
    fmpq_clear(none);
    out->bounds = (cellar_bounds){fmin(tight.lower, out->basic), fmin(tight.upper, out->basic)};
    return status;
}

/* ---- a chain of records ---------------------------------------------------------------------- */

/* m changes, each with delta at epsilon / m, have delta times this at epsilon: the sum of
 * e^{i epsilon / m}, i < m (Dwork and Roth 2014, Theorem 2.2 and its proof). Rounded up. */
static double chain_factor(const cellar_setting *s, double epsilon)
{
    const double m = (double) s->group, step = expm1(epsilon / m);
    if (s->group <= 1)
        return 1;
    return (step > 1e-12 ? expm1(epsilon) / step : m * exp(epsilon)) * (1 + 1e-12);
}

cellar_status cellar_curve_delta(cellar_setting *s, const fmpq_t epsilon, cellar_curve_point *out,
                                 cellar_error *err)
{
    const double factor = chain_factor(s, cellar_rational_double(epsilon));
    cellar_status status;
    fmpq_t share;
    *out = (cellar_curve_point){.basic = 0};
    if (s->group == 1)
        return record_delta(s, epsilon, out, err);
    fmpq_init(share);
    fmpq_set_ui(share, 1, s->group);
    fmpq_mul(share, share, epsilon);
    status = record_delta(s, share, out, err);
    fmpq_clear(share);
    out->bounds = (cellar_bounds){0, fmin(1, out->bounds.upper * factor)};
    out->basic = fmin(1, out->basic * factor);
    return status;
}

/* The share of delta that each of m changes may have, when a change has `epsilon` at a delta of
 * `share`, and at smaller ones as much more as their logarithms: tails that fall faster need less.
 */
static double chain_share(const cellar_setting *s, double delta, double share, double epsilon)
{
    enum { ROUNDS = 30 };
    double next = share;
    for (int round = 0; round < ROUNDS && next > 0; round++) {
        const double all = (double) s->group * epsilon * fmax(1, log(next) / log(share));
        next = delta / chain_factor(s, all) * (1 - 1e-9);
    }
    return next;
}

/* A smaller delta for each change, until what the chain makes of it is small enough. */
cellar_status cellar_curve_epsilon(cellar_setting *s, double delta, cellar_curve_point *out,
                                   cellar_error *err)
{
    enum { ROUNDS = 8 };
    const double m = (double) s->group;
    double share = delta / m;
    cellar_status status = CELLAR_OK;
    *out = (cellar_curve_point){.basic = 0};
    if (s->group == 1)
        return record_epsilon(s, delta, out, err);
    for (int round = 0; round < ROUNDS && share > 0 && status == CELLAR_OK; round++) {
        double one;
        status = record_epsilon(s, share, out, err);
        one = out->bounds.upper;
        out->bounds = (cellar_bounds){0, one * m * (1 + 1e-15)};
        out->basic *= m * (1 + 1e-15);
        if (isinf(one) || share * chain_factor(s, out->bounds.upper) <= delta)
            return status;
        share = chain_share(s, delta, share, one);
    }
    out->bounds.upper = INFINITY;
    return status;
}

/* ---- what follows from the curve ---------------------------------------------------------------
 */

cellar_status cellar_curve_violation(cellar_setting *s, const fmpq_t epsilon, cellar_bounds *out,
                                     cellar_error *err)
{
    static const int percents[] = {80, 95};
    const double large = cellar_rational_double(epsilon);
    cellar_curve_point point;
    cellar_status status = CELLAR_OK;
    fmpq_t smaller;
    *out = (cellar_bounds){0, 1};
    /* Not group == 1: that one cell dominates a change that is spread (setting.c) is about delta.
     */
    if (cellar_setting_is_single(s) && s->options->max_per_unit == 1) {
        cellar_worst worst;
        cellar_worst_violation(&s->cells[0], epsilon, &worst);
        *out = (cellar_bounds){worst.lower, worst.upper};
        return CELLAR_OK;
    }
    if (!(large > 0))
        return CELLAR_OK;
    fmpq_init(smaller);
    for (size_t i = 0; i < sizeof percents / sizeof *percents && status == CELLAR_OK; i++) {
        fmpq_set_si(smaller, percents[i], 100);
        fmpq_mul(smaller, smaller, epsilon);
        status = cellar_curve_delta(s, smaller, &point, err);
        if (status == CELLAR_OK)
            out->upper =
                fmin(out->upper, cellar_violation_from_delta(
                                     point.bounds.upper, cellar_rational_double(smaller), large));
    }
    fmpq_clear(smaller);
    return status;
}

/* Dwork, Rothblum and Vadhan 2010, in the form that lets parts differ (Kairouz, Oh and Viswanath
 * 2017): delta/2 for the cells and delta/2 for the deviation. */
double cellar_curve_advanced_epsilon(cellar_setting *s, double delta)
{
    const double share = delta / 2 / cellar_setting_n_cells(s) * (1 - 1e-15);
    double squares = 0, bias = 0;
    if (s->group > 1)
        return NAN;
    for (size_t i = 0; i < s->n; i++) {
        const double times = cellar_setting_cells_of(s, i);
        const double epsilon = cellar_worst_epsilon(&s->cells[i], share).upper;
        squares += times * epsilon * epsilon;
        bias += times * epsilon * expm1(epsilon);
    }
    return (sqrt(2 * log(2 / delta) * squares) + bias) * (1 + 1e-12);
}
