/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses that are added up: grids against lattices, where the sum is known but for rounding. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/compose.h"
#include "privacy/listed_sort.h"
#include "privacy/normal_sums.h"
#include "privacy/pair_normal.h"
#include "privacy/pair_cache.h"
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
    assert_int_equal(cellar_pld_create(atoms, spacing, 1, CELLAR_PLD_SPLIT, &pld, &err), CELLAR_OK);
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

/* ---- blocks --------------------------------------------------------------------------------- */

/* The sum of (1 - e^{epsilon - loss})^+ over atoms. */
static double delta_of(const cellar_atoms *atoms, double epsilon)
{
    double sum = 0;
    for (size_t i = 0; i < atoms->n; i++)
        if (atoms->items[i].loss > epsilon)
            sum += atoms->items[i].mass * -expm1(epsilon - atoms->items[i].loss);
    return sum + atoms->infinite;
}

/* Blocks of numbers dominate the pair they are made of, and hardly more than that. */
static void test_blocks_dominate(void **state)
{
    static const struct {
        const char *spec;
        double tail;
    } cases[] = {{"negbin:alpha=30,sigma=3", 1e-20},
                 {"negbin:alpha=0.02,sigma=16", 1e-19},
                 {"pig:alpha=50,sigma=4", 1e-12},
                 {"pig:alpha=0.3,sigma=1.8", 1e-70},
                 {"sichel:alpha=20,sigma=3,nu=-2", 1e-14},
                 {"delaporte:alpha=9,sigma=0.9,nu=0.4", 1e-25},
                 {"pig:alpha=2500,sigma=0.02", 1e-30}, /* the first numbers are not told */
                 {"sichel:alpha=700,sigma=0.001,nu=2", 1e-20}};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = make(cases[i / 2].spec);
        cellar_pair_cache *cache = cellar_pair_cache_create();
        cellar_atoms blocks, balls;
        cellar_pair pair;
        double sum = 0, exact;
        int made;
        assert_non_null(cache);
        cellar_pair_init(&pair, m, i % 2, 1 - (int64_t) i % 2, CELLAR_NEGATIVES_KEEP);
        assert_int_equal(cellar_atoms_create(&pair, cases[i / 2].tail, &balls, &err), CELLAR_OK);
        pair.cache = cache;
        blocks = (cellar_atoms){0};
        assert_int_equal(cellar_atoms_by_blocks(&pair, cases[i / 2].tail, &blocks, &made, &err),
                         CELLAR_OK);
        assert_true(made && blocks.mass_error < 1e-9 && blocks.loss_error < 1e-9);
        assert_true(blocks.infinite <= cases[i / 2].tail);
        for (size_t k = 0; k < blocks.n; k++)
            sum += blocks.items[k].mass;
        assert_true(fabs(sum - 1) < 1e-9);
        for (int e = 0; e < 40; e++) {
            double epsilon = ldexp(1e-4, e / 2), got = delta_of(&blocks, epsilon);
            exact = delta_of(&balls, epsilon);
            if (got < exact * (1 - 1e-8) - 1e-15 ||
                got > exact * (1 + 1e-4) + 2 * cases[i / 2].tail)
                fail_msg("%s: delta(%g) is %.15g, by blocks %.15g", cases[i / 2].spec, epsilon,
                         exact, got);
        }
        cellar_atoms_clear(&blocks);
        cellar_atoms_clear(&balls);
        cellar_pair_cache_free(cache);
        cellar_mechanism_free(m);
    }
}

static void test_losses_in_order(void **state)
{
    enum { N = 3000 };
    static cellar_atom items[2 * N];
    uint64_t seed = 7;
    (void) state;
    for (size_t i = 0; i < N; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        items[i].mass = (double) i;
        items[i].loss =
            ldexp((double) (int64_t) (seed >> 40) - 0x1p23, (int) (seed >> 8 & 63) - 40);
        if (i % 7 == 0)
            items[i].loss = i % 2 ? 0.0 : -items[i / 2].loss;
    }
    cellar_atoms_sort(items, items + N, N);
    for (size_t i = 1; i < N; i++)
        assert_true(items[i - 1].loss <= items[i].loss);
    cellar_atoms_sort(items, items + N, 0);
    cellar_atoms_sort(items, items + N, 1);
}

/* ---- wide normal noise ---------------------------------------------------------------------- */

