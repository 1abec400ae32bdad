/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: SVG as drawn, PNG by the picture of that. */
#include "base/error.h"
#include "base/output.h"
#include "report/chart.h"
#include "report/picture.h"

cellar_status cellar_chart_write_svg(const cellar_chart *chart, const char *path,
                                     const cellar_output_options *options, cellar_error *err)
{
    cellar_text svg = {0};
    cellar_output *output = NULL;
    cellar_status status = cellar_output_open(path, options, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_chart_svg(chart, NULL, &svg);
    cellar_output_text(output, &svg);
    cellar_text_clear(&svg);
    return cellar_output_commit(output, err);
}

cellar_status cellar_chart_write_png(const cellar_chart *chart, double zoom, const char *path,
                                     const cellar_output_options *options, cellar_error *err)
{
    cellar_text svg = {0};
    cellar_output *output = NULL;
    if (!(zoom >= 0.1 && zoom <= 10))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a picture's zoom is 0.1 to 10");
    cellar_status status = cellar_output_open(path, options, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_chart_svg(chart, NULL, &svg);
    status = svg.failed ? cellar_fail_memory(err, "a chart")
                        : cellar_picture_write(&svg, zoom, output, err);
    cellar_text_clear(&svg);
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
    return status;
}
