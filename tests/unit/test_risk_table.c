/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack on tables: groups, simulation, joint mechanisms, calibration. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/dirichlet.h>
#include <cellar/risk.h>
#include <cellar/risk_fit.h>
#include <cellar/table_file.h>

#include "risk/homogeneity/quantile.h"
#include "risk_check.h"
#include "risk_groups.h"
#include "small_table.h"

/* ---- tables are groups one by one ---------------------------------------- */

/* The lanes of a table against one group after the other, many mechanisms at once, sizes beyond
 * what products do among them. */
static void lanes_and_cells_agree(void **state)
{
    static const char *const specs[] = {"laplace:epsilon=0.01", "laplace:epsilon=0.3",
                                        "laplace:epsilon=2",    "gaussian:sigma=1",
                                        "gaussian:sigma=40",    "poisson:alpha=1",
                                        "poisson:alpha=0.01",   "identity",
                                        "round:base=5",         "discrete-laplace:epsilon=1"};
    enum { N = 10, ROWS = 60, K = 4 };
    static uint64_t counts[ROWS][K];
    cellar_mechanism *m[N];
    cellar_risk_summary got[N];
    cellar_groups *g = NULL;
    (void) state;
    for (unsigned i = 0, x = 7; i < ROWS; i++)
        for (unsigned k = 0; k < K; k++) {
            x = x * 1103515245u + 12345u;
            counts[i][k] = x >> 16 & 1 ? (x >> 20) % (i % 10 == 9 ? 400 : 9) : 0;
            counts[i][0] += k == 3 && counts[i][0] + counts[i][1] + counts[i][2] == 0;
        }
    assert_int_equal(cellar_groups_from_counts(&counts[0][0], ROWS, K, NULL, &g, NULL), CELLAR_OK);
    for (int s = 0; s < N; s++)
        assert_int_equal(cellar_mechanism_create(specs[s], &m[s], NULL), CELLAR_OK);
    for (int measure = CELLAR_RISK_LOCAL; measure <= CELLAR_RISK_EXPECTED; measure++) {
        cellar_risk_options options = {.measure = (cellar_risk_measure) measure};
        assert_int_equal(
            cellar_risk_assess(g, (const cellar_mechanism *const *) m, N, &options, got, NULL),
            CELLAR_OK);
        for (int s = 0; s < N; s++) {
            double sum = 0, claim = 0, right = 0, stray = 0, largest = 0;
            for (int i = 0; i < ROWS; i++) {
                cellar_risk_cell cell = {.n_values = K, .counts = counts[i]};
                cellar_risk risk;
                assert_int_equal(cellar_risk_cell_assess(&cell, m[s], options.measure,
                                                         CELLAR_RISK_EXACT, &risk, NULL),
                                 CELLAR_OK);
                sum += risk.value / ROWS;
                claim += risk.claim / ROWS;
                right += risk.right / ROWS;
                stray += risk.scenario[6] / ROWS;
                largest = fmax(largest, risk.value);
            }
            within(got[s].mean.value, sum, 1e-14, specs[s]);
            within(got[s].mean.claim, claim, 1e-14, specs[s]);
            within(got[s].mean.right, right, 1e-14, specs[s]);
            within(got[s].mean.scenario[6], stray, 1e-14, specs[s]);
            within(got[s].maximum, largest, 1e-15, specs[s]);
        }
    }
    for (int s = 0; s < N; s++)
        cellar_mechanism_free(m[s]);
    cellar_groups_free(g);
}

/* Results do not depend on the number of threads, to the last bit. */
static void threads_change_nothing(void **state)
{
    static const int measures[] = {CELLAR_RISK_LOCAL, CELLAR_RISK_EXPECTED, CELLAR_RISK_HARD,
                                   CELLAR_RISK_SOFT};
    cellar_groups *g = GROUPS(adult_groups, 2);
    (void) state;
    for (size_t i = 0; i < 4; i++)
        for (int simulate = 0; simulate < 2; simulate++) {
            cellar_risk_options options = {.measure = (cellar_risk_measure) measures[i],
                                           .copies = 40,
                                           .seed = 9,
                                           .n_threads = 1};
            cellar_risk_summary one, three;
            options.method = simulate ? CELLAR_RISK_SIMULATE : CELLAR_RISK_EXACT;
            one = summary(g, "laplace:epsilon=1", options);
            options.n_threads = 3;
            three = summary(g, "laplace:epsilon=1", options);
            assert_memory_equal(&one, &three, sizeof one);
        }
    cellar_groups_free(g);
}

