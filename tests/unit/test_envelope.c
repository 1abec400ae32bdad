/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Envelopes dominate every pair of counts, alone and composed; and units of several records. */
#include "check.h"

#include <math.h>

#include "certify_specs.h"
#include "fail_every.h"
#include "mechanism/mechanism.h"
#include "privacy/envelope.h"

static const char *const specs[] = {
    "hellinger:epsilon=1",          "delaporte:alpha=0.7,sigma=2,nu=0.3",
    "hellinger:epsilon=4",          "round:base=3",
    "max-entropy:variance=1.5,m=3", "max-entropy:variance=2,m=4,min=2"};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* sum_b max(0, P(b) - g Q(b)) by doubles. */
static double curve(const cellar_mechanism *m, int64_t count, int64_t neighbour, double g)
{
    int64_t low, high;
    double sum = 0;
    cellar_mechanism_support(m, count, 1e-13, &low, &high);
    for (int64_t b = low; b <= high; b++)
        sum +=
            fmax(0, cellar_mechanism_pmf(m, count, b) - g * cellar_mechanism_pmf(m, neighbour, b));
    return sum;
}

/* The curve of the envelope: what its masses say. */
static double envelope_curve(const cellar_losses *losses, double epsilon)
{
    double sum = losses->infinite;
    for (size_t i = 0; i < losses->n; i++)
        sum += losses->items[i].mass * fmax(0, -expm1(epsilon - losses->items[i].loss));
    return sum;
}

static void check_dominates(const cellar_mechanism *m, int larger, int64_t shift)
{
    cellar_one_cell cell;
    cellar_losses losses;
    double total = 0;
    cellar_error err;
    cellar_one_cell_init(&cell, m, shift, 0, CELLAR_NEGATIVES_KEEP, 0.1);
    assert_true(cellar_envelope_exists(&cell));
    assert_int_equal(cellar_envelope_create(&cell, larger, 1e-15, &losses, &err), CELLAR_OK);
    for (size_t i = 0; i < losses.n; i++) {
        assert_true(losses.items[i].mass >= 0);
        total += losses.items[i].mass;
    }
    assert_true(fabs(total + losses.infinite - 1) < 1e-9);
    for (int64_t a = 0; a < 12; a++)
        for (int64_t s = 1; s <= shift; s++)
            for (int e = -6; e < 9; e++) {
                double epsilon = 0.37 * e - 0.08, want;
                want = curve(m, larger ? a + s : a, larger ? a : a + s, exp(epsilon));
                if (want > envelope_curve(&losses, epsilon) * (1 + 1e-9) + 1e-12)
                    fail_msg("%s: counts %d and %d at %g: %.15g above the envelope's %.15g",
                             cellar_mechanism_spec(m), (int) a, (int) (a + s), epsilon, want,
                             envelope_curve(&losses, epsilon));
            }
    cellar_losses_clear(&losses);
    cellar_one_cell_clear(&cell);
}

static void test_dominates(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (int larger = 0; larger < 2; larger++)
            check_dominates(m, larger, 1 + (int64_t) (i % 2));
        cellar_mechanism_free(m);
    }
}

/* delta of two cells by a sum over all pairs of released numbers. */
static double brute_two(const cellar_mechanism *m, const int64_t *p, const int64_t *q,
                        double epsilon)
{
    int64_t low[2], high[2];
    double sum = 0;
    for (int k = 0; k < 2; k++)
        cellar_mechanism_support(m, p[k], 1e-10, &low[k], &high[k]);
    for (int64_t x = low[0]; x <= high[0]; x++) {
        double px = cellar_mechanism_pmf(m, p[0], x), qx = cellar_mechanism_pmf(m, q[0], x);
        for (int64_t y = low[1]; y <= high[1]; y++)
            sum += fmax(0, px * cellar_mechanism_pmf(m, p[1], y) -
                               exp(epsilon) * qx * cellar_mechanism_pmf(m, q[1], y));
    }
    return sum;
}

/* A kernel and its certificate at one epsilon. */
typedef struct certified {
    cellar_mechanism *m;
    cellar_certificate *c;
    cellar_profile_point point;
} certified;

static certified certified_open(const char *kernel, cellar_certify_options o, const char *epsilon)
{
    certified made = {.m = make(kernel)};
    o.epsilons = &epsilon;
    o.n_epsilons = 1;
    made.c = certify_spec(kernel, &o);
    made.point = cellar_certificate_point(made.c, 0);
    return made;
}

static void certified_close(certified *made)
{
    cellar_certificate_free(made->c);
    cellar_mechanism_free(made->m);
}

