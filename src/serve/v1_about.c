/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is promised and known: the statement of a data set; certificates; health. */
#include <string.h>

#include <cellar/version.h>

#include "base/error.h"
#include "serve/v1.h"

/* ---- statements ------------------------------------------------------------------- */

/* Copies members of a reply of the vault that are there. */
static void copy_members(const json_t *from, const char *const *names, json_t *to)
{
    for (; *names != NULL; names++)
        if (json_object_get(from, *names) != NULL)
            json_object_set(to, *names, json_object_get(from, *names));
}

/* In numbers, where it holds: cell keys beside it make it void, and the caveat says so. */
static void add_promise(const cellar_promise *promise, const serve_dataset *dataset, json_t *object)
{
    if (dataset->caveat != NULL)
        json_object_set_new(object, "note", json_string(dataset->caveat));
    else
        json_object_set_new(object, "promise", serve_promise_json(promise, dataset->unit));
}

/* The ledger's own words, and of a budget what is spent and left: the cap first. Of cell keys the
 * ledger knows that they are outside every budget. */
static cellar_status statement_of_vault(const cellar_site *site, const serve_dataset *dataset,
                                        const serve_call *call, json_t *object, cellar_error *err)
{
    static const char *const said[] = {"statement", "is_whole", "wasted", "note", NULL};
    static const char *const left[] = {"budget", "share", NULL};
    const char *authorization = call->request->authorization;
    json_t *statement = NULL, *balance = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(v1_ask_vault(
        site, json_pack("{s:s, s:s}", "do", "statement", "dataset", dataset->id), &statement, err));
    if (dataset->kind == SERVE_CELL_KEY) {
        const char *words = json_string_value(json_object_get(statement, "statement"));
        json_object_set_new(statement, "statement",
                            json_sprintf("Tables of this data set are made with cell keys: they "
                                         "are not differentially private.\n%s",
                                         words != NULL ? words : ""));
    } else {
        CELLAR_TRY(v1_ask_vault(site,
                                json_pack("{s:s, s:s, s:s*}", "do", "balance", "dataset",
                                          dataset->id, "authorization", authorization),
                                &balance, err));
        copy_members(balance, left, object);
    }
    copy_members(statement, said, object);
    add_promise(&dataset->promise, dataset, object);
out:
    json_decref(statement);
    json_decref(balance);
    return status;
}

/* What covers the total of a cube covers everything that was made with it. Releases have what a
 * pack promises, or each its own. */
static cellar_status statement_of_source(const serve_dataset *dataset, cellar_arena *arena,
                                         json_t *object, cellar_error *err)
{
    static const serve_table total = {{0}};
    serve_status known;
    serve_cover cover;
    cellar_status status = CELLAR_OK;
    if (dataset->kind == SERVE_RELEASES) {
        json_object_set_new(object, "statement",
                            json_string(dataset->joint != NULL
                                            ? dataset->joint
                                            : "Each table has a guarantee of its own; nothing is "
                                              "promised about all of them together."));
        add_promise(&dataset->promise, dataset, object);
        return CELLAR_OK;
    }
    CELLAR_TRY(dataset->source->ops->status(dataset->source, dataset, &total, &known, err));
    if (!known.exists)
        return CELLAR_OK;
    CELLAR_TRY(
        dataset->source->ops->describe(dataset->source, dataset, &total, arena, &cover, err));
    json_object_set_new(object, "statement", json_string(cover.guarantee));
    json_object_set_new(object, "certificate", json_string(cover.id));
    add_promise(&cover.promise, dataset, object);
out:
    return status;
}

cellar_status v1_statement(cellar_site *site, const serve_call *call, serve_reply *reply,
                           cellar_error *err)
{
    cellar_status status;
    const serve_dataset *dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    json_t *object;
    char *text;
    if (dataset == NULL)
        return status;
    if (serve_kind_grows(dataset->kind) && site->options.ask_vault == NULL)
        return serve_reply_problem(reply, 503, "The ledger is not at hand: there is no vault.");
    object = json_pack("{s:s, s:s, s:s}", "dataset", dataset->id, "kind",
                       v1_kind_text(dataset->kind), "population", dataset->population);
    if (object == NULL)
        return cellar_fail_memory(err, "a statement");
    status = serve_kind_grows(dataset->kind)
                 ? statement_of_vault(site, dataset, call, object, err)
                 : statement_of_source(dataset, call->arena, object, err);
    text = status == CELLAR_OK ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (status == CELLAR_ERR_IO)
        return serve_reply_problem(reply, 503, "The vault does not answer now; ask again.");
    if (text == NULL)
        return status != CELLAR_OK ? status : cellar_fail_memory(err, "a statement");
    cellar_text_add_string(&reply->body, text);
    free(text);
    return v1_finish(reply);
}

/* ---- certificates ------------------------------------------------------------------ */

/* The certificate of that id in a data set; NULL when it has none. */
static cellar_status find_certificate(const serve_dataset *dataset, const char *id,
                                      cellar_arena *arena, const char **out, cellar_error *err)
{
    const serve_source *source = dataset->source;
    *out = NULL;
    return source->ops->certificate != NULL
               ? source->ops->certificate(source, dataset, id, arena, out, err)
               : CELLAR_OK;
}

cellar_status v1_certificate(cellar_site *site, const serve_call *call, serve_reply *reply,
                             cellar_error *err)
{
    const char *id = call->segments[1], *found = NULL;
    for (size_t i = 0; i < site->n_datasets && found == NULL; i++) {
        cellar_status status = find_certificate(&site->datasets[i], id, call->arena, &found, err);
        if (status != CELLAR_OK)
            return status;
    }
    if (found == NULL)
        return serve_reply_problem(reply, 404, "There is no certificate '%.64s'.", id);
    cellar_text_add_string(&reply->body, found);
    reply->is_immutable = 1;
    return v1_finish(reply);
}

/* ---- health ------------------------------------------------------------------------ */

cellar_status v1_health(cellar_site *site, const serve_call *call, serve_reply *reply,
                        cellar_error *err)
{
    cellar_text *out = &reply->body;
    int needs_vault = 0, vault_answers = 0;
    json_t *answer = NULL;
    (void) call;
    for (size_t i = 0; i < site->n_datasets; i++)
        needs_vault |= serve_kind_grows(site->datasets[i].kind);
    if (site->options.ask_vault != NULL) { /* any reply will do */
        vault_answers =
            v1_ask_vault(site, json_pack("{s:s}", "do", "ping"), &answer, err) == CELLAR_OK;
        json_decref(answer);
    }
    if (needs_vault && !vault_answers)
        reply->status = 503;
    serve_json_open(out, '{');
    serve_json_pair(out, "status", reply->status == 200 ? "ok" : "degraded");
    serve_json_pair(out, "version", cellar_version());
    v1_integer(out, "datasets", site->n_datasets);
    serve_json_pair(out, "vault", vault_answers ? "answers" : needs_vault ? "silent" : "none");
    serve_json_close(out, '}');
    return v1_finish(reply);
}
