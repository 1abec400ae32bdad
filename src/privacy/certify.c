/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From mechanisms and what is known about their use to a certificate.
 *
 * What one unit can change. A list is d groups of cells (its tables and margins), and a record lies
 * in one cell of each. A unit of m records of weight at most w changes each group by m w in all,
 * spread over cells or in one. For a family with monotone likelihood ratios the change of one
 * cell by s = m w dominates all ways to spread it: the laws change step by step, each step's
 * trade-off curve is at least that of one cell, curves compose as f(1 - g), and for one cell the
 * same tests are optimal for every step, so that this bound is its curve exactly (Dong, Roth and Su
 * 2022, Theorem 2.14; Karlin and Rubin 1956). For additive noise this covers all counts at once,
 * and Poisson counts are so for a reason of their own (facts_kernels.c). For other mechanisms the
 * records of a unit are taken one after the other (certify_group.c). */
#include "privacy/certify.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "privacy/atoms_store.h"
#include "privacy/published.h"

/* The sum of parts is not worth a closer bound where it is below. */
static const double DELTA_NOTHING = 1e-305;

cellar_certify_options cellar_certify_options_default(void)
{
    return (cellar_certify_options){.n_cells = 1, .max_weight = 1, .per_unit = 1, .effort = 1};
}

/* ---- what is asked ------------------------------------------------------------------ */

