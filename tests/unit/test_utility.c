/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Utility: published figures, expectations by enumeration, copies against expectations. */
#include "utility_check.h"

#include <stdio.h>

#include "table/table.h"

/* ---- published figures -------------------------------------------------------------------- */

static void rinott_figures(void **state)
{
    cellar_table *table = table_of_rinott();
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    cellar_association a;
    double alpha = exp(-1), c = 1 + 2 * alpha / (1 - alpha);
    (void) state;

    options.copies = 0;
    u = assess(table, "discrete-laplace:epsilon=1", &options);
    a = cellar_utility_original(u);
    assert_near(a.total, 5784, 0);
    assert_near(a.chi_square, 3839.04677, 1e-8); /* errata 15 */
    assert_near(a.g_square, 3228.517389, 1e-9);
    assert_near(a.df, 110, 0);
    assert_near(a.cramers_v, 0.257631, 1e-6);
    assert_int_equal(cellar_utility_n_cells(u), 132);
    assert_int_equal(cellar_utility_n_copies(u), 0);
    /* errata 17: the printed expectation lacks a factor 2 */
    assert_near(find(u, "absolute_difference", NULL, 3, -1)->expected, 0.850918, 1e-6);
    assert_near(find(u, "absolute_difference", NULL, -1, -1)->expected,
                2 * alpha / (c * (1 - alpha) * (1 - alpha)), 1e-14);
    assert_true(isnan(find(u, "l1", NULL, -1, -1)->mean));
    assert_true(find(u, "total_difference", NULL, -1, -1)->expected == 0);
    cellar_utility_free(u);
    cellar_table_free(table);
}

/* Table 2: P(|b - a| <= r) with negatives set to zero, in percent. */
static void rinott_percentages(void **state)
{
    cellar_table *table = table_of("a,count\nx,1\n");
    cellar_utility_options options = cellar_utility_options_default();
    (void) state;

    options.copies = 0;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    for (size_t i = 0; i < sizeof rinott_table_2 / sizeof *rinott_table_2; i++) {
        cellar_utility *u = assess(table, rinott_table_2[i].spec, &options);
        for (int count = 0; count < 6; count++)
            for (int r = 0; r < 5; r++)
                assert_int_equal(lround(100 * find(u, "within", NULL, count, r)->expected),
                                 rinott_table_2[i].percent[count][r]);
        cellar_utility_free(u);
    }
    cellar_table_free(table);
}

/* Section 5.6.2: the same delta for both, up to the rounding of the paper. */
static void equal_delta(void **state)
{
    static const struct {
        const char *spec, *delta, *want; /* NULL: refused */
    } cases[] = {
        {"truncated-laplace:epsilon=1.5", "2.45e-5", "truncated-laplace:epsilon=1.5,m=7"},
        {"truncated-normal:epsilon=1.5", "2.45e-5", "truncated-normal:epsilon=1.5,m=12"},
        {"truncated-laplace:epsilon=0.5", "0.00824", "truncated-laplace:epsilon=0.5,m=7"},
        {"truncated-normal:epsilon=0.5", "0.00824", "truncated-normal:epsilon=0.5,m=10"},
        {"truncated-normal:epsilon=3", "0.9", "truncated-normal:epsilon=3,m=1"},
        {"gaussian:epsilon=1", "1e-6", "gaussian:epsilon=1,delta=1e-6"},
        {"laplace:epsilon=1", "1e-6", "laplace:epsilon=1"},
        {"poisson:alpha=1", "1e-6", NULL},
        {"identity", "1e-6", NULL},
        {"truncated-laplace:epsilon=1,m=3", "1e-6", NULL},
        {"laplace:epsilon=1", "0", NULL},
        {"laplace:epsilon=1", "1", NULL},
        {"laplace:epsilon=1", "x", NULL},
    };
    char out[128];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_error err = {""};
        cellar_status status =
            cellar_utility_equal_delta(cases[i].spec, cases[i].delta, out, sizeof out, &err);
        if (cases[i].want == NULL) {
            assert_int_equal(status, CELLAR_ERR_ARGUMENT);
            assert_true(err.message[0] != '\0');
        } else {
            assert_int_equal(status, CELLAR_OK);
            assert_string_equal(out, cases[i].want);
        }
    }
    assert_int_equal(cellar_utility_equal_delta("laplace:epsilon=1", "0.1", out, 5, NULL),
                     CELLAR_ERR_ARGUMENT);
}

/* ---- enumeration ---------------------------------------------------------------------------- */

