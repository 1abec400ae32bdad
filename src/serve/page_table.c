/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GET /t/ID?...: the page of a table, whose address says what is in it as PxWebApi 2 does. The
 * table stands in the page itself, so that a browser without scripts shows it; the page's script
 * takes its place. */
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/markup.h"
#include "serve/address.h"
#include "serve/answering.h"
#include "serve/pages.h"
#include "serve/pxweb2.h"
#include "serve/selection.h"

static const serve_format in_page = {.name = "html",
                                     .content_type = "text/html; charset=UTF-8",
                                     .ending = "html",
                                     .write = serve_write_html_table};

/* The table in a reply of its own: HTML, or the reason why there is none. */
static cellar_status answer(const cellar_site *site, const serve_call *call,
                            const serve_dataset *dataset, const serve_format *format,
                            serve_reply *reply, cellar_error *err)
{
    serve_request *request = cellar_arena_alloc(call->arena, 1, sizeof *request);
    cellar_status status = CELLAR_OK;
    if (request == NULL)
        return cellar_fail_memory(err, "a request");
    *request = (serve_request){.dataset = dataset, .language = call->language, .format = format};
    CELLAR_TRY(serve_selection_of_query(call, &request->choices, err));
    if (request->choices.n == 0)
        CELLAR_TRY(serve_request_default(request, err));
    CELLAR_TRY(serve_reply_answer(site, call, request, reply, err));
out:
    return status;
}

/* The same table as a file, Excel first. */
static void add_download(const serve_call *call, const serve_dataset *dataset, const char *format,
                         cellar_text *out)
{
    cellar_text_printf(out, "<a class=\"button\" href=\"" SERVE_PXWEB2_PREFIX "/tables/%s/data?",
                       dataset->id);
    cellar_markup_add(out, call->request->query != NULL ? call->request->query : "");
    cellar_text_printf(out, "&amp;outputFormat=%s\">%s</a>\n", format, format);
}

static void add_downloads(const serve_call *call, const serve_dataset *dataset, cellar_text *out)
{
    cellar_text_add_string(out, "<p class=\"take\">\n");
    add_download(call, dataset, "xlsx", out);
    for (const serve_format *format = serve_formats(); format->name != NULL; format++)
        if (strcmp(format->name, "xlsx") != 0)
            add_download(call, dataset, format->name, out);
    cellar_text_add_string(out, "</p>\n");
}

/* Why there is none, and the way to the first table of the data set. `body` is problem+json. */
static void add_refusal(const cellar_site *site, const serve_call *call,
                        const serve_dataset *dataset, const cellar_text *body, cellar_text *out)
{
    json_t *problem = json_loadb(body->bytes, body->length, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    cellar_text first = {0};
    cellar_text_printf(&first, "/t/%s?lang=%s", dataset->id, site->languages[call->language]);
    if (first.failed)
        out->failed = 1;
    else
        serve_page_add_problem(detail != NULL ? detail : "This table is not answered.", first.bytes,
                               dataset->title.in[call->language], out);
    json_decref(problem);
    cellar_text_clear(&first);
}

/* The table with its files. */
static void add_table(const serve_call *call, const serve_dataset *dataset,
                      const cellar_text *table, cellar_text *out)
{
    add_downloads(call, dataset, out);
    cellar_text_add_string(out, "<div class=\"scroll\">\n");
    cellar_text_add(out, table->bytes, table->length);
    cellar_text_add_string(out, "</div>\n");
}

cellar_status serve_route_table(cellar_site *site, const serve_call *call, serve_reply *reply,
                                cellar_error *err)
{
    const serve_dataset *dataset =
        call->n_segments == 1 ? serve_find_dataset(site, call->segments[0]) : NULL;
    size_t length;
    serve_reply inner = {.status = 200};
    cellar_text shown = {0};
    cellar_error why = {""};
    cellar_status status;
    if (dataset == NULL || !serve_call_is_read(call))
        return serve_page_nothing(site, call, reply);
    if (serve_pages_index(site->pages, &length) == NULL)
        return answer(site, call, dataset, serve_format_find("html"), reply, err);
    status = answer(site, call, dataset, &in_page, &inner, &why);
    if (status != CELLAR_OK && status != CELLAR_ERR_MEMORY)
        status = serve_reply_problem(&inner, 400, "%s", why.message);
    if (status == CELLAR_OK) {
        serve_page_open_main(dataset->title.in[call->language], &shown);
        if (inner.status == 200)
            add_table(call, dataset, &inner.body, &shown);
        else
            add_refusal(site, call, dataset, &inner.body, &shown);
        cellar_text_add_string(&shown, "</main>\n");
        reply->content_type = in_page.content_type;
        reply->status = inner.status;
        serve_page_add(site, call->language, dataset->title.in[call->language], &shown,
                       &reply->body);
    }
    cellar_text_clear(&inner.body);
    cellar_text_clear(&shown);
    return status == CELLAR_OK && !reply->body.failed ? CELLAR_OK
                                                      : cellar_fail_memory(err, "a page");
}
