/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/csv_record.h"
#include "fail_every.h"
#include "serve/formats.h"
#include "serve/sdmx.h"
#include "serve_calls.h"
#include "table/formats/px.h"

/* ---- helpers ------------------------------------------------------------------ */

static const serve_format_options plain_options;

static void ask(const serve_question *question, serve_answer *answer)
{
    cellar_error err = {""};
    assert_int_equal(serve_answer_question(question, SERVE_TAIL, answer, &err), CELLAR_OK);
    assert_int_equal(answer->is_refused, 0);
}

/* The file of a question in a format; free the text. */
static cellar_text write_options(const serve_question *question, const char *format,
                                 const serve_format_options *options)
{
    cellar_error err = {""};
    cellar_text text = {0};
    serve_answer answer;
    ask(question, &answer);
    assert_int_equal(serve_format_find(format)->write(&answer, options, &text, &err), CELLAR_OK);
    serve_answer_clear(&answer);
    return text;
}

static cellar_text write_plain(const char *format)
{
    const serve_question question = sample_question();
    return write_options(&question, format, &plain_options);
}

/* The value that belongs to a region, a sex and a content of the sample, in hundredths. */
static long expected(size_t region, size_t sex, serve_content content)
{
    const serve_pick *picks[4] = {&sample_region_picks[region], &sample_sex_picks[sex]};
    size_t n;
    const double sum = sample_sum(picks, &n), se = sqrt((double) n);
    const double values[] = {round(100 * sum), round(100 * se), floor(100 * (sum - 1.96 * se)),
                             ceil(100 * (sum + 1.96 * se))};
    return (long) values[content];
}

static void contains(const cellar_text *text, const char *words)
{
    if (strstr(text->bytes, words) == NULL)
        fail_msg("the file does not say '%s'", words);
}

/* ---- the grid ------------------------------------------------------------------- */

/* Wherever the contents stand, every value belongs to the same headings. */
static void test_placements(void **state)
{
    (void) state;
    for (size_t at = 0; at <= 3; at++)
        for (size_t stub = 0; stub <= 4; stub++) {
            serve_question question = sample_question();
            serve_answer answer;
            serve_grid grid;
            question.contents_at = at;
            question.n_stub = stub;
            ask(&question, &answer);
            serve_grid_init(&grid, &question, &answer);
            assert_int_equal(grid.n_rows * grid.n_columns, 4 * 2 * 4);
            assert_int_equal(grid.n_axes, 4);
            for (size_t i = 0; i < 32; i++) {
                size_t positions[SERVE_MAX_AXES], region = 9, sex = 9, content = 9;
                serve_grid_positions(&grid, 0, 4, i, positions);
                for (size_t a = 0; a < 4; a++) {
                    const serve_side *side = grid.axes[a].side;
                    if (side == NULL)
                        content = positions[a];
                    else if (side->variable == SAMPLE_REGION)
                        region = positions[a];
                    else if (side->variable == SAMPLE_SEX)
                        sex = positions[a];
                }
                assert_int_equal((long) serve_grid_number(&grid, i).units,
                                 expected(region, sex, (serve_content) content));
            }
            serve_answer_clear(&answer);
        }
}

static void test_rounding(void **state)
{
    serve_value value = {.count = 1.1, .se = 0.04, .low = 1.1, .high = 1.1};
    serve_question question = sample_question();
    serve_answer answer = {.question = &question, .values = &value, .decimals = {1, 1, 1, 1}};
    serve_grid grid;
    (void) state;
    question.n_sides = question.contents_at = question.n_stub = 0;
    serve_grid_init(&grid, &question, &answer);
    assert_int_equal((long) serve_grid_number(&grid, 0).units, 11);
    assert_int_equal((long) serve_grid_number(&grid, 1).units, 0);
    assert_int_equal((long) serve_grid_number(&grid, 2).units, 11); /* no digit was cut off */
    assert_int_equal((long) serve_grid_number(&grid, 3).units, 11);
    value.low = value.high = 1.14;
    assert_int_equal((long) serve_grid_number(&grid, 2).units, 11); /* outward */
    assert_int_equal((long) serve_grid_number(&grid, 3).units, 12);
    value.low = NAN;
    assert_int_equal(serve_grid_number(&grid, 2).has_number, 0);
    value.status = CELLAR_CELL_SUPPRESSED;
    assert_int_equal(serve_grid_number(&grid, 0).has_number, 0);
    assert_string_equal(serve_number_symbol(&(serve_number){.status = CELLAR_CELL_SUPPRESSED}),
                        "...");
}

/* ---- formats -------------------------------------------------------------------- */

