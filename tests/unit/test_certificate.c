/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates against enumeration: no violation that sums can find exceeds them, the two
 * computations agree, composition lies between its bounds, and the facts they rest on hold. */
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
#include "privacy/supremum.h"
#include "privacy/tight.h"
#include "make_mechanism.h"

static void decimal(const char *text, fmpq_t out)
{
    fmpq_init(out);
    assert_true(cellar_rational_parse(text, strlen(text), out));
}

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* ---- enumeration -------------------------------------------------------------------- */

/* Mechanisms of every kind, with parameters that are not special. */
static const char *const specs[] = {"laplace:epsilon=0.7",
                                    "laplace:epsilon=3.1",
                                    "discrete-laplace:epsilon=0.2",
                                    "discrete-laplace:epsilon=1.7",
                                    "gaussian:sigma=0.6",
                                    "gaussian:sigma=2.5",
                                    "discrete-gaussian:sigma=0.8",
                                    "discrete-gaussian:sigma=3.3",
                                    "truncated-laplace:epsilon=0.3,m=4",
                                    "truncated-normal:epsilon=2,m=6",
                                    "identity",
                                    "poisson:alpha=0.3",
                                    "poisson:alpha=2",
                                    "negbin:alpha=0.5,sigma=0.3",
                                    "negbin:alpha=0.2,sigma=3",
                                    "pig:alpha=0.5,sigma=0.4",
                                    "sichel:alpha=1,sigma=0.5,nu=-1.3",
                                    "sichel:alpha=0.4,sigma=2,nu=0.7",
                                    "delaporte:alpha=0.5,sigma=0.6,nu=0.3",
                                    "delaporte:alpha=0.5,sigma=2,nu=0.3",
                                    "max-entropy:variance=1.5,m=3",
                                    "max-entropy:variance=2,m=4,min=2",
                                    "round:base=5",
                                    "hellinger:epsilon=2"};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* What doubles find for one pair: a sum over all but 1e-13 of the mass. */
static void enumerate(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                      cellar_negatives negatives, double epsilon, double *delta, double *violation)
{
    int64_t low, high;
    cellar_mechanism_support(m, count, 1e-13, &low, &high);
    *delta = *violation = 0;
    if (negatives == CELLAR_NEGATIVES_ZERO && low < 0)
        low = 0;
    for (int64_t b = low; b <= high; b++) {
        int zero = negatives == CELLAR_NEGATIVES_ZERO && b == 0;
        double p = zero ? cellar_mechanism_cdf(m, count, 0) : cellar_mechanism_pmf(m, count, b);
        double q =
            zero ? cellar_mechanism_cdf(m, neighbour, 0) : cellar_mechanism_pmf(m, neighbour, b);
        *delta += fmax(0, p - exp(epsilon) * q);
        if (p > 0 && (q == 0 || fabs(log(p) - log(q)) > epsilon + 1e-9))
            *violation += p;
    }
}

/* The enumerated violation never exceeds the certificate, and for some count it meets it. */
static void test_never_exceeded(void **state)
{
    static const char *const epsilons[] = {"0.31", "0.9"};
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (size_t e = 0; e < 2; e++)
            for (int zero = 0; zero < (m->ops->facts->period != NULL ? 2 : 1); zero++) {
                cellar_reach reach = {.m = m,
                                      .shift = 1 + (int64_t) (e % 2),
                                      .negatives =
                                          zero ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP};
                double most = 0, most_violation = 0, value = strtod(epsilons[e], NULL);
                cellar_worst delta, violation;
                fmpq_t epsilon;
                decimal(epsilons[e], epsilon);
                cellar_supremum_delta(&reach, epsilon, &delta);
                cellar_supremum_violation(&reach, epsilon, &violation);
                for (int64_t a = 0; a < (m->ops->is_additive ? 24 : 8); a++)
                    for (int order = 0; order < 2; order++) {
                        double d, v;
                        enumerate(m, a + (order ? reach.shift : 0), a + (order ? 0 : reach.shift),
                                  reach.negatives, value, &d, &v);
                        most = fmax(most, d);
                        most_violation = fmax(most_violation, v);
                    }
                if (most > delta.bound * (1 + 1e-9) + 1e-12 ||
                    most_violation > violation.bound * (1 + 1e-9) + 1e-12)
                    fail_msg("%s at %s (zero %d): found %.17g and %.17g, certified %.17g and %.17g",
                             specs[i], epsilons[e], zero, most, most_violation, delta.bound,
                             violation.bound);
                assert_true(most >= delta.bound * (1 - 1e-6) - 1e-9);
                fmpq_clear(epsilon);
            }
        cellar_mechanism_free(m);
    }
}

