/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats of answers. Each carries certificate id, unit and guarantee (or its absence), contents
 * with intervals as data, the note that bounds do not add, and the notes, source and dates of the
 * data set. */
#ifndef CELLAR_SERVE_FORMATS_H
#define CELLAR_SERVE_FORMATS_H

#include "base/text.h"
#include "serve/grid.h"

typedef struct serve_format_options {
    int use_codes, use_texts; /* csv, html, xlsx, ods: what stands in headings [both 0: texts] */
    char separator;           /* csv ['\0': a comma] */
    int with_title;           /* csv: title first */
    const char *self;         /* the address of this answer, for links; NULL: none */
    const char *base_url;     /* of the site, for links; NULL or "": links are paths */
} serve_format_options;

typedef cellar_status serve_writer(const serve_answer *answer, const serve_format_options *options,
                                   cellar_text *out, cellar_error *err);

typedef struct serve_format {
    const char *name;         /* "json-stat2", "csv", "px", "xlsx", "ods", "sdmx-csv", "html" */
    const char *content_type; /* "application/json; charset=UTF-8" */
    const char *ending;       /* "json" */
    /* Adds the whole file to `out`; the answer is no refusal. */
    serve_writer *write;
} serve_format;

/* By name or by a media type; NULL when there is none. The list ends with a name of NULL. */
const serve_format *serve_format_find(const char *name);
const serve_format *serve_formats(void);

/* ---- the writers ------------------------------------------------------------ */

serve_writer serve_write_jsonstat;
serve_writer serve_write_jsonstat_1; /* JSON-stat 1: {"dataset": ...}, for PxWebApi 1 */
serve_writer serve_write_json;       /* the JSON of PxWebApi 1 */
serve_writer serve_write_csv;
serve_writer serve_write_px;
serve_writer serve_write_xlsx;
serve_writer serve_write_ods;
serve_writer serve_write_sdmx_csv;
serve_writer serve_write_sdmx_ml;
serve_writer serve_write_html;
serve_writer serve_write_html_table; /* the table and what is to be known, for a page around it */

/* The JSON-stat object of a grid; one without an answer describes the table, and has no values. */
void serve_jsonstat_add(const serve_grid *grid, const serve_format_options *options,
                        cellar_text *out);

/* Adds a member with the codes of the axes first .. last - 1. */
void serve_json_axes(const serve_grid *grid, const char *name, size_t first, size_t last,
                     cellar_text *out);

/* Adds what stands in a heading as the options ask: "Women", "F" or "F Women". */
void serve_heading_add(const serve_format_options *options, const char *code, const char *label,
                       cellar_text *out);
/* What stands over the values where every variable is in the stub. */
#define SERVE_VALUE_HEADING "value"
/* Adds the headings of column `column` of the table, a space between them. */
void serve_column_add(const serve_grid *grid, const serve_format_options *options, size_t column,
                      cellar_text *out);

#endif
