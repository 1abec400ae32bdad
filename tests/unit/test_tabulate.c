/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a file to a table, option by option. */
#include "check.h"
#include "fail_every.h"
#include "scratch.h"

#include "base/text.h"
#include "table/table.h"
#include <cellar/describe.h>
#include <cellar/tabulate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char people[] = "id,sex,age,region,weight,key\n"
                             "p1,m,21,north,1.5,0.25\n"
                             "p2,f,34,south,2,0.5\n"
                             "p1,m,25,north,0.25,0.75\n"
                             "p3,f,,north,1,0.125\n"
                             "p2,f,34,south,3.000000001,0.75\n"
                             "p4,m,90,\"so\"\"uth\",1,0\n"
                             "p1,m,8,south,1,0.5\n";

static const char *write_file(scratch *place, const char *name, const char *text)
{
    const char *path = scratch_path(place, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return path;
}

/* "code code=count" for every stored cell: the whole table in one string to compare. */
static void table_text(const cellar_table *table, cellar_text *text)
{
    const cellar_schema *schema = cellar_table_schema(table);
    uint32_t category[CELLAR_MAX_VARIABLES];
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        cellar_schema_categories(schema, cell.index, category);
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            cellar_text_printf(text, "%s ", cellar_schema_code(schema, v, category[v]));
        text->length--;
        cellar_text_printf(text, "=%d", (int) cell.count);
        if (cellar_table_is_weighted(table))
            cellar_text_printf(text, "/%.9g", cell.weighted);
        if (cellar_table_key_range(table) > 0)
            cellar_text_printf(text, "#%.3f", (double) cell.key / 1e18);
        cellar_text_add_string(text, "; ");
    }
}

static cellar_tabulate_spec by_two(const char *path, cellar_variable_spec variables[2])
{
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    variables[0] = (cellar_variable_spec){.column = "sex"};
    variables[1] = (cellar_variable_spec){.column = "region"};
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = 2;
    return spec;
}

static void check_table(const cellar_tabulate_spec *spec, const char *want,
                        cellar_row_report *report)
{
    cellar_table *table = NULL;
    cellar_text text = {0};
    cellar_error err = {""};
    if (cellar_tabulate(spec, &table, report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    table_text(table, &text);
    assert_string_equal(text.bytes, want);
    cellar_text_clear(&text);
    cellar_table_free(table);
}

static void check_fails(const cellar_tabulate_spec *spec, cellar_status want, const char *message)
{
    cellar_table *table = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_tabulate(spec, &table, NULL, &err), want);
    assert_null(table);
    if (strstr(err.message, message) == NULL)
        fail_msg("'%s' is not in '%s'", message, err.message);
}

static void test_plain(void **state)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(write_file(*state, "people.csv", people), variables);
    cellar_row_report report;
    check_table(&spec, "f north=1; f south=2; m north=2; m so\"uth=1; m south=1; ", &report);
    assert_int_equal(report.n_read, 7);
    assert_int_equal(report.n_counted, 7);
    spec.margins.all = 1;
    check_table(&spec,
                "f north=1; f south=2; f _T=3; m north=2; m so\"uth=1; m south=1; m _T=4; "
                "_T north=3; _T so\"uth=1; _T south=3; _T _T=7; ",
                NULL);
}

