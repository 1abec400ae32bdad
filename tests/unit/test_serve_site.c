/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations and requests: what is read, what is refused, and with which words. */
#include <string.h>

#include "check.h"
#include "fail_every.h"
#include "serve/request.h"
#include "serve_place.h"

/* ---- configurations ----------------------------------------------------------------------------
 */

static void words_reach_the_data_set(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    const serve_dataset *d = serve_find_dataset(site, "people");
    const serve_variable *region = serve_find_variable(d, "region");
    assert_string_equal(site->title.in[1], "Tabeller");
    assert_string_equal(site->base_url, "http://x");
    assert_string_equal(d->title.in[1], "Folk");
    assert_string_equal(d->unit, "person");
    assert_int_equal(d->n_variables, 3);
    assert_int_equal(region->role, SERVE_ROLE_GEO);
    assert_string_equal(region->label.in[0], "Region");
    assert_int_equal(region->n_levels, 2);
    assert_string_equal(region->levels[0].id, "region^1");
    assert_string_equal(region->levels[0].label.in[1], "Part");
    assert_string_equal(region->levels[0].categories[0].label.in[1], "Norr");
    assert_string_equal(region->levels[1].categories[0].code, "n1");
    assert_string_equal(region->levels[1].categories[0].label.in[1], "N one");
    assert_string_equal(region->levels[1].categories[0].note.in[0], "Small");
    assert_null(region->levels[1].categories[1].note.in);
    assert_int_equal(region->levels[1].categories[4].parent, 1);
    assert_string_equal(d->variables[2].code, "period");
    assert_string_equal(d->variables[2].levels[0].categories[0].code, "2026");
    assert_true(d->variables[2].is_constant);
    assert_null(serve_find_dataset(site, "persons"));
    cellar_site_close(site);
}

static void wrong_configurations_say_where(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"serve: 2\nsite: {title: A}\n" SERVE_PLACE_DATASET, "version 1"},
        {"serve: 1\n" SERVE_PLACE_DATASET, "'site' is missing"},
        {"serve: 1\nsite: {titel: A}\n" SERVE_PLACE_DATASET, "site.yaml:2: site: there is no "
                                                             "'titel' here; did you mean 'title'?"},
        {"serve: 1\nsite: {title: {en: A, fi: B}}\n" SERVE_PLACE_DATASET,
         "site.yaml:2: site.title: expected one of the languages of the site"},
        {SERVE_PLACE_SITE SERVE_PLACE_DATASET "      - {name: age}\n",
         "datasets[1].variables[2].name: the data set has no variable 'age'"},
        {SERVE_PLACE_SITE SERVE_PLACE_DATASET "      - {name: sex, notes: {x: No}}\n",
         "datasets[1].variables[2]: expected a code of the variable"},
        {SERVE_PLACE_SITE SERVE_PLACE_DATASET "      - {name: sex, levels: [A, B]}\n",
         "datasets[1].variables[2]: expected a text for each level"},
        {SERVE_PLACE_SITE
         "datasets:\n  - {id: a/b, kind: cube, cube: x, population: p, title: T}\n",
         "datasets[1].id: expected letters"},
        {SERVE_PLACE_SITE "datasets:\n  - {id: a, kind: cube, population: p, title: T}\n",
         "datasets[1]: 'cube' is missing"},
        {SERVE_PLACE_SITE "datasets:\n  - {id: a, kind: cube, cube: none.cube, population: p, "
                          "title: T, period: 2026}\n",
         "none.cube: cannot open the cube"},
        {SERVE_PLACE_SITE "datasets:\n  - {id: a, kind: cube, cube: sample.cube, population: p, "
                          "title: T}\n",
         "datasets[1].period: name the time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_site *site = NULL;
        cellar_error err = {""};
        serve_place_make(*state, cases[i].text);
        assert_int_not_equal(cellar_site_open(scratch_path(*state, "site.yaml"), NULL, &site, &err),
                             CELLAR_OK);
        assert_null(site);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
    }
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static const char *header(const cellar_response *response, const char *name)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

