/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our own interface: a cube that is served, and a data set with a budget whose vault is made up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cellar/access.h>
#include <cellar/cube_inference.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"
#include "serve/access.h"
#include "serve/price.h"
#include "serve_place.h"
#include "serve_small.h"

/* ---- asking --------------------------------------------------------------------- */

/* A response that was read; release it with heard_clear(). */
typedef struct heard {
    int status;
    char *body;
    json_t *json; /* NULL: the body is none */
    char retry_after[16];
} heard;

static void heard_clear(heard *h)
{
    free(h->body);
    json_decref(h->json);
    *h = (heard){0};
}

static heard ask_with(cellar_site *site, const char *method, const char *path, const char *query,
                      const char *authorization, const char *body)
{
    const cellar_request request = {.method = method,
                                    .path = path,
                                    .query = query,
                                    .authorization = authorization,
                                    .address = "192.0.2.1",
                                    .body = body,
                                    .body_length = body != NULL ? strlen(body) : 0};
    cellar_response response;
    heard h = {0};
    cellar_site_answer(site, &request, &response);
    h.status = response.status;
    h.body = strndup(response.body, response.body_length);
    h.json = json_loads(h.body, JSON_REJECT_DUPLICATES, NULL);
    for (size_t i = 0; i < response.n_headers; i++)
        if (strcmp(response.headers[i].name, "Retry-After") == 0)
            snprintf(h.retry_after, sizeof h.retry_after, "%s", response.headers[i].value);
    cellar_response_clear(&response);
    return h;
}

static heard get(cellar_site *site, const char *path)
{
    return ask_with(site, "GET", path, NULL, NULL, NULL);
}

static heard post(cellar_site *site, const char *path, const char *body)
{
    return ask_with(site, "POST", path, NULL, NULL, body);
}

/* "a/b/0/c" within a response; NULL when it is not there. */
static const json_t *at(const heard *h, const char *path)
{
    const json_t *value = h->json;
    while (*path != '\0' && value != NULL) {
        char word[64];
        const size_t length = strcspn(path, "/");
        snprintf(word, sizeof word, "%.*s", (int) length, path);
        value = json_is_array(value) ? json_array_get(value, (size_t) atoi(word))
                                     : json_object_get(value, word);
        path += length + (path[length] == '/');
    }
    return value;
}

static void expect_text(const heard *h, const char *path, const char *text)
{
    const char *found = json_string_value(at(h, path));
    if (found == NULL || strcmp(found, text) != 0)
        fail_msg("%s is '%s', not '%s', in %s", path, found != NULL ? found : "missing", text,
                 h->body);
}

static void expect_problem(heard h, int status, const char *detail)
{
    if (h.status != status)
        fail_msg("%d instead of %d: %s", h.status, status, h.body);
    expect_text(&h, "detail", detail);
    heard_clear(&h);
}

static double number(const heard *h, const char *path)
{
    const json_t *found = at(h, path);
    if (!json_is_number(found))
        fail_msg("%s is no number in %s", path, h->body);
    return json_number_value(found);
}

/* ---- a cube ----------------------------------------------------------------------- */

static void test_cube_table(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    heard h = get(site, "/v1/tables/people/sex*region%5E1");
    assert_int_equal(h.status, 200);
    expect_text(&h, "table", "region^1*sex"); /* canonical */
    expect_text(&h, "variables/0/level", "region^1");
    assert_true(number(&h, "cells") == 4);
    assert_true(json_is_true(at(&h, "allowed")));
    assert_true(json_is_null(at(&h, "refusal")));
    assert_true(json_is_null(at(&h, "draw"))); /* a cube is not drawn from */
    assert_true(json_is_true(at(&h, "answer/exact")));
    assert_true(number(&h, "answer/sd") > 0);
    assert_true(fabs(number(&h, "answer/half_width95") - 1.96 * number(&h, "answer/sd")) < 1e-3);
    heard_clear(&h);
    expect_problem(get(site, "/v1/tables/people/height"), 404, "there is no variable 'height'.");
    expect_problem(get(site, "/v1/tables/none/sex"), 404, "There is no data set 'none'.");
    expect_problem(get(site, "/v1/none"), 404, "There is nothing at this address.");
    expect_problem(post(site, "/v1/datasets", "{}"), 405, "This address answers GET only.");
    cellar_site_close(site);
}

