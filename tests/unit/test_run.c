/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Double-words and runs of probabilities: their proven errors against balls, and the thresholds of
 * kernels made from them against those that balls prove one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fail_every.h"
#include "math/run_quick.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/kernels/kernel_cells.h"
#include "make_mechanism.h"

static cellar_error err;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

/* A double-word between 2^-20 and 2^20 whose low part may be 0 or as large as it gets. */
static cellar_dword random_dword(uint64_t *state)
{
    double high = ldexp((double) (next_random(state) | 1), (int) (next_random(state) % 40) - 73);
    double half_ulp = ldexp(1, ilogb(high) - 53), low;
    low = half_ulp * (0.999 - 1.998 * ((double) next_random(state) * 0x1p-53));
    return next_random(state) % 8 == 0 ? (cellar_dword){high, 0} : cellar_dword_fast_sum(high, low);
}

static void ball_of(cellar_dword x, arb_t out)
{
    arb_t low;
    arb_init(low);
    arb_set_d(low, x.low);
    arb_set_d(out, x.high);
    arb_add(out, out, low, ARF_PREC_EXACT);
    arb_clear(low);
}

/* |got - want| <= units 2^-106 |want| */
static void check_within(cellar_dword got, const arb_t want, double units, const char *what)
{
    arb_t a, b;
    arb_init(a);
    arb_init(b);
    ball_of(got, a);
    arb_sub(a, a, want, 600);
    arb_abs(a, a);
    arb_set_d(b, units);
    arb_mul_2exp_si(b, b, -106);
    arb_mul(b, b, want, 600);
    arb_abs(b, b);
    if (!arb_le(a, b))
        fail_msg("%s: beyond %g units", what, units);
    arb_clear(b);
    arb_clear(a);
}

static void test_operations_keep_their_bounds(void **state)
{
    uint64_t seed = 1;
    arb_t a, b, want;
    (void) state;
    arb_init(a);
    arb_init(b);
    arb_init(want);
    for (int i = 0; i < 20000; i++) {
        cellar_dword x = random_dword(&seed), y = random_dword(&seed);
        double d = (double) (next_random(&seed) % (1 << 20) + 1);
        ball_of(x, a);
        ball_of(y, b);
        arb_add(want, a, b, 500);
        check_within(cellar_dword_add(x, y), want, 4, "add");
        arb_mul(want, a, b, 500);
        check_within(cellar_dword_mul(x, y), want, 5, "mul");
        arb_div(want, a, b, 500);
        check_within(cellar_dword_div(x, y), want, 15, "div");
        arb_set_d(b, d);
        arb_add(want, a, b, 500);
        check_within(cellar_dword_add_double(x, d), want, 2, "add_double");
        arb_inv(want, b, 500);
        check_within(cellar_dword_inverse(d), want, 2, "inverse");
    }
    arb_clear(want);
    arb_clear(b);
    arb_clear(a);
}

static void test_balls_become_double_words(void **state)
{
    double error;
    cellar_dword x;
    arb_t ball;
    (void) state;
    arb_init(ball);
    arb_const_pi(ball, 400);
    x = cellar_dword_of_ball(ball, &error);
    assert_true(error < 2.1);
    check_within(x, ball, error, "pi");
    arb_const_pi(ball, 90); /* a ball that is wider than a double-word */
    cellar_dword_of_ball(ball, &error);
    assert_true(error > 0x1p14 && error < 0x1p20);
    arb_zero(ball);
    cellar_dword_of_ball(ball, &error);
    assert_true(error == INFINITY);
    arb_set_ui(ball, 3);
    arb_mul_2exp_si(ball, ball, 900);
    cellar_dword_of_ball(ball, &error);
    assert_true(error == INFINITY);
    arb_clear(ball);
}

/* ---- kernels -------------------------------------------------------------------- */

static const char *const specs[] = {
    "hellinger:epsilon=3",
    "hellinger:epsilon=40",
    "poisson:alpha=0.1",
    "poisson:alpha=700000",
    "negbin:alpha=0.5,sigma=0.3",
    "negbin:alpha=0.01,sigma=20",
    "negbin:alpha=0.5,sigma=0.000001",
    "pig:alpha=0.5,sigma=0.3",
    "sichel:alpha=0.5,sigma=0.4,nu=-0.7",
    "sichel:alpha=0.5,sigma=2,nu=-20",
    "sichel:alpha=0.5,sigma=1,nu=0",
    "sichel:alpha=2,sigma=0.01,nu=4",
    "delaporte:alpha=0.5,sigma=0.4,nu=0.3",
    "delaporte:alpha=0.01,sigma=3,nu=0.9",
    "delaporte:alpha=3000,sigma=0.0001,nu=0.999",
};
enum { N_SPECS = sizeof specs / sizeof *specs };

