/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delaporte counts, whose ratios rise, fall and rise again when sigma > 1: what is proved of all
 * counts and all shifts, against sums over all values in long doubles. */
#include "make_mechanism.h"

#include <math.h>
#include <stdio.h>

#include <cellar/mechanism.h>

#include "base/memory.h"
#include "math/ball.h"
#include "math/rational.h"
#include "privacy/worst.h"

enum { NUMBERS = 1 << 13 };

typedef struct sample {
    double alpha, sigma, nu;
    int64_t shift;
} sample;

static const sample samples[] = {
    {14.1, 4.5, 0.09, 1}, {92.8, 3.69, 0.51, 1},  {0.181, 3.26, 0.2, 1},  {0.258, 6.07, 0.35, 1},
    {2, 3, 0.1, 1},       {20.15, 2.13, 0.61, 1}, {0.127, 2.99, 0.25, 2}, {5.05, 3.77, 0.32, 1},
    {3, 1.05, 0.5, 1},    {30, 2, 0.9, 3},        {14.6, 0.638, 0.66, 1}, {3, 0.99, 0.05, 2},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static cellar_mechanism *sample_make(const sample *s)
{
    char spec[100];
    snprintf(spec, sizeof spec, "delaporte:alpha=%.15g,sigma=%.15g,nu=%.15g", s->alpha, s->sigma,
             s->nu);
    return make(spec);
}

/* (b+1) P(b+1) = lambda P(b) + r sum_j q^{j+1} P(b-j) */
static void law_fill(const sample *s, double count, long double *p)
{
    long double mean = (long double) s->alpha + count, lambda = mean * s->nu;
    long double beta = s->sigma * mean * (1 - (long double) s->nu), r = 1 / (long double) s->sigma;
    long double q = beta / (1 + beta), fed = 0;
    p[0] = expl(-lambda - r * log1pl(beta));
    for (int b = 0; b + 1 < NUMBERS; b++) {
        fed = q * (fed + r * p[b]);
        p[b + 1] = (lambda * p[b] + fed) / (b + 1);
    }
}

static double delta_between(const long double *p, const long double *q, double epsilon)
{
    long double sum = 0, factor = expl(epsilon);
    for (int b = 0; b < NUMBERS; b++)
        sum += fmaxl(0, p[b] - factor * q[b]);
    return (double) sum;
}

static double violation_between(const long double *p, const long double *q, double epsilon)
{
    long double sum = 0, factor = expl(epsilon);
    for (int b = 0; b < NUMBERS; b++)
        sum += p[b] > factor * q[b] || q[b] > factor * p[b] ? p[b] : 0;
    return (double) sum;
}

/* Both orders of one pair of counts. */
static void pair_fill(const sample *s, double count, double epsilon,
                      double (*measure)(const long double *, const long double *, double),
                      double *both)
{
    long double *p = cellar_alloc((size_t) 2 * NUMBERS, sizeof *p);
    assert_non_null(p);
    law_fill(s, count, p);
    law_fill(s, count + (double) s->shift, p + NUMBERS);
    both[0] = measure(p, p + NUMBERS, epsilon);
    both[1] = measure(p + NUMBERS, p, epsilon);
    cellar_free(p);
}

static void deltas_fill(const sample *s, double count, double epsilon, double *deltas)
{
    pair_fill(s, count, epsilon, delta_between, deltas);
}

/* The most that sums find: of delta and of P(|loss| > epsilon). */
static void enumerate(const sample *s, double epsilon, double *delta, double *violation)
{
    sample one = *s;
    double both[2];
    *delta = *violation = 0;
    for (one.shift = 1; one.shift <= s->shift; one.shift++)
        for (int count = 0; count < 120; count = count < 8 ? count + 1 : 2 * count) {
            deltas_fill(&one, count, epsilon, both);
            *delta = fmax(*delta, fmax(both[0], both[1]));
            pair_fill(&one, count, epsilon, violation_between, both);
            *violation = fmax(*violation, fmax(both[0], both[1]));
        }
}

/* No count and no shift is worse than what is said of all; and where that is said to be attained by
 * small counts, one of them is as bad. */
static void check_covered(const sample *s, double epsilon)
{
    cellar_mechanism *m = sample_make(s);
    double delta, violation;
    cellar_one_cell cell;
    cellar_worst worst;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_one_cell_init(&cell, m, s->shift, 0, CELLAR_NEGATIVES_KEEP, 0.02);
    enumerate(s, epsilon, &delta, &violation);
    cellar_worst_delta(&cell, exact, &worst);
    assert_true(worst.is_proved && worst.lower <= worst.upper);
    if (!(worst.upper >= delta * (1 - 1e-12)))
        fail_msg("%s at %g: found %.15g, proved %.15g", m->spec, epsilon, delta, worst.upper);
    if (worst.count + worst.neighbour < 16)
        assert_true(worst.lower <= delta * (1 + 1e-6) + 1e-18);
    cellar_worst_violation(&cell, exact, &worst);
    assert_true(worst.is_proved && worst.lower <= worst.upper);
    assert_true(worst.upper >= violation * (1 - 1e-12));
    if (worst.count + worst.neighbour < 16)
        assert_true(worst.lower <= violation * (1 + 1e-6) + 1e-18);
    cellar_one_cell_clear(&cell);
    fmpq_clear(exact);
    cellar_mechanism_free(m);
}

static void all_counts_are_covered(void **state)
{
    static const double epsilons[] = {0.03, 0.4, 1.5};
    (void) state;
    for (size_t i = 0; i < (size_t) 3 * SAMPLES; i++)
        check_covered(&samples[i / 3], epsilons[i % 3]);
}

static void all_shifts_are_covered(void **state)
{
    static const double epsilons[] = {0.6, 4};
    (void) state;
    for (size_t i = 0; i < (size_t) 2 * SAMPLES; i += 3) {
        sample s = samples[i / 2];
        s.shift = 4;
        check_covered(&s, epsilons[i % 2]);
    }
}

/* One pair, also where losses are large and values beyond the reach of doubles; the sums leave out
 * a little. */
static void pairs_are_close(void **state)
{
    static const struct {
        sample s;
        double epsilon;
    } asked[] = {{{2.97, 3.93, 0.21, 20}, 10}, {{2.97, 3.93, 0.21, 20}, 25},
                 {{5, 3, 0.3, 1}, 0.01},       {{5, 3, 0.3, 1}, 40},
                 {{5, 3, 0.3, 1}, 130},        {{0.6, 0.9, 0.3, 2}, 2}};
    (void) state;
    for (size_t i = 0; i < 2 * sizeof asked / sizeof *asked; i++) {
        const sample *s = &asked[i / 2].s;
        const int larger = i % 2;
        cellar_mechanism *m = sample_make(s);
        double both[2], got;
        cellar_one_cell cell;
        cellar_pair pair;
        fmpq_t exact;
        arb_t value;
        fmpq_init(exact);
        arb_init(value);
        cellar_rational_set_double(exact, asked[i / 2].epsilon);
        cellar_one_cell_init(&cell, m, s->shift, 0, CELLAR_NEGATIVES_KEEP, 1);
        pair = cellar_one_cell_pair(&cell, 0, s->shift, larger, CELLAR_NEGATIVES_KEEP);
        cellar_pair_delta(&pair, exact, value);
        got = cellar_ball_upper(value);
        deltas_fill(s, 0, asked[i / 2].epsilon, both);
        if (!(got >= both[larger] * (1 - 1e-9) && got <= both[larger] * (1 + 1e-3) + 1e-100))
            fail_msg("%s at %g: %.15g, not %.15g", m->spec, asked[i / 2].epsilon, got,
                     both[larger]);
        cellar_one_cell_clear(&cell);
        fmpq_clear(exact);
        arb_clear(value);
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_counts_are_covered),
        cmocka_unit_test(all_shifts_are_covered),
        cmocka_unit_test(pairs_are_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
