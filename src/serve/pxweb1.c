/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PxWebApi 1, below /api/v1/LANGUAGE: one data base, whose tables are the data sets. It only reads.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/answering.h"
#include "serve/json.h"
#include "serve/request.h"
#include "serve/selection.h"

#define PXWEB1_DATABASE "tables"

/* ---- what there is ---------------------------------------------------------------- */

static cellar_status pxweb1_config(const cellar_site *site, serve_reply *reply)
{
    const uint64_t cells = serve_site_max_cells(site);
    serve_reply_json(reply);
    cellar_text_printf(&reply->body,
                       "{\"maxValues\":%llu,\"maxCells\":%llu,\"maxCalls\":%u,\"timeWindow\":%u,"
                       "\"CORS\":true}",
                       (unsigned long long) cells, (unsigned long long) cells,
                       site->calls_per_window, site->window_seconds);
    return CELLAR_OK;
}

static cellar_status pxweb1_databases(const cellar_site *site, size_t language, serve_reply *reply)
{
    serve_reply_json(reply);
    serve_json_raw(&reply->body, "[{\"dbid\":\"" PXWEB1_DATABASE "\"");
    serve_json_pair(&reply->body, "text", site->title.in[language]);
    serve_json_close(&reply->body, '}');
    serve_json_close(&reply->body, ']');
    return CELLAR_OK;
}

static cellar_status pxweb1_tables(const cellar_site *site, size_t language, serve_reply *reply)
{
    cellar_text *out = &reply->body;
    serve_reply_json(reply);
    serve_json_open(out, '[');
    for (size_t i = 0; i < site->n_datasets; i++) {
        serve_json_open(out, '{');
        serve_json_pair(out, "id", site->datasets[i].id);
        serve_json_pair(out, "type", "t");
        serve_json_pair(out, "text", site->datasets[i].title.in[language]);
        if (site->datasets[i].updated != NULL)
            serve_json_pair(out, "updated", site->datasets[i].updated);
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
    return CELLAR_OK;
}

/* ---- metadata ---------------------------------------------------------------------- */

static void pxweb1_add_variable(const serve_grid *grid, size_t a, cellar_text *out)
{
    const serve_axis *axis = &grid->axes[a];
    serve_json_open(out, '{');
    serve_json_pair(out, "code", axis->code);
    serve_json_pair(out, "text", axis->label);
    serve_json_name(out, "values");
    serve_json_open(out, '[');
    for (size_t i = 0; i < axis->n; i++)
        serve_json_string(out, serve_grid_heading(grid, a, i).code);
    serve_json_close(out, ']');
    serve_json_name(out, "valueTexts");
    serve_json_open(out, '[');
    for (size_t i = 0; i < axis->n; i++)
        serve_json_string(out, serve_grid_heading(grid, a, i).label);
    serve_json_close(out, ']');
    serve_json_name(out, "elimination");
    serve_json_bool(out, axis->side != NULL &&
                             !grid->question->dataset->variables[axis->side->variable].is_constant);
    serve_json_name(out, "time");
    serve_json_bool(out, axis->role == SERVE_ROLE_TIME);
    serve_json_close(out, '}');
}

/* Every category of every variable, at its finest level. */
static cellar_status pxweb1_metadata(const serve_call *call, const serve_dataset *dataset,
                                     size_t language, serve_reply *reply, cellar_error *err)
{
    serve_choices *choices = cellar_arena_alloc(call->arena, 1, sizeof *choices);
    serve_question *question = cellar_arena_alloc(call->arena, 1, sizeof *question);
    serve_table finest = {{0}};
    serve_grid grid;
    cellar_status status;

    if (choices == NULL || question == NULL)
        return cellar_fail_memory(err, "a request");
    for (size_t v = 0; v < dataset->n_variables; v++)
        finest.levels[v] = (unsigned char) dataset->variables[v].n_levels;
    serve_choices_of_table(dataset, &finest, choices);
    status = serve_choices_question(dataset, choices, language, call->arena, question, err);
    if (status != CELLAR_OK)
        return status;
    serve_grid_init(&grid, question, NULL);
    serve_reply_json(reply);
    serve_json_open(&reply->body, '{');
    serve_json_pair(&reply->body, "title", dataset->title.in[language]);
    serve_json_name(&reply->body, "variables");
    serve_json_open(&reply->body, '[');
    for (size_t a = 0; a < grid.n_axes; a++)
        pxweb1_add_variable(&grid, a, &reply->body);
    serve_json_close(&reply->body, ']');
    serve_json_close(&reply->body, '}');
    return CELLAR_OK;
}

/* ---- data --------------------------------------------------------------------------- */

static const serve_format *pxweb1_format(const char *name)
{
    static const serve_format own[] = {
        {"json", "application/json; charset=UTF-8", "json", serve_write_json},
        {"json-stat", "application/json; charset=UTF-8", "json", serve_write_jsonstat_1},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcasecmp(name, own[i].name) == 0)
            return &own[i];
    return serve_format_find(strcasecmp(name, "sdmx") == 0 ? "sdmx-ml" : name);
}

/* "top" has the number of values as its only one. */
static cellar_status pxweb1_read_top(const serve_codes *values, cellar_arena *arena,
                                     serve_choice *out, cellar_error *err)
{
    const char **expression = cellar_arena_alloc(arena, 1, sizeof *expression);
    char text[64];
    if (values->n != 1 || strlen(values->items[0]) > 20)
        return cellar_fail(err, CELLAR_ERR_INPUT, "Filter 'top' takes one number.");
    snprintf(text, sizeof text, "top(%s)", values->items[0]);
    if (expression == NULL || (*expression = cellar_arena_copy(arena, text, strlen(text))) == NULL)
        return cellar_fail_memory(err, "a query");
    out->expressions = expression;
    return CELLAR_OK;
}

/* The code list that a filter names: "agg:NAME" and "vs:NAME"; NULL when it is none of these. */
static const char *pxweb1_codelist(const char *filter)
{
    if (strncasecmp(filter, "agg:", 4) == 0)
        return filter + 4;
    return strncasecmp(filter, "vs:", 3) == 0 ? filter + 3 : NULL;
}

static cellar_status pxweb1_read_choice(const json_t *item, cellar_arena *arena,
                                        serve_choices *choices, cellar_error *err)
{
    const json_t *selection = json_object_get(item, "selection");
    const char *code = json_string_value(json_object_get(item, "code"));
    const char *filter = json_string_value(json_object_get(selection, "filter"));
    serve_choice *choice = &choices->items[choices->n];
    serve_codes values;
    cellar_status status;

    if (code == NULL || filter == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "Each item of 'query' needs 'code' and 'selection' with 'filter'.");
    if (choices->n == SERVE_MAX_CHOICES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "The query names too many variables.");
    status =
        serve_strings_of_json(json_object_get(selection, "values"), "values", arena, &values, err);
    if (status != CELLAR_OK)
        return status;
    *choice = (serve_choice){.variable = cellar_arena_copy(arena, code, strlen(code)),
                             .expressions = values.items,
                             .n_expressions = values.n};
    if (pxweb1_codelist(filter) != NULL) {
        const char *list = pxweb1_codelist(filter);
        choice->codelist = cellar_arena_copy(arena, list, strlen(list));
    } else if (strcasecmp(filter, "top") == 0)
        status = pxweb1_read_top(&values, arena, choice, err);
    else if (strcasecmp(filter, "item") != 0 && strcasecmp(filter, "all") != 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT, "There is no filter '%.60s'.", filter);
    if (status == CELLAR_OK &&
        (choice->variable == NULL || (pxweb1_codelist(filter) != NULL && choice->codelist == NULL)))
        status = cellar_fail_memory(err, "a query");
    choices->n++;
    return status;
}

static cellar_status pxweb1_read(const json_t *body, cellar_arena *arena, serve_request *out,
                                 cellar_error *err)
{
    const json_t *query = json_object_get(body, "query");
    const json_t *format = json_object_get(json_object_get(body, "response"), "format");
    cellar_status status = CELLAR_OK;

    if (!json_is_array(query) || (format != NULL && !json_is_string(format)))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "The body must be {\"query\": [...], \"response\": {\"format\": "
                           "\"...\"}}.");
    out->format = pxweb1_format(format != NULL ? json_string_value(format) : "px");
    if (out->format == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "There is no format '%.60s'.",
                           json_string_value(format));
    for (size_t i = 0; status == CELLAR_OK && i < json_array_size(query); i++)
        status = pxweb1_read_choice(json_array_get(query, i), arena, &out->choices, err);
    return status;
}

