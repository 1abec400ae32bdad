/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fail_every.h"
#include "scratch.h"
#include "serve_calls.h"

#define TABLE "/api/v2/tables/census"

static void test_config(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, "/api/v2/config", NULL);
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "apiVersion", "2.0.0");
    json_says(result.json, "defaultLanguage", "en");
    json_says(result.json, "languages/1/label", "svenska");
    json_says(result.json, "license", "CC0");
    json_says(result.json, "defaultDataFormat", "json-stat2");
    assert_int_equal(json_integer_value(json_at(result.json, "maxDataCells")), 100);
    assert_int_equal(json_integer_value(json_at(result.json, "maxCallsPerTimeWindow")), 30);
    assert_int_equal(json_integer_value(json_at(result.json, "timeWindow")), 10);
    assert_string_equal(call_header(&result, "Access-Control-Allow-Origin"), "*");
    call_clear(&result);
}

static void test_tables(void **state)
{
    static const struct {
        const char *query;
        int status, n_tables;
    } cases[] = {{NULL, 200, 1},
                 {"query=REGION", 200, 1},
                 {"query=sample", 200, 1},
                 {"query=horses", 200, 0},
                 {"pastDays=1000000", 200, 1},
                 {"pageNumber=2", 200, 0},
                 {"pageSize=1&pageNumber=1", 200, 1},
                 {"pageSize=0", 400, 0},
                 {"pageNumber=x", 400, 0},
                 {"pastDays=-1", 400, 0},
                 {"lang=fr", 400, 0}};
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_result result = call_get(&site, "/api/v2/tables", cases[i].query);
        call_is(&result, cases[i].status);
        assert_int_equal(json_array_size(json_at(result.json, "tables")), cases[i].n_tables);
        call_clear(&result);
    }
}

static void test_table(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, "/api/v2/tables/CENSUS", "lang=sv");
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "id", "census");
    json_says(result.json, "label", "Personer i urvalet");
    json_says(result.json, "language", "sv");
    json_says(result.json, "firstPeriod", "2026");
    json_says(result.json, "links/0/href", "/api/v2/tables/census?lang=sv");
    json_says(result.json, "links/2/href", "/api/v2/tables/census/metadata?lang=sv");
    call_clear(&result);
}

static void test_metadata(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, TABLE "/metadata", NULL);
    (void) state;
    call_is(&result, 200);
    assert_int_equal(json_array_size(json_at(result.json, "id")), 5);
    assert_int_equal(json_array_size(json_at(result.json, "value")), 0);
    assert_int_equal(json_object_size(json_at(result.json, "dimension/region/category/index")), 4);
    assert_int_equal(
        json_object_size(json_at(result.json, "dimension/ContentsCode/category/index")), 4);
    json_says(result.json, "role/time/0", "period");
    json_says(result.json, "role/metric/0", "ContentsCode");
    call_clear(&result);
    result = call_get(&site, TABLE "/metadata", "codelist[region]=region%5E1");
    assert_int_equal(json_object_size(json_at(result.json, "dimension/region/category/index")), 2);
    call_clear(&result);
    result = call_get(&site, TABLE "/metadata", "defaultSelection=true");
    assert_int_equal(json_array_size(json_at(result.json, "id")), 4);
    call_clear(&result);
    result = call_get(&site, TABLE "/metadata", "savedQuery=1");
    call_is(&result, 404);
    call_clear(&result);
}

static void test_codelist(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, "/api/v2/codelists/census.region%5E1", NULL);
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "id", "census.region^1");
    json_says(result.json, "type", "Aggregation");
    json_says(result.json, "values/0/label", SAMPLE_HOSTILE);
    json_says(result.json, "values/1/valueMap/0", "S1");
    json_says(result.json, "values/1/valueMap/1", "S2");
    json_says(result.json, "links/0/rel", "self");
    call_clear(&result);
    result = call_get(&site, "/api/v2/codelists/census.region", "lang=sv");
    json_says(result.json, "type", "Valueset");
    json_says(result.json, "values/1/valueMap/0", "N2");
    json_says(result.json, "values/1/notes/0/text", "En ö");
    call_clear(&result);
    result = call_get(&site, "/api/v2/codelists/region", NULL);
    call_is(&result, 404);
    call_clear(&result);
}