/* By threshold and term by term. */
static void test_two_routes(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (int k = 0; k < 12; k++) {
            cellar_pair pair;
            fmpq_t epsilon;
            arb_t first, second;
            arb_init(first);
            arb_init(second);
            fmpq_init(epsilon);
            fmpq_set_si(epsilon, 7 * (k / 4), 10);
            cellar_pair_init(&pair, m, k % 4,
                             k % 4 + (k % 2   ? 1
                                      : k % 4 ? -1
                                              : 2),
                             k % 3 == 0 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP);
            cellar_pair_delta(&pair, epsilon, first);
            cellar_pair_delta_by_sum(&pair, epsilon, 1e-10, 128, second);
            if (!arb_overlaps(first, second))
                fail_msg("%s: two routes to delta disagree", specs[i]);
            cellar_pair_violation(&pair, epsilon, first);
            cellar_pair_violation_by_sum(&pair, epsilon, 1e-10, 128, second);
            if (!arb_overlaps(first, second))
                fail_msg("%s: two routes to the violation disagree", specs[i]);
            fmpq_clear(epsilon);
            arb_clear(first);
            arb_clear(second);
        }
        cellar_mechanism_free(m);
    }
}

/* ---- facts ----------------------------------------------------------------------------- */

static void test_facts(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        const cellar_facts *facts = m->ops->facts;
        fmpq_t exact;
        fmpq_init(exact);
        assert_non_null(facts);
        for (int64_t a = 0; a < 12; a++) {
            double before = -INFINITY;
            for (int64_t b = -10; b < 40; b++) {
                double p = cellar_mechanism_log_pmf(m, a + 1, b);
                double q = cellar_mechanism_log_pmf(m, a, b);
                if (p == -INFINITY && q == -INFINITY)
                    continue;
                if (facts->is_monotone != NULL && facts->is_monotone(m) &&
                    p - q < before - 1e-9 * (1 + fabs(before)))
                    fail_msg("%s: ratios fall at %d, %d", specs[i], (int) a, (int) b);
                before = p - q;
                if (facts->log_ratio != NULL && isfinite(p) && isfinite(q) &&
                    facts->log_ratio(m, a + 1, a, b, exact))
                    assert_true(fabs(fmpq_get_d(exact) - (p - q)) < 1e-9 * (1 + fabs(p)));
            }
        }
        fmpq_clear(exact);
        cellar_mechanism_free(m);
    }
}

/* The bound for large counts holds for every pair from there on. */
static void test_tails(void **state)
{
    static const int64_t froms[] = {0, 1, 3, 10, 40};
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(specs[i]);
        for (size_t f = 0; f < 5 && m->ops->facts->tail != NULL; f++)
            for (int e = 1; e < 4; e++) {
                arb_t bound, epsilon;
                double value = 0.3 * e;
                arb_init(bound);
                arb_init(epsilon);
                arb_set_d(epsilon, value);
                m->ops->facts->tail(m, froms[f], 1, epsilon, 128, bound);
                for (int64_t a = froms[f]; a < froms[f] + 6; a++)
                    for (int order = 0; order < 2; order++) {
                        double d, v;
                        enumerate(m, a + order, a + 1 - order, CELLAR_NEGATIVES_KEEP, value, &d,
                                  &v);
                        assert_true(d <= cellar_ball_upper(bound) * (1 + 1e-9) + 1e-12);
                    }
                arb_clear(bound);
                arb_clear(epsilon);
            }
        cellar_mechanism_free(m);
    }
}

