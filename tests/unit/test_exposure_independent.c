/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure under the model of independent columns: against enumeration and simulation. */
#include <math.h>
#include <stdlib.h>

#include <cellar/exposure.h>

#include "check.h"
#include "fail_every.h"

enum { N_COLUMNS = 3, POPULATION = 300, K = 5, N_DATABASES = 400 / CHECK_SHARE };

static const size_t n_values[N_COLUMNS] = {3, 4, 5};
static const uint64_t counts[N_COLUMNS][5] = {
    {150, 90, 60}, {200, 60, 30, 10}, {100, 80, 70, 45, 5}};

static void curves_open(cellar_exposure_curve *curves[N_COLUMNS])
{
    for (size_t c = 0; c < N_COLUMNS; c++)
        assert_int_equal(
            cellar_exposure_curve_from_counts(counts[c], n_values[c], 0, &curves[c], NULL),
            CELLAR_OK);
}

static void curves_close(cellar_exposure_curve *curves[N_COLUMNS])
{
    for (size_t c = 0; c < N_COLUMNS; c++)
        cellar_exposure_curve_free(curves[c]);
}

static double modelled(cellar_exposure_curve *const *curves, size_t n, double tolerance)
{
    const cellar_exposure_model model = {POPULATION, K, tolerance};
    double value;
    assert_int_equal(cellar_exposure_independent((const cellar_exposure_curve *const *) curves, n,
                                                 &model, &value, NULL),
                     CELLAR_OK);
    return value;
}

/* P(Bin(n-1, x) <= k-2), term by term. */
static double few_others(double x)
{
    double term = pow(1 - x, POPULATION - 1), sum = 0;
    for (int i = 0; i <= K - 2; i++) {
        sum += term;
        term *= (double) (POPULATION - 1 - i) / (i + 1) * x / (1 - x);
    }
    return sum;
}

/* The share of the others who have a value; none that count when it is too rare to hide anybody. */
static double of_others(uint64_t count)
{
    return count < K ? 0 : (double) (count - 1) / (POPULATION - 1);
}

/* The bound, over all combinations. */
static double enumerated(size_t n, double tolerance)
{
    double sum = 0;
    for (size_t a = 0; a < n_values[0]; a++)
        for (size_t b = 0; b < (n > 1 ? n_values[1] : 1); b++)
            for (size_t c = 0; c < (n > 2 ? n_values[2] : 1); c++) {
                const size_t levels[N_COLUMNS] = {a, b, c};
                double share = 1, others = 1;
                for (size_t j = 0; j < n; j++) {
                    share *= (double) counts[j][levels[j]] / POPULATION;
                    others *= of_others(counts[j][levels[j]]);
                }
                sum += share * few_others((1 - tolerance) * others);
            }
    return (1 - tolerance) * sum + tolerance;
}

static void test_never_below_enumeration(void **state)
{
    static const double tolerances[] = {0, 0.01, 0.3};
    cellar_exposure_curve *curves[N_COLUMNS];
    (void) state;
    curves_open(curves);
    for (size_t t = 0; t < 3; t++) {
        double before = 0;
        for (size_t n = 1; n <= N_COLUMNS; n++) {
            double exact = enumerated(n, tolerances[t]), value = modelled(curves, n, tolerances[t]);
            assert_true(value >= exact);
            assert_true(value <= exact * 1.02 + 1e-9);
            assert_true(value >= before); /* a column more never lowers it */
            before = value;
        }
    }
    curves_close(curves);
}

/* A fixed sequence, and draws from a column. */
static double draw(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (*random >> 11) * 0x1p-53;
}

/* The values of a column in an order of their own: every order is as likely. */
static void column_shuffle(uint64_t *random, size_t column, size_t levels[POPULATION])
{
    size_t n = 0;
    for (size_t v = 0; v < n_values[column]; v++)
        for (uint64_t i = 0; i < counts[column][v]; i++)
            levels[n++] = v;
    for (size_t i = POPULATION - 1; i > 0; i--) {
        size_t j = (size_t) (draw(random) * (double) (i + 1)), kept = levels[i];
        levels[i] = levels[j];
        levels[j] = kept;
    }
}

