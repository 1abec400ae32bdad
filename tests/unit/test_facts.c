/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What mechanisms say of themselves, against sums and balls: that ratios are monotone or rational,
 * that the first pair of counts is the worst, and what bounds all large counts. */
#include "check.h"

#include <math.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/worst.h"

static const char *const specs[] = {"laplace:epsilon=0.7",
                                    "discrete-laplace:epsilon=0.2",
                                    "gaussian:sigma=0.6",
                                    "gaussian:sigma=2.5",
                                    "discrete-gaussian:sigma=3.3",
                                    "truncated-laplace:epsilon=0.3,m=4",
                                    "truncated-normal:epsilon=2,m=6",
                                    "identity",
                                    "poisson:alpha=0.3",
                                    "negbin:alpha=0.2,sigma=3",
                                    "pig:alpha=0.5,sigma=0.4",
                                    "sichel:alpha=1,sigma=0.5,nu=-1.3",
                                    "delaporte:alpha=0.5,sigma=0.6,nu=0.3",
                                    "delaporte:alpha=0.5,sigma=2,nu=0.3",
                                    "max-entropy:variance=1.5,m=3",
                                    "round:base=5",
                                    "hellinger:epsilon=2"};
enum { N_SPECS = sizeof specs / sizeof *specs };

static void check_ratios(const cellar_mechanism *m, int64_t a)
{
    const cellar_facts *facts = m->ops->facts;
    double before = -INFINITY;
    fmpq_t exact;
    fmpq_init(exact);
    for (int64_t b = -10; b < 40; b++) {
        double p = cellar_mechanism_log_pmf(m, a + 1, b);
        double q = cellar_mechanism_log_pmf(m, a, b);
        if (p == -INFINITY && q == -INFINITY)
            continue;
        if (cellar_facts_monotone(m) && p - q < before - 1e-9 * (1 + fabs(before)))
            fail_msg("%s: ratios fall at %d, %d", cellar_mechanism_spec(m), (int) a, (int) b);
        before = p - q;
        if (facts->log_ratio != NULL && isfinite(p) && isfinite(q) &&
            facts->log_ratio(m, a + 1, a, b, exact))
            assert_true(fabs(cellar_rational_double(exact) - (p - q)) < 1e-9 * (1 + fabs(p)));
    }
    fmpq_clear(exact);
}

static void test_ratios(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        assert_non_null(m->ops->facts);
        for (int64_t a = 0; a < 12; a++)
            check_ratios(m, a);
        cellar_mechanism_free(m);
    }
}

static void delta_of(cellar_one_cell *cell, int64_t smaller, int64_t shift, int larger,
                     double epsilon, arb_t out)
{
    cellar_pair pair = cellar_one_cell_pair(cell, smaller, shift, larger, CELLAR_NEGATIVES_KEEP);
    fmpq_t exact;
    fmpq_init(exact);
    pair.enough = pair.is_monotone ? 0 : 1e-30;
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_delta(&pair, exact, out);
    fmpq_clear(exact);
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
    enum { LOOKED_AT = 12, N_EPSILONS = sizeof epsilons / sizeof *epsilons };
    arb_t delta, before;
    (void) state;
    arb_init(delta);
    arb_init(before);
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        cellar_mechanism *m = make(ordered[i]);
        cellar_one_cell cell;
        assert_true(cellar_facts_ordered(m));
        cellar_one_cell_init(&cell, m, 2, 0, CELLAR_NEGATIVES_KEEP, 1);
        for (size_t k = 0; k < (size_t) 4 * N_EPSILONS; k++) {
            arb_one(before);
            for (int64_t count = 0; count < LOOKED_AT; count++) {
                delta_of(&cell, count, 1 + (int64_t) (k % 2), k / 2 % 2, epsilons[k / 4], delta);
                assert_false(arb_gt(delta, before));
                arb_swap(before, delta);
            }
        }
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
    arb_clear(delta);
    arb_clear(before);
}

