/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kernels are drawn: tables made by several threads at once, tables that are not kept, every
 * threshold from both sides, every bit string of a toy precision, counts of any size. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "fail_every.h"
#include "math/flint.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/kernels/kernel_cells.h"
#include "mechanism/kernels/kernel_sampler.h"
#include "random/inverse.h"
#include "random/rng.h"
#include "make_mechanism.h"

static cellar_error err;

static const char *const specs[] = {
    "hellinger:epsilon=6",
    "poisson:alpha=1",
    "negbin:alpha=0.5,sigma=0.3",
    "pig:alpha=0.5,sigma=0.3",
    "sichel:alpha=0.5,sigma=0.4,nu=-0.7",
    "delaporte:alpha=0.5,sigma=0.4,nu=0.3",
};
enum { N_SPECS = sizeof specs / sizeof *specs };

static cellar_rng *seeded(void)
{
    cellar_rng *rng;
    assert_int_equal(cellar_rng_create_seeded(5, 0, &rng, &err), CELLAR_OK);
    return rng;
}

/* ---- threads ------------------------------------------------------------------- */

enum { N_LANES = 4, N_CELLS = 1200 };

typedef struct shared {
    const cellar_mechanism *m;
    int64_t released[N_LANES][N_CELLS];
} shared;

static int64_t count_of(size_t i)
{
    return (int64_t) (i % 7 == 0 ? 1500 + i % 3 : i % 40);
}

static cellar_status draw_lane(void *context, int lane, cellar_error *e)
{
    shared *s = context;
    cellar_rng *rng = NULL;
    cellar_status status = cellar_rng_create_seeded(5, 0, &rng, e);
    for (size_t i = 0; i < N_CELLS; i++)
        s->released[lane][i] = count_of(i);
    if (status == CELLAR_OK)
        status = cellar_mechanism_sample_many(s->m, s->released[lane], N_CELLS, rng,
                                              s->released[lane], e);
    cellar_rng_free(rng);
    if (lane != 0)
        flint_cleanup(); /* what Arb keeps for a thread */
    return status;
}

/* All lanes meet every count for the first time together, and draw what one thread draws. */
static void test_threads_make_tables_together(void **state)
{
    static shared s, alone;
    cellar_pool *pool;
    (void) state;
    assert_int_equal(cellar_pool_create(N_LANES, &pool, &err), CELLAR_OK);
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]), *other = make(specs[i]);
        s.m = m;
        assert_int_equal(cellar_pool_run(pool, draw_lane, &s, &err), CELLAR_OK);
        alone.m = other;
        assert_int_equal(draw_lane(&alone, 0, &err), CELLAR_OK);
        for (int lane = 0; lane < N_LANES; lane++)
            assert_memory_equal(s.released[lane], alone.released[0], sizeof alone.released[0]);
        cellar_mechanism_free(other);
        cellar_mechanism_free(m);
    }
    cellar_pool_free(pool);
}

/* ---- memory --------------------------------------------------------------------- */

static void test_tables_need_not_be_kept(void **state)
{
    static shared kept, dropped;
    (void) state;
    for (size_t i = 0; i < N_SPECS; i += 2) {
        cellar_mechanism *m = make(specs[i]), *other = make(specs[i]);
        kept.m = m;
        dropped.m = other;
        cellar_kernel_sampler_keep(((cellar_kernel *) other)->sampler, 3000);
        assert_int_equal(draw_lane(&kept, 0, &err), CELLAR_OK);
        assert_int_equal(draw_lane(&dropped, 0, &err), CELLAR_OK);
        assert_memory_equal(kept.released[0], dropped.released[0], sizeof kept.released[0]);
        cellar_mechanism_free(other);
        cellar_mechanism_free(m);
    }
}

/* ---- ties ------------------------------------------------------------------------- */

typedef struct count_law {
    const cellar_kernel *k;
    int64_t count;
} count_law;

static void law_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const count_law *law = context;
    cellar_kernel_cdf_balls(law->k, law->count, first, n, bits, out);
}

typedef struct filler {
    int byte;
    size_t n_drawn;
} filler;

static cellar_status fill_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    filler *f = context;
    (void) e;
    memset(bytes, f->byte, length);
    f->n_drawn += length;
    return CELLAR_OK;
}