static void test_list(void **state)
{
    (void) state;
    assert_string_equal(serve_format_find("JSON-STAT2")->name, "json-stat2");
    assert_string_equal(serve_format_find("text/csv")->name, "csv");
    assert_string_equal(serve_format_find("text/csv; header=present")->name, "csv");
    assert_null(serve_format_find("text/csvx"));
    assert_null(serve_format_find("parquet"));
    assert_null(serve_format_find(""));
}

static json_t *parse(const cellar_text *text)
{
    json_error_t problem;
    json_t *root = json_loadb(text->bytes, text->length, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL)
        fail_msg("%s at %d: %s", problem.text, problem.position, text->bytes);
    return root;
}

static void test_jsonstat(void **state)
{
    cellar_text text = write_plain("json-stat2");
    json_t *root = parse(&text), *values = json_object_get(root, "value");
    (void) state;
    assert_string_equal(json_string_value(json_at(root, "label")),
                        "Persons in the sample: region, year, sex");
    assert_string_equal(json_string_value(json_at(root, "role/time/0")), "period");
    assert_string_equal(json_string_value(json_at(root, "role/geo/0")), "region");
    assert_string_equal(json_string_value(json_at(root, "role/metric/0")), "ContentsCode");
    assert_string_equal(json_string_value(json_at(root, "id/3")), "ContentsCode");
    assert_int_equal(json_integer_value(json_at(root, "size/0")), 4);
    assert_int_equal(json_integer_value(json_at(root, "dimension/region/category/index/S2")), 3);
    assert_string_equal(json_string_value(json_at(root, "dimension/region/category/label/S2")),
                        SAMPLE_FORMULA);
    assert_string_equal(json_string_value(json_at(root, "dimension/region/category/note/N2/0")),
                        "An island");
    assert_string_equal(json_string_value(json_at(root, "dimension/region/note/0")), "As of today");
    assert_true(json_is_true(json_at(root, "dimension/region/extension/elimination")));
    assert_true(json_is_false(json_at(root, "dimension/ContentsCode/extension/elimination")));
    assert_true(json_is_false(json_at(root, "dimension/period/extension/elimination")));
    assert_string_equal(
        json_string_value(json_at(root, "dimension/region/extension/codelists/0/id")),
        "census.region^1");
    assert_string_equal(
        json_string_value(json_at(root, "dimension/region/extension/codelists/0/links/0/href")),
        "/api/v2/codelists/census.region%5E1?lang=en");
    assert_int_equal(json_array_size(json_at(root, "dimension/region/extension/codelists/0/links")),
                     1);
    assert_string_equal(json_string_value(json_at(
                            root, "dimension/ContentsCode/extension/measuringType/noise_low95")),
                        "Other");
    assert_string_equal(json_string_value(json_at(root, "extension/px/tableid")), "census");
    assert_string_equal(json_string_value(json_at(root, "extension/px/language")), "en");
    assert_string_equal(json_string_value(json_at(root, "extension/px/stub/1")), "period");
    assert_string_equal(json_string_value(json_at(root, "extension/px/heading/1")), "ContentsCode");
    assert_true(json_is_false(json_at(root, "extension/px/aggregallowed")));
    assert_string_equal(json_string_value(json_at(root, "extension/cellar/certificate")),
                        "0123456789abcdef0123456789abcdef");
    assert_string_equal(json_string_value(json_at(root, "extension/contact/0/raw")),
                        "Ann, ann@example.org");
    assert_int_equal(json_object_size(json_at(root, "extension/noteMandatory")), 5);
    assert_int_equal(json_array_size(json_at(root, "note")), 6);
    assert_int_equal(json_array_size(values), 32);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(lround(100 * json_number_value(json_array_get(values, i))),
                         expected(i / 8, i / 4 % 2, (serve_content) (i % 4)));
    assert_null(json_object_get(root, "status"));
    json_decref(root);
    cellar_text_clear(&text);
}

/* A description without values, as metadata are. */
static void test_jsonstat_alone(void **state)
{
    const serve_question question = sample_question();
    serve_grid grid;
    cellar_text text = {0};
    json_t *root;
    (void) state;
    serve_grid_init(&grid, &question, NULL);
    serve_jsonstat_add(&grid, &(serve_format_options){.base_url = "https://x.example"}, &text);
    root = parse(&text);
    assert_int_equal(json_array_size(json_at(root, "value")), 0);
    assert_string_equal(
        json_string_value(json_at(root, "dimension/region/extension/codelists/0/links/0/href")),
        "https://x.example/api/v2/codelists/census.region%5E1?lang=en");
    json_decref(root);
    cellar_text_clear(&text);
}

