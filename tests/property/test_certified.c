/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For every registered mechanism and random parameters, no violation that sums over released
 * numbers find exceeds what is certified. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>

#include "mechanism/mechanism.h"
#include "mechanism/registry.h"

/* A random number between low and high is put where %s stands. */
static const struct {
    const char *format;
    double low, high;
    int is_whole;
} forms[] = {
    {"identity", 0, 0, 0},
    {"laplace:epsilon=%s", 0.1, 4, 0},
    {"discrete-laplace:epsilon=%s", 0.1, 4, 0},
    {"gaussian:sigma=%s", 0.3, 6, 0},
    {"discrete-gaussian:sigma=%s", 0.3, 6, 0},
    {"truncated-laplace:epsilon=%s,m=5", 0.1, 3, 0},
    {"truncated-normal:epsilon=%s,m=6", 0.1, 3, 0},
    {"hellinger:epsilon=%s", 3, 12, 0},
    {"poisson:alpha=%s", 0.05, 5, 0},
    {"poisson-zeros:alpha=%s", 0.05, 1, 0},
    {"negbin:alpha=0.7,sigma=%s", 0.05, 1, 0},
    {"negbin:alpha=%s,sigma=0.4", 0.05, 5, 0},
    {"pig:alpha=%s,sigma=0.4", 0.2, 3, 0},
    {"sichel:alpha=0.8,sigma=%s,nu=-0.9", 0.1, 0.6, 0},
    {"sichel:alpha=0.8,sigma=0.3,nu=%s", 0.2, 3, 0},
    {"delaporte:alpha=0.6,sigma=%s,nu=0.35", 0.1, 1.5, 0},
    {"delaporte:alpha=0.6,sigma=0.5,nu=%s", 0.05, 0.95, 0},
    {"gamma:alpha=0.6,sigma=%s", 0.4, 2, 0},
    {"gamma:alpha=%s,sigma=0.9", 0.2, 3, 0},
    {"round:base=%s", 2, 12, 1},
    {"max-entropy:variance=%s,m=4", 0.3, 3, 0},
    {"max-entropy:variance=%s,m=4,min=2", 2, 4, 0},
    {"exponential:file=" CELLAR_TESTS "/property/utilities.csv,epsilon=%s", 0.3, 4, 0},
    {"ptable:file=" CELLAR_TESTS "/property/ptable.csv", 0, 0, 0},
    {"ptable:file=" CELLAR_TESTS "/property/ons.csv", 0, 0, 0},
};
enum { N_FORMS = sizeof forms / sizeof *forms, ROUNDS = 6, COUNTS = 7 };

static double uniform(uint64_t *random, double low, double high)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return low + (high - low) * (double) (*random >> 40) / (double) (1 << 24);
}

static void spec_make(size_t i, uint64_t *random, char *spec, size_t size)
{
    const char *place = strstr(forms[i].format, "%s");
    double value = uniform(random, forms[i].low, forms[i].high);
    if (place == NULL)
        snprintf(spec, size, "%s", forms[i].format);
    else
        snprintf(spec, size, "%.*s%.*f%s", (int) (place - forms[i].format), forms[i].format,
                 forms[i].is_whole ? 0 : 3, value, place + 2);
}

/* What doubles find for one pair: a sum over all but 1e-12 of the mass. */
static void enumerate(const cellar_mechanism *m, int64_t count, int64_t neighbour, int zero,
                      double epsilon, double *delta, double *violation)
{
    int64_t low, high;
    cellar_mechanism_support(m, count, 1e-12, &low, &high);
    *delta = *violation = 0;
    low = zero && low < 0 ? 0 : low;
    high = zero && high < 0 ? 0 : high;
    for (int64_t b = low; b <= high; b++) {
        int all = zero && b == 0;
        double p = all ? cellar_mechanism_cdf(m, count, 0) : cellar_mechanism_pmf(m, count, b);
        double q =
            all ? cellar_mechanism_cdf(m, neighbour, 0) : cellar_mechanism_pmf(m, neighbour, b);
        *delta += fmax(0, p - exp(epsilon) * q);
        if (p > 0 && (q == 0 || fabs(log(p) - log(q)) > epsilon + 1e-9))
            *violation += p;
    }
}

static void check_certified(const char *spec, const char *epsilon, int zero, uint64_t weight)
{
    cellar_mechanism *m = NULL;
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_profile_point point;
    cellar_error err = {{0}};
    cellar_certify_part part = {.times = 1};
    o.negatives = zero ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    o.max_weight = weight;
    o.epsilons = &epsilon;
    o.n_epsilons = 1;
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    part.mechanism = m;
    if (cellar_certify(&part, 1, &o, &c, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    point = cellar_certificate_point(c, 0);
    for (int64_t a = 0; a < COUNTS; a++)
        for (int k = 0; k < 2 * (int) weight; k++) {
            int64_t other = a + 1 + k / 2;
            double delta, violation;
            enumerate(m, k % 2 ? a : other, k % 2 ? other : a, zero, strtod(epsilon, NULL), &delta,
                      &violation);
            if (delta > point.delta * (1 + 1e-9) + 1e-11 ||
                violation > point.delta_probabilistic * (1 + 1e-9) + 1e-11)
                fail_msg("%s at %s (zero %d, weight %d), counts %d and %d: found %.15g and %.15g, "
                         "certified %.15g and %.15g",
                         spec, epsilon, zero, (int) weight, (int) a, (int) other, delta, violation,
                         point.delta, point.delta_probabilistic);
        }
    cellar_certificate_free(c);
    cellar_mechanism_free(m);
}

static void test_never_exceeded(void **state)
{
    uint64_t random = 20261115;
    (void) state;
    for (size_t i = 0; i < N_FORMS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            char spec[300], epsilon[32];
            spec_make(i, &random, spec, sizeof spec);
            snprintf(epsilon, sizeof epsilon, "%.4f", uniform(&random, 0.05, 3));
            check_certified(spec, epsilon, round % 2, 1 + (uint64_t) (round % 3 / 2));
        }
}

static void test_all_are_asked(void **state)
{
    (void) state;
    for (size_t k = 0; cellar_mechanism_registry[k] != NULL; k++) {
        const char *name = cellar_mechanism_registry[k]->name;
        int found = cellar_mechanism_registry[k]->is_joint; /* cells that depend on each other */
        for (size_t i = 0; i < N_FORMS && !found; i++)
            found = strncmp(forms[i].format, name, strlen(name)) == 0 &&
                    strchr(":", forms[i].format[strlen(name)]) != NULL;
        if (!found)
            fail_msg("%s is in the registry but not here", name);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_exceeded),
        cmocka_unit_test(test_all_are_asked),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
