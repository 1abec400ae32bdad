/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table: its metadata, its default selection, its data. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/json.h"
#include "serve/pxweb2.h"
#include "serve/selection.h"

cellar_status serve_pxweb2_format(const serve_call *call, serve_request *request, cellar_error *err)
{
    const char *format = serve_parameter_find(call, "outputFormat");
    const char *parameters = serve_parameter_find(call, "outputFormatParams");
    if (format != NULL && format[0] != '\0') {
        request->format = serve_format_find(format);
        if (request->format == NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "There is no format '%.60s'.", format);
    }
    if (request->format == NULL)
        request->format = serve_format_accepted(call->request->accept);
    if (request->format == NULL)
        request->format = serve_formats();
    return parameters != NULL
               ? serve_format_parameters(parameters, call->arena, &request->options, err)
               : CELLAR_OK;
}

/* ---- data ---------------------------------------------------------------------------- */

/* Places alone are no selection: they place the default one. */
static cellar_status pxweb2_default(serve_request *request, cellar_error *err)
{
    const serve_codes stub = request->choices.stub, heading = request->choices.heading;
    const cellar_status status = serve_request_default(request, err);
    request->choices.stub = stub;
    request->choices.heading = heading;
    return status;
}

static cellar_status pxweb2_read_body(const serve_call *call, serve_choices *out, cellar_error *err)
{
    json_t *body = NULL;
    cellar_status status = CELLAR_OK;
    *out = (serve_choices){.n = 0};
    if (call->request->body_length == 0)
        return CELLAR_OK;
    CELLAR_TRY(serve_json_read(call->request->body, call->request->body_length, &body, err));
    CELLAR_TRY(serve_selection_of_json(body, call->arena, out, err));
out:
    json_decref(body);
    return status;
}

cellar_status serve_pxweb2_data(const cellar_site *site, const serve_call *call,
                                const serve_dataset *dataset, serve_reply *reply, cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    cellar_status status = CELLAR_OK;
    if (request == NULL)
        return cellar_fail_memory(err, "a request");
    request->dataset = dataset;
    request->language = call->language;
    CELLAR_TRY(serve_pxweb2_format(call, request, err));
    CELLAR_TRY(serve_call_is_read(call) ? serve_selection_of_query(call, &request->choices, err)
                                        : pxweb2_read_body(call, &request->choices, err));
    if (request->choices.n == 0)
        CELLAR_TRY(pxweb2_default(request, err));
    CELLAR_TRY(serve_reply_answer(site, call, request, reply, err));
out:
    return status;
}

/* ---- metadata ------------------------------------------------------------------------- */

/* Every category of every variable, at the levels that the query names. */
static cellar_status pxweb2_all(const serve_call *call, const serve_dataset *dataset,
                                serve_choices *out, cellar_error *err)
{
    static const char *const all[] = {"*"};
    serve_choices *named = cellar_arena_alloc(call->arena, 1, sizeof *named);
    cellar_status status;
    if (named == NULL)
        return cellar_fail_memory(err, "a request");
    status = serve_selection_of_query(call, named, err);
    *out = (serve_choices){.n = 0};
    for (size_t v = 0; status == CELLAR_OK && v < dataset->n_variables; v++) {
        const char *code = dataset->variables[v].code;
        serve_choice choice = {.variable = code, .expressions = all, .n_expressions = 1};
        for (size_t i = 0; i < named->n; i++)
            if (strcasecmp(named->items[i].variable, code) == 0)
                choice.codelist = named->items[i].codelist;
        out->items[out->n++] = choice;
    }
    return status;
}

/* What the metadata are about: all, or a selection as PxWeb begins with. */
static cellar_status pxweb2_scope(const cellar_site *site, const serve_call *call,
                                  serve_request *request, int *found, cellar_error *err)
{
    const char *saved = serve_parameter_find(call, "savedQuery");
    const char *is_default = serve_parameter_find(call, "defaultSelection");
    *found = 1;
    if (saved != NULL && saved[0] != '\0')
        return serve_saved_request(site, call, saved, request, found, err);
    if (is_default != NULL && strcasecmp(is_default, "true") == 0)
        return serve_request_default(request, err);
    return pxweb2_all(call, request->dataset, &request->choices, err);
}

cellar_status serve_pxweb2_metadata(const cellar_site *site, const serve_call *call,
                                    const serve_dataset *dataset, serve_reply *reply,
                                    cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    serve_question *question = cellar_arena_alloc(call->arena, 1, sizeof *question);
    const serve_format_options options = {.base_url = site->base_url};
    cellar_status status = CELLAR_OK;
    serve_grid grid;
    int found;

    if (request == NULL || question == NULL)
        return cellar_fail_memory(err, "a request");
    request->dataset = dataset;
    CELLAR_TRY(pxweb2_scope(site, call, request, &found, err));
    if (!found || request->dataset != dataset)
        return serve_reply_problem(reply, 404, "There is no such saved query of this table.");
    CELLAR_TRY(serve_choices_question(dataset, &request->choices, call->language, call->arena,
                                      question, err));
    serve_grid_init(&grid, question, NULL);
    serve_reply_json(reply);
    serve_jsonstat_add(&grid, &options, &reply->body);
out:
    return status;
}

/* ---- selections ------------------------------------------------------------------------ */

cellar_status serve_pxweb2_reply_selection(const cellar_site *site, const serve_call *call,
                                           const serve_request *request, const char *path,
                                           serve_reply *reply, cellar_error *err)
{
    serve_question *question = cellar_arena_alloc(call->arena, 1, sizeof *question);
    cellar_text *out = &reply->body;
    cellar_status status;
    if (question == NULL)
        return cellar_fail_memory(err, "a selection");
    status = serve_choices_question(request->dataset, &request->choices, request->language,
                                    call->arena, question, err);
    if (status != CELLAR_OK)
        return status;
    serve_reply_json(reply);
    serve_json_open(out, '{');
    serve_json_pair(out, "language", site->languages[request->language]);
    serve_selection_add(question, out);
    serve_json_name(out, "links");
    serve_json_open(out, '[');
    serve_json_link(out, site, "self", path, request->language);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    return CELLAR_OK;
}

cellar_status serve_pxweb2_selection(const cellar_site *site, const serve_call *call,
                                     const serve_dataset *dataset, serve_reply *reply,
                                     cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    char path[256];
    cellar_status status;
    if (request == NULL)
        return cellar_fail_memory(err, "a request");
    request->dataset = dataset;
    request->language = call->language;
    snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/tables/%s/defaultselection", dataset->id);
    status = serve_request_default(request, err);
    return status == CELLAR_OK ? serve_pxweb2_reply_selection(site, call, request, path, reply, err)
                               : status;
}
