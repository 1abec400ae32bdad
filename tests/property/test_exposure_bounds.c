/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds from single columns: they hold on tables of every shape, are the true minima of Theorems 2
 * and 3, and their slack is needed. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>

#include "adult_counts.h"

enum { MAX_COLUMNS = 8 };

/* A small generator of its own, so that the tables never change. */
static uint64_t random_state;
static uint64_t random_below(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % n;
}

static cellar_exposure_curve *curve_of(const uint64_t *counts, size_t n)
{
    cellar_exposure_curve *curve;
    assert_int_equal(cellar_exposure_curve_from_counts(counts, n, 0, &curve, NULL), CELLAR_OK);
    return curve;
}

static void free_curves(cellar_exposure_curve **curves, size_t n)
{
    for (size_t j = 0; j < n; j++)
        cellar_exposure_curve_free(curves[j]);
}

static void bounds_at(cellar_exposure_curve *const *curves, size_t n, double t,
                      cellar_exposure_bound by_theorem[2])
{
    cellar_exposure_bound bounds[2];
    const cellar_exposure_curve *columns[MAX_COLUMNS];
    for (size_t j = 0; j < n; j++)
        columns[j] = curves[j];
    assert_int_equal(cellar_exposure_bounds(columns, n, t, NULL, bounds, NULL), CELLAR_OK);
    assert_true(bounds[0].value <= bounds[1].value && bounds[1].value <= 1);
    by_theorem[0] = bounds[0].theorem == 2 ? bounds[0] : bounds[1];
    by_theorem[1] = bounds[0].theorem == 2 ? bounds[1] : bounds[0];
}

/* ---- a second algorithm: every choice of steps ------------------------------ */

static double step_share(const cellar_exposure_curve *curve, size_t i)
{
    return (double) cellar_exposure_step_at(curve, i).count / (double) cellar_exposure_total(curve);
}

static double step_below(const cellar_exposure_curve *curve, size_t i)
{
    return (double) cellar_exposure_step_at(curve, i).below / (double) cellar_exposure_total(curve);
}

/* The least sum of weight t over t <= cap with a product of at least `needed`, by trying every set
 * of thresholds that stay at their caps. */
static double least_weighted(const double *weight, const double *cap, size_t n, double needed)
{
    double best = INFINITY;
    for (unsigned capped = 0; capped < 1u << n; capped++) {
        double left = needed, cost = 0, product = 1, t;
        size_t n_free = 0;
        int fits = 1;
        for (size_t j = 0; j < n; j++)
            if (capped >> j & 1) {
                left /= cap[j];
                cost += weight[j] * cap[j];
            } else {
                product *= weight[j];
                n_free++;
            }
        if (n_free == 0) {
            fits = left <= 1 + 1e-14;
        } else {
            double level = pow(left * product, 1 / (double) n_free);
            for (size_t j = 0; j < n; j++)
                if (!(capped >> j & 1)) {
                    t = level / weight[j];
                    fits &= t <= cap[j] * (1 + 1e-14);
                    cost += level;
                }
        }
        if (fits)
            best = fmin(best, cost);
    }
    return best;
}

/* The minimum of a theorem over all its thresholds; `free_column` is j*, or n for Theorem 3. */
static double exhaustive(cellar_exposure_curve *const *curves, size_t n, size_t free_column,
                         double t)
{
    size_t steps[MAX_COLUMNS] = {0};
    double best = 1;
    for (;;) {
        double weight[MAX_COLUMNS + 1], cap[MAX_COLUMNS + 1], needed = t, cost = 0;
        size_t m = 0, j = 0;
        for (size_t c = 0; c < n; c++) {
            cost += step_below(curves[c], steps[c]);
            if (free_column == n || c == free_column) {
                needed /= step_share(curves[c], steps[c]);
            } else {
                weight[m] = cellar_exposure_n_possible(curves[c]);
                cap[m++] = step_share(curves[c], steps[c]);
            }
        }
        if (free_column == n) {
            weight[m] = 1;
            cap[m++] = 1;
        }
        best = fmin(best, cost + least_weighted(weight, cap, m, needed));
        while (j < n && ++steps[j] == cellar_exposure_n_steps(curves[j]))
            steps[j++] = 0;
        if (j == n)
            return best;
    }
}

