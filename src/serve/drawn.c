/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/drawn.h"

#include <string.h>

#include "base/error.h"

#define KEY(name, of_kind, type, member)                                                           \
    .key = (name), .kind = (of_kind), .offset = offsetof(type, member)

const plan_field serve_ledger_fields[] = {
    {KEY("file", PLAN_FILE, serve_ledger_text, file), .required = 1},
    {KEY("key", PLAN_FILE, serve_ledger_text, key)},
    {KEY("dataset", PLAN_TEXT, serve_ledger_text, dataset), .required = 1},
    {.key = NULL}};

static const plan_field class_fields[] = {
    {KEY("variables", PLAN_COUNT, serve_class, variables), .required = 1},
    {KEY("cells", PLAN_COUNT, serve_class, cells)},
    {KEY("mechanism", PLAN_TEXT, serve_class, mechanism), .required = 1},
    {.key = NULL}};

const plan_field serve_budget_fields[] = {
    {KEY("currency", PLAN_CHOICE, serve_budget_text, currency), .words = "rho|epsilon"},
    {KEY("neighbours", PLAN_CHOICE, serve_budget_text, neighbours), .required = 1,
     .words = "add-remove|substitute"},
    {KEY("negatives", PLAN_CHOICE, serve_budget_text, negatives), .required = 1,
     .words = "keep|zero"},
    {KEY("threshold", PLAN_COUNT, serve_budget_text, threshold)},
    {KEY("below", PLAN_CHOICE, serve_budget_text, below), .words = "zero|suppress"},
    {KEY("parameter_choice", PLAN_CHOICE, serve_budget_text, parameter_choice), .required = 1,
     .words = "advance|public|data"},
    {KEY("delta", PLAN_DECIMAL, serve_budget_text, delta)},
    {KEY("accept", PLAN_TEXTS, serve_budget_text, accept)},
    {KEY("classes", PLAN_MAPS, serve_budget_text, classes), .required = 1, .fields = class_fields,
     .size = sizeof(serve_class)},
    {.key = NULL}};

const plan_field serve_cell_key_fields[] = {
    {KEY("matrix", PLAN_FILE, serve_cell_key_text, matrix), .required = 1},
    {KEY("boundary", PLAN_CHOICE, serve_cell_key_text, boundary), .words = "below|at-most"},
    {KEY("large", PLAN_CHOICE, serve_cell_key_text, large), .words = "last|rotate"},
    {KEY("record_key", PLAN_TEXT, serve_cell_key_text, record_key)},
    {KEY("record_id", PLAN_TEXT, serve_cell_key_text, record_id)},
    {KEY("records_key", PLAN_FILE, serve_cell_key_text, records)},
    {KEY("key_range", PLAN_COUNT, serve_cell_key_text, key_range)},
    {KEY("smallest_sd", PLAN_DECIMAL, serve_cell_key_text, smallest_sd), .required = 1},
    {.key = NULL}};

cellar_status serve_drawn_load(serve_drawn_text *text, const char *name, const plan_place *place,
                               cellar_arena *arena, cellar_error *err)
{
    cellar_plan *plan = &text->records;
    plan_node *here = cellar_arena_alloc(arena, 1, sizeof *here);
    cellar_status status = CELLAR_OK;
    if (here == NULL)
        return cellar_fail_memory(err, "a configuration");
    *here = (plan_node){.kind = PLAN_NODE_MAP, .line = place->line};
    plan->arena = arena;
    plan->name = name;
    plan->tree = here; /* of which the line is said when something is wrong */
    if (plan->variables.n > CELLAR_MAX_VARIABLES)
        return cellar_plan_fail(name, place, "records.variables", err, "at most %d variables",
                                CELLAR_MAX_VARIABLES);
    for (size_t v = 0; v < plan->variables.n; v++)
        if (strpbrk(plan_variable_at(plan, v)->name, "*^") != NULL)
            return cellar_plan_fail(name, place, "records.variables", err,
                                    "'*' and '^' are no parts of names: they write tables");
    if (plan->data.weight != NULL)
        return cellar_plan_fail(name, place, "records.data.weight", err,
                                "a vault counts people: weights are not drawn");
    CELLAR_TRY(cellar_plan_resolve_records(plan, err));
    CELLAR_TRY(cellar_plan_load(plan, err));
out:
    return status;
}

void serve_drawn_unload(serve_drawn_text *text)
{
    cellar_plan_unload(&text->records);
}
