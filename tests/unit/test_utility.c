/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Utility: published figures, expectations by enumeration, copies against expectations. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/table_file.h>
#include <cellar/utility.h>

#include "base/text.h"
#include "fail_every.h"
#include "table/table.h"

/* Age groups by status of Rinott and others (2018), Table 1. */
static const uint64_t rinott[12][11] = {
    {2, 2, 8, 7, 31, 0, 7, 2, 20, 0, 80},          {55, 68, 110, 54, 134, 0, 23, 13, 138, 2, 129},
    {115, 147, 132, 78, 83, 0, 19, 15, 45, 0, 18}, {191, 129, 127, 89, 68, 0, 18, 8, 33, 4, 10},
    {153, 113, 119, 74, 49, 1, 34, 15, 44, 4, 9},  {102, 70, 78, 70, 43, 1, 20, 21, 24, 3, 8},
    {94, 65, 55, 72, 47, 2, 29, 16, 36, 4, 14},    {92, 81, 75, 80, 65, 1, 43, 17, 36, 1, 8},
    {74, 51, 56, 64, 72, 2, 49, 21, 67, 2, 13},    {63, 41, 40, 70, 53, 3, 22, 22, 56, 4, 59},
    {12, 5, 7, 3, 12, 0, 6, 4, 8, 2, 287},         {4, 4, 1, 5, 4, 0, 2, 1, 4, 0, 307}};

