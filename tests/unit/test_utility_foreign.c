/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Perturbed counts of other programs, and the distances of cells. */
#include "utility_check.h"

#include <stdio.h>

#include "fail_every.h"
#include "scratch.h"

static cellar_error err;

static cellar_utility *compare(scratch *place, const cellar_table *table, const char *csv,
                               const char *column)
{
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    scratch_write(place, "other.csv", csv);
    if (cellar_utility_compare_file(table, scratch_path(place, "other.csv"), column, &options, &u,
                                    &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return u;
}

static void expect_distance(const cellar_utility *u, size_t index, const char *measure, uint64_t n,
                            double mean, double q80, double q90, double q95, double largest)
{
    const cellar_utility_distance *d = cellar_utility_distance_at(u, index);
    assert_string_equal(d->measure, measure);
    assert_int_equal(d->is_all, index >= 3);
    assert_int_equal(d->n, n);
    assert_true(d->quantiles[0] == 0);
    assert_true(fabs(d->mean - mean) < 1e-9);
    assert_true(fabs(d->quantiles[8] - q80) < 1e-9);
    assert_true(fabs(d->quantiles[9] - q90) < 1e-9);
    assert_true(fabs(d->quantiles[10] - q95) < 1e-9);
    assert_true(fabs(d->quantiles[12] - largest) < 1e-9);
}

/* The example of ck_cnt_measures() in the R package cellKey: 1..10 and two zeros, of which 1, 5 and
 * 7 are released as 0, 6 and 9. The quantiles are written out from its definitions. */
static void example_of_cell_key(void **state)
{
    cellar_table *table = table_of("a,count\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\nj,10\n"
                                   "k,0\nl,0\n");
    cellar_utility *u =
        compare(*state, table,
                "a;uwc;puwc\na;1;0\nb;2; 2\nc;3; 3\nd;4;4\ne;5;6\nf;6;6\ng;7;9\nh;8;8\n"
                "i;9;9\nj;10;10\nk;0;0\nl;0;0.0\n",
                "puwc");
    double r5 = sqrt(6) - sqrt(5), r7 = 3 - sqrt(7);
    assert_int_equal(cellar_utility_n_distances(u), 6);
    expect_distance(u, 0, "d1", 9, 3 / 9.0, 0.4, 1.2, 1.6, 2);
    expect_distance(u, 1, "d2", 9, (1 / 5.0 + 2 / 7.0) / 9, 0.4 / 5, 0.2 + 0.2 * (2 / 7.0 - 0.2),
                    0.2 + 0.6 * (2 / 7.0 - 0.2), 2 / 7.0);
    expect_distance(u, 2, "d3", 9, (r5 + r7) / 9, 0.4 * r5, r5 + 0.2 * (r7 - r5),
                    r5 + 0.6 * (r7 - r5), r7);
    expect_distance(u, 3, "d1", 12, 4 / 12.0, 0.8, 1, 1.45, 2);
    expect_distance(u, 4, "d2", 12, (1 + 0.2 + 2 / 7.0) / 12, 0.8 * 0.2,
                    0.2 + 0.9 * (2 / 7.0 - 0.2), 2 / 7.0 + 0.45 * (1 - 2 / 7.0), 1);
    assert_true(find(u, "l1", NULL, -1, -1)->mean == 4);
    assert_true(find(u, "positives_turned_zero", NULL, -1, -1)->mean == 1);
    assert_true(isnan(find(u, "l1", NULL, -1, -1)->expected));
    assert_string_equal(cellar_utility_mechanism(u), "not known");
    cellar_utility_free(u);
    cellar_table_free(table);
}

/* Margins perturbed on their own, as with cell keys: they are compared with the true margins, and
 * with the sums of what was released. Columns come in another order. */
static void margins_are_compared(void **state)
{
    static const char *const totals[] = {"Total", "_T", "", "TOTAL", "all"};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        cellar_table *table = table_of("a,b,count\nx,u,5\nx,v,1\ny,u,2\ny,v,7\n");
        char csv[500];
        cellar_utility *u;
        const char *t = totals[i];
        snprintf(csv, sizeof csv,
                 "n,b,a\n6,u,x\n0,v,x\n2,u,y\n-1,v,y\n5,%s,x\n9,%s,y\n7,u,%s\n8,v,%s\n14,%s,%s\n",
                 t, t, t, t, t, t);
        u = compare(*state, table, csv, NULL);
        /* cells 1 1 0 8; of rows 1 0, of columns 0 0, of all 1 */
        expect_distance(u, 3, "d1", 9, 12 / 9.0, 1, 2.4, 5.2, 8);
        assert_int_equal(cellar_utility_distance_at(u, 0)->n, 8);
        assert_true(find(u, "l1", NULL, -1, -1)->mean == 10);
        /* gaps: |5-6| |9-1| |7-8| |8+1| |14-7| */
        assert_true(fabs(find(u, "additivity_gap", NULL, -1, -1)->mean - 26 / 5.0) < 1e-12);
        assert_true(find(u, "additivity_gap_largest", NULL, -1, -1)->mean == 9);
        cellar_utility_free(u);
        cellar_table_free(table);
    }
}

/* What the true table has and the file does not is not compared; cells not listed are zero. */
static void only_what_the_file_has(void **state)
{
    cellar_table *table = with_margins(table_of("a,b,count\nx,u,5\nx,v,1\ny,u,2\ny,v,7\n"));
    cellar_utility *u =
        compare(*state, table, "a\tb\tcount\nx\tu\t4\ny\tv\t7\nTotal\tTotal\t16\n", NULL);
    assert_int_equal(cellar_utility_distance_at(u, 3)->n, 5);
    assert_true(cellar_utility_distance_at(u, 3)->mean == (1 + 1 + 2 + 0 + 1) / 5.0);
    assert_true(find(u, "positives_turned_zero", NULL, -1, -1)->mean == 2);
    assert_true(find(u, "additivity_gap", NULL, -1, -1)->mean == 5);
    cellar_utility_free(u);
    cellar_table_free(table);
}

static void refusals_name_the_place(void **state)
{
    static const struct {
        const char *csv, *column, *message;
    } cases[] = {
        {"a,count\nx,1\n", NULL, "other.csv:1: has no column 'b', which is a variable"},
        {"a,b,p,q\nx,u,1,2\n", NULL, "other.csv:1: has no column 'count': name the column"},
        {"a,b,p\nx,u,1\n", "q", "other.csv:1: has no column 'q' (--column)"},
        {"a,b,count\nx,w,1\n", NULL, "other.csv:2: column 'b': is no category of the table"},
        {"a,b,count\nx,u,1.5\n", NULL, "other.csv:2: column 'count': expected a whole number"},
        {"a,b,count\nx,u,NA\n", NULL, "other.csv:2: column 'count': expected a whole number"},
        {"a,b,count\nx,u,1\ny,v,2\nx,u,1\n", NULL, "other.csv:4: the cell is already in line 2"},
        {"a,b,count\n", NULL, "other.csv: has no rows"},
        {"", NULL, "other.csv: is empty"},
    };
    cellar_table *table = table_of("a,b,count\nx,u,5\nx,v,1\ny,u,2\ny,v,7\n");
    cellar_utility_options options = cellar_utility_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_utility *u;
        cellar_status status;
        scratch_write(*state, "other.csv", cases[i].csv);
        status = cellar_utility_compare_file(table, scratch_path(*state, "other.csv"),
                                             cases[i].column, &options, &u, &err);
        assert_int_equal(status, CELLAR_ERR_INPUT);
        assert_null(u);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("want '%s', got '%s'", cases[i].message, err.message);
    }
    cellar_table_free(table);
}

typedef struct scenario_context {
    cellar_table *table;
    const char *path;
} scenario_context;

static cellar_status scenario(void *context, cellar_error *e)
{
    const scenario_context *c = context;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status = cellar_utility_compare_file(c->table, c->path, NULL, &options, &u, e);
    cellar_utility_free(u);
    return status;
}

static void memory_may_end(void **state)
{
    scenario_context c = {.table = table_of("a,b,count\nx,u,5\ny,v,7\n")};
    scratch_write(*state, "other.csv", "a,b,count\nx,u,6\ny,v,7\nTotal,u,4\n");
    c.path = scratch_path(*state, "other.csv");
    check_fail_every(scenario, &c);
    cellar_table_free(c.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(example_of_cell_key, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(margins_are_compared, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(only_what_the_file_has, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(refusals_name_the_place, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