enum { N_CELLS = 9 }; /* a 2x2 table with margins: 4 cells, 2 + 2 sums, the total */

/* The noisy table of one outcome, three digits a cell; answers its probability. */
static double outcome(int number, const double q[3], int clamp, const int64_t *counts, int64_t *b)
{
    double p = 1;
    for (int i = 0; i < N_CELLS; i++, number /= 3) {
        b[i] = counts[i] + number % 3 - 1;
        if (clamp && b[i] < 0)
            b[i] = 0;
        p *= q[number % 3];
    }
    return p;
}

/* A chance of about 1e-17 is neither lost nor negative: P(b <= 0) is not 1 - P(b > 0). */
static void small_chances_are_not_negative(void **state)
{
    cellar_table *table = table_of("a,count\nx,20\ny,30\nz,40\n");
    cellar_utility_options options = cellar_utility_options_default();
    (void) state;

    options.copies = 0;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    for (int k = 1; k <= 3; k++) {
        char spec[64];
        cellar_utility *u;
        double got;
        snprintf(spec, sizeof spec, "discrete-laplace:epsilon=%d", k);
        u = assess(table, spec, &options);
        got = find(u, "positives_turned_zero", NULL, -1, -1)->expected;
        assert_true(got >= 0);
        assert_true(got < (k == 1 ? 1e-8 : 1e-16)); /* P(noise <= -20) and so on */
        cellar_utility_free(u);
    }
    cellar_table_free(table);
}

static double root_gap(int64_t a, int64_t b)
{
    return fabs(sqrt((double) a) - sqrt(b > 0 ? (double) b : 0));
}

/* Exact expectations against the sum over all 3^9 outcomes. Indices: rows, columns, totals last. */
static void check_enumeration(int clamp)
{
    const int64_t a[N_CELLS] = {0, 3, 3, 1, 1, 2, 1, 4, 5};
    const double e = exp(-0.7), q[3] = {e / (1 + 2 * e), 1 / (1 + 2 * e), e / (1 + 2 * e)};
    const int interior[4] = {0, 1, 3, 4};
    double l1 = 0, l2 = 0, l3 = 0, h2 = 0, zero = 0, positive = 0, rows = 0, gaps = 0, total = 0;
    cellar_table *table = with_margins(table_of("r,c,count\nx,u,0\nx,v,3\ny,u,1\ny,v,1\n"));
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;

    for (int number = 0; number < 19683; number++) {
        int64_t b[N_CELLS], sums[N_CELLS];
        double p = outcome(number, q, clamp, a, b), square = 0;
        for (int k = 0; k < 4; k++) {
            int i = interior[k];
            double away = (double) (b[i] - a[i]);
            l1 += p * fabs(away);
            l2 += p * away * away;
            l3 += p * root_gap(a[i], b[i]);
            h2 += p * root_gap(a[i], b[i]) * root_gap(a[i], b[i]);
            total += p * away;
            zero += p * (a[i] == 0 && b[i] > 0);
            positive += p * (a[i] > 0 && b[i] <= 0);
        }
        sums[2] = b[0] + b[1];
        sums[5] = b[3] + b[4];
        sums[6] = b[0] + b[3];
        sums[7] = b[1] + b[4];
        sums[8] = sums[2] + sums[5];
        for (int k = 0; k < N_CELLS; k++)
            if (k == 2 || k >= 5)
                square += (double) ((b[k] - sums[k]) * (b[k] - sums[k]));
        gaps += p * square / 5;
        rows += p * (double) ((sums[2] - 3) * (sums[2] - 3) + (sums[5] - 2) * (sums[5] - 2)) / 2;
    }
    options.copies = 0;
    options.negatives = clamp ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    u = assess(table, "truncated-laplace:epsilon=0.7,m=1", &options);
    assert_near(find(u, "l1", NULL, -1, -1)->expected, l1, 1e-12);
    assert_near(find(u, "l2", NULL, -1, -1)->expected, l2, 1e-12);
    assert_near(find(u, "l3", NULL, -1, -1)->expected, l3, 1e-12);
    assert_near(find(u, "hellinger_squared", NULL, -1, -1)->expected, h2, 1e-12);
    assert_near(find(u, "total_difference", NULL, -1, -1)->expected, total, 1e-12);
    assert_near(find(u, "zeros_turned_positive", NULL, -1, -1)->expected, zero, 1e-12);
    assert_near(find(u, "positives_turned_zero", NULL, -1, -1)->expected, positive, 1e-12);
    assert_near(find(u, "margin_square", "r", -1, -1)->expected, rows, 1e-12);
    assert_near(find(u, "additivity_gap_squared", NULL, -1, -1)->expected, gaps, 1e-12);
    assert_true(isnan(find(u, "hellinger", NULL, -1, -1)->expected));
    cellar_utility_free(u);
    cellar_table_free(table);
}

