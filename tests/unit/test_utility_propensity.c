/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>

#include "utility/propensity.h"

/* The numbers were computed in Python from the records of both tables one by one: the share of
 * synthetic ones among those like a record is its propensity; Voas and Williamson from the cells
 * where totals are equal; Jensen and Shannon as the entropy of the mean less the mean entropy. */
static void measures_are_those_of_the_records(void **state)
{
    static const struct {
        int64_t original[6], released[6];
        double want[UTILITY_N_PROPENSITY];
    } cases[] = {
        {{10, 20, 0, 5, 7, 0},
         {12, 15, 1, 9, 5, 0},
         {0.0100365903937, 1.68614718615, 0.970358656433, 6.74458874459, 8.80605646887,
          0.0324514533941}},
        {{10, 20, 0, 5, 7, 0},
         {12, 15, 1, 0, -3, 0},
         {0.0396289424861, 4.81601731602, 5.39666344256, 19.2640692641, 39.3087397302,
          0.181882558768}},
    };
    uint64_t index[6] = {0, 1, 2, 3, 4, 5};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        const utility_cells a = {6, 6, index, (int64_t *) cases[i].original};
        const utility_cells b = {6, 6, index, (int64_t *) cases[i].released};
        double found[UTILITY_N_PROPENSITY];
        cellar_utility_propensity(&a, &b, found);
        for (size_t k = 0; k < UTILITY_N_PROPENSITY; k++)
            if (!(fabs(found[k] - cases[i].want[k]) < 1e-10))
                fail_msg("case %zu, measure %zu: %.12g, not %.12g", i, k, found[k],
                         cases[i].want[k]);
    }
}

static void equal_and_empty_tables(void **state)
{
    uint64_t index[2] = {0, 7};
    int64_t values[2] = {3, 4}, twice[2] = {6, 8}, none[2] = {0, -1};
    const utility_cells a = {2, 2, index, values}, b = {2, 2, index, twice},
                        empty = {2, 2, index, none};
    double found[UTILITY_N_PROPENSITY];
    (void) state;
    cellar_utility_propensity(&a, &b, found);
    for (size_t k = 0; k < UTILITY_N_PROPENSITY; k++)
        assert_true(fabs(found[k] - (k == 2 ? -sqrt(0.5) : 0)) < 1e-12);
    cellar_utility_propensity(&a, &empty, found);
    for (size_t k = 0; k < UTILITY_N_PROPENSITY; k++)
        assert_true(isnan(found[k]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_those_of_the_records),
        cmocka_unit_test(equal_and_empty_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
