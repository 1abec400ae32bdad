/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrices as files, their law and their sampler. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/mechanism.h>

#include "matrix_samples.h"
#include "random/rng.h"
#include "scratch.h"

static cellar_error err;

/* ---- files --------------------------------------------------------------------- */

static void expect_text(const cellar_matrix *matrix, cellar_matrix_layout layout, const char *want)
{
    cellar_text text = {0};
    if (cellar_matrix_add_text(matrix, layout, 0, &text, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_string_equal(text.bytes, want);
    cellar_text_clear(&text);
}

static void test_one_matrix_many_spellings(void **state)
{
    static const char *const spellings[] = {
        "\"i\";\"j\";\"p\";\"v\";\"p_int_ub\"\n0;0;1;0;1\n1;0;0.3;-1;0.3\n1;1;0.4;0;0.7\n"
        "1;2;0.3;1;1\n2;0;1.00E-07;-2;1.00E-07\n2;2;7.50E-01;0;0.75\n2;3;2.50E-01;1;1\n",
        "i;j;p;v;p_ij_ub\r\n0;0;1;0;1\r\n1;0;0.3;-1;.3\r\n1;1;0.4;0;7e-1\r\n1;2;0.3;1;1.0\r\n"
        "2;0;1e-7;-2;1e-7\r\n2;2;0.75;0;0.750\r\n2;3;0.25;1;0.9999999\r\n",
        "i,j,p_int_ub,p_int_lb,type\n0,0,1,0,all\n1,0,0.3,0,all\n1,1,0.7,0.3,all\n1,2,1,0.7,all\n"
        "2,0,0.0000001,0,all\n2,2,0.75,0.0000001,all\n2,3,1.0000001,0.75,all\n",
        /* as the R package ptable exports it, for tau-Argus and for SAS; and cellKey's names */
        "i;j;p;v;p_int_ub\n 0; 0;1.00000000; 0;1.0000000\n 1; 0;0.30000000;-1;0.3000000\n"
        " 1; 1;0.40000000; 0;0.7000000\n 1; 2;0.30000000; 1;1.0000000\n"
        " 2; 0;0.00000010;-2;0.0000001\n 2; 2;0.74999990; 0;0.7500000\n"
        " 2; 3;0.25000000; 1;1.0000000\n",
        "i;j;p;v;p_int_lb;p_int_ub\n0;0;1.0000000; 0;0.0000000;1.0000000\n"
        "1;0;0.3000000;-1;0.0000000;0.3000000\n1;1;0.4000000; 0;0.3000000;0.7000000\n"
        "1;2;0.3000000; 1;0.7000000;1.0000000\n2;0;0.0000001;-2;0.0000000;0.0000001\n"
        "2;2;0.7499999; 0;0.0000001;0.7500000\n2;3;0.2500000; 1;0.7500000;1.0000000\n",
        "i,j,p,v,lb,ub,type\n0,0,1,0,0,1,all\n1,0,0.3,-1,0,0.3,all\n1,1,0.4,0,0.3,0.7,all\n"
        "1,2,0.3,1,0.7,1,all\n2,0,1e-07,-2,0,1e-07,all\n2,2,0.7499999,0,1e-07,0.75,all\n"
        "2,3,0.25,1,0.75,1,all\n",
    };
    cellar_matrix *matrix = parse(PTABLE, CELLAR_MATRIX_LARGE_DEFAULT);
    (void) state;
    expect_text(matrix, CELLAR_MATRIX_PTABLE, PTABLE);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        cellar_matrix *other = parse(spellings[i], CELLAR_MATRIX_LARGE_DEFAULT);
        expect_text(other, CELLAR_MATRIX_PTABLE, PTABLE);
        assert_string_equal(cellar_matrix_digest(other), cellar_matrix_digest(matrix));
        cellar_matrix_free(other);
    }
    cellar_matrix_free(matrix);
}

/* Keys not listed change nothing; the same change may come from keys apart. */
static void test_keys_listed_and_not(void **state)
{
    static const char ranges[] = "cell_value,cell_key,perturbation\n"
                                 "1,0-1,-1\n1,2-5,0\n1,6,2\n1,7,-1\n"
                                 "0,0-7,0\n";
    static const char written[] = "cell_value,cell_key,perturbation\n"
                                  "0,0-7,0\n1,0-1,-1\n1,2-5,0\n1,6,2\n1,7,-1\n";
    static const char few[] = "cell_value,cell_key,perturbation\n1,7,-1\n1,0..1,-1\n1,6-6,2\n";
    cellar_matrix *one = parse(ranges, CELLAR_MATRIX_LARGE_DEFAULT),
                  *two = parse(few, CELLAR_MATRIX_LARGE_DEFAULT);
    cellar_matrix_row row;
    (void) state;
    expect_text(one, CELLAR_MATRIX_CANTABULAR, written);
    expect_text(two, CELLAR_MATRIX_CANTABULAR, written);
    cellar_matrix_row_at(one, 1, &row);
    assert_int_equal(row.n_changes, 3);
    assert_true(cellar_matrix_probability(one, 1, 0) == 3.0 / 8);
    assert_true(row.bias == (-3.0 + 2.0) / 8);
    assert_true(row.variance == (3 + 4) / 8.0 - 1.0 / 64);
    assert_int_equal(cellar_matrix_largest_change(one), 2);
    cellar_matrix_free(one);
    cellar_matrix_free(two);
}

/* modify_cnt_ptable() of the R package ptable cuts probabilities into parts and shuffles them: a
 * change has several ranges of keys, and a part may be empty. The ranges stay where they are. */
static void test_a_change_may_have_many_ranges(void **state)
{
    static const char modified[] = "i;j;p;v;p_int_ub\n"
                                   "0;0;1.0; 0;1.0\n"
                                   "1;1;0.2; 0;0.2\n"
                                   "1;0;0.2;-1;0.4\n"
                                   "1;1;0.2; 0;0.6\n"
                                   "1;2;0.0; 1;0.6\n"
                                   "1;0;0.1;-1;0.7\n"
                                   "1;2;0.3; 1;1.0\n";
    static const char written[] = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;0.2;0;0.2\n1;0;0.2;-1;0.4\n"
                                  "1;1;0.2;0;0.6\n1;2;0;1;0.6\n1;0;0.1;-1;0.7\n1;2;0.3;1;1\n";
    static const double want[] = {0.3, 0.4, 0.3};
    cellar_matrix *matrix = parse(modified, CELLAR_MATRIX_LARGE_DEFAULT),
                  *back = parse(written, CELLAR_MATRIX_LARGE_DEFAULT);
    cellar_matrix_row row;
    (void) state;
    expect_text(matrix, CELLAR_MATRIX_PTABLE, written);
    assert_string_equal(cellar_matrix_digest(back), cellar_matrix_digest(matrix));
    cellar_matrix_row_at(matrix, 1, &row);
    assert_int_equal(row.n_changes, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cellar_matrix_change(matrix, 1, i), (int64_t) i - 1);
        assert_true(cellar_matrix_probability(matrix, 1, i) == want[i]);
    }
    cellar_matrix_free(matrix);
    cellar_matrix_free(back);
}

