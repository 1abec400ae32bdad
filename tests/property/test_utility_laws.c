/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expected losses of every mechanism against its own moments and distribution function. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/table_file.h>
#include <cellar/utility.h>

#include "specs.h"

static const int64_t counts[] = {0, 1, 2, 5, 20, 300};
enum { N_COUNTS = sizeof counts / sizeof *counts };

static void assert_near(const char *spec, const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
        fail_msg("%s: %s: got %.17g, want %.17g", spec, what, got, want);
}

static double expected(const cellar_utility *u, const char *measure, int64_t count, int64_t radius)
{
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        if (strcmp(r->measure, measure) == 0 && r->variables == NULL && r->count == count &&
            r->radius == radius && !r->is_above)
            return r->expected;
    }
    fail_msg("no %s", measure);
    return NAN;
}

/* P(|b - a| <= r) from the distribution function, where all below zero is zero. */
static double within(const cellar_mechanism *m, int64_t count, int64_t radius,
                     cellar_negatives negatives)
{
    double below = cellar_mechanism_cdf(m, count, count - radius - 1);
    if (negatives == CELLAR_NEGATIVES_ZERO && count <= radius)
        below = 0;
    return cellar_mechanism_cdf(m, count, count + radius) - below;
}

static void check_spec(const cellar_table *table, const char *spec, cellar_negatives negatives)
{
    static const uint64_t looked_at[] = {0, 1, 2, 5, 20, 300};
    cellar_utility_options options = cellar_utility_options_default();
    cellar_mechanism *m;
    cellar_utility *u;
    double square = 0, bias = 0;

    options.copies = 0;
    options.negatives = negatives;
    options.counts = looked_at;
    options.n_counts = N_COUNTS;
    assert_int_equal(cellar_mechanism_create(spec, &m, NULL), CELLAR_OK);
    assert_int_equal(cellar_utility_assess(table, spec, &options, &u, NULL), CELLAR_OK);
    for (size_t i = 0; i < N_COUNTS; i++) {
        cellar_moments moments;
        double away;
        cellar_mechanism_moments(m, counts[i], negatives, &moments);
        away = moments.mean - (double) counts[i];
        square += moments.variance + away * away;
        bias += away;
        if (counts[i] > 0)
            assert_near(spec, "relative difference",
                        expected(u, "relative_difference", counts[i], -1),
                        away / (double) counts[i]);
        for (int64_t r = 0; r < 5; r++)
            assert_near(spec, "within", expected(u, "within", counts[i], r),
                        within(m, counts[i], r, negatives));
    }
    assert_near(spec, "l2", expected(u, "l2", -1, -1), square);
    assert_near(spec, "total", expected(u, "total_difference", -1, -1), bias);
    assert_near(spec, "zeros", expected(u, "zeros_turned_positive", -1, -1),
                cellar_mechanism_presence(m, 0));
    cellar_utility_free(u);
    cellar_mechanism_free(m);
}

static void every_mechanism(void **state)
{
    const char csv[] = "a,count\np,0\nq,1\nr,2\ns,5\nt,20\nu,300\n";
    cellar_table *table;
    (void) state;
    assert_int_equal(cellar_table_parse("t.csv", csv, sizeof csv - 1, NULL, &table, NULL),
                     CELLAR_OK);
    for (size_t i = 0; i < sizeof conformance_specs / sizeof *conformance_specs; i++) {
        if (strncmp(conformance_specs[i].spec, "cell-key", 8) == 0)
            continue; /* no law of single cells: keys come with the table */
        check_spec(table, conformance_specs[i].spec, CELLAR_NEGATIVES_KEEP);
        check_spec(table, conformance_specs[i].spec, CELLAR_NEGATIVES_ZERO);
    }
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_mechanism)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
