/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of the library. */
#ifndef CELLAR_VERSION_H
#define CELLAR_VERSION_H

#include <cellar/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CELLAR_VERSION "0.1.0"

/* The version the library was built as; a program may compare it with CELLAR_VERSION. */
CELLAR_API const char *cellar_version(void);

#ifdef __cplusplus
}
#endif

#endif
