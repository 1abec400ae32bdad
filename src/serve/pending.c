/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for rules until they land: everything is allowed. */
#include "serve/released.h"
#include "serve/rules.h"
#include "serve/source.h"
#include "serve/suggest.h"

#include "base/error.h"

const plan_field serve_rule_fields[] = {{.key = NULL}};

cellar_status serve_rules_make(const char *name, const plan_list *texts,
                               const serve_dataset *dataset, cellar_arena *arena,
                               const serve_rules **out, cellar_error *err)
{
    (void) name, (void) texts, (void) dataset, (void) arena, (void) err;
    *out = NULL;
    return CELLAR_OK;
}

cellar_status serve_rules_judge(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_verdict){.is_allowed = 1};
    return CELLAR_OK;
}

int serve_rules_have_released(const serve_dataset *dataset)
{
    (void) dataset;
    return 0;
}

cellar_status serve_rules_judge_released(const serve_dataset *dataset, const serve_table *table,
                                         cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    return serve_rules_judge(dataset, table, arena, out, err);
}

cellar_status serve_suggest(const serve_dataset *dataset, const serve_table *table,
                            cellar_arena *arena, serve_refusal *refusal, cellar_error *err)
{
    serve_table *found = cellar_arena_alloc(arena, SERVE_SUGGESTIONS, sizeof *found);
    if (found == NULL)
        return cellar_fail_memory(err, "suggestions");
    refusal->n_suggestions =
        dataset->source->ops->nearest(dataset->source, dataset, table, found, SERVE_SUGGESTIONS);
    refusal->suggestions = found;
    return CELLAR_OK;
}
