/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SDMX-ML 2.1, generic data: every observation with all its dimensions. Attributes of the data set
 * say how the values are protected; an observation has its status and nothing else, since rsdmx
 * reads no more than one attribute. */
#include "base/error.h"
#include "base/markup.h"
#include "serve/formats.h"
#include "serve/sdmx.h"
#include "table/formats/format.h"

static void sdmx_ml_add_value(cellar_text *out, const char *id, const char *value)
{
    cellar_text_printf(out, "<generic:Value id=\"%s\" value=\"", id);
    cellar_markup_add(out, value);
    cellar_text_add_string(out, "\"/>");
}

static void sdmx_ml_add_attributes(const serve_grid *grid, cellar_text *out)
{
    cellar_text comment = {0};
    serve_grid_add_statements(grid, &comment);
    if (comment.failed)
        out->failed = 1;
    else {
        cellar_text_add_string(out, "<generic:Attributes>");
        sdmx_ml_add_value(out, "COMMENT_DSET", comment.bytes);
        cellar_text_add_string(out, "</generic:Attributes>\n");
    }
    cellar_text_clear(&comment);
}

static void sdmx_ml_add_head(const serve_dataset *dataset, cellar_text *out)
{
    serve_sdmx_open_message(out, "GenericData", dataset);
    cellar_text_printf(out,
                       "<message:Structure structureID=\"%s\" "
                       "dimensionAtObservation=\"AllDimensions\"><common:Structure>"
                       "<Ref agencyID=\"" SERVE_SDMX_AGENCY "\" id=\"%s\" "
                       "version=\"" SERVE_SDMX_VERSION "\" class=\"DataStructure\"/>"
                       "</common:Structure></message:Structure></message:Header>\n"
                       "<message:DataSet structureRef=\"%s\" action=\"Information\">\n",
                       dataset->id, dataset->id, dataset->id);
}

static void sdmx_ml_add_observation(const serve_sdmx *sdmx, const serve_grid *grid, size_t index,
                                    cellar_text *out)
{
    const serve_number number = serve_grid_number(grid, index);
    const char *codes[SERVE_MAX_AXES];

    serve_sdmx_codes(sdmx, grid, index, codes);
    cellar_text_add_string(out, "<generic:Obs><generic:ObsKey>");
    for (size_t d = 0; d < sdmx->n; d++)
        sdmx_ml_add_value(out, sdmx->dimensions[d].id, codes[d]);
    cellar_text_add_string(out, "</generic:ObsKey>");
    if (number.has_number) {
        cellar_text_add_string(out, "<generic:ObsValue value=\"");
        serve_number_add(&number, out);
        cellar_text_add_string(out, "\"/>");
    }
    cellar_text_add_string(out, "<generic:Attributes>");
    sdmx_ml_add_value(out, "OBS_STATUS", cellar_sdmx_status(number.status));
    cellar_text_add_string(out, "</generic:Attributes></generic:Obs>\n");
}

cellar_status serve_write_sdmx_ml(const serve_answer *answer, const serve_format_options *options,
                                  cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    serve_sdmx sdmx;
    (void) options;

    serve_grid_init(&grid, answer->question, answer);
    serve_sdmx_init(&sdmx, answer->question->dataset);
    sdmx_ml_add_head(answer->question->dataset, out);
    sdmx_ml_add_attributes(&grid, out);
    for (size_t i = 0; i < grid.n_rows * grid.n_columns && !out->failed; i++)
        sdmx_ml_add_observation(&sdmx, &grid, i, out);
    cellar_text_add_string(out, "</message:DataSet>\n</message:GenericData>\n");
    return out->failed ? cellar_fail_memory(err, "an answer in SDMX-ML") : CELLAR_OK;
}
