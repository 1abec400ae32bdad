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

/* The bound of the mixture, over all combinations. */
static double enumerated(size_t n, double tolerance)
{
    double sum = 0;
    for (size_t a = 0; a < n_values[0]; a++)
        for (size_t b = 0; b < (n > 1 ? n_values[1] : 1); b++)
            for (size_t c = 0; c < (n > 2 ? n_values[2] : 1); c++) {
                double share = (double) counts[0][a] / POPULATION;
                share *= n > 1 ? (double) counts[1][b] / POPULATION : 1;
                share *= n > 2 ? (double) counts[2][c] / POPULATION : 1;
                sum += share * few_others((1 - tolerance) * share);
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

static size_t draw_level(uint64_t *random, size_t column)
{
    double u = draw(random) * POPULATION;
    size_t level = 0;
    while (level + 1 < n_values[column] && u >= (double) counts[column][level])
        u -= (double) counts[column][level++];
    return level;
}

/* The share of a simulated database in small groups; a share of the people are alone by design. */
static double simulated(uint64_t *random, double odd)
{
    int cells[60] = {0}, exposed = 0;
    for (int i = 0; i < POPULATION; i++) {
        if (draw(random) < odd)
            exposed++; /* with values that nobody else has */
        else
            cells[(draw_level(random, 0) * 4 + draw_level(random, 1)) * 5 +
                  draw_level(random, 2)]++;
    }
    for (int v = 0; v < 60; v++)
        exposed += cells[v] < K ? cells[v] : 0;
    return (double) exposed / POPULATION;
}

/* The mean of many databases is what is expected when all is as the model says, and within the
 * bound when the tolerated share is as exposed as can be. 5 standard errors: false alarms below
 * 1e-6. */
static void test_simulated_people(void **state)
{
    static const double odd[] = {0, 0.05};
    cellar_exposure_curve *curves[N_COLUMNS];
    uint64_t random = 7;
    (void) state;
    curves_open(curves);
    for (size_t t = 0; t < 2; t++) {
        double sum = 0, squares = 0, mean, error;
        for (int i = 0; i < N_DATABASES; i++) {
            double share = simulated(&random, odd[t]);
            sum += share;
            squares += share * share;
        }
        mean = sum / N_DATABASES;
        error = sqrt((squares / N_DATABASES - mean * mean) / N_DATABASES);
        assert_true(mean <= modelled(curves, N_COLUMNS, odd[t]) + 5 * error);
        assert_true(fabs(mean - enumerated(N_COLUMNS, odd[t])) <= 5 * error);
    }
    curves_close(curves);
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
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
