/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maximum-entropy rows against the conditions of Karush, Kuhn and Tucker, which for a convex
 * problem prove a solution whatever found it; and the matrices made of them. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/matrix.h>

#include "draw_three.h"
#include "fail_every.h"
#include "mechanism/matrix/entropy_pool.h"
#include "make_mechanism.h"

static cellar_error err;

/* The row of a count: changes max(0, a-m)-a .. m without those to 1..min. */
static size_t support(int64_t count, int64_t m, int64_t min, int64_t *changes)
{
    size_t n = 0;
    for (int64_t b = count > m ? count - m : 0; b <= count + m; b++)
        if (b < 1 || b > min)
            changes[n++] = b - count;
    return n;
}

/* Multipliers with ln p = nu + lambda v + mu v^2 at three changes above zero. */
static void fit(const cellar_entropy_row *row, const long double *p, const size_t at[3],
                long double fitted[3])
{
    long double x[3], y[3], d01, d12;
    for (int i = 0; i < 3; i++) {
        x[i] = (long double) row->changes[at[i]];
        y[i] = logl(p[at[i]]);
    }
    d01 = (y[1] - y[0]) / (x[1] - x[0]);
    d12 = (y[2] - y[1]) / (x[2] - x[1]);
    fitted[2] = (d12 - d01) / (x[2] - x[0]);
    fitted[1] = d01 - fitted[2] * (x[0] + x[1]);
    fitted[0] = y[0] - x[0] * (fitted[1] + fitted[2] * x[0]);
}

static void check_feasible(const cellar_entropy_row *row, const long double *p)
{
    long double mass = 0, mean = 0, variance = 0;
    for (size_t k = 0; k < row->n; k++) {
        assert_true(p[k] >= 0);
        mass += p[k];
        mean += p[k] * (long double) row->changes[k];
        variance += p[k] * (long double) (row->changes[k] * row->changes[k]);
        if (row->changes[k] == 0)
            assert_true(p[k] >= row->stay - 1e-15);
        if (row->monotone && k > 0 && row->changes[k] <= 0 && row->changes[row->n / 2] >= 0)
            assert_true(p[k] >= p[k - 1] - 1e-15L);
    }
    assert_true(fabsl(mass - 1) < 1e-11L);
    assert_true(fabsl(mean) < 1e-11L * (long double) row->changes[row->n - 1]);
    if (row->at_most)
        assert_true(variance < row->variance * (1 + 1e-11L));
    else
        assert_true(fabsl(variance - row->variance) < 1e-9L);
}

/* Stationarity: ln p_k - (nu + lambda v + mu v^2) = eta_{k-1} - eta_k (+ sigma where v = 0), with
 * multipliers eta >= 0 of the monotony and sigma >= 0 of staying that are 0 where these do not
 * bind. */
static void check_optimal(const cellar_entropy_row *row, const long double *p)
{
    size_t above = 0, stay = row->n;
    long double f[3], eta = 0, variance = 0;
    const long double tolerance = 1e-9L;

    for (size_t k = 0; k < row->n; k++) {
        above += row->changes[k] <= 0;
        stay = row->changes[k] == 0 ? k : stay;
        variance += p[k] * (long double) (row->changes[k] * row->changes[k]);
    }
    assert_true(row->n - above >= 3);
    fit(row, p, (const size_t[]){above, (above + row->n - 1) / 2, row->n - 1}, f);
    if (row->at_most) {
        assert_true(f[2] < tolerance);
        assert_true(fabsl(f[2] * (row->variance - variance)) < tolerance);
    }
    for (size_t k = 0; k < row->n; k++) {
        long double v = (long double) row->changes[k];
        long double rest = logl(p[k]) - (f[0] + f[1] * v + f[2] * v * v);
        if (k > above - 1 || stay == row->n) {
            assert_true(fabsl(rest) < tolerance);
        } else if (k == stay) {
            long double sigma = rest - eta; /* eta_{k-1} + sigma = rest */
            assert_true(sigma > -tolerance);
            assert_true(fabsl(sigma * (p[k] - row->stay)) < tolerance);
        } else {
            eta -= rest;
            assert_true(eta > -tolerance);
            assert_true(fabsl(eta * (p[k + 1] - p[k])) < tolerance);
            if (!row->monotone)
                assert_true(fabsl(eta) < tolerance);
            eta = row->monotone ? eta : 0;
        }
    }
}

