/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved queries: files whose name is the digest of what they hold, so that the same query has the
 * same id and its data the same bytes, for ever. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "serve/guarantee.h"
#include "serve/json.h"
#include "serve/pxweb2.h"
#include "serve/request.h"
#include "serve/selection.h"
#include "table/formats/extension.h"

enum { SAVED_MAX = 100000 }; /* queries; a folder that anybody can fill needs an end */

/* ---- files ----------------------------------------------------------------------------- */

static int saved_is_id(const char *id)
{
    return strlen(id) == SERVE_ID_TEXT - 1 && strspn(id, "0123456789abcdef") == SERVE_ID_TEXT - 1;
}

/* FOLDER/ID.json in the arena; NULL when memory ends. */
static const char *saved_path(const cellar_site *site, const char *id, cellar_arena *arena)
{
    cellar_text path = {0};
    const char *copy;
    cellar_text_printf(&path, "%s/%s.json", site->saved_folder, id);
    copy = path.failed ? NULL : cellar_arena_copy(arena, path.bytes, path.length);
    cellar_text_clear(&path);
    return copy;
}

static int saved_is_full(const char *folder)
{
    DIR *entries = opendir(folder);
    size_t n = 0;
    if (entries == NULL)
        return 0; /* writing will say what is wrong */
    while (n <= SAVED_MAX && readdir(entries) != NULL)
        n++;
    closedir(entries);
    return n > SAVED_MAX;
}

/* A query that is there already is the same one. */
static cellar_status saved_write(const char *path, const char *text, cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_status status;
    status = cellar_output_open(path, &options, &output, err);
    if (status == CELLAR_OK) {
        cellar_output_string(output, text);
        status = cellar_output_commit(output, err);
    }
    return status == CELLAR_ERR_EXISTS ? CELLAR_OK : status;
}

/* *out is NULL when there is no such query. */
static cellar_status saved_read(const cellar_site *site, const char *id, cellar_arena *arena,
                                json_t **out, cellar_error *err)
{
    const char *path;
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (site->saved_folder == NULL || !saved_is_id(id))
        return CELLAR_OK;
    path = saved_path(site, id, arena);
    if (path == NULL)
        return cellar_fail_memory(err, "a saved query");
    if (access(path, F_OK) != 0)
        return CELLAR_OK;
    CELLAR_TRY(cellar_file_read_plain(path, SERVE_JSON_MAX_BYTES, &bytes, &length, err));
    CELLAR_TRY(serve_json_read(bytes, length, out, err));
out:
    cellar_free(bytes);
    return status;
}

/* ---- what a query asks for --------------------------------------------------------------- */

static cellar_status saved_set_format(const json_t *query, serve_request *request,
                                      cellar_arena *arena, cellar_error *err)
{
    const json_t *format = json_object_get(query, "outputFormat");
    serve_codes words;
    cellar_status status = serve_strings_of_json(json_object_get(query, "outputFormatParams"),
                                                 "outputFormatParams", arena, &words, err);
    if (format != NULL && !json_is_null(format)) {
        request->format =
            json_is_string(format) ? serve_format_find(json_string_value(format)) : NULL;
        if (request->format == NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "There is no such 'outputFormat'.");
    }
    for (size_t i = 0; status == CELLAR_OK && i < words.n; i++)
        status = serve_format_parameters(words.items[i], arena, &request->options, err);
    return status;
}

static cellar_status saved_request(const cellar_site *site, const json_t *query,
                                   cellar_arena *arena, serve_request *request, cellar_error *err)
{
    const char *table = json_string_value(json_object_get(query, "tableId"));
    const char *language = json_string_value(json_object_get(query, "language"));
    cellar_status status = CELLAR_OK;
    if (table == NULL || language == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "A saved query needs 'tableId', 'language' and 'selection'.");
    request->dataset = serve_find_dataset(site, table);
    request->language = serve_language_find(site, language, strlen(language));
    if (request->dataset == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "There is no table '%.200s'.", table);
    if (request->language == SIZE_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT, "There are no texts in language '%.60s'.",
                           language);
    CELLAR_TRY(saved_set_format(query, request, arena, err));
    CELLAR_TRY(serve_selection_of_json(json_object_get(query, "selection"), arena,
                                       &request->choices, err));
out:
    return status;
}

cellar_status serve_saved_request(const cellar_site *site, const serve_call *call, const char *id,
                                  serve_request *request, int *found, cellar_error *err)
{
    json_t *query;
    cellar_status status = saved_read(site, id, call->arena, &query, err);
    *found = query != NULL;
    if (status == CELLAR_OK && query != NULL)
        status = saved_request(site, query, call->arena, request, err);
    json_decref(query);
    return status;
}

/* ---- replies ------------------------------------------------------------------------------- */

static cellar_status saved_reply(const cellar_site *site, const char *id, json_t *query,
                                 serve_reply *reply, cellar_error *err)
{
    const char *language = json_string_value(json_object_get(query, "language"));
    const size_t l = serve_language_find(site, language, strlen(language));
    cellar_text *out = &reply->body;
    char path[128], *text;

    if (json_object_set_new(query, "id", json_string(id)) != 0 ||
        (text = cellar_json_text(query, JSON_COMPACT | JSON_SORT_KEYS)) == NULL)
        return cellar_fail_memory(err, "a saved query");
    snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/savedqueries/%s", id);
    serve_reply_json(reply);
    serve_json_open(out, '{');
    serve_json_pair(out, "language", language);
    serve_json_pair(out, "id", id);
    serve_json_name(out, "savedQuery");
    serve_json_raw(out, text);
    serve_json_name(out, "links");
    serve_json_open(out, '[');
    serve_json_link(out, site, "self", path, l != SIZE_MAX ? l : 0);
    snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/savedqueries/%s/data", id);
    serve_json_link(out, site, "data", path, l != SIZE_MAX ? l : 0);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    cellar_free(text);
    return CELLAR_OK;
}

