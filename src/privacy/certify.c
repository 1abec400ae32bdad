/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From mechanisms and what is known about their use to a certificate. Data flow, top down:
 *
 *   certify        points, epsilons and the verdict of a certificate, within counted work
 *     setting      what one unit can change: how many cells, by how much
 *     curve        delta(epsilon) and epsilon(delta) of everything a unit meets
 *       tight      several cells: losses -> pld (on a grid) -> compose (one Fourier transform)
 *         envelope   the losses of a mechanism without a single worst pair of counts
 *       worst      one cell: the worst of all pairs of counts (worst_epsilon, worst_noise)
 *         pair     two counts: by a threshold (pair_threshold) or value by value (pair_values)
 *           distribution   enclosures of probabilities and tails of one count
 *
 *   certify_pure, certify_judge   what needs no curve; verdict and warnings
 *   certify_joint                 cell keys and Dirichlet, which bypass all of the above
 *
 * All that is proved about a mechanism beforehand is in mechanism/facts.
 *
 * Words. A pair is (P, Q), the distributions of what is released for two neighbouring counts; the
 * loss is ln P(b)/Q(b), b drawn from P. The probabilistic delta is P(|loss| > epsilon), a
 * violation. A mechanism is additive noise or a kernel, whose distribution depends on the count; a
 * row is the distribution of one count in double-doubles, and near values are read off it as
 * doubles. A ball encloses a real number (Arb). A cell is one of a table, but in pld and compose
 * one of the grid; a part is a mechanism here, and a loss distribution in compose;
 * composition.n_parts counts cells of tables. */
#include "privacy/certify.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "math/work.h"

/* Steps of work (math/work.h) that a certificate takes at most: some seconds. Most take a hundredth
 * of it. */
static const double WORK_USUAL = 2e8;

/* ---- what is asked ------------------------------------------------------------------ */

cellar_certify_options cellar_certify_options_default(void)
{
    return (cellar_certify_options){.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE,
                                    .negatives = CELLAR_NEGATIVES_KEEP,
                                    .domain = CELLAR_DOMAIN_DECLARED,
                                    .n_cells = 1,
                                    .max_weight = 1,
                                    .max_per_unit = 1,
                                    .effort = 1};
}

cellar_status cellar_certify_check_options(const cellar_certify_options *o, cellar_error *err)
{
    if (o->n_cells < 1 || o->max_weight < 1 || o->max_per_unit < 1 ||
        o->n_cells > CELLAR_CERTIFY_SHIFT_MAX || o->max_weight > CELLAR_CERTIFY_SHIFT_MAX ||
        o->max_per_unit > CELLAR_CERTIFY_SHIFT_MAX ||
        o->max_weight * o->max_per_unit > CELLAR_CERTIFY_SHIFT_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "cells, weight and records per unit must lie between 1 and %d",
                           CELLAR_CERTIFY_SHIFT_MAX);
    if (o->invariants != NULL && o->invariants[0] != NULL &&
        o->neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "'%.60s' is published exactly, so the release cannot hide whether a "
                           "unit is in the data; use substitute",
                           o->invariants[0]);
    if (!(o->effort >= 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the effort must be at least 0");
    if (o->min_count > CELLAR_CERTIFY_SHIFT_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the smallest count must be at most %d",
                           CELLAR_CERTIFY_SHIFT_MAX);
    return CELLAR_OK;
}

static cellar_status check_parts(const cellar_certify_part *parts, size_t n, uint64_t n_cells,
                                 cellar_error *err)
{
    const uint64_t most = UINT64_C(1) << 50; /* whole numbers that doubles hold */
    if (n < 1 || n > CELLAR_CERTIFY_PARTS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a certificate covers 1 to %d different mechanisms, got %zu",
                           CELLAR_CERTIFY_PARTS_MAX, n);
    for (size_t i = 0; i < n; i++) {
        if (parts[i].times < 1 || parts[i].times > most / n_cells)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: a mechanism must be used between 1 and 2^50 times",
                               cellar_mechanism_spec(parts[i].mechanism));
        if (parts[i].mechanism->ops->is_joint)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: cells are not drawn independently, so the distribution of one "
                               "cell certifies nothing",
                               cellar_mechanism_name(parts[i].mechanism));
    }
    return CELLAR_OK;
}

