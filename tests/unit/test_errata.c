/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of docs/errata.md on Poisson synthesis and on frequency tables. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include <cellar/certificate.h>

#include "mechanism/mechanism.h"
#include "privacy/worst.h"
#include "rinott_table.h"
#include "make_mechanism.h"

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

static cellar_profile_point point_of(const char *spec, const char *epsilon,
                                     cellar_negatives negatives)
{
    cellar_mechanism *m = make(spec);
    const cellar_certify_part part = {m, 1};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_profile_point point;
    cellar_error err;
    o.negatives = negatives;
    o.epsilons = &epsilon;
    o.n_epsilons = 1;
    assert_int_equal(cellar_certify(&part, 1, &o, &c, &err), CELLAR_OK);
    point = cellar_certificate_point(c, 0);
    cellar_certificate_free(c);
    cellar_mechanism_free(m);
    return point;
}

/* delta (NAN: not asked) and delta_p to a relative error. */
typedef struct errata_case {
    const char *spec, *epsilon;
    cellar_negatives negatives;
    double delta, probabilistic, relative;
} errata_case;

static void check_cases(const errata_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cellar_profile_point p = point_of(cases[i].spec, cases[i].epsilon, cases[i].negatives);
        if (!isnan(cases[i].delta))
            assert_close(p.delta, cases[i].delta, cases[i].relative);
        if (!isnan(cases[i].probabilistic))
            assert_close(p.delta_probabilistic, cases[i].probabilistic, cases[i].relative);
    }
}

/* ---- Poisson synthesis ---------------------------------------------------------------- */

static void test_poisson_sawtooth(void **state)
{
    static const errata_case cases[] = {
        {"poisson:alpha=0.1", "1.5", CELLAR_NEGATIVES_KEEP, NAN, 0.301, 1e-3},
        {"poisson:alpha=0.1", "1.398", CELLAR_NEGATIVES_KEEP, NAN, 0.30097072423403293809, 1e-12},
        {"poisson:alpha=0.1", "3.795", CELLAR_NEGATIVES_KEEP, NAN, 0.30097072423403293809, 1e-12},
        {"poisson:alpha=1", "2", CELLAR_NEGATIVES_KEEP, NAN, 0.0527, 2e-3},
        {"poisson:alpha=0.8953", "2", CELLAR_NEGATIVES_KEEP, NAN, 0.0437, 2e-3},
    };
    (void) state;
    check_cases(cases, sizeof cases / sizeof *cases);
    assert_true(point_of("poisson:alpha=0.1", "6.1937", 0).delta_probabilistic <= 0.05);
    assert_true(point_of("poisson:alpha=0.1", "6.1935", 0).delta_probabilistic > 0.05);
}

/* P(|loss| > 1/2) for the pair (count, count - 1), and P(loss > 1/2) alone. */
static void pair_figures(const cellar_mechanism *m, int64_t count, double *both, double *right)
{
    *both = *right = 0;
    for (int64_t b = 0; b < 60; b++) {
        double p = cellar_mechanism_pmf(m, count, b);
        double loss =
            cellar_mechanism_log_pmf(m, count, b) - cellar_mechanism_log_pmf(m, count - 1, b);
        *both += fabs(loss) > 0.5 ? p : 0;
        *right += loss > 0.5 ? p : 0;
    }
}

static void test_poisson_both_sides(void **state)
{
    cellar_mechanism *m = make("poisson:alpha=1");
    cellar_one_cell cell;
    cellar_worst worst;
    double both, right;
    fmpq_t half;
    (void) state;
    fmpq_init(half);
    fmpq_set_si(half, 1, 2);
    cellar_one_cell_init(&cell, m, 1, 0, CELLAR_NEGATIVES_KEEP, 1);
    cellar_worst_violation(&cell, half, &worst);
    assert_int_equal(worst.count, 2);
    assert_int_equal(worst.neighbour, 1);
    assert_close(worst.upper, 0.551916, 1e-6);
    pair_figures(m, 2, &both, &right);
    assert_close(both, 0.551916, 1e-6);
    assert_close(right, 0.3528, 1e-3);
    pair_figures(m, 1, &both, &right);
    assert_close(both, 0.458659, 1e-6);
    assert_close(right, 0.3233, 1e-3);
    fmpq_clear(half);
    cellar_one_cell_clear(&cell);
    cellar_mechanism_free(m);
}