static void test_default(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, TABLE "/defaultselection", NULL);
    call_result data = call_get(&site, TABLE "/data", NULL);
    (void) state;
    call_is(&result, 200);
    json_says(result.json, "selection/0/variableCode", "region");
    json_says(result.json, "selection/0/codelist", "census.region");
    json_says(result.json, "selection/1/variableCode", "sex");
    assert_int_equal(json_array_size(json_at(result.json, "selection/0/valueCodes")), 4);
    json_says(result.json, "placement/heading/0", "ContentsCode");
    json_says(result.json, "placement/stub/1", "sex");
    call_is(&data, 200);
    assert_int_equal(json_array_size(json_at(data.json, "value")), 32);
    assert_string_equal(call_header(&data, "Cache-Control"), "no-cache");
    call_clear(&result);
    call_clear(&data);
}

/* The first value of what a query or a body selects. */
static void value_is(call_result *result, double want, size_t n)
{
    call_is(result, 200);
    assert_int_equal(json_array_size(json_at(result->json, "value")), n);
    assert_true(fabs(json_number_value(json_at(result->json, "value/0")) - want) < 0.005);
    call_clear(result);
}

#define COUNT "valuecodes[ContentsCode]=count"

static void test_data(void **state)
{
    static const struct {
        const char *query;
        double want;
        size_t n;
    } cases[] = {
        {COUNT "&valuecodes[region]=N1", 4 * 10.5 + 6, 1},
        {COUNT "&valueCodes[REGION]=n1", 4 * 10.5 + 6, 1},
        {COUNT "&valuecodes%5Bregion%5D=N1,N2", 4 * 10.5 + 6, 2},
        {COUNT "&valuecodes[region]=N*&valuecodes[sex]=M", 2 * 10.5 + 5, 2},
        {COUNT "&valuecodes[region]=*&codelist[region]=census.region%5E1", 8 * 10.5 + 28, 2},
        {COUNT "&codelist[region]=region%5E1", 8 * 10.5 + 28, 2},
        {COUNT "&valuecodes[region]=N,S1", 8 * 10.5 + 28, 2}, /* two levels */
        {COUNT "&valuecodes[region]=[group(mine,N1,S2)]", 8 * 10.5 + 60, 1},
        {COUNT "&valuecodes[time]=2026", 16 * 10.5 + 120, 1},
        {"valuecodes[ContentsCode]=se", 4, 1},
        {COUNT "&valuecodes[sex]=", 16 * 10.5 + 120, 1}, /* nothing: summed out */
        {COUNT "&valuecodes[region]=[range(N2,S1)]&stub=ContentsCode&heading=region,period",
         4 * 10.5 + 22, 2},
    };
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_result result = call_get(&site, TABLE "/data", cases[i].query);
        value_is(&result, cases[i].want, cases[i].n);
    }
}

