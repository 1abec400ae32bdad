/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON of PxWebApi 1: {columns, comments, data}, one row a cell with its contents. */
#include "base/error.h"
#include "serve/formats.h"
#include "serve/json.h"

/* The comment of a column may be NULL. */
static void json_add_column(const char *code, const char *text, const char *type,
                            const char *comment, cellar_text *out)
{
    serve_json_open(out, '{');
    serve_json_pair(out, "code", code);
    serve_json_pair(out, "text", text);
    serve_json_pair(out, "type", type);
    if (comment != NULL)
        serve_json_pair(out, "comment", comment);
    serve_json_close(out, '}');
}

/* Contents are columns of type c; the first has what must be known about the table. */
static void json_add_contents(const serve_grid *grid, cellar_text *out)
{
    const serve_question *question = grid->question;
    cellar_text all = {0};
    serve_grid_add_statements(grid, &all);
    out->failed |= all.failed;
    for (size_t i = 0; i < question->n_contents && !all.failed; i++)
        json_add_column(
            serve_content_code(question->contents[i]),
            serve_content_label(question->dataset, question->contents[i], question->language), "c",
            i == 0 ? all.bytes : NULL, out);
    cellar_text_clear(&all);
}

/* Variables are of type d, and of type t for time. */
static void json_add_columns(const serve_grid *grid, cellar_text *out)
{
    serve_json_name(out, "columns");
    serve_json_open(out, '[');
    for (size_t a = 0; a < grid->n_axes; a++)
        if (grid->axes[a].side != NULL)
            json_add_column(grid->axes[a].code, grid->axes[a].label,
                            grid->axes[a].role == SERVE_ROLE_TIME ? "t" : "d", grid->axes[a].note,
                            out);
    json_add_contents(grid, out);
    serve_json_close(out, ']');
}

/* A comment names the variable and the value it is about. */
static void json_add_comments(const serve_grid *grid, cellar_text *out)
{
    serve_json_name(out, "comments");
    serve_json_open(out, '[');
    for (size_t a = 0; a < grid->n_axes; a++)
        for (size_t i = 0; grid->axes[a].side != NULL && i < grid->axes[a].n; i++) {
            const serve_heading heading = serve_grid_heading(grid, a, i);
            if (heading.note == NULL)
                continue;
            serve_json_open(out, '{');
            serve_json_pair(out, "variable", grid->axes[a].code);
            serve_json_pair(out, "value", heading.code);
            serve_json_pair(out, "comment", heading.note);
            serve_json_close(out, '}');
        }
    serve_json_close(out, ']');
}

static void json_add_row(const serve_grid *grid, size_t cell, cellar_text *out)
{
    size_t positions[SERVE_MAX_AXES];
    cellar_text digits = {0};
    serve_grid_positions(grid, 0, grid->n_axes, serve_grid_index(grid, cell, 0), positions);
    serve_json_open(out, '{');
    serve_json_name(out, "key");
    serve_json_open(out, '[');
    for (size_t a = 0; a < grid->n_axes; a++)
        if (grid->axes[a].side != NULL)
            serve_json_string(out, serve_grid_heading(grid, a, positions[a]).code);
    serve_json_close(out, ']');
    serve_json_name(out, "values");
    serve_json_open(out, '[');
    for (size_t i = 0; i < grid->question->n_contents; i++) {
        const serve_number number = serve_grid_number(grid, serve_grid_index(grid, cell, i));
        cellar_text_reset(&digits);
        if (number.has_number)
            serve_number_add(&number, &digits);
        else
            cellar_text_add_string(&digits, serve_number_symbol(&number));
        if (digits.failed)
            out->failed = 1;
        else
            serve_json_string(out, digits.bytes);
    }
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    cellar_text_clear(&digits);
}

cellar_status serve_write_json(const serve_answer *answer, const serve_format_options *options,
                               cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    (void) options;
    serve_grid_init(&grid, answer->question, answer);
    serve_json_open(out, '{');
    json_add_columns(&grid, out);
    json_add_comments(&grid, out);
    serve_json_name(out, "data");
    serve_json_open(out, '[');
    for (size_t cell = 0; cell < answer->n_values && !out->failed; cell++)
        json_add_row(&grid, cell, out);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    return out->failed ? cellar_fail_memory(err, "an answer in JSON") : CELLAR_OK;
}
