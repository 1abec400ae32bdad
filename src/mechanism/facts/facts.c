/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/facts/facts.h"

#include <math.h>

#include "math/ball.h"
#include "mechanism/noise/additive.h"
#include "mechanism/noise/weighted.h"

int cellar_facts_monotone(const cellar_mechanism *m)
{
    const cellar_facts *facts = m->ops->facts;
    return facts != NULL && facts->is_monotone != NULL && facts->is_monotone(m);
}

int cellar_facts_ordered(const cellar_mechanism *m)
{
    const cellar_facts *facts = m->ops->facts;
    return facts != NULL && facts->is_ordered != NULL && facts->is_ordered(m);
}

int cellar_facts_yes(const cellar_mechanism *m)
{
    (void) m;
    return 1;
}

static int additive_period(const cellar_mechanism *m, int64_t *from, int64_t *period)
{
    (void) m;
    *from = 0;
    *period = 1;
    return 1;
}

const cellar_facts cellar_additive_facts = {
    .is_monotone = cellar_facts_yes,
    .period = additive_period,
};

/* shift^2 / (2 sigma^2) (Bun and Steinke 2016, Lemma 2.4): rounding is post-processing. */
static int gaussian_rho(const cellar_mechanism *m, int64_t shift, fmpq_t out)
{
    const cellar_parameter *sigma = cellar_parameter_find(&m->parameters, "sigma");
    fmpz_t square;
    fmpz_init_set_si(square, shift);
    fmpz_mul(square, square, square);
    fmpq_mul(out, sigma->value, sigma->value);
    fmpq_add(out, out, out);
    fmpq_inv(out, out);
    fmpq_mul_fmpz(out, out, square);
    fmpz_clear(square);
    return 1;
}

const cellar_facts cellar_gaussian_facts = {
    .is_monotone = cellar_facts_yes,
    .period = additive_period,
    .rho = gaussian_rho,
};

/* ---- q(k) = c e^{-rate |k|} ------------------------------------------------ */

static const fmpq *geometric_rate(const cellar_mechanism *m)
{
    const cellar_additive *a = (const cellar_additive *) m;
    return a->noise->rate(a);
}

static int geometric_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                               int64_t released, fmpq_t out)
{
    int64_t k = released - count, k_other = released - neighbour;
    fmpz_t steps;
    fmpz_init_set_si(steps, (k_other < 0 ? -k_other : k_other) - (k < 0 ? -k : k));
    fmpq_mul_fmpz(out, geometric_rate(m), steps);
    fmpz_clear(steps);
    return 1;
}

/* Every step away from zero divides q by e^rate, but for the first one, which divides the rounded
 * distribution by less (log-concavity). Beyond both counts every step is a full one, so the bound
 * shift * rate is attained. */
static int geometric_pure_rational(const cellar_mechanism *m, int64_t shift, fmpq_t out)
{
    fmpz_t steps;
    fmpz_init_set_si(steps, shift);
    fmpq_mul_fmpz(out, geometric_rate(m), steps);
    fmpz_clear(steps);
    return 1;
}

static int geometric_pure(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out)
{
    fmpq_t exact;
    fmpq_init(exact);
    geometric_pure_rational(m, shift, exact);
    arb_set_fmpq(out, exact, bits);
    fmpq_clear(exact);
    return 1;
}

/* epsilon^2 / 2 for pure epsilon (Bun and Steinke 2016, Proposition 3.3). */
static int geometric_rho(const cellar_mechanism *m, int64_t shift, fmpq_t out)
{
    geometric_pure_rational(m, shift, out);
    fmpq_mul(out, out, out);
    fmpq_div_2exp(out, out, 1);
    return 1;
}

/* Beyond both counts every step of b adds a full step to both distances. */
static int geometric_flat_ends(const cellar_mechanism *m, int64_t *margin)
{
    (void) m;
    *margin = 0;
    return 1;
}

const cellar_facts cellar_geometric_facts = {
    .is_monotone = cellar_facts_yes,
    .log_ratio = geometric_log_ratio,
    .flat_ends = geometric_flat_ends,
    .pure = geometric_pure,
    .pure_rational = geometric_pure_rational,
    .period = additive_period,
    .rho = geometric_rho,
};

/* Rounded Laplace noise is geometric on each side of zero only: its mass at zero is no rational
 * power of e times the others. */
static int rounded_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                             int64_t released, fmpq_t out)
{
    return released != count && released != neighbour &&
           geometric_log_ratio(m, count, neighbour, released, out);
}

static int rounded_flat_ends(const cellar_mechanism *m, int64_t *margin)
{
    (void) m;
    *margin = 1;
    return 1;
}

const cellar_facts cellar_rounded_geometric_facts = {
    .is_monotone = cellar_facts_yes,
    .log_ratio = rounded_log_ratio,
    .flat_ends = rounded_flat_ends,
    .pure = geometric_pure,
    .pure_rational = geometric_pure_rational,
    .period = additive_period,
    .rho = geometric_rho,
};

/* ---- q(k) = c e^{-rate |k|^power}, |k| <= last ------------------------------ */

static void weighted_power(int64_t k, int power, fmpz_t out)
{
    fmpz_set_si(out, k < 0 ? -k : k);
    fmpz_pow_ui(out, out, (ulong) power);
}

static int weighted_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                              int64_t released, fmpq_t out)
{
    const cellar_weighted *w = (const cellar_weighted *) m;
    fmpz_t own, other;
    fmpz_init(own);
    fmpz_init(other);
    weighted_power(released - count, w->power, own);
    weighted_power(released - neighbour, w->power, other);
    fmpz_sub(other, other, own);
    fmpq_mul_fmpz(out, w->rate, other);
    fmpz_clear(own);
    fmpz_clear(other);
    return 1;
}

/* Discrete Gaussian noise has the rho of continuous noise (Canonne, Kamath and Steinke 2020,
 * Proposition 5). Truncated noise has none, for some of its losses are infinite. */

const cellar_facts cellar_weighted_facts = {
    .is_monotone = cellar_facts_yes,
    .log_ratio = weighted_log_ratio,
    .period = additive_period,
    .rho = gaussian_rho,
};

/* q(m), at the mechanism's own epsilon: Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and
 * differential privacy in the dissemination of frequency tables", section 3. */
static double truncated_published(const cellar_mechanism *m, const fmpq_t epsilon,
                                  uint64_t min_count)
{
    const int64_t last = ((const cellar_weighted *) m)->last;
    double delta;
    arb_t q;
    (void) min_count;
    if (!fmpq_equal(epsilon, cellar_parameter_find(&m->parameters, "epsilon")->value))
        return NAN;
    arb_init(q);
    m->ops->pmf_ball(m, 0, last, 256, q);
    delta = cellar_ball_upper(q);
    arb_clear(q);
    return delta;
}

const cellar_facts cellar_truncated_facts = {
    .is_monotone = cellar_facts_yes,
    .log_ratio = weighted_log_ratio,
    .period = additive_period,
    .published = truncated_published,
};
