/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the operator, with an auditor's token: GET /v1/metrics and /v1/audit. */
#include <string.h>

#include <cellar/access.h>

#include "base/error.h"
#include "serve/v1.h"

/* ---- metrics --------------------------------------------------------------------- */

cellar_status v1_metrics(cellar_site *site, const serve_call *call, serve_reply *reply,
                         cellar_error *err)
{
    cellar_status status;
    (void) err;
    if (!v1_has_role(call, SERVE_MAY_AUDIT, reply, &status))
        return status;
    serve_metrics_write(&site->metrics, &reply->body);
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply->body.failed ? CELLAR_ERR_MEMORY : CELLAR_OK;
}

/* ---- the audit log ---------------------------------------------------------------- */

enum { PAGE = 500 };

/* A page of the log: entries from a number on. */
typedef struct page {
    uint64_t from, n;
    cellar_text *out;
} page;

static void take_entry(void *context, const cellar_audit_entry *entry)
{
    page *p = context;
    if (entry->number < p->from || p->n == PAGE)
        return;
    if (p->n++ > 0)
        cellar_text_add_char(p->out, ',');
    cellar_text_add(p->out, entry->line, entry->length);
}

cellar_status v1_audit(cellar_site *site, const serve_call *call, serve_reply *reply,
                       cellar_error *err)
{
    const char *from = serve_parameter_find(call, "from");
    cellar_text entries = {0};
    page p = {.from = 1, .out = &entries};
    cellar_audit_head head;
    cellar_status status = CELLAR_OK;
    if (!v1_has_role(call, SERVE_MAY_AUDIT, reply, &status))
        return status;
    if (site->audit == NULL)
        return serve_reply_problem(reply, 404, "This site keeps no audit log.");
    if (from != NULL && !cellar_parse_u64(from, strlen(from), &p.from))
        return serve_reply_problem(reply, 400, "'from' is the number of an entry.");
    cellar_text_add_string(&entries, "");
    CELLAR_TRY(cellar_audit_read(site->config->site.audit, NULL, take_entry, &p, &head, err));
    serve_json_open(&reply->body, '{');
    v1_integer(&reply->body, "entries", head.n_entries);
    serve_json_pair(&reply->body, "head", head.hash);
    serve_json_name(&reply->body, "log");
    serve_json_open(&reply->body, '[');
    cellar_text_add(&reply->body, entries.bytes, entries.length);
    serve_json_close(&reply->body, ']');
    serve_json_close(&reply->body, '}');
    status = entries.failed ? CELLAR_ERR_MEMORY : v1_finish(reply);
out:
    cellar_text_clear(&entries);
    return status;
}
