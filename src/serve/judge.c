/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/judge.h"

#include "base/error.h"
#include "base/text.h"
#include "serve/price.h"
#include "serve/released.h"
#include "serve/rules.h"
#include "serve/suggest.h"

static const char *rule_of_kind(serve_kind kind)
{
    static const char *const rules[] = {[SERVE_RELEASES] = "not-released",
                                        [SERVE_CUBE] = "universe",
                                        [SERVE_BUDGET] = "not-drawn",
                                        [SERVE_CELL_KEY] = "not-drawn"};
    return rules[kind];
}

static const char *words_of_kind(serve_kind kind)
{
    static const char *const words[] = {
        [SERVE_RELEASES] = "is not among the tables that were released",
        [SERVE_CUBE] = "is not in the universe of the cube",
        [SERVE_BUDGET] = "was not drawn yet, and reading draws nothing",
        [SERVE_CELL_KEY] = "was not made yet, and reading makes nothing"};
    return words[kind];
}

/* A table that is not there: it can be drawn, perhaps for a price, or there is an obstacle. */
static cellar_status refuse_absent(const serve_dataset *dataset, const serve_table *table,
                                   cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    const int grows = serve_kind_grows(dataset->kind);
    const serve_obstacle *obstacle = grows ? serve_find_obstacle(dataset, table) : NULL;
    const serve_price *price = grows && obstacle == NULL && dataset->prices != NULL
                                   ? serve_price_of(dataset->prices, dataset, table)
                                   : NULL;
    char name[SERVE_TABLE_TEXT];
    cellar_text detail = {0};
    serve_table_text(dataset, table, name);
    cellar_text_printf(&detail, "Table %s %s", name, words_of_kind(dataset->kind));
    if (obstacle != NULL)
        cellar_text_printf(&detail, "; %s.", obstacle->detail);
    else
        cellar_text_printf(&detail, "%s%s%s.", grows ? "; POST /v1/draws draws it" : "",
                           price != NULL ? " for " : "", price != NULL ? price->text : "");
    *out = (serve_verdict){
        .refusal = {.rule = obstacle != NULL ? obstacle->rule : rule_of_kind(dataset->kind),
                    .cost = price != NULL ? price->text : NULL}};
    if (!detail.failed)
        out->refusal.detail = cellar_arena_copy(arena, detail.bytes, detail.length);
    cellar_text_clear(&detail);
    return out->refusal.detail != NULL
               ? serve_suggest(dataset, table, SERVE_SUGGEST_ANY, arena, &out->refusal, err)
               : cellar_fail_memory(err, "a refusal");
}

cellar_status serve_judge(const serve_dataset *dataset, const serve_table *table,
                          cellar_arena *arena, serve_status *known, serve_verdict *out,
                          cellar_error *err)
{
    const serve_source *source = dataset->source;
    serve_status found = {.from = *table};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_rules_judge(dataset, table, arena, out, err));
    if (out->is_allowed) {
        CELLAR_TRY(source->ops->status(source, dataset, table, &found, err));
        status = found.exists ? serve_rules_judge_released(dataset, table, arena, out, err)
                              : refuse_absent(dataset, table, arena, out, err);
    }
    if (known != NULL)
        *known = found;
out:
    return status;
}

cellar_status serve_judge_draw(const serve_dataset *dataset, const serve_table *table,
                               cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    const serve_obstacle *obstacle = serve_find_obstacle(dataset, table);
    cellar_status status = serve_rules_judge(dataset, table, arena, out, err);
    if (status != CELLAR_OK || !out->is_allowed || obstacle == NULL)
        return status;
    *out = (serve_verdict){.refusal = {.rule = obstacle->rule, .detail = obstacle->detail}};
    return serve_suggest(dataset, table, SERVE_SUGGEST_ANY, arena, &out->refusal, err);
}
