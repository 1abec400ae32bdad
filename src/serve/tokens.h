/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens: who may do what. A token has 256 random bits; the file holds its hash, a name, roles and
 * an analyst whose share of the budget it spends. Files of tokens are made and changed by
 * cellar/access.h. */
#ifndef CELLAR_SERVE_TOKENS_H
#define CELLAR_SERVE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

typedef struct serve_tokens serve_tokens;

enum { /* roles, added up */
       SERVE_MAY_READ = 1,
       SERVE_MAY_DRAW = 2,    /* analyst: cause a charge */
       SERVE_MAY_PUBLISH = 4, /* publisher */
       SERVE_MAY_AUDIT = 8    /* auditor: the operator's view */
};

enum { SERVE_TOKEN_NAME = 64 }; /* bytes of a name, its NUL included */

typedef struct serve_token {
    char name[SERVE_TOKEN_NAME];
    char analyst[SERVE_TOKEN_NAME]; /* "": it has no share */
    unsigned roles;
} serve_token;

/* Reads the file of tokens, and again whenever it has changed; while it cannot be read nobody has a
 * token. */
cellar_status serve_tokens_open(const char *path, serve_tokens **out, cellar_error *err);
void serve_tokens_close(serve_tokens *tokens); /* NULL is fine */
/* Whose token stands in "Bearer ..."; *out is left alone and the answer 0 when nobody's or expired
 * by `now` (seconds since 1970). Takes the same time whatever the token. Threads may share it. */
int serve_tokens_find(serve_tokens *tokens, const char *authorization, int64_t now,
                      serve_token *out);

#endif
