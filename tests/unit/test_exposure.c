/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure: the curve, its entropy, statistical exposure and the bands of estimates. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/table_file.h>

#include "adult_counts.h"
#include "base/error.h"
#include "fail_every.h"

static cellar_exposure_curve *curve_of(const uint64_t *counts, size_t n)
{
    cellar_exposure_curve *curve;
    assert_int_equal(cellar_exposure_curve_from_counts(counts, n, 0, &curve, NULL), CELLAR_OK);
    return curve;
}

static cellar_exposure_curve *shares_of(const char *const *shares, size_t n)
{
    cellar_exposure_curve *curve;
    assert_int_equal(cellar_exposure_curve_from_shares(shares, n, &curve, NULL), CELLAR_OK);
    return curve;
}

static double exposure_at(const cellar_exposure_curve *curve, const char *threshold)
{
    uint64_t cutoff;
    assert_int_equal(cellar_exposure_cutoff(curve, threshold, &cutoff, NULL), CELLAR_OK);
    return cellar_exposure_value(curve, cutoff);
}

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* ---- the curve -------------------------------------------------------------- */

static void adult_figures(void **state)
{
    const struct {
        const char *threshold;
        uint64_t below;
    } by_threshold[] = {{"1e-4", 54},       {"0.001", 671}, {"1e-2", 4933},  {"0.1", 13796},
                        {"0", 0},           {"1", 32561},   {"0.28", 23331}, {"0.283467", 23331},
                        {"0.283468", 32561}};
    const struct {
        uint64_t k, below;
    } by_k[] = {{2, 11}, {5, 94}, {10, 179}, {100, 1816}, {0, 0}, {1, 0}, {9230, 23331}};
    cellar_exposure_curve *curve = curve_of(adult_joint, ADULT_COUNT(adult_joint));
    uint64_t cutoff;
    (void) state;

    assert_int_equal(cellar_exposure_total(curve), 32561);
    assert_int_equal(cellar_exposure_n_cells(curve), 131);
    for (size_t i = 0; i < sizeof by_threshold / sizeof *by_threshold; i++) {
        assert_int_equal(cellar_exposure_cutoff(curve, by_threshold[i].threshold, &cutoff, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_exposure_below(curve, cutoff), by_threshold[i].below);
    }
    for (size_t i = 0; i < sizeof by_k / sizeof *by_k; i++)
        assert_int_equal(cellar_exposure_below(curve, by_k[i].k), by_k[i].below);
    assert_near(cellar_exposure_entropy(curve), 2.8130767807, 1e-10);
    cellar_exposure_curve_free(curve);
}

/* Errata: the inequality is strict, so nobody is exposed at 1/n; uniqueness is (1/n, 2/n]. */
static void strict_in_integers(void **state)
{
    const uint64_t counts[] = {1, 0, 1, 3, 5};
    const char *shares[] = {"0.1", "0.3", "0.3", "0.1", "0.2"};
    cellar_exposure_curve *curve = curve_of(counts, 5);
    (void) state;

    assert_true(exposure_at(curve, "0.1") == 0);
    assert_true(exposure_at(curve, "0.1000000000000000000000001") == 0.2);
    assert_true(exposure_at(curve, "0.2") == 0.2);
    assert_true(exposure_at(curve, "0.3") == 0.2);
    assert_true(exposure_at(curve, "0.5") == 0.5);
    assert_true(exposure_at(curve, "0.500000000000000000000000000001") == 1);
    cellar_exposure_curve_free(curve);

    curve = shares_of(shares, 5); /* 0.1 + 0.2 is not 0.3 in binary, but it is here */
    assert_true(exposure_at(curve, "0.1") == 0);
    assert_true(exposure_at(curve, "0.2") == 0.2);
    assert_near(exposure_at(curve, "0.3"), 0.4, 1e-15);
    cellar_exposure_curve_free(curve);
}

static void steps_hold_the_curve(void **state)
{
    uint64_t counts[] = {70000, 3, 65536, 3, 65535, 1, 70000, 0};
    const cellar_exposure_step want[] = {
        {1, 1, 0}, {3, 2, 1}, {65535, 1, 7}, {65536, 1, 65542}, {70000, 2, 131078}};
    cellar_exposure_curve *curve = curve_of(counts, 8);
    (void) state;

    assert_int_equal(cellar_exposure_n_steps(curve), 5);
    for (size_t i = 0; i < 5; i++) {
        cellar_exposure_step step = cellar_exposure_step_at(curve, i);
        assert_memory_equal(&step, &want[i], sizeof step);
    }
    assert_int_equal(cellar_exposure_total(curve), 271078);
    assert_true(cellar_exposure_n_possible(curve) == 8);
    cellar_exposure_curve_free(curve);
}

static void bad_input(void **state)
{
    const char *bad[][3] = {{"0.5", "0.4", "0.2"}, {"0.5", "x", "0.5"},    {"-0.5", "1", "0.5"},
                            {"1.5", "-0.5", "0"},  {"0.5", "0.4999", "0"}, {"0.5", "0.5", "1e-19"}};
    const char *thresholds[] = {"-0.1", "1.5", "x", "", "nan"};
    const uint64_t none[] = {0, 0}, one[] = {1}, huge[] = {UINT64_MAX, 2};
    cellar_exposure_curve *curve;
    cellar_error err;
    uint64_t cutoff;
    (void) state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cellar_exposure_curve_from_shares(bad[i], 3, &curve, &err),
                         CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_exposure_curve_from_counts(none, 2, 0, &curve, &err), CELLAR_ERR_INPUT);
    assert_null(curve);
    assert_int_equal(cellar_exposure_curve_from_counts(huge, 2, 0, &curve, &err),
                     CELLAR_ERR_OVERFLOW);
    curve = curve_of(one, 1);
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++)
        assert_int_equal(cellar_exposure_cutoff(curve, thresholds[i], &cutoff, &err),
                         CELLAR_ERR_ARGUMENT);
    cellar_exposure_curve_free(curve);
}