/* Bits one below a threshold, on it and one above, by every kind of comparison. On it, more bits
 * are drawn: zeros stay below the threshold, ones come out above. */
static void check_threshold(const cellar_inverse *table, const cellar_kernel_cells *cells, size_t j,
                            filler *f, cellar_rng *rng)
{
    for (int side = -1; side <= 1; side++)
        for (int level = 0; level <= CELLAR_INVERSE_BEST; level++) {
            int64_t bits, got, want = cells->first + (int64_t) j;
            int distinct = 1;
            if (side == 0 && level < CELLAR_INVERSE_BEST && f->byte != 0)
                continue; /* the exact law takes long */
            if (__builtin_add_overflow(cells->list[j], side, &bits))
                continue;
            if ((side < 0 && j > 0 && cells->list[j - 1] >= bits) ||
                (side > 0 && j + 1 < cells->n && cells->list[j + 1] <= bits) ||
                (side == 0 && ((j > 0 && cells->list[j - 1] == bits) ||
                               (j + 1 < cells->n && cells->list[j + 1] == bits))))
                distinct = 0; /* two thresholds are too near to each other */
            f->n_drawn = 0;
            assert_int_equal(cellar_inverse_decide_many(&table, 1, &bits, level, rng, &got, &err),
                             CELLAR_OK);
            if (distinct) {
                want += side > 0 || (side == 0 && f->byte == 0xff);
                assert_int_equal(got, want);
                assert_int_equal(f->n_drawn > 0, side == 0);
            }
        }
}

static void check_ties(const char *spec, int64_t count)
{
    cellar_mechanism *m = make(spec);
    count_law context = {(const cellar_kernel *) m, count};
    cellar_law law = {law_balls, &context, INT64_MAX};
    cellar_kernel_cells cells;
    cellar_inverse *table;
    filler f = {0};
    cellar_rng *rng;
    int found;
    assert_int_equal(cellar_rng_create_source(fill_bytes, &f, &rng, &err), CELLAR_OK);
    assert_int_equal(
        cellar_kernel_cells_make(context.k, count, &law, 1 << 16, &cells, &found, &err), CELLAR_OK);
    assert_true(found);
    assert_int_equal(
        cellar_inverse_create_list(law, cells.first, cells.list, cells.n, &table, &err), CELLAR_OK);
    for (size_t j = 1; j + 1 < cells.n; j += 1 + cells.n / 4)
        for (f.byte = 0; f.byte <= 0xff; f.byte += 0xff)
            check_threshold(table, &cells, j, &f, rng);
    cellar_inverse_free(table);
    cellar_kernel_cells_clear(&cells);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

static void test_ties_of_every_kernel_reach_the_exact_law(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        check_ties(specs[i], 3);  /* compared whole */
        check_ties(specs[i], 20); /* most of them by their first halves */
    }
}

/* ---- lists of every length ------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* Even thresholds: some with 32 zeros or ones in front, the others anywhere. */
static void make_list(int64_t *t, size_t n, cellar_rng *rng)
{
    assert_int_equal(cellar_rng_bytes(rng, t, n * sizeof *t, &err), CELLAR_OK);
    for (size_t j = 0; j < n; j++) {
        if (j % 7 == 1)
            t[j] = INT64_MIN + (t[j] & UINT32_MAX);
        else if (j % 5 == 1)
            t[j] = INT64_MAX - (t[j] & UINT32_MAX);
        t[j] &= ~INT64_C(1);
    }
    qsort(t, n, sizeof *t, by_value);
}

/* Cells of all lists in turn, more of one than lanes in a vector; odd bits, which equal no
 * threshold: half of them anywhere, the others next to one. */
