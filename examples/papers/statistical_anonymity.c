/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Statistical anonymity: Quantifying reidentification risks without reidentifying users"
 * (Bravo-Hermsdorff, Busa-Fekete, Gunderson, Munoz Medina, Syed): its figures and the numbers of
 * its text.
 *
 * Figure 2 needs the counts of four columns of the Adult data alone and together; they are in
 * adult_counts.h, and with --data DIR they are counted again from adult.csv. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/random.h>
#include <cellar/selection.h>

#include "adult_counts.h"
#include "anonymity_theorems.h"

enum { N_PEOPLE = 128, N_DATABASES = 1000, N_OUTPUTS = 4, N_GRID = 200, N_COLUMNS = 4 };

/* ---- Figure 2 ---------------------------------------------------------------------- */

static const char *const names[N_COLUMNS] = {"sex", "income", "race", "workclass"};

/* The columns alone, and the first n of them together. */
typedef struct adult {
    cellar_exposure_curve *single[N_COLUMNS], *joint[N_COLUMNS];
} adult;

static adult adult_bundled(void)
{
    return (adult){{curve_of(adult_sex, ADULT_COUNT(adult_sex), 0),
                    curve_of(adult_income, ADULT_COUNT(adult_income), 0),
                    curve_of(adult_race, ADULT_COUNT(adult_race), 0),
                    curve_of(adult_workclass, ADULT_COUNT(adult_workclass), 0)},
                   {curve_of(adult_sex, ADULT_COUNT(adult_sex), 0),
                    curve_of(adult_two, ADULT_COUNT(adult_two), 0),
                    curve_of(adult_three, ADULT_COUNT(adult_three), 0),
                    curve_of(adult_joint, ADULT_COUNT(adult_joint), 0)}};
}

static adult adult_read(const char *path)
{
    const size_t all[N_COLUMNS] = {0, 1, 2, 3};
    cellar_variable_spec variables[N_COLUMNS] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_profiles *profiles;
    cellar_error err;
    adult out;
    for (size_t c = 0; c < N_COLUMNS; c++)
        variables[c].column = names[c];
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = N_COLUMNS;
    report_check(cellar_profiles_read(&spec, &profiles, NULL, &err), &err);
    for (size_t c = 0; c < N_COLUMNS; c++) {
        report_check(
            cellar_exposure_curve_from_profiles(profiles, &all[c], 1, &out.single[c], &err), &err);
        report_check(cellar_exposure_curve_from_profiles(profiles, all, c + 1, &out.joint[c], &err),
                     &err);
    }
    cellar_profiles_free(profiles);
    return out;
}

static void adult_free(adult *a)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        cellar_exposure_curve_free(a->single[c]);
        cellar_exposure_curve_free(a->joint[c]);
    }
}

static int same_steps(const cellar_exposure_curve *a, const cellar_exposure_curve *b)
{
    if (cellar_exposure_n_steps(a) != cellar_exposure_n_steps(b))
        return 0;
    for (size_t i = 0; i < cellar_exposure_n_steps(a); i++) {
        cellar_exposure_step x = cellar_exposure_step_at(a, i), y = cellar_exposure_step_at(b, i);
        if (x.count != y.count || x.n_cells != y.n_cells)
            return 0;
    }
    return 1;
}

static double exposure_at(const cellar_exposure_curve *curve, double t)
{
    return cellar_exposure_value(curve, (uint64_t) ceil(t * (double) cellar_exposure_total(curve)));
}

static double bound_at(const adult *a, size_t n, double t)
{
    cellar_exposure_bound bounds[2];
    cellar_error err;
    const cellar_exposure_curve *single[N_COLUMNS];
    for (size_t c = 0; c < N_COLUMNS; c++)
        single[c] = a->single[c];
    report_check(cellar_exposure_bounds(single, n, t, NULL, bounds, &err), &err);
    return bounds[0].value;
}

/* The first panel has the columns alone, the others the first n together; answers whether every
 * bound held. */
