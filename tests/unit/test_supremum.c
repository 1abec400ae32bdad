/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst of all counts, found by blocks, against looking at every count; and what the blocks
 * rest on, at random parameters. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/supremum.h"

enum { KERNELS = 40, COUNTS = 80 };

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

static cellar_mechanism *draw_kernel(uint64_t *state, int i)
{
    char spec[120];
    double alpha = draw_scale(state, -1.5, 2), sigma = draw_scale(state, -2.5, 0.5);
    if (i % 7 == 0) /* thresholds that meet counts exactly */
        alpha = ceil(alpha);
    switch (i % 5) {
    case 0:
        snprintf(spec, sizeof spec, "poisson:alpha=%.4g", alpha);
        break;
    case 1:
        snprintf(spec, sizeof spec, "negbin:alpha=%.4g,sigma=%.3g", alpha, sigma);
        break;
    case 2:
        snprintf(spec, sizeof spec, "pig:alpha=%.4g,sigma=%.3g", alpha, sigma);
        break;
    case 3:
        snprintf(spec, sizeof spec, "sichel:alpha=%.4g,sigma=%.3g,nu=%.2f", alpha, sigma,
                 10 * draw(state) - 5);
        break;
    default:
        snprintf(spec, sizeof spec, "delaporte:alpha=%.4g,sigma=%.3g,nu=%.2f", alpha,
                 fmin(1, sigma), 0.05 + 0.9 * draw(state));
    }
    return make(spec);
}

static double violation_of(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                           const fmpq_t epsilon, cellar_pair_cache *cache)
{
    cellar_pair pair;
    double bound;
    arb_t value;
    arb_init(value);
    cellar_pair_init(&pair, m, count, neighbour, CELLAR_NEGATIVES_KEEP);
    pair.cache = cache;
    cellar_pair_violation(&pair, epsilon, value);
    bound = fmin(1, cellar_ball_upper(value));
    arb_clear(value);
    return bound;
}

/* The same double, unless the worst count lies beyond those looked at; never less. */
static void test_blocks_meet_all_counts(void **state)
{
    uint64_t seed = 20240;
    (void) state;
    for (int i = 0; i < KERNELS; i++) {
        cellar_mechanism *m = draw_kernel(&seed, i);
        int64_t shift = i % 3 == 2 ? 1 + (int64_t) (6 * draw(&seed)) : 1;
        cellar_pair_cache *cache = cellar_pair_cache_create();
        cellar_reach reach = {.m = m, .shift = shift, .cache = cache};
        double most = 0;
        cellar_worst worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, draw_scale(&seed, -1.7, 0.5));
        cellar_supremum_violation(&reach, epsilon, &worst);
        for (int64_t a = 0; a < COUNTS && most < 1; a++) {
            most = fmax(most, violation_of(m, a, a + shift, epsilon, cache));
            most = fmax(most, violation_of(m, a + shift, a, epsilon, cache));
        }
        assert_true(worst.is_proved);
        if (most > worst.bound)
            fail_msg("%s: found %.17g above %.17g", cellar_mechanism_spec(m), most, worst.bound);
        if (worst.is_attained && worst.count < COUNTS && most != worst.bound)
            fail_msg("%s: found %.17g below %.17g", cellar_mechanism_spec(m), most, worst.bound);
        if (worst.is_attained)
            assert_true(worst.bound ==
                        violation_of(m, worst.count, worst.neighbour, epsilon, cache));
        fmpq_clear(epsilon);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
}

/* A search that may do little gives no less than one that may do all, and says when it gave up; and
 * one that has found enough elsewhere finds what is more, and nothing else. */
static void test_giving_up(void **state)
{
    uint64_t seed = 1717;
    int n_bounds = 0;
    (void) state;
    for (int i = 0; i < KERNELS; i++) {
        cellar_mechanism *m = draw_kernel(&seed, i);
        cellar_pair_cache *cache = cellar_pair_cache_create();
        cellar_reach reach = {.m = m, .shift = 1 + i % 2, .cache = cache};
        cellar_worst all, some;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, draw_scale(&seed, -2, -0.5));
        cellar_work_begin(cellar_pair_cache_work(cache), 0);
        cellar_supremum_violation(&reach, epsilon, &all);
        cellar_pair_cache_free(cache); /* what is known already would cost nothing */
        cache = reach.cache = cellar_pair_cache_create();
        cellar_work_begin(cellar_pair_cache_work(cache), 0.01 * (1 + i % 10));
        cellar_supremum_violation(&reach, epsilon, &some);
        assert_true(some.is_proved && some.bound >= all.bound);
        assert_true(!some.is_attained || !all.is_attained || some.bound == all.bound);
        n_bounds += !some.is_attained;
        cellar_work_begin(cellar_pair_cache_work(cache), 0);
        reach.enough = all.bound * (i % 2 == 0 ? 0.999 : 1.001);
        cellar_supremum_violation(&reach, epsilon, &some);
        assert_true(some.bound == fmax(all.bound, reach.enough));
        fmpq_clear(epsilon);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
    assert_true(n_bounds > KERNELS / 10 && n_bounds < KERNELS);
}

