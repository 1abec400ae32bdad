/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV on the Web: the description, in JSON, of the long CSV that cellar_format_csv_write() writes
 * with the same options. Write only. */
#include "table/formats/format.h"

#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "table/formats/csv_fields.h"

/* A column; `name` is an identifier of CSVW's own (position when the title cannot be one), `title`
 * is what the header of the file says. */
static int csvw_add_column(json_t *columns, const char *title, const char *property,
                           json_t *datatype)
{
    cellar_text name = {0};
    json_t *column = NULL;
    int failed;

    cellar_text_printf(&name, "column_%zu", json_array_size(columns) + 1);
    if (!name.failed)
        column = json_pack("{s:s, s:s, s:o, s:b}", "name", name.bytes, "titles", title, "datatype",
                           datatype, "required", 1);
    else
        json_decref(datatype);
    if (column != NULL && property != NULL)
        json_object_set_new(column, "propertyUrl", json_string(property));
    failed = json_array_append_new(columns, column) != 0;
    cellar_text_clear(&name);
    return !failed;
}

/* A column whose fields may be empty. */
static int csvw_add_optional(json_t *columns, const char *title, const char *property,
                             json_t *datatype)
{
    if (!csvw_add_column(columns, title, property, datatype))
        return 0;
    return json_object_set_new(json_array_get(columns, json_array_size(columns) - 1), "required",
                               json_false()) == 0;
}

static int csvw_add_variables(const cellar_schema *schema, json_t *columns)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (!csvw_add_column(columns, cellar_schema_variable(schema, v),
                             "http://purl.org/linked-data/cube#dimension", json_string("string")))
            return 0;
    return 1;
}

/* A column whose name tells a bound, as in "record_key:4096". */
static int csvw_add_bounded(json_t *columns, const char *name, uint64_t bound, const char *type)
{
    cellar_text text = {0};
    int done;
    cellar_csv_add_bounded_name(&text, name, bound);
    done = !text.failed && csvw_add_column(columns, text.bytes, NULL, json_string(type));
    cellar_text_clear(&text);
    return done;
}

/* The columns after the variables, in the order of the file. */
static int csvw_add_values(const cellar_sheet *sheet, int zeros, json_t *columns)
{
    const char *value = cellar_sheet_value_name(sheet->kind);

    if (!csvw_add_column(columns, value, "http://purl.org/linked-data/cube#measureType",
                         json_string(sheet->confidential   ? "nonNegativeInteger"
                                     : sheet->decimals > 0 ? "decimal"
                                                           : "integer")))
        return 0;
    if (sheet->with_errors &&
        !csvw_add_optional(columns, CELLAR_SHEET_ERROR_NAME, NULL, json_string("decimal")))
        return 0;
    if (sheet->weighted && !csvw_add_bounded(columns, "weighted", sheet->max_weight, "decimal"))
        return 0;
    if (sheet->keyed &&
        !csvw_add_bounded(columns, "record_key", sheet->key_range, "nonNegativeInteger"))
        return 0;
    if (!cellar_sheet_has_status(sheet, zeros))
        return 1;
    return csvw_add_optional(columns, "status",
                             "http://purl.org/linked-data/sdmx/2009/attribute#obsStatus",
                             json_pack("{s:s, s:s}", "base", "string", "format",
                                       "structural-zero|suppressed|not-available|unreliable"));
}

static json_t *csvw_describe(const cellar_sheet *sheet, const cellar_table_write_options *options)
{
    json_t *columns = json_array(), *root;

    if (!csvw_add_variables(sheet->schema, columns) ||
        !csvw_add_values(sheet, cellar_sheet_lists_all(sheet, options->zeros), columns)) {
        json_decref(columns);
        return NULL;
    }
    root = json_pack("{s:s, s:s, s:{s:o}}", "@context", "http://www.w3.org/ns/csvw", "url",
                     options->csv_name, "tableSchema", "columns", columns);
    if (root == NULL)
        return NULL;
    if ((options->title != NULL &&
         json_object_set_new(root, "dc:title", json_string(options->title)) != 0) ||
        (sheet->stamp != NULL &&
         json_object_set_new(root, "dc:description", json_string(sheet->stamp)) != 0) ||
        (sheet->confidential &&
         json_object_set_new(root, "dc:accessRights",
                             json_string("Confidential: true counts, not for publication.")) !=
             0)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static int csvw_dump(const char *bytes, size_t length, void *output)
{
    cellar_output_write(output, bytes, length);
    return 0;
}

cellar_status cellar_format_csvw_write(const cellar_sheet *sheet,
                                       const cellar_table_write_options *options,
                                       cellar_output *output, cellar_error *err)
{
    json_t *root;
    int failed;

    if (options->csv_name == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a CSVW description needs the name of the CSV file it describes");
    root = csvw_describe(sheet, options);
    if (root == NULL)
        return cellar_fail_memory(err, "a description of the table");
    failed = json_dump_callback(root, csvw_dump, output, JSON_INDENT(2));
    json_decref(root);
    if (failed)
        return cellar_fail_memory(err, "a description of the table");
    cellar_output_string(output, "\n");
    return CELLAR_OK;
}