static cellar_table *table_of(const char *csv)
{
    cellar_table *table;
    cellar_error err = {""};
    if (cellar_table_parse("t.csv", csv, strlen(csv), NULL, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static cellar_table *table_of_rinott(void)
{
    cellar_text text = {0};
    cellar_table *table;
    cellar_text_add_string(&text, "age,status,count\n");
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 11; j++)
            cellar_text_printf(&text, "%c,%c,%llu\n", 'a' + i, 'A' + j,
                               (unsigned long long) rinott[i][j]);
    table = table_of(text.bytes);
    cellar_text_clear(&text);
    return table;
}

static cellar_table *with_margins(cellar_table *table)
{
    const cellar_margins all = {.all = 1};
    cellar_table *out;
    assert_int_equal(cellar_table_expand(table, &all, &out, NULL), CELLAR_OK);
    cellar_table_free(table);
    return out;
}

static cellar_utility *assess(const cellar_table *table, const char *spec,
                              const cellar_utility_options *options)
{
    cellar_utility *u;
    cellar_error err = {""};
    if (cellar_utility_assess(table, spec, options, &u, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    return u;
}

/* The result of a measure; `variables` may be NULL, `count` and `radius` -1. */
static const cellar_utility_result *find(const cellar_utility *u, const char *measure,
                                         const char *variables, int64_t count, int64_t radius)
{
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        int named = r->variables == NULL || variables == NULL
                        ? r->variables == variables
                        : strcmp(r->variables, variables) == 0;
        if (strcmp(r->measure, measure) == 0 && named && r->count == count && r->radius == radius &&
            !r->is_above)
            return r;
    }
    fail_msg("no %s", measure);
    return NULL;
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

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
static void rinott_table_2(void **state)
{
    static const struct {
        const char *spec;
        int percent[6][5];
    } parts[] = {{"truncated-laplace:epsilon=1.5,m=7",
                  {{82, 96, 99, 100, 100},
                   {64, 96, 99, 100, 100},
                   {64, 92, 99, 100, 100},
                   {64, 92, 98, 100, 100},
                   {64, 92, 98, 100, 100},
                   {64, 92, 98, 100, 100}}},
                 {"truncated-laplace:epsilon=0.5,m=7",
                  {{63, 78, 87, 93, 96},
                   {25, 78, 87, 93, 96},
                   {25, 55, 87, 93, 96},
                   {25, 55, 74, 93, 96},
                   {25, 55, 74, 85, 96},
                   {25, 55, 74, 85, 92}}},
                 {"truncated-normal:epsilon=1.5,m=12",
                  {{57, 70, 81, 89, 94},
                   {14, 70, 81, 89, 94},
                   {14, 40, 81, 89, 94},
                   {14, 40, 62, 89, 94},
                   {14, 40, 62, 78, 94},
                   {14, 40, 62, 78, 88}}},
                 {"truncated-normal:epsilon=0.5,m=10",
                  {{54, 63, 71, 78, 84},
                   {9, 63, 71, 78, 84},
                   {9, 26, 71, 78, 84},
                   {9, 26, 42, 78, 84},
                   {9, 26, 42, 57, 84},
                   {9, 26, 42, 57, 69}}}};
    cellar_table *table = table_of("a,count\nx,1\n");
    cellar_utility_options options = cellar_utility_options_default();
    (void) state;

    options.copies = 0;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cellar_utility *u = assess(table, parts[i].spec, &options);
        for (int count = 0; count < 6; count++)
            for (int r = 0; r < 5; r++)
                assert_int_equal(lround(100 * find(u, "within", NULL, count, r)->expected),
                                 parts[i].percent[count][r]);
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

/* ---- copies ------------------------------------------------------------------------------------
 */

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

/* ---- a release ---------------------------------------------------------------------------------
 */

static cellar_release *protect(const cellar_table *table, const char *spec, int64_t threshold)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *mechanism;
    cellar_release *release;
    cellar_error err = {""};
    assert_int_equal(cellar_mechanism_create(spec, &mechanism, NULL), CELLAR_OK);
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.threshold = threshold;
    options.per_cell = options.domain_public = 1;
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(mechanism);
    return release;
}

/* Counts below 10 become zero: figures computed independently. */
static void release_figures(void **state)
{
    static const struct {
        const char *measure, *variables;
        double want;
    } cases[] = {{"l1", NULL, 155.0},
                 {"l2", NULL, 847.0},
                 {"l3", NULL, 73.92508973877197},
                 {"hellinger", NULL, 12.449899597988733},
                 {"hellinger_squared", NULL, 155.0},
                 {"absolute_difference", NULL, 1.1742424242424243},
                 {"total_difference", NULL, -155.0},
                 {"zeros_turned_positive", NULL, 0.0},
                 {"positives_turned_zero", NULL, 39.0},
                 {"top_overlap", NULL, 1.0},
                 {"chi_square", NULL, 4317.944881383552},
                 {"df", NULL, 88.0},
                 {"g_square", NULL, 3823.4149400204233},
                 {"cramers_v", NULL, 0.3096548804625969},
                 {"total_variation", "age", 0.011685711983020167},
                 {"total_variation", "status", 0.009520784605113772},
                 {"total_variation", "age,status", 0.026798063623789774},
                 {"margin_square", "status", 240.8181818181818},
                 {"total_variation_1way", NULL, 0.01060324829406697}};
    cellar_table *table = table_of_rinott();
    cellar_release *release = protect(table, "identity", 10);
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    assert_int_equal(cellar_utility_compare(table, release, &options, &u, NULL), CELLAR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_utility_result *r = find(u, cases[i].measure, cases[i].variables, -1, -1);
        assert_near(r->mean, cases[i].want, 1e-12);
        assert_true(isnan(r->sd));
        if (!isnan(r->expected)) /* nothing was random */
            assert_near(r->expected, cases[i].want, 1e-12);
    }
    assert_int_equal(cellar_utility_n_copies(u), 1);
    cellar_utility_free(u);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* Variables and categories in another order are the same table. */
static void release_in_another_order(void **state)
{
    cellar_table *table = table_of("a,b,count\nx,u,5\nx,v,1\ny,u,0\ny,v,7\nz,u,2\n");
    cellar_table *turned = table_of("b,a,count\nv,y,7\nv,x,1\nu,z,2\nu,y,0\nu,x,5\n");
    cellar_table *others[] = {
        table_of("a,count\nx,1\n"), table_of("a,c,count\nx,u,5\nx,v,1\ny,u,0\nz,v,7\n"),
        table_of("a,b,count\nx,u,5\nx,w,1\ny,u,0\nz,w,7\n"), table_of("a,b,count\nx,u,5\nx,v,1\n")};
    cellar_release *release = protect(turned, "identity", 0);
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    assert_int_equal(cellar_utility_compare(table, release, &options, &u, NULL), CELLAR_OK);
    assert_true(find(u, "l1", NULL, -1, -1)->mean == 0);
    assert_true(find(u, "total_variation", "a,b", -1, -1)->mean == 0);
    cellar_utility_free(u);
    for (size_t i = 0; i < 4; i++) {
        cellar_error err = {""};
        assert_int_equal(cellar_utility_compare(others[i], release, &options, &u, &err),
                         CELLAR_ERR_INPUT);
        assert_null(u);
        assert_true(err.message[0] != '\0');
        cellar_table_free(others[i]);
    }
    cellar_release_free(release);
    cellar_table_free(turned);
    cellar_table_free(table);
}

/* ---- large, empty, refused
 * ------------------------------------------------------------------------ */

static void tables_at_the_edge(void **state)
{
    cellar_utility_options options = cellar_utility_options_default();
    const char *const csvs[] = {"a,count\nx,0\n", "a,count\nx,7\n", "a,b,count\nx,u,0\nx,v,0\n",
                                "a,b,count\nx,u,3\nx,v,0\n"};
    (void) state;
    options.copies = 3;
    for (size_t i = 0; i < sizeof csvs / sizeof *csvs; i++) {
        cellar_table *table = table_of(csvs[i]);
        cellar_utility *u = assess(table, "discrete-laplace:epsilon=1", &options);
        assert_true(isnan(cellar_utility_original(u).chi_square));
        assert_true(isfinite(find(u, "l1", NULL, -1, -1)->mean));
        cellar_utility_free(u);
        cellar_table_free(table);
    }
}

/* Three variables of 2000 categories: eight thousand million cells, of which five hold records. */
static void sparse_table(void **state)
{
    cellar_text text = {0};
    cellar_table *table;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    double n = 8e9, zero;
    (void) state;

    cellar_text_add_string(&text, "a,b,c,count\n");
    for (int i = 0; i < 2000; i++)
        cellar_text_printf(&text, "a%d,b%d,c%d,%d\n", i, i, i, i % 400 == 0 ? 50 : 0);
    table = table_of(text.bytes);
    cellar_text_clear(&text);
    options.copies = 3;
    options.max_ways = 1;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.threshold = 16; /* P(noise >= 16) = 8e-8 at epsilon 1: 660 zeros in a copy */
    u = assess(table, "discrete-laplace:epsilon=1", &options);
    zero = (n - 5) * exp(-16) / (1 + exp(-1));
    assert_int_equal(cellar_utility_n_cells(u), 8000000000);
    assert_near(find(u, "zeros_turned_positive", NULL, -1, -1)->expected, zero, 1e-12);
    assert_near(find(u, "zeros_turned_positive", NULL, -1, -1)->mean, zero,
                6 / sqrt(3 * zero)); /* 6 standard errors of a Poisson number */
    assert_true(find(u, "within", NULL, 0, 0)->mean > 0.9999998);
    cellar_utility_free(u);
    cellar_table_free(table);
}

static int cancel(void *context, const char *stage, double fraction)
{
    (void) context;
    (void) stage;
    (void) fraction;
    return 1;
}

static void refusals(void **state)
{
    static const uint64_t down[] = {3, 2};
    cellar_table *table = table_of("a,count\nx,1\ny,2\n");
    cellar_utility_options good = cellar_utility_options_default(), bad[6];
    cellar_utility *u;
    (void) state;

    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].counts = down;
    bad[0].n_counts = 2;
    bad[1].radii = down;
    bad[1].n_radii = 2;
    bad[2].max_ways = 4;
    bad[3].top = 1001;
    bad[4].threshold = 2; /* with negatives kept */
    bad[5].copies = UINT64_MAX;
    for (size_t i = 0; i < 6; i++) {
        cellar_error err = {""};
        assert_int_equal(cellar_utility_assess(table, "laplace:epsilon=1", &bad[i], &u, &err),
                         CELLAR_ERR_ARGUMENT);
        assert_null(u);
        assert_true(err.message[0] != '\0');
    }
    assert_int_equal(cellar_utility_assess(table, "laplace", &good, &u, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_utility_assess(table, "cell-key:file=none", &good, &u, NULL),
                     CELLAR_ERR_ARGUMENT);
    good.progress.report = cancel;
    assert_int_equal(cellar_utility_assess(table, "laplace:epsilon=1", &good, &u, NULL),
                     CELLAR_ERR_CANCELLED);
    assert_null(u);
    cellar_table_free(table);
}

/* Weighted sums are rounded; without a bound on weights, nothing is protected. */
static void weighted_tables(void **state)
{
    cellar_table *table = table_of("a,count,weighted\nx,3,4.5\ny,2,1.25\n");
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    options.copies = 2;
    assert_int_equal(cellar_utility_assess(table, "identity", &options, &u, NULL), CELLAR_ERR_RULE);
    assert_null(u);
    assert_int_equal(cellar_table_set_max_weight(table, 3, NULL), CELLAR_OK);
    u = assess(table, "identity", &options);
    assert_true(cellar_utility_original(u).total == 6);
    assert_true(find(u, "l1", NULL, -1, -1)->mean == 0);
    cellar_utility_free(u);
    assert_int_equal(
        cellar_utility_assess(table, "multinomial-dirichlet:alpha=1", &options, &u, NULL),
        CELLAR_ERR_RULE);
    cellar_table_free(table);
}

/* All cells together: no expectations, and the total is that of the table. */
static void multinomial_dirichlet(void **state)
{
    cellar_table *table = table_of_rinott();
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;
    options.copies = 5;
    u = assess(table, "multinomial-dirichlet:alpha=1", &options);
    assert_true(find(u, "total_difference", NULL, -1, -1)->mean == 0);
    assert_true(find(u, "l1", NULL, -1, -1)->mean > 100);
    assert_true(isnan(find(u, "l1", NULL, -1, -1)->expected));
    cellar_utility_free(u);
    cellar_table_free(table);
}

static cellar_status whole_scenario(void *context, cellar_error *err)
{
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status;
    options.copies = 2;
    options.n_threads = 1;
    status = cellar_utility_assess(context, "poisson:alpha=1", &options, &u, err);
    cellar_utility_free(u);
    return status;
}

typedef struct pair {
    cellar_table *table;
    cellar_release *release;
} pair;

static cellar_status compare_scenario(void *context, cellar_error *err)
{
    const pair *p = context;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status = cellar_utility_compare(p->table, p->release, &options, &u, err);
    cellar_utility_free(u);
    return status;
}

static void fail_every(void **state)
{
    pair p;
    (void) state;
    p.table = with_margins(table_of("a,b,c,count\nx,u,k,5\nx,v,l,1\ny,u,k,0\ny,v,k,7\n"));
    p.release = protect(p.table, "discrete-laplace:epsilon=1", 0);
    check_fail_every(whole_scenario, p.table);
    check_fail_every(compare_scenario, &p);
    cellar_release_free(p.release);
    cellar_table_free(p.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rinott_figures),
        cmocka_unit_test(rinott_table_2),
        cmocka_unit_test(equal_delta),
        cmocka_unit_test(enumeration),
        cmocka_unit_test(copies_meet_expectations),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(release_figures),
        cmocka_unit_test(release_in_another_order),
        cmocka_unit_test(tables_at_the_edge),
        cmocka_unit_test(sparse_table),
        cmocka_unit_test(refusals),
        cmocka_unit_test(weighted_tables),
        cmocka_unit_test(multinomial_dirichlet),
        cmocka_unit_test(fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
