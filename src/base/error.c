/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cellar_status_text(cellar_status status)
{
    switch (status) {
#define CELLAR_STATUS_TEXT(name, value, text)                                                      \
    case CELLAR_##name:                                                                            \
        return text;
        CELLAR_STATUS_LIST(CELLAR_STATUS_TEXT)
#undef CELLAR_STATUS_TEXT
    }
    return "unknown status";
}

const char *cellar_status_name(cellar_status status)
{
    switch (status) {
#define CELLAR_STATUS_NAME(name, value, text)                                                      \
    case CELLAR_##name:                                                                            \
        return "CELLAR_" #name;
        CELLAR_STATUS_LIST(CELLAR_STATUS_NAME)
#undef CELLAR_STATUS_NAME
    }
    return "CELLAR_?";
}

const cellar_error *cellar_error_write(cellar_error *err, const char *format, ...)
{
    if (err != NULL) {
        cellar_error said; /* written aside: the arguments may quote err->message itself */
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(said.message, sizeof said.message, format, arguments);
        va_end(arguments);
        memcpy(err->message, said.message, strlen(said.message) + 1);
    }
    return err;
}

cellar_status cellar_fail_errno(cellar_error *err, const char *path, const char *action)
{
    int saved = errno;
    const char *reason = strerrordesc_np(saved); /* unlike strerror, safe with threads */
    cellar_status status = saved == EEXIST   ? CELLAR_ERR_EXISTS
                           : saved == ENOMEM ? CELLAR_ERR_MEMORY
                                             : CELLAR_ERR_IO;
    return cellar_fail(err, status, "%s: cannot %s: %s", path, action,
                       reason != NULL ? reason : "unknown");
}

cellar_status cellar_fail_name(cellar_error *err, const char *path, const char *what)
{
    char action[64];
    if (errno == EEXIST || errno == ENOTEMPTY)
        return cellar_fail(err, CELLAR_ERR_EXISTS,
                           "%s: was made by another program in the meantime, and is not replaced",
                           path);
    snprintf(action, sizeof action, "give the %s its name", what);
    return cellar_fail_errno(err, path, action);
}

_Noreturn void cellar_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "cellar: internal error at %s:%d: %s does not hold\n", file, line, condition);
    abort();
}
