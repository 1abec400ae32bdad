/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack on a table of 3.54 million cells: exact against simulated.
 *
 *   bench_risk [PEOPLE ...]
 *
 * The table has 236,000 groups of 15 values. Sizes of groups are drawn from a geometric law, shares
 * of the values from one that a few values dominate, differently in every group. How fast the exact
 * way is depends on how many different counts there are, hence on how many people a group has: 5.5
 * on average, as in the papers' Adult data, 12.7, and 35, where hardly two groups are alike. */
#include <cellar/cellar.h>
#include <math.h>
#include <stdint.h>

#include "harness.h"

enum { N_EPSILONS = 50, COPIES = 500, N_GROUPS = 236000, N_VALUES = 15 };

typedef struct risk_work {
    cellar_groups *groups;
    cellar_mechanism *mechanisms[N_EPSILONS];
    size_t n_mechanisms;
    cellar_risk_options options;
    cellar_risk_summary summaries[N_EPSILONS];
} risk_work;

static uint64_t state = 1;

static double uniform(void) /* splitmix64 */
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double) ((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static void check(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err->message);
        exit(1);
    }
}

static cellar_groups *make_groups(size_t n_groups, size_t n_values, double n_people)
{
    uint64_t *counts = calloc(n_groups * n_values, sizeof *counts);
    double mean = n_people / (double) n_groups;
    cellar_groups *groups = NULL;
    cellar_error err;

    for (size_t i = 0; i < n_groups && counts != NULL; i++) {
        uint64_t size = 1 + (uint64_t) (-(mean - 1) * log1p(-uniform()));
        double skew = 1 + 3 * uniform();
        size_t shift = (size_t) (uniform() * (double) n_values);
        for (uint64_t person = 0; person < size; person++) {
            size_t value = (size_t) (pow(uniform(), skew) * (double) n_values);
            counts[i * n_values + (value + shift) % n_values]++;
        }
    }
    check(cellar_groups_from_counts(counts, n_groups, n_values, NULL, &groups, &err), &err);
    free(counts);
    return groups;
}

static void assess(void *context)
{
    risk_work *work = context;
    cellar_error err;
    check(cellar_risk_assess(work->groups, (const cellar_mechanism *const *) work->mechanisms,
                             work->n_mechanisms, &work->options, work->summaries, &err),
          &err);
}

static void bench_people(risk_work *work, double n_people)
{
    double cells = (double) N_GROUPS * N_VALUES, exact, one_copy, rate, start;
    char what[80];

    work->groups = make_groups(N_GROUPS, N_VALUES, n_people);
    printf("  %.0f people, %zu different counts\n", (double) cellar_groups_n_records(work->groups),
           cellar_groups_n_distinct(work->groups));
    work->options =
        (cellar_risk_options){.measure = CELLAR_RISK_EXPECTED, .average = CELLAR_RISK_BY_PERSON};
    work->n_mechanisms = N_EPSILONS;
    assess(work);
    start = bench_now();
    assess(work);
    exact = bench_now() - start;
    snprintf(what, sizeof what, "expected risk, exact, %d values of epsilon", N_EPSILONS);
    bench_row(what, exact, "s", "goal: below 2");
    work->options.measure = CELLAR_RISK_LOCAL;
    work->options.method = CELLAR_RISK_SIMULATE;
    work->options.copies = 10;
    work->n_mechanisms = 1;
    one_copy = bench_median(assess, work) / 10;
    work->options.n_threads = 1;
    rate = cells / (bench_median(assess, work) / 10);
    bench_row("simulated cells a second, one core", rate / 1e6, "million", "goal: at least 30");
    bench_row("500 copies for each epsilon (from 10 copies)", one_copy * COPIES * N_EPSILONS, "s",
              "");
    bench_row("simulated / exact", one_copy * COPIES * N_EPSILONS / exact, "times",
              "goal: at least 1000");
    cellar_groups_free(work->groups);
}

int main(int argc, char **argv)
{
    static const double people[] = {1.3e6, 3e6, 8.2e6};
    static risk_work work;
    cellar_error err;

    for (int i = 0; i < N_EPSILONS; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "laplace:epsilon=%.6f",
                 pow(10, -2 + 4. * i / (N_EPSILONS - 1)));
        check(cellar_mechanism_create(spec, &work.mechanisms[i], &err), &err);
    }
    for (int i = 1; i < argc; i++)
        bench_people(&work, strtod(argv[i], NULL));
    for (size_t i = 0; i < sizeof people / sizeof people[0] && argc == 1; i++)
        bench_people(&work, people[i]);
    for (int i = 0; i < N_EPSILONS; i++)
        cellar_mechanism_free(work.mechanisms[i]);
    return 0;
}