static void enumeration(void **state)
{
    (void) state;
    check_enumeration(0);
    check_enumeration(1);
}

/* ---- copies ------------------------------------------------------------------------------- */

/* Means of 400 copies lie within 6 standard errors of the expectations: 2e-9 each for a normal
 * mean; cells seen rarely are let off. The seed is fixed. */
static void copies_meet_expectations(void **state)
{
    static const struct {
        const char *spec;
        cellar_negatives negatives;
        int64_t threshold;
    } cases[] = {{"discrete-laplace:epsilon=0.8", CELLAR_NEGATIVES_KEEP, 0},
                 {"laplace:epsilon=1", CELLAR_NEGATIVES_ZERO, 0},
                 {"gaussian:sigma=2", CELLAR_NEGATIVES_ZERO, 3},
                 {"poisson:alpha=0.5", CELLAR_NEGATIVES_ZERO, 0},
                 {"round:base=3", CELLAR_NEGATIVES_KEEP, 0},
                 {"hellinger:epsilon=2", CELLAR_NEGATIVES_KEEP, 0},
                 {"identity", CELLAR_NEGATIVES_KEEP, 0}};
    cellar_table *table = with_margins(table_of_rinott());
    (void) state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_utility_options options = cellar_utility_options_default();
        cellar_utility *u;
        size_t n = 0;
        options.copies = 400;
        options.negatives = cases[i].negatives;
        options.threshold = cases[i].threshold;
        u = assess(table, cases[i].spec, &options);
        for (size_t k = 0; k < cellar_utility_n_results(u); k++) {
            const cellar_utility_result *r = cellar_utility_result_at(u, k);
            double error = r->sd / sqrt(400);
            if (isnan(r->expected) || isnan(r->mean) || r->expected < 0.01)
                continue;
            n++;
            if (!(fabs(r->mean - r->expected) <= 6 * error + 1e-12 * r->expected + 0.01))
                fail_msg("%s: %s: mean %g, expected %g, error %g", cases[i].spec, r->measure,
                         r->mean, r->expected, error);
        }
        assert_true(n > 20);
        cellar_utility_free(u);
    }
    cellar_table_free(table);
}

static void threads_change_nothing(void **state)
{
    cellar_table *table = with_margins(table_of_rinott());
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *one, *three;
    (void) state;

    options.copies = 11;
    options.n_threads = 1;
    one = assess(table, "discrete-laplace:epsilon=1", &options);
    options.n_threads = 3;
    three = assess(table, "discrete-laplace:epsilon=1", &options);
    for (size_t i = 0; i < cellar_utility_n_results(one); i++) {
        const cellar_utility_result *a = cellar_utility_result_at(one, i),
                                    *b = cellar_utility_result_at(three, i);
        assert_true(a->mean == b->mean || (isnan(a->mean) && isnan(b->mean)));
        assert_true(a->sd == b->sd || (isnan(a->sd) && isnan(b->sd)));
        assert_true(a->minimum <= a->quartile_1 || isnan(a->minimum));
        assert_true(a->quartile_1 <= a->median || isnan(a->minimum));
        assert_true(a->median <= a->quartile_3 || isnan(a->minimum));
        assert_true(a->quartile_3 <= a->maximum || isnan(a->minimum));
    }
    assert_int_equal(cellar_utility_n_spreads(one), cellar_utility_n_spreads(three));
    for (size_t i = 0; i < cellar_utility_n_spreads(one); i++) {
        const cellar_utility_spread *a = cellar_utility_spread_at(one, i),
                                    *b = cellar_utility_spread_at(three, i);
        for (size_t k = 0; k < CELLAR_UTILITY_N_LEVELS; k++)
            assert_true(a->quantiles[k] == b->quantiles[k] || isnan(a->quantiles[k]));
    }
    cellar_utility_free(one);
    cellar_utility_free(three);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rinott_figures),
        cmocka_unit_test(rinott_percentages),
        cmocka_unit_test(small_chances_are_not_negative),
        cmocka_unit_test(equal_delta),
        cmocka_unit_test(enumeration),
        cmocka_unit_test(copies_meet_expectations),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