static void minimum_is_exhaustive(void **state)
{
    (void) state;
    random_state = 1;
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + (size_t) random_below(4);
        cellar_exposure_curve *curves[MAX_COLUMNS];
        double t = pow(10, -(double) random_below(50) / 10);
        cellar_exposure_bound bounds[2];
        double two = 1;
        for (size_t j = 0; j < n; j++) {
            uint64_t counts[9];
            size_t levels = 1 + (size_t) random_below(9);
            unsigned skew = 1 + (unsigned) random_below(4);
            for (size_t v = 0; v < levels; v++) {
                counts[v] = 1 + random_below(30);
                for (unsigned s = 1; s < skew; s++)
                    counts[v] *= 1 + random_below(10);
            }
            curves[j] = round % 5 == 4 && j > 0 ? NULL : curve_of(counts, levels);
            if (curves[j] == NULL) { /* columns alike */
                counts[0] = 7, counts[1] = 7, counts[2] = 90;
                curves[j] = curve_of(counts, 3);
            }
        }
        bounds_at(curves, n, t, bounds);
        for (size_t j = 0; j < n; j++)
            two = fmin(two, exhaustive(curves, n, j, t));
        if (fabs(bounds[0].value - two) > 1e-12)
            fail_msg("round %d: Theorem 2 %.17g, exhaustive %.17g", round, bounds[0].value, two);
        if (fabs(bounds[1].value - exhaustive(curves, n, n, t)) > 1e-12)
            fail_msg("round %d: Theorem 3 %.17g, exhaustive %.17g", round, bounds[1].value,
                     exhaustive(curves, n, n, t));
        assert_true(bounds[0].gap == 0 && bounds[1].gap == 0);
        free_curves(curves, n);
    }
}

/* The thresholds reported give the value reported. */
static double evaluate(cellar_exposure_curve *const *curves, size_t n,
                       const cellar_exposure_bound *bound, double *product)
{
    double value = bound->theorem == 3 ? bound->c : 0;
    *product = bound->theorem == 3 ? bound->c : 1;
    for (size_t j = 0; j < n; j++) {
        double cutoff =
            ceil(bound->thresholds[j] * (double) cellar_exposure_total(curves[j]) * (1 - 1e-14));
        value += cellar_exposure_value(curves[j], (uint64_t) cutoff);
        *product *= bound->thresholds[j];
        if (bound->theorem == 2 && j != bound->free_column)
            value += bound->thresholds[j] * cellar_exposure_n_possible(curves[j]);
    }
    return value;
}

/* ---- tables ----------------------------------------------------------------- */

/* Fills a table of n columns with records of some shape, and answers the columns and the joint. */
static void random_table(unsigned shape, size_t n, const size_t *levels, size_t n_records,
                         cellar_exposure_curve **curves, cellar_exposure_curve **joint)
{
    static uint64_t cells[65536];
    uint64_t margins[MAX_COLUMNS][16] = {{0}};
    size_t n_cells = 1;
    for (size_t j = 0; j < n; j++)
        n_cells *= levels[j];
    memset(cells, 0, sizeof cells);
    for (size_t r = 0; r < n_records; r++) {
        size_t index = 0, first = 0;
        for (size_t j = 0; j < n; j++) {
            size_t v = (size_t) random_below(levels[j]);
            if (shape == 1 && random_below(10) != 0)
                v = 0; /* skewed */
            if (shape == 2 && j > 0)
                v = first % levels[j]; /* dependent */
            if (shape == 3)
                v = (size_t) random_below(v + 1); /* falling */
            if (shape == 4 && j > 0 && random_below(50) != 0)
                v = first % levels[j]; /* nearly dependent */
            first = j == 0 ? v : first;
            index = index * levels[j] + v;
            margins[j][v]++;
        }
        cells[index]++;
    }
    *joint = curve_of(cells, n_cells);
    for (size_t j = 0; j < n; j++)
        curves[j] = curve_of(margins[j], levels[j]);
}

