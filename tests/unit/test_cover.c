/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many tables in one pass: which tables are counted, and that all are what they would be alone. */
#include <stdio.h>

#include <cellar/tabulate.h>

#include "check.h"
#include "fail_every.h"
#include "scratch.h"
#include "splitmix.h"
#include "table/counting/cover.h"

enum { N_COLUMNS = 10, MAX_SETS = 200 };

/* All sets of at most three of n variables. */
static size_t up_to_three(size_t n, cellar_tabulate_set *out)
{
    size_t n_sets = 0;
    for (size_t a = 0; a < n; a++) {
        out[n_sets++] = (cellar_tabulate_set){1, {(uint8_t) a}};
        for (size_t b = a + 1; b < n; b++) {
            out[n_sets++] = (cellar_tabulate_set){2, {(uint8_t) b, (uint8_t) a}};
            for (size_t c = b + 1; c < n; c++)
                out[n_sets++] = (cellar_tabulate_set){3, {(uint8_t) a, (uint8_t) c, (uint8_t) b}};
        }
    }
    return n_sets;
}

/* ---- which tables ----------------------------------------------------------------------- */

static int has(const cellar_tabulate_set *set, uint8_t variable)
{
    for (size_t k = 0; k < set->n; k++)
        if (set->variables[k] == variable)
            return 1;
    return 0;
}

/* Every wanted table has all its variables in its source, no counted table repeats a variable, and
 * those that grew have few cells. Answers how many are counted. */
static size_t check_cover(const cellar_tabulate_set *sets, size_t n_sets,
                          const size_t *n_categories, uint64_t most)
{
    cellar_cover cover;
    size_t n_counted;
    assert_int_equal(cellar_cover_init(&cover, sets, n_sets, n_categories, most, NULL), CELLAR_OK);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t k = 0; k < sets[s].n; k++)
            assert_true(has(&cover.counted[cover.source[s]], sets[s].variables[k]));
    for (size_t c = 0; c < cover.n_counted; c++) {
        const cellar_tabulate_set *set = &cover.counted[c];
        uint64_t n_cells = 1;
        for (size_t k = 0; k < set->n; k++) {
            const cellar_tabulate_set before = {k, {0}};
            cellar_tabulate_set copy = before;
            memcpy(copy.variables, set->variables, k);
            assert_false(has(&copy, set->variables[k]));
            n_cells *= n_categories[set->variables[k]];
        }
        assert_true(set->n <= 3 || n_cells <= most);
    }
    n_counted = cover.n_counted;
    cellar_cover_clear(&cover);
    return n_counted;
}

static void few_tables_cover_many(void **state)
{
    const size_t levels[N_COLUMNS] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
    const size_t unknown[N_COLUMNS] = {0};
    cellar_tabulate_set sets[MAX_SETS];
    const size_t n = up_to_three(N_COLUMNS, sets);
    (void) state;
    assert_int_equal(n, 175);
    assert_int_equal(check_cover(sets, n, levels, 1), 120);
    assert_int_equal(check_cover(sets, n, unknown, 1 << 17), 120);
    assert_int_equal(check_cover(sets, n, levels, 1 << 17), 11);
    assert_int_equal(check_cover(sets, n, levels, UINT64_C(1) << 40), 1);
    assert_int_equal(check_cover(sets, 1, levels, 1 << 17), 1);
}

/* ---- what is counted ---------------------------------------------------------------------- */

typedef struct counting {
    char path[400];
    cellar_codelist *lists[4];
    cellar_variable_spec variables[4];
    cellar_tabulate_spec spec;
    cellar_tabulate_set sets[MAX_SETS];
    size_t n_sets;
} counting;

/* Four columns of 2, 3, 5 and 7 levels, a weight and a record key. */
static void counting_init(counting *c, scratch *place)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const unsigned levels[] = {2, 3, 5, 7};
    static char data[60000];
    size_t length = (size_t) snprintf(data, sizeof data, "a,b,c,d,w,k\n");
    uint64_t seed = 5;
    *c = (counting){.spec = cellar_tabulate_spec_default()};
    for (size_t row = 0; row < 2000; row++) {
        for (size_t v = 0; v < 4; v++)
            length += (size_t) snprintf(data + length, sizeof data - length, "%u,",
                                        (unsigned) (next_random(&seed) % levels[v]));
        length += (size_t) snprintf(data + length, sizeof data - length, "%u.25,0.%09u\n",
                                    (unsigned) (next_random(&seed) % 3),
                                    (unsigned) (next_random(&seed) % 1000000000));
    }
    scratch_write(place, "many.csv", data);
    snprintf(c->path, sizeof c->path, "%s", scratch_path(place, "many.csv"));
    for (size_t v = 0; v < 4; v++) {
        char list[100] = "code\n";
        for (unsigned level = levels[v]; level-- > 0;)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%u\n", level);
        assert_int_equal(cellar_codelist_parse(names[v], list, strlen(list), &c->lists[v], NULL),
                         CELLAR_OK);
        c->variables[v] = cellar_variable_spec_default();
        c->variables[v].name = c->variables[v].column = names[v];
        c->variables[v].codelist = c->lists[v];
    }
    c->spec.path = c->path;
    c->spec.variables = c->variables;
    c->spec.n_variables = 4;
    c->n_sets = up_to_three(4, c->sets);
    c->sets[c->n_sets++] = (cellar_tabulate_set){2, {3, 1}}; /* wanted twice */
    c->sets[c->n_sets++] = (cellar_tabulate_set){4, {3, 0, 1, 2}};
    c->sets[c->n_sets++] = (cellar_tabulate_set){4, {3, 0, 1, 2}};
}

