/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The 120 published probabilities of ranges.csv, to the two digits printed. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/mechanism.h>

/* P(|max(b, 0) - count| <= range) */
static double within(const cellar_mechanism *m, int64_t count, int64_t range)
{
    double p = cellar_mechanism_cdf(m, count, count + range);
    return range >= count ? p : p - cellar_mechanism_cdf(m, count, count - range - 1);
}

static void test_published_ranges(void **state)
{
    FILE *file = fopen(CELLAR_GOLDEN "/ranges.csv", "r");
    char line[200];
    int n = 0;
    (void) state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *spec = strtok(line, ";"), *count, *field;
        cellar_mechanism *m;
        if (line[0] == '#')
            continue;
        count = strtok(NULL, ";");
        assert_int_equal(cellar_mechanism_create(spec, &m, NULL), CELLAR_OK);
        for (int64_t range = 0; (field = strtok(NULL, ";\n")) != NULL; range++, n++) {
            double got = within(m, strtoll(count, NULL, 10), range);
            if (!(fabs(got - strtod(field, NULL)) <= 0.005))
                fail_msg("%s, count %s, range %lld: %.4f, published %s", spec, count,
                         (long long) range, got, field);
        }
        cellar_mechanism_free(m);
    }
    fclose(file);
    assert_int_equal(n, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