static void test_post(void **state)
{
    static const struct {
        const char *body;
        int status;
    } cases[] = {
        {"{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":[\"N1\",\"top(1)\"]},"
         "{\"variableCode\":\"ContentsCode\",\"valueCodes\":[\"count\"]}],"
         "\"placement\":{\"heading\":[\"region\"],\"stub\":[\"ContentsCode\",\"time\"]}}",
         200},
        {"{\"selection\":[{\"variableCode\":\"region\",\"codelist\":null,\"valueCodes\":[\"N1\"]},"
         "{\"variableCode\":\"ContentsCode\",\"valueCodes\":[\"COUNT\"]}],\"placement\":null}",
         200},
        {"{}", 400},
        {"[]", 400},
        {"nothing", 400},
        {"{\"selection\":[7]}", 400},
        {"{\"selection\":[{\"variableCode\":7}]}", 400},
        {"{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":[7]}]}", 400},
        {"{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":\"N1\"}]}", 400},
        {"{\"selection\":[{\"variableCode\":\"region\",\"codelist\":7}]}", 400},
        {"{\"selection\":[],\"placement\":7}", 400},
        {"{\"selection\":[],\"selection\":[]}", 400},
        {"{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":[\"N1\"]},"
         "{\"variableCode\":\"Region\",\"valueCodes\":[\"N2\"]}]}",
         400},
        {"[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", 400},
    };
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_result result = call_post(&site, TABLE "/data", NULL, cases[i].body);
        call_is(&result, cases[i].status);
        if (cases[i].status == 200)
            value_is(&result, 4 * 10.5 + 6, 1);
        else {
            assert_string_equal(call_header(&result, "Content-Type"), "application/problem+json");
            call_clear(&result);
        }
    }
}

/* Every order, split and format of a question has the same values. */
static void test_views(void **state)
{
    cellar_site site = sample_site();
    call_result whole = call_get(&site, TABLE "/data", COUNT "&valuecodes[region]=*");
    (void) state;
    for (size_t i = 0; i < 4; i++) {
        char query[128];
        call_result part;
        snprintf(query, sizeof query, COUNT "&valuecodes[region]=%s", sample_regions[i].code);
        part = call_get(&site, TABLE "/data", query);
        assert_true(json_equal(json_array_get(json_at(whole.json, "value"), i),
                               json_at(part.json, "value/0")));
        call_clear(&part);
    }
    call_clear(&whole);
}

static void test_formats(void **state)
{
    static const struct {
        const char *query, *type, *file;
    } cases[] = {
        {"outputFormat=csv", "text/csv; charset=UTF-8", "attachment; filename=\"census.csv\""},
        {"outputformat=XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
         "attachment; filename=\"census.xlsx\""},
        {"outputFormat=ods", "application/vnd.oasis.opendocument.spreadsheet",
         "attachment; filename=\"census.ods\""},
        {"outputFormat=px", "application/octet-stream", "attachment; filename=\"census.px\""},
        {"outputFormat=html", "text/html; charset=UTF-8", NULL},
        {"outputFormat=json-stat2", "application/json; charset=UTF-8", NULL},
    };
    cellar_site site = sample_site();
    call_result result;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result = call_get(&site, TABLE "/data", cases[i].query);
        call_is(&result, 200);
        assert_string_equal(call_header(&result, "Content-Type"), cases[i].type);
        if (cases[i].file != NULL)
            assert_string_equal(call_header(&result, "Content-Disposition"), cases[i].file);
        else
            assert_null(call_header(&result, "Content-Disposition"));
        call_clear(&result);
    }
    result =
        call_request(&site, &(cellar_request){.method = "GET",
                                              .path = TABLE "/data",
                                              .accept = "application/x, text/html;q=0.9, */*"});
    assert_string_equal(call_header(&result, "Content-Type"), "text/html; charset=UTF-8");
    call_clear(&result);
    result = call_get(&site, TABLE "/data",
                      "outputFormat=csv&outputFormatParams=UseCodes,SeparatorSemicolon");
    call_is(&result, 200);
    assert_memory_equal(result.response.body, "region;sex;count 2026;", 22);
    call_clear(&result);
}