/* The ratios that one record more makes, and the two bounds. */
static void test_dirichlet_ratios(void **state)
{
    static const int64_t with[] = {1, 9}, without[] = {0, 9};
    static const double want[] = {0.6, 1.6, 2.6};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_dirichlet *d = NULL;
    cellar_certificate *c = NULL;
    cellar_error err;
    (void) state;
    assert_int_equal(
        cellar_dirichlet_create("multinomial-dirichlet:alpha=3,total=10,cells=2", &d, &err),
        CELLAR_OK);
    for (int i = 0; i < 3; i++) {
        int64_t released[] = {5 * i, 10 - 5 * i};
        assert_close(exp(cellar_dirichlet_log_pmf(d, with, released, 2) -
                         cellar_dirichlet_log_pmf(d, without, released, 2)),
                     want[i], 1e-12);
    }
    o.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    assert_int_equal(cellar_certify_dirichlet(d, &o, &c, &err), CELLAR_OK);
    assert_close(exp(cellar_certificate_pure_epsilon(c)), 13.0 / 3, 1e-12);
    cellar_certificate_free(c);
    o.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE;
    o.population = 10;
    assert_int_equal(cellar_certify_dirichlet(d, &o, &c, &err), CELLAR_OK);
    assert_close(exp(cellar_certificate_pure_epsilon(c)), 2.6, 1e-12);
    cellar_certificate_free(c);
    cellar_dirichlet_free(d);
}

/* ---- frequency tables ------------------------------------------------------------------- */

/* Twelve age groups by eleven occupations. */
static void test_table_1(void **state)
{
    enum { ROWS = 12, COLUMNS = 11 };
    double row[ROWS] = {0}, column[COLUMNS] = {0}, total = 0, chi = 0, g = 0;
    (void) state;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            row[i] += (double) rinott[i][j];
            column[j] += (double) rinott[i][j];
            total += (double) rinott[i][j];
        }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double expected = row[i] * column[j] / total, seen = (double) rinott[i][j];
            chi += (seen - expected) * (seen - expected) / expected;
            g += seen > 0 ? 2 * seen * log(seen / expected) : 0;
        }
    assert_true(total == 5784);
    assert_close(chi, 3839.04677, 1e-8);
    assert_close(sqrt(chi / total / 10), 0.257631, 1e-5);
    assert_close(g, 3228.517389, 1e-9);
}

