/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels on counts: million cells a second on one core, for the non-empty cells of the benchmark
 * table (make_people 8200000 census), sixteen tables long. The first table of all is told apart: it
 * includes proving the thresholds of every distinct count. Specs may be named as arguments. */
#include <cellar/cellar.h>

#include <stdint.h>
#include <string.h>

#include "harness.h"

enum { N_TABLE = 235874, N_ROWS = 8200000, N_COPIES = 16 };

typedef struct kernel_work {
    cellar_mechanism *mechanism;
    cellar_rng *rng;
    int64_t *counts, *released;
    size_t n;
} kernel_work;

static void fail(const cellar_error *err)
{
    fprintf(stderr, "bench_kernels: %s\n", err->message);
    exit(1);
}

static uint64_t mix(uint64_t x) /* splitmix64, as in make_people */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The counts of that table, in a random order. */
static void make_counts(int64_t *counts)
{
    for (uint64_t row = 0; row < N_ROWS; row++) {
        double u = (double) (mix(row) >> 11) * 0x1p-53;
        counts[(size_t) (u * u * N_TABLE)]++;
    }
    for (size_t i = N_TABLE - 1; i > 0; i--) {
        size_t j = (size_t) (mix(i) % (i + 1));
        int64_t count = counts[i];
        counts[i] = counts[j];
        counts[j] = count;
    }
    for (size_t i = 1; i < N_COPIES; i++)
        memcpy(counts + i * N_TABLE, counts, N_TABLE * sizeof *counts);
}

static void draw(void *context)
{
    kernel_work *w = context;
    cellar_error err;
    if (cellar_mechanism_sample_many(w->mechanism, w->counts, w->n, w->rng, w->released, &err) !=
        CELLAR_OK)
        fail(&err);
}

static void bench_spec(const char *spec, const char *goal, kernel_work *w)
{
    cellar_error err;
    double start, first;
    if (cellar_mechanism_create(spec, &w->mechanism, &err) != CELLAR_OK)
        fail(&err);
    start = bench_read(CLOCK_THREAD_CPUTIME_ID);
    w->n = N_TABLE;
    draw(w);
    first = bench_read(CLOCK_THREAD_CPUTIME_ID) - start;
    w->n = (size_t) N_TABLE * N_COPIES;
    bench_row(spec, (double) w->n / bench_median_by(CLOCK_THREAD_CPUTIME_ID, draw, w) / 1e6, "M/s",
              goal);
    printf("    the first table, with its thresholds, %.0f ms: %.2f M/s\n", first * 1e3,
           N_TABLE / first / 1e6);
    cellar_mechanism_free(w->mechanism);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *spec, *goal;
    } cases[] = {
        {"poisson:alpha=1", "goal >= 25"},
        {"negbin:alpha=0.5,sigma=0.3", "goal >= 25"},
        {"pig:alpha=0.5,sigma=0.3", "goal >= 25"},
        {"sichel:alpha=0.5,sigma=0.4,nu=-0.5", "goal >= 25"},
        {"delaporte:alpha=0.5,sigma=0.4,nu=0.3", "goal >= 25"},
        {"hellinger:epsilon=1", "goal >= 25"},
        {"round:base=5", "goal >= 25"},
    };
    kernel_work w = {0};
    cellar_error err;

    if (cellar_rng_create_secure(&w.rng, &err) != CELLAR_OK)
        fail(&err);
    w.counts = calloc((size_t) N_TABLE * N_COPIES, sizeof *w.counts);
    w.released = calloc((size_t) N_TABLE * N_COPIES, sizeof *w.released);
    if (w.counts == NULL || w.released == NULL)
        return 1;
    make_counts(w.counts);
    for (int i = 1; i < argc; i++)
        bench_spec(argv[i], "", &w);
    for (size_t i = 0; argc == 1 && i < sizeof cases / sizeof *cases; i++)
        bench_spec(cases[i].spec, cases[i].goal, &w);
    free(w.counts);
    free(w.released);
    cellar_rng_free(w.rng);
    return 0;
}
