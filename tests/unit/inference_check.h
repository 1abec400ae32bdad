/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests of inference share: tables of numbers, and what is found out about them. */
#ifndef CELLAR_TEST_INFERENCE_CHECK_H
#define CELLAR_TEST_INFERENCE_CHECK_H

#include <math.h>
#include <string.h>

#include <cellar/inference.h>

#include "check.h"

#define NEAR(a, b, tolerance) assert_true(fabs((double) (a) - (double) (b)) <= (tolerance))

typedef struct outcome {
    cellar_test aware, naive;
    cellar_test_quality quality;
} outcome;

static inline cellar_noisy *make_noisy(const cellar_noisy_spec *spec)
{
    cellar_noisy *noisy = NULL;
    cellar_error err = {""};
    if (cellar_noisy_create(spec, &noisy, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return noisy;
}

static inline cellar_noisy *make_two_way(size_t n_rows, size_t n_columns, const int64_t *released,
                                         const char *mechanism, cellar_negatives negatives)
{
    const size_t levels[2] = {n_rows, n_columns};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 2,
                                    .released = released,
                                    .mechanism = mechanism,
                                    .negatives = negatives};
    return make_noisy(&spec);
}

static inline outcome test_model(const cellar_noisy *noisy, const char *model, const char *against,
                                 const cellar_test_options *options)
{
    cellar_loglinear *test = NULL;
    cellar_error err = {""};
    outcome found;
    if (cellar_loglinear_create(noisy, model, against, options, &test, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    found = (outcome){cellar_loglinear_aware(test), cellar_loglinear_naive(test),
                      cellar_loglinear_quality(test)};
    cellar_loglinear_free(test);
    return found;
}

static inline outcome test_two_way(size_t n_rows, size_t n_columns, const int64_t *released,
                                   const char *mechanism, cellar_negatives negatives)
{
    const cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = make_two_way(n_rows, n_columns, released, mechanism, negatives);
    outcome found = test_model(noisy, "1 + 2", NULL, &options);
    cellar_noisy_free(noisy);
    return found;
}

#endif
