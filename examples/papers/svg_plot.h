/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plain line plot for the example programs: both axes from 0 to 1, or the horizontal one
 * logarithmic. */
#ifndef EXAMPLES_SVG_PLOT_H
#define EXAMPLES_SVG_PLOT_H

#include <math.h>
#include <stddef.h>

#include <cellar/output.h>

typedef struct svg_plot {
    cellar_output *output; /* NULL: nothing is drawn */
    double left, right;    /* of the horizontal axis */
    int is_log;
} svg_plot;

enum { SVG_WIDTH = 480, SVG_HEIGHT = 320, SVG_MARGIN = 48 };

static inline double svg_x(const svg_plot *plot, double x)
{
    double share = plot->is_log ? log(x / plot->left) / log(plot->right / plot->left)
                                : (x - plot->left) / (plot->right - plot->left);
    return SVG_MARGIN + fmin(1, fmax(0, share)) * (SVG_WIDTH - 2 * SVG_MARGIN);
}

static inline double svg_y(double y)
{
    return SVG_HEIGHT - SVG_MARGIN - fmin(1, fmax(0, y)) * (SVG_HEIGHT - 2 * SVG_MARGIN);
}

static inline void svg_begin(const svg_plot *plot, const char *title, const char *horizontal)
{
    if (plot->output == NULL)
        return;
    cellar_output_printf(plot->output,
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                         "font-family=\"sans-serif\" font-size=\"11\">\n"
                         "<text x=\"%d\" y=\"20\">%s</text>\n"
                         "<text x=\"%d\" y=\"%d\">%s</text>\n"
                         "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
                         "stroke=\"#999\"/>\n",
                         SVG_WIDTH, SVG_HEIGHT, SVG_MARGIN, title, SVG_MARGIN, SVG_HEIGHT - 8,
                         horizontal, SVG_MARGIN, SVG_MARGIN, SVG_WIDTH - 2 * SVG_MARGIN,
                         SVG_HEIGHT - 2 * SVG_MARGIN);
    for (int i = 0; i <= 4; i++) {
        double y = i / 4.0, x = plot->is_log ? plot->left * pow(plot->right / plot->left, y)
                                             : plot->left + y * (plot->right - plot->left);
        cellar_output_printf(plot->output,
                             "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n"
                             "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.2g</text>\n",
                             SVG_MARGIN - 6, svg_y(y) + 4, y, svg_x(plot, x),
                             SVG_HEIGHT - SVG_MARGIN + 16, x);
    }
}

static inline void svg_line(const svg_plot *plot, const double *x, const double *y, size_t n,
                            const char *colour, const char *label, int place)
{
    if (plot->output == NULL)
        return;
    cellar_output_printf(plot->output, "<polyline fill=\"none\" stroke=\"%s\" points=\"", colour);
    for (size_t i = 0; i < n; i++)
        cellar_output_printf(plot->output, "%.2f,%.2f ", svg_x(plot, x[i]), svg_y(y[i]));
    cellar_output_printf(plot->output, "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n",
                         SVG_MARGIN + 8, SVG_MARGIN + 16 + 14 * place, colour, label);
}

static inline void svg_end(const svg_plot *plot)
{
    if (plot->output != NULL)
        cellar_output_string(plot->output, "</svg>\n");
}

#endif
