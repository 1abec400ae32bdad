/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every benchmark needs: the clock, the middle of several runs, and one way to print. */
#ifndef CELLAR_BENCH_HARNESS_H
#define CELLAR_BENCH_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static inline double bench_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_read(CLOCK_MONOTONIC);
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

enum { BENCH_RUNS = 5 };

/* The median time in seconds of BENCH_RUNS runs by a clock, after one that warms up. */
static inline double bench_median_by(clockid_t clock, void (*work)(void *context), void *context)
{
    double seconds[BENCH_RUNS];
    work(context);
    for (int i = 0; i < BENCH_RUNS; i++) {
        double start = bench_read(clock);
        work(context);
        seconds[i] = bench_read(clock) - start;
    }
    qsort(seconds, BENCH_RUNS, sizeof *seconds, bench_compare);
    return seconds[BENCH_RUNS / 2];
}

static inline double bench_median(void (*work)(void *context), void *context)
{
    return bench_median_by(CLOCK_MONOTONIC, work, context);
}

/* The most memory the process ever held, in MiB. */
static inline double bench_peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double) usage.ru_maxrss / 1024;
}

static inline void bench_row(const char *what, double value, const char *unit, const char *goal)
{
    printf("  %-58s %10.3f %-8s %s\n", what, value, unit, goal);
    fflush(stdout);
}

#endif
