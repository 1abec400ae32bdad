/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: SVG as drawn, PNG through librsvg. */
#include <cairo.h>
#include <librsvg/rsvg.h>
#include <math.h>

#include "base/error.h"
#include "base/output.h"
#include "report/chart.h"

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

static cairo_status_t picture_write(void *output, const unsigned char *bytes, unsigned length)
{
    cellar_output_write(output, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

/* Draws the handle's document on a new surface of the size it asks for, `zoom` times as large. */
static cellar_status picture_draw(RsvgHandle *handle, double zoom, cairo_surface_t **out,
                                  cellar_error *err)
{
    double width = 0, height = 0;
    if (!rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height))
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart has no size");
    *out = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int) ceil(width * zoom),
                                      (int) ceil(height * zoom));
    const RsvgRectangle area = {.width = width * zoom, .height = height * zoom};
    cairo_t *cairo = cairo_create(*out);
    const int drawn = rsvg_handle_render_document(handle, cairo, &area, NULL);
    const int sound = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(cairo);
    if (!drawn || !sound)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be drawn as a picture");
    return CELLAR_OK;
}

static cellar_status picture_of(const cellar_text *svg, double zoom, cellar_output *output,
                                cellar_error *err)
{
    cairo_surface_t *surface = NULL;
    RsvgHandle *handle = rsvg_handle_new_from_data((const guint8 *) svg->bytes, svg->length, NULL);
    if (handle == NULL)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be read as a picture");
    cellar_status status = picture_draw(handle, zoom, &surface, err);
    if (status == CELLAR_OK &&
        cairo_surface_write_to_png_stream(surface, picture_write, output) != CAIRO_STATUS_SUCCESS)
        status =
            cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be written as a picture");
    if (surface != NULL)
        cairo_surface_destroy(surface);
    g_object_unref(handle);
    return status;
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
    status = svg.failed ? cellar_fail_memory(err, "a chart") : picture_of(&svg, zoom, output, err);
    cellar_text_clear(&svg);
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
    return status;
}
