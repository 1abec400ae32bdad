/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors and refusals as application/problem+json. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/routes.h"
#include "serve/source.h"
#include "table/formats/extension.h"

static const char *title_of(int status)
{
    switch (status) {
    case 400:
        return "The request cannot be read";
    case 401:
        return "A token is needed";
    case 403:
        return "Refused";
    case 404:
        return "Not found";
    case 405:
        return "This method is not for this address";
    case 413:
        return "The request is too large";
    case 415:
        return "This media type cannot be read";
    case 429:
        return "Too many requests";
    case 503:
        return "Not now";
    default:
        return status < 500 ? "Not possible" : "An error of the server";
    }
}

/* Takes the object. */
static cellar_status set_body(serve_reply *reply, int status, json_t *object)
{
    char *text = object != NULL ? cellar_json_text(object, JSON_COMPACT) : NULL;
    json_decref(object);
    cellar_text_reset(&reply->body);
    reply->status = status;
    reply->content_type = "application/problem+json";
    reply->etag = NULL;
    reply->is_immutable = 0;
    if (text != NULL)
        cellar_text_add_string(&reply->body, text);
    cellar_free(text);
    return text != NULL && !reply->body.failed ? CELLAR_OK : CELLAR_ERR_MEMORY;
}

/* What a text lacks to be a sentence. */
static const char *end_of(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && strchr(".!?", text[length - 1]) != NULL ? "" : ".";
}

static json_t *problem(int status, const char *detail)
{
    return json_pack("{s:s, s:s, s:i, s:s+}", "type", "about:blank", "title", title_of(status),
                     "status", status, "detail", detail, end_of(detail));
}

cellar_status serve_reply_problem(serve_reply *reply, int status, const char *detail, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    for (size_t length = strlen(text); !cellar_utf8_valid(text, length);) /* cut in a character */
        text[--length] = '\0';
    return set_body(reply, status, problem(status, text));
}

static json_t *names_of(const serve_dataset *dataset, const serve_refusal *refusal)
{
    json_t *names = json_array();
    for (size_t i = 0; i < refusal->n_suggestions; i++) {
        char name[SERVE_TABLE_TEXT];
        serve_table_text(dataset, &refusal->suggestions[i], name);
        json_array_append_new(names, json_string(name));
    }
    return names;
}

/* The first table that is answered; else one that could be drawn. */
static void add_suggestion(const serve_dataset *dataset, const serve_refusal *refusal,
                           cellar_text *out)
{
    const serve_source *source = dataset->source;
    const serve_table *best = &refusal->suggestions[0];
    serve_status found = {.exists = 0};
    char name[SERVE_TABLE_TEXT];
    for (size_t i = 0; i < refusal->n_suggestions && !found.exists; i++)
        if (source->ops->status(source, dataset, &refusal->suggestions[i], &found, NULL) ==
                CELLAR_OK &&
            found.exists)
            best = &refusal->suggestions[i];
    serve_table_text(dataset, best, name);
    if (found.exists)
        cellar_text_printf(out, " Ask for %s instead.", name);
    else
        cellar_text_printf(out, " Table %s could be drawn.", name);
}

cellar_status serve_reply_refusal(serve_reply *reply, const serve_dataset *dataset,
                                  const serve_refusal *refusal)
{
    cellar_text detail = {0};
    json_t *object = NULL;
    cellar_text_printf(&detail, "%s%s", refusal->detail, end_of(refusal->detail));
    if (refusal->n_suggestions > 0)
        add_suggestion(dataset, refusal, &detail);
    if (!detail.failed)
        object = problem(403, detail.bytes);
    cellar_text_clear(&detail);
    if (object != NULL) {
        json_object_set_new(object, "rule", json_string(refusal->rule));
        json_object_set_new(object, "suggestions", names_of(dataset, refusal));
        if (refusal->cost != NULL)
            json_object_set_new(object, "cost", json_string(refusal->cost));
    }
    return set_body(reply, 403, object);
}