static void bad_requests_are_answered_in_a_sentence(void **state)
{
    static const struct {
        const char *method, *path, *query;
        int status;
        const char *says;
    } cases[] = {
        {"GET", "/nothing", NULL, 404, "nothing at this address"},
        {"POST", "/", NULL, 404, "nothing at this address"},
        {"GET", "/site.yaml", NULL, 404, "nothing at this address"},
        {"DELETE", "/", NULL, 405, "Only GET"},
        {"GET", "nothing", NULL, 400, "path"},
        {"GET", "/%zz", NULL, 400, "path"},
        {"GET", "/a%", NULL, 400, "path"},
        {"GET", "/%c3%28", NULL, 400, "path"},
        {"GET", "/%00", NULL, 400, "path"},
        {"GET", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", NULL, 400, "path"},
        {"GET", "/a", "b=%ff", 400, "query"},
        {"GET", "/a", "%0a", 400, "query"},
        {"GET", "/a", "lang=fi", 400, "language 'fi'"},
    };
    cellar_site *site = serve_place_open(*state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_request request = {
            .method = cases[i].method, .path = cases[i].path, .query = cases[i].query};
        cellar_response response;
        cellar_site_answer(site, &request, &response);
        assert_int_equal(response.status, cases[i].status);
        assert_non_null(strstr(response.body, cases[i].says));
        assert_string_equal(header(&response, "Content-Type"), "application/problem+json");
        assert_string_equal(header(&response, "Access-Control-Allow-Origin"), "*");
        assert_string_equal(header(&response, "Cache-Control"), "no-store");
        assert_null(header(&response, "ETag"));
        cellar_response_clear(&response);
    }
    cellar_site_close(site);
}

/* ---- pages -------------------------------------------------------------------------------------
 */

static void get(cellar_site *site, const char *path, const char *etag, cellar_response *out)
{
    const cellar_request request = {.method = "GET", .path = path, .etag = etag};
    cellar_site_answer(site, &request, out);
}

/* What lies in the folder, and nothing beside it. */
static void pages_are_served(void **state)
{
    cellar_site *site;
    cellar_response response;
    char etag[64];
    mkdir(scratch_path(*state, "page"), 0700);
    mkdir(scratch_path(*state, "page/assets"), 0700);
    scratch_write(*state, "page/index.html", "<h1>Hello</h1>");
    scratch_write(*state, "page/assets/app-1.js", "1;");
    scratch_write(*state, "page/.hidden", "no");
    assert_int_equal(symlink("../site.yaml", scratch_path(*state, "page/link")), 0);
    site = serve_place_open(
        *state,
        "serve: 1\nsite: {title: T, languages: [en, sv], page: page}\n" SERVE_PLACE_DATASET);
    get(site, "/", NULL, &response);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.body, "<h1>Hello</h1>");
    assert_string_equal(header(&response, "Content-Type"), "text/html; charset=UTF-8");
    assert_string_equal(header(&response, "Cache-Control"), "no-cache");
    assert_non_null(strstr(header(&response, "Content-Security-Policy"), "default-src 'self'"));
    assert_true(response.is_immutable);
    snprintf(etag, sizeof etag, "%s", header(&response, "ETag"));
    cellar_response_clear(&response);
    get(site, "/", etag, &response);
    assert_int_equal(response.status, 304);
    assert_int_equal(response.body_length, 0);
    cellar_response_clear(&response);
    get(site, "/assets/app-1.js", NULL, &response);
    assert_string_equal(header(&response, "Cache-Control"), "public, max-age=86400, immutable");
    assert_string_equal(header(&response, "Content-Type"), "text/javascript; charset=UTF-8");
    cellar_response_clear(&response);
    for (size_t i = 0; i < 5; i++) {
        static const char *const outside[] = {"/../site.yaml", "/%2e%2e/site.yaml", "/.hidden",
                                              "/link", "/assets"};
        get(site, outside[i], NULL, &response);
        assert_int_equal(response.status, 404);
        cellar_response_clear(&response);
    }
    cellar_site_close(site);
    remove(scratch_path(*state, "page/assets/app-1.js"));
    remove(scratch_path(*state, "page/index.html"));
    remove(scratch_path(*state, "page/.hidden"));
    remove(scratch_path(*state, "page/link"));
    rmdir(scratch_path(*state, "page/assets"));
    rmdir(scratch_path(*state, "page"));
}

/* What a browser without scripts shows stands in the page, in the language of the request; and a
 * person who lost the way is told so there. */
static void pages_are_filled(void **state)
{
    static const char page[] = "<html lang=\"en\"><title>Cellar</title><!--answer--></html>";
    static const struct {
        const char *path, *query;
        int status;
        const char *has;
    } cases[] = {
        {"/", "lang=sv", 200, "<html lang=\"sv\"><title>Tabeller</title><main"},
        {"/", "lang=sv", 200, "<a href=\"/t/people?lang=sv\">Folk</a>"},
        {"/t/people", "lang=sv&valuecodes[sex]=*", 200, "<html lang=\"sv\"><title>Folk</title>"},
        {"/t/people", "valuecodes[sex]=*", 200, "<th scope=\"row\""},
        {"/t/people", "valuecodes[sex]=Q", 400, "<p role=\"alert\""},
        {"/t/nobody", NULL, 404, "There is nothing at this address."},
        {"/nothing", NULL, 404, "<a href=\"/\">Tables</a>"},
    };
    cellar_site *site;
    mkdir(scratch_path(*state, "page"), 0700);
    scratch_write(*state, "page/index.html", page);
    site =
        serve_place_open(*state, "serve: 1\nsite: {title: {en: Tables, sv: Tabeller}, languages: "
                                 "[en, sv], page: page}\n" SERVE_PLACE_DATASET);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_request request = {.method = "GET",
                                        .path = cases[i].path,
                                        .query = cases[i].query,
                                        .accept = "text/html, */*;q=0.8"};
        cellar_response response;
        cellar_site_answer(site, &request, &response);
        if (response.status != cases[i].status || strstr(response.body, cases[i].has) == NULL)
            fail_msg("%s?%s: %d %s", cases[i].path, cases[i].query, response.status,
                     (const char *) response.body);
        cellar_response_clear(&response);
    }
    cellar_site_close(site);
    remove(scratch_path(*state, "page/index.html"));
    rmdir(scratch_path(*state, "page"));
}

