/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses that are added up: against sums over all outcomes, against a lattice where the sum is
 * known but for rounding, and epsilon against delta. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "make_mechanism.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/compose.h"
#include "privacy/tight.h"

/* One component and its cell. */
typedef struct one {
    cellar_mechanism *m;
    cellar_one_cell cell;
    cellar_component component;
} one;

static void one_open(one *o, const char *spec, uint64_t times, int larger_is_p)
{
    o->m = make(spec);
    cellar_one_cell_init(&o->cell, o->m, 1, 0, CELLAR_NEGATIVES_KEEP, 1);
    o->component = (cellar_component){&o->cell, larger_is_p, times, 0};
}

static void one_close(one *o)
{
    cellar_one_cell_clear(&o->cell);
    cellar_mechanism_free(o->m);
}

static cellar_bounds delta_of(const cellar_component *components, size_t n, double epsilon)
{
    cellar_bounds bounds;
    cellar_error err;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    assert_int_equal(cellar_tight_delta(components, n, exact, &bounds, &err), CELLAR_OK);
    fmpq_clear(exact);
    assert_true(bounds.lower <= bounds.upper && bounds.lower >= 0 && bounds.upper <= 1);
    return bounds;
}

static cellar_bounds epsilon_of(const cellar_component *components, size_t n, double delta)
{
    cellar_bounds bounds;
    cellar_error err;
    assert_int_equal(cellar_tight_epsilon(components, n, delta, &bounds, &err), CELLAR_OK);
    assert_true(bounds.lower <= bounds.upper && bounds.lower >= 0);
    return bounds;
}

/* Both questions about one curve do not contradict each other. */
static void check_questions(const cellar_component *components, size_t n, double epsilon)
{
    const cellar_bounds delta = delta_of(components, n, epsilon);
    const double asked[] = {delta.upper, delta.lower};
    for (int i = 0; i < 2; i++) {
        cellar_bounds back;
        if (!(asked[i] > 1e-290 && asked[i] < 1))
            continue;
        back = epsilon_of(components, n, asked[i]);
        if (i == 0 ? back.lower > epsilon * (1 + 1e-9) + 1e-9
                   : back.upper < epsilon * (1 - 1e-9) - 1e-9)
            fail_msg("%s: delta(%.12g) in [%.12g, %.12g], and epsilon of %.12g in [%.12g, %.12g]",
                     components[0].cell->m->spec, epsilon, delta.lower, delta.upper, asked[i],
                     back.lower, back.upper);
        if (isfinite(back.upper)) {
            cellar_bounds there = delta_of(components, n, back.upper);
            assert_true(there.lower <= asked[i] * (1 + 1e-9));
        }
    }
}

/* ---- every outcome ----------------------------------------------------------------------------
 */

/* delta of two or three cells by a sum over all pairs or triples of outcomes. */
static double brute_delta(const cellar_mechanism *m, int times, int larger, double epsilon)
{
    int64_t low, high;
    double sum = 0;
    cellar_mechanism_support(m, larger, 1e-13, &low, &high);
    for (int64_t x = low; x <= high; x++)
        for (int64_t y = low; y <= high; y++)
            for (int64_t z = low; z <= (times > 2 ? high : low); z++) {
                double p = cellar_mechanism_pmf(m, larger, x) * cellar_mechanism_pmf(m, larger, y);
                double q =
                    cellar_mechanism_pmf(m, !larger, x) * cellar_mechanism_pmf(m, !larger, y);
                if (times > 2) {
                    p *= cellar_mechanism_pmf(m, larger, z);
                    q *= cellar_mechanism_pmf(m, !larger, z);
                }
                sum += fmax(0, p - exp(epsilon) * q);
            }
    return sum;
}

static void test_every_outcome(void **state)
{
    static const char *const specs[] = {"laplace:epsilon=1.9",
                                        "discrete-laplace:epsilon=1.8",
                                        "gaussian:sigma=0.8",
                                        "discrete-gaussian:sigma=0.7",
                                        "truncated-laplace:epsilon=0.6,m=4",
                                        "truncated-normal:epsilon=1,m=5",
                                        "poisson:alpha=2",
                                        "negbin:alpha=1,sigma=0.2"};
    (void) state;
    for (size_t i = 0; i < 4 * sizeof specs / sizeof *specs; i++) {
        const int times = 2 + (int) (i % 2), larger = i / 2 % 2;
        one o;
        one_open(&o, specs[i / 4], (uint64_t) times, larger);
        for (int e = 0; e < 2; e++) {
            double epsilon = 0.9 * e + 0.05, want = brute_delta(o.m, times, larger, epsilon);
            cellar_bounds bounds = delta_of(&o.component, 1, epsilon);
            if (want > bounds.upper * (1 + 1e-9) + 1e-11 ||
                want < bounds.lower * (1 - 1e-9) - 1e-11 || bounds.upper - bounds.lower > 1e-3)
                fail_msg("%s x %d at %g: %.15g not in [%.15g, %.15g]", specs[i / 4], times, epsilon,
                         want, bounds.lower, bounds.upper);
            check_questions(&o.component, 1, epsilon);
        }
        one_close(&o);
    }
}

