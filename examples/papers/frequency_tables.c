/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Confidentiality and differential privacy in the dissemination of frequency tables" (Rinott,
 * O'Keefe, Shlomo, Skinner 2018), sections 1 to 5: Tables 1 and 2 and Figures 1 to 3.
 * frequency_text.c has the numbers of the text, frequency_tests.c the rest.
 *
 * The independent tables of Figures 2 and 3 are not printed: ours have the size the paper tells,
 * and rows and columns that it does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/random.h>
#include <cellar/table_file.h>
#include <cellar/utility.h>

#include "report.h"
#include "rinott_table.h"

enum { N_EPSILONS = RINOTT_N_EPSILONS, N_MECHANISMS = 2, N_MEASURES = 5, MAX_CELLS = 1000 };

/* A two-way table from its counts, row by row. */
static cellar_table *table_of(const uint64_t *counts, int n_rows, int n_columns)
{
    static char csv[32 * MAX_CELLS];
    size_t length = (size_t) snprintf(csv, sizeof csv, "row,column,count\n");
    cellar_table *table;
    cellar_error err;
    for (int i = 0; i < n_rows; i++)
        for (int j = 0; j < n_columns; j++)
            length += (size_t) snprintf(csv + length, sizeof csv - length, "r%d,c%d,%llu\n", i, j,
                                        (unsigned long long) *counts++);
    report_check(cellar_table_parse("counts.csv", csv, length, NULL, &table, &err), &err);
    return table;
}

static cellar_utility *assess(const cellar_table *table, const char *spec, uint64_t copies)
{
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *utility;
    cellar_error err;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.copies = copies;
    options.seed = 2018;
    report_check(cellar_utility_assess(table, spec, &options, &utility, &err), &err);
    return utility;
}

/* The result of a measure for an original count and a radius (-1: any, none). */
static const cellar_utility_result *find(const cellar_utility *utility, const char *measure,
                                         int64_t count, int64_t radius)
{
    for (size_t i = 0; i < cellar_utility_n_results(utility); i++) {
        const cellar_utility_result *x = cellar_utility_result_at(utility, i);
        if (strcmp(x->measure, measure) == 0 && x->variables == NULL && x->count == count &&
            !x->is_above && x->radius == radius)
            return x;
    }
    fprintf(stderr, "no measure %s\n", measure);
    exit(1);
}

/* ---- Tables 1 and 2 ---------------------------------------------------------------- */

static void table_1(report *r, const cellar_table *table)
{
    cellar_utility *utility = assess(table, "identity", 0);
    cellar_association a = cellar_utility_original(utility);
    report_item(r, "Table 1");
    report_beyond(r, "total", NAN, a.total, "F1");
    report_beyond(r, "χ²", NAN, a.chi_square, "F1");
    report_beyond(r, "degrees of freedom", NAN, a.df, "F1");
    report_beyond(r, "Cramér's V", NAN, a.cramers_v, "F1");
    report_beyond(r, "G²", NAN, a.g_square, "F1");
    cellar_utility_free(utility);
}

static void table_2(report *r, const cellar_table *table)
{
    static const char *const names[] = {"Laplace, ε = 1.5, m = 7", "Laplace, ε = 0.5, m = 7",
                                        "normal, ε = 1.5, m = 12", "normal, ε = 0.5, m = 10"};
    cellar_output *csv = report_open(r, "table2.csv");
    report_item(r, "Table 2");
    if (csv != NULL)
        cellar_output_string(csv, "mechanism,original,radius,published,ours\n");
    for (int p = 0; p < 4; p++) {
        cellar_utility *utility = assess(table, rinott_table_2[p].spec, 0);
        char label[64];
        int same = 0;
        snprintf(label, sizeof label, "\"%s\"", rinott_table_2[p].spec);
        for (int a = 0; a < 6; a++)
            for (int radius = 0; radius < 5; radius++) {
                double ours = find(utility, "within", a, radius)->expected;
                int printed = rinott_table_2[p].percent[a][radius];
                same += lround(100 * ours) == printed;
                report_line(csv, label, (double[]){a, radius, printed / 100., ours}, 4);
            }
        report_claim(r, names[p], "30 probabilities", same == 30, "%d of 30 the same", same);
        cellar_utility_free(utility);
    }
    report_close(csv);
}

/* ---- Figures 1 to 3 ---------------------------------------------------------------- */

static const char *const measures[N_MEASURES] = {"cramers_v", "l1", "l2", "l3",
                                                 "p_value_chi_square"};
static const char *const measure_titles[N_MEASURES] = {
    "Cramér's V", "ℓ₁ loss per cell", "ℓ₂ loss per cell", "ℓ₃ loss per cell", "p-value of χ²"};
