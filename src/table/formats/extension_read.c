/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/extension.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "table/structural/structural.h"

static cellar_status extension_fail(const cellar_source *source, const char *member,
                                    const char *expected, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: extension.cellar.%s: expected %s", source->name,
                       member, expected);
}

static cellar_status extension_fail_memory(cellar_error *err)
{
    return cellar_fail_memory(err, "a description of the table");
}

/* ---- the schema ------------------------------------------------------------ */

static cellar_status extension_check_kind(const cellar_source *source, const json_t *extension,
                                          cellar_error *err)
{
    const char *name = json_string_value(json_object_get(extension, "kind"));
    cellar_sheet_kind kind = CELLAR_SHEET_TABLE;
    while (name != NULL && kind <= CELLAR_SHEET_ESTIMATE &&
           strcmp(name, cellar_sheet_kind_name(kind)) != 0)
        kind++;
    if (name == NULL || kind > CELLAR_SHEET_ESTIMATE)
        return extension_fail(source, "kind", "\"table\", \"release\", \"fit\" or \"estimate\"",
                              err);
    if (kind != source->kind &&
        !(kind == CELLAR_SHEET_FIT && source->kind == CELLAR_SHEET_ESTIMATE))
        return cellar_source_fail_kind(source, kind, err);
    return CELLAR_OK;
}

/* One variable; its code list is the caller's to free. */
static cellar_status extension_variable(const cellar_source *source, const json_t *object,
                                        cellar_schema_variable_def *def, cellar_error *err)
{
    const cellar_table_read_options *options = source->options;
    const json_t *text = json_object_get(object, "codelist");
    cellar_codelist *list = NULL;
    cellar_status status;

    def->name = json_string_value(json_object_get(object, "name"));
    if (def->name == NULL || !json_is_string(text) ||
        !cellar_domain_find(json_string_value(json_object_get(object, "domain")), &def->domain))
        return extension_fail(source, "variables", "objects with name, domain and codelist", err);
    for (size_t i = 0; i < options->n_codelists; i++)
        if (strcmp(options->codelists[i].variable, def->name) == 0) {
            def->codelist = cellar_codelist_retain(options->codelists[i].codelist);
            def->domain = cellar_codelist_domain(def->codelist, 0);
            return CELLAR_OK;
        }
    status = cellar_codelist_parse(source->name, json_string_value(text), json_string_length(text),
                                   &list, err);
    def->codelist = list;
    return status;
}

static int extension_mask(const cellar_schema *schema, const json_t *names, uint64_t *mask)
{
    size_t i;
    json_t *name;

    *mask = 0;
    if (!json_is_array(names))
        return 0;
    json_array_foreach((json_t *) names, i, name)
    {
        size_t v = json_is_string(name)
                       ? cellar_schema_find_variable(schema, json_string_value(name))
                       : CELLAR_NO_CODE;
        if (v == CELLAR_NO_CODE)
            return 0;
        *mask |= UINT64_C(1) << v;
    }
    return 1;
}

static cellar_status extension_expand(const cellar_source *source, const json_t *extension,
                                      const cellar_schema *interior, cellar_schema **out,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const json_t *stated = json_object_get(extension, "margins");
    const char *word = json_string_value(stated);
    uint64_t *masks = NULL;
    cellar_margins margins = {.all = word != NULL && strcmp(word, "all") == 0,
                              .n_masks = json_array_size(stated)};

    if (!margins.all && !json_is_array(stated))
        return extension_fail(source, "margins", "\"all\" or lists of variables", err);
    if (!extension_mask(interior, json_object_get(extension, "hierarchies"), &margins.hierarchies))
        return extension_fail(source, "hierarchies", "a list of variables", err);
    masks = cellar_alloc(margins.n_masks, sizeof *masks);
    if (masks == NULL)
        return cellar_fail_memory(err, "the margins of a table");
    for (size_t i = 0; i < margins.n_masks && status == CELLAR_OK; i++)
        if (!extension_mask(interior, json_array_get(stated, i), &masks[i]))
            status = extension_fail(source, "margins", "\"all\" or lists of variables", err);
    margins.masks = masks;
    if (status == CELLAR_OK)
        status = cellar_schema_expand(interior, &margins, out, err);
    cellar_free(masks);
    return status;
}

