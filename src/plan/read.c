/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan may say (docs/plans.md), and reading it. */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"

enum { PLAN_BYTES_MAX = 1 << 20, PLAN_ARENA_BYTES = 1 << 26 };

#define AT(type, member) offsetof(type, member)
#define END                                                                                        \
    {                                                                                              \
        NULL, PLAN_TEXT, 0, 0, NULL, NULL, 0                                                       \
    }

static const plan_field data_fields[] = {
    {"file", PLAN_FILE, AT(plan_data, file), 1, NULL, NULL, 0},
    {"edition", PLAN_TEXT, AT(plan_data, edition), 0, NULL, NULL, 0},
    {"format", PLAN_CHOICE, AT(plan_data, format), 0, "text|sav|por|dta|sas|xpt", NULL, 0},
    {"delimiter", PLAN_TEXT, AT(plan_data, delimiter), 0, NULL, NULL, 0},
    {"header", PLAN_TRUTH, AT(plan_data, header), 0, NULL, NULL, 0},
    {"encoding", PLAN_CHOICE, AT(plan_data, encoding), 0, "utf-8|latin1|windows-1252", NULL, 0},
    {"bad_rows", PLAN_CHOICE, AT(plan_data, bad_rows), 0, "error|skip", NULL, 0},
    {"missing", PLAN_TEXTS, AT(plan_data, missing), 0, NULL, NULL, 0},
    {"missing_as", PLAN_CHOICE, AT(plan_data, missing_as), 0, "drop|level", NULL, 0},
    {"where", PLAN_TEXTS, AT(plan_data, where), 0, NULL, NULL, 0},
    {"weight", PLAN_TEXT, AT(plan_data, weight), 0, NULL, NULL, 0},
    {"max_weight", PLAN_COUNT, AT(plan_data, max_weight), 0, NULL, NULL, 0},
    END};

static const plan_field unit_fields[] = {
    {"name", PLAN_TEXT, AT(plan_unit, name), 1, NULL, NULL, 0},
    {"column", PLAN_TEXT, AT(plan_unit, column), 0, NULL, NULL, 0},
    {"max_records", PLAN_COUNT, AT(plan_unit, max_records), 0, NULL, NULL, 0},
    END};

static const plan_field variable_fields[] = {
    {"name", PLAN_TEXT, AT(plan_variable, name), 1, NULL, NULL, 0},
    {"column", PLAN_TEXT, AT(plan_variable, column), 0, NULL, NULL, 0},
    {"codelist", PLAN_FILE, AT(plan_variable, codelist_file), 0, NULL, NULL, 0},
    {"recode", PLAN_FILE, AT(plan_variable, recode_file), 0, NULL, NULL, 0},
    {"band", PLAN_DECIMAL, AT(plan_variable, band), 0, NULL, NULL, 0},
    {"band_origin", PLAN_NUMBER, AT(plan_variable, band_origin), 0, NULL, NULL, 0},
    {"band_closed", PLAN_CHOICE, AT(plan_variable, band_closed), 0, "left|right", NULL, 0},
    {"top", PLAN_NUMBER, AT(plan_variable, top), 0, NULL, NULL, 0},
    {"bottom", PLAN_NUMBER, AT(plan_variable, bottom), 0, NULL, NULL, 0},
    {"hierarchy", PLAN_TRUTH, AT(plan_variable, hierarchy), 0, NULL, NULL, 0},
    {"domain_public", PLAN_TRUTH, AT(plan_variable, domain_public), 0, NULL, NULL, 0},
    {"role", PLAN_CHOICE, AT(plan_variable, role), 0, "time|geo", NULL, 0},
    END};

static const plan_field table_fields[] = {
    {"name", PLAN_TEXT, AT(plan_table, name), 1, NULL, NULL, 0},
    {"title", PLAN_TEXT, AT(plan_table, title), 0, NULL, NULL, 0},
    {"by", PLAN_TEXTS, AT(plan_table, by), 1, NULL, NULL, 0},
    {"margins", PLAN_TEXTS, AT(plan_table, margins), 0, NULL, NULL, 0},
    {"hierarchy", PLAN_TEXTS, AT(plan_table, hierarchy), 0, NULL, NULL, 0},
    {"mechanism", PLAN_TEXT, AT(plan_table, mechanism), 0, NULL, NULL, 0},
    {"epsilon", PLAN_DECIMAL, AT(plan_table, epsilon), 0, NULL, NULL, 0},
    {"weight", PLAN_DECIMAL, AT(plan_table, weight), 0, NULL, NULL, 0},
    {"structural_zeros", PLAN_FILE, AT(plan_table, structural_zeros), 0, NULL, NULL, 0},
    END};

static const plan_field budget_fields[] = {
    {"epsilon", PLAN_DECIMAL, AT(plan_budget, epsilon), 0, NULL, NULL, 0},
    {"rho", PLAN_DECIMAL, AT(plan_budget, rho), 0, NULL, NULL, 0},
    {"split", PLAN_CHOICE, AT(plan_budget, split), 0, "even|weights|optimal", NULL, 0},
    END};

