/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message.h"

#include <stdarg.h>
#include <string.h>

enum { MESSAGE_BYTES = 2048 };

void cli_make_harmless(char *text)
{
    for (unsigned char *c = (unsigned char *) text; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) /* U+0080 to U+009F */
            c[0] = c[1] = '?';
        else if (c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
                                  (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)))
            c[0] = c[1] = c[2] = '?'; /* U+2028 to U+202E, U+2066 to U+2069 */
    }
}

void cli_message(const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_make_harmless(text);
    fprintf(stderr, "cellar: %s\n", text);
}

int cli_exit(cellar_status status, const cellar_error *err)
{
    switch (status) {
    case CELLAR_OK:
        return CLI_DONE;
    case CELLAR_ERR_CANCELLED:
        cli_message("cancelled; nothing was written");
        return CLI_INTERRUPTED;
    case CELLAR_ERR_ARGUMENT:
        cli_message("%s", err->message);
        return CLI_USAGE;
    case CELLAR_ERR_BUDGET:
    case CELLAR_ERR_RULE:
        cli_message("%s", err->message);
        return CLI_REFUSED;
    case CELLAR_ERR_EXISTS:
        cli_message("%s (--force)", err->message);
        return CLI_FAILED;
    default:
        cli_message("%s", err->message);
        return CLI_FAILED;
    }
}

int cli_exit_kept(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_ERR_EXISTS)
        return cli_exit(status, err);
    cli_message("%.*s; it is never replaced", (int) strcspn(err->message, ";"), err->message);
    return CLI_FAILED;
}
