/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates: the two computations agree, pure epsilons are exact decimals, and what is asked
 * twice is not answered in two ways. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>

#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "privacy/pair.h"
#include "privacy/worst.h"
#include "certify_specs.h"
#include "mechanism_specs.h"

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* ---- two computations -------------------------------------------------------------------- */

/* By threshold and term by term. */
static void test_two_routes(void **state)
{
    (void) state;
    for (size_t i = 0; i < 12 * N_SPECS; i++) {
        const int k = (int) (i % 12);
        cellar_mechanism *m = make(specs[i / 12]);
        cellar_one_cell cell;
        cellar_pair pair;
        fmpq_t epsilon;
        arb_t first, second;
        arb_init(first);
        arb_init(second);
        fmpq_init(epsilon);
        fmpq_set_si(epsilon, 7 * (k / 4), 10);
        cellar_one_cell_init(&cell, m, 2, 0, CELLAR_NEGATIVES_KEEP, 1);
        pair = cellar_one_cell_pair(&cell, k % 4, 1 + k % 2, k % 3 == 1,
                                    k % 3 == 0 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP);
        pair.enough = 1e-12;
        cellar_pair_delta(&pair, epsilon, first);
        cellar_pair_delta_by_sum(&pair, epsilon, 1e-10, CELLAR_PAIR_BITS, second);
        if (!arb_overlaps(first, second))
            fail_msg("%s: two routes to delta disagree", specs[i / 12]);
        cellar_pair_violation(&pair, epsilon, first);
        pair.is_monotone = pair.is_flat = 0; /* as if nothing was known of it */
        cellar_pair_violation(&pair, epsilon, second);
        if (!arb_overlaps(first, second))
            fail_msg("%s: two routes to the violation disagree", specs[i / 12]);
        cellar_one_cell_clear(&cell);
        fmpq_clear(epsilon);
        arb_clear(first);
        arb_clear(second);
        cellar_mechanism_free(m);
    }
}

/* ---- certificates ------------------------------------------------------------------------------
 */

static cellar_status certify(const char *const *list, size_t n, const cellar_certify_options *o,
                             cellar_certificate **out)
{
    cellar_error err;
    return certify_specs(list, n, o, out, &err);
}

static void test_pure(void **state)
{
    static const struct {
        const char *spec;
        uint64_t cells, weight, per_unit;
        cellar_neighbours neighbours;
        const char *want; /* NULL: none */
    } cases[] = {
        {"discrete-laplace:epsilon=0.1", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, "0.1"},
        {"discrete-laplace:epsilon=0.1", 7, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, "0.7"},
        {"laplace:epsilon=0.3", 3, 2, 5, CELLAR_NEIGHBOURS_SUBSTITUTE, "18"},
        {"gaussian:sigma=3", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, NULL},
        {"truncated-laplace:epsilon=1,m=3", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, NULL},
        {"poisson:alpha=1", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, NULL},
        {"max-entropy:variance=1,m=2", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, NULL},
        {"identity", 1, 1, 1, CELLAR_NEIGHBOURS_ADD_REMOVE, NULL},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_certify_options o = cellar_certify_options_default();
        cellar_certificate *c = NULL;
        o.n_cells = cases[i].cells;
        o.max_weight = cases[i].weight;
        o.max_per_unit = cases[i].per_unit;
        o.neighbours = cases[i].neighbours;
        assert_int_equal(certify(&cases[i].spec, 1, &o, &c), CELLAR_OK);
        if (cases[i].want != NULL)
            assert_string_equal(cellar_certificate_pure_exact(c), cases[i].want);
        else
            assert_true(isinf(cellar_certificate_pure_epsilon(c)));
        assert_int_equal(cellar_certificate_verdict(c), strcmp(cases[i].spec, "identity") == 0
                                                            ? CELLAR_VERDICT_FAILS
                                                            : CELLAR_VERDICT_HOLDS);
        cellar_certificate_free(c);
    }
}

static void test_refusals(void **state)
{
    static const char *const laplace[] = {"laplace:epsilon=1"};
    static const char *const totals[] = {"total", NULL};
    static const char *const bad[] = {"-1"};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    (void) state;
    o.invariants = totals;
    assert_int_equal(certify(laplace, 1, &o, &c), CELLAR_ERR_ARGUMENT);
    o.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    assert_int_equal(certify(laplace, 1, &o, &c), CELLAR_OK);
    cellar_certificate_free(c);
    o = cellar_certify_options_default();
    o.epsilons = bad;
    o.n_epsilons = 1;
    assert_int_equal(certify(laplace, 1, &o, &c), CELLAR_ERR_ARGUMENT);
    o = cellar_certify_options_default();
    o.n_cells = 0;
    assert_int_equal(certify(laplace, 1, &o, &c), CELLAR_ERR_ARGUMENT);
    o = cellar_certify_options_default();
    o.domain = CELLAR_DOMAIN_OBSERVED;
    assert_int_equal(certify(laplace, 1, &o, &c), CELLAR_OK);
    assert_int_equal(cellar_certificate_verdict(c), CELLAR_VERDICT_FAILS);
    cellar_certificate_free(c);
}

