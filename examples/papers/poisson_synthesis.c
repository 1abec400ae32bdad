/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Obtaining (epsilon, delta)-differential privacy guarantees when using a Poisson mechanism to
 * synthesize contingency tables" (Jackson, Mitra, Francis, Dove): its three figures and the
 * numbers of its text.
 *
 * Its delta is the probabilistic one, P(|loss| > epsilon), which a certificate gives beside the
 * approximate one. All of it follows from the law of the mechanism: no data is needed but for the
 * pooled boxes of Figure 3. */
#include <math.h>
#include <stdio.h>

#include <cellar/certificate.h>
#include <cellar/dirichlet.h>
#include <cellar/table_file.h>
#include <cellar/utility.h>

#include "report.h"

static const char *const alphas[] = {"0.1", "0.2", "0.5", "1"};
enum { N_ALPHAS = 4, N_GRID = 60, N_FINE = 200, N_COUNTS = 10 };

/* The guarantee of poisson:alpha=A at one epsilon. */
static cellar_profile_point guarantee(const char *alpha, const char *epsilon)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanism;
    cellar_certify_part released = {.times = 1};
    cellar_certificate *certificate;
    cellar_profile_point point;
    cellar_error err;
    char spec[64];

    snprintf(spec, sizeof spec, "poisson:alpha=%s", alpha);
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    released.mechanism = mechanism;
    options.epsilons = &epsilon;
    options.n_epsilons = 1;
    report_check(cellar_certify(&released, 1, &options, &certificate, &err), &err);
    point = cellar_certificate_point(certificate, 0);
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return point;
}

static double delta_of(const char *alpha, const char *epsilon)
{
    return guarantee(alpha, epsilon).delta_probabilistic;
}

/* Equation (9), which is right for epsilon >= 1: P(b > (1 + epsilon) / ln((1 + alpha) / alpha)) for
 * b ~ Poisson(1 + alpha). */
static double equation_9(double alpha, double epsilon)
{
    double most = floor((1 + epsilon) / log1p(1 / alpha)), sum = 1, term = exp(-1 - alpha);
    for (int b = 0; b <= (int) most; b++) {
        sum -= term;
        term *= (1 + alpha) / (b + 1);
    }
    return sum;
}

/* The first alpha, or epsilon, in steps of 0.0001 whose delta is at most 0.05. */
static double first_alpha(double epsilon)
{
    int i = 1;
    while (equation_9(i * 1e-4, epsilon) > 0.05)
        i++;
    return i * 1e-4;
}

static double first_epsilon(double alpha)
{
    int i = 10000;
    while (equation_9(alpha, i * 1e-4) > 0.05)
        i++;
    return i * 1e-4;
}

/* ---- Figures 1 and 2 --------------------------------------------------------------- */

static void figure_1(report *r)
{
    static const char *const epsilons[] = {"1.5", "3"};
    double x[N_FINE], y[2][N_FINE];
    cellar_output *csv = report_open(r, "figure1.csv");
    cellar_chart *chart =
        report_chart("Figure 1: Poisson synthesis, δ against α",
                     "The probabilistic delta falls with alpha, in a saw-tooth.", "α", 0, "δ");

    if (csv != NULL)
        cellar_output_string(csv, "alpha,delta_epsilon_1.5,delta_epsilon_3\n");
    for (int i = 0; i < N_FINE; i++) {
        char alpha[32];
        snprintf(alpha, sizeof alpha, "%.6g", (i + 1) * 0.0075);
        x[i] = (i + 1) * 0.0075;
        for (int e = 0; e < 2; e++)
            y[e][i] = delta_of(alpha, epsilons[e]);
        report_line(csv, NULL, (double[]){x[i], y[0][i], y[1][i]}, 3);
    }
    report_close(csv);
    report_curve(chart, "ε = 1.5", x, y[0], N_FINE);
    report_curve(chart, "ε = 3", x, y[1], N_FINE);
    report_draw(r, chart, "figure1");

    report_item(r, "Figure 1");
    report_rounds(r, "δ at α = 0.1, ε = 3", "approximately 0.3", delta_of("0.1", "3"));
    report_remark(r, "δ at α = 0.1, ε = 1.5", "approximately 0.6",
                  guarantee("0.1", "1.5").delta_published, delta_of("0.1", "1.5"),
                  delta_of("0.1", "1.5") < 0.6, "true, not tight", "P1");
}

