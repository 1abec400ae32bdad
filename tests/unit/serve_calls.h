/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of a site that serves the sample, without sockets. */
#ifndef CELLAR_TESTS_SERVE_CALLS_H
#define CELLAR_TESTS_SERVE_CALLS_H

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "serve_sample.h"

static const char *const sample_title[] = {"A site", "En sajt"};

static inline cellar_site sample_site(void)
{
    return (cellar_site){.title = {sample_title},
                         .base_url = "",
                         .license = "CC0",
                         .languages = sample_languages,
                         .n_languages = 2,
                         .datasets = &sample_dataset,
                         .n_datasets = 1,
                         .calls_per_window = 30,
                         .window_seconds = 10};
}

/* What came back; free it with call_clear(). */
typedef struct call_result {
    cellar_response response;
    json_t *json; /* NULL when the body is none */
} call_result;

static inline call_result call_request(cellar_site *site, const cellar_request *request)
{
    call_result result = {.json = NULL};
    cellar_site_answer(site, request, &result.response);
    result.json =
        json_loadb(result.response.body, result.response.body_length, JSON_REJECT_DUPLICATES, NULL);
    return result;
}

static inline void call_clear(call_result *result)
{
    json_decref(result->json);
    cellar_response_clear(&result->response);
}

static inline call_result call_get(cellar_site *site, const char *path, const char *query)
{
    return call_request(site, &(cellar_request){.method = "GET", .path = path, .query = query});
}

static inline call_result call_post(cellar_site *site, const char *path, const char *query,
                                    const char *body)
{
    return call_request(site, &(cellar_request){.method = "POST",
                                                .path = path,
                                                .query = query,
                                                .body = body,
                                                .body_length = strlen(body)});
}

static inline const char *call_header(const call_result *result, const char *name)
{
    for (size_t i = 0; i < result->response.n_headers; i++)
        if (strcmp(result->response.headers[i].name, name) == 0)
            return result->response.headers[i].value;
    return NULL;
}

/* Follows names and numbers through a document: "dimension/region/label". */
static inline json_t *json_at(json_t *root, const char *names)
{
    char word[64];
    while (root != NULL && *names != '\0') {
        const size_t n = strcspn(names, "/");
        snprintf(word, sizeof word, "%.*s", (int) n, names);
        root = json_is_array(root) ? json_array_get(root, (size_t) atoi(word))
                                   : json_object_get(root, word);
        names += n + (names[n] == '/');
    }
    return root;
}

static inline void json_says(json_t *root, const char *names, const char *text)
{
    const char *found = json_string_value(json_at(root, names));
    if (found == NULL || strcmp(found, text) != 0)
        fail_msg("%s is '%s', not '%s'", names, found != NULL ? found : "(none)", text);
}

static inline void call_is(const call_result *result, int status)
{
    if (result->response.status != status)
        fail_msg("status %d, not %d: %.*s", result->response.status, status,
                 (int) result->response.body_length, (const char *) result->response.body);
}

#endif
