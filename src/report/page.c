/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes pages. Nothing is loaded and nothing runs: the content policy allows one style sheet,
 * named by its digest. */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <cellar/version.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/chart.h"
#include "base/markup.h"

/* ---- text ------------------------------------------------------------------------ */

CELLAR_PRINTF(2, 0)
static void page_format(cellar_page *page, const char *format, va_list arguments)
{
    char line[512];
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    if (length < 0) {
        page->out.failed = 1;
    } else if ((size_t) length < sizeof line) {
        cellar_markup_add(&page->out, line);
    } else {
        char *whole = cellar_alloc((size_t) length + 1, 1);
        page->out.failed |= whole == NULL;
        if (whole != NULL)
            vsnprintf(whole, (size_t) length + 1, format, again);
        cellar_markup_add(&page->out, whole);
        cellar_free(whole);
    }
    va_end(again);
}

/* What is formatted between two tags. */
#define PAGE_BETWEEN(before, after)                                                                \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        cellar_page_tag(page, before);                                                             \
        page_format(page, format, arguments);                                                      \
        cellar_page_tag(page, after);                                                              \
        va_end(arguments);                                                                         \
    } while (0)

void cellar_page_tag(cellar_page *page, const char *tag)
{
    cellar_text_add_string(&page->out, tag);
}

void cellar_page_text(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("", "");
}

void cellar_page_paragraph(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<p>", "</p>\n");
}

void cellar_page_remark(cellar_page *page, const char *style, const char *format, ...)
{
    cellar_text_printf(&page->out, "<p class=\"%s\">", style);
    PAGE_BETWEEN("", "</p>\n");
}

void cellar_page_item(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<li>", "</li>\n");
}

void cellar_page_command(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<pre><code>", "</code></pre>\n");
}

void cellar_page_heading(cellar_page *page, int level, const char *id, const char *format, ...)
{
    cellar_text_printf(&page->out, "<h%d id=\"%s\">", level, id);
    PAGE_BETWEEN("", "");
    cellar_text_printf(&page->out, "</h%d>\n", level);
}

void cellar_page_fact(cellar_page *page, const char *name, const char *format, ...)
{
    cellar_page_tag(page, "<div><dt>");
    cellar_markup_add(&page->out, name);
    PAGE_BETWEEN("</dt><dd>", "</dd></div>\n");
}

/* ---- tables ------------------------------------------------------------------------ */

static void page_heading_cell(cellar_page *page, const char *text, int is_number)
{
    cellar_page_tag(page, is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
    cellar_markup_add(&page->out, text);
    cellar_page_tag(page, "</th>");
}

void cellar_page_table_of(cellar_page *page, const char *caption, const char *const *names,
                          size_t n, const char *const *headings)
{
    /* what scrolls must be in reach of the keyboard, and then needs a name */
    cellar_page_tag(page, "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"");
    cellar_markup_add(&page->out, caption);
    cellar_page_tag(page, "\"><table>\n<caption>");
    cellar_markup_add(&page->out, caption);
    cellar_page_tag(page, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < n; i++)
        page_heading_cell(page, names[i], 0);
    for (; *headings != NULL; headings++)
        page_heading_cell(page, *headings + (**headings == '#'), **headings == '#');
    cellar_page_tag(page, "</tr></thead>\n<tbody>\n");
}

void cellar_page_table_begin(cellar_page *page, const char *caption, const char *const *headings)
{
    cellar_page_table_of(page, caption, NULL, 0, headings);
}

void cellar_page_table_end(cellar_page *page)
{
    cellar_page_tag(page, "</tbody></table></div>\n");
}

void cellar_page_row_begin(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<tr><th scope=\"row\">", "</th>");
}

void cellar_page_row_number(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<tr><th scope=\"row\" class=\"n\">", "</th>");
}

void cellar_page_row_heading(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<th scope=\"row\">", "</th>");
}

void cellar_page_cell(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<td>", "</td>");
}

void cellar_page_number(cellar_page *page, const char *format, ...)
{
    PAGE_BETWEEN("<td class=\"n\">", "</td>");
}

void cellar_page_row_end(cellar_page *page)
{
    cellar_page_tag(page, "</tr>\n");
}

/* ---- charts -------------------------------------------------------------------------- */

cellar_status cellar_page_chart_create(const cellar_page *page, cellar_chart_options *options,
                                       cellar_chart **out, cellar_error *err)
{
    options->confidential = page->confidential;
    options->width = 720;
    return cellar_chart_create(options, out, err);
}

static cellar_status page_chart_file(const cellar_page *page, const char *name, const char *ending,
                                     const cellar_chart *chart, cellar_error *err)
{
    const cellar_output_options how = {.replace = page->replace, .shared = !page->confidential};
    cellar_text path = {0};
    cellar_status status;
    cellar_text_printf(&path, "%s/%s.%s", page->charts, name, ending);
    if (path.failed)
        status = cellar_fail_memory(err, "a path");
    else if (strcmp(ending, "png") == 0)
        status = cellar_chart_write_png(chart, 2, path.bytes, &how, err);
    else
        status = cellar_chart_write_svg(chart, path.bytes, &how, err);
    cellar_text_clear(&path);
    return status;
}

