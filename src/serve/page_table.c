/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GET /t/ID?...: the page of a table, whose address says what is in it as PxWebApi 2 does. The
 * table stands in the page itself, so that a browser without scripts shows it; the page's script
 * takes its place. */
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "report/markup.h"
#include "serve/address.h"
#include "serve/answering.h"
#include "serve/pages.h"
#include "serve/pxweb2.h"
#include "serve/selection.h"

/* Where index.html has a place for it. */
static const char PLACE[] = "<!--answer-->";

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

static void add_problem(const char *sentence, cellar_text *out)
{
    cellar_text_add_string(out, "<p role=\"alert\">");
    cellar_markup_add(out, sentence);
    cellar_text_add_string(out, "</p>\n");
}

/* What a problem+json says. */
static void add_refusal(const cellar_text *body, cellar_text *out)
{
    json_t *problem = json_loadb(body->bytes, body->length, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    add_problem(detail != NULL ? detail : "This table is not answered.", out);
    json_decref(problem);
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

/* What stands where the page's script will: the table, or why there is none. */
static void add_main(const serve_call *call, const serve_dataset *dataset, const cellar_text *table,
                     cellar_text *out)
{
    cellar_text_add_string(out, "<main class=\"plain\">\n<h1>");
    cellar_markup_add(out, dataset->title.in[call->language]);
    cellar_text_add_string(out, "</h1>\n");
    add_downloads(call, dataset, out);
    cellar_text_add_string(out, "<div class=\"scroll\">\n");
    cellar_text_add(out, table->bytes, table->length);
    cellar_text_add_string(out, "</div>\n</main>\n");
}

cellar_status serve_route_table(cellar_site *site, const serve_call *call, serve_reply *reply,
                                cellar_error *err)
{
    const serve_dataset *dataset =
        call->n_segments == 1 ? serve_find_dataset(site, call->segments[0]) : NULL;
    size_t length;
    const char *page = serve_pages_index(site->pages, &length);
    const char *place = page != NULL ? memmem(page, length, PLACE, sizeof PLACE - 1) : NULL;
    serve_reply inner = {.status = 200};
    cellar_error why = {""};
    cellar_status status;
    if (dataset == NULL || !serve_call_is_read(call))
        return serve_reply_nothing(reply);
    if (place == NULL)
        return answer(site, call, dataset, serve_format_find("html"), reply, err);
    status = answer(site, call, dataset, &in_page, &inner, &why);
    if (status == CELLAR_ERR_MEMORY) {
        cellar_text_clear(&inner.body);
        return cellar_fail_memory(err, "a page");
    }
    reply->content_type = in_page.content_type;
    reply->status = status != CELLAR_OK ? 400 : inner.status;
    cellar_text_add(&reply->body, page, (size_t) (place - page));
    if (status != CELLAR_OK)
        add_problem(why.message, &reply->body);
    else if (inner.status != 200)
        add_refusal(&inner.body, &reply->body);
    else
        add_main(call, dataset, &inner.body, &reply->body);
    cellar_text_clear(&inner.body);
    cellar_text_add(&reply->body, place + sizeof PLACE - 1,
                    (size_t) (page + length - place) - (sizeof PLACE - 1));
    return reply->body.failed ? cellar_fail_memory(err, "a page") : CELLAR_OK;
}
