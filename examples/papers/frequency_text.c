/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Confidentiality and differential privacy in the dissemination of frequency tables" (Rinott,
 * O'Keefe, Shlomo, Skinner 2018), sections 1 to 5: the numbers and the theorems of the text.
 * frequency_tables.c has the tables and figures of these sections. */
#include <math.h>
#include <stdio.h>

#include <cellar/certificate.h>

#include "report.h"
#include "rinott_table.h"

/* What is proven of a mechanism at one epsilon and one delta. */
typedef struct guarantee {
    cellar_profile_point point;
    double epsilon; /* that goes with the delta */
} guarantee;

static guarantee certify(const char *spec, const char *epsilon, const char *delta,
                         cellar_negatives negatives)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanism;
    cellar_certify_part released = {.times = 1};
    cellar_certificate *certificate;
    guarantee out;
    cellar_error err;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    released.mechanism = mechanism;
    options.negatives = negatives;
    options.epsilons = &epsilon;
    options.n_epsilons = 1;
    options.deltas = &delta;
    options.n_deltas = 1;
    report_check(cellar_certify(&released, 1, &options, &certificate, &err), &err);
    out.point = cellar_certificate_point(certificate, 0);
    out.epsilon = cellar_certificate_epsilon_at(certificate, 0).epsilon;
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return out;
}

static double delta_of(const char *spec, const char *epsilon)
{
    return certify(spec, epsilon, "0.1", CELLAR_NEGATIVES_KEEP).point.delta;
}

/* ---- sections 2 and 4 ------------------------------------------------------------------ */

static void small_numbers(report *r)
{
    report_item(r, "Section 2.1");
    report_rounds(r, "three-way margins of a 10-way table", "120", 10. * 9 * 8 / (3 * 2));
    report_item(r, "Section 4.1");
    report_rounds(r, "likelihood ratio at ε = 0.1", "1.1", exp(0.1));
    report_rounds(r, "ε of a likelihood ratio of 10", "2.3", log(10));
    report_item(r, "Section 4.2");
    report_rounds(r, "ℓ₃ of 0 → 4", "2", sqrt(4));
    report_rounds(r, "ℓ₃ of 100 → 144", "2", sqrt(144) - sqrt(100));
    report_rounds(r, "ℓ₃ of 10000 → 10404", "2", sqrt(10404) - sqrt(10000));
}

/* Theorem 4.2 asks that P(M(a) = b) < delta wherever P(M(a') = b) = 0: one list b at a time. With
 * K independent cells the likeliest such list has the end of the noise in the cell that differs and
 * no noise in the others. The event that the cell has the end of the noise, whatever the others
 * have, is possible under a alone: no smaller delta will do. */
static void theorem_4_2(report *r)
{
    static const char spec[] = "truncated-laplace:epsilon=0.5,m=10";
    enum { M = 10, N_CELLS = 132 };
    cellar_mechanism *mechanism;
    cellar_error err;
    double end, none;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    end = cellar_mechanism_pmf(mechanism, 0, M);
    none = cellar_mechanism_pmf(mechanism, 0, 0);
    cellar_mechanism_free(mechanism);
    report_item(r, "Theorem 4.2");
    report_errs(r, "δ by its condition, the 132 cells of Table 1", NULL,
                end * pow(none, N_CELLS - 1), delta_of(spec, "0.5"), "F7");
    report_claim(r, "δ by (4.10), which uses it", "p(m)", fabs(delta_of(spec, "0.5") - end) < 1e-12,
                 "%.6g, and no smaller one", end);
    report_errs(r, "δ that (4.11) leaves, as a part of p(m)", "much smaller than stated", NAN,
                delta_of(spec, "0.5") / end, "F7");
}

/* P(|loss| > 1/2) of noise of epsilon 1/2, which a truncated tail alone violates. */
static double probabilistic(cellar_negatives negatives)
{
    return certify("truncated-laplace:epsilon=0.5,m=10", "0.5", "0.1", negatives)
        .point.delta_probabilistic;
}

/* ---- section 5 ------------------------------------------------------------------------- */

static void deltas(report *r)
{
    static const struct {
        const char *quantity, *spec, *epsilon, *published;
    } rows[] = {
        {"δ, Laplace, ε = 1, m = 10", "truncated-laplace:epsilon=1,m=10", "1", "0.00002"},
        {"δ, normal, ε = 1, m = 10", "truncated-normal:epsilon=1,m=10", "1", "0.001"},
        {"δ, normal, ε = 0.5, m = 10", "truncated-normal:epsilon=0.5,m=10", "0.5", "0.008"},
        {"δ, Laplace, ε = 0.5, m = 7", "truncated-laplace:epsilon=0.5,m=7", "0.5", "0.008"},
        {"δ, Laplace, ε = 1.5, m = 7", "truncated-laplace:epsilon=1.5,m=7", "1.5", "0.00002"},
        {"δ, normal, ε = 1.5, m = 12", "truncated-normal:epsilon=1.5,m=12", "1.5", "0.00002"},
        {"Section 6.2: δ, Laplace, ε = 0.5, m = 5", "truncated-laplace:epsilon=0.5,m=5", "0.5",
         "0.02"},
        {"Section 6.2: δ, Laplace, ε = 0.5, m = 10", "truncated-laplace:epsilon=0.5,m=10", "0.5",
         "0.00166"},
        {"Table 3: δ, Laplace, ε = 0.1, m = 10", "truncated-laplace:epsilon=0.1,m=10", "0.1",
         "0.0283"},
        {"Table 3: δ, Laplace, ε = 0.1, m = 7", "truncated-laplace:epsilon=0.1,m=7", "0.1",
         "0.0470"},
        {"Table 3: δ, Laplace, ε = 0.5, m = 10", "truncated-laplace:epsilon=0.5,m=10", "0.5",
         "0.0017"},
        {"Table 3: δ, Laplace, ε = 0.5, m = 7", "truncated-laplace:epsilon=0.5,m=7", "0.5",
         "0.0076"}};
    const double end = delta_of("truncated-laplace:epsilon=0.5,m=10", "0.5");
    report_item(r, "Section 5");
    report_remark(r, "δ, Laplace, ε = 0.5, m = 10", "0.0016", NAN, end, end < 0.0017,
                  "not exactly so", "F2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        report_rounds(r, rows[i].quantity, rows[i].published,
                      delta_of(rows[i].spec, rows[i].epsilon));
    report_remark(
        r, "ε of normal noise, m = 12, at the same δ", "1.5", NAN,
        certify("truncated-normal:epsilon=1.5,m=12", "1.5", "0.0000245", CELLAR_NEGATIVES_KEEP)
            .epsilon,
        1, "true, not tight", "F4");
}