static const plan_field rule_fields[] = {
    {"table", PLAN_TEXT, AT(plan_rule, table), 0, NULL, NULL, 0},
    {"evaluate", PLAN_CHOICE, AT(plan_rule, evaluate), 1, "true|released", NULL, 0},
    {"max_empty_share", PLAN_NUMBER, AT(plan_rule, max_empty_share), 0, NULL, NULL, 0},
    {"max_small_share", PLAN_NUMBER, AT(plan_rule, max_small_share), 0, NULL, NULL, 0},
    {"small", PLAN_COUNT, AT(plan_rule, small), 0, NULL, NULL, 0},
    {"min_population", PLAN_COUNT, AT(plan_rule, min_population), 0, NULL, NULL, 0},
    {"max_cells", PLAN_COUNT, AT(plan_rule, max_cells), 0, NULL, NULL, 0},
    {"max_risk", PLAN_NUMBER, AT(plan_rule, max_risk), 0, NULL, NULL, 0},
    {"max_exposure", PLAN_NUMBER, AT(plan_rule, max_exposure), 0, NULL, NULL, 0},
    {"qid", PLAN_TEXTS, AT(plan_rule, qid), 0, NULL, NULL, 0},
    {"sensitive", PLAN_TEXTS, AT(plan_rule, sensitive), 0, NULL, NULL, 0},
    END};

static const plan_field display_fields[] = {
    {"rounding", PLAN_COUNT, AT(plan_display, rounding), 0, NULL, NULL, 0},
    {"zero", PLAN_TEXT, AT(plan_display, zero), 0, NULL, NULL, 0},
    {"structural_zero", PLAN_TEXT, AT(plan_display, structural_zero), 0, NULL, NULL, 0},
    {"negative", PLAN_TEXT, AT(plan_display, negative), 0, NULL, NULL, 0},
    END};

static const plan_field output_fields[] = {
    {"folder", PLAN_FILE, AT(plan_outputs, folder), 1, NULL, NULL, 0},
    {"formats", PLAN_TEXTS, AT(plan_outputs, formats), 1, NULL, NULL, 0},
    {"sign", PLAN_FILE, AT(plan_outputs, sign), 0, NULL, NULL, 0},
    {"zeros", PLAN_TRUTH, AT(plan_outputs, zeros), 0, NULL, NULL, 0},
    {"sparse", PLAN_TRUTH, AT(plan_outputs, sparse), 0, NULL, NULL, 0},
    END};

static const plan_field ledger_fields[] = {
    {"file", PLAN_FILE, AT(plan_ledger, file), 1, NULL, NULL, 0},
    {"key", PLAN_FILE, AT(plan_ledger, key), 0, NULL, NULL, 0},
    {"dataset", PLAN_TEXT, AT(plan_ledger, dataset), 1, NULL, NULL, 0},
    {"request", PLAN_TEXT, AT(plan_ledger, request), 1, NULL, NULL, 0},
    {"analyst", PLAN_TEXT, AT(plan_ledger, analyst), 0, NULL, NULL, 0},
    {"delta", PLAN_DECIMAL, AT(plan_ledger, delta), 0, NULL, NULL, 0},
    END};

const plan_field cellar_plan_fields[] = {
    {"plan", PLAN_COUNT, AT(cellar_plan, version), 1, NULL, NULL, 0},
    {"title", PLAN_TEXT, AT(cellar_plan, title), 0, NULL, NULL, 0},
    {"data", PLAN_MAP, AT(cellar_plan, data), 1, NULL, data_fields, 0},
    {"unit", PLAN_MAP, AT(cellar_plan, unit), 0, NULL, unit_fields, 0},
    {"variables", PLAN_MAPS, AT(cellar_plan, variables), 1, NULL, variable_fields,
     sizeof(plan_variable)},
    {"tables", PLAN_MAPS, AT(cellar_plan, tables), 1, NULL, table_fields, sizeof(plan_table)},
    {"mechanism", PLAN_TEXT, AT(cellar_plan, mechanism), 0, NULL, NULL, 0},
    {"budget", PLAN_MAP, AT(cellar_plan, budget), 0, NULL, budget_fields, 0},
    {"neighbours", PLAN_CHOICE, AT(cellar_plan, neighbours), 0, "add-remove|substitute", NULL, 0},
    {"negatives", PLAN_CHOICE, AT(cellar_plan, negatives), 1, "keep|zero", NULL, 0},
    {"threshold", PLAN_COUNT, AT(cellar_plan, threshold), 0, NULL, NULL, 0},
    {"parameter_choice", PLAN_CHOICE, AT(cellar_plan, parameter_choice), 1, "advance|public|data",
     NULL, 0},
    {"accept", PLAN_TEXTS, AT(cellar_plan, accept), 0, NULL, NULL, 0},
    {"rules", PLAN_MAPS, AT(cellar_plan, rules), 0, NULL, rule_fields, sizeof(plan_rule)},
    {"display", PLAN_MAP, AT(cellar_plan, display), 0, NULL, display_fields, 0},
    {"outputs", PLAN_MAP, AT(cellar_plan, outputs), 0, NULL, output_fields, 0},
    {"ledger", PLAN_MAP, AT(cellar_plan, ledger), 0, NULL, ledger_fields, 0},
    END};

