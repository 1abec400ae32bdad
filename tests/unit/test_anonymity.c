/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The classical measures against definitions worked out by other means. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/anonymity.h>
#include <cellar/table_file.h>

#include "fail_every.h"

static cellar_table *table_of(const char *csv, const char *variable, const char *list)
{
    cellar_table *table;
    cellar_codelist *codelist = NULL;
    cellar_named_codelist named = {variable, NULL};
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV, .codelists = &named};
    cellar_error err = {""};
    if (list != NULL) {
        assert_int_equal(cellar_codelist_parse("list", list, strlen(list), &codelist, &err),
                         CELLAR_OK);
        named.codelist = codelist;
        options.n_codelists = 1;
    }
    if (cellar_table_parse("table", csv, strlen(csv), &options, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_codelist_free(codelist);
    return table;
}

static cellar_anonymity *measure(const cellar_table *table, size_t n_qid,
                                 const cellar_anonymity_options *options)
{
    const size_t qid[] = {0, 1, 2, 3};
    cellar_anonymity *anonymity;
    cellar_error err = {""};
    if (cellar_anonymity_create(table, qid, n_qid, options, &anonymity, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return anonymity;
}

static cellar_anonymity_options with_sensitive(size_t variable)
{
    cellar_anonymity_options options = cellar_anonymity_options_default();
    options.k = 2;
    options.has_sensitive = 1;
    options.sensitive = variable;
    return options;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-12))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* ---- published examples ----------------------------------------------------- */

/* Li, Li and Venkatasubramanian (2007): salaries 3K to 11K, one person each; ordered distance of
 * {3,4,5} is 0.375, of {6,8,11} 0.167. */
static void closeness_of_salaries(void **state)
{
    cellar_table *table =
        table_of("g,salary,count\na,03,1\na,04,1\na,05,1\nb,06,1\nb,08,1\nb,11,1\nc,07,1\nc,09,1\n"
                 "c,10,1\n",
                 NULL, NULL);
    cellar_anonymity_options options = with_sensitive(1);
    cellar_anonymity *anonymity;
    (void) state;
    options.order = CELLAR_ORDER_ORDERED;
    anonymity = measure(table, 1, &options);
    assert_int_equal(cellar_anonymity_summarise(anonymity).n_groups, 3);
    assert_near(cellar_anonymity_group_at(anonymity, 0).t_ordered, 0.375);
    assert_near(cellar_anonymity_group_at(anonymity, 2).t_ordered, 1.0 / 6);
    assert_near(cellar_anonymity_group_at(anonymity, 0).t_equal, 2.0 / 3);
    assert_near(cellar_anonymity_summarise(anonymity).worst.t_ordered, 0.375);
    cellar_anonymity_free(anonymity);
    cellar_table_free(table);
}

static void diversity(void **state)
{
    cellar_table *table =
        table_of("g,s,count\na,x,5\na,y,3\na,z,2\nb,x,4\nb,y,4\nc,x,1\n", NULL, NULL);
    cellar_anonymity_options options = with_sensitive(1);
    cellar_anonymity *anonymity;
    cellar_anonymity_group a, b, c;
    cellar_anonymity_summary summary;
    (void) state;
    options.recursive_c = 2;
    anonymity = measure(table, 1, &options);
    c = cellar_anonymity_group_at(anonymity, 0);
    b = cellar_anonymity_group_at(anonymity, 1);
    a = cellar_anonymity_group_at(anonymity, 2);
    assert_int_equal(a.n_distinct, 3);
    assert_int_equal(b.n_distinct, 2);
    assert_int_equal(c.n_distinct, 1);
    assert_near(b.entropy_l, 2);
    assert_near(a.entropy_l, exp(0.5 * log(2) - 0.3 * log(0.3) - 0.2 * log(0.2)));
    assert_int_equal(a.recursive_l, 2); /* 5 < 2(3+2), not 5 < 2*2 */
    assert_int_equal(b.recursive_l, 2);
    assert_int_equal(c.recursive_l, 1);
    assert_true(isinf(c.delta) && isinf(b.delta));
    assert_near(a.delta, log(2.0 / 10 / (2.0 / 19)));
    assert_near(a.beta, (2.0 / 10 - 2.0 / 19) / (2.0 / 19));
    assert_int_equal(a.enhanced, 1);
    assert_int_equal(c.enhanced, 1 - (9.0 / 10 > log(1.9))); /* 0.9 gained, 0.64 allowed */
    summary = cellar_anonymity_summarise(anonymity);
    assert_int_equal(summary.k, 1);
    assert_int_equal(summary.groups_below, 1);
    assert_int_equal(summary.records_below, 1);
    assert_int_equal(summary.n_records, 19);
    assert_int_equal(summary.worst.n_distinct, 1);
    cellar_anonymity_free(anonymity);
    cellar_table_free(table);
}

/* ---- earth mover's distance by another road --------------------------------- */

enum { N_VALUES = 6 };

/* The cost of moving `from` to `to` (whole units, equal sums), by cheapest augmenting paths in the
 * residual graph (Bellman-Ford). */
static double transport(const int64_t *from, const int64_t *to, double cost[N_VALUES][N_VALUES])
{
    int64_t supply[N_VALUES], demand[N_VALUES], flow[N_VALUES][N_VALUES] = {{0}};
    double total = 0;
    memcpy(supply, from, sizeof supply);
    memcpy(demand, to, sizeof demand);
    for (;;) {
        double far[2 * N_VALUES];
        int before[2 * N_VALUES], sink = -1, at;
        int64_t amount = INT64_MAX;
        for (int i = 0; i < N_VALUES; i++) {
            far[i] = supply[i] > 0 ? 0 : INFINITY;
            far[N_VALUES + i] = INFINITY;
            before[i] = before[N_VALUES + i] = -1;
        }
        for (int round = 0; round < 2 * N_VALUES; round++)
            for (int i = 0; i < N_VALUES; i++)
                for (int j = 0; j < N_VALUES; j++) {
                    if (far[i] + cost[i][j] < far[N_VALUES + j] - 1e-12) {
                        far[N_VALUES + j] = far[i] + cost[i][j];
                        before[N_VALUES + j] = i;
                    }
                    if (flow[i][j] > 0 && far[N_VALUES + j] - cost[i][j] < far[i] - 1e-12) {
                        far[i] = far[N_VALUES + j] - cost[i][j];
                        before[i] = N_VALUES + j;
                    }
                }
        for (int j = 0; j < N_VALUES; j++)
            if (demand[j] > 0 && (sink < 0 || far[N_VALUES + j] < far[N_VALUES + sink]))
                sink = j;
        if (sink < 0)
            return total;
        for (at = N_VALUES + sink; before[at] >= 0; at = before[at])
            if (at < N_VALUES && flow[at][before[at] - N_VALUES] < amount)
                amount = flow[at][before[at] - N_VALUES];
        amount = amount < supply[at] ? amount : supply[at];
        amount = amount < demand[sink] ? amount : demand[sink];
        supply[at] -= amount;
        demand[sink] -= amount;
        total += (double) amount * far[N_VALUES + sink];
        for (at = N_VALUES + sink; before[at] >= 0; at = before[at])
            if (at >= N_VALUES)
                flow[before[at]][at - N_VALUES] += amount;
            else
                flow[at][before[at] - N_VALUES] -= amount;
    }
}

/* Values a to f; a,b under p, c under q, p and q under r; d,e under s; f alone: of height 0, 1, 2,
 * and 3 for the root over r, s and f. */
static const char tree_list[] = "code,parent\na,p\nb,p\nc,q\nd,s\ne,s\nf,\np,r\nq,r\nr,\ns,\n";
static double tree_height(int i, int j)
{
    const int above[N_VALUES][3] = {{1, 3, 9}, {1, 3, 9}, {2, 3, 9},
                                    {4, 4, 9}, {4, 4, 9}, {5, 6, 9}};
    if (i == j)
        return 0;
    if (above[i][0] == above[j][0])
        return 1;
    return above[i][1] == above[j][1] ? 2 : 3;
}

static void distances_are_least(void **state)
{
    uint64_t seed = 7;
    (void) state;
    for (int round = 0; round < 200; round++) {
        char csv[512] = "g,s,count\n";
        int64_t group[N_VALUES], whole[N_VALUES], n = 0, total = 0, from[N_VALUES], to[N_VALUES];
        double equal[N_VALUES][N_VALUES], ordered[N_VALUES][N_VALUES], tree[N_VALUES][N_VALUES];
        cellar_anonymity_options options = with_sensitive(1);
        cellar_anonymity *anonymity;
        cellar_anonymity_group got;
        cellar_table *table;
        for (int s = 0; s < N_VALUES; s++) {
            int64_t other;
            seed = seed * UINT64_C(6364136223846793005) + 1;
            group[s] = (int64_t) (seed >> 60);
            other = (int64_t) (seed >> 50 & 15) + 16;
            whole[s] = group[s] + other;
            n += group[s];
            total += whole[s];
            snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "x,%c,%d\ny,%c,%d\n", 'a' + s,
                     (int) group[s], 'a' + s, (int) other);
            for (int j = 0; j < N_VALUES; j++) {
                equal[s][j] = s != j;
                ordered[s][j] = abs(s - j) / (double) (N_VALUES - 1);
                tree[s][j] = tree_height(s, j) / 3;
            }
        }
        if (n == 0)
            continue;
        for (int s = 0; s < N_VALUES; s++) {
            from[s] = group[s] * total;
            to[s] = whole[s] * n;
        }
        table = table_of(csv, "s", tree_list);
        anonymity = measure(table, 1, &options);
        got = cellar_anonymity_group_at(anonymity, 0); /* the smaller one: x */
        assert_int_equal(got.size, n);
        assert_near(got.t_equal, transport(from, to, equal) / (double) (n * total));
        assert_near(got.t_ordered, transport(from, to, ordered) / (double) (n * total));
        assert_near(got.t_hierarchical, transport(from, to, tree) / (double) (n * total));
        cellar_anonymity_free(anonymity);
        cellar_table_free(table);
    }
}

/* ---- wildcards -------------------------------------------------------------- */

static void wildcards_match_anything(void **state)
{
    uint64_t seed = 11;
    (void) state;
    for (int round = 0; round < 100; round++) {
        char csv[4096] = "a,b,c,s,count\n";
        const char *codes[] = {"missing", "1", "2"};
        int values[40][4], counts[40];
        size_t wildcards[3];
        cellar_anonymity_options options = with_sensitive(3);
        cellar_anonymity *anonymity;
        cellar_table *table;
        for (int r = 0; r < 40; r++) {
            int fresh = 1;
            for (int c = 0; c < 4; c++) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                values[r][c] = (int) ((seed >> 40) % 3);
            }
            counts[r] = (int) (seed >> 35 & 7) + 1;
            for (int q = 0; q < r; q++)
                fresh &= memcmp(values[q], values[r], sizeof values[r]) != 0;
            counts[r] *= fresh;
            if (fresh)
                snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%s,%s,%s,%s,%d\n",
                         codes[values[r][0]], codes[values[r][1]], codes[values[r][2]],
                         codes[values[r][3]], counts[r]);
        }
        table = table_of(csv, NULL, NULL);
        for (size_t c = 0; c < 3; c++)
            wildcards[c] = cellar_schema_find_missing(cellar_table_schema(table), c);
        options.wildcards = wildcards;
        anonymity = measure(table, 3, &options);
        for (size_t g = 0; g < cellar_anonymity_summarise(anonymity).n_groups; g++) {
            cellar_anonymity_group group = cellar_anonymity_group_at(anonymity, g);
            uint64_t matches = 0, own = 0, by_value[3] = {0, 0, 0};
            for (int r = 0; r < 40; r++) {
                int match = 1, same = 1;
                for (int c = 0; c < 3; c++) {
                    const char *code = cellar_schema_code(cellar_table_schema(table), (size_t) c,
                                                          group.categories[c]);
                    const char *other = codes[values[r][c]];
                    same &= strcmp(code, other) == 0;
                    match &= strcmp(code, other) == 0 || strcmp(code, "missing") == 0 ||
                             strcmp(other, "missing") == 0;
                }
                matches += match ? (uint64_t) counts[r] : 0;
                own += same ? (uint64_t) counts[r] : 0;
                by_value[values[r][3]] += match ? (uint64_t) counts[r] : 0;
            }
            assert_int_equal(group.n_matches, matches);
            assert_int_equal(group.size, own);
            assert_int_equal(group.n_distinct,
                             (by_value[0] > 0) + (by_value[1] > 0) + (by_value[2] > 0));
        }
        cellar_anonymity_free(anonymity);
        cellar_table_free(table);
    }
}

