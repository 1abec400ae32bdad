/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certificates of Hellinger counts rest on: sums and laws in long doubles against balls,
 * bounds of many pairs of counts against each of them, and the worst of all against a search. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/facts_hellinger.h"
#include "mechanism/hellinger_sides.h"
#include "mechanism/hellinger_sums.h"
#include "mechanism/mechanism.h"
#include "privacy/supremum.h"

static const double epsilons[] = {0.001, 0.004, 0.07, 0.6, 2, 9, 70, 900};
enum { N_EPSILONS = sizeof epsilons / sizeof *epsilons, BITS = 192 };

static cellar_mechanism *make_hellinger(double epsilon)
{
    char spec[60];
    snprintf(spec, sizeof spec, "hellinger:epsilon=%g", epsilon);
    return make(spec);
}

/* A fixed sequence of numbers in [0, 1). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (*state >> 11) * 0x1p-53;
}

static double draw_scale(uint64_t *state, double low, double high)
{
    return pow(10, low + (high - low) * draw(state));
}

/* ---- sums and laws -------------------------------------------------------------------- */

static void rate_of(double epsilon, arb_t out)
{
    char decimal[40];
    snprintf(decimal, sizeof decimal, "%g", epsilon);
    assert_int_equal(arb_set_str(out, decimal, BITS), 0);
    arb_mul_2exp_si(out, out, -1);
}

/* Both halves of Z(count). */
static void sides_by_balls(const arb_t rate, int64_t count, arb_t below, arb_t above)
{
    arb_t factor;
    arb_init(factor);
    arb_sqrt_ui(factor, (ulong) count, BITS);
    arb_mul(factor, factor, rate, BITS);
    arb_exp(factor, factor, BITS);
    arb_zero(below);
    if (count > 0)
        cellar_hellinger_below_ball(rate, count - 1, BITS, below);
    arb_div(below, below, factor, BITS);
    cellar_hellinger_above_ball(rate, count, BITS, above);
    arb_mul(above, above, factor, BITS);
    arb_clear(factor);
}

/* x as a ball. */
static void ball_of(long double x, arb_t out)
{
    double high = (double) x, low = (double) (x - (long double) high);
    arb_t t;
    arb_init(t);
    arb_set_d(out, high);
    arb_set_d(t, low);
    arb_add(out, out, t, BITS);
    arb_clear(t);
}

static void assert_near(long double x, const arb_t truth, long double error)
{
    arb_t t;
    arb_init(t);
    ball_of(x, t);
    arb_sub(t, t, truth, BITS);
    arb_abs(t, t);
    if (!(cellar_ball_upper(t) <= (double) error))
        fail_msg("%.20Lg is off by %g, more than %g", x, cellar_ball_upper(t), (double) error);
    arb_clear(t);
}

static void test_sides(void **state)
{
    static const int64_t counts[] = {0, 1, 2, 60, 511, 512, 5000, 131071, 131072, 900000, 70000000};
    arb_t rate, below[2], above[2], log_z;
    (void) state;
    arb_init(rate);
    arb_init(log_z);
    for (int i = 0; i < 2; i++) {
        arb_init(below[i]);
        arb_init(above[i]);
    }
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        cellar_hellinger_sides *sides = cellar_hellinger_sides_of(m);
        rate_of(epsilons[e], rate);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            const int64_t a = counts[i], b = a + (i % 3 == 0 ? 1 : i % 3 == 1 ? 9 : 700);
            cellar_hellinger_side side = cellar_hellinger_sides_at(sides, a);
            long double range = 2 * cellar_hellinger_sides_rate(sides) *
                                (sqrtl((long double) b) - sqrtl((long double) a));
            long double error, found = cellar_hellinger_sides_log(sides, a, b, range, &error);
            sides_by_balls(rate, a, below[0], above[0]);
            sides_by_balls(rate, b, below[1], above[1]);
            assert_near(side.below, below[0], 0x1p-50L * side.below);
            assert_near(side.above, above[0], 0x1p-50L * side.above);
            arb_add(below[0], below[0], above[0], BITS);
            arb_add(below[1], below[1], above[1], BITS);
            assert_false(arb_lt(below[1], below[0])); /* Z rises */
            arb_div(log_z, below[1], below[0], BITS);
            arb_log(log_z, log_z, BITS);
            assert_near(found, log_z, error);
        }
        cellar_mechanism_free(m);
    }
    for (int i = 0; i < 2; i++) {
        arb_clear(below[i]);
        arb_clear(above[i]);
    }
    arb_clear(rate);
    arb_clear(log_z);
}

