/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms that draw a new count from a distribution on 0, 1, ... that depends on the count. Such
 * a mechanism describes the distribution; everything else is shared, the exact sampler included. */
#ifndef CELLAR_MECHANISM_KERNELS_KERNEL_H
#define CELLAR_MECHANISM_KERNELS_KERNEL_H

#include "math/run.h"
#include "mechanism/mechanism.h"

typedef struct cellar_kernel cellar_kernel;

enum { CELLAR_KERNEL_PARTS = 2 };

/* P(b | count) must be positive for all b >= 0 (but that Poisson of mean 0 is 0) and unimodal in b:
 * it does not fall before its mode nor rise after it. Mixtures of Poisson distributions over a
 * unimodal density are (Holgate 1970).
 */
typedef struct cellar_count_law {
    /* Required. ln P(b | count), b >= 0, to about 1e-13. */
    long double (*log_p)(const cellar_kernel *k, int64_t count, int64_t b);
    /* Required. Enclosures of P(first + i | count), i < n, to about `bits` bits. */
    void (*p_balls)(const cellar_kernel *k, int64_t count, int64_t first, size_t n, int64_t bits,
                    arb_ptr out);
    /* Required with the shared slots. out[i] = P(first + i + 1) / P(first + i), i < n. */
    void (*ratios)(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                   long double *out);
    /* Required with the shared slots. No less than P(c + 1) / P(c) for every c >= b. */
    long double (*ratio_bound)(const cellar_kernel *k, int64_t count, int64_t b);
    /* Optional. Starts the run of P(first | count), P(first + 1 | count), ... from which the table
     * of a count is made; without it, balls do. */
    cellar_status (*run)(const cellar_kernel *k, int64_t count, int64_t first, cellar_run *out,
                         cellar_error *err);
    int64_t run_from_zero; /* counts up to this one have their run started at first = 0 */
    int run_anywhere;      /* 1: it may be started at any `first` > 0, so that errors do not grow */
    /* Optional. A bound of P(c + 1) / P(c) that is a convex function of 1/(c + 1), c >= b: its
     * value at b, and its limit, which is that of the ratio, and below 1. */
    void (*ratio_curve)(const cellar_kernel *k, int64_t count, int64_t b, long double *here,
                        long double *limit);
    /* Optional. P(>= b | count), b > 0, in closed form. */
    void (*upper_ball)(const cellar_kernel *k, int64_t count, int64_t b, int64_t bits, arb_t out);
    /* Optional. 1 when P(2c) <= P(c)/4 is known for every c >= b; NULL: by ratio_bound. */
    int (*settles)(const cellar_kernel *k, int64_t count, int64_t b);
    /* Optional. Laws too wide for a table are drawn by rejection, which wants single balls that are
     * quick. Where those of P are not, but b is a sum of CELLAR_KERNEL_PARTS independent unimodal
     * numbers, these are their p_balls and ratio_bound. */
    void (*part_balls)(const cellar_kernel *k, int64_t count, int part, int64_t first, size_t n,
                       int64_t bits, arb_ptr out);
    long double (*part_ratio_bound)(const cellar_kernel *k, int64_t count, int part, int64_t b);
    int64_t parts_from; /* where there are parts: counts from this one on are drawn by them */
    /* Required with the shared slots. Mean and variance. */
    void (*mean_variance)(const cellar_kernel *k, int64_t count, double *mean, double *variance);
} cellar_count_law;

/* The first member of each kernel's struct; init calls cellar_kernel_init(). */
struct cellar_kernel {
    cellar_mechanism base;
    const cellar_count_law *law;
    long double alpha;                     /* added to every count; 0 without such a parameter */
    int alpha_for_zeros;                   /* 1: to counts of zero only */
    struct cellar_kernel_sampler *sampler; /* its tables are made when a count is first drawn */
};

cellar_status cellar_kernel_init(cellar_mechanism *m, const cellar_count_law *law,
                                 cellar_error *err);
void cellar_kernel_clear(cellar_mechanism *m);

/* Balls of this precision start a run. */
enum { CELLAR_KERNEL_RUN_BITS = 116 };

/* The value of a numeric parameter that is known to be there. */
const cellar_parameter *cellar_kernel_parameter(const cellar_kernel *k, const char *name);

/* count + alpha, the mean of all kernels that have an alpha (or the count where that is for zeros).
 */
long double cellar_kernel_mean(const cellar_kernel *k, int64_t count);
void cellar_kernel_mean_rational(const cellar_kernel *k, int64_t count, fmpq_t out);
void cellar_kernel_mean_ball(const cellar_kernel *k, int64_t count, int64_t bits, arb_t out);

/* The largest number below `high`, on the rising side of the distribution, with b P(b) at most
 * 2^-bits by long doubles: roughly that much lies below it. 0 when there is none. */
int64_t cellar_kernel_low_number(const cellar_kernel *k, int64_t count, int64_t high, int64_t bits);

/* Enclosures of P(at most first + i | count), i < n, to an absolute error of about 2^-bits. */
void cellar_kernel_cdf_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                             int64_t bits, arb_ptr out);

/* The shared slots of the table of functions, but for `clear`. */
double cellar_kernel_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_kernel_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                            int64_t bits, arb_t out);
void cellar_kernel_pmf_balls(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                             int64_t bits, arb_ptr out); /* first >= 0 */
void cellar_kernel_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                           int64_t *high);
cellar_status cellar_kernel_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, cellar_error *err);
double cellar_kernel_cdf(const cellar_mechanism *m, int64_t count, int64_t released);
double cellar_kernel_survival(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_kernel_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out);
void cellar_kernel_mean_variance(const cellar_mechanism *m, int64_t count, double *mean,
                                 double *variance);
void cellar_kernel_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                 int64_t bits, arb_t out);

/* A kernel with tails of its own has these three, */
#define CELLAR_KERNEL_SLOTS_BASIC                                                                  \
    .log_pmf = cellar_kernel_log_pmf, .pmf_ball = cellar_kernel_pmf_ball,                          \
    .pmf_balls = cellar_kernel_pmf_balls, .sample_many = cellar_kernel_sample_many
/* all others have all. */
#define CELLAR_KERNEL_SLOTS                                                                        \
    CELLAR_KERNEL_SLOTS_BASIC,                                                                     \
        .support = cellar_kernel_support, .cdf = cellar_kernel_cdf,                                \
        .survival = cellar_kernel_survival, .moments = cellar_kernel_moments,                      \
        .mean_variance = cellar_kernel_mean_variance,                                              \
        .survival_ball = cellar_kernel_survival_ball, .law_row = cellar_kernel_law_row

#endif
