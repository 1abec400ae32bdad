/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Disclosure risk from homogeneity attack in differentially privately sanitized frequency
 * distribution" (2022, the later version of the paper of 2020): its figures.
 * homogeneity_2022_text.c has the numbers of its text.
 *
 * The counts of groups in risk_groups.h are enough for all but Figure 5, which needs the records of
 * Bankruptcy: --data DIR with bankruptcy.csv. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/tabulate.h>
#include <cellar/utility.h>

#include "homogeneity_2022.h"

enum { N_COLUMNS = 6, N_EPSILONS = 3 };

const char *const set_names[N_SETS] = {"adult", "bankruptcy", "subset"};
const char *const deltas[N_DELTAS] = {"0.001", "0.01", "0.1"};

/* ---- Figure 3 ---------------------------------------------------------------------- */

static void figure_3(report *r, const data_sets *d)
{
    size_t largest =
        histogram(r, HISTOGRAM_ADULT, "Figure 3a: sizes of cells, Adult", "figure3-adult");
    const cellar_groups *subset = d->of[2];
    histogram(r, HISTOGRAM_BANKRUPTCY, "Figure 3b: sizes of cells, Bankruptcy",
              "figure3-bankruptcy");
    histogram(r, HISTOGRAM_SUBSET, "Figure 3c: sizes of cells, Bankruptcy subset",
              "figure3-subset");
    report_item(r, "Figure 3");
    report_rounds(r, "individuals, Adult", "27,504", (double) cellar_groups_n_records(d->of[0]));
    report_errs(r, "non-empty cells of six columns, Adult", "5,974",
                (double) cellar_groups_n_groups(d->of[0]),
                (double) cellar_groups_n_groups(d->by_columns), "H3");
    report_errs(r, "homogeneous ones of them", "5,974 (each)",
                (double) cellar_groups_n_homogeneous(d->of[0]),
                (double) cellar_groups_n_homogeneous(d->by_columns), "H3");
    report_rounds(r, "largest cell by columns and income, Adult", "240", (double) largest);
    report_rounds(r, "homogeneous cells, Bankruptcy", "103",
                  (double) cellar_groups_n_homogeneous(d->of[1]));
    report_rounds(r, "cells, subset", "78", (double) cellar_groups_n_groups(subset));
    report_rounds(r, "homogeneous cells, subset", "54",
                  (double) cellar_groups_n_homogeneous(subset));
    report_rounds(r, "heterogeneous cells in %, subset", "31 %",
                  100 - 100 * (double) cellar_groups_n_homogeneous(subset) /
                            (double) cellar_groups_n_groups(subset));
}

/* ---- Figure 4 ---------------------------------------------------------------------- */

/* The published formula and the exact expected risk, curve by curve. */
static void curves(const cellar_groups *groups, const char *format, const double *epsilon,
                   double *published, double *exact)
{
    cellar_risk_options by_formula = cellar_risk_options_default();
    cellar_risk_options exactly = cellar_risk_options_default();
    cellar_risk_summary s[N_CURVE];
    exactly.measure = CELLAR_RISK_EXPECTED;
    by_formula.measure = CELLAR_RISK_EXPECTED;
    by_formula.method = CELLAR_RISK_PUBLISHED;
    risk_curve(groups, format, epsilon, N_CURVE, &by_formula, s);
    for (int i = 0; i < N_CURVE; i++)
        published[i] = s[i].mean.value;
    risk_curve(groups, format, epsilon, N_CURVE, &exactly, s);
    for (int i = 0; i < N_CURVE; i++)
        exact[i] = s[i].mean.value;
}

/* `kind` says in the CSV which of the two Gaussian mechanisms a delta belongs to. */
static void add_curves(cellar_chart *chart, cellar_output *csv, int set, const char *kind,
                       const char *mechanism, const cellar_groups *groups, const char *format,
                       const double *epsilon)
{
    double published[N_CURVE], exact[N_CURVE];
    char label[96];
    curves(groups, format, epsilon, published, exact);
    snprintf(label, sizeof label, "%s,\"%s%s\"", set_names[set], kind, mechanism);
    for (int i = 0; i < N_CURVE; i++)
        report_line(csv, label, (double[]){epsilon[i], published[i], exact[i]}, 3);
    report_curve(chart, mechanism, epsilon, exact, N_CURVE);
    if (set == 2) { /* where there are cells with several values, the formula is another number */
        snprintf(label, sizeof label, "%s, formula", mechanism);
        report_curve(chart, label, epsilon, published, N_CURVE);
    }
}

