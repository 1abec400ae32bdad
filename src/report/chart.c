/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building a chart: options and series are checked and copied. */
#include "report/chart.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char chart_what[] = "a chart";

cellar_chart_options cellar_chart_options_default(void)
{
    const cellar_chart_axis axis = {.low = NAN, .high = NAN};
    return (cellar_chart_options){.x = axis, .y = axis, .width = 640, .height = 400};
}

/* 0 when memory ends. A NULL text stays NULL. */
static int chart_copy_text(const char *text, char **out)
{
    *out = NULL;
    if (text == NULL)
        return 1;
    const size_t size = strlen(text) + 1;
    *out = cellar_alloc(size, 1);
    if (*out != NULL)
        memcpy(*out, text, size);
    return *out != NULL;
}

static int chart_copy_numbers(const double *values, size_t n, double **out)
{
    *out = cellar_alloc(n, sizeof **out);
    if (*out != NULL && n > 0)
        memcpy(*out, values, n * sizeof *values);
    return *out != NULL;
}

static cellar_status chart_check_axis(const cellar_chart_axis *axis, const char *name,
                                      cellar_error *err)
{
    if (isinf(axis->low) || isinf(axis->high) || axis->low >= axis->high)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the %s axis must begin before it ends", name);
    if (axis->log && (axis->low <= 0 || axis->high <= 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the %s axis is logarithmic: its ends must be positive", name);
    return CELLAR_OK;
}

static cellar_status chart_check(const cellar_chart_options *options, cellar_error *err)
{
    if (options->title == NULL || options->description == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a chart needs a title and a description");
    if (!(options->width >= 200 && options->width <= 10000) ||
        !(options->height >= 150 && options->height <= 10000))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a chart is 200 to 10000 pixels wide and 150 to 10000 high");
    const cellar_status status = chart_check_axis(&options->x, "x", err);
    return status != CELLAR_OK ? status : chart_check_axis(&options->y, "y", err);
}

static int chart_copy_options(cellar_chart_options *to, const cellar_chart_options *from)
{
    char *texts[4] = {NULL};
    *to = *from;
    const int copied =
        chart_copy_text(from->title, &texts[0]) & chart_copy_text(from->description, &texts[1]) &
        chart_copy_text(from->x.label, &texts[2]) & chart_copy_text(from->y.label, &texts[3]);
    to->title = texts[0];
    to->description = texts[1];
    to->x.label = texts[2];
    to->y.label = texts[3];
    return copied;
}

cellar_status cellar_chart_create(const cellar_chart_options *options, cellar_chart **out,
                                  cellar_error *err)
{
    *out = NULL;
    const cellar_status status = chart_check(options, err);
    if (status != CELLAR_OK)
        return status;
    cellar_chart *chart = cellar_alloc(1, sizeof *chart);
    if (chart == NULL)
        return cellar_fail_memory(err, chart_what);
    if (!chart_copy_options(&chart->options, options)) {
        cellar_chart_free(chart);
        return cellar_fail_memory(err, chart_what);
    }
    *out = chart;
    return CELLAR_OK;
}

static void chart_series_clear(chart_series *series)
{
    cellar_free(series->name);
    cellar_free(series->x);
    cellar_free(series->y);
    cellar_free(series->upper);
    cellar_free(series->boxes);
}

void cellar_chart_free(cellar_chart *chart)
{
    if (chart == NULL)
        return;
    for (size_t i = 0; i < chart->n_series; i++)
        chart_series_clear(&chart->series[i]);
    for (size_t i = 0; i < chart->n_categories; i++)
        cellar_free(chart->categories[i]);
    cellar_free(chart->series);
    cellar_free(chart->categories);
    cellar_free((char *) chart->options.title);
    cellar_free((char *) chart->options.description);
    cellar_free((char *) chart->options.x.label);
    cellar_free((char *) chart->options.y.label);
    cellar_free(chart);
}

/* Takes over what `series` owns, which is `whole` or lacks memory. */
static cellar_status chart_take(cellar_chart *chart, chart_series *series, int whole,
                                cellar_error *err)
{
    if (!whole || !cellar_grow(&chart->series, &chart->capacity, chart->n_series + 1,
                               sizeof *chart->series)) {
        chart_series_clear(series);
        return cellar_fail_memory(err, chart_what);
    }
    series->look = chart->n_looks;
    if (series->kind != CHART_BAND) /* a band looks like the series that follows it */
        chart->n_looks++;
    if (series->kind == CHART_BOXES)
        series->nth_box = chart->n_box_series++;
    chart->series[chart->n_series++] = *series;
    return CELLAR_OK;
}

static cellar_status chart_check_mix(const cellar_chart *chart, chart_kind kind, cellar_error *err)
{
    const int surface = chart->n_series > 0 && chart->series[0].kind == CHART_SURFACE;
    if (surface || (kind == CHART_SURFACE && chart->n_series > 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a surface is alone in its chart");
    return CELLAR_OK;
}

static cellar_status chart_add(cellar_chart *chart, chart_kind kind, const char *name,
                               const double *x, const double *y, size_t n, cellar_error *err)
{
    chart_series series = {.kind = kind, .n = n};
    const cellar_status status = chart_check_mix(chart, kind, err);
    if (status != CELLAR_OK)
        return status;
    const int whole = chart_copy_text(name, &series.name) & chart_copy_numbers(x, n, &series.x) &
                      chart_copy_numbers(y, n, &series.y);
    return chart_take(chart, &series, whole, err);
}

cellar_status cellar_chart_add_curve(cellar_chart *chart, const char *name, const double *x,
                                     const double *y, size_t n, cellar_error *err)
{
    return chart_add(chart, CHART_CURVE, name, x, y, n, err);
}

cellar_status cellar_chart_add_steps(cellar_chart *chart, const char *name, const double *x,
                                     const double *y, size_t n, cellar_error *err)
{
    return chart_add(chart, CHART_STEPS, name, x, y, n, err);
}

cellar_status cellar_chart_add_bars(cellar_chart *chart, const char *name, const double *x,
                                    const double *y, size_t n, cellar_error *err)
{
    return chart_add(chart, CHART_BARS, name, x, y, n, err);
}

cellar_status cellar_chart_add_points(cellar_chart *chart, const char *name, const double *x,
                                      const double *y, size_t n, cellar_error *err)
{
    return chart_add(chart, CHART_POINTS, name, x, y, n, err);
}

cellar_status cellar_chart_add_band(cellar_chart *chart, const char *name, const double *x,
                                    const double *low, const double *high, size_t n,
                                    cellar_error *err)
{
    chart_series series = {.kind = CHART_BAND, .n = n};
    const cellar_status status = chart_check_mix(chart, CHART_BAND, err);
    if (status != CELLAR_OK)
        return status;
    const int whole = chart_copy_text(name, &series.name) & chart_copy_numbers(x, n, &series.x) &
                      chart_copy_numbers(low, n, &series.y) &
                      chart_copy_numbers(high, n, &series.upper);
    return chart_take(chart, &series, whole, err);
}

cellar_status cellar_chart_set_categories(cellar_chart *chart, const char *const *names, size_t n,
                                          cellar_error *err)
{
    if (chart->n_categories > 0 || chart->n_box_series > 0 || n == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a chart's categories are named once, before its boxes");
    chart->categories = cellar_alloc(n, sizeof *chart->categories);
    if (chart->categories == NULL)
        return cellar_fail_memory(err, chart_what);
    for (; chart->n_categories < n; chart->n_categories++)
        if (!chart_copy_text(names[chart->n_categories], &chart->categories[chart->n_categories]))
            return cellar_fail_memory(err, chart_what);
    return CELLAR_OK;
}

cellar_status cellar_chart_add_boxes(cellar_chart *chart, const char *name,
                                     const cellar_chart_box *boxes, size_t n, cellar_error *err)
{
    chart_series series = {.kind = CHART_BOXES, .n = n};
    const cellar_status status = chart_check_mix(chart, CHART_BOXES, err);
    if (status != CELLAR_OK)
        return status;
    if (n == 0 || n != chart->n_categories)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a chart of %zu categories needs as many boxes, not %zu",
                           chart->n_categories, n);
    series.boxes = cellar_alloc(n, sizeof *boxes);
    if (series.boxes != NULL)
        memcpy(series.boxes, boxes, n * sizeof *boxes);
    return chart_take(chart, &series, chart_copy_text(name, &series.name) & (series.boxes != NULL),
                      err);
}

cellar_status cellar_chart_add_surface(cellar_chart *chart, const char *name, const double *x,
                                       size_t n_x, const double *y, size_t n_y,
                                       const double *values, cellar_error *err)
{
    chart_series series = {.kind = CHART_SURFACE, .n = n_x, .n_rows = n_y};
    const cellar_status status = chart_check_mix(chart, CHART_SURFACE, err);
    if (status != CELLAR_OK)
        return status;
    if (n_x < 2 || n_y < 2 || n_x > 1000 || n_y > 1000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a surface has 2 to 1000 values a side");
    const int whole = chart_copy_text(name, &series.name) & chart_copy_numbers(x, n_x, &series.x) &
                      chart_copy_numbers(y, n_y, &series.y) &
                      chart_copy_numbers(values, n_x * n_y, &series.upper);
    return chart_take(chart, &series, whole, err);
}
