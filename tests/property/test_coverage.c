/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The coverage of every kind of 95 % interval, by simulation: counts are drawn, released and asked
 * about. usage: test_coverage [TABLES]; with a number it prints what docs/inference.md reports.
 *
 * Intervals for the table are exact: their coverage may not be below 0.95. Others rest on
 * chi-square, a prior or a bootstrap, and are held to 0.93 (Bayesian ones over tables drawn from
 * fixed means, which are not their prior's: 0.90). False alarm: 4.5 standard errors each,
 * below 1e-5 for each of the 60 checks; the seed is fixed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cellar/interval.h>

#include "check.h"
#include "inference/simulate.h"

enum { N_CELLS = 6, N_KINDS = 4, TABLES = 120 };
static const size_t levels[2] = {2, 3};
static const double means[N_CELLS] = {3, 12, 40, 25, 8, 60};
static size_t n_tables = TABLES;
static int telling;

/* A mechanism under which intervals are measured. */
typedef struct setting {
    const char *mechanism;
    cellar_negatives negatives;
    int sums; /* 1: rows of the table; 0: single cells */
    int slow; /* 1: a tenth of the tables */
} setting;

static const setting settings[] = {
    {"discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP, 1, 0},
    {"truncated-laplace:epsilon=0.1,m=10", CELLAR_NEGATIVES_KEEP, 1, 0},
    {"discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_ZERO, 0, 0},
    {"poisson:alpha=1", CELLAR_NEGATIVES_KEEP, 0, 0},
    {"negbin:alpha=1,sigma=0.02", CELLAR_NEGATIVES_KEEP, 0, 0},
    {"round:base=5", CELLAR_NEGATIVES_KEEP, 0, 0},
    {"discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_ZERO, 1, 0},
    {"poisson:alpha=1", CELLAR_NEGATIVES_KEEP, 1, 0},
    {"negbin:alpha=1,sigma=0.02", CELLAR_NEGATIVES_KEEP, 1, 1},
    {"round:base=5", CELLAR_NEGATIVES_KEEP, 1, 0},
};

static void fail_unless(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_OK)
        fail_msg("%s", err->message);
}

static void tell(const char *what, const char *how, double covered, double n, double least)
{
    double share = covered / n, error = sqrt(0.05 * 0.95 / n);
    if (telling)
        printf("%-60s %-24s %.3f +- %.3f\n", what, how, share, error);
    if (!(share > least - 4.5 * error))
        fail_msg("%s, %s: coverage %.4f of %.0f", what, how, share, n);
}

/* A table released anew: `counts` are what happened. */
static cellar_noisy *draw_table(cellar_simulator *simulator, const setting *s,
                                const cellar_mechanism *mechanism, const size_t shape[2],
                                const double *mu, int64_t *counts)
{
    int64_t numbers[64];
    size_t n = shape[0] * shape[1];
    const cellar_channel channel = {mechanism, s->negatives, 0, NULL};
    const cellar_noisy_spec spec = {.n_levels = shape,
                                    .n_variables = 2,
                                    .released = numbers,
                                    .mechanism = s->mechanism,
                                    .negatives = s->negatives};
    cellar_noisy *noisy = NULL;
    cellar_error err = {""};
    for (size_t i = 0; i < n; i++)
        counts[i] = cellar_simulate_poisson(simulator, mu[i]);
    fail_unless(cellar_simulate_release(simulator, &channel, 1, counts, n, numbers, &err), &err);
    fail_unless(cellar_noisy_create(&spec, &noisy, &err), &err);
    return noisy;
}

/* ---- cells, margins and comparisons -------------------------------------------------- */

/* What is asked about, and its truth for counts or means in v. */
static double truth_of(const setting *s, int kind, const double *v)
{
    double a = s->sums ? v[0] + v[1] + v[2] : v[0];
    double b = s->sums ? v[3] + v[4] + v[5] : v[1];
    switch (kind) {
    case CELLAR_COMPARE_DIFFERENCE:
        return a - b;
    case CELLAR_COMPARE_RATIO:
        return a / b;
    case CELLAR_COMPARE_PROPORTION:
        return a / (a + b);
    default:
        return a;
    }
}

static cellar_interval ask(const setting *s, const cellar_noisy *noisy, int kind,
                           const cellar_interval_options *options)
{
    const char *of = s->sums ? "1=1" : "1=1; 2=1", *with = s->sums ? "1=2" : "1=1; 2=2";
    cellar_cell_set *set = NULL, *other = NULL;
    cellar_interval found;
    cellar_error err = {""};
    if (kind == CELLAR_COMPARE_PROPORTION)
        with = s->sums ? "" : "1=1; 2=1,2";
    fail_unless(cellar_cell_set_parse(noisy, of, &set, &err), &err);
    if (kind != CELLAR_COMPARE_NONE)
        fail_unless(cellar_cell_set_parse(noisy, with, &other, &err), &err);
    fail_unless(
        cellar_interval_run(noisy, set, (cellar_comparison) kind, other, options, &found, &err),
        &err);
    cellar_cell_set_free(set);
    cellar_cell_set_free(other);
    return found;
}

static void measure(const setting *s, int kind, const cellar_interval_options *options,
                    const char *how, double least)
{
    static const char *const kinds[] = {"count", "difference", "ratio", "proportion"};
    cellar_simulator simulator;
    cellar_mechanism *mechanism;
    cellar_error err = {""};
    double covered = 0, n = 0;
    size_t tables = s->slow ? n_tables / 10 : n_tables;
    char what[120];
    fail_unless(cellar_simulator_init(&simulator, 11, 0, &err), &err);
    fail_unless(cellar_mechanism_create(s->mechanism, &mechanism, &err), &err);
    for (size_t t = 0; t < tables; t++) {
        int64_t counts[N_CELLS];
        double v[N_CELLS], truth;
        cellar_noisy *noisy = draw_table(&simulator, s, mechanism, levels, means, counts);
        for (size_t i = 0; i < N_CELLS; i++)
            v[i] = options->target == CELLAR_TARGET_POPULATION ? means[i] : (double) counts[i];
        truth = truth_of(s, kind, v);
        if (isfinite(truth)) {
            cellar_interval found = ask(s, noisy, kind, options);
            covered += found.low <= truth + 1e-9 && truth <= found.high + 1e-9;
            n++;
        }
        cellar_noisy_free(noisy);
    }
    snprintf(what, sizeof what, "%s%s: %s of %s", s->mechanism,
             s->negatives == CELLAR_NEGATIVES_ZERO ? ", zero" : "", kinds[kind],
             s->sums ? "margins" : "cells");
    tell(what, how, covered, n, least);
    cellar_mechanism_free(mechanism);
    cellar_simulator_clear(&simulator);
}

static void test_intervals(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (int kind = 0; kind < N_KINDS; kind++) {
            if (!telling && (kind == CELLAR_COMPARE_RATIO || (kind > 0 && settings[i].slow)))
                continue; /* a ratio is a proportion, told otherwise */
            cellar_interval_options options = cellar_interval_options_default();
            measure(&settings[i], kind, &options, "table", 0.95);
            options.prior = CELLAR_PRIOR_UNIFORM;
            measure(&settings[i], kind, &options, "table, uniform prior", 0.90);
            options.prior = CELLAR_PRIOR_RECIPROCAL;
            measure(&settings[i], kind, &options, "table, 1/(a+1) prior", 0.90);
            options.prior = CELLAR_PRIOR_NONE;
            options.target = CELLAR_TARGET_POPULATION;
            measure(&settings[i], kind, &options, "population", 0.93);
        }
}

/* All six cells together. */
static void test_simultaneous(void **state)
{
    cellar_simulator simulator;
    cellar_error err = {""};
    (void) state;
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        cellar_interval_options options = cellar_interval_options_default();
        cellar_mechanism *mechanism;
        double covered = 0;
        char what[120];
        if (settings[k].sums && k > 1)
            continue; /* cells were looked at already */
        options.n_simultaneous = N_CELLS;
        fail_unless(cellar_simulator_init(&simulator, 12, k, &err), &err);
        fail_unless(cellar_mechanism_create(settings[k].mechanism, &mechanism, &err), &err);
        for (size_t t = 0; t < n_tables; t++) {
            int64_t counts[N_CELLS];
            cellar_noisy *noisy =
                draw_table(&simulator, &settings[k], mechanism, levels, means, counts);
            int all = 1;
            for (size_t i = 0; i < N_CELLS; i++) {
                cellar_cell_set *cell;
                cellar_interval found;
                fail_unless(cellar_cell_set_create_one(noisy, i, &cell, &err), &err);
                fail_unless(cellar_interval_run(noisy, cell, CELLAR_COMPARE_NONE, NULL, &options,
                                                &found, &err),
                            &err);
                all &= found.low <= (double) counts[i] && (double) counts[i] <= found.high;
                cellar_cell_set_free(cell);
            }
            covered += all;
            cellar_noisy_free(noisy);
        }
        snprintf(what, sizeof what, "%s%s: six cells", settings[k].mechanism,
                 settings[k].negatives == CELLAR_NEGATIVES_ZERO ? ", zero" : "");
        tell(what, "table, simultaneous", covered, (double) n_tables, 0.95);
        cellar_mechanism_free(mechanism);
        cellar_simulator_clear(&simulator);
    }
}

/* ---- association --------------------------------------------------------------------------- */

static void measure_odds_ratio(const setting *s, const double mu[4])
{
    static const size_t both[2] = {0, 1}, shape[2] = {2, 2};
    double truth = mu[0] * mu[3] / (mu[1] * mu[2]), covered = 0;
    cellar_simulator simulator;
    cellar_mechanism *mechanism;
    cellar_error err = {""};
    char what[120];
    fail_unless(cellar_simulator_init(&simulator, 13, 0, &err), &err);
    fail_unless(cellar_mechanism_create(s->mechanism, &mechanism, &err), &err);
    for (size_t t = 0; t < n_tables; t++) {
        int64_t counts[4];
        cellar_interval_estimate aware, naive;
        cellar_noisy *noisy = draw_table(&simulator, s, mechanism, shape, mu, counts);
        fail_unless(cellar_odds_ratio(noisy, both, both, 0.95, &aware, &naive, &err), &err);
        covered += aware.low <= truth && truth <= aware.high;
        cellar_noisy_free(noisy);
    }
    snprintf(what, sizeof what, "%s%s: odds ratio", s->mechanism,
             s->negatives == CELLAR_NEGATIVES_ZERO ? ", zero" : "");
    tell(what, "population", covered, (double) n_tables, 0.93);
    cellar_mechanism_free(mechanism);
    cellar_simulator_clear(&simulator);
}

/* A 4 x 5 table whose rows lean to different columns by `strength`. */
static void measure_cramers_v(const setting *s, double strength)
{
    static const size_t shape[2] = {4, 5};
    double mu[20], rows[4] = {0}, columns[5] = {0}, total = 0, square = 0, covered = 0, truth;
    cellar_test_options options = cellar_test_options_default();
    cellar_simulator simulator;
    cellar_mechanism *mechanism;
    cellar_error err = {""};
    char what[120];
    for (size_t i = 0; i < 20; i++) {
        mu[i] = 40 * exp(strength * (i / 5 == i % 5 ? 1 : 0));
        rows[i / 5] += mu[i];
        columns[i % 5] += mu[i];
        total += mu[i];
    }
    for (size_t i = 0; i < 20; i++) {
        double e = rows[i / 5] * columns[i % 5] / total;
        square += (mu[i] - e) * (mu[i] - e) / e;
    }
    truth = sqrt(square / (total * 3));
    options.n_replicates = 199;
    options.n_threads = 1;
    fail_unless(cellar_simulator_init(&simulator, 14, 0, &err), &err);
    fail_unless(cellar_mechanism_create(s->mechanism, &mechanism, &err), &err);
    for (size_t t = 0; t < n_tables; t++) {
        int64_t counts[20];
        cellar_interval_estimate aware;
        double naive;
        cellar_noisy *noisy = draw_table(&simulator, s, mechanism, shape, mu, counts);
        fail_unless(cellar_cramers_v(noisy, 0.95, &options, &aware, &naive, &err), &err);
        covered += aware.low <= truth && truth <= aware.high;
        cellar_noisy_free(noisy);
    }
    snprintf(what, sizeof what, "%s%s: Cramer's V = %.3f", s->mechanism,
             s->negatives == CELLAR_NEGATIVES_ZERO ? ", zero" : "", truth);
    tell(what, "population", covered, (double) n_tables, 0.90);
    cellar_mechanism_free(mechanism);
    cellar_simulator_clear(&simulator);
}

static void test_association(void **state)
{
    static const double large[4] = {60, 40, 30, 80}, small[4] = {6, 4, 3, 9};
    (void) state;
    for (size_t i = 0; i < 3; i++) {
        measure_odds_ratio(&settings[i], large);
        measure_odds_ratio(&settings[i], small);
        measure_cramers_v(&settings[i], 0.3);
        measure_cramers_v(&settings[i], 1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_association),
    };
    telling = argc > 1;
    if (telling)
        n_tables = (size_t) strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
