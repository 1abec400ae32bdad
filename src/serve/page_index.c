/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of the table builder, index.html, as it is sent: in the language of the request, and
 * with something in it for browsers without scripts. The page's script takes the place of that. */
#include <string.h>

#include "base/markup.h"
#include "serve/pages.h"

/* Adds index.html from *at on to a place in it, and goes beyond; 0 when it has no such place. */
static int pass(const char **at, const char *end, const char *place, cellar_text *out)
{
    const char *found = memmem(*at, (size_t) (end - *at), place, strlen(place));
    if (found == NULL)
        return 0;
    cellar_text_add(out, *at, (size_t) (found - *at));
    *at = found + strlen(place);
    return 1;
}

void serve_page_add(const cellar_site *site, size_t language, const char *title,
                    const cellar_text *shown, cellar_text *out)
{
    size_t length;
    const char *at = serve_pages_index(site->pages, &length), *end = at + length;
    if (shown->failed)
        out->failed = 1;
    if (at == NULL || shown->failed)
        return;
    if (pass(&at, end, "lang=\"en\"", out))
        cellar_text_printf(out, "lang=\"%s\"", site->languages[language]);
    if (pass(&at, end, "<title>Cellar</title>", out)) {
        cellar_text_add_string(out, "<title>");
        cellar_markup_add(out, title);
        cellar_text_add_string(out, "</title>");
    }
    if (pass(&at, end, "<!--answer-->", out) && shown->length > 0)
        cellar_text_add(out, shown->bytes, shown->length);
    cellar_text_add(out, at, (size_t) (end - at));
}

/* ---- what stands in it -------------------------------------------------------------------------
 */

void serve_page_open_main(const char *title, cellar_text *out)
{
    cellar_text_add_string(out, "<main class=\"plain\">\n<h1>");
    cellar_markup_add(out, title);
    cellar_text_add_string(out, "</h1>\n");
}

void serve_page_add_problem(const char *sentence, const char *href, const char *link,
                            cellar_text *out)
{
    cellar_text_add_string(out, "<p role=\"alert\" lang=\"en\">");
    cellar_markup_add(out, sentence);
    cellar_text_add_string(out, "</p>\n<p><a href=\"");
    cellar_markup_add(out, href);
    cellar_text_add_string(out, "\">");
    cellar_markup_add(out, link);
    cellar_text_add_string(out, "</a></p>\n");
}

/* The data sets, each a link to its first table. */
static void add_datasets(const cellar_site *site, size_t language, cellar_text *out)
{
    cellar_text_add_string(out, "<ul>\n");
    for (size_t i = 0; i < site->n_datasets; i++) {
        cellar_text_printf(out, "<li><a href=\"/t/%s?lang=%s\">", site->datasets[i].id,
                           site->languages[language]);
        cellar_markup_add(out, site->datasets[i].title.in[language]);
        cellar_text_add_string(out, "</a></li>\n");
    }
    cellar_text_add_string(out, "</ul>\n");
}

void serve_page_add_home(const cellar_site *site, size_t language, const char *problem,
                         cellar_text *out)
{
    const char *title = site->title.in[language];
    cellar_text shown = {0};
    serve_page_open_main(title, &shown);
    if (problem != NULL)
        serve_page_add_problem(problem, "/", title, &shown);
    else
        add_datasets(site, language, &shown);
    cellar_text_add_string(&shown, "</main>\n");
    serve_page_add(site, language, title, &shown, out);
    cellar_text_clear(&shown);
}