/* Columns of a table, whole, in part, and beside margins. */
static void curve_of_a_table(void **state)
{
    static const char csv[] = "a,b,count\n0,0,4\n0,1,1\n1,0,2\n1,1,3\n";
    const cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};
    const cellar_margins margins = {.all = 1};
    const size_t both[] = {1, 0}, twice[] = {0, 0}, none[] = {2};
    cellar_table *table, *expanded;
    cellar_exposure_curve *curve;
    (void) state;

    assert_int_equal(cellar_table_parse("t", csv, sizeof csv - 1, &options, &table, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_table_create_expanded(table, &margins, &expanded, NULL), CELLAR_OK);
    for (int i = 0; i < 2; i++) {
        const cellar_table *from = i == 0 ? table : expanded;
        assert_int_equal(cellar_exposure_curve_create(from, both, 2, &curve, NULL), CELLAR_OK);
        assert_int_equal(cellar_exposure_total(curve), 10);
        assert_int_equal(cellar_exposure_below(curve, 3), 3);
        assert_true(cellar_exposure_n_possible(curve) == 4);
        cellar_exposure_curve_free(curve);
        assert_int_equal(cellar_exposure_curve_create(from, both, 1, &curve, NULL), CELLAR_OK);
        assert_int_equal(cellar_exposure_below(curve, 6), 4); /* b: 6 and 4 */
        cellar_exposure_curve_free(curve);
        assert_int_equal(cellar_exposure_curve_create(from, twice, 2, &curve, NULL),
                         CELLAR_ERR_ARGUMENT);
        assert_int_equal(cellar_exposure_curve_create(from, none, 1, &curve, NULL),
                         CELLAR_ERR_ARGUMENT);
        assert_int_equal(cellar_exposure_curve_create(from, both, 0, &curve, NULL),
                         CELLAR_ERR_ARGUMENT);
    }
    cellar_table_free(expanded);
    cellar_table_free(table);
}

