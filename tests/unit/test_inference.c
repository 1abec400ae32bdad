/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that know the noise. The statistics that they are compared with were computed in R, by
 * nlminb on the sums written out, which shares nothing with the code under test. */
#include <math.h>
#include <string.h>

#include <cellar/inference.h>

#include "check.h"
#include "fail_every.h"
#include "inference/likelihood.h"
#include "inference/model.h"
#include "inference/noise_sum.h"
#include "small_table.h"

#define NEAR(a, b, tolerance) assert_true(fabs((double) (a) - (double) (b)) <= (tolerance))

/* "Confidentiality and differential privacy in the dissemination of frequency tables", Table 1: age
 * by occupation. */
static const int64_t paper_table[12 * 11] = {
    2,   2,   8,   7,  31, 0, 7,  2,  20, 0, 80,  55,  68,  110, 54, 134, 0, 23, 13, 138, 2, 129,
    115, 147, 132, 78, 83, 0, 19, 15, 45, 0, 18,  191, 129, 127, 89, 68,  0, 18, 8,  33,  4, 10,
    153, 113, 119, 74, 49, 1, 34, 15, 44, 4, 9,   102, 70,  78,  70, 43,  1, 20, 21, 24,  3, 8,
    94,  65,  55,  72, 47, 2, 29, 16, 36, 4, 14,  92,  81,  75,  80, 65,  1, 43, 17, 36,  1, 8,
    74,  51,  56,  64, 72, 2, 49, 21, 67, 2, 13,  63,  41,  40,  70, 53,  3, 22, 22, 56,  4, 59,
    12,  5,   7,   3,  12, 0, 6,  4,  8,  2, 287, 4,   4,   1,   5,  4,   0, 2,  1,  4,   0, 307};

typedef struct outcome {
    cellar_test aware, naive;
    cellar_test_quality quality;
} outcome;

