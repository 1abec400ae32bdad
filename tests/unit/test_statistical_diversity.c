/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistical diversity and closeness: against simulated people, and bands against the truth. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/anonymity.h>
#include <cellar/table_file.h>

#include "fail_every.h"

enum {
    N_GROUPS = 4,
    N_VALUES = 3,
    N_DATABASES = 2000 / CHECK_SHARE,
    N_SAMPLES = 200 / CHECK_SHARE
};

/* Shares of groups and sensitive values, in 1/400. */
static const int truth[N_GROUPS][N_VALUES] = {{100, 60, 40}, {80, 19, 1}, {30, 30, 20}, {18, 1, 1}};

static uint64_t random_state = 11;

static double draw(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (random_state >> 11) * 0x1p-53;
}

/* Poisson, by products of uniform numbers; the mean is small enough. */
static int draw_poisson(double mean)
{
    double product = draw(), limit = exp(-mean);
    int n = 0;
    for (; product > limit; n++)
        product *= draw();
    return n;
}

static void draw_people(int n, int counts[N_GROUPS][N_VALUES])
{
    memset(counts, 0, sizeof(int[N_GROUPS][N_VALUES]));
    for (int i = 0; i < n; i++) {
        int u = (int) (draw() * 400), g = 0, y = 0;
        while (u >= truth[g][y]) {
            u -= truth[g][y];
            g += y + 1 == N_VALUES;
            y = (y + 1) % N_VALUES;
        }
        counts[g][y]++;
    }
}

static cellar_table *table_of(const int *counts)
{
    char csv[512] = "g,y,count\n";
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};
    cellar_table *table;
    cellar_error err = {""};
    for (int g = 0; g < N_GROUPS; g++)
        for (int y = 0; y < N_VALUES; y++)
            snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "g%d,y%d,%d\n", g, y,
                     counts[g * N_VALUES + y]);
    if (cellar_table_parse("table", csv, strlen(csv), &options, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static cellar_diversity estimate(const int *counts, uint64_t population, uint64_t l, double t,
                                 double delta)
{
    const size_t qid = 0;
    const cellar_diversity_options options = {population, l, t, delta};
    cellar_table *table = table_of(counts);
    cellar_diversity found;
    cellar_error err = {""};
    if (cellar_diversity_estimate(table, &qid, 1, 1, &options, &found, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_table_free(table);
    return found;
}

/* Somebody among others, as many as chance says: is the group diverse? 5 standard errors: false
 * alarms below 1e-6 each. */
static void test_simulated_people(void **state)
{
    static const int populations[] = {1, 20, 150};
    (void) state;
    for (size_t p = 0; p < 3; p++)
        for (uint64_t l = 1; l <= 4; l++) {
            cellar_diversity found =
                estimate(&truth[0][0], (uint64_t) populations[p], l, (double) NAN, (double) NAN);
            double n = 0, error;
            for (int i = 0; i < N_DATABASES; i++) {
                int others[N_GROUPS][N_VALUES], own[N_GROUPS][N_VALUES], g = 0;
                uint64_t distinct = 0;
                draw_people(1, own);
                draw_people(draw_poisson(populations[p] - 1), others);
                while (own[g][0] + own[g][1] + own[g][2] == 0)
                    g++;
                for (int y = 0; y < N_VALUES; y++)
                    distinct += own[g][y] + others[g][y] > 0;
                n += distinct < l;
            }
            error = sqrt(fmax(found.below_l.value * (1 - found.below_l.value), 1e-4) / N_DATABASES);
            assert_true(fabs(n / N_DATABASES - found.below_l.value) <= 5 * error);
            assert_true(isnan(found.beyond_t.value));
            if (l == 1)
                assert_float_equal(found.below_l.value, 0, 0);
            if (l == 4)
                assert_float_equal(found.below_l.value, 1, 1e-12);
        }
}

/* Total variation distances worked out by hand: the whole is (228, 110, 62)/400. */
static void test_closeness(void **state)
{
    static const double limits[] = {0, 0.1, 0.2, 0.25, 0.4};
    (void) state;
    for (size_t i = 0; i < 5; i++) {
        cellar_diversity found = estimate(&truth[0][0], 10, 2, limits[i], (double) NAN);
        double expected = 0;
        for (int g = 0; g < N_GROUPS; g++) {
            static const double whole[] = {228, 110, 62};
            double size = truth[g][0] + truth[g][1] + truth[g][2], distance = 0;
            for (int y = 0; y < N_VALUES; y++)
                distance += fabs(truth[g][y] / size - whole[y] / 400) / 2;
            expected += distance > limits[i] ? size / 400 : 0;
        }
        assert_float_equal(found.beyond_t.value, expected, 1e-12);
    }
}

/* Samples of 20,000: the bands hold the truth, are in order, and say something. With a delta of 0.1
 * a fifth of the samples may miss; the intervals are generous, and none should. */
static void test_bands(void **state)
{
    const cellar_diversity true_one = estimate(&truth[0][0], 150, 3, 0.2, (double) NAN);
    int misses = 0;
    (void) state;
    for (int i = 0; i < N_SAMPLES; i++) {
        int sample[N_GROUPS][N_VALUES];
        cellar_diversity found;
        draw_people(20000, sample);
        found = estimate(&sample[0][0], 150, 3, 0.2, 0.1);
        assert_true(found.below_l.lower <= found.below_l.value);
        assert_true(found.below_l.value <= found.below_l.upper);
        assert_true(found.below_l.upper - found.below_l.lower < 0.2);
        misses += found.below_l.lower > true_one.below_l.value ||
                  found.below_l.upper < true_one.below_l.value ||
                  found.beyond_t.lower > true_one.beyond_t.value ||
                  found.beyond_t.upper < true_one.beyond_t.value;
    }
    assert_true(misses <= N_SAMPLES / 5);
    assert_float_equal(true_one.below_l.lower, 0, 0); /* no delta: nothing is known of the error */
    assert_float_equal(true_one.below_l.upper, 1, 0);
}

static void test_arguments(void **state)
{
    const size_t qid = 0;
    const cellar_diversity_options wrong[] = {{0, 2, (double) NAN, (double) NAN},
                                              {10, 0, (double) NAN, (double) NAN},
                                              {10, 1001, (double) NAN, (double) NAN},
                                              {10, 2, 1.5, (double) NAN},
                                              {10, 2, (double) NAN, 0},
                                              {10, 2, (double) NAN, 1}};
    cellar_table *table = table_of(&truth[0][0]);
    cellar_diversity found;
    (void) state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cellar_diversity_estimate(table, &qid, 1, 1, &wrong[i], &found, NULL),
                         CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
}

static cellar_status scenario(void *context, cellar_error *err)
{
    const size_t qid = 0;
    const cellar_diversity_options options = {10, 2, 0.1, 0.1};
    cellar_diversity found;
    return cellar_diversity_estimate(context, &qid, 1, 1, &options, &found, err);
}

static void test_fail_every(void **state)
{
    cellar_table *table = table_of(&truth[0][0]);
    (void) state;
    check_fail_every(scenario, table);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated_people),
        cmocka_unit_test(test_closeness),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
