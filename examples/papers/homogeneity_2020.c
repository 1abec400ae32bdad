/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Disclosure risk from homogeneity attack in differentially private frequency distribution" (Liu,
 * Zhao, Zhang 2020): its six figures.
 *
 * Its data are Adult and Bankruptcy, of which the counts of groups in risk_groups.h are enough. Its
 * groups are all homogeneous, so that its formulas are exact. */
#include <math.h>
#include <stdio.h>

#include "homogeneity.h"

enum { N_CURVE = 51, N_EMPIRICAL = 11, N_DELTAS = 25 };

static const char laplace[] = "laplace:epsilon=%";
static const char classic[] = "gaussian:epsilon=%,delta=0.001,calibration=classic";
static const char pdp[] = "gaussian:epsilon=%,delta=0.001,calibration=pdp-liu";

typedef struct data_set {
    cellar_groups *groups;
    uint64_t n_copies; /* the paper makes 500; the mean over Adult's many groups needs fewer */
} data_set;

/* ---- Figures 1 and 2 --------------------------------------------------------------- */

static void figures_1_and_2(report *r, const data_set *sets)
{
    cellar_groups *by_columns = adult_by_columns();
    histogram(r, HISTOGRAM_ADULT, "Figure 1: bin counts of Adult", "figure1");
    histogram(r, HISTOGRAM_BANKRUPTCY, "Figure 2: bin counts of Bankruptcy", "figure2");
    report_item(r, "Figure 1");
    report_rounds(r, "individuals, Adult", "27,504",
                  (double) cellar_groups_n_records(sets[0].groups));
    report_errs(r, "bins of the six columns, Adult", "5974",
                (double) cellar_groups_n_groups(sets[0].groups),
                (double) cellar_groups_n_groups(by_columns), "H3");
    report_errs(r, "homogeneous bins, Adult", "5974 (all)",
                (double) cellar_groups_n_homogeneous(sets[0].groups),
                (double) cellar_groups_n_homogeneous(by_columns), "H3");
    report_item(r, "Figure 2");
    report_rounds(r, "observations, Bankruptcy", "250",
                  (double) cellar_groups_n_records(sets[1].groups));
    report_rounds(r, "homogeneous cells, Bankruptcy", "103",
                  (double) cellar_groups_n_homogeneous(sets[1].groups));
    cellar_groups_free(by_columns);
}

/* ---- Figures 3 and 4 --------------------------------------------------------------- */

/* The formula, and the mean over sanitised copies with its error. */
typedef struct panel {
    uint64_t n_copies;
    double epsilon[N_CURVE], formula[N_CURVE];
    double at[N_EMPIRICAL], expected[N_EMPIRICAL], mean[N_EMPIRICAL], sd[N_EMPIRICAL];
    double largest_z; /* of the differences of means and formula, in standard errors */
} panel;

/* The copies begin at `low`: to draw with a very large sigma takes long preparations. */
static void panel_formula(const data_set *set, const char *format, double low, double high,
                          panel *p)
{
    cellar_risk_options formula = cellar_risk_options_default();
    cellar_risk_summary s[N_CURVE];
    formula.measure = CELLAR_RISK_EXPECTED;
    formula.method = CELLAR_RISK_PUBLISHED_2020;
    log_grid(0.001, high, N_CURVE, p->epsilon);
    risk_curve(set->groups, format, p->epsilon, N_CURVE, &formula, s);
    for (int i = 0; i < N_CURVE; i++)
        p->formula[i] = s[i].mean.value;
    log_grid(low, high, N_EMPIRICAL, p->at);
    risk_curve(set->groups, format, p->at, N_EMPIRICAL, &formula, s);
    for (int i = 0; i < N_EMPIRICAL; i++)
        p->expected[i] = s[i].mean.value;
}

/* The error of a mean is told from the formula, for the copies may all be alike: the variance of a
 * mean of independent indicators is at most that of as many with the mean probability. */
