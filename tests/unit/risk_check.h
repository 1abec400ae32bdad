/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups from rows of counts, and their risks in one call. */
#ifndef CELLAR_TESTS_RISK_CHECK_H
#define CELLAR_TESTS_RISK_CHECK_H

#include <math.h>
#include <string.h>

#include <cellar/risk.h>
#include <cellar/risk_fit.h>

#include "check.h"

enum { MAX_ROWS = 512 };

/* Rows of n_values counts and how many groups have them. */
static inline cellar_groups *groups_from(const void *rows, size_t n_rows, size_t n_values)
{
    static uint64_t counts[MAX_ROWS * 3], times[MAX_ROWS];
    cellar_groups *groups = NULL;
    assert_true(n_rows <= MAX_ROWS && n_values <= 3);
    for (size_t i = 0; i < n_rows; i++) {
        const char *row = (const char *) rows + i * (n_values + 1) * sizeof *counts;
        memcpy(counts + i * n_values, row, n_values * sizeof *counts);
        memcpy(&times[i], row + n_values * sizeof *counts, sizeof *times);
    }
    assert_int_equal(cellar_groups_from_counts(counts, n_rows, n_values, times, &groups, NULL),
                     CELLAR_OK);
    return groups;
}
#define GROUPS(name, k) groups_from(name, sizeof(name) / sizeof(name)[0], k)

static inline cellar_risk_summary summary(const cellar_groups *groups, const char *spec,
                                          cellar_risk_options options)
{
    cellar_mechanism *m = NULL;
    cellar_risk_summary out;
    cellar_error err;
    const cellar_mechanism *one;
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    one = m;
    if (cellar_risk_assess(groups, &one, 1, &options, &out, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    cellar_mechanism_free(m);
    return out;
}

static inline double mean_risk(const cellar_groups *groups, const char *spec,
                               cellar_risk_measure measure, cellar_risk_method method)
{
    return summary(groups, spec, (cellar_risk_options){.measure = measure, .method = method})
        .mean.value;
}

static inline void within(double got, double want, double slack, const char *what)
{
    if (!(fabs(got - want) <= slack))
        fail_msg("%s: got %.10g, want %.10g", what, got, want);
}

#endif