cellar_status cellar_certify_check_options(const cellar_certify_options *o, cellar_error *err)
{
    if (o->n_cells < 1 || o->max_weight < 1 || o->per_unit < 1 ||
        o->n_cells > CELLAR_CERTIFY_SHIFT_MAX || o->max_weight > CELLAR_CERTIFY_SHIFT_MAX ||
        o->per_unit > CELLAR_CERTIFY_SHIFT_MAX ||
        o->max_weight * o->per_unit > CELLAR_CERTIFY_SHIFT_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "cells, weight and records per unit must lie between 1 and %d",
                           CELLAR_CERTIFY_SHIFT_MAX);
    if (o->invariants != NULL && o->invariants[0] != NULL &&
        o->neighbours == CELLAR_NEIGHBOURS_ADD_REMOVE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "'%.60s' is published exactly: whether a unit is in the data can then "
                           "not be hidden; use substitute",
                           o->invariants[0]);
    if (!(o->effort >= 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the effort must be at least 0");
    if (o->min_count > CELLAR_CERTIFY_SHIFT_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the smallest count must be at most %d",
                           CELLAR_CERTIFY_SHIFT_MAX);
    return CELLAR_OK;
}

static cellar_status setting_check(const cellar_setting *s, cellar_error *err)
{
    if (s->n < 1 || s->n > CELLAR_CERTIFY_MECHANISMS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a certificate covers 1 to %d mechanisms",
                           CELLAR_CERTIFY_MECHANISMS_MAX);
    for (size_t i = 0; i < s->n; i++)
        if (s->mechanisms[i]->ops->is_joint)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: cells are not drawn independently, so the law of one certifies "
                               "nothing",
                               cellar_mechanism_name(s->mechanisms[i]));
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

static void divide(fmpq_t out, const fmpq_t value, uint64_t by)
{
    fmpz_t divisor;
    fmpz_init_set_ui(divisor, by);
    fmpq_div_fmpz(out, value, divisor);
    fmpz_clear(divisor);
}

/* ---- the parts of a certificate -------------------------------------------------------------- */

/* 1 when epsilon is at least the exact pure one. */
static int certify_is_pure_at(const cellar_setting *s, const fmpq_t epsilon)
{
    fmpq_t pure;
    int is_pure;
    if (!isfinite(s->c->pure))
        return 0;
    fmpq_init(pure);
    if (s->c->pure_exact == NULL ||
        !cellar_rational_parse(s->c->pure_exact, strlen(s->c->pure_exact), pure))
        cellar_rational_set_double(pure, s->c->pure);
    is_pure = fmpq_cmp(pure, epsilon) <= 0;
    fmpq_clear(pure);
    return is_pure;
}

static cellar_status certify_disagree(const cellar_mechanism *m, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "%s: two computations of delta disagree; no certificate is given",
                       cellar_mechanism_spec(m));
}

/* 1 when a second computation of mechanism i at some count is cheap: of the first few epsilons, and
 * by few terms. */
static int check_is_cheap(const cellar_setting *s, size_t i, int64_t count, int64_t *n_terms)
{
    enum { TERMS_MAX = 400, TERMS_ALL = 2000, CHECKS_MAX = 10 };
    const cellar_mechanism *m = s->mechanisms[i];
    int64_t low, high;
    if (s->c->n_points * s->n + i >= CHECKS_MAX ||
        (!cellar_facts_monotone(m) && m->ops->law_row == NULL))
        return 0;
    m->ops->support(m, count, 1e-18, &low, &high);
    *n_terms = high - low;
    return low >= -TERMS_MAX && high <= TERMS_MAX + count && s->n_terms + *n_terms <= TERMS_ALL;
}

/* Term by term and by balls, against the threshold, or against double-words. */
static cellar_status certify_check(cellar_setting *s, size_t i, const fmpq_t epsilon,
                                   const cellar_worst *worst, cellar_error *err)
{
    const cellar_mechanism *m = s->mechanisms[i];
    cellar_status status = CELLAR_OK;
    int64_t n_terms;
    cellar_pair pair;
    arb_t first, second;

    cellar_pair_init(&pair, m, worst->count, worst->neighbour, CELLAR_NEGATIVES_KEEP);
    if (!check_is_cheap(s, i, worst->count, &n_terms) || (pair.wide && !worst->is_attained))
        return CELLAR_OK; /* a bound that says nothing about the pair */
    s->n_terms += n_terms;
    arb_init(first);
    arb_init(second);
    pair.cache = s->cache; /* what was certified with, and then anew */
    cellar_pair_delta(&pair, epsilon, first);
    pair.cache = NULL;
    cellar_pair_delta_by_sum(&pair, epsilon, 1e-18, CELLAR_PAIR_BITS, second);
    if (arb_overlaps(first, second) && (arb_is_finite(first) || !arb_is_finite(second)))
        s->c->is_checked = 1; /* what is not finite was no probability */
    else
        status = certify_disagree(m, err);
    arb_clear(first);
    arb_clear(second);
    return status;
}

/* What is attained is enclosed to CELLAR_PAIR_ACCURACY bits at least, unless it is next to nothing:
 * sums over numbers stop at 2^-600, tails at 2^-1100 (pair_measure.c). */
static double attained_lower(const cellar_mechanism *m, double bound)
{
    const double nothing = cellar_facts_monotone(m) ? 1e-300 : 1e-180;
    return bound > nothing ? bound * (1 - ldexp(1, 3 - CELLAR_PAIR_ACCURACY)) : 0;
}

/* Whether that delta is one of counts, whether there is another way to it, and what is proved. */
static cellar_status point_of_worst(cellar_setting *s, const fmpq_t epsilon,
                                    const cellar_worst *delta, cellar_profile_point *point,
                                    cellar_error *err)
{
    cellar_status status;
    point->delta = delta->bound;
    point->delta_lower =
        delta->is_attained ? attained_lower(s->mechanisms[0], delta->bound) : delta->least;
    point->count = delta->count;
    point->neighbour = delta->neighbour;
    point->everywhere = delta->everywhere;
    status = certify_check(s, 0, epsilon, delta, err);
    if (status == CELLAR_OK && !delta->is_proved)
        status = cellar_certificate_judge(s->c, CELLAR_VERDICT_UNKNOWN, err,
                                          "nothing is proved about %s for large counts",
                                          cellar_mechanism_spec(s->mechanisms[0]));
    return status;
}

static cellar_status point_of_cell(cellar_setting *s, const fmpq_t epsilon,
                                   cellar_profile_point *point, cellar_error *err)
{
    cellar_worst delta, violation;
    cellar_setting_delta(s, 0, epsilon, &delta);
    cellar_work_go_on(cellar_pair_cache_work(s->cache), 0.6);
    cellar_setting_cell_violation(s, epsilon, &violation);
    point->delta_probabilistic = violation.bound;
    point->probabilistic_is_bound = !violation.is_attained;
    return point_of_worst(s, epsilon, &delta, point, err);
}

/* One of the records of a unit. */
static cellar_status point_of_record(cellar_setting *s, const fmpq_t epsilon,
                                     cellar_profile_point *point, cellar_error *err)
{
    cellar_worst delta = {0};
    cellar_setting_basic_delta(s, epsilon, &delta);
    return point_of_worst(s, epsilon, &delta, point, err);
}

/* What composition rests on: the delta of one cell of each mechanism, at an equal share. */
static cellar_status certify_check_parts(cellar_setting *s, const fmpq_t epsilon, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t share;
    fmpq_init(share);
    divide(share, epsilon, cellar_setting_parts(s));
    for (size_t i = 0; i < s->n && status == CELLAR_OK; i++) {
        cellar_worst worst;
        int64_t n_terms;
        if (s->c->n_points > 0 && s->n > 1)
            break; /* each costs a search for the worst case */
        if (!check_is_cheap(s, i, (int64_t) s->options->min_count, &n_terms))
            continue;
        cellar_setting_delta(s, i, share, &worst);
        status = certify_check(s, i, share, &worst, err);
    }
    fmpq_clear(share);
    return status;
}

/* Convolution from below against the sum of parts from above: another way to the same delta. The
 * convolution's epsilon is a double, so that a tie may fall on its other side. */
static cellar_status certify_check_composed(const cellar_setting *s, double lower, double basic,
                                            cellar_error *err)
{
    return lower > basic * (1 + 1e-9) + 1e-12 ? certify_disagree(s->mechanisms[0], err) : CELLAR_OK;
}

static cellar_status point_of_many(cellar_setting *s, const fmpq_t epsilon,
                                   cellar_profile_point *point, cellar_error *err)
{
    cellar_worst worst = {0};
    cellar_status status = CELLAR_OK;
    point->delta = cellar_setting_basic_delta(s, epsilon, &worst);
    point->delta_lower = 0;
    point->count = worst.count;
    point->neighbour = worst.neighbour;
    point->everywhere = worst.everywhere;
    point->delta_probabilistic = NAN;
    if (cellar_setting_has_envelope(s) && point->delta > DELTA_NOTHING) {
        cellar_bounds bounds;
        status = cellar_setting_tight_delta(s, fmpq_get_d(epsilon), &bounds, err);
        if (status == CELLAR_OK)
            status = certify_check_composed(s, bounds.lower, point->delta, err);
        if (status == CELLAR_OK && bounds.upper < point->delta)
            point->delta = bounds.upper;
        if (status == CELLAR_OK)
            point->delta_lower = fmin(bounds.lower, point->delta);
    }
    if (status == CELLAR_OK)
        status = certify_check_parts(s, epsilon, err);
    if (status == CELLAR_OK && s->group == 1) {
        cellar_bounds violation;
        status = cellar_setting_violation(s, point->epsilon, &violation, err);
        point->delta_probabilistic = status == CELLAR_OK ? violation.upper : NAN;
        point->probabilistic_is_bound = !violation.is_lattice;
    }
    return status;
}

/* Everything at one epsilon; a unit of several records is a chain of changes, each of which has its
 * share of epsilon. */
static cellar_status point_of_all(cellar_setting *s, const fmpq_t epsilon,
                                  cellar_profile_point *point, cellar_error *err)
{
    cellar_status status;
    fmpq_t share;
    fmpq_init(share);
    divide(share, epsilon, s->group);
    status = !cellar_setting_is_single(s) ? point_of_many(s, share, point, err)
             : s->group > 1               ? point_of_record(s, share, point, err)
                                          : point_of_cell(s, share, point, err);
    fmpq_clear(share);
    if (s->group > 1) {
        point->delta = fmin(1, point->delta * cellar_setting_group_factor(s, point->epsilon));
        point->delta_lower = 0;
        point->delta_probabilistic = NAN;
    }
    if (s->group > 1 && status == CELLAR_OK) {
        cellar_bounds unit;
        status = cellar_setting_unit(s, point->epsilon, NAN, &unit, err);
        point->delta = status == CELLAR_OK ? fmin(point->delta, unit.upper) : point->delta;
    }
    if (status == CELLAR_OK && isnan(point->delta_probabilistic)) {
        point->probabilistic_is_bound = 1;
        status = cellar_setting_violation_bound(s, point->epsilon, point->delta,
                                                &point->delta_probabilistic, err);
    }
    if (point->delta_probabilistic < point->delta) /* which bounds it too */
        point->delta = fmax(point->delta_probabilistic, point->delta_lower);
    if (certify_is_pure_at(s, epsilon) && (s->group > 1 || !cellar_setting_is_single(s)))
        point->delta = point->delta_lower = point->delta_probabilistic = 0;
    if (point->delta_probabilistic <= 0 || point->delta_probabilistic <= point->delta_lower)
        point->probabilistic_is_bound = 0;
    return status;
}

static cellar_status certify_points(cellar_setting *s, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t epsilon;
    fmpq_init(epsilon);
    for (size_t i = 0; i < s->options->n_epsilons; i++) {
        cellar_profile_point point = {.delta_published = NAN};
        cellar_work_begin(cellar_pair_cache_work(s->cache), s->options->effort);
        CELLAR_TRY(cellar_certify_read_epsilon(s->options->epsilons[i], epsilon, err));
        point.epsilon = cellar_rational_double(epsilon);
        CELLAR_TRY(point_of_all(s, epsilon, &point, err));
        if (cellar_setting_is_single(s) && s->shift == 1 && s->group == 1)
            point.delta_published =
                cellar_published_delta(s->mechanisms[0], epsilon, s->options->min_count, s->cache);
        s->c->points[s->c->n_points++] = point;
    }
out:
    fmpq_clear(epsilon);
    return status;
}

/* The epsilon of one record, or of a unit whose changes dominate each other. */
static cellar_status epsilon_of_all(const cellar_setting *s, double delta, cellar_bounds *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_bounds tight;
    *out = (cellar_bounds){0};
    if (cellar_setting_is_single(s)) {
        if (s->group == 1)
            *out = cellar_setting_epsilon(s, 0, delta);
        else
            out->upper = cellar_setting_basic_epsilon(s, delta);
        out->upper = fmin(out->upper, s->c->pure);
        out->lower = fmin(out->lower, out->upper);
        return CELLAR_OK;
    }
    out->upper = cellar_setting_basic_epsilon(s, delta);
    if (!cellar_setting_has_envelope(s))
        return CELLAR_OK;
    status = cellar_setting_tight_epsilon(s, delta, &tight, err);
    if (status == CELLAR_OK) {
        out->upper = fmin(out->upper, tight.upper);
        out->lower = fmin(tight.lower, out->upper);
    }
    return status;
}

static cellar_status epsilon_basic(const cellar_setting *s, double delta, cellar_bounds *out,
                                   cellar_error *err)
{
    (void) err;
    *out = (cellar_bounds){.upper = cellar_setting_basic_epsilon(s, delta)};
    return CELLAR_OK;
}

static cellar_status epsilon_advanced(const cellar_setting *s, double delta, cellar_bounds *out,
                                      cellar_error *err)
{
    (void) err;
    *out = (cellar_bounds){.upper = cellar_setting_advanced_epsilon(s, delta)};
    return CELLAR_OK;
}

static cellar_status certify_epsilons(cellar_setting *s, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t value;
    fmpq_init(value);
    for (size_t i = 0; i < s->options->n_deltas; i++) {
        cellar_epsilon_at at = {0};
        cellar_work_begin(cellar_pair_cache_work(s->cache), s->options->effort);
        CELLAR_TRY(cellar_certify_read_delta(s->options->deltas[i], value, err));
        at.delta = cellar_rational_double(value);
        if (fmpq_sgn(value) == 0) {
            at.epsilon = at.lower = s->c->pure;
        } else {
            cellar_bounds bounds;
            CELLAR_TRY(cellar_setting_unit(s, NAN, nextafter(at.delta, 0), &bounds, err));
            if (isinf(bounds.upper)) /* a chain does no better */
                CELLAR_TRY(cellar_setting_group_epsilon(s, nextafter(at.delta, 0), epsilon_of_all,
                                                        &bounds, err));
            if (isinf(bounds.upper) && s->group > 1)
                CELLAR_TRY(
                    cellar_setting_group_search(s, nextafter(at.delta, 0), &bounds.upper, err));
            at.epsilon = fmin(bounds.upper, s->c->pure);
            at.lower = fmin(bounds.lower, at.epsilon);
        }
        s->c->epsilons[s->c->n_epsilons++] = at;
    }
out:
    fmpq_clear(value);
    return status;
}

/* Of one part all are the same. */
static void composition_of_one(cellar_setting *s)
{
    cellar_composition *comp = &s->c->composition;
    if (s->c->n_epsilons > 0 && s->c->epsilons[0].delta > 0) {
        comp->tight = (cellar_guarantee){s->c->epsilons[0].epsilon, s->c->epsilons[0].delta};
        comp->advanced = comp->tight;
        comp->lower = s->c->epsilons[0].lower;
    } else if (s->c->n_points > 0) {
        comp->tight = (cellar_guarantee){s->c->points[0].epsilon, s->c->points[0].delta};
        comp->lower = comp->tight.epsilon;
    } else if (isfinite(s->c->pure)) {
        comp->tight = (cellar_guarantee){s->c->pure, 0};
        comp->lower = s->c->pure;
    }
    comp->basic = comp->tight;
}

/* At the first delta asked for, or else at the first epsilon. */
static cellar_status certify_composition(cellar_setting *s, cellar_error *err)
{
    cellar_composition *comp = &s->c->composition;
    cellar_status status = CELLAR_OK;
    cellar_certify_rho(s);
    comp->n_parts = cellar_setting_parts(s);
    comp->is_tight = s->group == 1 && (cellar_setting_is_single(s) || cellar_setting_composes(s));
    if (cellar_setting_is_single(s) && s->group == 1) {
        composition_of_one(s);
    } else if (s->c->n_epsilons > 0 && s->c->epsilons[0].delta > 0) {
        double delta = s->c->epsilons[0].delta, less = nextafter(delta, 0); /* as above */
        cellar_bounds basic, advanced;
        CELLAR_TRY(cellar_setting_group_epsilon(s, less, epsilon_basic, &basic, err));
        advanced = basic;
        if (!cellar_setting_is_single(s)) /* one part has nothing to be composed with */
            CELLAR_TRY(cellar_setting_group_epsilon(s, less, epsilon_advanced, &advanced, err));
        comp->basic = (cellar_guarantee){basic.upper, delta};
        comp->advanced = (cellar_guarantee){advanced.upper, delta};
        comp->tight = (cellar_guarantee){s->c->epsilons[0].epsilon, delta};
        comp->lower = s->c->epsilons[0].lower;
    } else if (s->c->n_points > 0) {
        cellar_worst worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_parse(s->options->epsilons[0], strlen(s->options->epsilons[0]), epsilon);
        divide(epsilon, epsilon, s->group);
        comp->basic = (cellar_guarantee){
            s->c->points[0].epsilon,
            fmin(1, cellar_setting_basic_delta(s, epsilon, &worst) *
                        cellar_setting_group_factor(s, s->c->points[0].epsilon))};
        comp->tight = (cellar_guarantee){s->c->points[0].epsilon, s->c->points[0].delta};
        comp->lower = comp->tight.epsilon;
        fmpq_clear(epsilon);
    } else if (isfinite(s->c->pure)) {
        comp->basic = comp->tight = (cellar_guarantee){s->c->pure, 0};
        comp->lower = s->c->pure;
    }
out:
    return status;
}

/* A chain of changes: nothing is infinite when no step is; else delta at some epsilon bounds it. */
static cellar_status certify_group_infinite(cellar_setting *s, cellar_error *err)
{
    static const double epsilons[] = {0.01, 0.5, 1, 2};
    cellar_status status = CELLAR_OK;
    double least = 1, delta;
    if (s->group <= 1 || s->c->infinite <= 0)
        return CELLAR_OK;
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        CELLAR_TRY(cellar_setting_delta_upper(s, epsilons[i], &delta, err));
        least = fmin(least, delta);
    }
    s->c->infinite = least;
out:
    return status;
}

