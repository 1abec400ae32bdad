/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a chart holds, and the pieces of its drawing. */
#ifndef CELLAR_REPORT_CHART_H
#define CELLAR_REPORT_CHART_H

#include <cellar/chart.h>

#include "base/text.h"
#include "report/scale.h"

typedef enum chart_kind {
    CHART_CURVE,
    CHART_STEPS,
    CHART_BARS,
    CHART_POINTS,
    CHART_BAND,
    CHART_BOXES,
    CHART_SURFACE
} chart_kind;

typedef struct chart_series {
    chart_kind kind;
    char *name;     /* NULL: not in the legend */
    size_t n;       /* values along x; boxes; columns of a surface */
    size_t n_rows;  /* of a surface */
    double *x, *y;  /* band: y is its lower edge; surface: y has n_rows values */
    double *upper;  /* band: the upper edge; surface: the n_rows * n values */
    size_t look;    /* which colour, dashes and marker */
    size_t nth_box; /* boxes: how many such series came before */
    cellar_chart_box *boxes;
} chart_series;

struct cellar_chart {
    cellar_chart_options options; /* its texts are copies */
    chart_series *series;
    size_t n_series, capacity;
    char **categories;
    size_t n_categories;
    size_t n_looks, n_box_series;
};

/* The chart laid out: its axes in pixels, ready to be drawn into `out`. */
typedef struct chart_canvas {
    const cellar_chart *chart;
    const char *id; /* prefix of all ids; several charts may share a page */
    cellar_text *out;
    cellar_scale x, y;
    double width, height; /* of everything */
} chart_canvas;

/* Draws one series within the axes (chart_marks.c), and its sample in the legend, a line of
 * 24 pixels from (x, y) on. */
void chart_draw_series(const chart_canvas *canvas, const chart_series *series);
void chart_draw_sample(const chart_canvas *canvas, const chart_series *series, double x, double y);

/* The surface and the bar that explains its colours, right of the axes (chart_surface.c). */
void chart_draw_surface(const chart_canvas *canvas, const chart_series *series);

/* The drawing (chart_svg.c). `id` is NULL for a file of its own, which gets a white ground; within
 * a page the ground and the ink are the page's. */
void cellar_chart_svg(const cellar_chart *chart, const char *id, cellar_text *out);

/* A <figure> for a page: the drawing and, folded away, the numbers behind it (chart_figure.c). */
void cellar_chart_figure(const cellar_chart *chart, const char *id, cellar_text *out);

#endif