/* ---- without a sensitive variable; what is refused --------------------------- */

static void sizes_only(void **state)
{
    cellar_table *table = table_of("a,b,count\n1,1,4\n1,2,1\n2,1,1\n2,2,9\n", NULL, NULL);
    cellar_anonymity_options options = cellar_anonymity_options_default();
    cellar_anonymity *anonymity;
    cellar_anonymity_summary summary;
    cellar_error err;
    const size_t qid[] = {0, 1};
    (void) state;
    assert_int_equal(cellar_anonymity_create(table, qid, 2, &options, &anonymity, &err),
                     CELLAR_ERR_ARGUMENT);
    options.k = 5;
    assert_int_equal(cellar_anonymity_create(table, qid, 0, &options, &anonymity, &err),
                     CELLAR_ERR_ARGUMENT);
    anonymity = measure(table, 2, &options);
    summary = cellar_anonymity_summarise(anonymity);
    assert_int_equal(summary.k, 1);
    assert_int_equal(summary.groups_below, 3);
    assert_int_equal(summary.records_below, 6);
    assert_int_equal(cellar_anonymity_group_at(anonymity, 3).size, 9);
    assert_int_equal(cellar_anonymity_group_at(anonymity, 0).categories[1], 1); /* 1,2 first */
    cellar_anonymity_free(anonymity);
    options.has_sensitive = 1;
    options.sensitive = 1;
    assert_int_equal(cellar_anonymity_create(table, qid, 2, &options, &anonymity, &err),
                     CELLAR_ERR_ARGUMENT);
    options.sensitive = 2;
    assert_int_equal(cellar_anonymity_create(table, qid, 1, &options, &anonymity, &err),
                     CELLAR_ERR_ARGUMENT);
    options.sensitive = 1;
    options.recursive_c = -1;
    assert_int_equal(cellar_anonymity_create(table, qid, 1, &options, &anonymity, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
}

static cellar_status wildcards_measured(void *context, cellar_error *err)
{
    cellar_anonymity_options options = with_sensitive(2);
    const size_t qid[] = {0, 1};
    const cellar_schema *schema = cellar_table_schema(context);
    const size_t wildcards[] = {cellar_schema_find_missing(schema, 0),
                                cellar_schema_find_missing(schema, 1)};
    cellar_anonymity *anonymity;
    cellar_status status;
    options.wildcards = wildcards;
    status = cellar_anonymity_create(context, qid, 2, &options, &anonymity, err);
    cellar_anonymity_free(anonymity);
    options.has_sensitive = 0;
    if (status == CELLAR_OK) {
        status = cellar_anonymity_create(context, qid, 2, &options, &anonymity, err);
        cellar_anonymity_free(anonymity);
    }
    return status;
}

static void any_allocation_may_fail(void **state)
{
    cellar_table *table =
        table_of("a,b,s,count\n1,1,x,4\n1,missing,y,1\nmissing,1,x,1\n2,2,y,9\n", NULL, NULL);
    (void) state;
    check_fail_every(wildcards_measured, table);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closeness_of_salaries),
        cmocka_unit_test(diversity),
        cmocka_unit_test(distances_are_least),
        cmocka_unit_test(wildcards_match_anything),
        cmocka_unit_test(sizes_only),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