/* Sums of it by their law, against the transform on their lattice: delta, delta_p and epsilon. */
static void test_normal_sums(void **state)
{
    static const char *const specs[] = {"discrete-gaussian:sigma=17",
                                        "discrete-gaussian:sigma=90.5", "gaussian:sigma=800"};
    static const uint64_t times[] = {2, 5, 20};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < 9; i++)
        for (int64_t k = 1; k < 4; k += 2) {
            cellar_mechanism *m = make(specs[i / 3]);
            cellar_stake stake = {.times = times[i % 3]};
            double deviation, lattice_p = 0;
            cellar_bounds violation;
            cellar_atoms atoms;
            cellar_pair_init(&stake.pair, m, k, 0, CELLAR_NEGATIVES_KEEP);
            assert_true(cellar_normal_sums_apply(&stake));
            assert_int_equal(cellar_atoms_create(&stake.pair, 1e-40, &atoms, &err), CELLAR_OK);
            deviation = (double) k * sqrt((double) times[i % 3]) /
                        strtod(strchr(specs[i / 3], '=') + 1, NULL);
            for (int z = 0; z < 8; z++) {
                double epsilon = z * deviation;
                cellar_sum *sum = make_sum(&atoms, times[i % 3], 0, epsilon);
                double upper = cellar_sum_delta_upper(sum, epsilon) * (1 + 1e-5);
                double lower = cellar_sum_delta_lower(sum, epsilon) * (1 - 1e-5);
                cellar_bounds delta, there;
                cellar_normal_sums_delta(&stake, epsilon, &delta);
                if (!(delta.upper >= lower && delta.lower <= upper &&
                      delta.upper - delta.lower <= 1e-3 * delta.upper))
                    fail_msg("%s x %d: delta(%g) in [%.12g, %.12g], on the lattice [%.12g, %.12g]",
                             specs[i / 3], (int) times[i % 3], epsilon, delta.lower, delta.upper,
                             lower, upper);
                cellar_normal_sums_epsilon(&stake, delta.upper, &there);
                assert_true(there.lower <= epsilon * (1 + 1e-9) &&
                            there.upper >= epsilon * (1 - 1e-6));
                assert_true(there.upper - there.lower <= 1e-5 * there.upper);
                lattice_p = z == 6 ? cellar_sum_violation_upper(sum, epsilon, 0) : lattice_p;
                cellar_sum_free(sum);
            }
            cellar_normal_sums_violation(&stake, 6 * deviation, &violation);
            if (fabs(violation.upper - lattice_p) > 1e-4 * lattice_p)
                fail_msg("%s x %d: delta_p %.12g, on the lattice %.12g", specs[i / 3],
                         (int) times[i % 3], violation.upper, lattice_p);
            cellar_atoms_clear(&atoms);
            cellar_mechanism_free(m);
        }
}

/* The order that doubles find is that of the balls, and they leave little open. */
static void test_normal_order(void **state)
{
    static const char *const specs[] = {"gaussian:sigma=16", "gaussian:sigma=50.5",
                                        "gaussian:sigma=2000"};
    (void) state;
    for (size_t i = 0; i < 60; i++) {
        cellar_mechanism *m = make(specs[i % 3]);
        double sigma = strtod(strchr(specs[i % 3], '=') + 1, NULL);
        int64_t d = i % 2 ? 1 : -3, b = 10 + d + (int64_t) ((double) i / 60 * 12 * sigma);
        cellar_order order;
        cellar_pair pair;
        arb_t p, q;
        fmpq_t epsilon;
        double loss;
        arb_init(p);
        arb_init(q);
        fmpq_init(epsilon);
        cellar_pair_init(&pair, m, 10 + d, 10, CELLAR_NEGATIVES_KEEP);
        cellar_pair_pmf(&pair, 0, b, 512, p);
        cellar_pair_pmf(&pair, 1, b, 512, q);
        arb_div(p, p, q, 512);
        arb_log(p, p, 512);
        loss = arf_get_d(arb_midref(p), ARF_RND_NEAR);
        for (int side = -1; side < 2; side++) {
            cellar_rational_set_double(epsilon, fabs(loss) * (1 + side * 1e-5));
            order = cellar_pair_compare_normal(&pair, b, epsilon);
            if (order == CELLAR_ORDER_OPEN) {
                assert_true(side == 0);
                continue;
            }
            arb_set_fmpq(q, epsilon, 512);
            assert_true(order == CELLAR_ORDER_ABOVE ? arb_gt(p, q) : arb_lt(p, q));
        }
        fmpq_clear(epsilon);
        arb_clear(p);
        arb_clear(q);
        cellar_mechanism_free(m);
    }
}

