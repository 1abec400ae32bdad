/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws noise of every additive mechanism from bits, and onto counts, that valgrind holds for
 * undefined; and from a matrix and from kernels with such bits. With the argument "leak", looks at
 * one of the results as well. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <valgrind/memcheck.h>

#include "mechanism/noise/additive.h"
#include "mechanism/noise/noise_sampler.h"
#include "random/rng.h"

enum { N = 2500 };

static cellar_status secret_bytes(void *context, void *bytes, size_t length, cellar_error *err)
{
    cellar_status status = cellar_rng_bytes(context, bytes, length, err);
    VALGRIND_MAKE_MEM_UNDEFINED(bytes, length);
    return status;
}

static cellar_status draw(const char *spec, cellar_rng *defined, cellar_rng *secret, int vectors,
                          int64_t *numbers, cellar_error *err)
{
    cellar_mechanism *m = NULL;
    int64_t one = 0;
    cellar_status status = cellar_mechanism_create(spec, &m, err);
    if (status == CELLAR_OK) /* the thresholds are made: they are public */
        status = cellar_mechanism_sample_many(m, &one, 1, defined, &one, err);
    if (status == CELLAR_OK) {
        cellar_noise_sampler *sampler = ((cellar_additive *) m)->sampler;
        cellar_symmetric_use_vectors(cellar_noise_sampler_symmetric(sampler), vectors);
        for (int64_t i = 0; i < N; i++)
            numbers[i] = i;
        VALGRIND_MAKE_MEM_UNDEFINED(numbers, N * sizeof *numbers);
        status = cellar_mechanism_sample_many(m, numbers, N, secret, numbers, err);
    }
    cellar_mechanism_free(m);
    return status;
}

/* Matrices: the count may show, what is drawn may not. */
static cellar_status draw_matrix(cellar_rng *defined, cellar_rng *secret, int64_t *numbers,
                                 cellar_error *err)
{
    cellar_mechanism *m = NULL;
    cellar_status status = cellar_mechanism_create("max-entropy:variance=2,m=5,min=1", &m, err);
    for (int64_t i = 0; i < N; i++)
        numbers[i] = i % 20;
    if (status == CELLAR_OK) /* makes the thresholds */
        status = cellar_mechanism_sample_many(m, numbers, 1, defined, numbers, err);
    if (status == CELLAR_OK)
        status = cellar_mechanism_sample_many(m, numbers, N, secret, numbers, err);
    cellar_mechanism_free(m);
    return status;
}

/* Kernels: likewise, whatever the length of the list; n draws for `n_counts` counts
 * from `first` on. */
static cellar_status draw_kernel(const char *spec, size_t n, int64_t first, int64_t n_counts,
                                 cellar_rng *defined, cellar_rng *secret, int64_t *numbers,
                                 cellar_error *err)
{
    cellar_mechanism *m = NULL;
    cellar_status status = cellar_mechanism_create(spec, &m, err);
    for (int i = 0; i < 2 && status == CELLAR_OK; i++) { /* the first time makes the tables */
        for (size_t j = 0; j < n; j++)
            numbers[j] = first + (int64_t) j % n_counts;
        status =
            cellar_mechanism_sample_many(m, numbers, n, i == 0 ? defined : secret, numbers, err);
    }
    cellar_mechanism_free(m);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {
        "laplace:epsilon=1",
        "discrete-laplace:epsilon=0.01",
        "gaussian:sigma=2",
        "discrete-gaussian:sigma=5",
        "truncated-laplace:epsilon=1,m=5",
        "truncated-normal:epsilon=1,m=9",
    };
    static const struct {
        const char *spec;
        size_t n;
        int64_t first, n_counts;
    } kernels[] = {
        {"poisson:alpha=1", N, 0, 20},
        {"negbin:alpha=0.5,sigma=1", N, 0, 20},
        {"pig:alpha=1,sigma=1", N, 0, 20},
        {"sichel:alpha=1,sigma=0.4,nu=2", N, 0, 20},
        {"delaporte:alpha=1,sigma=0.4,nu=0.3", N, 0, 20},
        {"hellinger:epsilon=5", N, 0, 20},    /* lists compared by their first halves, */
        {"poisson:alpha=1", 10, 40000000, 1}, /* and one that is too long for it */
    };
    static int64_t numbers[N];
    cellar_rng *defined, *secret;
    cellar_error err;

    if (cellar_rng_create_seeded(3, 0, &defined, &err) != CELLAR_OK ||
        cellar_rng_create_source(secret_bytes, defined, &secret, &err) != CELLAR_OK)
        return 2;
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++)
        if (draw(specs[i / 2], defined, secret, (int) (i % 2), numbers, &err) != CELLAR_OK) {
            fprintf(stderr, "%s: %s\n", specs[i / 2], err.message);
            return 2;
        }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (draw_kernel(kernels[i].spec, kernels[i].n, kernels[i].first, kernels[i].n_counts,
                        defined, secret, numbers, &err) != CELLAR_OK) {
            fprintf(stderr, "%s: %s\n", kernels[i].spec, err.message);
            return 2;
        }
    if (draw_matrix(defined, secret, numbers, &err) != CELLAR_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "leak") == 0 && numbers[N - 1] > 19)
        puts("positive");
    cellar_rng_free(secret);
    cellar_rng_free(defined);
    return 0;
}
