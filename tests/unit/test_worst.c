/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst of all counts against looking at many of them one by one, for every mechanism. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "make_mechanism.h"
#include "mechanism_specs.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/worst.h"

/* What doubles find for one pair: a sum over all but 1e-13 of the mass. */
static void enumerate(const cellar_mechanism *m, int64_t count, int64_t neighbour, int zero,
                      double epsilon, double *delta, double *violation)
{
    int64_t low, high;
    cellar_mechanism_support(m, count, 1e-13, &low, &high);
    low = zero && low < 0 ? 0 : low;
    for (int64_t b = low; b <= high; b++) {
        int all = zero && b == 0;
        double p = all ? cellar_mechanism_cdf(m, count, 0) : cellar_mechanism_pmf(m, count, b);
        double q =
            all ? cellar_mechanism_cdf(m, neighbour, 0) : cellar_mechanism_pmf(m, neighbour, b);
        *delta += fmax(0, p - exp(epsilon) * q);
        if (p > 0 && (q == 0 || fabs(log(p) - log(q)) > epsilon + 1e-9))
            *violation += p;
    }
}

/* The most that is found over many counts, all shifts and both orders. */
static void enumerate_all(const cellar_one_cell *cell, double epsilon, double *delta,
                          double *violation)
{
    const int64_t n = cell->m->ops->is_additive ? 24 : 8;
    *delta = *violation = 0;
    for (int64_t a = cell->smallest; a < cell->smallest + n; a++)
        for (int64_t k = 0; k < 2 * cell->shift; k++) {
            const int64_t other = a + 1 + k / 2;
            double d = 0, v = 0;
            enumerate(cell->m, k % 2 ? a : other, k % 2 ? other : a,
                      cell->negatives == CELLAR_NEGATIVES_ZERO, epsilon, &d, &v);
            *delta = fmax(*delta, d);
            *violation = fmax(*violation, v);
        }
}

/* Nothing found exceeds what is proved, and of delta something meets it. */
static void check_worst(const char *spec, cellar_one_cell *cell, const char *text)
{
    double most, most_violation;
    cellar_worst delta, violation;
    fmpq_t epsilon;
    fmpq_init(epsilon);
    assert_true(cellar_rational_parse(text, strlen(text), epsilon));
    cellar_worst_delta(cell, epsilon, &delta);
    cellar_worst_violation(cell, epsilon, &violation);
    enumerate_all(cell, cellar_rational_double(epsilon), &most, &most_violation);
    if (most > delta.upper * (1 + 1e-9) + 1e-12 ||
        most_violation > violation.upper * (1 + 1e-9) + 1e-12)
        fail_msg("%s at %s (negatives %d, shift %d): found %.17g and %.17g, proved %.17g and %.17g",
                 spec, text, (int) cell->negatives, (int) cell->shift, most, most_violation,
                 delta.upper, violation.upper);
    assert_true(delta.is_proved && violation.is_proved);
    assert_true(delta.lower <= delta.upper && violation.lower <= violation.upper);
    if (most < delta.lower * (1 - 1e-6) - 1e-9)
        fail_msg("%s at %s: %.17g is said to be attained, found %.17g", spec, text, delta.lower,
                 most);
    assert_true(delta.upper - delta.lower <= 1e-9 * delta.upper);
    fmpq_clear(epsilon);
}

static void test_never_exceeded(void **state)
{
    static const char *const epsilons[] = {"0.31", "0.9", "2"};
    (void) state;
    for (size_t i = 0; i < (size_t) 6 * N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i / 6]);
        const int zero = i % 6 < 3;
        cellar_one_cell cell;
        cellar_one_cell_init(&cell, m, 1 + (int64_t) (i % 3), i % 4 == 3 ? 2 : 0,
                             zero ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP, 1);
        check_worst(specs[i / 6], &cell, epsilons[i % 3]);
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
}

/* ---- epsilon and delta ----------------------------------------------------------------- */

static cellar_bounds delta_of(cellar_one_cell *cell, double epsilon)
{
    cellar_worst worst;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_worst_delta(cell, exact, &worst);
    fmpq_clear(exact);
    return (cellar_bounds){worst.lower, worst.upper};
}

