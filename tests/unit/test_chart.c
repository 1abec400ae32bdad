/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail_every.h"
#include "report/chart.h"
#include "base/markup.h"
#include "scratch.h"

/* ---- text ------------------------------------------------------------------ */

static void markup_keeps_text_text(void **state)
{
    (void) state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"plain", "plain"},
        {"a<b & \"c\" > 'd'", "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;"},
        {"</svg><script>", "&lt;/svg&gt;&lt;script&gt;"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\x01\x1b", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xef\xbf\xbf", "\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {NULL, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_text text = {0};
        cellar_text_add_string(&text, "");
        cellar_markup_add(&text, cases[i].in);
        assert_string_equal(text.bytes != NULL ? text.bytes : "", cases[i].want);
        cellar_text_clear(&text);
    }
}

/* ---- axes ------------------------------------------------------------------ */

static void ticks_are_round_and_inside(void **state)
{
    (void) state;
    static const struct {
        int log;
        double low, high;
    } cases[] = {{0, 0, 1},      {0, -3, 17},         {0, 5, 5},
                 {0, 0, 0},      {0, 1e300, 1.7e308}, {0, -1.7e308, 1.7e308},
                 {1, 0.01, 100}, {1, 1e-300, 1},      {1, 2, 3},
                 {0, NAN, NAN},  {1, NAN, NAN},       {0, 1e-9, 1.00001e-9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_scale scale = {.log = cases[i].log, .from = 0, .to = 100};
        double ticks[CELLAR_SCALE_MAX_TICKS];
        char label[32];
        cellar_scale_fit(&scale, cases[i].low, cases[i].high);
        assert_true(scale.low < scale.high);
        if (isfinite(cases[i].low))
            assert_true(scale.low <= cases[i].low && scale.high >= cases[i].high * (1 - 1e-9));
        const size_t n = cellar_scale_ticks(&scale, ticks);
        assert_in_range(n, 2, CELLAR_SCALE_MAX_TICKS);
        for (size_t t = 0; t < n; t++) {
            const double place = cellar_scale_place(&scale, ticks[t]);
            assert_true(place > -0.01 && place < 100.01);
            assert_true(t == 0 || ticks[t] > ticks[t - 1]);
            cellar_scale_label(ticks[t], label);
            assert_true(strlen(label) > 0);
        }
    }
}

static void labels_read_well(void **state)
{
    (void) state;
    static const struct {
        double tick;
        const char *want;
    } cases[] = {{0, "0"},       {0.25, "0.25"}, {2000, "2000"},   {0.001, "0.001"},
                 {1e-6, "10⁻⁶"}, {1e12, "10¹²"}, {-2e9, "-2·10⁹"}, {5e-300, "5·10⁻³⁰⁰"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[32];
        cellar_scale_label(cases[i].tick, label);
        assert_string_equal(label, cases[i].want);
    }
}

/* ---- drawing ---------------------------------------------------------------- */

static cellar_chart_options sample_options(void)
{
    cellar_chart_options options = cellar_chart_options_default();
    options.title = "Risk <b> against epsilon";
    options.description = "Two curves & a band";
    options.x = (cellar_chart_axis){.label = "epsilon", .log = 1, .low = NAN, .high = NAN};
    options.y.label = "risk";
    return options;
}

static cellar_status sample_curves(cellar_chart **out, cellar_error *err)
{
    static const double x[] = {0.01, 0.1, 1, 10}, y[] = {0.1, 0.2, 0.7, 0.9};
    static const double low[] = {0.05, 0.1, 0.6, 0.8}, high[] = {0.2, 0.3, 0.8, 1};
    const cellar_chart_options options = sample_options();
    cellar_status status = cellar_chart_create(&options, out, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_band(*out, "90 %", x, low, high, 4, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_curve(*out, "exact", x, y, 4, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_steps(*out, "as <steps>", x, low, 4, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_points(*out, NULL, x, high, 4, err);
    return status;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

static void curves_are_drawn_and_told(void **state)
{
    (void) state;
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    assert_int_equal(sample_curves(&chart, NULL), CELLAR_OK);
    cellar_chart_figure(chart, "c1", &text);
    assert_false(text.failed);
    assert_int_equal(occurrences(text.bytes, "<svg "), 1);
    assert_int_equal(occurrences(text.bytes, "Risk &lt;b&gt; against epsilon"), 2);
    assert_int_equal(occurrences(text.bytes, "Two curves &amp; a band"), 2);
    assert_int_equal(occurrences(text.bytes, "as &lt;steps&gt;"), 2);
    assert_int_equal(occurrences(text.bytes, "<table>"), 4);
    assert_int_equal(occurrences(text.bytes, "id=\"c1-"), 3);
    assert_null(strstr(text.bytes, "style="));
    assert_null(strstr(text.bytes, "nan"));
    cellar_text_clear(&text);
    cellar_chart_free(chart);
}

/* (0,0) is at the left end of the bottom line, (1,1) at the right end of the top line. */
static void steps_hold_until_the_next_value(void **state)
{
    (void) state;
    cellar_chart_options options = sample_options();
    static const double x[] = {0, 0.5, 1}, y[] = {0, 1, 1};
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    options.x = (cellar_chart_axis){.low = 0, .high = 1};
    options.y = (cellar_chart_axis){.low = 0, .high = 1};
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_OK);
    assert_int_equal(cellar_chart_add_steps(chart, NULL, x, y, 3, NULL), CELLAR_OK);
    cellar_chart_svg(chart, NULL, &text);
    assert_non_null(strstr(text.bytes, "d=\"M72 356L346 356L346 44L620 44\""));
    cellar_text_clear(&text);
    cellar_chart_free(chart);
}

/* The whole numbers stand in the middle of their bars, and in the table of the figure. */
static void bars_stand_around_whole_numbers(void **state)
{
    (void) state;
    cellar_chart_options options = sample_options();
    static const double x[] = {-1, 0}, y[] = {0.25, 1};
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    options.x = (cellar_chart_axis){.low = -1.5, .high = 0.5};
    options.y = (cellar_chart_axis){.low = 0, .high = 1};
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_OK);
    assert_int_equal(cellar_chart_add_bars(chart, NULL, x, y, 2, NULL), CELLAR_OK);
    cellar_chart_figure(chart, "c1", &text);
    assert_non_null(strstr(text.bytes, "d=\"M72 356L72 278L346 278L346 44L620 44L620 356\""));
    assert_non_null(strstr(text.bytes,
                           "<tr><th scope=\"row\">-1</th><td>0.25</td></tr>\n"
                           "<tr><th scope=\"row\">0</th><td>1</td></tr>\n</tbody></table>"));
    cellar_text_clear(&text);
    cellar_chart_free(chart);
}

static void a_long_curve_costs_what_is_seen_of_it(void **state)
{
    (void) state;
    enum { N = 200000 };
    double *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    const cellar_chart_options options = sample_options();
    for (size_t i = 0; i < N; i++) {
        x[i] = 1 + (double) i;
        y[i] = i == 7 ? NAN : (double) i / N;
    }
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_OK);
    assert_int_equal(cellar_chart_add_curve(chart, "long", x, y, N, NULL), CELLAR_OK);
    cellar_chart_figure(chart, "c", &text);
    assert_in_range(text.length, 1000, 200000);
    assert_non_null(strstr(text.bytes, "(200 of 200000 values)"));
    cellar_text_clear(&text);
    cellar_chart_free(chart);
    free(x);
    free(y);
}

static cellar_status sample_boxes(cellar_chart **out, cellar_error *err)
{
    static const char *const names[] = {"laplace", "a rather long name of a mechanism", "poisson"};
    static const cellar_chart_box boxes[] = {
        {0, 1, 2, 3, 9}, {1, 2, 3, 4, 5}, {NAN, NAN, NAN, NAN, NAN}};
    cellar_chart_options options = sample_options();
    options.x = (cellar_chart_axis){.label = "mechanism", .low = NAN, .high = NAN};
    options.confidential = 1;
    cellar_status status = cellar_chart_create(&options, out, err);
    if (status == CELLAR_OK)
        status = cellar_chart_set_categories(*out, names, 3, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_boxes(*out, "first", boxes, 3, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_boxes(*out, "second", boxes, 3, err);
    return status;
}

static void boxes_stand_side_by_side(void **state)
{
    (void) state;
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    assert_int_equal(sample_boxes(&chart, NULL), CELLAR_OK);
    cellar_chart_figure(chart, "b", &text);
    assert_int_equal(occurrences(text.bytes, "stroke-width=\"3\""), 4); /* a median each */
    assert_int_equal(occurrences(text.bytes, ">CONFIDENTIAL<"), 1);
    assert_int_equal(occurrences(text.bytes, "rotate(-35)"), 3);
    cellar_text_clear(&text);
    cellar_chart_free(chart);
}

static cellar_status sample_surface(cellar_chart **out, cellar_error *err)
{
    static const double x[] = {0.1, 1, 10}, y[] = {0, 0.5};
    static const double values[] = {0, 0.5, 1, 0.2, NAN, 1};
    const cellar_chart_options options = sample_options();
    const cellar_status status = cellar_chart_create(&options, out, err);
    return status != CELLAR_OK ? status
                               : cellar_chart_add_surface(*out, "risk", x, 3, y, 2, values, err);
}

static void a_surface_has_a_bar_of_colours(void **state)
{
    (void) state;
    cellar_chart *chart = NULL;
    cellar_text text = {0};
    static const double one[] = {1};
    assert_int_equal(sample_surface(&chart, NULL), CELLAR_OK);
    assert_int_equal(cellar_chart_add_curve(chart, NULL, one, one, 1, NULL), CELLAR_ERR_ARGUMENT);
    cellar_chart_figure(chart, "s", &text);
    assert_int_equal(occurrences(text.bytes, "<rect "), 5 + 40);
    assert_non_null(strstr(text.bytes, "fill=\"#00204d\""));
    assert_non_null(strstr(text.bytes, "fill=\"#ffea46\""));
    cellar_text_clear(&text);
    cellar_chart_free(chart);
}

static void bad_options_are_refused(void **state)
{
    (void) state;
    cellar_chart *chart = NULL;
    cellar_chart_options options = sample_options();
    options.title = NULL;
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_ERR_ARGUMENT);
    options = sample_options();
    options.x.low = 0;
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_ERR_ARGUMENT);
    options = sample_options();
    options.y.low = 2;
    options.y.high = 1;
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_ERR_ARGUMENT);
    options = sample_options();
    options.width = NAN;
    assert_int_equal(cellar_chart_create(&options, &chart, NULL), CELLAR_ERR_ARGUMENT);
    assert_null(chart);
}

/* ---- files ------------------------------------------------------------------- */

static cellar_status (*const samples[])(cellar_chart **, cellar_error *) = {
    sample_curves, sample_boxes, sample_surface};

static void charts_become_files(void **state)
{
    static const char png[] = "\x89PNG\r\n\x1a\n";
    const cellar_output_options replace = {.replace = 1};
    scratch *place = *state;
    for (size_t i = 0; i < 3; i++) {
        cellar_chart *chart = NULL;
        char bytes[8] = "";
        assert_int_equal(samples[i](&chart, NULL), CELLAR_OK);
        const char *path = scratch_path(place, "chart.svg");
        assert_int_equal(cellar_chart_write_svg(chart, path, &replace, NULL), CELLAR_OK);
        path = scratch_path(place, "chart.png");
        assert_int_equal(cellar_chart_write_png(chart, 2, path, &replace, NULL), CELLAR_OK);
        assert_int_equal(cellar_chart_write_png(chart, 2, path, NULL, NULL), CELLAR_ERR_EXISTS);
        assert_int_equal(cellar_chart_write_png(chart, 0, path, &replace, NULL),
                         CELLAR_ERR_ARGUMENT);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fread(bytes, 1, 8, file), 8);
        assert_memory_equal(bytes, png, 8);
        fclose(file);
        assert_int_equal(scratch_mode(place, "chart.png"), 0600);
        cellar_chart_free(chart);
    }
}

static cellar_status draw_all(void *context, cellar_error *err)
{
    const cellar_output_options replace = {.replace = 1};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < 3 && status == CELLAR_OK; i++) {
        cellar_chart *chart = NULL;
        status = samples[i](&chart, err);
        if (status == CELLAR_OK)
            status = cellar_chart_write_svg(chart, context, &replace, err);
        cellar_chart_free(chart);
    }
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path(*state, "chart.svg"));
    check_fail_every(draw_all, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_keeps_text_text),
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(labels_read_well),
        cmocka_unit_test(curves_are_drawn_and_told),
        cmocka_unit_test(steps_hold_until_the_next_value),
        cmocka_unit_test(bars_stand_around_whole_numbers),
        cmocka_unit_test(a_long_curve_costs_what_is_seen_of_it),
        cmocka_unit_test(boxes_stand_side_by_side),
        cmocka_unit_test(a_surface_has_a_bar_of_colours),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test_setup_teardown(charts_become_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end_anywhere, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
