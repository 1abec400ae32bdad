/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise that every number carries: its law, its standard deviation, and how wide a 95 %
 * interval is for a cell and for a sum of cells. All of it follows from the mechanism alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <cellar/interval.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"
#include "report/report.h"

enum { NOISE_MAX_SPAN = 401, NOISE_N_SUMS = 10 };

typedef struct noise_run {
    cellar_page *page;
    const cellar_section_noise_of *of;
    cellar_mechanism *mechanism;
} noise_run;

int cellar_section_has_law(const char *mechanism)
{
    return strstr(mechanism, "file=") == NULL && strncmp(mechanism, "multinomial-", 12) != 0 &&
           strncmp(mechanism, "cell-key", 8) != 0;
}

static int noise_adds_up(const noise_run *run)
{
    return run->mechanism->ops->is_additive && run->of->negatives != CELLAR_NEGATIVES_ZERO &&
           run->of->threshold == 0;
}

/* ---- intervals, by the module that makes them for analysts -------------------------- */

/* The 95 % interval of the sum of `n` cells that were released as `released` each. */
static cellar_status noise_interval(const noise_run *run, size_t n, int64_t released,
                                    cellar_interval *out, cellar_error *err)
{
    const cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy_spec spec = {.n_levels = &n,
                              .n_variables = 1,
                              .mechanism = run->of->mechanism,
                              .negatives = run->of->negatives,
                              .threshold = run->of->threshold};
    cellar_noisy *noisy = NULL;
    cellar_cell_set *set = NULL;
    cellar_status status = CELLAR_OK;
    int64_t *numbers = cellar_alloc(n, sizeof *numbers);
    if (numbers == NULL)
        return cellar_fail_memory(err, "an interval");
    for (size_t i = 0; i < n; i++)
        numbers[i] = released;
    spec.released = numbers;
    CELLAR_TRY(cellar_noisy_create(&spec, &noisy, err));
    CELLAR_TRY(cellar_cell_set_parse(noisy, "", &set, err));
    CELLAR_TRY(cellar_interval_run(noisy, set, CELLAR_COMPARE_NONE, NULL, &options, out, err));
out:
    cellar_cell_set_free(set);
    cellar_noisy_free(noisy);
    cellar_free(numbers);
    return status;
}

cellar_status cellar_section_interval(const cellar_section_noise_of *noise, int64_t released,
                                      cellar_interval *out, cellar_error *err)
{
    const noise_run run = {NULL, noise, NULL};
    return noise_interval(&run, 1, released, out, err);
}

/* ---- the law ------------------------------------------------------------------------ */

/* P(released | count) of one count, as a chart. */
static cellar_status noise_law_chart(noise_run *run, int64_t count, cellar_error *err)
{
    double x[NOISE_MAX_SPAN], y[NOISE_MAX_SPAN];
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text name = {0};
    cellar_status status = CELLAR_OK;
    int64_t low, high;
    const int adds = noise_adds_up(run);
    cellar_mechanism_support(run->mechanism, count, 1e-4, &low, &high);
    if (run->of->negatives == CELLAR_NEGATIVES_ZERO && low < 0)
        low = 0;
    if (high - low < 1 || high - low >= NOISE_MAX_SPAN)
        return CELLAR_OK; /* nothing to see */
    const size_t n = (size_t) (high - low) + 1;
    for (size_t i = 0; i < n; i++) {
        const int64_t released = low + (int64_t) i;
        x[i] = (double) (adds ? released - count : released);
        y[i] = cellar_mechanism_released_pmf(run->mechanism, count, released, run->of->negatives);
    }
    options.title = adds ? "Differences between released value and true count"
                         : "What is released for a count of 10";
    options.description = adds ? "The probability of every difference between a released value and "
                                 "the true count. This distribution is the same for all cells."
                               : "The probability of every released value when the true count is "
                                 "10. Other counts have other distributions.";
    options.x.label = adds ? "released value minus true count" : "released value";
    options.y.label = "probability";
    options.y.low = 0;
    options.height = 300;
    cellar_text_printf(&name, "%s-distribution", run->of->id);
    if (name.failed)
        status = cellar_fail_memory(err, "a chart");
    if (status == CELLAR_OK)
        status = cellar_page_chart_create(run->page, &options, &chart, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_bars(chart, NULL, x, y, n, err);
    if (status == CELLAR_OK)
        status = cellar_page_chart(run->page, name.bytes, chart, err);
    cellar_chart_free(chart);
    cellar_text_clear(&name);
    return status;
}

/* ---- single cells --------------------------------------------------------------------- */

/* Of the numbers that a reader may find in a cell, the interval each stands for. */
static cellar_status noise_cells(noise_run *run, cellar_error *err)
{
    static const char *const headings[] = {"#a cell says", "#95 % interval of its true count",
                                           "#standard deviation of the noise there", NULL};
    static const int64_t numbers[] = {0, 1, 2, 5, 10, 20, 50, 100};
    cellar_status status = CELLAR_OK;
    int any = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == CELLAR_OK; i++) {
        cellar_interval interval;
        cellar_moments moments;
        status = noise_interval(run, 1, numbers[i], &interval, err);
        if (status != CELLAR_OK && cellar_page_is_answer(status)) {
            status = CELLAR_OK; /* a number that cannot be released */
            continue;
        }
        if (status != CELLAR_OK)
            break;
        cellar_mechanism_moments(run->mechanism, numbers[i], run->of->negatives, &moments);
        if (!any)
            cellar_page_table_begin(run->page, "What a single released value shows", headings);
        any = 1;
        cellar_page_row_number(run->page, "%" PRId64, numbers[i]);
        cellar_page_number(run->page, "%.0f to %.0f", interval.low, interval.high);
        cellar_page_number(run->page, "%.4g", sqrt(moments.variance));
        cellar_page_row_end(run->page);
    }
    if (any)
        cellar_page_table_end(run->page);
    return status;
}

