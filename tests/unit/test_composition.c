/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses that are added up: grids against lattices, where the sum is known but for rounding. */
#include "check.h"

#include <math.h>

#include "mechanism/mechanism.h"
#include "privacy/compose.h"
#include "privacy/tight.h"
#include "make_mechanism.h"

/* ---- grids --------------------------------------------------------------------------------- */

/* The sum on a grid of this spacing, or (0) on the lattice of the losses. */
static cellar_sum *make_sum(const cellar_atoms *atoms, uint64_t times, double spacing,
                            double epsilon)
{
    cellar_pld pld;
    cellar_part part = {&pld, times};
    cellar_sum *sum = NULL;
    cellar_tilt tilt;
    cellar_error err;
    assert_int_equal(cellar_pld_create(atoms, spacing, 1, CELLAR_PLD_SPLIT, 1, &pld, &err),
                     CELLAR_OK);
    tilt = cellar_tilt_find(&part, 1, epsilon, NAN, spacing > 0 ? 0.25 / spacing : INFINITY);
    assert_int_equal(cellar_sum_create(&part, 1, &tilt, &sum, &err), CELLAR_OK);
    cellar_pld_clear(&pld);
    return sum;
}

/* Bounds from a grid hold what the lattice says, and get closer with the grid. */
static void test_grid_holds_lattice(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.37", "poisson:alpha=2",
                                        "discrete-gaussian:sigma=2.3", "negbin:alpha=1,sigma=0.4"};
    static const uint64_t times[] = {1, 3, 20, 300};
    static const double spacings[] = {0.0313, 0.00717, 0.00101};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *m = make(specs[i]);
        cellar_atoms atoms;
        cellar_pair pair;
        cellar_pair_init(&pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
        assert_int_equal(cellar_atoms_create(&pair, 1e-20, &atoms, &err), CELLAR_OK);
        assert_true(atoms.is_lattice);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            for (int e = 0; e < 4; e++) {
                double epsilon = 0.17 + 0.9 * e * sqrt((double) times[k]), gap = 1;
                cellar_sum *exact = make_sum(&atoms, times[k], 0, epsilon);
                double upper = cellar_sum_delta_upper(exact, epsilon);
                double lower = cellar_sum_delta_lower(exact, epsilon);
                for (size_t g = 0; g < sizeof spacings / sizeof *spacings; g++) {
                    cellar_sum *sum = make_sum(&atoms, times[k], spacings[g], epsilon);
                    double above = cellar_sum_delta_upper(sum, epsilon);
                    double below = cellar_sum_delta_lower(sum, epsilon);
                    if (!(above >= lower && below <= upper && below >= 0 &&
                          above - below <= gap + 1e-6))
                        fail_msg("%s x %d at %g: [%.15g, %.15g] on a grid, [%.15g, %.15g] on none",
                                 specs[i], (int) times[k], epsilon, below, above, lower, upper);
                    gap = above - below;
                    cellar_sum_free(sum);
                }
                assert_true(gap <= 0.02);
                cellar_sum_free(exact);
            }
        cellar_atoms_clear(&atoms);
        cellar_mechanism_free(m);
    }
}

/* ---- few losses ---------------------------------------------------------------------------- */

/* Rounded Laplace noise has four losses: their sums are listed while they are few, and put on a
 * grid when they are many. Both bound the same. */
static void test_few_losses(void **state)
{
    cellar_mechanism *m = make("laplace:epsilon=0.05");
    cellar_error err;
    double last = 0;
    (void) state;
    for (uint64_t times = 2; times <= 2048; times *= 4) {
        cellar_stake stake = {.times = times};
        cellar_bounds bounds;
        cellar_pair_init(&stake.pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
        assert_int_equal(cellar_tight_epsilon(&stake, 1, 1e-6, 0, &bounds, &err), CELLAR_OK);
        assert_true(bounds.lower <= bounds.upper && bounds.upper > last);
        assert_true(bounds.upper - bounds.lower <= (times <= 32 ? 1e-7 : 1e-3));
        last = bounds.upper;
    }
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_holds_lattice),
        cmocka_unit_test(test_few_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
