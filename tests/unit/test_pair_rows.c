/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of Delaporte counts in doubles, against balls: delta of a pair that is held, losses one by
 * one, and how far a law goes. */
#include "check.h"

#include <math.h>

#include "base/error.h"
#include "fail_every.h"
#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/atoms_store.h"
#include "privacy/pair.h"
#include "privacy/pair_rows.h"

static const struct sample {
    const char *spec;
    int64_t count, shift;
} samples[] = {
    {"delaporte:alpha=5,sigma=0.5,nu=0.4", 0, 1},   {"delaporte:alpha=0.3,sigma=4,nu=0.7", 2, 3},
    {"delaporte:alpha=12,sigma=9,nu=0.1", 0, 1},    {"delaporte:alpha=30,sigma=0.01,nu=0.9", 5, 2},
    {"delaporte:alpha=2,sigma=1.3,nu=0.95", 0, 16},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* delta term by term, of one order. */
static double delta_by_balls(const cellar_mechanism *m, const struct sample *s, int larger,
                             double epsilon, double tail)
{
    double bound;
    cellar_pair pair;
    fmpq_t exact;
    arb_t value;
    fmpq_init(exact);
    arb_init(value);
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_init(&pair, m, s->count + larger * s->shift, s->count + !larger * s->shift,
                     CELLAR_NEGATIVES_KEEP);
    cellar_pair_delta_by_sum(&pair, exact, tail, 256, value);
    bound = cellar_ball_lower(value);
    fmpq_clear(exact);
    arb_clear(value);
    return bound;
}

/* No less than the truth, and not much more than the largest delta. */
static void test_delta(void **state)
{
    static const double epsilons[] = {0, 0.01, 0.3, 2}, part = 1e-6;
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        cellar_mechanism *m = make(s->spec);
        cellar_pair_cache *cache = cellar_pair_cache_create();
        cellar_quick quick;
        assert_non_null(cache);
        assert_int_equal(cellar_pair_rows_quick(cache, m, s->count, s->shift, 0.1, 0, 1e5, &quick),
                         0);
        for (size_t k = 0; k < sizeof epsilons / sizeof *epsilons; k++) {
            double truth[2], most;
            assert_int_equal(cellar_pair_rows_quick(cache, m, s->count, s->shift, epsilons[k],
                                                    1e-12, 1e5, &quick),
                             1);
            for (int larger = 0; larger < 2; larger++)
                truth[larger] = delta_by_balls(m, s, larger, epsilons[k], 1e-25);
            most = fmax(1e-12, fmax(truth[0], truth[1]));
            for (int larger = 0; larger < 2; larger++) {
                assert_true(quick.delta[larger] >= truth[larger]);
                assert_true(quick.delta[larger] <= truth[larger] + part * most);
                assert_true(quick.violation[larger] >= truth[larger]);
            }
        }
        assert_int_equal(cellar_pair_rows_quick(cache, m, s->count, s->shift, 0.1, 0, 1e5, &quick),
                         1);
        assert_int_equal(
            cellar_pair_rows_quick(cache, m, s->count + 1, s->shift, 0.1, 0, 1e5, &quick), 0);
        assert_int_equal(cellar_pair_cache_atoms(cache)->is_short, 0);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
}

/* Too many numbers, too large an epsilon, and numbers that come as 0 in one law only: nothing. */
static void test_nothing(void **state)
{
    const struct sample far = {"delaporte:alpha=0.01,sigma=0.3,nu=0.3", 0, 40};
    cellar_mechanism *m = make(far.spec);
    cellar_pair_cache *cache = cellar_pair_cache_create();
    cellar_quick quick;
    (void) state;
    assert_non_null(cache);
    assert_int_equal(cellar_pair_rows_quick(cache, m, 0, 40, 1, 1e-9, 10, &quick), 0);
    assert_int_equal(cellar_pair_rows_quick(cache, m, 0, 40, 700, 1e-9, 1e5, &quick), 0);
    assert_int_equal(cellar_pair_rows_quick(NULL, m, 0, 40, 1, 1e-9, 1e5, &quick), 0);
    for (int k = 1; k < 12; k++) {
        const double epsilon = 50.0 * k;
        if (cellar_pair_rows_quick(cache, m, 0, 40, epsilon, 1e-100, 1e5, &quick)) {
            double truth = delta_by_balls(m, &far, 1, epsilon, 1e-150);
            assert_true(quick.delta[1] >= truth && quick.delta[1] <= 1.00001 * truth + 1e-106);
        }
    }
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

/* ln P(b) - ln Q(b), of numbers that no double holds too. */
static void test_loss(void **state)
{
    static const int64_t numbers[] = {0, 1, 7, 50, 900, 3000};
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        cellar_mechanism *m = make(s->spec);
        arb_t p, q;
        arb_init(p);
        arb_init(q);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            double error,
                loss = m->ops->facts->loss(m, s->count, s->count + s->shift, numbers[k], &error);
            m->ops->pmf_ball(m, s->count, numbers[k], 256, p);
            m->ops->pmf_ball(m, s->count + s->shift, numbers[k], 256, q);
            arb_div(p, p, q, 256);
            arb_log(p, p, 256);
            assert_true(error < 1e-10 * (1 + fabs(loss)));
            assert_true(loss - error <= cellar_ball_upper(p));
            assert_true(loss + error >= cellar_ball_lower(p));
        }
        arb_clear(p);
        arb_clear(q);
        cellar_mechanism_free(m);
    }
}

/* Chernoff's bound: no more is left beyond, and a third as far more would be. */
static void test_length(void **state)
{
    static const double tails[] = {1e-6, 1e-20, 1e-120};
    (void) state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        cellar_mechanism *m = make(s->spec);
        arb_t above;
        arb_init(above);
        for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
            double length = m->ops->facts->length(m, s->count, tails[k]);
            m->ops->survival_ball(m, s->count, (int64_t) length, 128, above);
            assert_true(cellar_ball_upper(above) <= tails[k]);
            m->ops->survival_ball(m, s->count, (int64_t) (length / 3), 128, above);
            assert_true(cellar_ball_lower(above) > tails[k]);
        }
        arb_clear(above);
        cellar_mechanism_free(m);
    }
}

/* Memory that ends is told with the answer. */
static cellar_status rows_scenario(void *context, cellar_error *err)
{
    cellar_pair_cache *cache = cellar_pair_cache_create();
    cellar_status status = CELLAR_OK;
    cellar_quick quick;
    if (cache == NULL)
        return cellar_fail_memory(err, "a cache");
    if (!cellar_pair_rows_quick(cache, context, 0, 1, 0.1, 1e-9, 1e5, &quick) &&
        cellar_pair_cache_atoms(cache)->is_short)
        status = cellar_fail_memory(err, "laws in doubles");
    cellar_pair_cache_free(cache);
    return status;
}

static void test_fail_every(void **state)
{
    cellar_mechanism *m = make(samples[0].spec);
    (void) state;
    check_fail_every(rows_scenario, m);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta),      cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_loss),       cmocka_unit_test(test_length),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