static void test_lists_of_every_length(void **state)
{
    enum { N_LISTS = 8, N = 400 };
    static const size_t sizes[N_LISTS] = {1, 16, 256, 257, 300, 1000, 9000, 150000};
    static int64_t lists[N_LISTS][150000];
    cellar_inverse *tables[N_LISTS];
    const cellar_inverse *laws[N];
    int64_t bits[N], got[N];
    cellar_rng *rng = seeded();
    (void) state;

    for (size_t i = 0; i < N_LISTS; i++) {
        make_list(lists[i], sizes[i], rng);
        assert_int_equal(
            cellar_inverse_create_list((cellar_law){0}, 10, lists[i], sizes[i], &tables[i], &err),
            CELLAR_OK);
    }
    assert_int_equal(cellar_rng_bytes(rng, bits, sizeof bits, &err), CELLAR_OK);
    for (size_t c = 0; c < N; c++) {
        size_t i = c % N_LISTS;
        laws[c] = tables[i];
        if (c / N_LISTS % 2 == 1)
            bits[c] = lists[i][(uint64_t) bits[c] % sizes[i]] - 2 * (int64_t) (c % 3 == 0);
        bits[c] |= 1;
    }
    for (int level = 0; level <= CELLAR_INVERSE_BEST; level++) {
        assert_int_equal(cellar_inverse_decide_many(laws, N, bits, level, rng, got, &err),
                         CELLAR_OK);
        for (size_t c = 0; c < N; c++) {
            int64_t want = 10;
            for (size_t j = 0; j < sizes[c % N_LISTS]; j++)
                want += lists[c % N_LISTS][j] < bits[c];
            assert_int_equal(got[c], want);
        }
    }
    for (size_t i = 0; i < N_LISTS; i++)
        cellar_inverse_free(tables[i]);
    cellar_rng_free(rng);
}

/* ---- toy precision ------------------------------------------------------------------ */

/* Every prefix of eight bits, followed by zeros and by ones: the value is where u lies between the
 * distribution function's steps. */
static void check_toy(const char *spec, int64_t count)
{
    enum { BITS = 8 };
    cellar_mechanism *m = make(spec);
    count_law context = {(const cellar_kernel *) m, count};
    cellar_law law = {law_balls, &context, INT64_MAX};
    filler f = {0};
    cellar_rng *rng;
    fmpz_t prefix;
    fmpz_init(prefix);
    assert_int_equal(cellar_rng_create_source(fill_bytes, &f, &rng, &err), CELLAR_OK);
    for (int u = 0; u < 1 << BITS; u++)
        for (f.byte = 0; f.byte <= 0xff; f.byte += 0xff) {
            double at = (u + (f.byte != 0)) * 0x1p-8;
            int64_t value;
            fmpz_set_si(prefix, u);
            if (u == 255 && f.byte != 0)
                continue; /* u = 0.111... would be one */
            assert_int_equal(cellar_law_draw(&law, prefix, BITS, rng, &value, &err), CELLAR_OK);
            assert_true(at <= cellar_mechanism_cdf(m, count, value) * (1 + 1e-13));
            assert_true(at >= cellar_mechanism_cdf(m, count, value - 1) * (1 - 1e-13));
        }
    fmpz_clear(prefix);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

static void test_toy_precision(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++)
        check_toy(specs[i], 2);
}

/* ---- counts of any size ---------------------------------------------------------------- */

static void test_large_counts(void **state)
{
    static const int64_t counts[] = {1000000, 1000000000, 1000000000000};
    cellar_rng *rng = seeded();
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            cellar_mechanism *m = make(specs[i]);
            double spread = i == 0 ? 60 * sqrt((double) counts[c]) : 50 * (double) counts[c];
            for (int j = 0; j < 3; j++) { /* Chebyshev would allow less than 1e-3 of this */
                int64_t b;
                assert_int_equal(cellar_mechanism_sample_many(m, &counts[c], 1, rng, &b, &err),
                                 CELLAR_OK);
                assert_true(b >= 0 && fabs((double) b - (double) counts[c]) < spread);
            }
            cellar_mechanism_free(m);
        }
    cellar_rng_free(rng);
}

/* The largest counts that tables hold (Poisson and mixtures): mean and variance are there at
 * once, and a law that cannot be drawn is refused. */
