/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta_p of noise over all weights and all counts: the few pairs that are looked at are as bad as
 * all of them, tried one by one. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "privacy/worst.h"

enum { WEIGHTS = 24, COUNTS = 60 };

static const char *const specs[] = {"laplace:epsilon=0.3",
                                    "discrete-laplace:epsilon=0.25",
                                    "discrete-laplace:epsilon=1",
                                    "gaussian:sigma=0.7",
                                    "gaussian:sigma=3.3",
                                    "discrete-gaussian:sigma=1",
                                    "discrete-gaussian:sigma=4.25",
                                    "truncated-laplace:epsilon=0.25,m=6",
                                    "truncated-normal:epsilon=1,m=7",
                                    "identity"};
enum { N_SPECS = sizeof specs / sizeof *specs };

static double violation_of(cellar_one_cell *cell, int64_t smaller, int64_t shift, int larger,
                           const fmpq_t epsilon)
{
    cellar_pair pair = cellar_one_cell_pair(cell, smaller, shift, larger, cell->negatives);
    double upper;
    arb_t value;
    arb_init(value);
    cellar_pair_violation(&pair, epsilon, value);
    upper = fmin(1, cellar_ball_upper(value));
    arb_clear(value);
    return upper;
}

/* The worst pair of one weight; without clamping all counts are alike. */
static double worst_of_weight(cellar_one_cell *cell, int64_t shift, const fmpq_t epsilon)
{
    const int64_t counts = cell->negatives == CELLAR_NEGATIVES_ZERO ? COUNTS : 1;
    double most = 0;
    for (int64_t count = cell->smallest; count < cell->smallest + counts; count++)
        for (int larger = 0; larger < 2; larger++)
            most = fmax(most, violation_of(cell, count, shift, larger, epsilon));
    return most;
}

/* The worst of the weights 1, 2, ... w, for each w. */
static void check_prefixes(const cellar_mechanism *m, int64_t smallest, cellar_negatives negatives,
                           const char *text)
{
    double scan = 0;
    cellar_one_cell tried;
    fmpq_t epsilon;
    fmpq_init(epsilon);
    assert_true(cellar_rational_parse(text, strlen(text), epsilon));
    cellar_one_cell_init(&tried, m, WEIGHTS, smallest, negatives, 1);
    for (int64_t weight = 1; weight <= WEIGHTS; weight++) {
        cellar_one_cell cell;
        cellar_worst all;
        cellar_one_cell_init(&cell, m, weight, smallest, negatives, 1);
        cellar_worst_violation(&cell, epsilon, &all);
        scan = fmax(scan, worst_of_weight(&tried, weight, epsilon));
        if (fabs(all.upper - scan) > 1e-12 * scan + 1e-200 || !all.is_proved ||
            all.lower > all.upper)
            fail_msg("%s, epsilon %s, negatives %s, smallest %d, weights to %d: %.17g, not %.17g",
                     cellar_mechanism_spec(m), text,
                     negatives == CELLAR_NEGATIVES_ZERO ? "zero" : "kept", (int) smallest,
                     (int) weight, all.upper, scan);
        cellar_one_cell_clear(&cell);
    }
    cellar_one_cell_clear(&tried);
    fmpq_clear(epsilon);
}

/* With ties (0, 0.25, 0.5, 1) and without. */
static void test_few_weights_tell_of_all(void **state)
{
    static const char *const epsilons[] = {"0", "0.1", "0.25", "0.37", "0.5", "1", "2.3"};
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
            check_prefixes(m, 0, CELLAR_NEGATIVES_KEEP, epsilons[e]);
            if (e % 2 == i % 2)
                check_prefixes(m, e % 3 == 0 ? 3 : 0, CELLAR_NEGATIVES_ZERO, epsilons[e]);
        }
        cellar_mechanism_free(m);
    }
}

/* Of two weights the smaller one can be worse: the number between two counts tells nothing. */
static void test_a_smaller_weight_can_be_worse(void **state)
{
    cellar_mechanism *m = make("discrete-gaussian:sigma=5");
    cellar_one_cell cell;
    cellar_worst all;
    fmpq_t tenth;
    (void) state;
    fmpq_init(tenth);
    fmpq_set_si(tenth, 1, 10);
    cellar_one_cell_init(&cell, m, 14, 0, CELLAR_NEGATIVES_KEEP, 1);
    cellar_worst_violation(&cell, tenth, &all);
    assert_true(all.upper > worst_of_weight(&cell, 14, tenth));
    cellar_one_cell_clear(&cell);
    fmpq_clear(tenth);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_weights_tell_of_all),
        cmocka_unit_test(test_a_smaller_weight_can_be_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
