/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals: exact coverage by enumeration of all noises, and what else can be known. */
#include <math.h>
#include <string.h>

#include <cellar/interval.h>
#include <cellar/study.h>

#include "fail_every.h"
#include "inference_check.h"

static const size_t levels[] = {2, 3};
static const char *const names[] = {"sex", "region"};

static cellar_noisy *make_table(const int64_t *released, const char *mechanism,
                                cellar_negatives negatives)
{
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .names = names,
                                    .released = released,
                                    .mechanism = mechanism,
                                    .negatives = negatives};
    return make_noisy(&spec);
}

static cellar_interval ask(const cellar_noisy *noisy, const char *of, cellar_comparison comparison,
                           const char *with, const cellar_interval_options *options)
{
    cellar_cell_set *set = NULL, *other = NULL;
    cellar_interval found = {0};
    cellar_error err = {""};
    cellar_status status = cellar_cell_set_parse(noisy, of, &set, &err);
    if (status == CELLAR_OK && with != NULL)
        status = cellar_cell_set_parse(noisy, with, &other, &err);
    if (status == CELLAR_OK)
        status = cellar_interval_run(noisy, set, comparison, other, options, &found, &err);
    if (status != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_cell_set_free(set);
    cellar_cell_set_free(other);
    return found;
}

/* ---- exact coverage --------------------------------------------------------------- */

/* Every combination of noises of the two cells that are asked about, with its probability: the
 * coverage of each kind of interval for the table, exactly. */
static void test_exact_coverage(void **state)
{
    static const int64_t truths[][2] = {{0, 0}, {0, 4}, {3, 1}, {12, 9}};
    static const char *const mechanisms[] = {"truncated-laplace:epsilon=0.5,m=3",
                                             "truncated-normal:epsilon=0.5,m=3"};
    const cellar_interval_options options = cellar_interval_options_default();
    (void) state;
    for (size_t m = 0; m < 2; m++)
        for (int clamped = 0; clamped < 2; clamped++)
            for (size_t t = 0; t < 4; t++)
                for (int kind = 0; kind < 4; kind++) {
                    double a = (double) truths[t][0], b = (double) truths[t][1], covered = 0;
                    double truth = kind == 0   ? a
                                   : kind == 1 ? a - b
                                   : kind == 2 ? a / b
                                               : a / (a + b);
                    cellar_mechanism *mechanism;
                    if (!isfinite(truth))
                        continue;
                    assert_int_equal(cellar_mechanism_create(mechanisms[m], &mechanism, NULL),
                                     CELLAR_OK);
                    for (int64_t e = -3; e <= 3; e++)
                        for (int64_t f = -3; f <= 3; f++) {
                            int64_t x[6] = {truths[t][0] + e, truths[t][1] + f, 5, 6, 7, 8};
                            double p = cellar_mechanism_pmf(mechanism, 0, e) *
                                       cellar_mechanism_pmf(mechanism, 0, f);
                            cellar_noisy *noisy;
                            cellar_interval found;
                            for (size_t i = 0; clamped && i < 2; i++)
                                x[i] = x[i] > 0 ? x[i] : 0;
                            noisy =
                                make_table(x, mechanisms[m],
                                           clamped ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP);
                            found = ask(noisy, "sex=1; region=1", (cellar_comparison) kind,
                                        kind == 0   ? NULL
                                        : kind == 3 ? "sex=1; region=1,2"
                                                    : "sex=1; region=2",
                                        &options);
                            if (found.low <= truth + 1e-9 && truth <= found.high + 1e-9)
                                covered += p;
                            cellar_noisy_free(noisy);
                        }
                    if (!(covered >= 0.95 - 1e-9))
                        fail_msg("%s, clamped %d, counts %g and %g, kind %d: coverage %.4f",
                                 mechanisms[m], clamped, a, b, kind, covered);
                    cellar_mechanism_free(mechanism);
                }
}

/* The same for sums of two cells whose law depends on both: numbers set to zero below a bound, and
 * kernels. Every pair of numbers that can be released. */
static void test_exact_coverage_of_sums(void **state)
{
    static const int64_t truths[][2] = {{0, 0}, {0, 4}, {3, 1}, {12, 2}};
    static const struct {
        const char *mechanism;
        cellar_negatives negatives;
        int64_t threshold;
    } cases[] = {{"truncated-laplace:epsilon=0.5,m=3", CELLAR_NEGATIVES_ZERO, 0},
                 {"truncated-normal:epsilon=0.5,m=4", CELLAR_NEGATIVES_ZERO, 0},
                 {"truncated-laplace:epsilon=0.5,m=3", CELLAR_NEGATIVES_KEEP, 3},
                 {"round:base=5", CELLAR_NEGATIVES_KEEP, 0},
                 {"round:base=3", CELLAR_NEGATIVES_KEEP, 6},
                 {"max-entropy:variance=2,m=3", CELLAR_NEGATIVES_KEEP, 0}};
    const cellar_interval_options options = cellar_interval_options_default();
    (void) state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t t = 0; t < 4; t++) {
            double truth = (double) (truths[t][0] + truths[t][1]), covered = 0, total = 0;
            cellar_mechanism *m;
            assert_int_equal(cellar_mechanism_create(cases[c].mechanism, &m, NULL), CELLAR_OK);
            for (int64_t x = -5; x <= 20; x++)
                for (int64_t y = -5; y <= 20; y++) {
                    double p = cellar_mechanism_pmf(m, truths[t][0], x) *
                               cellar_mechanism_pmf(m, truths[t][1], y);
                    int clamped = cases[c].negatives == CELLAR_NEGATIVES_ZERO;
                    int64_t least = cases[c].threshold > 0 ? cases[c].threshold : clamped ? 0 : -9;
                    const int64_t numbers[6] = {x < least ? 0 : x, y < least ? 0 : y};
                    const cellar_noisy_spec spec = {.n_levels = levels,
                                                    .n_variables = 2,
                                                    .names = names,
                                                    .released = numbers,
                                                    .mechanism = cases[c].mechanism,
                                                    .negatives = cases[c].negatives,
                                                    .threshold = cases[c].threshold};
                    cellar_noisy *noisy;
                    cellar_interval found;
                    if (!(p > 0))
                        continue;
                    noisy = make_noisy(&spec);
                    found = ask(noisy, "sex=1; region=1,2", CELLAR_COMPARE_NONE, NULL, &options);
                    covered += found.low <= truth && truth <= found.high ? p : 0;
                    total += p;
                    cellar_noisy_free(noisy);
                }
            NEAR(total, 1, 1e-9);
            if (!(covered >= 0.95 - 1e-9))
                fail_msg("%s, counts %d and %d: coverage %.4f", cases[c].mechanism,
                         (int) truths[t][0], (int) truths[t][1], covered);
            cellar_mechanism_free(m);
        }
}

