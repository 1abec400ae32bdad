/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates: calibrated sigmas, one of each mechanism, ten thousand points of a profile, and
 * compositions. */
#include <cellar/cellar.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct certify_work {
    const char *spec;
    cellar_certify_options options;
    double gap;
} certify_work;

static void certify(void *context)
{
    certify_work *w = context;
    cellar_mechanism *m = NULL;
    const cellar_mechanism *list[1];
    cellar_certificate *c = NULL;
    cellar_composition comp;
    cellar_error err;
    if (cellar_mechanism_create(w->spec, &m, &err) != CELLAR_OK) {
        fprintf(stderr, "bench_certify: %s\n", err.message);
        exit(1);
    }
    list[0] = m;
    if (cellar_certify(list, 1, &w->options, &c, &err) != CELLAR_OK) {
        fprintf(stderr, "bench_certify: %s\n", err.message);
        exit(1);
    }
    comp = cellar_certificate_composition(c);
    w->gap = comp.tight.epsilon - comp.lower;
    cellar_certificate_free(c);
    cellar_mechanism_free(m);
}

/* One epsilon, or one delta, where the other is NULL. */
static void certify_ask(certify_work *w, const char *const *epsilon, const char *const *delta)
{
    w->options.epsilons = epsilon;
    w->options.n_epsilons = *epsilon != NULL;
    w->options.deltas = delta;
    w->options.n_deltas = *delta != NULL;
}

/* Processor time of the process, in milliseconds. */
static double measure(certify_work *w)
{
    return 1e3 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, certify, w);
}

static void bench_single(void)
{
    static const char *const specs[] = {"laplace:epsilon=1",
                                        "discrete-laplace:epsilon=1",
                                        "gaussian:sigma=3",
                                        "gaussian:sigma=1000",
                                        "discrete-gaussian:sigma=3",
                                        "discrete-gaussian:sigma=1000",
                                        "truncated-laplace:epsilon=0.5,m=10",
                                        "truncated-normal:epsilon=0.5,m=10",
                                        "hellinger:epsilon=1",
                                        "poisson:alpha=1",
                                        "negbin:alpha=0.5,sigma=0.3",
                                        "pig:alpha=0.5,sigma=0.3",
                                        "sichel:alpha=0.5,sigma=0.3,nu=0.7",
                                        "delaporte:alpha=0.5,sigma=0.3,nu=0.4",
                                        "round:base=5",
                                        "max-entropy:variance=1,m=3"};
    static const char *const epsilons[] = {"1"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        certify_work w = {specs[i], cellar_certify_options_default(), 0};
        char what[100];
        w.options.epsilons = epsilons;
        w.options.n_epsilons = 1;
        snprintf(what, sizeof what, "one epsilon, %s", specs[i]);
        bench_row(what, measure(&w), "ms", "goal 50");
    }
}

/* Those that take longest: many counts to look at, long sums, large weights. */
static void bench_slow(void)
{
    static const struct {
        const char *spec, *epsilon, *delta;
        uint64_t max_weight;
    } cases[] = {{"poisson:alpha=1000", "1", NULL, 1},
                 {"sichel:alpha=1,sigma=0.0001,nu=15.5", "1", NULL, 1},
                 {"sichel:alpha=1,sigma=0.0001,nu=15.5", NULL, "1e-6", 1},
                 {"pig:alpha=0.5,sigma=0.01", "0.1", NULL, 1},
                 {"poisson:alpha=1000", "0.001", NULL, 1},
                 {"pig:alpha=193,sigma=17", "0.05", NULL, 1},
                 {"negbin:alpha=240,sigma=11.3", "0.0299", NULL, 1},
                 {"sichel:alpha=7.93,sigma=5.32,nu=-2.17", "0.334", NULL, 1},
                 {"delaporte:alpha=158,sigma=0.758,nu=0.32", "2.24", NULL, 1},
                 {"hellinger:epsilon=0.1", NULL, "1e-6", 1},
                 {"hellinger:epsilon=0.0126", "0.00113", NULL, 300},
                 {"hellinger:epsilon=1.12", "0.0714", NULL, 1000},
                 {"hellinger:epsilon=9.91", NULL, "5.71e-7", 1000},
                 {"discrete-gaussian:sigma=10000", "0.001", NULL, 1},
                 {"discrete-gaussian:sigma=10000", NULL, "1e-6", 1},
                 {"negbin:alpha=0.5,sigma=0.3", "1", NULL, 1000},
                 {"gaussian:sigma=200", "1", NULL, 1000},
                 {"gaussian:sigma=200", "1", NULL, 10000},
                 {"discrete-gaussian:sigma=200", "1", NULL, 1000},
                 {"discrete-gaussian:sigma=845", "0.755", NULL, 1000},
                 {"discrete-gaussian:sigma=4310", "0.0413", NULL, 100},
                 {"gaussian:sigma=10000", "0.01", NULL, 1000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        certify_work w = {cases[i].spec, cellar_certify_options_default(), 0};
        char what[120];
        certify_ask(&w, &cases[i].epsilon, &cases[i].delta);
        w.options.max_weight = cases[i].max_weight;
        snprintf(what, sizeof what, "%s at %s, weight %d, %s",
                 cases[i].delta != NULL ? "epsilon" : "delta",
                 cases[i].delta != NULL ? cases[i].delta : cases[i].epsilon,
                 (int) cases[i].max_weight, cases[i].spec);
        bench_row(what, measure(&w), "ms", "goal 50");
    }
}

/* A thousand mechanisms are made by (epsilon, delta), and as many by their sigma, which is
 * subtracted. */
enum { CALIBRATIONS = 1000 };

static void calibrate(void *context)
{
    for (int i = 0; i < CALIBRATIONS; i++) {
        cellar_mechanism *m = NULL;
        cellar_error err;
        if (cellar_mechanism_create(context, &m, &err) != CELLAR_OK) {
            fprintf(stderr, "bench_certify: %s\n", err.message);
            exit(1);
        }
        cellar_mechanism_free(m);
    }
}

static void bench_calibration_of(const char *name, const char *goal)
{
    static const char *const points[] = {"epsilon=1,delta=1e-6", "epsilon=0.1,delta=1e-9",
                                         "epsilon=3,delta=1e-50", "epsilon=0.1,delta=1e-50"};
    char known[60];
    double rest;
    snprintf(known, sizeof known, "%s:sigma=4", name);
    rest = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, calibrate, known);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char spec[60], what[100];
        double time;
        snprintf(spec, sizeof spec, "%s:%s", name, points[i]);
        time = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, calibrate, spec) - rest;
        snprintf(what, sizeof what, "analytic sigma of %s, %s", name, points[i]);
        bench_row(what, 1e6 * time / CALIBRATIONS, "us", goal);
    }
}

