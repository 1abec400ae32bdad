/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Confidentiality and differential privacy in the dissemination of frequency tables" (Rinott,
 * O'Keefe, Shlomo, Skinner 2018), sections 6 and 7: Table 3, Figure 4, and what margins cost.
 * frequency_tables.c has the rest.
 *
 * Table 3 is a simulation of 1,000 tables per setting, ours one of 2,000. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/mechanism.h>
#include <cellar/random.h>
#include <cellar/study.h>
#include <cellar/table_file.h>

#include "report.h"

enum { N_SETTINGS = 4, N_TESTS = 3, N_TABLES = 2000, N_BINS = 25, N_DRAWS = 500, N_TRIALS = 80 };

/* ---- Table 3 ----------------------------------------------------------------------- */

/* As printed: share of p-values at most 0.05 in per cent, mean statistic and its error, mean
 * p-value and its error; original, naive and aware. */
typedef struct printed {
    const char *rejected;
    double statistic, statistic_se, p, p_se;
} printed;

typedef struct setting {
    const char *name, *mechanism;
    printed independent[N_TESTS], dependent[N_TESTS];
    double dependence; /* gives design 1 the printed mean statistic of the counts (errata, T2) */
} setting;

static const setting settings[N_SETTINGS] = {{"ε = 0.1, m = 10",
                                              "truncated-laplace:epsilon=0.1,m=10",
                                              {{"5.0", 81.6, 0.395, 0.487, 0.009},
                                               {"86.7", 124.5, 0.616, 0.027, 0.002},
                                               {"3.0", 78.6, 0.388, 0.555, 0.009}},
                                              {{"79.3", 118.8, 0.587, 0.044, 0.003},
                                               {"99.6", 162.1, 0.792, 0.001, 0.000},
                                               {"51.0", 103.6, 0.526, 0.140, 0.006}},
                                              0.2967},
                                             {"ε = 0.1, m = 7",
                                              "truncated-laplace:epsilon=0.1,m=7",
                                              {{"6.0", 81.7, 0.423, 0.487, 0.009},
                                               {"53.3", 105.1, 0.524, 0.123, 0.006},
                                               {"4.0", 80.1, 0.400, 0.521, 0.009}},
                                              {{"87.3", 124.8, 0.620, 0.027, 0.003},
                                               {"98.3", 149.2, 0.742, 0.004, 0.001},
                                               {"73.3", 114.5, 0.583, 0.066, 0.004}},
                                              0.3183},
                                             {"ε = 0.5, m = 10",
                                              "truncated-laplace:epsilon=0.5,m=10",
                                              {{"5.8", 81.7, 0.414, 0.485, 0.009},
                                               {"25.4", 92.9, 0.476, 0.274, 0.008},
                                               {"6.9", 82.5, 0.419, 0.467, 0.009}},
                                              {{"82.1", 118.3, 0.551, 0.041, 0.003},
                                               {"91.3", 129.3, 0.601, 0.017, 0.002},
                                               {"76.3", 114.8, 0.532, 0.054, 0.004}},
                                              0.2936},
                                             {"ε = 0.5, m = 7",
                                              "truncated-laplace:epsilon=0.5,m=7",
                                              {{"4.7", 81.4, 0.395, 0.485, 0.009},
                                               {"18.7", 90.8, 0.435, 0.299, 0.008},
                                               {"5.3", 82.0, 0.391, 0.473, 0.009}},
                                              {{"81.3", 119.6, 0.591, 0.040, 0.003},
                                               {"91.0", 128.6, 0.627, 0.018, 0.002},
                                               {"76.9", 116.2, 0.567, 0.051, 0.003}},
                                              0.2985}};
static const char *const test_names[N_TESTS] = {"original", "naive", "LR"};

/* `design` is 0 when effects are drawn anew for every table, else the seed of one design. */
static cellar_study study_of(const setting *s, double dependence, uint64_t n_tables, double eta,
                             uint64_t design)
{
    cellar_study_spec spec = cellar_study_spec_default();
    cellar_study study;
    cellar_error err;
    spec.mechanism = s->mechanism;
    spec.dependence = dependence;
    spec.n_tables = n_tables;
    spec.eta = eta;
    spec.fixed_effects = design > 0;
    spec.seed = design > 0 ? design : 61 + (uint64_t) (s - settings);
    report_check(cellar_study_run(&spec, &study, &err), &err);
    return study;
}

