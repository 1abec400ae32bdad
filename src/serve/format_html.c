/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A page with the table and what is to be known about it, without a script or a style. */
#include "base/error.h"
#include "base/markup.h"
#include "serve/formats.h"

static void html_add_heading(const serve_format_options *options, const char *code,
                             const char *label, cellar_text *out)
{
    cellar_text text = {0};
    serve_heading_add(options, code, label, &text);
    if (text.failed)
        out->failed = 1;
    else
        cellar_markup_add(out, text.bytes);
    cellar_text_clear(&text);
}

/* The combinations of the axes first .. last - 1. */
static size_t html_span(const serve_grid *grid, size_t first, size_t last)
{
    size_t n = 1;
    for (size_t a = first; a < last; a++)
        n *= grid->axes[a].n;
    return n;
}

static void html_add_stub_names(const serve_grid *grid, const serve_format_options *options,
                                cellar_text *out)
{
    for (size_t a = 0; a < grid->n_stub; a++) {
        cellar_text_add_string(out, "<th scope=\"col\">");
        html_add_heading(options, grid->axes[a].code, grid->axes[a].label, out);
        cellar_text_add_string(out, "</th>");
    }
}

/* One row of headings: each spans the columns of the axes after it. */
static void html_add_heading_row(const serve_grid *grid, const serve_format_options *options,
                                 size_t axis, cellar_text *out)
{
    const size_t span = html_span(grid, axis + 1, grid->n_axes);
    cellar_text_add_string(out, "<tr>");
    if (axis + 1 == grid->n_axes)
        html_add_stub_names(grid, options, out);
    else if (grid->n_stub > 0)
        cellar_text_printf(out, "<td colspan=\"%zu\"></td>", grid->n_stub);
    for (size_t column = 0; column < grid->n_columns; column += span) {
        const serve_heading heading =
            serve_grid_heading(grid, axis, column / span % grid->axes[axis].n);
        cellar_text_printf(out, "<th scope=\"col%s\" colspan=\"%zu\">", span > 1 ? "group" : "",
                           span);
        html_add_heading(options, heading.code, heading.label, out);
        cellar_text_add_string(out, "</th>");
    }
    cellar_text_add_string(out, "</tr>\n");
}

/* A heading stands at the first row that it is about, and spans the others. */
static void html_add_stub(const serve_grid *grid, const serve_format_options *options, size_t row,
                          cellar_text *out)
{
    for (size_t a = 0; a < grid->n_stub; a++) {
        const size_t span = html_span(grid, a + 1, grid->n_stub);
        serve_heading heading;
        if (row % span != 0)
            continue;
        heading = serve_grid_heading(grid, a, row / span % grid->axes[a].n);
        cellar_text_printf(out, "<th scope=\"row%s\" rowspan=\"%zu\">", span > 1 ? "group" : "",
                           span);
        html_add_heading(options, heading.code, heading.label, out);
        cellar_text_add_string(out, "</th>");
    }
}

static void html_add_rows(const serve_grid *grid, const serve_format_options *options,
                          cellar_text *out)
{
    cellar_text_add_string(out, "<tbody>\n");
    for (size_t row = 0; row < grid->n_rows && !out->failed; row++) {
        cellar_text_add_string(out, "<tr>");
        html_add_stub(grid, options, row, out);
        for (size_t column = 0; column < grid->n_columns; column++) {
            const serve_number number = serve_grid_shown(grid, row * grid->n_columns + column);
            cellar_text_add_string(out, "<td>");
            if (number.has_number)
                serve_number_add(&number, out);
            else
                cellar_text_add_string(out, serve_number_symbol(&number));
            cellar_text_add_string(out, "</td>");
        }
        cellar_text_add_string(out, "</tr>\n");
    }
    cellar_text_add_string(out, "</tbody>\n");
}

static void html_hear(void *context, const char *name, const char *part, const char *text)
{
    cellar_text *out = context;
    cellar_text_add_string(out, "<dt>");
    cellar_markup_add(out, name);
    if (part != NULL) {
        cellar_text_add_string(out, ", ");
        cellar_markup_add(out, part);
    }
    cellar_text_add_string(out, "</dt><dd>");
    cellar_markup_add(out, text);
    cellar_text_add_string(out, "</dd>\n");
}

static void html_add_table(const serve_grid *grid, const serve_format_options *options,
                           const char *title, cellar_text *out)
{
    cellar_text_add_string(out, "<table>\n<caption>");
    cellar_markup_add(out, title);
    cellar_text_add_string(out, "</caption>\n<thead>\n");
    for (size_t a = grid->n_stub; a < grid->n_axes; a++)
        html_add_heading_row(grid, options, a, out);
    if (grid->n_stub == grid->n_axes) {
        cellar_text_add_string(out, "<tr>");
        html_add_stub_names(grid, options, out);
        cellar_text_add_string(out, "<th scope=\"col\">" SERVE_VALUE_HEADING "</th></tr>\n");
    }
    cellar_text_add_string(out, "</thead>\n");
    html_add_rows(grid, options, out);
    cellar_text_add_string(out, "</table>\n<dl>\n");
    serve_grid_state(grid, html_hear, out);
    cellar_text_add_string(out, "</dl>\n");
}

static void html_add_page(const serve_grid *grid, const serve_format_options *options,
                          const char *title, cellar_text *out)
{
    const serve_dataset *dataset = grid->question->dataset;
    cellar_text_add_string(out, "<!DOCTYPE html>\n<html lang=\"");
    cellar_markup_add(out, dataset->languages[grid->question->language]);
    cellar_text_add_string(out, "\">\n<head><meta charset=\"utf-8\"><title>");
    cellar_markup_add(out, title);
    cellar_text_add_string(out, "</title></head>\n<body>\n");
    html_add_table(grid, options, title, out);
    cellar_text_add_string(out, "</body>\n</html>\n");
}

typedef void html_part(const serve_grid *grid, const serve_format_options *options,
                       const char *title, cellar_text *out);

static cellar_status html_write(const serve_answer *answer, const serve_format_options *options,
                                html_part *part, cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    cellar_text title = {0};

    serve_grid_init(&grid, answer->question, answer);
    serve_grid_add_title(&grid, &title);
    if (title.failed)
        out->failed = 1;
    else
        part(&grid, options, title.bytes, out);
    cellar_text_clear(&title);
    return out->failed ? cellar_fail_memory(err, "an answer in HTML") : CELLAR_OK;
}

cellar_status serve_write_html(const serve_answer *answer, const serve_format_options *options,
                               cellar_text *out, cellar_error *err)
{
    return html_write(answer, options, html_add_page, out, err);
}

cellar_status serve_write_html_table(const serve_answer *answer,
                                     const serve_format_options *options, cellar_text *out,
                                     cellar_error *err)
{
    return html_write(answer, options, html_add_table, out, err);
}
