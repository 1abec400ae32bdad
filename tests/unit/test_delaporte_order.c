/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delaporte counts with sigma > 1: where the first pair of counts is said to be the worst, it is
 * among many, term by term in long doubles; and the bound of the two parts told one by one holds.
 */
#include "make_mechanism.h"

#include <math.h>
#include <stdio.h>

#include <cellar/mechanism.h>

#include "base/memory.h"
#include "math/rational.h"
#include "mechanism/facts_delaporte.h"
#include "privacy/supremum.h"

enum { NUMBERS = 1 << 14 };

typedef struct sample {
    double alpha, sigma, nu;
    int64_t shift;
    double ordered_from; /* from this epsilon on it is proved */
} sample;

static const sample samples[] = {
    {14.1, 14.5, 0.09, 1, 0.12}, {92.8, 3.69, 0.51, 1, 0.07}, {0.181, 3.26, 0.2, 1, 0.3},
    {0.258, 6.07, 0.35, 1, 1},   {2, 3, 0.1, 1, 0.08},        {20.15, 5.13, 0.61, 1, 0.15},
    {0.127, 2.99, 0.25, 2, 0.5}, {5.05, 3.77, 0.32, 1, 0.16}, {3, 1.05, 0.5, 1, 0.01},
    {30, 2, 0.9, 3, 0.6},
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

static void the_first_pair_is_worst(void **state)
{
    static const double counts[] = {1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 80, 130, 200};
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        cellar_mechanism *m = sample_make(&samples[i]);
        for (int e = -4; e < 5; e++) {
            double first[2], other[2], epsilon = ldexp(samples[i].ordered_from, e), steps = 1e6;
            if (!cellar_delaporte_is_ordered_at(m, 0, samples[i].shift, samples[i].shift, epsilon,
                                                &steps)) {
                assert_true(epsilon < samples[i].ordered_from);
                continue;
            }
            deltas_fill(&samples[i], 0, epsilon, first);
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                deltas_fill(&samples[i], counts[k], epsilon, other);
                for (int side = 0; side < 2; side++)
                    assert_true(other[side] <= first[side] * (1 + 1e-12) + 1e-17);
            }
        }
        cellar_mechanism_free(m);
    }
}

/* The numbers with R > e^epsilon end and begin again. */
static void a_hump_is_not_overlooked(void **state)
{
    static const sample s = {100, 3, 0.5, 1, 0};
    cellar_mechanism *m = sample_make(&s);
    long double *p = cellar_alloc((size_t) 2 * NUMBERS, sizeof *p);
    double highest = -1, dip = -1, steps = 1e7; /* the top of the hump, and what follows */
    (void) state;
    assert_non_null(p);
    law_fill(&s, 0, p);
    law_fill(&s, 1, p + NUMBERS);
    for (int b = 0; b < 400; b++) {
        double loss = (double) logl(p[NUMBERS + b] / p[b]);
        if (loss > highest && dip >= highest)
            highest = dip = loss;
        dip = fmin(dip, loss);
    }
    assert_true(dip < highest / 2);
    for (int i = 1; i < 10; i++)
        assert_false(
            cellar_delaporte_is_ordered_at(m, 0, 1, 1, dip + (highest - dip) * i / 10, &steps));
    assert_true(cellar_delaporte_is_ordered_at(m, 0, 1, 1, highest * 1.5, &steps));
    cellar_free(p);
    cellar_mechanism_free(m);
}

static void parts_told_apart_tell_more(void **state)
{
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        cellar_mechanism *m = sample_make(&samples[i]);
        for (int e = 0; e < 8; e++) {
            double last = 1, epsilon = 0.37 * e;
            for (int64_t from = 0; from < 100; from = 2 * from + 1) {
                double told = cellar_delaporte_told_apart(m, from, samples[i].shift, epsilon);
                double deltas[2];
                deltas_fill(&samples[i], (double) from, epsilon, deltas);
                assert_true(told >= deltas[0] && told >= deltas[1]);
                assert_true(told <= last * (1 + 1e-6) || told < 1e-20);
                last = told;
            }
        }
        cellar_mechanism_free(m);
    }
}

/* And then of all smaller shifts, where that is said. */
static void the_largest_shift_is_worst(void **state)
{
    enum { SHIFT = 12 };
    int n_proved = 0;
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        cellar_mechanism *m = sample_make(&samples[i]);
        for (int e = -1; e < 6; e++) {
            double first[2], other[2], epsilon = ldexp(0.3, e), steps = 1e6;
            sample s = samples[i];
            s.shift = SHIFT;
            if (!cellar_delaporte_is_ordered_at(m, 0, 1, SHIFT, epsilon, &steps))
                continue;
            n_proved++;
            deltas_fill(&s, 0, epsilon, first);
            for (s.shift = 1; s.shift <= SHIFT; s.shift += 1 + s.shift / 3)
                for (int count = 0; count < 100; count = 4 * count + 1) {
                    deltas_fill(&s, count, epsilon, other);
                    for (int side = 0; side < 2; side++)
                        assert_true(other[side] <= first[side] * (1 + 1e-12) + 1e-17);
                }
        }
        cellar_mechanism_free(m);
    }
    assert_true(n_proved > SAMPLES);
}

