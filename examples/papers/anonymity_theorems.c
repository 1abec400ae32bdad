/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the theorems of "Statistical anonymity" say, and whether their proofs show it. */
#include "anonymity_theorems.h"

#include <math.h>
#include <stdint.h>

#include "adult_counts.h"

cellar_exposure_curve *curve_of(const uint64_t *counts, size_t n, uint64_t n_possible)
{
    cellar_exposure_curve *curve;
    cellar_error err;
    report_check(cellar_exposure_curve_from_counts(counts, n, n_possible, &curve, &err), &err);
    return curve;
}

/* Theorem 4's construction with 3 / c rows in each of 2^k groups; column by column k rows have a
 * value of their own. Answers Q_J(c t^k) over the sum of the columns' exposures. */
static double theorem_4_ratio(unsigned inverse_c, unsigned k)
{
    uint64_t a = 3 * (uint64_t) inverse_c, rows = a << k, joint[(1 << 8) + 8];
    size_t n = (size_t) 1 << k;
    double t = pow((double) (rows / 2 - 1) / (double) rows, k) / inverse_c, value;
    cellar_exposure_curve *curve;
    for (size_t i = 0; i < n; i++)
        joint[i] = i < k ? a - 1 : a;
    for (size_t j = 0; j < k; j++)
        joint[n + j] = 1;
    curve = curve_of(joint, n + k, n + k);
    value = cellar_exposure_value(curve, (uint64_t) ceil(t * (double) rows));
    cellar_exposure_curve_free(curve);
    return value / ((double) k / (double) rows);
}

/* The (n + 1) x 2 matrix of section 6.2: both columns have values shared by half of the people or
 * more, so that their exposures at t_1 = t_2 = n / (2 (n + 1)) are 0, and one person is unique.
 * Answers Q_J(c t_1 t_2) at c = 0.05. */
static double matrix_exposure(uint64_t n)
{
    const uint64_t joint[] = {n / 2, 1, n / 2};
    double share = (double) n / 2 / ((double) n + 1), value;
    cellar_exposure_curve *curve = curve_of(joint, 3, 4);
    value = cellar_exposure_value(curve, (uint64_t) ceil(0.05 * share * share * ((double) n + 1)));
    cellar_exposure_curve_free(curve);
    return value;
}

static void slack(report *r)
{
    const double q = 0.5 - 1 / (6 * pow(2, 40)); /* c = 1/2, a = 6, k = 40 */
    report_item(r, "Theorem 4");
    report_remark(r, "Q_J over the sum of Q_j, its construction, c = ½, k = 8", "≥ 1", NAN,
                  theorem_4_ratio(2, 8), theorem_4_ratio(2, 8) == 1, "shows nothing", "A9");
    report_beyond(r, "the same, c = 1", NAN, theorem_4_ratio(1, 8), "A9");
    report_claim(r, "Q_J of the matrix of section 6.2, n = 100, all Q_j = 0, c = 0.05",
                 "slack is necessary", matrix_exposure(100) > 0, "%.6g", matrix_exposure(100));
    report_claim(r, "limit of the ratio of Appendix C", "2/3",
                 fabs(2 / (6 * pow(2, 40)) / (0.5 * pow(q, 40)) - 2. / 3) < 1e-9, "%.6f",
                 2 / (6 * pow(2, 40)) / (0.5 * pow(q, 40)));
}

/* The two distributions of Theorem 6's proof on s + 1 values, for samples of n. */
static void theorem_6(report *r)
{
    const double s = 4, n = 1e9, epsilon = (s - 1) / (s * s * n), rest = (s - 1) / s;
    double p = 1 / (s * s), divergence;
    divergence =
        s * (p - epsilon) * log1p(-epsilon / p) + (rest + s * epsilon) * log1p(s * epsilon / rest);
    report_item(r, "Theorem 6");
    report_claim(r, "floor 1/(16s), s = 4, from its proof at n = 10⁹", "0.015625",
                 divergence <= log(2) / n && fabs((1 / s - s * epsilon) / 16 - 1 / (16 * s)) < 1e-9,
                 "%.6f", (1 / s - s * epsilon) / 16);
}

