/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a secret is deliberately let go. Under valgrind (tests/constant-time) secrets are memory
 * marked undefined, so that a branch or an index that depends on one is reported; this macro marks
 * the few bits whose disclosure is harmless. In every other build it is nothing. */
#ifndef CELLAR_RANDOM_SECRET_H
#define CELLAR_RANDOM_SECRET_H

#ifdef CELLAR_CHECK_CONSTANT_TIME
#include <valgrind/memcheck.h>
#define CELLAR_DECLASSIFY(variable) VALGRIND_MAKE_MEM_DEFINED(&(variable), sizeof(variable))
#else
#define CELLAR_DECLASSIFY(variable) ((void) 0)
#endif

#endif