/* For Y alone (nu tends to 0) and for X alone the bound is the pair's own. */
static void a_part_alone_is_exact(void **state)
{
    static const sample alone[] = {{3, 2, 1e-9, 1, 0}, {3, 2, 1 - 1e-9, 1, 0}};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        cellar_mechanism *m = sample_make(&alone[i]);
        for (int e = 0; e < 4; e++) {
            double epsilon = 0.05 * pow(3, e), deltas[2];
            double told = cellar_delaporte_told_apart(m, 0, 1, epsilon);
            deltas_fill(&alone[i], 0, epsilon, deltas);
            assert_true(fabs(told - fmax(deltas[0], deltas[1])) < 1e-6);
        }
        cellar_mechanism_free(m);
    }
}

static void quick_bounds_are_close(void **state)
{
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        cellar_mechanism *m = sample_make(&samples[i]);
        for (int e = 0; e < 8; e++)
            for (int64_t count = 0; count < 40; count = 5 * count + 1) {
                double deltas[2], violations[2], epsilon = ldexp(0.021, e);
                cellar_quick quick;
                deltas_fill(&samples[i], (double) count, epsilon, deltas);
                pair_fill(&samples[i], (double) count, epsilon, violation_between, violations);
                assert_true(
                    cellar_delaporte_quick(m, count, samples[i].shift, epsilon, 1e-6, 1e5, &quick));
                for (int side = 0; side < 2; side++) {
                    double delta = quick.delta[side], violation = quick.violation[side];
                    assert_true(delta >= deltas[side] && delta < deltas[side] + 3e-8);
                    assert_true(violation >= violations[side] * (1 - 1e-15) &&
                                violation < violations[side] + 3e-8);
                }
            }
        cellar_mechanism_free(m);
    }
}

/* Large losses, and numbers beyond the reach of double-words. */
static void quick_bounds_go_far(void **state)
{
    static const sample far = {2.97, 6.93, 0.21, 100, 0}, small = {5, 3, 0.3, 1, 0};
    cellar_mechanism *m = sample_make(&far), *other = sample_make(&small);
    (void) state;
    for (int e = 0; e < 4; e++) {
        double deltas[2], epsilon = 150 + 100 * e;
        cellar_quick quick;
        deltas_fill(&far, 0, epsilon, deltas);
        assert_true(cellar_delaporte_quick(m, 0, far.shift, epsilon, 0, 1e5, &quick));
        assert_true(quick.delta[1] >= deltas[1] && quick.delta[1] < deltas[1] * (1 + 1e-3));
        epsilon = 40 + 30 * e;
        deltas_fill(&small, 0, epsilon, deltas);
        assert_true(cellar_delaporte_quick(other, 0, 1, epsilon, 0, 1e5, &quick));
        assert_true(quick.delta[1] >= deltas[1] && quick.delta[1] < deltas[1] * (1 + 1e-5));
    }
    cellar_mechanism_free(m);
    cellar_mechanism_free(other);
}

/* Sizes of at least 1: a block bounds all of its pairs, and one pair closely. */
static void blocks_are_bounded(void **state)
{
    static const sample some[] = {{14.6, 0.638, 0.66, 1, 0}, {3, 0.99, 0.05, 2, 0},
                                  {73.2, 0.0077, 0.9, 1, 0}, {100, 0.3, 0.5, 7, 0},
                                  {0.2, 0.5, 0.3, 1, 0},     {900, 0.02, 0.1, 3, 0}};
    static const double epsilons[] = {0.02, 0.1, 0.6, 2};
    (void) state;
    for (size_t i = 0; i < 4 * sizeof some / sizeof *some; i++) {
        const sample *s = &some[i / 4];
        const double epsilon = epsilons[i % 4];
        cellar_mechanism *m = sample_make(s);
        double most[2] = {0, 0}, both[2];
        cellar_quick quick;
        for (int64_t count = 0; count <= 6; count++) {
            assert_true(cellar_delaporte_block(m, count, count, s->shift, epsilon, 0, 1e5, &quick));
            pair_fill(s, (double) count, epsilon, violation_between, both);
            for (int side = 0; side < 2; side++) {
                assert_true(quick.violation[side] >= both[side] * (1 - 1e-14));
                assert_true(quick.violation[side] <= both[side] * (1 + 1e-7) + 1e-280);
                most[side] = fmax(most[side], both[side]);
            }
        }
        assert_true(cellar_delaporte_block(m, 0, 6, s->shift, epsilon, 0, 1e5, &quick));
        assert_true(quick.violation[0] >= most[0] && quick.violation[1] >= most[1]);
        cellar_mechanism_free(m);
    }
}

