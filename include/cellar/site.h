/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table builder without its sockets: a site is a set of data sets that are served, and answers
 * one request at a time. A site holds nothing confidential: cubes and releases, texts and rules.
 * What needs true counts is asked of a vault (cellar/vault.h), which lives in a process of its own.
 * docs/table-builder.md explains what it serves and what it withstands. */
#ifndef CELLAR_SITE_H
#define CELLAR_SITE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_site cellar_site;

/* Sends one message to the vault and waits for its reply (cellar/vault.h). *reply is freed with
 * free(3). */
typedef cellar_status cellar_ask_vault(void *context, const char *message, size_t length,
                                       char **reply, size_t *reply_length, cellar_error *err);

/* Start from cellar_site_options_default(). */
typedef struct cellar_site_options {
    cellar_ask_vault *ask_vault; /* NULL: data sets that need a vault only show what exists */
    void *vault_context;
    const char *page; /* a folder of files to serve where the configuration names none: the page
                         on which people build tables; NULL: none */
} cellar_site_options;

/* No vault, no page. */
CELLAR_API cellar_site_options cellar_site_options_default(void);

/* ---- life cycle ------------------------------------------------------------ */

/* Reads a configuration (docs/table-builder.md), and every cube and release that it names, whose
 * certificates are computed again. Refuses a configuration that promises what it cannot keep
 * (CELLAR_ERR_RULE). On failure *out is NULL and the message names file, line and place. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_site_open(const char *config_path,
                                                           const cellar_site_options *options,
                                                           cellar_site **out, cellar_error *err);
CELLAR_API void cellar_site_close(cellar_site *site); /* NULL is fine */

/* 1 when some data set is drawn from true counts, which only a vault has. */
CELLAR_API int cellar_site_needs_vault(const cellar_site *site) CELLAR_NONNULL(1);
/* The files and folders that the site opens while it answers, one by one; NULL after the last.
 * *is_written is 1 where it makes files, too. A process that answers needs no others. */
CELLAR_API const char *cellar_site_path(const cellar_site *site, size_t index, int *is_written)
    CELLAR_NONNULL(1);

/* Refuses (CELLAR_ERR_RULE) a site that reads a folder in which data, a key or the ledger of one of
 * its data sets lies: a process that answers could open them. The folders of the page and of the
 * agency, which are served whole, may hold no tokens, audit or state either. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_site_check_apart(const cellar_site *site,
                                                                  cellar_error *err)
    CELLAR_NONNULL(1);

/* ---- answering ------------------------------------------------------------- */

/* A request as it came; all of it is hostile. Texts that were not sent are NULL. */
typedef struct cellar_request {
    const char *method;        /* "GET", "HEAD", "POST", "OPTIONS"; all others are refused */
    const char *path;          /* "/api/v2/tables", percent-encoded as it was sent */
    const char *query;         /* after the question mark, percent-encoded */
    const char *accept;        /* what the client can read */
    const char *language;      /* Accept-Language */
    const char *authorization; /* "Bearer ..." */
    const char *etag;          /* If-None-Match */
    const char *content_type;
    const char *address; /* of the client, for limits; never written anywhere */
    const char *body;
    size_t body_length;
} cellar_request;

enum { CELLAR_RESPONSE_MAX_HEADERS = 16 };

typedef struct cellar_response_header {
    const char *name, *value;
} cellar_response_header;

/* What to send. Everything belongs to the response; clear it with cellar_response_clear(). */
typedef struct cellar_response {
    int status;                                                  /* 200, 304, 400, 403, 404, ... */
    cellar_response_header headers[CELLAR_RESPONSE_MAX_HEADERS]; /* content type included */
    size_t n_headers;
    const void *body;
    size_t body_length;
    int is_immutable; /* 1: as long as the site is open, the same request has this response */
    void *storage;    /* what the above points into */
} cellar_response;

/* Answers a request. Never fails: bad requests are 4xx with one sentence, and memory that ends is
 * 503. May be called by several threads at once. */
CELLAR_API void cellar_site_answer(cellar_site *site, const cellar_request *request,
                                   cellar_response *out);
CELLAR_API void cellar_response_clear(cellar_response *response);

#ifdef __cplusplus
}
#endif

#endif