/* 751 rows, each key a line, and back. */
static void test_ons_round_trip(void **state)
{
    cellar_matrix *matrix = round_to(parse(PTABLE, CELLAR_MATRIX_LARGE_DEFAULT), 256), *back;
    cellar_text text = {0};
    (void) state;
    assert_int_equal(cellar_matrix_add_text(matrix, CELLAR_MATRIX_ONS, 0, &text, &err), CELLAR_OK);
    back = parse(text.bytes, CELLAR_MATRIX_LARGE_DEFAULT);
    assert_int_equal(cellar_matrix_n_rows(back), 751);
    assert_int_equal(cellar_matrix_n_keys(back), 256);
    assert_int_equal(cellar_matrix_large_rule(back), CELLAR_MATRIX_LARGE_ROTATE);
    expect_text(back, CELLAR_MATRIX_ONS, text.bytes);
    for (size_t r = 0; r < 751; r++) {
        size_t same = r < 3 ? r : 2;
        cellar_matrix_row a, b;
        cellar_matrix_row_at(matrix, same, &a);
        cellar_matrix_row_at(back, r, &b);
        assert_true(a.variance == b.variance && a.bias == b.bias && a.entropy == b.entropy);
    }
    cellar_text_clear(&text);
    cellar_matrix_free(matrix);
    cellar_matrix_free(back);
}