/* ---- composition --------------------------------------------------------------------------- */

/* delta of two or three cells of noise by a sum over all pairs or triples of outcomes. */
static double brute_delta(const cellar_mechanism *m, int times, double epsilon)
{
    int64_t low, high;
    double sum = 0;
    cellar_mechanism_support(m, 1, 1e-13, &low, &high);
    for (int64_t x = low; x <= high; x++)
        for (int64_t y = low; y <= high; y++)
            for (int64_t z = low; z <= (times > 2 ? high : low); z++) {
                double p = cellar_mechanism_pmf(m, 1, x) * cellar_mechanism_pmf(m, 1, y);
                double q = cellar_mechanism_pmf(m, 0, x) * cellar_mechanism_pmf(m, 0, y);
                if (times > 2) {
                    p *= cellar_mechanism_pmf(m, 1, z);
                    q *= cellar_mechanism_pmf(m, 0, z);
                }
                sum += fmax(0, p - exp(epsilon) * q);
            }
    return sum;
}

static void test_composition(void **state)
{
    static const char *const additive[] = {
        "laplace:epsilon=0.9",           "discrete-laplace:epsilon=0.8",      "gaussian:sigma=1.2",
        "discrete-gaussian:sigma=1.1",   "truncated-laplace:epsilon=0.6,m=4", "poisson:alpha=2",
        "truncated-normal:epsilon=1,m=5"};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof additive / sizeof *additive; i++) {
        cellar_mechanism *m = make(additive[i]);
        for (int times = 2; times < 4; times++)
            for (int e = 0; e < 4; e++) {
                cellar_stake stake = {.times = (uint64_t) times};
                double epsilon = 0.4 * e + 0.05, want = brute_delta(m, times, epsilon);
                cellar_bounds bounds;
                cellar_pair_init(&stake.pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
                assert_int_equal(cellar_tight_delta(&stake, 1, epsilon, 0, &bounds, &err),
                                 CELLAR_OK);
                if (want > bounds.upper * (1 + 1e-9) + 1e-11 ||
                    want < bounds.lower * (1 - 1e-9) - 1e-11 || bounds.upper - bounds.lower > 1e-3)
                    fail_msg("%s x %d at %g: %.15g not in [%.15g, %.15g]", additive[i], times,
                             epsilon, want, bounds.lower, bounds.upper);
            }
        cellar_mechanism_free(m);
    }
}

/* Many cells against the exact law of their loss, which for discrete Laplace noise lies on three
 * points: a convolution of positive numbers in long doubles. */