static void bench_calibration(void)
{
    bench_calibration_of("gaussian", "goal 100");
    bench_calibration_of("discrete-gaussian", "goal 1000");
}

static void bench_profile(void)
{
    enum { N = 10000 };
    static const char *const specs[] = {"laplace:epsilon=1",
                                        "gaussian:sigma=3",
                                        "discrete-gaussian:sigma=30",
                                        "truncated-laplace:epsilon=0.5,m=10",
                                        "poisson:alpha=1",
                                        "negbin:alpha=0.5,sigma=0.3",
                                        "pig:alpha=0.5,sigma=0.3",
                                        "sichel:alpha=0.5,sigma=0.3,nu=0.7",
                                        "delaporte:alpha=0.5,sigma=0.3,nu=0.4",
                                        "hellinger:epsilon=1"};
    static char texts[N][16];
    static const char *epsilons[N];
    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "%.4f", 0.0003 * (i + 1));
        epsilons[i] = texts[i];
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        certify_work w = {specs[i], cellar_certify_options_default(), 0};
        double begun = bench_read(CLOCK_PROCESS_CPUTIME_ID);
        char what[100];
        w.options.epsilons = epsilons;
        w.options.n_epsilons = N;
        certify(&w);
        snprintf(what, sizeof what, "10000 epsilons, %s", specs[i]);
        bench_row(what, 1e3 * (bench_read(CLOCK_PROCESS_CPUTIME_ID) - begun), "ms", "goal 1000");
    }
}

static void bench_composition(void)
{
    static const struct {
        const char *spec;
        uint64_t n_cells;
    } cases[] = {{"discrete-laplace:epsilon=0.05", 1000},
                 {"discrete-gaussian:sigma=30", 1000},
                 {"gaussian:sigma=30", 1000},
                 {"gaussian:sigma=10", 1000},
                 {"laplace:epsilon=0.05", 1000},
                 {"poisson:alpha=100", 1000},
                 {"negbin:alpha=50,sigma=0.1", 1000},
                 {"discrete-laplace:epsilon=0.005", 100000},
                 {"discrete-gaussian:sigma=300", 100000}};
    static const char *const deltas[] = {"1e-6"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        certify_work w = {cases[i].spec, cellar_certify_options_default(), 0};
        double time;
        char what[100];
        w.options.n_cells = cases[i].n_cells;
        w.options.deltas = deltas;
        w.options.n_deltas = 1;
        time = measure(&w);
        snprintf(what, sizeof what, "%d-fold, %s (gap %.0e)", (int) cases[i].n_cells, cases[i].spec,
                 w.gap);
        bench_row(what, time, "ms", cases[i].n_cells == 1000 ? "goal 20" : "");
    }
}

/* Cells and units of several records: synthetic counts, and delta_p of noise. */
static void bench_several(void)
{
    static const struct {
        const char *spec, *epsilon, *delta;
        uint64_t n_cells, per_unit;
    } cases[] = {{"pig:alpha=2,sigma=0.5", NULL, "1e-6", 5, 1},
                 {"pig:alpha=100,sigma=5", NULL, "1e-6", 20, 1},
                 {"negbin:alpha=50,sigma=2", "1", NULL, 5, 1},
                 {"sichel:alpha=2,sigma=1,nu=0.3", "1", NULL, 1, 4},
                 {"gaussian:sigma=20", "1", NULL, 20, 1},
                 {"discrete-gaussian:sigma=3860", "0.0112", NULL, 5, 1},
                 {"laplace:epsilon=0.0223", "0.69", NULL, 20, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        certify_work w = {cases[i].spec, cellar_certify_options_default(), 0};
        char what[120];
        certify_ask(&w, &cases[i].epsilon, &cases[i].delta);
        w.options.n_cells = cases[i].n_cells;
        w.options.per_unit = cases[i].per_unit;
        snprintf(what, sizeof what, "%d cells, %d records, %s", (int) cases[i].n_cells,
                 (int) cases[i].per_unit, cases[i].spec);
        bench_row(what, measure(&w), "ms", "goal 50");
    }
}

int main(void)
{
    bench_calibration();
    bench_single();
    bench_slow();
    bench_profile();
    bench_composition();
    bench_several();
    return 0;
}