static void test_bad_files_name_line_and_column(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "F: is empty"},
        {"a;b;c\n", "F:1: is no perturbation table"},
        {"i;j;p;v;p_int_ub\n", "F: has no rows"},
        {"i;j;p;v;p_int_ub\n1;1;1;0;1\n", "F:2: column 'i': rows follow each other from 0 on"},
        {"i;j;p;v;p_int_ub\n0;0;1;0;1\n2;2;1;0;1\n", "F:3: column 'i': rows follow"},
        {"i;j;p;v;p_int_ub\n0;0;0.5;0;0.5\n", "column 'p_int_ub': the row i = 0 before must end"},
        {"i;j;p;v;p_int_ub\n0;0;0.5;0;0.5\n1;1;1;0;1\n", "F:3: column 'p_int_ub': the row i = 0"},
        {"i;j;p;v;p_int_ub\n0;0;1;0;1.1\n", "F:2: column 'p_int_ub': must not be above 1"},
        {"i;j;p;v;p_int_ub\n0;0;.5;0;.5\n0;1;.5;1;.4\n", "F:3: column 'p_int_ub': expected a num"},
        {"i;j;p;v;p_int_ub\n0;0;.9;0;1\n", "F:2: column 'p': is not the difference of the bounds"},
        {"i;j;p;v;p_int_ub\n0;1;1;0;1\n", "F:2: column 'v': is not j - i"},
        {"i;j;p;v;p_int_ub\n0;x;1;0.5;1\n", "F:2: column 'j': expected a whole number"},
        {"i;j;p;v;p_int_ub\n0;0.5;1;0.5;1\n", "F:2: column 'j': is of a perturbation table for m"},
        {"i;j;p;v;p_int_ub;type\n 0; 0.0;1;0.0;1;all\n", "F:2: column 'j': is of a perturbation"},
        {"i;j;p;v;p_int_ub;type\n0;0;1;0;1;even\n", "F:2: column 'type': is of a perturbation"},
        {"i;j;p_int_ub\n-1;0;1\n", "F:2: column 'i': expected a whole number from 0"},
        {"i;j;p_int_ub\n0;0;x\n", "F:2: column 'p_int_ub': expected a number up to 1"},
        {"pcv,ckey,pvalue\n1,0,1\n1,0,2\n", "F:3: column 'ckey': key 0 of the count 1 has"},
        {"pcv,ckey,pvalue\n751,0,1\n", "F:2: column 'pcv': expected a whole number up to 750"},
        {"pcv,ckey,pvalue\n1,x,1\n", "F:2: column 'ckey': expected a whole number"},
        {"pcv,ckey,pvalue\n1,0,1.5\n", "F:2: column 'pvalue': expected a whole number"},
        {"cell_value,cell_key,perturbation\n1,5-3,1\n", "F:2: column 'cell_key': expected a range"},
        {"cell_value,cell_key,perturbation\n1,5-,1\n", "F:2: column 'cell_key': expected a range"},
        {"cell_value,cell_key,perturbation\n1,5:7,1\n", "F:2: column 'cell_key': expected a who"},
        {"cell_value,cell_key,perturbation\n", "F: has no rows"},
        {"pcv,ckey,pvalue\n1,0\n", "F:2: 2 fields, but the first line has 3"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_matrix *matrix = (cellar_matrix *) &err;
        cellar_status status = cellar_matrix_parse("F", cases[i].text, strlen(cases[i].text),
                                                   CELLAR_MATRIX_LARGE_DEFAULT, &matrix, &err);
        if (status != CELLAR_ERR_INPUT || strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: want '%s', got '%s'", i, cases[i].message, err.message);
        assert_null(matrix);
    }
}

/* ---- the law ------------------------------------------------------------------ */

static cellar_mechanism *ptable(scratch *place, const char *content, const char *options)
{
    char spec[500];
    cellar_mechanism *m;
    scratch_write(place, "matrix.csv", content);
    snprintf(spec, sizeof spec, "ptable:file=%s%s", scratch_path(place, "matrix.csv"), options);
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return m;
}

static void test_ptable_is_a_mechanism(void **state)
{
    cellar_mechanism *m = ptable(*state, PTABLE, "");
    cellar_moments moments;
    int64_t low, high;
    assert_true(cellar_mechanism_pmf(m, 1, 0) == 0.3);
    assert_true(cellar_mechanism_pmf(m, 1, 3) == 0);
    assert_true(fabs(cellar_mechanism_pmf(m, 2, 0) - 1e-7) < 1e-22);
    assert_true(fabs(cellar_mechanism_cdf(m, 9, 7) - 1e-7) < 1e-22);
    assert_true(cellar_mechanism_cdf(m, 9, 9) == 0.75);
    assert_true(cellar_mechanism_survival(m, 9, 9) == 0.25);
    assert_true(cellar_mechanism_survival(m, 9, 6) == 1);
    assert_true(cellar_mechanism_survival(m, 9, 10) == 0);
    cellar_mechanism_support(m, INT64_C(1) << 62, 0, &low, &high);
    assert_true(low == (INT64_C(1) << 62) - 2 && high == (INT64_C(1) << 62) + 1);
    cellar_mechanism_moments(m, 1, CELLAR_NEGATIVES_KEEP, &moments);
    assert_true(moments.mean == 1 && moments.variance == 0.6);
    assert_true(fabs(moments.entropy + 0.6 * log(0.3) + 0.4 * log(0.4)) < 1e-15);
    assert_true(moments.presence == 0.7);
    cellar_mechanism_free(m);
}