/* ---- a lattice --------------------------------------------------------------------------------
 */

/* Many cells against the exact law of their loss, which for discrete Laplace noise lies on two
 * points: a convolution of positive numbers in long doubles. */
static void test_lattice_convolution(void **state)
{
    enum { TIMES = 40 };
    const long double r = expl(-0.25L), up = 1 / (1 + r), down = r / (1 + r);
    long double law[2 * TIMES + 1] = {0}; /* at losses (i - TIMES) / 4 */
    one o;
    (void) state;
    one_open(&o, "discrete-laplace:epsilon=0.25", TIMES, 1);
    law[TIMES] = 1;
    for (int k = 0; k < TIMES; k++) {
        long double next[2 * TIMES + 1] = {0};
        for (int i = TIMES - k; i <= TIMES + k; i++) {
            next[i + 1] += up * law[i];
            next[i - 1] += down * law[i];
        }
        memcpy(law, next, sizeof law);
    }
    for (double epsilon = 0.1; epsilon < 10; epsilon += 0.9) {
        cellar_bounds bounds = delta_of(&o.component, 1, epsilon);
        long double want = 0;
        for (int i = 0; i <= 2 * TIMES; i++)
            want += law[i] * fmaxl(0, -expm1l(epsilon - (i - TIMES) / 4.0L));
        assert_true(want <= bounds.upper && want >= bounds.lower);
        assert_true(bounds.upper - bounds.lower <= 1e-7 * bounds.upper);
        check_questions(&o.component, 1, epsilon);
    }
    one_close(&o);
}

/* The sum on a grid of this spacing, or (0) on the lattice of the losses. */
static cellar_bounds sum_delta(const cellar_losses *losses, uint64_t times, double spacing,
                               double epsilon)
{
    cellar_pld pld;
    cellar_part part = {&pld, times};
    cellar_sum *sum = NULL;
    cellar_bounds out;
    cellar_tilt tilt;
    cellar_error err;
    assert_int_equal(cellar_pld_create(losses, spacing, 1, &pld, &err), CELLAR_OK);
    tilt = cellar_tilt_find(&part, 1, epsilon, NAN, spacing > 0 ? 0.25 / spacing : INFINITY);
    assert_int_equal(cellar_sum_create(&part, 1, &tilt, &sum, &err), CELLAR_OK);
    out =
        (cellar_bounds){cellar_sum_delta_lower(sum, epsilon), cellar_sum_delta_upper(sum, epsilon)};
    cellar_sum_free(sum);
    cellar_pld_clear(&pld);
    return out;
}

/* Bounds from a grid hold what the lattice says, and get closer with the grid. */
static void check_grids(const char *spec, const cellar_losses *losses, uint64_t times,
                        double epsilon)
{
    static const double spacings[] = {0.0313, 0.00717, 0.00101};
    const cellar_bounds exact = sum_delta(losses, times, 0, epsilon);
    double gap = 1;
    for (size_t g = 0; g < sizeof spacings / sizeof *spacings; g++) {
        const cellar_bounds grid = sum_delta(losses, times, spacings[g], epsilon);
        if (!(grid.upper >= exact.lower && grid.lower <= exact.upper && grid.lower >= 0 &&
              grid.upper - grid.lower <= gap + 1e-6))
            fail_msg("%s x %d at %g: [%.15g, %.15g] on a grid, [%.15g, %.15g] on none", spec,
                     (int) times, epsilon, grid.lower, grid.upper, exact.lower, exact.upper);
        gap = grid.upper - grid.lower;
    }
    assert_true(gap <= 0.02);
}