static void panel_simulate(const data_set *set, const char *format, panel *p)
{
    cellar_risk_options simulate = cellar_risk_options_default();
    double n = (double) set->n_copies * (double) cellar_groups_n_groups(set->groups);
    cellar_risk_summary s[N_EMPIRICAL];
    simulate.measure = CELLAR_RISK_LOCAL;
    simulate.method = CELLAR_RISK_SIMULATE;
    simulate.copies = set->n_copies;
    simulate.seed = 2020;
    risk_curve(set->groups, format, p->at, N_EMPIRICAL, &simulate, s);
    p->n_copies = set->n_copies;
    p->largest_z = 0;
    for (int i = 0; i < N_EMPIRICAL; i++) {
        double difference = fabs(s[i].mean.value - p->expected[i]);
        double se = sqrt(p->expected[i] * fmax(0, 1 - p->expected[i]) / n);
        p->mean[i] = s[i].mean.value;
        p->sd[i] = s[i].sd;
        if (difference > 1e-12)
            p->largest_z = fmax(p->largest_z, difference / se);
    }
}

static void panel_draw(report *r, const panel *p, const char *title, const char *name)
{
    char file[64], series[64];
    cellar_output *csv;
    cellar_chart *chart = report_chart(
        title, "Risk against epsilon: the formula, and means of copies.", "ε", 1, "risk");
    snprintf(series, sizeof series, "mean of %d copies", (int) p->n_copies);
    report_curve(chart, "formula", p->epsilon, p->formula, N_CURVE);
    report_points(chart, series, p->at, p->mean, N_EMPIRICAL);
    report_draw(r, chart, name);
    snprintf(file, sizeof file, "%s.csv", name);
    csv = report_open(r, file);
    if (csv != NULL)
        cellar_output_string(csv, "epsilon,formula,simulated_mean,simulated_sd\n");
    for (int i = 0; i < N_CURVE; i++)
        report_line(csv, NULL, (double[]){p->epsilon[i], p->formula[i], NAN, NAN}, 4);
    for (int i = 0; i < N_EMPIRICAL; i++)
        report_line(csv, NULL, (double[]){p->at[i], p->expected[i], p->mean[i], p->sd[i]}, 4);
    report_close(csv);
}

/* 11 means; a largest z above 4 would be a false alarm in 1,400. */
static void panel_match(report *r, const char *quantity, const panel *p)
{
    report_claim(r, quantity, "formula and copies match", p->largest_z < 4,
                 "largest difference %.2f s.e.", p->largest_z);
}

static void figure_3(report *r, const data_set *sets)
{
    static const char *const names[] = {"figure3-adult", "figure3-bankruptcy"};
    static const char *const titles[] = {"Figure 3: Adult, Laplace",
                                         "Figure 3: Bankruptcy, Laplace"};
    static const char *const match[] = {"Adult, 11 values of ε", "Bankruptcy, 11 values of ε"};
    static const char *const low[] = {"Adult, lower asymptote", "Bankruptcy, lower asymptote"};
    static const char *const high[] = {"Adult, risk at ε = 10", "Bankruptcy, risk at ε = 10"};
    report_item(r, "Figure 3");
    for (int d = 0; d < 2; d++) {
        panel p;
        double at_ten =
            risk_at(sets[d].groups, "laplace:epsilon=10", CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT);
        panel_formula(&sets[d], laplace, 0.001, 100, &p);
        panel_simulate(&sets[d], laplace, &p);
        panel_draw(r, &p, titles[d], names[d]);
        panel_match(r, match[d], &p);
        report_rounds(r, low[d], "0.25",
                      risk_at(sets[d].groups, "laplace:epsilon=0.000001", CELLAR_RISK_EXPECTED,
                              CELLAR_RISK_EXACT));
        report_claim(r, high[d], "around 100 %", at_ten > 0.99, "%.2f %%", 100 * at_ten);
    }
}