/* Losses of synthetic counts by double-words and by balls. */
static void test_words_and_balls(void **state)
{
    static const char *const specs[] = {"poisson:alpha=0.4",
                                        "negbin:alpha=3,sigma=0.7",
                                        "pig:alpha=2,sigma=0.5",
                                        "sichel:alpha=1,sigma=2,nu=-0.6",
                                        "delaporte:alpha=4,sigma=0.8,nu=0.3",
                                        "poisson:alpha=1500"};
    static const double tails[] = {1e-9, 1e-25};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++)
        for (int larger = 0; larger < 2; larger++) {
            cellar_mechanism *m = make(specs[i / 2]);
            cellar_pair_cache *cache = cellar_pair_cache_create();
            cellar_atoms words, balls;
            cellar_pair pair;
            size_t first = 0;
            double sum = 0;
            cellar_pair_init(&pair, m, larger ? 2 : 0, larger ? 0 : 2, CELLAR_NEGATIVES_KEEP);
            assert_int_equal(cellar_atoms_create(&pair, tails[i % 2], &balls, &err), CELLAR_OK);
            pair.cache = cache;
            assert_non_null(cache);
            assert_int_equal(cellar_atoms_create(&pair, tails[i % 2], &words, &err), CELLAR_OK);
            while (first < balls.n && fabs(balls.items[first].loss - words.items[0].loss) > 1e-9)
                first++;
            assert_true(words.infinite <= 3 * tails[i % 2] && words.moved <= 3 * tails[i % 2]);
            for (size_t k = 1; k + 1 < words.n && first + k + 1 < balls.n; k++) {
                const cellar_atom *x = &words.items[k], *y = &balls.items[first + k];
                if (fabs(x->loss - y->loss) > words.loss_error + balls.loss_error ||
                    fabs(x->mass - y->mass) > 0x1p-45 * y->mass)
                    fail_msg("%s: mass %.17g, %.17g; loss %.17g, %.17g", specs[i / 2], x->mass,
                             y->mass, x->loss, y->loss);
                sum += x->mass;
            }
            assert_true(sum > 0.2 && sum <= 1 + 1e-12);
            assert_int_equal(words.is_lattice, balls.is_lattice);
            cellar_atoms_clear(&words);
            cellar_atoms_clear(&balls);
            cellar_pair_cache_free(cache);
            cellar_mechanism_free(m);
        }
}

/* Masses and losses of noise against balls: the window's ends hold what lies beyond them. */
static void test_noise_and_balls(void **state)
{
    static const char *const specs[] = {"gaussian:sigma=4.3",
                                        "gaussian:sigma=31",
                                        "gaussian:sigma=301.7",
                                        "discrete-gaussian:sigma=37.5",
                                        "truncated-normal:epsilon=0.03,m=40",
                                        "truncated-laplace:epsilon=0.1,m=25"};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *m = make(specs[i / 2]);
        cellar_atoms atoms;
        cellar_pair pair;
        int64_t b, end;
        arb_t p, q;
        arb_init(p);
        arb_init(q);
        cellar_pair_init(&pair, m, 0, i % 2 ? 1 : -3, CELLAR_NEGATIVES_KEEP);
        assert_int_equal(cellar_atoms_create(&pair, 1e-12, &atoms, &err), CELLAR_OK);
        m->ops->support(m, 0, 1e-12, &b, &end);
        while (!cellar_pair_in_support(&pair, 1, b))
            b++;
        for (size_t k = 1; k + 1 < atoms.n; k++) {
            double loss, lattice = fmpq_get_d(atoms.offset) +
                                   (double) atoms.index[k] * fmpq_get_d(atoms.spacing);
            m->ops->pmf_ball(m, 0, b + (int64_t) k, 128, p);
            m->ops->pmf_ball(m, pair.count[1], b + (int64_t) k, 128, q);
            assert_true(fabs(arf_get_d(arb_midref(p), ARF_RND_NEAR) - atoms.items[k].mass) <=
                        0x1p-45 * atoms.items[k].mass);
            arb_div(p, p, q, 128);
            arb_log(p, p, 128);
            loss = arf_get_d(arb_midref(p), ARF_RND_NEAR);
            assert_true(fabs(loss - atoms.items[k].loss) <= atoms.loss_error + 1e-15 * fabs(loss));
            if (atoms.is_lattice)
                assert_true(fabs(loss - lattice) <= atoms.loss_error + 1e-15 * (1 + fabs(loss)));
        }
        assert_int_equal(atoms.is_lattice, i / 2 > 1); /* of normal noise, when it is wide */
        cellar_atoms_clear(&atoms);
        arb_clear(p);
        arb_clear(q);
        cellar_mechanism_free(m);
    }
}

