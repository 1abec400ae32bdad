/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

/* One write, so that lines of several processes do not mix. */
void server_say(const char *format, ...)
{
    char line[1280];
    va_list arguments;
    size_t start, length;
    snprintf(line, sizeof line, "%.64s: ", program_invocation_short_name);
    start = strlen(line);
    va_start(arguments, format);
    vsnprintf(line + start, sizeof line - start - 1, format, arguments);
    va_end(arguments);
    length = strlen(line);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* there is nobody left to tell */
}
