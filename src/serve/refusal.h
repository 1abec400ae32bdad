/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a question is not answered, in plain words. Nothing here can hold a count. */
#ifndef CELLAR_SERVE_REFUSAL_H
#define CELLAR_SERVE_REFUSAL_H

#include "serve/dataset.h"

/* Texts live in the arena of the answer or of the call. */
typedef struct serve_refusal {
    const char *rule;   /* its name: "variables", "cells", "not-drawn", "universe", "budget" */
    const char *kind;   /* the limit that was reached, "max_variables", ...; NULL: no rule's */
    const char *detail; /* one sentence */
    const char *cost;   /* what drawing the table would cost, with its unit; NULL: it cannot be */
    const serve_table *suggestions; /* canonical tables that would be answered, the nearest first */
    size_t n_suggestions;
} serve_refusal;

typedef struct serve_verdict {
    int is_allowed;
    serve_refusal refusal; /* when it is not */
} serve_verdict;

#endif
