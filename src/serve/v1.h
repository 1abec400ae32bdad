/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our own interface, /v1/...: what a table is, costs and may be, before it is asked for; drawing;
 * certificates; comparisons that know the noise. docs/openapi.yaml describes it. */
#ifndef CELLAR_SERVE_V1_H
#define CELLAR_SERVE_V1_H

#include "serve/json.h"
#include "serve/routes.h"
#include "serve/source.h"

/* ---- handlers: segments are those below /v1 ------------------------------------------------ */

serve_route v1_datasets, v1_dataset, v1_variables;   /* v1_datasets.c */
serve_route v1_statement, v1_certificate, v1_health; /* v1_about.c */
serve_route v1_table;                                /* v1_table.c */
serve_route v1_draw;                                 /* v1_draw.c */
serve_route v1_intervals;                            /* v1_intervals.c */
serve_route v1_compare, v1_independence;             /* v1_infer.c */
serve_route v1_metrics, v1_audit, v1_history;        /* v1_operator.c */

/* ---- what they share ------------------------------------------------------------------------ */

/* The data set that a segment or a member of a body names; NULL after a reply of 404. */
const serve_dataset *v1_find_dataset(const cellar_site *site, const char *id, serve_reply *reply,
                                     cellar_status *status);
/* Reads the body, an object with no members but those of the list, which ends with NULL.
 * CELLAR_ERR_INPUT says what is wrong. Release *out with json_decref(). */
cellar_status v1_read_body(const serve_call *call, const char *const *members, json_t **out,
                           cellar_error *err);
/* A member that is a text; CELLAR_ERR_INPUT when it is none, or missing. */
cellar_status v1_read_text(const json_t *body, const char *name, const char **out,
                           cellar_error *err);
/* Takes a confidence; CELLAR_ERR_INPUT when it is none. */
cellar_status v1_read_confidence(double value, double *out, cellar_error *err);
/* 1 when the call's token has the role; else a reply was made: 401, or 403. */
int v1_has_role(const serve_call *call, unsigned role, serve_reply *reply, cellar_status *status);

/* Ends a reply of JSON. */
cellar_status v1_finish(serve_reply *reply);
/* "name": a number, null for NAN and infinite ones. */
void v1_number(cellar_text *out, const char *name, double value);
void v1_bool(cellar_text *out, const char *name, int value);
void v1_integer(cellar_text *out, const char *name, uint64_t value);
/* "name": a text in the language of the call; null when there is none. */
void v1_text(cellar_text *out, const char *name, const serve_texts *texts, size_t language);

/* "cube", "budget", ... */
const char *v1_kind_text(serve_kind kind);

/* What is known about a table: everything but asking for it (docs/openapi.yaml, Table). Adds the
 * members of an object that was opened. */
cellar_status v1_write_table(const cellar_site *site, const serve_dataset *dataset,
                             const serve_table *table, const serve_call *call, cellar_text *out,
                             cellar_error *err);

/* ---- v1_vault.c ---------------------------------------------------------------------------- */

/* Sends a message, takes it, and reads the reply. CELLAR_ERR_UNSUPPORTED when there is no vault,
 * CELLAR_ERR_IO when it does not answer. Release *reply with json_decref(). */
cellar_status v1_ask_vault(const cellar_site *site, json_t *message, json_t **reply,
                           cellar_error *err);

#endif