/* The order of the three figures, and substitution costs more than addition. */
static void test_several(void **state)
{
    static const char *const list[] = {"discrete-laplace:epsilon=0.1",
                                       "discrete-gaussian:sigma=20"};
    static const char *const deltas[] = {"1e-7"};
    double before = 0;
    (void) state;
    for (int substitute = 0; substitute < 2; substitute++) {
        cellar_certify_options o = cellar_certify_options_default();
        cellar_certificate *c = NULL;
        cellar_composition comp;
        o.n_cells = 15;
        o.neighbours = substitute ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE;
        o.deltas = deltas;
        o.n_deltas = 1;
        assert_int_equal(certify(list, 2, &o, &c), CELLAR_OK);
        comp = cellar_certificate_composition(c);
        assert_true(comp.tight.epsilon < comp.basic.epsilon);
        assert_true(comp.tight.epsilon < comp.advanced.epsilon);
        assert_true(comp.lower <= comp.tight.epsilon && comp.tight.epsilon - comp.lower <= 1e-3);
        assert_true(comp.tight.epsilon > before);
        assert_close(comp.rho, (substitute ? 30 : 15) * (0.005 + 1 / 800.0), 1e-12);
        before = comp.tight.epsilon;
        o.parallel = 1;
        cellar_certificate_free(c);
        assert_int_equal(certify(list, 2, &o, &c), CELLAR_OK);
        assert_true(cellar_certificate_composition(c).tight.epsilon < before);
        cellar_certificate_free(c);
    }
}

/* A smaller weight, or fewer cells, can violate more often: both are looked at. */
static void test_violation_not_monotone(void **state)
{
    static const char *const spec[] = {"discrete-laplace:epsilon=0.5"};
    static const char *const epsilons[] = {"0.3"};
    (void) state;
    for (int cells = 0; cells < 2; cells++) {
        cellar_certify_options o = cellar_certify_options_default();
        cellar_certificate *c = NULL;
        o.epsilons = epsilons;
        o.n_epsilons = 1;
        if (cells)
            o.n_cells = 2;
        else
            o.max_weight = 2;
        assert_int_equal(certify(spec, 1, &o, &c), CELLAR_OK);
        assert_true(cellar_certificate_point(c, 0).delta_probabilistic >= 1 - 1e-9);
        cellar_certificate_free(c);
    }
}

/* delta at the epsilon that was answered for a delta is no more than that delta, and just below it
 * is no less than what is proved: in one certificate and in two. */
static void test_consistent(void **state)
{
    static const char *const deltas[] = {"1e-3", "1e-9"};
    (void) state;
    for (size_t i = 0; i < (size_t) 4 * N_SPECS;
         i += i % 4 == 0 ? 3 : 1) { /* the first and the last of four */
        cellar_certify_options o = cellar_certify_options_default();
        const char *spec = specs[i / 4];
        char texts[2][40];
        const char *const epsilons[] = {texts[0], texts[1]};
        cellar_epsilon_at at;
        cellar_certificate *c;
        o.n_cells = i % 2 ? 3 : 1;
        o.deltas = &deltas[i / 2 % 2];
        o.n_deltas = 1;
        o.effort = 0.1;
        c = certify_spec(spec, &o);
        at = cellar_certificate_epsilon_at(c, 0);
        cellar_certificate_free(c);
        assert_true(at.lower <= at.epsilon);
        if (isinf(at.epsilon) || at.epsilon == 0)
            continue;
        snprintf(texts[0], sizeof texts[0], "%.17g", at.epsilon * (1 + 1e-11));
        snprintf(texts[1], sizeof texts[1], "%.17g", at.lower * (1 - 1e-9));
        o.epsilons = epsilons;
        o.n_epsilons = 2;
        for (o.n_deltas = 0; o.n_deltas < 2; o.n_deltas++) {
            cellar_profile_point above, below;
            c = certify_spec(spec, &o);
            above = cellar_certificate_point(c, 0);
            below = cellar_certificate_point(c, 1);
            if (above.delta_lower > at.delta || (at.lower > 0 && below.delta < at.delta) ||
                above.delta_lower > above.delta || below.delta_lower > below.delta)
                fail_msg("%s x %d: epsilon of %g in [%.12g, %.12g], but delta there in [%.12g, "
                         "%.12g] and [%.12g, %.12g]",
                         spec, (int) o.n_cells, at.delta, at.lower, at.epsilon, below.delta_lower,
                         below.delta, above.delta_lower, above.delta);
            cellar_certificate_free(c);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_routes), cmocka_unit_test(test_consistent),
        cmocka_unit_test(test_pure),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_several),    cmocka_unit_test(test_violation_not_monotone),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
