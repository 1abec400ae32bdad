/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the operator, with an auditor's token: GET /v1/metrics, /v1/audit and
 * /v1/datasets/DATASET/history. */
#include <stdio.h>
#include <string.h>

#include <cellar/access.h>

#include "base/error.h"
#include "serve/v1.h"
#include "table/formats/extension.h"

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

/* ---- history ----------------------------------------------------------------------- */

/* Days in order, and how often each rule refused a draw. */
typedef struct history {
    const char *dataset;
    json_t *days, *rules;
    int failed;
} history;

static void count_one(history *h, json_t *object, const char *name)
{
    const json_int_t n = json_integer_value(json_object_get(object, name)) + 1;
    h->failed |= json_object_set_new(object, name, json_integer(n)) != 0;
}

/* The object of a day. One that is made has what was spent and left the day before. */
static json_t *find_day(history *h, const char *day)
{
    static const char *const kept[] = {"spent", "left"};
    size_t at = json_array_size(h->days);
    json_t *before = NULL, *made;
    for (; at > 0; at--) {
        const char *name;
        before = json_array_get(h->days, at - 1);
        name = json_string_value(json_object_get(before, "day"));
        if (name != NULL && strcmp(name, day) == 0)
            return before;
        if (name == NULL || strcmp(name, day) < 0)
            break;
        before = NULL;
    }
    made = json_pack("{s:s, s:i}", "day", day, "drawn", 0);
    for (size_t i = 0; before != NULL && i < 2; i++)
        if (json_object_get(before, kept[i]) != NULL)
            h->failed |= json_object_set(made, kept[i], json_object_get(before, kept[i])) != 0;
    h->failed |= json_array_insert_new(h->days, at, made) != 0;
    return h->failed ? NULL : made;
}

static void take_refusal(void *context, const cellar_audit_entry *entry)
{
    enum { DAY_TEXT = sizeof "2026-11-18" };
    history *h = context;
    char day[DAY_TEXT];
    if (entry->dataset == NULL || strcmp(entry->dataset, h->dataset) != 0 ||
        entry->decision == NULL || strcmp(entry->decision, "refused") != 0)
        return;
    snprintf(day, sizeof day, "%.*s", DAY_TEXT - 1, entry->time);
    count_one(h, find_day(h, day), "refused");
    count_one(h, h->rules, entry->rule != NULL ? entry->rule : "none");
}

static cellar_status read_history(const cellar_site *site, const serve_dataset *dataset, history *h,
                                  cellar_error *err)
{
    json_t *answer = NULL;
    cellar_status status = CELLAR_OK;
    if (serve_kind_grows(dataset->kind))
        CELLAR_TRY(v1_ask_vault(
            site, json_pack("{s:s, s:s}", "do", "history", "dataset", dataset->id), &answer, err));
    *h = (history){.dataset = dataset->id, .rules = json_object()};
    h->days = json_is_array(json_object_get(answer, "days"))
                  ? json_incref(json_object_get(answer, "days"))
                  : json_array();
    if (site->audit != NULL)
        CELLAR_TRY(cellar_audit_read(site->config->site.audit, NULL, take_refusal, h, NULL, err));
    if (h->failed || h->days == NULL || h->rules == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the history"));
out:
    json_decref(answer);
    return status;
}

static cellar_status write_history(const history *h, serve_reply *reply, cellar_error *err)
{
    json_t *object =
        json_pack("{s:s, s:O, s:O}", "dataset", h->dataset, "days", h->days, "refusals", h->rules);
    char *text = object != NULL ? cellar_json_text(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (text == NULL)
        return cellar_fail_memory(err, "the history");
    cellar_text_add_string(&reply->body, text);
    cellar_free(text);
    return v1_finish(reply);
}

cellar_status v1_history(cellar_site *site, const serve_call *call, serve_reply *reply,
                         cellar_error *err)
{
    history h = {0};
    cellar_status status = CELLAR_OK;
    const serve_dataset *dataset;
    if (!v1_has_role(call, SERVE_MAY_AUDIT, reply, &status))
        return status;
    dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    if (dataset == NULL)
        return status;
    status = read_history(site, dataset, &h, err);
    if (status == CELLAR_ERR_IO || status == CELLAR_ERR_UNSUPPORTED)
        status = serve_reply_problem(reply, 503, "The vault does not answer now; ask again.");
    else if (status == CELLAR_OK)
        status = write_history(&h, reply, err);
    json_decref(h.days);
    json_decref(h.rules);
    return status;
}