cellar_status cellar_certify(const cellar_mechanism *const *mechanisms, size_t n,
                             const cellar_certify_options *options, cellar_certificate **out,
                             cellar_error *err)
{
    cellar_parts_found found = {.n = 0};
    cellar_setting s = {
        .mechanisms = mechanisms, .n = n, .options = options, .group = 1, .found = &found};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_certify_check_options(options, err));
    CELLAR_TRY(setting_check(&s, err));
    s.shift = (int64_t) (options->max_weight * options->per_unit);
    if (options->per_unit > 1 && !cellar_setting_spreads(&s)) {
        s.shift = (int64_t) options->max_weight;
        s.group = options->per_unit;
    }
    s.cache = cellar_pair_cache_create();
    if (s.cache == NULL) {
        status = cellar_fail_memory(err, "a certificate");
        goto out;
    }
    cellar_work_begin(cellar_pair_cache_work(s.cache), options->effort);
    CELLAR_TRY(cellar_certificate_create(options, n, &s.c, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(cellar_certificate_name(s.c, i, cellar_mechanism_spec(mechanisms[i]),
                                           cellar_mechanism_revision(mechanisms[i]), err));
    CELLAR_TRY(cellar_certify_pure(&s, err));
    CELLAR_TRY(cellar_certify_infinite(&s, err));
    CELLAR_TRY(certify_group_infinite(&s, err));
    CELLAR_TRY(certify_points(&s, err));
    CELLAR_TRY(certify_epsilons(&s, err));
    CELLAR_TRY(certify_composition(&s, err));
    CELLAR_TRY(cellar_certify_judge(&s, err));
    if (cellar_pair_cache_atoms(s.cache)->is_short)
        CELLAR_TRY(cellar_fail_memory(err, "privacy losses")); /* answers do not depend on it */
    *out = s.c;
    s.c = NULL;
out:
    cellar_pair_cache_free(s.cache);
    cellar_certificate_free(s.c);
    return status;
}
