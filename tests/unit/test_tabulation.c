/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table says of what was counted: alike for requests that mean the same, and for no other;
 * carried by files. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <cellar/table_file.h>

#include "base/memory.h"
#include "base/output.h"
#include "fail_every.h"
#include "requests.h"
#include "scratch.h"
#include "table/table.h"
#include "table/counting/tabulation.h"

static int setup(void **state)
{
    int failed = scratch_setup(state);
    if (!failed)
        write_people(*state, 0);
    return failed;
}

static char *describe(const cellar_table *table)
{
    char *text = NULL;
    assert_int_equal(cellar_table_describe(table, &text, NULL), CELLAR_OK);
    return text;
}

static char *describe_request(scratch *place, const request *r)
{
    cellar_table *table = request_table(place, r);
    char *text = describe(table);
    cellar_table_free(table);
    return text;
}

static void different_requests_differ(void **state)
{
    char *texts[N_DIFFERENT];
    for (size_t i = 0; i < N_DIFFERENT; i++) {
        texts[i] = describe_request(*state, &different_requests[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(texts[i], texts[k]) == 0)
                fail_msg("'%s' and '%s' are described alike", different_requests[k].label,
                         different_requests[i].label);
    }
    for (size_t i = 0; i < N_DIFFERENT; i++)
        cellar_free(texts[i]);
}

static void requests_that_mean_the_same_are_alike(void **state)
{
    static const request pairs[][2] = {
        {{"order of variables", .by = {"sex", "region", "age"}, .margins = {"sr", "s"}},
         {"order of variables", .by = {"age", "region", "sex"}, .margins = {"s", "sr"}}},
        {{"levels", .by = {"sex", "region"}, .levels = 1},
         {"levels", .by = {"region", "sex"}, .levels = 1}},
        {{"conditions", .where = {"id>1", "region=r1|r2"}},
         {"conditions", .where = {"region = \"r2\" | r1 | r2", "id > 1.00", "id>1"}}},
        {{"missing", .missing = {"98", "99"}}, {"missing", .missing = {"99", "98", "99"}}},
        {{"digits", .width = "10", .bottom = "0", .top = "90"},
         {"digits", .width = "10.0", .bottom = "00", .top = "9e1", .origin = "0.0"}},
        {{"map", .sexes_map = "from,to\nF,F\nM,M\n"}, {"map", .sexes_map = "from,to\nM,M\nF,F\n"}},
        {{.label = "labels and order of codes"},
         {"labels and order of codes",
          .regions = "code,parent,label\nnorth,,Nord\nr4,,Vier\nr3,,Drei\nr2,north,\nr1,north,\n"}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *one = describe_request(*state, &pairs[i][0]);
        char *other = describe_request(*state, &pairs[i][1]);
        if (strcmp(one, other) != 0)
            fail_msg("%s: %s is not %s", pairs[i][0].label, one, other);
        cellar_free(one);
        cellar_free(other);
    }
}

static void the_text_is_this(void **state)
{
    static const request r = {"all",
                              .by = {"sex", "age"},
                              .where = {"id>1", "sex!=x|\"a\"\"b\""},
                              .missing = {"NA"},
                              .unit = "household",
                              .max_per_unit = 2,
                              .weight = "weight",
                              .max_weight = 3,
                              .sexes_map = "from,to\n*,F\n"};
    cellar_table *table = request_table(*state, &r);
    assert_string_equal(
        cellar_table_tabulation(table),
        "{\"missing\":{\"as\":\"drop\",\"values\":[\"NA\"]},"
        "\"unit\":{\"column\":\"household\",\"max_records\":2},"
        "\"variables\":{\"age\":{\"band\":{\"closed\":\"left\",\"origin\":\"0\",\"width\":\"10\"},"
        "\"bottom\":\"0\",\"column\":\"age\",\"top\":\"90\"},"
        "\"sex\":{\"column\":\"sex\",\"map\":{\"*\":\"F\"}}},\"version\":1,"
        "\"weight\":{\"column\":\"weight\",\"max\":3},"
        "\"where\":[\"\\\"id\\\">1\",\"\\\"sex\\\"!=\\\"a\\\"\\\"b\\\"|\\\"x\\\"\"]}");
    cellar_table_free(table);
}

/* ---- carried ------------------------------------------------------------------- */

static cellar_table *write_and_read(scratch *place, const cellar_table *table, const char *name)
{
    cellar_table_write_options options = {.format = cellar_table_format_of_path(name)};
    cellar_output *output = NULL;
    cellar_table *read = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_output_open(scratch_path(place, name), NULL, &output, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_write(table, &options, output, NULL), CELLAR_OK);
    assert_int_equal(cellar_output_commit(output, NULL), CELLAR_OK);
    if (cellar_table_read(scratch_path(place, name), NULL, &read, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    remove(scratch_path(place, name));
    return read;
}

static void files_carry_it(void **state)
{
    static const char *const names[] = {"table.json", "table.px"};
    for (size_t i = 0; i < N_DIFFERENT; i++) {
        cellar_table *table = request_table(*state, &different_requests[i]);
        char *want = describe(table);
        for (size_t k = 0; k < 2; k++) {
            cellar_table *read = write_and_read(*state, table, names[k]);
            char *got = describe(read);
            if (strcmp(got, want) != 0)
                fail_msg("%s, %s: %s is not %s", different_requests[i].label, names[k], got, want);
            cellar_free(got);
            cellar_table_free(read);
        }
        cellar_free(want);
        cellar_table_free(table);
    }
}

static void csv_does_not(void **state)
{
    cellar_table *table = request_table(*state, &different_requests[0]);
    cellar_table *read = write_and_read(*state, table, "table.csv");
    assert_null(cellar_table_tabulation(read));
    cellar_table_free(read);
    cellar_table_free(table);
}

static void what_is_no_object_is_refused(void **state)
{
    static const char json[] =
        "{\"version\":\"2.0\",\"class\":\"dataset\",\"id\":[\"x\"],\"size\":[1],"
        "\"dimension\":{\"x\":{\"category\":{\"index\":[\"a\"]}}},"
        "\"extension\":{\"cellar\":{\"kind\":\"table\",\"variables\":[{\"name\":\"x\","
        "\"domain\":\"declared\",\"codelist\":\"code\\na\\n\"}],\"margins\":[],"
        "\"hierarchies\":[],\"tabulation\":\"all\"}},\"value\":[1]}";
    cellar_table *table = NULL;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(cellar_table_parse("t.json", json, strlen(json), NULL, &table, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "extension.cellar.tabulation: expected an object"));
}

/* A margin counts the same records, a slice does not. */
static void margins_inherit_it(void **state)
{
    cellar_table *table = request_table(*state, &different_requests[0]), *margin, *slice;
    size_t first = 0;
    char *whole = describe(table), *part;
    assert_int_equal(cellar_table_create_margin(table, &first, 1, &margin, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_create_slice(table, 0, 0, &slice, NULL), CELLAR_OK);
    assert_string_equal(cellar_table_tabulation(margin), cellar_table_tabulation(table));
    assert_null(cellar_table_tabulation(slice));
    part = describe(margin);
    assert_string_not_equal(part, whole);
    cellar_free(part);
    cellar_free(whole);
    cellar_table_free(margin);
    cellar_table_free(slice);
    cellar_table_free(table);
}

static void options_are_utf8(void **state)
{
    static const request bad[] = {{"where", .where = {"sex!=\xff"}},
                                  {"missing", .missing = {"x", "\xff"}}};
    static const char *const said[] = {"condition number 1", "missing value number 2"};
    for (size_t i = 0; i < 2; i++) {
        cellar_table *table = NULL;
        cellar_error err = {""};
        assert_int_equal(request_tabulate(*state, &bad[i], &table, &err), CELLAR_ERR_ARGUMENT);
        assert_null(table);
        assert_non_null(strstr(err.message, said[i]));
    }
}

/* ---- memory -------------------------------------------------------------------- */

typedef struct describe_scenario {
    const cellar_table *table;
    const cellar_tabulate_spec *spec;
    const cellar_condition *const *conditions;
} describe_scenario;

static cellar_status describe_all(void *context, cellar_error *err)
{
    const describe_scenario *s = context;
    char *text = NULL;
    cellar_table *margin = NULL;
    size_t first = 0;
    cellar_status status = cellar_tabulation_describe(s->spec, s->conditions, &text, err);
    cellar_free(text);
    text = NULL;
    if (status == CELLAR_OK)
        status = cellar_table_describe(s->table, &text, err);
    cellar_free(text);
    if (status == CELLAR_OK)
        status = cellar_table_create_margin(s->table, &first, 1, &margin, err);
    cellar_table_free(margin);
    return status;
}

static void memory_may_end(void **state)
{
    static const char *const words[] = {"id>1", "id<=4"};
    cellar_variable_spec age = {.column = "age", .recode = {.band_width = "5", .top = "9"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_condition *conditions[2];
    describe_scenario s = {.spec = &spec,
                           .conditions = (const cellar_condition *const *) conditions};
    cellar_table *table = request_table(*state, &different_requests[9]);

    spec.variables = &age;
    spec.n_variables = 1;
    spec.where = spec.missing = words;
    spec.n_where = spec.n_missing = 2;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(cellar_condition_parse(words[i], &conditions[i], NULL), CELLAR_OK);
    s.table = table;
    check_fail_every(describe_all, &s);
    for (size_t i = 0; i < 2; i++)
        cellar_condition_free(conditions[i]);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(different_requests_differ, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(requests_that_mean_the_same_are_alike, setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_text_is_this, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(files_carry_it, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(csv_does_not, setup, scratch_teardown),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test_setup_teardown(margins_inherit_it, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(options_are_utf8, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end, setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