static void figure_4(report *r, const data_set *sets)
{
    static const char *const names[][2] = {{"figure4a", "figure4b"}, {"figure4c", "figure4d"}};
    static const char *const titles[][2] = {
        {"Figure 4a: Adult, Gaussian, (ε, 0.001)-DP", "Figure 4b: Adult, Gaussian, (ε, 0.001)-pDP"},
        {"Figure 4c: Bankruptcy, Gaussian, (ε, 0.001)-DP",
         "Figure 4d: Bankruptcy, Gaussian, (ε, 0.001)-pDP"}};
    static const char *const match[][2] = {{"Adult, (ε, δ)-DP", "Adult, (ε, δ)-pDP"},
                                           {"Bankruptcy, (ε, δ)-DP", "Bankruptcy, (ε, δ)-pDP"}};
    static const char *const gap[] = {"Adult, pDP less DP, ε < 1",
                                      "Bankruptcy, pDP less DP, ε < 1"};
    report_item(r, "Figure 4");
    for (int d = 0; d < 2; d++) {
        panel of_dp, of_pdp, below_one;
        double largest = 0, least = 1;
        panel_formula(&sets[d], classic, 0.1, 0.999, &of_dp);
        panel_simulate(&sets[d], classic, &of_dp);
        panel_formula(&sets[d], pdp, 0.1, 100, &of_pdp);
        panel_simulate(&sets[d], pdp, &of_pdp);
        panel_formula(&sets[d], pdp, 0.1, 0.999, &below_one);
        panel_draw(r, &of_dp, titles[d][0], names[d][0]);
        panel_draw(r, &of_pdp, titles[d][1], names[d][1]);
        panel_match(r, match[d][0], &of_dp);
        panel_match(r, match[d][1], &of_pdp);
        for (int i = 0; i < N_CURVE; i++) {
            largest = fmax(largest, below_one.formula[i] - of_dp.formula[i]);
            least = fmin(least, below_one.formula[i] - of_dp.formula[i]);
        }
        report_claim(r, gap[d], "slightly larger, below 0.05", least > 0 && largest < 0.05,
                     "%.4f at most (δ = 0.001)", largest);
    }
}

/* ---- Figure 5 ------------------------------------------------------------------------ */

static void figure_5(report *r, const data_set *sets)
{
    static const char *const names[] = {"figure5-adult", "figure5-bankruptcy"};
    static const char *const titles[] = {"Figure 5: Adult, Gaussian, (ε, δ)-pDP",
                                         "Figure 5: Bankruptcy, Gaussian, (ε, δ)-pDP"};
    static const char *const quantity[] = {"Adult, δ from 0.0001 to 0.1", "Bankruptcy, the same"};
    cellar_risk_options exact = cellar_risk_options_default();
    double epsilon[N_CURVE], delta[N_DELTAS], risk[N_DELTAS * N_CURVE];
    exact.measure = CELLAR_RISK_EXPECTED;
    log_grid(0.001, 100, N_CURVE, epsilon);
    log_grid(0.0001, 0.1, N_DELTAS, delta);
    report_item(r, "Figure 5");
    for (int d = 0; d < 2; d++) {
        cellar_chart_options options = cellar_chart_options_default();
        double by_epsilon, by_delta = 0;
        cellar_chart *chart;
        cellar_output *csv;
        cellar_error err;
        char file[64];

        snprintf(file, sizeof file, "%s.csv", names[d]);
        csv = report_open(r, file);
        if (csv != NULL)
            cellar_output_string(csv, "epsilon,delta,risk\n");
        for (int j = 0; j < N_DELTAS; j++) {
            char format[96];
            cellar_risk_summary s[N_CURVE];
            snprintf(format, sizeof format, "gaussian:epsilon=%%,delta=%.6g,calibration=pdp-liu",
                     delta[j]);
            risk_curve(sets[d].groups, format, epsilon, N_CURVE, &exact, s);
            for (int i = 0; i < N_CURVE; i++) {
                risk[j * N_CURVE + i] = s[i].mean.value;
                report_line(csv, NULL, (double[]){epsilon[i], delta[j], s[i].mean.value}, 3);
            }
        }
        report_close(csv);
        for (int i = 0; i < N_CURVE; i++)
            by_delta = fmax(by_delta, risk[(N_DELTAS - 1) * N_CURVE + i] - risk[i]);
        by_epsilon = risk[N_CURVE - 1] - risk[0];
        options.title = titles[d];
        options.description = "The risk grows with epsilon in an S, and little with delta.";
        options.x = (cellar_chart_axis){"ε", 1, NAN, NAN};
        options.y = (cellar_chart_axis){"δ", 1, NAN, NAN};
        report_check(cellar_chart_create(&options, &chart, &err), &err);
        report_check(
            cellar_chart_add_surface(chart, "risk", epsilon, N_CURVE, delta, N_DELTAS, risk, &err),
            &err);
        report_draw(r, chart, names[d]);
        report_claim(r, quantity[d], "ε matters, δ does not show", by_delta < by_epsilon / 2,
                     "%.2f by ε, %.2f by δ at most", by_epsilon, by_delta);
    }
}