static void bounds_hold(void **state)
{
    (void) state;
    random_state = 2;
    for (unsigned round = 0; round < 300; round++) {
        size_t n = 1 + (size_t) random_below(5), levels[MAX_COLUMNS];
        size_t n_records = 1 + (size_t) random_below(round % 2 ? 50 : 5000);
        cellar_exposure_curve *curves[MAX_COLUMNS], *joint;
        for (size_t j = 0; j < n; j++)
            levels[j] = 1 + (size_t) random_below(8);
        random_table(round % 5, n, levels, n_records, curves, &joint);
        for (uint64_t k = 1; k <= n_records; k = k * 3 / 2 + 1) {
            double t = (double) k / (double) n_records, q = cellar_exposure_value(joint, k),
                   product;
            cellar_exposure_bound bounds[2];
            const cellar_exposure_curve *columns[MAX_COLUMNS];
            memcpy(columns, curves, sizeof columns);
            bounds_at(curves, n, t, bounds);
            for (int i = 0; i < 2; i++) {
                assert_true(q <= bounds[i].value + 1e-12);
                if (bounds[i].value < 1) {
                    assert_true(fabs(evaluate(curves, n, &bounds[i], &product) - bounds[i].value) <
                                1e-11);
                    assert_true(product >= t * (1 - 1e-13));
                } else {
                    assert_true(isnan(bounds[i].thresholds[0]));
                }
            }
            assert_true(cellar_exposure_lower_bound(columns, n, t) <= q + 1e-15);
        }
        free_curves(curves, n);
        cellar_exposure_curve_free(joint);
    }
}

/* The steps cover every k once, lie above the exposure and the bound at each of their thresholds,
 * and above the bound by no more than they say. */
static void check_curve(cellar_exposure_curve *const *curves, size_t n,
                        const cellar_exposure_curve *joint, double tolerance)
{
    const cellar_exposure_curve *columns[MAX_COLUMNS];
    cellar_exposure_bound_curve *curve;
    uint64_t total = cellar_exposure_total(joint), next = 1;
    for (size_t j = 0; j < n; j++)
        columns[j] = curves[j];
    assert_int_equal(cellar_exposure_bound_curve_create(columns, n, NULL, tolerance, &curve, NULL),
                     CELLAR_OK);
    for (size_t i = 0; i < cellar_exposure_bound_curve_n_steps(curve); i++) {
        cellar_exposure_bound_step step = cellar_exposure_bound_curve_step(curve, i);
        assert_true(step.first == next && step.last >= step.first);
        assert_true(step.excess <= tolerance);
        for (uint64_t k = step.first; k <= step.last; k++) {
            cellar_exposure_bound bounds[2];
            double least;
            bounds_at(curves, n, (double) k / (double) total, bounds);
            least = fmin(bounds[0].value, bounds[1].value);
            assert_true(step.value >= least - 1e-12);
            assert_true(step.value <= least + step.excess + 1e-12);
            assert_true(step.value >= cellar_exposure_value(joint, k) - 1e-12);
            assert_true(step.lower <= cellar_exposure_value(joint, k) + 1e-15);
        }
        next = step.last + 1;
    }
    assert_true(next == total + 1);
    cellar_exposure_bound_curve_free(curve);
}

static void curves_of_bounds(void **state)
{
    (void) state;
    random_state = 5;
    for (unsigned round = 0; round < 60; round++) {
        size_t n = 1 + (size_t) random_below(4), levels[MAX_COLUMNS];
        cellar_exposure_curve *curves[MAX_COLUMNS], *joint;
        for (size_t j = 0; j < n; j++)
            levels[j] = 1 + (size_t) random_below(6);
        random_table(round % 5, n, levels, 1 + (size_t) random_below(400), curves, &joint);
        check_curve(curves, n, joint, round % 3 == 0 ? 0 : round % 3 == 1 ? 0.01 : 0.2);
        free_curves(curves, n);
        cellar_exposure_curve_free(joint);
    }
}