/* ---- life cycle ------------------------------------------------------------------------ */

static void plan_digest(cellar_plan *plan, const char *bytes, size_t length)
{
    unsigned char hash[(CELLAR_PLAN_DIGEST_TEXT - 1) / 2];
    crypto_generichash(hash, sizeof hash, (const unsigned char *) bytes, length, NULL, 0);
    sodium_bin2hex(plan->digest, sizeof plan->digest, hash, sizeof hash);
}

cellar_status cellar_plan_parse_text(const char *name, const char *folder, const char *bytes,
                                     size_t length, cellar_plan **out, cellar_error *err)
{
    plan_reading reading = {.name = name, .folder = folder != NULL ? folder : "", .err = err};
    cellar_plan *plan = NULL;
    plan_node *tree = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (length > PLAN_BYTES_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: larger than any plan is", name);
    plan = cellar_alloc(1, sizeof *plan);
    if (plan != NULL)
        plan->arena = cellar_arena_create(PLAN_ARENA_BYTES);
    if (plan == NULL || plan->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    reading.arena = plan->arena;
    plan_digest(plan, bytes, length);
    plan->name = cellar_arena_copy(plan->arena, name, strlen(name));
    if (plan->name == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    CELLAR_TRY(cellar_plan_yaml_parse(name, bytes, length, plan->arena, &tree, err));
    plan->tree = tree;
    CELLAR_TRY(cellar_plan_read_map(&reading, tree, cellar_plan_fields, plan));
    if (plan->version != 1)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s:%zu: plan: this program reads plans of version 1", name,
                               tree->line));
    CELLAR_TRY(cellar_plan_resolve(plan, err));
    *out = plan;
    plan = NULL;
out:
    cellar_text_clear(&reading.path);
    cellar_plan_free(plan);
    return status;
}

cellar_status cellar_plan_parse(const char *name, const char *folder, const char *bytes,
                                size_t length, cellar_plan **out, cellar_error *err)
{
    cellar_status status = cellar_plan_parse_text(name, folder, bytes, length, out, err);
    if (status == CELLAR_OK)
        status = cellar_plan_load(*out, err);
    if (status != CELLAR_OK) {
        cellar_plan_free(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_plan_read(const char *path, cellar_plan **out, cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    cellar_text folder = {0};
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (slash != NULL)
        cellar_text_add(&folder, path, (size_t) (slash - path) + 1);
    if (folder.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    CELLAR_TRY(cellar_file_read(path, PLAN_BYTES_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_plan_parse(path, folder.bytes, bytes, length, out, err));
out:
    cellar_free(bytes);
    cellar_text_clear(&folder);
    return status;
}

void cellar_plan_free(cellar_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t v = 0; v < plan->variables.n; v++) {
        cellar_codelist_free(plan_variable_at(plan, v)->codelist);
        cellar_recode_map_free(plan_variable_at(plan, v)->map);
    }
    cellar_arena_free(plan->arena);
    cellar_free(plan);
}

/* ---- where ------------------------------------------------------------------------------ */

/* The line of "outputs.formats", or of the nearest thing above it that was written. */
static size_t plan_line(const plan_node *node, const char *path)
{
    size_t line = node->line;
    while (*path != '\0') {
        const size_t length = strcspn(path, ".");
        for (node = node->first; node != NULL; node = node->next)
            if (node->key != NULL && strncmp(node->key, path, length) == 0 &&
                node->key[length] == '\0')
                break;
        if (node == NULL)
            break;
        line = node->line;
        path += length + (path[length] == '.');
    }
    return line;
}

cellar_status cellar_plan_fail_at(const cellar_plan *plan, const char *path, cellar_error *err,
                                  const char *format, ...)
{
    const plan_place place = {plan_line(plan->tree, path), NULL};
    char what[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return cellar_plan_fail(plan->name, &place, path, err, "%s", what);
}

/* ---- queries ---------------------------------------------------------------------------- */

const char *cellar_plan_title(const cellar_plan *plan)
{
    return plan->title;
}

size_t cellar_plan_n_tables(const cellar_plan *plan)
{
    return plan->tables.n;
}

const char *cellar_plan_table_name(const cellar_plan *plan, size_t table)
{
    return plan_table_at(plan, table)->name;
}

const char *cellar_plan_folder(const cellar_plan *plan)
{
    return plan->outputs.folder;
}