/* Lower tails where they are small, against sums of balls from zero on. */
static void test_lower_tails(void **state)
{
    uint64_t seed = 3;
    int n_told = 0;
    arb_t quick, sum, p;
    (void) state;
    arb_init(quick);
    arb_init(sum);
    arb_init(p);
    for (int i = 0; i < KERNELS / 2; i++) {
        cellar_mechanism *m = draw_kernel(&seed, i);
        const int64_t count = 300;
        for (int64_t b = 20; b < count; b += 90) {
            if (!m->ops->lower_ball(m, count, b, quick))
                continue;
            arb_zero(sum);
            for (int64_t c = 0; c <= b; c++) {
                m->ops->pmf_ball(m, count, c, 160, p);
                arb_add(sum, sum, p, 160);
            }
            assert_true(arb_overlaps(quick, sum) && arb_rel_accuracy_bits(quick) > 60);
            n_told++;
        }
        cellar_mechanism_free(m);
    }
    assert_true(n_told > KERNELS / 4);
    arb_clear(quick);
    arb_clear(sum);
    arb_clear(p);
}

/* Upper tails by double-words or in closed form, and their bounds, against sums of balls: near the
 * mean, and where numbers are too small for double-words. */
static void test_upper_tails(void **state)
{
    static const int steps[] = {0, 3, 40, 900};
    uint64_t seed = 7;
    arb_t quick, sum, p;
    (void) state;
    arb_init(quick);
    arb_init(sum);
    arb_init(p);
    for (int i = 0; i < KERNELS / 2; i++) {
        cellar_mechanism *m = draw_kernel(&seed, i);
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++) {
            double mean, variance, factor;
            int64_t b;
            cellar_mechanism_mean_variance(m, 3, &mean, &variance);
            b = (int64_t) (mean + steps[j] * fmax(1, 0.2 * sqrt(variance))) + 1;
            m->ops->survival_ball(m, 3, b - 1, 128, quick);
            arb_zero(sum); /* from where it no longer shows */
            for (int64_t c = b; c < b + 64; c++) {
                m->ops->pmf_ball(m, 3, c, 192, p);
                arb_add(sum, sum, p, 192);
            }
            m->ops->survival_ball(m, 3, b + 63, 192, p);
            arb_add(sum, sum, p, 192);
            if (!arb_overlaps(quick, sum) || arb_rel_accuracy_bits(quick) < 60)
                fail_msg("%s: P(>= %d) is off", cellar_mechanism_spec(m), (int) b);
            factor = m->ops->tail_factor(m, 3, b);
            if (isfinite(factor)) {
                m->ops->pmf_ball(m, 3, b, 192, p);
                arb_set_d(quick, factor);
                arb_mul(p, p, quick, 192);
                assert_false(arb_lt(p, sum));
            }
        }
        cellar_mechanism_free(m);
    }
    arb_clear(quick);
    arb_clear(sum);
    arb_clear(p);
}

/* What is proved of thresholds and tails along the diagonal, and of wide laws. */
static void test_diagonal(void **state)
{
    uint64_t seed = 99;
    arb_t here, next;
    (void) state;
    arb_init(here);
    arb_init(next);
    for (int i = 0; i < KERNELS; i++) {
        cellar_mechanism *m = draw_kernel(&seed, 5 * i + i % 2);
        const cellar_facts *facts = m->ops->facts;
        const int64_t a = (int64_t) (8 * draw(&seed));
        for (int64_t x = 1; x < 60; x += 7) {
            m->ops->survival_ball(m, a, x - 1, 160, here);
            m->ops->survival_ball(m, a + 1, x, 160, next);
            if (facts->side(m, a, x - 1) >= 0)
                assert_false(arb_lt(next, here));
            if (facts->side(m, a, x) <= 0)
                assert_false(arb_gt(next, here));
        }
        cellar_mechanism_free(m);
    }
    arb_clear(here);
    arb_clear(next);
}

