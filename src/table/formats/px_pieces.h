/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pieces that a px file is written of: keywords, strings and what parts them. */
#ifndef CELLAR_TABLE_FORMATS_PX_PIECES_H
#define CELLAR_TABLE_FORMATS_PX_PIECES_H

#include "base/text.h"

#define CELLAR_PX_LINE_END "\r\n"

/* A string that is plain already, in pieces of one line each. */
void cellar_px_add_pieces(cellar_text *text, const char *plain, size_t length);
/* Any string, made plain. */
void cellar_px_add_string(cellar_text *text, const char *string);
/* KEYWORD[language]("name")= ; an empty language and a name that is NULL are left out. */
void cellar_px_add_keyword(cellar_text *text, const char *keyword, const char *language,
                           const char *name);
/* The semicolon after an entry. */
void cellar_px_end(cellar_text *text);
/* A keyword with one string. */
void cellar_px_add_entry(cellar_text *text, const char *keyword, const char *language,
                         const char *name, const char *value);
/* What parts the value at a position from the one before. */
void cellar_px_add_comma(cellar_text *text, size_t position);

#endif
