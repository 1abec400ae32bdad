/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exactness of inverse transform sampling: all bit strings of a toy precision, and forced ties. */
#include "check.h"

#include <string.h>

#include "math/ball.h"
#include "random/rng.h"
#include "random/thresholds.h"

static cellar_error err;

/* Laws with different kinds of thresholds: transcendental, rational, and on the grid itself. */
static void geometric_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context; /* 1 - e^{-(j+1)/2} */
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, -(first + (int64_t) i + 1));
        arb_mul_2exp_si(out + i, out + i, -1);
        arb_expm1(out + i, out + i, bits);
        arb_neg(out + i, out + i);
    }
}

static void thirds_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context; /* 1/3, 2/3, 1 */
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, first + (int64_t) i + 1);
        arb_div_ui(out + i, out + i, 3, bits);
    }
}

static void quarters_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    (void) bits; /* 1/4, 2/4, 3/4, 1: exact */
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, first + (int64_t) i + 1);
        arb_mul_2exp_si(out + i, out + i, -2);
    }
}

static const struct {
    const char *name;
    cellar_law law;
} LAWS[] = {
    {"geometric", {geometric_balls, NULL, INT64_MAX}},
    {"thirds", {thirds_balls, NULL, 2}},
    {"quarters", {quarters_balls, NULL, 3}},
};
enum { N_LAWS = sizeof LAWS / sizeof *LAWS };

/* A source that repeats one byte, and counts how often it was asked; or refuses. */
typedef struct constant_source {
    unsigned char byte;
    int refuses, n_asked;
} constant_source;

static cellar_status constant_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    constant_source *source = context;
    (void) e;
    source->n_asked++;
    memset(bytes, source->byte, length);
    return source->refuses ? CELLAR_ERR_INPUT : CELLAR_OK;
}

static void probability_bounds(const cellar_law *law, int64_t value, double *low, double *high)
{
    arb_t above, below;
    arb_init(above);
    arb_init(below);
    law->cdf_balls(law->context, value, 1, 100, above);
    if (value > 0)
        law->cdf_balls(law->context, value - 1, 1, 100, below);
    arb_sub(above, above, below, 100);
    *low = cellar_ball_lower(above);
    *high = cellar_ball_upper(above);
    arb_clear(above);
    arb_clear(below);
}

/* Every string of 12 bits either decides a value or, when a threshold lies within its cell, asks
 * for more. The strings that decide y and those that ask bracket 2^12 P(y), for every y. */
static void test_all_bit_strings_of_twelve_bits(void **state)
{
    enum { BITS = 12, N = 1 << BITS, VALUES = 64 };
    (void) state;
    for (size_t k = 0; k < N_LAWS; k++) {
        constant_source source = {.refuses = 1};
        int decided[VALUES] = {0}, n_undecided = 0;
        cellar_rng *rng;
        fmpz_t prefix;
        fmpz_init(prefix);
        assert_int_equal(cellar_rng_create_source(constant_bytes, &source, &rng, &err), CELLAR_OK);
        for (int u = 0; u < N; u++) {
            int64_t value;
            fmpz_set_si(prefix, u);
            if (cellar_law_draw(&LAWS[k].law, prefix, BITS, rng, &value, &err) == CELLAR_OK) {
                assert_in_range(value, 0, VALUES - 1);
                decided[value]++;
            } else {
                n_undecided++;
            }
        }
        for (int64_t y = 0; y < VALUES && y <= LAWS[k].law.last; y++) {
            double low, high;
            probability_bounds(&LAWS[k].law, y, &low, &high);
            assert_true(decided[y] <= N * high);
            assert_true(N * low <= decided[y] + n_undecided);
        }
        /* geometric: 17 thresholds e^{-j/2} above 2^-12 in cells of their own, all others in the
         * last; thirds: two; quarters lie on the grid, where every string decides */
        assert_int_equal(n_undecided, k == 0 ? 17 : k == 1 ? 2 : 0);
        fmpz_clear(prefix);
        cellar_rng_free(rng);
    }
}

/* The undecided strings, extended by all strings of 8 more bits, decide in the exact proportion:
 * over all strings of 20 bits each value is at most one string off per threshold. */