static void test_cube_about(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    char path[128];
    heard h = get(site, "/v1/datasets"), certificate;
    expect_text(&h, "datasets/0/id", "people");
    expect_text(&h, "datasets/0/kind", "cube");
    expect_text(&h, "languages/1", "sv");
    heard_clear(&h);
    h = ask_with(site, "GET", "/v1/datasets/people", "lang=sv", NULL, NULL);
    expect_text(&h, "title", "Folk");
    expect_text(&h, "variables/0/levels/0/label", "Part");
    heard_clear(&h);
    h = get(site, "/v1/tables/people/total");
    snprintf(path, sizeof path, "/v1/certificates/%s",
             json_string_value(at(&h, "answer/certificate")));
    certificate = get(site, path);
    assert_int_equal(certificate.status, 200);
    heard_clear(&certificate);
    heard_clear(&h);
    expect_problem(get(site, "/v1/certificates/0123"), 404, "There is no certificate '0123'.");
    h = get(site, "/v1/datasets/people/statement");
    assert_int_equal(h.status, 200);
    assert_true(strlen(json_string_value(at(&h, "statement"))) > 20);
    expect_text(&h, "promise/covers", "cube");
    expect_text(&h, "promise/neighbours", "add-remove");
    assert_true(number(&h, "promise/epsilon") > 0);
    heard_clear(&h);
    h = get(site, "/v1/health");
    assert_int_equal(h.status, 200);
    expect_text(&h, "status", "ok");
    expect_text(&h, "vault", "none");
    heard_clear(&h);
    cellar_site_close(site);
}

static void test_cube_rules(void **state)
{
    cellar_site *site = serve_place_open(
        *state, SERVE_PLACE_SITE SERVE_PLACE_DATASET
        "    rules: [{name: one, when: region^2, max_variables: 1, text: Small areas.}]\n");
    heard h = get(site, "/v1/tables/people/region*sex");
    assert_int_equal(h.status, 200);
    assert_true(json_is_false(at(&h, "allowed")));
    expect_text(&h, "refusal/rule", "one");
    expect_text(&h, "refusal/kind", "max_variables");
    expect_text(&h, "refusal/detail",
                "rule 'one': with region: at most 1 variable, and this table has 2. Small areas.");
    expect_text(&h, "refusal/suggestions/0/table", "region^1*sex");
    assert_true(json_is_true(at(&h, "refusal/suggestions/0/exists")));
    expect_text(&h, "refusal/suggestions/1/table", "region");
    assert_true(json_is_null(at(&h, "answer")));
    heard_clear(&h);
    h = get(site, "/v1/datasets/people");
    expect_text(&h, "rules/0/judged", "before");
    heard_clear(&h);
    cellar_site_close(site);
}

/* ---- comparisons -------------------------------------------------------------------- */

/* The same numbers from the library, by its own words for sets. */
static cellar_cube_finding find(scratch *place, const char *first, cellar_comparison comparison,
                                const char *second)
{
    cellar_cube *cube = NULL;
    cellar_cube_sum *one = NULL, *two = NULL;
    cellar_cube_finding found = {0};
    assert_int_equal(cellar_cube_open(scratch_path(place, "sample.cube"), &cube, NULL), CELLAR_OK);
    assert_int_equal(cellar_cube_sum_parse(cube, first, &one, NULL), CELLAR_OK);
    if (second != NULL)
        assert_int_equal(cellar_cube_sum_parse(cube, second, &two, NULL), CELLAR_OK);
    assert_int_equal(cellar_cube_compare(cube, one, comparison, two, 0.9, &found, NULL), CELLAR_OK);
    cellar_cube_sum_free(one);
    cellar_cube_sum_free(two);
    cellar_cube_close(cube);
    return found;
}