/* ---- sums of cells -------------------------------------------------------------------- */

typedef struct noise_sums {
    double cells[NOISE_N_SUMS], sd[NOISE_N_SUMS], half[NOISE_N_SUMS];
    size_t n, n_exact; /* the widths beyond are those of a normal law with the same sd */
} noise_sums;

/* Sums of much noise are convolved no further than this: their law is normal to the eye. */
static const double noise_max_spread = 2000;

static cellar_status noise_sums_take(const noise_run *run, noise_sums *sums, cellar_error *err)
{
    static const size_t cells[NOISE_N_SUMS] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
    cellar_moments moments;
    cellar_status status = CELLAR_OK;
    cellar_mechanism_moments(run->mechanism, 0, CELLAR_NEGATIVES_KEEP, &moments);
    for (; sums->n < NOISE_N_SUMS; sums->n++) {
        const size_t i = sums->n, n = cells[i];
        cellar_interval interval;
        sums->cells[i] = (double) n;
        sums->sd[i] = sqrt((double) n * moments.variance);
        sums->half[i] = ceil(1.959964 * sums->sd[i]);
        if (i > 3 && sqrt(moments.variance) * (double) n > noise_max_spread)
            continue;
        /* far from zero, where no end of the interval is cut off */
        status = noise_interval(run, n, INT64_C(1) << 40, &interval, err);
        if (status != CELLAR_OK)
            break;
        sums->half[i] = (interval.high - interval.low) / 2;
        sums->n_exact = i + 1;
    }
    return status != CELLAR_OK && cellar_page_is_answer(status) ? CELLAR_OK : status;
}

static cellar_status noise_sums_chart(noise_run *run, const noise_sums *sums, cellar_error *err)
{
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text name = {0};
    cellar_status status = CELLAR_OK;
    options.title = "What adding up cells does to the noise";
    options.description = "Noise that is drawn for each cell on its own grows with the square "
                          "root of the number of cells added up: the standard deviation of a total "
                          "of a hundred cells is ten times that of one cell.";
    options.x = (cellar_chart_axis){"cells added up", 1, NAN, NAN};
    options.y = (cellar_chart_axis){"number", 1, NAN, NAN};
    options.height = 320;
    cellar_text_printf(&name, "%s-sums", run->of->id);
    if (name.failed)
        status = cellar_fail_memory(err, "a chart");
    if (status == CELLAR_OK)
        status = cellar_page_chart_create(run->page, &options, &chart, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_curve(chart, "half the width of the 95 % interval", sums->cells,
                                        sums->half, sums->n, err);
    if (status == CELLAR_OK)
        status = cellar_chart_add_curve(chart, "standard deviation", sums->cells, sums->sd, sums->n,
                                        err);
    if (status == CELLAR_OK)
        status = cellar_page_chart(run->page, name.bytes, chart, err);
    cellar_chart_free(chart);
    cellar_text_clear(&name);
    return status;
}

static cellar_status noise_sums_tell(noise_run *run, cellar_error *err)
{
    static const char *const headings[] = {"#cells added up", "#standard deviation",
                                           "#95 % interval: give or take", NULL};
    noise_sums sums = {.n = 0};
    cellar_status status = noise_sums_take(run, &sums, err);
    if (status != CELLAR_OK || sums.n == 0)
        return status;
    cellar_page_paragraph(
        run->page,
        "Totals that are added up from released cells carry the noise of all of them. A total that "
        "was itself released carries the noise of one cell, so the two totals need not agree.");
    cellar_page_table_begin(run->page, "The noise of a sum of cells", headings);
    for (size_t i = 0; i < sums.n; i++) {
        cellar_page_row_number(run->page, "%.0f", sums.cells[i]);
        cellar_page_number(run->page, "%.4g", sums.sd[i]);
        cellar_page_number(run->page, "%s%.0f", i < sums.n_exact ? "" : "about ", sums.half[i]);
        cellar_page_row_end(run->page);
    }
    cellar_page_table_end(run->page);
    return sums.half[0] > 0 ? noise_sums_chart(run, &sums, err) : CELLAR_OK;
}

/* Where the noise of a sum depends on its parts: sums of cells that were all released as 10. */
static cellar_status noise_sums_of_ten(noise_run *run, cellar_error *err)
{
    static const char *const headings[] = {"#cells with released value 10", "#their sum",
                                           "#95 % interval of the true sum", NULL};
    static const size_t cells[] = {2, 5, 10, 20, 50};
    cellar_status status = CELLAR_OK;
    int any = 0;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        cellar_interval interval;
        status = noise_interval(run, cells[i], 10, &interval, err);
        if (status != CELLAR_OK)
            break;
        if (!any)
            cellar_page_table_begin(run->page, "The noise of a sum of cells", headings);
        any = 1;
        cellar_page_row_number(run->page, "%zu", cells[i]);
        cellar_page_number(run->page, "%zu", 10 * cells[i]);
        cellar_page_number(run->page, "%.0f to %.0f", interval.low, interval.high);
        cellar_page_row_end(run->page);
    }
    if (any)
        cellar_page_table_end(run->page);
    if (status == CELLAR_OK || cellar_page_is_answer(status))
        cellar_page_paragraph(run->page,
                              any ? "With this mechanism and this treatment of negative values the "
                                    "noise of a sum depends on its parts. The intervals cover with "
                                    "a probability of at least 95 %%, and are wider than necessary."
                                  : "For sums of cells no interval is known with this mechanism "
                                    "and this treatment of negative values.");
    return cellar_page_is_answer(status) ? CELLAR_OK : status;
}

