/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks what the library exports and lets the compiler check format strings. */
#ifndef CELLAR_EXPORT_H
#define CELLAR_EXPORT_H

#if defined(__GNUC__)
#define CELLAR_API __attribute__((visibility("default")))
#define CELLAR_PRINTF(format_index, first_argument)                                                \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define CELLAR_API
#define CELLAR_PRINTF(format_index, first_argument)
#endif

#endif
