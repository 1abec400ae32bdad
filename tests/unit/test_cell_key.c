/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cell keys, each key of a small range run once. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/cell_key.h>
#include <cellar/mechanism.h>

#include "fail_every.h"
#include "matrix_samples.h"
#include "scratch.h"

static cellar_error err;

static cellar_cell_key *cell_key(scratch *place, const char *content, const char *options,
                                 uint64_t range)
{
    char spec[500];
    cellar_cell_key *ck;
    scratch_write(place, "keys.csv", content);
    snprintf(spec, sizeof spec, "cell-key:file=%s%s", scratch_path(place, "keys.csv"), options);
    if (cellar_cell_key_create(spec, range, &ck, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return ck;
}

static int64_t lookup(const cellar_cell_key *ck, int64_t count, uint64_t key)
{
    int64_t released;
    cellar_cell_key_apply(ck, &count, &key, 1, &released);
    return released;
}

/* Decimal keys, as cellKey and tau-Argus use them: the first line of the row whose bound the key
 * is below (the rule of both: ck < ub), or at most (of neither). */
static void test_decimal_keys_and_the_boundary(void **state)
{
    static const uint64_t unit = UINT64_C(1000000000000000000);
    static const struct {
        int64_t count;
        uint64_t key; /* in units of 1e-18 */
        int64_t below, at_most;
    } cases[] = {
        {0, UINT64_C(123), 0, 0},
        {1, 0, 0, 0},
        {1, UINT64_C(299999999999999999), 0, 0},
        {1, UINT64_C(300000000000000000), 1, 0}, /* on the bound */
        {1, UINT64_C(300000000000000001), 1, 1},
        {1, UINT64_C(700000000000000000), 2, 1},
        {1, UINT64_C(999999999999999999), 2, 2},
        {2, UINT64_C(99999999999), 0, 0},
        {2, UINT64_C(100000000000), 2, 0},
        {2, UINT64_C(750000000000000000), 3, 2},
        {40, UINT64_C(750000000000000000), 41, 40},
        {40, 5, 38, 38},
    };
    cellar_cell_key *below = cell_key(*state, PTABLE, "", unit);
    cellar_cell_key *at_most = cell_key(*state, PTABLE, ",boundary=at-most", unit);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(lookup(below, cases[i].count, cases[i].key), cases[i].below);
        assert_int_equal(lookup(at_most, cases[i].count, cases[i].key), cases[i].at_most);
    }
    cellar_cell_key_free(below);
    cellar_cell_key_free(at_most);
}

/* The loop of cellKey over the bounds of a row: the first with ck < ub, on a matrix in its own form
 * whose bounds are binary fractions, so that floating point is exact. The spec that the
 * documentation recommends for cellKey must give the same number at every key, bounds among them.
 */
static void test_cellkey_rule(void **state)
{
    static const char matrix[] = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.25;-1;0.25\n1;1;0.5;0;0.75\n"
                                 "1;2;0.25;1;1\n2;1;0.5;-1;0.5\n2;2;0.125;0;0.625\n"
                                 "2;3;0.375;1;1\n";
    static const double upper[2][3] = {{0.25, 0.75, 1}, {0.5, 0.625, 1}};
    static const uint64_t eighth = UINT64_C(125000000000000000);
    cellar_cell_key *ck = cell_key(*state, matrix, "", 8 * eighth);
    for (int64_t count = 1; count <= 2; count++)
        for (uint64_t key = 0; key < 8; key++) {
            int entry = 0;
            while (!((double) key / 8 < upper[count - 1][entry]))
                entry++;
            assert_int_equal(lookup(ck, count, key * eighth), count + entry - 1);
        }
    cellar_cell_key_free(ck);
}

/* Every key of the range once: the frequencies are the probabilities, exactly. */
static void test_every_key_once(void **state)
{
    cellar_matrix *matrix = round_to(parse(PTABLE, CELLAR_MATRIX_LARGE_DEFAULT), 256);
    cellar_text text = {0};
    cellar_cell_key *ck;
    assert_int_equal(cellar_matrix_add_text(matrix, CELLAR_MATRIX_ONS, 0, &text, &err), CELLAR_OK);
    ck = cell_key(*state, text.bytes, "", 256);
    for (int64_t count = 1; count < 2000; count += 1 + count / 3) {
        size_t row = count < 2 ? (size_t) count : 2;
        cellar_matrix_row facts;
        cellar_matrix_row_at(matrix, row, &facts);
        for (size_t i = 0; i < facts.n_changes; i++) {
            int n = 0;
            for (uint64_t key = 0; key < 256; key++)
                n += lookup(ck, count, key) - count == cellar_matrix_change(matrix, row, i);
            assert_true(n / 256.0 == cellar_matrix_probability(matrix, row, i));
        }
    }
    cellar_text_clear(&text);
    cellar_matrix_free(matrix);
    cellar_cell_key_free(ck);
}

/* The method of the ONS package step by step, on a table of 4 cells: keys summed modulo the largest
 * key of the table plus one, pcv by rotation, pvalue 0 where (pcv, ckey) is not listed. */
static void test_ons_example(void **state)
{
    static const char table[] = "pcv,ckey,pvalue\n"
                                "3,0,-3\n3,1,2\n3,2,0\n3,3,1\n"
                                "1,1,-1\n"
                                "502,2,4\n";
    static const struct {
        uint64_t record_keys[3];
        int n;
        int64_t weight; /* the rest of the records have key 0 */
        int64_t want;
    } cells[] = {
        {{3, 3, 3}, 3, 3, 5},       /* key 9 mod 4 = 1: 3 + 2 */
        {{1, 0, 0}, 1, 1, 0},       /* key 1: 1 - 1 */
        {{2, 0, 0}, 1, 1, 1},       /* not listed */
        {{2, 0, 0}, 1, 1002, 1006}, /* 1002 -> (1001 mod 250) + 501 = 502 */
    };
    cellar_cell_key *ck = cell_key(*state, table, "", 4);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        uint64_t key = 0;
        for (int k = 0; k < cells[i].n; k++)
            key = (key + cells[i].record_keys[k]) % 4;
        assert_int_equal(lookup(ck, cells[i].weight, key), cells[i].want);
    }
    cellar_cell_key_free(ck);
}