static void counting_clear(counting *c)
{
    for (size_t v = 0; v < 4; v++)
        cellar_codelist_free(c->lists[v]);
}

static void check_equal(const cellar_table *a, const cellar_table *b)
{
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    assert_int_equal(cellar_table_n_records(a), cellar_table_n_records(b));
    assert_string_equal(cellar_table_tabulation(a), cellar_table_tabulation(b));
    for (size_t i = 0; i < cellar_table_n_cells(a); i++) {
        const cellar_cell x = cellar_table_cell(a, i), y = cellar_table_cell(b, i);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.key, y.key);
        assert_true(cellar_table_weight(a, i) == cellar_table_weight(b, i));
    }
}

static void check_many(const counting *c)
{
    cellar_table *many[MAX_SETS];
    cellar_error err = {""};
    if (cellar_tabulate_many(&c->spec, c->sets, c->n_sets, many, NULL, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t s = 0; s < c->n_sets; s++) {
        cellar_variable_spec some[4];
        cellar_tabulate_spec one = c->spec;
        cellar_table *table = NULL;
        for (size_t k = 0; k < c->sets[s].n; k++)
            some[k] = c->variables[c->sets[s].variables[k]];
        one.variables = some;
        one.n_variables = c->sets[s].n;
        assert_int_equal(cellar_tabulate(&one, &table, NULL, &err), CELLAR_OK);
        check_equal(table, many[s]);
        cellar_table_free(table);
        cellar_table_free(many[s]);
    }
}

/* Counted together or one by one: the same tables, weighted sums, keys and descriptions. */
static void many_tables_are_each_table(void **state)
{
    counting c;
    counting_init(&c, *state);
    check_many(&c);
    c.spec.margins.all = 1;
    check_many(&c);
    c.spec.margins.all = 0;
    c.spec.weight_column = "w";
    c.spec.max_weight = 2;
    check_many(&c);
    c.spec.record_key_column = "k";
    check_many(&c);
    c.spec.record_key_column = c.spec.weight_column = NULL;
    c.spec.max_weight = 0;
    c.spec.max_cells = 210; /* exactly the largest */
    check_many(&c);
    for (size_t v = 0; v < 4; v++)
        c.variables[v].codelist = NULL;
    c.spec.max_cells = 0;
    check_many(&c);
    counting_clear(&c);
}

static void limits_hold_for_what_is_wanted(void **state)
{
    cellar_table *many[MAX_SETS];
    cellar_error err = {""};
    counting c;
    counting_init(&c, *state);
    c.spec.max_cells = 30;
    c.n_sets = 5; /* of 2, 6, 30, 42 and 10 cells */
    assert_int_equal(cellar_tabulate_many(&c.spec, c.sets, c.n_sets, many, NULL, &err),
                     CELLAR_ERR_RULE);
    c.n_sets = 3;
    assert_int_equal(cellar_tabulate_many(&c.spec, c.sets, c.n_sets, many, NULL, &err), CELLAR_OK);
    for (size_t s = 0; s < c.n_sets; s++)
        cellar_table_free(many[s]);
    counting_clear(&c);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static cellar_status scenario(void *context, cellar_error *err)
{
    const counting *c = context;
    cellar_table *many[MAX_SETS];
    cellar_status status = cellar_tabulate_many(&c->spec, c->sets, c->n_sets, many, NULL, err);
    for (size_t s = 0; s < c->n_sets; s++)
        cellar_table_free(many[s]);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    counting c;
    counting_init(&c, *state);
    c.spec.n_threads = 1;
    c.n_sets = 6;
    check_fail_every(scenario, &c);
    counting_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_tables_cover_many),
        cmocka_unit_test(many_tables_are_each_table),
        cmocka_unit_test(limits_hold_for_what_is_wanted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
