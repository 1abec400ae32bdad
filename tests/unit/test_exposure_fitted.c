/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure under a model that was counted elsewhere: its intervals against exact chances, its fit
 * against tables with known odds ratios, and its bound against enumeration and repeated samples. */
#include "risk/exposure/exposure_fitted.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "fail_every.h"
#include "risk/exposure/share_interval.h"

enum { POPULATION = 300, K = 5, ROWS = 3, COLUMNS = 4, CELLS = ROWS * COLUMNS };

static const size_t n_levels[2] = {ROWS, COLUMNS};
static const cellar_exposure_model plain = {POPULATION, K, 0};

/* Odds ratios that are not 1, in whole numbers. */
static const double table[CELLS] = {60, 20, 10, 10, 30, 50, 10, 10, 5, 5, 40, 50};

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

/* The share of somebody's others with the values that a share x of all have, when a and b have each
 * of them. */
static double of_others(double x, double a, double b)
{
    if (a * POPULATION < K || b * POPULATION < K)
        return 0;
    return x * (a * POPULATION - 1) * (b * POPULATION - 1) /
           (a * b * (POPULATION - 1) * (POPULATION - 1));
}

static void cells_fill(fitted_cells *cells, const double *counts, double people)
{
    double sum = 0;
    assert_int_equal(fitted_cells_create(n_levels, 2, cells, NULL), CELLAR_OK);
    for (size_t i = 0; i < CELLS; i++)
        sum += counts[i];
    for (size_t i = 0; i < CELLS; i++)
        cells->low[i] = cells->high[i] = cells->count[i] = counts[i] * people / sum;
    cells->least_people = cells->most_people = people;
}

static double fitted(const fitted_cells *cells, const uint64_t *a, const uint64_t *b,
                     const cellar_exposure_model *model, double doubt)
{
    const uint64_t *const counts[] = {a, b};
    double value;
    assert_int_equal(cellar_exposure_fitted(cells, counts, model, doubt, &value, NULL), CELLAR_OK);
    return value;
}

/* ---- intervals ------------------------------------------------------------------- */

/* P(Bin(n, p) = i) */
static double pmf(int n, int i, double p)
{
    return exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) +
               (n - i) * log(1 - p));
}

/* All outcomes of 40 draws: an end lies beyond the truth with no more than the chance stated. */
static void test_ends_cover(void **state)
{
    enum { N = 40 };
    static const double truths[] = {0.001, 0.05, 0.2, 0.5, 0.93};
    const double doubt = log(20);
    (void) state;
    for (size_t t = 0; t < sizeof truths / sizeof *truths; t++) {
        double above = 0, below = 0;
        for (int i = 0; i <= N; i++) {
            double share = (double) i / N;
            double least = cellar_share_least(share, N, doubt);
            double most = cellar_share_most(share, N, doubt);
            assert_true(least <= share && share <= most && least >= 0 && most <= 1);
            above += least > truths[t] ? pmf(N, i, truths[t]) : 0;
            below += most < truths[t] ? pmf(N, i, truths[t]) : 0;
        }
        assert_true(above <= 1.0 / 20);
        assert_true(below <= 1.0 / 20);
    }
    assert_true(cellar_share_least(0, N, doubt) <= 0);
    assert_true(cellar_share_most(1, N, doubt) >= 1);
    assert_true(fabs(cellar_share_most(0, N, doubt) - (1 - pow(1.0 / 20, 1.0 / N))) < 1e-12);
}

/* ---- the fit ---------------------------------------------------------------------- */

/* A model of so many people that nothing is in doubt, and other margins: what is expected is that
 * of the table with the odds ratios of the one and the margins of the other. */