/* P(|b - a| <= radius) with negatives as zeros, which is near when zero is. */
static double within(const char *spec, int64_t count, int64_t radius)
{
    cellar_mechanism *mechanism;
    cellar_error err;
    double sum = 0;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    for (int64_t b = count <= radius ? -100 : count - radius; b <= count + radius; b++)
        sum += cellar_mechanism_pmf(mechanism, count, b);
    cellar_mechanism_free(mechanism);
    return sum;
}

static double percent_lower(int setting, int64_t count)
{
    static const char *const laplace[] = {"truncated-laplace:epsilon=1.5,m=7",
                                          "truncated-laplace:epsilon=0.5,m=7"};
    static const char *const normal[] = {"truncated-normal:epsilon=1.5,m=12",
                                         "truncated-normal:epsilon=0.5,m=10"};
    return 100 * (1 - within(normal[setting], count, 4) / within(laplace[setting], count, 4));
}

static void small_cells(report *r)
{
    const double four = 100 * within("truncated-laplace:epsilon=0.5,m=7", 5, 4);
    double least = INFINITY, largest = 0, near = 1;
    for (int64_t count = 0; count <= 5; count++) {
        for (int setting = 0; setting < 2; setting++) {
            least = fmin(least, percent_lower(setting, count));
            largest = fmax(largest, percent_lower(setting, count));
        }
        near = fmin(near, within("truncated-laplace:epsilon=1.5,m=7", count, 3));
    }
    report_item(r, "Section 5.5");
    report_remark(r, "within ±3, Laplace, ε = 1.5, at least, in %", "all", NAN, 100 * near,
                  near > 0.995, "not exactly so", "F8");
    report_remark(r, "within ±4, Laplace, ε = 0.5, counts of 5 or more, in %", "over 92 %", NAN,
                  four, four > 91.5, "not exactly so", "F8");
    report_rounds(r, "within ±4, normal against Laplace, least loss in %", "6 %", least);
    report_rounds(r, "within ±4, normal against Laplace, largest loss in %", "25 %", largest);
}

static void same_delta(report *r)
{
    double largest = 1;
    for (int e = 0; e < RINOTT_N_EPSILONS; e++) {
        char of_laplace[64], of_normal[64];
        double ratio;
        rinott_spec(0, e, of_laplace, sizeof of_laplace);
        rinott_spec(1, e, of_normal, sizeof of_normal);
        ratio = delta_of(of_normal, rinott_epsilons[e]) / delta_of(of_laplace, rinott_epsilons[e]);
        largest = fmax(largest, fmax(ratio, 1 / ratio));
    }
    report_remark(r, "ratio of the δ of Figures 1 to 3, largest", "1 (the same)", NAN, largest,
                  largest < 3, "not exactly so", "F2");
}

/* E|b - a| without truncation, from the distribution. */
static double mean_change(const char *spec)
{
    cellar_mechanism *mechanism;
    cellar_error err;
    double sum = 0;
    report_check(cellar_mechanism_create(spec, &mechanism, &err), &err);
    for (int64_t b = -100; b <= 100; b++)
        sum += fabs((double) b) * cellar_mechanism_pmf(mechanism, 0, b);
    cellar_mechanism_free(mechanism);
    return sum;
}

int main(int argc, char **argv)
{
    double a = exp(-1), c = 1 + 2 * a / (1 - a);
    report *r = report_begin(argc, argv, "frequency-text",
                             "Rinott, O'Keefe, Shlomo, Skinner: The text of sections 2 to 5");
    small_numbers(r);
    theorem_4_2(r);
    report_item(r, "Section 4.4");
    report_beyond(r, "δ_p of Laplace, ε = 0.5, m = 10, negatives 0",
                  probabilistic(CELLAR_NEGATIVES_KEEP), probabilistic(CELLAR_NEGATIVES_ZERO), "F6");
    deltas(r);
    small_cells(r);
    report_item(r, "Section 5.6");
    report_errs(r, "mean change without truncation, ε = 1", NULL, a / (c * (1 - a) * (1 - a)),
                mean_change("discrete-laplace:epsilon=1"), "F3");
    same_delta(r);
    return report_end(r);
}
