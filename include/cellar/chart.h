/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts a person can look at: curves, steps, bars, bands, points, box plots and heat maps, as SVG
 * or PNG.
 *
 * A chart copies what it is given. It is drawn the same everywhere: no script, no style sheet, no
 * font file. Series differ in colour (a palette that colour-blind readers can tell apart), in
 * dashes and in markers. */
#ifndef CELLAR_CHART_H
#define CELLAR_CHART_H

#include <stddef.h>

#include <cellar/export.h>
#include <cellar/output.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_chart cellar_chart;

typedef struct cellar_chart_axis {
    const char *label;
    int log;          /* 1: logarithmic; what is not positive cannot be shown and is left out [0] */
    double low, high; /* where the axis begins and ends; NAN: chosen from the data */
} cellar_chart_axis;

typedef struct cellar_chart_options {
    const char *title;       /* required */
    const char *description; /* one sentence for readers who cannot see it; required */
    cellar_chart_axis x, y;
    double width, height; /* of the chart without its legend, in pixels [640 by 400] */
    int confidential; /* 1: the chart itself says so, for it was computed from true counts [0] */
} cellar_chart_options;

/* The five numbers of a box plot. `low` and `high` end the whiskers. NAN leaves a box out. */
typedef struct cellar_chart_box {
    double low, quarter, median, three_quarters, high;
} cellar_chart_box;

/* The values in brackets; title and description are required. */
CELLAR_API cellar_chart_options cellar_chart_options_default(void);

/* An empty chart; free it with cellar_chart_free(). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_create(const cellar_chart_options *options,
                                                              cellar_chart **out,
                                                              cellar_error *err);
CELLAR_API void cellar_chart_free(cellar_chart *chart); /* NULL is fine */

/* Each adds one series of `n` values, named in the legend (NULL: not named). Values that are not
 * finite interrupt a curve. `x` increases for curves. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_curve(cellar_chart *chart,
                                                                 const char *name, const double *x,
                                                                 const double *y, size_t n,
                                                                 cellar_error *err);
/* Bars of width 1 around whole numbers: the value y[i] of x[i], as for probabilities. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_bars(cellar_chart *chart,
                                                                const char *name, const double *x,
                                                                const double *y, size_t n,
                                                                cellar_error *err);
/* A step function: y[i] holds on [x[i], x[i + 1]). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_steps(cellar_chart *chart,
                                                                 const char *name, const double *x,
                                                                 const double *y, size_t n,
                                                                 cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_points(cellar_chart *chart,
                                                                  const char *name, const double *x,
                                                                  const double *y, size_t n,
                                                                  cellar_error *err);
/* The area between two curves, in the colour of the series added next. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_band(cellar_chart *chart,
                                                                const char *name, const double *x,
                                                                const double *low,
                                                                const double *high, size_t n,
                                                                cellar_error *err);

/* Names the places 0, 1, ..., n - 1 on the x axis, for boxes. Once, before the boxes. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_set_categories(cellar_chart *chart,
                                                                      const char *const *names,
                                                                      size_t n, cellar_error *err)
    CELLAR_NONNULL(1);
/* One box for each category, in their order; several series stand side by side. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_chart_add_boxes(cellar_chart *chart,
                                                                 const char *name,
                                                                 const cellar_chart_box *boxes,
                                                                 size_t n, cellar_error *err);

/* A surface: values[j * n_x + i] at (x[i], y[j]); both increase. `name` labels the scale of
 * colours. A chart has one surface at most, and nothing else. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_chart_add_surface(cellar_chart *chart, const char *name, const double *x, size_t n_x,
                         const double *y, size_t n_y, const double *values, cellar_error *err);

/* Writes the chart as a file of its own. `options` as for cellar_output_open(). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_chart_write_svg(const cellar_chart *chart, const char *path,
                       const cellar_output_options *options, cellar_error *err);
/* The same as a picture, `zoom` dots a pixel. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_chart_write_png(const cellar_chart *chart, double zoom, const char *path,
                       const cellar_output_options *options, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