/* ---- probabilities ------------------------------------------------------------------------- */

/* P(|loss| > epsilon) of one or two cells, pair by pair: the larger. */
static double brute_violation(const cellar_mechanism *m, double epsilon)
{
    int64_t low, high;
    double one = 0, two = 0;
    cellar_mechanism_support(m, 1, 1e-14, &low, &high);
    for (int64_t x = low; x <= high; x++) {
        double p = cellar_mechanism_pmf(m, 1, x), q = cellar_mechanism_pmf(m, 0, x);
        one += fabs(log(p / q)) > epsilon ? p : 0;
        for (int64_t y = low; y <= high; y++) {
            double both = p * cellar_mechanism_pmf(m, 1, y);
            double loss = log(both / q / cellar_mechanism_pmf(m, 0, y));
            two += fabs(loss) > epsilon ? both : 0;
        }
    }
    return fmax(one, two);
}

static void test_violation(void **state)
{
    static const struct {
        const char *spec;
        double close;
    } cases[] = {{"laplace:epsilon=0.9", 1e-9},
                 {"gaussian:sigma=2.5", 1e-9},
                 {"gaussian:sigma=19", 1e-3},
                 {"gaussian:sigma=61", 1e-9},
                 {"discrete-gaussian:sigma=7", 1e-9},
                 {"discrete-laplace:epsilon=0.31", 1e-9},
                 {"truncated-laplace:epsilon=0.2,m=7", 1e-9},
                 {"truncated-normal:epsilon=0.4,m=9", 1e-9}};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = 1; e < 4; e++) {
            cellar_mechanism *m = make(cases[i].spec);
            cellar_stake stake = {.times = 2};
            cellar_bounds bounds;
            double epsilon = 0.1037 * e, want = brute_violation(m, epsilon);
            cellar_pair_init(&stake.pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
            assert_int_equal(cellar_tight_violation(&stake, epsilon, &bounds, &err), CELLAR_OK);
            if (want > bounds.upper * (1 + 1e-9) + 1e-11 ||
                want < bounds.upper * (1 - cases[i].close) - 1e-11)
                fail_msg("%s at %g: %.15g, not %.15g", cases[i].spec, epsilon, bounds.upper, want);
            cellar_mechanism_free(m);
        }
}

/* No sum is beyond the largest: nothing is transformed, and nothing is left. */
static void test_beyond_all_losses(void **state)
{
    cellar_mechanism *m = make("poisson:alpha=2");
    cellar_stake stake = {.times = 3};
    cellar_bounds bounds;
    cellar_error err;
    (void) state;
    cellar_pair_init(&stake.pair, m, 0, 1, CELLAR_NEGATIVES_KEEP); /* losses are at most 1 */
    assert_int_equal(cellar_tight_delta(&stake, 1, 3.0001, 0, &bounds, &err), CELLAR_OK);
    assert_true(bounds.upper == 0 && bounds.lower == 0);
    assert_int_equal(cellar_tight_delta(&stake, 1, 2.9, 0, &bounds, &err), CELLAR_OK);
    assert_true(bounds.lower > exp(-6.0) * -expm1(-0.1) * (1 - 1e-6) && bounds.upper < 3e-4);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_holds_lattice), cmocka_unit_test(test_few_losses),
        cmocka_unit_test(test_words_and_balls),    cmocka_unit_test(test_noise_and_balls),
        cmocka_unit_test(test_normal_sums),        cmocka_unit_test(test_normal_order),
        cmocka_unit_test(test_blocks_dominate),    cmocka_unit_test(test_losses_in_order),
        cmocka_unit_test(test_violation),          cmocka_unit_test(test_beyond_all_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