cellar_status cellar_certify_read_epsilon(const char *text, fmpq_t out, cellar_error *err)
{
    if (!cellar_rational_parse(text, strlen(text), out) || fmpq_sgn(out) < 0 ||
        !isfinite(cellar_rational_double(out)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "epsilon must be a finite decimal of at least 0, got '%.60s'", text);
    return CELLAR_OK;
}

cellar_status cellar_certify_read_delta(const char *text, fmpq_t out, cellar_error *err)
{
    if (!cellar_rational_parse(text, strlen(text), out) || fmpq_sgn(out) < 0 ||
        fmpz_cmp(fmpq_numref(out), fmpq_denref(out)) >= 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "delta must be a decimal of at least 0 and below 1, got '%.60s'", text);
    return CELLAR_OK;
}

/* ---- a second computation ------------------------------------------------------------ */

/* Measures the worst pair once more, negatives kept, by its threshold and value by value, and
 * refuses when the two disagree. Only monotone pairs of few values: of others nothing is said. */
static cellar_status check_point(cellar_setting *s, const fmpq_t epsilon, const cellar_worst *worst,
                                 cellar_certificate *c, cellar_error *err)
{
    enum { VALUES_MAX = 400, BITS = CELLAR_PAIR_BITS + 32 };
    cellar_one_cell *cell = &s->cells[0];
    const int larger = worst->count > worst->neighbour;
    const int64_t smaller = larger ? worst->neighbour : worst->count;
    cellar_status status = CELLAR_OK;
    cellar_pair pair;
    int64_t low, high;
    arb_t first, second;
    cell->m->ops->support(cell->m, worst->count, 1e-18, &low, &high);
    if (!cellar_facts_monotone(cell->m) || high - low > VALUES_MAX)
        return CELLAR_OK;
    pair = cellar_one_cell_pair(cell, smaller,
                                larger ? worst->count - smaller : worst->neighbour - smaller,
                                larger, CELLAR_NEGATIVES_KEEP);
    arb_init(first);
    arb_init(second);
    cellar_pair_delta(&pair, epsilon, first);
    cellar_pair_delta_by_sum(&pair, epsilon, 1e-18, BITS, second);
    if (arb_overlaps(first, second))
        c->is_checked = !cellar_work_is_over();
    else
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "%s: two computations of delta disagree; no certificate is given",
                             cellar_mechanism_spec(cell->m));
    arb_clear(first);
    arb_clear(second);
    return status;
}

/* ---- the parts of a certificate -------------------------------------------------------- */

/* 1 when epsilon is at least the pure one, exactly where that is rational. */
static int is_pure_at(const cellar_certificate *c, const fmpq_t epsilon)
{
    fmpq_t pure;
    int is_pure;
    if (!isfinite(c->pure))
        return 0;
    fmpq_init(pure);
    if (c->pure_exact == NULL || !cellar_rational_parse(c->pure_exact, strlen(c->pure_exact), pure))
        cellar_rational_set_double(pure, c->pure);
    is_pure = fmpq_cmp(pure, epsilon) <= 0;
    fmpq_clear(pure);
    return is_pure;
}

static void set_worst(const cellar_worst *worst, cellar_profile_point *point)
{
    point->count = worst->count;
    point->neighbour = worst->neighbour;
    point->everywhere = worst->everywhere;
}

/* Everything at one epsilon. */
static cellar_status certify_point(cellar_setting *s, const fmpq_t epsilon, cellar_certificate *c,
                                   cellar_profile_point *point, cellar_error *err)
{
    const cellar_facts *facts = s->parts[0].mechanism->ops->facts;
    cellar_status status = CELLAR_OK;
    cellar_curve_point found;
    cellar_bounds violation;
    *point = (cellar_profile_point){.epsilon = cellar_rational_double(epsilon)};
    CELLAR_TRY(cellar_curve_delta(s, epsilon, &found, err));
    CELLAR_TRY(cellar_curve_violation(s, epsilon, &violation, err));
    point->delta = fmin(found.bounds.upper, violation.upper); /* delta is never above delta_p */
    point->delta_lower = fmin(found.bounds.lower, point->delta);
    point->delta_probabilistic = violation.upper;
    point->probabilistic_is_bound = violation.upper - violation.lower > 1e-9 * violation.upper;
    point->delta_published = NAN;
    set_worst(&found.worst, point);
    if (c->n_points == 0)
        c->composition.basic = (cellar_guarantee){point->epsilon, found.basic};
    if (is_pure_at(c, epsilon)) {
        point->delta = point->delta_lower = point->delta_probabilistic = 0;
        point->probabilistic_is_bound = 0;
    }
    if (!found.worst.is_proved)
        CELLAR_TRY(cellar_certificate_judge(
            c, CELLAR_VERDICT_UNKNOWN, err, "nothing is proved about %s for large counts",
            s->n == 1 ? cellar_mechanism_spec(s->parts[0].mechanism) : "one of the mechanisms"));
    if (!cellar_setting_is_single(s) || s->group > 1)
        goto out;
    if (c->n_points < 4)
        CELLAR_TRY(check_point(s, epsilon, &found.worst, c, err));
    if (s->cells[0].shift == 1 && facts != NULL && facts->published != NULL)
        point->delta_published =
            facts->published(s->parts[0].mechanism, epsilon, s->options->min_count);
out:
    return status;
}

