/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of many releases: met many times, or many different ones. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "certify_specs.h"

static cellar_certificate *certify_times(const char *spec, uint64_t times,
                                         const cellar_certify_options *o)
{
    cellar_mechanism *m = make(spec);
    const cellar_certify_part part = {m, times};
    cellar_certificate *c = NULL;
    cellar_error err = {{0}};
    if (cellar_certify(&part, 1, o, &c, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    cellar_mechanism_free(m);
    return c;
}

static cellar_certify_options asking(const char *const *epsilon, const char *const *delta)
{
    cellar_certify_options o = cellar_certify_options_default();
    o.epsilons = epsilon;
    o.n_epsilons = 1;
    o.deltas = delta;
    o.n_deltas = 1;
    return o;
}

/* Numbers that lie between their bounds and in the order that they must have. */
static void check_sane(const cellar_certificate *c, const char *what)
{
    const cellar_profile_point point = cellar_certificate_point(c, 0);
    const cellar_epsilon_at at = cellar_certificate_epsilon_at(c, 0);
    if (!(point.delta_lower >= 0 && point.delta_lower <= point.delta && point.delta <= 1 &&
          at.lower >= 0 && at.lower <= at.epsilon &&
          at.epsilon <= cellar_certificate_pure_epsilon(c) &&
          point.delta <= point.delta_probabilistic))
        fail_msg("%s: delta [%g, %g], delta_p %g, epsilon [%g, %g]", what, point.delta_lower,
                 point.delta, point.delta_probabilistic, at.lower, at.epsilon);
}

/* 10^9 times a little: valid bounds, and pure epsilons that add up exactly. */
static void test_a_billion_times(void **state)
{
    static const char *const one[] = {"1"}, *const delta[] = {"1e-6"};
    static const char *const specs[] = {"discrete-gaussian:sigma=10000",
                                        "discrete-laplace:epsilon=0.00001", "gaussian:sigma=10000",
                                        "laplace:epsilon=0.00001"};
    const cellar_certify_options o = asking(one, delta);
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_certificate *c = certify_times(specs[i], UINT64_C(1000000000), &o);
        check_sane(c, specs[i]);
        if (i % 2)
            assert_string_equal(cellar_certificate_pure_exact(c), "10000");
        else
            assert_true(isinf(cellar_certificate_pure_epsilon(c)));
        cellar_certificate_free(c);
    }
}

/* Times are like cells. */
static void test_times_are_cells(void **state)
{
    static const char *const epsilon[] = {"1.3"}, *const delta[] = {"1e-5"};
    static const char *const specs[] = {"discrete-laplace:epsilon=0.3", "gaussian:sigma=6",
                                        "poisson:alpha=40", "round:base=3"};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_certify_options o = asking(epsilon, delta);
        cellar_certificate *times = certify_times(specs[i], 7, &o), *cells;
        o.n_cells = 7;
        cells = certify_times(specs[i], 1, &o);
        check_sane(times, specs[i]);
        assert_true(cellar_certificate_point(times, 0).delta ==
                    cellar_certificate_point(cells, 0).delta);
        assert_true(cellar_certificate_epsilon_at(times, 0).epsilon ==
                    cellar_certificate_epsilon_at(cells, 0).epsilon);
        assert_int_equal(cellar_certificate_composition(times).n_parts, 7);
        cellar_certificate_free(times);
        cellar_certificate_free(cells);
    }
}

/* Every one with its own parameter. */
static void test_many_different(void **state)
{
    enum { MANY = 300 };
    static const char *const epsilon[] = {"30"}, *const delta[] = {"1e-6"};
    const cellar_certify_options o = asking(epsilon, delta);
    static cellar_mechanism *mechanisms[MANY];
    static cellar_certify_part parts[MANY];
    cellar_certificate *c = NULL;
    cellar_error err = {{0}};
    double rho = 0;
    (void) state;
    for (int i = 0; i < MANY; i++) {
        char spec[60];
        snprintf(spec, sizeof spec, "discrete-laplace:epsilon=0.%03d", 10 + i);
        mechanisms[i] = make(spec);
        parts[i] = (cellar_certify_part){mechanisms[i], 1 + (uint64_t) i % 3};
        rho += (1 + i % 3) * 0.5e-6 * (10 + i) * (10 + i);
    }
    if (cellar_certify(parts, MANY, &o, &c, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    check_sane(c, "300 mechanisms");
    assert_true(fabs(cellar_certificate_composition(c).rho / rho - 1) < 1e-9);
    /* what rho alone implies is no less */
    assert_true(cellar_certificate_epsilon_at(c, 0).lower <=
                rho + 2 * sqrt(rho * -log(1e-6)) * (1 + 1e-9));
    cellar_certificate_free(c);
    for (int i = 0; i < MANY; i++)
        cellar_mechanism_free(mechanisms[i]);
}

static void test_refused(void **state)
{
    cellar_certify_options o = cellar_certify_options_default();
    cellar_mechanism *m = make("laplace:epsilon=1");
    const uint64_t times[] = {0, UINT64_C(1) << 51, UINT64_MAX};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const cellar_certify_part part = {m, times[i]};
        cellar_certificate *c = NULL;
        assert_int_equal(cellar_certify(&part, 1, &o, &c, &err), CELLAR_ERR_ARGUMENT);
        assert_null(c);
        assert_int_equal(cellar_certify(&part, 0, &o, &c, &err), CELLAR_ERR_ARGUMENT);
    }
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_billion_times),
        cmocka_unit_test(test_times_are_cells),
        cmocka_unit_test(test_many_different),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
