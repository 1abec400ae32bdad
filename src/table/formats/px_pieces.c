/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/px_pieces.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "table/formats/px.h"
#include "table/formats/sheet.h"

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

void cellar_px_add_date(cellar_text *text, const char *keyword, const char *language,
                        const char *date)
{
    char written[sizeof "CCYYMMDD hh:mm"];
    snprintf(written, sizeof written, "%.4s%.2s%.2s %.5s", date, date + 5, date + 8,
             date[10] != '\0' ? date + 11 : "00:00");
    cellar_px_add_entry(text, keyword, language, NULL, written);
}

void cellar_px_add_symbols(cellar_text *text)
{
    static const cellar_cell_status statuses[] = {CELLAR_CELL_STRUCTURAL_ZERO,
                                                  CELLAR_CELL_NOT_AVAILABLE, CELLAR_CELL_SUPPRESSED,
                                                  CELLAR_CELL_UNRELIABLE};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char keyword[32];
        snprintf(keyword, sizeof keyword, "DATASYMBOL%zu", strlen(cellar_px_symbol(statuses[i])));
        cellar_px_add_entry(text, keyword, "", NULL, cellar_cell_status_name(statuses[i]));
    }
}

/* ---- names of variables ---------------------------------------------------- */

int cellar_px_names_add(cellar_px_names *names, const char *name)
{
    CELLAR_ASSERT(names->n < sizeof names->names / sizeof *names->names);
    cellar_text *added = &names->names[names->n];

    names->n++;
    cellar_px_add_plain(added, name);
    for (size_t k = 0; !added->failed && k + 1 < names->n; k++)
        if (strcmp(names->names[k].bytes, added->bytes) == 0) {
            cellar_text_printf(added, " (%zu)", names->n);
            k = (size_t) -1; /* the longer name may be taken too */
        }
    return !added->failed;
}

void cellar_px_names_clear(cellar_px_names *names)
{
    for (size_t k = 0; k < names->n; k++)
        cellar_text_clear(&names->names[k]);
}

void cellar_px_add_names(cellar_text *text, const char *keyword, const char *language,
                         const cellar_px_names *names, size_t first, size_t last)
{
    if (first == last)
        return;
    cellar_px_add_keyword(text, keyword, language, NULL);
    for (size_t k = first; k < last; k++) {
        cellar_px_add_comma(text, k - first);
        cellar_text_printf(text, "\"%s\"", names->names[k].bytes);
    }
    cellar_px_end(text);
}
