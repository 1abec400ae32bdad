/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the library fails: one call that writes the sentence, one macro that passes it on. */
#ifndef CELLAR_BASE_ERROR_H
#define CELLAR_BASE_ERROR_H

#include <cellar/status.h>

/* Writes the message (when `err` is not NULL) and returns `status`, so that a
 * check reads `return cellar_fail(err, CELLAR_ERR_INPUT, "...", ...)`. The arguments may quote the
 * message that `err` holds, to say more about it. */
#define cellar_fail(err, status, ...)                                                              \
    cellar_failed(cellar_error_write((err), __VA_ARGS__), (status))

/* Out of memory, said the same way everywhere. `what` is what was being held. */
#define cellar_fail_memory(err, what)                                                              \
    cellar_fail((err), CELLAR_ERR_MEMORY, "not enough memory for %s", (what))

/* The two halves of cellar_fail(). Returning the status is inline so that compilers and analysers
 * see that what fails with CELLAR_ERR_... does not go on as after CELLAR_OK. */
const cellar_error *cellar_error_write(cellar_error *err, const char *format, ...)
    CELLAR_PRINTF(2, 3);
static inline cellar_status cellar_failed(const cellar_error *said, cellar_status status)
{
    (void) said;
    return status;
}

/* A system call failed: "PATH: cannot ACTION: reason". Uses errno; EEXIST is CELLAR_ERR_EXISTS,
 * ENOMEM CELLAR_ERR_MEMORY, anything else CELLAR_ERR_IO. */
cellar_status cellar_fail_errno(cellar_error *err, const char *path, const char *action);
/* The same where a finished `what` ("file", "folder") could not be given its name: one that has the
 * name already is another program's, and CELLAR_ERR_EXISTS. */
cellar_status cellar_fail_name(cellar_error *err, const char *path, const char *what);

/* For functions that own something: they declare `cellar_status status = CELLAR_OK`,
 * set their pointers to NULL, and clean up once, at `out:`. */
#define CELLAR_TRY(call)                                                                           \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != CELLAR_OK)                                                                   \
            goto out;                                                                              \
    } while (0)

/* A bug in Cellar, never bad input: prints where and aborts. Always on. */
#define CELLAR_ASSERT(condition)                                                                   \
    ((condition) ? (void) 0 : cellar_assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void cellar_assert_failed(const char *condition, const char *file, int line);

#endif
