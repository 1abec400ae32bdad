/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a function answers when it can fail, and the sentence that says why. */
#ifndef CELLAR_STATUS_H
#define CELLAR_STATUS_H

#include <cellar/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name, value, text. Values are part of the API: they are only ever added. */
#define CELLAR_STATUS_LIST(X)                                                                      \
    X(OK, 0, "success")                                                                            \
    X(ERR_ARGUMENT, 1, "the caller passed an invalid argument")                                    \
    X(ERR_INPUT, 2, "the input data does not match its description")                               \
    X(ERR_IO, 3, "a file could not be read or written")                                            \
    X(ERR_MEMORY, 4, "memory ran out or a limit on memory was reached")                            \
    X(ERR_OVERFLOW, 5, "a number is too large to be held exactly")                                 \
    X(ERR_BUDGET, 6, "the release would exceed the privacy budget")                                \
    X(ERR_RULE, 7, "a disclosure rule refuses this")                                               \
    X(ERR_EXISTS, 8, "the output exists already")                                                  \
    X(ERR_CANCELLED, 9, "the caller cancelled the work")                                           \
    X(ERR_UNSUPPORTED, 10, "this system or build cannot do that")

typedef enum cellar_status {
#define CELLAR_STATUS_ENUM(name, value, text) CELLAR_##name = (value),
    CELLAR_STATUS_LIST(CELLAR_STATUS_ENUM)
#undef CELLAR_STATUS_ENUM
} cellar_status;

/* One sentence for a person. The caller owns it; every function accepts NULL
 * instead. It is written only on failure, and names file, line, column and
 * variable, never a true count, a record or a key. */
typedef struct cellar_error {
    char message[1024];
} cellar_error;

/* The general meaning of a status, e.g. "a file could not be read or written". */
CELLAR_API const char *cellar_status_text(cellar_status status);

/* The name of a status as it is written in C, e.g. "CELLAR_ERR_IO". */
CELLAR_API const char *cellar_status_name(cellar_status status);

#ifdef __cplusplus
}
#endif

#endif