/* A number with its error as printed, beside ours. */
static void table_3_row(report *r, const char *name, const char *what, int n_decimals,
                        double printed_value, double printed_se, double value, double se)
{
    char quantity[128], published[32];
    snprintf(quantity, sizeof quantity, "%s: %s", name, what);
    snprintf(published, sizeof published, "%.*f", n_decimals, printed_value);
    report_simulated(r, quantity, published, printed_se, value, se, "T2");
}

/* Rows of one setting: the share rejected, the mean statistic and the mean p-value of each test. A
 * mean p-value below 0.001 is printed with the error 0.000. */
static void table_3_rows(report *r, const setting *s, int is_dependent, const cellar_study *study,
                         cellar_output *csv)
{
    const cellar_study_result *ours[] = {&study->original, &study->naive, &study->aware};
    const printed *paper = is_dependent ? s->dependent : s->independent;
    const char *kind = is_dependent ? "dependent" : "independent";
    for (int t = 0; t < N_TESTS; t++) {
        const cellar_study_result *x = ours[t];
        char name[96];
        double share = strtod(paper[t].rejected, NULL);
        snprintf(name, sizeof name, "%s, %s, %s", s->name, kind, test_names[t]);
        table_3_row(r, name, "% rejected", 1, share, sqrt(share * (100 - share) / 1000),
                    100 * x->rejected, 100 * x->rejected_se);
        table_3_row(r, name, "mean statistic", 1, paper[t].statistic, paper[t].statistic_se,
                    x->statistic, x->statistic_se);
        table_3_row(r, name, "mean p-value", 3, paper[t].p, paper[t].p_se, x->p_value,
                    x->p_value_se);
        snprintf(name, sizeof name, "\"%s\",%s,%s", s->name, kind, test_names[t]);
        report_line(csv, name,
                    (double[]){share / 100, x->rejected, x->rejected_se, paper[t].statistic,
                               x->statistic, x->statistic_se, paper[t].p, x->p_value,
                               x->p_value_se},
                    9);
    }
}

/* Independent tables with effects drawn each time, as the text has it; dependent ones with those of
 * design 1, for the printed means of the counts differ as only fixed effects make them. */
static void table_3(report *r)
{
    cellar_output *csv = report_open(r, "table3.csv");
    report_item(r, "Table 3, effects drawn each time");
    if (csv != NULL)
        cellar_output_string(csv,
                             "setting,tables,test,rejected_published,rejected,rejected_se,"
                             "statistic_published,statistic,statistic_se,p_published,p,p_se\n");
    for (int d = 0; d < 2; d++) {
        if (d == 1)
            report_item(r, "Table 3, effects drawn once, the factor of γ fitted (errata, T2)");
        for (int s = 0; s < N_SETTINGS; s++) {
            cellar_study study =
                study_of(&settings[s], d ? settings[s].dependence : 0, N_TABLES, 4, (uint64_t) d);
            table_3_rows(r, &settings[s], d, &study, csv);
        }
    }
    report_close(csv);
}

/* The naive statistic of independent tables when effects are drawn once: its mean and its standard
 * deviation over 20 designs. */
static void over_designs(const setting *s, double *mean, double *sd)
{
    enum { N_DESIGNS = 20 };
    double sum = 0, squares = 0;
    for (uint64_t design = 1; design <= N_DESIGNS; design++) {
        double statistic = study_of(s, 0, 200, 4, design).naive.statistic;
        sum += statistic;
        squares += statistic * statistic;
    }
    *mean = sum / N_DESIGNS;
    *sd = sqrt((squares - sum * sum / N_DESIGNS) / (N_DESIGNS - 1));
}

static void section_6_1(report *r)
{
    double mean, sd;
    cellar_study as_printed = study_of(&settings[0], 0.7, 1000, 4, 0);
    cellar_study many = study_of(&settings[0], 0, N_TABLES, 5.99, 0);
    cellar_study level = study_of(&settings[2], 0, (uint64_t) 4 * N_TABLES, 4, 0);
    report_item(r, "Section 6.1");
    report_rounds(r, "parameters of a 10 × 10 table", "19", 1 + 2 * (10 - 1));
    report_rounds(r, "degrees of freedom", "81", (10 - 1) * (10 - 1));
    report_remark(r, "average cell, effects drawn each time", "about 50", NAN,
                  exp(4) * pow(2 * sinh(0.5), 2), 1, "not reproduced", "T2");
    report_errs(r, "mean G² of the counts with 0.7 γ", "118.8", NAN, as_printed.original.statistic,
                "T2");
    over_designs(&settings[0], &mean, &sd);
    report_simulated(r, "naive statistic, effects drawn once, ± sd of 20 designs", "124.5", 0.616,
                     mean, sd, "T2");
    report_errs(r, "LR level in %: table and text disagree", "6.9 and 0.058", NAN,
                100 * level.aware.rejected, "T1");
    report_simulated(r, "the same against the text's 0.058", "0.058", sqrt(0.058 * 0.942 / 1000),
                     level.aware.rejected, level.aware.rejected_se, "T1");
    report_simulated(r, "naive level, mean count 400, ε = 0.1, m = 10", "about 0.12",
                     sqrt(0.12 * 0.88 / 1000), many.naive.rejected, many.naive.rejected_se, "T1");
    report_simulated(r, "LR level, mean count 400, ε = 0.1, m = 10", "about 0.05",
                     sqrt(0.05 * 0.95 / 1000), many.aware.rejected, many.aware.rejected_se, "T1");
}