/* delta is met at the upper epsilon and, where the two are close, not well below the lower one. */
static void test_epsilon_meets_delta(void **state)
{
    static const double deltas[] = {0.2, 1e-3, 1e-9};
    (void) state;
    for (size_t i = 0; i < (size_t) 3 * N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i / 3]);
        const double delta = deltas[i % 3];
        cellar_one_cell cell;
        cellar_bounds epsilon;
        cellar_worst infinite;
        cellar_one_cell_init(&cell, m, 1 + (int64_t) (i % 2), 0, CELLAR_NEGATIVES_KEEP, 1);
        epsilon = cellar_worst_epsilon(&cell, delta);
        cellar_worst_infinite(&cell, &infinite);
        assert_true(epsilon.lower <= epsilon.upper);
        if (isinf(epsilon.upper)) {
            if (!(infinite.upper > delta))
                fail_msg("%s: no epsilon for %g, infinite losses %g", specs[i / 3], delta,
                         infinite.upper);
        } else {
            assert_true(delta_of(&cell, epsilon.upper * (1 + 1e-11)).upper <= delta);
            if (epsilon.lower > 0 && !(delta_of(&cell, epsilon.lower * (1 - 1e-9)).lower > delta))
                fail_msg("%s: delta %g is met below %.17g", specs[i / 3], delta, epsilon.lower);
        }
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
}

/* The pure epsilon leaves nothing, and a little less leaves something or is not far. */
static void test_pure(void **state)
{
    (void) state;
    for (size_t i = 0; i < (size_t) 2 * N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i / 2]);
        cellar_one_cell cell;
        double pure;
        int is_exact;
        fmpq_t exact;
        fmpq_init(exact);
        cellar_one_cell_init(&cell, m, 1 + (int64_t) (i % 2), 0, CELLAR_NEGATIVES_KEEP, 1);
        pure = cellar_worst_pure(&cell, &is_exact, exact);
        if (isfinite(pure)) {
            if (is_exact)
                assert_true(fabs(cellar_rational_double(exact) - pure) <= 1e-14 * pure);
            assert_true(delta_of(&cell, pure).upper <= 1e-13);
            assert_true(delta_of(&cell, pure * 0.9).lower > 0);
        } else {
            assert_true(delta_of(&cell, 3).lower > 0);
        }
        fmpq_clear(exact);
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
}

/* ---- giving up ---------------------------------------------------------------------------- */

/* A search that may do little finds no less than the truth, and says where it lies. */
static void test_little_effort(void **state)
{
    static const struct {
        const char *spec;
        double epsilon;
    } asked[] = {{"hellinger:epsilon=0.0417", 0.00129},
                 {"delaporte:alpha=2,sigma=3,nu=0.1", 0.2},
                 {"hellinger:epsilon=3", 0.4}};
    (void) state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        cellar_mechanism *m = make(asked[i].spec);
        cellar_bounds before = {0, 1};
        for (int k = -3; k < -1; k++) {
            cellar_one_cell cell;
            cellar_bounds now, epsilon;
            cellar_one_cell_init(&cell, m, 1, 0, CELLAR_NEGATIVES_KEEP, pow(10, k));
            now = delta_of(&cell, asked[i].epsilon);
            assert_true(now.lower <= now.upper && now.lower >= before.lower * (1 - 1e-12));
            assert_true(now.upper <= before.upper * (1 + 1e-12));
            epsilon = cellar_worst_epsilon(&cell, now.upper);
            assert_true(epsilon.lower <= asked[i].epsilon * (1 + 1e-9));
            before = now;
            cellar_one_cell_clear(&cell);
        }
        cellar_mechanism_free(m);
    }
}

/* ---- known numbers -------------------------------------------------------------------------- */

/* Wide distributions, whose tails are long; and where the worst counts are far out. Sums over all
 * values in long doubles, or quadrature, said so. */
static void test_known(void **state)
{
    static const struct {
        const char *spec;
        int64_t shift;
        double epsilon, delta;
        double close; /* how much larger the bound may be */
    } known[] = {
        {"sichel:alpha=300,sigma=19,nu=-9", 1, 0.01, 0.0009966258647, 1e-8},
        {"pig:alpha=193,sigma=17", 1, 0.05, 2.6513373785e-10, 1e-8},
        {"hellinger:epsilon=0.0417", 1, 0.00129, 1.473778491e-05, 1e-8},
        {"hellinger:epsilon=0.0259", 16, 0.00196, 2.114517196e-04, 3},
    };
    (void) state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cellar_mechanism *m = make(known[i].spec);
        cellar_one_cell cell;
        cellar_worst worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, known[i].epsilon);
        cellar_one_cell_init(&cell, m, known[i].shift, 0, CELLAR_NEGATIVES_KEEP, 1);
        cellar_worst_delta(&cell, epsilon, &worst);
        if (!(worst.upper >= known[i].delta * (1 - 1e-8) &&
              worst.lower <= known[i].delta * (1 + 1e-8) &&
              (worst.upper - known[i].delta <= known[i].close * known[i].delta)))
            fail_msg("%s at %g: [%.12g, %.12g], not %.12g", known[i].spec, known[i].epsilon,
                     worst.lower, worst.upper, known[i].delta);
        fmpq_clear(epsilon);
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_exceeded), cmocka_unit_test(test_epsilon_meets_delta),
        cmocka_unit_test(test_pure),           cmocka_unit_test(test_little_effort),
        cmocka_unit_test(test_known),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