static void test_compare(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    cellar_cube_finding found;
    heard h = post(site, "/v1/compare",
                   "{\"dataset\": \"people\", \"first\": {\"region\": [\"n1\", \"s2\"]}, "
                   "\"second\": {\"region^1\": \"south\", \"sex\": \"f\"}, \"confidence\": 0.9}");
    assert_int_equal(h.status, 200);
    found = find(*state, "region=n1,s2", CELLAR_COMPARE_NONE, NULL);
    assert_true(fabs(number(&h, "first/estimate") - found.estimate) < 1e-9);
    assert_true(fabs(number(&h, "first/low") - found.low) < 1e-9);
    found = find(*state, "region=n1,s2", CELLAR_COMPARE_DIFFERENCE, "region=south; sex=f");
    assert_true(fabs(number(&h, "difference/estimate") - found.estimate) < 1e-9);
    assert_true(fabs(number(&h, "difference/se") - found.se) < 1e-9);
    assert_true(fabs(number(&h, "difference/high") - found.high) < 1e-9);
    assert_true(fabs(number(&h, "difference/p_value") - found.p_value) < 1e-12);
    assert_int_equal(json_is_true(at(&h, "difference/noise_alone")),
                     found.low <= 0 && found.high >= 0);
    found = find(*state, "region=n1,s2", CELLAR_COMPARE_RATIO, "region=south; sex=f");
    assert_true(fabs(number(&h, "ratio/low") - found.low) < 1e-9);
    assert_int_equal(json_is_true(at(&h, "ratio/undetermined")), found.is_undetermined);
    heard_clear(&h);
    cellar_site_close(site);
}

