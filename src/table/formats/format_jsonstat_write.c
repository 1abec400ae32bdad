/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON-stat 2.0, class dataset. What describes the table goes through jansson; the values, which
 * may be millions, are written straight. */
#include "table/formats/format.h"

#include <string.h>

#include "base/error.h"
#include "table/formats/about.h"
#include "table/formats/csv_fields.h"
#include "table/formats/extension.h"

static json_t *jsonstat_category(const cellar_schema *schema, size_t v)
{
    json_t *index = json_array(), *labels = json_object();
    int failed = 0;

    for (size_t c = 0; c < cellar_schema_n_categories(schema, v); c++) {
        const char *code = cellar_schema_code(schema, v, c);
        failed |= json_array_append_new(index, json_string(code));
        failed |=
            json_object_set_new(labels, code, json_string(cellar_schema_label(schema, v, c, 0)));
    }
    if (failed) {
        json_decref(index);
        json_decref(labels);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "index", index, "label", labels);
}

/* The dimension of value and standard error, the last one of an estimate; only a measure has units
 * in JSON-stat. */
static json_t *jsonstat_measure(const cellar_sheet *sheet, const char *units)
{
    const char *value = cellar_sheet_value_name(sheet->kind);
    if (units != NULL)
        return json_pack("{s:s, s:{s:[s, s], s:{s:s, s:s}, s:{s:{s:s}, s:{s:s}}}}", "label",
                         CELLAR_SHEET_MEASURE_NAME, "category", "index", value,
                         CELLAR_SHEET_ERROR_NAME, "label", value, value, CELLAR_SHEET_ERROR_NAME,
                         "standard error", "unit", value, "label", units, CELLAR_SHEET_ERROR_NAME,
                         "label", units);
    return json_pack("{s:s, s:{s:[s, s], s:{s:s, s:s}}}", "label", CELLAR_SHEET_MEASURE_NAME,
                     "category", "index", value, CELLAR_SHEET_ERROR_NAME, "label", value, value,
                     CELLAR_SHEET_ERROR_NAME, "standard error");
}

/* id, size and dimension: each variable once in each. */
static int jsonstat_add_dimensions(const cellar_sheet *sheet,
                                   const cellar_table_write_options *options, json_t *root)
{
    const cellar_schema *schema = sheet->schema;
    json_t *id = json_array(), *size = json_array(), *dimension = json_object();
    int failed = 0;

    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        const char *name = cellar_schema_variable(schema, v);
        json_int_t n = (json_int_t) cellar_schema_n_categories(schema, v);
        failed |= json_array_append_new(id, json_string(name));
        failed |= json_array_append_new(size, json_integer(n));
        failed |= json_object_set_new(
            dimension, name,
            json_pack("{s:s, s:o}", "label", name, "category", jsonstat_category(schema, v)));
    }
    if (sheet->with_errors) {
        failed |= json_array_append_new(id, json_string(CELLAR_SHEET_MEASURE_NAME));
        failed |= json_array_append_new(size, json_integer(2));
        failed |= json_object_set_new(dimension, CELLAR_SHEET_MEASURE_NAME,
                                      jsonstat_measure(sheet, options->units));
    }
    failed |= json_object_set_new(root, "id", id);
    failed |= json_object_set_new(root, "size", size);
    failed |= json_object_set_new(root, "dimension", dimension);
    return !failed;
}

static cellar_status jsonstat_add_roles(const cellar_sheet *sheet,
                                        const cellar_table_write_options *options, json_t *root,
                                        cellar_error *err)
{
    json_t *roles = json_object();
    int failed = sheet->with_errors &&
                 json_object_set_new(roles, "metric", json_pack("[s]", CELLAR_SHEET_MEASURE_NAME));

    for (size_t i = 0; i < options->n_roles; i++) {
        const cellar_variable_role *role = &options->roles[i];
        const char *name = cellar_role_name(role->role);
        json_t *names = json_object_get(roles, name);
        if (names == NULL) {
            names = json_array();
            failed |= json_object_set_new(roles, name, names);
        }
        failed |= json_array_append_new(names, json_string(role->variable));
    }
    if (json_object_size(roles) > 0)
        failed |= json_object_set(root, "role", roles);
    json_decref(roles);
    return failed ? cellar_fail_memory(err, "a description of the table") : CELLAR_OK;
}

/* The notes: what the values are, then the user's remark. */
static int jsonstat_add_notes(const cellar_sheet *sheet, const cellar_table_write_options *options,
                              json_t *root)
{
    const char *const texts[] = {sheet->confidential ? CELLAR_ABOUT_CONFIDENTIAL : NULL,
                                 sheet->stamp, options->note};
    json_t *notes = json_array();
    int failed = notes == NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            failed |= json_array_append_new(notes, json_string(texts[i]));
    if (json_array_size(notes) > 0)
        failed |= json_object_set(root, "note", notes);
    json_decref(notes);
    return !failed;
}