/* Three panels for every data set: Laplace, Gaussian for (eps, delta)-DP and for -pDP. */
static void figure_4_panels(report *r, const data_sets *d)
{
    static const char *const titles[N_SETS][3] = {
        {"Figure 4a: Adult, ε-DP", "Figure 4b: Adult, (ε, δ)-aDP", "Figure 4c: Adult, (ε, δ)-pDP"},
        {"Figure 4d: Bankruptcy, ε-DP", "Figure 4e: Bankruptcy, (ε, δ)-aDP",
         "Figure 4f: Bankruptcy, (ε, δ)-pDP"},
        {"Figure 4g: Bankruptcy subset, ε-DP", "Figure 4h: Bankruptcy subset, (ε, δ)-aDP",
         "Figure 4i: Bankruptcy subset, (ε, δ)-pDP"}};
    cellar_output *csv = report_open(r, "figure4.csv");
    double wide[N_CURVE], below_one[N_CURVE];
    log_grid(0.001, 100, N_CURVE, wide);
    log_grid(0.001, 0.999, N_CURVE, below_one);
    if (csv != NULL)
        cellar_output_string(csv, "data,mechanism,epsilon,published_formula,exact\n");
    for (int set = 0; set < N_SETS; set++)
        for (int panel = 0; panel < 3; panel++) {
            char name[32], mechanism[64], format[96];
            cellar_chart *chart =
                report_chart(titles[set][panel], "The expected risk grows with epsilon in an S.",
                             "ε", 1, "risk");
            if (panel == 0)
                add_curves(chart, csv, set, "", "Laplace", d->of[set], "laplace:epsilon=%", wide);
            for (int j = 0; panel > 0 && j < N_DELTAS; j++) {
                snprintf(mechanism, sizeof mechanism, "δ = %s", deltas[j]);
                snprintf(format, sizeof format, "gaussian:epsilon=%%,delta=%s,calibration=%s",
                         deltas[j], panel == 1 ? "classic" : "pdp-liu");
                add_curves(chart, csv, set, panel == 1 ? "aDP, " : "pDP, ", mechanism, d->of[set],
                           format, panel == 1 ? below_one : wide);
            }
            snprintf(name, sizeof name, "figure4%c", 'a' + 3 * set + panel);
            report_draw(r, chart, name);
        }
    report_close(csv);
}

static double exact_risk(const cellar_groups *groups, const char *spec)
{
    return risk_at(groups, spec, CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT);
}

static double formula_risk(const cellar_groups *groups, const char *spec)
{
    return risk_at(groups, spec, CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED);
}

static void figure_4_homogeneous(report *r, const data_sets *d)
{
    static const char *const low[] = {"Adult, lower asymptote, Laplace",
                                      "Bankruptcy, lower asymptote, Laplace"};
    static const char *const high[] = {"Adult, ε = 10, Laplace, in %",
                                       "Bankruptcy, ε = 10, Laplace, in %"};
    static const char *const normal[] = {"Adult, ε = 31.6, pDP, δ = 0.001, in %",
                                         "Bankruptcy, ε = 31.6, pDP, δ = 0.001, in %"};
    static const char *const gap[] = {"Adult, pDP less aDP, ε = 0.999, δ = 0.1",
                                      "Bankruptcy, pDP less aDP, ε = 0.999, δ = 0.1"};
    for (int set = 0; set < 2; set++) {
        const cellar_groups *g = d->of[set];
        double ten = 100 * exact_risk(g, "laplace:epsilon=10");
        double many = 100 * exact_risk(g, "gaussian:epsilon=31.6,delta=0.001,calibration=pdp-liu");
        double more = 100 * (exact_risk(g, "gaussian:epsilon=0.999,delta=0.1,calibration=pdp-liu") -
                             exact_risk(g, "gaussian:epsilon=0.999,delta=0.1,calibration=classic"));
        report_rounds(r, low[set], "25 %", 100 * exact_risk(g, "laplace:epsilon=0.000001"));
        report_remark(r, high[set], "100 % for ε ≥ 10", NAN, ten, ten > 99, "not exactly so", "H7");
        report_remark(r, normal[set], "100 % for ε ≥ 31.6", NAN, many, many > 99, "not exactly so",
                      "H7");
        report_claim(r, gap[set], "larger, less than 5 %", more > 0 && more < 5, "%.2f %%", more);
    }
}