typedef struct count_law {
    const cellar_kernel *k;
    int64_t count;
} count_law;

static void law_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const count_law *law = context;
    cellar_kernel_cdf_balls(law->k, law->count, first, n, bits, out);
}

/* Every number of a run is as near to the proven probability as the run says, and that is near. */
static void check_run(const cellar_kernel *k, const char *spec, int64_t count)
{
    enum { N = 700 };
    cellar_dword got[N];
    cellar_run run = {0};
    int64_t first = 0;
    arb_ptr want = _arb_vec_init(N);
    if (count > k->law->run_from_zero)
        first = count / 2;
    assert_int_equal(k->law->run(k, count, first, &run, &err), CELLAR_OK);
    cellar_run_next(&run, N, got);
    if (run.error < INFINITY) {
        if (!(run.error < 0x1p21))
            fail_msg("%s at %lld: error %g", spec, (long long) count, run.error);
        k->law->p_balls(k, count, first, N, 200, want);
        for (size_t i = 0; i < N; i++)
            if (arf_cmpabs_2exp_si(arb_midref(want + i), -600) < 0)
                continue; /* beyond every threshold, and soon beyond the range of doubles */
            else if (got[i].high > 0)
                check_within(got[i], want + i, run.error, spec);
            else
                assert_true(arf_cmpabs_2exp_si(arb_midref(want + i), -390) < 0);
    }
    _arb_vec_clear(want, N);
}

/* The run in doubles from its hundredth number on, against that in double-words. */
static void check_quick(const cellar_kernel *k, const char *spec, int64_t count)
{
    enum { FIRST = 100, N = 900 };
    cellar_dword want[N];
    cellar_run run = {0};
    cellar_run_quick quick;
    assert_int_equal(k->law->run(k, count, 0, &run, &err), CELLAR_OK);
    cellar_run_next(&run, FIRST, want);
    if (!cellar_run_quick_start(&quick, &run))
        return;
    cellar_run_next(&run, N, want);
    for (size_t i = 0; i < N && want[i].high > 0x1p-700 && run.error < 0x1p40; i++) {
        double got = ldexp(quick.p, -CELLAR_RUN_QUICK_BITS * quick.exponent);
        if (fabs(got / want[i].high - 1) > cellar_run_quick_error(&quick) + 0x1p-52)
            fail_msg("%s at %lld: number %zu off by %g", spec, (long long) count, FIRST + i,
                     got / want[i].high - 1);
        cellar_run_quick_step(&quick, quick.kind);
    }
}

static void test_runs_keep_their_bounds(void **state)
{
    static const int64_t counts[] = {0, 1, 30, 500, 2000};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            check_run((const cellar_kernel *) m, specs[s], counts[c]);
        check_quick((const cellar_kernel *) m, specs[s], 0);
        check_quick((const cellar_kernel *) m, specs[s], 30);
        cellar_mechanism_free(m);
    }
}

/* The list made fast is the list of the balls, threshold by threshold. */
static void check_cells(const cellar_kernel *k, const char *spec, int64_t count, size_t *n_made)
{
    count_law context = {k, count};
    cellar_law law = {law_balls, &context, INT64_MAX};
    cellar_kernel_cells cells;
    int64_t *want;
    int found;
    assert_int_equal(cellar_kernel_cells_make(k, count, &law, 3000, &cells, &found, &err),
                     CELLAR_OK);
    if (!found)
        return;
    want = test_malloc(cells.n * sizeof *want);
    cellar_inverse_prove(&law, cells.first, cells.n, want);
    if (memcmp(want, cells.list, cells.n * sizeof *want) != 0)
        fail_msg("%s at %lld: other thresholds", spec, (long long) count);
    assert_true(cells.list[cells.n - 1] == INT64_MAX);
    assert_true(cells.first == 0 || cells.list[0] == INT64_MIN);
    assert_true(cells.n_by_balls <= 1);
    *n_made += cells.n;
    test_free(want);
    cellar_kernel_cells_clear(&cells);
}

static void test_thresholds_are_those_of_the_balls(void **state)
{
    static const int64_t counts[] = {0, 1, 7, 60, 400};
    size_t n_made = 0;
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            check_cells((const cellar_kernel *) m, specs[s], counts[c], &n_made);
        cellar_mechanism_free(m);
    }
    assert_true(n_made > 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_keep_their_bounds),
        cmocka_unit_test(test_balls_become_double_words),
        cmocka_unit_test(test_runs_keep_their_bounds),
        cmocka_unit_test(test_thresholds_are_those_of_the_balls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
