/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The PC-Axis file format (AXIS-VERSION 2013): keywords before the data, and how strings and
 * missing numbers are written in it. */
#ifndef CELLAR_TABLE_FORMATS_PX_H
#define CELLAR_TABLE_FORMATS_PX_H

#include <jansson.h>

#include "base/memory.h"
#include "table/formats/format.h"

/* ---- strings and symbols, for both directions ------------------------------ */

/* Adds a string as px can hold it: it knows no quotes and no control characters inside a string,
 * so that " becomes ' and each of the others a blank. */
void cellar_px_add_plain(cellar_text *text, const char *string);
/* 1 when `plain` is what becomes of `string`. */
int cellar_px_is_plain_of(const char *plain, const char *string);

/* The symbol for a cell without a number: "." structural zero (category not applicable), ".." not
 * available, "..." suppressed, "...." unreliable. NULL for a normal cell. */
const char *cellar_px_symbol(cellar_cell_status status);
/* The status of a symbol of one to six dots ("-" is a plain zero). 0 when it is none. */
int cellar_px_find_symbol(const char *symbol, size_t length, cellar_cell_status *out);

/* The keyword that Cellar's own files have, and what its value begins with; the rest is JSON with
 * " # % as %22 %23 %25. Version 0.1 had it at the end of NOTE. */
#define CELLAR_PX_KEYWORD "CELLAR"
#define CELLAR_PX_MARK "cellar:"

/* ---- the keywords of a file ------------------------------------------------ */

typedef struct cellar_px_entry {
    const char *keyword;  /* upper case */
    const char *language; /* "" when none is given */
    const char *key;      /* the first in parentheses, "" when there is none */
    const char **values;
    size_t n_values;
    uint64_t line;
} cellar_px_entry;

typedef struct cellar_px {
    cellar_arena *arena;
    cellar_px_entry *entries;
    size_t n_entries, capacity;
    const char *data; /* where the data begins, after DATA= */
    uint64_t data_line;
} cellar_px;

/* Reads all up to the data, and turns the strings into UTF-8 from the encoding that CODEPAGE
 * names, else from Windows-1252. *out is to be cleared in every case. */
cellar_status cellar_px_parse(const cellar_source *source, cellar_px *out, cellar_error *err);
void cellar_px_clear(cellar_px *px);

/* The entry of a keyword in a language, for a key; NULL when there is none. */
const cellar_px_entry *cellar_px_find(const cellar_px *px, const char *keyword,
                                      const char *language, const char *key);
/* Its only value, or NULL. */
const char *cellar_px_value(const cellar_px *px, const char *keyword, const char *key);

/* The JSON object that Cellar wrote into the file; *out is NULL in files of others, and is released
 * with json_decref(). */
cellar_status cellar_px_extension(const cellar_source *source, const cellar_px *px, json_t **out,
                                  cellar_error *err);

/* ---- the data -------------------------------------------------------------- */

typedef struct cellar_px_token {
    const char *bytes;
    size_t length;
    int quoted;
    uint64_t line;
} cellar_px_token;

typedef struct cellar_px_cursor {
    const char *at, *end;
    uint64_t line;
} cellar_px_cursor;

/* The next number, symbol or key. 0 at the semicolon or the end of the file. */
int cellar_px_next_token(cellar_px_cursor *cursor, cellar_px_token *token);

#endif
