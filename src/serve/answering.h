/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the routes of all protocols do with choices: answer them in a format. */
#ifndef CELLAR_SERVE_ANSWERING_H
#define CELLAR_SERVE_ANSWERING_H

#include "serve/choices.h"
#include "serve/formats.h"
#include "serve/routes.h"

/* What is asked for. */
typedef struct serve_request {
    const serve_dataset *dataset;
    serve_choices choices;
    size_t language;
    const serve_format *format;
    serve_format_options options;
    int is_default; /* the client chose nothing: what it gets may change with new releases */
} serve_request;

/* Fills the reply: the answer in its format, or a refusal. */
cellar_status serve_reply_answer(const cellar_site *site, const serve_call *call,
                                 const serve_request *request, serve_reply *reply,
                                 cellar_error *err);

/* The choices of a data set's default table; the request is then a default one. */
cellar_status serve_request_default(serve_request *request, cellar_error *err);

/* The format that an Accept header asks for first; NULL when it names none, or anything will do. */
const serve_format *serve_format_accepted(const char *accept);
/* Reads "UseCodes,SeparatorTab" into options. CELLAR_ERR_INPUT for a word that is none, and for two
 * that contradict each other. */
cellar_status serve_format_parameters(const char *list, cellar_arena *arena,
                                      serve_format_options *out, cellar_error *err);

/* The most cells of an answer that holds for every table of the site. */
uint64_t serve_site_max_cells(const cellar_site *site);

/* 1 for GET and HEAD. */
int serve_call_is_read(const serve_call *call);
/* 405, and 404 without more to say. */
cellar_status serve_reply_method(serve_reply *reply);
cellar_status serve_reply_nothing(serve_reply *reply);

/* The body of a reply is JSON from now on. */
void serve_reply_json(serve_reply *reply);
/* Adds a link {rel, hreflang, href}: base_url, a path that is encoded already, "?lang=". */
void serve_json_link(cellar_text *out, const cellar_site *site, const char *rel, const char *path,
                     size_t language);

#endif
