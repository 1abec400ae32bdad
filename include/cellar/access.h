/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may ask a table builder for what: files of tokens, and the log of what was asked. A site
 * (cellar/site.h) reads the one and writes the other. */
#ifndef CELLAR_ACCESS_H
#define CELLAR_ACCESS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tokens ---------------------------------------------------------------- */

/* A token is 256 secret bits. The file has a line for each, with the hash of the secret and not the
 * secret: everybody may read it, and who may write to it can make tokens. */

/* Start from cellar_token_spec_default(). */
typedef struct cellar_token_spec {
    const char *name;    /* who has it, unique in the file: letters, digits, '.', '-', '_', '@' */
    const char *roles;   /* "reader", "analyst", "publisher", "auditor", separated by commas */
    const char *analyst; /* whose share of the budget it spends; NULL: nobody's */
    const char *expires; /* the last day (UTC) it is good for, "2027-12-31"; NULL: every day */
} cellar_token_spec;

/* A reader without a name. */
CELLAR_API cellar_token_spec cellar_token_spec_default(void);

enum { CELLAR_TOKEN_TEXT = 51 }; /* "cellar_" and 43 characters, the NUL included */

/* Makes a token and adds its line to the file, which is made when it is not there. The secret is
 * handed out once, here: wipe it afterwards. Refuses a name that the file has already
 * (CELLAR_ERR_EXISTS). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_token_create(const char *path,
                                                              const cellar_token_spec *spec,
                                                              char secret[CELLAR_TOKEN_TEXT],
                                                              cellar_error *err);
/* Removes the token of that name; a site that runs refuses it from its next request on. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_token_revoke(const char *path, const char *name,
                                                              cellar_error *err);

/* What the file says about a token; texts are valid during the call. */
typedef struct cellar_token_info {
    const char *name, *roles, *created;
    const char *analyst, *expires; /* NULL: none */
} cellar_token_info;
typedef void cellar_token_visit(void *context, const cellar_token_info *token);
/* Calls `visit` for every token, in the order of the file. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_token_list(const char *path,
                                                            cellar_token_visit *visit,
                                                            void *context, cellar_error *err);

/* ---- the audit log ----------------------------------------------------------- */

enum { CELLAR_AUDIT_HASH_TEXT = 65 };

/* How far a log goes: keep it elsewhere, and later logs can be checked against it. */
typedef struct cellar_audit_head {
    uint64_t n_entries;
    char hash[CELLAR_AUDIT_HASH_TEXT]; /* hexadecimal */
} cellar_audit_head;

/* An entry; texts are valid during the call, and NULL where the entry is not about that. */
typedef struct cellar_audit_entry {
    uint64_t number;
    const char *time, *who, *action, *dataset, *table, *decision, *rule, *cost;
    const char *line; /* as it was written: a JSON object, which is not terminated */
    size_t length;
} cellar_audit_entry;
typedef void cellar_audit_visit(void *context, const cellar_audit_entry *entry);

/* Reads a log and verifies its chain: CELLAR_ERR_INPUT names the first line that does not follow
 * from those before it. `visit` (may be NULL) sees every entry up to there. With `known` (may be
 * NULL) the log must go on from that head. *out (may be NULL) is the head. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_audit_read(const char *path,
                                                            const cellar_audit_head *known,
                                                            cellar_audit_visit *visit,
                                                            void *context, cellar_audit_head *out,
                                                            cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
