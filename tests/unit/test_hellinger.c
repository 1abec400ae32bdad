/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certificates of Hellinger counts rest on: both tails, bounds of pairs of counts against each
 * of them, and the worst of all against a search. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/worst.h"

static const double epsilons[] = {0.001, 0.004, 0.07, 0.6, 2, 9, 70, 900};
enum { N_EPSILONS = sizeof epsilons / sizeof *epsilons };

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

/* ---- pairs of counts ------------------------------------------------------------------- */

static double measure(cellar_one_cell *cell, int is_delta, int64_t smaller, int larger,
                      const fmpq_t epsilon)
{
    cellar_pair pair =
        cellar_one_cell_pair(cell, smaller, cell->shift, larger, CELLAR_NEGATIVES_KEEP);
    double bound;
    arb_t value;
    arb_init(value);
    if (is_delta)
        cellar_pair_delta(&pair, epsilon, value);
    else
        cellar_pair_violation(&pair, epsilon, value);
    bound = fmin(1, cellar_ball_upper(value));
    arb_clear(value);
    return bound;
}

static double pure_of(const cellar_mechanism *m, int64_t shift)
{
    double upper;
    arb_t pure;
    arb_init(pure);
    assert_true(m->ops->facts->pure(m, shift, 128, pure));
    upper = cellar_ball_upper(pure);
    arb_clear(pure);
    return upper;
}

/* The worst of all counts, which is no less than any of many and as bad as one. */
static void check_worst(cellar_one_cell *cell, int is_delta, const fmpq_t epsilon)
{
    enum { COUNTS = 40 };
    cellar_worst worst;
    double most = 0;
    if (is_delta)
        cellar_worst_delta(cell, epsilon, &worst);
    else
        cellar_worst_violation(cell, epsilon, &worst);
    for (int64_t a = cell->smallest; a < cell->smallest + COUNTS; a++)
        for (int larger = 0; larger < 2; larger++)
            most = fmax(most, measure(cell, is_delta, a, larger, epsilon));
    assert_true(worst.is_proved && most <= worst.upper * (1 + 1e-12));
    assert_true(worst.lower <= worst.upper);
    if (is_delta && worst.upper - worst.lower <= 1e-9 * worst.upper &&
        worst.count + worst.neighbour < COUNTS)
        assert_true(most >= worst.lower * (1 - 1e-9));
}

static void test_worst(void **state)
{
    enum { TRIES = 16 };
    uint64_t seed = 11;
    (void) state;
    for (int i = 0; i < TRIES; i++) {
        cellar_mechanism *m = make_hellinger(draw_scale(&seed, -0.5, 1));
        const int64_t shift = i % 3 ? (int64_t) draw_scale(&seed, 0, 1) : 1;
        cellar_one_cell cell;
        fmpq_t epsilon;
        fmpq_init(epsilon);
        cellar_rational_set_double(epsilon, pure_of(m, shift) * draw(&seed));
        cellar_one_cell_init(&cell, m, shift, i % 5 == 4 ? 7 : 0, CELLAR_NEGATIVES_KEEP, 0.1);
        for (int is_delta = 0; is_delta < 2; is_delta++)
            check_worst(&cell, is_delta, epsilon);
        cellar_one_cell_clear(&cell);
        fmpq_clear(epsilon);
        cellar_mechanism_free(m);
    }
}

/* The pure epsilon is no less than any pair's largest loss, and is one of them. */
static void test_pure(void **state)
{
    (void) state;
    for (size_t e = 0; e < N_EPSILONS; e++) {
        cellar_mechanism *m = make_hellinger(epsilons[e]);
        for (int64_t shift = 1; shift < 2000; shift = 3 * shift + 1) {
            double largest = 0, found = pure_of(m, shift);
            for (int64_t a = 0; a < 50; a++)
                for (int i = 0; i < 4; i++) {
                    const int64_t b = i % 2 ? a : a + shift;
                    double loss = cellar_mechanism_log_pmf(m, a, b) -
                                  cellar_mechanism_log_pmf(m, a + shift, b);
                    largest = fmax(largest, fabs(loss));
                }
            assert_true(largest <= found * (1 + 1e-9) + 1e-12);
            assert_true(found <= largest * (1 + 1e-6));
        }
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_worst),
        cmocka_unit_test(test_pure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