/* ---- entropy ---------------------------------------------------------------- */

/* H = E[-ln p] = the integral of Q(t)/t (Proposition 9; the paper drops a sign): Q is constant
 * between the shares. */
static void entropy_is_the_integral(void **state)
{
    cellar_exposure_curve *curve = curve_of(adult_joint, ADULT_COUNT(adult_joint));
    double n = (double) cellar_exposure_total(curve), integral = 0;
    size_t steps = cellar_exposure_n_steps(curve);
    (void) state;
    for (size_t i = 1; i <= steps; i++) {
        double from = (double) cellar_exposure_step_at(curve, i - 1).count / n;
        double to = i < steps ? (double) cellar_exposure_step_at(curve, i).count / n : 1;
        double q = i < steps ? (double) cellar_exposure_step_at(curve, i).below / n : 1;
        integral += q * log(to / from);
    }
    assert_near(integral, cellar_exposure_entropy(curve), 1e-13);
    assert_near(integral, cellar_exposure_integral(curve), 1e-14);
    for (uint64_t k = 1; k <= 9230; k++)
        assert_true(cellar_exposure_value(curve, k) <=
                    cellar_exposure_entropy_bound(cellar_exposure_entropy(curve), (double) k / n));
    cellar_exposure_curve_free(curve);
}

/* Proposition 13: n cells of share t and one with the rest attain -B/ln t, at any threshold above
 * t (at t itself the strict inequality leaves nobody), with an entropy of at most B + 1/e. */
static void entropy_bound_is_tight(void **state)
{
    (void) state;
    for (int power = 4; power <= 16; power += 3) {
        double t = pow(2, -power);
        for (uint64_t cells = 1; (double) cells * t < 1 - t; cells *= 3) {
            uint64_t counts[4097] = {0};
            uint64_t rest = ((uint64_t) 1 << power) - cells;
            double b = -(double) cells * t * log(t), h;
            cellar_exposure_curve *curve;
            if (cells > 4096)
                break;
            for (uint64_t i = 0; i < cells; i++)
                counts[i] = 1;
            counts[cells] = rest;
            curve = curve_of(counts, (size_t) cells + 1);
            h = cellar_exposure_entropy(curve);
            assert_true(h <= b + exp(-1) && h >= b);
            assert_true(cellar_exposure_value(curve, 1) == 0);
            assert_near(cellar_exposure_value(curve, 2), -b / log(t), 1e-14);
            assert_true(cellar_exposure_value(curve, 2) <= cellar_exposure_entropy_bound(h, t));
            cellar_exposure_curve_free(curve);
        }
    }
}

/* The same example from the library, in decimals; what it attains, and what it cannot be made of.
 */
static void tight_example(void **state)
{
    const struct {
        const char *t;
        uint64_t n;
    } cases[] = {{"0.001", 1}, {"0.001", 998}, {"0.25", 2}, {"1e-12", 1000000}, {"1e-18", 1}};
    const struct {
        const char *t;
        uint64_t n;
    } bad[] = {{"0.1", 9}, {"0.1", 10}, {"0.1", 0},   {"0", 1},
               {"0.5", 1}, {"x", 1},    {"1e-19", 1}, {"0.1", UINT64_MAX}};
    cellar_exposure_curve *curve;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double t = strtod(cases[i].t, NULL), n = (double) cases[i].n, b = -n * t * log(t), h;
        uint64_t cutoff;
        assert_int_equal(cellar_exposure_curve_create_tight(cases[i].t, cases[i].n, &curve, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_exposure_cutoff(curve, cases[i].t, &cutoff, NULL), CELLAR_OK);
        h = cellar_exposure_entropy(curve);
        assert_true(h <= b + exp(-1) && h >= b * (1 - 1e-12));
        assert_near(cellar_exposure_integral(curve), h, 1e-9);
        assert_true(cellar_exposure_value(curve, cutoff) == 0);
        assert_near(cellar_exposure_value(curve, cutoff + 1), -b / log(t), 1e-12);
        cellar_exposure_curve_free(curve);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(cellar_exposure_curve_create_tight(bad[i].t, bad[i].n, &curve, NULL),
                         CELLAR_ERR_ARGUMENT);
        assert_null(curve);
    }
}

