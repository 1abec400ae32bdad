/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/extension.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "table/formats/about.h"

char *cellar_json_text(const json_t *json, size_t flags)
{
    size_t length = json_dumpb(json, NULL, 0, flags);
    char *text = length == 0 ? NULL : cellar_alloc(length + 1, 1);
    if (text != NULL && json_dumpb(json, text, length, flags) != length) {
        cellar_free(text);
        return NULL;
    }
    return text;
}

/* A JSON string of a text, which is cleared. */
static json_t *extension_text(cellar_text *text)
{
    json_t *string =
        text->failed ? NULL : json_stringn(text->bytes != NULL ? text->bytes : "", text->length);
    cellar_text_clear(text);
    return string;
}

static json_t *extension_variable(const cellar_schema *schema, size_t v)
{
    cellar_text list = {0};
    cellar_codelist_add_text(cellar_schema_codelist(schema, v), &list);
    return json_pack("{s:s, s:s, s:o}", "name", cellar_schema_variable(schema, v), "domain",
                     cellar_domain_name(cellar_schema_domain(schema, v)), "codelist",
                     extension_text(&list));
}

static json_t *extension_variables(const cellar_schema *schema)
{
    json_t *variables = json_array();
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (json_array_append_new(variables, extension_variable(schema, v)) != 0) {
            json_decref(variables);
            return NULL;
        }
    return variables;
}