static void test_compare_mistakes(void **state)
{
    static const struct {
        const char *body, *detail;
    } cases[] = {
        {NULL, "The request needs a body, a JSON object."},
        {"[]", "The body is no JSON object."},
        {"{\"dataset\": \"people\"}",
         "A set of cells is an object of levels and their categories."},
        {"{\"first\": {}, \"second\": {}}", "Member 'dataset' of the body is missing."},
        {"{\"dataset\": 1}", "Member 'dataset' of the body is no text."},
        {"{\"dataset\": \"people\", \"third\": {}}", "The body has no member 'third'."},
        {"{\"dataset\": \"people\", \"confidence\": 1, \"first\": {}, \"second\": {}}",
         "'confidence' is a number from 0.5 to 0.9999."},
        {"{\"dataset\": \"people\", \"first\": {\"sex\": \"x\"}, \"second\": {}}",
         "There is no category 'x' of 'sex'."},
        {"{\"dataset\": \"people\", \"first\": {\"sex\": []}, \"second\": {}}",
         "'sex' has from 1 to 2 categories."},
        {"{\"dataset\": \"people\", \"first\": {\"sex\": [\"f\", \"f\"]}, \"second\": {}}",
         "Category 'f' is named twice."},
        {"{\"dataset\": \"people\", \"first\": {\"sex\": [1]}, \"second\": {}}",
         "Categories are texts, or lists of them."},
        {"{\"dataset\": \"people\", \"first\": {\"region\": \"n1\", \"region^1\": \"north\"}, "
         "\"second\": {}}",
         "Variable 'region' is named twice."},
        {"{\"dataset\": \"people\", \"first\": {\"sex*region\": \"n1\"}, \"second\": {}}",
         "'sex*region' is no level of a variable."},
        {"{\"dataset\": \"people\", \"first\": {\"sex\": \"f\"}, \"second\": {\"sex\": \"f\"}}",
         "the two sets have the same cells."},
    };
    cellar_site *site = serve_place_open(*state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_problem(post(site, "/v1/compare", cases[i].body), 400, cases[i].detail);
    cellar_site_close(site);
}

static void test_intervals(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    heard single = ask_with(site, "GET", "/v1/tables/people/region*sex/intervals", "confidence=0.9",
                            NULL, NULL);
    heard all = ask_with(site, "GET", "/v1/tables/people/region*sex/intervals",
                         "confidence=0.9&simultaneous=true", NULL, NULL);
    cellar_cube_finding found = find(*state, "region=s1; sex=m", CELLAR_COMPARE_NONE, NULL);
    assert_int_equal(single.status, 200);
    expect_text(&single, "variables/0/categories/2", "s1");
    assert_int_equal(json_array_size(at(&single, "value")), 10);
    assert_true(fabs(number(&single, "low/5") - found.low) < 1e-6);
    assert_true(fabs(number(&single, "high/5") - found.high) < 1e-6);
    for (size_t k = 0; k < 10; k++) {
        char low[16], high[16];
        snprintf(low, sizeof low, "low/%zu", k);
        snprintf(high, sizeof high, "high/%zu", k);
        assert_true(number(&all, low) < number(&single, low));
        assert_true(number(&all, high) > number(&single, high));
    }
    heard_clear(&single);
    heard_clear(&all);
    expect_problem(
        ask_with(site, "GET", "/v1/tables/people/sex/intervals", "confidence=2", NULL, NULL), 400,
        "'confidence' is a number from 0.5 to 0.9999.");
    cellar_site_close(site);
}

/* Shares of rows, of columns and of all, against proportions from the library. */
static void test_shares(void **state)
{
    static const struct {
        const char *share, *whole;
    } cases[] = {{"row", "region=s1"}, {"column", "sex=m"}, {"total", ""}};
    cellar_site *site = serve_place_open(*state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cellar_cube_finding found =
            find(*state, "region=s1; sex=m", CELLAR_COMPARE_PROPORTION, cases[i].whole);
        char query[200];
        heard h, whole;
        snprintf(query, sizeof query,
                 "valuecodes[region]=n1,s1&valuecodes[sex]=*&heading=sex&confidence=0.9&share=%s",
                 cases[i].share);
        h = ask_with(site, "GET", "/v1/datasets/people/intervals", query, NULL, NULL);
        assert_int_equal(h.status, 200);
        expect_text(&h, "share", cases[i].share);
        expect_text(&h, "variables/0/categories/1", "s1");
        assert_int_equal(json_array_size(at(&h, "value")), 4);
        assert_true(fabs(number(&h, "value/3") - found.estimate) < 1e-9);
        assert_true(fabs(number(&h, "low/3") - found.low) < 1e-9);
        assert_true(fabs(number(&h, "high/3") - found.high) < 1e-9);
        snprintf(query, sizeof query, "heading=sex&confidence=0.9&share=%s", cases[i].share);
        whole = ask_with(site, "GET", "/v1/tables/people/region*sex/intervals", query, NULL, NULL);
        assert_true(number(&whole, "low/5") == number(&h, "low/3"));
        heard_clear(&whole);
        heard_clear(&h);
    }
    { /* a group of everything is all of it; groups are shown as one */
        heard h = ask_with(site, "GET", "/v1/datasets/people/intervals",
                           "valuecodes[sex]=group(all,f,m)&valuecodes[region]=*&heading=sex&share="
                           "row&simultaneous=true",
                           NULL, NULL);
        assert_int_equal(h.status, 200);
        assert_true(number(&h, "low/2") == 1 && number(&h, "high/2") == 1);
        heard_clear(&h);
    }
    expect_problem(
        ask_with(site, "GET", "/v1/tables/people/sex/intervals", "share=half", NULL, NULL), 400,
        "'share' is row, column or total.");
    expect_problem(
        ask_with(site, "GET", "/v1/tables/people/sex/intervals", "simultaneous=1", NULL, NULL), 400,
        "'simultaneous' is true or false.");
    cellar_site_close(site);
}

static void test_independence(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    heard h =
        post(site, "/v1/independence", "{\"dataset\": \"people\", \"table\": \"region^1*sex\"}");
    assert_int_equal(h.status, 200);
    assert_true(number(&h, "df") == 1);
    expect_text(&h, "reference", "bootstrap");
    assert_true(number(&h, "aware/p_value") >= 0 && number(&h, "aware/p_value") <= 1);
    assert_true(number(&h, "naive/statistic") >= 0);
    heard_clear(&h);
    expect_problem(post(site, "/v1/independence", "{\"dataset\": \"people\", \"table\": \"sex\"}"),
                   400,
                   "Independence is tested in tables of two variables and at most 1000 cells.");
    cellar_site_close(site);
}

/* ---- a budget ------------------------------------------------------------------------- */

/* A vault that says what the test wants, and what it was asked. */
typedef struct fake_vault {
    const char *reply; /* NULL: it does not answer */
    char asked[512];
    small_source *source;
    serve_table draws; /* exists after the next draw */
} fake_vault;

static cellar_status fake_answer(void *context, const char *message, size_t length, char **reply,
                                 size_t *reply_length, cellar_error *err)
{
    fake_vault *vault = context;
    snprintf(vault->asked, sizeof vault->asked, "%.*s", (int) length, message);
    if (vault->reply == NULL)
        return cellar_fail(err, CELLAR_ERR_IO, "the vault is gone from /secret/path");
    if (strstr(vault->reply, "drawn") != NULL)
        vault->source->fine[vault->source->n_fine++] = vault->draws;
    *reply = strdup(vault->reply);
    *reply_length = strlen(*reply);
    return CELLAR_OK;
}

static cellar_status small_describe(const serve_source *source, const serve_dataset *dataset,
                                    const serve_table *table, cellar_arena *arena, serve_cover *out,
                                    cellar_error *err)
{
    (void) source, (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_cover){.certificate = "{}", .id = "abc", .guarantee = "G", .origin = "O"};
    return CELLAR_OK;
}

/* A site with one data set of kind `budget`, in which region^1*sex was drawn. */
typedef struct world {
    scratch *place;
    small_source source;
    serve_source_ops ops;
    serve_dataset dataset;
    serve_class class;
    serve_price price;
    serve_prices prices;
    serve_config config;
    cellar_arena *arena;
    cellar_site site;
    fake_vault vault;
    char analyst[80], auditor[80];
} world;

static void make_token(world *w, const char *name, const char *roles, char bearer[80])
{
    const cellar_token_spec spec = {.name = name, .roles = roles};
    char secret[CELLAR_TOKEN_TEXT];
    assert_int_equal(cellar_token_create(w->config.site.tokens, &spec, secret, NULL), CELLAR_OK);
    snprintf(bearer, 80, "Bearer %s", secret);
}

static void world_open(world *w, scratch *place, const char *rules)
{
    static char tokens[400], log[400];
    *w = (world){.place = place, .arena = cellar_arena_create(1 << 24)};
    snprintf(tokens, sizeof tokens, "%s", scratch_path(place, "tokens"));
    snprintf(log, sizeof log, "%s", scratch_path(place, "audit"));
    w->dataset = small_dataset(SERVE_BUDGET, &w->source);
    w->ops = small_ops;
    w->ops.describe = small_describe;
    w->source.base.ops = &w->ops;
    assert_int_equal(serve_table_parse(&w->dataset, "region^1*sex", &w->source.fine[0], NULL),
                     CELLAR_OK);
    w->source.n_fine = 1;
    w->class = (serve_class){.variables = 9, .mechanism = "discrete-laplace:epsilon=0.5"};
    w->price = (serve_price){.class = &w->class, .text = "rho 0.125", .amount = "0.125", .sd = 2.8};
    w->prices = (serve_prices){.items = &w->price, .n = 1, .by_rho = 1};
    w->dataset.prices = &w->prices;
    if (rules != NULL)
        assert_int_equal(
            small_rules(rules, strlen(rules), &w->dataset, w->arena, &w->dataset.rules, NULL),
            CELLAR_OK);
    w->config.site = (serve_config_site){.tokens = tokens, .audit = log};
    make_token(w, "anna", "analyst", w->analyst);
    make_token(w, "audrey", "auditor", w->auditor);
    w->vault.source = &w->source;
    w->site = (cellar_site){.options = {.ask_vault = fake_answer, .vault_context = &w->vault},
                            .title = {small_codes},
                            .languages = small_languages,
                            .n_languages = 1,
                            .datasets = &w->dataset,
                            .n_datasets = 1,
                            .calls_per_window = 1000,
                            .window_seconds = 1,
                            .config = &w->config,
                            .arena = w->arena};
    assert_int_equal(serve_access_open(&w->site, NULL), CELLAR_OK);
}

static void world_close(world *w)
{
    serve_access_close(&w->site);
    cellar_arena_free(w->arena);
}

static heard draw(world *w, const char *table, const char *bearer)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"dataset\": \"small\", \"table\": \"%s\", \"max_cost\": \"0.2\"}", table);
    return ask_with(&w->site, "POST", "/v1/draws", NULL, bearer, body);
}

