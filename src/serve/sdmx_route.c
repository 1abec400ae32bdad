/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SDMX REST 2.1, below /sdmx: /dataflow, /datastructure, /data. It only reads. A key has a part for
 * each dimension: codes between '+', nothing for all of them, "_T" for the total. Without a key the
 * default table is answered. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/answering.h"
#include "serve/sdmx.h"

/* ---- structures ------------------------------------------------------------------- */

/* The data sets of AGENCY/ID/VERSION; "all" and nothing are all of them. 0 when there is none. */
static size_t sdmx_find(const cellar_site *site, const serve_call *call,
                        const serve_dataset **datasets)
{
    const char *id = call->n_segments > 2 ? call->segments[2] : "all";
    *datasets = site->datasets;
    if (call->n_segments > 1 && strcasecmp(call->segments[1], "all") != 0 &&
        strcasecmp(call->segments[1], SERVE_SDMX_AGENCY) != 0)
        return 0;
    if (strcasecmp(id, "all") == 0)
        return site->n_datasets;
    *datasets = serve_find_dataset(site, id);
    return *datasets != NULL;
}

static cellar_status sdmx_reply_structure(const cellar_site *site, const serve_call *call,
                                          int is_flow, serve_reply *reply)
{
    const serve_dataset *datasets;
    const size_t n = sdmx_find(site, call, &datasets);
    if (n == 0 || call->n_segments > 5)
        return serve_reply_problem(reply, 404, "There is no such structure.");
    reply->content_type = "application/vnd.sdmx.structure+xml; version=2.1; charset=UTF-8";
    if (is_flow)
        serve_sdmx_add_flows(datasets, n, &reply->body);
    else
        serve_sdmx_add_structures(datasets, n, &reply->body);
    return CELLAR_OK;
}

/* ---- keys ---------------------------------------------------------------------------- */

/* The data set of a reference to a dataflow: "ID", "AGENCY,ID" or "AGENCY,ID,VERSION". */
static const serve_dataset *sdmx_flow(const cellar_site *site, const char *reference,
                                      cellar_arena *arena)
{
    const char *comma = strchr(reference, ',');
    const char *id = comma != NULL ? comma + 1 : reference;
    const char *copy = cellar_arena_copy(arena, id, strcspn(id, ","));
    return copy != NULL ? serve_find_dataset(site, copy) : NULL;
}

/* Splits text at a character in place; answers how many parts there are, at most `room`. */
static size_t sdmx_split(char *text, char at, const char **out, size_t room)
{
    const char between[] = {at, '\0'};
    size_t n = 0;
    char *part;
    while (n < room && (part = strsep(&text, between)) != NULL)
        out[n++] = part;
    return text == NULL ? n : room + 1;
}

/* One part of a key: codes between '+'. */
static cellar_status sdmx_read_part(const serve_dataset *dataset,
                                    const serve_sdmx_dimension *dimension, const char *part,
                                    cellar_arena *arena, serve_choices *out, cellar_error *err)
{
    static const char *const all[] = {"*"};
    const size_t v = dimension->variable;
    char *copy = cellar_arena_copy(arena, part, strlen(part));
    serve_choice *choice = &out->items[out->n];
    const char **codes;
    size_t n = 1;

    for (const char *at = part; *at != '\0'; at++)
        n += *at == '+';
    codes = cellar_arena_alloc(arena, n, sizeof *codes);
    if (copy == NULL || codes == NULL)
        return cellar_fail_memory(err, "a key");
    n = sdmx_split(copy, '+', codes, n);
    if (n == 1 && strcmp(codes[0], SERVE_SDMX_TOTAL) == 0)
        return CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        if (strcmp(codes[i], SERVE_SDMX_TOTAL) == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "In a key '" SERVE_SDMX_TOTAL "' stands alone, dimension '%s'.",
                               dimension->id);
    *choice =
        (serve_choice){.variable = v == SIZE_MAX ? SERVE_CONTENTS_CODE : dataset->variables[v].code,
                       .expressions = part[0] != '\0' ? codes : all,
                       .n_expressions = part[0] != '\0' ? n : 1};
    out->n++;
    return CELLAR_OK;
}

