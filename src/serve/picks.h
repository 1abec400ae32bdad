/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selection expressions: which categories of a variable are asked for. Without regard to case:
 *
 *     CODE                  one category
 *     *  x*  *x  *x*  ?     those whose code fits; ? stands for one character
 *     top(n) top(n,k)       the first n after k; of time the latest
 *     bottom(n) bottom(n,k) the last n before k; of time the earliest
 *     from(c) to(c)         from or up to a category, in the order of the code list
 *     range(a,b)            from a to b
 *     group(NAME,a,b,...)   categories that are shown as one: a view, added up from the same table
 *
 * Each may stand in brackets, as lists between commas need it: [range(a,b)]. A code that has commas
 * or brackets itself stands in double quotes: "(15,30]", range("(15,30]","(45,60]"). */
#ifndef CELLAR_SERVE_PICKS_H
#define CELLAR_SERVE_PICKS_H

#include "serve/question.h"

/* Picks under way. Fill the first part. */
typedef struct serve_picks {
    const char *variable; /* its code, in messages */
    const serve_level *levels;
    size_t n_levels;
    size_t level;        /* whose categories the expressions name, from 1 */
    int may_coarsen;     /* 1: a code that this level does not have is looked for in coarser ones */
    int is_time;         /* 1: top() begins at the latest */
    size_t language;     /* of the labels */
    cellar_arena *arena; /* of all that is made */

    serve_pick *items; /* in the order of the expressions, each category once */
    size_t n, capacity;
    unsigned char **seen; /* by level, then category */
    size_t n_looked;      /* categories looked at so far: hostile lists make it large */
} serve_picks;

/* Adds what an expression names. CELLAR_ERR_INPUT says what is wrong with it. */
cellar_status serve_picks_add(serve_picks *picks, const char *expression, cellar_error *err);

/* Splits a list at its commas, but not between quotes or brackets nor inside top(), bottom(),
 * range() and group(). Answers how many there are; SIZE_MAX when memory ends. */
size_t serve_split_list(const char *list, cellar_arena *arena, const char *const **out);

#endif