/* ---- statistical exposure --------------------------------------------------- */

static double statistical(const cellar_exposure_curve *curve, uint64_t n, uint64_t k)
{
    cellar_exposure_pair pair = {.population = n, .k = k};
    assert_int_equal(cellar_exposure_statistical(curve, &pair, 1, 1, NULL), CELLAR_OK);
    assert_near(pair.value + pair.complement, 1, 1e-12);
    return pair.value;
}

/* Reference values: mpmath, 50 digits. */
static void statistical_values(void **state)
{
    const char *even[] = {"0.5", "0.3", "0.1", "0.06", "0.04"};
    const char *skew[] = {"0.9", "0.05", "0.03", "0.015", "0.005"};
    const char *rare[] = {"0.999999", "0.000001"};
    const struct {
        const char *const *shares;
        size_t n_shares;
        uint64_t n, k;
        double want;
    } cases[] = {{even, 5, 128, 2, 0.00024748255257321005991},
                 {even, 5, 128, 5, 0.01299510271052981699},
                 {even, 5, 1000, 10, 2.0826978288034744415e-11},
                 {even, 5, 50, 40, 0.99999038522044855921},
                 {skew, 5, 1000, 10, 0.0052143884852570319516},
                 {even, 5, 1, 1, 0},
                 {even, 5, 1, 2, 1},
                 {even, 5, 10, 11, 1},
                 {rare, 2, 1000000000, 900, 5.5494215412752001761e-10},
                 {rare, 2, 1000000, 3, 7.3575925022254041111e-7},
                 {rare, 2, 1000000000, 999999000, 0.49159112862625508466},
                 {even, 5, 1000000000, 40000001, 0.019999210283853426318},
                 {even, 5, 1000000000, 39990000, 0.0021304687648357808828},
                 {even, 5, 10000000, 390000, 9.3457290680043426928e-61}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_exposure_curve *curve = shares_of(cases[i].shares, cases[i].n_shares);
        assert_near(statistical(curve, cases[i].n, cases[i].k), cases[i].want, 1e-10);
        cellar_exposure_curve_free(curve);
    }
}

/* The definition itself on tiny databases: every database, every person. */
static void statistical_by_enumeration(void **state)
{
    const uint64_t counts[] = {5, 3, 2};
    cellar_exposure_curve *curve = curve_of(counts, 3);
    (void) state;
    for (uint64_t n = 1; n <= 6; n++)
        for (uint64_t k = 1; k <= n + 2; k++) {
            double want = 0;
            size_t n_databases = (size_t) pow(3, (double) n);
            for (size_t d = 0; d < n_databases; d++) {
                double probability = 1, exposed = 0;
                uint64_t sizes[3] = {0, 0, 0};
                for (size_t i = 0, rest = d; i < n; i++, rest /= 3) {
                    sizes[rest % 3]++;
                    probability *= (double) counts[rest % 3] / 10;
                }
                for (size_t v = 0; v < 3; v++)
                    exposed += sizes[v] < k ? (double) sizes[v] : 0;
                want += probability * exposed / (double) n;
            }
            assert_true(fabs(statistical(curve, n, k) - want) < 1e-14);
        }
    cellar_exposure_curve_free(curve);
}