static void test_the_association_is_the_models(void **state)
{
    static const double a[ROWS] = {0.2, 0.5, 0.3}, b[COLUMNS] = {0.4, 0.1, 0.3, 0.2};
    double joint[CELLS], rows[ROWS] = {0}, columns[COLUMNS] = {0}, sum = 0, expected = 0;
    uint64_t of_rows[ROWS], of_columns[COLUMNS];
    fitted_cells cells;
    (void) state;
    for (size_t i = 0; i < CELLS; i++) {
        joint[i] = table[i] * a[i / COLUMNS] * b[i % COLUMNS]; /* keeps the odds ratios */
        sum += joint[i];
    }
    for (size_t i = 0; i < CELLS; i++) {
        joint[i] /= sum;
        rows[i / COLUMNS] += joint[i];
        columns[i % COLUMNS] += joint[i];
    }
    for (size_t i = 0; i < CELLS; i++)
        expected +=
            joint[i] * few_others(of_others(joint[i], rows[i / COLUMNS], columns[i % COLUMNS]));
    for (size_t i = 0; i < ROWS; i++)
        of_rows[i] = (uint64_t) llround(rows[i] * 1e15);
    for (size_t i = 0; i < COLUMNS; i++)
        of_columns[i] = (uint64_t) llround(columns[i] * 1e15);
    cells_fill(&cells, table, 1e15);
    assert_true(fitted(&cells, of_rows, of_columns, &plain, 1) < expected + 1e-6);
    assert_true(fitted(&cells, of_rows, of_columns, &plain, 1) >= expected);
    fitted_cells_clear(&cells);
}

/* Independent columns give what independence gives, with the same tolerance. */
static void test_a_product_is_independence(void **state)
{
    static const uint64_t rows[ROWS] = {150, 90, 60}, columns[COLUMNS] = {200, 60, 30, 10};
    const cellar_exposure_model model = {POPULATION, K, 0.02};
    cellar_exposure_curve *curves[2];
    double product[CELLS], value, independent;
    fitted_cells cells;
    (void) state;
    for (size_t i = 0; i < CELLS; i++)
        product[i] = (double) (rows[i / COLUMNS] * columns[i % COLUMNS]);
    assert_int_equal(cellar_exposure_curve_from_counts(rows, ROWS, 0, &curves[0], NULL), CELLAR_OK);
    assert_int_equal(cellar_exposure_curve_from_counts(columns, COLUMNS, 0, &curves[1], NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_exposure_independent((const cellar_exposure_curve *const *) curves, 2,
                                                 &model, &independent, NULL),
                     CELLAR_OK);
    cells_fill(&cells, product, 1e15);
    value = fitted(&cells, rows, columns, &model, 1);
    assert_true(value <= independent && value >= independent / 1.02);
    fitted_cells_clear(&cells);
    cellar_exposure_curve_free(curves[0]);
    cellar_exposure_curve_free(curves[1]);
}

/* Fewer people in the model, or less chance to be wrong: never less. */
static void test_doubt_is_cautious(void **state)
{
    static const uint64_t rows[ROWS] = {100, 100, 100}, columns[COLUMNS] = {95, 75, 60, 70};
    double before = 0;
    (void) state;
    for (double people = 1e9; people >= 100; people /= 10) {
        fitted_cells cells;
        double value;
        cells_fill(&cells, table, people);
        value = fitted(&cells, rows, columns, &plain, 10);
        assert_true(value >= before);
        assert_true(fitted(&cells, rows, columns, &plain, 20) >= value);
        before = value;
        for (size_t i = 0; i < CELLS; i++) { /* noise */
            cells.low[i] *= 0.9;
            cells.high[i] *= 1.1;
        }
        assert_true(fitted(&cells, rows, columns, &plain, 10) >= value);
        fitted_cells_clear(&cells);
    }
}

/* Values that nobody of the model has are part of the tolerance, and so are margins that no factors
 * meet. */
static void test_values_without_people(void **state)
{
    static const uint64_t rows[ROWS] = {150, 120, 30}, none[ROWS] = {0, 0, 300};
    static const uint64_t columns[COLUMNS] = {100, 80, 60, 60};
    static const double diagonal[CELLS] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1};
    double lacking[CELLS];
    fitted_cells cells;
    (void) state;
    for (size_t i = 0; i < CELLS; i++)
        lacking[i] = i / COLUMNS == 2 ? 0 : table[i];
    cells_fill(&cells, lacking, 1e15);
    assert_true(fitted(&cells, rows, columns, &plain, 1) >= 0.1);
    assert_true(fitted(&cells, rows, columns, &plain, 1) < 0.3);
    assert_true(fitted(&cells, none, columns, &plain, 1) >= 1);
    fitted_cells_clear(&cells);
    cells_fill(&cells, diagonal, 1e15); /* the first row is the first column: 150 are not 100 */
    assert_true(fitted(&cells, rows, columns, &plain, 1) >= 1.0 / 6);
    fitted_cells_clear(&cells);
}

/* ---- samples ------------------------------------------------------------------------ */

static double draw(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (*random >> 11) * 0x1p-53;
}