static void test_truncated_deltas(void **state)
{
    static const errata_case cases[] = {
        {"truncated-laplace:epsilon=0.5,m=10", "0.5", CELLAR_NEGATIVES_KEEP, 0.0017, 0.0017, 0.03},
        {"truncated-laplace:epsilon=1,m=10", "1", CELLAR_NEGATIVES_KEEP, 0.00002, 0.00002, 0.06},
        {"truncated-normal:epsilon=1,m=10", "1", CELLAR_NEGATIVES_KEEP, 0.001, 0.001, 0.1},
        {"truncated-normal:epsilon=0.5,m=10", "0.5", CELLAR_NEGATIVES_KEEP, 0.00823, 0.00823, 1e-3},
        {"truncated-laplace:epsilon=0.1,m=10", "0.1", CELLAR_NEGATIVES_KEEP, 0.0283, 0.0283, 3e-3},
        {"truncated-laplace:epsilon=0.1,m=7", "0.1", CELLAR_NEGATIVES_KEEP, 0.0470, 0.0470, 3e-3},
        {"truncated-laplace:epsilon=0.5,m=7", "0.5", CELLAR_NEGATIVES_KEEP, 0.00757, 0.00757, 1e-3},
        {"truncated-laplace:epsilon=1.5,m=7", "1.5", CELLAR_NEGATIVES_KEEP, 1.75e-5, 1.75e-5, 1e-3},
        {"truncated-normal:epsilon=1.5,m=12", "1.5", CELLAR_NEGATIVES_KEEP, 2.44e-5, 2.44e-5, 3e-3},
    };
    (void) state;
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* Theorem 4.2 asks for P(M(a) = b) < delta at every b that M(a') cannot give. Three cells, of which
 * the first differs, every released list: the largest such probability shrinks with every cell, the
 * sum of what M(a) exceeds e^epsilon M(a') by does not. */
static void test_pointwise_condition(void **state)
{
    enum { M = 2 };
    cellar_mechanism *m = make("truncated-laplace:epsilon=0.5,m=2");
    double pointwise = 0, delta = 0, end = cellar_mechanism_pmf(m, 0, M);
    double none = cellar_mechanism_pmf(m, 0, 0);
    (void) state;
    for (int64_t x = -M; x <= M + 1; x++)
        for (int64_t y = -M; y <= M; y++)
            for (int64_t z = -M; z <= M; z++) {
                double others = cellar_mechanism_pmf(m, 0, y) * cellar_mechanism_pmf(m, 0, z);
                double with = cellar_mechanism_pmf(m, 1, x) * others;
                double without = cellar_mechanism_pmf(m, 0, x) * others;
                if (without == 0)
                    pointwise = fmax(pointwise, with);
                delta += fmax(0, with - exp(0.5) * without);
            }
    assert_close(pointwise, end * none * none, 1e-12);
    assert_close(delta, end, 1e-12);
    assert_close(point_of("truncated-laplace:epsilon=0.5,m=2", "0.5", CELLAR_NEGATIVES_KEEP).delta,
                 end, 1e-12);
    cellar_mechanism_free(m);
    m = make("truncated-laplace:epsilon=0.5,m=10");
    assert_close(cellar_mechanism_pmf(m, 0, 10) * pow(cellar_mechanism_pmf(m, 0, 0), 131),
                 2.9636157178970427e-83, 1e-9);
    cellar_mechanism_free(m);
}

static void test_mean_change(void **state)
{
    cellar_mechanism *m = make("discrete-laplace:epsilon=1");
    double sum = 0, a = exp(-1), c = (1 + a) / (1 - a);
    (void) state;
    for (int64_t k = -60; k <= 60; k++)
        sum += (double) (k < 0 ? -k : k) * cellar_mechanism_pmf(m, 0, k);
    assert_close(sum, 0.850918, 1e-6);
    assert_close(sum, 2 * a / (c * (1 - a) * (1 - a)), 1e-12);
    cellar_mechanism_free(m);
}

/* Nothing but the end is lost at the smaller epsilon. */
static void test_normal_is_better(void **state)
{
    static const errata_case cases[] = {{"truncated-normal:epsilon=1.5,m=12", "1.38",
                                         CELLAR_NEGATIVES_KEEP, 2.4445686321704891865e-5,
                                         2.4445686321704891865e-5, 1e-12}};
    (void) state;
    check_cases(cases, 1);
    assert_true(point_of("truncated-normal:epsilon=1.5,m=12", "1.37", 0).delta > 2.5e-5);
}

static void test_clamping_and_rounding(void **state)
{
    static const errata_case cases[] = {
        {"truncated-laplace:epsilon=0.5,m=10", "0.5", CELLAR_NEGATIVES_KEEP, NAN, 0.00166, 1e-3},
        {"truncated-laplace:epsilon=0.5,m=10", "0.5", CELLAR_NEGATIVES_ZERO, 0.0016586878693730081,
         0.623, 1e-3},
        {"truncated-laplace:epsilon=1,m=5", "1", CELLAR_NEGATIVES_KEEP, NAN, 0.0031, 1e-2},
        {"truncated-laplace:epsilon=1,m=5", "1", CELLAR_NEGATIVES_ZERO, NAN, 0.732, 1e-3},
        {"gaussian:epsilon=2,delta=0.05,calibration=pdp", "2", CELLAR_NEGATIVES_KEEP, NAN, 0.0919,
         1e-3},
    };
    (void) state;
    check_cases(cases, sizeof cases / sizeof *cases);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisson_sawtooth),      cmocka_unit_test(test_poisson_both_sides),
        cmocka_unit_test(test_dirichlet_ratios),      cmocka_unit_test(test_table_1),
        cmocka_unit_test(test_truncated_deltas),      cmocka_unit_test(test_pointwise_condition),
        cmocka_unit_test(test_mean_change),           cmocka_unit_test(test_normal_is_better),
        cmocka_unit_test(test_clamping_and_rounding),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
