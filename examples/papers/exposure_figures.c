/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures 2 and 3 of "Statistical anonymity" (Bravo-Hermsdorff and others): the numbers as CSV
 * files for any plotting program, and plain drawings of them.
 *
 * usage: exposure_figures [FOLDER [ADULT.csv]]
 *
 * Figure 3: 1,000 simulated databases of 128 people: how far exposure and statistical exposure of
 * one database stray from one draw to the next. Figure 2, when the Adult data are at hand: the
 * exposure of more and more columns and what single columns tell of it. Without a folder nothing is
 * written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/output.h>
#include <cellar/random.h>
#include <cellar/selection.h>

#include "svg_plot.h"

enum { PEOPLE = 128, DATABASES = 1000, OUTPUTS = 4, GRID = 100, N_COLUMNS = 4 };

static void check(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "exposure_figures: %s\n", err->message);
    exit(1);
}

/* NULL when nothing is to be written. */
static cellar_output *open_file(const char *folder, const char *name)
{
    const cellar_output_options how = {.replace = 1};
    char path[4096];
    cellar_output *output = NULL;
    cellar_error err;
    if (folder == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check(cellar_output_open(path, &how, &output, &err), &err);
    return output;
}

static void close_file(cellar_output *output)
{
    cellar_error err;
    if (output != NULL)
        check(cellar_output_commit(output, &err), &err);
}

/* ---- Figure 3 --------------------------------------------------------------- */

/* The law that the databases are drawn from, in 65536ths: 1/2, 1/4, 3/16, 1/16. */
static const unsigned law[OUTPUTS] = {32768, 16384, 12288, 4096};

static void draw_database(cellar_rng *rng, uint64_t *counts)
{
    uint16_t bits[PEOPLE];
    cellar_error err;
    check(cellar_rng_bytes(rng, bits, sizeof bits, &err), &err);
    memset(counts, 0, OUTPUTS * sizeof *counts);
    for (size_t i = 0; i < PEOPLE; i++) {
        unsigned rest = bits[i], v = 0;
        while (rest >= law[v])
            rest -= law[v++];
        counts[v]++;
    }
}

/* Sums and sums of squares over the databases, for k = 1, ..., PEOPLE. */
typedef struct spread {
    double sum[PEOPLE + 1], square[PEOPLE + 1];
} spread;

static void spread_add(spread *s, size_t k, double value)
{
    s->sum[k] += value;
    s->square[k] += value * value;
}

static double spread_mean(const spread *s, size_t k)
{
    return s->sum[k] / DATABASES;
}

static double spread_sd(const spread *s, size_t k)
{
    double mean = spread_mean(s, k);
    return sqrt(fmax(0, s->square[k] / DATABASES - mean * mean));
}

static void simulate(spread *exposure, spread *statistical)
{
    cellar_exposure_pair pairs[PEOPLE];
    cellar_rng *rng;
    cellar_error err;
    check(cellar_rng_create_seeded(20260101, 0, &rng, &err), &err);
    for (size_t d = 0; d < DATABASES; d++) {
        uint64_t counts[OUTPUTS];
        cellar_exposure_curve *curve;
        draw_database(rng, counts);
        check(cellar_exposure_curve_from_counts(counts, OUTPUTS, OUTPUTS, &curve, &err), &err);
        for (size_t k = 1; k <= PEOPLE; k++)
            pairs[k - 1] = (cellar_exposure_pair){.population = PEOPLE, .k = k};
        check(cellar_exposure_statistical(curve, pairs, PEOPLE, 1, &err), &err);
        for (size_t k = 1; k <= PEOPLE; k++) {
            spread_add(exposure, k, cellar_exposure_value(curve, k));
            spread_add(statistical, k, pairs[k - 1].value);
        }
        cellar_exposure_curve_free(curve);
    }
    cellar_rng_free(rng);
}

static void figure_3_draw(const char *folder, const spread *exposure, const spread *statistical)
{
    svg_plot plot = {open_file(folder, "figure3.svg"), 0, 1, 0};
    const spread *const spreads[] = {exposure, statistical};
    const char *const colours[] = {"#2a7f3a", "#c2378f"};
    const char *const labels[] = {"exposure, mean and standard deviation",
                                  "statistical exposure, mean and standard deviation"};
    double x[PEOPLE], y[PEOPLE];

    svg_begin(&plot, "Figure 3: 1,000 databases of 128 people", "threshold k/128");
    for (int i = 0; i < 2; i++)
        for (int side = -1; side <= 1; side++) {
            for (size_t k = 1; k <= PEOPLE; k++) {
                x[k - 1] = (double) k / PEOPLE;
                y[k - 1] = spread_mean(spreads[i], k) + side * spread_sd(spreads[i], k);
            }
            svg_line(&plot, x, y, PEOPLE, colours[i], side == 0 ? labels[i] : "", i);
        }
    svg_end(&plot);
    close_file(plot.output);
}

static int figure_3(const char *folder)
{
    static spread exposure, statistical;
    cellar_output *output = open_file(folder, "figure3.csv");
    double by_exposure = 0, by_statistical = 0;

    simulate(&exposure, &statistical);
    if (output != NULL)
        cellar_output_string(output, "k,threshold,exposure_mean,exposure_sd,statistical_mean,"
                                     "statistical_sd\n");
    for (size_t k = 1; k <= PEOPLE; k++) {
        by_exposure += spread_sd(&exposure, k) / PEOPLE;
        by_statistical += spread_sd(&statistical, k) / PEOPLE;
        if (output != NULL)
            cellar_output_printf(output, "%zu,%.17g,%.17g,%.17g,%.17g,%.17g\n", k,
                                 (double) k / PEOPLE, spread_mean(&exposure, k),
                                 spread_sd(&exposure, k), spread_mean(&statistical, k),
                                 spread_sd(&statistical, k));
    }
    close_file(output);
    figure_3_draw(folder, &exposure, &statistical);
    printf("Figure 3: standard deviation, averaged over thresholds: exposure %.4f, statistical "
           "exposure %.4f\n",
           by_exposure, by_statistical);
    return by_statistical < by_exposure;
}

/* ---- Figure 2 --------------------------------------------------------------- */

static const char *const names[N_COLUMNS] = {"sex", "income", "race", "workclass"};

static double exposure_at(const cellar_exposure_curve *curve, double t)
{
    return cellar_exposure_value(curve, (uint64_t) ceil(t * (double) cellar_exposure_total(curve)));
}

/* The curves of the first n columns together, at GRID thresholds. */
typedef struct figure_2_lines {
    double t[GRID], single[GRID], joint[GRID], lower[GRID], upper[GRID];
} figure_2_lines;

static void figure_2_compute(size_t n, double least, const cellar_exposure_curve *joint,
                             cellar_exposure_curve *const *columns, figure_2_lines *lines,
                             cellar_output *output)
{
    const cellar_exposure_curve *const *single = (const cellar_exposure_curve *const *) columns;
    for (size_t i = 0; i < GRID; i++) {
        cellar_exposure_bound bounds[2];
        cellar_error err;
        double t = pow(least, 1 - (double) i / (GRID - 1));
        check(cellar_exposure_bounds(single, n, t, NULL, bounds, &err), &err);
        lines->t[i] = t;
        lines->single[i] = exposure_at(columns[n - 1], t);
        lines->joint[i] = exposure_at(joint, t);
        lines->lower[i] = cellar_exposure_lower_bound(single, n, t);
        lines->upper[i] = bounds[0].value;
        if (output != NULL)
            cellar_output_printf(output, "%zu,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", n,
                                 names[n - 1], t, lines->single[i], lines->joint[i],
                                 lines->lower[i], lines->upper[i], bounds[0].theorem);
    }
}

static void figure_2_draw(const char *folder, size_t n, const figure_2_lines *lines)
{
    svg_plot plot = {NULL, lines->t[0], 1, 1};
    char name[64], title[128];
    snprintf(name, sizeof name, "figure2-%zu.svg", n);
    snprintf(title, sizeof title, "Figure 2: Adult, %zu of sex, income, race, workclass", n);
    plot.output = open_file(folder, name);
    svg_begin(&plot, title, "threshold");
    svg_line(&plot, lines->t, lines->single, GRID, "#999999", "the last column alone", 0);
    svg_line(&plot, lines->t, lines->joint, GRID, "#1f6fb4", "all of them together", 1);
    svg_line(&plot, lines->t, lines->upper, GRID, "#000000", "least of Theorems 2 and 3", 2);
    svg_line(&plot, lines->t, lines->lower, GRID, "#d08000", "lower bound", 3);
    svg_end(&plot);
    close_file(plot.output);
}

static cellar_profiles *figure_2_read(const char *path)
{
    cellar_variable_spec variables[N_COLUMNS] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_profiles *profiles;
    cellar_error err;
    for (size_t c = 0; c < N_COLUMNS; c++)
        variables[c].column = names[c];
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = N_COLUMNS;
    check(cellar_profiles_read(&spec, &profiles, NULL, &err), &err);
    return profiles;
}

static void figure_2(const char *folder, const char *path)
{
    static figure_2_lines lines;
    const size_t all[N_COLUMNS] = {0, 1, 2, 3};
    cellar_profiles *profiles = figure_2_read(path);
    cellar_exposure_curve *columns[N_COLUMNS], *joint;
    cellar_output *output = open_file(folder, "figure2.csv");
    cellar_error err;

    for (size_t c = 0; c < N_COLUMNS; c++)
        check(cellar_profiles_curve(profiles, &all[c], 1, &columns[c], &err), &err);
    if (output != NULL)
        cellar_output_string(output, "columns,added,threshold,exposure_of_added,exposure,"
                                     "lower_bound,upper_bound,theorem\n");
    for (size_t n = 1; n <= N_COLUMNS; n++) {
        check(cellar_profiles_curve(profiles, all, n, &joint, &err), &err);
        figure_2_compute(n, 1 / (double) cellar_profiles_n_people(profiles), joint, columns, &lines,
                         output);
        figure_2_draw(folder, n, &lines);
        cellar_exposure_curve_free(joint);
    }
    close_file(output);
    for (size_t c = 0; c < N_COLUMNS; c++)
        cellar_exposure_curve_free(columns[c]);
    cellar_profiles_free(profiles);
    printf("Figure 2: %s\n", folder != NULL ? "written" : "computed");
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : NULL;
    int as_published = figure_3(folder);
    if (argc > 2)
        figure_2(folder, argv[2]);
    else
        printf("Figure 2: skipped, for the Adult data were not named\n");
    return as_published ? 0 : 1;
}
