/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that know the noise, beside the naive test of the same numbers: one table of 10 x 10, one
 * of 100 x 100, and all of the published study (Table 3). */
#include <math.h>
#include <string.h>

#include <cellar/study.h>

#include "harness.h"

static void check(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "bench_inference: %s\n", err->message);
    exit(1);
}

/* ---- one table ---------------------------------------------------------------- */

typedef struct table_work {
    const cellar_noisy *noisy;
    size_t n;
    const int64_t *numbers;
    double statistic;
} table_work;

static void run_aware(void *context)
{
    table_work *w = context;
    const cellar_test_options options = cellar_test_options_default();
    cellar_loglinear *test;
    cellar_error err;
    check(cellar_loglinear_create(w->noisy, "1 + 2", NULL, &options, &test, &err), &err);
    w->statistic = cellar_loglinear_aware(test).statistic;
    cellar_loglinear_free(test);
}

/* The naive G^2, the least that any test of the table must do. */
static void run_naive(void *context)
{
    table_work *w = context;
    double rows[100] = {0}, columns[100] = {0}, total = 0, sum = 0;
    for (size_t i = 0; i < w->n * w->n; i++) {
        double x = fmax(0, (double) w->numbers[i]);
        rows[i / w->n] += x;
        columns[i % w->n] += x;
        total += x;
    }
    for (size_t i = 0; i < w->n * w->n; i++) {
        double x = fmax(0, (double) w->numbers[i]);
        sum += x > 0 ? 2 * x * log(x * total / (rows[i / w->n] * columns[i % w->n])) : 0;
    }
    w->statistic = sum;
}

/* Numbers around 55 from a generator of its own. */
static void bench_table(size_t n, const char *mechanism, const char *goal)
{
    const size_t levels[2] = {n, n};
    static int64_t numbers[100 * 100];
    cellar_noisy_spec spec = cellar_noisy_spec_default();
    table_work w = {.n = n, .numbers = numbers};
    cellar_noisy *noisy;
    cellar_error err;
    uint64_t state = 1;
    char what[120];
    spec.n_levels = levels;
    spec.n_variables = 2;
    spec.released = numbers;
    spec.mechanism = mechanism;
    for (size_t i = 0; i < n * n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        numbers[i] = 30 + (int64_t) (state >> 33) % 51;
    }
    check(cellar_noisy_create(&spec, &noisy, &err), &err);
    w.noisy = noisy;
    snprintf(what, sizeof what, "%zu x %zu, %s", n, n, mechanism);
    bench_row(what, 1e3 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, run_aware, &w), "ms", goal);
    snprintf(what, sizeof what, "%zu x %zu, naive", n, n);
    bench_row(what, 1e3 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, run_naive, &w), "ms", "");
    cellar_noisy_free(noisy);
}

/* ---- the study ------------------------------------------------------------------- */

static void run_study(void *context)
{
    static const char *const mechanisms[] = {
        "truncated-laplace:epsilon=0.1,m=10", "truncated-laplace:epsilon=0.1,m=7",
        "truncated-laplace:epsilon=0.5,m=10", "truncated-laplace:epsilon=0.5,m=7"};
    cellar_study_spec spec = cellar_study_spec_default();
    (void) context;
    spec.n_threads = 2;
    for (size_t i = 0; i < 8; i++) {
        cellar_study study;
        cellar_error err;
        spec.mechanism = mechanisms[i / 2];
        spec.dependence = i % 2 == 0 ? 0 : 0.31;
        check(cellar_study_run(&spec, &study, &err), &err);
    }
}

int main(void)
{
    bench_table(10, "truncated-laplace:epsilon=0.5,m=10", "goal 2");
    bench_table(10, "truncated-laplace:epsilon=0.1,m=10", "goal 2");
    bench_table(10, "discrete-laplace:epsilon=0.5", "goal 2");
    bench_table(10, "discrete-gaussian:sigma=4", "goal 2");
    bench_table(100, "truncated-laplace:epsilon=0.5,m=10", "goal 1000");
    bench_table(100, "discrete-laplace:epsilon=0.5", "goal 1000");
    bench_row("Table 3: 8,000 tables, three tests each, two threads", bench_median(run_study, NULL),
              "s", "goal 15");
    return 0;
}
