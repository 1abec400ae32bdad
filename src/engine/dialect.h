/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How databases differ. In the forms below @ stands for what they are about. */
#ifndef CELLAR_ENGINE_DIALECT_H
#define CELLAR_ENGINE_DIALECT_H

#include <cellar/sql.h>

#include "base/text.h"

typedef enum sql_literal {
    SQL_QUOTED,  /* 'it''s' */
    SQL_ESCAPED, /* 'it\'s' */
    SQL_E,       /* E'it''s' : the same whatever the server's settings are */
    SQL_HEX      /* X'69742773' : bytes, which no collation compares */
} sql_literal;

typedef struct sql_dialect {
    const char *name;
    int is_tested;
    char quote;        /* around names, doubled inside */
    size_t name_bytes; /* the database cuts longer names off; 0: it refuses them itself */
    sql_literal literal;
    const char *settings;  /* of the session, that change what values mean; NULL: none do */
    const char *text;      /* of a column, compared byte by byte */
    const char *trim;      /* of a text: without the blanks around it */
    const char *is_number; /* a condition on a text: a number that is exact in the database */
    /* A condition on a text that is_number refuses: a file may take it for a number. Such a row is
     * refused, for it would be counted otherwise than in a file. */
    const char *looks_like_number;
    const char *number; /* of such a text, exact */
    const char *bound;  /* a decimal that numbers are compared with */
    const char *weight; /* of a number: rounded to nine decimals */
    const char
        *weight_fits; /* a condition on wx and its text wt1: `weight` is exact; NULL: always */
    const char *weight_sum; /* sums are texts: drivers make doubles of decimals */
    int weight_scale;       /* decimals of its unit: 9 where weights are counted in billionths */
    const char *is_key;     /* a condition on a text: digits only */
    const char *key;        /* of such a text: a whole number */
    const char *key_sum;
    const char *decimal_key; /* of a number in [0,1): times 10^18; NULL: it would not be exact */
    int digits;              /* of a number that is exact, at most */
    int has_windows;         /* rank() and count() OVER */
    const char *fence; /* after an inner SELECT: it is evaluated before what is around it, not put
                          into each place that names a column of it; NULL: none is needed */
} sql_dialect;

const sql_dialect *sql_dialect_of(cellar_sql_dialect dialect);

/* Adds a form with @ replaced. */
void sql_add_form(cellar_text *out, const char *form, const char *about);
/* A name in quotes. */
void sql_add_name(const sql_dialect *dialect, cellar_text *out, const char *name, size_t length);
/* A text as a value; no byte of it ends the literal. */
void sql_add_literal(const sql_dialect *dialect, cellar_text *out, const char *text);
/* A decimal that numbers are compared with; CELLAR_ERR_UNSUPPORTED where it has too many digits. */
cellar_status sql_add_bound(const sql_dialect *dialect, cellar_text *out, const char *decimal,
                            cellar_error *err);

#endif
