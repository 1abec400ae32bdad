/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pieces that a px file is written of: keywords, strings and what parts them. */
#ifndef CELLAR_TABLE_FORMATS_PX_PIECES_H
#define CELLAR_TABLE_FORMATS_PX_PIECES_H

#include <cellar/table.h>

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
/* A date such as 2026-11-18T10:00 as px writes it: 20261118 10:00. */
void cellar_px_add_date(cellar_text *text, const char *keyword, const char *language,
                        const char *date);
/* What the symbols mean that stand for numbers: DATASYMBOL1 and on. */
void cellar_px_add_symbols(cellar_text *text);

/* ---- names of variables ---------------------------------------------------- */

/* As px can hold them; where that makes two alike they get different endings. {0} is empty. */
typedef struct cellar_px_names {
    cellar_text names[CELLAR_MAX_VARIABLES + 1];
    size_t n;
} cellar_px_names;

/* 0 when memory ends. */
int cellar_px_names_add(cellar_px_names *names, const char *name);
void cellar_px_names_clear(cellar_px_names *names);
/* A keyword with the names first .. last - 1, unless there is none. */
void cellar_px_add_names(cellar_text *text, const char *keyword, const char *language,
                         const cellar_px_names *names, size_t first, size_t last);

#endif
