/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/sdmx.h"

#include <stdio.h>
#include <string.h>

#include "base/markup.h"

/* An identifier of SDMX. One that had to be changed gets the number of its dimension, so that two
 * stay apart. */
static void sdmx_name(serve_sdmx_dimension *dimension, const char *code, size_t number)
{
    size_t n = 0;
    int is_changed = 0;
    for (; code[n] != '\0' && n < sizeof dimension->id / 2; n++) {
        const char c = code[n];
        const int letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        const int allowed = letter || (n > 0 && c >= '0' && c <= '9');
        dimension->id[n] = allowed ? c : '_';
        is_changed |= !allowed;
    }
    dimension->id[n] = '\0';
    if (is_changed || code[n] != '\0')
        snprintf(dimension->id + n, sizeof dimension->id - n, "_%zu", number);
}

static int sdmx_is_time(const serve_dataset *dataset, size_t v)
{
    for (size_t k = 0; k < v; k++)
        if (dataset->variables[k].role == SERVE_ROLE_TIME)
            return 0;
    return dataset->variables[v].role == SERVE_ROLE_TIME;
}

void serve_sdmx_init(serve_sdmx *sdmx, const serve_dataset *dataset)
{
    size_t time = SIZE_MAX;
    sdmx->n = 0;
    for (size_t v = 0; v < dataset->n_variables; v++) {
        serve_sdmx_dimension *dimension = &sdmx->dimensions[sdmx->n];
        if (sdmx_is_time(dataset, v)) {
            time = v;
            continue;
        }
        dimension->variable = v;
        sdmx_name(dimension, dataset->variables[v].code, ++sdmx->n);
    }
    sdmx->dimensions[sdmx->n++] =
        (serve_sdmx_dimension){.variable = SIZE_MAX, .id = SERVE_CONTENTS_CODE};
    sdmx->n_key = sdmx->n;
    if (time != SIZE_MAX)
        sdmx->dimensions[sdmx->n++] =
            (serve_sdmx_dimension){.variable = time, .id = SERVE_SDMX_TIME};
}

/* The axis of a dimension; SIZE_MAX when the variable is summed out. */
static size_t sdmx_axis(const serve_grid *grid, size_t variable)
{
    for (size_t a = 0; a < grid->n_axes; a++) {
        const serve_side *side = grid->axes[a].side;
        if (side == NULL ? variable == SIZE_MAX : side->variable == variable)
            return a;
    }
    return SIZE_MAX;
}

void serve_sdmx_codes(const serve_sdmx *sdmx, const serve_grid *grid, size_t index,
                      const char **codes)
{
    size_t positions[SERVE_MAX_AXES];
    serve_grid_positions(grid, 0, grid->n_axes, index, positions);
    for (size_t d = 0; d < sdmx->n; d++) {
        const size_t a = sdmx_axis(grid, sdmx->dimensions[d].variable);
        codes[d] =
            a == SIZE_MAX ? SERVE_SDMX_TOTAL : serve_grid_heading(grid, a, positions[a]).code;
    }
}

void serve_sdmx_open_message(cellar_text *out, const char *root, const serve_dataset *dataset)
{
    cellar_text_printf(out,
                       SERVE_SDMX_XML "<message:%s xmlns:message=\"" SERVE_SDMX_SCHEMAS "message\""
                                      " xmlns:structure=\"" SERVE_SDMX_SCHEMAS "structure\""
                                      " xmlns:generic=\"" SERVE_SDMX_SCHEMAS "data/generic\""
                                      " xmlns:common=\"" SERVE_SDMX_SCHEMAS "common\">\n"
                                      "<message:Header><message:ID>",
                       root);
    cellar_markup_add(out, dataset != NULL ? dataset->id : SERVE_SDMX_AGENCY);
    cellar_text_add_string(out, "</message:ID><message:Test>false</message:Test>"
                                "<message:Prepared>");
    cellar_markup_add(out, dataset != NULL && dataset->updated != NULL ? dataset->updated
                                                                       : "1970-01-01");
    cellar_text_add_string(out,
                           "</message:Prepared><message:Sender id=\"" SERVE_SDMX_AGENCY "\"/>");
}
