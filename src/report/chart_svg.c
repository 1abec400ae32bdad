/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lays a chart out and draws it: title, legend, axes, then the series. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/chart.h"
#include "base/markup.h"

/* Letters are measured by a rule of thumb, since no font is at hand: sans-serif letters of 12
 * pixels are 6.6 wide on average. */
static const double letter_width = 6.6, title_letter_width = 8.4, line_height = 18;

enum { CHART_LEFT = 72, CHART_RIGHT = 20, CHART_BOTTOM = 48, CHART_BAR = 84 };

static double chart_text_width(const char *text)
{
    size_t letters = 0;
    for (; text != NULL && *text != '\0'; text++)
        letters +=
            ((unsigned char) *text & 0xc0) != 0x80; /* UTF-8's further bytes are no letters */
    return letter_width * (double) letters;
}

/* ---- which values the axes must show ------------------------------------------ */

static void range_take(const cellar_scale *scale, double value, double *low, double *high)
{
    if (!cellar_scale_shows(scale, value))
        return;
    *low = fmin(*low, value); /* fmin and fmax ignore the NAN they begin with */
    *high = fmax(*high, value);
}

static void range_take_all(const cellar_scale *scale, const double *values, size_t n, double *low,
                           double *high)
{
    for (size_t i = 0; values != NULL && i < n; i++)
        range_take(scale, values[i], low, high);
}

static void range_take_boxes(const cellar_scale *scale, const chart_series *series, double *low,
                             double *high)
{
    for (size_t i = 0; i < series->n; i++) {
        range_take(scale, series->boxes[i].low, low, high);
        range_take(scale, series->boxes[i].median, low, high); /* a log axis may not show `low` */
        range_take(scale, series->boxes[i].high, low, high);
    }
}

/* Bars reach half a unit to either side of their numbers. */
static void range_take_halves(const cellar_scale *scale, const chart_series *series, double *low,
                              double *high)
{
    for (size_t i = 0; i < series->n; i++) {
        range_take(scale, series->x[i] - 0.5, low, high);
        range_take(scale, series->x[i] + 0.5, low, high);
    }
}

static int chart_is_surface(const cellar_chart *chart)
{
    return chart->n_series > 0 && chart->series[0].kind == CHART_SURFACE;
}

static void chart_fit(cellar_scale *scale, const cellar_chart *chart, const cellar_chart_axis *axis,
                      int is_x)
{
    double low = NAN, high = NAN;
    scale->log = axis->log;
    for (size_t i = 0; i < chart->n_series; i++) {
        const chart_series *series = &chart->series[i];
        const size_t n = series->kind == CHART_SURFACE && !is_x ? series->n_rows : series->n;
        if (series->kind == CHART_BOXES && !is_x)
            range_take_boxes(scale, series, &low, &high);
        range_take_all(scale, is_x ? series->x : series->y, n, &low, &high);
        if (series->kind == CHART_BARS && is_x)
            range_take_halves(scale, series, &low, &high);
        if (series->kind == CHART_BAND && !is_x)
            range_take_all(scale, series->upper, n, &low, &high);
    }
    cellar_scale_fit(scale, low, high);
    if (chart_is_surface(chart) && low < high) { /* the surface fills its axes */
        scale->low = low;
        scale->high = high;
    }
    if (isfinite(axis->low) && (axis->low < scale->high || isfinite(axis->high)))
        scale->low = axis->low;
    if (isfinite(axis->high) && axis->high > scale->low)
        scale->high = axis->high;
}

/* ---- title and legend ----------------------------------------------------------- */

/* Draws the title in as many lines as it needs, broken at blanks; answers where the next thing
 * begins. */
static double chart_draw_title(const chart_canvas *canvas)
{
    const char *rest = canvas->chart->options.title;
    const size_t room = (size_t) ((canvas->width - 24) / title_letter_width);
    cellar_text line = {0};
    double y = 24;
    while (*rest != '\0') {
        size_t length = strlen(rest);
        if (length > room) {
            size_t blank = room;
            while (blank > 0 && rest[blank] != ' ')
                blank--;
            length = blank > 0 ? blank : strcspn(rest, " ");
        }
        cellar_text_reset(&line);
        cellar_text_add(&line, rest, length);
        cellar_text_printf(canvas->out,
                           "<text x=\"12\" y=\"%.1f\" font-size=\"15\" font-weight=\"bold\">", y);
        cellar_markup_add(canvas->out, line.bytes);
        cellar_text_add_string(canvas->out, "</text>\n");
        y += 20;
        rest += length;
        while (*rest == ' ')
            rest++;
    }
    canvas->out->failed |= line.failed;
    cellar_text_clear(&line);
    return y;
}