static const char *const measure_files[N_MEASURES] = {"v", "l1", "l2", "l3", "p"};

typedef struct figure {
    cellar_utility_result of[N_MEASURES][N_MECHANISMS][N_EPSILONS];
    double original_v, original_p;
} figure;

static void figure_compute(const cellar_table *table, figure *f)
{
    for (int m = 0; m < N_MECHANISMS; m++)
        for (int e = 0; e < N_EPSILONS; e++) {
            char spec[64];
            cellar_utility *utility;
            double n;
            rinott_spec(m, e, spec, sizeof spec);
            utility = assess(table, spec, 100);
            n = (double) cellar_utility_n_cells(utility);
            for (int k = 0; k < N_MEASURES; k++) {
                cellar_utility_result *x = &f->of[k][m][e];
                double scale = measures[k][0] == 'l' ? 1 / n : 1; /* losses are those of a cell */
                *x = *find(utility, measures[k], -1, -1);
                x->expected *= scale;
                x->minimum *= scale;
                x->quartile_1 *= scale;
                x->median *= scale;
                x->quartile_3 *= scale;
                x->maximum *= scale;
            }
            f->original_v = cellar_utility_original(utility).cramers_v;
            f->original_p = cellar_utility_original(utility).p_chi_square;
            cellar_utility_free(utility);
        }
}

static void figure_draw(report *r, const figure *f, int number, int n_measures)
{
    static const char *const series[] = {"Laplace", "normal"};
    char name[32], title[96];
    cellar_output *csv;
    cellar_error err;
    snprintf(name, sizeof name, "figure%d.csv", number);
    csv = report_open(r, name);
    if (csv != NULL)
        cellar_output_string(csv, "measure,mechanism,epsilon,minimum,quartile_1,median,quartile_3,"
                                  "maximum,expected\n");
    for (int k = 0; k < n_measures; k++) {
        cellar_chart *chart;
        snprintf(title, sizeof title, "Figure %d: %s", number, measure_titles[k]);
        chart = report_chart(title, "Box plots of 100 perturbations at six values of epsilon.", "ε",
                             0, measure_titles[k]);
        report_check(cellar_chart_set_categories(chart, rinott_epsilons, N_EPSILONS, &err), &err);
        for (int m = 0; m < N_MECHANISMS; m++) {
            cellar_chart_box boxes[N_EPSILONS];
            for (int e = 0; e < N_EPSILONS; e++) {
                const cellar_utility_result *x = &f->of[k][m][e];
                char label[64];
                boxes[e] = (cellar_chart_box){x->minimum, x->quartile_1, x->median, x->quartile_3,
                                              x->maximum};
                snprintf(label, sizeof label, "%s,%s,%s", measures[k], series[m],
                         rinott_epsilons[e]);
                report_line(csv, label,
                            (double[]){x->minimum, x->quartile_1, x->median, x->quartile_3,
                                       x->maximum, x->expected},
                            6);
            }
            report_check(cellar_chart_add_boxes(chart, series[m], boxes, N_EPSILONS, &err), &err);
        }
        if (k == 0 || k == 4) { /* the true table's, as a line */
            double at = k == 0 ? f->original_v : f->original_p;
            report_curve(chart, "true table", (double[]){-0.5, N_EPSILONS - 0.5},
                         (double[]){at, at}, 2);
        }
        snprintf(name, sizeof name, "figure%d-%s", number, measure_files[k]);
        report_draw(r, chart, name);
    }
    report_close(csv);
}

/* Laplace loses less at every epsilon, by the expectations of all three losses. */
static void laplace_is_better(report *r, const figure *f)
{
    int better = 0;
    for (int k = 1; k <= 3; k++)
        for (int e = 0; e < N_EPSILONS; e++)
            better += f->of[k][0][e].expected < f->of[k][1][e].expected;
    report_claim(r, "losses smaller with Laplace, 3 losses × 6 ε", "in all cases", better == 18,
                 "%d of 18", better);
}

static void figure_1(report *r, const cellar_table *table)
{
    static const char *const names[] = {"interquartile range of V, Laplace, largest",
                                        "interquartile range of V, normal, largest"};
    static figure f;
    figure_compute(table, &f);
    figure_draw(r, &f, 1, N_MEASURES - 1);
    report_item(r, "Figure 1");
    for (int m = 0; m < N_MECHANISMS; m++) {
        double largest = 0;
        for (int e = 0; e < N_EPSILONS; e++)
            largest = fmax(largest, f.of[0][m][e].quartile_3 - f.of[0][m][e].quartile_1);
        report_claim(r, names[m], "less than 0.005", largest < 0.005, "%.4f", largest);
    }
    laplace_is_better(r, &f);
}

