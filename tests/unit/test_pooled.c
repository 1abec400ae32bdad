/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals from inner cells and margins together: the estimate against dense equations, the
 * coverage by simulation. */
#include "check.h"

#include <math.h>

#include <cellar/interval.h>

#include "adjustment_samples.h"
#include "fail_every.h"
#include "inference/noisy.h"

enum { ROWS = 3, COLUMNS = 4, CELLS = ROWS * COLUMNS, VALUES = CELLS + ROWS + COLUMNS + 1 };

static const small_table with_margins = {.n_variables = 2,
                                         .sizes = {ROWS, COLUMNS},
                                         .domain = CELLAR_DOMAIN_DECLARED,
                                         .margins.all = 1,
                                         .n_cells = 8,
                                         .index = {0, 1, 2, 4, 6, 7, 9, 11},
                                         .count = {40, 7, 120, 3, 1, 900, 15, 60}};

static const double first_row_truth = 40 + 7 + 120;

static cellar_interval pooled(const cellar_release *release, const char *of, const char *minus)
{
    cellar_interval_options options = cellar_interval_options_default();
    cellar_interval found;
    cellar_error err;
    if (cellar_interval_pooled(release, of, minus, &options, &found, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return found;
}

/* ---- a second algorithm: all equations written out ---------------------------------------- */

/* Row by row what each released value sums, and the value. */
static void write_out(const cellar_release *release, double a[VALUES][CELLS], double y[VALUES])
{
    const cellar_schema *schema = cellar_release_schema(release);
    size_t n = 0;
    for (uint32_t i = 0; i <= ROWS; i++)
        for (uint32_t j = 0; j <= COLUMNS; j++, n++) {
            const uint32_t categories[] = {i, j};
            uint64_t index = cellar_schema_index(schema, categories);
            y[n] = (double) cellar_release_at(release, index).released;
            for (uint32_t cell = 0; cell < CELLS; cell++)
                a[n][cell] =
                    (i == ROWS || cell / COLUMNS == i) && (j == COLUMNS || cell % COLUMNS == j);
        }
}

/* Solves (A'A) x = right by elimination. */
static void solve(double a[VALUES][CELLS], const double *right, double *x)
{
    double m[CELLS][CELLS + 1] = {{0}};
    for (int i = 0; i < CELLS; i++) {
        for (int j = 0; j < CELLS; j++)
            for (int k = 0; k < VALUES; k++)
                m[i][j] += a[k][i] * a[k][j];
        m[i][CELLS] = right[i];
    }
    for (int p = 0; p < CELLS; p++)
        for (int i = 0; i < CELLS; i++) {
            double factor = i == p ? 0 : m[i][p] / m[p][p];
            for (int j = p; j <= CELLS && i != p; j++)
                m[i][j] -= factor * m[p][j];
        }
    for (int i = 0; i < CELLS; i++)
        x[i] = m[i][CELLS] / m[i][i];
}

/* The first row less the second one, or the first row alone. */
static void check_equations(const char *minus, double second)
{
    cellar_release *release = sample_release(&with_margins, "discrete-gaussian:sigma=20", 7);
    cellar_interval found = pooled(release, "x=c0", minus);
    double a[VALUES][CELLS], y[VALUES], wanted[CELLS] = {0}, x[CELLS], estimate = 0, variance = 0;
    write_out(release, a, y);
    for (int j = 0; j < COLUMNS; j++) {
        wanted[j] = 1;
        wanted[COLUMNS + j] = second;
    }
    solve(a, wanted, x);
    for (int k = 0; k < VALUES; k++) {
        double weight = 0;
        for (int i = 0; i < CELLS; i++)
            weight += a[k][i] * x[i];
        estimate += weight * y[k];
        variance += weight * weight * 400;
    }
    assert_true(fabs(found.estimate - estimate) < 1e-6);
    /* Normal noise: 1.96 standard deviations, at most 3 % too wide, and whole numbers. */
    assert_true(fabs((found.high - found.low) / 2 - 1.96 * sqrt(variance)) <
                0.035 * sqrt(variance) + 1);
    cellar_release_free(release);
}

static void it_is_generalised_least_squares(void **state)
{
    (void) state;
    check_equations(NULL, 0);
    check_equations("x=c1", -1);
}

/* ---- coverage --------------------------------------------------------------------------- */

/* 1,000 releases, intervals of 95 %: an interval that covers less often than 95 % is covering 927
 * times or fewer with a chance of 1e-3 at most; the interval must be narrower than that of the
 * row's own margin, whose noise alone has a standard deviation of 7. */
static void it_covers(void **state)
{
    int n_covered = 0;
    double width = 0;
    (void) state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        cellar_release *release =
            sample_release(&with_margins, "discrete-laplace:epsilon=0.2", seed);
        cellar_interval found = pooled(release, "x=c0", NULL);
        n_covered += found.low <= first_row_truth && first_row_truth <= found.high;
        width += (found.high - found.low) / 2 / 1000;
        cellar_release_free(release);
    }
    assert_true(n_covered > 927 && n_covered < 975);
    assert_true(width < 2.1 * 7); /* one value: -ln(0.05) / 0.2 = 15 */
}

/* ---- several releases ---------------------------------------------------------------------- */

static const small_table rows_alone = {.n_variables = 1,
                                       .sizes = {ROWS},
                                       .domain = CELLAR_DOMAIN_DECLARED,
                                       .n_cells = ROWS,
                                       .index = {0, 1, 2},
                                       .count = {40 + 7 + 120, 3 + 1 + 900, 15 + 60}};

/* Inner cells with one noise and a margin with another: the sum of four cells of variance v and a
 * value of variance u are averaged with weights 1/(4v) and 1/u. 100 pairs: of 95 % intervals fewer
 * than 84 cover with a chance below 1e-4. */
static void releases_are_pooled(void **state)
{
    small_table inner = with_margins;
    int n_covered = 0;
    (void) state;
    inner.margins.all = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        cellar_release *releases[] = {
            sample_release(&inner, "discrete-laplace:epsilon=0.3", seed),
            sample_release(&rows_alone, "discrete-gaussian:sigma=8", 1000 + seed)};
        cellar_interval_options options = cellar_interval_options_default();
        const double a = exp(-0.3), v = 2 * a / ((1 - a) * (1 - a)), u = 64;
        const double share = u / (4 * v + u); /* of the sum of cells */
        double sum = 0;
        cellar_interval found;
        assert_int_equal(cellar_interval_fitted((const cellar_release *const *) releases, 2, "x=c0",
                                                NULL, &options, &found, NULL),
                         CELLAR_OK);
        for (uint64_t cell = 0; cell < COLUMNS; cell++)
            sum += (double) cellar_release_at(releases[0], cell).released;
        assert_true(fabs(found.estimate - share * sum -
                         (1 - share) * (double) cellar_release_at(releases[1], 0).released) < 1e-4);
        assert_true(fabs((found.high - found.low) / 2 - 1.96 * sqrt(share * 4 * v)) < 2.5);
        n_covered += found.low <= first_row_truth && first_row_truth <= found.high;
        for (int r = 0; r < 2; r++)
            cellar_release_free(releases[r]);
    }
    assert_true(n_covered >= 84);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* 4,000 draws: variances and covariances of errors are those of the fit, within five standard
 * errors (a covariance of 4,000 normal pairs has one of sd^2/63 at most). */
static void errors_are_those_of_the_fit(void **state)
{
    enum { DRAWS = 4000 };
    cellar_release *release = sample_release(&with_margins, "discrete-laplace:epsilon=0.2", 5);
    const cellar_release *const releases[] = {release};
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_adjustment *fit;
    cellar_noisy *noisy;
    cellar_simulator simulator;
    double sum[CELLS][CELLS] = {{0}};
    (void) state;
    assert_int_equal(cellar_noisy_pooled_from_release(release, NULL, 0, &noisy, NULL), CELLAR_OK);
    assert_int_equal(cellar_adjustment_create(releases, 1, &options, &fit, NULL), CELLAR_OK);
    assert_int_equal(cellar_simulator_init(&simulator, 1, 0, NULL), CELLAR_OK);
    for (int draw = 0; draw < DRAWS; draw++) {
        double errors[CELLS];
        assert_int_equal(cellar_pooled_noise_draw(noisy->pooled, &simulator, errors, NULL),
                         CELLAR_OK);
        for (int i = 0; i < CELLS; i++)
            for (int j = 0; j < CELLS; j++)
                sum[i][j] += errors[i] * errors[j] / DRAWS;
    }
    for (uint32_t i = 0; i < CELLS; i++)
        for (uint32_t j = 0; j < CELLS; j++) {
            const uint32_t a[] = {i / COLUMNS, i % COLUMNS}, b[] = {j / COLUMNS, j % COLUMNS};
            const cellar_schema *schema = cellar_adjustment_schema(fit);
            double wanted, variance;
            assert_int_equal(cellar_adjustment_covariance(fit, cellar_schema_index(schema, a),
                                                          cellar_schema_index(schema, b), &wanted,
                                                          NULL),
                             CELLAR_OK);
            assert_int_equal(cellar_adjustment_covariance(fit, cellar_schema_index(schema, a),
                                                          cellar_schema_index(schema, a), &variance,
                                                          NULL),
                             CELLAR_OK);
            assert_true(fabs(sum[i][j] - wanted) < (i == j ? 10 : 5) * variance / 63);
        }
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint32_t categories[] = {i / COLUMNS, i % COLUMNS};
        const uint64_t index = cellar_schema_index(cellar_adjustment_schema(fit), categories);
        assert_true(fabs(cellar_adjustment_estimate(fit, index) -
                         (double) cellar_noisy_released(noisy, i)) < 0.5 + 1e-6);
    }
    cellar_simulator_clear(&simulator);
    cellar_noisy_free(noisy);
    cellar_adjustment_free(fit);
    cellar_release_free(release);
}

