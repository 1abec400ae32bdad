/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chain of an audit log. A line is a JSON object whose last member is
 *
 *     "chain":"64 hexadecimal digits"
 *
 * the hash of the chain before it (zeros at first) and of the object without this member. */
#ifndef CELLAR_SERVE_AUDIT_CHAIN_H
#define CELLAR_SERVE_AUDIT_CHAIN_H

#include <stdio.h>

#include <cellar/access.h>

#include "base/text.h"

enum { AUDIT_HASH = 32, AUDIT_LINE_MAX = 1 << 14 };

typedef struct audit_chain {
    uint64_t n; /* lines */
    unsigned char hash[AUDIT_HASH];
} audit_chain;

/* Adds the chain to a body ("{...}") and goes on: `line` becomes the line, without its end. */
void audit_chain_seal(audit_chain *chain, const cellar_text *body, cellar_text *line);
void audit_chain_head(const audit_chain *chain, cellar_audit_head *out);

/* Called for every line that follows. */
typedef cellar_status audit_visit(void *context, const audit_chain *chain, const char *line,
                                  size_t length, cellar_error *err);
/* Reads lines from where the file stands and follows them. *n_bytes counts those of whole lines; a
 * last line without an end is left. `visit` may be NULL. */
cellar_status audit_chain_read(audit_chain *chain, const char *path, FILE *file, uint64_t *n_bytes,
                               audit_visit *visit, void *context, cellar_error *err);

#endif
