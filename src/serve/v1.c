/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/v1.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- routes ----------------------------------------------------------------- */

typedef struct v1_route {
    const char *method, *pattern; /* "{}" is any segment */
    serve_route *run;
} v1_route;

static const v1_route routes[] = {
    {"GET", "health", v1_health},
    {"GET", "metrics", v1_metrics},
    {"GET", "audit", v1_audit},
    {"GET", "datasets", v1_datasets},
    {"GET", "datasets/{}", v1_dataset},
    {"GET", "datasets/{}/statement", v1_statement},
    {"GET", "datasets/{}/variables", v1_variables},
    {"GET", "datasets/{}/intervals", v1_intervals},
    {"GET", "datasets/{}/history", v1_history},
    {"GET", "tables/{}/{}", v1_table},
    {"GET", "tables/{}/{}/intervals", v1_intervals},
    {"GET", "certificates/{}", v1_certificate},
    {"POST", "draws", v1_draw},
    {"POST", "compare", v1_compare},
    {"POST", "independence", v1_independence},
};
enum { N_ROUTES = sizeof routes / sizeof routes[0] };

static int matches(const char *pattern, const serve_call *call)
{
    size_t n = 0;
    for (const char *at = pattern; *at != '\0'; n++) {
        const size_t length = strcspn(at, "/");
        if (n == call->n_segments)
            return 0;
        if (strncmp(at, "{}", length) != 0 &&
            (strlen(call->segments[n]) != length || strncmp(call->segments[n], at, length) != 0))
            return 0;
        at += length + (at[length] == '/');
    }
    return n == call->n_segments;
}

cellar_status serve_route_v1(cellar_site *site, const serve_call *call, serve_reply *reply,
                             cellar_error *err)
{
    const char *method = strcmp(call->request->method, "HEAD") == 0 ? "GET" : call->request->method;
    const v1_route *found = NULL;
    for (size_t i = 0; i < N_ROUTES; i++)
        if (matches(routes[i].pattern, call)) {
            found = &routes[i];
            if (strcmp(found->method, method) == 0)
                return found->run(site, call, reply, err);
        }
    if (found != NULL)
        return serve_reply_problem(reply, 405, "This address answers %s only.", found->method);
    return serve_reply_problem(reply, 404, "There is nothing at this address.");
}

/* ---- requests ---------------------------------------------------------------- */

const serve_dataset *v1_find_dataset(const cellar_site *site, const char *id, serve_reply *reply,
                                     cellar_status *status)
{
    const serve_dataset *dataset = serve_find_dataset(site, id);
    *status = CELLAR_OK;
    if (dataset == NULL)
        *status = serve_reply_problem(reply, 404, "There is no data set '%.100s'.", id);
    return dataset;
}

cellar_status v1_read_body(const serve_call *call, const char *const *members, json_t **out,
                           cellar_error *err)
{
    const cellar_request *request = call->request;
    const char *key;
    json_t *value;
    cellar_status status;
    *out = NULL;
    if (request->body == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "The request needs a body, a JSON object.");
    status = serve_json_read(request->body, request->body_length, out, err);
    if (status == CELLAR_OK && !json_is_object(*out))
        status = cellar_fail(err, CELLAR_ERR_INPUT, "The body is no JSON object.");
    if (status == CELLAR_OK)
        json_object_foreach(*out, key, value)
        {
            size_t i = 0;
            while (members[i] != NULL && strcmp(members[i], key) != 0)
                i++;
            if (members[i] == NULL)
                status = cellar_fail(err, CELLAR_ERR_INPUT, "The body has no member '%.60s'.", key);
        }
    if (status != CELLAR_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

cellar_status v1_read_text(const json_t *body, const char *name, const char **out,
                           cellar_error *err)
{
    const json_t *value = json_object_get(body, name);
    *out = json_string_value(value);
    if (*out == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "Member '%s' of the body is %s.", name,
                           value == NULL ? "missing" : "no text");
    return CELLAR_OK;
}

int v1_has_role(const serve_call *call, unsigned role, serve_reply *reply, cellar_status *status)
{
    static const char *const names[] = {"reader", "analyst", "publisher", "auditor"};
    size_t r = 0;
    while (r < 3 && (role >> r & 1) == 0)
        r++;
    *status = CELLAR_OK;
    if ((call->token.roles & role) != 0)
        return 1;
    *status =
        call->token.roles == 0
            ? serve_reply_problem(reply, 401, "This needs a token with the role %s.", names[r])
            : serve_reply_problem(reply, 403, "The token '%s' does not have the role %s.",
                                  call->token.name, names[r]);
    return 0;
}

/* ---- replies ------------------------------------------------------------------ */

cellar_status v1_finish(serve_reply *reply)
{
    reply->content_type = "application/json; charset=UTF-8";
    return reply->body.failed ? CELLAR_ERR_MEMORY : CELLAR_OK;
}

void v1_number(cellar_text *out, const char *name, double value)
{
    char text[40];
    serve_json_name(out, name);
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    serve_json_raw(out, isfinite(value) ? text : "null");
}

void v1_bool(cellar_text *out, const char *name, int value)
{
    serve_json_name(out, name);
    serve_json_bool(out, value);
}

void v1_integer(cellar_text *out, const char *name, uint64_t value)
{
    char text[24];
    serve_json_name(out, name);
    snprintf(text, sizeof text, "%" PRIu64, value);
    serve_json_raw(out, text);
}

void v1_text(cellar_text *out, const char *name, const serve_texts *texts, size_t language)
{
    serve_json_pair(out, name, texts->in != NULL ? texts->in[language] : NULL);
}
