/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The papers' figures on their own data, and the fits of their hyper-parameters. */
#include <math.h>
#include <stdlib.h>

#include <cellar/risk.h>

#include "risk_check.h"
#include "risk_groups.h"

/* Every (group x income) cell a group of its own, as the papers count Adult. */
static cellar_groups *adult_cells(void)
{
    static uint64_t counts[2 * MAX_ROWS][2], times[2 * MAX_ROWS];
    size_t n = 0;
    cellar_groups *groups = NULL;
    for (size_t i = 0; i < sizeof adult_groups / sizeof adult_groups[0]; i++)
        for (int k = 0; k < 2; k++)
            if (adult_groups[i][k] > 0) {
                counts[n][k] = adult_groups[i][k];
                counts[n][1 - k] = 0;
                times[n++] = adult_groups[i][2];
            }
    assert_int_equal(cellar_groups_from_counts(&counts[0][0], n, 2, times, &groups, NULL),
                     CELLAR_OK);
    return groups;
}

/* ---- the papers' figures --------------------------------------------------------------------- */

static void bankruptcy_subset(void **state)
{
    static const struct {
        const char *spec;
        double published, expected, local;
    } rows[] = {{"laplace:epsilon=0.000001", 0.100100, 0.157165, 0.165064},
                {"laplace:epsilon=0.1", 0.128929, 0.185849, NAN},
                {"laplace:epsilon=0.5", 0.224235, 0.271050, 0.263351},
                {"laplace:epsilon=1", 0.322642, 0.356798, 0.334622},
                {"laplace:epsilon=2", 0.473639, 0.492496, NAN},
                {"laplace:epsilon=10", 0.744499, 0.744858, 0.687308},
                {"laplace:epsilon=100", 0.750148, 0.750148, 54. / 78}};
    cellar_groups *g = GROUPS(bankruptcy_subset_groups, 3);
    (void) state;
    assert_int_equal(cellar_groups_n_groups(g), 78);
    assert_int_equal(cellar_groups_n_homogeneous(g), 54);
    assert_int_equal(cellar_groups_n_records(g), 250);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        within(mean_risk(g, rows[i].spec, CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED),
               rows[i].published, 1.5e-6, "published");
        within(mean_risk(g, rows[i].spec, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT),
               rows[i].expected, 1.5e-6, "exact");
        if (!isnan(rows[i].local))
            within(mean_risk(g, rows[i].spec, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT), rows[i].local,
                   1.5e-6, "local");
    }
    /* the lower limit is 13.3 % of the maximum, not 25 % */
    within(0.100100 / 0.750148, 0.133, 5e-4, "lower limit");
    cellar_groups_free(g);
}

static void adult(void **state)
{
    static const char *const specs[] = {"laplace:epsilon=0.1", "laplace:epsilon=1",
                                        "laplace:epsilon=10"};
    static const double adult_want[] = {0.312673, 0.565286, 0.994771};
    static const double bankruptcy_want[] = {0.305002, 0.597340, 0.995686};
    cellar_groups *g = GROUPS(adult_groups, 2), *cells = adult_cells();
    cellar_groups *bankruptcy = GROUPS(bankruptcy_groups, 2);
    cellar_risk_options by_person = {.average = CELLAR_RISK_BY_PERSON};
    (void) state;
    assert_int_equal(cellar_groups_n_records(g), 27504);
    assert_int_equal(cellar_groups_n_groups(g), 5009);
    assert_int_equal(cellar_groups_n_homogeneous(g), 4044);
    assert_int_equal(cellar_groups_n_groups(cells), 5974);
    assert_int_equal(cellar_groups_n_homogeneous(cells), 5974);
    assert_int_equal(cellar_groups_n_groups(bankruptcy), 103);
    within(summary(g, "identity", (cellar_risk_options){0}).original, 0.807, 5e-4, "by group");
    within(summary(g, "identity", by_person).original, 0.404, 5e-4, "by person");
    within(summary(g, "identity", by_person).mean.value, 0.404, 5e-4, "by person, identity");
    for (int i = 0; i < 3; i++) {
        within(mean_risk(cells, specs[i], CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED),
               adult_want[i], 6e-7, "eq (18), Adult");
        within(mean_risk(cells, specs[i], CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT), adult_want[i],
               6e-7, "exact when homogeneous");
        within(mean_risk(bankruptcy, specs[i], CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED_2020),
               bankruptcy_want[i], 6e-7, "eq (18), Bankruptcy");
    }
    cellar_groups_free(g);
    cellar_groups_free(cells);
    cellar_groups_free(bankruptcy);
}