/* The share of people with these columns in small groups; a share of them are alone by design. */
static double simulated(uint64_t *random, double odd)
{
    size_t levels[N_COLUMNS][POPULATION];
    int cells[60] = {0}, exposed = 0;
    for (size_t c = 0; c < N_COLUMNS; c++)
        column_shuffle(random, c, levels[c]);
    for (int i = 0; i < POPULATION; i++) {
        if (draw(random) < odd)
            exposed++; /* with values that nobody else has */
        else
            cells[(levels[0][i] * 4 + levels[1][i]) * 5 + levels[2][i]]++;
    }
    for (int v = 0; v < 60; v++)
        exposed += cells[v] < K ? cells[v] : 0;
    return (double) exposed / POPULATION;
}

/* People with exactly these columns, which match at random: what is expected of them is within the
 * bound, and not far below it. 5 standard errors: false alarms below 1e-6. */
static void test_simulated_people(void **state)
{
    static const double odd[] = {0, 0.05};
    cellar_exposure_curve *curves[N_COLUMNS];
    uint64_t random = 7;
    (void) state;
    curves_open(curves);
    for (size_t t = 0; t < 2; t++) {
        double bound = modelled(curves, N_COLUMNS, odd[t]), sum = 0, squares = 0, mean, error;
        for (int i = 0; i < N_DATABASES; i++) {
            double share = simulated(&random, odd[t]);
            sum += share;
            squares += share * share;
        }
        mean = sum / N_DATABASES;
        error = sqrt((squares / N_DATABASES - mean * mean) / N_DATABASES);
        assert_true(mean <= bound + 5 * error);
        assert_true(bound <= 1.1 * mean + 5 * error);
    }
    curves_close(curves);
}

/* ln of n over k */
static double choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Two columns with rare values that match at random: how many have both values is hypergeometric.
 * Shares of the counts taken for those of the others would give 0.0509, and 0.0561 is expected. */
static void test_columns_that_match_at_random(void **state)
{
    static const uint64_t halves[] = {150, 150}, rare[] = {200, 60, 12, 10, 8, 6, 4};
    cellar_exposure_curve *curves[2];
    double expected = 0, bound;
    (void) state;
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 7; b++)
            for (int x = 1; x < K && x <= (int) rare[b]; x++)
                expected += x / (double) POPULATION *
                            exp(choose((double) rare[b], x) +
                                choose(POPULATION - (double) rare[b], (double) halves[a] - x) -
                                choose(POPULATION, (double) halves[a]));
    assert_int_equal(cellar_exposure_curve_from_counts(halves, 2, 0, &curves[0], NULL), CELLAR_OK);
    assert_int_equal(cellar_exposure_curve_from_counts(rare, 7, 0, &curves[1], NULL), CELLAR_OK);
    bound = modelled(curves, 2, 0);
    assert_true(bound >= expected && bound <= 1.15 * expected);
    cellar_exposure_curve_free(curves[0]);
    cellar_exposure_curve_free(curves[1]);
}

static void test_arguments(void **state)
{
    cellar_exposure_curve *curves[N_COLUMNS];
    const cellar_exposure_model wrong[] = {
        {0, 5, 0}, {300, 0, 0}, {300, 5, 1}, {300, 5, -0.1}, {300, 5, (double) NAN}};
    double value;
    (void) state;
    curves_open(curves);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cellar_exposure_independent((const cellar_exposure_curve *const *) curves,
                                                     N_COLUMNS, &wrong[i], &value, NULL),
                         CELLAR_ERR_ARGUMENT);
    assert_float_equal(modelled(curves, 0, 0), 0, 0); /* nothing is shown */
    curves_close(curves);
}

static cellar_status scenario(void *context, cellar_error *err)
{
    const cellar_exposure_model model = {POPULATION, K, 0.01};
    double value;
    return cellar_exposure_independent(context, N_COLUMNS, &model, &value, err);
}

static void test_fail_every(void **state)
{
    cellar_exposure_curve *curves[N_COLUMNS];
    (void) state;
    curves_open(curves);
    check_fail_every(scenario, curves);
    curves_close(curves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_below_enumeration),
        cmocka_unit_test(test_simulated_people),
        cmocka_unit_test(test_columns_that_match_at_random),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