static void test_statuses(void **state)
{
    const serve_question question = sample_question();
    cellar_error err = {""};
    serve_answer answer;
    cellar_text text = {0};
    json_t *root;
    (void) state;
    ask(&question, &answer);
    answer.values[1].status = CELLAR_CELL_SUPPRESSED;
    answer.values[2].low = NAN;
    assert_int_equal(serve_write_jsonstat(&answer, &plain_options, &text, &err), CELLAR_OK);
    root = parse(&text);
    assert_int_equal(json_object_size(json_at(root, "status")), 4);
    assert_string_equal(json_string_value(json_at(root, "status/4")), "suppressed");
    assert_true(json_is_null(json_at(root, "value/4")));
    assert_true(json_is_null(json_at(root, "value/10")));
    json_decref(root);
    cellar_text_clear(&text);
    assert_int_equal(serve_write_csv(&answer, &plain_options, &text, &err), CELLAR_OK);
    contains(&text, "\"...\",\"...\",\"...\",\"...\"");
    cellar_text_clear(&text);
    serve_answer_clear(&answer);
}

/* A field of a CSV record. */
static void field_is(const cellar_csv *csv, size_t column, const char *text)
{
    if (!cellar_csv_field_is(&csv->fields[column], text))
        fail_msg("field %zu is '%.*s', not '%s'", column, (int) csv->fields[column].length,
                 csv->fields[column].bytes, text);
}

static void test_csv(void **state)
{
    cellar_text text = write_plain("csv");
    cellar_csv csv;
    cellar_error err = {""};
    int found;
    (void) state;
    cellar_csv_init(&csv, "answer", text.bytes, text.length, ',');
    assert_int_equal(cellar_csv_read_header(&csv, &err), CELLAR_OK);
    assert_int_equal(csv.n_columns, 2 + 8 + 1);
    field_is(&csv, 0, "region");
    field_is(&csv, 2, "women persons");
    field_is(&csv, 10, "note");
    for (size_t row = 0; row < 4; row++) {
        assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
        assert_int_equal(found, 1);
        for (size_t column = 0; column < 8; column++) {
            char number[32] = "";
            memcpy(number, csv.fields[2 + column].bytes, csv.fields[2 + column].length);
            assert_int_equal(lround(100 * strtod(number, NULL)),
                             expected(row, column / 4, (serve_content) (column % 4)));
        }
    }
    field_is(&csv, 0, "'" SAMPLE_FORMULA);
    field_is(&csv, 10, "");
    contains(&text, "Certificate: 0123456789abcdef0123456789abcdef | Standard errors and bounds: "
                    "Protection noise only");
    contains(&text, "region, North two: An island");
    cellar_csv_clear(&csv);
    cellar_text_clear(&text);
}

static void test_csv_options(void **state)
{
    serve_question question = sample_question();
    const serve_format_options options = {
        .use_codes = 1, .use_texts = 1, .separator = ';', .with_title = 1};
    cellar_text text = write_options(&question, "csv", &options);
    (void) state;
    assert_memory_equal(text.bytes, "Persons in the sample: region, year, sex\n\n", 42);
    contains(&text, "\nregion region;period year;F women count persons;");
    cellar_text_clear(&text);
    question.n_stub = 4;
    text = write_options(&question, "csv", &plain_options);
    assert_memory_equal(text.bytes, "region,year,sex,contents,value,note\n", 36);
    cellar_text_clear(&text);
}

static void test_px(void **state)
{
    cellar_text text = write_plain("px");
    const cellar_table_read_options options = cellar_table_read_options_default();
    const cellar_source source = {
        .name = "answer", .bytes = text.bytes, .length = text.length, .options = &options};
    cellar_error err = {""};
    cellar_px px;
    cellar_px_cursor cursor;
    cellar_px_token token;
    (void) state;
    assert_int_equal(cellar_px_parse(&source, &px, &err), CELLAR_OK);
    assert_string_equal(cellar_px_value(&px, "MATRIX", ""), "census");
    assert_string_equal(cellar_px_value(&px, "CONTVARIABLE", ""), "contents");
    assert_string_equal(cellar_px_value(&px, "VARIABLECODE", "year"), "period");
    assert_string_equal(cellar_px_value(&px, "VARIABLE-TYPE", "year"), "Time");
    assert_string_equal(cellar_px_value(&px, "NOTE", "region"), "As of today");
    assert_string_equal(cellar_px_value(&px, "LAST-UPDATED", ""), "20261118 00:00");
    assert_int_equal(cellar_px_find(&px, "CODES", "", "region")->n_values, 4);
    assert_string_equal(cellar_px_find(&px, "HEADING", "", "")->values[0], "sex");
    contains(&text, "VALUENOTE(\"region\",\"North two\")=\"An island\"");
    contains(&text, "Certificate: 0123456789abcdef0123456789abcdef#");
    cursor = (cellar_px_cursor){.at = px.data, .end = text.bytes + text.length};
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(cellar_px_next_token(&cursor, &token), 1);
        assert_int_equal(lround(100 * strtod(token.bytes, NULL)),
                         expected(i / 8, i / 4 % 2, (serve_content) (i % 4)));
    }
    assert_int_equal(cellar_px_next_token(&cursor, &token), 0);
    cellar_px_clear(&px);
    cellar_text_clear(&text);
}

