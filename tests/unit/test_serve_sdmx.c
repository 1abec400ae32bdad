/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fail_every.h"
#include "serve_calls.h"

/* How often a text stands in the body. */
static size_t n_times(const call_result *result, const char *words)
{
    size_t n = 0;
    for (const char *at = result->response.body; (at = strstr(at, words)) != NULL; at++)
        n++;
    return n;
}

static void says(const call_result *result, const char *words)
{
    if (n_times(result, words) == 0)
        fail_msg("the answer does not say '%s'", words);
}

static void test_structures(void **state)
{
    static const char *const paths[] = {"/sdmx/datastructure/CELLAR/census/1.0",
                                        "/sdmx/datastructure/all/all/latest/",
                                        "/sdmx/datastructure"};
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        call_result result = call_get(&site, paths[i], "references=children");
        call_is(&result, 200);
        assert_string_equal(call_header(&result, "Content-Type"),
                            "application/vnd.sdmx.structure+xml; version=2.1; charset=UTF-8");
        says(&result, "<structure:Codelist id=\"CL_census_region\"");
        says(&result, "<structure:Code id=\"N1\"><common:Name xml:lang=\"en\">North one"
                      "</common:Name><common:Name xml:lang=\"sv\">Norr ett</common:Name>"
                      "<structure:Parent><Ref id=\"N\"/></structure:Parent></structure:Code>");
        says(&result, "&lt;b&gt;&quot;North&quot;");
        says(&result, "<structure:TimeDimension id=\"TIME_PERIOD\" position=\"5\">");
        assert_int_equal(n_times(&result, "<structure:Dimension id="), 4);
        call_clear(&result);
    }
}

static void test_flows(void **state)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, "/sdmx/dataflow/all/all/latest", NULL);
    (void) state;
    call_is(&result, 200);
    says(&result, "<structure:Dataflow id=\"census\" agencyID=\"CELLAR\"");
    says(&result, "<common:Name xml:lang=\"sv\">Personer i urvalet</common:Name>");
    call_clear(&result);
}

static void test_keys(void **state)
{
    static const struct {
        const char *path, *query;
        size_t n;
        const char *first; /* its value */
    } cases[] = {
        {"/sdmx/data/census", NULL, 32, "22"},
        {"/sdmx/data/census/all/all/", NULL, 32, "22"},
        {"/sdmx/data/census/N1._T._T.count", NULL, 1, "48"},
        {"/sdmx/data/CELLAR,census,1.0/N1+S2.._T.count/all", NULL, 4, "22"},
        {"/sdmx/data/CELLAR,census/N._T._T.count", NULL, 1, "112"}, /* a coarser level */
        {"/sdmx/data/census/_T._T._T.count+se", NULL, 2, "288"},
        {"/sdmx/data/census/_T._T._T.", "startPeriod=2020&endPeriod=2026", 4, "288"},
    };
    cellar_site site = sample_site();
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char first[64];
        call_result result = call_get(&site, cases[i].path, cases[i].query);
        call_is(&result, 200);
        snprintf(first, sizeof first, "<generic:ObsValue value=\"%s\"/>", cases[i].first);
        assert_int_equal(n_times(&result, "<generic:Obs>"), cases[i].n);
        says(&result, first);
        call_clear(&result);
    }
}

static void test_csv(void **state)
{
    cellar_site site = sample_site();
    call_result result =
        call_request(&site, &(cellar_request){.method = "GET",
                                              .path = "/sdmx/data/census",
                                              .accept = "application/vnd.sdmx.data+csv"});
    (void) state;
    call_is(&result, 200);
    assert_memory_equal(result.response.body, "STRUCTURE,STRUCTURE_ID,ACTION,region,", 37);
    call_clear(&result);
    result = call_get(&site, "/sdmx/data/census", "format=sdmx-csv");
    assert_memory_equal(result.response.body, "STRUCTURE,STRUCTURE_ID,ACTION,region,", 37);
    call_clear(&result);
}

static void test_problems(void **state)
{
    static const struct {
        const char *path, *query;
        int status;
    } cases[] = {
        {"/sdmx", NULL, 404},
        {"/sdmx/codelist", NULL, 404},
        {"/sdmx/data", NULL, 404},
        {"/sdmx/data/x", NULL, 404},
        {"/sdmx/dataflow/OTHER", NULL, 404},
        {"/sdmx/dataflow/all/x", NULL, 404},
        {"/sdmx/data/census/N1", NULL, 400},
        {"/sdmx/data/census/........", NULL, 400},
        {"/sdmx/data/census/X9._T._T.count", NULL, 400},
        {"/sdmx/data/census/N1+_T._T._T.count", NULL, 400},
        {"/sdmx/data/census/N1._T._T.count", "startPeriod=2027", 400},
        {"/sdmx/data/census/...", NULL, 403}, /* every variable */
    };
    cellar_site site = sample_site();
    call_result result;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result = call_get(&site, cases[i].path, cases[i].query);
        call_is(&result, cases[i].status);
        call_clear(&result);
    }
    result = call_post(&site, "/sdmx/data/census", NULL, "");
    call_is(&result, 405);
    call_clear(&result);
}

/* Memory that ends is 503. */
static cellar_status call_scenario(void *path, cellar_error *err)
{
    cellar_site site = sample_site();
    call_result result = call_get(&site, path, NULL);
    const int status = result.response.status;
    snprintf(err->message, sizeof err->message, "status %d", status);
    call_clear(&result);
    return status == 200 ? CELLAR_OK : status == 503 ? CELLAR_ERR_MEMORY : CELLAR_ERR_INPUT;
}

static void test_fail_every(void **state)
{
    char data[] = "/sdmx/data/census/N1+S2.._T.count", structure[] = "/sdmx/datastructure";
    (void) state;
    check_fail_every(call_scenario, data);
    check_fail_every(call_scenario, structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structures), cmocka_unit_test(test_flows),
        cmocka_unit_test(test_keys),       cmocka_unit_test(test_csv),
        cmocka_unit_test(test_problems),   cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