/* The legend, in rows from y on; `draw` 0 only measures. Answers where the next thing begins. */
static double chart_draw_legend(const chart_canvas *canvas, double y, int draw)
{
    const cellar_chart *chart = canvas->chart;
    double x = 12;
    int any = 0;
    if (chart_is_surface(chart))
        return y + line_height; /* room for the name of the colours */
    for (size_t i = 0; i < chart->n_series; i++) {
        const chart_series *series = &chart->series[i];
        if (series->name == NULL)
            continue;
        const double width = 30 + chart_text_width(series->name) + 18;
        if (x > 12 && x + width > canvas->width) {
            x = 12;
            y += line_height;
        }
        if (draw) {
            chart_draw_sample(canvas, series, x, y);
            cellar_text_printf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 30, y + 4);
            cellar_markup_add(canvas->out, series->name);
            cellar_text_add_string(canvas->out, "</text>\n");
        }
        x += width;
        any = 1;
    }
    return any ? y + line_height : y;
}

/* ---- axes ------------------------------------------------------------------------- */

static void chart_draw_grid_line(const chart_canvas *canvas, double x0, double y0, double x1,
                                 double y1)
{
    cellar_text_printf(canvas->out,
                       "<path stroke=\"currentColor\" stroke-opacity=\"0.15\" "
                       "d=\"M%.1f %.1fL%.1f %.1f\"/>",
                       x0, y0, x1, y1);
}

static void chart_draw_y_ticks(const chart_canvas *canvas)
{
    double ticks[CELLAR_SCALE_MAX_TICKS];
    const size_t n = cellar_scale_ticks(&canvas->y, ticks);
    for (size_t i = 0; i < n; i++) {
        const double y = cellar_scale_place(&canvas->y, ticks[i]);
        char label[32];
        cellar_scale_label(ticks[i], label);
        chart_draw_grid_line(canvas, canvas->x.from, y, canvas->x.to, y);
        cellar_text_printf(canvas->out,
                           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                           canvas->x.from - 6, y + 4, label);
    }
}

static void chart_draw_x_ticks(const chart_canvas *canvas)
{
    double ticks[CELLAR_SCALE_MAX_TICKS];
    const size_t n = cellar_scale_ticks(&canvas->x, ticks);
    for (size_t i = 0; i < n; i++) {
        const double x = cellar_scale_place(&canvas->x, ticks[i]);
        char label[32];
        cellar_scale_label(ticks[i], label);
        chart_draw_grid_line(canvas, x, canvas->y.from, x, canvas->y.to);
        cellar_text_printf(canvas->out,
                           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
                           canvas->y.from + 18, label);
    }
}

/* How much room names of categories need below the axis: a line, or more when they must slant. */
static double chart_category_room(const cellar_chart *chart, double slot, int *slanted)
{
    double longest = 0;
    for (size_t i = 0; i < chart->n_categories; i++)
        longest = fmax(longest, chart_text_width(chart->categories[i]));
    *slanted = longest > slot - 4;
    return *slanted ? fmin(longest * 0.6, 120) : 0;
}

static void chart_draw_categories(const chart_canvas *canvas)
{
    const cellar_chart *chart = canvas->chart;
    const double slot = (canvas->x.to - canvas->x.from) / (double) chart->n_categories;
    int slanted;
    chart_category_room(chart, slot, &slanted);
    for (size_t i = 0; i < chart->n_categories; i++) {
        const double x = canvas->x.from + slot * ((double) i + 0.5), y = canvas->y.from + 18;
        if (slanted)
            cellar_text_printf(canvas->out,
                               "<text transform=\"translate(%.1f %.1f) rotate(-35)\" "
                               "text-anchor=\"end\">",
                               x + 4, y - 6);
        else
            cellar_text_printf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                               x, y);
        cellar_markup_add(canvas->out, chart->categories[i]);
        cellar_text_add_string(canvas->out, "</text>\n");
    }
}

static void chart_draw_labels(const chart_canvas *canvas)
{
    const cellar_chart_options *options = &canvas->chart->options;
    cellar_text_printf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                       (canvas->x.from + canvas->x.to) / 2, canvas->height - 10);
    cellar_markup_add(canvas->out, options->x.label);
    cellar_text_printf(canvas->out,
                       "</text>\n<text transform=\"translate(16 %.1f) rotate(-90)\" "
                       "text-anchor=\"middle\">",
                       (canvas->y.from + canvas->y.to) / 2);
    cellar_markup_add(canvas->out, options->y.label);
    cellar_text_add_string(canvas->out, "</text>\n");
    if (options->confidential)
        cellar_text_printf(canvas->out,
                           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"10\" "
                           "font-weight=\"bold\" fill=\"#8a2f00\">CONFIDENTIAL</text>\n",
                           canvas->width - 8, canvas->height - 10);
}