static cellar_noisy *make_table(size_t n_rows, size_t n_columns, const int64_t *released,
                                const char *mechanism, cellar_negatives negatives)
{
    const size_t levels[2] = {n_rows, n_columns};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .released = released,
                                    .mechanism = mechanism,
                                    .negatives = negatives};
    cellar_noisy *noisy = NULL;
    cellar_error err = {""};
    if (cellar_noisy_create(&spec, &noisy, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return noisy;
}

static outcome test_model(const cellar_noisy *noisy, const char *model, const char *against,
                          const cellar_test_options *options)
{
    cellar_loglinear *test = NULL;
    cellar_error err = {""};
    outcome found;
    if (cellar_loglinear_test(noisy, model, against, options, &test, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    found = (outcome){cellar_loglinear_aware(test), cellar_loglinear_naive(test),
                      cellar_loglinear_quality(test)};
    cellar_loglinear_free(test);
    return found;
}

static outcome test_two_way(size_t n_rows, size_t n_columns, const int64_t *released,
                            const char *mechanism, cellar_negatives negatives)
{
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_table(n_rows, n_columns, released, mechanism, negatives);
    outcome found = test_model(noisy, "1 + 2", NULL, &options);
    cellar_noisy_free(noisy);
    return found;
}

/* ---- without noise ------------------------------------------------------------- */

/* The ordinary statistics, written out. */
static double g_square(const int64_t *counts, size_t r, size_t c)
{
    double rows[64] = {0}, columns[64] = {0}, total = 0, sum = 0;
    for (size_t i = 0; i < r * c; i++) {
        rows[i / c] += (double) counts[i];
        columns[i % c] += (double) counts[i];
        total += (double) counts[i];
    }
    for (size_t i = 0; i < r * c; i++)
        if (counts[i] > 0)
            sum += 2 * (double) counts[i] *
                   log((double) counts[i] * total / (rows[i / c] * columns[i % c]));
    return sum;
}

static void test_paper_table(void **state)
{
    outcome found = test_two_way(12, 11, paper_table, "identity", CELLAR_NEGATIVES_KEEP);
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_table(12, 11, paper_table, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_estimate aware;
    double naive_v;
    (void) state;
    NEAR(found.naive.pearson, 3839.04677, 1e-5);
    NEAR(found.naive.statistic, 3228.517389, 1e-6);
    NEAR(found.aware.statistic, g_square(paper_table, 12, 11), 1e-9);
    assert_true(found.aware.df == 110 && found.naive.df == 110 && found.naive.total == 5784);
    assert_int_equal(cellar_cramers_v(noisy, 0.95, &options, &aware, &naive_v, NULL), CELLAR_OK);
    NEAR(naive_v, 0.257631, 1e-6);
    assert_true(aware.low < aware.value && aware.value < naive_v && naive_v < aware.high);
    cellar_noisy_free(noisy);
}

static void test_identity_is_g_square(void **state)
{
    static const struct {
        size_t r, c;
        int64_t counts[12];
        double df;
    } cases[] = {
        {2, 2, {10, 0, 3, 7}, 1},
        {2, 2, {1000000, 999000, 998000, 1001000}, 1},
        {3, 3, {12, 5, 3, 7, 0, 9, 20, 15, 8}, 4},
        {3, 3, {12, 0, 3, 7, 0, 9, 20, 0, 8}, 2}, /* an empty column leaves the df */
        {3, 4, {0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 7, 1}, 3},
        {2, 3, {0, 0, 0, 5, 6, 7}, 0},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome found = test_two_way(cases[i].r, cases[i].c, cases[i].counts, "identity",
                                     CELLAR_NEGATIVES_KEEP);
        double want = g_square(cases[i].counts, cases[i].r, cases[i].c);
        NEAR(found.aware.statistic, want, 1e-9);
        NEAR(found.naive.statistic, want, 1e-9);
        assert_true(found.aware.df == cases[i].df && found.naive.df == cases[i].df);
        assert_true(found.quality.converged);
        NEAR(found.quality.information, 1, 1e-12);
    }
}

/* ---- with noise ------------------------------------------------------------------ */

static void test_independent_maximisation(void **state)
{
    static const struct {
        const char *mechanism;
        cellar_negatives negatives;
        size_t r, c;
        int64_t released[12];
        double statistic;
    } cases[] = {
        {"truncated-laplace:epsilon=0.5,m=10",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {12, 5, 3, 7, -2, 9, 20, 15, 8},
         7.7777932790},
        {"discrete-laplace:epsilon=0.1",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {12, 5, 3, 7, -2, 9, 20, 15, 8},
         1.8441961718},
        {"poisson:alpha=0.5",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {12, 5, 3, 7, 0, 9, 20, 15, 8},
         8.7930367502},
        {"negbin:alpha=0.5,sigma=0.1",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {12, 5, 3, 7, 0, 9, 20, 15, 8},
         7.2583989313},
        {"round:base=5",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {10, 5, 0, 5, 0, 10, 20, 15, 10},
         10.7622471079},
        {"discrete-laplace:epsilon=1",
         CELLAR_NEGATIVES_KEEP,
         2,
         2,
         {300, 12, 14, 280},
         508.8338624137},
        {"laplace:epsilon=0.2", CELLAR_NEGATIVES_KEEP, 2, 2, {300, 12, 14, 280}, 108.7332995470},
        {"truncated-laplace:epsilon=0.1,m=7",
         CELLAR_NEGATIVES_KEEP,
         2,
         5,
         {55, 40, 61, 33, 48, 70, 20, 52, 41, 39},
         7.2488380340},
        {"truncated-laplace:epsilon=0.1,m=7",
         CELLAR_NEGATIVES_KEEP,
         2,
         3,
         {55, 40, 61, 33, 48, 30},
         6.7802330975},
        /* Maxima with empty rows or columns: in R with means of zero allowed. */
        {"discrete-laplace:epsilon=1",
         CELLAR_NEGATIVES_KEEP,
         2,
         3,
         {0, -1, 2, 3, 1, 0},
         2.4918046638},
        {"discrete-laplace:epsilon=0.5",
         CELLAR_NEGATIVES_ZERO,
         3,
         3,
         {12, 0, 3, 7, 0, 9, 0, 0, 8},
         8.3072318846},
        {"discrete-gaussian:sigma=4",
         CELLAR_NEGATIVES_KEEP,
         3,
         3,
         {-3, -5, -3, 7, -2, 9, 20, 15, 8},
         3.6493236908},
        {"truncated-laplace:epsilon=0.5,m=10", CELLAR_NEGATIVES_KEEP, 2, 2, {0, -3, -1, 0}, 0},
        {"laplace:epsilon=1",
         CELLAR_NEGATIVES_ZERO,
         4,
         3,
         {0, 0, 0, 3, 1, 0, 0, 0, 0, 7, 2, 1},
         0.2836731786},
        {"discrete-laplace:epsilon=1",
         CELLAR_NEGATIVES_KEEP,
         4,
         3,
         {0, -1, 2, 3, 1, 0, 0, -2, 1, 7, 2, 1},
         3.7697530746},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome found = test_two_way(cases[i].r, cases[i].c, cases[i].released, cases[i].mechanism,
                                     cases[i].negatives);
        if (!(fabs(found.aware.statistic - cases[i].statistic) < 1e-6))
            fail_msg("%s: %.9f, in R %.9f", cases[i].mechanism, found.aware.statistic,
                     cases[i].statistic);
        assert_true(found.quality.converged);
    }
}

/* L(mu; x) by its definition. */
static double likelihood_by_sum(const cellar_mechanism *m, cellar_negatives negatives, int64_t x,
                                double mean)
{
    double sum = 0;
    for (int64_t a = 0; a < 600; a++)
        sum += exp(-mean + (double) a * log(mean) - lgamma((double) a + 1)) *
               cellar_mechanism_released_pmf(m, a, x, negatives);
    return sum;
}

static void test_likelihood_is_its_sum(void **state)
{
    static const char *const specs[] = {
        "discrete-laplace:epsilon=0.3", "gaussian:sigma=3", "truncated-laplace:epsilon=0.5,m=7",
        "hellinger:epsilon=2",          "poisson:alpha=1",  "round:base=3"};
    static const double means[] = {1e-6, 0.3, 3.9, 4, 15.9, 16.1, 60, 130};
    static const int64_t numbers[] = {0, 3, 27, 90};
    (void) state;
    for (size_t s = 0; s < sizeof specs / sizeof specs[0]; s++)
        for (int clamped = 0; clamped < 2; clamped++) {
            cellar_mechanism *m = NULL;
            cellar_likelihood *l = NULL;
            cellar_channel channel;
            assert_int_equal(cellar_mechanism_create(specs[s], &m, NULL), CELLAR_OK);
            channel = (cellar_channel){m, clamped ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP,
                                       0, NULL};
            assert_int_equal(cellar_likelihood_create(&channel, &l, NULL), CELLAR_OK);
            for (size_t x = 0; x < 4; x++)
                for (size_t i = 0; i < 8; i++) {
                    double want =
                        log(likelihood_by_sum(m, channel.negatives, numbers[x], means[i]));
                    cellar_observation *o;
                    cellar_posterior p, up, down;
                    double h = 1e-4 * means[i], slope;
                    assert_int_equal(cellar_likelihood_observe(l, numbers[x], &o, NULL), CELLAR_OK);
                    cellar_observation_at(o, means[i], &p, NULL);
                    if (want > -600) /* below, the plain sum underflows */
                        NEAR(p.log_likelihood, want, 1e-9 * (1 + fabs(want)));
                    /* the score is the derivative */
                    cellar_observation_at(o, means[i] + h, &up, NULL);
                    cellar_observation_at(o, means[i] - h, &down, NULL);
                    slope = (up.log_likelihood - down.log_likelihood) / (2 * h) * means[i];
                    if (!(fabs(slope - (p.mean - means[i])) < 1e-5 * (1 + fabs(slope))))
                        fail_msg("%s, %d released, mean %g: slope %g, score %g", specs[s],
                                 (int) numbers[x], means[i], slope, p.mean - means[i]);
                }
            cellar_likelihood_free(l);
            cellar_mechanism_free(m);
        }
}

static void test_noise_of_a_sum(void **state)
{
    cellar_mechanism *m = NULL;
    cellar_noise_sum *sum = NULL;
    double total = 0, variance = 0;
    cellar_moments moments;
    (void) state;
    assert_int_equal(cellar_mechanism_create("truncated-laplace:epsilon=0.5,m=2", &m, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_noise_sum_create(m, 3, &sum, NULL), CELLAR_OK);
    for (int64_t k = -6; k <= 6; k++) { /* by enumeration of all three */
        double want = 0;
        for (int64_t a = -2; a <= 2; a++)
            for (int64_t b = -2; b <= 2; b++)
                want += cellar_mechanism_pmf(m, 0, a) * cellar_mechanism_pmf(m, 0, b) *
                        cellar_mechanism_pmf(m, 0, k - a - b);
        NEAR(cellar_noise_sum_pmf(sum, k), want, 1e-16);
        total += want;
        variance += want * (double) (k * k);
        NEAR(cellar_noise_sum_cdf(sum, k), total, 1e-15);
    }
    cellar_mechanism_moments(m, 0, CELLAR_NEGATIVES_KEEP, &moments);
    NEAR(variance, 3 * moments.variance, 1e-12);
    cellar_noise_sum_free(sum);
    cellar_mechanism_free(m);
}

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
    cellar_noisy *noisy;
    outcome all, inner, outer;
    double a_bc = 0, a[2] = {0}, bc[4] = {0}, total = 0;
    (void) state;
    assert_int_equal(cellar_noisy_create(&spec, &noisy, NULL), CELLAR_OK);
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
    cellar_noisy *noisy;
    outcome found;
    (void) state;
    assert_int_equal(cellar_noisy_create(&spec, &noisy, NULL), CELLAR_OK);
    found = test_model(noisy, "1 + 2", NULL, &options);
    assert_true(found.aware.df == 1); /* quasi-independence: 6 cells, 5 parameters */
    assert_true(found.aware.statistic > 0);
    NEAR(found.aware.statistic, found.naive.statistic, 1e-9);
    cellar_noisy_free(noisy);
}

/* Without noise the standardised residuals of a 2x2 table are all the same in size. */
static void test_residuals(void **state)
{
    static const int64_t counts[] = {10, 20, 30, 25};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_table(2, 2, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_loglinear *test;
    double e = 30.0 * 40 / 85, want = (10 - e) / sqrt(e * (1 - 30.0 / 85) * (1 - 40.0 / 85));
    (void) state;
    options.with_residuals = 1;
    assert_int_equal(cellar_loglinear_test(noisy, "1+2", NULL, &options, &test, NULL), CELLAR_OK);
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
    cellar_noisy *noisy = make_table(2, 2, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_estimate plain, noisier, naive;
    (void) state;
    assert_int_equal(cellar_odds_ratio(noisy, both, both, 0.95, &plain, &naive, NULL), CELLAR_OK);
    NEAR(plain.value, 250.0 / 600, 1e-9);
    /* the profile interval, from the closed form given the margins */
    NEAR(log(plain.low), -1.83127593893, 1e-7);
    NEAR(log(plain.high), 0.03364967849, 1e-7);
    cellar_noisy_free(noisy);
    noisy = make_table(2, 2, counts, "discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
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
        make_table(3, 3, numbers, "truncated-laplace:epsilon=0.1,m=10", CELLAR_NEGATIVES_KEEP);
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

/* ---- the binomial test ------------------------------------------------------------------- */

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

/* ---- releases ----------------------------------------------------------------------------- */

static cellar_release *make_release(const small_table *small, cellar_negatives negatives)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_table *table = small_table_create(small);
    cellar_mechanism *mechanism = NULL;
    cellar_release *release = NULL;
    cellar_rng *rng = NULL;
    cellar_error err = {""};
    options.negatives = (int) negatives;
    options.per_cell = 1;
    options.max_weight = small->max_weight > 0 ? small->max_weight : options.max_weight;
    assert_int_equal(cellar_rng_create_seeded(5, 0, &rng, NULL), CELLAR_OK);
    options.rng = rng;
    assert_int_equal(cellar_mechanism_create("discrete-laplace:epsilon=1", &mechanism, NULL),
                     CELLAR_OK);
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return release;
}

/* Without margins the cells are summed, with them the released margin is taken. */
static void test_margins_of_a_release(void **state)
{
    static const size_t z_x[] = {2, 0};
    small_table small = {.n_variables = 3,
                         .sizes = {2, 3, 2},
                         .domain = CELLAR_DOMAIN_DECLARED,
                         .n_cells = 3,
                         .index = {0, 5, 11},
                         .count = {30, 20, 40}};
    cellar_release *release = make_release(&small, CELLAR_NEGATIVES_KEEP);
    cellar_noisy *noisy = NULL;
    int64_t sum = 0;
    (void) state;
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_OK);
    assert_string_equal(cellar_noisy_variable(noisy, 0), "z");
    assert_string_equal(cellar_noisy_code(noisy, 1, 1), "c1");
    assert_int_equal(cellar_noisy_n_summed(noisy), 3);
    for (uint64_t y = 0; y < 3; y++) /* x = 0, z = 1 */
        sum += cellar_release_at(release, 2 * y + 1).released;
    assert_int_equal(cellar_noisy_released(noisy, 2), sum);
    cellar_noisy_free(noisy);
    cellar_release_free(release);

    release = make_release(&small, CELLAR_NEGATIVES_ZERO);
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_ERR_RULE);
    assert_null(noisy);
    assert_int_equal(cellar_noisy_from_release(release, NULL, 0, &noisy, NULL), CELLAR_OK);
    assert_int_equal(cellar_noisy_n_cells(noisy), 12);
    cellar_noisy_free(noisy);
    cellar_release_free(release);

    small.margins.all = 1;
    release = make_release(&small, CELLAR_NEGATIVES_ZERO);
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_OK);
    assert_int_equal(cellar_noisy_n_summed(noisy), 1);
    assert_true(cellar_noisy_released(noisy, 0) > 20); /* 30 in truth, one noise */
    cellar_noisy_free(noisy);
    cellar_release_free(release);
}

static void test_weighted_releases(void **state)
{
    const small_table small = {.n_variables = 2,
                               .sizes = {2, 2},
                               .domain = CELLAR_DOMAIN_DECLARED,
                               .n_cells = 2,
                               .index = {0, 3},
                               .count = {3, 4},
                               .with_weights = 1,
                               .max_weight = 2};
    cellar_release *release = make_release(&small, CELLAR_NEGATIVES_KEEP);
    cellar_noisy *noisy = NULL;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(cellar_noisy_from_release(release, NULL, 0, &noisy, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "weighted"));
    cellar_release_free(release);
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
    noisy = make_table(2, 2, numbers, "truncated-laplace:epsilon=1,m=10", CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_loglinear_test(noisy, "1+2", NULL, &options, &test, &err),
                     CELLAR_ERR_INPUT); /* -20 cannot be */
    assert_non_null(strstr(err.message, "cannot have been released"));
    assert_int_equal(cellar_loglinear_test(noisy, "1*2", "1+2", &options, &test, &err),
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
    cellar_estimate aware, naive;
    double naive_v;
    cellar_status status = cellar_noisy_create(&spec, &noisy, err);
    (void) context;
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.with_residuals = 1;
    options.n_replicates = 2;
    options.n_threads = 1;
    if (status == CELLAR_OK)
        status = cellar_loglinear_test(noisy, "1", "1+2", &options, &test, err);
    if (status == CELLAR_OK)
        status = cellar_odds_ratio(noisy, both, both, 0.5, &aware, &naive, err);
    if (status == CELLAR_OK)
        status = cellar_cramers_v(noisy, 0.95, &options, &aware, &naive_v, err);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
    return status;
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
    check_fail_every(whole_scenario, NULL);
    check_fail_every(binomial_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_table),
        cmocka_unit_test(test_identity_is_g_square),
        cmocka_unit_test(test_independent_maximisation),
        cmocka_unit_test(test_likelihood_is_its_sum),
        cmocka_unit_test(test_noise_of_a_sum),
        cmocka_unit_test(test_model_grammar),
        cmocka_unit_test(test_nested_models),
        cmocka_unit_test(test_structural_zeros),
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_odds_ratios),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_binomial_of_the_paper),
        cmocka_unit_test(test_binomial_without_noise),
        cmocka_unit_test(test_margins_of_a_release),
        cmocka_unit_test(test_weighted_releases),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