static void statistical_threads_agree(void **state)
{
    uint64_t counts[5000];
    cellar_exposure_pair one[20], many[20];
    cellar_exposure_curve *curve;
    (void) state;
    for (size_t i = 0; i < 5000; i++)
        counts[i] = i * i + 1;
    curve = curve_of(counts, 5000);
    for (size_t i = 0; i < 20; i++)
        one[i] = many[i] = (cellar_exposure_pair){.population = UINT64_C(1000) << i, .k = i + 1};
    assert_int_equal(cellar_exposure_statistical(curve, one, 20, 1, NULL), CELLAR_OK);
    assert_int_equal(cellar_exposure_statistical(curve, many, 20, 4, NULL), CELLAR_OK);
    assert_memory_equal(one, many, sizeof one);
    one[3].k = 0;
    assert_int_equal(cellar_exposure_statistical(curve, one, 20, 1, NULL), CELLAR_ERR_ARGUMENT);
    cellar_exposure_curve_free(curve);
}

/* ---- estimates -------------------------------------------------------------- */

/* Errata: Theorem 8 with the constant of Appendix G is false for skewed shares. The rigorous band
 * holds on the same case. */
static void theorem_8_fails(void **state)
{
    const char *truth[] = {"0.999", "0.001"}, *estimate[] = {"0.9991", "0.0009"};
    cellar_exposure_curve *p = shares_of(truth, 2), *q = shares_of(estimate, 2);
    double of_p = statistical(p, 10000, 9991), of_q = statistical(q, 10000, 9991);
    double published = cellar_exposure_statistical_published(2, 10000, 1e-4);
    cellar_exposure_band band = cellar_exposure_statistical_band(q, 10000, 9991, 1.0000001e-4);
    (void) state;
    assert_true(fabs(fabs(of_p - of_q) - 0.129464) < 5e-7);
    assert_true(fabs(published - 0.016688) < 5e-7);
    assert_true(fabs(of_p - of_q) > published);
    assert_true(band.lower <= of_p && of_p <= band.upper && band.upper < 1);
    cellar_exposure_curve_free(p);
    cellar_exposure_curve_free(q);
}

/* Errata: no constant in the number of values alone makes Theorem 8 true. Of two values one has the
 * share 1/n, and n people all have the other: the constant must grow like the root of n. */
static void theorem_8_has_no_constant(void **state)
{
    static const struct {
        const char *common, *rare;
        double n, needed;
    } cases[] = {{"0.999", "0.001", 1e3, 20.0},
                 {"0.9999", "0.0001", 1e4, 63.2},
                 {"0.99999", "0.00001", 1e5, 199.9},
                 {"0.999999", "0.000001", 1e6, 632.1}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *truth[] = {cases[i].common, cases[i].rare}, *estimate[] = {"1"};
        uint64_t n = (uint64_t) cases[i].n;
        cellar_exposure_curve *p = shares_of(truth, 2), *q = shares_of(estimate, 1);
        double difference = statistical(p, n, n) - statistical(q, n, n);
        double closed = -expm1(cases[i].n * log1p(-1 / cases[i].n)); /* 1 - p^n - (1-p)^n */
        assert_near(difference, closed, 1e-9);
        assert_near(difference * cases[i].n / sqrt(cases[i].n), cases[i].needed, 0.05);
        cellar_exposure_curve_free(p);
        cellar_exposure_curve_free(q);
    }
}

/* Errata: the proof of Theorem 5 needs this factor 2. */
static void radius_has_two_sides(void **state)
{
    const uint64_t counts[] = {500, 300, 200};
    cellar_exposure_curve *curve = curve_of(counts, 3);
    (void) state;
    assert_near(cellar_exposure_radius(curve, 0.05), sqrt(log(2 * 3 / 0.05) / 2000), 1e-14);
    assert_near(cellar_exposure_floor(4), 1.0 / 64, 1e-15);
    cellar_exposure_curve_free(curve);
}

