/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/px_pieces.h"

#include <string.h>

#include "table/formats/px.h"

enum { PX_PIECE_BYTES = 240 }; /* lines stay below the 256 characters of old readers */

void cellar_px_add_pieces(cellar_text *text, const char *plain, size_t length)
{
    do {
        size_t n = length;
        if (n > PX_PIECE_BYTES)
            for (n = PX_PIECE_BYTES; (plain[n] & 0xc0) == 0x80;) /* not inside a character */
                n--;
        cellar_text_add_char(text, '"');
        cellar_text_add(text, plain, n);
        cellar_text_add_char(text, '"');
        plain += n;
        length -= n;
        if (length > 0)
            cellar_text_add_string(text, CELLAR_PX_LINE_END);
    } while (length > 0);
}

void cellar_px_add_string(cellar_text *text, const char *string)
{
    cellar_text plain = {0};
    cellar_px_add_plain(&plain, string);
    if (plain.failed)
        text->failed = 1;
    else
        cellar_px_add_pieces(text, plain.length > 0 ? plain.bytes : "", plain.length);
    cellar_text_clear(&plain);
}

/* A language tag between brackets holds letters, digits and hyphens. */
void cellar_px_add_keyword(cellar_text *text, const char *keyword, const char *language,
                           const char *name)
{
    cellar_text_add_string(text, keyword);
    if (language[0] != '\0') {
        cellar_text_add_char(text, '[');
        for (; *language != '\0'; language++)
            cellar_text_add_char(text, strchr("[]()=;,\"", *language) != NULL ? '-' : *language);
        cellar_text_add_char(text, ']');
    }
    if (name != NULL) {
        cellar_text_add_string(text, "(\"");
        cellar_text_add_string(text, name);
        cellar_text_add_string(text, "\")");
    }
    cellar_text_add_char(text, '=');
}

void cellar_px_end(cellar_text *text)
{
    cellar_text_add_char(text, ';');
    cellar_text_add_string(text, CELLAR_PX_LINE_END);
}

void cellar_px_add_entry(cellar_text *text, const char *keyword, const char *language,
                         const char *name, const char *value)
{
    cellar_px_add_keyword(text, keyword, language, name);
    cellar_px_add_string(text, value);
    cellar_px_end(text);
}

void cellar_px_add_comma(cellar_text *text, size_t position)
{
    if (position == 0)
        return;
    cellar_text_add_char(text, ',');
    cellar_text_add_string(text, CELLAR_PX_LINE_END);
}