/* Many cells: the interval of a clamped margin comes near that of noise alone where counts are
 * large, and holds everything where all were set to zero. */
static void test_large_sums(void **state)
{
    enum { N = 400 };
    static const size_t shape[] = {2, N / 2};
    int64_t x[N];
    double widths[2];
    (void) state;
    for (int large = 0; large < 2; large++)
        for (int kept = 0; kept < 2; kept++) {
            cellar_noisy_spec spec = {.n_levels = shape,
                                      .n_variables = 2,
                                      .names = names,
                                      .released = x,
                                      .mechanism = "discrete-laplace:epsilon=0.5",
                                      .negatives =
                                          kept ? CELLAR_NEGATIVES_KEEP : CELLAR_NEGATIVES_ZERO};
            cellar_interval_options options = cellar_interval_options_default();
            cellar_interval found;
            cellar_noisy *noisy;
            for (size_t i = 0; i < N; i++)
                x[i] = large ? 80 + (int64_t) i % 7 : 0;
            noisy = make_noisy(&spec);
            found = ask(noisy, "", CELLAR_COMPARE_NONE, NULL, &options);
            widths[kept] = found.high - found.low;
            assert_true(found.low <= found.estimate && found.estimate <= found.high);
            if (!large && !kept)
                assert_true(found.low == 0);
            options.target = CELLAR_TARGET_POPULATION;
            found = ask(noisy, "sex=1", CELLAR_COMPARE_RATIO, "sex=2", &options);
            assert_true(found.low <= 1 && 1 <= found.high);
            cellar_noisy_free(noisy);
            if (large && kept)
                assert_true(widths[0] >= widths[1] && widths[0] <= 1.05 * widths[1]);
        }
}

