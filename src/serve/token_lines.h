/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of tokens: a heading, then a line for each token with six fields between tabs,
 *
 *     HASH name roles analyst created expires
 *
 * where the hash has 64 hexadecimal digits, and '-' stands for no analyst and for no last day. */
#ifndef CELLAR_SERVE_TOKEN_LINES_H
#define CELLAR_SERVE_TOKEN_LINES_H

#include "base/text.h"
#include "serve/tokens.h"

enum { TOKEN_HASH = 32, TOKEN_DAY = 11, TOKENS_MAX = 10000 };

#define TOKEN_HEADING "cellar tokens 1"

typedef struct token_line {
    unsigned char hash[TOKEN_HASH]; /* of the secret */
    serve_token token;
    char created[TOKEN_DAY], expires[TOKEN_DAY]; /* expires: "" for never */
} token_line;

typedef struct token_lines {
    token_line *items;
    size_t n, capacity;
} token_lines;

/* Reads a file; one that others may write to is refused (CELLAR_ERR_RULE). Messages name file and
 * line, never a hash. Clear the lines in every case. */
cellar_status token_lines_read(const char *path, token_lines *out, cellar_error *err);
cellar_status token_lines_parse(const char *path, const char *text, size_t length, token_lines *out,
                                cellar_error *err);
void token_lines_clear(token_lines *lines);
void token_line_write(const token_line *line, cellar_text *out);

/* The line with that name, or NULL. */
token_line *token_lines_find(const token_lines *lines, const char *name);

/* The hash of a secret as it is handed out ("cellar_..."); 0 when the text is none. */
int token_hash(const char *secret, size_t length, unsigned char hash[TOKEN_HASH]);
/* "analyst,auditor" as numbers added up; 0 when a word is no role. */
unsigned token_roles(const char *words);
void token_roles_write(unsigned roles, cellar_text *out);
/* 1 for "2027-12-31". */
int token_is_day(const char *text);
/* The day (UTC) of a time, in seconds since 1970. */
void token_day(int64_t time, char out[TOKEN_DAY]);
/* 1 for a name of a token; and of an analyst, which may be any text of one line. */
int token_is_name(const char *name);
int token_is_analyst(const char *name);

#endif
