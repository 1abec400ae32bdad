/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of the text of "Disclosure risk from homogeneity attack in differentially privately
 * sanitized frequency distribution" (2022), and the curves of the global risk of its section 4. */
#include "homogeneity_2022.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double cell_risk(const cellar_risk_cell *cell, const char *spec, cellar_risk_measure measure,
                        cellar_risk_method method)
{
    cellar_mechanism *mechanism;
    cellar_risk risk;
    cellar_error err;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    report_check(cellar_risk_cell_assess(cell, mechanism, measure, method, &risk, &err), &err);
    cellar_mechanism_free(mechanism);
    return risk.value;
}

static double lambda_of(const cellar_groups *groups, cellar_size_zeros zeros)
{
    cellar_size_model model;
    cellar_hyper_fit fit;
    cellar_error err;
    report_check(cellar_size_fit(groups, CELLAR_SIZE_POISSON, zeros, &model, &fit, &err), &err);
    return model.lambda;
}

/* Where the second term of (15) is largest, by golden section: a function with one peak. */
static double peak(double n)
{
    double low = 1e-9, high = 5;
    while (high - low > 1e-10) {
        double a = low + (high - low) * 0.381966, b = low + (high - low) * 0.618034;
        double at_a = (1 - 0.5 * exp((1.5 - n) * a)) * exp(-0.5 * a);
        double at_b = (1 - 0.5 * exp((1.5 - n) * b)) * exp(-0.5 * b);
        if (at_a < at_b)
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* ---- the global risk with sizes from a Poisson distribution -------------------------------- */

/* (19) or (29) as printed, and the exact value given that the group is not empty, for groups in
 * which everybody has the same value. */
static void global_fixed(double lambda, const char *spec, double *formula, double *exact)
{
    const double one_value[] = {1, 0};
    const cellar_size_model plain = {CELLAR_SIZE_POISSON, CELLAR_SIZE_PLAIN, lambda, 0, 0};
    const cellar_size_model truncated = {CELLAR_SIZE_POISSON, CELLAR_SIZE_TRUNCATED, lambda, 0, 0};
    cellar_risk_cell cell = cellar_risk_cell_default();
    cell.n_values = 2;
    cell.shares = one_value;
    cell.model = &plain;
    *formula = cell_risk(&cell, spec, CELLAR_RISK_GLOBAL_FIXED, CELLAR_RISK_PUBLISHED);
    cell.model = &truncated;
    *exact = cell_risk(&cell, spec, CELLAR_RISK_GLOBAL_FIXED, CELLAR_RISK_EXACT);
}

/* One curve for the CSV and the chart. Answers the largest distance of the formula from the mean
 * risk of Figure 4. */
static double global_curve(cellar_chart *chart, cellar_output *csv, const data_sets *d, int set,
                           const char *name, const char *format, double largest_epsilon)
{
    cellar_risk_options options = cellar_risk_options_default();
    cellar_risk_summary s[N_CURVE];
    double epsilon[N_CURVE], formula[N_CURVE], distance = 0;
    double lambda = lambda_of(d->of[set], CELLAR_SIZE_PLAIN);
    char label[96], spec[128];
    options.measure = CELLAR_RISK_EXPECTED;
    log_grid(0.001, largest_epsilon, N_CURVE, epsilon);
    risk_curve(d->of[set], format, epsilon, N_CURVE, &options, s);
    snprintf(label, sizeof label, "%s,\"%s\"", set_names[set], name);
    for (int i = 0; i < N_CURVE; i++) {
        double exact;
        size_t before = strcspn(format, "%");
        snprintf(spec, sizeof spec, "%.*s%.6g%s", (int) before, format, epsilon[i],
                 format + before + 1);
        global_fixed(lambda, spec, &formula[i], &exact);
        report_line(csv, label, (double[]){epsilon[i], formula[i], exact}, 3);
        distance = fmax(distance, fabs(formula[i] - s[i].mean.value));
    }
    report_curve(chart, name, epsilon, formula, N_CURVE);
    return distance;
}

/* Section 4 says of these curves that they look like Figure 4. */
static void global_curves(report *r, const data_sets *d)
{
    static const char *const titles[] = {"Section 4: global risk, Adult, λ = 4.6",
                                         "Section 4: global risk, Bankruptcy, λ = 2.43"};
    static const char *const files[] = {"global-adult", "global-bankruptcy"};
    static const char *const rows[] = {"(19) and (29) less Figure 4, Adult, largest",
                                       "(19) and (29) less Figure 4, Bankruptcy, largest"};
    cellar_output *csv = report_open(r, "global.csv");
    if (csv != NULL)
        cellar_output_string(csv, "data,mechanism,epsilon,published_formula,exact_not_empty\n");
    for (int set = 0; set < 2; set++) {
        cellar_chart *chart =
            report_chart(titles[set], "The formula grows with epsilon in an S.", "ε", 1, "risk");
        double distance = global_curve(chart, csv, d, set, "Laplace", "laplace:epsilon=%", 100);
        for (int j = 0; j < 2 * N_DELTAS; j++) {
            int is_probabilistic = j >= N_DELTAS;
            char name[64], format[96];
            snprintf(name, sizeof name, "%s, δ = %s", is_probabilistic ? "pDP" : "aDP",
                     deltas[j % N_DELTAS]);
            snprintf(format, sizeof format, "gaussian:epsilon=%%,delta=%s,calibration=%s",
                     deltas[j % N_DELTAS], is_probabilistic ? "pdp-liu" : "classic");
            distance = fmax(distance, global_curve(chart, csv, d, set, name, format,
                                                   is_probabilistic ? 100 : 0.999));
        }
        report_draw(r, chart, files[set]);
        report_claim(r, rows[set], "generally similar", distance < 0.15, "%.3f", distance);
    }
    report_close(csv);
}

static void sizes(report *r, const data_sets *d)
{
    double formula, exact;
    report_item(r, "Section 4");
    report_rounds(r, "λ as fitted, Adult", "4.6", lambda_of(d->of[0], CELLAR_SIZE_PLAIN));
    report_rounds(r, "λ as fitted, Bankruptcy", "2.43", lambda_of(d->of[1], CELLAR_SIZE_PLAIN));
    report_beyond(r, "λ when no cell is empty, Bankruptcy", lambda_of(d->of[1], CELLAR_SIZE_PLAIN),
                  lambda_of(d->of[1], CELLAR_SIZE_TRUNCATED), "H4");
    global_curves(r, d);
    global_fixed(2.43, "laplace:epsilon=100", &formula, &exact);
    report_beyond(r, "(19) at ε = 100, λ = 2.43", formula, exact, "H6");
}

void homogeneity_text(report *r, const data_sets *d)
{
    static const char *const names[] = {"Appendix B: α of value A, subset",
                                        "Appendix B: α of value N, subset",
                                        "Appendix B: α of value P, subset"};
    static const cellar_risk_measure thresholds[] = {CELLAR_RISK_HARD, CELLAR_RISK_SOFT};
    static const char *const high[] = {"hard thresholding in %, the paper's cells, ε = 100",
                                       "soft thresholding in %, the paper's cells, ε = 100"};
    static const char *const by_columns[] = {"hard thresholding in %, groups by columns, ε = 100",
                                             "soft thresholding in %, groups by columns, ε = 100"};
    const double even[] = {0.5, 0.5};
    cellar_risk_cell ten = cellar_risk_cell_default();
    double hard = risk_at(d->of[0], "laplace:epsilon=0.02", CELLAR_RISK_HARD, CELLAR_RISK_EXACT);
    double prior[3];
    cellar_hyper_fit fit;
    cellar_error err;

    ten.n_values = 2;
    ten.size = 10;
    ten.shares = even;
    report_item(r, "Theorem 1");
    report_errs(
        r, "upper bound (15): p = ½, n = 10, ε = 0.01", NULL,
        cell_risk(&ten, "laplace:epsilon=0.01", CELLAR_RISK_EXPECTED, CELLAR_RISK_PUBLISHED),
        cell_risk(&ten, "laplace:epsilon=0.01", CELLAR_RISK_EXPECTED, CELLAR_RISK_EXACT), "H1");
    report_item(r, "Corollary 2");
    report_claim(r, "peak of the second term of (15), n = 3, 10, 100", "ln(n − 1)/(n − 1.5)",
                 fabs(peak(3) - log(2) / 1.5) < 1e-6 && fabs(peak(10) - log(9) / 8.5) < 1e-6 &&
                     fabs(peak(100) - log(99) / 98.5) < 1e-6,
                 "%.5f, %.5f, %.5f", peak(3), peak(10), peak(100));
    report_item(r, "Corollary 3");
    report_errs(r, "$1 - \\frac12 e^{(\\frac12-n)\\varepsilon}$, n = 4, at ε = 1 and 0.1",
                "≥ 0.985", 1 - 0.5 * exp(-3.5), 1 - 0.5 * exp(-0.35), "H7");
    report_errs(r, "$1 - \\frac12 e^{(\\frac12-n)\\varepsilon}$, n = 3, at ε = 1 and 0.1",
                "≥ 0.959", 1 - 0.5 * exp(-2.5), 1 - 0.5 * exp(-0.25), "H7");
    report_errs(r, "$1 - \\frac12 e^{(\\frac12-n)\\varepsilon}$, n = 2, at ε = 1 and 0.1",
                "≥ 0.888", 1 - 0.5 * exp(-1.5), 1 - 0.5 * exp(-0.15), "H7");
    sizes(r, d);
    report_item(r, "Appendix D");
    report_claim(r, "hard thresholding, Adult, ε = 0.02", "asymptote above 1/4", hard > 0.25,
                 "%.4f", hard);
    for (int m = 0; m < 2; m++) {
        report_rounds(
            r, high[m], "100 %",
            100 * risk_at(d->of[0], "laplace:epsilon=100", thresholds[m], CELLAR_RISK_EXACT));
        report_beyond(
            r, by_columns[m], NAN,
            100 * risk_at(d->by_columns, "laplace:epsilon=100", thresholds[m], CELLAR_RISK_EXACT),
            "H3");
    }
    report_item(r, "Appendix B");
    report_check(cellar_prior_fit(d->of[2], prior, &fit, &err), &err);
    for (size_t k = 0; k < 3; k++)
        report_errs(r, names[k], NULL, appendix_b(k), prior[k], "H5");
}