/* Of 400 samples of the same population none may give less than what is true, although one in a
 * hundred may (the bound is cautious); and of 50,000 people it is of use. */
static void test_samples_of_the_population(void **state)
{
    static const double sizes[] = {300, 3000, 50000};
    double truth = 0, total = 0, most = 0;
    uint64_t random = 5, rows[ROWS] = {0}, columns[COLUMNS] = {0};
    (void) state;
    for (size_t i = 0; i < CELLS; i++) {
        total += table[i];
        rows[i / COLUMNS] += (uint64_t) table[i];
        columns[i % COLUMNS] += (uint64_t) table[i];
    }
    for (size_t i = 0; i < CELLS; i++)
        truth += table[i] / total * few_others(table[i] / total);
    for (int s = 0; s < 400 / CHECK_SHARE; s++) {
        double counts[CELLS] = {0}, size = sizes[s % 3], value;
        fitted_cells cells;
        for (double i = 0; i < size; i++) {
            double u = draw(&random) * total;
            size_t cell = 0;
            while (cell + 1 < CELLS && u >= table[cell])
                u -= table[cell++];
            counts[cell]++;
        }
        cells_fill(&cells, counts, size);
        value = fitted(&cells, rows, columns, &plain, log(3 * CELLS / 0.01));
        assert_true(value >= truth);
        most = size == 50000 ? fmax(most, value) : most;
        fitted_cells_clear(&cells);
    }
    assert_true(most < 2 * truth);
}

/* The people have other margins than the model's, so that how many are in the first cell, which
 * 20,781 of the model's 50,000 people are in, follows from the 824 in the last. Two standard errors
 * more or fewer of these, and the bound holds. */
static void test_other_margins(void **state)
{
    static const size_t two[2] = {2, 2};
    static const double truth[4] = {0.0051, 0.0449, 0.4949, 0.4551};
    static const uint64_t rows[2] = {500, 9500}, columns[2] = {5000, 5000};
    const uint64_t *const counts[] = {rows, columns};
    double expected = 0;
    (void) state;
    for (size_t i = 0; i < 4; i++)
        expected += truth[i] * few_others(truth[i]);
    for (int deviation = -2; deviation <= 2; deviation++) {
        double model[4], sum = 0, value;
        fitted_cells cells;
        for (size_t i = 0; i < 4; i++) { /* factors of rows and columns keep the odds ratio */
            model[i] = truth[i] * (i / 2 == 0 ? 250 : 1) * (i % 2 == 0 ? 9.0 : 1);
            sum += model[i];
        }
        assert_int_equal(fitted_cells_create(two, 2, &cells, NULL), CELLAR_OK);
        for (size_t i = 0; i < 4; i++)
            cells.count[i] = round(model[i] / sum * 50000);
        cells.count[3] += deviation * round(sqrt(cells.count[3]));
        cells.least_people = 0;
        for (size_t i = 0; i < 4; i++)
            cells.least_people += cells.low[i] = cells.high[i] = cells.count[i];
        cells.most_people = cells.least_people;
        assert_int_equal(cellar_exposure_fitted(&cells, counts, &plain, 17, &value, NULL),
                         CELLAR_OK);
        assert_true(value >= expected);
        fitted_cells_clear(&cells);
    }
}

static cellar_status scenario(void *context, cellar_error *err)
{
    static const uint64_t rows[ROWS] = {100, 100, 100}, columns[COLUMNS] = {95, 75, 60, 70};
    const uint64_t *const counts[] = {rows, columns};
    fitted_cells cells;
    double value;
    cellar_status status = fitted_cells_create(n_levels, 2, &cells, err);
    (void) context;
    for (size_t i = 0; status == CELLAR_OK && i < CELLS; i++)
        cells.low[i] = cells.high[i] = cells.count[i] = table[i];
    cells.least_people = cells.most_people = 300;
    if (status == CELLAR_OK)
        status = cellar_exposure_fitted(&cells, counts, &plain, 1, &value, err);
    fitted_cells_clear(&cells);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_cover),
        cmocka_unit_test(test_the_association_is_the_models),
        cmocka_unit_test(test_a_product_is_independence),
        cmocka_unit_test(test_doubt_is_cautious),
        cmocka_unit_test(test_values_without_people),
        cmocka_unit_test(test_samples_of_the_population),
        cmocka_unit_test(test_other_margins),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