/* Only an estimate states them; whole numbers are the rest. */
static cellar_status extension_measure(const cellar_source *source, const json_t *extension,
                                       cellar_loaded *loaded, cellar_error *err)
{
    const json_t *decimals = json_object_get(extension, "decimals");
    if (source->kind != CELLAR_SHEET_ESTIMATE || decimals == NULL)
        return CELLAR_OK;
    if (!json_is_integer(decimals) || json_integer_value(decimals) < 0 ||
        json_integer_value(decimals) > CELLAR_SHEET_MAX_DECIMALS)
        return extension_fail(source, "decimals", "a whole number from 0 to 9", err);
    loaded->decimals = (int) json_integer_value(decimals);
    loaded->with_errors = json_is_true(json_object_get(extension, "standard_errors"));
    return CELLAR_OK;
}

cellar_status cellar_extension_begin(const cellar_source *source, const json_t *extension,
                                     cellar_loaded *loaded, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES] = {0};
    cellar_structural_rules *rules = NULL;
    cellar_schema *interior = NULL;
    const json_t *variables = json_object_get(extension, "variables");
    const json_t *stated_rules = json_object_get(extension, "structural_zeros");
    size_t n = json_array_size(variables);

    CELLAR_TRY(extension_check_kind(source, extension, err));
    CELLAR_TRY(extension_measure(source, extension, loaded, err));
    if (!json_is_array(variables) || n > CELLAR_MAX_VARIABLES)
        return extension_fail(source, "variables", "a list of at most 64 variables", err);
    for (size_t v = 0; v < n; v++)
        CELLAR_TRY(extension_variable(source, json_array_get(variables, v), &defs[v], err));
    if (json_is_string(stated_rules))
        CELLAR_TRY(cellar_structural_rules_parse(source->name, json_string_value(stated_rules),
                                                 json_string_length(stated_rules), &rules, err));
    CELLAR_TRY(cellar_schema_create(defs, n, rules, &interior, err));
    CELLAR_TRY(extension_expand(source, extension, interior, &loaded->schema, err));
out:
    for (size_t v = 0; v < n && v < CELLAR_MAX_VARIABLES; v++)
        cellar_codelist_free((cellar_codelist *) defs[v].codelist);
    cellar_structural_rules_free(rules);
    cellar_schema_free(interior);
    return status;
}

/* ---- the cells ------------------------------------------------------------- */

cellar_status cellar_extension_add_cell(const cellar_source *source, cellar_loaded *loaded,
                                        const cellar_sheet_cell *cell, cellar_error *err)
{
    static uint8_t some_status;
    static uint64_t some_error;
    const cellar_cells like = {.status = &some_status,
                               .key = loaded->with_errors ? &some_error : NULL};
    cellar_cells *cells = &loaded->built.cells;
    cellar_status status;
    int structural = cell->status == CELLAR_CELL_STRUCTURAL_ZERO;

    if (!cellar_schema_has_cell(loaded->schema, cell->index))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: a value for a cell that is in none of the table's margins",
                           source->name);
    if (cell->value == 0 &&
        ((cell->status == CELLAR_CELL_NORMAL && source->kind != CELLAR_SHEET_ESTIMATE) ||
         (structural && cellar_schema_is_structural_zero(loaded->schema, cell->index))))
        return CELLAR_OK;
    if (cell->value < 0 && source->kind == CELLAR_SHEET_TABLE)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: a count cannot be negative", source->name);
    if (cell->value != 0 && structural)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: a structural zero has to be 0",
                           source->name);
    status = cellar_cells_reserve(&loaded->built, &like, 1, err);
    if (status != CELLAR_OK)
        return status;
    cells->index[cells->n] = cell->index;
    cells->count[cells->n] = (uint64_t) cell->value;
    if (loaded->with_errors)
        cells->key[cells->n] = (uint64_t) cell->se;
    cells->status[cells->n++] = (uint8_t) cell->status;
    return CELLAR_OK;
}

/* The place of an index among the cells, which stand in order; CELLAR_NO_CODE when not there. */
static size_t extension_find_cell(const cellar_cells *cells, uint64_t index)
{
    size_t position = cellar_cells_position(cells, index);
    return position < cells->n && cells->index[position] == index ? position : CELLAR_NO_CODE;
}

static int extension_parse_weight(const json_t *value, cellar_int128 *out)
{
    int exact;
    return json_is_string(value) &&
           cellar_parse_decimal(json_string_value(value), json_string_length(value),
                                CELLAR_WEIGHT_SCALE, out, &exact) &&
           exact;
}

static int extension_parse_number(const json_t *value, uint64_t *out)
{
    return json_is_string(value) &&
           cellar_parse_u64(json_string_value(value), json_string_length(value), out);
}

