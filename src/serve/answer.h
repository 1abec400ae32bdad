/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers: the values of a question, where they come from, or why there are none. */
#ifndef CELLAR_SERVE_ANSWER_H
#define CELLAR_SERVE_ANSWER_H

#include "serve/question.h"
#include "serve/refusal.h"

typedef struct serve_value {
    double count, se, low, high; /* NAN: not known, or suppressed */
    cellar_cell_status status;
} serve_value;

typedef struct serve_answer {
    const serve_question *question;
    int is_refused;
    serve_refusal refusal;
    serve_value *values; /* one a cell, in the order of the question */
    size_t n_values;
    /* Values are multiples of 10^-decimals, each content its own: formats that programs read write
     * all of them, so that counts add. Pages show fewer, for noise hides the rest. */
    int decimals[SERVE_N_CONTENTS], shown_decimals[SERVE_N_CONTENTS];
    const char *certificate_id; /* hexadecimal: the digest of the certificate; "a,b" of several */
    const char *guarantee;      /* a sentence: the joint guarantee first, or that there is none */
    const char *origin;         /* a sentence: "estimated from the cube of 2026-11-18" */
    int is_immutable;           /* 1: the same question always has the same answer */
    char etag[65];              /* of the values and texts, whatever the format */
    cellar_arena *arena;
} serve_answer;

/* How often the interval (95 %) of a value misses. */
#define SERVE_TAIL 0.05

/* Answers a question: judges the rules, splits it into canonical tables, asks the source of the
 * data set, puts the values into order. Each interval misses with probability at most `tail`, which
 * is SERVE_TAIL in every format. A refusal is an answer. Clear *out in every case. */
cellar_status serve_answer_question(const serve_question *question, double tail, serve_answer *out,
                                    cellar_error *err);
void serve_answer_clear(serve_answer *answer);

#endif
