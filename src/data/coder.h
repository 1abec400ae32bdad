/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the text of a field means: one coder for each use of a column, shared by all threads. It is
 * asked once for every distinct text, not once for every row. */
#ifndef CELLAR_DATA_CODER_H
#define CELLAR_DATA_CODER_H

#include <cellar/microdata.h>

#include "data/condition.h"
#include "data/recode.h"

/* Answers below zero: the row is not counted. Of several answers for one row a filter comes first,
 * then what is wrong, then what is missing. */
enum {
    CELLAR_OUTCOME_FILTERED = -1,
    CELLAR_OUTCOME_MISSING = -2,   /* dropped, as the caller asked */
    CELLAR_OUTCOME_UNDECIDED = -3, /* missing, and nobody said what to do: bad */
    CELLAR_OUTCOME_ENCODING = -4,
    CELLAR_OUTCOME_NOT_NUMBER = -5,
    CELLAR_OUTCOME_UNMAPPED = -6,
    CELLAR_OUTCOME_OUTSIDE = -7,
    CELLAR_OUTCOME_NO_MEMORY = -8,
    CELLAR_OUTCOME_NO_LEVEL = -9 /* of a data frame: a code beyond its levels */
};

/* The sentence for an outcome that makes a row bad, e.g. "the value is outside the code list". */
const char *cellar_outcome_text(int32_t outcome);

typedef struct cellar_coder_spec {
    const char *variable; /* for messages */
    cellar_encoding encoding;
    const char *const *missing;
    size_t n_missing;
    cellar_missing_policy missing_policy;
    const cellar_condition *condition; /* a filter: 0 where it holds, FILTERED where not */
    const cellar_recode *recode;       /* NULL: none */
    const cellar_codelist *codelist;   /* the declared domain, or NULL: observed */
    size_t level;                      /* of the declared domain; 0: its leaves */
    const cellar_codelist *labels;     /* labels for an observed domain; its codes always exist */
    size_t max_levels; /* 0, or: categories beyond so many all get the code max_levels + 1 */
} cellar_coder_spec;

typedef struct cellar_coder cellar_coder;

/* Keeps pointers to what `spec` points at. On failure *out is NULL. */
cellar_status cellar_coder_create(const cellar_coder_spec *spec, cellar_coder **out,
                                  cellar_error *err);
void cellar_coder_free(cellar_coder *coder); /* NULL is fine */
const char *cellar_coder_variable(const cellar_coder *coder);

/* The code (0, 1, ...) of a raw field, or an outcome below zero. An empty field is missing.
 * Thread-safe. */
int32_t cellar_coder_resolve(cellar_coder *coder, const char *text, size_t length);

/* All codes given out so far are below this. Thread-safe. */
size_t cellar_coder_n_codes(const cellar_coder *coder);
/* 1 when all codes were known from the start. */
int cellar_coder_is_declared(const cellar_coder *coder);

/* The domain as a code list, in order, and for each code the leaf it became: leaf_of[code]. Free
 * both, the list with cellar_codelist_free(), the array with cellar_free(). On failure both are
 * NULL. */
cellar_status cellar_coder_domain(const cellar_coder *coder, cellar_codelist **list,
                                  uint32_t **leaf_of, cellar_error *err);

#endif