/* Two cells: no two pairs of counts exceed the certificate, which says that it is not tight. */
static void test_two_cells(void **state)
{
    static const char *const kernels[] = {"delaporte:alpha=0.5,sigma=1.4,nu=0.3", "round:base=3",
                                          "max-entropy:variance=2,m=4,min=2"};
    cellar_certify_options o = cellar_certify_options_default();
    (void) state;
    o.n_cells = 2;
    for (size_t i = 0; i < 3; i++) {
        certified two = certified_open(kernels[i], o, "0.8");
        double most = 0;
        assert_false(cellar_certificate_composition(two.c).is_tight);
        assert_true(two.point.delta_lower <= two.point.delta && two.point.delta <= 1);
        assert_true(two.point.delta_probabilistic >= two.point.delta);
        for (int k = 0; k < 32; k++) {
            int64_t a[] = {k % 4, k / 4 % 4};
            int64_t with[] = {a[0] + 1, a[1] + 1};
            double want = k / 16 ? brute_two(two.m, with, a, 0.8) : brute_two(two.m, a, with, 0.8);
            assert_true(want <= two.point.delta * (1 + 1e-9) + 1e-9);
            most = fmax(most, want);
        }
        assert_true(two.point.delta <= 1.5 * most); /* and it is not far from them */
        certified_close(&two);
    }
}

/* A unit of two records, in one cell or spread over two. */
static void test_units(void **state)
{
    static const char *const kernels[] = {"poisson:alpha=0.7", "negbin:alpha=3,sigma=0.4",
                                          "hellinger:epsilon=1.5", "round:base=7",
                                          "discrete-gaussian:sigma=2"};
    cellar_certify_options o = cellar_certify_options_default();
    (void) state;
    o.max_per_unit = 2;
    for (size_t i = 0; i < 5; i++) {
        certified unit = certified_open(kernels[i], o, "1.1");
        const cellar_mechanism *m = unit.m;
        for (int k = 0; k < 8; k++) {
            int64_t a[] = {k % 2, k / 2 % 2}, one[] = {a[0] + 2, a[1]},
                    two[] = {a[0] + 1, a[1] + 1};
            int order = k / 4;
            double in_one =
                order ? curve(m, one[0], a[0], exp(1.1)) : curve(m, a[0], one[0], exp(1.1));
            double in_two = i == 2  ? 0 /* too wide for a double sum */
                            : order ? brute_two(m, two, a, 1.1)
                                    : brute_two(m, a, two, 1.1);
            assert_true(fmax(in_one, in_two) <= unit.point.delta * (1 + 1e-9) + 1e-9);
        }
        assert_true(unit.point.delta_probabilistic >= unit.point.delta);
        certified_close(&unit);
    }
}

/* Records that move: two leave one cell for another. They are told apart one by one, which is a
 * bound and said to be one. */
static void test_units_that_move(void **state)
{
    static const char *const kernels[] = {"pig:alpha=0.5,sigma=0.4", "negbin:alpha=2,sigma=0.3",
                                          "sichel:alpha=1,sigma=0.5,nu=0.3"};
    cellar_certify_options o = cellar_certify_options_default();
    (void) state;
    o.max_per_unit = 2;
    o.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    for (size_t i = 0; i < 3; i++) {
        certified unit = certified_open(kernels[i], o, "1.1");
        double most = 0;
        for (int64_t a = 0; a < 3; a++)
            for (int64_t b = 0; b < 3; b++) {
                int64_t before[] = {a + 2, b}, after[] = {a, b + 2};
                double want = brute_two(unit.m, before, after, 1.1);
                assert_true(want <= unit.point.delta * (1 + 1e-9) + 1e-9);
                most = fmax(most, want);
            }
        assert_true(most > 0 && unit.point.delta_lower <= unit.point.delta);
        assert_false(cellar_certificate_composition(unit.c).is_tight);
        certified_close(&unit);
    }
}

/* ---- memory -------------------------------------------------------------------------------- */

static cellar_status envelope_scenario(void *context, cellar_error *err)
{
    cellar_losses losses;
    cellar_one_cell cell;
    cellar_status status;
    cellar_one_cell_init(&cell, context, 1, 0, CELLAR_NEGATIVES_KEEP, 1);
    status = cellar_envelope_create(&cell, 1, 1e-12, &losses, err);
    if (status == CELLAR_OK)
        cellar_losses_clear(&losses);
    cellar_one_cell_clear(&cell);
    return status;
}

static void test_fail_every(void **state)
{
    cellar_mechanism *rounded = make("round:base=2");
    (void) state;
    check_fail_every(envelope_scenario, rounded);
    cellar_mechanism_free(rounded);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dominates),  cmocka_unit_test(test_two_cells),
        cmocka_unit_test(test_units),      cmocka_unit_test(test_units_that_move),
        cmocka_unit_test(test_fail_every),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