static void test_missing(void **state)
{
    cellar_variable_spec age = {.column = "age", .recode = {.band_width = "10"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    const char *path = write_file(*state, "people.csv", people);
    cellar_row_report report;
    spec.path = path;
    spec.variables = &age;
    spec.n_variables = 1;
    check_fails(&spec, CELLAR_ERR_INPUT, "people.csv:5: column 'age': the value is missing");
    spec.missing_policy = CELLAR_MISSING_DROP;
    check_table(&spec, "[0,10)=1; [20,30)=2; [30,40)=2; [90,100)=1; ", &report);
    assert_int_equal(report.n_missing, 1);
    assert_int_equal(report.n_counted, 6);
    spec.missing_policy = CELLAR_MISSING_LEVEL;
    check_table(&spec, "[0,10)=1; [20,30)=2; [30,40)=2; [90,100)=1; missing=1; ", &report);
    assert_int_equal(report.n_missing, 0);
    age.recode.band_closed_right = 1;
    age.recode.band_width = "5";
    age.recode.top = "85";
    check_table(&spec, "(5,10]=1; (20,25]=2; (30,35]=2; >=85=1; missing=1; ", NULL);
}

/* Each variable may have a policy of its own, which the description of the table names. */
static void test_missing_by_variable(void **state)
{
    static const char gaps[] = "a,b\n1,x\n,y\n2,\n";
    cellar_variable_spec variables[] = {{.column = "a"},
                                        {.column = "b", .missing_policy = CELLAR_MISSING_DROP}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err = {""};
    spec.path = write_file(*state, "gaps.csv", gaps);
    spec.variables = variables;
    spec.n_variables = 2;
    check_fails(&spec, CELLAR_ERR_INPUT, "gaps.csv:3: column 'a': the value is missing");
    spec.missing_policy = CELLAR_MISSING_LEVEL;
    check_table(&spec, "1 x=1; missing y=1; ", &report);
    assert_int_equal(report.n_missing, 1);
    assert_int_equal(cellar_tabulate(&spec, &table, NULL, &err), CELLAR_OK);
    assert_non_null(strstr(table->tabulation, "\"b\":{\"column\":\"b\",\"missing\":\"drop\"}"));
    assert_non_null(strstr(table->tabulation, "\"a\":{\"column\":\"a\"}"));
    cellar_table_free(table);
}

/* Whether missing values are a level was said in advance: bands stay declared with it. */
static void test_missing_level_of_bands(void **state)
{
    cellar_variable_spec age = {.column = "age",
                                .recode = {.band_width = "20", .bottom = "19", .top = "60"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table *table = NULL;
    cellar_error err = {""};
    spec.path = write_file(*state, "people.csv", people);
    spec.variables = &age;
    spec.n_variables = 1;
    spec.missing_policy = CELLAR_MISSING_LEVEL;
    assert_int_equal(cellar_tabulate(&spec, &table, NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_schema_domain(cellar_table_schema(table), 0), CELLAR_DOMAIN_DECLARED);
    assert_int_equal(cellar_schema_n_leaves(cellar_table_schema(table), 0), 6);
    cellar_table_free(table);
}

/* Bands between a bottom and a top are a domain of their own: nobody's presence creates a level. */
static void test_domains(void **state)
{
    cellar_variable_spec age = {.column = "age",
                                .recode = {.band_width = "20", .bottom = "19", .top = "60"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_codelist *regions = NULL;
    cellar_table *table = NULL;
    cellar_error err = {""};
    const char *list = "code,parent,role\nnorth,land,\nsouth,land,\nland,,\nelse,,other\n";
    spec.path = write_file(*state, "people.csv", people);
    spec.variables = &age;
    spec.n_variables = 1;
    spec.missing_policy = CELLAR_MISSING_DROP;
    assert_int_equal(cellar_tabulate(&spec, &table, NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_schema_domain(cellar_table_schema(table), 0), CELLAR_DOMAIN_DECLARED);
    assert_int_equal(cellar_schema_n_leaves(cellar_table_schema(table), 0), 5);
    cellar_table_free(table);

    assert_int_equal(cellar_codelist_parse("regions", list, strlen(list), &regions, &err),
                     CELLAR_OK);
    age = (cellar_variable_spec){.column = "region", .name = "land", .codelist = regions};
    check_table(&spec, "north=3; south=3; else=1; ", NULL);
    spec.margins.hierarchies = 1;
    check_table(&spec, "north=3; south=3; else=1; land=6; ", NULL);
    cellar_codelist_free(regions);

    list = "code,role\nnorth,\nsouth,\nnobody,unknown\n";
    assert_int_equal(cellar_codelist_parse("regions", list, strlen(list), &regions, &err),
                     CELLAR_OK);
    age.codelist = regions;
    spec.margins.hierarchies = 0;
    check_fails(&spec, CELLAR_ERR_INPUT, "people.csv:7: column 'land': the value is outside");
    cellar_codelist_free(regions);
}

static void test_where(void **state)
{
    static const char *const where[] = {"age>=21", "region!=so\"\"uth"};
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(write_file(*state, "people.csv", people), variables);
    cellar_row_report report;
    spec.where = where;
    spec.n_where = 1;
    check_table(&spec, "f south=2; m north=2; m so\"uth=1; ", &report);
    assert_int_equal(report.n_filtered, 2);
    spec.where = &(const char *const){"agf>=21"};
    check_fails(&spec, CELLAR_ERR_ARGUMENT,
                "has no column 'agf'; the name of column 3 is close to it");
    spec.where = &(const char *const){"age~21"};
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "");
}

static void test_weights_keys_units(void **state)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(write_file(*state, "people.csv", people), variables);
    cellar_row_report report;
    spec.weight_column = "weight";
    spec.record_key_column = "key";
    check_table(&spec,
                "f north=1/1#0.125; f south=2/5#0.250; m north=2/1.75#0.000; m so\"uth=1/1#0.000; "
                "m south=1/1#0.500; ",
                NULL);
    spec.max_weight = 2;
    check_table(&spec,
                "f north=1/1#0.125; f south=2/4#0.250; m north=2/1.75#0.000; m so\"uth=1/1#0.000; "
                "m south=1/1#0.500; ",
                NULL);
    spec.max_weight = UINT64_MAX;
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "at most");
    spec.max_weight = 0;
    spec.weight_column = "region";
    check_fails(&spec, CELLAR_ERR_INPUT, "people.csv:2: column 'region': expected a weight");
    spec.weight_column = NULL;
    spec.record_key_column = "age";
    check_fails(&spec, CELLAR_ERR_INPUT, "people.csv:2: column 'age': expected a record key");
    spec.record_key_column = NULL;
    spec.unit_column = "id";
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "a unit needs both");
    spec.max_per_unit = 1;
    for (spec.n_threads = 1; spec.n_threads <= 3; spec.n_threads++) {
        check_table(&spec, "f north=1; f south=1; m north=1; m so\"uth=1; ", &report);
        assert_int_equal(report.n_over_unit, 3);
        assert_int_equal(report.n_counted, 4);
    }
}

/* A derived key depends on its own record alone: without one record the other cells are as before.
 */
static const char aggregated[] = "sex,region,Freq,weight\n"
                                 "m,north,3,1.5\n"
                                 "f,south,0,9\n"
                                 "f,north,12.0,2\n"
                                 "m,north,2,0.25\n";

/* Rows that stand for several records: 17 of them. */
static void test_counts(void **state)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(write_file(*state, "aggregated.csv", aggregated), variables);
    cellar_row_report report;
    check_fails(&spec, CELLAR_ERR_INPUT, "aggregated.csv:1: column 'Freq': does a row stand");
    spec.reader.count_column = "Freq";
    check_table(&spec, "f north=12; m north=5; ", &report);
    assert_int_equal(report.n_read, 4);
    assert_int_equal(report.n_counted, 17);
    spec.weight_column = "weight";
    check_table(&spec, "f north=12/24; m north=5/5; ", NULL);
    spec.max_weight = 1; /* a record weighs at most 1, not a row */
    check_table(&spec, "f north=12/12; m north=5/3.5; ", NULL);
    spec.max_weight = 0;
    spec.weight_column = NULL;
    spec.record_key_column = "weight";
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "has no key of each of them");
    spec.record_key_column = NULL;
    spec.unit_column = "sex";
    spec.max_per_unit = 1;
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "no record of one unit");
    spec.unit_column = NULL;
    spec.max_per_unit = 0;
    spec.reader.count_column = "sex";
    check_fails(&spec, CELLAR_ERR_INPUT, "aggregated.csv:2: column 'sex': expected the number");
    spec.reader.count_column = NULL;
    spec.reader.rows_are_records = 1;
    check_table(&spec, "f north=1; f south=1; m north=2; ", &report);
    assert_int_equal(report.is_aggregated, 0);
}

static void test_derived_keys(void **state)
{
    static const unsigned char secret[32] = {7};
    cellar_variable_spec variables[2];
    char path[400] = "";
    cellar_tabulate_spec spec = by_two(path, variables);
    cellar_table *all = NULL, *fewer = NULL;
    cellar_error err = {""};
    snprintf(path, sizeof path, "%s", write_file(*state, "people.csv", people));
    spec.record_id_column = "id";
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "name both");
    spec.record_secret = secret;
    spec.key_range = 4096;
    assert_int_equal(cellar_tabulate(&spec, &all, NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_table_key_range(all), 4096);
    spec.where = &(const char *const){"id!=p4"};
    spec.n_where = 1;
    variables[1].codelist = NULL;
    assert_int_equal(cellar_tabulate(&spec, &fewer, NULL, &err), CELLAR_OK);
    /* f north and m north come before the category that vanished */
    assert_int_equal(cellar_table_cell(all, 0).key, cellar_table_cell(fewer, 0).key);
    assert_int_equal(cellar_table_cell(all, 2).key, cellar_table_cell(fewer, 2).key);
    assert_int_not_equal(cellar_table_cell(all, 0).key, cellar_table_cell(all, 2).key);
    cellar_table_free(all);
    cellar_table_free(fewer);
}

static void test_refusals(void **state)
{
    cellar_variable_spec variables[2];
    char path[400] = "", rules[400];
    cellar_tabulate_spec spec = by_two(path, variables);
    snprintf(path, sizeof path, "%s", write_file(*state, "people.csv", people));
    variables[1].column = "sex";
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "variable 'sex' is named twice");
    variables[1].column = "regoin";
    check_fails(&spec, CELLAR_ERR_ARGUMENT, "the name of column 4 is close to it");
    variables[1].column = "region";
    spec.max_cells = 4;
    check_fails(&spec, CELLAR_ERR_RULE, "more than 4 cells");
    spec.max_cells = 0;
    snprintf(rules, sizeof rules, "%s", write_file(*state, "rules", "sex = m & region = south\n"));
    spec.structural_zeros_path = rules;
    check_fails(&spec, CELLAR_ERR_INPUT, "structural zero");
    spec.structural_zeros_path = NULL;
    spec.path = write_file(*state, "none.csv", "sex,region\n");
    check_fails(&spec, CELLAR_ERR_INPUT, "no row was counted");
    spec.path = scratch_path(*state, "absent.csv");
    check_fails(&spec, CELLAR_ERR_IO, "absent.csv");
}

static int cancel(void *context, const char *stage, double fraction)
{
    (void) stage;
    assert_true(fraction <= 1);
    return ++*(int *) context > 0;
}

static void test_cancel(void **state)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(write_file(*state, "people.csv", people), variables);
    int n_reports = 0;
    spec.progress = (cellar_progress){cancel, &n_reports};
    check_fails(&spec, CELLAR_ERR_CANCELLED, "cancelled");
    assert_true(n_reports > 0);
}