/* Every distribution within the radius lies in the bands, for every threshold and (n,k). */
static void bands_hold(void **state)
{
    const uint64_t sample[] = {50, 30, 10, 6, 4};
    const double radius = 0.0201; /* two hundredths, and a bit for rounding */
    cellar_exposure_curve *estimate = curve_of(sample, 5);
    (void) state;
    for (int shift = 0; shift < 5 * 5 * 5 * 5; shift++) {
        uint64_t truth[5] = {50, 30, 10, 6, 4};
        cellar_exposure_curve *curve;
        int rest = shift, sum = 0;
        for (size_t v = 0; v < 4; v++, rest /= 5) {
            truth[v] += (uint64_t) (rest % 5) - 2;
            sum += rest % 5 - 2;
        }
        if (sum < -2 || sum > 2)
            continue;
        truth[4] -= (uint64_t) sum;
        curve = curve_of(truth, 5);
        for (uint64_t t = 1; t <= 100; t++) {
            double q = cellar_exposure_value(curve, t), at = (double) t / 100;
            cellar_exposure_band narrow = cellar_exposure_band_rigorous(estimate, at, radius);
            cellar_exposure_band wide = cellar_exposure_band_published(estimate, at, radius);
            assert_true(narrow.lower <= q + 1e-15 && q <= narrow.upper + 1e-15);
            assert_true(wide.lower <= narrow.lower + 1e-12 && narrow.upper <= wide.upper + 1e-12);
        }
        for (uint64_t k = 1; k <= 30; k += 3) {
            cellar_exposure_band band = cellar_exposure_statistical_band(estimate, 100, k, radius);
            double q = statistical(curve, 100, k);
            assert_true(band.lower <= q + 1e-14 && q <= band.upper + 1e-14);
        }
        cellar_exposure_curve_free(curve);
    }
    cellar_exposure_curve_free(estimate);
}

/* ---- memory ------------------------------------------------------------------ */

static cellar_status everything(void *context, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *shares[] = {"0.6", "0.4"};
    const uint64_t large[] = {100000, 70000, 3};
    cellar_exposure_curve *curves[2] = {NULL, NULL};
    cellar_exposure_pair pair = {.population = 100, .k = 3};
    cellar_exposure_bound_curve *steps = NULL;
    cellar_exposure_bound bounds[2];
    (void) context;
    CELLAR_TRY(cellar_exposure_curve_from_shares(shares, 2, &curves[0], err));
    CELLAR_TRY(cellar_exposure_curve_from_counts(large, 3, 0, &curves[1], err));
    CELLAR_TRY(cellar_exposure_statistical(curves[1], &pair, 1, 1, err));
    CELLAR_TRY(cellar_exposure_bounds((const cellar_exposure_curve *const *) curves, 2, 1e-4, NULL,
                                      bounds, err));
    CELLAR_TRY(cellar_exposure_bound_curve_create((const cellar_exposure_curve *const *) curves + 1,
                                                  1, NULL, 0.1, &steps, err));
    cellar_exposure_curve_free(curves[1]);
    CELLAR_TRY(cellar_exposure_curve_create_tight("0.01", 5, &curves[1], err));
out:
    cellar_exposure_bound_curve_free(steps);
    cellar_exposure_curve_free(curves[0]);
    cellar_exposure_curve_free(curves[1]);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    (void) state;
    check_fail_every(everything, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adult_figures),
        cmocka_unit_test(strict_in_integers),
        cmocka_unit_test(steps_hold_the_curve),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(curve_of_a_table),
        cmocka_unit_test(entropy_is_the_integral),
        cmocka_unit_test(entropy_bound_is_tight),
        cmocka_unit_test(tight_example),
        cmocka_unit_test(statistical_values),
        cmocka_unit_test(statistical_by_enumeration),
        cmocka_unit_test(statistical_threads_agree),
        cmocka_unit_test(theorem_8_fails),
        cmocka_unit_test(theorem_8_has_no_constant),
        cmocka_unit_test(radius_has_two_sides),
        cmocka_unit_test(bands_hold),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
