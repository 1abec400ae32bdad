/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random requests to a whole server: whatever is asked, the answer is well-formed and none of 5xx.
 *
 * usage: test_serve_random [REQUESTS [SEED]] */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "random_request.h"
#include "serve_whole.h"

static size_t n_requests = 1500;
static uint64_t seed = 22;

static const char *header_of(const cellar_response *response, const char *name)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return "";
}

/* A sentence if the response is well-formed: NULL. */
static const char *fault_of(const cellar_response *response)
{
    const char *type = header_of(response, "Content-Type");
    const int is_json = strncmp(type, "application/json", 16) == 0;
    const char *detail, *fault = NULL;
    json_t *json;
    if (response->status < 200 || response->status >= 500)
        return "the status is no 2xx, 3xx or 4xx";
    if (response->status >= 400 && strcmp(type, "application/problem+json") != 0)
        return "an error is no problem+json";
    if (response->status < 400 && !is_json)
        return NULL;
    if (response->status == 304)
        return response->body_length > 0 ? "a 304 has a body" : NULL;
    json = json_loadb(response->body, response->body_length, JSON_REJECT_DUPLICATES, NULL);
    if (json == NULL)
        return "the body is no JSON";
    detail = json_string_value(json_object_get(json, "detail"));
    if (response->status >= 400 &&
        (detail == NULL || detail[0] == '\0' || strchr(detail, '\n') != NULL ||
         json_integer_value(json_object_get(json, "status")) != response->status))
        fault = "an error does not say what is wrong in one sentence";
    json_decref(json);
    return fault;
}

static const char *text_of(const random_request *from, size_t text)
{
    return from->texts[text].is_sent ? from->texts[text].bytes : NULL;
}

static void show(const random_request *from)
{
    for (size_t t = 0; t < REQUEST_N_TEXTS; t++)
        if (from->texts[t].is_sent)
            print_message("%zu: %.2000s\n", t, from->texts[t].bytes);
}

static void any_request_is_answered(void **state)
{
    random_request *made = calloc(1, sizeof *made);
    uint64_t random = seed;
    size_t n_of[5] = {0};
    whole w;
    whole_open(&w, *state);
    for (size_t i = 0; i < n_requests; i++) {
        cellar_request request;
        cellar_response response;
        const char *fault;
        random_request_make(made, &random, vault_token);
        request = (cellar_request){.method = text_of(made, REQUEST_METHOD),
                                   .path = text_of(made, REQUEST_PATH),
                                   .query = text_of(made, REQUEST_QUERY),
                                   .body = text_of(made, REQUEST_BODY),
                                   .body_length = made->texts[REQUEST_BODY].length,
                                   .accept = text_of(made, REQUEST_ACCEPT),
                                   .language = text_of(made, REQUEST_LANGUAGE),
                                   .authorization = text_of(made, REQUEST_AUTHORIZATION),
                                   .etag = text_of(made, REQUEST_ETAG),
                                   .content_type = text_of(made, REQUEST_CONTENT_TYPE),
                                   .address = text_of(made, REQUEST_ADDRESS)};
        cellar_site_answer(w.site, &request, &response);
        fault = fault_of(&response);
        if (fault != NULL) {
            show(made);
            fail_msg("request %zu: %s: %d %.*s", i, fault, response.status,
                     (int) (response.body_length < 500 ? response.body_length : 500),
                     (const char *) response.body);
        }
        n_of[response.status / 100]++;
        cellar_response_clear(&response);
    }
    print_message("%zu requests: %zu with 2xx, %zu with 3xx, %zu with 4xx, none with 5xx; %zu to "
                  "the vault to draw\n",
                  n_requests, n_of[2], n_of[3], n_of[4], w.n_draws);
    assert_true(n_of[2] > n_requests / 10 && n_of[4] > n_requests / 10 && w.n_draws > 0);
    whole_close(&w);
    free(made);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        any_request_is_answered, vault_place_setup, whole_teardown)};
    if (argc > 1)
        n_requests = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("serve_random", tests, NULL, NULL);
}