static void figure_2(report *r)
{
    double x[N_GRID], y[N_ALPHAS][N_GRID];
    cellar_output *csv = report_open(r, "figure2.csv");
    cellar_chart *chart = report_chart(
        "Figure 2: Poisson synthesis, δ against ε",
        "The probabilistic delta falls with epsilon in steps, and with alpha.", "ε", 0, "δ");

    if (csv != NULL)
        cellar_output_string(csv, "epsilon,delta_alpha_0.1,delta_0.2,delta_0.5,delta_1\n");
    for (int i = 0; i < N_GRID; i++) {
        char epsilon[32];
        double values[1 + N_ALPHAS];
        snprintf(epsilon, sizeof epsilon, "%.6g", 1 + i * 0.1);
        x[i] = values[0] = 1 + i * 0.1;
        for (int a = 0; a < N_ALPHAS; a++)
            y[a][i] = values[1 + a] = delta_of(alphas[a], epsilon);
        report_line(csv, NULL, values, 1 + N_ALPHAS);
    }
    report_close(csv);
    for (int a = 0; a < N_ALPHAS; a++) {
        char name[32];
        snprintf(name, sizeof name, "α = %s", alphas[a]);
        report_steps(chart, name, x, y[a], N_GRID);
    }
    report_draw(r, chart, "figure2");

    report_item(r, "Figure 2");
    report_rounds(r, "δ at α = 1, ε = 2", "0.05", delta_of("1", "2"));
    report_claim(
        r, "δ at ε = 2, α = 0.1, 0.2, 0.5", "an α of 1 is required for 0.05",
        delta_of("0.5", "2") > 0.06 && delta_of("0.2", "2") > 0.06 && delta_of("0.1", "2") > 0.06,
        "%.3f, %.3f, %.3f", delta_of("0.1", "2"), delta_of("0.2", "2"), delta_of("0.5", "2"));
    report_beyond(r, "least α of all with δ of at most 0.05 at ε = 2", NAN, first_alpha(2), "P1");
    report_rounds(r, "least ε with δ of at most 0.05 at α = 0.1", "above 6", first_epsilon(0.1));
}

/* ---- Figure 3 ------------------------------------------------------------------------ */

/* What a cell of each original count becomes, in per cent of it: quantiles of the law. */
static void boxes_of(const char *alpha, cellar_chart_box *boxes, double *means)
{
    static const char csv[] = "cell,count\nx,1\n";
    cellar_utility_options options = cellar_utility_options_default();
    cellar_table *table;
    cellar_utility *utility;
    cellar_error err;
    char spec[64];

    snprintf(spec, sizeof spec, "poisson:alpha=%s", alpha);
    options.copies = 0;
    report_check(cellar_table_parse("cell.csv", csv, sizeof csv - 1, NULL, &table, &err), &err);
    report_check(cellar_utility_assess(table, spec, &options, &utility, &err), &err);
    for (size_t i = 0; i < cellar_utility_n_spreads(utility); i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(utility, i);
        const double *q = s->quantiles;
        if (s->measure[0] != 'r' || s->source != CELLAR_SPREAD_DISTRIBUTION || s->count < 1 ||
            s->count > N_COUNTS)
            continue; /* relative differences by the law alone */
        boxes[s->count - 1] =
            (cellar_chart_box){100 * q[1], 100 * q[2], 100 * q[3], 100 * q[4], 100 * q[5]};
        means[s->count - 1] = 100 * s->mean;
    }
    cellar_utility_free(utility);
    cellar_table_free(table);
}

