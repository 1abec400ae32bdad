/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack on one group: against enumeration, one engine against another, and numbers
 * computed elsewhere. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/risk.h>

#include "risk/homogeneity/cell.h"
#include "risk/homogeneity/group.h"
#include "make_mechanism.h"
#include "near.h"

static const char *const specs[] = {"laplace:epsilon=1",
                                    "laplace:epsilon=0.01",
                                    "discrete-laplace:epsilon=5",
                                    "gaussian:sigma=2",
                                    "truncated-laplace:epsilon=1,m=2",
                                    "poisson:alpha=0.5",
                                    "identity"};
enum { N_SPECS = sizeof specs / sizeof specs[0] };

/* ---- enumeration ------------------------------------------------------------------------- */

/* What the attack yields for given counts, from all 2^K patterns of what is shown. */
static void by_patterns(const cellar_mechanism *m, const uint64_t *counts, size_t n_values,
                        double weight, cellar_risk *sum)
{
    size_t n_positive = 0;
    double size = 0;
    for (size_t k = 0; k < n_values; k++) {
        n_positive += counts[k] > 0;
        size += (double) counts[k];
    }
    for (unsigned pattern = 0; pattern < 1u << n_values; pattern++) {
        double p = weight;
        size_t shown = 0;
        int n_shown = 0, scenario;
        for (size_t k = 0; k < n_values; k++) {
            double present = cellar_mechanism_presence(m, (int64_t) counts[k]);
            int is_shown = (int) (pattern >> k & 1);
            p *= is_shown ? present : 1 - present;
            n_shown += is_shown;
            shown = is_shown ? k : shown;
        }
        if (n_shown == 1)
            scenario = counts[shown] > 0 ? (n_positive == 1 ? 1 : 8) : (n_positive == 1 ? 2 : 7);
        else
            scenario = n_shown > 1 ? (n_positive == 1 ? 3 : 5) : (n_positive == 1 ? 4 : 6);
        sum->scenario[scenario - 1] += p;
        if (n_shown == 1) {
            sum->claim += p;
            sum->right += p * (double) counts[shown] / size;
        }
    }
}

static double multinomial(const uint64_t *counts, const double *weights, size_t n, int has_prior)
{
    double size = 0, total = 0, log_p = 0;
    for (size_t k = 0; k < n; k++) {
        double c = (double) counts[k];
        size += c;
        total += weights[k];
        if (!has_prior && weights[k] <= 0) {
            if (counts[k] > 0)
                return 0;
            continue;
        }
        log_p += has_prior ? lgamma(c + weights[k]) - lgamma(weights[k]) - lgamma(c + 1)
                           : c * log(weights[k]) - lgamma(c + 1);
    }
    log_p += lgamma(size + 1) + (has_prior ? lgamma(total) - lgamma(size + total) : 0);
    return exp(log_p);
}

/* All compositions of what is left over the values from k on. */
static void by_compositions(const cellar_mechanism *m, uint64_t *counts, size_t k, size_t n,
                            uint64_t left, const double *weights, int has_prior, cellar_risk *sum)
{
    if (k + 1 == n) {
        counts[k] = left;
        by_patterns(m, counts, n, multinomial(counts, weights, n, has_prior), sum);
        return;
    }
    for (counts[k] = 0; counts[k] <= left; counts[k]++)
        by_compositions(m, counts, k + 1, n, left - counts[k], weights, has_prior, sum);
}

static void check_same(const cellar_risk *got, const cellar_risk *want, const char *spec)
{
    for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
        if (fabs(got->scenario[s] - want->scenario[s]) > 1e-13)
            fail_msg("%s: scenario %d: %.17g, want %.17g", spec, s + 1, got->scenario[s],
                     want->scenario[s]);
    near(got->value, want->scenario[0] + want->scenario[7], 1e-12, spec);
    if (fabs(got->claim - want->claim) > 1e-13 || fabs(got->right - want->right) > 1e-13 ||
        fabs(got->false_claim - (want->claim - want->right)) > 1e-13)
        fail_msg("%s: claim %g, want %g; right %g, want %g", spec, got->claim, want->claim,
                 got->right, want->right);
}

