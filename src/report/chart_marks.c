/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks of one series: curves, steps, bars, bands, points, boxes. */
#include <math.h>
#include <stdio.h>

#include "report/chart.h"

/* Seven colours that people with any colour vision tell apart (after Okabe and Ito), the bright
 * ones darkened to a contrast of 3 : 1 on white and on black. Dashes and markers repeat the
 * distinction without colour. */
static const char *const chart_colours[] = {"#0072b2", "#d55e00", "#009e73", "#b8609a",
                                            "#b07800", "#3b8ec4", "#808080"};
static const char *const chart_dashes[] = {"none", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4"};
enum { CHART_LOOKS = 7, CHART_MARKERS = 4 };

static const char *chart_colour(const chart_series *series)
{
    return chart_colours[series->look % CHART_LOOKS];
}

/* A coordinate, to a tenth of a pixel. */
static void chart_number(cellar_text *out, double value)
{
    char plain[40];
    snprintf(plain, sizeof plain, "%.1f", value + 0.0);
    size_t length = 0;
    while (plain[length] != '\0')
        length++;
    if (length > 2 && plain[length - 1] == '0')
        length -= 2;
    cellar_text_add(out, plain, length);
}

/* A path under way. Points that fall on the pixel of the last one are dropped, so that a curve of
 * a million points costs no more than what can be seen of it. */
typedef struct chart_pen {
    cellar_text *out;
    int down;
    double x, y;
} chart_pen;

static void pen_to(chart_pen *pen, double x, double y)
{
    x = round(x * 10) / 10;
    y = round(y * 10) / 10;
    if (pen->down && x == pen->x && y == pen->y)
        return;
    cellar_text_add_char(pen->out, pen->down ? 'L' : 'M');
    chart_number(pen->out, x);
    cellar_text_add_char(pen->out, ' ');
    chart_number(pen->out, y);
    pen->down = 1;
    pen->x = x;
    pen->y = y;
}

static int chart_shown(const chart_canvas *canvas, double x, double y)
{
    return cellar_scale_shows(&canvas->x, x) && cellar_scale_shows(&canvas->y, y);
}

static void chart_path_begin(const chart_canvas *canvas, const chart_series *series)
{
    cellar_text_printf(canvas->out,
                       "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
                       "stroke-linejoin=\"round\" stroke-dasharray=\"%s\" d=\"",
                       chart_colour(series), chart_dashes[series->look % CHART_LOOKS]);
}

static void chart_draw_path(const chart_canvas *canvas, const chart_series *series)
{
    chart_pen pen = {.out = canvas->out};
    chart_path_begin(canvas, series);
    for (size_t i = 0; i < series->n; i++) {
        if (!chart_shown(canvas, series->x[i], series->y[i])) {
            pen.down = 0;
            continue;
        }
        const double x = cellar_scale_place(&canvas->x, series->x[i]);
        if (series->kind == CHART_STEPS && pen.down)
            pen_to(&pen, x, pen.y);
        pen_to(&pen, x, cellar_scale_place(&canvas->y, series->y[i]));
    }
    cellar_text_add_string(canvas->out, "\"/>\n");
}

/* The outline of the bars: from the ground along their tops and back to it. */
static void chart_draw_bars(const chart_canvas *canvas, const chart_series *series)
{
    chart_pen pen = {.out = canvas->out};
    chart_path_begin(canvas, series);
    for (size_t i = 0; i < series->n; i++) {
        if (!chart_shown(canvas, series->x[i], series->y[i]))
            continue;
        const double left = cellar_scale_place(&canvas->x, series->x[i] - 0.5);
        const double right = cellar_scale_place(&canvas->x, series->x[i] + 0.5);
        const double top = cellar_scale_place(&canvas->y, series->y[i]);
        if (!pen.down)
            pen_to(&pen, left, canvas->y.from);
        pen_to(&pen, left, top);
        pen_to(&pen, right, top);
    }
    if (pen.down)
        pen_to(&pen, pen.x, canvas->y.from);
    cellar_text_add_string(canvas->out, "\"/>\n");
}

/* One unbroken piece of a band, from `first` up to `end`: along its upper edge and back. */
static void chart_draw_area(const chart_canvas *canvas, const chart_series *series, size_t first,
                            size_t end)
{
    chart_pen pen = {.out = canvas->out};
    cellar_text_printf(canvas->out, "<path fill=\"%s\" fill-opacity=\"0.2\" d=\"",
                       chart_colour(series));
    for (size_t i = first; i < end; i++)
        pen_to(&pen, cellar_scale_place(&canvas->x, series->x[i]),
               cellar_scale_place(&canvas->y, series->upper[i]));
    for (size_t i = end; i-- > first;)
        pen_to(&pen, cellar_scale_place(&canvas->x, series->x[i]),
               cellar_scale_place(&canvas->y, series->y[i]));
    cellar_text_add_string(canvas->out, "Z\"/>\n");
}

static void chart_draw_band(const chart_canvas *canvas, const chart_series *series)
{
    size_t first = 0;
    for (size_t i = 0; i <= series->n; i++) {
        if (i < series->n && chart_shown(canvas, series->x[i], series->y[i]) &&
            chart_shown(canvas, series->x[i], series->upper[i]))
            continue;
        if (i > first)
            chart_draw_area(canvas, series, first, i);
        first = i + 1;
    }
}

static void chart_draw_marker(const chart_canvas *canvas, const chart_series *series, double x,
                              double y)
{
    static const char *const shapes[CHART_MARKERS] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
                                                      "m-3 -3h6v6h-6z", "m0 -3.5l3.5 6h-7z",
                                                      "m0 -4l4 4l-4 4l-4 -4z"};
    cellar_text_add_string(canvas->out, "M");
    chart_number(canvas->out, x);
    cellar_text_add_char(canvas->out, ' ');
    chart_number(canvas->out, y);
    cellar_text_add_string(canvas->out, shapes[series->look % CHART_MARKERS]);
}

