/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fail_every.h"
#include "serve_calls.h"

#define TABLE "/api/v1/en/tables/census"

static void test_levels(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, "/api/v1/sv", NULL);
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "0/dbid", "tables");
    json_says(result.json, "0/text", "En sajt");
    call_clear(&result);
    result = call_get(&site, "/api/v1/en/tables/", NULL);
    json_says(result.json, "0/id", "census");
    json_says(result.json, "0/type", "t");
    json_says(result.json, "0/text", "Persons in the sample");
    call_clear(&result);
    result = call_get(&site, TABLE, "config");
    assert_int_equal(json_integer_value(json_at(result.json, "maxValues")), 100);
    assert_int_equal(json_integer_value(json_at(result.json, "maxCalls")), 30);
    assert_int_equal(json_integer_value(json_at(result.json, "timeWindow")), 10);
    assert_true(json_is_true(json_at(result.json, "CORS")));
    call_clear(&result);
}

static void test_metadata(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, TABLE ".px", NULL);
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "title", "Persons in the sample");
    assert_int_equal(json_array_size(json_at(result.json, "variables")), 5);
    json_says(result.json, "variables/0/code", "region");
    json_says(result.json, "variables/0/values/3", "S2");
    json_says(result.json, "variables/0/valueTexts/3", SAMPLE_FORMULA);
    assert_true(json_is_true(json_at(result.json, "variables/0/elimination")));
    json_says(result.json, "variables/3/code", "ContentsCode");
    assert_true(json_is_false(json_at(result.json, "variables/3/elimination")));
    assert_true(json_is_true(json_at(result.json, "variables/4/time")));
    call_clear(&result);
}

/* A query for regions with a filter and its values. */
static call_result ask(cellar_site *site, const char *filter, const char *values,
                       const char *format)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"%s\",\"values\":%s}},"
             "{\"code\":\"ContentsCode\",\"selection\":{\"filter\":\"item\",\"values\":[\"se\","
             "\"count\"]}}],\"response\":{\"format\":\"%s\"}}",
             filter, values, format);
    return call_post(site, TABLE, NULL, body);
}

static void test_filters(void **state)
{
    static const struct {
        const char *filter, *values;
        size_t n;
        const char *first, *count;
    } cases[] = {
        {"item", "[\"N2\",\"N1\"]", 2, "N2", "64"},
        {"ALL", "[\"*\"]", 4, "N1", "48"},
        {"all", "[\"S*\"]", 2, "S1", "80"},
        {"top", "[\"3\"]", 3, "N1", "48"},
        {"agg:region^1", "[\"S\",\"N\"]", 2, "S", "176"},
        {"vs:census.region", "[\"*\"]", 4, "N1", "48"},
    };
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_result result = ask(&site, cases[i].filter, cases[i].values, "json");
        call_is(&result, 200);
        json_says(result.json, "columns/0/code", "region");
        json_says(result.json, "columns/0/type", "d");
        json_says(result.json, "columns/1/type", "t");
        json_says(result.json, "columns/3/code", "count");
        json_says(result.json, "columns/3/type", "c");
        assert_int_equal(json_array_size(json_at(result.json, "data")), cases[i].n);
        json_says(result.json, "data/0/key/0", cases[i].first);
        json_says(result.json, "data/0/key/1", "2026");
        json_says(result.json, "data/0/values/1", cases[i].count);
        call_clear(&result);
    }
}

static void test_comments(void **state)
{
    cellar_site site = sample_site();
    call_result result = ask(&site, "all", "[\"*\"]", "json");
    (void) state;
    json_says(result.json, "columns/0/comment", "As of today");
    json_says(result.json, "comments/0/variable", "region");
    json_says(result.json, "comments/0/value", "N2");
    json_says(result.json, "comments/0/comment", "An island");
    assert_non_null(strstr(json_string_value(json_at(result.json, "columns/2/comment")),
                           "Certificate: 0123456789abcdef"));
    call_clear(&result);
}

static void test_formats(void **state)
{
    static const struct {
        const char *format, *type;
    } cases[] = {
        {"json", "application/json; charset=UTF-8"},
        {"json-stat", "application/json; charset=UTF-8"},
        {"json-stat2", "application/json; charset=UTF-8"},
        {"csv", "text/csv; charset=UTF-8"},
        {"px", "application/octet-stream"},
        {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
        {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
        {"sdmx", "application/vnd.sdmx.genericdata+xml; version=2.1; charset=UTF-8"},
    };
    cellar_site site = sample_site();
    call_result result;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result = ask(&site, "all", "[\"*\"]", cases[i].format);
        call_is(&result, 200);
        assert_string_equal(call_header(&result, "Content-Type"), cases[i].type);
        call_clear(&result);
    }
    result = ask(&site, "all", "[\"*\"]", "json-stat");
    json_says(result.json, "dataset/dimension/id/0", "region");
    json_says(result.json, "dataset/dimension/role/metric/0", "ContentsCode");
    assert_int_equal(json_integer_value(json_at(result.json, "dataset/dimension/size/0")), 4);
    assert_int_equal(json_array_size(json_at(result.json, "dataset/value")), 8);
    call_clear(&result);
}

static void test_problems(void **state)
{
    static const struct {
        const char *path, *body;
        int status;
    } cases[] = {
        {"/api/v1", NULL, 404},
        {"/api/v1/fr", NULL, 404},
        {"/api/v1/en/x", NULL, 404},
        {"/api/v1/en/tables/x", NULL, 404},
        {TABLE "/x", NULL, 404},
        {"/api/v1/en", "{}", 405},
        {TABLE, "", 400},
        {TABLE, "{}", 400},
        {TABLE, "{\"query\":[7]}", 400},
        {TABLE, "{\"query\":[],\"response\":{\"format\":7}}", 400},
        {TABLE, "{\"query\":[],\"response\":{\"format\":\"png\"}}", 400},
        {TABLE, "{\"query\":[{\"code\":\"region\"}]}", 400},
        {TABLE, "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"x\"}}]}", 400},
        {TABLE, "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"top\"}}]}", 400},
        {TABLE,
         "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"top\",\"values\":[\"1),"
         "bottom(1\"]}}]}",
         400},
        {TABLE,
         "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"agg:y\",\"values\":[\"N\"]}}"
         "]}",
         400},
        {TABLE,
         "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"item\",\"values\":[7]}}]}",
         400},
    };
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_result result = cases[i].body != NULL
                                 ? call_post(&site, cases[i].path, NULL, cases[i].body)
                                 : call_get(&site, cases[i].path, NULL);
        call_is(&result, cases[i].status);
        call_clear(&result);
    }
}

/* Memory that ends is 503. */
static cellar_status call_scenario(void *format, cellar_error *err)
{
    cellar_site site = sample_site();
    call_result result = ask(&site, "top", "[\"2\"]", format);
    const int status = result.response.status;
    snprintf(err->message, sizeof err->message, "status %d", status);
    call_clear(&result);
    return status == 200 ? CELLAR_OK : status == 503 ? CELLAR_ERR_MEMORY : CELLAR_ERR_INPUT;
}

static void test_fail_every(void **state)
{
    char json[] = "json", jsonstat[] = "json-stat";
    (void) state;
    check_fail_every(call_scenario, json);
    check_fail_every(call_scenario, jsonstat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),     cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_filters),    cmocka_unit_test(test_comments),
        cmocka_unit_test(test_formats),    cmocka_unit_test(test_problems),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
