/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections that pages are made of. */
#ifndef CELLAR_REPORT_REPORT_H
#define CELLAR_REPORT_REPORT_H

#include <jansson.h>

#include <cellar/interval.h>
#include <cellar/report.h>

#include "report/page.h"

/* A certificate in words (section_certificate.c): what is hidden, how well, on which assumptions.
 * `certificate` is the object of docs/certificates.md, from a file: nothing of it is relied on.
 * is_part: it is that of one table of several, whose joint guarantee stands elsewhere. */
void cellar_section_certificate(cellar_page *page, const json_t *certificate, int is_part);
/* The guarantee of all releases of a page together, in one sentence, before anything else. */
void cellar_section_guarantee(cellar_page *page, const json_t *certificate, size_t n_releases);
/* What no certificate says. */
void cellar_section_not_covered(cellar_page *page);

/* What a released number says about its count. `id` is the prefix of its charts. */
typedef struct cellar_section_noise_of {
    const char *id;
    const char *mechanism; /* the spec of one cell */
    cellar_negatives negatives;
    int64_t threshold;
    int may_read; /* 1: a mechanism in a file of its own may be opened */
} cellar_section_noise_of;

/* The noise of cells and of sums of cells (section_noise.c). */
cellar_status cellar_section_noise(cellar_page *page, const cellar_section_noise_of *noise,
                                   cellar_error *err);
/* 1 when the mechanism can be made from its spec alone: one that reads a file cannot. */
int cellar_section_has_law(const char *mechanism);

/* How to test with a release (section_test.c); `name` is its file's. */
cellar_status cellar_section_test(cellar_page *page, const cellar_release *release,
                                  const char *name, cellar_error *err);

/* The 95 % interval of the true count behind one released value (section_noise.c). */
cellar_status cellar_section_interval(const cellar_section_noise_of *noise, int64_t released,
                                      cellar_interval *out, cellar_error *err);

/* The released values, at most `max_rows` rows (section_table.c): as a crosstab where it is small
 * enough to read, with the 95 % interval of each true count where `noise` is not NULL. */
cellar_status cellar_section_table(cellar_page *page, const cellar_release *release,
                                   uint64_t max_rows, const cellar_section_noise_of *noise,
                                   cellar_error *err);
/* The cells of a table on a page (section_crosstab.c): `value` writes that of an index. */
typedef struct cellar_section_cells {
    const cellar_schema *schema;
    const char *caption;
    cellar_status (*value)(void *context, uint64_t index, cellar_error *err);
    void *context;
} cellar_section_cells;

/* 1 when it is small enough to read: few columns, and at most so many rows. */
int cellar_section_crosstab_fits(const cellar_schema *schema, uint64_t max_rows);
/* The categories of the last variable side by side, one row for all others. */
cellar_status cellar_section_crosstab(cellar_page *page, const cellar_section_cells *cells,
                                      cellar_error *err);
/* Cells that are drawn (section_chart.c): `box` gives the interval of an index, and the value
 * within; NAN where there is none. */
typedef struct cellar_section_boxes {
    const cellar_schema *schema;
    const char *id;   /* of the chart on its page */
    const char *line; /* "the released value" */
    cellar_status (*box)(void *context, uint64_t index, cellar_chart_box *out, cellar_error *err);
    void *context;
} cellar_section_boxes;

/* Draws a table of two variables, as much of it as can be looked at: the first rows and columns. Of
 * other tables nothing is drawn. */
cellar_status cellar_section_chart(cellar_page *page, const cellar_section_boxes *cells,
                                   cellar_error *err);
/* Begins a row with the categories of the first `n` variables. */
void cellar_section_headings(cellar_page *page, const cellar_schema *schema, uint64_t index,
                             size_t n);
/* A heading of a row: the label of a category, with its code when it says something else. */
void cellar_section_category(cellar_page *page, const cellar_schema *schema, size_t variable,
                             size_t category);

#endif
