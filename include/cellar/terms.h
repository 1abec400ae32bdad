/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of a guarantee, which certificates, releases, ledgers and plans share. Each has a name
 * for files and for the command line, and `find` is the way back: it answers 1 and sets *out, or 0
 * when nothing has that name (NULL included). */
#ifndef CELLAR_TERMS_H
#define CELLAR_TERMS_H

#include <cellar/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the guarantee hides about one unit. */
typedef enum cellar_neighbours {
    CELLAR_NEIGHBOURS_DEFAULT, /* not chosen: add-remove, but substitute when a table is protected
                                  with multinomial-dirichlet */
    CELLAR_NEIGHBOURS_ADD_REMOVE, /* whether it is in the data */
    CELLAR_NEIGHBOURS_SUBSTITUTE  /* which categories it has */
} cellar_neighbours;

/* "default", "add-remove", "substitute". */
CELLAR_API const char *cellar_neighbours_name(cellar_neighbours neighbours);
/* Finds "add-remove" and "substitute". */
CELLAR_API int cellar_neighbours_find(const char *name, cellar_neighbours *out);

/* What becomes of released values below zero. A table is protected only after somebody chose. */
typedef enum cellar_negatives {
    CELLAR_NEGATIVES_UNDECIDED, /* refused where a table is protected; elsewhere negatives stay */
    CELLAR_NEGATIVES_KEEP,
    CELLAR_NEGATIVES_ZERO
} cellar_negatives;

/* "undecided", "keep", "zero". */
CELLAR_API const char *cellar_negatives_name(cellar_negatives negatives);
/* Finds "keep" and "zero". */
CELLAR_API int cellar_negatives_find(const char *name, cellar_negatives *out);

/* Where the categories of a variable come from, from worst to best. An observed domain carries no
 * privacy guarantee: it may owe a category to a single person. An asserted or drafted one rests on
 * somebody's word. */
typedef enum cellar_domain {
    CELLAR_DOMAIN_OBSERVED, /* read off the data: a certificate says `fails` */
    CELLAR_DOMAIN_ASSERTED, /* read off the data, and asserted to be public */
    CELLAR_DOMAIN_DRAFTED,  /* drafted from the data, and reviewed: cellar_codelist_reviewer() */
    CELLAR_DOMAIN_DECLARED  /* fixed before the data were read, as in a code list */
} cellar_domain;

/* "observed", "asserted", "drafted", "declared". */
CELLAR_API const char *cellar_domain_name(cellar_domain domain);
/* Finds each of them. */
CELLAR_API int cellar_domain_find(const char *name, cellar_domain *out);

/* How the parameters of the mechanism were chosen. No guarantee covers a choice made after looking
 * at the confidential data. */
typedef enum cellar_parameter_choice {
    CELLAR_CHOICE_UNSTATED,
    CELLAR_CHOICE_IN_ADVANCE,
    CELLAR_CHOICE_PUBLIC_DATA,
    CELLAR_CHOICE_CONFIDENTIAL_DATA
} cellar_parameter_choice;

/* "not stated", "declared in advance", "from public data", "from the confidential data: the choice
 * is not covered". */
CELLAR_API const char *cellar_parameter_choice_name(cellar_parameter_choice choice);
/* Finds each of them. */
CELLAR_API int cellar_parameter_choice_find(const char *name, cellar_parameter_choice *out);

#ifdef __cplusplus
}
#endif

#endif