static void enumeration_of_counts(void **state)
{
    static const uint64_t cases[][4] = {
        {3, 0, 0, 0}, {1, 1, 0, 0}, {5, 1, 0, 2}, {2, 2, 2, 2}, {0, 0, 9, 1}};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            cellar_risk_cell cell = {.n_values = 4, .counts = cases[c]};
            cellar_risk got, want = {0};
            assert_int_equal(
                cellar_risk_cell_assess(&cell, m, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT, &got, NULL),
                CELLAR_OK);
            by_patterns(m, cases[c], 4, 1, &want);
            check_same(&got, &want, specs[s]);
        }
        cellar_mechanism_free(m);
    }
}

static void enumeration_of_draws(void **state)
{
    static const double weights[][4] = {{0.5, 0.5, 0, 0},         {0.9, 0.1, 0, 0},
                                        {0.25, 0.25, 0.25, 0.25}, {0.7, 0.1, 0.1, 0.1},
                                        {2, 1, 0.3, 0.3},         {0.01, 0.02, 5, 40}};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t c = 0; c < 6; c++)
            for (uint64_t n = 1; n <= 7; n++) {
                int has_prior = c >= 4;
                uint64_t counts[4] = {0};
                cellar_risk_cell cell = {.n_values = 4, .size = n};
                cellar_risk got, want = {0};
                *(has_prior ? &cell.prior : &cell.shares) = weights[c];
                assert_int_equal(cellar_risk_cell_assess(&cell, m,
                                                         has_prior ? CELLAR_RISK_SHRINKAGE
                                                                   : CELLAR_RISK_EXPECTED,
                                                         CELLAR_RISK_EXACT, &got, NULL),
                                 CELLAR_OK);
                by_compositions(m, counts, 0, 4, n, weights[c], has_prior, &want);
                check_same(&got, &want, specs[s]);
            }
        cellar_mechanism_free(m);
    }
}

/* Sizes one by one, each as enumerated. */
static void global_is_a_sum_over_sizes(void **state)
{
    static const double prior[] = {0.5, 1.5}, shares[] = {0.8, 0.2};
    static const char *const models[] = {"poisson:lambda=2.43",
                                         "negbin:r=1.5,lambda=0.4",
                                         "zero-truncated-poisson:lambda=0.7",
                                         "zero-truncated-negbin:r=3,lambda=0.8",
                                         "zero-inflated-poisson:lambda=2,zero=0.3",
                                         "zero-inflated-negbin:r=2,lambda=0.5,zero=0.1"};
    cellar_mechanism *m = make("laplace:epsilon=0.7");
    (void) state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        for (int has_prior = 0; has_prior < 2; has_prior++) {
            cellar_size_model model;
            cellar_risk_cell cell = {.n_values = 2, .model = &model}, sized = {.n_values = 2};
            cellar_risk got, one;
            double sum = 0, mass = 0;
            assert_int_equal(cellar_size_model_parse(models[i], &model, NULL), CELLAR_OK);
            assert_non_null(strstr(models[i], cellar_size_model_name(&model)));
            *(has_prior ? &cell.prior : &cell.shares) = has_prior ? prior : shares;
            *(has_prior ? &sized.prior : &sized.shares) = has_prior ? prior : shares;
            mass = exp(cellar_size_model_log_pmf(&model, 0));
            for (sized.size = 1; sized.size < 200; sized.size++) {
                double p = exp(cellar_size_model_log_pmf(&model, sized.size));
                assert_int_equal(cellar_risk_cell_assess(&sized, m,
                                                         has_prior ? CELLAR_RISK_SHRINKAGE
                                                                   : CELLAR_RISK_EXPECTED,
                                                         CELLAR_RISK_EXACT, &one, NULL),
                                 CELLAR_OK);
                sum += p * one.value;
                mass += p;
            }
            near(mass, 1, 1e-12, models[i]);
            assert_int_equal(
                cellar_risk_cell_assess(&cell, m,
                                        has_prior ? CELLAR_RISK_GLOBAL : CELLAR_RISK_GLOBAL_FIXED,
                                        CELLAR_RISK_EXACT, &got, NULL),
                CELLAR_OK);
            near(got.value, sum, 1e-12, models[i]);
        }
    cellar_mechanism_free(m);
}

