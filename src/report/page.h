/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A page of HTML, written piece by piece. Whatever is formatted is escaped; tags are constants of
 * the program. The page is well-formed XML, too. */
#ifndef CELLAR_REPORT_PAGE_H
#define CELLAR_REPORT_PAGE_H

#include <cellar/chart.h>
#include <cellar/export.h>
#include <cellar/output.h>

#include "base/text.h"

typedef struct cellar_page {
    cellar_text out;
    const char *charts; /* a folder for the charts as files; or NULL */
    int replace;        /* of these files */
    int confidential;   /* 1: says so on the screen and on every printed page, as do its charts */
    size_t n_charts;
    char prefix[32]; /* of the names of charts and sections where several tables share the page */
} cellar_page;

/* The head of the page and its title. `page` begins zeroed but for its settings. */
void cellar_page_begin(cellar_page *page, const char *title);
void cellar_page_end(cellar_page *page);
void cellar_page_clear(cellar_page *page);
/* Lets the page appear when all went well so far, else nothing; and clears it. `output` may be NULL
 * after a failure. Answers the first failure. */
cellar_status cellar_page_finish(cellar_page *page, cellar_output *output, cellar_status so_far,
                                 cellar_error *err);

/* Text as it is to be read; so wherever a format is taken below. */
void cellar_page_text(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
/* Tags: a constant. */
void cellar_page_tag(cellar_page *page, const char *tag);
/* <p> with a class (NULL: none). */
void cellar_page_paragraph(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_remark(cellar_page *page, const char *style, const char *format, ...)
    CELLAR_PRINTF(3, 4);
void cellar_page_item(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
/* A heading of that level (2, 3), reachable as #id. */
void cellar_page_heading(cellar_page *page, int level, const char *id, const char *format, ...)
    CELLAR_PRINTF(4, 5);
/* A line to type. */
void cellar_page_command(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
/* One of the facts at the head of a section: between <dl> and </dl>. */
void cellar_page_fact(cellar_page *page, const char *name, const char *format, ...)
    CELLAR_PRINTF(3, 4);

/* ---- tables ---- */

/* `headings` end with NULL; one that begins with '#' heads a column of numbers. */
void cellar_page_table_begin(cellar_page *page, const char *caption, const char *const *headings);
/* The same after `n` columns of text that are named as they are. */
void cellar_page_table_of(cellar_page *page, const char *caption, const char *const *names,
                          size_t n, const char *const *headings);
void cellar_page_table_end(cellar_page *page);
/* A row with its heading, a text or a number; its further headings, where several together say what
 * the row is about; its cells, of text or of a number. */
void cellar_page_row_begin(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_row_number(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_row_heading(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_cell(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_number(cellar_page *page, const char *format, ...) CELLAR_PRINTF(2, 3);
void cellar_page_row_end(cellar_page *page);

/* ---- charts ---- */

/* A chart for this page; options.confidential is the page's. */
cellar_status cellar_page_chart_create(const cellar_page *page, cellar_chart_options *options,
                                       cellar_chart **out, cellar_error *err);
/* The chart with its numbers; as files NAME.svg and NAME.png, too, when asked for. */
cellar_status cellar_page_chart(cellar_page *page, const char *name, const cellar_chart *chart,
                                cellar_error *err);

/* ---- numbers ---- */

/* A cell with a share or a probability, four places of it. 0 and 1 are so exactly, and nothing else
 * becomes so by rounding; NAN is a dash. */
void cellar_page_share(cellar_page *page, double share);
/* The same in per cent for a sentence: "2.7 %", "less than 0.1 %", "more than 99.9 %". */
const char *cellar_page_percent(double share, char out[24]);

/* 1 when a failure is an answer to be told on the page: the module refuses, or has no such number.
 */
int cellar_page_is_answer(cellar_status status);

/* The style sheet in parts, NULL-terminated (page_style.c). */
extern const char *const cellar_page_style[];
/* What confidential pages have besides, at its end. */
extern const char *const cellar_page_style_confidential;

#endif
