/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a database becomes a table, or is refused; and a database is asked while memory
 * ends. */
#include "scratch.h"

#include <string.h>

#include <sqlite3.h>

#include <cellar/sql.h>

#include "fail_every.h"

typedef struct sample {
    cellar_codelist *list;
    cellar_variable_spec variable;
    cellar_tabulate_spec spec;
    cellar_sql_source source;
    char place[512];
} sample;

static void setup_sample(sample *s)
{
    *s = (sample){.source = cellar_sql_source_default()};
    assert_int_equal(cellar_codelist_create(&s->list, NULL), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(s->list, "f", NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_add(s->list, "m", NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(s->list, NULL), CELLAR_OK);
    s->variable = (cellar_variable_spec){.column = "sex", .codelist = s->list};
    s->spec = cellar_tabulate_spec_default();
    s->spec.variables = &s->variable;
    s->spec.n_variables = 1;
    s->spec.weight_column = "w";
    s->spec.record_key_column = "k";
    s->spec.key_range = 256;
    s->spec.n_threads = 1;
    s->source.table = "people";
}

enum { N_COLUMNS = 6 }; /* o, c1, n, ws, ks, m */

/* Gives rows "o c1 n ws ks m" of databases "A", "B", ... and takes the table. */
static cellar_status answer(const sample *s, const char *const (*rows)[N_COLUMNS], size_t n,
                            const char *sources, cellar_table **out, cellar_row_report *report,
                            cellar_error *err)
{
    cellar_sql_answer *a = NULL;
    cellar_status status =
        cellar_sql_answer_create(&s->spec, &s->source, CELLAR_SQL_POSTGRESQL, &a, err);
    *out = NULL;
    if (status == CELLAR_OK)
        assert_int_equal(cellar_sql_answer_n_columns(a), N_COLUMNS);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        const char source[] = {sources[i], '\0'};
        status = cellar_sql_answer_add(a, source, rows[i], err);
    }
    if (status == CELLAR_OK)
        status = cellar_sql_answer_table(a, out, report, err);
    cellar_sql_answer_free(a);
    return status;
}

static const char *const two_shards[][N_COLUMNS] = {
    {"0", "0", "3", "4.5", "300", "3"},       {"-1", "-1", "7", NULL, NULL, "3"},
    {"0", "1", "2", "2.000000000", "5", "3"}, {"0", "0", "10", "0.25", "2570", "2"},
    {"-2", "-1", "1", NULL, NULL, "2"},
};

static cellar_status add_shards(void *context, cellar_error *err)
{
    cellar_row_report report;
    cellar_table *table = NULL;
    cellar_status status = answer(context, two_shards, 5, "AAABB", &table, &report, err);
    if (status == CELLAR_OK) {
        const cellar_cell cell = cellar_table_cell(table, 0);
        assert_int_equal(cellar_table_n_cells(table), 2);
        assert_int_equal(cell.count, 13);
        assert_int_equal(cell.key, (300 + 2570) % 256);
        assert_int_equal(cellar_table_n_records(table), 15);
        assert_int_equal(report.n_read, 23);
        assert_int_equal(report.n_counted, 15);
        assert_int_equal(report.n_filtered, 7);
        assert_int_equal(report.n_missing, 1);
    }
    cellar_table_free(table);
    return status;
}

static void test_shards_add_up(void **state)
{
    sample s;
    (void) state;
    setup_sample(&s);
    check_fail_every(add_shards, &s);
    cellar_codelist_free(s.list);
}

/* Where no record counts, or there is none, the table is empty, as that of a file. */
static void test_nobody_counts(void **state)
{
    static const char *const rows[][N_COLUMNS] = {{"-1", "-1", "7", NULL, NULL, "1"}};
    sample s;
    (void) state;
    setup_sample(&s);
    for (size_t n = 0; n <= 1; n++) {
        cellar_table *table = NULL;
        cellar_error err = {""};
        if (answer(&s, rows, n, "A", &table, NULL, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        assert_int_equal(cellar_table_n_records(table), 0);
        assert_true(cellar_table_is_weighted(table));
        cellar_table_free(table);
    }
    cellar_codelist_free(s.list);
}

static void test_rows_that_are_refused(void **state)
{
    static const struct {
        const char *label, *row[N_COLUMNS], *expected;
    } cases[] = {
        {"no reason", {NULL, "0", "1", "1", "1", "1"}, "not one to this question"},
        {"a reason above 0", {"1", "0", "1", "1", "1", "1"}, "not one to this question"},
        {"no such category", {"0", "2", "1", "1", "1", "1"}, "not one to this question"},
        {"a category below 0", {"0", "-1", "1", "1", "1", "1"}, "not one to this question"},
        {"nobody", {"0", "0", "0", "1", "1", "1"}, "not one to this question"},
        {"too many", {"0", "0", "9223372036854775808", "1", "1", "1"}, "not one to this question"},
        {"no weight", {"0", "0", "1", NULL, "1", "1"}, "not one to this question"},
        {"a weight that is none", {"0", "0", "1", "x", "1", "1"}, "not one to this question"},
        {"no key", {"0", "0", "1", "1", NULL, "1"}, "not one to this question"},
        {"a key below 0", {"0", "0", "1", "1", "-1", "1"}, "not one to this question"},
        {"halves of a key", {"0", "0", "1", "1", "x:1", "1"}, "not one to this question"},
        {"no number of rows", {"0", "0", "1", "1", "1", NULL}, "not one to this question"},
        {"more rows are promised", {"0", "0", "1", "1", "1", "2"}, "A: the answer was cut off"},
        {"ties", {"-4", "-1", "1", NULL, NULL, "1"}, "--order-by"},
        {"nothing asked for it", {"-9000", "-1", "1", NULL, NULL, "1"}, "nothing asked for"},
        {"an unknown reason", {"-7", "-1", "1", NULL, NULL, "1"}, "nothing asked for"},
        {"a weight of the data", {"-2000", "-1", "1", NULL, NULL, "1"}, "column 'w': expected"},
        {"a key of the data", {"-3000", "-1", "1", NULL, NULL, "1"}, "column 'k': expected"},
        {"a number too long", {"-2100", "-1", "1", NULL, NULL, "1"}, "cannot compare it exactly"},
    };
    sample s;
    (void) state;
    setup_sample(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_table *table = NULL;
        cellar_error err = {""};
        if (answer(&s, &cases[i].row, 1, "A", &table, NULL, &err) != CELLAR_ERR_INPUT ||
            strstr(err.message, cases[i].expected) == NULL || table != NULL)
            fail_msg("%s: '%s'", cases[i].label, err.message);
    }
    cellar_codelist_free(s.list);
}

static void test_tables_that_change(void **state)
{
    const cellar_row_report first = {.n_read = 9, .n_counted = 7, .n_filtered = 2};
    cellar_row_report then = first;
    (void) state;
    assert_int_equal(cellar_sql_check_rows(&first, &then, NULL), CELLAR_OK);
    then.n_read++;
    assert_int_equal(cellar_sql_check_rows(&first, &then, NULL), CELLAR_ERR_INPUT);
    then = first;
    then.n_filtered--;
    assert_int_equal(cellar_sql_check_rows(&first, &then, NULL), CELLAR_ERR_INPUT);
}

/* ---- a database --------------------------------------------------------------- */

static cellar_status ask(void *context, cellar_error *err)
{
    const sample *s = context;
    const char *const places[] = {s->place};
    cellar_table *table = NULL;
    cellar_status status = cellar_tabulate_at(&s->spec, &s->source, places, 1, &table, NULL, err);
    if (status == CELLAR_OK)
        assert_int_equal(cellar_table_n_records(table), 3);
    cellar_table_free(table);
    return status;
}

static void test_asking_while_memory_ends(void **state)
{
    static const char sql[] = "CREATE TABLE people (sex TEXT, w TEXT, k TEXT);"
                              "INSERT INTO people VALUES ('f', '1.5', '3'), ('m', '2', '255'), "
                              "('f', '0', '0')";
    sqlite3 *db = NULL;
    sample s;
    setup_sample(&s);
    snprintf(s.place, sizeof s.place, "sqlite:%s", scratch_path(*state, "people.db"));
    assert_int_equal(sqlite3_open(s.place + strlen("sqlite:"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    check_fail_every(ask, &s);
    cellar_codelist_free(s.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_add_up),
        cmocka_unit_test(test_nobody_counts),
        cmocka_unit_test(test_rows_that_are_refused),
        cmocka_unit_test(test_tables_that_change),
        cmocka_unit_test(test_asking_while_memory_ends),
    };
    return cmocka_run_group_tests_name("sql_answer", tests, scratch_setup, scratch_teardown);
}