static void test_budget_table(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, NULL);
    h = get(&w.site, "/v1/tables/small/sex"); /* from a finer one, or drawn for its cost */
    assert_true(json_is_true(at(&h, "allowed")));
    assert_true(json_is_false(at(&h, "answer/exact")));
    expect_text(&h, "answer/from", "region^1*sex");
    expect_text(&h, "draw/cost/text", "rho 0.125");
    expect_text(&h, "draw/cost/amount", "0.125");
    /* P(|X| <= 5) = 0.938 and P(|X| <= 6) = 0.962 of the discrete Laplace distribution */
    assert_true(number(&h, "draw/half_width95") == 6);
    heard_clear(&h);
    h = get(&w.site, "/v1/tables/small/age*work");
    assert_true(json_is_true(at(&h, "allowed")));
    expect_text(&h, "refusal/rule", "not-drawn");
    assert_true(json_is_null(at(&h, "answer")));
    assert_true(json_array_size(at(&h, "refusal/suggestions")) >= 1);
    heard_clear(&h);
    assert_string_equal(w.vault.asked, ""); /* looking asks nobody */
    w.site.options.ask_vault = NULL;
    h = get(&w.site, "/v1/tables/small/age*work");
    assert_true(json_is_false(at(&h, "allowed")));
    assert_true(json_is_null(at(&h, "draw")));
    heard_clear(&h);
    world_close(&w);
}