/* ---- Figure 6, and the sums that begin at 0 --------------------------------------------- */

static void figure_6(report *r, const data_set *adult)
{
    static const cellar_risk_measure measures[] = {CELLAR_RISK_HARD, CELLAR_RISK_SOFT};
    static const char *const series[] = {"hard thresholding", "soft thresholding"};
    static const char *const low[] = {"hard, risk at ε = 0.02", "soft, risk at ε = 0.02"};
    static const char *const high[] = {"hard, risk at ε = 100", "soft, risk at ε = 100"};
    double epsilon[N_CURVE], risk[2][N_CURVE];
    cellar_output *csv = report_open(r, "figure6.csv");
    cellar_chart *chart = report_chart(
        "Figure 6: Adult, guesses in every group, Laplace",
        "Risk against epsilon when groups with several values are guessed, too.", "ε", 1, "risk");
    log_grid(0.02, 100, N_CURVE, epsilon); /* sums over wide laws take their time */
    report_item(r, "Figure 6");
    for (int m = 0; m < 2; m++) {
        const cellar_risk_options options = {.measure = measures[m]};
        cellar_risk_summary s[N_CURVE];
        risk_curve(adult->groups, laplace, epsilon, N_CURVE, &options, s);
        for (int i = 0; i < N_CURVE; i++)
            risk[m][i] = s[i].mean.value;
        report_curve(chart, series[m], epsilon, risk[m], N_CURVE);
        report_claim(r, low[m], "asymptote above 1/4", risk[m][0] > 0.25, "%.4f", risk[m][0]);
        report_rounds(r, high[m], "asymptote 100 %", 100 * risk[m][N_CURVE - 1]);
    }
    if (csv != NULL)
        cellar_output_string(csv, "epsilon,hard,soft\n");
    for (int i = 0; i < N_CURVE; i++)
        report_line(csv, NULL, (double[]){epsilon[i], risk[0][i], risk[1][i]}, 3);
    report_close(csv);
    report_draw(r, chart, "figure6");
}

/* (3.3) with Beta(1, 1) and Poisson(1), from n = 0 as printed, and from n = 1. */
static double equation_3_3(double epsilon, int first)
{
    double sum = 0, poisson = exp(-1);
    for (int n = 0; n < 100; n++) {
        if (n >= first)
            sum += poisson * (1 - 0.5 * exp(-epsilon * (n - 0.5))) * 2 / (n + 1);
        poisson /= n + 1;
    }
    return (1 - 0.5 * exp(-0.5 * epsilon)) * sum;
}

int main(int argc, char **argv)
{
    report *r = report_begin(argc, argv, "homogeneity-2020",
                             "Liu, Zhao, Zhang (2020): Homogeneity attack, first version");
    data_set sets[] = {{adult_cells(), 40}, {bankruptcy(), 500}};
    figures_1_and_2(r, sets);
    figure_3(r, sets);
    figure_4(r, sets);
    figure_5(r, sets);
    figure_6(r, sets);
    report_item(r, "Section 4");
    report_drawing(r, "27 and 34 seconds for the copies (a timing on the authors' computer)");
    report_item(r, "Corollary 3.6");
    report_errs(r, "(3.3), Beta(1, 1), Poisson(1), ε = 10, a risk", NULL, equation_3_3(10, 0),
                equation_3_3(10, 1), "H6");
    for (int d = 0; d < 2; d++)
        cellar_groups_free(sets[d].groups);
    return report_end(r);
}
