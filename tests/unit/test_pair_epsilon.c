/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epsilon of one pair for a given delta, against its delta; and tails of wide laws, which are
 * told in two ways. */
#include "check.h"

#include <math.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/epsilon_tail.h"
#include "privacy/pair.h"

static const char *const specs[] = {
    "discrete-laplace:epsilon=0.7",
    "laplace:epsilon=0.2",
    "gaussian:sigma=30",
    "discrete-gaussian:sigma=0.4",
    "truncated-laplace:epsilon=0.5,m=6",
    "poisson:alpha=0.3",
    "poisson:alpha=300",
    "negbin:alpha=90,sigma=9",
    "pig:alpha=0.286,sigma=3.23",
    "pig:alpha=60,sigma=2",
    "sichel:alpha=8.92,sigma=2.85,nu=-8.91",
    "delaporte:alpha=5,sigma=0.5,nu=0.4",
};

static void delta_at(const cellar_pair *pair, double epsilon, arb_t out)
{
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_delta(pair, exact, out);
    fmpq_clear(exact);
}

/* delta is not exceeded at the second number, and exceeded just below the first. */
static void check_epsilon(const cellar_pair *pair, double delta, double about)
{
    double lower = -1, upper = -1;
    arb_t value;
    arb_init(value);
    delta_at(pair, 0, value);
    if (!cellar_pair_epsilon(pair, delta, about, &lower, &upper))
        fail_msg("%s: delta %g was not found from %g", pair->m->spec, delta, about);
    if (cellar_ball_upper(value) <= delta) {
        assert_true(upper == 0);
    } else {
        assert_true(lower <= upper && upper - lower <= 1e-9 * upper);
        delta_at(pair, upper * (1 + 1e-11), value);
        assert_true(cellar_ball_upper(value) <= delta);
        delta_at(pair, lower * (1 - 1e-9), value);
        assert_true(cellar_ball_lower(value) > delta);
    }
    arb_clear(value);
}

static void test_epsilon(void **state)
{
    static const double deltas[] = {0.3, 0.02, 1e-6, 1e-40}, abouts[] = {1e-3, 1, 300};
    cellar_pair_cache *cache = cellar_pair_cache_create();
    (void) state;
    assert_non_null(cache);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *m = make(specs[i]);
        double infinite = i == 4 ? 0.01 : 0; /* truncated: there is none below */
        for (size_t j = 0; j < sizeof deltas / sizeof *deltas; j++)
            for (size_t k = 0; k < sizeof abouts / sizeof *abouts; k++) {
                int64_t shift = k == 2 ? 20 : 1, larger = (int64_t) (j % 2) * shift;
                cellar_pair pair;
                cellar_pair_init(&pair, m, larger, shift - larger, CELLAR_NEGATIVES_KEEP);
                pair.cache = cache;
                if (deltas[j] > infinite && (infinite <= 0 || shift == 1))
                    check_epsilon(&pair, deltas[j], abouts[k]);
            }
        cellar_mechanism_free(m);
    }
    cellar_pair_cache_free(cache);
}