/* ---- Figure 4 and section 6.2 --------------------------------------------------------- */

static cellar_binomial binomial(const char *mechanism, double null, double alternative,
                                double critical, int64_t released)
{
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial out;
    cellar_error err;
    spec.n_trials = N_TRIALS;
    spec.null = null;
    spec.alternative = alternative;
    spec.critical = critical;
    spec.mechanism = mechanism;
    report_check(cellar_binomial_run(&spec, released, &out, &err), &err);
    return out;
}

/* Draws 500 released numbers with p = 1/2, and counts their statistics in bins of 2, up to 50 as
 * the paper does. */
static void draw_statistics(const char *spec, double bins[2][N_BINS + 1])
{
    static const double nulls[] = {0.5, 0.7};
    cellar_mechanism *mechanism;
    cellar_rng *rng;
    cellar_error err;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    report_check(cellar_rng_create_seeded(62, 0, &rng, &err), &err);
    for (int i = 0; i < N_DRAWS; i++) {
        unsigned char coins[N_TRIALS / 8];
        int64_t count = 0, released;
        report_check(cellar_rng_bytes(rng, coins, sizeof coins, &err), &err);
        for (size_t b = 0; b < N_TRIALS; b++)
            count += coins[b / 8] >> b % 8 & 1;
        report_check(cellar_mechanism_sample_many(mechanism, &count, 1, rng, &released, &err),
                     &err);
        for (int h = 0; h < 2; h++) {
            double statistic = binomial(spec, nulls[h], NAN, NAN, released).aware.statistic;
            bins[h][(int) fmin(statistic / 2, N_BINS - 0.5)]++;
        }
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
}

static void figure_4(report *r)
{
    double bins[2][N_BINS + 1] = {{0}}, x[N_BINS + 1];
    cellar_output *csv = report_open(r, "figure4.csv");
    cellar_chart *chart = report_chart(
        "Figure 4: twice the log likelihood ratio, 500 draws with p = ½",
        "Histograms of the statistic: small for the true hypothesis, large for the wrong one.",
        "statistic", 0, "draws");
    draw_statistics("truncated-laplace:epsilon=0.5,m=5", bins);
    if (csv != NULL)
        cellar_output_string(csv, "from,p_0.5,p_0.7\n");
    for (int i = 0; i <= N_BINS; i++) {
        x[i] = 2 * i;
        report_line(csv, NULL, (double[]){x[i], bins[0][i], bins[1][i]}, 3);
    }
    report_close(csv);
    report_steps(chart, "H₀: p = 0.5", x, bins[0], N_BINS + 1);
    report_steps(chart, "H₀: p = 0.7", x, bins[1], N_BINS + 1);
    report_draw(r, chart, "figure4");
    report_item(r, "Figure 4");
    report_claim(r, "draws below 4, H₀: p = 0.5 and 0.7", "mostly small; most are large",
                 bins[0][0] + bins[0][1] > 450 && bins[1][0] + bins[1][1] < 50,
                 "%.0f and %.0f of 500", bins[0][0] + bins[0][1], bins[1][0] + bins[1][1]);
}

/* The critical value is that of the test of 0.5, the power that of the test of 0.7 with it. */
static void section_6_2(report *r)
{
    static const struct {
        const char *spec, *critical, *power;
        const char *critical_name, *level_name, *power_name, *other_name;
        double printed;
    } rows[] = {{"truncated-laplace:epsilon=0.5,m=5", "3.36", "0.95", "critical value, m = 5",
                 "its exact level, m = 5", "power, m = 5",
                 "level of the test of 0.7 with it, m = 5", 0.95},
                {"truncated-laplace:epsilon=0.5,m=10", "3.82", "0.92", "critical value, m = 10",
                 "its exact level, m = 10", "power, m = 10",
                 "level of the test of 0.7 with it, m = 10", 0.92}};
    cellar_binomial asymptotic;
    report_item(r, "Section 6.2");
    for (int i = 0; i < 2; i++) {
        cellar_binomial of_null = binomial(rows[i].spec, 0.5, NAN, NAN, 40);
        cellar_binomial other = binomial(rows[i].spec, 0.7, 0.5, of_null.critical_value, 40);
        report_rounds(r, rows[i].critical_name, rows[i].critical, of_null.critical_value);
        report_beyond(r, rows[i].level_name, NAN, of_null.exact_level, "T3");
        report_simulated(r, rows[i].power_name, rows[i].power,
                         sqrt(rows[i].printed * (1 - rows[i].printed) / N_DRAWS), other.power, NAN,
                         "T3");
        report_beyond(r, rows[i].other_name, NAN, other.exact_level, "T3");
    }
    report_simulated(r, "power without noise", "0.96", sqrt(0.96 * 0.04 / N_DRAWS),
                     binomial("identity", 0.7, 0.5, 3.841, 40).power, NAN, "T3");
    asymptotic = binomial(rows[0].spec, 0.7, 0.5, 3.8415, 40);
    report_rounds(r, "critical value of χ² with 1 degree of freedom", "3.84", 3.841458820694124);
    report_claim(r, "power and level at 3.84, m = 5", "change very little",
                 fabs(asymptotic.power - 0.95) < 0.05, "%.3f and %.4f", asymptotic.power,
                 binomial(rows[0].spec, 0.5, NAN, 3.8415, 40).exact_level);
}

/* ---- section 7 ------------------------------------------------------------------------- */

static const char three_way[] = "a,b,c,count\n0,0,0,1\n1,1,1,1\n";
static const char four_way[] = "a,b,c,d,count\n0,0,0,0,1\n1,1,1,1,1\n";

/* The d of a table with these margins: the cells that one record touches. */
static double cells_per_record(const char *csv, const cellar_margins *margins, uint64_t without)
{
    cellar_table *table, *expanded;
    cellar_error err;
    double d;
    report_check(cellar_table_parse("table.csv", csv, strlen(csv), NULL, &table, &err), &err);
    report_check(cellar_table_create_expanded(table, margins, &expanded, &err), &err);
    d = (double) (cellar_schema_cells_per_record(cellar_table_schema(expanded)) - without);
    cellar_table_free(expanded);
    cellar_table_free(table);
    return d;
}

/* epsilon times the standard deviation of a number that is the sum of n cells, each with noise of
 * epsilon / d; epsilon is small, as in the paper's approximation. */
static double deviation(double d, double n)
{
    const double epsilon = 0.01;
    cellar_mechanism *mechanism;
    cellar_moments moments;
    cellar_error err;
    char spec[64];
    snprintf(spec, sizeof spec, "discrete-laplace:epsilon=%.9f", epsilon / d);
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    cellar_mechanism_moments(mechanism, 1000, CELLAR_NEGATIVES_KEEP, &moments);
    cellar_mechanism_free(mechanism);
    return epsilon * sqrt(n * moments.variance);
}

static void section_7(report *r)
{
    static const uint64_t pairs[] = {3, 5, 6, 9, 10, 12}; /* bit v: variable v is kept */
    const cellar_margins two_way = {.masks = pairs, .n_masks = 6}, all = {.all = 1};
    double d_pairs = cells_per_record(four_way, &two_way, 1); /* without the inner cells */
    double d_all = cells_per_record(four_way, &all, 1);       /* without the total */
    report_item(r, "Section 7");
    report_rounds(r, "d, margins of two variables", "6", d_pairs);
    report_rounds(r, "d, everything but the total", "15", d_all);
    report_rounds(r, "SD × ε of a margin of two, summed", "14", deviation(1, 100));
    report_rounds(r, "SD × ε, only those margins", "8.5", deviation(d_pairs, 1));
    report_rounds(r, "SD × ε, everything", "21", deviation(d_all, 1));
    report_rounds(r, "d, a three-way table, everything but the total", "7",
                  cells_per_record(three_way, &all, 1));
    report_claim(r, "ε/3 for two tables and ε/15 for five", "DP(ε)",
                 fabs(2. / 3 + 5. / 15 - 1) < 1e-15, "the sum is ε");
}

int main(int argc, char **argv)
{
    report *r = report_begin(argc, argv, "frequency-tests",
                             "Rinott, O'Keefe, Shlomo, Skinner: Tests and margins");
    table_3(r);
    section_6_1(r);
    figure_4(r);
    section_6_2(r);
    section_7(r);
    return report_end(r);
}
