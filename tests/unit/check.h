/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every unit test includes: cmocka in the order it wants its headers. */
#ifndef CELLAR_TESTS_CHECK_H
#define CELLAR_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What a sanitizer sees in 500 draws it sees in 10,000. Samples that are compared with their
 * distribution are divided by this; builds without sanitizers take them whole. */
#ifdef CELLAR_SANITIZE
enum { CHECK_SHARE = 20 };
#else
enum { CHECK_SHARE = 1 };
#endif

#endif
