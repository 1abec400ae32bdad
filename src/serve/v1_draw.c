/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POST /v1/draws: the only request that can cause a charge. */
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "serve/judge.h"
#include "serve/suggest.h"
#include "serve/v1.h"

/* A request to draw, checked. */
typedef struct drawing {
    cellar_site *site;
    const serve_call *call;
    const serve_dataset *dataset;
    serve_table table;
    char name[SERVE_TABLE_TEXT]; /* canonical */
    const char *max_cost;        /* NULL for cell keys, which charge nothing */
} drawing;

static cellar_status audit(const drawing *d, const char *decision, const char *rule,
                           const char *cost, cellar_error *err)
{
    const serve_audit_entry entry = {.who = d->call->token.name,
                                     .action = "draw",
                                     .dataset = d->dataset->id,
                                     .table = d->name,
                                     .decision = decision,
                                     .rule = rule,
                                     .cost = cost};
    return serve_audit_add(d->site->audit, &entry, (int64_t) time(NULL), err);
}

/* ---- outcomes -------------------------------------------------------------------- */

static cellar_status reply_table(const drawing *d, serve_decision decision, const char *cost,
                                 serve_reply *reply, cellar_error *err)
{
    cellar_text *out = &reply->body;
    cellar_status status;
    serve_metrics_draw(&d->site->metrics, decision);
    reply->status = decision == SERVE_DECISION_DRAWN ? 201 : 200;
    serve_json_open(out, '{');
    serve_json_pair(out, "state", serve_decision_text(decision));
    serve_json_pair(out, "charged", decision == SERVE_DECISION_DRAWN ? cost : NULL);
    status = v1_write_table(d->site, d->dataset, &d->table, d->call, out, err);
    serve_json_close(out, '}');
    return status == CELLAR_OK ? v1_finish(reply) : status;
}

static cellar_status reply_refusal(const drawing *d, const serve_refusal *refusal,
                                   serve_reply *reply, cellar_error *err)
{
    cellar_status status = audit(d, "refused", refusal->rule, NULL, err);
    serve_metrics_draw(&d->site->metrics, SERVE_DECISION_REFUSED);
    return status == CELLAR_OK ? serve_reply_refusal(reply, d->dataset, refusal) : status;
}

static cellar_status reply_failure(const drawing *d, serve_reply *reply, cellar_error *err)
{
    cellar_status status = audit(d, "failed", NULL, NULL, err);
    serve_metrics_draw(&d->site->metrics, SERVE_DECISION_FAILED);
    return status == CELLAR_OK
               ? serve_reply_problem(reply, 503, "The vault could not do this now; ask again.")
               : status;
}

/* ---- the vault -------------------------------------------------------------------- */

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static cellar_status settle(const drawing *d, const json_t *answer, serve_reply *reply,
                            cellar_error *err)
{
    const char *state = member(answer, "state"), *cost = member(answer, "cost");
    const char *detail = member(answer, "detail"), *rule = member(answer, "rule");
    cellar_status status = CELLAR_OK;
    if (state != NULL && (strcmp(state, "drawn") == 0 || strcmp(state, "exists") == 0)) {
        const int is_drawn = strcmp(state, "drawn") == 0;
        CELLAR_TRY(audit(d, state, NULL, is_drawn ? cost : NULL, err));
        CELLAR_TRY(serve_source_refresh(d->dataset->source, d->dataset, err));
        return reply_table(d, is_drawn ? SERVE_DECISION_DRAWN : SERVE_DECISION_EXISTS, cost, reply,
                           err);
    }
    if (state != NULL && strcmp(state, "refused") == 0 && detail != NULL) {
        serve_refusal refusal = {
            .rule = rule != NULL ? rule : "vault", .detail = detail, .cost = cost};
        CELLAR_TRY(serve_suggest(d->dataset, &d->table, SERVE_SUGGEST_EXISTING, d->call->arena,
                                 &refusal, err));
        return reply_refusal(d, &refusal, reply, err);
    }
    if (state != NULL && strcmp(state, "wrong") == 0 && detail != NULL) {
        CELLAR_TRY(audit(d, "refused", "wrong", NULL, err));
        return serve_reply_problem(reply, 400, "%s.", detail);
    }
    return reply_failure(d, reply, err);
out:
    return status;
}