/* The other law has far less beyond the threshold than any double can say, and it counts. */
static void test_far(void **state)
{
    cellar_mechanism *m = make("sichel:alpha=671,sigma=0.54,nu=-0.928");
    cellar_pair_cache *cache = cellar_pair_cache_create();
    cellar_pair pair;
    (void) state;
    assert_non_null(cache);
    cellar_pair_init(&pair, m, 1000, 0, CELLAR_NEGATIVES_KEEP);
    pair.cache = cache;
    check_epsilon(&pair, 8.32e-179, 590);
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

/* What logarithms say at once: enough in both orders, and about that of the larger count. */
static void test_tail_epsilons(void **state)
{
    static const char *const kernels[] = {"negbin:alpha=9,sigma=0.9", "pig:alpha=60,sigma=2",
                                          "sichel:alpha=8.92,sigma=2.85,nu=-8.91",
                                          "delaporte:alpha=5,sigma=0.5,nu=0.4"};
    static const double deltas[] = {1e-6, 1e-40, 1e-150};
    (void) state;
    for (size_t i = 0; i < 3 * sizeof kernels / sizeof *kernels; i++) {
        cellar_mechanism *m = make(kernels[i / 3]);
        cellar_pair_cache *cache = cellar_pair_cache_create();
        const double delta = deltas[i % 3], about = cellar_epsilon_tail_about(m, 3, 0, delta);
        const double enough = cellar_epsilon_tail_enough(m, 3, 0, delta);
        double lower, upper;
        cellar_pair pair;
        arb_t value;
        assert_non_null(cache);
        arb_init(value);
        for (int larger = 0; larger < 2; larger++) {
            cellar_pair_init(&pair, m, larger ? 3 : 0, larger ? 0 : 3, CELLAR_NEGATIVES_KEEP);
            pair.cache = cache;
            delta_at(&pair, enough, value);
            assert_true(cellar_ball_upper(value) <= delta);
        }
        assert_true(cellar_pair_epsilon(&pair, delta, about, &lower, &upper));
        if (fabs(about / upper - 1) > 0.03)
            fail_msg("%s: delta %g is at about %g, not at %g", m->spec, delta, upper, about);
        assert_true(cellar_epsilon_tail_delta(m, 3, 0, upper) >= delta);
        assert_true(cellar_epsilon_tail_delta(m, 3, 0, enough) <= 1.001 * delta ||
                    m->ops->log_pmf(m, 0, 0) - m->ops->log_pmf(m, 3, 0) > 0.99 * enough);
        arb_clear(value);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
}

/* P(> b) is what lies between b and another number, and P beyond that. */
static void test_tails(void **state)
{
    static const struct {
        const char *spec;
        int64_t b, step;
    } cases[] = {{"negbin:alpha=90,sigma=9", 4000, 1}, /* on either side of where ways change */
                 {"negbin:alpha=90,sigma=9", 3000, 2500},
                 {"negbin:alpha=1000,sigma=0.4", 1900, 300},
                 {"negbin:alpha=90,sigma=9", 300000, 1000},
                 {"pig:alpha=60,sigma=20", 5000, 700},
                 {"sichel:alpha=30,sigma=9,nu=0.3", 9000, 2000},
                 {"sichel:alpha=6710,sigma=0.0254,nu=-0.928", 150000, 800}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        int64_t b = cases[i].b, next = b + cases[i].step;
        arb_t above, between, beyond;
        arb_init(above);
        arb_init(between);
        arb_init(beyond);
        m->ops->survival_ball(m, 2, b, 128, above);
        m->ops->survival_ball(m, 2, next, 128, beyond);
        assert_true(m->ops->between_ball(m, 2, b + 1, next, between));
        arb_add(between, between, beyond, 128);
        assert_true(arb_rel_accuracy_bits(above) > 70 && arb_rel_accuracy_bits(between) > 70);
        assert_true(arb_overlaps(above, between));
        arb_clear(above);
        arb_clear(between);
        arb_clear(beyond);
        cellar_mechanism_free(m);
    }
}

/* What is told from a tail nearby, in any order, is told anew as well. */
static void test_near(void **state)
{
    static const int64_t numbers[] = {20000, 20100, 19000, 24000, 60000, 59000, 100, 20100};
    cellar_mechanism *m = make("pig:alpha=200,sigma=9");
    cellar_pair_cache *cache = cellar_pair_cache_create();
    arb_t near, anew;
    (void) state;
    assert_non_null(cache);
    assert_true(cellar_pair_law_is_wide(m, 0));
    arb_init(near);
    arb_init(anew);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        m->ops->survival_ball(m, 0, numbers[i], 128, anew);
        assert_true(cellar_pair_cache_tail(cache, m, 0, numbers[i], 128, near));
        assert_true(arb_overlaps(near, anew) && arb_rel_accuracy_bits(near) >= 70);
    }
    arb_clear(near);
    arb_clear(anew);
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epsilon),       cmocka_unit_test(test_far),
        cmocka_unit_test(test_tail_epsilons), cmocka_unit_test(test_tails),
        cmocka_unit_test(test_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
