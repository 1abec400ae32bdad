/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact risk of every registered mechanism equals what simulated copies show. */
#include "check.h"

#include <math.h>

#include <cellar/risk.h>

#include "specs.h"

/* The groups: one value and several, small and not. */
static const uint64_t rows[][3] = {{3, 0, 0}, {1, 1, 0}, {5, 1, 0}, {2, 2, 1},
                                   {0, 9, 1}, {1, 0, 0}, {0, 0, 20}};
enum { N_ROWS = sizeof rows / sizeof rows[0], COPIES = 8000 };

/* A copy's value is a mean of N_ROWS independent numbers in [0,1]. By Hoeffding, the mean of the
 * copies strays by more than t with probability at most 2 exp(-2 N_ROWS COPIES t^2): 1e-9 at
 * t = 0.0138. Some 45 specs and eight numbers each: the suite's false alarm is below 4e-7. Power: a
 * risk wrong by more than twice t escapes with probability 1e-9. The seed is fixed. */
static void exact_equals_simulated(void **state)
{
    double slack = sqrt(log(2 / 1e-9) / (2. * N_ROWS * COPIES));
    cellar_groups *groups = NULL;
    (void) state;
    assert_int_equal(cellar_groups_from_counts(&rows[0][0], N_ROWS, 3, NULL, &groups, NULL),
                     CELLAR_OK);
    for (size_t i = 0; i < sizeof conformance_specs / sizeof conformance_specs[0]; i++) {
        const char *spec = conformance_specs[i].spec;
        cellar_mechanism *m = NULL;
        const cellar_mechanism *one;
        cellar_error err;
        if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
            fail_msg("%s: %s", spec, err.message);
        one = m;
        for (int measure = 0; measure < CELLAR_RISK_N_MEASURES; measure++) {
            cellar_risk_options options = {
                .measure = (cellar_risk_measure) measure, .copies = COPIES, .seed = 20};
            cellar_risk_summary exact, simulated;
            cellar_status status;
            if (measure > CELLAR_RISK_EXPECTED && measure < CELLAR_RISK_HARD)
                continue; /* not simulated */
            status = cellar_risk_assess(groups, &one, 1, &options, &exact, &err);
            if (status == CELLAR_ERR_UNSUPPORTED)
                continue; /* too wide to be summed over */
            if (status != CELLAR_OK)
                fail_msg("%s: %s", spec, err.message);
            options.method = CELLAR_RISK_SIMULATE;
            assert_int_equal(cellar_risk_assess(groups, &one, 1, &options, &simulated, &err),
                             CELLAR_OK);
            if (fabs(exact.mean.value - simulated.mean.value) > slack ||
                fabs(exact.mean.right - simulated.mean.right) > slack)
                fail_msg("%s, %s: exact %.6f, simulated %.6f; right %.6f, %.6f", spec,
                         cellar_risk_measure_name(options.measure), exact.mean.value,
                         simulated.mean.value, exact.mean.right, simulated.mean.right);
        }
        cellar_mechanism_free(m);
    }
    cellar_groups_free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_equals_simulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