static void test_describe(void **state)
{
    cellar_describe_spec spec = {.path = write_file(*state, "people.csv", people), .max_levels = 4};
    cellar_description *description = NULL;
    cellar_column_description column;
    cellar_codelist *list = NULL;
    cellar_error err = {""};
    uint64_t n_rows;

    assert_int_equal(cellar_describe(&spec, &description, &err), CELLAR_OK);
    assert_int_equal(cellar_description_n_columns(description), 6);
    assert_int_equal(cellar_description_rows(description).n_read, 7);
    column = cellar_description_column(description, 1);
    assert_string_equal(column.name, "sex");
    assert_int_equal(column.n_levels, 2);
    assert_string_equal(cellar_description_level(description, 1, 1, &n_rows), "m");
    assert_int_equal(n_rows, 4);
    column = cellar_description_column(description, 2);
    assert_int_equal(column.n_missing, 1);
    assert_true(column.is_integer && column.levels_truncated);
    assert_int_equal(column.n_levels, 4);
    column = cellar_description_column(description, 3);
    assert_false(column.is_number);
    assert_string_equal(column.lowest, "north");
    assert_int_equal(cellar_codelist_from_description(description, 3, &list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_n_leaves(list), 3);
    cellar_codelist_free(list);
    assert_int_equal(cellar_codelist_from_description(description, 2, &list, &err),
                     CELLAR_ERR_INPUT);
    cellar_description_free(description);
}

static cellar_status tabulate_scenario(void *context, cellar_error *err)
{
    static const char *const where[] = {"age>=1"};
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(context, variables);
    cellar_table *table = NULL;
    cellar_status status;
    variables[1].column = "age";
    variables[1].recode.band_width = "10";
    spec.where = where;
    spec.n_where = 1;
    spec.n_threads = 1;
    spec.weight_column = "weight";
    spec.unit_column = "id";
    spec.max_per_unit = 2;
    spec.margins.all = 1;
    status = cellar_tabulate(&spec, &table, NULL, err);
    cellar_table_free(table);
    if (status == CELLAR_OK) {
        cellar_describe_spec describe = {.path = context, .n_threads = 1};
        cellar_description *description = NULL;
        status = cellar_describe(&describe, &description, err);
        cellar_description_free(description);
    }
    return status;
}

static cellar_status count_scenario(void *context, cellar_error *err)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = by_two(context, variables);
    cellar_table *table = NULL;
    cellar_status status;
    spec.n_threads = 1;
    spec.reader.count_column = "Freq";
    spec.weight_column = "weight";
    status = cellar_tabulate(&spec, &table, NULL, err);
    cellar_table_free(table);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    char path[400];
    snprintf(path, sizeof path, "%s", write_file(*state, "people.csv", people));
    check_fail_every(tabulate_scenario, path);
    snprintf(path, sizeof path, "%s", write_file(*state, "aggregated.csv", aggregated));
    check_fail_every(count_scenario, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_missing_by_variable),
        cmocka_unit_test(test_missing_level_of_bands),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_weights_keys_units),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_derived_keys),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
