/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/csv_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/memory.h"

/* The fields of one variable lie in one text; field c is bytes[start[c] .. start[c + 1]). */
typedef struct csv_fields_axis {
    cellar_text text;
    size_t *start;
} csv_fields_axis;

struct cellar_csv_fields {
    size_t n_variables;
    csv_fields_axis axes[CELLAR_MAX_VARIABLES];
};

void cellar_csv_add_between(cellar_text *row, const char *field, char delimiter, int neutralise)
{
    cellar_text harmless = {0};

    if (!neutralise || field[0] == '\0' || strchr("=+-@\t\r", field[0]) == NULL) {
        cellar_csv_add_field(row, field, delimiter);
        return;
    }
    cellar_text_printf(&harmless, "'%s", field);
    if (harmless.failed)
        row->failed = 1;
    else
        cellar_csv_add_field(row, harmless.bytes, delimiter);
    cellar_text_clear(&harmless);
}

void cellar_csv_add_safe(cellar_text *row, const char *field, int neutralise)
{
    cellar_csv_add_between(row, field, ',', neutralise);
}

void cellar_csv_add_bounded_name(cellar_text *row, const char *name, uint64_t bound)
{
    cellar_text_add_string(row, name);
    if (bound != 0)
        cellar_text_printf(row, ":%" PRIu64, bound);
}

static int csv_fields_fill(csv_fields_axis *axis, const cellar_schema *schema, size_t variable,
                           int neutralise)
{
    size_t n = cellar_schema_n_categories(schema, variable);

    axis->start = cellar_alloc(n + 1, sizeof *axis->start);
    if (axis->start == NULL)
        return 0;
    for (size_t c = 0; c < n; c++) {
        cellar_csv_add_safe(&axis->text, cellar_schema_code(schema, variable, c), neutralise);
        cellar_text_add_char(&axis->text, ',');
        axis->start[c + 1] = axis->text.length;
    }
    return !axis->text.failed;
}

cellar_status cellar_csv_fields_create(const cellar_schema *schema, int neutralise,
                                       cellar_csv_fields **out, cellar_error *err)
{
    cellar_csv_fields *fields = cellar_alloc(1, sizeof *fields);

    *out = NULL;
    if (fields == NULL)
        return cellar_fail_memory(err, "the codes of a table");
    fields->n_variables = cellar_schema_n_variables(schema);
    for (size_t v = 0; v < fields->n_variables; v++)
        if (!csv_fields_fill(&fields->axes[v], schema, v, neutralise)) {
            cellar_csv_fields_free(fields);
            return cellar_fail_memory(err, "the codes of a table");
        }
    *out = fields;
    return CELLAR_OK;
}

void cellar_csv_fields_free(cellar_csv_fields *fields)
{
    if (fields == NULL)
        return;
    for (size_t v = 0; v < fields->n_variables; v++) {
        cellar_text_clear(&fields->axes[v].text);
        cellar_free(fields->axes[v].start);
    }
    cellar_free(fields);
}

void cellar_csv_fields_add(const cellar_csv_fields *fields, const uint32_t *categories,
                           cellar_text *row)
{
    for (size_t v = 0; v < fields->n_variables; v++) {
        const csv_fields_axis *axis = &fields->axes[v];
        size_t start = axis->start[categories[v]];
        cellar_text_add(row, axis->text.bytes + start, axis->start[categories[v] + 1] - start);
    }
}

void cellar_csv_flush(cellar_text *rows, cellar_output *output)
{
    if (rows->failed)
        return;
    cellar_output_write(output, rows->bytes, rows->length);
    cellar_text_reset(rows);
}
