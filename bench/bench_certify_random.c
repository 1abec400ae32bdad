/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates that nobody chose: parameters, epsilon or delta, weights, cells and units drawn over
 * several powers of ten, one after the other; how many take longer than the goal, and which. */
#include <cellar/cellar.h>

#include <math.h>
#include <string.h>

#include "harness.h"

enum { CERTIFICATES = 3000 };
static const double GOAL_MS = 50;

/* A fixed sequence of numbers in [0, 1). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (*state >> 11) * 0x1p-53;
}

/* Between 10^low and 10^high. */
static double draw_scale(uint64_t *state, double low, double high)
{
    return pow(10, low + (high - low) * draw(state));
}

static void draw_spec(uint64_t *state, char *out, size_t size)
{
    static const char *const one[] = {"laplace:epsilon",         "discrete-laplace:epsilon",
                                      "hellinger:epsilon",       "gaussian:sigma",
                                      "discrete-gaussian:sigma", "poisson:alpha"};
    static const double ranges[][2] = {{-2.5, 1}, {-2.5, 1}, {-2.5, 1}, {-1, 4}, {-1, 4}, {-2, 3}};
    size_t kind = (size_t) (12 * draw(state));
    double alpha = draw_scale(state, -2, 3), sigma = draw_scale(state, -4, 1.5);
    double share = draw(state);
    if (kind < 6)
        snprintf(out, size, "%s=%.3g", one[kind],
                 draw_scale(state, ranges[kind][0], ranges[kind][1]));
    else if (kind < 8)
        snprintf(out, size, "truncated-%s:epsilon=%.3g,m=%d", kind == 6 ? "laplace" : "normal",
                 draw_scale(state, -2.5, 0.5), 1 + (int) (300 * share));
    else if (kind < 10)
        snprintf(out, size, "%s:alpha=%.3g,sigma=%.3g", kind == 8 ? "negbin" : "pig", alpha, sigma);
    else if (kind == 10)
        snprintf(out, size, "sichel:alpha=%.3g,sigma=%.3g,nu=%.3g", alpha, sigma,
                 draw_scale(state, -1, 1.3) * (share < 0.5 ? -1 : 1));
    else
        snprintf(out, size, "delaporte:alpha=%.3g,sigma=%.3g,nu=%.2f", alpha, sigma,
                 0.02 + 0.96 * share);
}

/* Half of all certificates are of one record in one cell; `what` tells how the others are used. */
static void draw_use(uint64_t *state, cellar_certify_options *options, char *what, size_t size)
{
    static const uint64_t weights[] = {2, 5, 16, 100, 1000}, cells[] = {2, 5, 20, 100, 1000};
    const double kind = draw(state), which = draw(state);
    what[0] = 0;
    if (kind < 0.1) {
        options->max_weight = weights[(size_t) (5 * which)];
        snprintf(what, size, " --max-weight %d", (int) options->max_weight);
    } else if (kind < 0.2) {
        options->n_cells = cells[(size_t) (5 * which)];
        snprintf(what, size, " --cells %d", (int) options->n_cells);
    } else if (kind < 0.3) {
        options->per_unit = 2 + (uint64_t) (5 * which);
        snprintf(what, size, " --per-unit %d", (int) options->per_unit);
    } else if (kind < 0.4) {
        options->neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
        snprintf(what, size, " --neighbours substitute");
    } else if (kind < 0.5) {
        options->negatives = CELLAR_NEGATIVES_ZERO;
        snprintf(what, size, " --negatives zero");
    }
}

/* An epsilon, or a delta that is very small in one case of five. */
static void draw_number(uint64_t *state, int is_delta, char *out, size_t size)
{
    const int is_small = draw(state) < 0.2;
    snprintf(out, size, "%.3g",
             !is_delta  ? draw_scale(state, -3, 1)
             : is_small ? draw_scale(state, -300, -12)
                        : draw_scale(state, -12, -1));
}

/* Processor time of one certificate, in milliseconds; `what` tells which. */
static double certify(uint64_t *state, char *what, size_t size)
{
    char spec[120], number[40], use[40];
    const char *asked = number;
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_mechanism *m = NULL;
    cellar_error err;
    double begun = bench_read(CLOCK_PROCESS_CPUTIME_ID), time;
    int is_delta = draw(state) < 0.5;
    draw_spec(state, spec, sizeof spec);
    draw_number(state, is_delta, number, sizeof number);
    draw_use(state, &options, use, sizeof use);
    if (is_delta)
        options.deltas = &asked;
    else
        options.epsilons = &asked;
    options.n_deltas = is_delta ? 1 : 0;
    options.n_epsilons = is_delta ? 0 : 1;
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK ||
        cellar_certify((const cellar_mechanism *const[]){m}, 1, &options, &c, &err) != CELLAR_OK) {
        fprintf(stderr, "bench_certify_random: %s: %s\n", spec, err.message);
        exit(1);
    }
    time = 1e3 * (bench_read(CLOCK_PROCESS_CPUTIME_ID) - begun);
    snprintf(what, size, "%s --%s %s%s", spec, is_delta ? "delta" : "epsilon", number, use);
    cellar_certificate_free(c);
    cellar_mechanism_free(m);
    return time;
}

int main(void)
{
    static double times[CERTIFICATES];
    char what[200];
    uint64_t state = 20260101;
    int n_over = 0;
    for (size_t i = 0; i < CERTIFICATES; i++) {
        times[i] = certify(&state, what, sizeof what);
        if (times[i] > GOAL_MS) {
            n_over++;
            bench_row(what, times[i], "ms", "goal 50");
        }
    }
    qsort(times, CERTIFICATES, sizeof *times, bench_compare);
    bench_row("certificates at random: the middle one", times[CERTIFICATES / 2], "ms", "goal 50");
    bench_row("the 99th of a hundred", times[CERTIFICATES * 99 / 100], "ms", "goal 50");
    bench_row("the longest", times[CERTIFICATES - 1], "ms", "goal 50");
    bench_row("above 50 ms, in 1,000", n_over * 1000.0 / CERTIFICATES, "", "goal 0");
    return 0;
}