static void test_largest_counts(void **state)
{
    static const int64_t count = (INT64_C(1) << 62) - 1;
    cellar_rng *rng = seeded();
    (void) state;
    for (size_t i = 1; i < 4; i++) {
        cellar_mechanism *m = make(specs[i]);
        double mean, variance;
        int64_t b;
        cellar_mechanism_mean_variance(m, count, &mean, &variance);
        assert_true(fabs(mean / (double) count - 1) < 1e-12 && variance >= (double) count);
        assert_int_equal(cellar_mechanism_sample_many(m, &count, 1, rng, &b, &err),
                         CELLAR_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "takes too many values to be drawn"));
        cellar_mechanism_free(m);
    }
    cellar_rng_free(rng);
}

/* A wide Delaporte count is the sum of its parts. By the normal approximation's error
 * (Berry-Esseen) far below the limit: the gamma part dominates, b/mu is nearly nu + (1 - nu)
 * Gamma(2.5)/2.5. False alarm 1e-9 (DKW), power: an error of 2 x 0.073 escapes with chance 1e-9. */
static void test_parts_add_up(void **state)
{
    enum { N = 2000 };
    static const struct {
        double b, cdf; /* P(0.3 + 0.7 Gamma(2.5)/2.5 <= b) */
    } cases[] = {{0.5, 0.07884}, {0.8, 0.38739}, {1, 0.58412}, {1.5, 0.87257}, {2, 0.96712}};
    int64_t *numbers = cellar_alloc(N, sizeof *numbers);
    cellar_mechanism *m = make("delaporte:alpha=0.5,sigma=0.4,nu=0.3");
    cellar_rng *rng = seeded();
    (void) state;
    for (size_t i = 0; i < N; i++)
        numbers[i] = 100000000;
    assert_int_equal(cellar_mechanism_sample_many(m, numbers, N, rng, numbers, &err), CELLAR_OK);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double share = 0;
        for (size_t i = 0; i < N; i++)
            share += (double) numbers[i] <= 1e8 * cases[c].b;
        if (!(fabs(share / N - cases[c].cdf) < sqrt(log(2 / 1e-9) / (2.0 * N))))
            fail_msg("at %g: %g, not %g", cases[c].b, share / N, cases[c].cdf);
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
    cellar_free(numbers);
}

/* Probabilities that are multiples of 2^-64, which no ball tells from their neighbours: with mean 1
 * and sigma 1 a negative binomial count has P(Y <= y) = 1 - 2^-(y + 1).
 * False alarm: 1e-9 for each of the ten (DKW). */
static void test_dyadic_laws_are_drawn(void **state)
{
    enum { N = 20000 };
    int64_t *numbers = cellar_alloc(N, sizeof *numbers);
    cellar_mechanism *m = make("negbin:alpha=1,sigma=1");
    cellar_rng *rng = seeded();
    (void) state;
    assert_int_equal(cellar_mechanism_sample_many(m, numbers, N, rng, numbers, &err), CELLAR_OK);
    for (int y = 0; y < 10; y++) {
        double share = 0;
        for (size_t i = 0; i < N; i++)
            share += numbers[i] <= y;
        assert_true(fabs(share / N - (1 - ldexp(1, -y - 1))) < sqrt(log(2 / 1e-9) / (2.0 * N)));
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
    cellar_free(numbers);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_mechanism *m = NULL;
    cellar_rng *rng = NULL;
    int64_t counts[3] = {1, 60, 5000000}, released[3];
    cellar_status status = cellar_mechanism_create(context, &m, e);
    if (status == CELLAR_OK)
        status = cellar_rng_create_seeded(1, 0, &rng, e);
    if (status == CELLAR_OK) {
        cellar_kernel_sampler_keep(((cellar_kernel *) m)->sampler, 100); /* the second is dropped */
        status = cellar_mechanism_sample_many(m, counts, 3, rng, released, e);
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
    return status;
}

static void test_memory_may_end(void **state)
{
    static char sum[] = "delaporte:alpha=0.1,sigma=0.4,nu=0.3", weights[] = "hellinger:epsilon=20";
    (void) state;
    check_fail_every(scenario, sum);
    check_fail_every(scenario, weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_make_tables_together),
        cmocka_unit_test(test_tables_need_not_be_kept),
        cmocka_unit_test(test_ties_of_every_kernel_reach_the_exact_law),
        cmocka_unit_test(test_lists_of_every_length),
        cmocka_unit_test(test_toy_precision),
        cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_largest_counts),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_dyadic_laws_are_drawn),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
