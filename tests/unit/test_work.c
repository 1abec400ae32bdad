/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted work: every certificate ends, one that ends early is still valid, and no question about a
 * certificate contradicts another. Work is counted in steps, so that nothing here depends on time.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "certify_specs.h"
#include "math/work.h"
#include "mechanism/kernels/kernel.h"
#include "random/rng.h"
#include "splitmix.h"
#include "mechanism_specs.h"

/* Of certify.c; and what is done between two looks at the limit. */
static const double WORK_USUAL = 2e8, ONE_STEP = 5e7;

/* ---- every certificate ends ---------------------------------------------------------------- */

static void test_hostile_specs_end(void **state)
{
    static const struct {
        const char *spec, *epsilon, *delta;
        uint64_t weight, min_count, cells;
    } cases[] = {
        {"delaporte:alpha=1000000,sigma=0.0001,nu=0.000000001", NULL, "1e-18", 2, 1000000, 1},
        {"delaporte:alpha=1000,sigma=0.001,nu=0.00107", "1", NULL, 1, 1000000, 1},
        {"delaporte:alpha=3037,sigma=7.74,nu=0.999", "19.14", "5.341e-7", 1, 0, 2},
        {"delaporte:alpha=300,sigma=2,nu=0.5", "0.01", NULL, 1, 0, 1},
        {"pig:alpha=100000,sigma=20", NULL, "1e-6", 1, 0, 1},
        {"sichel:alpha=0.01463,sigma=62.96,nu=-10.83", NULL, "2e-136", 3, 0, 1},
        {"hellinger:epsilon=0.006479", "0.0005", "4e-16", 3437, 0, 16},
        {"round:base=1000000000", "1", NULL, 1, 1, 1},
    };
    const double effort = 0.1;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_certify_options o = cellar_certify_options_default();
        cellar_certificate *c;
        const double before = cellar_work_done();
        double done;
        o.effort = effort;
        o.max_weight = cases[i].weight;
        o.min_count = cases[i].min_count;
        o.n_cells = cases[i].cells;
        o.epsilons = &cases[i].epsilon;
        o.n_epsilons = cases[i].epsilon != NULL;
        o.deltas = &cases[i].delta;
        o.n_deltas = cases[i].delta != NULL;
        c = certify_spec(cases[i].spec, &o);
        done = cellar_work_done() - before;
        if (!(done > 0 && done < effort * WORK_USUAL + ONE_STEP))
            fail_msg("%s took %g steps", cases[i].spec, done);
        cellar_certificate_free(c);
    }
}

/* ---- what ends early is valid --------------------------------------------------------------- */

/* Bounds of a certificate that ended early enclose those of the whole one. */
static void check_encloses(const char *spec, double effort, const cellar_certificate *whole,
                           const cellar_certificate *cut)
{
    const cellar_profile_point a = cellar_certificate_point(whole, 0);
    const cellar_profile_point b = cellar_certificate_point(cut, 0);
    const cellar_epsilon_at x = cellar_certificate_epsilon_at(whole, 0);
    const cellar_epsilon_at y = cellar_certificate_epsilon_at(cut, 0);
    if (b.delta < a.delta_lower || b.delta_lower > a.delta ||
        (!a.probabilistic_is_bound && b.delta_probabilistic < a.delta_probabilistic * 0.999) ||
        y.epsilon < x.lower || y.lower > x.epsilon)
        fail_msg("%s at effort %g: delta [%g, %g], not [%g, %g]; epsilon [%g, %g], not [%g, %g]; "
                 "delta_p %g, not %g",
                 spec, effort, b.delta_lower, b.delta, a.delta_lower, a.delta, y.lower, y.epsilon,
                 x.lower, x.epsilon, b.delta_probabilistic, a.delta_probabilistic);
}

/* At efforts so small that certificates end anywhere, of one cell and of two. */
static void test_unfinished_certificates_are_valid(void **state)
{
    static const char *const epsilons[] = {"0.7"}, *const deltas[] = {"1e-4"};
    static const double efforts[2][2] = {{1e-5, 2e-4}, {4e-5, 1e-3}};
    (void) state;
    for (size_t i = 0; i < (size_t) 2 * N_SPECS; i++) {
        cellar_certify_options o = cellar_certify_options_default();
        cellar_certificate *whole;
        o.n_cells = 1 + i % 2;
        o.epsilons = epsilons;
        o.deltas = deltas;
        o.n_epsilons = o.n_deltas = 1;
        whole = certify_spec(specs[i / 2], &o);
        for (size_t e = 0; e < 2; e++) {
            cellar_certificate *cut;
            o.effort = efforts[i % 2][e];
            cut = certify_spec(specs[i / 2], &o);
            check_encloses(specs[i / 2], o.effort, whole, cut);
            cellar_certificate_free(cut);
        }
        cellar_certificate_free(whole);
    }
}