static int figure_2_panel(report *r, const adult *a, size_t n, cellar_output *csv)
{
    double t[N_GRID], joint[N_GRID], bound[N_GRID], single[N_COLUMNS][N_GRID];
    char title[96], file[32];
    cellar_chart *chart;
    int holds = 1;
    for (size_t i = 0; i < N_GRID; i++) {
        t[i] = pow(1. / 32561, 1 - (double) i / (N_GRID - 1));
        joint[i] = exposure_at(a->joint[n - 1], t[i]);
        bound[i] = bound_at(a, n, t[i]);
        for (size_t c = 0; c < N_COLUMNS; c++)
            single[c][i] = exposure_at(a->single[c], t[i]);
        holds &= joint[i] <= bound[i];
        report_line(csv, names[n - 1],
                    (double[]){(double) n, t[i], single[n - 1][i], joint[i], bound[i]}, 5);
    }
    snprintf(file, sizeof file, "figure2-%zu", n);
    if (n == 1)
        snprintf(title, sizeof title, "Figure 2: Adult, four columns alone");
    else
        snprintf(title, sizeof title, "Figure 2: Adult, the first %zu columns together", n);
    chart = report_chart(title, "Share of people in cells below a threshold, against the threshold",
                         "threshold", 1, "exposure");
    for (size_t c = 0; n == 1 && c < N_COLUMNS; c++)
        report_curve(chart, names[c], t, single[c], N_GRID);
    if (n > 1) {
        report_curve(chart, "exposure", t, joint, N_GRID);
        report_curve(chart, "least of Theorems 2 and 3", t, bound, N_GRID);
    }
    report_draw(r, chart, file);
    return holds;
}

static void figure_2_numbers(report *r, const adult *a)
{
    static const char *const supports[] = {"2 (sex)", "2 (wage)", "5 (race)", "9 (work)"};
    static const struct {
        const char *exposed, *bound;
        double t;
    } points[] = {{"people below t = 0.0001", "bound at t = 0.0001", 1e-4},
                  {"people below t = 0.001", "bound at t = 0.001", 1e-3},
                  {"people below t = 0.01", "bound at t = 0.01", 1e-2},
                  {"people below t = 0.1", "bound at t = 0.1", 1e-1}};
    const cellar_exposure_curve *joint = a->joint[N_COLUMNS - 1];
    report_rounds(r, "users", "32561", (double) cellar_exposure_total(joint));
    for (size_t c = 0; c < N_COLUMNS; c++)
        report_rounds(r, "values of a column", supports[c],
                      (double) cellar_exposure_n_cells(a->single[c]));
    report_beyond(r, "cells of all four", NAN, (double) cellar_exposure_n_cells(joint), "A8");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        report_beyond(
            r, points[i].exposed, NAN,
            round(exposure_at(joint, points[i].t) * (double) cellar_exposure_total(joint)), "A8");
        report_beyond(r, points[i].bound, NAN, bound_at(a, N_COLUMNS, points[i].t), "A8");
    }
    report_beyond(r, "entropy H in nats", NAN, cellar_exposure_entropy(joint), "A8");
    report_errs(r, "people exposed at t = 1/n, who are unique", NULL,
                (double) cellar_exposure_below(joint, 2), (double) cellar_exposure_below(joint, 1),
                "A1");
}

static void figure_2(report *r)
{
    adult bundled = adult_bundled();
    const char *path = report_data(r, "adult.csv");
    cellar_output *csv = report_open(r, "figure2.csv");
    int holds = 1;

    report_item(r, "Figure 2");
    if (path != NULL) {
        adult read = adult_read(path);
        int same = 1;
        for (size_t c = 0; c < N_COLUMNS; c++)
            same &= same_steps(read.joint[c], bundled.joint[c]) &&
                    same_steps(read.single[c], bundled.single[c]);
        report_claim(r, "the counts that come with this program", "those of the data", same, "%s",
                     same ? "the same" : "others");
        adult_free(&read);
    }
    if (csv != NULL)
        cellar_output_string(csv, "added,columns,threshold,exposure_of_added,exposure,bound\n");
    for (size_t n = 1; n <= N_COLUMNS; n++)
        holds &= figure_2_panel(r, &bundled, n, csv);
    report_close(csv);
    report_claim(r, "exposure below the bound, at 200 thresholds", "always", holds, "%s",
                 holds ? "always" : "not always");
    figure_2_numbers(r, &bundled);
    adult_free(&bundled);
}

/* ---- Figure 3 ---------------------------------------------------------------------- */

/* The paper does not print its distribution. This one, in 65536ths: 1/2, 1/4, 3/16, 1/16. */
static const unsigned law[N_OUTPUTS] = {32768, 16384, 12288, 4096};

static void draw_database(cellar_rng *rng, uint64_t *counts)
{
    uint16_t bits[N_PEOPLE];
    cellar_error err;
    report_check(cellar_rng_bytes(rng, bits, sizeof bits, &err), &err);
    memset(counts, 0, N_OUTPUTS * sizeof *counts);
    for (size_t i = 0; i < N_PEOPLE; i++) {
        unsigned rest = bits[i], v = 0;
        while (rest >= law[v])
            rest -= law[v++];
        counts[v]++;
    }
}

