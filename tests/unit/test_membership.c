/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power of the best test, by enumeration of all outcomes in the order of their likelihood
 * ratio (Neyman and Pearson), and the bound from the guarantees. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <cellar/membership.h>

#include "make_mechanism.h"

enum { RANGE = 400, N_OUTCOMES = 2 * RANGE + 1 };

typedef struct outcome {
    double without, with, log_ratio;
} outcome;

static int by_ratio(const void *left, const void *right)
{
    const outcome *a = left, *b = right;
    return (a->log_ratio < b->log_ratio) - (a->log_ratio > b->log_ratio);
}

/* Rejects the likeliest outcomes for the one who is there, the last one by lot. */
static double best_power(const cellar_mechanism *m, double level)
{
    static outcome outcomes[N_OUTCOMES];
    double power = 0;
    for (int64_t b = -RANGE; b <= RANGE; b++) {
        outcome *x = &outcomes[b + RANGE];
        *x = (outcome){cellar_mechanism_pmf(m, 0, b), cellar_mechanism_pmf(m, 1, b),
                       cellar_mechanism_log_pmf(m, 1, b) - cellar_mechanism_log_pmf(m, 0, b)};
        if (isnan(x->log_ratio)) /* neither can give it */
            x->log_ratio = -INFINITY;
    }
    qsort(outcomes, N_OUTCOMES, sizeof *outcomes, by_ratio);
    for (int i = 0; i < N_OUTCOMES && level > 0; i++) {
        double share = outcomes[i].without > level ? level / outcomes[i].without : 1;
        power += share * outcomes[i].with;
        level -= share * outcomes[i].without;
    }
    return power;
}

static double bound(const cellar_mechanism *m, uint64_t n_cells, double level)
{
    const cellar_certify_part part = {m, 1};
    cellar_certify_options options = cellar_certify_options_default();
    double power;
    cellar_error err;
    options.n_cells = n_cells;
    if (cellar_membership_power(&part, 1, &options, level, &power, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return power;
}

static void it_is_the_best_test(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=1",
                                        "discrete-laplace:epsilon=0.1", "discrete-gaussian:sigma=2",
                                        "truncated-laplace:epsilon=0.5,m=5", "laplace:epsilon=2"};
    static const double levels[] = {0.001, 0.01, 0.05, 0.3, 0.9};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
            double exact = best_power(m, levels[k]), upper = bound(m, 1, levels[k]);
            if (upper < exact - 1e-9 || upper > exact * 1.01 + 1e-9)
                fail_msg("%s at %g: %.9g, best test %.9g", specs[i], levels[k], upper, exact);
        }
        cellar_mechanism_free(m);
    }
}

/* Pure epsilon alone: e times the level, while that is small. Two cells have twice the epsilon. */
static void closed_forms(void **state)
{
    cellar_mechanism *m = make("discrete-laplace:epsilon=1");
    double power;
    cellar_certify_options options = cellar_certify_options_default();
    const cellar_certify_part part = {m, 1};
    (void) state;
    assert_true(fabs(bound(m, 1, 0.05) - 0.05 * exp(1)) < 1e-9);
    assert_true(fabs(bound(m, 2, 0.001) - 0.001 * exp(2)) < 1e-9);
    assert_int_equal(cellar_membership_power(&part, 1, &options, 0, &power, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_membership_power(&part, 1, &options, NAN, &power, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_best_test),
        cmocka_unit_test(closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
