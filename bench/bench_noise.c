/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact, secure, constant-time noise: million cells a second on one core, against (a) a plain loop
 * of non-secure floating-point Laplace noise and (b) the raw speed of the bit source, in one run.
 * A cell is read, drawn for, and its released number stored. One core is measured by the time the
 * processor gave the thread, two by the clock on the wall. */
#include <cellar/cellar.h>

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"

enum { N_CELLS = 4 << 20, RAW_BYTES = 1 << 16, N_RAW = 1 << 13 };

typedef struct noise_work {
    cellar_mechanism *mechanism;
    cellar_rng *rng;
    int64_t *counts, *released;
    size_t n;
} noise_work;

static void fail(const cellar_error *err)
{
    fprintf(stderr, "bench_noise: %s\n", err->message);
    exit(1);
}

/* (a): what one would write without a thought of exactness, secrecy or time. */
static void plain_loop(void *context)
{
    noise_work *w = context;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < w->n; i++) {
        double u, noise;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        u = (double) (x >> 11) * 0x1p-53 - 0.5;
        noise = u < 0 ? log1p(2 * u) : -log1p(-2 * u);
        w->released[i] = w->counts[i] + (int64_t) floor(noise + 0.5);
    }
}

/* (b) */
static void raw_bits(void *context)
{
    static unsigned char bytes[RAW_BYTES];
    noise_work *w = context;
    cellar_error err;
    for (int i = 0; i < N_RAW; i++)
        if (cellar_rng_bytes(w->rng, bytes, sizeof bytes, &err) != CELLAR_OK)
            fail(&err);
}

static void draw(void *context)
{
    noise_work *w = context;
    cellar_error err;
    if (cellar_mechanism_sample_many(w->mechanism, w->counts, w->n, w->rng, w->released, &err) !=
        CELLAR_OK)
        fail(&err);
}

static void *draw_thread(void *context)
{
    draw(context);
    return NULL;
}

/* Two threads, each with half of the cells and a generator of its own. */
static void draw_two(void *context)
{
    noise_work *halves = context;
    pthread_t thread;
    if (pthread_create(&thread, NULL, draw_thread, &halves[1]) != 0)
        exit(1);
    draw(&halves[0]);
    pthread_join(thread, NULL);
}

static void bench_spec(const char *spec, const char *goal, noise_work *w, double plain)
{
    noise_work halves[2];
    char label[100];
    double one, wall, two, two_used;
    cellar_error err;
    if (cellar_mechanism_create(spec, &w->mechanism, &err) != CELLAR_OK)
        fail(&err);
    one = bench_median_by(CLOCK_THREAD_CPUTIME_ID, draw, w);
    wall = bench_median(draw, w);
    halves[0] = halves[1] = *w;
    halves[0].n = halves[1].n = w->n / 2;
    halves[1].counts += w->n / 2;
    halves[1].released += w->n / 2;
    if (cellar_rng_create_secure(&halves[1].rng, &err) != CELLAR_OK)
        fail(&err);
    two = bench_median(draw_two, halves);
    two_used = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, draw_two, halves);
    bench_row(spec, (double) w->n / one / 1e6, "M/s", goal);
    snprintf(label, sizeof label,
             "    %.2f x the plain loop; two threads %.2f x one, %.2f x its processor time",
             plain / one, wall / two, two_used / one);
    puts(label);
    cellar_rng_free(halves[1].rng);
    cellar_mechanism_free(w->mechanism);
}

int main(void)
{
    static const struct {
        const char *spec, *goal;
    } cases[] = {
        {"discrete-laplace:epsilon=0.1", "goal >= 50"},
        {"discrete-laplace:epsilon=1", "goal >= 50"},
        {"discrete-laplace:epsilon=2", "goal >= 50"},
        {"laplace:epsilon=1", ""},
        {"discrete-gaussian:sigma=1", "goal >= 20"},
        {"discrete-gaussian:sigma=10", "goal >= 20"},
        {"discrete-gaussian:sigma=50", "goal >= 20"},
        {"gaussian:sigma=10", "goal >= 20"},
        {"truncated-laplace:epsilon=1,m=10", ""},
        {"discrete-laplace:epsilon=0.001", ""},
        {"discrete-gaussian:sigma=1000", ""},
    };
    noise_work w = {.n = N_CELLS};
    cellar_error err;
    double plain, raw;

    if (cellar_rng_create_secure(&w.rng, &err) != CELLAR_OK)
        fail(&err);
    w.counts = calloc(w.n, sizeof *w.counts);
    w.released = calloc(w.n, sizeof *w.released);
    if (w.counts == NULL || w.released == NULL)
        return 1;
    for (size_t i = 0; i < w.n; i++)
        w.counts[i] = (int64_t) (i % 1000);
    plain = bench_median_by(CLOCK_THREAD_CPUTIME_ID, plain_loop, &w);
    raw = bench_median_by(CLOCK_THREAD_CPUTIME_ID, raw_bits, &w);
    bench_row("(a) plain C loop, floating point, not secure", (double) w.n / plain / 1e6, "M/s",
              "");
    bench_row("(b) the secure bit source", (double) N_RAW * RAW_BYTES / raw / 1e9, "GB/s", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_spec(cases[i].spec, cases[i].goal, &w, plain);
    free(w.counts);
    free(w.released);
    cellar_rng_free(w.rng);
    return 0;
}