/* Lower and upper tails add up to 1, and the lower is precise where it is tiny. */
static void test_tails(void **state)
{
    static const int64_t counts[] = {3, 200, 1000, 70000};
    arb_t below, above;
    (void) state;
    arb_init(below);
    arb_init(above);
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int64_t b = 0; b < 3 * counts[i]; b += 1 + counts[i] / 2) {
                m->ops->cdf_ball(m, counts[i], b, 128, below);
                m->ops->survival_ball(m, counts[i], b, 128, above);
                if (b < counts[i])
                    assert_true(arb_rel_accuracy_bits(below) > 100);
                arb_add(below, below, above, 128);
                arb_sub_ui(below, below, 1, 128);
                assert_true(arb_contains_zero(below));
                assert_true(mag_cmp_2exp_si(arb_radref(below), -90) < 0);
            }
        m->ops->cdf_ball(m, 5, -1, 128, below);
        assert_true(arb_is_zero(below));
        cellar_mechanism_free(m);
    }
    arb_clear(below);
    arb_clear(above);
}

static void test_shares(void **state)
{
    enum { PAIRS = 7, SHIFT = 5, WIDTH = SHIFT + 1 };
    double shares[2 * PAIRS * WIDTH];
    arb_t p;
    (void) state;
    arb_init(p);
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        const int64_t first = e % 2 ? 40 : 0;
        assert_true(m->ops->facts->shares(m, first, PAIRS, SHIFT, shares));
        for (int64_t i = 0; i < (int64_t) 2 * PAIRS * WIDTH; i++) {
            int64_t smaller = first + i / (2 * WIDTH), j = i % WIDTH;
            int64_t count = i / WIDTH % 2 ? smaller + SHIFT : smaller;
            if (j == 0)
                m->ops->cdf_ball(m, count, smaller, 128, p);
            else if (j == SHIFT)
                m->ops->survival_ball(m, count, smaller + SHIFT - 1, 128, p);
            else
                m->ops->pmf_ball(m, count, smaller + j, 128, p);
            assert_near((long double) shares[i], p, 0x1p-49L * (long double) shares[i]);
        }
        assert_false(m->ops->facts->shares(m, 0, 1, INT64_C(1) << 50, shares));
        cellar_mechanism_free(m);
    }
    arb_clear(p);
}

/* ---- pairs of counts ------------------------------------------------------------------- */

static double measure(const cellar_mechanism *m, int is_delta, int64_t count, int64_t neighbour,
                      double epsilon)
{
    cellar_pair pair;
    double bound;
    fmpq_t exact;
    arb_t value;
    fmpq_init(exact);
    arb_init(value);
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_init(&pair, m, count, neighbour, CELLAR_NEGATIVES_KEEP);
    if (is_delta)
        cellar_pair_delta(&pair, exact, value);
    else
        cellar_pair_violation(&pair, exact, value);
    bound = fmin(1, cellar_ball_upper(value));
    arb_clear(value);
    fmpq_clear(exact);
    return bound;
}

/* One pair closely; and no more than its span, than all from an earlier count on, and than the
 * largest loss allows. */
static void check_pair(const cellar_mechanism *m, int64_t first, int64_t last, int64_t a,
                       int64_t shift, double epsilon, int i)
{
    const cellar_facts *facts = m->ops->facts;
    double loss = cellar_hellinger_largest_loss(m, first, last, shift);
    assert_true(cellar_hellinger_largest_loss(m, first, INT64_MAX, shift) >=
                cellar_hellinger_largest_loss(m, a, a, shift) - 1e-12);
    for (int is_delta = 0; is_delta < 2; is_delta++) {
        double one[2], span[2], rest[2];
        facts->spans(m, is_delta, a, a, shift, epsilon, 0, one);
        facts->spans(m, is_delta, first, last, shift, epsilon, i % 2, span);
        facts->spans(m, is_delta, first, INT64_MAX, shift, epsilon, 0, rest);
        for (int larger = 0; larger < 2; larger++) {
            double true_one =
                measure(m, is_delta, larger ? a + shift : a, larger ? a : a + shift, epsilon);
            if (true_one > one[larger] || true_one > span[larger] || true_one > rest[larger])
                fail_msg("%s: %d..%d, %d, shift %d, epsilon %g, %d%d: %g above %g, %g or %g",
                         cellar_mechanism_spec(m), (int) first, (int) last, (int) a, (int) shift,
                         epsilon, is_delta, larger, true_one, one[larger], span[larger],
                         rest[larger]);
            assert_true(one[larger] - true_one <= 1e-8 * true_one + 1e-13);
            if (epsilon > loss)
                assert_true(true_one == 0);
        }
    }
}