cellar_status cellar_page_chart(cellar_page *page, const char *name, const cellar_chart *chart,
                                cellar_error *err)
{
    char own[96];
    cellar_status status = CELLAR_OK;
    snprintf(own, sizeof own, "%s%s", page->prefix, name);
    cellar_chart_figure(chart, own, &page->out);
    page->n_charts++;
    if (page->charts != NULL)
        status = page_chart_file(page, own, "svg", chart, err);
    if (page->charts != NULL && status == CELLAR_OK)
        status = page_chart_file(page, own, "png", chart, err);
    return status;
}

/* ---- the whole -------------------------------------------------------------------------- */

static void page_style(const cellar_page *page, cellar_text *out)
{
    for (size_t i = 0; cellar_page_style[i] != NULL; i++)
        cellar_text_add_string(out, cellar_page_style[i]);
    if (page->confidential)
        cellar_text_add_string(out, cellar_page_style_confidential);
}

/* The only style sheet the page may have, as content policies name it. */
static void page_policy(cellar_text *out, const cellar_text *style)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    char text[sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    crypto_hash_sha256(digest, (const unsigned char *) style->bytes, style->length);
    sodium_bin2base64(text, sizeof text, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
    cellar_text_printf(out,
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                       "&#39;none&#39;; style-src &#39;sha256-%s&#39;; base-uri &#39;none&#39;; "
                       "form-action &#39;none&#39;\"/>\n",
                       text);
}

void cellar_page_begin(cellar_page *page, const char *title)
{
    cellar_text *out = &page->out, style = {0};
    page_style(page, &style);
    cellar_text_add_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                                "<meta charset=\"utf-8\"/>\n");
    page_policy(out, &style);
    cellar_text_printf(out,
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                       "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
                       "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                       "<meta name=\"generator\" content=\"Cellar %s\"/>\n<title>",
                       cellar_version());
    cellar_text_add_string(out, page->confidential ? "CONFIDENTIAL: " : "");
    cellar_markup_add(out, title);
    cellar_text_printf(out, "</title>\n<style>%s</style>\n</head>\n<body%s>\n",
                       style.failed ? "" : style.bytes,
                       page->confidential ? " class=\"confidential\"" : "");
    out->failed |= style.failed;
    cellar_text_clear(&style);
    cellar_text_add_string(out, "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
    if (page->confidential)
        cellar_text_add_string(out,
                               "<div class=\"stamp\" role=\"note\">CONFIDENTIAL: computed from "
                               "true counts; for the release committee only</div>\n"
                               "<div class=\"watermark\" aria-hidden=\"true\">CONFIDENTIAL"
                               "</div>\n");
    cellar_text_add_string(out, "<main id=\"main\">\n<h1>");
    cellar_markup_add(out, title);
    cellar_text_add_string(out, "</h1>\n");
}

void cellar_page_end(cellar_page *page)
{
    cellar_text_printf(&page->out,
                       "</main>\n<footer><p>Written by Cellar %s. This page is complete: it loads "
                       "no other file and runs no program.</p></footer>\n</body>\n</html>\n",
                       cellar_version());
}

void cellar_page_clear(cellar_page *page)
{
    cellar_text_clear(&page->out);
}

cellar_status cellar_page_finish(cellar_page *page, cellar_output *output, cellar_status so_far,
                                 cellar_error *err)
{
    cellar_status status = so_far;
    if (status == CELLAR_OK && page->out.failed)
        status = cellar_fail_memory(err, "a page");
    if (status == CELLAR_OK) {
        cellar_output_write(output, page->out.bytes, page->out.length);
        status = cellar_output_commit(output, err);
    } else {
        cellar_output_discard(output);
    }
    cellar_page_clear(page);
    return status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

void cellar_page_share(cellar_page *page, double share)
{
    if (isnan(share))
        cellar_page_number(page, "-");
    else if (share == 0 || share == 1)
        cellar_page_number(page, "%.0f", share);
    else if (share > 0 && share < 0.00005)
        cellar_page_number(page, "below 0.0001");
    else if (share < 1 && share >= 0.99995)
        cellar_page_number(page, "above 0.9999");
    else
        cellar_page_number(page, "%.4f", share);
}

const char *cellar_page_percent(double share, char out[24])
{
    if (share == 0 || share == 1)
        snprintf(out, 24, "%.0f %%", 100 * share);
    else if (share > 0 && share < 0.0005)
        snprintf(out, 24, "less than 0.1 %%");
    else if (share < 1 && share >= 0.9995)
        snprintf(out, 24, "more than 99.9 %%");
    else
        snprintf(out, 24, "%.1f %%", 100 * share);
    return out;
}

int cellar_page_is_answer(cellar_status status)
{
    return status == CELLAR_ERR_RULE || status == CELLAR_ERR_ARGUMENT ||
           status == CELLAR_ERR_UNSUPPORTED || status == CELLAR_ERR_INPUT ||
           status == CELLAR_ERR_OVERFLOW;
}
