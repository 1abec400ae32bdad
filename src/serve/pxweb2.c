/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/pxweb2.h"

#include <string.h>

static const struct {
    const char *name; /* after /tables/ID */
    serve_pxweb2_part *run;
    int may_post;
} pxweb2_parts[] = {
    {"metadata", serve_pxweb2_metadata, 0},
    {"defaultselection", serve_pxweb2_selection, 0},
    {"data", serve_pxweb2_data, 1},
};

static const struct {
    const char *name;
    size_t n_segments;
    serve_route *run;
} pxweb2_routes[] = {
    {"config", 1, serve_pxweb2_config},
    {"tables", 1, serve_pxweb2_tables},
    {"codelists", 2, serve_pxweb2_codelist},
};

static cellar_status pxweb2_run_table(const cellar_site *site, const serve_call *call,
                                      serve_reply *reply, cellar_error *err)
{
    const serve_dataset *dataset = serve_find_dataset(site, call->segments[1]);
    const char *part = call->n_segments > 2 ? call->segments[2] : NULL;
    if (dataset == NULL)
        return serve_reply_problem(reply, 404, "There is no table '%.200s'.", call->segments[1]);
    if (part == NULL)
        return serve_call_is_read(call) ? serve_pxweb2_table(site, call, dataset, reply, err)
                                        : serve_reply_method(reply);
    for (size_t i = 0; call->n_segments == 3 && i < sizeof pxweb2_parts / sizeof *pxweb2_parts; i++)
        if (strcmp(part, pxweb2_parts[i].name) == 0)
            return serve_call_is_read(call) || pxweb2_parts[i].may_post
                       ? pxweb2_parts[i].run(site, call, dataset, reply, err)
                       : serve_reply_method(reply);
    return serve_reply_nothing(reply);
}

cellar_status serve_route_pxweb2(cellar_site *site, const serve_call *call, serve_reply *reply,
                                 cellar_error *err)
{
    const char *first = call->n_segments > 0 ? call->segments[0] : "";
    for (size_t i = 0; i < sizeof pxweb2_routes / sizeof *pxweb2_routes; i++)
        if (strcmp(first, pxweb2_routes[i].name) == 0 &&
            call->n_segments == pxweb2_routes[i].n_segments)
            return serve_call_is_read(call) ? pxweb2_routes[i].run(site, call, reply, err)
                                            : serve_reply_method(reply);
    if (strcmp(first, "tables") == 0 && call->n_segments > 1)
        return pxweb2_run_table(site, call, reply, err);
    if (strcmp(first, "savedqueries") == 0)
        return serve_pxweb2_saved(site, call, reply, err);
    return serve_reply_nothing(reply);
}