/* Laws whose upper tails cannot be summed: small numbers tell delta, and delta_p is bounded. */
static void test_wide_laws(void **state)
{
    cellar_mechanism *m = make("sichel:alpha=300,sigma=19,nu=-9");
    cellar_pair_cache *cache = cellar_pair_cache_create();
    cellar_reach reach = {.m = m, .shift = 1, .cache = cache};
    cellar_worst worst;
    fmpq_t epsilon;
    (void) state;
    fmpq_init(epsilon);
    fmpq_set_si(epsilon, 1, 100);
    cellar_supremum_delta(&reach, epsilon, &worst); /* what lies below tells it */
    assert_true(worst.is_attained && fabs(worst.bound / 0.0009966258647 - 1) < 1e-9);
    fmpq_set_si(epsilon, 1, 10);
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.is_attained && fabs(worst.bound / 5.678416615e-16 - 1) < 1e-9);
    cellar_supremum_violation(&reach, epsilon, &worst);
    assert_true(worst.is_proved && !worst.is_attained && worst.bound < 1e-6);
    fmpq_clear(epsilon);
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

/* A law over hundreds of thousands of numbers: its first pair, by the recurrence of its law. Where
 * ratios are not monotone as well, all counts are bounded at once. */
static void test_widest(void **state)
{
    static const double first = 2.6513373785e-10;
    cellar_mechanism *m = make("pig:alpha=193,sigma=17");
    cellar_mechanism *unordered = make("delaporte:alpha=475,sigma=66,nu=0.1");
    cellar_reach reach = {.m = m, .shift = 1, .negatives = CELLAR_NEGATIVES_KEEP};
    cellar_worst worst;
    fmpq_t epsilon;
    (void) state;
    fmpq_init(epsilon);
    fmpq_set_si(epsilon, 1, 20);
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.is_proved && worst.is_attained);
    assert_true(fabs(worst.bound - first) < 1e-9 * first);
    reach.m = unordered;
    assert_true(cellar_reach_is_wide(&reach, 1e-6));
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.is_proved && !worst.is_attained && worst.bound > 0);
    fmpq_clear(epsilon);
    cellar_mechanism_free(m);
    cellar_mechanism_free(unordered);
}

/* What counts are drawn from bounds how far apart they are, in both orders: the closer the wider
 * their law, but for small numbers; and less for larger counts. */
static void test_mixing(void **state)
{
    static const struct {
        const char *spec;
        int64_t shift;
        double epsilon;
        double near[2]; /* how close the bound is for P of the smaller and of the larger count */
    } cases[] = {
        {"pig:alpha=150,sigma=2", 1, 0.01, {0.2, 0.005}},
        {"pig:alpha=150,sigma=2", 20, 0.3, {0.6, 0.005}},
        {"pig:alpha=900,sigma=0.3", 1, 0.004, {0.05, 0.006}},
        {"pig:alpha=20,sigma=20", 1, 0.2, {1e9, 0.005}},
        {"sichel:alpha=200,sigma=1,nu=3", 1, 0.02, {1.2, 0.04}},
        {"sichel:alpha=400,sigma=3,nu=-4", 5, 0.05, {0.12, 0.002}},
        {"sichel:alpha=3,sigma=1,nu=0.5", 1, 0.5, {1e9, 0.6}},
        {"pig:alpha=40,sigma=0.001", 1, 0.3, {1e9, 1e9}},
    };
    fmpq_t epsilon;
    arb_t bound, later, exact, value;
    (void) state;
    fmpq_init(epsilon);
    arb_init(bound);
    arb_init(later);
    arb_init(exact);
    arb_init(value);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        const int64_t shift = cases[i].shift;
        cellar_rational_set_double(epsilon, cases[i].epsilon);
        arb_set_fmpq(value, epsilon, CELLAR_PAIR_BITS);
        for (int larger = 0; larger < 2; larger++) {
            cellar_pair pair;
            cellar_pair_init(&pair, m, larger ? shift : 0, larger ? 0 : shift,
                             CELLAR_NEGATIVES_KEEP);
            cellar_pair_delta(&pair, epsilon, exact);
            assert_true(m->ops->facts->mixing(m, 0, shift, larger, value, bound));
            assert_true(cellar_ball_upper(bound) >= cellar_ball_lower(exact));
            if (cases[i].near[larger] < 1e9)
                assert_true(cellar_ball_upper(bound) <=
                            (1 + cases[i].near[larger]) * cellar_ball_upper(exact));
            assert_true(m->ops->facts->mixing(m, 3, shift, larger, value, later));
            assert_true(cellar_ball_upper(later) <= cellar_ball_upper(bound));
        }
        cellar_mechanism_free(m);
    }
    fmpq_clear(epsilon);
    arb_clear(bound);
    arb_clear(later);
    arb_clear(exact);
    arb_clear(value);
}

/* The same of laws that are not summed: sums of all numbers by their recurrence say 2.45383787e-10,
 * and quadrature of what they are drawn from 2.453969504e-10. */
