/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart on a page, with the numbers behind it for readers who want them or cannot see it. */
#include "report/chart.h"
#include "base/markup.h"

enum { FIGURE_MAX_ROWS = 200 }; /* of one series; a curve of more is thinned out evenly */

static void figure_number(cellar_text *out, double value)
{
    cellar_text_printf(out, "<td>%.6g</td>", value);
}

static size_t figure_shown(size_t n)
{
    return n < FIGURE_MAX_ROWS ? n : FIGURE_MAX_ROWS;
}

/* The row to show as the i-th of `shown`, the first and the last included. */
static size_t figure_row(size_t i, size_t shown, size_t n)
{
    return shown < n ? i * (n - 1) / (shown - 1) : i;
}

static void figure_heading(cellar_text *out, const char *text)
{
    cellar_text_add_string(out, "<th scope=\"col\">");
    cellar_markup_add(out, text != NULL && *text != '\0' ? text : "value");
    cellar_text_add_string(out, "</th>");
}

static void figure_caption(cellar_text *out, const chart_series *series, size_t n)
{
    cellar_text_add_string(out, "<caption>");
    cellar_markup_add(out, series->name != NULL ? series->name : "values");
    if (figure_shown(n) < n)
        cellar_text_printf(out, " (%zu of %zu values)", figure_shown(n), n);
    cellar_text_add_string(out, "</caption>\n<tbody>\n");
}

static void figure_curve(const cellar_chart *chart, const chart_series *series, cellar_text *out)
{
    const size_t shown = figure_shown(series->n);
    cellar_text_add_string(out, "<tr>");
    figure_heading(out, chart->options.x.label);
    figure_heading(out, series->kind == CHART_BAND ? "from" : chart->options.y.label);
    if (series->kind == CHART_BAND)
        figure_heading(out, "to");
    cellar_text_add_string(out, "</tr>\n");
    for (size_t i = 0; i < shown; i++) {
        const size_t row = figure_row(i, shown, series->n);
        cellar_text_printf(out, "<tr><th scope=\"row\">%.6g</th>", series->x[row]);
        figure_number(out, series->y[row]);
        if (series->kind == CHART_BAND)
            figure_number(out, series->upper[row]);
        cellar_text_add_string(out, "</tr>\n");
    }
}

static void figure_boxes(const cellar_chart *chart, const chart_series *series, cellar_text *out)
{
    cellar_text_add_string(out, "<tr>");
    figure_heading(out, chart->options.x.label);
    cellar_text_add_string(out, "<th scope=\"col\">low</th><th scope=\"col\">quarter</th>"
                                "<th scope=\"col\">median</th><th scope=\"col\">three quarters</th>"
                                "<th scope=\"col\">high</th></tr>\n");
    for (size_t i = 0; i < series->n; i++) {
        const cellar_chart_box *box = &series->boxes[i];
        cellar_text_add_string(out, "<tr><th scope=\"row\">");
        cellar_markup_add(out, chart->categories[i]);
        cellar_text_add_string(out, "</th>");
        figure_number(out, box->low);
        figure_number(out, box->quarter);
        figure_number(out, box->median);
        figure_number(out, box->three_quarters);
        figure_number(out, box->high);
        cellar_text_add_string(out, "</tr>\n");
    }
}

/* At most 20 columns and 200 rows of the surface, evenly chosen. */
static void figure_surface(const chart_series *series, cellar_text *out)
{
    const size_t columns = series->n < 20 ? series->n : 20;
    const size_t rows = figure_shown(series->n_rows);
    cellar_text_add_string(out, "<tr><td></td>");
    for (size_t i = 0; i < columns; i++)
        cellar_text_printf(out, "<th scope=\"col\">%.6g</th>",
                           series->x[figure_row(i, columns, series->n)]);
    cellar_text_add_string(out, "</tr>\n");
    for (size_t j = 0; j < rows; j++) {
        const size_t row = figure_row(j, rows, series->n_rows);
        cellar_text_printf(out, "<tr><th scope=\"row\">%.6g</th>", series->y[row]);
        for (size_t i = 0; i < columns; i++)
            figure_number(out, series->upper[row * series->n + figure_row(i, columns, series->n)]);
        cellar_text_add_string(out, "</tr>\n");
    }
}

void cellar_chart_figure(const cellar_chart *chart, const char *id, cellar_text *out)
{
    cellar_text_add_string(out, "<figure>\n");
    cellar_chart_svg(chart, id, out);
    cellar_text_add_string(out, "<details><summary>The numbers</summary>\n");
    for (size_t i = 0; i < chart->n_series; i++) {
        const chart_series *series = &chart->series[i];
        cellar_text_add_string(out, "<table>");
        figure_caption(out, series, series->kind == CHART_SURFACE ? series->n_rows : series->n);
        if (series->kind == CHART_SURFACE)
            figure_surface(series, out);
        else if (series->kind == CHART_BOXES)
            figure_boxes(chart, series, out);
        else
            figure_curve(chart, series, out);
        cellar_text_add_string(out, "</tbody></table>\n");
    }
    cellar_text_add_string(out, "</details>\n<figcaption>");
    cellar_markup_add(out, chart->options.description);
    cellar_text_add_string(out, "</figcaption>\n</figure>\n");
}