/* The names of the variables whose bit is set. */
static json_t *extension_names(const cellar_schema *schema, uint64_t mask)
{
    json_t *names = json_array();
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if ((mask >> v & 1) != 0 &&
            json_array_append_new(names, json_string(cellar_schema_variable(schema, v))) != 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static json_t *extension_margins(const cellar_schema *schema)
{
    size_t n_margins, n_variables = cellar_schema_n_variables(schema);
    const uint64_t *margins = cellar_schema_margins(schema, &n_margins);
    json_t *list;

    if (n_margins > 1 && n_variables < 63 && n_margins == (size_t) 1 << n_variables)
        return json_string("all");
    list = json_array();
    for (size_t i = 0; i < n_margins; i++)
        if (json_array_append_new(list, extension_names(schema, margins[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* ---- cells ----------------------------------------------------------------- */

static json_t *extension_decimal(cellar_int128 value, int scale)
{
    cellar_text text = {0};
    cellar_text_add_decimal(&text, value, scale);
    return extension_text(&text);
}

/* Weights and keys of the stored cells, each beside its index; as strings, for they may exceed
 * what JSON's readers hold exactly. */
static json_t *extension_cells(const cellar_sheet *sheet)
{
    json_t *index = json_array(), *weights = json_array(), *keys = json_array();
    json_t *cells = json_object();
    int failed = 0;

    for (size_t i = 0; i < sheet->n_cells && !failed; i++) {
        cellar_sheet_cell cell = sheet->cell(sheet->source, i);
        if (cell.value == 0 && cell.weight == 0 && cell.key == 0)
            continue;
        failed |= json_array_append_new(index, json_integer((json_int_t) cell.index));
        if (sheet->weighted)
            failed |=
                json_array_append_new(weights, extension_decimal(cell.weight, CELLAR_WEIGHT_SCALE));
        if (sheet->keyed)
            failed |= json_array_append_new(keys, extension_decimal(cell.key, 0));
    }
    failed |= json_object_set(cells, "index", index);
    if (sheet->weighted)
        failed |= json_object_set(cells, "weighted", weights);
    if (sheet->keyed)
        failed |= json_object_set(cells, "record_key", keys);
    json_decref(index);
    json_decref(weights);
    json_decref(keys);
    if (failed) {
        json_decref(cells);
        return NULL;
    }
    return cells;
}

static json_t *extension_statuses(const cellar_sheet *sheet)
{
    json_t *statuses = json_object();
    for (size_t i = 0; i < sheet->n_cells; i++) {
        cellar_sheet_cell cell = sheet->cell(sheet->source, i);
        cellar_text key = {0};
        int failed;
        if (cell.status == CELLAR_CELL_NORMAL || cell.value == 0 ||
            !cellar_sheet_shows(sheet, &cell))
            continue;
        cellar_text_add_u64(&key, cell.index);
        failed = key.failed ||
                 json_object_set_new(statuses, key.bytes,
                                     json_string(cellar_cell_status_name(cell.status))) != 0;
        cellar_text_clear(&key);
        if (failed) {
            json_decref(statuses);
            return NULL;
        }
    }
    return statuses;
}

/* ---- the whole ------------------------------------------------------------- */

/* The members of the attachment; they cannot replace what the sheet itself says. */
static cellar_status extension_attach(const cellar_sheet *sheet, json_t *extension,
                                      cellar_error *err)
{
    json_error_t where;
    json_t *attachment;
    int failed;

    if (sheet->attachment == NULL)
        return CELLAR_OK;
    attachment = json_loads(sheet->attachment, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(attachment)) {
        json_decref(attachment);
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "what goes along is not a JSON object");
    }
    failed = json_object_update_missing(extension, attachment);
    json_decref(attachment);
    return failed ? cellar_fail_memory(err, "a description of the table") : CELLAR_OK;
}

cellar_status cellar_extension_create(const cellar_sheet *sheet,
                                      const cellar_extension_layout *layout, json_t **out,
                                      cellar_error *err)
{
    const cellar_schema *schema = sheet->schema;
    cellar_text rules = {0};
    cellar_status status;
    json_t *extension;
    int failed = 0;

    *out = NULL;
    extension = json_pack("{s:s, s:b, s:s, s:o, s:o, s:o}", "kind",
                          cellar_sheet_kind_name(sheet->kind), "confidential", sheet->confidential,
                          "value", cellar_sheet_value_name(sheet->kind), "variables",
                          extension_variables(schema), "margins", extension_margins(schema),
                          "hierarchies", extension_names(schema, cellar_sheet_hierarchies(sheet)));
    cellar_schema_add_rules(schema, &rules);
    if (rules.failed || rules.length > 0)
        failed |= json_object_set_new(extension, "structural_zeros", extension_text(&rules));
    if (sheet->tabulation != NULL)
        failed |=
            json_object_set_new(extension, "tabulation", json_loads(sheet->tabulation, 0, NULL));
    if (sheet->kind == CELLAR_SHEET_ESTIMATE) {
        failed |= json_object_set_new(extension, "decimals", json_integer(sheet->decimals));
        failed |=
            json_object_set_new(extension, "standard_errors", json_boolean(sheet->with_errors));
    }
    if (layout->sparse)
        failed |= json_object_set_new(extension, "absent",
                                      json_string(sheet->absent == CELLAR_CELL_NORMAL
                                                      ? "zero"
                                                      : cellar_cell_status_name(sheet->absent)));
    if (sheet->keyed && sheet->key_range != 0)
        failed |=
            json_object_set_new(extension, "key_range", extension_decimal(sheet->key_range, 0));
    if (sheet->weighted && sheet->max_weight != 0)
        failed |=
            json_object_set_new(extension, "max_weight", extension_decimal(sheet->max_weight, 0));
    if (sheet->weighted || sheet->keyed)
        failed |= json_object_set_new(extension, "cells", extension_cells(sheet));
    if (layout->statuses)
        failed |= json_object_set_new(extension, "statuses", extension_statuses(sheet));
    if (layout->about != NULL)
        failed |= !cellar_about_add(layout->about, extension);
    if (extension == NULL || failed)
        status = cellar_fail_memory(err, "a description of the table");
    else
        status = extension_attach(sheet, extension, err);
    if (status != CELLAR_OK)
        json_decref(extension);
    else
        *out = extension;
    return status;
}
