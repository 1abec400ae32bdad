/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written reads back exactly, in every format that is read, for tables of all kinds. */
#include <stdlib.h>

#include "check.h"
#include "fail_every.h"
#include "scratch.h"
#include "table_samples.h"

#include <cellar/output.h>
#include <cellar/table_file.h>

#include "table/formats/format.h"

enum { N_RANDOM_TABLES = 120 };

static void write_table(scratch *place, const cellar_table *table, const char *name,
                        const cellar_table_write_options *options)
{
    static const cellar_output_options replace = {.replace = 1};
    cellar_output *output = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_output_open(scratch_path(place, name), &replace, &output, &err),
                     CELLAR_OK);
    if (cellar_table_write(table, options, output, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
}

static cellar_table *read_table(scratch *place, const char *name,
                                const cellar_table_read_options *options)
{
    cellar_table *table = NULL;
    cellar_error err = {""};
    if (cellar_table_read(scratch_path(place, name), options, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static char *slurp(scratch *place, const char *name)
{
    static char content[1 << 20];
    FILE *file = fopen(scratch_path(place, name), "r");
    size_t n;
    assert_non_null(file);
    n = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[n] = '\0';
    return content;
}

static void test_round_trips(void **state)
{
    static const struct {
        const char *name;
        cellar_table_write_options options;
    } cases[] = {
        {"t.json", {.format = CELLAR_TABLE_JSONSTAT}},
        {"t.json", {.format = CELLAR_TABLE_JSONSTAT, .sparse = 1, .title = "a \"title\"\n"}},
        {"t.px", {.format = CELLAR_TABLE_PX, .title = "a \"title\"\n"}},
    };
    sample_options options = {.with_rules = 1, .with_statuses = 1};
    sample_random random = {1};

    for (size_t i = 0; i < N_RANDOM_TABLES; i++) {
        cellar_table *table = sample_table(&random, &options);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            cellar_table *again;
            write_table(*state, table, cases[k].name, &cases[k].options);
            again = read_table(*state, cases[k].name, NULL);
            check_tables_equal(table, again);
            cellar_table_free(again);
        }
        cellar_table_free(table);
    }
}

/* Files of earlier versions stay readable. */
static void test_golden_files(void **state)
{
    static const char *const names[] = {"table.json", "table-sparse.json", "table.px"};
    cellar_table *table = sample_fixed_table();

    (void) state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        cellar_table *again = NULL;
        cellar_error err = {""};
        snprintf(path, sizeof path, "%s/%s", CELLAR_GOLDEN, names[i]);
        if (cellar_table_read(path, NULL, &again, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        check_tables_equal(table, again);
        cellar_table_free(again);
    }
    cellar_table_free(table);
}

/* A CSV file with its zeros and the code lists at hand says all but the domains' kind and the
 * rules behind structural zeros. */
static void test_csv_round_trips(void **state)
{
    static const cellar_table_write_options with_zeros = {.zeros = 1};
    sample_options options = {.with_statuses = 1};
    sample_random random = {2};

    for (size_t i = 0; i < N_RANDOM_TABLES; i++) {
        cellar_table *table = sample_table(&random, &options), *again;
        const cellar_schema *schema = cellar_table_schema(table);
        cellar_named_codelist lists[4];
        cellar_table_read_options reading = {.codelists = lists,
                                             .n_codelists = cellar_schema_n_variables(schema)};
        size_t n_a, n_b;

        for (size_t v = 0; v < reading.n_codelists; v++)
            lists[v] = (cellar_named_codelist){cellar_schema_variable(schema, v),
                                               cellar_schema_codelist(schema, v)};
        write_table(*state, table, "t.csv", &with_zeros);
        again = read_table(*state, "t.csv", &reading);
        check_cells_equal(table, again);
        assert_memory_equal(cellar_schema_margins(schema, &n_a),
                            cellar_schema_margins(cellar_table_schema(again), &n_b),
                            sizeof(uint64_t));
        assert_int_equal(n_a, n_b);
        for (size_t v = 0; v < reading.n_codelists; v++)
            assert_int_equal(cellar_schema_domain(cellar_table_schema(again), v),
                             CELLAR_DOMAIN_DECLARED);
        cellar_table_free(again);

        /* Without zeros the counts are the same wherever there is one. */
        write_table(*state, table, "t.csv", NULL);
        again = read_table(*state, "t.csv", &reading);
        assert_int_equal(cellar_table_n_cells(table), cellar_table_n_cells(again));
        assert_int_equal(cellar_table_n_records(table), cellar_table_n_records(again));
        cellar_table_free(again);
        cellar_table_free(table);
    }
}

static void test_csv_observed(void **state)
{
    static const char csv[] = "sex,age,count\r\nm,10,1\r\n_T,9,5\r\nf,9,4\r\nm,9,1\r\n"
                              "_T,10,1\r\n";
    cellar_table *table = NULL;
    const cellar_schema *schema;
    const uint64_t *margins;
    size_t n_margins;
    cellar_error err = {""};
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};

    (void) state;
    assert_int_equal(cellar_table_parse("x", csv, strlen(csv), &options, &table, &err), CELLAR_OK);
    schema = cellar_table_schema(table);
    margins = cellar_schema_margins(schema, &n_margins);
    assert_int_equal(n_margins, 2);
    assert_int_equal(margins[0], 2);
    assert_int_equal(margins[1], 3);
    assert_int_equal(cellar_schema_domain(schema, 0), CELLAR_DOMAIN_OBSERVED);
    assert_string_equal(cellar_schema_code(schema, 0, 0), "f");
    assert_string_equal(cellar_schema_code(schema, 1, 0), "9");
    assert_string_equal(cellar_schema_code(schema, 1, 1), "10");
    assert_string_equal(cellar_schema_code(schema, 0, 2), "_T");
    assert_int_equal(cellar_table_n_cells(table), 5);
    assert_int_equal(cellar_table_n_records(table), 6);
    cellar_table_free(table);
}

/* Whoever reads a hierarchy without its code list would count people once per level. */
static void test_sums_add_up(void **state)
{
    static const struct {
        const char *csv;
        cellar_status status;
    } cases[] = {
        {"a,b,count\n1,x,5\n1,_T,5\n2,y,1\n2,_T,1\n_T,x,5\n_T,y,1\n_T,_T,6\n", CELLAR_OK},
        {"a,b,count\n1,x,5\n1,_T,5\n_T,x,5\n_T,_T,4\n", CELLAR_ERR_INPUT},
        {"a,b,count\n1,x,5\n2,x,1\n1,_T,5\n", CELLAR_ERR_INPUT}, /* 2,_T is not there: a zero */
        {"a,b,count\n1,_T,1\n2,x,1\n", CELLAR_ERR_INPUT},        /* _T is a code of the data */
        {"a,count\nNorth,3\nn1,1\nn2,2\n_T,3\n", CELLAR_ERR_INPUT},
        {"a,count,weighted\nx,1,0.5\ny,1,0.25\n_T,2,0.75\n", CELLAR_OK},
        {"a,count,weighted\nx,1,0.5\ny,1,0.25\n_T,2,0.7\n", CELLAR_ERR_INPUT},
        {"a,count,record_key:10\nx,1,7\ny,1,8\n_T,2,5\n", CELLAR_OK},
        {"a,count,record_key:10\nx,1,7\ny,1,8\n_T,2,6\n", CELLAR_ERR_INPUT},
        {"a,count,status\nx,1,\ny,0,not-available\n_T,9,\n", CELLAR_OK}, /* who knows */
        {"a,count,status\nx,1,\ny,2,\n_T,0,not-available\n", CELLAR_OK},
        {"a,b,count\n1,_T,2\n_T,x,3\n", CELLAR_OK}, /* an interior nobody told */
    };
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_error err = {""};
        cellar_table *table = NULL;
        cellar_status status =
            cellar_table_parse("x", cases[i].csv, strlen(cases[i].csv), &options, &table, &err);
        if (status != cases[i].status || (table != NULL) != (status == CELLAR_OK))
            fail_msg("case %zu: %s", i, err.message);
        if (status != CELLAR_OK)
            assert_non_null(strstr(err.message, "x: variable '"));
        cellar_table_free(table);
    }
}

/* A bound on weights goes with the table wherever it goes, and must be possible. */
static void test_bounds_on_weights(void **state)
{
    static const struct {
        const char *csv;
        cellar_status status;
        uint64_t bound;
    } cases[] = {
        {"a,count,weighted:4\nx,2,8\ny,1,0.25\n_T,3,8.25\n", CELLAR_OK, 4},
        {"a,count,weighted\nx,2,8\ny,1,0.25\n_T,3,8.25\n", CELLAR_OK, 0},
        {"a,count,weighted:4\nx,2,8.000000001\n", CELLAR_ERR_INPUT, 0},
        {"a,count,weighted:4\nx,2,-1\n", CELLAR_ERR_INPUT, 0},
        {"a,count,weighted:0\nx,2,1\n", CELLAR_ERR_INPUT, 0},
        {"a,count,weighted:1.5\nx,2,1\n", CELLAR_ERR_INPUT, 0},
        {"a,count,weighted:9,weighted:4\nx,2,1,1\n", CELLAR_ERR_INPUT, 0},
        {"a,count,weighted:1000001\nx,2,1\n", CELLAR_ERR_ARGUMENT, 0},
    };
    cellar_table_read_options csv = {.format = CELLAR_TABLE_CSV};
    const size_t variable = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_table *table = NULL, *margin = NULL;
        cellar_error err = {""};
        cellar_status status =
            cellar_table_parse("x", cases[i].csv, strlen(cases[i].csv), &csv, &table, &err);
        if (status != cases[i].status)
            fail_msg("case %zu: %s", i, err.message);
        if (status != CELLAR_OK)
            continue;
        assert_int_equal(cellar_table_max_weight(table), cases[i].bound);
        assert_int_equal(cellar_table_create_margin(table, &variable, 1, &margin, NULL), CELLAR_OK);
        assert_int_equal(cellar_table_max_weight(margin), cases[i].bound);
        cellar_table_free(margin);
        for (cellar_table_format f = CELLAR_TABLE_CSV; f <= CELLAR_TABLE_PX; f++) {
            cellar_table_write_options options = {.format = f};
            cellar_table_read_options how = {.format = f};
            cellar_table *back = NULL;
            write_table(*state, table, "t", &options);
            assert_int_equal(cellar_table_read(scratch_path(*state, "t"), &how, &back, NULL),
                             CELLAR_OK);
            assert_int_equal(cellar_table_max_weight(back), cases[i].bound);
            cellar_table_free(back);
        }
        cellar_table_free(table);
    }
}

static void test_files_are_secret_and_say_so(void **state)
{
    static const struct {
        cellar_table_format format;
        const char *mark;
    } cases[] = {
        {CELLAR_TABLE_CSV, ",count,weighted,record_key:4096,status\n"},
        {CELLAR_TABLE_JSONSTAT, "\"confidential\":true"},
        {CELLAR_TABLE_PX, "NOTE=\"Confidential: true counts, not for publication.\";"},
        {CELLAR_TABLE_SDMX, ",C\n"},
        {CELLAR_TABLE_CSVW, "\"dc:accessRights\": \"Confidential"},
    };
    cellar_table *table = sample_fixed_table();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_table_write_options options = {.format = cases[i].format, .csv_name = "t.csv"};
        write_table(*state, table, "t", &options);
        assert_non_null(strstr(slurp(*state, "t"), cases[i].mark));
        assert_int_equal(scratch_mode(*state, "t"), 0600);
    }
    cellar_table_free(table);
}