/* Two values and k = n: the statistical exposure is 1 - p^n - (1 - p)^n. With p = 1 - 1/n, and n
 * people of whom none has the rare value, the constant of (4) must be this. */
static double theorem_8_constant(double n)
{
    double exposure = -expm1(n * log1p(-1 / n)) - pow(n, -n);
    return exposure / (sqrt(n) * (1 / n));
}

static void theorem_8(report *r)
{
    static const char *const p[] = {"0.999", "0.001"}, *const q[] = {"0.9991", "0.0009"};
    static const char *const names[] = {
        "C of (4) that two values need, n = 10³", "C of (4) that two values need, n = 10⁴",
        "C of (4) that two values need, n = 10⁵", "C of (4) that two values need, n = 10⁶"};
    cellar_exposure_curve *of_p, *of_q;
    cellar_exposure_pair a = {.population = 10000, .k = 9991}, b = a;
    cellar_error err;
    report_item(r, "Theorem 8");
    report_check(cellar_exposure_curve_from_shares(p, 2, &of_p, &err), &err);
    report_check(cellar_exposure_curve_from_shares(q, 2, &of_q, &err), &err);
    report_check(cellar_exposure_statistical(of_p, &a, 1, 1, &err), &err);
    report_check(cellar_exposure_statistical(of_q, &b, 1, 1, &err), &err);
    report_errs(r, "difference (0.999, 0.001) to (0.9991, 0.0009)", NULL,
                cellar_exposure_statistical_published(2, 10000, 1e-4), fabs(a.value - b.value),
                "A3");
    for (int i = 0; i < 4; i++) {
        double n = pow(10, 3 + i);
        report_errs(r, names[i], NULL,
                    cellar_exposure_statistical_published(2, (uint64_t) n, 1) / sqrt(n),
                    theorem_8_constant(n), "A3");
    }
    cellar_exposure_curve_free(of_p);
    cellar_exposure_curve_free(of_q);
}

static void small_numbers(report *r)
{
    report_item(r, "Section 2.1");
    report_remark(r, "ln(331 · 10⁶)", "19.617", NAN, log(331e6), fabs(log(331e6) - 19.617) < 0.001,
                  "not exactly so", "A10");
    report_errs(r, "half the width of ln((331 ± 1) · 10⁶)", "0.002", NAN, log(332. / 330) / 2,
                "A10");
    report_remark(r, "e^19.61, in millions", "331", NAN, exp(19.61) / 1e6,
                  fabs(exp(19.61) / 331e6 - 1) < 0.01, "not exactly so", "A10");
    report_item(r, "Section 7.3");
    report_rounds(r, "2⁸", "256", pow(2, 8));
    report_claim(r, "2¹⁶", "~65000", fabs(pow(2, 16) / 65000 - 1) < 0.01, "%.0f", pow(2, 16));
}

void anonymity_theorems(report *r)
{
    cellar_exposure_curve *adult_curve = curve_of(adult_joint, 131, 180), *tight;
    uint64_t at;
    cellar_error err;

    slack(r);
    report_item(r, "Theorem 5");
    report_remark(r, "radius for Adult, 180 values, δ = 0.05", NULL,
                  sqrt((log(1 / 0.05) + log(180)) / (2 * 32561.)),
                  cellar_exposure_radius(adult_curve, 0.05), 1, "the proof errs", "A2");
    theorem_6(r);
    theorem_8(r);
    small_numbers(r);
    report_rounds(r, "users exposed at t = 2⁻¹⁶ when H = 8, in %", "50 %",
                  100 * cellar_exposure_entropy_bound(8 * log(2), pow(2, -16)));
    report_check(cellar_exposure_curve_create_tight("0.0001", 5000, &tight, &err), &err);
    report_check(cellar_exposure_cutoff(tight, "0.0001", &at, &err), &err);
    report_errs(r, "Proposition 13, 5,000 cells of t = 0.0001: Q(t)", NULL, 0.5,
                cellar_exposure_value(tight, at), "A5");
    report_claim(r, "the same just above t", "0.5",
                 fabs(cellar_exposure_value(tight, at + 1) - 0.5) < 1e-12, "%.6g",
                 cellar_exposure_value(tight, at + 1));
    cellar_exposure_curve_free(tight);
    cellar_exposure_curve_free(adult_curve);
}
