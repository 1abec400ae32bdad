/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probabilities of one count, however they are computed, against the mechanism's own balls: near
 * the count and far out, in doubles, and of both tails. */
#include "check.h"

#include <math.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "privacy/distribution.h"

static const struct {
    const char *spec;
    int64_t count;
} cases[] = {
    {"identity", 3},
    {"laplace:epsilon=0.3", 2},
    {"discrete-laplace:epsilon=0.05", 0},
    {"gaussian:sigma=2.5", 7},
    {"gaussian:sigma=300", 0},
    {"discrete-gaussian:sigma=0.6", 1},
    {"discrete-gaussian:sigma=40", 20},
    {"truncated-laplace:epsilon=0.25,m=6", 3},
    {"truncated-normal:epsilon=1,m=7", 3},
    {"poisson:alpha=1e-20", 0},
    {"poisson:alpha=0.3", 2},
    {"poisson:alpha=900", 40},
    {"negbin:alpha=0.5,sigma=0.03", 7},
    {"negbin:alpha=4,sigma=3", 0},
    {"pig:alpha=0.5,sigma=2", 3},
    {"pig:alpha=1000,sigma=0.01", 60},
    {"sichel:alpha=1,sigma=0.7,nu=-2.4", 1},
    {"sichel:alpha=7,sigma=0.02,nu=16", 0},
    {"delaporte:alpha=0.6,sigma=2,nu=0.3", 4},
    {"delaporte:alpha=40,sigma=0.001,nu=0.9", 0},
    {"hellinger:epsilon=4", 5},
    {"round:base=5", 13},
    {"max-entropy:variance=1.5,m=3", 1},
    {"max-entropy:variance=2,m=4,min=2", 8},
};
enum { N_CASES = sizeof cases / sizeof *cases, PLACES = 24, BITS = 160 };

/* Values of one case: all about the count, and ever further out; PLACES on either side. */
static int64_t place_at(const cellar_distribution *d, int i)
{
    const int far = i / 2;
    int64_t low, high, away;
    cellar_distribution_window(d, far < 2 * PLACES / 3 ? 1e-40 : 1e-220, &low, &high);
    away = far < PLACES / 3
               ? far
               : (i % 2 ? d->count - low : high - d->count) * (far - PLACES / 3) / (PLACES / 2);
    return i % 2 ? d->count - away : d->count + away;
}

static void check_near(cellar_distribution *d, int64_t b, const arb_t truth, int *n_near)
{
    double p;
    arb_t error;
    if (!cellar_distribution_near(d, b, &p))
        return;
    arb_init(error);
    ++*n_near;
    if (p == 0) {
        assert_true(cellar_ball_upper(truth) <= CELLAR_NEAR_LEAST);
    } else {
        arb_set_d(error, p);
        arb_sub(error, error, truth, BITS);
        arb_div(error, error, truth, BITS);
        arb_abs(error, error);
        if (!(cellar_ball_upper(error) <= CELLAR_NEAR_ERROR))
            fail_msg("%s, count %d: %.17g at %ld is off by %g of itself",
                     cellar_mechanism_spec(d->m), (int) d->count, p, (long) b,
                     cellar_ball_upper(error));
    }
    arb_clear(error);
}

/* One value: enclosures meet the mechanism's ball and are close, the first one where the value is
 * not too small; and so are doubles. */
static void check_pmf(cellar_distribution *d, int64_t b, int *n_near)
{
    arb_t p, truth;
    arb_init(p);
    arb_init(truth);
    d->m->ops->pmf_ball(d->m, d->count, b, BITS, truth);
    for (int64_t bits = 128; bits <= 256; bits *= 2) {
        cellar_distribution_pmf(d, b, bits, p);
        if (!arb_overlaps(p, truth) || (!arb_is_zero(p) && arb_rel_accuracy_bits(p) < 50 &&
                                        (bits > 128 || cellar_ball_upper(p) > 1e-100)))
            fail_msg("%s, count %d: P(%ld) is %s, not %s", cellar_mechanism_spec(d->m),
                     (int) d->count, (long) b, arb_get_str(p, 20, 0), arb_get_str(truth, 20, 0));
    }
    check_near(d, b, truth, n_near);
    arb_clear(p);
    arb_clear(truth);
}

