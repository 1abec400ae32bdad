/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several cells or releases together. */
#include "privacy/certify.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
#include "math/rational.h"
#include "privacy/envelope.h"

int cellar_setting_is_single(const cellar_setting *s)
{
    return s->n == 1 && cellar_setting_parts_each(s) == 1;
}

/* ---- several cells ----------------------------------------------------------------------- */

/* A list of stakes: the direction 1 stands for P of the larger count. */
typedef struct scenario {
    cellar_stake stakes[2 * CELLAR_CERTIFY_MECHANISMS_MAX];
    size_t n;
    int is_rough; /* all are bounded on one coarse grid */
} scenario;

/* 1 when one pair of counts is worst everywhere, and its losses can be composed. */
static int mechanism_has_pair(const cellar_mechanism *m, int64_t shift)
{
    if (shift > 1 && !cellar_facts_monotone(m)) /* a smaller change may be worse */
        return 0;
    return m->ops->is_additive || cellar_facts_ordered(m);
}

/* Negatives set to zero are a post-processing of negatives kept. */
cellar_stake cellar_setting_stake(const cellar_setting *s, size_t i, int larger, int64_t shift,
                                  uint64_t times)
{
    int64_t low = (int64_t) s->options->min_count, high = low + shift;
    cellar_stake stake = {.times = times, .reach = cellar_setting_reach(s, i)};
    cellar_pair_init(&stake.pair, s->mechanisms[i], larger ? high : low, larger ? low : high,
                     CELLAR_NEGATIVES_KEEP);
    stake.pair.cache = s->cache;
    stake.is_envelope = !mechanism_has_pair(s->mechanisms[i], shift);
    stake.reach.shift = shift;
    return stake;
}

static void scenario_add(scenario *sc, const cellar_setting *s, size_t i, int larger,
                         uint64_t times)
{
    sc->stakes[sc->n++] = cellar_setting_stake(s, i, larger, s->shift, times);
}

/* Symmetric noise has the same losses in both orders: equal stakes are put together. */
static void scenario_merge(scenario *sc)
{
    for (size_t i = 0; i < sc->n; i++)
        for (size_t k = i + 1; k < sc->n;)
            if (strcmp(cellar_mechanism_spec(sc->stakes[i].pair.m),
                       cellar_mechanism_spec(sc->stakes[k].pair.m)) == 0 &&
                (sc->stakes[i].pair.m->ops->is_additive ||
                 sc->stakes[i].pair.count[0] == sc->stakes[k].pair.count[0])) {
                sc->stakes[i].times += sc->stakes[k].times;
                sc->stakes[k] = sc->stakes[--sc->n];
            } else {
                k++;
            }
}

/* The k-th way in which a unit can meet the mechanisms, 0 beyond the last. */
static int scenario_make(const cellar_setting *s, size_t k, scenario *sc)
{
    uint64_t d = s->options->n_cells;
    int substitute = s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE;
    sc->n = 0;
    sc->is_rough = s->is_rough;
    if (!s->options->parallel) {
        if (k >= (substitute ? 1U : 2U))
            return 0;
        for (size_t i = 0; i < s->n; i++) {
            scenario_add(sc, s, i, k == 0, d);
            if (substitute)
                scenario_add(sc, s, i, 0, d);
        }
    } else if (!substitute) {
        if (k >= 2 * s->n)
            return 0;
        scenario_add(sc, s, k / 2, k % 2 == 0, d);
    } else {
        if (k >= s->n * s->n)
            return 0;
        scenario_add(sc, s, k / s->n, 1, d);
        scenario_add(sc, s, k % s->n, 0, d);
    }
    scenario_merge(sc);
    return 1;
}

static int scenario_is_symmetric(const cellar_setting *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->mechanisms[i]->ops->is_additive)
            return 0;
    return 1;
}

static cellar_status stakes_ask(const scenario *sc, double epsilon, double delta, double enough,
                                cellar_bounds *out, cellar_error *err)
{
    return isnan(epsilon) ? cellar_tight_epsilon(sc->stakes, sc->n, delta, enough, out, err)
                          : cellar_tight_delta(sc->stakes, sc->n, epsilon, enough, out, err);
}