static void test_draw(void **state)
{
    world w;
    heard h;
    char message[512];
    world_open(&w, *state, NULL);
    assert_int_equal(serve_table_parse(&w.dataset, "age*work", &w.vault.draws, NULL), CELLAR_OK);
    w.vault.reply = "{\"state\": \"drawn\", \"cost\": \"rho 0.125\", \"file\": \"x.json\"}";
    h = draw(&w, "work*age", w.analyst);
    assert_int_equal(h.status, 201);
    expect_text(&h, "state", "drawn");
    expect_text(&h, "charged", "rho 0.125");
    expect_text(&h, "table", "age*work");
    assert_true(json_is_true(at(&h, "answer/exact")));
    heard_clear(&h);
    snprintf(message, sizeof message,
             "{\"do\":\"draw\",\"dataset\":\"small\",\"table\":\"age*work\",\"max_cost\":\"0.2\","
             "\"authorization\":\"%s\"}",
             w.analyst);
    assert_string_equal(w.vault.asked, message);
    w.vault.asked[0] = '\0';
    h = draw(&w, "age*work", w.analyst); /* it exists now: nobody is asked */
    assert_int_equal(h.status, 200);
    expect_text(&h, "state", "exists");
    assert_true(json_is_null(at(&h, "charged")));
    assert_string_equal(w.vault.asked, "");
    heard_clear(&h);
    scratch_says(w.place, "audit",
                 "\"who\":\"anna\",\"action\":\"draw\",\"dataset\":\"small\","
                 "\"table\":\"age*work\",\"decision\":\"asked\"");
    scratch_says(w.place, "audit", "\"decision\":\"drawn\",\"cost\":\"rho 0.125\"");
    assert_null(strstr(scratch_read(w.place, "audit"), w.analyst + 7));
    world_close(&w);
}

static void test_draw_refused(void **state)
{
    static const struct {
        const char *reply;
        int status;
        const char *detail;
    } cases[] = {
        {"{\"state\": \"refused\", \"rule\": \"budget\", \"detail\": \"The budget is spent.\"}",
         403, "The budget is spent. Ask for total instead."},
        {"{\"state\": \"wrong\", \"detail\": \"no such thing\"}", 400, "no such thing."},
        {"{\"state\": \"failed\", \"detail\": \"the operator sees why\"}", 503,
         "The vault could not do this now; ask again."},
        {"{\"state\": 7}", 503, "The vault could not do this now; ask again."},
        {"[]", 503, "The vault could not do this now; ask again."},
        {"nonsense", 503, "The vault could not do this now; ask again."},
        {NULL, 503, "The vault could not do this now; ask again."},
    };
    world w;
    world_open(&w, *state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        w.vault.reply = cases[i].reply;
        expect_problem(draw(&w, "age*work", w.analyst), cases[i].status, cases[i].detail);
    }
    expect_problem(draw(&w, "age*work", NULL), 401, "This needs a token with the role analyst.");
    expect_problem(draw(&w, "age*work", w.auditor), 403,
                   "The token 'audrey' does not have the role analyst.");
    expect_problem(draw(&w, "age*work", "Bearer x"), 401,
                   "This token is nobody's, or it has expired.");
    expect_problem(draw(&w, "age*height", w.analyst), 400, "there is no variable 'height'.");
    expect_problem(ask_with(&w.site, "POST", "/v1/draws", NULL, w.analyst,
                            "{\"dataset\": \"small\", \"table\": \"age*work\"}"),
                   400, "Member 'max_cost' of the body is missing.");
    world_close(&w);
}