/* ---- independent tables ------------------------------------------------------------- */

/* In (0, 1). */
static double uniform(cellar_rng *rng)
{
    uint64_t bits;
    cellar_error err;
    report_check(cellar_rng_bytes(rng, &bits, sizeof bits, &err), &err);
    return ((double) (bits >> 12) + 0.5) / 4503599627370496.;
}

/* Shares of a Dirichlet distribution with parameters 5: the paper tells none. */
static void draw_shares(cellar_rng *rng, double *shares, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        shares[i] = 0;
        for (int k = 0; k < 5; k++)
            shares[i] -= log(uniform(rng));
        sum += shares[i];
    }
    for (int i = 0; i < n; i++)
        shares[i] /= sum;
}

static int draw_one(cellar_rng *rng, const double *shares, int n)
{
    double rest = uniform(rng);
    int i = 0;
    while (i + 1 < n && rest >= shares[i])
        rest -= shares[i++];
    return i;
}

/* 10,000 people in a table of independent rows and columns. */
static cellar_table *independent_table(int n_rows, int n_columns)
{
    static uint64_t counts[MAX_CELLS];
    double rows[16], columns[128];
    cellar_rng *rng;
    cellar_error err;
    report_check(cellar_rng_create_seeded(1, (uint64_t) n_columns, &rng, &err), &err);
    draw_shares(rng, rows, n_rows);
    draw_shares(rng, columns, n_columns);
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < 10000; i++)
        counts[draw_one(rng, rows, n_rows) * n_columns + draw_one(rng, columns, n_columns)]++;
    cellar_rng_free(rng);
    return table_of(counts, n_rows, n_columns);
}

/* At how many of the six epsilons half the perturbed tables keep p above 0.05. */
static int kept(const figure *f, int mechanism)
{
    int n = 0;
    for (int e = 0; e < N_EPSILONS; e++)
        n += f->of[4][mechanism][e].median > 0.05;
    return n;
}

static void figure_2(report *r)
{
    static figure f;
    cellar_table *table = independent_table(10, 10);
    figure_compute(table, &f);
    figure_draw(r, &f, 2, N_MEASURES);
    report_item(r, "Figure 2");
    report_claim(r, "p of our own table, 10 × 10", "not rejected", f.original_p > 0.05, "%.3f",
                 f.original_p);
    report_claim(r, "ε that mostly keep it so, Laplace", "rarely changed", kept(&f, 0) == 6,
                 "%d of 6", kept(&f, 0));
    report_claim(r, "ε that mostly keep it so, normal", "rarely changed", kept(&f, 1) >= 5,
                 "%d of 6", kept(&f, 1));
    laplace_is_better(r, &f);
    cellar_table_free(table);
}

static void figure_3(report *r)
{
    static figure f;
    cellar_table *table = independent_table(10, 100);
    figure_compute(table, &f);
    figure_draw(r, &f, 3, N_MEASURES);
    report_item(r, "Figure 3");
    report_claim(r, "medians of V, ℓ₁, ℓ₂, ℓ₃, normal, ε = 0.1", "axes to 0.20, 4, 20, 0.8",
                 f.of[0][1][0].median < 0.20 && f.of[1][1][0].median < 4 &&
                     f.of[2][1][0].median < 20 && f.of[3][1][0].median < 0.8,
                 "%.3f, %.2f, %.1f, %.2f", f.of[0][1][0].median, f.of[1][1][0].median,
                 f.of[2][1][0].median, f.of[3][1][0].median);
    report_claim(r, "p of our own table, 10 × 100", "not rejected", f.original_p > 0.05, "%.3f",
                 f.original_p);
    report_claim(r, "ε that mostly keep it so, normal", "none", kept(&f, 1) == 0, "%d of 6",
                 kept(&f, 1));
    report_claim(r, "median p, Laplace, ε = 1.5 and 3", "rejected unless ε is over 2.0",
                 f.of[4][0][3].median < 0.05 && f.of[4][0][5].median > 0.05, "%.3g and %.3g",
                 f.of[4][0][3].median, f.of[4][0][5].median);
    laplace_is_better(r, &f);
    cellar_table_free(table);
}

int main(int argc, char **argv)
{
    report *r = report_begin(argc, argv, "frequency-tables",
                             "Rinott, O'Keefe, Shlomo, Skinner: Frequency tables");
    cellar_table *table = table_of(&rinott[0][0], 12, 11);
    table_1(r, table);
    table_2(r, table);
    figure_1(r, table);
    figure_2(r);
    figure_3(r);
    cellar_table_free(table);
    return report_end(r);
}