static void chart_draw_axes(const chart_canvas *canvas)
{
    chart_draw_y_ticks(canvas);
    if (canvas->chart->n_categories > 0)
        chart_draw_categories(canvas);
    else
        chart_draw_x_ticks(canvas);
    cellar_text_printf(canvas->out,
                       "<path fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.6\" "
                       "d=\"M%.1f %.1fV%.1fH%.1f\"/>\n",
                       canvas->x.from, canvas->y.to, canvas->y.from, canvas->x.to);
    chart_draw_labels(canvas);
}

/* ---- the whole --------------------------------------------------------------------- */

static void chart_draw_all_series(const chart_canvas *canvas)
{
    const cellar_chart *chart = canvas->chart;
    if (chart_is_surface(chart)) { /* its bar of colours lies outside the axes */
        chart_draw_series(canvas, &chart->series[0]);
        return;
    }
    cellar_text_printf(canvas->out,
                       "<clipPath id=\"%s-clip\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                       "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#%s-clip)\">\n",
                       canvas->id, canvas->x.from, canvas->y.to - 3,
                       canvas->x.to - canvas->x.from + 3, canvas->y.from - canvas->y.to + 6,
                       canvas->id);
    for (size_t i = 0; i < chart->n_series; i++)
        chart_draw_series(canvas, &chart->series[i]);
    cellar_text_add_string(canvas->out, "</g>\n");
}

static void chart_open(const chart_canvas *canvas, int own_file)
{
    cellar_text *out = canvas->out;
    cellar_text_add_string(out, own_file ? "<svg xmlns=\"http://www.w3.org/2000/svg\"" : "<svg");
    cellar_text_printf(out,
                       " viewBox=\"0 0 %.0f %.0f\" "
                       "width=\"%.0f\" height=\"%.0f\" role=\"img\" "
                       "aria-labelledby=\"%s-title %s-description\" font-family=\"sans-serif\" "
                       "font-size=\"12\" fill=\"currentColor\" color=\"#222\">\n"
                       "<title id=\"%s-title\">",
                       canvas->width, canvas->height, canvas->width, canvas->height, canvas->id,
                       canvas->id, canvas->id);
    cellar_markup_add(out, canvas->chart->options.title);
    cellar_text_printf(out, "</title>\n<desc id=\"%s-description\">", canvas->id);
    cellar_markup_add(out, canvas->chart->options.description);
    cellar_text_add_string(out, "</desc>\n");
    if (own_file)
        cellar_text_printf(out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
                           canvas->width, canvas->height);
}

/* Title and legend are measured first by drawing them aside, since what they need decides where
 * the axes stand. */
static double chart_head_height(const chart_canvas *canvas)
{
    cellar_text aside = {0};
    chart_canvas measure = *canvas;
    measure.out = &aside;
    const double below_title = chart_draw_title(&measure);
    canvas->out->failed |= aside.failed;
    cellar_text_clear(&aside);
    return chart_draw_legend(&measure, below_title, 0);
}

void cellar_chart_svg(const cellar_chart *chart, const char *id, cellar_text *out)
{
    chart_canvas canvas = {.chart = chart, .id = id != NULL ? id : "chart", .out = out};
    int slanted;
    canvas.width = chart->options.width;
    chart_fit(&canvas.x, chart, &chart->options.x, 1);
    chart_fit(&canvas.y, chart, &chart->options.y, 0);
    canvas.x.from = CHART_LEFT;
    canvas.x.to = canvas.width - (chart_is_surface(chart) ? CHART_BAR : CHART_RIGHT);
    const double slot = (canvas.x.to - canvas.x.from) / fmax((double) chart->n_categories, 1);
    canvas.y.to = chart_head_height(&canvas);
    canvas.y.from = canvas.y.to + chart->options.height - CHART_BOTTOM - 40;
    canvas.height = canvas.y.from + CHART_BOTTOM + chart_category_room(chart, slot, &slanted);

    chart_open(&canvas, id == NULL);
    chart_draw_legend(&canvas, chart_draw_title(&canvas), 1);
    chart_draw_axes(&canvas);
    chart_draw_all_series(&canvas);
    cellar_text_add_string(out, "</svg>\n");
}
