/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Categories of a variable as a table's file states them. */
#ifndef CELLAR_TABLE_FORMATS_STATED_H
#define CELLAR_TABLE_FORMATS_STATED_H

#include <cellar/codelist.h>

typedef struct cellar_stated_categories {
    const char *variable; /* in messages */
    size_t n;
    const char *const *codes;
    size_t n_languages;
    const char *const *languages;     /* tags; "" for none */
    const char *const *const *labels; /* by language, then category; a NULL label is the code */
    size_t total;                     /* the category that is the total, or CELLAR_NO_CODE */
} cellar_stated_categories;

/* A code list of them; `name` stands for the file in messages. */
cellar_status cellar_stated_codelist(const char *name, const cellar_stated_categories *stated,
                                     cellar_codelist **out, cellar_error *err);

#endif
