/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats of answers. Each carries certificate id, unit and guarantee (or its absence), contents
 * with intervals as data, the note that bounds do not add, and the notes, source and dates of the
 * data set. */
#ifndef CELLAR_SERVE_FORMATS_H
#define CELLAR_SERVE_FORMATS_H

#include "base/text.h"
#include "serve/answer.h"

typedef struct serve_format_options {
    int use_codes, use_texts; /* csv, html, xlsx: what stands in headings [both 0: texts] */
    char separator;           /* csv [','] */
    int with_title;           /* csv: title first */
    const char *self;         /* the address of this answer, for links; NULL: none */
} serve_format_options;

typedef struct serve_format {
    const char *name;         /* "json-stat2", "csv", "px", "xlsx", "sdmx-csv", "sdmx-ml", "html" */
    const char *content_type; /* "application/json; charset=UTF-8" */
    const char *ending;       /* "json" */
    /* Adds the whole file to `out`; the answer is no refusal. */
    cellar_status (*write)(const serve_answer *answer, const serve_format_options *options,
                           cellar_text *out, cellar_error *err);
} serve_format;

/* By name or by a media type; NULL when there is none. The list ends with a name of NULL. */
const serve_format *serve_format_find(const char *name);
const serve_format *serve_formats(void);

#endif