/* Losses that no grid can hold: there is nothing to say, and that is no failure. */
int cellar_setting_is_too_wide(cellar_status status)
{
    return status == CELLAR_ERR_ARGUMENT || status == CELLAR_ERR_OVERFLOW;
}

static int scenario_has_envelope(const scenario *sc)
{
    for (size_t i = 0; i < sc->n; i++)
        if (sc->stakes[i].is_envelope)
            return 1;
    return 0;
}

/* The upper bound need not be close where it is at most `enough`. An envelope is nobody's pair, and
 * bounds nothing from below. */
static cellar_status scenario_ask(scenario *sc, double epsilon, double delta, double enough,
                                  cellar_bounds *out, cellar_error *err)
{
    cellar_status status;
    int has_envelope = scenario_has_envelope(sc);
    sc->stakes[0].is_rough = sc->is_rough ? 2 : has_envelope ? 3 : 0;
    status = stakes_ask(sc, epsilon, delta, enough, out, err);
    if (has_envelope)
        out->lower = 0;
    return status;
}

/* What the first counts do bounds an envelope from below; a delta that is much smaller says
 * nothing.
 */
static cellar_status scenario_ask_lower(scenario *sc, double epsilon, double delta,
                                        cellar_bounds *out, cellar_error *err)
{
    const double share = 1, much = 1e-9, enough = isnan(epsilon) ? 0 : much * out->upper;
    cellar_bounds below;
    cellar_status status;
    for (size_t i = 0; i < sc->n; i++)
        sc->stakes[i].is_envelope = 0;
    sc->stakes[0].is_rough = 1;
    cellar_work_go_on(cellar_pair_cache_work(sc->stakes[0].pair.cache), share);
    status = stakes_ask(sc, epsilon, delta, enough, &below, err);
    if (status == CELLAR_OK)
        out->lower = fmax(out->lower, fmin(below.lower, out->upper));
    return cellar_setting_is_too_wide(status) ? CELLAR_OK : status;
}

/* Asks each scenario and keeps the worst; the lower bound is that of some scenario, of envelopes
 * the worst one. A chain of changes has none. */
static cellar_status scenarios_ask(const cellar_setting *s, double epsilon, double delta,
                                   cellar_bounds *out, cellar_error *err)
{
    scenario *sc = cellar_alloc(1, sizeof *sc);
    cellar_status status = CELLAR_OK;
    enum { PARTS_FEW = 8 };
    size_t worst = 0;
    *out = (cellar_bounds){.upper = 0, .lower = 0};
    if (sc == NULL)
        return cellar_fail_memory(err, "a composition");
    for (size_t k = 0; scenario_make(s, k, sc); k++) {
        cellar_bounds one;
        if (k == 1 && !s->options->parallel && scenario_is_symmetric(s))
            break;
        CELLAR_TRY(scenario_ask(sc, epsilon, delta, out->upper, &one, err));
        worst = one.upper > out->upper ? k : worst;
        out->upper = fmax(out->upper, one.upper);
        out->lower = fmax(out->lower, one.lower);
        out->is_lattice = one.is_lattice;
    }
    for (size_t k = 0; !s->is_rough && s->group == 1 && scenario_make(s, k, sc); k++)
        if (scenario_has_envelope(sc) && (k == worst || cellar_setting_parts(s) <= PARTS_FEW))
            CELLAR_TRY(scenario_ask_lower(sc, epsilon, delta, out, err));
out:
    cellar_free(sc);
    if (cellar_setting_is_too_wide(status)) {
        *out = (cellar_bounds){.upper = isnan(epsilon) ? INFINITY : 1};
        status = CELLAR_OK;
    }
    return status;
}

int cellar_setting_composes(const cellar_setting *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!mechanism_has_pair(s->mechanisms[i], s->shift))
            return 0;
    return s->shift <= (int64_t) s->options->max_weight || cellar_setting_spreads(s);
}

