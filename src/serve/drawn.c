/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/drawn.h"

#include <string.h>

#include "base/error.h"

#define KEY(name, of_kind, type, member)                                                           \
    .key = (name), .kind = (of_kind), .offset = offsetof(type, member)

static const plan_field ledger_fields[] = {
    {KEY("file", PLAN_FILE, serve_ledger_text, file), .required = 1},
    {KEY("key", PLAN_FILE, serve_ledger_text, key)},
    {KEY("dataset", PLAN_TEXT, serve_ledger_text, dataset), .required = 1},
    {.key = NULL}};

static const plan_field class_fields[] = {
    {KEY("variables", PLAN_COUNT, serve_class, variables), .required = 1},
    {KEY("cells", PLAN_COUNT, serve_class, cells)},
    {KEY("mechanism", PLAN_TEXT, serve_class, mechanism), .required = 1},
    {.key = NULL}};

static const plan_field cap_fields[] = {{KEY("rho", PLAN_DECIMAL, serve_cap_text, rho)},
                                        {KEY("epsilon", PLAN_DECIMAL, serve_cap_text, epsilon)},
                                        {KEY("delta", PLAN_DECIMAL, serve_cap_text, delta)},
                                        {.key = NULL}};

static const plan_field budget_fields[] = {
    {KEY("cap", PLAN_MAP, serve_budget_text, cap), .required = 1, .fields = cap_fields},
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

static const plan_field cell_key_fields[] = {
    {KEY("matrix", PLAN_FILE, serve_cell_key_text, matrix), .required = 1},
    {KEY("boundary", PLAN_CHOICE, serve_cell_key_text, boundary), .words = "below|at-most"},
    {KEY("large", PLAN_CHOICE, serve_cell_key_text, large), .words = "last|rotate"},
    {KEY("record_key", PLAN_TEXT, serve_cell_key_text, record_key)},
    {KEY("record_id", PLAN_TEXT, serve_cell_key_text, record_id)},
    {KEY("records_key", PLAN_FILE, serve_cell_key_text, records)},
    {KEY("key_range", PLAN_COUNT, serve_cell_key_text, key_range)},
    {KEY("smallest_sd", PLAN_DECIMAL, serve_cell_key_text, smallest_sd), .required = 1},
    {.key = NULL}};

/* ---- reading -----------------------------------------------------------------------------------
 */

static cellar_status read_part(const serve_config *config, const serve_config_dataset *dataset,
                               const char *key, const plan_node *node, const plan_field *fields,
                               void *out, cellar_error *err)
{
    plan_reading reading = serve_config_reading(config, err);
    cellar_status status;
    if (node == NULL)
        return cellar_plan_fail(config->name, &dataset->place, NULL, err, "'%s' is missing", key);
    cellar_text_printf(&reading.path, "%s.%s", dataset->place.path, key);
    status = cellar_plan_read_map(&reading, node, fields, out);
    cellar_text_clear(&reading.path);
    return status;
}

static cellar_status check_records(const serve_config *config, const serve_config_dataset *dataset,
                                   const cellar_plan *plan, cellar_error *err)
{
    if (plan->variables.n >= CELLAR_MAX_VARIABLES)
        return cellar_plan_fail(config->name, &dataset->place, "records.variables", err,
                                "at most %d variables", CELLAR_MAX_VARIABLES - 1);
    for (size_t v = 0; v < plan->variables.n; v++)
        if (strpbrk(plan_variable_at(plan, v)->name, "*^") != NULL)
            return cellar_plan_fail(config->name, &plan_variable_at(plan, v)->place, "name", err,
                                    "'*' and '^' stand between the parts of a table");
    if (plan->data.weight != NULL)
        return cellar_plan_fail(config->name, &dataset->place, "records.data.weight", err,
                                "a vault counts records: it has no weights");
    if (plan->data.edition == NULL)
        return cellar_plan_fail(config->name, &dataset->place, "records.data.edition", err,
                                "name the edition of the data: each has draws of its own");
    return CELLAR_OK;
}

/* Names are resolved and code lists read. */
static cellar_status load_records(const serve_config *config, const serve_config_dataset *dataset,
                                  cellar_plan *plan, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    plan->arena = config->arena;
    plan->name = config->name;
    plan->tree = dataset->records; /* of which lines are said when something is wrong */
    CELLAR_TRY(read_part(config, dataset, "records", dataset->records, cellar_plan_record_fields,
                         plan, err));
    CELLAR_TRY(check_records(config, dataset, plan, err));
    CELLAR_TRY(cellar_plan_resolve_records(plan, err));
    CELLAR_TRY(cellar_plan_load(plan, err));
out:
    return status;
}

static cellar_status check_keys(const serve_config *config, const serve_config_dataset *dataset,
                                const serve_cell_key_text *keys, cellar_error *err)
{
    if ((keys->record_key != NULL) == (keys->record_id != NULL))
        return cellar_plan_fail(config->name, &dataset->place, "cell_key", err,
                                "expected record_key, the column of keys, or record_id, that of "
                                "identifiers");
    if ((keys->record_id != NULL) != (keys->records != NULL))
        return cellar_plan_fail(config->name, &dataset->place, "cell_key", err,
                                "record_id and records_key need each other");
    return CELLAR_OK;
}

cellar_status serve_drawn_read(const serve_config *config, const serve_config_dataset *dataset,
                               serve_drawn_text *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *out = (serve_drawn_text){0};
    CELLAR_TRY(
        read_part(config, dataset, "ledger", dataset->ledger, ledger_fields, &out->ledger, err));
    if (dataset->kind == SERVE_BUDGET + 1)
        CELLAR_TRY(read_part(config, dataset, "budget", dataset->budget, budget_fields,
                             &out->budget, err));
    else {
        CELLAR_TRY(read_part(config, dataset, "cell_key", dataset->cell_key, cell_key_fields,
                             &out->cell_key, err));
        CELLAR_TRY(check_keys(config, dataset, &out->cell_key, err));
    }
    CELLAR_TRY(load_records(config, dataset, &out->records, err));
out:
    return status;
}

void serve_drawn_unload(serve_drawn_text *text)
{
    cellar_plan_unload(&text->records);
}
