/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question: which categories of which variables, and which contents, in which order. Every order,
 * selection, language and grouping is a view of canonical tables (dataset.h), and costs nothing. */
#ifndef CELLAR_SERVE_QUESTION_H
#define CELLAR_SERVE_QUESTION_H

#include "base/memory.h"
#include "serve/dataset.h"

/* What is shown of a cell: categories of the variable ContentsCode. */
typedef enum serve_content {
    SERVE_COUNT, /* the released value or the estimate */
    SERVE_SE,    /* its standard error: protection noise only */
    SERVE_LOW,   /* of the 95 % interval for protection noise */
    SERVE_HIGH,
    SERVE_N_CONTENTS
} serve_content;

#define SERVE_CONTENTS_CODE "ContentsCode"
/* "count", "se", "noise_low95", "noise_high95". */
const char *serve_content_code(serve_content content);

/* What stands in every format beside intervals. */
#define SERVE_INTERVAL_NOTE                                                                        \
    "Protection noise only; not sampling, non-response or coverage error. Bounds do not add."

/* One row heading: a category of a level, or categories that a user put together. */
typedef struct serve_pick {
    const char *code, *label;
    size_t level;            /* from 1 */
    const uint32_t *members; /* positions in the level: one, or those of a group */
    size_t n_members;
} serve_pick;

typedef struct serve_side {
    size_t variable; /* of the data set */
    const serve_pick *picks;
    size_t n_picks;
} serve_side;

/* Variables that no side names are summed out. Cells are in row-major order of the sides, the last
 * one fastest. Where the contents stand among the sides is a matter of the view (grid.h). */
typedef struct serve_question {
    const serve_dataset *dataset;
    size_t language; /* of the site */
    serve_side sides[CELLAR_MAX_VARIABLES];
    size_t n_sides;
    size_t contents_at; /* the contents stand before this side; n_sides: after the last */
    size_t n_stub;      /* the first so many of sides and contents are rows, the others columns */
    serve_content contents[SERVE_N_CONTENTS];
    size_t n_contents; /* at least 1 */
} serve_question;

/* Cells without contents; UINT64_MAX when there are more. */
uint64_t serve_question_n_cells(const serve_question *question);

#endif