/* Everything but value and status. */
static cellar_status jsonstat_describe(const cellar_sheet *sheet,
                                       const cellar_table_write_options *options, json_t **out,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_extension_layout layout = {.sparse = options->sparse, .about = options};
    json_t *root = json_pack("{s:s, s:s}", "version", "2.0", "class", "dataset");
    json_t *extension = NULL;
    int failed = root == NULL;

    *out = NULL;
    if (sheet->with_errors &&
        cellar_schema_find_variable(sheet->schema, CELLAR_SHEET_MEASURE_NAME) != CELLAR_NO_CODE) {
        json_decref(root);
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a variable called '%s' cannot be distinguished from the dimension of "
                           "values and standard errors in JSON-stat; rename the variable",
                           CELLAR_SHEET_MEASURE_NAME);
    }
    if (options->title != NULL)
        failed |= json_object_set_new(root, "label", json_string(options->title));
    if (options->source != NULL)
        failed |= json_object_set_new(root, "source", json_string(options->source));
    if (options->updated != NULL)
        failed |= json_object_set_new(root, "updated", json_string(options->updated));
    if (failed || !jsonstat_add_notes(sheet, options, root) ||
        !jsonstat_add_dimensions(sheet, options, root)) {
        status = cellar_fail_memory(err, "a description of the table");
        goto out;
    }
    CELLAR_TRY(jsonstat_add_roles(sheet, options, root, err));
    CELLAR_TRY(cellar_extension_create(sheet, &layout, &extension, err));
    if (json_object_set_new(root, "extension", json_pack("{s:O}", "cellar", extension)) != 0)
        status = cellar_fail_memory(err, "a description of the table");
out:
    json_decref(extension);
    if (status != CELLAR_OK)
        json_decref(root);
    else
        *out = root;
    return status;
}

/* ---- values and statuses --------------------------------------------------- */

static int jsonstat_dump(const char *bytes, size_t length, void *text)
{
    cellar_text_add(text, bytes, length);
    return ((cellar_text *) text)->failed ? -1 : 0;
}

/* Where the value or the standard error of a cell stands. */
static uint64_t jsonstat_index(const cellar_sheet_walk *walk, int error)
{
    return walk->sheet->with_errors ? 2 * walk->cell.index + (uint64_t) error : walk->cell.index;
}

static void jsonstat_add_key(cellar_text *text, uint64_t index, int first)
{
    cellar_text_add_string(text, first ? "\"" : ",\n\"");
    cellar_text_add_u64(text, index);
    cellar_text_add_string(text, "\":");
}

/* What comes before a value: its key, or what parts it from the value before. */
static void jsonstat_add_start(const cellar_sheet_walk *walk, int sparse, int error, int first,
                               cellar_text *text)
{
    const size_t n_variables = cellar_schema_n_variables(walk->sheet->schema);
    const int row = error == 0 && n_variables > 0 && walk->categories[n_variables - 1] == 0;
    if (sparse)
        jsonstat_add_key(text, jsonstat_index(walk, error), first);
    else if (!first) /* a line for each row of the last variable */
        cellar_text_add_string(text, row ? ",\n" : ",");
}

static void jsonstat_write_values(cellar_sheet_walk *walk, int sparse, cellar_text *text,
                                  cellar_output *output)
{
    int first = 1;

    cellar_text_add_string(text, sparse ? ",\n\"value\":{" : ",\n\"value\":[");
    while (cellar_sheet_walk_next(walk)) {
        const int shown = walk->in_table && cellar_sheet_shows(walk->sheet, &walk->cell);
        for (int error = 0; error <= walk->sheet->with_errors; error++) {
            const int known = shown && !(error && walk->cell.se == CELLAR_SHEET_NO_ERROR);
            if (sparse && !known)
                continue;
            jsonstat_add_start(walk, sparse, error, first, text);
            first = 0;
            if (!known)
                cellar_text_add_string(text, "null");
            else if (error)
                cellar_sheet_add_error(walk->sheet, &walk->cell, text);
            else
                cellar_sheet_add_value(walk->sheet, &walk->cell, text);
        }
        if (text->length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(text, output);
    }
    cellar_text_add_string(text, sparse ? "}" : "]");
}

static void jsonstat_write_statuses(cellar_sheet_walk *walk, cellar_text *text,
                                    cellar_output *output)
{
    int first = 1;

    cellar_text_add_string(text, ",\n\"status\":{");
    while (cellar_sheet_walk_next(walk)) {
        if (walk->cell.status == CELLAR_CELL_NORMAL)
            continue;
        jsonstat_add_key(text, jsonstat_index(walk, 0), first);
        cellar_text_printf(text, "\"%s\"", cellar_cell_status_name(walk->cell.status));
        first = 0;
        if (text->length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(text, output);
    }
    cellar_text_add_string(text, "}");
}

cellar_status cellar_format_jsonstat_write(const cellar_sheet *sheet,
                                           const cellar_table_write_options *options,
                                           cellar_output *output, cellar_error *err)
{
    cellar_sheet_extent extent = options->sparse ? CELLAR_SHEET_STORED : CELLAR_SHEET_INDICES;
    cellar_status status = CELLAR_OK;
    cellar_sheet_walk walk;
    cellar_text text = {0};
    json_t *root = NULL;

    CELLAR_TRY(cellar_sheet_walk_init(&walk, sheet, extent, err));
    CELLAR_TRY(jsonstat_describe(sheet, options, &root, err));
    if (output == NULL)
        goto out;
    if (json_dump_callback(root, jsonstat_dump, &text, JSON_COMPACT) != 0) {
        status = cellar_fail_memory(err, "a description of the table");
        goto out;
    }
    text.length--; /* the closing brace: value and status follow */
    jsonstat_write_values(&walk, options->sparse, &text, output);
    if (cellar_sheet_has_status(sheet, !options->sparse)) {
        CELLAR_TRY(cellar_sheet_walk_init(&walk, sheet, extent, err));
        jsonstat_write_statuses(&walk, &text, output);
    }
    cellar_text_add_string(&text, "}\n");
    if (text.failed)
        status = cellar_fail_memory(err, "the values of a table");
    else
        cellar_csv_flush(&text, output);
out:
    json_decref(root);
    cellar_text_clear(&text);
    return status;
}