static cellar_status solve(const cellar_entropy_row *row, long double *p)
{
    arb_ptr balls = _arb_vec_init((slong) row->n);
    cellar_status status = cellar_entropy_row_solve(row, balls, &err);
    for (size_t k = 0; status == CELLAR_OK && k < row->n; k++)
        p[k] = arf_get_d(arb_midref(balls + k), ARF_RND_NEAR);
    _arb_vec_clear(balls, (slong) row->n);
    return status;
}

static void test_rows_are_optimal(void **state)
{
    static const double variances[] = {0.3, 1, 2.5, 6, 11.7, 20};
    static const double stays[] = {0, 0.25, 0.6};
    int64_t changes[64];
    long double p[64];
    int n_checked = 0;
    (void) state;
    for (int64_t m = 3; m <= 9; m += 2)
        for (int64_t min = 0; min <= 3; min++)
            for (int64_t count = 1; count <= m + min + 1; count++)
                for (int i = 0; i < 6 * 3 * 4; i++) {
                    cellar_entropy_row row = {.changes = changes,
                                              .variance = variances[i % 6],
                                              .stay = stays[i / 6 % 3],
                                              .at_most = i / 18 % 2,
                                              .monotone = i / 36};
                    row.n = support(count, m, min, changes);
                    if (row.variance <= cellar_entropy_row_lowest(&row) ||
                        row.variance >= cellar_entropy_row_highest(&row) ||
                        changes[row.n - 1] < 3 || (count <= min && m - (min - count) < 3))
                        continue;
                    if (solve(&row, p) != CELLAR_OK)
                        fail_msg("%s", err.message);
                    check_feasible(&row, p);
                    check_optimal(&row, p);
                    n_checked++;
                }
    assert_true(n_checked > 3000);
}

/* From starts that differ as no two machines do, the same 120 bits. */
static void test_refinement_forgets_its_start(void **state)
{
    static const int64_t changes[] = {-2, -1, 0, 1, 2, 3};
    cellar_entropy_row row = {.changes = changes, .n = 6, .variance = 1.5};
    cellar_entropy_pool pools[6] = {{0}};
    arb_ptr p = _arb_vec_init(6), q = _arb_vec_init(6);
    (void) state;
    for (size_t k = 0; k < 6; k++)
        pools[k] = (cellar_entropy_pool){.n = 1, .is_free = 1};
    for (int i = 0; i < 20; i++) {
        const long double t[] = {-1.5L + i * 1e-3L, -0.01L * i, -2 + i * 1e-2L};
        assert_true(cellar_entropy_refine(&row, pools, 6, 3, t, 3, i == 0 ? p : q));
        for (size_t k = 0; i > 0 && k < 6; k++) {
            arb_sub(q + k, q + k, p + k, CELLAR_ENTROPY_BITS);
            assert_true(arf_cmpabs_2exp_si(arb_midref(q + k), -120) < 0);
        }
    }
    _arb_vec_clear(p, 6);
    _arb_vec_clear(q, 6);
}

/* All mass at the ends and at zero: (1 - stay) a m. */
static void test_the_range_of_variances(void **state)
{
    int64_t changes[64];
    (void) state;
    for (int64_t m = 1; m <= 8; m++)
        for (int64_t count = 1; count <= m; count++)
            for (int s = 0; s < 4; s++) {
                cellar_entropy_row row = {.changes = changes, .stay = s / 4.0};
                row.n = support(count, m, 0, changes);
                assert_true(fabs(cellar_entropy_row_highest(&row) -
                                 (1 - s / 4.0) * (double) (count * m)) < 1e-12);
                assert_true(cellar_entropy_row_lowest(&row) == 0);
            }
    for (int64_t min = 1; min <= 8; min++)
        for (int64_t count = 1; count <= min; count++) {
            cellar_entropy_row row = {.changes = changes};
            row.n = support(count, 10, min, changes);
            assert_true(cellar_entropy_row_lowest(&row) == (double) (count * (min + 1 - count)));
            assert_true(fabs(cellar_entropy_row_highest(&row) - (double) count * 10) < 1e-12);
        }
}

