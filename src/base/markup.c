/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/markup.h"

#include <string.h>

/* Bytes of the well-formed character at `s`, or 0. */
static size_t markup_character(const char *s, size_t left)
{
    for (size_t n = 1; n <= 4 && n <= left; n++)
        if (cellar_utf8_valid(s, n))
            return n;
    return 0;
}

static const char *markup_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* U+FFFE and U+FFFF are well-formed UTF-8 and no characters of XML. */
static int markup_forbidden(const char *s, size_t n)
{
    if (n == 1)
        return ((unsigned char) *s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f;
    return n == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char) s[2] >= 0xbe;
}

void cellar_markup_add(cellar_text *text, const char *string)
{
    size_t left = string != NULL ? strlen(string) : 0;
    while (left > 0) {
        const size_t n = markup_character(string, left);
        const char *entity = n == 1 ? markup_entity(*string) : NULL;
        if (n == 0 || markup_forbidden(string, n))
            cellar_text_add_string(text, "\xef\xbf\xbd");
        else if (entity != NULL)
            cellar_text_add_string(text, entity);
        else
            cellar_text_add(text, string, n);
        string += n > 0 ? n : 1;
        left -= n > 0 ? n : 1;
    }
}