static void test_formulas(void **state)
{
    static const char csv[] = "=x,count\n=HYPERLINK(1),1\n\"@a,b\",2\nplain,3\n";
    static const char harmless[] = "'=x,count\n'=HYPERLINK(1),1\n\"'@a,b\",2\nplain,3\n";
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};
    cellar_table_write_options plain = {0}, neutral = {.neutralise_formulas = 1};
    cellar_table *table = NULL;

    assert_int_equal(cellar_table_parse("x", csv, strlen(csv), &options, &table, NULL), CELLAR_OK);
    write_table(*state, table, "t", &plain);
    assert_string_equal(slurp(*state, "t"), csv);
    write_table(*state, table, "t", &neutral);
    assert_string_equal(slurp(*state, "t"), harmless);
    cellar_table_free(table);
}

/* ---- releases: the same writers, other rules ------------------------------- */

static cellar_sheet_cell release_cell(const void *source, size_t position)
{
    static const cellar_cell_status statuses[] = {CELLAR_CELL_NORMAL, CELLAR_CELL_SUPPRESSED,
                                                  CELLAR_CELL_UNRELIABLE};
    (void) source;
    return (cellar_sheet_cell){
        .index = position, .value = -7 - (int64_t) position, .status = statuses[position]};
}

static void test_releases(void **state)
{
    static const struct {
        cellar_table_format format;
        const char *name, *has, *has_not;
    } cases[] = {
        {CELLAR_TABLE_CSV, "r.csv", "sex,released,status\na,-7,\nb,,suppressed\nc,-9,unreliable\n",
         "-8"},
        {CELLAR_TABLE_JSONSTAT, "r.json", "[-7,null,-9]", "-8"},
        {CELLAR_TABLE_PX, "r.px", "-7 \"...\" -9 \r\n;", " -8 "},
        {CELLAR_TABLE_SDMX, "r.sdmx", ",b,,Q,F\n", "-8"},
    };
    cellar_table_read_options csv = {.format = CELLAR_TABLE_CSV};
    cellar_table *table = NULL;
    cellar_sheet sheet;
    cellar_error err;

    assert_int_equal(cellar_table_parse("x", "sex,count\na,1\nb,1\nc,1\n", 22, &csv, &table, &err),
                     CELLAR_OK);
    sheet = (cellar_sheet){.schema = cellar_table_schema(table),
                           .kind = CELLAR_SHEET_RELEASE,
                           .attachment = "{\"certificate\": {\"epsilon\": 1}, \"kind\": \"table\"}",
                           .n_cells = 3,
                           .cell = release_cell};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const cellar_output_options replace = {.replace = 1};
        cellar_table_write_options options = {.format = cases[i].format};
        cellar_output *output;
        cellar_table *again = NULL;
        cellar_source source = {.options = &csv, .kind = CELLAR_SHEET_RELEASE};
        cellar_table_read_options reading = {.format = cases[i].format};
        cellar_loaded loaded = {0};

        assert_int_equal(
            cellar_output_open(scratch_path(*state, cases[i].name), &replace, &output, &err),
            CELLAR_OK);
        assert_int_equal(cellar_sheet_write(&sheet, &options, output, &err), CELLAR_OK);
        assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
        source.bytes = slurp(*state, cases[i].name);
        source.length = strlen(source.bytes);
        source.name = cases[i].name;
        source.options = &reading;
        assert_non_null(strstr(source.bytes, cases[i].has));
        assert_null(strstr(source.bytes, cases[i].has_not));
        if (cases[i].format == CELLAR_TABLE_SDMX)
            continue;

        /* It is no table of true counts, and as a release it reads back. */
        assert_int_equal(
            cellar_table_parse(source.name, source.bytes, source.length, &reading, &again, &err),
            CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "is a release"));
        if (cellar_sheet_parse(&source, &loaded, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        assert_int_equal(loaded.built.cells.n, 3);
        assert_int_equal((int64_t) loaded.built.cells.count[2], -9);
        assert_int_equal(loaded.built.cells.status[1], CELLAR_CELL_SUPPRESSED);
        assert_int_equal(loaded.built.cells.count[1], 0);
        if (cases[i].format != CELLAR_TABLE_CSV)
            assert_non_null(strstr(loaded.extension, "certificate"));
        cellar_loaded_clear(&loaded);
    }
    cellar_table_free(table);
}