static void test_longest(void **state)
{
    cellar_mechanism *m = make("pig:alpha=738,sigma=63.9");
    cellar_pair_cache *cache = cellar_pair_cache_create();
    cellar_reach reach = {.m = m, .shift = 1, .cache = cache};
    cellar_worst worst;
    fmpq_t epsilon;
    (void) state;
    fmpq_init(epsilon);
    fmpq_set_si(epsilon, 1, 100);
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.is_proved && !worst.is_attained && worst.count == 1);
    assert_true(fabs(worst.bound / 2.453969504e-10 - 1) < 1e-9);
    assert_true(cellar_supremum_bound(&reach, epsilon) == worst.bound);
    fmpq_set_si(epsilon, 1, 1000); /* small numbers tell it, and exactly */
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.is_attained && worst.count == 0 &&
                fabs(worst.bound / 0.0001059092651 - 1) < 1e-9);
    fmpq_clear(epsilon);
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

/* Of ordered kernels no pair of counts is further apart than the one before, in either order. */
static void test_order(void **state)
{
    static const char *const ordered[] = {
        "poisson:alpha=0.3",
        "negbin:alpha=0.7,sigma=1.9",
        "pig:alpha=0.2,sigma=0.05",
        "pig:alpha=3,sigma=2",
        "sichel:alpha=0.4,sigma=3,nu=-2.6",
        "sichel:alpha=1,sigma=0.2,nu=4.1",
        "sichel:alpha=0.05,sigma=1.5,nu=0.3",
        "delaporte:alpha=0.6,sigma=0.97,nu=0.1",
        "delaporte:alpha=2,sigma=0.2,nu=0.8",
    };
    static const double epsilons[] = {0, 0.01, 0.2, 0.7, 1.5, 4};
    enum { LOOKED_AT = 12 };
    cellar_mechanism *mechanisms[sizeof ordered / sizeof *ordered];
    cellar_pair_cache *cache = cellar_pair_cache_create();
    fmpq_t epsilon;
    arb_t delta, before;
    (void) state;
    assert_non_null(cache);
    fmpq_init(epsilon);
    arb_init(delta);
    arb_init(before);
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        cellar_mechanism *m = mechanisms[i] =
            make(ordered[i]); /* the cache tells them by address */
        assert_true(m->ops->facts->is_ordered(m));
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
            for (int64_t s = -2; s <= 2; s += s == -1 ? 2 : 1) {
                arb_one(before);
                cellar_rational_set_double(epsilon, epsilons[e]);
                for (int64_t count = 0; count < LOOKED_AT; count++) {
                    cellar_pair pair;
                    cellar_pair_init(&pair, m, s > 0 ? count : count - s, s > 0 ? count + s : count,
                                     CELLAR_NEGATIVES_KEEP);
                    pair.cache = cache;
                    cellar_pair_delta(&pair, epsilon, delta);
                    assert_false(arb_gt(delta, before));
                    arb_swap(before, delta);
                }
            }
    }
    cellar_pair_cache_free(cache);
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        cellar_mechanism_free(mechanisms[i]);
    fmpq_clear(epsilon);
    arb_clear(delta);
    arb_clear(before);
}

/* Half-whole orders have Bessel functions in closed form, others next to them have not: bounds of
 * all large counts must meet. */
static void test_moments_meet(void **state)
{
    static const double epsilons[] = {0.05, 0.3, 1};
    cellar_mechanism *closed = make("sichel:alpha=2,sigma=0.7,nu=0.5");
    cellar_mechanism *general = make("sichel:alpha=2,sigma=0.7,nu=0.50000001");
    arb_t epsilon, one, other;
    (void) state;
    arb_init(epsilon);
    arb_init(one);
    arb_init(other);
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
        for (int64_t from = 0; from < 3000; from = 4 * from + 1) {
            arb_set_d(epsilon, epsilons[e]);
            closed->ops->facts->exceeds(closed, from, 1, epsilon, 64, one);
            general->ops->facts->exceeds(general, from, 1, epsilon, 64, other);
            assert_true(cellar_ball_upper(one) > 0);
            assert_true(fabs(cellar_ball_upper(other) / cellar_ball_upper(one) - 1) < 1e-4);
        }
    arb_clear(epsilon);
    arb_clear(one);
    arb_clear(other);
    cellar_mechanism_free(closed);
    cellar_mechanism_free(general);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_meet_all_counts),
        cmocka_unit_test(test_giving_up),
        cmocka_unit_test(test_upper_tails),
        cmocka_unit_test(test_lower_tails),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_wide_laws),
        cmocka_unit_test(test_widest),
        cmocka_unit_test(test_mixing),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_moments_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
