/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Log-linear models of released tables: their language, nesting, structural zeros, residuals, odds
 * ratios, and the bootstrap. */
#include "inference_check.h"

#include "fail_every.h"
#include "inference/model.h"

/* ---- models ------------------------------------------------------------------------ */

static void test_model_grammar(void **state)
{
    static const char *const names[] = {"a", "b", "odd name"};
    static const size_t levels[] = {3, 4, 5};
    static const struct {
        const char *text;
        size_t n_generators; /* 0: refused, unless it is "1" */
        double n_parameters;
    } cases[] = {
        {"a + b", 2, 1 + 2 + 3},
        {" a*b + \"odd name\" ", 2, 1 + 2 + 3 + 6 + 4},
        {"a*b+a+b", 1, 12},
        {"a*b + b*\"odd name\" + a*\"odd name\"", 3, 1 + 2 + 3 + 4 + 6 + 8 + 12},
        {"a*b*\"odd name\"", 1, 60},
        {"1", 0, 1},
        {" 1\t", 0, 1},
        {" ", 0, 0},
        {"1 1", 0, 0},
        {"", 0, 0},
        {"a +", 0, 0},
        {"a b", 0, 0},
        {"c", 0, 0},
        {"\"a", 0, 0},
        {"a**b", 0, 0},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_model model;
        cellar_error err = {""};
        cellar_status status = cellar_model_parse(cases[i].text, names, 3, &model, &err);
        int good = cases[i].n_parameters > 0;
        assert_int_equal(status == CELLAR_OK, good);
        assert_true(good || err.message[0] != '\0');
        assert_int_equal(model.n_generators, cases[i].n_generators);
        if (good)
            NEAR(cellar_model_n_parameters(&model, levels, 3), cases[i].n_parameters, 0);
        cellar_model_clear(&model);
    }
}

/* A 2x2x2 table without noise: G^2 of nested models, from the closed forms of decomposable ones. */
static void test_nested_models(void **state)
{
    static const size_t levels[] = {2, 2, 2};
    static const char *const names[] = {"a", "b", "c"};
    static const int64_t counts[] = {10, 4, 7, 12, 3, 9, 15, 20};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 3,
                                    .names = names,
                                    .released = counts,
                                    .mechanism = "identity"};
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_noisy(&spec);
    outcome all, inner, outer;
    double a_bc = 0, a[2] = {0}, bc[4] = {0}, total = 0;
    (void) state;
    for (size_t i = 0; i < 8; i++) {
        a[i / 4] += (double) counts[i];
        bc[i % 4] += (double) counts[i];
        total += (double) counts[i];
    }
    for (size_t i = 0; i < 8; i++)
        a_bc += 2 * (double) counts[i] * log((double) counts[i] * total / (a[i / 4] * bc[i % 4]));
    outer = test_model(noisy, "a + b*c", NULL, &options);
    NEAR(outer.aware.statistic, a_bc, 1e-9);
    assert_true(outer.aware.df == 3);
    all = test_model(noisy, "a + b + c", NULL, &options);
    inner = test_model(noisy, "a + b + c", "b*c + a", &options);
    NEAR(inner.aware.statistic, all.aware.statistic - outer.aware.statistic, 1e-9);
    NEAR(inner.naive.statistic, inner.aware.statistic, 1e-9);
    assert_true(inner.aware.df == 1 && all.aware.df == 4);
    cellar_noisy_free(noisy);
}

static void test_structural_zeros(void **state)
{
    static const size_t levels[] = {3, 3};
    static const int64_t counts[] = {0, 5, 9, 4, 0, 8, 7, 6, 0};
    static const unsigned char diagonal[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .released = counts,
                                    .structural = diagonal,
                                    .mechanism = "identity"};
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_noisy(&spec);
    outcome found;
    (void) state;
    found = test_model(noisy, "1 + 2", NULL, &options);
    assert_true(found.aware.df == 1); /* quasi-independence: 6 cells, 5 parameters */
    assert_true(found.aware.statistic > 0);
    NEAR(found.aware.statistic, found.naive.statistic, 1e-9);
    cellar_noisy_free(noisy);
}

/* Rows that are certainly empty are left out: nothing is expected there, nothing adds to Pearson's
 * chi-square, and the bootstrap draws nobody there. */