/* Weights and keys of the cells listed in `cells.index`. */
static cellar_status extension_read_cells(const cellar_source *source, const json_t *stated,
                                          cellar_loaded *loaded, cellar_error *err)
{
    const json_t *index = json_object_get(stated, "index");
    const json_t *weights = json_object_get(stated, "weighted");
    const json_t *keys = json_object_get(stated, "record_key");
    cellar_cells *cells = &loaded->built.cells;
    size_t n = json_array_size(index);

    if (!json_is_array(index) || (weights != NULL && json_array_size(weights) != n) ||
        (keys != NULL && json_array_size(keys) != n))
        return extension_fail(source, "cells", "index, weighted and record_key of one length", err);
    if (weights != NULL)
        cells->weight = cellar_alloc(cells->n, sizeof *cells->weight);
    if (keys != NULL)
        cells->key = cellar_alloc(cells->n, sizeof *cells->key);
    if ((weights != NULL && cells->weight == NULL) || (keys != NULL && cells->key == NULL))
        return cellar_fail_memory(err, "the cells of a table file");
    for (size_t i = 0; i < n; i++) {
        const json_t *at = json_array_get(index, i);
        size_t place = json_is_integer(at)
                           ? extension_find_cell(cells, (uint64_t) json_integer_value(at))
                           : CELLAR_NO_CODE;
        if (place == CELLAR_NO_CODE)
            return extension_fail(source, "cells.index", "indices of cells in the table", err);
        if (weights != NULL &&
            !extension_parse_weight(json_array_get(weights, i), &cells->weight[place]))
            return extension_fail(source, "cells.weighted", "decimals in strings", err);
        if (keys != NULL && (!extension_parse_number(json_array_get(keys, i), &cells->key[place]) ||
                             (loaded->key_range != 0 && cells->key[place] >= loaded->key_range)))
            return extension_fail(source, "cells.record_key",
                                  "whole numbers below key_range, in strings", err);
    }
    return CELLAR_OK;
}

static cellar_status extension_read_statuses(const cellar_source *source, json_t *stated,
                                             cellar_cells *cells, cellar_error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(stated, key, value)
    {
        uint64_t index;
        cellar_cell_status status;
        size_t place = cellar_parse_u64(key, strlen(key), &index)
                           ? extension_find_cell(cells, index)
                           : CELLAR_NO_CODE;
        if (place == CELLAR_NO_CODE || !json_is_string(value) ||
            !cellar_cell_status_find(json_string_value(value), json_string_length(value), &status))
            return extension_fail(source, "statuses", "the status of cells by their index", err);
        cells->status[place] = (uint8_t) status;
    }
    return CELLAR_OK;
}

/* What was counted: taken as it stands, but for the order of the members. */
static cellar_status extension_read_tabulation(const cellar_source *source, const json_t *stated,
                                               cellar_loaded *loaded, cellar_error *err)
{
    if (stated == NULL || source->kind != CELLAR_SHEET_TABLE)
        return CELLAR_OK;
    if (!json_is_object(stated))
        return extension_fail(source, "tabulation", "an object", err);
    loaded->tabulation = cellar_json_text(stated, JSON_COMPACT | JSON_SORT_KEYS);
    return loaded->tabulation != NULL ? CELLAR_OK : extension_fail_memory(err);
}

cellar_status cellar_extension_finish(const cellar_source *source, const json_t *extension,
                                      cellar_loaded *loaded, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const json_t *key_range = json_object_get(extension, "key_range");
    const json_t *max_weight = json_object_get(extension, "max_weight");
    const json_t *cells = json_object_get(extension, "cells");
    json_t *statuses = json_object_get(extension, "statuses");

    if (key_range != NULL && !extension_parse_number(key_range, &loaded->key_range))
        return extension_fail(source, "key_range", "a whole number in a string", err);
    /* a release's own bound is the release layer's to read */
    if (source->kind == CELLAR_SHEET_TABLE && max_weight != NULL &&
        !extension_parse_number(max_weight, &loaded->max_weight))
        return extension_fail(source, "max_weight", "a whole number in a string", err);
    CELLAR_TRY(
        extension_read_tabulation(source, json_object_get(extension, "tabulation"), loaded, err));
    if (cells != NULL && source->kind == CELLAR_SHEET_TABLE)
        CELLAR_TRY(extension_read_cells(source, cells, loaded, err));
    if (statuses != NULL)
        CELLAR_TRY(extension_read_statuses(source, statuses, &loaded->built.cells, err));
    if (source->kind != CELLAR_SHEET_TABLE) {
        loaded->extension = cellar_json_text(extension, JSON_COMPACT);
        if (loaded->extension == NULL)
            status = extension_fail_memory(err);
    }
out:
    return status;
}
