/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of a mechanism: the rules they must meet, and their exact values. */
#ifndef CELLAR_MECHANISM_PARAMETER_H
#define CELLAR_MECHANISM_PARAMETER_H

#include <cellar/status.h>

#include "math/flint.h"

typedef enum cellar_parameter_kind {
    CELLAR_PARAMETER_NUMBER,
    CELLAR_PARAMETER_INTEGER,
    CELLAR_PARAMETER_WORD, /* one of `words`, or anything (a file name) when that is NULL */
} cellar_parameter_kind;

/* One row of a mechanism's table of parameters, which ends with a row without a name. Bounds are
 * decimals, so that the message shows exactly what is compared; NULL is no bound. */
typedef struct cellar_parameter_rule {
    const char *name;
    cellar_parameter_kind kind;
    int required;
    const char *above;    /* value > above */
    const char *at_least; /* value >= at_least */
    const char *below;
    const char *at_most;
    const char *const *words; /* NULL-terminated */
    int by_count;             /* 1: may be a series "0.5:0.7:...", a value for each count from 1 */
} cellar_parameter_rule;

typedef struct cellar_parameter {
    const char *name; /* of the rule, or a literal for derived ones */
    char *text;       /* canonical decimal, or the word; a series has all of them */
    fmpq_t value;     /* 0 for words and series */
    double nearest;   /* the nearest double; NAN for words and series */
    int is_derived;
} cellar_parameter;

enum { CELLAR_PARAMETERS_MAX = 12 };

typedef struct cellar_parameter_list {
    cellar_parameter items[CELLAR_PARAMETERS_MAX];
    size_t n;
} cellar_parameter_list;

/* Reads "key=value,..." by the rules (`text` may be NULL or empty), into the rules' order. `name`
 * is the mechanism's, for messages. On failure the list is cleared. */
cellar_status cellar_parameter_list_parse(const cellar_parameter_rule *rules, const char *name,
                                          const char *text, cellar_parameter_list *list,
                                          cellar_error *err);
void cellar_parameter_list_clear(cellar_parameter_list *list);

/* The parameter of that name, or NULL when it was not given (nor derived). */
const cellar_parameter *cellar_parameter_find(const cellar_parameter_list *list, const char *name);

/* How many values a series has; 1 for any other parameter. */
size_t cellar_parameter_n_values(const cellar_parameter *p);
/* The i-th value of a series of numbers as the nearest double; a single number is that of all i. */
double cellar_parameter_number(const cellar_parameter *p, size_t i);
/* Is the i-th value of a series of words this one? A single word is that of all i. */
int cellar_parameter_is(const cellar_parameter *p, size_t i, const char *word);

/* Adds a number derived from the others; `name` must outlive the list. */
cellar_status cellar_parameter_derive(cellar_parameter_list *list, const char *name,
                                      const fmpq_t value, cellar_error *err);

#endif
