/* SPDX-License-Identifier: GPL-3.0-or-later */
/* librsvg brings some forty libraries, whose start takes longer than most of what Cellar does; few
 * ever ask for a picture. So they are loaded when one is asked for, and stay. */
#include "report/picture.h"

#include <cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>
#include <math.h>

#include "base/error.h"

/* The functions needed, declared as their headers do. */
#define PICTURE_FUNCTIONS(X)                                                                       \
    X(rsvg_handle_new_from_data)                                                                   \
    X(rsvg_handle_get_intrinsic_size_in_pixels)                                                    \
    X(rsvg_handle_render_document)                                                                 \
    X(g_object_unref)                                                                              \
    X(cairo_image_surface_create)                                                                  \
    X(cairo_surface_write_to_png_stream)                                                           \
    X(cairo_surface_destroy)                                                                       \
    X(cairo_create)                                                                                \
    X(cairo_status)                                                                                \
    X(cairo_destroy)

#define PICTURE_POINTER(name) __typeof__(name) *(name);
typedef struct drawing_library {
    PICTURE_FUNCTIONS(PICTURE_POINTER)
} drawing_library;

/* One handle finds the functions of all libraries it brings. */
static cellar_status library_load(drawing_library *library, cellar_error *err)
{
    void *handle = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
    int complete = handle != NULL;
#define PICTURE_FIND(name)                                                                         \
    if (complete) {                                                                                \
        *(void **) &library->name = dlsym(handle, #name);                                          \
        complete = library->name != NULL;                                                          \
    }
    PICTURE_FUNCTIONS(PICTURE_FIND)
    if (!complete) {
        const char *why = dlerror();
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "charts are drawn as pictures by librsvg, which cannot be loaded: %s",
                           why != NULL ? why : "it lacks a function");
    }
    return CELLAR_OK;
}

static cairo_status_t picture_put(void *output, const unsigned char *bytes, unsigned length)
{
    cellar_output_write(output, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

/* Draws the handle's document on a new surface of the size it asks for, `zoom` times as large. */
static cellar_status picture_draw(const drawing_library *library, RsvgHandle *handle, double zoom,
                                  cairo_surface_t **out, cellar_error *err)
{
    double width = 0, height = 0;
    if (!library->rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height))
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart has no size");
    *out = library->cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int) ceil(width * zoom),
                                               (int) ceil(height * zoom));
    const RsvgRectangle area = {.width = width * zoom, .height = height * zoom};
    cairo_t *cairo = library->cairo_create(*out);
    const int drawn = library->rsvg_handle_render_document(handle, cairo, &area, NULL);
    const int sound = library->cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    library->cairo_destroy(cairo);
    if (!drawn || !sound)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be drawn as a picture");
    return CELLAR_OK;
}

cellar_status cellar_picture_write(const cellar_text *svg, double zoom, cellar_output *output,
                                   cellar_error *err)
{
    drawing_library library;
    cairo_surface_t *surface = NULL;
    cellar_status status = library_load(&library, err);
    if (status != CELLAR_OK)
        return status;
    RsvgHandle *handle =
        library.rsvg_handle_new_from_data((const guint8 *) svg->bytes, svg->length, NULL);
    if (handle == NULL)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be read as a picture");
    status = picture_draw(&library, handle, zoom, &surface, err);
    if (status == CELLAR_OK && library.cairo_surface_write_to_png_stream(
                                   surface, picture_put, output) != CAIRO_STATUS_SUCCESS)
        status =
            cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "a chart could not be written as a picture");
    if (surface != NULL)
        library.cairo_surface_destroy(surface);
    library.g_object_unref(handle);
    return status;
}
