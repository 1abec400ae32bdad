/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Bayesian attacker: the posterior against sums over all groups, its calibration and its
 * success by simulation. */
#include "check.h"

#include <math.h>

#include <cellar/attribute.h>

#include "fail_every.h"

enum { K = 3 };

static cellar_mechanism *make(const char *spec)
{
    cellar_mechanism *mechanism;
    assert_int_equal(cellar_mechanism_create(spec, &mechanism, NULL), CELLAR_OK);
    return mechanism;
}

/* The Dirichlet-multinomial probability of three counts, but for a constant of their sum. */
static double weight_of(const double *prior, const uint64_t *counts)
{
    double log_weight = 0;
    for (int k = 0; k < K; k++) {
        if (!(prior[k] > 0) && counts[k] > 0)
            return 0;
        if (prior[k] > 0)
            log_weight += lgamma(prior[k] + (double) counts[k]) - lgamma(prior[k]) -
                          lgamma((double) counts[k] + 1);
    }
    return exp(log_weight);
}

static void enumerate(const cellar_mechanism *m, cellar_negatives negatives, const double *prior,
                      uint64_t size, const int64_t *released, double *posterior)
{
    double sum = 0;
    for (int k = 0; k < K; k++)
        posterior[k] = 0;
    for (uint64_t a = 0; a <= size; a++)
        for (uint64_t b = 0; a + b <= size; b++) {
            const uint64_t counts[K] = {a, b, size - a - b};
            double weight = weight_of(prior, counts);
            for (int k = 0; k < K; k++)
                weight *=
                    cellar_mechanism_released_pmf(m, (int64_t) counts[k], released[k], negatives);
            for (int k = 0; k < K; k++)
                posterior[k] += weight * (double) counts[k] / (double) size;
            sum += weight;
        }
    for (int k = 0; k < K; k++)
        posterior[k] /= sum;
}

static void the_posterior_is_that_of_all_groups(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.3",
                                        "truncated-laplace:epsilon=1,m=40", "poisson:alpha=0.5",
                                        "discrete-gaussian:sigma=3"};
    static const double priors[][K] = {{1, 1, 1}, {0.2, 3, 0.7}, {0, 2, 1}, {1e6, 2e6, 1e6}};
    /* the last is far from every group: in the tail of the product */
    static const int64_t released[][K] = {{4, 0, 1}, {9, 9, 0}, {0, 0, 0}, {31, 30, 33}};
    (void) state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t p = 0; p < 4; p++)
            for (size_t r = 0; r < 4; r++)
                for (int negatives = 1; negatives <= 2; negatives++) {
                    double found[K], wanted[K];
                    enumerate(m, (cellar_negatives) negatives, priors[p], 14, released[r], wanted);
                    assert_int_equal(cellar_attribute_posterior(m, (cellar_negatives) negatives,
                                                                priors[p], K, 14, released[r],
                                                                found, NULL),
                                     CELLAR_OK);
                    for (int k = 0; k < K; k++)
                        assert_true(fabs(found[k] - wanted[k]) < 1e-9);
                }
        cellar_mechanism_free(m);
    }
}

/* ---- success ------------------------------------------------------------------------------- */

/* The exact success against the group (3, 1): all values that two cells can be released as. */
static double exact_success(const cellar_mechanism *m, const double *prior)
{
    double success = 0;
    for (int64_t a = -60; a <= 60; a++)
        for (int64_t b = -60; b <= 60; b++) {
            const int64_t released[] = {a, b};
            double posterior[2], right;
            assert_int_equal(cellar_attribute_posterior(m, CELLAR_NEGATIVES_KEEP, prior, 2, 4,
                                                        released, posterior, NULL),
                             CELLAR_OK);
            right = fabs(posterior[0] - posterior[1]) < 1e-9 ? 0.5
                    : posterior[0] > posterior[1]            ? 0.75
                                                             : 0.25;
            success += right * cellar_mechanism_pmf(m, 3, a) * cellar_mechanism_pmf(m, 1, b);
        }
    return success;
}

/* 20,000 simulated groups against the sum: a difference of five standard errors has a chance below
 * 1e-6. */
static void success_is_that_of_all_releases(void **state)
{
    const double prior[] = {1, 2};
    uint64_t counts[2000];
    cellar_attribute_options options = cellar_attribute_options_default();
    cellar_attribute_success found;
    cellar_mechanism *m = make("discrete-laplace:epsilon=0.7");
    (void) state;
    for (size_t i = 0; i < 1000; i++) {
        counts[2 * i] = 3;
        counts[2 * i + 1] = 1;
    }
    options.prior = prior;
    options.copies = 20;
    assert_int_equal(cellar_attribute_assess(m, counts, 1000, 2, &options, &found, NULL),
                     CELLAR_OK);
    assert_true(fabs(found.baseline - 0.25) < 1e-12); /* the prior says the other value */
    assert_true(found.se > 0 && found.se < 0.01);
    assert_true(fabs(found.success - exact_success(m, prior)) < 5 * 0.25 / sqrt(20000));
    cellar_mechanism_free(m);
}