static void chart_draw_points(const chart_canvas *canvas, const chart_series *series)
{
    cellar_text_printf(canvas->out, "<path fill=\"%s\" fill-opacity=\"0.7\" d=\"",
                       chart_colour(series));
    for (size_t i = 0; i < series->n; i++)
        if (chart_shown(canvas, series->x[i], series->y[i]))
            chart_draw_marker(canvas, series, cellar_scale_place(&canvas->x, series->x[i]),
                              cellar_scale_place(&canvas->y, series->y[i]));
    cellar_text_add_string(canvas->out, "\"/>\n");
}

/* A box with its whiskers; the median is a thick line across. */
static void chart_draw_box(const chart_canvas *canvas, const chart_series *series,
                           const cellar_chart_box *box, double centre, double half)
{
    const double values[5] = {box->low, box->quarter, box->median, box->three_quarters, box->high};
    double at[5];
    for (size_t i = 0; i < 5; i++) {
        if (!cellar_scale_shows(&canvas->y, values[i]) && !(canvas->y.log && values[i] <= 0))
            return;
        /* what is not positive lies below a logarithmic axis */
        at[i] = cellar_scale_shows(&canvas->y, values[i])
                    ? cellar_scale_place(&canvas->y, values[i])
                    : canvas->y.from;
    }
    cellar_text_printf(canvas->out,
                       "<path fill=\"%s\" fill-opacity=\"0.25\" stroke=\"%s\" "
                       "d=\"M%.1f %.1fV%.1fM%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f %.1fH%.1f"
                       "M%.1f %.1fH%.1fV%.1fH%.1fZ\"/>",
                       chart_colour(series), chart_colour(series), centre, at[0], at[1], centre,
                       at[3], at[4], centre - half / 2, at[0], centre + half / 2, centre - half / 2,
                       at[4], centre + half / 2, centre - half, at[3], centre + half, at[1],
                       centre - half);
    cellar_text_printf(canvas->out,
                       "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%.1f %.1fH%.1f\"/>\n",
                       chart_colour(series), centre - half, at[2], centre + half);
}

static void chart_draw_boxes(const chart_canvas *canvas, const chart_series *series)
{
    const double slot = fabs(canvas->x.to - canvas->x.from) / (double) canvas->chart->n_categories;
    const double share = slot * 0.8 / (double) canvas->chart->n_box_series;
    for (size_t i = 0; i < series->n; i++) {
        const double left = canvas->x.from + slot * ((double) i + 0.1);
        chart_draw_box(canvas, series, &series->boxes[i],
                       left + share * ((double) series->nth_box + 0.5), fmin(share * 0.4, 24));
    }
}

void chart_draw_series(const chart_canvas *canvas, const chart_series *series)
{
    switch (series->kind) {
    case CHART_CURVE:
    case CHART_STEPS:
        chart_draw_path(canvas, series);
        break;
    case CHART_BARS:
        chart_draw_bars(canvas, series);
        break;
    case CHART_BAND:
        chart_draw_band(canvas, series);
        break;
    case CHART_POINTS:
        chart_draw_points(canvas, series);
        break;
    case CHART_BOXES:
        chart_draw_boxes(canvas, series);
        break;
    case CHART_SURFACE:
        chart_draw_surface(canvas, series);
        break;
    }
}

void chart_draw_sample(const chart_canvas *canvas, const chart_series *series, double x, double y)
{
    const char *colour = chart_colour(series);
    if (series->kind == CHART_BAND || series->kind == CHART_BOXES) {
        cellar_text_printf(canvas->out,
                           "<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"10\" fill=\"%s\" "
                           "fill-opacity=\"0.25\" stroke=\"%s\"/>",
                           x, y - 5, colour, series->kind == CHART_BAND ? "none" : colour);
    } else if (series->kind == CHART_POINTS) {
        cellar_text_printf(canvas->out, "<path fill=\"%s\" d=\"", colour);
        chart_draw_marker(canvas, series, x + 12, y);
        cellar_text_add_string(canvas->out, "\"/>");
    } else {
        cellar_text_printf(canvas->out,
                           "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" "
                           "d=\"M%.1f %.1fh24\"/>",
                           colour, chart_dashes[series->look % CHART_LOOKS], x, y);
    }
}