/* ---- sizes and priors ------------------------------------------------------------------------ */

static double lambda_of(const cellar_groups *g, cellar_size_zeros zeros)
{
    cellar_size_model model;
    cellar_hyper_fit fit;
    assert_int_equal(cellar_size_fit(g, CELLAR_SIZE_POISSON, zeros, &model, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_CONVERGED);
    return model.lambda;
}

static void size_fits(void **state)
{
    cellar_groups *g = GROUPS(adult_groups, 2), *cells = adult_cells();
    cellar_groups *bankruptcy = GROUPS(bankruptcy_groups, 2);
    cellar_size_model best, other;
    cellar_hyper_fit fit, fit_other;
    (void) state;
    within(lambda_of(cells, CELLAR_SIZE_PLAIN), 4.604, 5e-4, "plain, 5974");
    within(lambda_of(cells, CELLAR_SIZE_TRUNCATED), 4.5556, 5e-5, "truncated, 5974");
    within(lambda_of(g, CELLAR_SIZE_TRUNCATED), 5.4677, 5e-5, "truncated, 5009");
    within(lambda_of(bankruptcy, CELLAR_SIZE_TRUNCATED), 2.1423, 5e-5, "truncated, 103");
    /* no neighbour of the fitted negative binomial is better */
    for (int zeros = 0; zeros < 2; zeros++) {
        assert_int_equal(
            cellar_size_fit(g, CELLAR_SIZE_NEGBIN, (cellar_size_zeros) zeros, &best, &fit, NULL),
            CELLAR_OK);
        /* without the empty ones Adult's sizes are a logarithmic series: r goes to zero */
        assert_int_equal(fit.end, zeros ? CELLAR_HYPER_FIT_AT_ZERO : CELLAR_HYPER_FIT_CONVERGED);
        assert_int_equal(cellar_size_fit(g, CELLAR_SIZE_POISSON, (cellar_size_zeros) zeros, &other,
                                         &fit_other, NULL),
                         CELLAR_OK);
        assert_true(fit.log_likelihood > fit_other.log_likelihood);
        for (int direction = 0; direction < 4 && !zeros; direction++) {
            double sum = 0;
            other = best;
            *(direction < 2 ? &other.r : &other.lambda) *= direction % 2 ? 1.001 : 0.999;
            for (size_t i = 0; i < sizeof adult_groups / sizeof adult_groups[0]; i++)
                sum += (double) adult_groups[i][2] *
                       cellar_size_model_log_pmf(&other, adult_groups[i][0] + adult_groups[i][1]);
            assert_true(sum < fit.log_likelihood);
        }
    }
    assert_int_equal(
        cellar_size_fit(g, CELLAR_SIZE_POISSON, CELLAR_SIZE_INFLATED, &best, &fit, NULL),
        CELLAR_ERR_ARGUMENT);
    cellar_groups_free(g);
    cellar_groups_free(cells);
    cellar_groups_free(bankruptcy);
}

/* ln of the Dirichlet-multinomial likelihood, term by term. */
static double prior_likelihood(const uint64_t *rows, size_t n_rows, size_t n_values,
                               const double *prior)
{
    double total = 0, sum = 0;
    for (size_t k = 0; k < n_values; k++)
        total += prior[k];
    for (size_t i = 0; i < n_rows; i++, rows += n_values + 1) {
        double size = 0, term = 0;
        for (size_t k = 0; k < n_values; k++) {
            term += lgamma((double) rows[k] + prior[k]) - lgamma(prior[k]);
            size += (double) rows[k];
        }
        sum += (double) rows[n_values] * (term + lgamma(total) - lgamma(total + size));
    }
    return sum;
}

static void prior_fits(void **state)
{
    cellar_groups *g = GROUPS(bankruptcy_subset_groups, 3), *h = GROUPS(bankruptcy_groups, 2);
    size_t n = sizeof bankruptcy_subset_groups / sizeof bankruptcy_subset_groups[0];
    double prior[3], other[3], best;
    cellar_hyper_fit fit;
    (void) state;
    assert_int_equal(cellar_prior_fit(g, prior, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_CONVERGED);
    best = prior_likelihood(&bankruptcy_subset_groups[0][0], n, 3, prior);
    within(fit.log_likelihood, best, 1e-9, "likelihood");
    for (int k = 0; k < 6; k++) {
        memcpy(other, prior, sizeof other);
        other[k / 2] *= k % 2 ? 1.001 : 0.999;
        assert_true(prior_likelihood(&bankruptcy_subset_groups[0][0], n, 3, other) < best);
    }
    /* the moments are positive, near, and not better */
    assert_int_equal(cellar_prior_moments(g, other, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_CONVERGED);
    for (int k = 0; k < 3; k++)
        assert_true(other[k] > prior[k] / 2 && other[k] < prior[k] * 2);
    assert_true(prior_likelihood(&bankruptcy_subset_groups[0][0], n, 3, other) < best);
    /* all homogeneous: the limit zero, and the risk is the homogeneous one */
    assert_int_equal(cellar_prior_fit(h, prior, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_AT_ZERO);
    within(summary(h, "laplace:epsilon=1",
                   (cellar_risk_options){.measure = CELLAR_RISK_SHRINKAGE, .prior = prior})
               .mean.value,
           0.597340, 1e-6, "shrinkage at the limit");
    cellar_groups_free(g);
    cellar_groups_free(h);
}

static void prior_limits(void **state)
{
    static const uint64_t even[] = {2, 2, 2, 2, 2, 2}, ones[] = {1, 0, 0, 1, 1, 0};
    static const uint64_t unused[] = {5, 0, 1, 2, 0, 7, 9, 0, 0};
    cellar_groups *g = NULL;
    double prior[3];
    cellar_hyper_fit fit;
    (void) state;
    assert_int_equal(cellar_groups_from_counts(even, 3, 2, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_prior_fit(g, prior, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_AT_INFINITY);
    assert_true(prior[0] == prior[1] && prior[0] > 1e6);
    cellar_groups_free(g);
    assert_int_equal(cellar_groups_from_counts(ones, 3, 2, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_prior_fit(g, prior, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_UNIDENTIFIED);
    cellar_groups_free(g);
    assert_int_equal(cellar_groups_from_counts(unused, 3, 3, NULL, &g, NULL), CELLAR_OK);
    assert_int_equal(cellar_prior_fit(g, prior, &fit, NULL), CELLAR_OK);
    assert_int_equal(fit.end, CELLAR_HYPER_FIT_CONVERGED);
    assert_true(prior[0] > 0 && prior[1] == 0 && prior[2] > 0);
    assert_true(mean_risk(g, "laplace:epsilon=1", CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT) > 0);
    assert_true(summary(g, "laplace:epsilon=1",
                        (cellar_risk_options){.measure = CELLAR_RISK_SHRINKAGE, .prior = prior})
                    .mean.value > 0);
    cellar_groups_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bankruptcy_subset), cmocka_unit_test(adult),
        cmocka_unit_test(size_fits),         cmocka_unit_test(prior_fits),
        cmocka_unit_test(prior_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