static void test_lattice_convolution(void **state)
{
    enum { TIMES = 40 };
    const long double r = expl(-0.25L), up = 1 / (1 + r), down = r / (1 + r);
    cellar_mechanism *m = make("discrete-laplace:epsilon=0.25");
    cellar_stake stake = {.times = TIMES};
    long double law[2 * TIMES + 1] = {0}; /* at losses (i - TIMES) / 4 */
    cellar_error err;
    (void) state;
    law[TIMES] = 1;
    for (int k = 0; k < TIMES; k++) {
        long double next[2 * TIMES + 1] = {0};
        for (int i = TIMES - k; i <= TIMES + k; i++) {
            next[i + 1] += up * law[i];
            next[i - 1] += down * law[i];
        }
        memcpy(law, next, sizeof law);
    }
    cellar_pair_init(&stake.pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
    for (double epsilon = 0.1; epsilon < 10; epsilon += 0.9) {
        long double want = 0;
        cellar_bounds bounds;
        for (int i = 0; i <= 2 * TIMES; i++)
            want += law[i] * fmaxl(0, -expm1l(epsilon - (i - TIMES) / 4.0L));
        assert_int_equal(cellar_tight_delta(&stake, 1, epsilon, 0, &bounds, &err), CELLAR_OK);
        assert_true(bounds.is_lattice);
        assert_true(want <= bounds.upper && want >= bounds.lower);
        assert_true(bounds.upper - bounds.lower <= 1e-7 * bounds.upper);
    }
    cellar_mechanism_free(m);
}

/* Two halves are one whole; different parts in any order; one part is the pair itself. */
static void test_composition_consistent(void **state)
{
    cellar_mechanism *a = make("discrete-gaussian:sigma=4"), *b = make("gaussian:sigma=5");
    cellar_stake both[2] = {{.times = 10}, {.times = 20}}, whole = {.times = 64};
    cellar_bounds x, y;
    cellar_error err;
    (void) state;
    cellar_pair_init(&both[0].pair, a, 1, 0, CELLAR_NEGATIVES_KEEP);
    cellar_pair_init(&both[1].pair, b, 1, 0, CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_tight_epsilon(both, 2, 1e-8, 0, &x, &err), CELLAR_OK);
    assert_true(x.lower <= x.upper && x.upper - x.lower <= 1e-3);
    cellar_pair_init(&whole.pair, a, 1, 0, CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_tight_epsilon(&whole, 1, 1e-8, 0, &x, &err), CELLAR_OK);
    /* 64 cells of discrete noise of deviation 4 are close to one of Gaussian noise of 1/2 */
    assert_true(x.lower <= x.upper && x.upper - x.lower <= 1e-3);
    assert_int_equal(cellar_tight_delta(&whole, 1, x.upper, 0, &y, &err), CELLAR_OK);
    assert_true(y.upper <= 1.0001e-8 && y.lower >= 0.99e-8);
    cellar_mechanism_free(a);
    cellar_mechanism_free(b);
}

/* As small as doubles go. */
static void test_tiny_delta(void **state)
{
    cellar_mechanism *m = make("discrete-gaussian:sigma=3");
    cellar_stake stake = {.times = 1};
    cellar_bounds bounds;
    cellar_reach reach = {.m = m, .shift = 1, .negatives = CELLAR_NEGATIVES_KEEP};
    cellar_worst worst;
    cellar_error err;
    fmpq_t epsilon;
    (void) state;
    cellar_pair_init(&stake.pair, m, 1, 0, CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_tight_epsilon(&stake, 1, 1e-300, 0, &bounds, &err), CELLAR_OK);
    assert_true(bounds.upper - bounds.lower < 1e-3 && bounds.lower > 12);
    fmpq_init(epsilon);
    cellar_rational_set_double(epsilon, bounds.upper);
    cellar_supremum_delta(&reach, epsilon, &worst);
    assert_true(worst.bound <= 1e-300 && worst.bound > 1e-301);
    fmpq_clear(epsilon);
    cellar_mechanism_free(m);
}

/* ---- certificates ------------------------------------------------------------------------------
 */

static cellar_status certify(const char *const *list, size_t n, const cellar_certify_options *o,
                             cellar_certificate **out)
{
    cellar_mechanism *mechanisms[4] = {0};
    cellar_error err;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        mechanisms[i] = make(list[i]);
    status = cellar_certify((const cellar_mechanism *const *) mechanisms, n, o, out, &err);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
    return status;
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
        o.per_unit = cases[i].per_unit;
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
    o.domain = CELLAR_CERTIFICATE_DOMAIN_OBSERVED;
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_exceeded),
        cmocka_unit_test(test_two_routes),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_composition),
        cmocka_unit_test(test_lattice_convolution),
        cmocka_unit_test(test_composition_consistent),
        cmocka_unit_test(test_tiny_delta),
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_violation_not_monotone),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