static void figure_3(report *r)
{
    static const char *const counts[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
    cellar_output *csv = report_open(r, "figure3.csv");
    cellar_chart *chart = report_chart("Figure 3: Poisson synthesis, change in per cent",
                                       "Box plots of the relative change of counts 1 to 10: "
                                       "quartiles, and the middle nine tenths as whiskers.",
                                       "original count", 0, "change in %");
    double means[N_ALPHAS][N_COUNTS];
    int grows = 1;
    cellar_error err;

    if (csv != NULL)
        cellar_output_string(csv, "alpha,count,q05,q25,median,q75,q95,mean\n");
    report_check(cellar_chart_set_categories(chart, counts, N_COUNTS, &err), &err);
    for (int a = 0; a < N_ALPHAS; a++) {
        cellar_chart_box boxes[N_COUNTS];
        char name[32];
        boxes_of(alphas[a], boxes, means[a]);
        for (int c = 0; c < N_COUNTS; c++) {
            const cellar_chart_box *b = &boxes[c];
            report_line(csv, alphas[a],
                        (double[]){c + 1, b->low, b->quarter, b->median, b->three_quarters, b->high,
                                   means[a][c]},
                        7);
            grows &= a == 0 || means[a][c] > means[a - 1][c];
        }
        snprintf(name, sizeof name, "α = %s", alphas[a]);
        report_check(cellar_chart_add_boxes(chart, name, boxes, N_COUNTS, &err), &err);
    }
    report_close(csv);
    report_draw(r, chart, "figure3");

    report_item(r, "Figure 3");
    report_claim(r, "mean change of a count of 1, α = 0.1 to 1", "increasing α increases it", grows,
                 "%.0f, %.0f, %.0f, %.0f %%", means[0][0], means[1][0], means[2][0], means[3][0]);
    report_no_data(r, "the counts 1 to 10 pooled",
                   "the substitute of the English School Census is not part of Cellar");
}

/* ---- the text -------------------------------------------------------------------------- */

/* P(|loss| > epsilon) for the neighbours (count, count - 1) and b drawn from `count`; or, by
 * inequality (8) alone, P(loss > epsilon). */
static double violation(const cellar_mechanism *m, int64_t count, double epsilon, int by_8_alone)
{
    double sum = 0;
    for (int64_t b = 0; b < 100; b++) {
        double loss =
            cellar_mechanism_log_pmf(m, count, b) - cellar_mechanism_log_pmf(m, count - 1, b);
        sum += (by_8_alone ? loss : fabs(loss)) > epsilon ? cellar_mechanism_pmf(m, count, b) : 0;
    }
    return sum;
}

static void small_epsilon(report *r)
{
    int64_t worst = 1;
    double ratio;
    cellar_mechanism *m;
    cellar_error err;
    report_check(cellar_mechanism_create("poisson:alpha=1", &m, &err), &err);
    report_item(r, "Section 4");
    ratio = cellar_mechanism_pmf(m, 2, 0) / cellar_mechanism_pmf(m, 1, 0);
    report_claim(r, "least ratio (6), at b = 0", "exp(−1)", fabs(ratio - exp(-1)) < 1e-12, "%.6g",
                 ratio);
    for (int64_t count = 2; count < 50; count++)
        if (violation(m, count, 0.5, 0) > violation(m, worst, 0.5, 0))
            worst = count;
    report_beyond(r, "worst count at ε = 0.5, α = 1", NAN, (double) worst, "P2");
    report_beyond(r, "its δ, by (8) alone and by both", violation(m, worst, 0.5, 1),
                  violation(m, worst, 0.5, 0), "P2");
    report_beyond(r, "δ of the count 1, by (8) alone and by both", violation(m, 1, 0.5, 1),
                  violation(m, 1, 0.5, 0), "P2");
    const double odds = cellar_mechanism_pmf(m, 1, 5) / cellar_mechanism_pmf(m, 0, 5);
    report_item(r, "Section 6");
    report_remark(r, "odds of a 2 against a 1 when 5 is released", "11.7 times", NAN, odds,
                  odds < 11.8, "not exactly so", "P3");
    cellar_mechanism_free(m);
}

/* Equation (5): with a = (1, 9), alpha = (3, 3) and n = 10. */
static void dirichlet_ratios(report *r)
{
    static const int64_t with[] = {1, 9}, without[] = {0, 9};
    static const char *const names[] = {"ratio (5) at b = 0", "ratio (5) at b = 5",
                                        "ratio (5) at b = 10"};
    cellar_dirichlet *d;
    cellar_error err;
    report_check(
        cellar_dirichlet_create("multinomial-dirichlet:alpha=3,total=10,cells=2", &d, &err), &err);
    report_item(r, "Section 3");
    for (int64_t i = 0; i < 3; i++) {
        const int64_t b[] = {5 * i, 10 - 5 * i};
        double ratio = exp(cellar_dirichlet_log_pmf(d, with, b, 2) -
                           cellar_dirichlet_log_pmf(d, without, b, 2));
        report_errs(r, names[i], NULL, (double) (b[0] + 3) / 3, ratio, "P4");
    }
    cellar_dirichlet_free(d);
}

int main(int argc, char **argv)
{
    report *r = report_begin(argc, argv, "poisson",
                             "Jackson, Mitra, Francis, Dove: Poisson synthesis of tables");
    dirichlet_ratios(r);
    figure_1(r);
    figure_2(r);
    small_epsilon(r);
    figure_3(r);
    return report_end(r);
}
