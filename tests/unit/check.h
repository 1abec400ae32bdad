/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every unit test includes: cmocka in the order it wants its headers. */
#ifndef CELLAR_TESTS_CHECK_H
#define CELLAR_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
