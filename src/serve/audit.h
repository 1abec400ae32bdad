/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The audit log: who asked for which canonical table, and what was decided. Never a count. Lines of
 * JSON, each with the hash of the line before, so that a line that was changed, removed or put in
 * shows. cellar/access.h reads and verifies it. */
#ifndef CELLAR_SERVE_AUDIT_H
#define CELLAR_SERVE_AUDIT_H

#include <stdint.h>

#include <cellar/status.h>

typedef struct serve_audit serve_audit;

/* What is written down. Texts are UTF-8; NULL: not about that. */
typedef struct serve_audit_entry {
    const char *who;      /* the name of a token */
    const char *action;   /* "draw" */
    const char *dataset;  /* its id */
    const char *table;    /* canonical */
    const char *decision; /* "asked", "drawn", "exists", "refused", "failed" */
    const char *rule;     /* of a refusal */
    const char *cost;     /* with its unit */
} serve_audit_entry;

/* Opens the log to add to it, or makes it (mode 0600). A last line that a crash cut short is
 * removed: nothing was done before it was whole. Refuses a log whose chain is broken
 * (CELLAR_ERR_INPUT). On failure *out is NULL. */
cellar_status serve_audit_open(const char *path, serve_audit **out, cellar_error *err);
void serve_audit_close(serve_audit *audit); /* NULL is fine */
/* Adds an entry dated `now` (seconds since 1970); it is on disk when this returns. Processes and
 * threads may share the log. */
cellar_status serve_audit_add(serve_audit *audit, const serve_audit_entry *entry, int64_t now,
                              cellar_error *err);

#endif