/* The members that make the query, and no others. */
static json_t *saved_canonical(const json_t *body)
{
    static const char *const names[] = {"tableId", "language", "selection", "outputFormat",
                                        "outputFormatParams"};
    json_t *query = json_object();
    for (size_t i = 0; query != NULL && i < sizeof names / sizeof *names; i++) {
        json_t *member = json_object_get(body, names[i]);
        if (member != NULL && !json_is_null(member) &&
            json_object_set(query, names[i], member) != 0) {
            json_decref(query);
            return NULL;
        }
    }
    return query;
}

/* Checks that the query can be read and asked, and keeps it. */
static cellar_status saved_keep(const cellar_site *site, const serve_call *call,
                                const json_t *query, char id[SERVE_ID_TEXT], cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    serve_question *question = cellar_arena_alloc(call->arena, 1, sizeof *question);
    char *text = cellar_json_text(query, JSON_COMPACT | JSON_SORT_KEYS);
    const char *path = NULL;
    cellar_status status = CELLAR_OK;

    if (request == NULL || question == NULL || text == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a saved query"));
    CELLAR_TRY(saved_request(site, query, call->arena, request, err));
    CELLAR_TRY(serve_choices_question(request->dataset, &request->choices, request->language,
                                      call->arena, question, err));
    serve_digest(text, strlen(text), id);
    path = saved_path(site, id, call->arena);
    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a saved query"));
    if (access(path, F_OK) == 0)
        goto out;
    if (saved_is_full(site->saved_folder))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "No more queries are saved here."));
    status = saved_write(path, text, err);
out:
    cellar_free(text);
    return status;
}

static cellar_status saved_create(const cellar_site *site, const serve_call *call,
                                  serve_reply *reply, cellar_error *err)
{
    json_t *body = NULL, *query = NULL;
    char id[SERVE_ID_TEXT];
    cellar_text location = {0};
    cellar_status status = CELLAR_OK;

    if (site->saved_folder == NULL)
        return serve_reply_problem(reply, 403, "This site saves no queries.");
    CELLAR_TRY(serve_json_read(call->request->body, call->request->body_length, &body, err));
    query = saved_canonical(body);
    if (query == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a saved query"));
    CELLAR_TRY(saved_keep(site, call, query, id, err));
    CELLAR_TRY(saved_reply(site, id, query, reply, err));
    cellar_text_printf(&location, "%s" SERVE_PXWEB2_PREFIX "/savedqueries/%s", site->base_url, id);
    if (!location.failed)
        reply->location = cellar_arena_copy(call->arena, location.bytes, location.length);
    if (reply->location == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a saved query"));
    reply->status = 201;
out:
    cellar_text_clear(&location);
    json_decref(query);
    json_decref(body);
    return status;
}

/* ---- the route ----------------------------------------------------------------------------- */

static cellar_status saved_show(const cellar_site *site, const serve_call *call, serve_reply *reply,
                                cellar_error *err)
{
    const char *id = call->segments[1];
    json_t *query;
    cellar_status status = saved_read(site, id, call->arena, &query, err);
    if (status == CELLAR_OK)
        status = query != NULL
                     ? saved_reply(site, id, query, reply, err)
                     : serve_reply_problem(reply, 404, "There is no saved query '%.60s'.", id);
    json_decref(query);
    return status;
}

/* Its data, or its selection. The language of the query holds unless the call names one. */
static cellar_status saved_run(const cellar_site *site, const serve_call *call, serve_reply *reply,
                               cellar_error *err)
{
    const char *id = call->segments[1];
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    char path[128];
    cellar_status status = CELLAR_OK;
    int found;

    if (request == NULL)
        return cellar_fail_memory(err, "a saved query");
    CELLAR_TRY(serve_saved_request(site, call, id, request, &found, err));
    if (!found)
        return serve_reply_problem(reply, 404, "There is no saved query '%.60s'.", id);
    if (serve_parameter_find(call, "lang") != NULL)
        request->language = call->language;
    if (strcmp(call->segments[2], "selection") == 0) {
        snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/savedqueries/%s/selection", id);
        return serve_pxweb2_reply_selection(site, call, request, path, reply, err);
    }
    CELLAR_TRY(serve_pxweb2_format(call, request, err));
    CELLAR_TRY(serve_reply_answer(site, call, request, reply, err));
out:
    return status;
}

cellar_status serve_pxweb2_saved(cellar_site *site, const serve_call *call, serve_reply *reply,
                                 cellar_error *err)
{
    const char *part = call->n_segments == 3 ? call->segments[2] : "";
    if (call->n_segments == 1)
        return serve_call_is_read(call) ? serve_reply_method(reply)
                                        : saved_create(site, call, reply, err);
    if (call->n_segments == 2)
        return serve_call_is_read(call) ? saved_show(site, call, reply, err)
                                        : serve_reply_method(reply);
    if (strcmp(part, "data") == 0 || strcmp(part, "selection") == 0)
        return serve_call_is_read(call) ? saved_run(site, call, reply, err)
                                        : serve_reply_method(reply);
    return serve_reply_nothing(reply);
}
