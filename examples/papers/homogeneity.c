/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "homogeneity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "risk_groups.h"

enum { MAX_ROWS = 800, MAX_VALUES = 3, MAX_SIZE = 320, MAX_POINTS = 128 };

/* Rows of `n_values` counts, each followed by how many groups have them. `split`: every count is a
 * group of its own. */
static cellar_groups *groups_of(const uint64_t *rows, size_t n_rows, size_t n_values, int split)
{
    uint64_t counts[MAX_ROWS * MAX_VALUES], times[MAX_ROWS];
    cellar_groups *groups;
    cellar_error err;
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++, rows += n_values + 1)
        for (size_t part = 0; part < (split ? n_values : 1); part++) {
            if (split && rows[part] == 0)
                continue;
            for (size_t k = 0; k < n_values; k++)
                counts[n * n_values + k] = !split || k == part ? rows[k] : 0;
            times[n++] = rows[n_values];
        }
    report_check(cellar_groups_from_counts(counts, n, n_values, times, &groups, &err), &err);
    return groups;
}

#define ROWS(rows) ((const uint64_t *) (rows)), (sizeof(rows) / sizeof(rows)[0])

cellar_groups *adult_cells(void)
{
    return groups_of(ROWS(adult_groups), 2, 1);
}

cellar_groups *adult_by_columns(void)
{
    return groups_of(ROWS(adult_groups), 2, 0);
}

cellar_groups *bankruptcy(void)
{
    return groups_of(ROWS(bankruptcy_groups), 2, 0);
}

cellar_groups *bankruptcy_subset(void)
{
    return groups_of(ROWS(bankruptcy_subset_groups), 3, 0);
}

/* ---- sizes ------------------------------------------------------------------------- */

/* Adds up how many groups have each size; `split` as above. */
static void count_sizes(const uint64_t *rows, size_t n_rows, size_t n_values, int split,
                        double *sizes)
{
    for (size_t i = 0; i < n_rows; i++, rows += n_values + 1) {
        uint64_t size = 0;
        for (size_t k = 0; k < n_values; k++) {
            size += rows[k];
            if (split && rows[k] > 0)
                sizes[rows[k]] += (double) rows[n_values];
        }
        if (!split)
            sizes[size] += (double) rows[n_values];
    }
}

size_t histogram(report *r, enum histogram_of what, const char *title, const char *name)
{
    double sizes[MAX_SIZE] = {0}, x[MAX_SIZE];
    size_t largest = 0;
    char file[64];
    cellar_output *csv;
    cellar_chart *chart =
        report_chart(title, "How many groups have each size.", "size of a group", 0, "groups");
    if (what == HISTOGRAM_ADULT)
        count_sizes(ROWS(adult_groups), 2, 1, sizes);
    else if (what == HISTOGRAM_BANKRUPTCY)
        count_sizes(ROWS(bankruptcy_groups), 2, 0, sizes);
    else
        count_sizes(ROWS(bankruptcy_subset_groups), 3, 0, sizes);

    snprintf(file, sizeof file, "%s.csv", name);
    csv = report_open(r, file);
    if (csv != NULL)
        cellar_output_string(csv, "size,groups\n");
    for (size_t i = 0; i < MAX_SIZE; i++) {
        x[i] = i == 0 ? 0 : (double) i - 0.5;
        if (sizes[i] > 0) {
            largest = i;
            report_line(csv, NULL, (double[]){(double) i, sizes[i]}, 2);
        }
    }
    report_close(csv);
    report_steps(chart, NULL, x, sizes, largest + 2);
    report_draw(r, chart, name);
    return largest;
}

double appendix_b(size_t value)
{
    enum { N = 3 };
    double groups = 0, people = 0, squares = 0, sum = 0, own = 0, share, variance;
    for (size_t i = 0; i < sizeof bankruptcy_subset_groups / sizeof *bankruptcy_subset_groups;
         i++) {
        const uint64_t *row = bankruptcy_subset_groups[i];
        double times = (double) row[N], size = (double) (row[0] + row[1] + row[2]);
        groups += times;
        people += times * size;
        squares += times * size * size;
        sum += times * (double) row[value];
        own += times * (double) row[value] * (double) row[value];
    }
    share = sum / people;
    variance = (own - sum * sum / groups) / (groups - 1);
    return (share * share * (1 - share) * squares - share * variance) /
           (variance - share * (1 - share) * people);
}

/* ---- risks --------------------------------------------------------------------------- */

void log_grid(double low, double high, size_t n, double *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = low * pow(high / low, (double) i / (double) (n - 1));
}

void risk_curve(const cellar_groups *groups, const char *format, const double *epsilons, size_t n,
                const cellar_risk_options *options, cellar_risk_summary *out)
{
    cellar_mechanism *mechanisms[MAX_POINTS] = {NULL};
    const cellar_mechanism *const *list = (const cellar_mechanism *const *) mechanisms;
    cellar_error err;
    for (size_t i = 0; i < n; i++) {
        char number[32], spec[128];
        snprintf(number, sizeof number, "%.6g", epsilons[i]);
        snprintf(spec, sizeof spec, "%.*s%s%s", (int) (strchr(format, '%') - format), format,
                 number, strchr(format, '%') + 1);
        report_check(cellar_mechanism_create(spec, &mechanisms[i], &err), &err);
    }
    report_check(cellar_risk_assess(groups, list, n, options, out, &err), &err);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
}

double risk_at(const cellar_groups *groups, const char *spec, cellar_risk_measure measure,
               cellar_risk_method method)
{
    cellar_risk_options options = cellar_risk_options_default();
    cellar_mechanism *mechanism;
    const cellar_mechanism *one;
    cellar_risk_summary summary;
    cellar_error err;
    options.measure = measure;
    options.method = method;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    one = mechanism;
    report_check(cellar_risk_assess(groups, &one, 1, &options, &summary, &err), &err);
    cellar_mechanism_free(mechanism);
    return summary.mean.value;
}