static void figure_4_subset(report *r, const data_sets *d)
{
    static const struct {
        const char *quantity, *spec;
    } rows[] = {{"subset, ε = 0.1, Laplace", "laplace:epsilon=0.1"},
                {"subset, ε = 0.5, Laplace", "laplace:epsilon=0.5"},
                {"subset, ε = 1, Laplace", "laplace:epsilon=1"},
                {"subset, ε = 2, Laplace", "laplace:epsilon=2"},
                {"subset, ε = 10, Laplace", "laplace:epsilon=10"}};
    const cellar_groups *g = d->of[2];
    double low = formula_risk(g, "laplace:epsilon=0.000001");
    double high = formula_risk(g, "laplace:epsilon=1000");
    report_errs(r, "subset, lower asymptote", "0.1", low, exact_risk(g, "laplace:epsilon=0.000001"),
                "H1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        report_errs(r, rows[i].quantity, NULL, formula_risk(g, rows[i].spec),
                    exact_risk(g, rows[i].spec), "H1");
    report_errs(r, "lower asymptote with homogeneous cells, in %", "0.25 %", NAN, 25, "H7");
    report_rounds(r, "subset, upper asymptote", "0.75", high);
    report_errs(r, "subset, risk of the original data", "0.75", high,
                (double) cellar_groups_n_homogeneous(g) / (double) cellar_groups_n_groups(g), "H2");
    report_errs(r, "subset, lower in % of upper asymptote", "25 %", NAN, 100 * low / high, "H2");
}

static void figure_4(report *r, const data_sets *d)
{
    report_item(r, "Figure 4");
    figure_4_panels(r, d);
    report_rounds(r, "10^1.5", "31.6", pow(10, 1.5));
    figure_4_homogeneous(r, d);
    figure_4_subset(r, d);
}

/* ---- Figure 5 ---------------------------------------------------------------------- */

static cellar_table *bankruptcy_table(const char *path)
{
    static const char *const columns[N_COLUMNS] = {"Industrial_Risk",       "Management_Risk",
                                                   "Financial_Flexibility", "Credibility",
                                                   "Competitiveness",       "Operating_Risk"};
    cellar_variable_spec variables[N_COLUMNS] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table *table;
    cellar_error err;
    for (int c = 0; c < N_COLUMNS; c++)
        variables[c].column = columns[c];
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = N_COLUMNS;
    report_check(cellar_tabulate(&spec, &table, NULL, &err), &err);
    return table;
}

/* Total variation of every margin of one, two and three columns, over margins and 20 copies. */
static void variation_of(const cellar_table *table, const char *spec, cellar_chart_box boxes[3],
                         double n[3])
{
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *utility;
    cellar_error err;
    options.copies = 20;
    options.seed = 2022;
    report_check(cellar_utility_assess(table, spec, &options, &utility, &err), &err);
    for (size_t i = 0; i < cellar_utility_n_spreads(utility); i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(utility, i);
        const double *q = s->quantiles;
        if (strcmp(s->measure, "total_variation") != 0)
            continue;
        boxes[s->ways - 1] = (cellar_chart_box){q[1], q[2], q[3], q[4], q[5]};
        n[s->ways - 1] = s->n / (double) options.copies;
    }
    cellar_utility_free(utility);
}

enum { N_SERIES = 1 + 2 * N_DELTAS };
static const char *const figure_5_epsilons[N_EPSILONS] = {"0.1", "1", "10"};
static const char *const figure_5_series[N_SERIES] = {
    "Laplace",        "aDP, δ = 0.001", "aDP, δ = 0.01", "aDP, δ = 0.1",
    "pDP, δ = 0.001", "pDP, δ = 0.01",  "pDP, δ = 0.1"};

/* The spec of a series at an epsilon; 0 when there is none: aDP requires epsilon < 1. */
static int figure_5_spec(int series, int epsilon, char *spec, size_t size)
{
    const char *e = figure_5_epsilons[epsilon];
    if (series == 0)
        snprintf(spec, size, "laplace:epsilon=%s", e);
    else
        snprintf(spec, size, "gaussian:epsilon=%s,delta=%s,calibration=%s", e,
                 deltas[(series - 1) % N_DELTAS], series <= N_DELTAS ? "classic" : "pdp-liu");
    return series == 0 || series > N_DELTAS || epsilon == 0;
}