/* upper(b) + lower(b - 1) = 1, and upper(b) = P(b) + upper(b + 1). */
static void check_tails(cellar_distribution *d, int64_t b)
{
    arb_t upper, other, p;
    arb_init(upper);
    arb_init(other);
    arb_init(p);
    cellar_distribution_upper(d, b, 128, upper);
    cellar_distribution_upper(d, b + 1, 128, other);
    cellar_distribution_pmf(d, b, 128, p);
    arb_add(p, p, other, 128);
    if (!arb_overlaps(upper, p))
        fail_msg("%s, count %d: P(>= %ld) is %s, not %s", cellar_mechanism_spec(d->m),
                 (int) d->count, (long) b, arb_get_str(upper, 20, 0), arb_get_str(p, 20, 0));
    cellar_distribution_lower(d, b - 1, 128, other);
    arb_add(other, other, upper, 128);
    arb_sub_ui(other, other, 1, 128);
    assert_true(arb_contains_zero(other));
    assert_true(mag_cmp_2exp_si(arb_radref(other), -40) < 0);
    arb_clear(upper);
    arb_clear(other);
    arb_clear(p);
}

static void test_values_and_tails(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_CASES; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        cellar_noise_table noise = {0};
        cellar_distribution d;
        int n_near = 0;
        cellar_distribution_init(&d, m, cases[i].count, CELLAR_NEGATIVES_KEEP);
        d.noise = &noise;
        for (int k = 0; k < 2 * PLACES; k++) {
            const int64_t b = place_at(&d, k);
            if (cellar_distribution_holds(&d, b)) {
                check_pmf(&d, b, &n_near);
                check_tails(&d, b);
            }
        }
        if (d.has_row || (m->ops->is_additive && m->ops->pmf_balls != NULL))
            assert_true(n_near > 0);
        cellar_distribution_clear(&d);
        cellar_noise_table_clear(&noise);
        cellar_mechanism_free(m);
    }
}

/* What is released as zero is all that lies below it; nothing else changes. */
static void test_clamped(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_CASES; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        cellar_distribution kept, zero;
        arb_t p, q;
        arb_init(p);
        arb_init(q);
        cellar_distribution_init(&kept, m, cases[i].count, CELLAR_NEGATIVES_KEEP);
        cellar_distribution_init(&zero, m, cases[i].count, CELLAR_NEGATIVES_ZERO);
        assert_int_equal(zero.is_clamped, kept.low < 0);
        cellar_distribution_pmf(&zero, 0, 128, p);
        cellar_distribution_lower(&kept, 0, 128, q);
        assert_true(arb_overlaps(p, q));
        cellar_distribution_pmf(&zero, -1, 128, p);
        assert_true(arb_is_zero(p));
        cellar_distribution_upper(&zero, 0, 128, p);
        assert_true(arb_is_one(p));
        cellar_distribution_lower(&zero, -1, 128, p);
        assert_true(arb_is_zero(p));
        for (int64_t b = 1; b < 12; b++) {
            cellar_distribution_pmf(&zero, b, 128, p);
            cellar_distribution_pmf(&kept, b, 128, q);
            assert_true(arb_overlaps(p, q));
        }
        cellar_distribution_clear(&kept);
        cellar_distribution_clear(&zero);
        arb_clear(p);
        arb_clear(q);
        cellar_mechanism_free(m);
    }
}

/* All values of a window, and what lies outside it, make 1. */
static void test_windows(void **state)
{
    static const double tails[] = {1e-3, 1e-12, 1e-30};
    (void) state;
    for (size_t i = 0; i < (size_t) 3 * N_CASES; i++) {
        cellar_mechanism *m = make(cases[i / 3].spec);
        cellar_distribution d;
        int64_t low, high;
        arb_t outside, part;
        arb_init(outside);
        arb_init(part);
        cellar_distribution_init(&d, m, cases[i / 3].count, CELLAR_NEGATIVES_KEEP);
        cellar_distribution_window(&d, tails[i % 3], &low, &high);
        assert_true(low >= d.low && high <= d.high && low <= high);
        cellar_distribution_lower(&d, low - 1, 128, outside);
        cellar_distribution_upper(&d, high + 1, 128, part);
        arb_add(outside, outside, part, 128);
        assert_true(cellar_ball_upper(outside) <= 1.01 * tails[i % 3]);
        cellar_distribution_clear(&d);
        arb_clear(outside);
        arb_clear(part);
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_tails),
        cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