static void test_all_extensions_by_eight_bits(void **state)
{
    enum { BITS = 12, MORE = 8, N = 1 << (BITS + MORE), VALUES = 64 };
    constant_source source = {.refuses = 1};
    int decided[VALUES] = {0};
    cellar_rng *rng;
    fmpz_t prefix;
    (void) state;
    fmpz_init(prefix);
    assert_int_equal(cellar_rng_create_source(constant_bytes, &source, &rng, &err), CELLAR_OK);
    for (int u = 0; u < 1 << BITS; u++) {
        int64_t value;
        fmpz_set_si(prefix, u);
        if (cellar_law_draw(&LAWS[0].law, prefix, BITS, rng, &value, &err) == CELLAR_OK) {
            decided[value] += 1 << MORE;
            continue;
        }
        for (int more = 0; more < 1 << MORE; more++) {
            fmpz_set_si(prefix, (u << MORE) + more);
            if (cellar_law_draw(&LAWS[0].law, prefix, BITS + MORE, rng, &value, &err) == CELLAR_OK)
                decided[value]++;
        }
    }
    for (int64_t y = 0; y < 20; y++) {
        double low, high;
        probability_bounds(&LAWS[0].law, y, &low, &high);
        assert_true(decided[y] <= N * high);
        assert_true(decided[y] > N * low - 2);
    }
    fmpz_clear(prefix);
    cellar_rng_free(rng);
}

/* 96 bits equal to a threshold's cell: zeros after them are below the threshold, ones above. */
static void test_ties_take_the_slow_way_and_are_right(void **state)
{
    cellar_thresholds t;
    (void) state;
    assert_int_equal(cellar_thresholds_init(&t, LAWS[0].law, 1000, &err), CELLAR_OK);
    assert_in_range(t.n_second, 133, 135); /* e^{-j/2} < 2^-96 from j = 134 on */
    for (size_t j = 0; j + 1 < t.n_second; j += 7)
        for (int ones = 0; ones <= 1; ones++) {
            constant_source source = {.byte = ones ? 0xff : 0};
            uint32_t tie;
            int64_t value;
            cellar_rng *rng;
            cellar_thresholds_decide(&t, t.high[j], t.low[j], &tie);
            assert_int_equal(tie, UINT32_MAX);
            assert_int_equal(cellar_rng_create_source(constant_bytes, &source, &rng, &err),
                             CELLAR_OK);
            assert_int_equal(cellar_thresholds_resolve(&t, t.high[j], t.low[j], rng, &value, &err),
                             CELLAR_OK);
            assert_int_equal(value, (int64_t) j + ones);
            assert_int_equal(source.n_asked, 1);
            cellar_rng_free(rng);
        }
    cellar_thresholds_clear(&t);
}

/* Away from ties the table and the exact law agree, on both sides of every threshold. */
static void test_table_agrees_with_the_law(void **state)
{
    constant_source source = {.refuses = 1};
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_source(constant_bytes, &source, &rng, &err), CELLAR_OK);
    for (size_t k = 0; k < N_LAWS; k++) {
        cellar_thresholds t;
        assert_int_equal(cellar_thresholds_init(&t, LAWS[k].law, 1000, &err), CELLAR_OK);
        for (size_t j = 0; j + 1 < t.n_second; j++)
            for (uint64_t side = 0; side < 2; side++) {
                uint64_t low = t.low[j] + (side ? 1 : UINT64_MAX);
                uint32_t tie;
                int32_t value = cellar_thresholds_decide(&t, t.high[j], low, &tie);
                int64_t exact;
                if (tie || (side ? low == 0 : low == UINT64_MAX))
                    continue; /* the cell next to it belongs to another threshold or word */
                assert_int_equal(cellar_thresholds_resolve(&t, t.high[j], low, rng, &exact, &err),
                                 CELLAR_OK);
                assert_int_equal(exact, value);
                assert_int_equal(value, j + side);
            }
        cellar_thresholds_clear(&t);
    }
    cellar_rng_free(rng);
}

static void test_too_wide_a_law_is_refused(void **state)
{
    cellar_thresholds t;
    (void) state;
    assert_int_equal(cellar_thresholds_init(&t, LAWS[0].law, 100, &err), CELLAR_ERR_ARGUMENT);
    assert_null(t.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bit_strings_of_twelve_bits),
        cmocka_unit_test(test_all_extensions_by_eight_bits),
        cmocka_unit_test(test_ties_take_the_slow_way_and_are_right),
        cmocka_unit_test(test_table_agrees_with_the_law),
        cmocka_unit_test(test_too_wide_a_law_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