static void test_draw_rules(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, "rules: [{name: few, max_variables: 1}]");
    h = draw(&w, "age*work", w.analyst);
    assert_int_equal(h.status, 403);
    expect_text(&h, "rule", "few");
    expect_text(&h, "suggestions/0", "age");
    assert_string_equal(w.vault.asked, "");
    heard_clear(&h);
    scratch_says(w.place, "audit", "\"decision\":\"refused\",\"rule\":\"few\"");
    world_close(&w);
}

static cellar_status nothing_exists(const serve_source *source, const serve_dataset *dataset,
                                    const serve_table *table, serve_status *out, cellar_error *err)
{
    (void) source, (void) dataset, (void) err;
    *out = (serve_status){.from = *table};
    return CELLAR_OK;
}

/* What the vault never draws is refused before it is asked, and is no suggestion. */
static void test_draw_never(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, NULL);
    w.class.variables = 2;
    w.ops.status = nothing_exists;
    h = draw(&w, "age*work*sex", w.analyst);
    assert_int_equal(h.status, 403);
    expect_text(&h, "rule", "class");
    expect_text(&h, "suggestions/0", "age*work");
    heard_clear(&h);
    h = get(&w.site, "/v1/tables/small/age*work*sex");
    assert_true(json_is_false(at(&h, "allowed")));
    expect_text(&h, "refusal/rule", "class");
    expect_text(&h, "refusal/suggestions/0/draw/cost/text", "rho 0.125");
    heard_clear(&h);
    h = draw(&w, "total", w.analyst);
    expect_text(&h, "rule", "total");
    assert_null(at(&h, "cost"));
    expect_text(&h, "suggestions/0", "region^1*sex");
    heard_clear(&h);
    assert_string_equal(w.vault.asked, "");
    w.vault.reply = "{\"state\": \"refused\", \"rule\": \"max-cost\", \"detail\": \"Too dear.\"}";
    h = draw(&w, "age*work", w.analyst); /* nothing else is known not to be too dear */
    assert_int_equal(json_array_size(at(&h, "suggestions")), 0);
    heard_clear(&h);
    world_close(&w);
}

static void test_statement(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, NULL);
    w.vault.reply = "{\"state\": \"ok\", \"statement\": \"At most rho 1.\", \"is_whole\": true, "
                    "\"budget\": {\"cap\": \"rho 1\", \"spent\": \"rho 0.1\"}, \"secret\": 1}";
    h = ask_with(&w.site, "GET", "/v1/datasets/small/statement", NULL, w.analyst, NULL);
    assert_int_equal(h.status, 200);
    expect_text(&h, "statement", "At most rho 1.");
    expect_text(&h, "budget/cap", "rho 1");
    assert_null(at(&h, "secret"));
    heard_clear(&h);
    w.vault.reply = NULL;
    expect_problem(get(&w.site, "/v1/datasets/small/statement"), 503,
                   "The vault does not answer now; ask again.");
    h = get(&w.site, "/v1/health");
    assert_int_equal(h.status, 503);
    expect_text(&h, "vault", "silent");
    heard_clear(&h);
    world_close(&w);
}

