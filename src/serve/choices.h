/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a client asks for, whatever the protocol: expressions for some variables, a place for each.
 * Choices become a question. */
#ifndef CELLAR_SERVE_CHOICES_H
#define CELLAR_SERVE_CHOICES_H

#include "serve/question.h"

enum { SERVE_MAX_CHOICES = CELLAR_MAX_VARIABLES + 1 };

/* One variable. "time" stands for the variable of time, whatever its code. */
typedef struct serve_choice {
    const char *variable;
    const char *codelist;           /* a level; NULL: the finest, or what has the code */
    const char *const *expressions; /* picks.h; none: the variable is summed out */
    size_t n_expressions;
} serve_choice;

typedef struct serve_codes {
    const char *const *items;
    size_t n;
} serve_codes;

typedef struct serve_choices {
    serve_choice items[SERVE_MAX_CHOICES];
    size_t n;
    serve_codes stub, heading; /* codes of variables; both empty: the usual places */
} serve_choices;

/* Makes the question in the arena of the call. All contents are asked for when none is named, and
 * constant variables always are. What is not placed stands where there is room: variables in the
 * stub, contents and time in the heading. CELLAR_ERR_INPUT says what is wrong. */
cellar_status serve_choices_question(const serve_dataset *dataset, const serve_choices *choices,
                                     size_t language, cellar_arena *arena, serve_question *out,
                                     cellar_error *err);

/* Choices of every category of a table. */
void serve_choices_of_table(const serve_dataset *dataset, const serve_table *table,
                            serve_choices *out);

/* A small table that can be answered: what a client gets that asks for nothing in particular. The
 * total where there is nothing better. */
cellar_status serve_default_table(const serve_dataset *dataset, serve_table *out,
                                  cellar_error *err);

#endif