/* ---- known answers ------------------------------------------------------------------- */

static void test_known(void **state)
{
    static const int64_t x[6] = {10, 20, 30, 40, 50, 60};
    cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy *plain = make_table(x, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_noisy *noisy = make_table(x, "discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
    cellar_interval found;
    double r = exp(-0.5);
    int64_t k = 0;
    (void) state;
    found = ask(plain, "sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    assert_true(found.low == 60 && found.high == 60 && found.n_noises == 3);
    found = ask(plain, "sex=1", CELLAR_COMPARE_PROPORTION, "", &options);
    NEAR(found.low, 60.0 / 210, 1e-6);
    NEAR(found.high, 60.0 / 210, 1e-6);
    /* P(noise >= k + 1) = r^(k+1)/(1+r) */
    while (pow(r, (double) (k + 1)) / (1 + r) >= 0.025)
        k++;
    found = ask(noisy, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    assert_true(found.low == (double) (10 - k) && found.high == (double) (10 + k));
    /* together: wider, each with the 6th root */
    options.n_simultaneous = 6;
    found = ask(noisy, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    NEAR(pow(found.confidence, 6), 0.95, 1e-12);
    assert_true(found.high > (double) (10 + k));
    options.n_simultaneous = 1;
    /* common cells cancel: 30 of them with one noise each on both sides */
    found = ask(noisy, "region=1,2", CELLAR_COMPARE_DIFFERENCE, "region=2,3", &options);
    assert_true(found.estimate == 50 - 90 && found.n_noises == 4);
    /* the means behind a count without noise: the likelihood interval of a Poisson mean */
    options.target = CELLAR_TARGET_POPULATION;
    found = ask(plain, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    NEAR(2 * (10 * log(10 / found.low) + found.low - 10), 3.841458820694124, 1e-6);
    NEAR(2 * (10 * log(10 / found.high) + found.high - 10), 3.841458820694124, 1e-6);
    NEAR(found.naive_high, found.high, 1e-6);
    found = ask(noisy, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    assert_true(found.high > found.naive_high && found.low < found.naive_low);
    cellar_noisy_free(plain);
    cellar_noisy_free(noisy);
}

/* A posterior by hand: discrete Laplace, number 0, uniform prior: P(a) = (1-r) r^a. */
static void test_bayes(void **state)
{
    static const int64_t x[6] = {0, 20, 30, 40, 50, 60};
    cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy *noisy = make_table(x, "discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
    cellar_interval found;
    double r = exp(-0.5);
    (void) state;
    options.prior = CELLAR_PRIOR_UNIFORM;
    found = ask(noisy, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options);
    NEAR(found.estimate, r / (1 - r), 1e-6);
    assert_true(found.low == 0);
    assert_true(1 - pow(r, found.high + 1) >= 0.95 && 1 - pow(r, found.high) < 0.95);
    options.prior = CELLAR_PRIOR_RECIPROCAL;
    assert_true(ask(noisy, "region=1;sex=1", CELLAR_COMPARE_NONE, NULL, &options).estimate <
                found.estimate);
    cellar_noisy_free(noisy);
}

/* ---- sets ------------------------------------------------------------------------------- */

static void test_sets(void **state)
{
    static const struct {
        const char *text;
        size_t n_cells; /* 0: refused */
    } cases[] = {{"", 6},
                 {"sex=1", 3},
                 {" sex = 1 ; region = 2 , 3 ", 2},
                 {"\"sex\"=\"2\"", 3},
                 {"sex=1;", 3},
                 {"sex=3", 0},
                 {"age=1", 0},
                 {"sex", 0},
                 {"sex=1;sex=2", 0},
                 {"sex=\"1", 0},
                 {"sex=1 region=2", 0}};
    static const int64_t x[6] = {0};
    cellar_noisy *noisy = make_table(x, "identity", CELLAR_NEGATIVES_KEEP);
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_cell_set *set = NULL;
        cellar_error err = {""};
        cellar_status status = cellar_cell_set_parse(noisy, cases[i].text, &set, &err);
        assert_int_equal(status == CELLAR_OK, cases[i].n_cells > 0);
        if (status == CELLAR_OK)
            assert_int_equal(cellar_cell_set_n_cells(set), cases[i].n_cells);
        else
            assert_true(err.message[0] != '\0');
        cellar_cell_set_free(set);
    }
    cellar_noisy_free(noisy);
}

static void test_refusals(void **state)
{
    static const int64_t x[6] = {0, 1, 2, 3, 4, 5};
    cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy *noisy = make_table(x, "discrete-laplace:epsilon=1", CELLAR_NEGATIVES_ZERO);
    cellar_cell_set *row = NULL, *cell = NULL;
    cellar_interval found;
    (void) state;
    assert_int_equal(cellar_cell_set_parse(noisy, "sex=1", &row, NULL), CELLAR_OK);
    assert_int_equal(cellar_cell_set_create_one(noisy, 0, &cell, NULL), CELLAR_OK);
    assert_int_equal(
        cellar_interval_run(noisy, cell, CELLAR_COMPARE_RATIO, cell, &options, &found, NULL),
        CELLAR_ERR_ARGUMENT);
    assert_int_equal(
        cellar_interval_run(noisy, row, CELLAR_COMPARE_PROPORTION, cell, &options, &found, NULL),
        CELLAR_ERR_ARGUMENT);
    options.confidence = 1;
    assert_int_equal(
        cellar_interval_run(noisy, cell, CELLAR_COMPARE_NONE, NULL, &options, &found, NULL),
        CELLAR_ERR_ARGUMENT);
    cellar_cell_set_free(row);
    cellar_cell_set_free(cell);
    cellar_noisy_free(noisy);
}

/* ---- the study ------------------------------------------------------------------------------ */

/* A seed, so that nothing is left to chance: 1,000 tables per setting. The tolerances are four
 * standard errors of the simulation, those of the known levels (16,000 tables) included. */
static void test_table_3(void **state)
{
    static const struct {
        const char *mechanism;
        double naive, aware;           /* known levels */
        double dependence, printed[3]; /* powers of original, naive and aware test */
    } cases[] = {{"truncated-laplace:epsilon=0.1,m=10", 0.867, 0.029, 0.309, {0.793, 0.996, 0.510}},
                 {"truncated-laplace:epsilon=0.1,m=7", 0.533, 0.038, 0.333, {0.873, 0.983, 0.733}},
                 {"truncated-laplace:epsilon=0.5,m=10", 0.254, 0.059, 0.307, {0.821, 0.913, 0.763}},
                 {"truncated-laplace:epsilon=0.5,m=7", 0.187, 0.055, 0.312, {0.813, 0.910, 0.769}}};
    (void) state;
    for (size_t i = 0; i < 4; i++) {
        cellar_study_spec spec = cellar_study_spec_default();
        cellar_study found;
        spec.mechanism = cases[i].mechanism;
        assert_int_equal(cellar_study_run(&spec, &found, NULL), CELLAR_OK);
        assert_true(found.n_failed == 0);
        NEAR(found.original.rejected, 0.05, 4 * 0.0069);
        NEAR(found.naive.rejected, cases[i].naive, 4 * 0.0224);
        NEAR(found.aware.rejected, cases[i].aware, 4 * 0.0078);
        /* 4 standard errors of the difference of two simulations of 1,000 tables; the naive ones
         * are near 1, and the paper's effects are not ours. */
        spec.dependence = cases[i].dependence;
        assert_int_equal(cellar_study_run(&spec, &found, NULL), CELLAR_OK);
        NEAR(found.original.rejected, cases[i].printed[0], 4 * 0.018);
        NEAR(found.naive.rejected, cases[i].printed[1], 4 * 0.013);
        NEAR(found.aware.rejected, cases[i].printed[2], 4 * 0.022);
    }
}

/* One design for all tables: their statistics vary less, and the mean differs from design to
 * design by more than the simulation's error. */
static void test_fixed_effects(void **state)
{
    cellar_study_spec spec = cellar_study_spec_default();
    double lowest = INFINITY, highest = -INFINITY, se = 0;
    (void) state;
    spec.mechanism = "identity";
    spec.n_rows = spec.n_columns = 5;
    spec.n_tables = 200;
    spec.dependence = 0.4;
    spec.fixed_effects = 1;
    for (spec.seed = 1; spec.seed <= 8; spec.seed++) {
        cellar_study found;
        assert_int_equal(cellar_study_run(&spec, &found, NULL), CELLAR_OK);
        NEAR(found.original.statistic, found.aware.statistic, 1e-6);
        lowest = fmin(lowest, found.original.statistic);
        highest = fmax(highest, found.original.statistic);
        se = found.original.statistic_se;
    }
    assert_true(highest - lowest > 8 * se);
}

/* With the bootstrap the level is the one asked for: 300 tables of 4 x 4, s.e. 0.0126. */
static void test_bootstrap_level(void **state)
{
    cellar_study_spec spec = cellar_study_spec_default();
    cellar_study one, two;
    (void) state;
    spec.n_rows = spec.n_columns = 4;
    spec.mechanism = "truncated-laplace:epsilon=0.1,m=10";
    spec.n_tables = 300;
    spec.n_replicates = 99;
    spec.reference = CELLAR_REFERENCE_BOOTSTRAP;
    spec.n_threads = 1;
    assert_int_equal(cellar_study_run(&spec, &one, NULL), CELLAR_OK);
    NEAR(one.aware.rejected, 0.05, 4 * 0.0126);
    NEAR(one.aware.p_value, 0.5, 4 * 0.0167);
    spec.n_threads = 3;
    assert_int_equal(cellar_study_run(&spec, &two, NULL), CELLAR_OK);
    assert_memory_equal(&one, &two, sizeof one); /* however many threads */
}

/* ---- memory ----------------------------------------------------------------------- */

static cellar_status interval_scenario(void *context, cellar_error *err)
{
    static const int64_t x[6] = {3, 0, 6, 3, 9, 6};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .names = names,
                                    .released = x,
                                    .mechanism = context,
                                    .negatives = strncmp(context, "truncated", 9) == 0
                                                     ? CELLAR_NEGATIVES_ZERO
                                                     : CELLAR_NEGATIVES_KEEP};
    cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy *noisy = NULL;
    cellar_cell_set *row = NULL, *other = NULL;
    cellar_interval found;
    cellar_status status = cellar_noisy_create(&spec, &noisy, err);
    if (status == CELLAR_OK)
        status = cellar_cell_set_parse(noisy, "sex=1", &row, err);
    if (status == CELLAR_OK)
        status = cellar_cell_set_parse(noisy, "sex=2;region=1,2", &other, err);
    for (int kind = 0; kind < 4 && status == CELLAR_OK; kind++) {
        options.prior = kind == 2 ? CELLAR_PRIOR_UNIFORM : CELLAR_PRIOR_NONE;
        options.target = kind == 3 ? CELLAR_TARGET_POPULATION : CELLAR_TARGET_TABLE;
        status = cellar_interval_run(
            noisy, row, kind == 3 ? CELLAR_COMPARE_DIFFERENCE : (cellar_comparison) kind, other,
            &options, &found, err);
    }
    cellar_cell_set_free(row);
    cellar_cell_set_free(other);
    cellar_noisy_free(noisy);
    return status;
}

static cellar_status study_scenario(void *context, cellar_error *err)
{
    cellar_study_spec spec = cellar_study_spec_default();
    cellar_study found;
    (void) context;
    spec.n_rows = spec.n_columns = 2;
    spec.eta = 1;
    spec.mechanism = "truncated-laplace:epsilon=1,m=1";
    spec.n_tables = 2;
    spec.n_threads = 1;
    spec.reference = CELLAR_REFERENCE_BOOTSTRAP;
    spec.n_replicates = 1;
    return cellar_study_run(&spec, &found, err);
}

static void test_fail_every(void **state)
{
    char kept[] = "discrete-laplace:epsilon=1", clamped[] = "truncated-laplace:epsilon=1,m=2";
    char kernel[] = "round:base=3", closed[] = "poisson:alpha=1";
    (void) state;
    check_fail_every(interval_scenario, kept);
    check_fail_every(interval_scenario, clamped);
    check_fail_every(interval_scenario, kernel);
    check_fail_every(interval_scenario, closed);
    check_fail_every(study_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_coverage), cmocka_unit_test(test_exact_coverage_of_sums),
        cmocka_unit_test(test_large_sums),     cmocka_unit_test(test_known),
        cmocka_unit_test(test_bayes),          cmocka_unit_test(test_sets),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_table_3),
        cmocka_unit_test(test_fixed_effects),  cmocka_unit_test(test_bootstrap_level),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
