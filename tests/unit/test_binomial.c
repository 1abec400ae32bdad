/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binomial test with noise, by enumeration. */
#include "inference_check.h"

#include "fail_every.h"

/* Section 6.2, exactly. The paper takes the critical value of the test of 0.5 for that of 0.7 too.
 */
static void test_binomial_of_the_paper(void **state)
{
    static const struct {
        const char *mechanism;
        double critical, level, power;
    } cases[] = {{"truncated-laplace:epsilon=0.5,m=5", 3.361, 0.0537, 0.936},
                 {"truncated-laplace:epsilon=0.5,m=10", 3.816, 0.0442, 0.896}};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        cellar_binomial_spec spec = cellar_binomial_spec_default();
        cellar_binomial found;
        spec.n_trials = 80;
        spec.null = 0.5;
        spec.mechanism = cases[i].mechanism;
        assert_int_equal(cellar_binomial_run(&spec, 45, &found, NULL), CELLAR_OK);
        NEAR(found.critical_value, cases[i].critical, 5e-4);
        NEAR(found.exact_level, cases[i].level, 5e-5);
        assert_true(isnan(found.power));
        spec.critical = found.critical_value;
        spec.null = 0.7;
        spec.alternative = 0.5;
        assert_int_equal(cellar_binomial_run(&spec, 45, &found, NULL), CELLAR_OK);
        NEAR(found.power, cases[i].power, 5e-4);
    }
}

/* Without noise: the ordinary test, whose exact p-value is a sum of binomial probabilities. */
static void test_binomial_without_noise(void **state)
{
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial found;
    (void) state;
    spec.n_trials = 10;
    spec.null = 0.5;
    spec.mechanism = "identity";
    assert_int_equal(cellar_binomial_run(&spec, 8, &found, NULL), CELLAR_OK);
    NEAR(found.aware.exact_p_value, 2 * (1 + 10 + 45) / 1024.0, 1e-12);
    NEAR(found.aware.estimate, 0.8, 1e-9);
    NEAR(found.aware.statistic, 2 * (8 * log(1.6) + 2 * log(0.4)), 1e-9);
    NEAR(found.naive.statistic, found.aware.statistic, 1e-9);
}

/* Many trials: scipy, direct maximisation for every number. */
static void test_binomial_of_many_trials(void **state)
{
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial found;
    (void) state;
    spec.n_trials = 3000;
    spec.null = 0.5;
    spec.alternative = 0.51;
    spec.mechanism = "truncated-laplace:epsilon=0.5,m=10";
    assert_int_equal(cellar_binomial_run(&spec, 1530, &found, NULL), CELLAR_OK);
    NEAR(found.aware.statistic, 1.1889733968824192, 1e-6);
    NEAR(found.aware.exact_p_value, 0.2836410632988189, 1e-8);
    NEAR(found.chi_square_level, 0.05182739543100903, 1e-8);
    NEAR(found.chi_square_power, 0.1976902070989553, 1e-8);
    spec.n_trials = 1000000; /* numbers beyond those that occur are left out */
    assert_int_equal(cellar_binomial_run(&spec, 501000, &found, NULL), CELLAR_OK);
    NEAR(found.chi_square_level, 0.05, 1e-3);
    NEAR(found.chi_square_power, 1, 1e-9);
    NEAR(found.aware.exact_p_value, found.aware.p_value, 1e-3);
    spec.mechanism = "poisson:alpha=1"; /* too much work: said so */
    assert_int_equal(cellar_binomial_run(&spec, 501000, &found, NULL), CELLAR_OK);
    assert_true(isnan(found.exact_level) && !isnan(found.aware.p_value));
}

/* Probabilities of all numbers add up to one, for every kind of noise and at both ends: the level
 * of a test that always rejects. */
static void test_binomial_adds_up(void **state)
{
    static const char *const mechanisms[] = {
        "identity",          "laplace:epsilon=0.2",      "truncated-normal:epsilon=0.5,m=4",
        "poisson:alpha=0.5", "negbin:alpha=1,sigma=0.3", "round:base=3"};
    (void) state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++)
        for (int zero = 0; zero < 2; zero++) {
            cellar_binomial_spec spec = cellar_binomial_spec_default();
            cellar_binomial found;
            spec.n_trials = 40;
            spec.null = 0.03;
            spec.alternative = 1;
            spec.critical = -1;
            spec.mechanism = mechanisms[i];
            spec.negatives = zero ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
            assert_int_equal(cellar_binomial_run(&spec, 0, &found, NULL), CELLAR_OK);
            NEAR(found.exact_level, 1, 1e-9);
            NEAR(found.power, 1, 1e-9);
        }
}

static cellar_status binomial_scenario(void *context, cellar_error *err)
{
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial found;
    (void) context;
    spec.n_trials = 3;
    spec.null = 0.5;
    spec.mechanism = "truncated-laplace:epsilon=1,m=1";
    return cellar_binomial_run(&spec, 2, &found, err);
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(binomial_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binomial_of_the_paper),
        cmocka_unit_test(test_binomial_without_noise),
        cmocka_unit_test(test_binomial_of_many_trials),
        cmocka_unit_test(test_binomial_adds_up),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