/* Where a composition is not finished, what rho proves is left (Bun and Steinke 2016). */
static void test_unfinished_certificates_have_rho(void **state)
{
    static const char *const epsilons[] = {"5"}, *const deltas[] = {"1e-6"};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *whole, *cut;
    double rho, epsilon;
    (void) state;
    o.n_cells = 4000;
    o.epsilons = epsilons;
    o.deltas = deltas;
    o.n_epsilons = o.n_deltas = 1;
    whole = certify_spec("discrete-gaussian:sigma=63.5", &o);
    o.effort = 1e-5;
    cut = certify_spec("discrete-gaussian:sigma=63.5", &o);
    rho = 4000 / (2 * 63.5 * 63.5);
    epsilon = rho + 2 * sqrt(rho * log(1e6));
    assert_true(fabs(cellar_certificate_epsilon_at(cut, 0).epsilon / epsilon - 1) < 1e-9);
    assert_true(cellar_certificate_epsilon_at(whole, 0).epsilon < epsilon);
    assert_true(
        fabs(cellar_certificate_point(cut, 0).delta / exp(-(5 - rho) * (5 - rho) / (4 * rho)) - 1) <
        1e-9);
    assert_true(cellar_certificate_point(whole, 0).delta < cellar_certificate_point(cut, 0).delta);
    cellar_certificate_free(whole);
    cellar_certificate_free(cut);
}

/* ---- no question contradicts another --------------------------------------------------------- */

static double uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * ldexp((double) (next_random(state) >> 11), -53);
}

/* delta of a list at one epsilon, in a certificate of its own. */
static cellar_profile_point point_of(const char *const *list, size_t n, double epsilon)
{
    char text[40];
    const char *const epsilons[] = {text};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_profile_point point;
    cellar_error err = {{0}};
    snprintf(text, sizeof text, "%.15g", epsilon);
    o.epsilons = epsilons;
    o.n_epsilons = 1;
    if (certify_specs(list, n, &o, &c, &err) != CELLAR_OK)
        fail_msg("%s: %s", list[0], err.message);
    point = cellar_certificate_point(c, 0);
    cellar_certificate_free(c);
    return point;
}

static cellar_epsilon_at epsilon_of(const char *const *list, size_t n, const char *delta)
{
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_epsilon_at at;
    cellar_error err = {{0}};
    o.deltas = &delta;
    o.n_deltas = 1;
    assert_int_equal(certify_specs(list, n, &o, &c, &err), CELLAR_OK);
    at = cellar_certificate_epsilon_at(c, 0);
    cellar_certificate_free(c);
    return at;
}

/* Truncated Laplace noise at exactly the sum of its epsilons has the mass of infinite loss, and not
 * more than just beyond. */
static void test_sums_of_truncated_epsilons(void **state)
{
    enum { ROUNDS = 40, N = 2 };
    uint64_t random = 19;
    (void) state;
    for (int round = 0; round < ROUNDS; round++) {
        char texts[N][80];
        const char *const list[N] = {texts[0], texts[1]};
        long sum = 0; /* in units of 1e-5 */
        for (int i = 0; i < N; i++) {
            const long units = (long) exp(uniform(&random, log(1000), log(100000)));
            const int m = (int) exp(uniform(&random, log(3), log(600)));
            snprintf(texts[i], sizeof texts[i], "truncated-laplace:epsilon=%.5f,m=%d",
                     (double) units / 1e5, m);
            sum += units;
        }
        cellar_profile_point at = point_of(list, N, (double) sum / 1e5);
        cellar_profile_point beyond = point_of(list, N, (double) (sum + 1) / 1e5);
        if (fabs(at.delta - beyond.delta) > 1e-6 * at.delta || at.delta_lower < 0.999 * at.delta)
            fail_msg("%s %s: %g at the sum of epsilons, %g beyond", list[0], list[1], at.delta,
                     beyond.delta);
    }
}

/* delta does not rise with epsilon, and what is enough for a delta has no more than it. */
static void test_questions_agree(void **state)
{
    enum { ROUNDS = 60 / CHECK_SHARE };
    static const char *const deltas[] = {"1e-2", "1e-5", "1e-9"};
    uint64_t random = 9;
    (void) state;
    for (int round = 0; round < ROUNDS; round++) {
        const char *const list[] = {specs[next_random(&random) % N_SPECS],
                                    specs[next_random(&random) % N_SPECS]};
        const size_t n = 1 + next_random(&random) % 2;
        const double epsilon = exp(uniform(&random, log(0.05), log(5)));
        const cellar_epsilon_at at = epsilon_of(list, n, deltas[round % 3]);
        const cellar_profile_point first = point_of(list, n, epsilon);
        const cellar_profile_point second = point_of(list, n, epsilon * 1.001);
        if (second.delta > first.delta * (1 + 1e-3) || second.delta_lower > first.delta)
            fail_msg("%s and %s: delta rises from %g to %g at %g", list[0], n > 1 ? list[1] : "",
                     first.delta, second.delta, epsilon);
        if ((epsilon >= at.epsilon * (1 + 1e-9) && first.delta > at.delta * (1 + 1e-3)) ||
            (epsilon < at.lower * (1 - 1e-9) && first.delta < at.delta))
            fail_msg("%s and %s: delta %g at epsilon %g, but epsilon [%g, %g] at delta %g", list[0],
                     n > 1 ? list[1] : "", first.delta, epsilon, at.lower, at.epsilon, at.delta);
    }
}

