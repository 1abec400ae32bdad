/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan may say (docs/plans.md): a table of keys for each part of it. */
#include "plan/plan.h"

/* A key, what its value must be, and the member that keeps it. */
#define KEY(name, of_kind, type, member)                                                           \
    .key = (name), .kind = (of_kind), .offset = offsetof(type, member)

static const plan_field data_fields[] = {
    {KEY("file", PLAN_FILE, plan_data, file)},
    {KEY("table", PLAN_TEXT, plan_data, table)},
    {KEY("order_by", PLAN_TEXTS, plan_data, order_by)},
    {KEY("edition", PLAN_TEXT, plan_data, edition)},
    {KEY("format", PLAN_CHOICE, plan_data, format), .words = "text|sav|por|dta|sas|xpt"},
    {KEY("delimiter", PLAN_TEXT, plan_data, delimiter)},
    {KEY("header", PLAN_TRUTH, plan_data, header)},
    {KEY("encoding", PLAN_CHOICE, plan_data, encoding), .words = "utf-8|latin1|windows-1252"},
    {KEY("bad_rows", PLAN_CHOICE, plan_data, bad_rows), .words = "error|skip"},
    {KEY("max_columns", PLAN_COUNT, plan_data, max_columns)},
    {KEY("max_row_mib", PLAN_COUNT, plan_data, max_row_mib)},
    {KEY("reader_memory_mib", PLAN_COUNT, plan_data, reader_memory_mib)},
    {KEY("missing", PLAN_TEXTS, plan_data, missing)},
    {KEY("missing_as", PLAN_CHOICE, plan_data, missing_as), .words = "drop|level"},
    {KEY("where", PLAN_TEXTS, plan_data, where)},
    {KEY("count", PLAN_TEXT, plan_data, count)},
    {KEY("weight", PLAN_TEXT, plan_data, weight)},
    {KEY("max_weight", PLAN_COUNT, plan_data, max_weight)},
    {.key = NULL}};

static const plan_field unit_fields[] = {{KEY("name", PLAN_TEXT, plan_unit, name), .required = 1},
                                         {KEY("column", PLAN_TEXT, plan_unit, column)},
                                         {KEY("max_records", PLAN_COUNT, plan_unit, max_records)},
                                         {.key = NULL}};

static const plan_field variable_fields[] = {
    {KEY("name", PLAN_TEXT, plan_variable, name), .required = 1},
    {KEY("column", PLAN_TEXT, plan_variable, column)},
    {KEY("codelist", PLAN_FILE, plan_variable, codelist_file)},
    {KEY("recode", PLAN_FILE, plan_variable, recode_file)},
    {KEY("band", PLAN_DECIMAL, plan_variable, band)},
    {KEY("band_origin", PLAN_NUMBER, plan_variable, band_origin)},
    {KEY("band_closed", PLAN_CHOICE, plan_variable, band_closed), .words = "left|right"},
    {KEY("top", PLAN_NUMBER, plan_variable, top)},
    {KEY("bottom", PLAN_NUMBER, plan_variable, bottom)},
    {KEY("missing_as", PLAN_CHOICE, plan_variable, missing_as), .words = "drop|level"},
    {KEY("hierarchy", PLAN_TRUTH, plan_variable, hierarchy)},
    {KEY("domain_public", PLAN_TRUTH, plan_variable, domain_public)},
    {KEY("role", PLAN_CHOICE, plan_variable, role), .words = "time|geo"},
    {.key = NULL}};

static const plan_field table_fields[] = {
    {KEY("name", PLAN_TEXT, plan_table, name), .required = 1},
    {KEY("title", PLAN_TEXT, plan_table, title)},
    {KEY("by", PLAN_TEXTS, plan_table, by), .required = 1},
    {KEY("margins", PLAN_TEXTS, plan_table, margins)},
    {KEY("hierarchy", PLAN_TEXTS, plan_table, hierarchy)},
    {KEY("mechanism", PLAN_TEXT, plan_table, mechanism)},
    {KEY("epsilon", PLAN_DECIMAL, plan_table, epsilon)},
    {KEY("weight", PLAN_DECIMAL, plan_table, weight)},
    {KEY("structural_zeros", PLAN_FILE, plan_table, structural_zeros)},
    {.key = NULL}};

static const plan_field universe_table_fields[] = {
    {KEY("by", PLAN_TEXTS, plan_universe_table, by), .required = 1},
    {KEY("weight", PLAN_DECIMAL, plan_universe_table, weight)},
    {KEY("largest_sd", PLAN_DECIMAL, plan_universe_table, largest_sd)},
    {KEY("structural_zeros", PLAN_FILE, plan_universe_table, structural_zeros)},
    {.key = NULL}};

static const plan_field universe_fields[] = {
    {KEY("file", PLAN_FILE, plan_universe, file), .required = 1},
    {KEY("extends", PLAN_FILE, plan_universe, extends)},
    {KEY("up_to", PLAN_COUNT, plan_universe, up_to)},
    {KEY("tables", PLAN_MAPS, plan_universe, tables), .fields = universe_table_fields,
     .size = sizeof(plan_universe_table)},
    {KEY("without", PLAN_TEXTS, plan_universe, without)},
    {KEY("invariants", PLAN_TEXTS, plan_universe, invariants)},
    {KEY("objective", PLAN_CHOICE, plan_universe, objective), .words = "tables|cells|largest"},
    {.key = NULL}};