static void test_grid_holds_lattice(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.37", "poisson:alpha=2",
                                        "discrete-gaussian:sigma=2.3", "negbin:alpha=1,sigma=0.4"};
    static const uint64_t times[] = {1, 3, 20, 300};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_losses losses;
        cellar_pair pair;
        one o;
        one_open(&o, specs[i], 1, 1);
        pair = cellar_one_cell_pair(&o.cell, 0, 1, 1, CELLAR_NEGATIVES_KEEP);
        assert_int_equal(cellar_losses_create(&pair, 1e-20, &losses, &err), CELLAR_OK);
        assert_true(losses.is_lattice);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            for (int e = 0; e < 4; e++)
                check_grids(specs[i], &losses, times[k], 0.17 + 0.9 * e * sqrt((double) times[k]));
        cellar_losses_clear(&losses);
        one_close(&o);
    }
}

/* ---- different ones ------------------------------------------------------------------------- */

/* In any order, with close bounds; and many cells of discrete noise are about one of Gaussian. */
static void test_several(void **state)
{
    one a, b;
    cellar_component both[2], swapped[2];
    cellar_bounds x, y;
    (void) state;
    one_open(&a, "discrete-gaussian:sigma=4", 10, 1);
    one_open(&b, "gaussian:sigma=5", 20, 1);
    both[0] = swapped[1] = a.component;
    both[1] = swapped[0] = b.component;
    x = epsilon_of(both, 2, 1e-8);
    y = epsilon_of(swapped, 2, 1e-8);
    assert_true(x.upper - x.lower <= 1e-3 && x.lower <= y.upper && y.lower <= x.upper);
    check_questions(both, 2, 3);
    a.component.times = 64;
    x = epsilon_of(&a.component, 1, 1e-8);
    assert_true(x.upper - x.lower <= 1e-3);
    y = delta_of(&a.component, 1, x.upper);
    assert_true(y.upper <= 1.0001e-8 && y.lower >= 0.99e-8);
    one_close(&a);
    one_close(&b);
}

/* At exactly the sum of the two largest losses, which are rational: only infinite ones are left,
 * and no rounding of that sum may add to them. */
static void test_sum_of_largest(void **state)
{
    one a, b;
    cellar_component both[2];
    cellar_bounds bounds;
    cellar_error err;
    fmpq_t epsilon;
    (void) state;
    one_open(&a, "truncated-laplace:epsilon=0.05351,m=548", 1, 1);
    one_open(&b, "truncated-laplace:epsilon=0.5494,m=53", 1, 1);
    both[0] = a.component;
    both[1] = b.component;
    fmpq_init(epsilon);
    fmpq_set_si(epsilon, 60291, 100000);
    assert_int_equal(cellar_tight_delta(both, 2, epsilon, &bounds, &err), CELLAR_OK);
    if (!(fabs(bounds.upper / 6.549e-14 - 1) < 1e-3 && bounds.lower <= bounds.upper))
        fail_msg("[%.12g, %.12g]", bounds.lower, bounds.upper);
    fmpq_clear(epsilon);
    one_close(&a);
    one_close(&b);
}

/* As small as doubles go: against the pair itself. */
static void test_tiny_delta(void **state)
{
    static const struct {
        double delta, gap;
    } asked[] = {{1e-30, 1e-3}, {1e-150, 1e-3}, {1e-240, 1e-3}, {1e-280, 0.2}};
    (void) state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        cellar_bounds bounds, alone;
        one o;
        one_open(&o, "discrete-gaussian:sigma=3", 1, 1);
        bounds = epsilon_of(&o.component, 1, asked[i].delta);
        alone = cellar_worst_epsilon(&o.cell, asked[i].delta);
        if (!(bounds.upper - bounds.lower < asked[i].gap && bounds.upper >= alone.lower &&
              bounds.lower <= alone.upper))
            fail_msg("%g: [%.12g, %.12g], alone [%.12g, %.12g]", asked[i].delta, bounds.lower,
                     bounds.upper, alone.lower, alone.upper);
        one_close(&o);
    }
}

/* No sum is beyond the largest: nothing is left. */
static void test_beyond_all_losses(void **state)
{
    one o;
    cellar_bounds bounds;
    (void) state;
    one_open(&o, "poisson:alpha=2", 3, 0); /* losses are at most 1 */
    bounds = delta_of(&o.component, 1, 3.0001);
    assert_true(bounds.upper == 0 && bounds.lower == 0);
    bounds = delta_of(&o.component, 1, 2.9);
    assert_true(bounds.lower > exp(-6.0) * -expm1(-0.1) * (1 - 1e-6) && bounds.upper < 3e-4);
    one_close(&o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_outcome),      cmocka_unit_test(test_lattice_convolution),
        cmocka_unit_test(test_grid_holds_lattice), cmocka_unit_test(test_several),
        cmocka_unit_test(test_sum_of_largest),     cmocka_unit_test(test_tiny_delta),
        cmocka_unit_test(test_beyond_all_losses),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