/* Without a page there is a list of the data sets. */
static void there_is_a_way_in(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    const cellar_request request = {.method = "GET", .path = "/", .query = "lang=sv"};
    cellar_response response;
    cellar_site_answer(site, &request, &response);
    assert_int_equal(response.status, 200);
    assert_non_null(strstr(response.body, "<h1>Tabeller</h1>"));
    assert_non_null(strstr(response.body, "http://x/api/v2/tables/people/data?lang=sv&amp;"));
    cellar_response_clear(&response);
    cellar_site_close(site);
}

/* ---- other origins -----------------------------------------------------------------------------
 */

static void any_origin_may_ask(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    const cellar_request request = {.method = "OPTIONS", .path = "/api/v2/tables"};
    cellar_response response;
    cellar_site_answer(site, &request, &response);
    assert_int_equal(response.status, 204);
    assert_int_equal(response.body_length, 0);
    assert_string_equal(header(&response, "Access-Control-Allow-Headers"),
                        "Authorization, Content-Type");
    cellar_response_clear(&response);
    cellar_site_close(site);
}

static void requests_are_decoded(void **state)
{
    const cellar_request request = {.path = "/a%20b//%C3%A5/",
                                    .query = "valuecodes[Tid]=a%2Cb&x&&Y=1+2&y=3"};
    serve_call call = {.arena = cellar_arena_create(1 << 16)};
    const char *wrong;
    (void) state;
    assert_true(serve_call_decode(&request, &call, &wrong));
    assert_int_equal(call.n_segments, 2);
    assert_string_equal(call.segments[0], "a b");
    assert_string_equal(call.segments[1], "\xc3\xa5");
    assert_int_equal(call.n_parameters, 4);
    assert_string_equal(serve_parameter_find(&call, "VALUECODES[tid]"), "a,b");
    assert_string_equal(serve_parameter_find(&call, "x"), "");
    assert_string_equal(serve_parameter_find(&call, "y"), "1 2");
    assert_null(serve_parameter_find(&call, "z"));
    cellar_arena_free(call.arena);
}

static void languages_are_chosen(void **state)
{
    static const struct {
        const char *accepted;
        size_t language;
    } cases[] = {{NULL, 0},
                 {"", 0},
                 {"sv", 1},
                 {"sv-FI", 1},
                 {"fi, sv;q=0.5, en;q=0.4", 1},
                 {"sv;q=0.2, en-GB; q=0.9", 0},
                 {"fi", 0},
                 {"sv;q=0", 0},
                 {";;,,=q", 0}};
    cellar_site *site = serve_place_open(*state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(serve_language_accepted(site, cases[i].accepted), cases[i].language);
    cellar_site_close(site);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static cellar_status open_scenario(void *context, cellar_error *err)
{
    cellar_site *site = NULL;
    cellar_status status = cellar_site_open(context, NULL, &site, err);
    cellar_site_close(site);
    return status;
}

/* A request never fails: it is answered with 503. */
static cellar_status answer_scenario(void *context, cellar_error *err)
{
    const cellar_request request = {.method = "GET", .path = "/a", .query = "b=c"};
    cellar_response response;
    int status;
    cellar_site_answer(context, &request, &response);
    status = response.status;
    strcpy(err->message, "503");
    cellar_response_clear(&response);
    return status == 503 ? CELLAR_ERR_MEMORY : CELLAR_OK;
}

static void every_allocation_may_fail(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    check_fail_every(answer_scenario, site);
    cellar_site_close(site);
    check_fail_every(open_scenario, (void *) (uintptr_t) scratch_path(*state, "site.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_reach_the_data_set),
        cmocka_unit_test(wrong_configurations_say_where),
        cmocka_unit_test(bad_requests_are_answered_in_a_sentence),
        cmocka_unit_test(pages_are_served),
        cmocka_unit_test(pages_are_filled),
        cmocka_unit_test(there_is_a_way_in),
        cmocka_unit_test(any_origin_may_ask),
        cmocka_unit_test(requests_are_decoded),
        cmocka_unit_test(languages_are_chosen),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