static void test_operator(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, "rules: [{name: few, max_variables: 1}]");
    h = draw(&w, "age*work", w.analyst);
    heard_clear(&h);
    expect_problem(get(&w.site, "/v1/audit"), 401, "This needs a token with the role auditor.");
    expect_problem(ask_with(&w.site, "GET", "/v1/metrics", NULL, w.analyst, NULL), 403,
                   "The token 'anna' does not have the role auditor.");
    h = ask_with(&w.site, "GET", "/v1/audit", NULL, w.auditor, NULL);
    assert_int_equal(h.status, 200);
    assert_true(number(&h, "entries") == 1);
    expect_text(&h, "log/0/rule", "few");
    assert_int_equal(strlen(json_string_value(at(&h, "head"))), 64);
    heard_clear(&h);
    h = ask_with(&w.site, "GET", "/v1/audit", "from=2", w.auditor, NULL);
    assert_int_equal(json_array_size(at(&h, "log")), 0);
    heard_clear(&h);
    h = ask_with(&w.site, "GET", "/v1/metrics", NULL, w.auditor, NULL);
    assert_int_equal(h.status, 200);
    assert_non_null(strstr(h.body, "cellar_draws_total{decision=\"refused\"} 1\n"));
    assert_non_null(strstr(h.body, "cellar_responses_total{status=\"403\"} 2\n"));
    heard_clear(&h);
    world_close(&w);
}

static void test_limited(void **state)
{
    world w;
    heard h;
    world_open(&w, *state, NULL);
    serve_limits_free(w.site.limits);
    w.site.calls_per_window = 2;
    w.site.window_seconds = 600;
    assert_int_equal(serve_limits_create(2, 600, &w.site.limits, NULL), CELLAR_OK);
    for (size_t i = 0; i < 2; i++) {
        h = get(&w.site, "/v1/datasets");
        assert_int_equal(h.status, 200);
        heard_clear(&h);
    }
    h = get(&w.site, "/v1/datasets");
    assert_int_equal(h.status, 429);
    assert_true(atoi(h.retry_after) > 290 && atoi(h.retry_after) <= 300);
    heard_clear(&h);
    h = ask_with(&w.site, "GET", "/v1/datasets", NULL, w.analyst, NULL); /* by its own name */
    assert_int_equal(h.status, 200);
    heard_clear(&h);
    world_close(&w);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Each answer is whole, or says that memory ended. */
static cellar_status answers_scenario(void *context, cellar_error *err)
{
    static const struct {
        const char *method, *path, *body;
    } asked[] = {
        {"GET", "/v1/datasets/people", NULL},
        {"GET", "/v1/tables/people/region*sex", NULL},
        {"GET", "/v1/tables/people/sex/intervals", NULL},
        {"GET", "/v1/datasets/people/statement", NULL},
        {"POST", "/v1/compare",
         "{\"dataset\": \"people\", \"first\": {\"sex\": \"f\"}, \"second\": {\"sex\": \"f\"}}"},
    };
    enum {
        N = sizeof asked / sizeof asked[0]
    }; /* the last has one set twice: nothing to compute */
    for (size_t i = 0; i < N; i++) {
        heard h = ask_with(context, asked[i].method, asked[i].path, NULL, NULL, asked[i].body);
        const int status = h.status;
        heard_clear(&h);
        if (status == 503)
            return cellar_fail_memory(err, "an answer");
        assert_int_equal(status, i + 1 == N ? 400 : 200);
    }
    return CELLAR_OK;
}

static void test_fail_every(void **state)
{
    cellar_site *site = serve_place_open(
        *state, "serve: 1\nsite: {title: Tables, limits: {calls: 1000000, seconds: 1}, "
                "languages: [en, sv]}\n" SERVE_PLACE_DATASET
                "    rules: [{name: one, when: region^2, max_variables: 1}]\n");
    check_fail_every(answers_scenario, site);
    cellar_site_close(site);
}

int main(void)
{
#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_cube_table), IN_FOLDER(test_cube_about),       IN_FOLDER(test_cube_rules),
        IN_FOLDER(test_compare),    IN_FOLDER(test_compare_mistakes), IN_FOLDER(test_intervals),
        IN_FOLDER(test_shares),     IN_FOLDER(test_independence),     IN_FOLDER(test_budget_table),
        IN_FOLDER(test_draw),       IN_FOLDER(test_draw_refused),     IN_FOLDER(test_draw_rules),
        IN_FOLDER(test_draw_never), IN_FOLDER(test_statement),        IN_FOLDER(test_operator),
        IN_FOLDER(test_limited),    IN_FOLDER(test_fail_every),
    };
    return cmocka_run_group_tests_name("serve_v1", tests, NULL, NULL);
}