/* Doubles are right to what they say, and what is left out too. */
static void laws_are_filled(void **state)
{
    static const sample some[] = {
        {14.6, 0.638, 0.66, 1, 0}, {3, 5, 0.05, 2, 0}, {200, 2, 0.9, 1, 0}};
    enum { N = 3000 };
    double out[N], error;
    long double *p = cellar_alloc(NUMBERS, sizeof *p);
    (void) state;
    assert_non_null(p);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        cellar_mechanism *m = sample_make(&some[i]);
        for (int first = 0; first < 60; first += 50) {
            double outside = cellar_delaporte_fill(m, 4, first, N, out, &error);
            long double others = 0;
            law_fill(&some[i], 4, p);
            for (int b = 0; b < NUMBERS; b++) {
                if (b < first || b >= first + N)
                    others += p[b];
                else
                    assert_true(fabsl(out[b - first] - p[b]) <= error * p[b] + CELLAR_FILL_LEAST);
            }
            assert_true(error < 1e-10 && outside >= (double) others * (1 - 1e-12));
            assert_true(outside < (double) others * 2 + 1e-270);
        }
        cellar_mechanism_free(m);
    }
    cellar_free(p);
}

/* No pair of any shift is worse than what is said of all shifts. */
static void all_shifts_are_covered(void **state)
{
    static const double epsilons[] = {0.1, 0.6, 4};
    (void) state;
    for (size_t i = 0; i < (size_t) 3 * SAMPLES; i++) {
        sample s = samples[i / 3];
        double epsilon = epsilons[i % 3], delta = 0, violation = 0, both[2];
        cellar_mechanism *m = sample_make(&s);
        cellar_reach reach = {.m = m, .shift = 5, .cache = cellar_pair_cache_create()};
        cellar_worst worst;
        fmpq_t exact;
        for (s.shift = 1; s.shift <= reach.shift; s.shift++)
            for (int count = 0; count < 60; count = 4 * count + 1) {
                deltas_fill(&s, count, epsilon, both);
                delta = fmax(delta, fmax(both[0], both[1]));
                pair_fill(&s, count, epsilon, violation_between, both);
                violation = fmax(violation, fmax(both[0], both[1]));
            }
        fmpq_init(exact);
        cellar_rational_set_double(exact, epsilon);
        assert_true(cellar_supremum_to(&reach, 1, exact, &worst));
        assert_true(worst.is_proved && worst.bound >= delta * (1 - 1e-12));
        assert_true(cellar_supremum_to(&reach, 0, exact, &worst));
        assert_true(worst.is_proved && worst.bound >= violation * (1 - 1e-12));
        fmpq_clear(exact);
        cellar_pair_cache_free(reach.cache);
        cellar_mechanism_free(m);
    }
}

/* No count is worse than what is said of all, and one is as bad. */
static void all_counts_are_covered(void **state)
{
    enum { COUNTS = 120 };
    static const double epsilons[] = {0.03, 0.1, 0.4, 1.5};
    (void) state;
    for (size_t i = 0; i < (size_t) 4 * SAMPLES; i++) {
        const sample *s = &samples[i / 4];
        double epsilon = epsilons[i % 4], delta = 0, violation = 0, both[2];
        cellar_mechanism *m = sample_make(s);
        cellar_reach reach = {.m = m, .shift = s->shift, .cache = cellar_pair_cache_create()};
        cellar_worst worst;
        fmpq_t exact;
        for (int count = 0; count < COUNTS; count = count < 8 ? count + 1 : 2 * count) {
            deltas_fill(s, count, epsilon, both);
            delta = fmax(delta, fmax(both[0], both[1]));
            pair_fill(s, count, epsilon, violation_between, both);
            violation = fmax(violation, fmax(both[0], both[1]));
        }
        fmpq_init(exact);
        cellar_rational_set_double(exact, epsilon);
        cellar_supremum_delta(&reach, exact, &worst);
        assert_true(worst.is_proved && worst.bound >= delta * (1 - 1e-12));
        if (worst.is_attained && worst.count + worst.neighbour < 16)
            assert_true(worst.bound <= delta * (1 + 1e-9) + 1e-18);
        cellar_supremum_violation(&reach, exact, &worst);
        assert_true(worst.is_proved && worst.bound >= violation * (1 - 1e-12));
        if (worst.is_attained && worst.count + worst.neighbour < 16)
            assert_true(worst.bound <= violation * (1 + 1e-9) + 1e-18);
        fmpq_clear(exact);
        cellar_pair_cache_free(reach.cache);
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_pair_is_worst),
        cmocka_unit_test(a_hump_is_not_overlooked),
        cmocka_unit_test(parts_told_apart_tell_more),
        cmocka_unit_test(a_part_alone_is_exact),
        cmocka_unit_test(quick_bounds_are_close),
        cmocka_unit_test(all_counts_are_covered),
        cmocka_unit_test(the_largest_shift_is_worst),
        cmocka_unit_test(quick_bounds_go_far),
        cmocka_unit_test(all_shifts_are_covered),
        cmocka_unit_test(blocks_are_bounded),
        cmocka_unit_test(laws_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