static void test_spans(void **state)
{
    enum { TRIES = 400 };
    uint64_t seed = 5;
    (void) state;
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        for (int i = 0; i < TRIES / N_EPSILONS; i++) {
            int64_t first = (int64_t) draw_scale(&seed, 0, i % 9 == 0 ? 6.5 : 3.5) - 1;
            int64_t shift = (int64_t) draw_scale(&seed, 0, 2.5);
            int64_t wide = i % 3 ? (int64_t) (draw(&seed) * draw(&seed) * (double) (first + 3)) : 0;
            int64_t a = first + (int64_t) (draw(&seed) * (double) (wide + 1));
            double loss = cellar_hellinger_largest_loss(m, a, a, shift);
            double epsilon = loss * (i % 4 == 0 ? 1e-4 : i % 4 == 1 ? 0.999 : draw(&seed) * 1.1);
            check_pair(m, first, first + wide, a, shift, epsilon, i);
        }
        cellar_mechanism_free(m);
    }
}

/* ---- the worst of all ------------------------------------------------------------------- */

static void test_worst(void **state)
{
    enum { TRIES = 24, COUNTS = 60 };
    uint64_t seed = 11;
    (void) state;
    for (int i = 0; i < TRIES; i++) {
        cellar_mechanism *m = make_hellinger(draw_scale(&seed, -1.2, 1));
        const int64_t shift = i % 3 ? (int64_t) draw_scale(&seed, 0, 2) : 1;
        cellar_pair_cache *cache = cellar_pair_cache_create();
        cellar_reach reach = {.m = m, .shift = shift, .smallest = i % 5 == 4 ? 7 : 0};
        double epsilon = cellar_hellinger_largest_loss(m, 0, 0, shift) * draw(&seed);
        fmpq_t exact;
        fmpq_init(exact);
        cellar_rational_set_double(exact, epsilon);
        reach.cache = cache;
        for (int is_delta = 0; is_delta < 2; is_delta++) {
            cellar_worst worst;
            double most = 0;
            if (is_delta)
                cellar_supremum_delta(&reach, exact, &worst);
            else
                cellar_supremum_violation(&reach, exact, &worst);
            for (int64_t a = reach.smallest; a < reach.smallest + COUNTS; a++)
                most = fmax(most, fmax(measure(m, is_delta, a, a + shift, epsilon),
                                       measure(m, is_delta, a + shift, a, epsilon)));
            assert_true(worst.is_proved && worst.is_attained && most <= worst.bound);
            assert_true(worst.everywhere ? worst.bound == 0
                                         : worst.bound == measure(m, is_delta, worst.count,
                                                                  worst.neighbour, epsilon));
            assert_true(cellar_supremum_is_covered(&reach, is_delta, exact,
                                                   worst.bound * (1 + 1e-6) + 1e-12));
            assert_false(worst.bound > 1e-9 &&
                         cellar_supremum_is_covered(&reach, is_delta, exact, worst.bound * 0.99));
        }
        fmpq_clear(exact);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
}

/* Far out, where a search over all counts would take long: sums over all numbers in long
 * doubles said this. */
static void test_worst_far(void **state)
{
    static const struct {
        double mechanism, epsilon, delta;
        int64_t shift, count;
    } known[] = {
        {0.0417, 0.00129, 1.473778491e-05, 1, 48},
        {0.0259, 0.00196, 2.114517196e-04, 16, 892},
    };
    (void) state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cellar_mechanism *m = make_hellinger(known[i].mechanism);
        cellar_reach reach = {.m = m, .shift = known[i].shift};
        cellar_worst worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, known[i].epsilon);
        cellar_supremum_delta(&reach, epsilon, &worst);
        assert_true(fabs(worst.bound / known[i].delta - 1) < 1e-8);
        assert_int_equal(worst.count < worst.neighbour ? worst.count : worst.neighbour,
                         known[i].count);
        fmpq_clear(epsilon);
        cellar_mechanism_free(m);
    }
}