static cellar_status pxweb1_data(const cellar_site *site, const serve_call *call,
                                 const serve_dataset *dataset, size_t language, serve_reply *reply,
                                 cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    json_t *body = NULL;
    cellar_status status = CELLAR_OK;
    if (request == NULL)
        return cellar_fail_memory(err, "a request");
    request->dataset = dataset;
    request->language = language;
    CELLAR_TRY(serve_json_read(call->request->body, call->request->body_length, &body, err));
    CELLAR_TRY(pxweb1_read(body, call->arena, request, err));
    CELLAR_TRY(serve_reply_answer(site, call, request, reply, err));
out:
    json_decref(body);
    return status;
}

/* ---- the route ----------------------------------------------------------------------- */

/* A table by its id; PxWeb's own have ".px" at the end. */
static const serve_dataset *pxweb1_find(const cellar_site *site, const char *id)
{
    char name[128];
    const size_t n = strlen(id);
    if (n > 3 && n < sizeof name && strcasecmp(id + n - 3, ".px") == 0) {
        snprintf(name, sizeof name, "%.*s", (int) (n - 3), id);
        id = name;
    }
    return serve_find_dataset(site, id);
}

cellar_status serve_route_pxweb1(cellar_site *site, const serve_call *call, serve_reply *reply,
                                 cellar_error *err)
{
    const char *tag = call->n_segments > 0 ? call->segments[0] : "";
    const size_t language = serve_language_find(site, tag, strlen(tag));
    const serve_dataset *dataset;

    if (language == SIZE_MAX || call->n_segments > 3 ||
        (call->n_segments > 1 && strcasecmp(call->segments[1], PXWEB1_DATABASE) != 0))
        return serve_reply_nothing(reply);
    if (serve_parameter_find(call, "config") != NULL)
        return pxweb1_config(site, reply);
    if (call->n_segments < 3 && !serve_call_is_read(call))
        return serve_reply_method(reply);
    if (call->n_segments == 1)
        return pxweb1_databases(site, language, reply);
    if (call->n_segments == 2)
        return pxweb1_tables(site, language, reply);
    dataset = pxweb1_find(site, call->segments[2]);
    if (dataset == NULL)
        return serve_reply_problem(reply, 404, "There is no table '%.200s'.", call->segments[2]);
    return serve_call_is_read(call) ? pxweb1_metadata(call, dataset, language, reply, err)
                                    : pxweb1_data(site, call, dataset, language, reply, err);
}