/* 120 independent tables: 6 are rejected at 5 % on average, more than 18 with a chance below 1e-4.
 */
static void the_level_is_kept(void **state)
{
    int n_rejected = 0;
    cellar_simulator simulator;
    (void) state;
    assert_int_equal(cellar_simulator_init(&simulator, 3, 0, NULL), CELLAR_OK);
    for (uint64_t seed = 1; seed <= 120; seed++) {
        small_table drawn = with_margins;
        cellar_test_options options = cellar_test_options_default();
        cellar_loglinear *test;
        cellar_release *release;
        cellar_noisy *noisy;
        drawn.n_cells = CELLS;
        for (uint64_t i = 0; i < CELLS; i++) {
            const uint64_t row = i / COLUMNS, column = i % COLUMNS;
            const double mean = 20 * (1 + (double) row) * (1 + 0.5 * (double) column);
            drawn.index[i] = i;
            drawn.count[i] = (uint64_t) cellar_simulate_poisson(&simulator, mean);
        }
        release = sample_release(&drawn, "discrete-laplace:epsilon=0.3", seed);
        assert_int_equal(cellar_noisy_pooled_from_release(release, NULL, 0, &noisy, NULL),
                         CELLAR_OK);
        options.reference = CELLAR_REFERENCE_BOOTSTRAP;
        options.n_replicates = 39;
        options.seed = seed;
        options.n_threads = 1;
        assert_int_equal(cellar_loglinear_create(noisy, "x + y", NULL, &options, &test, NULL),
                         CELLAR_OK);
        n_rejected += cellar_loglinear_aware(test).p_value <= 0.05;
        cellar_loglinear_free(test);
        cellar_noisy_free(noisy);
        cellar_release_free(release);
    }
    cellar_simulator_clear(&simulator);
    assert_true(n_rejected >= 1 && n_rejected <= 18);
}