int cellar_setting_has_envelope(const cellar_setting *s)
{
    enum { SHIFTS_MAX = 16 }; /* all smaller changes are looked at too */
    for (size_t i = 0; i < s->n; i++) {
        cellar_reach reach = cellar_setting_reach(s, i);
        if (!mechanism_has_pair(s->mechanisms[i], s->shift) &&
            (s->shift > SHIFTS_MAX || !cellar_envelope_exists(&reach)))
            return 0;
    }
    return s->shift <= (int64_t) s->options->max_weight || cellar_setting_spreads(s);
}

int cellar_setting_spreads(const cellar_setting *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const cellar_mechanism *m = s->mechanisms[i];
        const cellar_facts *facts = m->ops->facts;
        int spread = facts != NULL && facts->is_spread != NULL && facts->is_spread(m);
        if (!spread && !(m->ops->is_additive && cellar_facts_monotone(m)))
            return 0;
    }
    return 1;
}

cellar_status cellar_setting_tight_delta(const cellar_setting *s, double epsilon,
                                         cellar_bounds *out, cellar_error *err)
{
    return scenarios_ask(s, epsilon, NAN, out, err);
}

cellar_status cellar_setting_tight_epsilon(const cellar_setting *s, double delta,
                                           cellar_bounds *out, cellar_error *err)
{
    return scenarios_ask(s, NAN, delta, out, err);
}

/* The sum of n losses exceeds epsilon only where one exceeds a share of it: a bound of delta_p for
 * any number of cells up to this, which is all there is to say where it is nothing. */
static double violation_basic(const cellar_setting *s, double epsilon)
{
    double parts = (double) cellar_setting_parts(s);
    cellar_worst worst;
    fmpq_t share;
    fmpq_init(share);
    cellar_rational_set_double(share, epsilon / parts * (1 - 1e-15));
    cellar_setting_cell_violation(s, share, &worst);
    fmpq_clear(share);
    return worst.bound * parts * (1 + 1e-12);
}

/* delta_p of several cells, of noise that depends on no count. A record may touch fewer than d. */
cellar_status cellar_setting_violation(const cellar_setting *s, double epsilon, cellar_bounds *out,
                                       cellar_error *err)
{
    enum { PARTS_MAX = 64 };
    const double nothing = 1e-300;
    cellar_stake stake;
    double basic;
    cellar_status status;
    *out = (cellar_bounds){.upper = NAN};
    if (s->n > 1 || s->shift > 1 || !scenario_is_symmetric(s) ||
        s->options->negatives == CELLAR_NEGATIVES_ZERO || cellar_setting_parts(s) > PARTS_MAX)
        return CELLAR_OK;
    basic = violation_basic(s, epsilon);
    *out = (cellar_bounds){.upper = basic};
    if (basic <= nothing)
        return CELLAR_OK;
    stake = cellar_setting_stake(s, 0, 1, s->shift, cellar_setting_parts(s));
    status = cellar_tight_violation(&stake, epsilon, out, err);
    if (cellar_setting_is_too_wide(status)) {
        *out = (cellar_bounds){.upper = basic};
        status = CELLAR_OK;
    }
    return status;
}

void cellar_certify_rho(cellar_setting *s)
{
    fmpq_t total, one, most;
    int known = 1;
    arb_t ball;
    fmpq_init(total);
    fmpq_init(one);
    fmpq_init(most);
    arb_init(ball);
    for (size_t i = 0; i < s->n && known; i++) {
        const cellar_facts *facts = s->mechanisms[i]->ops->facts;
        known = facts != NULL && facts->rho != NULL && facts->rho(s->mechanisms[i], s->shift, one);
        fmpq_add(total, total, one);
        if (fmpq_cmp(one, most) > 0)
            fmpq_set(most, one);
    }
    if (known) {
        fmpq_mul_ui(total, s->options->parallel ? most : total, cellar_setting_parts_each(s));
        fmpq_mul_ui(total, total, s->group); /* Bun and Steinke 2016, Proposition 1.9 */
        fmpq_mul_ui(total, total, s->group);
        arb_set_fmpq(ball, total, 128);
        s->c->composition.rho = cellar_ball_upper(ball);
    }
    fmpq_clear(total);
    fmpq_clear(one);
    fmpq_clear(most);
    arb_clear(ball);
}