static void test_problems(void **state)
{
    static const struct {
        const char *path, *query, *detail;
        int status;
    } cases[] = {
        {"/api/v2", NULL, "There is nothing at this address.", 404},
        {"/api/v2/nothing", NULL, "There is nothing at this address.", 404},
        {"/api/v2/tables/x", NULL, "There is no table 'x'.", 404},
        {TABLE "/x", NULL, "There is nothing at this address.", 404},
        {TABLE "/data/x", NULL, "There is nothing at this address.", 404},
        {TABLE "/data", "outputFormat=parquet", "There is no format 'parquet'.", 400},
        {TABLE "/data", "outputFormatParams=x", "outputFormatParams has no word 'x'.", 400},
        {TABLE "/data", "outputFormatParams=UseCodes,UseTexts",
         "outputFormatParams: 'UseTexts' contradicts an earlier word.", 400},
        {TABLE "/data", "valuecodes=x", "A parameter should be written valuecodes[VARIABLE]=...",
         400},
        {TABLE "/data", "valuecodes[]=x", "A parameter should be written valuecodes[VARIABLE]=...",
         400},
        {TABLE "/data", "valuecodes[x]=1", "There is no variable 'x'.", 400},
        {TABLE "/data", "valuecodes[region]=X*",
         "The expressions for variable 'region' fit none of its categories.", 400},
        {TABLE "/data", "valuecodes[region]=N1&valuecodes[Region]=N2",
         "The query has 'valuecodes[Region]' twice.", 400},
        {TABLE "/data", "codelist[region]=y", "Variable 'region' has no code list 'y'.", 400},
        {TABLE "/data", "valuecodes[ContentsCode]=group(g,count,se)", "Contents cannot be grouped.",
         400},
        {TABLE "/data", "valuecodes[region]=*&valuecodes[sex]=*&valuecodes[work]=*",
         "Table region*sex*work is not in the universe of the cube. Ask for region^1*sex*work "
         "instead.",
         403},
    };
    cellar_site site = sample_site();
    call_result result;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result = call_get(&site, cases[i].path, cases[i].query);
        call_is(&result, cases[i].status);
        json_says(result.json, "detail", cases[i].detail);
        call_clear(&result);
    }
    result = call_post(&site, "/api/v2/tables", NULL, "{}");
    call_is(&result, 405);
    call_clear(&result);
}

/* ---- saved queries --------------------------------------------------------------- */