static void test_empty_rows(void **state)
{
    static const int64_t counts[] = {10, 20, 0, 0, 30, 25};
    const double e = 30.0 * 40 / 85, pearson = (10 - e) * (10 - e) * 85 * 85 * 85 /
                                               (30.0 * 55 * 40 * 45); /* of the 2x2 table */
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_two_way(3, 2, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_loglinear *test;
    (void) state;
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.n_replicates = 99;
    assert_int_equal(cellar_loglinear_create(noisy, "1+2", NULL, &options, &test, NULL), CELLAR_OK);
    assert_true(cellar_loglinear_aware(test).df == 1);
    NEAR(cellar_loglinear_naive(test).pearson, pearson, 1e-6);
    for (size_t i = 2; i < 4; i++) {
        cellar_loglinear_cell cell = cellar_loglinear_cell_at(test, i);
        assert_true(cell.expected == 0 && cell.naive_expected == 0);
    }
    NEAR(cellar_loglinear_aware(test).p_value, cellar_loglinear_aware(test).chi_square_p_value,
         0.1);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
}

/* Without noise the standardised residuals of a 2x2 table are all the same in size. */
static void test_residuals(void **state)
{
    static const int64_t counts[] = {10, 20, 30, 25};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_two_way(2, 2, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_loglinear *test;
    double e = 30.0 * 40 / 85, want = (10 - e) / sqrt(e * (1 - 30.0 / 85) * (1 - 40.0 / 85));
    (void) state;
    options.with_residuals = 1;
    assert_int_equal(cellar_loglinear_create(noisy, "1+2", NULL, &options, &test, NULL), CELLAR_OK);
    for (size_t i = 0; i < 4; i++) {
        cellar_loglinear_cell cell = cellar_loglinear_cell_at(test, i);
        NEAR(cell.residual, i == 0 || i == 3 ? want : -want, 1e-6);
        NEAR(cell.naive_residual, cell.residual, 1e-6);
    }
    NEAR(cellar_loglinear_cell_at(test, 0).expected, e, 1e-6);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
}

static void test_odds_ratios(void **state)
{
    static const int64_t counts[] = {10, 20, 30, 25};
    static const size_t both[] = {0, 1};
    cellar_noisy *noisy = make_two_way(2, 2, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_interval_estimate plain, noisier, naive;
    (void) state;
    assert_int_equal(cellar_odds_ratio(noisy, both, both, 0.95, &plain, &naive, NULL), CELLAR_OK);
    NEAR(plain.value, 250.0 / 600, 1e-9);
    /* the profile interval, from the closed form given the margins */
    NEAR(log(plain.low), -1.83127593893, 1e-7);
    NEAR(log(plain.high), 0.03364967849, 1e-7);
    cellar_noisy_free(noisy);
    noisy = make_two_way(2, 2, counts, "discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_odds_ratio(noisy, both, both, 0.95, &noisier, &naive, NULL), CELLAR_OK);
    assert_true(noisier.low < plain.low && noisier.high > plain.high);
    cellar_noisy_free(noisy);
}

/* ---- the bootstrap -------------------------------------------------------------------- */

static void test_bootstrap(void **state)
{
    static const int64_t numbers[] = {55, 40, 61, 33, 48, 70, 20, 52, 41};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy =
        make_two_way(3, 3, numbers, "truncated-laplace:epsilon=0.1,m=10", CELLAR_NEGATIVES_KEEP);
    outcome one, two;
    (void) state;
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.n_replicates = 199;
    options.n_threads = 1;
    one = test_model(noisy, "1+2", NULL, &options);
    options.n_threads = 3;
    two = test_model(noisy, "1+2", NULL, &options);
    assert_true(one.aware.p_value == two.aware.p_value); /* however many threads */
    assert_true(one.quality.n_failed == 0);
    NEAR(one.aware.p_value, one.aware.chi_square_p_value, 0.15);
    cellar_noisy_free(noisy);
}

/* ---- refusals and memory --------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const int64_t numbers[] = {-20, 1, 2, 3};
    static const size_t levels[] = {2, 2};
    static const char *const bad[] = {"cell-key:file=x", "multinomial-dirichlet:alpha=1",
                                      "nothing"};
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy_spec spec = {.n_levels = levels, .n_variables = 2, .released = numbers};
    cellar_noisy *noisy;
    cellar_loglinear *test;
    cellar_error err = {""};
    (void) state;
    for (size_t i = 0; i < 3; i++) {
        spec.mechanism = bad[i];
        assert_true(cellar_noisy_create(&spec, &noisy, &err) != CELLAR_OK);
        assert_null(noisy);
    }
    noisy = make_two_way(2, 2, numbers, "truncated-laplace:epsilon=1,m=10", CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_loglinear_create(noisy, "1+2", NULL, &options, &test, &err),
                     CELLAR_ERR_INPUT); /* -20 cannot be */
    assert_non_null(strstr(err.message, "cannot have been released"));
    assert_int_equal(cellar_loglinear_create(noisy, "1*2", "1+2", &options, &test, &err),
                     CELLAR_ERR_ARGUMENT); /* not nested */
    cellar_noisy_free(noisy);
}

static cellar_status whole_scenario(void *context, cellar_error *err)
{
    static const int64_t numbers[] = {12, 0, 3, 7};
    static const size_t levels[] = {2, 2}, both[] = {0, 1};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .released = numbers,
                                    .mechanism = "discrete-laplace:epsilon=1",
                                    .negatives = CELLAR_NEGATIVES_ZERO};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = NULL;
    cellar_loglinear *test = NULL;
    cellar_interval_estimate aware, naive;
    double naive_v;
    cellar_status status = cellar_noisy_create(&spec, &noisy, err);
    (void) context;
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.with_residuals = 1;
    options.n_replicates = 2;
    options.n_threads = 1;
    if (status == CELLAR_OK)
        status = cellar_loglinear_create(noisy, "1", "1+2", &options, &test, err);
    if (status == CELLAR_OK)
        status = cellar_odds_ratio(noisy, both, both, 0.5, &aware, &naive, err);
    if (status == CELLAR_OK)
        status = cellar_cramers_v(noisy, 0.95, &options, &aware, &naive_v, err);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(whole_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_grammar),    cmocka_unit_test(test_nested_models),
        cmocka_unit_test(test_structural_zeros), cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_odds_ratios),      cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_fail_every),
        cmocka_unit_test(test_empty_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