/* Without time for more: above all counts, here and there, and not by much. */
static void test_worst_loosely(void **state)
{
    static const struct {
        double mechanism, epsilon;
        int64_t shift;
    } asked[] = {{0.00381, 1e-6, 1}, {0.00381, 0, 2}, {0.00435, 1e-6, 1}, {0.0212, 1e-7, 3}};
    (void) state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        cellar_mechanism *m = make_hellinger(asked[i].mechanism);
        const int64_t shift = asked[i].shift;
        cellar_reach reach = {.m = m, .shift = shift, .cache = cellar_pair_cache_create()};
        cellar_work *work = cellar_pair_cache_work(reach.cache);
        cellar_worst worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, asked[i].epsilon);
        cellar_work_begin(work, 1);
        cellar_work_add(work, 2 * cellar_work_limit(work));
        cellar_supremum_delta(&reach, epsilon, &worst);
        assert_true(worst.is_proved && !worst.is_attained);
        assert_true(worst.least <= worst.bound && worst.bound <= 1.01 * worst.least);
        assert_true(worst.least <=
                    measure(m, 1, worst.count, worst.neighbour, asked[i].epsilon) * (1 + 1e-10));
        for (int64_t a = 0; a < 4000000; a += 1 + a / 20) {
            double both[2];
            m->ops->facts->spans(m, 1, a, a, shift, asked[i].epsilon, 0, both);
            assert_true(fmax(both[0], both[1]) <= worst.bound * (1 + 1e-9));
            if (a % 7 == 0)
                assert_true(measure(m, 1, a, a + shift, asked[i].epsilon) <= worst.bound);
        }
        fmpq_clear(epsilon);
        cellar_pair_cache_free(reach.cache);
        cellar_mechanism_free(m);
    }
}

/* Where doubles see the epsilon of a delta, the pair they name has that delta, and no other more.
 */
static void test_about(void **state)
{
    uint64_t seed = 3;
    (void) state;
    for (int i = 0; i < 30; i++) {
        cellar_mechanism *m = make_hellinger(draw_scale(&seed, -1.5, 1));
        cellar_reach reach = {.m = m, .shift = 1 + (int64_t) (i % 3 ? 40 * draw(&seed) : 0)};
        double delta = draw_scale(&seed, -7, -2), about;
        cellar_worst at, worst;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        about = cellar_supremum_about(&reach, delta, &at);
        assert_int_equal(labs((long) (at.count - at.neighbour)), reach.shift);
        if (about > 0)
            assert_true(fabs(measure(m, 1, at.count, at.neighbour, about) / delta - 1) < 1e-5);
        cellar_rational_set_double(epsilon, about);
        cellar_supremum_delta(&reach, epsilon, &worst);
        assert_true(worst.bound <= delta * (1 + 1e-6));
        fmpq_clear(epsilon);
        cellar_mechanism_free(m);
    }
}

/* The pure epsilon is the first pair's largest loss, and no later one is larger. */
static void test_pure(void **state)
{
    arb_t pure;
    (void) state;
    arb_init(pure);
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        for (int64_t shift = 1; shift < 2000; shift = 3 * shift + 1) {
            double found;
            assert_true(m->ops->facts->pure(m, shift, 128, pure));
            found = cellar_ball_upper(pure);
            for (int64_t a = 0; a < 50; a++)
                assert_true(cellar_hellinger_largest_loss(m, a, a, shift) <= found + 1e-12);
        }
        cellar_mechanism_free(m);
    }
    arb_clear(pure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sides),         cmocka_unit_test(test_tails),
        cmocka_unit_test(test_shares),        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_worst),         cmocka_unit_test(test_worst_far),
        cmocka_unit_test(test_worst_loosely), cmocka_unit_test(test_about),
        cmocka_unit_test(test_pure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