static void it_refuses(void **state)
{
    cellar_interval_options options = cellar_interval_options_default();
    small_table plain = with_margins;
    cellar_release *release = sample_release(&with_margins, "laplace:epsilon=1", 1);
    cellar_interval found;
    (void) state;
    assert_int_equal(cellar_interval_pooled(release, "x=c0", NULL, &options, &found, NULL),
                     CELLAR_ERR_RULE);
    cellar_release_free(release);
    assert_int_equal(sample_draw(&with_margins, "discrete-laplace:epsilon=1", 1,
                                 CELLAR_NEGATIVES_ZERO, &release, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_interval_pooled(release, "x=c0", NULL, &options, &found, NULL),
                     CELLAR_ERR_RULE);
    cellar_release_free(release);
    plain.margins.all = 0;
    release = sample_release(&plain, "discrete-laplace:epsilon=1", 1);
    assert_int_equal(cellar_interval_pooled(release, "x=c0", NULL, &options, &found, NULL),
                     CELLAR_ERR_RULE);
    cellar_release_free(release);
    release = sample_release(&with_margins, "discrete-laplace:epsilon=1", 1);
    assert_int_equal(cellar_interval_pooled(release, "x=none", NULL, &options, &found, NULL),
                     CELLAR_ERR_ARGUMENT);
    options.confidence = 1;
    assert_int_equal(cellar_interval_pooled(release, "x=c0", NULL, &options, &found, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_release_free(release);
}

static cellar_status pool_once(void *context, cellar_error *err)
{
    cellar_interval_options options = cellar_interval_options_default();
    cellar_interval found;
    return cellar_interval_pooled(context, "x=c0", "x=c1", &options, &found, err);
}

static cellar_status pool_table_once(void *context, cellar_error *err)
{
    cellar_noisy *noisy;
    const cellar_status status = cellar_noisy_pooled_from_release(context, NULL, 0, &noisy, err);
    cellar_noisy_free(noisy);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    cellar_release *release = sample_release(&with_margins, "discrete-laplace:epsilon=1", 1);
    (void) state;
    check_fail_every(pool_once, release);
    check_fail_every(pool_table_once, release);
    cellar_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_generalised_least_squares),
        cmocka_unit_test(it_covers),
        cmocka_unit_test(releases_are_pooled),
        cmocka_unit_test(errors_are_those_of_the_fit),
        cmocka_unit_test(the_level_is_kept),
        cmocka_unit_test(it_refuses),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
