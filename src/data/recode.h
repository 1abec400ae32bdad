/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recoding compiled once, applied to each distinct value of a column (not to each row). */
#ifndef CELLAR_DATA_RECODE_H
#define CELLAR_DATA_RECODE_H

#include <cellar/microdata.h>

#include "base/text.h"

typedef struct cellar_recoder cellar_recoder;

/* Checks and compiles the steps. `variable` names the variable in messages. The recoder
 * keeps no pointer to its arguments. On failure *out is NULL. */
cellar_status cellar_recoder_create(const cellar_recode *recode, const char *variable,
                                    cellar_recoder **out, cellar_error *err);
void cellar_recoder_free(cellar_recoder *recoder); /* NULL is fine */

typedef enum cellar_recoded {
    CELLAR_RECODED,            /* `out` holds the category's code */
    CELLAR_RECODED_NOT_NUMBER, /* a number was needed for banding, top or bottom coding */
    CELLAR_RECODED_UNMAPPED,   /* the map has no entry and no catch-all */
    CELLAR_RECODED_NO_MEMORY
} cellar_recoded;

/* From the UTF-8 text of a field to the code of its category (replaces the content of `out`).
 * Decimals are handled exactly, never as floating point. Thread-safe. */
cellar_recoded cellar_recoder_apply(const cellar_recoder *recoder, const char *text, size_t length,
                                    cellar_text *out);

/* The whole domain where the recode implies one: bands between a bottom and a top, or a map
 * followed by nothing. *out is NULL when it implies none. */
cellar_status cellar_recoder_domain(const cellar_recoder *recoder, cellar_codelist **out,
                                    cellar_error *err);

/* The order of observed categories: bands and numbers by value (codes written "<=b" first and
 * ">=t" last), then everything else bytewise. Like strcmp. */
int cellar_category_compare(const char *a, const char *b);

#endif