static const char QUERY[] =
    "{\"tableId\":\"census\",\"language\":\"sv\",\"outputFormat\":\"csv\",\"selection\":"
    "{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":[\"N*\",\"group(g,S1,S2)\"]}]}}";

static void test_saved(void **state)
{
    scratch *place = *state;
    cellar_site site = sample_site();
    call_result result, again, data, later;
    char path[128], id[64];

    site.saved_folder = place->folder;
    result = call_post(&site, "/api/v2/savedqueries", NULL, QUERY);
    call_is(&result, 201);
    snprintf(id, sizeof id, "%s", json_string_value(json_at(result.json, "id")));
    snprintf(path, sizeof path, "/api/v2/savedqueries/%s", id);
    assert_string_equal(call_header(&result, "Location"), path);
    json_says(result.json, "savedQuery/tableId", "census");
    again = call_post(&site, "/api/v2/savedqueries", NULL, QUERY);
    call_is(&again, 201);
    assert_true(json_equal(result.json, again.json));
    assert_int_equal(scratch_n_entries(place), 1);
    call_clear(&again);
    again = call_get(&site, path, NULL);
    assert_true(json_equal(result.json, again.json));
    call_clear(&again);
    call_clear(&result);

    snprintf(path, sizeof path, "/api/v2/savedqueries/%s/data", id);
    data = call_get(&site, path, NULL);
    call_is(&data, 200);
    assert_string_equal(call_header(&data, "Content-Type"), "text/csv; charset=UTF-8");
    assert_non_null(strstr(data.response.body, "Norr ett"));
    site = sample_site(); /* a restart */
    site.saved_folder = place->folder;
    later = call_get(&site, path, NULL);
    assert_int_equal(later.response.body_length, data.response.body_length);
    assert_memory_equal(later.response.body, data.response.body, data.response.body_length);
    assert_string_equal(call_header(&later, "ETag"), call_header(&data, "ETag"));
    call_clear(&later);
    call_clear(&data);
    data = call_get(&site, path, "lang=en&outputFormat=json-stat2");
    json_says(data.json, "dimension/region/category/label/N1", "North one");
    call_clear(&data);

    snprintf(path, sizeof path, "/api/v2/savedqueries/%s/selection", id);
    data = call_get(&site, path, NULL);
    json_says(data.json, "selection/0/valueCodes/1", "N2");
    json_says(data.json, "selection/0/valueCodes/2", "group(g,S1,S2)");
    call_clear(&data);
    snprintf(path, sizeof path, "savedQuery=%s", id);
    data = call_get(&site, TABLE "/metadata", path);
    assert_int_equal(json_object_size(json_at(data.json, "dimension/region/category/index")), 3);
    call_clear(&data);
}

static void test_saved_problems(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"tableId\":\"census\",\"language\":\"sv\"}",
        "{\"tableId\":\"x\",\"language\":\"sv\",\"selection\":{\"selection\":[]}}",
        "{\"tableId\":\"census\",\"language\":\"fr\",\"selection\":{\"selection\":[]}}",
        "{\"tableId\":\"census\",\"language\":\"sv\",\"outputFormat\":7,"
        "\"selection\":{\"selection\":[]}}",
        "{\"tableId\":\"census\",\"language\":\"sv\",\"selection\":{\"selection\":["
        "{\"variableCode\":\"region\",\"valueCodes\":[\"X1\"]}]}}"};
    static const char *const ids[] = {"x", "..%2F..%2Fetc%2Fpasswd",
                                      "0123456789abcdef0123456789abcdef",
                                      "0123456789abcdef0123456789abcdef/data"};
    scratch *place = *state;
    cellar_site site = sample_site();
    call_result result = call_post(&site, "/api/v2/savedqueries", NULL, QUERY);
    call_is(&result, 403); /* no folder */
    call_clear(&result);
    site.saved_folder = place->folder;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        result = call_post(&site, "/api/v2/savedqueries", NULL, bodies[i]);
        call_is(&result, 400);
        call_clear(&result);
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char path[128];
        snprintf(path, sizeof path, "/api/v2/savedqueries/%s", ids[i]);
        result = call_get(&site, path, NULL);
        call_is(&result, 404);
        call_clear(&result);
    }
    result = call_get(&site, "/api/v2/savedqueries", NULL);
    call_is(&result, 405);
    call_clear(&result);
    assert_int_equal(scratch_n_entries(place), 0);
}

/* ---- memory that ends -------------------------------------------------------------- */

typedef struct memory_case {
    const char *method, *path, *query, *body;
} memory_case;

/* Memory that ends is 503, whatever was asked. */
static cellar_status call_scenario(void *context, cellar_error *err)
{
    const memory_case *c = context;
    cellar_site site = sample_site();
    call_result result = call_request(
        &site, &(cellar_request){.method = c->method,
                                 .path = c->path,
                                 .query = c->query,
                                 .body = c->body,
                                 .body_length = c->body != NULL ? strlen(c->body) : 0});
    const int status = result.response.status;
    snprintf(err->message, sizeof err->message, "status %d", status);
    call_clear(&result);
    return status == 200 ? CELLAR_OK : status == 503 ? CELLAR_ERR_MEMORY : CELLAR_ERR_INPUT;
}

static void test_fail_every(void **state)
{
    static memory_case cases[] = {
        {"GET", "/api/v2/config", NULL, NULL},
        {"GET", "/api/v2/tables", "query=e", NULL},
        {"GET", "/api/v2/codelists/census.region%5E1", NULL, NULL},
        {"GET", TABLE "/metadata", NULL, NULL},
        {"GET", TABLE "/defaultselection", NULL, NULL},
        {"GET", TABLE "/data", "valuecodes[region]=*,[group(g,N1,S1)]&codelist[sex]=sex", NULL},
        {"POST", TABLE "/data", NULL,
         "{\"selection\":[{\"variableCode\":\"region\",\"valueCodes\":[\"N1\"]}]}"}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_fail_every(call_scenario, &cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_codelist),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_problems),
        cmocka_unit_test_setup_teardown(test_saved, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_saved_problems, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
