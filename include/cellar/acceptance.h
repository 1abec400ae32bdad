/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well a release protects, and what is not done unless somebody answers for it by name. */
#ifndef CELLAR_ACCEPTANCE_H
#define CELLAR_ACCEPTANCE_H

#include <cellar/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Above it a guarantee says little: it lets even odds become 22,026 : 1. */
#define CELLAR_LARGEST_EPSILON 10

/* From best to worst (docs/certificates.md, "Levels of protection"). */
typedef enum cellar_protection_level {
    CELLAR_LEVEL_GUARANTEE,     /* epsilon is at most 10, with delta 0 or 1e-6 */
    CELLAR_LEVEL_LARGE_EPSILON, /* it is finite, and larger */
    CELLAR_LEVEL_NO_GUARANTEE,  /* there is none, as with cell keys and random rounding */
    CELLAR_LEVEL_NO_PROTECTION  /* some value shows one record with probability 0.95 or more */
} cellar_protection_level;

/* What can be accepted; a set of them is their sum. */
typedef enum cellar_acceptance {
    CELLAR_ACCEPT_NO_PROTECTION = 1, /* releasing at CELLAR_LEVEL_NO_PROTECTION */
    CELLAR_ACCEPT_LARGE_EPSILON = 2, /* releasing at CELLAR_LEVEL_LARGE_EPSILON */
    CELLAR_ACCEPT_UNACCOUNTED = 4    /* signing what no ledger was charged for */
} cellar_acceptance;

/* "guarantee", "large-epsilon", "no-guarantee", "no-protection": what releases say. */
CELLAR_API const char *cellar_protection_level_name(cellar_protection_level level);
/* The sentence that goes with every file and page of such a release; NULL for a guarantee. */
CELLAR_API const char *cellar_protection_level_stamp(cellar_protection_level level);
/* What has to be accepted for a release of this level; 0: nothing. */
CELLAR_API unsigned cellar_protection_level_needs(cellar_protection_level level);

/* The acceptance called "no-protection", "large-epsilon" or "unaccounted"; 0: there is none. */
CELLAR_API unsigned cellar_acceptance_find(const char *name);
/* The name of one acceptance. */
CELLAR_API const char *cellar_acceptance_name(cellar_acceptance acceptance);

#ifdef __cplusplus
}
#endif

#endif