static const plan_field budget_fields[] = {
    {KEY("epsilon", PLAN_DECIMAL, plan_budget, epsilon)},
    {KEY("delta", PLAN_DECIMAL, plan_budget, delta)},
    {KEY("rho", PLAN_DECIMAL, plan_budget, rho)},
    {KEY("split", PLAN_CHOICE, plan_budget, split), .words = "even|weights|optimal"},
    {.key = NULL}};

static const plan_field rule_fields[] = {
    {KEY("table", PLAN_TEXT, plan_rule, table)},
    {KEY("evaluate", PLAN_CHOICE, plan_rule, evaluate), .required = 1, .words = "true|released"},
    {KEY("max_empty_share", PLAN_NUMBER, plan_rule, max_empty_share)},
    {KEY("max_small_share", PLAN_NUMBER, plan_rule, max_small_share)},
    {KEY("small", PLAN_COUNT, plan_rule, small)},
    {KEY("min_population", PLAN_COUNT, plan_rule, min_population)},
    {KEY("max_cells", PLAN_COUNT, plan_rule, max_cells)},
    {KEY("max_risk", PLAN_NUMBER, plan_rule, max_risk)},
    {KEY("max_exposure", PLAN_NUMBER, plan_rule, max_exposure)},
    {KEY("qid", PLAN_TEXTS, plan_rule, qid)},
    {KEY("sensitive", PLAN_TEXTS, plan_rule, sensitive)},
    {.key = NULL}};

static const plan_field display_fields[] = {
    {KEY("rounding", PLAN_COUNT, plan_display, rounding)},
    {KEY("zero", PLAN_TEXT, plan_display, zero)},
    {KEY("structural_zero", PLAN_TEXT, plan_display, structural_zero)},
    {KEY("negative", PLAN_TEXT, plan_display, negative)},
    {KEY("suppressed", PLAN_TEXT, plan_display, suppressed)},
    {.key = NULL}};

static const plan_field output_fields[] = {
    {KEY("folder", PLAN_FILE, plan_outputs, folder), .required = 1},
    {KEY("formats", PLAN_TEXTS, plan_outputs, formats), .required = 1},
    {KEY("sign", PLAN_FILE, plan_outputs, sign)},
    {KEY("zeros", PLAN_TRUTH, plan_outputs, zeros)},
    {KEY("sparse", PLAN_TRUTH, plan_outputs, sparse)},
    {.key = NULL}};

static const plan_field ledger_fields[] = {
    {KEY("file", PLAN_FILE, plan_ledger, file), .required = 1},
    {KEY("key", PLAN_FILE, plan_ledger, key)},
    {KEY("dataset", PLAN_TEXT, plan_ledger, dataset), .required = 1},
    {KEY("request", PLAN_TEXT, plan_ledger, request), .required = 1},
    {KEY("analyst", PLAN_TEXT, plan_ledger, analyst)},
    {KEY("delta", PLAN_DECIMAL, plan_ledger, delta)},
    {.key = NULL}};

const plan_field cellar_plan_record_fields[] = {
    {KEY("data", PLAN_MAP, cellar_plan, data), .required = 1, .fields = data_fields},
    {KEY("unit", PLAN_MAP, cellar_plan, unit), .fields = unit_fields},
    {KEY("variables", PLAN_MAPS, cellar_plan, variables), .required = 1, .fields = variable_fields,
     .size = sizeof(plan_variable)},
    {.key = NULL}};

const plan_field cellar_plan_fields[] = {
    {KEY("plan", PLAN_COUNT, cellar_plan, version), .required = 1},
    {KEY("title", PLAN_TEXT, cellar_plan, title)},
    {KEY("data", PLAN_MAP, cellar_plan, data), .required = 1, .fields = data_fields},
    {KEY("unit", PLAN_MAP, cellar_plan, unit), .fields = unit_fields},
    {KEY("variables", PLAN_MAPS, cellar_plan, variables), .required = 1, .fields = variable_fields,
     .size = sizeof(plan_variable)},
    {KEY("tables", PLAN_MAPS, cellar_plan, tables), .fields = table_fields,
     .size = sizeof(plan_table)},
    {KEY("universe", PLAN_MAP, cellar_plan, universe), .fields = universe_fields},
    {KEY("mechanism", PLAN_TEXT, cellar_plan, mechanism)},
    {KEY("budget", PLAN_MAP, cellar_plan, budget), .fields = budget_fields},
    {KEY("neighbours", PLAN_CHOICE, cellar_plan, neighbours), .words = "add-remove|substitute"},
    {KEY("negatives", PLAN_CHOICE, cellar_plan, negatives), .required = 1, .words = "keep|zero"},
    {KEY("threshold", PLAN_COUNT, cellar_plan, threshold)},
    {KEY("below", PLAN_CHOICE, cellar_plan, below), .words = "zero|suppress"},
    {KEY("parameter_choice", PLAN_CHOICE, cellar_plan, parameter_choice), .required = 1,
     .words = "advance|public|data"},
    {KEY("accept", PLAN_TEXTS, cellar_plan, accept)},
    {KEY("rules", PLAN_MAPS, cellar_plan, rules), .fields = rule_fields, .size = sizeof(plan_rule)},
    {KEY("display", PLAN_MAP, cellar_plan, display), .fields = display_fields},
    {KEY("outputs", PLAN_MAP, cellar_plan, outputs), .fields = output_fields},
    {KEY("ledger", PLAN_MAP, cellar_plan, ledger), .fields = ledger_fields},
    {.key = NULL}};
