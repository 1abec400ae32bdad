/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a question that lie in one canonical table each. */
#ifndef CELLAR_SERVE_CUTS_H
#define CELLAR_SERVE_CUTS_H

#include "serve/source.h"

/* One walk over all parts of a question. */
typedef struct serve_cuts {
    const serve_question *question;
    cellar_arena *arena;
    unsigned char levels[CELLAR_MAX_VARIABLES][256]; /* of each side: those its picks have */
    size_t n_levels[CELLAR_MAX_VARIABLES];
    size_t at[CELLAR_MAX_VARIABLES];      /* which of them this part takes */
    size_t *places[CELLAR_MAX_VARIABLES]; /* of each side: where its picks stand in the question */
    size_t n_places[CELLAR_MAX_VARIABLES];
    serve_side sides[CELLAR_MAX_VARIABLES]; /* of the cut: without constant variables */
    serve_pick *picks[CELLAR_MAX_VARIABLES];
    serve_cut cut;
    size_t n_cells; /* of the cut: constant variables do not count */
} serve_cuts;

/* Checks a question: every variable once, picks with members of their level, each once.
 * CELLAR_ERR_ARGUMENT says what is wrong: a question that a route makes is sound. */
cellar_status serve_question_check(const serve_question *question, cellar_error *err);

/* Stands at the first part of a question that was checked. */
cellar_status serve_cuts_begin(serve_cuts *cuts, const serve_question *question,
                               cellar_arena *arena, cellar_error *err);
/* 0 after the last part. */
int serve_cuts_next(serve_cuts *cuts);
/* Puts the values of this part where the question wants them. */
void serve_cuts_place(const serve_cuts *cuts, const serve_value *values, serve_value *out);

#endif