/* Poisson sizes and fixed shares: the counts are independent, a product. */
static void global_fixed_is_a_product(void **state)
{
    static const double shares[] = {0.6, 0.3, 0.1};
    cellar_size_model model = {CELLAR_SIZE_POISSON, CELLAR_SIZE_PLAIN, 4.6, 0, 0};
    cellar_risk_cell cell = {.n_values = 3, .model = &model, .shares = shares};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        double shown[3] = {0}, absent[3] = {0}, want = 0;
        cellar_risk got;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 80; j++) {
                double mean = 4.6 * shares[k], p = exp(j * log(mean) - mean - lgamma(j + 1.));
                shown[k] += j > 0 ? p * cellar_mechanism_presence(m, j) : 0;
                absent[k] += p * cellar_mechanism_cdf(m, j, 0);
            }
        for (int k = 0; k < 3; k++)
            want += shown[k] * absent[(k + 1) % 3] * absent[(k + 2) % 3];
        assert_int_equal(cellar_risk_cell_assess(&cell, m, CELLAR_RISK_GLOBAL_FIXED,
                                                 CELLAR_RISK_EXACT, &got, NULL),
                         CELLAR_OK);
        near(got.value, want, 1e-12, specs[s]);
        cellar_mechanism_free(m);
    }
}

/* ---- one engine against another ------------------------------------------------------------- */

typedef cellar_status engine(const cellar_group *group, cellar_group_spread *out,
                             cellar_error *err);

static void check_engines(const char *spec, const double *weights, size_t n_values, uint64_t size,
                          engine *other, int has_prior)
{
    static cellar_presence presence;
    cellar_group_part parts[16];
    cellar_group group = {.presence = &presence, .size = size, .has_prior = has_prior};
    cellar_group_spread want, got;
    cellar_mechanism *m = make(spec);

    cellar_presence_init(&presence, m, 300);
    cellar_group_set_parts(&group, parts, weights, n_values);
    assert_int_equal(cellar_group_by_product(&group, &want, NULL), CELLAR_OK);
    assert_int_equal(other(&group, &got, NULL), CELLAR_OK);
    near(got.shown, want.shown, 1e-11, spec);
    near(got.right, want.right, 1e-11, spec);
    near(got.empty, want.empty, 1e-11, spec);
    near(got.stray, want.stray, 1e-11, spec);
    cellar_mechanism_free(m);
}

static void saddle_and_product_agree(void **state)
{
    static const double cases[][10] = {{5, 5},
                                       {6, 3, 1},
                                       {200, 50, 6},
                                       {100, 100, 56},
                                       {250, 1, 1, 1, 1},
                                       {128.5, 127.5},
                                       {30, 30, 30},
                                       {2, 1},
                                       {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                       {0.5, 99.25, .25}};
    (void) state;
    for (size_t s = 0; s + 1 < N_SPECS; s++) /* identity leaves rounding where nothing is */
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            double size = 0;
            size_t n = 0;
            while (n < 10 && cases[c][n] > 0)
                size += cases[c][n++];
            check_engines(specs[s], cases[c], n, (uint64_t) size, cellar_group_by_saddle, 0);
        }
}

static void window_and_product_agree(void **state)
{
    static const double priors[][4] = {
        {0.5, 0.5}, {2, 1, 0.3}, {100, 20, 3}, {1000, 3000, 20}, {0.01, 0.02, 0.01, 0.1}};
    static const size_t n[] = {2, 3, 3, 3, 4};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++)
        for (size_t c = 0; c < 5; c++)
            for (uint64_t size = 2; size <= 256; size = 3 * size + 5)
                check_engines(specs[s], priors[c], n[c], size, cellar_group_by_window, 1);
}

/* Equal parts put together, or taken one by one: many values at once. */
static void many_values(void **state)
{
    cellar_mechanism *m = make("laplace:epsilon=2");
    static double shares[1000];
    static uint64_t counts[1000];
    cellar_risk_cell cell = {.n_values = 1000, .size = 250, .shares = shares};
    cellar_risk small, large;
    (void) state;
    for (size_t k = 0; k < 1000; k++)
        shares[k] = k == 0 ? 0.9 : 0.1 / 999;
    assert_int_equal(
        cellar_risk_cell_assess(&cell, m, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT, &small, NULL),
        CELLAR_OK);
    assert_true(small.value > 0 && small.value < 1e-80);
    cell.size = 260; /* the other engine, nearly the same question */
    assert_int_equal(
        cellar_risk_cell_assess(&cell, m, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT, &large, NULL),
        CELLAR_OK);
    assert_true(large.value < small.value && large.value > small.value / 10);
    for (size_t k = 0; k < 1000; k++)
        counts[k] = k == 0 ? 1000000 : k < 900 ? 0 : k;
    cell = (cellar_risk_cell){.n_values = 1000, .counts = counts};
    assert_int_equal(
        cellar_risk_cell_assess(&cell, m, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT, &large, NULL),
        CELLAR_OK);
    assert_true(large.value >= 0 && large.value < 1e-290);
    cellar_mechanism_free(m);
}