static cellar_status certify_points(cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t epsilon;
    fmpq_init(epsilon);
    for (; c->n_points < s->options->n_epsilons; c->n_points++) {
        CELLAR_TRY(cellar_certify_read_epsilon(s->options->epsilons[c->n_points], epsilon, err));
        CELLAR_TRY(certify_point(s, epsilon, c, &c->points[c->n_points], err));
    }
out:
    fmpq_clear(epsilon);
    return status;
}

static cellar_status certify_epsilons(cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_curve_point found;
    fmpq_t value;
    fmpq_init(value);
    for (; c->n_epsilons < s->options->n_deltas; c->n_epsilons++) {
        cellar_epsilon_at *at = &c->epsilons[c->n_epsilons];
        CELLAR_TRY(cellar_certify_read_delta(s->options->deltas[c->n_epsilons], value, err));
        *at = (cellar_epsilon_at){cellar_rational_double(value), c->pure, c->pure_lower};
        if (at->delta <= 0)
            continue;
        /* the double may be above the decimal */
        CELLAR_TRY(cellar_curve_epsilon(s, nextafter(at->delta, 0), &found, err));
        at->epsilon = fmin(found.bounds.upper, c->pure);
        at->lower = fmin(found.bounds.lower, at->epsilon);
        if (c->n_epsilons == 0) { /* takes the place of what the first epsilon said */
            c->composition.basic = (cellar_guarantee){fmin(found.basic, c->pure), at->delta};
            c->composition.tight = (cellar_guarantee){at->epsilon, at->delta};
            c->composition.lower = at->lower;
        }
    }
out:
    fmpq_clear(value);
    return status;
}

/* Two answers about one curve never contradict each other: it does not rise. */
static void reconcile(cellar_certificate *c)
{
    for (size_t i = 0; i < c->n_points; i++) {
        cellar_profile_point *p = &c->points[i];
        for (size_t k = 0; k < c->n_points; k++)
            if (c->points[k].epsilon < p->epsilon) {
                p->delta = fmin(p->delta, c->points[k].delta);
                c->points[k].delta_lower = fmax(c->points[k].delta_lower, p->delta_lower);
            }
        for (size_t k = 0; k < c->n_epsilons; k++)
            if (c->epsilons[k].epsilon <= p->epsilon)
                p->delta = fmin(p->delta, c->epsilons[k].delta);
        p->delta_lower = fmin(p->delta_lower, p->delta);
    }
}

/* At the first delta asked for, unless that is 0; or else at the first epsilon; or else the pure
 * one. */
static void certify_composition(cellar_setting *s, cellar_certificate *c)
{
    cellar_composition *comp = &c->composition;
    const int is_single = cellar_setting_is_single(s) && s->group == 1;
    comp->n_parts = (uint64_t) cellar_setting_n_cells(s);
    comp->is_tight = s->group == 1 && (is_single || cellar_setting_composes(s));
    if (c->n_epsilons > 0 && c->epsilons[0].delta > 0) {
        const double delta = c->epsilons[0].delta;
        comp->advanced = (cellar_guarantee){
            is_single ? comp->tight.epsilon : cellar_curve_advanced_epsilon(s, delta), delta};
    } else if (c->n_points > 0) {
        comp->tight = (cellar_guarantee){c->points[0].epsilon, c->points[0].delta};
        comp->lower = NAN; /* epsilon was given: nothing was asked about a smaller one */
    } else if (isfinite(c->pure)) {
        comp->basic = comp->tight = (cellar_guarantee){c->pure, 0};
        comp->lower = c->pure_lower;
    }
}

cellar_status cellar_certify(const cellar_certify_part *parts, size_t n,
                             const cellar_certify_options *options, cellar_certificate **out,
                             cellar_error *err)
{
    const cellar_work outer =
        cellar_work_begin(options->effort > 0 ? WORK_USUAL * options->effort : INFINITY);
    cellar_setting s = {0};
    cellar_certificate *c = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_certify_check_options(options, err));
    CELLAR_TRY(check_parts(parts, n, options->n_cells, err));
    CELLAR_TRY(cellar_setting_init(&s, parts, n, options, err));
    CELLAR_TRY(cellar_certificate_create(options, n, &c, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(cellar_certificate_name(c, i, cellar_mechanism_spec(parts[i].mechanism),
                                           cellar_mechanism_revision(parts[i].mechanism), err));
    CELLAR_TRY(cellar_certify_pure(&s, c, err));
    CELLAR_TRY(cellar_certify_infinite(&s, c, err));
    cellar_certify_rho(&s, c);
    CELLAR_TRY(certify_points(&s, c, err));
    CELLAR_TRY(certify_epsilons(&s, c, err));
    cellar_certify_by_rho(c);
    reconcile(c);
    certify_composition(&s, c);
    CELLAR_TRY(cellar_certify_judge(&s, c, err));
    if (cellar_work_ran_out_of_memory())
        CELLAR_TRY(cellar_fail_memory(err, "a certificate"));
    *out = c;
    c = NULL;
out:
    cellar_setting_clear(&s);
    cellar_certificate_free(c);
    cellar_work_end(outer);
    return status;
}
