/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta_p over all weights: the few that are looked at are as bad as all of them, tried one by
 * one. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "math/rational.h"
#include "privacy/supremum.h"
#include "make_mechanism.h"

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

/* The worst of the weights 1, 2, ... w, for each w. */
static void check_prefixes(cellar_reach reach, int64_t most, const char *text)
{
    double scan = -1;
    fmpq_t epsilon;
    fmpq_init(epsilon);
    assert_true(cellar_rational_parse(text, strlen(text), epsilon));
    for (int64_t weight = 1; weight <= most; weight++) {
        cellar_worst one, all;
        reach.shift = weight;
        cellar_supremum_violation(&reach, epsilon, &one);
        scan = one.bound > scan ? one.bound : scan;
        cellar_supremum_violation_to(&reach, epsilon, &all);
        if (all.bound != scan || !all.is_proved || all.is_attained != one.is_attained)
            fail_msg("%s, epsilon %s, negatives %s, smallest %d, weights to %d: %.17g, not %.17g",
                     cellar_mechanism_spec(reach.m), text,
                     reach.negatives == CELLAR_NEGATIVES_ZERO ? "zero" : "kept",
                     (int) reach.smallest, (int) weight, all.bound, scan);
    }
    fmpq_clear(epsilon);
}

static void check_mechanism(const char *spec, int64_t most, int64_t smallest,
                            const char *const *epsilons, size_t n)
{
    cellar_mechanism *m = make(spec);
    cellar_pair_cache *cache = cellar_pair_cache_create();
    assert_non_null(cache);
    for (size_t i = 0; i < n; i++)
        for (int zero = 0; zero < 2; zero++)
            check_prefixes(
                (cellar_reach){.m = m,
                               .smallest = smallest,
                               .negatives = zero ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP,
                               .cache = cache},
                most, epsilons[i]);
    cellar_pair_cache_free(cache);
    cellar_mechanism_free(m);
}

/* With ties (0, 0.25, 0.5, 1) and without. */
static void test_few_weights_tell_of_all(void **state)
{
    static const char *const epsilons[] = {"0",   "0.01", "0.1", "0.25", "0.37",
                                           "0.5", "1",    "2.3", "4"};
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++)
        for (int64_t smallest = 0; smallest < 4; smallest += 3)
            check_mechanism(specs[i], 24, smallest, epsilons, sizeof epsilons / sizeof *epsilons);
}

/* Of two weights the smaller one can be worse: the number between two counts tells nothing. */
static void test_a_smaller_weight_can_be_worse(void **state)
{
    static const char tenth[] = "0.1";
    cellar_mechanism *m = make("discrete-gaussian:sigma=5");
    cellar_reach reach = {.m = m, .shift = 14};
    cellar_worst largest, all;
    fmpq_t epsilon;
    (void) state;
    fmpq_init(epsilon);
    assert_true(cellar_rational_parse(tenth, strlen(tenth), epsilon));
    cellar_supremum_violation(&reach, epsilon, &largest);
    cellar_supremum_violation_to(&reach, epsilon, &all);
    assert_true(all.bound > largest.bound);
    fmpq_clear(epsilon);
    cellar_mechanism_free(m);
}

static void test_a_thousand_weights(void **state)
{
    static const char *const epsilons[] = {"1"};
    (void) state;
    check_mechanism("discrete-gaussian:sigma=200", 1000, 0, epsilons, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_weights_tell_of_all),
        cmocka_unit_test(test_a_smaller_weight_can_be_worse),
        cmocka_unit_test(test_a_thousand_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
