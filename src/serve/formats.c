/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/formats.h"

#include <string.h>
#include <strings.h>

static const serve_format formats[] = {
    {"json-stat2", "application/json; charset=UTF-8", "json", serve_write_jsonstat},
    {"csv", "text/csv; charset=UTF-8", "csv", serve_write_csv},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx",
     serve_write_xlsx},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet", "ods", serve_write_ods},
    {"px", "application/octet-stream", "px", serve_write_px},
    {"html", "text/html; charset=UTF-8", "html", serve_write_html},
    {"sdmx-csv", "application/vnd.sdmx.data+csv; version=2.0.0; charset=UTF-8", "csv",
     serve_write_sdmx_csv},
    {"sdmx-ml", "application/vnd.sdmx.genericdata+xml; version=2.1; charset=UTF-8", "xml",
     serve_write_sdmx_ml},
    {NULL, NULL, NULL, NULL},
};

const serve_format *serve_formats(void)
{
    return formats;
}

/* A media type is compared up to its parameters. */
static int format_has_type(const serve_format *format, const char *type)
{
    const size_t n = strcspn(format->content_type, ";");
    return strncasecmp(format->content_type, type, n) == 0 &&
           (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

const serve_format *serve_format_find(const char *name)
{
    for (const serve_format *format = formats; format->name != NULL; format++)
        if (strcasecmp(format->name, name) == 0 || format_has_type(format, name))
            return format;
    return NULL;
}

void serve_heading_add(const serve_format_options *options, const char *code, const char *label,
                       cellar_text *out)
{
    if (options->use_codes)
        cellar_text_add_string(out, code);
    if (options->use_codes && options->use_texts)
        cellar_text_add_char(out, ' ');
    if (options->use_texts || !options->use_codes)
        cellar_text_add_string(out, label);
}

void serve_column_add(const serve_grid *grid, const serve_format_options *options, size_t column,
                      cellar_text *out)
{
    size_t positions[SERVE_MAX_AXES];
    serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
    if (grid->n_stub == grid->n_axes)
        cellar_text_add_string(out, SERVE_VALUE_HEADING);
    for (size_t a = grid->n_stub; a < grid->n_axes; a++) {
        const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
        if (a > grid->n_stub)
            cellar_text_add_char(out, ' ');
        serve_heading_add(options, heading.code, heading.label, out);
    }
}
