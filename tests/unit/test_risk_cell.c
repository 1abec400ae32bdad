/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The risk of a cell that is described, not counted: formulas as the papers print them, guesses
 * with a threshold, and descriptions that make no sense. */
#include "check.h"

#include <math.h>

#include <cellar/risk.h>

#include "make_mechanism.h"
#include "near.h"
#include "risk/homogeneity/cell.h"

/* ---- what the papers print --------------------------------------------------------------- */

static double assess(const char *spec, const cellar_risk_cell *cell, cellar_risk_measure measure,
                     cellar_risk_method method)
{
    cellar_mechanism *m = make(spec);
    cellar_risk risk;
    assert_int_equal(cellar_risk_cell_assess(cell, m, measure, method, &risk, NULL), CELLAR_OK);
    cellar_mechanism_free(m);
    return risk.value;
}

static void published_formulas(void **state)
{
    static const double half[] = {0.5, 0.5}, prior[] = {0.5, 0.5}, certain[] = {1, 0};
    cellar_size_model model = {CELLAR_SIZE_POISSON, CELLAR_SIZE_PLAIN, 2.43, 0, 0};
    cellar_risk_cell cell = {.n_values = 2, .size = 10, .shares = half};
    cellar_risk_cell three = {.n_values = 2, .size = 3, .shares = half, .prior = prior};
    cellar_risk_cell sizes = {.n_values = 2, .model = &model, .shares = certain, .prior = prior};
    double lambda, limit;
    (void) state;
    near(assess("laplace:epsilon=0.01", &cell, CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED),
         0.0010606, 1e-4, "eq (12)");
    near(assess("laplace:epsilon=0.01", &cell, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT), 0.4987096,
         1e-6, "exact");
    near(assess("laplace:epsilon=1", &three, CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED),
         0.2343926117427158538, 1e-13, "eq (12)");
    near(assess("gaussian:sigma=2", &three, CELLAR_RISK_SHRINKAGE, CELLAR_RISK_PUBLISHED),
         0.37345190509863169439, 1e-13, "eq (23)");
    near(assess("laplace:epsilon=1", &sizes, CELLAR_RISK_GLOBAL, CELLAR_RISK_PUBLISHED),
         0.41821261081685111394, 1e-13, "eq (14)");
    /* (19): one value in truth, K = 2; its limits are 1 - e^-lambda and a quarter of that */
    lambda = model.lambda;
    limit = -expm1(-lambda);
    near(assess("laplace:epsilon=100", &sizes, CELLAR_RISK_GLOBAL_FIXED, CELLAR_RISK_PUBLISHED),
         limit, 1e-12, "eq (19), no noise");
    near(
        assess("laplace:epsilon=0.000001", &sizes, CELLAR_RISK_GLOBAL_FIXED, CELLAR_RISK_PUBLISHED),
        limit / 4, 1e-5, "eq (19), all noise");
    /* 0.985, 0.959, 0.888 for n = 4, 3, 2 hold at epsilon 1 only */
    near(1 - 0.5 * exp(-3.5), 0.98490, 1e-5, "0.985");
}

/* ---- thresholds -------------------------------------------------------------------------- */

/* Bounded noise: all released tables. */
static void guesses_by_enumeration(const cellar_mechanism *m, const uint64_t *counts, size_t n,
                                   double out[2])
{
    int64_t released[4] = {0}, low = -4, high = 12;
    double size = 0;
    for (size_t k = 0; k < n; k++)
        size += (double) counts[k];
    out[0] = out[1] = 0;
    for (size_t k = 0; k < n; k++)
        released[k] = low;
    for (;;) {
        double p = 1, sum = 0, hit = 0, best_hit = 0, n_best = 0;
        int64_t best = 0;
        size_t k;
        for (k = 0; k < n; k++) {
            double x = released[k] > 0 ? (double) released[k] : 0;
            p *= cellar_mechanism_pmf(m, (int64_t) counts[k], released[k]);
            sum += x;
            hit += x * (double) counts[k];
            if (released[k] > best) {
                best = released[k];
                best_hit = n_best = 0;
            }
            if (best > 0 && released[k] == best) {
                best_hit += (double) counts[k];
                n_best++;
            }
        }
        out[0] += n_best > 0 ? p * best_hit / n_best / size : 0;
        out[1] += sum > 0 ? p * hit / sum / size : 0;
        for (k = 0; k < n && ++released[k] > high; k++)
            released[k] = low;
        if (k == n)
            return;
    }
}

static void thresholds(void **state)
{
    static const uint64_t cases[][3] = {{3, 0, 0}, {1, 1, 1}, {5, 1, 0}, {2, 2, 1}, {8, 7, 0}};
    cellar_mechanism *m = make("truncated-laplace:epsilon=0.4,m=4");
    cellar_risk_cell cell = {.n_values = 3};
    uint64_t homogeneous[] = {1, 0};
    double want[2];
    (void) state;
    for (size_t i = 0; i < 5; i++) {
        cell.counts = cases[i];
        guesses_by_enumeration(m, cases[i], 3, want);
        near(
            assess("truncated-laplace:epsilon=0.4,m=4", &cell, CELLAR_RISK_HARD, CELLAR_RISK_EXACT),
            want[0], 1e-12, "hard");
        near(
            assess("truncated-laplace:epsilon=0.4,m=4", &cell, CELLAR_RISK_SOFT, CELLAR_RISK_EXACT),
            want[1], 1e-12, "soft");
    }
    cell = (cellar_risk_cell){.n_values = 2, .counts = homogeneous};
    near(assess("laplace:epsilon=0.002", &cell, CELLAR_RISK_HARD, CELLAR_RISK_EXACT), 0.375, 4e-3,
         "hard: the limit is 3/8");
    near(assess("laplace:epsilon=0.002", &cell, CELLAR_RISK_SOFT, CELLAR_RISK_EXACT), 0.375, 4e-3,
         "soft: the limit is 3/8");
    near(assess("identity", &cell, CELLAR_RISK_SOFT, CELLAR_RISK_EXACT), 1, 1e-12, "identity");
    cellar_mechanism_free(m);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refusals(void **state)
{
    static const double short_shares[] = {0.5, 0.4}, shares[] = {0.5, 0.5}, prior[] = {1, -1};
    static const uint64_t nobody[] = {0, 0};
    const cellar_risk_cell cells[] = {{.n_values = 2, .size = 3, .shares = short_shares},
                                      {.n_values = 1, .size = 3, .shares = shares},
                                      {.n_values = 2, .size = 3, .prior = prior},
                                      {.n_values = 2, .counts = nobody},
                                      {.n_values = 2, .shares = shares}};
    cellar_mechanism *m = make("identity");
    cellar_size_model model;
    cellar_risk risk;
    (void) state;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        for (int measure = 0; measure < CELLAR_RISK_N_MEASURES; measure++)
            assert_int_equal(cellar_risk_cell_assess(&cells[i], m, (cellar_risk_measure) measure,
                                                     CELLAR_RISK_EXACT, &risk, NULL),
                             CELLAR_ERR_ARGUMENT);
    assert_int_equal(
        cellar_risk_cell_allows(&cells[0], m, CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED), 0);
    assert_int_equal(cellar_size_model_parse("poisson", &model, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_size_model_parse("poisson:r=1", &model, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_size_model_parse("negbin:r=1,lambda=2", &model, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_size_model_parse("poisson:lambda=1,lambda=2", &model, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_size_model_parse("zero-inflated-poisson:lambda=1", &model, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_formulas),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