/* Cells of the example that the ONS package is tested with: its matrix takes counts below 10 away
 * and rounds the others to multiples of 5, whatever the key; record keys are below 256. */
static void test_published_example(void **state)
{
    static const struct {
        int64_t count;
        uint64_t key;
        int64_t want;
    } cells[] = {{16, 63, 15},  {5, 196, 0},   {10, 123, 10}, {12, 149, 10}, {13, 90, 15},
                 {20, 211, 20}, {18, 251, 20}, {21, 24, 20},  {24, 115, 25}, {14, 46, 15},
                 {11, 144, 10}, {2, 0, 0},     {0, 0, 0},     {9, 225, 0},   {1, 97, 0}};
    static const uint64_t records[][3] = {{153, 103, 0}, {135, 237, 116}}; /* two, and the cell's */
    static const int round_to_5[] = {0, -1, -2, 2, 1};
    cellar_text text = {0};
    cellar_cell_key *ck;

    cellar_text_add_string(&text, "pcv,ckey,pvalue\n");
    for (int pcv = 1; pcv <= 750; pcv++)
        for (int key = 0; key < 256; key++)
            cellar_text_printf(&text, "%d,%d,%d\n", pcv, key,
                               pcv < 10 ? -pcv : round_to_5[pcv % 5]);
    ck = cell_key(*state, text.bytes, "", 256);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_int_equal(lookup(ck, cells[i].count, cells[i].key), cells[i].want);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal((records[i][0] + records[i][1]) % 256, records[i][2]);
    for (int64_t count = 751; count < 3000; count += 7) /* the rows 501 to 750 again and again */
        assert_int_equal(lookup(ck, count, 17), count + round_to_5[((count - 1) % 250 + 501) % 5]);
    cellar_text_clear(&text);
    cellar_cell_key_free(ck);
}

/* As a mechanism: the law of one cell under uniform keys, an empty cell staying empty, and nothing
 * that may be drawn or certified cell by cell. */