/* ---- memory ---------------------------------------------------------------- */

typedef struct memory_case {
    const char *path;
    const cellar_table *table;
    cellar_table_write_options options;
} memory_case;

static cellar_status write_and_read(void *context, cellar_error *err)
{
    static const cellar_output_options replace = {.replace = 1};
    const memory_case *now = context;
    cellar_output *output = NULL;
    cellar_table *again = NULL;
    cellar_table_read_options reading = {.format = now->options.format};
    cellar_status status = cellar_output_open(now->path, &replace, &output, err);

    if (status != CELLAR_OK)
        return status;
    status = cellar_table_write(now->table, &now->options, output, err);
    if (status != CELLAR_OK) {
        cellar_output_discard(output);
        return status;
    }
    status = cellar_output_commit(output, err);
    if (status == CELLAR_OK)
        status = cellar_table_read(now->path, &reading, &again, err);
    cellar_table_free(again);
    return status;
}

static void test_every_allocation(void **state)
{
    static const cellar_table_write_options options[] = {
        {.format = CELLAR_TABLE_CSV},
        {.format = CELLAR_TABLE_JSONSTAT},
        {.format = CELLAR_TABLE_PX},
    };
    cellar_table *table = sample_fixed_table();
    memory_case now = {.path = scratch_path(*state, "t"), .table = table};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        now.options = options[i];
        check_fail_every(write_and_read, &now);
    }
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trips, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_csv_round_trips, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_golden_files),
        cmocka_unit_test(test_csv_observed),
        cmocka_unit_test(test_sums_add_up),
        cmocka_unit_test_setup_teardown(test_bounds_on_weights, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_files_are_secret_and_say_so, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_formulas, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_releases, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_every_allocation, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("table_file", tests, NULL, NULL);
}
