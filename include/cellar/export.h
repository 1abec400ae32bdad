/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks what the library exports, and what the compiler can check about its use. */
#ifndef CELLAR_EXPORT_H
#define CELLAR_EXPORT_H

#if defined(__GNUC__)
#define CELLAR_API __attribute__((visibility("default")))
#define CELLAR_PRINTF(format_index, first_argument)                                                \
    __attribute__((format(printf, format_index, first_argument)))
/* The answer has to be looked at: a status that nobody reads hides a failure. */
#define CELLAR_NODISCARD __attribute__((warn_unused_result))
/* These arguments, counted from 1, are never NULL. */
#define CELLAR_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define CELLAR_API
#define CELLAR_PRINTF(format_index, first_argument)
#define CELLAR_NODISCARD
#define CELLAR_NONNULL(...)
#endif

#endif