/* ---- bounds for all large counts ------------------------------------------------------------ */

static const struct {
    const char *spec;
    int64_t shift;
    double epsilons[4];
} bounded[] = {
    {"delaporte:alpha=14.1,sigma=4.5,nu=0.09", 1, {0.01, 0.12, 0.5, 3}},
    {"delaporte:alpha=0.181,sigma=3.26,nu=0.2", 1, {0.02, 0.3, 1, 4}},
    {"delaporte:alpha=5.05,sigma=3.77,nu=0.32", 3, {0.1, 0.7, 2, 9}},
    {"delaporte:alpha=3,sigma=1.05,nu=0.5", 1, {0, 0.2, 1, 2}},
    {"delaporte:alpha=0.5,sigma=0.6,nu=0.3", 2, {0, 0.2, 1, 2}},
    {"hellinger:epsilon=0.07", 1, {0, 0.003, 0.01, 0.04}},
    {"hellinger:epsilon=4", 1, {0, 0.3, 1, 3}},
    {"hellinger:epsilon=9", 5, {0.1, 1, 4, 12}},
    {"round:base=5", 1, {0, 0.3, 1, 3}},
    {"max-entropy:variance=2,m=4,min=2", 2, {0, 0.3, 1, 3}},
};

/* The pairs from a count on that are looked at. */
static double worst_beyond(cellar_one_cell *cell, int64_t from, double epsilon)
{
    static const int64_t steps[] = {0, 1, 7, 40};
    double most = 0;
    arb_t delta;
    arb_init(delta);
    for (size_t i = 0; i < 2 * sizeof steps / sizeof *steps; i++) {
        delta_of(cell, from + steps[i / 2], cell->shift, i % 2, epsilon, delta);
        most = fmax(most, cellar_ball_lower(delta));
    }
    arb_clear(delta);
    return most;
}

/* They hold for pairs beyond, and do not rise with the count or with epsilon. */
static void test_bounds(void **state)
{
    static const int64_t froms[] = {0, 1, 5, 20};
    int n_tight = 0, n_bounds = 0;
    (void) state;
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
        cellar_mechanism *m = make(bounded[i].spec);
        const int64_t shift = bounded[i].shift;
        cellar_one_cell cell;
        cellar_one_cell_init(&cell, m, shift, 0, CELLAR_NEGATIVES_KEEP, 1);
        for (size_t f = 0; f < sizeof froms / sizeof *froms && m->ops->facts->bound != NULL; f++)
            for (int e = 0; e < 4; e++) {
                const double epsilon = bounded[i].epsilons[e];
                const double found = worst_beyond(&cell, froms[f], epsilon);
                const double bound = m->ops->facts->bound(m, froms[f], shift, epsilon);
                if (!(bound >= found && bound <= 1))
                    fail_msg("%s from %d at %g: found %.17g, bound %.17g", bounded[i].spec,
                             (int) froms[f], epsilon, found, bound);
                assert_true(m->ops->facts->bound(m, froms[f] + 1, shift, epsilon) <= bound);
                assert_true(m->ops->facts->bound(m, froms[f], shift, epsilon * 1.01) <= bound);
                n_bounds++;
                n_tight += bound <= 10 * found + 1e-12;
            }
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
    assert_true(n_bounds >= 100 && n_tight > n_bounds / 4);
}

/* Rows that are said to repeat do. */
static void test_periods(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        const cellar_facts *facts = m->ops->facts;
        int64_t from, period;
        if (facts->period != NULL && facts->period(m, &from, &period)) {
            assert_true(period >= 1 && from >= 0);
            for (int64_t a = from; a < from + 2 * period; a++)
                for (int64_t k = -12; k <= 12; k++) {
                    double here = cellar_mechanism_pmf(m, a, a + k);
                    double later = cellar_mechanism_pmf(m, a + period, a + period + k);
                    assert_true(fabs(here - later) <= 1e-12);
                }
        }
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_periods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
