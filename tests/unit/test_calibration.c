/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibrations against known values, against their definitions in plain doubles, and, where delta
 * is not monotone, against a fine scan. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cellar/mechanism.h>

static cellar_error err;

static double sigma_of(const char *name, const char *epsilon, const char *delta, const char *how)
{
    char spec[200];
    cellar_mechanism *m;
    double sigma;
    snprintf(spec, sizeof spec, "%s:epsilon=%s,delta=%s,calibration=%s", name, epsilon, delta, how);
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    sigma = cellar_mechanism_parameter_value(m, cellar_mechanism_n_parameters(m) - 1);
    cellar_mechanism_free(m);
    return sigma;
}

/* Computed with 50 digits elsewhere. */
static void test_continuous_calibrations_match_known_values(void **state)
{
    static const struct {
        const char *how, *epsilon, *delta;
        double want;
    } cases[] = {
        {"classic", "0.5", "1e-5", 9.6896105252107788425},
        {"pdp-liu", "0.5", "1e-5", 8.9461270414782085714},
        {"pdp", "0.5", "1e-5", 8.8483181648257313747},
        {"analytic", "0.5", "1e-5", 7.0318266755824914427},
        {"classic", "0.9", "0.01", 3.4527905112135994518},
        {"pdp-liu", "0.9", "0.01", 3.0445103604523022115},
        {"pdp", "0.9", "0.01", 2.9034208722559218324},
        {"analytic", "0.9", "0.01", 2.0323330482789488718},
        {"pdp-liu", "4", "1e-9", 1.6052233354499745412},
        {"pdp", "4", "1e-9", 1.5792722467580704882},
        {"analytic", "4", "1e-9", 1.4878036771034649279},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = sigma_of("gaussian", cases[i].epsilon, cases[i].delta, cases[i].how);
        assert_true(fabs(got / cases[i].want - 1) < 1e-14);
        assert_true(got >= cases[i].want * (1 - 1e-16)); /* rounded up */
    }
}

/* delta or delta_p of the discrete Gaussian law by summing its definition, not by tails. */
static double discrete_delta(double sigma, double epsilon, int probabilistic)
{
    int64_t reach = (int64_t) (40 * sigma) + 3;
    double total = 0, sum = 0;
    for (int64_t k = -reach; k <= reach; k++)
        total += exp(-(double) (k * k) / (2 * sigma * sigma));
    for (int64_t k = -reach; k <= reach; k++) {
        double p = exp(-(double) (k * k) / (2 * sigma * sigma));
        double loss = (double) (2 * k + 1) / (2 * sigma * sigma);
        if (probabilistic)
            sum += fabs(loss) > epsilon * (1 + 1e-13) ? p : 0;
        else
            sum += loss > epsilon ? p * -expm1(epsilon - loss) : 0;
    }
    return sum / total;
}

/* Every sigma of a fine scan above the answer meets delta; just below it, some do not. */
static void check_discrete(const char *epsilon, const char *delta, int probabilistic)
{
    double e = strtod(epsilon, NULL), d = strtod(delta, NULL), worst_below = 0;
    double sigma =
        sigma_of("discrete-gaussian", epsilon, delta, probabilistic ? "pdp" : "analytic");
    for (double s = sigma; s < 3 * sigma; s *= 1.0007)
        if (discrete_delta(s * (1 + 1e-12), e, probabilistic) > d * (1 + 1e-10))
            fail_msg("epsilon %s, delta %s: sigma %.17g does not do, %.17g was found", epsilon,
                     delta, s, sigma);
    for (double s = sigma * (1 - 1e-9); s > sigma * 0.999; s -= sigma * 1e-5)
        worst_below = fmax(worst_below, discrete_delta(s, e, probabilistic));
    if (!(worst_below > d))
        fail_msg("epsilon %s, delta %s: %.17g is not the smallest", epsilon, delta, sigma);
}

static void test_discrete_calibrations_are_the_smallest(void **state)
{
    static const struct {
        const char *epsilon, *delta;
    } cases[] = {
        {"0.1", "1e-6"}, {"0.5", "1e-5"}, {"1", "1e-6"},   {"4", "1e-9"},    {"2", "0.3"},
        {"10", "0.3"},   {"0.5", "0.5"},  {"10", "1e-12"}, {"0.01", "0.1"},  {"0.03", "0.3"},
        {"0.01", "0.5"}, {"3", "1e-50"},  {"30", "1e-6"},  {"100", "1e-20"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int probabilistic = 0; probabilistic <= 1; probabilistic++)
            check_discrete(cases[i].epsilon, cases[i].delta, probabilistic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continuous_calibrations_match_known_values),
        cmocka_unit_test(test_discrete_calibrations_are_the_smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
