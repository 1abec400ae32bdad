/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of PxWebApi 2, below /api/v2. They only read. */
#ifndef CELLAR_SERVE_PXWEB2_H
#define CELLAR_SERVE_PXWEB2_H

#include "serve/answering.h"

#define SERVE_PXWEB2_PREFIX "/api/v2"

/* GET /config, /tables, /codelists/ID. */
serve_route serve_pxweb2_config;
serve_route serve_pxweb2_tables;
serve_route serve_pxweb2_codelist;

/* GET /tables/ID, /metadata, /defaultselection; GET and POST /data. */
typedef cellar_status serve_pxweb2_part(const cellar_site *site, const serve_call *call,
                                        const serve_dataset *dataset, serve_reply *reply,
                                        cellar_error *err);
serve_pxweb2_part serve_pxweb2_table;
serve_pxweb2_part serve_pxweb2_metadata;
serve_pxweb2_part serve_pxweb2_selection;
serve_pxweb2_part serve_pxweb2_data;

/* POST /savedqueries; GET /savedqueries/ID, /data, /selection. */
serve_route serve_pxweb2_saved;

/* Takes outputFormat and outputFormatParams from the query, or else what Accept asks for; what the
 * query leaves open stays as it is. */
cellar_status serve_pxweb2_format(const serve_call *call, serve_request *request,
                                  cellar_error *err);
/* Replies with {language, selection, placement, links} of a request; `path` is its address. */
cellar_status serve_pxweb2_reply_selection(const cellar_site *site, const serve_call *call,
                                           const serve_request *request, const char *path,
                                           serve_reply *reply, cellar_error *err);
/* The choices of a saved query. *found is 0 when there is none of that id. */
cellar_status serve_saved_request(const cellar_site *site, const serve_call *call, const char *id,
                                  serve_request *request, int *found, cellar_error *err);

#endif