/* What is not known to be the least value says so. */
static void test_bounds_are_marked(void **state)
{
    static const char *const epsilons[] = {"1"};
    const char *list[] = {"discrete-laplace:epsilon=0.3035"};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_dirichlet *d;
    cellar_certificate *c;
    cellar_error err;
    (void) state;
    o.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    o.epsilons = epsilons;
    o.n_epsilons = 1;
    assert_int_equal(
        cellar_dirichlet_create("multinomial-dirichlet:alpha=2,total=10,cells=5", &d, &err),
        CELLAR_OK);
    assert_int_equal(cellar_certify_dirichlet(d, &o, &c, &err), CELLAR_OK);
    assert_true(cellar_certificate_point(c, 0).probabilistic_is_bound);
    assert_true(cellar_certificate_point(c, 0).delta_lower < 0.5 * 0.46);
    cellar_certificate_free(c);
    cellar_dirichlet_free(d);
    o.n_cells = 2;
    c = certify_spec(list[0], &o);
    assert_true(cellar_certificate_point(c, 0).probabilistic_is_bound);
    cellar_certificate_free(c);
}

/* ---- Delaporte counts -------------------------------------------------------------------------
 */

/* Probabilities around the largest term against those run through from zero on. */
static void test_delaporte_balls(void **state)
{
    static const char *const delaporte[] = {
        "delaporte:alpha=2000,sigma=0.4,nu=0.3",   "delaporte:alpha=2000,sigma=3,nu=0.9",
        "delaporte:alpha=900,sigma=0.0001,nu=0.5", "delaporte:alpha=5000,sigma=50,nu=0.001",
        "delaporte:alpha=1500,sigma=1,nu=0.999",   "delaporte:alpha=40,sigma=7,nu=0.99",
    };
    enum { FROM_ZERO = 1000, N = 3000, BITS = 128, ENOUGH = 100 };
    arb_ptr want = _arb_vec_init(N), got = _arb_vec_init(3);
    (void) state;
    for (size_t i = 0; i < sizeof delaporte / sizeof *delaporte; i++) {
        cellar_mechanism *m = make(delaporte[i]);
        const cellar_kernel *k = (const cellar_kernel *) m;
        k->law->p_balls(k, 7, FROM_ZERO, N, BITS, want);
        for (int64_t b = 30; b + 3 <= N; b += 370) {
            k->law->p_balls(k, 7, FROM_ZERO + b, 3, BITS, got);
            for (int64_t j = 0; j < 3; j++)
                if (!arb_overlaps(got + j, want + b + j) || arb_rel_accuracy_bits(got + j) < ENOUGH)
                    fail_msg("%s: P(%d)", delaporte[i], (int) (FROM_ZERO + b + j));
        }
        cellar_mechanism_free(m);
    }
    _arb_vec_clear(want, N);
    _arb_vec_clear(got, 3);
}

static void test_delaporte_draws_of_large_counts(void **state)
{
    enum { CELLS = 4 };
    const int64_t counts[CELLS] = {123456, 123456, 123456, 123456};
    const double before = cellar_work_done();
    cellar_mechanism *m = make("delaporte:alpha=0.5,sigma=0.4,nu=0.3");
    cellar_error err;
    cellar_rng *rng;
    int64_t released[CELLS];
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(7, 0, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_mechanism_sample_many(m, counts, CELLS, rng, released, &err),
                     CELLAR_OK);
    assert_true(cellar_work_done() - before < 1e9);
    for (int i = 0; i < CELLS; i++)
        assert_true(released[i] > 1000 && released[i] < 3000000);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_specs_end),
        cmocka_unit_test(test_unfinished_certificates_are_valid),
        cmocka_unit_test(test_unfinished_certificates_have_rho),
        cmocka_unit_test(test_sums_of_truncated_epsilons),
        cmocka_unit_test(test_questions_agree),
        cmocka_unit_test(test_bounds_are_marked),
        cmocka_unit_test(test_delaporte_balls),
        cmocka_unit_test(test_delaporte_draws_of_large_counts),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
