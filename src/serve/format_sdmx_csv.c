/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SDMX-CSV 2.0. The comment of the data set stands in the first row; SDMX has no place before the
 * rows. */
#include "base/error.h"
#include "serve/formats.h"
#include "serve/sdmx.h"
#include "table/formats/csv_fields.h"
#include "table/formats/format.h"

static void sdmx_csv_add_header(const serve_sdmx *sdmx, cellar_text *out)
{
    cellar_text_add_string(out, "STRUCTURE,STRUCTURE_ID,ACTION,");
    for (size_t d = 0; d < sdmx->n; d++) {
        cellar_csv_add_safe(out, sdmx->dimensions[d].id, 1);
        cellar_text_add_char(out, ',');
    }
    cellar_text_add_string(out, "OBS_VALUE,OBS_STATUS,CONF_STATUS,COMMENT_DSET\n");
}

static void sdmx_csv_add_row(const serve_sdmx *sdmx, const serve_grid *grid, size_t index,
                             const char *comment, cellar_text *out)
{
    const serve_number number = serve_grid_number(grid, index);
    const char *codes[SERVE_MAX_AXES];

    cellar_text_printf(out, "dataflow," SERVE_SDMX_AGENCY ":%s(" SERVE_SDMX_VERSION "),I,",
                       grid->question->dataset->id);
    serve_sdmx_codes(sdmx, grid, index, codes);
    for (size_t d = 0; d < sdmx->n; d++) {
        cellar_csv_add_safe(out, codes[d], 1);
        cellar_text_add_char(out, ',');
    }
    if (number.has_number)
        serve_number_add(&number, out);
    cellar_text_printf(out, ",%s,F,", cellar_sdmx_status(number.status));
    if (comment[0] != '\0')
        cellar_csv_add_safe(out, comment, 1);
    cellar_text_add_char(out, '\n');
}

cellar_status serve_write_sdmx_csv(const serve_answer *answer, const serve_format_options *options,
                                   cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    serve_sdmx sdmx;
    cellar_text comment = {0};
    (void) options;

    serve_grid_init(&grid, answer->question, answer);
    serve_sdmx_init(&sdmx, answer->question->dataset);
    serve_grid_add_statements(&grid, &comment);
    if (comment.failed)
        out->failed = 1;
    sdmx_csv_add_header(&sdmx, out);
    for (size_t i = 0; i < grid.n_rows * grid.n_columns && !out->failed; i++)
        sdmx_csv_add_row(&sdmx, &grid, i, i == 0 ? comment.bytes : "", out);
    cellar_text_clear(&comment);
    return out->failed ? cellar_fail_memory(err, "an answer in SDMX-CSV") : CELLAR_OK;
}