static void figure_5_draw(report *r, cellar_chart_box boxes[3][N_SERIES][N_EPSILONS])
{
    static const char *const titles[] = {"Figure 5: total variation, 6 margins of one column",
                                         "Figure 5: total variation, 15 margins of two columns",
                                         "Figure 5: total variation, 20 margins of three columns"};
    cellar_output *csv = report_open(r, "figure5.csv");
    cellar_error err;
    if (csv != NULL)
        cellar_output_string(csv, "mechanism,epsilon,ways,q05,q25,median,q75,q95\n");
    for (int w = 0; w < 3; w++) {
        char name[32];
        cellar_chart *chart =
            report_chart(titles[w],
                         "Box plots over margins and copies: quartiles, and the middle "
                         "nine tenths as whiskers.",
                         "ε", 0, "total variation");
        report_check(cellar_chart_set_categories(chart, figure_5_epsilons, N_EPSILONS, &err), &err);
        for (int s = 0; s < N_SERIES; s++) {
            report_check(
                cellar_chart_add_boxes(chart, figure_5_series[s], boxes[w][s], N_EPSILONS, &err),
                &err);
            for (int e = 0; e < N_EPSILONS; e++) {
                const cellar_chart_box *b = &boxes[w][s][e];
                char label[96];
                snprintf(label, sizeof label, "\"%s\",%s", figure_5_series[s],
                         figure_5_epsilons[e]);
                report_line(
                    csv, label,
                    (double[]){w + 1, b->low, b->quarter, b->median, b->three_quarters, b->high},
                    6);
            }
        }
        snprintf(name, sizeof name, "figure5-%dway", w + 1);
        report_draw(r, chart, name);
    }
    report_close(csv);
}

static void figure_5(report *r)
{
    static const char *const margins[] = {"margins of one column", "margins of two columns",
                                          "margins of three columns"};
    static const char *const printed[] = {"6", "15", "20"};
    static const char *const medians[] = {"median TVD, one column, Laplace",
                                          "median TVD, two columns, Laplace",
                                          "median TVD, three columns, Laplace"};
    static cellar_chart_box boxes[3][N_SERIES][N_EPSILONS];
    const char *path = report_data(r, "bankruptcy.csv");
    double n[3] = {0};
    cellar_table *table;
    report_item(r, "Figure 5");
    report_errs(r, "a good choice of δ, a probability", "δ ≥ 1", NAN, NAN, "H7");
    if (path == NULL) {
        report_no_data(r, "total variation of margins", "bankruptcy.csv was not given (--data)");
        return;
    }
    table = bankruptcy_table(path);
    for (int s = 0; s < N_SERIES; s++)
        for (int e = 0; e < N_EPSILONS; e++) {
            char spec[96];
            cellar_chart_box box[3] = {
                {NAN, NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN, NAN}};
            if (figure_5_spec(s, e, spec, sizeof spec))
                variation_of(table, spec, box, n);
            for (int w = 0; w < 3; w++)
                boxes[w][s][e] = box[w];
        }
    cellar_table_free(table);
    figure_5_draw(r, boxes);
    for (int w = 0; w < 3; w++) {
        const cellar_chart_box *b = boxes[w][0];
        report_rounds(r, margins[w], printed[w], n[w]);
        report_claim(r, medians[w], "big drops from ε = 0.1 to 1 to 10",
                     b[0].median > 1.5 * b[1].median && b[1].median > 1.5 * b[2].median,
                     "%.3f, %.3f, %.3f", b[0].median, b[1].median, b[2].median);
    }
}

int main(int argc, char **argv)
{
    report *r =
        report_begin(argc, argv, "homogeneity-2022", "Liu, Zhao, Zhang (2022): Homogeneity attack");
    data_sets d = {{adult_cells(), bankruptcy(), bankruptcy_subset()}, adult_by_columns()};
    report_item(r, "Figure 1");
    report_drawing(r, "an example of the attack");
    report_item(r, "Figure 2");
    report_drawing(r, "how four measures relate (`docs/risk.md`)");
    report_item(r, "Table 1");
    report_drawing(r, "which theorem is about what");
    figure_3(r, &d);
    figure_4(r, &d);
    figure_5(r);
    homogeneity_text(r, &d);
    for (int set = 0; set < N_SETS; set++)
        cellar_groups_free(d.of[set]);
    cellar_groups_free(d.by_columns);
    return report_end(r);
}