/* What is asked is on disk before the vault is asked. */
static cellar_status draw(const drawing *d, serve_reply *reply, cellar_error *err)
{
    json_t *answer = NULL;
    cellar_status status = audit(d, "asked", NULL, NULL, err);
    if (status != CELLAR_OK)
        return status;
    status = v1_ask_vault(d->site,
                          json_pack("{s:s, s:s, s:s, s:s*, s:s}", "do", "draw", "dataset",
                                    d->dataset->id, "table", d->name, "max_cost", d->max_cost,
                                    "authorization", d->call->request->authorization),
                          &answer, err);
    status = status == CELLAR_OK       ? settle(d, answer, reply, err)
             : status == CELLAR_ERR_IO ? reply_failure(d, reply, err)
                                       : status;
    json_decref(answer);
    return status;
}

/* ---- requests --------------------------------------------------------------------- */

/* Judges the table before the vault is asked: a refusal here has suggestions. A table that exists
 * is not drawn again. */
static cellar_status judge(const drawing *d, serve_reply *reply, cellar_error *err)
{
    serve_status known;
    serve_verdict verdict;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_judge(d->dataset, &d->table, d->call->arena, &known, &verdict, err));
    if (known.exists && known.is_exact)
        return reply_table(d, SERVE_DECISION_EXISTS, NULL, reply, err);
    if (!serve_kind_grows(d->dataset->kind))
        return verdict.is_allowed ? reply_table(d, SERVE_DECISION_EXISTS, NULL, reply, err)
                                  : reply_refusal(d, &verdict.refusal, reply, err);
    CELLAR_TRY(serve_judge_draw(d->dataset, &d->table, d->call->arena, &verdict, err));
    if (!verdict.is_allowed)
        return reply_refusal(d, &verdict.refusal, reply, err);
    if (d->site->options.ask_vault == NULL)
        return serve_reply_problem(reply, 503, "Nothing is drawn now: there is no vault.");
    return draw(d, reply, err);
out:
    return status;
}

static cellar_status read_max_cost(const drawing *d, const json_t *body, const char **out,
                                   cellar_error *err)
{
    cellar_status status;
    *out = NULL;
    if (d->dataset->kind != SERVE_BUDGET)
        return CELLAR_OK;
    status = v1_read_text(body, "max_cost", out, err);
    if (status == CELLAR_OK && (*out)[0] == '-')
        status = cellar_fail(err, CELLAR_ERR_INPUT, "Member 'max_cost' of the body is negative.");
    return status;
}

cellar_status v1_draw(cellar_site *site, const serve_call *call, serve_reply *reply,
                      cellar_error *err)
{
    static const char *const members[] = {"dataset", "table", "max_cost", NULL};
    drawing d = {.site = site, .call = call};
    const char *id, *table;
    json_t *body = NULL;
    cellar_status status = CELLAR_OK;
    if (!v1_has_role(call, SERVE_MAY_DRAW, reply, &status))
        return status;
    CELLAR_TRY(v1_read_body(call, members, &body, err));
    CELLAR_TRY(v1_read_text(body, "dataset", &id, err));
    CELLAR_TRY(v1_read_text(body, "table", &table, err));
    d.dataset = v1_find_dataset(site, id, reply, &status);
    if (d.dataset == NULL)
        goto out;
    CELLAR_TRY(serve_table_parse(d.dataset, table, &d.table, err));
    serve_table_text(d.dataset, &d.table, d.name);
    CELLAR_TRY(read_max_cost(&d, body, &d.max_cost, err));
    status = judge(&d, reply, err);
out:
    json_decref(body);
    return status;
}