static void test_html(void **state)
{
    serve_question question = sample_question();
    cellar_text text;
    (void) state;
    question.sides[0] = (serve_side){SAMPLE_REGION, sample_part_picks, 2};
    text = write_options(&question, "html", &plain_options);
    assert_null(strstr(text.bytes, "<b>"));
    contains(&text, "&lt;b&gt;&quot;North&quot; &amp; &#39;South&#39;&lt;/b&gt;");
    contains(&text, "<dd>A note &amp; more</dd>");
    contains(&text, "<th scope=\"colgroup\" colspan=\"4\">women</th>");
    cellar_text_clear(&text);
}

static void test_sdmx(void **state)
{
    cellar_text text = write_plain("sdmx-csv");
    (void) state;
    assert_memory_equal(text.bytes,
                        "STRUCTURE,STRUCTURE_ID,ACTION,region,sex,work,ContentsCode,TIME_PERIOD,"
                        "OBS_VALUE,OBS_STATUS,CONF_STATUS,COMMENT_DSET\n"
                        "dataflow,CELLAR:census(1.0),I,N1,F,_T,count,2026,22,A,F,\"Protection",
                        184);
    cellar_text_clear(&text);
    text = write_plain("sdmx-ml");
    contains(&text, "<generic:Value id=\"work\" value=\"_T\"/>");
    contains(&text, "<generic:Value id=\"TIME_PERIOD\" value=\"2026\"/></generic:ObsKey>"
                    "<generic:ObsValue value=\"22\"/>");
    cellar_text_clear(&text);
}

static void test_sdmx_ids(void **state)
{
    serve_variable variables[] = {{.code = "a b"}, {.code = "a-b"}, {.code = "9"}, {.code = "år"}};
    serve_dataset dataset = {.variables = variables, .n_variables = 4};
    serve_sdmx sdmx;
    (void) state;
    serve_sdmx_init(&sdmx, &dataset);
    assert_string_equal(sdmx.dimensions[0].id, "a_b_1");
    assert_string_equal(sdmx.dimensions[1].id, "a_b_2");
    assert_string_equal(sdmx.dimensions[2].id, "__3");
    assert_string_equal(sdmx.dimensions[3].id, "__r_4");
    assert_int_equal(sdmx.n, 5);
    assert_int_equal(sdmx.n_key, 5);
}

/* The same bytes each time; tests/serve reads them with another program. */
static void check_book(const char *format)
{
    cellar_text first = write_plain(format), second = write_plain(format);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.bytes, second.bytes, first.length);
    assert_memory_equal(first.bytes, "PK\3\4", 4);
    cellar_text_clear(&first);
    cellar_text_clear(&second);
}

static void test_xlsx(void **state)
{
    (void) state;
    check_book("xlsx");
}

static void test_ods(void **state)
{
    (void) state;
    check_book("ods");
}

/* ---- memory that ends ------------------------------------------------------------- */

static cellar_status write_scenario(void *format, cellar_error *err)
{
    const serve_question question = sample_question();
    serve_answer answer;
    cellar_text text = {0};
    cellar_status status = serve_answer_question(&question, SERVE_TAIL, &answer, err);
    if (status == CELLAR_OK)
        status = ((const serve_format *) format)->write(&answer, &plain_options, &text, err);
    cellar_text_clear(&text);
    serve_answer_clear(&answer);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    for (const serve_format *format = serve_formats(); format->name != NULL; format++)
        check_fail_every(write_scenario, (void *) (uintptr_t) format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placements),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_jsonstat),
        cmocka_unit_test(test_jsonstat_alone),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_options),
        cmocka_unit_test(test_px),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_sdmx),
        cmocka_unit_test(test_sdmx_ids),
        cmocka_unit_test(test_xlsx),
        cmocka_unit_test(test_ods),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