static void curves_refused(void **state)
{
    const uint64_t counts[] = {1, 2, 3};
    cellar_exposure_curve *curves[] = {curve_of(counts, 3), curve_of(counts, 2)};
    const cellar_exposure_curve *columns[] = {curves[0], curves[1]};
    cellar_exposure_bound_curve *curve;
    (void) state;
    assert_int_equal(cellar_exposure_bound_curve_create(columns, 2, NULL, 0.1, &curve, NULL),
                     CELLAR_ERR_ARGUMENT); /* not the same people */
    assert_int_equal(cellar_exposure_bound_curve_create(columns, 1, NULL, -1, &curve, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_exposure_bound_curve_create(columns, 0, NULL, 0.1, &curve, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_null(curve);
    free_curves(curves, 2);
}

static void adult_bounds(void **state)
{
    const struct {
        double t, want;
    } cases[] = {{1e-4, 0.196214}, {1e-3, 0.469779}, {1e-2, 0.659520}, {1e-1, 1}};
    cellar_exposure_curve *curves[] = {curve_of(adult_sex, ADULT_COUNT(adult_sex)),
                                       curve_of(adult_income, ADULT_COUNT(adult_income)),
                                       curve_of(adult_race, ADULT_COUNT(adult_race)),
                                       curve_of(adult_workclass, ADULT_COUNT(adult_workclass))};
    (void) state;
    for (size_t i = 0; i < 4; i++) {
        cellar_exposure_bound bounds[2];
        bounds_at(curves, 4, cases[i].t, bounds);
        assert_true(fabs(fmin(bounds[0].value, bounds[1].value) - cases[i].want) < 5e-7);
    }
    free_curves(curves, 4);
}

/* The matrix of section 6.2, n + 1 people: the columns alone expose nobody at n / (2(n + 1)), and
 * one person is unique. However much smaller c makes the joint threshold, a large n has that person
 * below it: the columns' exposures alone bound nothing. The bounds with their slack do. */
static void slack_is_needed(void **state)
{
    (void) state;
    for (unsigned inverse_c = 1; inverse_c <= 1000; inverse_c *= 10) {
        const uint64_t n = UINT64_C(10) * inverse_c;
        const uint64_t column[] = {n / 2, n / 2 + 1}, joint[] = {n / 2, 1, n / 2};
        double share = (double) (n / 2) / (double) (n + 1), t = share * share / inverse_c;
        uint64_t below = (uint64_t) ceil(t * (double) (n + 1)); /* counts below are exposed */
        cellar_exposure_curve *curve = curve_of(joint, 3);
        cellar_exposure_curve *curves[] = {curve_of(column, 2), curve_of(column, 2)};
        cellar_exposure_bound bounds[2];
        assert_true(cellar_exposure_value(curves[0], n / 2) == 0);
        assert_int_equal(cellar_exposure_below(curve, below), 1);
        bounds_at(curves, 2, t, bounds);
        for (int theorem = 0; theorem < 2; theorem++)
            assert_true(bounds[theorem].value >= 1 / ((double) n + 1));
        cellar_exposure_curve_free(curve);
        free_curves(curves, 2);
    }
}

/* Theorem 4's construction: 3/c rows in each of 2^k groups, one per binary word, and k rows of
 * different groups that lose one letter each. For c < 1 the joint exposure is the sum of the
 * columns' exposures, which is what a bound without slack would allow; for c = 1 the groups that
 * lost a row are below the threshold too, and it is three times the sum. */
static void theorem_4_is_an_equality(void **state)
{
    (void) state;
    for (unsigned inverse_c = 1; inverse_c <= 4; inverse_c++)
        for (unsigned k = 2; k <= 8; k++) {
            const uint64_t a = 3 * (uint64_t) inverse_c, rows = a << k, half = rows / 2;
            const uint64_t column[] = {half, half - 1, 1};
            double t = pow((double) (half - 1) / (double) rows, k) / inverse_c;
            uint64_t joint[256 + 8], below = (uint64_t) ceil(t * (double) rows);
            cellar_exposure_curve *curve, *single = curve_of(column, 3);
            for (size_t i = 0; i < (size_t) 1 << k; i++)
                joint[i] = i < k ? a - 1 : a;
            for (size_t j = 0; j < k; j++)
                joint[((size_t) 1 << k) + j] = 1;
            curve = curve_of(joint, ((size_t) 1 << k) + k);
            assert_true(t >= 2.0 / (double) rows);
            assert_int_equal(cellar_exposure_below(single, half - 1), 1);
            assert_int_equal(cellar_exposure_below(curve, below), inverse_c == 1 ? 3 * k : k);
            cellar_exposure_curve_free(curve);
            cellar_exposure_curve_free(single);
        }
}

/* Shares that fall like 1/v, after a first one that is `top` times as large: Q is then nearly
 * linear in ln t, the hardest case for the search, for all choices are nearly alike. */
static cellar_exposure_curve *falling_column(size_t levels, uint64_t top)
{
    uint64_t *counts = malloc(levels * sizeof *counts);
    cellar_exposure_curve *curve;
    for (size_t v = 0; v < levels; v++)
        counts[v] = UINT64_C(1000000000) * (v == 0 ? top : 1) / (v + 1) * (10 + random_below(3));
    curve = curve_of(counts, levels);
    free(counts);
    return curve;
}

/* Supports of 10^5 values, eight columns: exact, and in seconds. */
static void large_supports(void **state)
{
    const double thresholds[] = {1e-8, 1e-30};
    cellar_exposure_curve *curves[MAX_COLUMNS];
    (void) state;
    random_state = 3;
    for (size_t j = 0; j < MAX_COLUMNS; j++)
        curves[j] = falling_column(100000, 1000);
    for (size_t i = 0; i < 2; i++) {
        cellar_exposure_bound bounds[2];
        bounds_at(curves, MAX_COLUMNS, thresholds[i], bounds);
        assert_true(bounds[0].gap == 0 && bounds[1].gap == 0);
        assert_true(bounds[1].value > 0.05 && bounds[1].value < 0.1);
    }
    free_curves(curves, MAX_COLUMNS);
}

/* A search that is cut short still gives a bound, and says how far off it may be. */
static void cut_short(void **state)
{
    cellar_exposure_curve *curves[MAX_COLUMNS];
    const cellar_exposure_curve *columns[MAX_COLUMNS];
    const cellar_exposure_bound_options little = {.max_nodes = 1}, much = {.max_nodes = 1000000};
    cellar_exposure_bound few[2], all[2];
    int seen = 0;
    (void) state;
    random_state = 4;
    for (size_t j = 0; j < MAX_COLUMNS; j++)
        columns[j] = curves[j] = falling_column(200, 100);
    for (int power = 4; power <= 30; power++) {
        double t = pow(10, -power);
        assert_int_equal(cellar_exposure_bounds(columns, 8, t, &little, few, NULL), CELLAR_OK);
        assert_int_equal(cellar_exposure_bounds(columns, 8, t, &much, all, NULL), CELLAR_OK);
        assert_true(all[0].gap == 0 && few[0].theorem == 3 && all[0].theorem == 3);
        assert_true(few[0].value >= all[0].value - 1e-12);
        assert_true(few[0].value - few[0].gap <= all[0].value + 1e-12);
        seen += few[0].gap > 0;
    }
    assert_true(seen > 5);
    free_curves(curves, MAX_COLUMNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum_is_exhaustive),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(adult_bounds),
        cmocka_unit_test(slack_is_needed),
        cmocka_unit_test(theorem_4_is_an_equality),
        cmocka_unit_test(large_supports),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(curves_of_bounds),
        cmocka_unit_test(curves_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