static void test_the_law_of_one_cell(void **state)
{
    cellar_mechanism *m = NULL, *plain = NULL;
    char spec[500];
    scratch_write(*state, "zero.csv",
                  "i;j;p;v;p_int_ub\n0;0;0.5;0;0.5\n0;1;0.5;1;1\n"
                  "1;0;0.25;-1;0.25\n1;2;0.75;1;1\n");
    snprintf(spec, sizeof spec, "cell-key:file=%s", scratch_path(*state, "zero.csv"));
    assert_int_equal(cellar_mechanism_create(spec, &m, &err), CELLAR_OK);
    snprintf(spec, sizeof spec, "ptable:file=%s", scratch_path(*state, "zero.csv"));
    assert_int_equal(cellar_mechanism_create(spec, &plain, &err), CELLAR_OK);
    assert_true(cellar_mechanism_pmf(plain, 0, 1) == 0.5);
    assert_true(cellar_mechanism_pmf(m, 0, 0) == 1);
    assert_true(cellar_mechanism_pmf(m, 0, 1) == 0);
    for (int64_t count = 1; count < 5; count++)
        for (int64_t released = 0; released < 8; released++)
            assert_true(cellar_mechanism_pmf(m, count, released) ==
                        cellar_mechanism_pmf(plain, count, released));
    cellar_mechanism_free(plain);
    cellar_mechanism_free(m);
}

static void test_key_ranges_must_fit(void **state)
{
    scratch *place = *state;
    cellar_cell_key *ck;
    char spec[500];
    scratch_write(place, "keys.csv", "pcv,ckey,pvalue\n1,255,1\n");
    snprintf(spec, sizeof spec, "cell-key:file=%s", scratch_path(place, "keys.csv"));
    assert_int_equal(cellar_cell_key_create(spec, 4096, &ck, &err), CELLAR_ERR_ARGUMENT);
    assert_non_null(
        strstr(err.message, "the matrix is for 256 keys, the record keys of the table"));
    assert_int_equal(cellar_cell_key_create(spec, 0, &ck, &err), CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no record keys"));
    assert_int_equal(cellar_cell_key_create("cell-keys:file=x", 4, &ck, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cell_key_create(spec, UINT64_C(1000000000000000000), &ck, &err),
                     CELLAR_OK);
    assert_int_equal(lookup(ck, 1, UINT64_C(999999999999999999)), 2);
    cellar_cell_key_free(ck);
}

/* Count 1 to 2 with the table above: they agree on 0 (0.3 x 1e-7), 2 (0.3 x 0.7499999). Larger
 * counts: a shifted row agrees where changes differ by one: 0.7499999 x 0.25. */
static void test_what_differencing_shows(void **state)
{
    cellar_matrix *matrix = parse(PTABLE, CELLAR_MATRIX_LARGE_DEFAULT);
    uint64_t count;
    (void) state;
    assert_true(fabs(cellar_matrix_difference(matrix, &count) - (1 - 0.7499999 * 0.25)) < 1e-12);
    assert_int_equal(count, 2);
    cellar_matrix_free(matrix);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_cell_key *ck = NULL;
    cellar_matrix *matrix = NULL;
    cellar_text text = {0};
    cellar_status status = cellar_cell_key_create(context, 8, &ck, e);
    if (status == CELLAR_OK)
        status = cellar_matrix_create_rounded(cellar_cell_key_matrix(ck), 16, &matrix, e);
    if (status == CELLAR_OK)
        status = cellar_matrix_add_text(matrix, CELLAR_MATRIX_CANTABULAR, 0, &text, e);
    cellar_text_clear(&text);
    cellar_matrix_free(matrix);
    cellar_cell_key_free(ck);
    return status;
}

static void test_memory_may_end(void **state)
{
    static const char *const files[] = {PTABLE, "pcv,ckey,pvalue\n1,3,1\n1,7,0\n"};
    char spec[500];
    for (size_t i = 0; i < 2; i++) {
        scratch_write(*state, "m.csv", files[i]);
        snprintf(spec, sizeof spec, "cell-key:file=%s,large=last", scratch_path(*state, "m.csv"));
        check_fail_every(scenario, spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal_keys_and_the_boundary),
        cmocka_unit_test(test_cellkey_rule),
        cmocka_unit_test(test_every_key_once),
        cmocka_unit_test(test_ons_example),
        cmocka_unit_test(test_published_example),
        cmocka_unit_test(test_the_law_of_one_cell),
        cmocka_unit_test(test_key_ranges_must_fit),
        cmocka_unit_test(test_what_differencing_shows),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