/* Groups drawn from the prior: who knows it is right as often as the belief says. 3,000 groups of
 * 8 and five copies; five standard errors of a mean over 3,000 groups are 0.046 at most. */
static void beliefs_are_calibrated(void **state)
{
    enum { GROUPS = 3000, SIZE = 8 };
    const double prior[] = {1, 1}; /* all counts from 0 to 8 equally likely */
    static uint64_t counts[2 * GROUPS];
    cellar_attribute_options options = cellar_attribute_options_default();
    cellar_attribute_success found;
    cellar_mechanism *m = make("discrete-laplace:epsilon=0.5");
    (void) state;
    for (uint64_t g = 0; g < GROUPS; g++) {
        counts[2 * g] = g % (SIZE + 1);
        counts[2 * g + 1] = SIZE - counts[2 * g];
    }
    options.prior = prior;
    options.copies = 5;
    assert_int_equal(cellar_attribute_assess(m, counts, GROUPS, 2, &options, &found, NULL),
                     CELLAR_OK);
    assert_true(fabs(found.success - found.confidence) < 0.046);
    assert_true(found.success > found.baseline + 0.046);
    assert_true(found.truth <= found.confidence);
    cellar_mechanism_free(m);
}

static void noise_and_its_absence_are_the_limits(void **state)
{
    const double prior[] = {1, 1};
    const uint64_t counts[] = {7, 0, 0, 7, 6, 1};
    cellar_attribute_options options = cellar_attribute_options_default();
    cellar_attribute_success found;
    cellar_mechanism *m = make("identity");
    (void) state;
    options.prior = prior;
    assert_int_equal(cellar_attribute_assess(m, counts, 3, 2, &options, &found, NULL), CELLAR_OK);
    assert_true(fabs(found.success - 20. / 21) < 1e-12);
    assert_true(fabs(found.sure - 14. / 21) < 1e-12 && found.sure_right == 1);
    assert_true(found.se < 1e-12 && fabs(found.baseline - 0.5) < 1e-12);
    cellar_mechanism_free(m);
}

static void it_refuses(void **state)
{
    cellar_mechanism *m = make("identity");
    const double prior[] = {1, 1}, negative[] = {1, -1}, never[] = {0, 0};
    const int64_t released[] = {3, 1};
    const uint64_t nobody[] = {0, 0};
    cellar_attribute_options options = cellar_attribute_options_default();
    cellar_attribute_success found;
    double posterior[2];
    (void) state;
    const struct {
        const double *prior;
        uint64_t size;
        cellar_status wanted;
    } cases[] = {
        {prior, 4, CELLAR_OK},
        {prior, 5, CELLAR_ERR_RULE}, /* nothing is added to 3 and 1 */
        {negative, 4, CELLAR_ERR_ARGUMENT},
        {never, 4, CELLAR_ERR_ARGUMENT},
        {prior, 0, CELLAR_ERR_ARGUMENT},
        {prior, CELLAR_ATTRIBUTE_SIZE_MAX + 1, CELLAR_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cellar_attribute_posterior(m, CELLAR_NEGATIVES_KEEP, cases[i].prior, 2,
                                                    cases[i].size, released, posterior, NULL),
                         cases[i].wanted);
    assert_int_equal(cellar_attribute_assess(m, nobody, 1, 2, &options, &found, NULL),
                     CELLAR_ERR_ARGUMENT);
    options.prior = prior;
    assert_int_equal(cellar_attribute_assess(m, nobody, 1, 2, &options, &found, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_mechanism_free(m);
}

static cellar_status attack_once(void *context, cellar_error *err)
{
    const double prior[] = {1, 1};
    const uint64_t counts[] = {3, 1, 0, 2};
    cellar_attribute_options options = cellar_attribute_options_default();
    cellar_attribute_success found;
    options.prior = prior;
    return cellar_attribute_assess(context, counts, 2, 2, &options, &found, err);
}

static void any_allocation_may_fail(void **state)
{
    cellar_mechanism *m = make("discrete-laplace:epsilon=1");
    (void) state;
    check_fail_every(attack_once, m);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_posterior_is_that_of_all_groups),
        cmocka_unit_test(success_is_that_of_all_releases),
        cmocka_unit_test(beliefs_are_calibrated),
        cmocka_unit_test(noise_and_its_absence_are_the_limits),
        cmocka_unit_test(it_refuses),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