/* The periods of the query, or all of them. Periods are compared as texts, as ISO 8601 allows. */
static cellar_status sdmx_read_time(const serve_call *call, const serve_variable *variable,
                                    serve_choices *out, cellar_error *err)
{
    const serve_level *level = &variable->levels[variable->n_levels - 1];
    const char *start = serve_parameter_find(call, "startPeriod");
    const char *end = serve_parameter_find(call, "endPeriod");
    const char **codes = cellar_arena_alloc(call->arena, level->n_categories, sizeof *codes);
    size_t n = 0;
    if (codes == NULL)
        return cellar_fail_memory(err, "a key");
    for (size_t c = 0; c < level->n_categories; c++) {
        const char *code = level->categories[c].code;
        if ((start == NULL || strcmp(code, start) >= 0) &&
            (end == NULL || strncmp(code, end, strlen(end)) <= 0))
            codes[n++] = code;
    }
    if (n == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "There are no data in these periods.");
    out->items[out->n++] =
        (serve_choice){.variable = variable->code, .expressions = codes, .n_expressions = n};
    return CELLAR_OK;
}

static cellar_status sdmx_read_key(const serve_call *call, const char *key, serve_request *request,
                                   cellar_error *err)
{
    serve_sdmx *sdmx = cellar_arena_alloc(call->arena, 1, sizeof *sdmx);
    char *copy = cellar_arena_copy(call->arena, key, strlen(key));
    const char *parts[SERVE_MAX_AXES];
    cellar_status status = CELLAR_OK;
    if (sdmx == NULL || copy == NULL)
        return cellar_fail_memory(err, "a key");
    serve_sdmx_init(sdmx, request->dataset);
    for (size_t d = 0; d < SERVE_MAX_AXES; d++)
        parts[d] = "";
    if (sdmx_split(copy, '.', parts, SERVE_MAX_AXES) != sdmx->n_key)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "A key of this dataflow has %zu parts between points.", sdmx->n_key);
    for (size_t d = 0; status == CELLAR_OK && d < sdmx->n_key; d++)
        status = sdmx_read_part(request->dataset, &sdmx->dimensions[d], parts[d], call->arena,
                                &request->choices, err);
    if (status == CELLAR_OK && sdmx->n > sdmx->n_key)
        status = sdmx_read_time(
            call, &request->dataset->variables[sdmx->dimensions[sdmx->n_key].variable],
            &request->choices, err);
    return status;
}

/* ---- data ------------------------------------------------------------------------------ */

static const serve_format *sdmx_format(const serve_call *call)
{
    const serve_format *format = serve_format_accepted(call->request->accept);
    const char *name = serve_parameter_find(call, "format");
    if (name != NULL && strcasecmp(name, "sdmx-csv") == 0)
        format = serve_format_find(name);
    return format != NULL && strcmp(format->name, "sdmx-csv") == 0 ? format
                                                                   : serve_format_find("sdmx-ml");
}

static cellar_status sdmx_reply_data(const cellar_site *site, const serve_call *call,
                                     serve_reply *reply, cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    const char *key = call->n_segments > 2 ? call->segments[2] : "all";
    cellar_status status = CELLAR_OK;
    if (request == NULL)
        return cellar_fail_memory(err, "a request");
    request->dataset =
        call->n_segments > 1 ? sdmx_flow(site, call->segments[1], call->arena) : NULL;
    if (request->dataset == NULL || call->n_segments > 4)
        return serve_reply_problem(reply, 404, "There is no such dataflow.");
    request->language = call->language;
    request->format = sdmx_format(call);
    if (strcasecmp(key, "all") == 0)
        CELLAR_TRY(serve_request_default(request, err));
    else
        CELLAR_TRY(sdmx_read_key(call, key, request, err));
    CELLAR_TRY(serve_reply_answer(site, call, request, reply, err));
out:
    return status;
}

cellar_status serve_route_sdmx(cellar_site *site, const serve_call *call, serve_reply *reply,
                               cellar_error *err)
{
    const char *resource = call->n_segments > 0 ? call->segments[0] : "";
    if (!serve_call_is_read(call))
        return serve_reply_method(reply);
    if (strcmp(resource, "dataflow") == 0)
        return sdmx_reply_structure(site, call, 1, reply);
    if (strcmp(resource, "datastructure") == 0)
        return sdmx_reply_structure(site, call, 0, reply);
    if (strcmp(resource, "data") == 0)
        return sdmx_reply_data(site, call, reply, err);
    return serve_reply_nothing(reply);
}