static void test_matrices_keep_what_was_asked(void **state)
{
    static const struct {
        const char *spec;
        size_t n_rows;
        double variance;
        int64_t forbidden;
    } cases[] = {
        {"max-entropy:variance=1,m=2", 3, 1, -1},
        {"max-entropy:variance=3,m=5,min=2", 9, 3, 1},
        {"max-entropy:variance=1,m=4,stay=0.5", 5, 1, -1},
        {"max-entropy:variance=1.05,m=2,min=1,form=at-most,mono=yes", 5, 1.05, 1},
        {"max-entropy:variance=30,m=10", 11, 30, -1},
        {"max-entropy:variance=2,m=25,mono=yes", 26, 2, -1},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        const cellar_matrix *matrix = cellar_mechanism_matrix(m);
        assert_int_equal(cellar_matrix_n_rows(matrix), cases[i].n_rows);
        assert_int_equal(cellar_matrix_forbidden(matrix, 0), cases[i].forbidden);
        for (size_t r = 0; r < cases[i].n_rows; r++) {
            cellar_matrix_row row;
            cellar_matrix_row_at(matrix, r, &row);
            /* exactly, but for laws on two numbers such as 10/11 and 1/11 */
            assert_true(row.bias == 0 || (row.n_changes == 2 && fabs(row.bias) < 1e-16));
            if (r == 0)
                assert_true(row.stay == 1);
            else if ((double) (r * (size_t) row.highest) >= cases[i].variance &&
                     r + 1 == cases[i].n_rows)
                assert_true(fabs(row.variance - cases[i].variance) < 1e-12);
            assert_true(row.variance < cases[i].variance + 1e-12);
        }
        /* the last row serves all larger counts */
        for (int64_t change = -3; change <= 3; change++)
            assert_true(cellar_mechanism_log_pmf(m, (int64_t) cases[i].n_rows - 1,
                                                 (int64_t) cases[i].n_rows - 1 + change) ==
                        cellar_mechanism_log_pmf(m, 1000000, 1000000 + change));
        cellar_mechanism_free(m);
    }
}

/* 30 > a m for counts 1 and 2: they get a law on two numbers, of variance 10 and 20. */
static void test_largest_feasible_variance_is_used_and_told(void **state)
{
    cellar_mechanism *m = make("max-entropy:variance=30,m=10");
    cellar_matrix_row row;
    (void) state;
    for (size_t r = 1; r <= 2; r++) {
        cellar_matrix_row_at(cellar_mechanism_matrix(m), r, &row);
        assert_int_equal(row.n_changes, 2);
        assert_true(fabs(row.variance - 10.0 * (double) r) < 1e-12);
        assert_true(row.asked == 30);
    }
    cellar_mechanism_free(m);
}

/* The maximum-entropy law on three points is known: p(-1) = p(1) = variance / 2. */
static void test_three_points(void **state)
{
    cellar_mechanism *m = make("max-entropy:variance=0.5,m=1");
    (void) state;
    assert_true(cellar_mechanism_pmf(m, 1, 0) == 0.25);
    assert_true(cellar_mechanism_pmf(m, 1, 1) == 0.5);
    assert_true(cellar_mechanism_pmf(m, 7, 8) == 0.25);
    assert_true(cellar_mechanism_pmf(m, 7, 9) == 0);
    assert_true(cellar_mechanism_presence(m, 1) == 0.75);
    assert_true(cellar_mechanism_presence(m, 0) == 0);
    cellar_mechanism_free(m);
}