/* The spec names no folder, and which matrix it was. */
static void test_spec_has_no_path(void **state)
{
    scratch *place = *state;
    cellar_mechanism *m = ptable(place, PTABLE, ",large=last"), *again;
    char spec[600];
    const char *digest = cellar_matrix_digest(cellar_mechanism_matrix(m));
    snprintf(spec, sizeof spec, "ptable:file=matrix.csv,large=last,digest=%s", digest);
    assert_string_equal(cellar_mechanism_spec(m), spec);
    snprintf(spec, sizeof spec, "ptable:file=%s,digest=%s", scratch_path(place, "matrix.csv"),
             digest);
    assert_int_equal(cellar_mechanism_create(spec, &again, &err), CELLAR_OK);
    cellar_mechanism_free(again);
    spec[strlen(spec) - 1] ^= 1;
    assert_int_equal(cellar_mechanism_create(spec, &again, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "another matrix"));
    cellar_mechanism_free(m);
}

static void test_rotation(void **state)
{
    static const char text[] = "pcv,ckey,pvalue\n501,0,1\n502,0,2\n750,0,3\n750,1,0\n600,1,5\n";
    static const struct {
        int64_t count, change; /* of key 0 */
    } cases[] = {{0, 0},   {500, 0}, {501, 1},  {502, 2},  {750, 3},
                 {751, 1}, {752, 2}, {1000, 3}, {1001, 1}, {1000000, 3}};
    cellar_matrix *matrix = parse(text, CELLAR_MATRIX_LARGE_DEFAULT);
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            matrix->rows[cellar_matrix_row_of(matrix, cases[i].count)].segments[0].change,
            cases[i].change);
    cellar_matrix_free(matrix);
}

/* ---- the sampler ----------------------------------------------------------------- */

/* Hands out given bytes, then zeros. */
typedef struct tape {
    unsigned char bytes[64];
    size_t at;
} tape;

static cellar_status tape_read(void *context, void *bytes, size_t length, cellar_error *e)
{
    tape *t = context;
    (void) e;
    for (size_t i = 0; i < length; i++, t->at++)
        ((unsigned char *) bytes)[i] = t->at < sizeof t->bytes ? t->bytes[t->at] : 0;
    return CELLAR_OK;
}

/* 2^64 x 3/10 is no integer: bits that equal those of 3/10 need more, and zeros then put the
 * uniform below it. */
static void test_ties_are_resolved(void **state)
{
    cellar_mechanism *m = ptable(*state, PTABLE, "");
    cellar_rng *rng;
    tape t = {{0}, 0};
    int64_t count = 1, released;
    /* floor(0.3 * 2^64) = 0x4ccccccccccccccc, little endian */
    for (int i = 0; i < 8; i++)
        t.bytes[i] = 0xcc;
    t.bytes[7] = 0x4c;
    assert_int_equal(cellar_rng_create_source(tape_read, &t, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_mechanism_sample_many(m, &count, 1, rng, &released, &err), CELLAR_OK);
    assert_int_equal(released, 0);
    assert_true(t.at > 8); /* it asked for more */
    memset(t.bytes + 8, 0xff, sizeof t.bytes - 8);
    t.at = 0;
    assert_int_equal(cellar_mechanism_sample_many(m, &count, 1, rng, &released, &err), CELLAR_OK);
    assert_int_equal(released, 1);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

/* False alarm: 1e-9 for each of 3 rows (DKW). Power: a distribution function wrong by more than
 * 2 x 0.0074 escapes with chance 1e-9. The seed is fixed. */
static void test_sampler_follows_the_law(void **state)
{
    enum { N = 200000 };
    static int64_t counts[N], released[N];
    cellar_mechanism *m = ptable(*state, PTABLE, "");
    cellar_rng *rng;
    double bound = sqrt(log(2 / 1e-9) / (2.0 * N));
    assert_int_equal(cellar_rng_create_seeded(5, 0, &rng, &err), CELLAR_OK);
    for (int64_t count = 0; count < 4; count++) {
        double below = 0;
        for (size_t i = 0; i < N; i++)
            counts[i] = count;
        assert_int_equal(cellar_mechanism_sample_many(m, counts, N, rng, released, &err),
                         CELLAR_OK);
        for (int64_t b = count - 3; b <= count + 3; b++) {
            for (size_t i = 0; i < N; i++)
                below += released[i] == b;
            assert_true(fabs(below / N - cellar_mechanism_cdf(m, count, b)) < bound);
        }
        assert_true(below == N);
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_matrix_many_spellings),
        cmocka_unit_test(test_keys_listed_and_not),
        cmocka_unit_test(test_a_change_may_have_many_ranges),
        cmocka_unit_test(test_ons_round_trip),
        cmocka_unit_test(test_bad_files_name_line_and_column),
        cmocka_unit_test(test_ptable_is_a_mechanism),
        cmocka_unit_test(test_spec_has_no_path),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_ties_are_resolved),
        cmocka_unit_test(test_sampler_follows_the_law),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