/* ---- the section ---------------------------------------------------------------------- */

static void noise_lead(const noise_run *run)
{
    cellar_moments moments, large;
    cellar_mechanism_moments(run->mechanism, 0, CELLAR_NEGATIVES_KEEP, &moments);
    cellar_mechanism_moments(run->mechanism, 100, CELLAR_NEGATIVES_KEEP, &large);
    if (run->mechanism->ops->is_additive && moments.variance == 0)
        cellar_page_remark(run->page, "warn",
                           "This mechanism adds no noise: released values are true counts.");
    else if (noise_adds_up(run))
        cellar_page_paragraph(
            run->page,
            "To every true count, zeros included, a random whole number is added, independently "
            "for each cell, with mean 0 and standard deviation %.4g. Released values are right on "
            "average; they can be negative.",
            sqrt(moments.variance));
    else if (run->mechanism->ops->is_additive)
        cellar_page_paragraph(
            run->page,
            "To every true count a random whole number is added, independently for each cell, "
            "with mean 0 and standard deviation %.4g. A result below %s is released as 0, so "
            "released values of small counts are too high on average, and so are totals that are "
            "added up from released values.",
            sqrt(moments.variance), run->of->threshold > 0 ? "the threshold" : "zero");
    else
        cellar_page_paragraph(
            run->page,
            "Every true count is replaced by a random value whose distribution depends on the "
            "true count: the standard deviation is %.4g for a count of 0, and %.4g for one of 100.",
            sqrt(moments.variance), sqrt(large.variance));
}

static cellar_status noise_tell(noise_run *run, cellar_error *err)
{
    cellar_status status;
    noise_lead(run);
    status = noise_law_chart(run, run->mechanism->ops->is_additive ? 0 : 10, err);
    if (status == CELLAR_OK)
        status = noise_cells(run, err);
    if (status == CELLAR_OK && noise_adds_up(run))
        return noise_sums_tell(run, err);
    return status == CELLAR_OK ? noise_sums_of_ten(run, err) : status;
}

cellar_status cellar_section_noise(cellar_page *page, const cellar_section_noise_of *noise,
                                   cellar_error *err)
{
    noise_run run = {page, noise, NULL};
    cellar_status status;
    if (!noise->may_read && !cellar_section_has_law(noise->mechanism)) {
        cellar_page_paragraph(page,
                              "The values were drawn by %s, and the distribution of its cells "
                              "cannot be computed from the release alone. Ask the publisher for "
                              "the distribution before drawing conclusions from small differences.",
                              noise->mechanism);
        return CELLAR_OK;
    }
    status = cellar_mechanism_create(noise->mechanism, &run.mechanism, err);
    if (status == CELLAR_OK)
        status = noise_tell(&run, err);
    else if (cellar_page_is_answer(status)) {
        cellar_page_paragraph(page, "The mechanism %s is not known to this program.",
                              noise->mechanism);
        status = CELLAR_OK;
    }
    cellar_mechanism_free(run.mechanism);
    return status;
}
