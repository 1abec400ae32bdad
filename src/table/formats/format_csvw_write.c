/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV on the Web: the description, in JSON, of the long CSV that cellar_format_csv_write() writes
 * with the same options. Write only. */
#include "table/formats/format.h"

#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "table/formats/about.h"
#include "table/formats/csv_fields.h"

/* The name of a column as CSVW allows it (Metadata Vocabulary, section 5.6.1: a variable name of
 * RFC 6570 that does not begin with _): other bytes than letters, digits and _ are escaped. */
static void csvw_add_name(cellar_text *name, const char *title)
{
    for (const char *p = title; *p != '\0'; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
            (*p == '_' && p > title))
            cellar_text_add_char(name, *p);
        else
            cellar_text_printf(name, "%%%02X", (unsigned) (unsigned char) *p);
}

/* A column; `title` is what the header of the file says. The property is one of a vocabulary, or
 * that of the column itself: no two columns share one. */
static int csvw_add_column(json_t *columns, const char *title, const char *property,
                           json_t *datatype)
{
    cellar_text name = {0}, own = {0};
    json_t *column = NULL;
    int failed;

    csvw_add_name(&name, title);
    cellar_text_printf(&own, "#%s", name.failed || name.length == 0 ? "" : name.bytes);
    if (!name.failed && !own.failed)
        column = json_pack("{s:s, s:s, s:o, s:b, s:s}", "name", name.bytes, "titles", title,
                           "datatype", datatype, "required", 1, "propertyUrl",
                           property != NULL ? property : own.bytes);
    else
        json_decref(datatype);
    failed = json_array_append_new(columns, column) != 0;
    cellar_text_clear(&name);
    cellar_text_clear(&own);
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

/* SDMX's dimension for the first variable of a role; a second one has a property of its own. */
static const char *csvw_dimension(const cellar_table_write_options *options, const char *variable)
{
    static const char *const dimensions[] = {
        [CELLAR_ROLE_TIME] = "http://purl.org/linked-data/sdmx/2009/dimension#refPeriod",
        [CELLAR_ROLE_GEO] = "http://purl.org/linked-data/sdmx/2009/dimension#refArea"};
    for (size_t i = 0; i < options->n_roles; i++) {
        size_t first = 0;
        while (options->roles[first].role != options->roles[i].role)
            first++;
        if (first == i && strcmp(options->roles[i].variable, variable) == 0)
            return dimensions[options->roles[i].role];
    }
    return NULL;
}

static int csvw_add_variables(const cellar_schema *schema,
                              const cellar_table_write_options *options, json_t *columns)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        const char *variable = cellar_schema_variable(schema, v);
        if (!csvw_add_column(columns, variable, csvw_dimension(options, variable),
                             json_string("string")))
            return 0;
    }
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

    if (!csvw_add_column(columns, value, "http://purl.org/linked-data/sdmx/2009/measure#obsValue",
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

/* Dublin Core, which CSVW knows by the prefix dc; a description is one text. */
static int csvw_add_about(const cellar_sheet *sheet, const cellar_table_write_options *options,
                          json_t *root)
{
    const int both = sheet->stamp != NULL && options->note != NULL;
    cellar_text description = {0};
    cellar_text_printf(&description, "%s%s%s", sheet->stamp != NULL ? sheet->stamp : "",
                       both ? " " : "", options->note != NULL ? options->note : "");
    const struct {
        const char *name, *value;
    } members[] = {
        {"dc:title", options->title},
        {"dc:source", options->source},
        {"dc:modified", options->updated},
        {"dc:description", description.length > 0 ? description.bytes : NULL},
        {"dc:accessRights", sheet->confidential ? CELLAR_ABOUT_CONFIDENTIAL : NULL},
    };
    int failed = description.failed;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value != NULL)
            failed |= json_object_set_new(root, members[i].name, json_string(members[i].value));
    cellar_text_clear(&description);
    return !failed;
}

static json_t *csvw_describe(const cellar_sheet *sheet, const cellar_table_write_options *options)
{
    json_t *columns = json_array(), *root;

    if (!csvw_add_variables(sheet->schema, options, columns) ||
        !csvw_add_values(sheet, cellar_sheet_lists_all(sheet, options->zeros), columns)) {
        json_decref(columns);
        return NULL;
    }
    root = json_pack("{s:s, s:s, s:{s:o}}", "@context", "http://www.w3.org/ns/csvw", "url",
                     options->csv_name, "tableSchema", "columns", columns);
    if (root != NULL && csvw_add_about(sheet, options, root))
        return root;
    json_decref(root);
    return NULL;
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
