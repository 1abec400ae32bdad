/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV as PxWeb writes it: a column for each variable of the stub, then one for each combination of
 * the heading. A last column, `note`, holds what must travel with the values in its first row, so
 * that every reader of CSV can read the file. Headings that a spreadsheet would take for formulas
 * are made harmless. */
#include "base/error.h"
#include "serve/formats.h"
#include "table/formats/csv_fields.h"

typedef struct csv_writer {
    const serve_grid *grid;
    const serve_format_options *options;
    char separator;
    cellar_text *out, field;
} csv_writer;

/* Adds the field that was gathered, and what parts it from the next. */
static void csv_end_field(csv_writer *writer)
{
    if (writer->field.failed)
        writer->out->failed = 1;
    else
        cellar_csv_add_between(writer->out, writer->field.length > 0 ? writer->field.bytes : "",
                               writer->separator, 1);
    cellar_text_add_char(writer->out, writer->separator);
    cellar_text_reset(&writer->field);
}

/* The last separator of a row becomes the end of its line. */
static void csv_end_row(csv_writer *writer)
{
    if (!writer->out->failed)
        writer->out->bytes[writer->out->length - 1] = '\n';
}

static void csv_add_header(csv_writer *writer)
{
    const serve_grid *grid = writer->grid;
    for (size_t a = 0; a < grid->n_stub; a++) {
        serve_heading_add(writer->options, grid->axes[a].code, grid->axes[a].label, &writer->field);
        csv_end_field(writer);
    }
    for (size_t column = 0; column < grid->n_columns; column++) {
        serve_column_add(grid, writer->options, column, &writer->field);
        csv_end_field(writer);
    }
    cellar_text_add_string(&writer->field, "note");
    csv_end_field(writer);
    csv_end_row(writer);
}

static void csv_add_row(csv_writer *writer, size_t row)
{
    const serve_grid *grid = writer->grid;
    size_t positions[SERVE_MAX_AXES];

    serve_grid_positions(grid, 0, grid->n_stub, row, positions);
    for (size_t a = 0; a < grid->n_stub; a++) {
        const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
        serve_heading_add(writer->options, heading.code, heading.label, &writer->field);
        csv_end_field(writer);
    }
    for (size_t column = 0; column < grid->n_columns; column++) {
        const serve_number number = serve_grid_number(grid, row * grid->n_columns + column);
        if (number.has_number)
            serve_number_add(&number, writer->out);
        else
            cellar_text_printf(writer->out, "\"%s\"", serve_number_symbol(&number));
        cellar_text_add_char(writer->out, writer->separator);
    }
    if (row == 0)
        serve_grid_add_statements(grid, &writer->field);
    csv_end_field(writer);
    csv_end_row(writer);
}

cellar_status serve_write_csv(const serve_answer *answer, const serve_format_options *options,
                              cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    csv_writer writer = {.grid = &grid,
                         .options = options,
                         .separator = options->separator != '\0' ? options->separator : ',',
                         .out = out};

    serve_grid_init(&grid, answer->question, answer);
    if (options->with_title) {
        serve_grid_add_title(&grid, &writer.field);
        csv_end_field(&writer);
        csv_end_row(&writer);
        cellar_text_add_char(out, '\n');
    }
    csv_add_header(&writer);
    for (size_t row = 0; row < grid.n_rows && !out->failed; row++)
        csv_add_row(&writer, row);
    cellar_text_clear(&writer.field);
    return out->failed ? cellar_fail_memory(err, "an answer in CSV") : CELLAR_OK;
}