/* ---- numbers computed elsewhere, with 40 digits ------------------------------------------ */

static void large_groups(void **state)
{
    static const struct {
        const char *spec;
        uint64_t size;
        double shares[2], prior[2], want;
    } cases[] = {
        {"laplace:epsilon=1", 1000000000, {0.999999999, 1e-9}, {0}, 0.39116670657880167},
        {"laplace:epsilon=0.000001", 1000000000, {0.999999999, 1e-9}, {0}, 0.49999975000026651},
        {"poisson:alpha=0.5", 1000000000, {0.999999995, 5e-9}, {0}, 0.025717005864114107},
        {"laplace:epsilon=0.000001", 1000000000, {0.5, 0.5}, {0}, 7.1254705971896085e-218},
        {"laplace:epsilon=0.001", 1000000000, {0.99999, 1e-5}, {0}, 2.28251194828694e-5},
        {"laplace:epsilon=0.00001", 1000000000, {0.9999999, 1e-7}, {0}, 0.49950274992168601},
        {"laplace:epsilon=0.3", 1000000000, {0.999999, 1e-6}, {0}, 1.5954493518889617e-113},
        {"laplace:epsilon=0.0001", 1000000, {0.5, 0.5}, {0}, 1.93125885326536e-22},
        {"laplace:epsilon=0.05", 1000, {0.7, 0.3}, {0}, 2.035384177572921e-7},
        {"laplace:epsilon=1", 1000, {0.7, 0.3}, {0}, 3.9460889632694798e-92},
        {"poisson:alpha=0.5", 5000, {0.99, 0.01}, {0}, 1.030296151789809e-14},
        {"laplace:epsilon=0.01", 1000, {0}, {0.5, 0.5}, 0.18484914426354225},
        {"laplace:epsilon=0.01", 1000, {0}, {40, 3}, 0.26776360429783751},
        {"laplace:epsilon=1", 20000, {0}, {0.2, 0.7}, 0.088364903773287976},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int has_prior = cases[i].prior[0] > 0;
        cellar_mechanism *m = make(cases[i].spec);
        cellar_risk_cell cell = {.n_values = 2, .size = cases[i].size};
        cellar_risk got;
        *(has_prior ? &cell.prior : &cell.shares) = has_prior ? cases[i].prior : cases[i].shares;
        assert_int_equal(cellar_risk_cell_assess(
                             &cell, m, has_prior ? CELLAR_RISK_SHRINKAGE : CELLAR_RISK_EXPECTED,
                             CELLAR_RISK_EXACT, &got, NULL),
                         CELLAR_OK);
        near(got.value, cases[i].want, 1e-11, cases[i].spec);
        cellar_mechanism_free(m);
    }
}

/* A thousand values: one with its own share, the others alike. */
static void a_thousand_values(void **state)
{
    static const struct {
        const char *spec;
        uint64_t size;
        double first, want;
    } cases[] = {{"laplace:epsilon=1", 50, 0.001, 9.9395122166990517e-174},
                 {"laplace:epsilon=0.1", 200, 0.001, 2.8979613707769121e-287},
                 {"poisson:alpha=0.01", 60, 0.001, 4.3800221803315918e-29},
                 {"laplace:epsilon=0.2", 300, 0.9, 2.6592875211157429e-264},
                 {"laplace:epsilon=0.5", 700, 0.9, 5.3803193338539274e-226}};
    static double shares[1000];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        cellar_risk_cell cell = {.n_values = 1000, .size = cases[i].size, .shares = shares};
        cellar_risk got;
        for (size_t k = 0; k < 1000; k++)
            shares[k] = k == 0 ? cases[i].first : (1 - cases[i].first) / 999;
        assert_int_equal(
            cellar_risk_cell_assess(&cell, m, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT, &got, NULL),
            CELLAR_OK);
        near(got.value, cases[i].want, 1e-11, cases[i].spec);
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enumeration_of_counts),
        cmocka_unit_test(enumeration_of_draws),
        cmocka_unit_test(global_is_a_sum_over_sizes),
        cmocka_unit_test(global_fixed_is_a_product),
        cmocka_unit_test(saddle_and_product_agree),
        cmocka_unit_test(window_and_product_agree),
        cmocka_unit_test(many_values),
        cmocka_unit_test(large_groups),
        cmocka_unit_test(a_thousand_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