/* Sums over the databases, for k = 1, ..., N_PEOPLE. */
typedef struct spread {
    double sum[N_PEOPLE], square[N_PEOPLE];
} spread;

static void spread_add(spread *s, size_t i, double value)
{
    s->sum[i] += value;
    s->square[i] += value * value;
}

static double spread_mean(const spread *s, size_t i)
{
    return s->sum[i] / N_DATABASES;
}

static double spread_sd(const spread *s, size_t i)
{
    double mean = spread_mean(s, i);
    return sqrt(fmax(0, s->square[i] / N_DATABASES - mean * mean));
}

static void simulate(spread *exposure, spread *statistical)
{
    cellar_exposure_pair pairs[N_PEOPLE];
    cellar_rng *rng;
    cellar_error err;
    report_check(cellar_rng_create_seeded(20260101, 0, &rng, &err), &err);
    for (size_t d = 0; d < N_DATABASES; d++) {
        uint64_t counts[N_OUTPUTS];
        cellar_exposure_curve *curve;
        draw_database(rng, counts);
        curve = curve_of(counts, N_OUTPUTS, N_OUTPUTS);
        for (size_t k = 1; k <= N_PEOPLE; k++)
            pairs[k - 1] = (cellar_exposure_pair){.population = N_PEOPLE, .k = k};
        report_check(cellar_exposure_statistical(curve, pairs, N_PEOPLE, 1, &err), &err);
        for (size_t k = 1; k <= N_PEOPLE; k++) {
            spread_add(exposure, k - 1, cellar_exposure_value(curve, k));
            spread_add(statistical, k - 1, pairs[k - 1].value);
        }
        cellar_exposure_curve_free(curve);
    }
    cellar_rng_free(rng);
}

/* Answers the mean of the standard deviations. */
static double figure_3_series(cellar_chart *chart, const char *name, const spread *s)
{
    double x[N_PEOPLE], mean[N_PEOPLE], low[N_PEOPLE], high[N_PEOPLE], sum = 0;
    cellar_error err;
    for (size_t i = 0; i < N_PEOPLE; i++) {
        x[i] = (double) (i + 1) / N_PEOPLE;
        mean[i] = spread_mean(s, i);
        low[i] = mean[i] - spread_sd(s, i);
        high[i] = mean[i] + spread_sd(s, i);
        sum += spread_sd(s, i) / N_PEOPLE;
    }
    report_check(cellar_chart_add_band(chart, NULL, x, low, high, N_PEOPLE, &err), &err);
    report_curve(chart, name, x, mean, N_PEOPLE);
    return sum;
}

static void figure_3(report *r)
{
    static spread exposure, statistical;
    cellar_output *csv = report_open(r, "figure3.csv");
    cellar_chart *chart =
        report_chart("Figure 3: 1,000 databases of 128 people",
                     "Mean and one standard deviation to both sides of exposure and of statistical "
                     "exposure, against the threshold.",
                     "threshold k/128", 0, "exposure");
    double by_exposure, by_statistical;

    simulate(&exposure, &statistical);
    if (csv != NULL)
        cellar_output_string(csv, "k,exposure_mean,exposure_sd,statistical_mean,statistical_sd\n");
    for (size_t i = 0; i < N_PEOPLE; i++)
        report_line(csv, NULL,
                    (double[]){(double) (i + 1), spread_mean(&exposure, i), spread_sd(&exposure, i),
                               spread_mean(&statistical, i), spread_sd(&statistical, i)},
                    5);
    report_close(csv);
    by_exposure = figure_3_series(chart, "exposure", &exposure);
    by_statistical = figure_3_series(chart, "statistical exposure", &statistical);
    report_draw(r, chart, "figure3");

    report_item(r, "Figure 3");
    report_claim(r, "standard deviation, mean over thresholds", "smaller than of exposure",
                 by_statistical < by_exposure, "%.4f and %.4f (our own distribution)",
                 by_statistical, by_exposure);
}

int main(int argc, char **argv)
{
    report *r =
        report_begin(argc, argv, "anonymity", "Bravo-Hermsdorff and others: Statistical anonymity");
    report_item(r, "Figure 1");
    report_drawing(r, "the protocol (`cellar collect` runs it; see errata A7)");
    figure_2(r);
    figure_3(r);
    anonymity_theorems(r);
    return report_end(r);
}
