/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epsilon of one pair for a given delta, against its delta. */
#include "check.h"

#include <math.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/worst.h"

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
        fail_msg("%s: delta %g was not found from %g", cellar_mechanism_spec(pair->p->m), delta,
                 about);
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
    (void) state;
    for (size_t i = 0; i < 12 * sizeof specs / sizeof *specs; i++) {
        const double delta = deltas[i % 4];
        const int64_t shift = i / 4 % 3 == 2 ? 20 : 1;
        const int is_truncated = i / 12 == 4; /* there is none below 0.01 */
        cellar_mechanism *m = make(specs[i / 12]);
        cellar_one_cell cell;
        cellar_pair pair;
        cellar_one_cell_init(&cell, m, shift, 0, CELLAR_NEGATIVES_KEEP, 1);
        pair = cellar_one_cell_pair(&cell, 0, shift, i % 2, CELLAR_NEGATIVES_KEEP);
        if (!is_truncated || (delta > 0.01 && shift == 1))
            check_epsilon(&pair, delta, abouts[i / 4 % 3]);
        cellar_one_cell_clear(&cell);
        cellar_mechanism_free(m);
    }
}

/* The other law has far less beyond the threshold than any double can say, and it counts. */
static void test_far(void **state)
{
    cellar_mechanism *m = make("sichel:alpha=671,sigma=0.54,nu=-0.928");
    cellar_one_cell cell;
    cellar_pair pair;
    (void) state;
    cellar_one_cell_init(&cell, m, 1000, 0, CELLAR_NEGATIVES_KEEP, 1);
    pair = cellar_one_cell_pair(&cell, 0, 1000, 1, CELLAR_NEGATIVES_KEEP);
    check_epsilon(&pair, 8.32e-179, 590);
    cellar_one_cell_clear(&cell);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epsilon),
        cmocka_unit_test(test_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
