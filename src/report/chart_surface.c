/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A surface as coloured rectangles, and the bar that says what the colours mean. */
#include <math.h>

#include "report/chart.h"
#include "base/markup.h"

/* From dark blue over grey to yellow: lightness increases all the way, so the order survives any
 * colour vision and a black-and-white print. */
static const double surface_anchors[][3] = {{0, 32, 77},     {55, 70, 107},  {110, 110, 115},
                                            {165, 155, 115}, {215, 200, 95}, {255, 234, 70}};
enum { SURFACE_ANCHORS = 6, SURFACE_BAR_STEPS = 40 };

static void surface_colour(cellar_text *out, double share)
{
    const double at = fmin(fmax(share, 0), 1) * (SURFACE_ANCHORS - 1);
    const size_t i = at >= SURFACE_ANCHORS - 1 ? SURFACE_ANCHORS - 2 : (size_t) at;
    int rgb[3];
    for (size_t c = 0; c < 3; c++)
        rgb[c] =
            (int) lround(surface_anchors[i][c] +
                         (at - (double) i) * (surface_anchors[i + 1][c] - surface_anchors[i][c]));
    cellar_text_printf(out, "#%02x%02x%02x", (unsigned) rgb[0], (unsigned) rgb[1],
                       (unsigned) rgb[2]);
}

/* The range of the finite values; 0 to 1 when there is none. */
static void surface_range(const chart_series *series, cellar_scale *range)
{
    double low = NAN, high = NAN;
    for (size_t i = 0; i < series->n * series->n_rows; i++)
        if (isfinite(series->upper[i])) {
            low = fmin(low, series->upper[i]);
            high = fmax(high, series->upper[i]);
        }
    *range = (cellar_scale){.log = 0};
    cellar_scale_fit(range, low, high);
}

/* Where the i-th rectangle begins: half-way between the places of two values, at the ends as far
 * beyond them. */
static double surface_edge(const cellar_scale *scale, const double *values, size_t n, size_t i)
{
    if (i == 0)
        return cellar_scale_place(scale, values[0]);
    if (i == n)
        return cellar_scale_place(scale, values[n - 1]);
    return (cellar_scale_place(scale, values[i - 1]) + cellar_scale_place(scale, values[i])) / 2;
}

static void surface_rectangle(cellar_text *out, double x0, double x1, double y0, double y1,
                              double share)
{
    cellar_text_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"",
                       fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0) + 0.3, fabs(y1 - y0) + 0.3);
    surface_colour(out, share);
    cellar_text_add_string(out, "\"/>");
}

static void surface_draw_bar(const chart_canvas *canvas, const chart_series *series,
                             cellar_scale *range)
{
    const double left = canvas->x.to + 16;
    double ticks[CELLAR_SCALE_MAX_TICKS];
    char label[32];
    range->from = canvas->y.from;
    range->to = canvas->y.to;
    for (int i = 0; i < SURFACE_BAR_STEPS; i++) {
        const double step = (range->to - range->from) / SURFACE_BAR_STEPS;
        surface_rectangle(canvas->out, left, left + 14, range->from + step * i,
                          range->from + step * (i + 1), (i + 0.5) / SURFACE_BAR_STEPS);
    }
    const size_t n = cellar_scale_ticks(range, ticks);
    for (size_t i = 0; i < n; i++) {
        cellar_scale_label(ticks[i], label);
        cellar_text_printf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", left + 20,
                           cellar_scale_place(range, ticks[i]) + 4, label);
    }
    if (series->name == NULL)
        return;
    cellar_text_printf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                       canvas->width - 8, canvas->y.to - 8);
    cellar_markup_add(canvas->out, series->name);
    cellar_text_add_string(canvas->out, "</text>\n");
}

void chart_draw_surface(const chart_canvas *canvas, const chart_series *series)
{
    cellar_scale range;
    surface_range(series, &range);
    cellar_text_add_string(canvas->out, "<g shape-rendering=\"crispEdges\">"); /* no seams */
    for (size_t j = 0; j < series->n_rows; j++)
        for (size_t i = 0; i < series->n; i++) {
            const double value = series->upper[j * series->n + i];
            if (isfinite(value) && cellar_scale_shows(&canvas->x, series->x[i]) &&
                cellar_scale_shows(&canvas->y, series->y[j]))
                surface_rectangle(canvas->out, surface_edge(&canvas->x, series->x, series->n, i),
                                  surface_edge(&canvas->x, series->x, series->n, i + 1),
                                  surface_edge(&canvas->y, series->y, series->n_rows, j),
                                  surface_edge(&canvas->y, series->y, series->n_rows, j + 1),
                                  (value - range.low) / (range.high - range.low));
        }
    surface_draw_bar(canvas, series, &range);
    cellar_text_add_string(canvas->out, "</g>\n");
}
