/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that know the noise. The statistics that they are compared with were computed in R, by
 * nlminb on the sums written out, which shares nothing with the code under test. */
#include "inference_check.h"

#include "inference/likelihood.h"
#include "inference/noise_sum.h"
#include "rinott_table.h"

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
    const int64_t *counts = (const int64_t *) rinott[0];
    outcome found = test_two_way(12, 11, counts, "identity", CELLAR_NEGATIVES_KEEP);
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_two_way(12, 11, counts, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_interval_estimate aware;
    double naive_v;
    (void) state;
    NEAR(found.naive.pearson, 3839.04677, 1e-5);
    NEAR(found.naive.statistic, 3228.517389, 1e-6);
    NEAR(found.aware.statistic, g_square(counts, 12, 11), 1e-9);
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

#define KEEP CELLAR_NEGATIVES_KEEP
#define ZERO CELLAR_NEGATIVES_ZERO

static const struct {
    const char *mechanism;
    cellar_negatives negatives;
    size_t r, c;
    double statistic;
    int64_t released[12];
} maximised[] = {
    {"truncated-laplace:epsilon=0.5,m=10",
     KEEP,
     3,
     3,
     7.7777932790,
     {12, 5, 3, 7, -2, 9, 20, 15, 8}},
    {"discrete-laplace:epsilon=0.1", KEEP, 3, 3, 1.8441961718, {12, 5, 3, 7, -2, 9, 20, 15, 8}},
    {"poisson:alpha=0.5", KEEP, 3, 3, 8.7930367502, {12, 5, 3, 7, 0, 9, 20, 15, 8}},
    {"negbin:alpha=0.5,sigma=0.1", KEEP, 3, 3, 7.2583989313, {12, 5, 3, 7, 0, 9, 20, 15, 8}},
    {"round:base=5", KEEP, 3, 3, 10.7622471079, {10, 5, 0, 5, 0, 10, 20, 15, 10}},
    {"discrete-laplace:epsilon=1", KEEP, 2, 2, 508.8338624137, {300, 12, 14, 280}},
    {"laplace:epsilon=0.2", KEEP, 2, 2, 108.7332995470, {300, 12, 14, 280}},
    {"truncated-laplace:epsilon=0.1,m=7",
     KEEP,
     2,
     5,
     7.2488380340,
     {55, 40, 61, 33, 48, 70, 20, 52, 41, 39}},
    {"truncated-laplace:epsilon=0.1,m=7", KEEP, 2, 3, 6.7802330975, {55, 40, 61, 33, 48, 30}},
    /* Maxima with empty rows or columns: in R with means of zero allowed. */
    {"discrete-laplace:epsilon=1", KEEP, 2, 3, 2.4918046638, {0, -1, 2, 3, 1, 0}},
    {"discrete-laplace:epsilon=0.5", ZERO, 3, 3, 8.3072318846, {12, 0, 3, 7, 0, 9, 0, 0, 8}},
    {"discrete-gaussian:sigma=4", KEEP, 3, 3, 3.6493236908, {-3, -5, -3, 7, -2, 9, 20, 15, 8}},
    {"truncated-laplace:epsilon=0.5,m=10", KEEP, 2, 2, 0, {0, -3, -1, 0}},
    {"laplace:epsilon=1", ZERO, 4, 3, 0.2836731786, {0, 0, 0, 3, 1, 0, 0, 0, 0, 7, 2, 1}},
    {"discrete-laplace:epsilon=1",
     KEEP,
     4,
     3,
     3.7697530746,
     {0, -1, 2, 3, 1, 0, 0, -2, 1, 7, 2, 1}},
    /* Numbers less likely than e^-600 at the means of the model (scipy). */
    {"round:base=3", KEEP, 3, 3, 6641.6481586795, {9999, 3, 0, 0, 999, 6, 6, 0, 3}},
    {"poisson:alpha=1", KEEP, 3, 3, 6321.8398785181, {20000, 3, 0, 0, 2000, 5, 5, 0, 3}},
};

static void test_independent_maximisation(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof maximised / sizeof maximised[0]; i++) {
        outcome found = test_two_way(maximised[i].r, maximised[i].c, maximised[i].released,
                                     maximised[i].mechanism, maximised[i].negatives);
        if (!(fabs(found.aware.statistic - maximised[i].statistic) < 1e-6))
            fail_msg("%s: %.9f, in R %.9f", maximised[i].mechanism, found.aware.statistic,
                     maximised[i].statistic);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_table),
        cmocka_unit_test(test_identity_is_g_square),
        cmocka_unit_test(test_independent_maximisation),
        cmocka_unit_test(test_likelihood_is_its_sum),
        cmocka_unit_test(test_noise_of_a_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