/* ---- quantiles, ranks ---------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return (a > b) - (a < b);
}

static void quantiles(void **state)
{
    enum { N = 1000 };
    static double values[N], weights[N], sorted[N];
    static const double levels[] = {0.5, 0.9, 0.95, 1};
    cellar_weighted weighted = {values, weights, N};
    double out[4], maximum;
    (void) state;
    for (unsigned i = 0; i < N; i++) {
        values[i] = sorted[i] = i % 7 == 0 ? 0.25 : fmod(i * 0.6180339887, 1);
        weights[i] = 1. / N;
    }
    qsort(sorted, N, sizeof *sorted, by_value);
    assert_int_equal(cellar_weighted_quantiles(&weighted, levels, 4, out, &maximum, NULL),
                     CELLAR_OK);
    for (int i = 0; i < 4; i++)
        assert_true(out[i] == sorted[(int) ceil(levels[i] * N - 1e-9) - 1]);
    assert_true(maximum == sorted[N - 1]);
}

static const char people_csv[] = "region,sex,illness,job,count\n"
                                 "n,f,none,a,5\nn,f,flu,a,1\nn,m,none,a,3\nn,m,none,b,2\n"
                                 "s,f,flu,b,4\ns,m,none,a,1\ns,m,flu,b,1\n";

typedef struct ranks {
    double last;
    size_t n;
    uint64_t sizes[8];
    size_t n_present[8];
} ranks;

static int take_rank(void *context, const cellar_exposed_group *group)
{
    ranks *r = context;
    assert_true(group->value <= r->last);
    assert_non_null(group->categories);
    r->last = group->value;
    r->sizes[r->n] = group->size;
    r->n_present[r->n++] = group->n_present;
    return 0;
}

static int stop_at_once(void *context, const cellar_exposed_group *group)
{
    (void) context;
    (void) group;
    return 1;
}

static void several_sensitive_variables(void **state)
{
    static const size_t qid[] = {0, 1}, both[] = {2, 3}, illness[] = {2}, job[] = {3};
    cellar_table *table = NULL;
    cellar_groups *g = NULL;
    cellar_mechanism *m = NULL;
    ranks r = {.last = INFINITY};
    (void) state;
    assert_int_equal(
        cellar_table_parse("t.csv", people_csv, strlen(people_csv), NULL, &table, NULL), CELLAR_OK);
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=1", &m, NULL), CELLAR_OK);
    assert_int_equal(cellar_groups_create(table, qid, 2, both, 2, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_groups_n_values(g), 4);
    assert_int_equal(cellar_groups_n_groups(g), 4);
    assert_int_equal(cellar_groups_n_homogeneous(g), 1); /* s,f */
    assert_int_equal(cellar_groups_n_partial(g), 2);     /* n,f by job; n,m by illness */
    assert_int_equal(cellar_groups_n_empty(g), 0);
    assert_int_equal(cellar_risk_rank(g, m, 0, take_rank, &r, NULL), CELLAR_OK);
    assert_int_equal(r.n, 4);
    assert_int_equal(r.sizes[0], 4);
    assert_int_equal(r.n_present[0], 1);
    assert_int_equal(cellar_risk_rank(g, m, 0, stop_at_once, NULL, NULL), CELLAR_ERR_CANCELLED);
    cellar_groups_free(g);
    assert_int_equal(cellar_groups_create(table, qid, 2, illness, 1, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_groups_n_homogeneous(g), 2);
    cellar_groups_free(g);
    assert_int_equal(cellar_groups_create(table, qid, 2, job, 1, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_groups_n_homogeneous(g), 2);
    assert_int_equal(cellar_groups_n_partial(g), 0);
    cellar_groups_free(g);
    assert_int_equal(cellar_groups_create(table, qid, 2, NULL, 0, &g, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_groups_create(table, qid, 2, qid, 1, &g, NULL), CELLAR_ERR_ARGUMENT);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

/* ---- joint mechanisms ---------------------------------------------------- */

/* All tables with the total, for a table of two groups of two values. */
static void dirichlet_by_enumeration(void **state)
{
    static const int64_t counts[4] = {3, 0, 1, 1};
    static const uint64_t rows[] = {3, 0, 1, 1};
    cellar_dirichlet *d = NULL;
    cellar_groups *g = NULL;
    cellar_risk_options options = {0};
    cellar_risk_summary got;
    double want = 0, right = 0, claim = 0;
    int64_t b[4];
    enum { TOTAL = 5 };
    (void) state;
    assert_int_equal(cellar_dirichlet_create("multinomial-dirichlet:alpha=0.7", &d, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_groups_from_counts(rows, 2, 2, NULL, &g, NULL), CELLAR_OK);
    for (b[0] = 0; b[0] <= TOTAL; b[0]++)
        for (b[1] = 0; b[0] + b[1] <= TOTAL; b[1]++)
            for (b[2] = 0; b[0] + b[1] + b[2] <= TOTAL; b[2]++) {
                double p;
                b[3] = TOTAL - b[0] - b[1] - b[2];
                p = exp(cellar_dirichlet_log_pmf(d, counts, b, 4));
                for (size_t group = 0; group < 2; group++) {
                    const int64_t *x = &b[2 * group], *c = &counts[2 * group];
                    int shown = x[0] > 0 ? 0 : 1;
                    if ((x[0] > 0) + (x[1] > 0) != 1)
                        continue;
                    claim += p / 2;
                    want += c[shown] > 0 ? p / 2 : 0;
                    right += p / 2 * (double) c[shown] / (double) (c[0] + c[1]);
                }
            }
    assert_int_equal(cellar_risk_assess_dirichlet(g, 0.7, 4, TOTAL, &options, &got, NULL),
                     CELLAR_OK);
    within(got.mean.value, want, 1e-13, "risk");
    within(got.mean.claim, claim, 1e-13, "claim");
    within(got.mean.right, right, 1e-13, "right");
    options.measure = CELLAR_RISK_SHRINKAGE;
    assert_int_equal(cellar_risk_assess_dirichlet(g, 0.7, 4, TOTAL, &options, &got, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_groups_free(g);
    cellar_dirichlet_free(d);
}

static cellar_risk_summary dirichlet_risk(const uint64_t *rows, cellar_risk_measure measure)
{
    cellar_groups *g = NULL;
    cellar_risk_options options = {.measure = measure};
    cellar_risk_summary out;
    assert_int_equal(cellar_groups_from_counts(rows, 2, 2, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_risk_assess_dirichlet(g, 0.7, 8, 9, &options, &out, NULL), CELLAR_OK);
    cellar_groups_free(g);
    return out;
}

/* The expected risk is the local one of all groups that can be drawn. */
static void dirichlet_expected(void **state)
{
    static const uint64_t observed[] = {2, 1, 4, 0};
    static const double chance[] = {1. / 27, 6. / 27, 12. / 27, 8. / 27};
    cellar_risk_summary got = dirichlet_risk(observed, CELLAR_RISK_EXPECTED);
    double value = 0, right = 0, scenario[CELLAR_RISK_N_SCENARIOS] = {0};
    (void) state;
    for (uint64_t first = 0; first <= 3; first++) {
        const uint64_t drawn[] = {first, 3 - first, 4, 0};
        cellar_risk_summary one = dirichlet_risk(drawn, CELLAR_RISK_LOCAL);
        value += chance[first] * one.mean.value;
        right += chance[first] * one.mean.right;
        for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
            scenario[s] += chance[first] * one.mean.scenario[s];
    }
    within(got.mean.value, value, 1e-14, "value");
    within(got.mean.right, right, 1e-14, "right");
    for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
        within(got.mean.scenario[s], scenario[s], 1e-14, "scenario");
}

/* Cells without records stay: a homogeneous group is shown with the presence of its count. */
static void zeros_that_stay(void **state)
{
    static const uint64_t rows[] = {3, 0, 0, 2, 1, 0};
    cellar_groups *g = NULL;
    cellar_mechanism *m = NULL;
    cellar_risk_options options = {.zeros_stay = 1};
    double p1, p2, p3;
    (void) state;
    assert_int_equal(cellar_groups_from_counts(rows, 2, 3, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=1", &m, NULL), CELLAR_OK);
    p1 = cellar_mechanism_presence(m, 1);
    p2 = cellar_mechanism_presence(m, 2);
    p3 = cellar_mechanism_presence(m, 3);
    within(summary(g, "laplace:epsilon=1", options).mean.value,
           (p3 + p2 * (1 - p1) + p1 * (1 - p2)) / 2, 1e-14, "local");
    options.method = CELLAR_RISK_SIMULATE;
    options.copies = 20000;
    within(summary(g, "laplace:epsilon=1", options).mean.value,
           (p3 + p2 * (1 - p1) + p1 * (1 - p2)) / 2, 0.02, "simulated");
    cellar_mechanism_free(m);
    cellar_groups_free(g);
}

/* ---- calibration --------------------------------------------------------- */

static void calibration(void **state)
{
    static const uint64_t lopsided[] = {30, 2};
    cellar_groups *g = GROUPS(bankruptcy_groups, 2), *h = NULL;
    cellar_risk_options options = {0};
    cellar_calibration c;
    char spec[64];
    (void) state;
    assert_int_equal(
        cellar_risk_calibrate(g, "laplace", "epsilon", 0.001, 100, 0.3, &options, &c, NULL),
        CELLAR_OK);
    assert_int_equal(c.n_ranges, 1);
    snprintf(spec, sizeof spec, "laplace:epsilon=%.12g", c.ranges[0].high);
    within(mean_risk(g, spec, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT), 0.3, 1e-8, "at the end");
    /* no epsilon brings a homogeneous group below 2^-K */
    assert_int_equal(
        cellar_risk_calibrate(g, "laplace", "epsilon", 0.001, 100, 0.2, &options, &c, NULL),
        CELLAR_OK);
    assert_int_equal(c.n_ranges, 0);
    within(c.least, 0.25, 1e-3, "the floor");
    assert_true(c.least_at == 0.001);
    /* the risk of (30, 2) rises and falls: two ranges */
    assert_int_equal(cellar_groups_from_counts(lopsided, 1, 2, NULL, &h, NULL), CELLAR_OK);
    assert_int_equal(cellar_risk_calibrate(h, "truncated-normal:m=40", "epsilon", 0.0001, 100, 0.45,
                                           &options, &c, NULL),
                     CELLAR_OK);
    assert_true(c.n_ranges >= 1);
    assert_int_equal(cellar_risk_calibrate(h, "truncated-laplace:epsilon=0.3", "m", 1, 20, 0.4,
                                           &options, &c, NULL),
                     CELLAR_OK);
    assert_true(c.n_ranges >= 1 && c.ranges[0].low == floor(c.ranges[0].low));
    assert_int_equal(cellar_risk_calibrate(h, "laplace", "epsilon", 5, 1, 0.4, &options, &c, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_groups_free(g);
    cellar_groups_free(h);
}

/* A risk that is not monotone: (9, 1) under Laplace noise dips and rises again. */
static void calibration_finds_every_range(void **state)
{
    static const uint64_t rows[] = {9, 1};
    cellar_groups *g = NULL;
    cellar_risk_options options = {0};
    cellar_calibration c;
    double peak = 0;
    (void) state;
    assert_int_equal(cellar_groups_from_counts(rows, 1, 2, NULL, &g, NULL), CELLAR_OK);
    for (int i = 0; i < 142; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "laplace:epsilon=%.9g", 0.01 * pow(1.05, i));
        peak = fmax(peak, mean_risk(g, spec, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT));
    }
    /* just below the peak the target is met on both sides of it */
    assert_int_equal(
        cellar_risk_calibrate(g, "laplace", "epsilon", 0.0001, 10, peak - 1e-4, &options, &c, NULL),
        CELLAR_OK);
    if (peak > 0.5 + 1e-3)
        assert_int_equal(c.n_ranges, 2);
    for (size_t i = 0; i < c.n_ranges; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "laplace:epsilon=%.12g",
                 sqrt(c.ranges[i].low * c.ranges[i].high));
        assert_true(mean_risk(g, spec, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT) <= peak - 1e-4);
    }
    cellar_groups_free(g);
}

static void refusals(void **state)
{
    static const uint64_t rows[] = {1, 0};
    cellar_groups *g = NULL;
    cellar_mechanism *m = NULL;
    const cellar_mechanism *one;
    cellar_risk_summary out;
    const cellar_risk_options wrong[] = {
        {.measure = CELLAR_RISK_SHRINKAGE},
        {.measure = CELLAR_RISK_GLOBAL_FIXED},
        {.measure = CELLAR_RISK_LOCAL, .method = CELLAR_RISK_PUBLISHED},
        {.measure = CELLAR_RISK_EXPECTED, .method = CELLAR_RISK_PUBLISHED},
        {.measure = CELLAR_RISK_GLOBAL, .method = CELLAR_RISK_SIMULATE, .copies = 10},
        {.measure = CELLAR_RISK_LOCAL, .method = CELLAR_RISK_SIMULATE, .copies = 1}};
    (void) state;
    assert_int_equal(cellar_groups_from_counts(rows, 0, 2, NULL, &g, NULL), CELLAR_ERR_INPUT);
    assert_int_equal(cellar_groups_from_counts(rows, 1, 1, NULL, &g, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_groups_from_counts(rows, 1, 2, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_mechanism_create("discrete-laplace:epsilon=1", &m, NULL), CELLAR_OK);
    one = m;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(cellar_risk_assess(g, &one, 1, &wrong[i], &out, NULL),
                         CELLAR_ERR_ARGUMENT);
    cellar_mechanism_free(m);
    cellar_groups_free(g);
}

/* A value that cannot be is none of its group: with random sizes as well. */
static void structural_zeros(void **state)
{
    static const small_table small = {.n_variables = 2,
                                      .sizes = {2, 3},
                                      .rules = "x = c0 & y = c2\n",
                                      .n_cells = 4,
                                      .index = {0, 3, 4, 5},
                                      .count = {3, 1, 1, 1}};
    static const double shares[2][3] = {{1, 0, 0}, {1 / 3.0, 1 / 3.0, 1 / 3.0}};
    static const size_t qid = 0, sensitive = 1;
    cellar_size_model model;
    cellar_mechanism *mechanism;
    cellar_groups *groups;
    cellar_table *table = small_table_create(&small);
    cellar_risk_options options = {.measure = CELLAR_RISK_GLOBAL_FIXED, .model = &model};
    cellar_risk_summary summary;
    cellar_risk risk;
    double want = 0;
    cellar_error err;
    (void) state;

    assert_int_equal(cellar_size_model_parse("negbin:r=2,lambda=0.4", &model, &err), CELLAR_OK);
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=1", &mechanism, &err), CELLAR_OK);
    for (size_t i = 0; i < 2; i++) {
        cellar_risk_cell cell = {.n_values = 2 + i, .model = &model, .shares = shares[i]};
        assert_int_equal(cellar_risk_cell_assess(&cell, mechanism, CELLAR_RISK_GLOBAL_FIXED,
                                                 CELLAR_RISK_EXACT, &risk, &err),
                         CELLAR_OK);
        want += risk.value / 2;
    }
    assert_int_equal(cellar_groups_create(table, &qid, 1, &sensitive, 1, &groups, &err), CELLAR_OK);
    assert_int_equal(cellar_risk_assess(groups, (const cellar_mechanism *const *) &mechanism, 1,
                                        &options, &summary, &err),
                     CELLAR_OK);
    assert_true(fabs(summary.mean.value - want) < 1e-12);
    cellar_groups_free(groups);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structural_zeros),
        cmocka_unit_test(lanes_and_cells_agree),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(several_sensitive_variables),
        cmocka_unit_test(dirichlet_by_enumeration),
        cmocka_unit_test(dirichlet_expected),
        cmocka_unit_test(zeros_that_stay),
        cmocka_unit_test(calibration),
        cmocka_unit_test(calibration_finds_every_range),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