static void test_refusals_name_the_bound(void **state)
{
    static const struct {
        const char *spec, *message;
    } cases[] = {
        {"max-entropy:variance=1,m=3,min=2", "variance must be >= 2 when counts 1..2"},
        {"max-entropy:variance=3.9,m=5,min=3", "variance must be >= 4"},
        {"max-entropy:variance=9,m=2,min=3", "m must be >= min = 3"},
        {"max-entropy:variance=0,m=3", "variance must be >= 0.000001"},
        {"max-entropy:variance=1,m=0", "m must be >= 1"},
        {"max-entropy:variance=1,m=2.5", "m must be a whole number"},
        {"max-entropy:variance=1,m=2,stay=1.1", "stay must be <= 1"},
        {"max-entropy:variance=1,m=2,form=least", "one of equality, at-most"},
        {"max-entropy:variance=1", "needs the parameter m"},
        {"max-entropy:variance=1,m=2,stay=0.5:1.5", "stay must be <= 1, got 1.5"},
        {"max-entropy:variance=1,m=2,stay=0.5:", "stay must be a number such as 0.5"},
        {"max-entropy:variance=1,m=2,stay=0.5:0.5:0.5", "stay has 3 values: give one for all"},
        {"max-entropy:variance=1,m=2,min=1,mono=yes:no", "or 4, for the counts 1 to 4"},
        {"max-entropy:variance=1,m=2,mono=yes:maybe", "mono must be one of yes, no, got 'maybe'"},
        {"max-entropy:variance=1:2,m=2", "variance must be a number"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m;
        assert_int_equal(cellar_mechanism_create(cases[i].spec, &m, &err), CELLAR_ERR_ARGUMENT);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("'%s': want '%s', got '%s'", cases[i].spec, cases[i].message, err.message);
    }
}

/* pt_ex_cnts() of the R package ptable 1.0.0: D = 2, V = 1.05, js = 1, monotone but for the count
 * 3. The probabilities are those its own tests hold, which its solver found to about 1e-7. */
static void test_a_published_design_with_monotony_by_count(void **state)
{
    static const double published[] = {1,          0.50833333, 0.47500000, 0.01666667, 0.16155827,
                                       0.55565037, 0.24246618, 0.04032518, 0.41231301, 0.28806097,
                                       0.18693903, 0.11268699, 0.07012498, 0.24450007, 0.37074990,
                                       0.24450007, 0.07012498};
    cellar_mechanism *m =
        make("max-entropy:mono=yes:yes:no:yes,variance=1.050,m=2,min=1,form=at-most");
    const cellar_matrix *matrix = cellar_mechanism_matrix(m);
    size_t n = 0;
    (void) state;
    assert_string_equal(cellar_mechanism_spec(m), "max-entropy:variance=1.05,m=2,min=1,"
                                                  "form=at-most,mono=yes:yes:no:yes");
    for (size_t r = 0; r < cellar_matrix_n_rows(matrix); r++) {
        cellar_matrix_row row;
        cellar_matrix_row_at(matrix, r, &row);
        for (size_t i = 0; i < row.n_changes; i++, n++)
            assert_true(fabs(cellar_matrix_probability(matrix, r, i) - published[n]) < 3e-7);
    }
    assert_int_equal(n, sizeof published / sizeof *published);
    cellar_mechanism_free(m);
}

/* The vignette of the package: half of the ones and twos stay, 0.7 of the threes, 0.8 of all
 * others; a series of equal values is the one value. */
static void test_staying_by_count(void **state)
{
    static const double want[] = {1, 0.5, 0.5, 0.7, 0.8};
    cellar_mechanism *m =
        make("max-entropy:variance=1,m=4,stay=0.50:0.5:.7:0.8,form=at-most,mono=yes");
    cellar_mechanism *one = make("max-entropy:variance=1,m=4,stay=0.6");
    cellar_mechanism *four = make("max-entropy:variance=1,m=4,stay=0.6:0.6:0.6:0.6");
    (void) state;
    assert_non_null(strstr(cellar_mechanism_spec(m), "stay=0.5:0.5:0.7:0.8"));
    for (size_t r = 0; r < 5; r++) {
        cellar_matrix_row row;
        cellar_matrix_row_at(cellar_mechanism_matrix(m), r, &row);
        assert_true(fabs(row.stay - want[r]) < 1e-12);
        assert_true(r == 0 || fabs(row.variance - 1) < 1e-12);
    }
    assert_string_equal(cellar_matrix_digest(cellar_mechanism_matrix(one)),
                        cellar_matrix_digest(cellar_mechanism_matrix(four)));
    cellar_mechanism_free(m);
    cellar_mechanism_free(one);
    cellar_mechanism_free(four);
}

static void test_memory_may_end(void **state)
{
    static char spec[] = "max-entropy:variance=1,m=2,stay=0.1:0.2";
    (void) state;
    check_fail_every(draw_three, spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_optimal),
        cmocka_unit_test(test_refinement_forgets_its_start),
        cmocka_unit_test(test_the_range_of_variances),
        cmocka_unit_test(test_matrices_keep_what_was_asked),
        cmocka_unit_test(test_largest_feasible_variance_is_used_and_told),
        cmocka_unit_test(test_three_points),
        cmocka_unit_test(test_refusals_name_the_bound),
        cmocka_unit_test(test_a_published_design_with_monotony_by_count),
        cmocka_unit_test(test_staying_by_count),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
