/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of cells of a cube, their exact errors, and the noise of a table drawn again. */
#include <cellar/cube_inference.h>

#include <math.h>
#include <string.h>

#include "check.h"
#include "cube/contrast.h"
#include "cube/file.h"
#include "cube_sample.h"
#include "fail_every.h"
#include "inference/cube_noise.h"
#include "inference/cube_sum.h"
#include "inference/noise_sum.h"
#include "near.h"

static void ok(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_OK)
        fail_msg("%s", err->message);
}

static void seal(cellar_cube *cube)
{
    cellar_error err = {""};
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        ok(cellar_cube_table_digest(cube, t, cube->tables[t].digest, &err), &err);
}

static cellar_cube *sample(const char *mechanism, double variance)
{
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    ok(cube_sample(mechanism, variance, &cube, &err), &err);
    seal(cube);
    return cube;
}

static cellar_cube_sum *sum_of(const cellar_cube *cube, const char *text)
{
    cellar_cube_sum *sum = NULL;
    cellar_error err = {""};
    ok(cellar_cube_sum_parse(cube, text, &sum, &err), &err);
    return sum;
}

/* The variances of two sets, and between them their covariance. */
static void covariances(const cellar_cube *cube, const char *a, const char *b, double v[3])
{
    cellar_cube_sum *first = sum_of(cube, a), *second = sum_of(cube, b);
    cellar_error err = {""};
    ok(cellar_cube_sum_covariance(cube, first, first, &v[0], &err), &err);
    ok(cellar_cube_sum_covariance(cube, first, second, &v[1], &err), &err);
    ok(cellar_cube_sum_covariance(cube, second, second, &v[2], &err), &err);
    cellar_cube_sum_free(first);
    cellar_cube_sum_free(second);
}

/* ---- the distribution of weighted sums ------------------------------------------------- */

/* The characteristic function is the sum of probabilities times cosines. */
static void waves_are_transforms(void **state)
{
    static const char *const specs[] = {
        "discrete-gaussian:sigma=0.4", "discrete-gaussian:sigma=0.7", "discrete-gaussian:sigma=3",
        "discrete-laplace:epsilon=1.5", "discrete-laplace:epsilon=0.2"};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *mechanism = NULL;
        cellar_noise_wave wave;
        cellar_error err = {""};
        ok(cellar_mechanism_create(specs[i], &mechanism, &err), &err);
        ok(cellar_noise_wave_init(&wave, specs[i], &err), &err);
        for (double t = 0; t < 9; t += 0.37) {
            double sum = 0;
            for (int k = -300; k <= 300; k++)
                sum += exp(cellar_mechanism_log_pmf(mechanism, 1000, 1000 + k)) * cos(k * t);
            if (fabs(exp(cellar_noise_wave_log(&wave, t)) - sum) > 1e-13)
                fail_msg("%s at %g: %.17g, want %.17g", specs[i], t,
                         exp(cellar_noise_wave_log(&wave, t)), sum);
        }
        cellar_mechanism_free(mechanism);
    }
}

/* Against the exact convolution of 1, 2 and 20 noises: never below, and little above. */
static void widths_hold(void **state)
{
    static const char *const specs[] = {"discrete-gaussian:sigma=0.5", "discrete-gaussian:sigma=4",
                                        "discrete-laplace:epsilon=1",
                                        "discrete-laplace:epsilon=0.1"};
    static const double sizes[] = {1, 2, 20}, tails[] = {0.3, 0.05, 1e-3, 1e-7};
    (void) state;
    for (size_t i = 0; i < 12; i++) {
        const char *spec = specs[i / 3];
        cellar_mechanism *mechanism = NULL;
        cellar_noise_sum *exact = NULL;
        cellar_weighted_noise *noise = NULL;
        cellar_noise_wave wave;
        cellar_error err = {""};
        cellar_noise_term terms[2] = {{&wave, -1, 1}, {&wave, 1, sizes[i % 3] - 1}};
        ok(cellar_mechanism_create(spec, &mechanism, &err), &err);
        ok(cellar_noise_wave_init(&wave, spec, &err), &err);
        ok(cellar_noise_sum_create(mechanism, (uint64_t) sizes[i % 3], &exact, &err), &err);
        ok(cellar_weighted_noise_create(terms, 2, &noise, &err), &err);
        near(cellar_weighted_noise_sd(noise), sqrt(sizes[i % 3] * wave.variance), 1e-12, spec);
        for (size_t k = 0; k < 4; k++) {
            const double width = cellar_weighted_noise_width(noise, tails[k]);
            const int64_t last = (int64_t) floor(width);
            const double less = width - 0.03 * cellar_weighted_noise_sd(noise);
            if (2 * cellar_noise_sum_cdf(exact, -last - 1) > tails[k])
                fail_msg("%s: |noise| exceeds %g too often", spec, width);
            if (2 * cellar_noise_sum_cdf(exact, -(int64_t) floor(less) - 1) < 0.99 * tails[k])
                fail_msg("%s: %g is too wide for %g", spec, width, tails[k]);
            assert_true(cellar_weighted_noise_outside(noise, (double) last) >=
                        fmin(1, 2 * cellar_noise_sum_cdf(exact, -last)));
        }
        near(cellar_weighted_noise_outside(noise, 0), 1, 1e-12, "everything is outside nothing");
        cellar_weighted_noise_free(noise);
        cellar_noise_sum_free(exact);
        cellar_mechanism_free(mechanism);
    }
}

static void other_noise_is_refused(void **state)
{
    cellar_noise_wave wave;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(cellar_noise_wave_init(&wave, "poisson:alpha=1", &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "not poisson"));
}

/* ---- sums and their covariances ------------------------------------------------------------ */

static const char *const SETS[] = {"",
                                   "sex=f",
                                   "region=n1,n2",
                                   "region=north; sex=m",
                                   "region=s3; sex=f",
                                   "region=n1,s2",
                                   "region=n1,s2,s3; sex=f"};
enum { N_SETS = sizeof SETS / sizeof *SETS };

/* Measures a single unit of noise in one cell and estimates: the weight that it has in each set. */
static void weights_by_estimation(cellar_cube *cube, const cellar_cube_sum *const *sums,
                                  double *weights)
{
    const double unit = 1e6;
    cellar_error err = {""};
    cellar_cube_values_clear(&cube->estimates);
    ok(cellar_cube_estimate_all(cube, &err), &err);
    for (size_t s = 0; s < N_SETS; s++) {
        const cube_space *space = &cube->lattice.spaces[sums[s]->table];
        const size_t n = (size_t) cube->lattice.n_cells[sums[s]->table];
        weights[s] = 0;
        for (size_t cell = 0; cell < n; cell++) {
            double weight = 1;
            size_t rest = cell;
            for (size_t k = space->order; k-- > 0;) {
                const size_t length = cube->lattice.axes[space->variable[k]].n[space->level[k]];
                weight *= sums[s]->weights[k][rest % length];
                rest /= length;
            }
            weights[s] += weight * (double) cube->tables[sums[s]->table].values[cell];
        }
        weights[s] /= unit * pow(10, cube->decimals);
    }
}

/* Covariances of all pairs of sets, of different tables too, from the estimates themselves. */
static void covariances_are_exact(void **state)
{
    cellar_cube *cube = sample("discrete-gaussian:sigma=2", 4);
    const cellar_cube_sum *sums[N_SETS];
    double want[N_SETS][N_SETS] = {{0}}, weights[N_SETS];
    cellar_error err = {""};
    (void) state;
    for (size_t s = 0; s < N_SETS; s++)
        sums[s] = sum_of(cube, SETS[s]);
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        memset(cellar_cube_measured_room(cube, t), 0,
               (size_t) cube->lattice.n_cells[t] * sizeof(int64_t));
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        for (size_t i = 0; i < (size_t) cube->lattice.n_cells[t]; i++) {
            cellar_cube_measured_room(cube, t)[i] = 1000000;
            weights_by_estimation(cube, sums, weights);
            cellar_cube_measured_room(cube, t)[i] = 0;
            for (size_t a = 0; a < N_SETS; a++)
                for (size_t b = 0; b < N_SETS; b++)
                    want[a][b] += 4 * weights[a] * weights[b];
        }
    for (size_t a = 0; a < N_SETS; a++)
        for (size_t b = 0; b < N_SETS; b++) {
            double got;
            ok(cellar_cube_sum_covariance(cube, sums[a], sums[b], &got, &err), &err);
            if (fabs(got - want[a][b]) > 1e-9)
                fail_msg("%s with %s: %.15g, want %.15g", SETS[a], SETS[b], got, want[a][b]);
        }
    for (size_t s = 0; s < N_SETS; s++)
        cellar_cube_sum_free((cellar_cube_sum *) sums[s]);
    cellar_cube_close(cube);
}

static void sets_take_the_coarsest_table(void **state)
{
    static const struct {
        const char *text;
        const char *table;
    } cases[] = {{"", "total"},
                 {"sex=m,f", "total"},
                 {"region=n1,n2,s1,s2,s3; sex=m", "sex"},
                 {"region=n2,n1", "region^1"},
                 {"region=north,s1,s2,s3", "total"},
                 {"region=north,s1", "region"},
                 {"region=south; sex=f", "region^1 x sex"},
                 {" \"region\" = \"s1\" ; sex = f", "region x sex"}};
    cellar_cube *cube = sample("discrete-gaussian:sigma=2", 4);
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_cube_sum *sum = sum_of(cube, cases[i].text);
        cellar_cube_table_info info;
        cellar_error err = {""};
        ok(cellar_cube_table_at(cube, sum->table, &info, &err), &err);
        assert_string_equal(info.name, cases[i].table);
        cellar_cube_sum_free(sum);
    }
    cellar_cube_close(cube);
}

static void wrong_sets_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"age=1", "the cube has no variable 'age'"},
                 {"sex=x", "variable 'sex' has no code 'x'"},
                 {"sex=f; sex=m", "variable 'sex' is named twice"},
                 {"sex", "'sex': expected '=' and a code"},
                 {"sex=\"f", "a quote is not closed"},
                 {"sex=\"f\" m", "expected ';' or the end at 'm'"}};
    const char *const codes[] = {"north"};
    const cellar_cube_side fine = {.variable = "region", .codes = codes, .n_codes = 1, .level = 2};
    const cellar_cube_side beyond = {.variable = "region", .level = 3};
    cellar_cube *cube = sample("discrete-gaussian:sigma=2", 4);
    cellar_cube_sum *sum;
    cellar_error err = {""};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cellar_cube_sum_parse(cube, cases[i].text, &sum, &err),
                         CELLAR_ERR_ARGUMENT);
        assert_null(sum);
        assert_string_equal(err.message, cases[i].message);
    }
    assert_int_equal(cellar_cube_sum_create(cube, &fine, 1, &sum, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cube_sum_create(cube, &beyond, 1, &sum, &err), CELLAR_ERR_ARGUMENT);
    cellar_cube_close(cube);
}

/* ---- comparisons -------------------------------------------------------------------------------
 */

static cellar_cube_finding compare(const cellar_cube *cube, const char *a, cellar_comparison how,
                                   const char *b, double confidence)
{
    cellar_cube_sum *sum = sum_of(cube, a), *other = b != NULL ? sum_of(cube, b) : NULL;
    cellar_cube_finding found;
    cellar_error err = {""};
    ok(cellar_cube_compare(cube, sum, how, other, confidence, &found, &err), &err);
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(other);
    return found;
}

static double value_of(const cellar_cube *cube, const char *text)
{
    return compare(cube, text, CELLAR_COMPARE_NONE, NULL, 0.95).estimate;
}

static void differences_know_covariances(void **state)
{
    cellar_cube *cube = sample("discrete-gaussian:sigma=9", 81);
    const char *a = "region=n1; sex=f", *b = "region=s2; sex=f";
    const cellar_cube_finding d = compare(cube, a, CELLAR_COMPARE_DIFFERENCE, b, 0.95);
    double v[3];
    (void) state;
    covariances(cube, a, b, v);
    near(d.estimate, value_of(cube, a) - value_of(cube, b), 1e-12, "a difference");
    near(d.se, sqrt(v[0] - 2 * v[1] + v[2]), 1e-12, "its error");
    /* Many comparable noises of sigma 9: normal, but for the smoothing. */
    near(d.high - d.estimate, 1.959964 * d.se, 0.006, "its interval");
    near(d.estimate - d.low, d.high - d.estimate, 1e-9, "symmetric");
    near(d.p_value, erfc(fabs(d.estimate) / d.se / M_SQRT2), 0.05, "its p-value");
    cellar_cube_close(cube);
}

/* Ends of a ratio solve |a - r b| = m sd(a - r b); proportions are ratios within 0..1. */
static void ratios_are_fiellers(void **state)
{
    cellar_cube *cube = sample("discrete-gaussian:sigma=9", 81);
    const char *a = "region=n1; sex=f", *b = "region=s2; sex=f";
    const cellar_cube_finding r = compare(cube, a, CELLAR_COMPARE_RATIO, b, 0.95);
    const cellar_cube_finding p = compare(cube, a, CELLAR_COMPARE_PROPORTION, "region=n1", 0.95);
    const double x = value_of(cube, a), y = value_of(cube, b);
    double v[3];
    (void) state;
    covariances(cube, a, b, v);
    near(r.estimate, x / y, 1e-12, "a ratio");
    for (int side = 0; side < 2; side++) {
        const double end = side ? r.high : r.low;
        const double sd = sqrt(v[0] - 2 * end * v[1] + end * end * v[2]);
        near(fabs(x - end * y) / sd, 1.959964, 0.006, "an end");
    }
    assert_true(r.low < r.estimate && r.estimate < r.high && !r.is_undetermined);
    near(p.estimate, x / value_of(cube, "region=n1"), 1e-12, "a proportion");
    assert_true(p.low >= 0 && p.low <= p.high && p.high <= 1);
    cellar_cube_close(cube);
}

/* Noise far larger than what a ratio is divided by. */
static void open_ratios_are_undetermined(void **state)
{
    cellar_cube *cube = sample("discrete-gaussian:sigma=3000", 9e6);
    const cellar_cube_finding r =
        compare(cube, "region=n1; sex=f", CELLAR_COMPARE_RATIO, "region=s1; sex=f", 0.95);
    (void) state;
    assert_true(r.is_undetermined && isinf(r.low) && isinf(r.high) && isnan(r.se));
    cellar_cube_close(cube);
}

static void wrong_comparisons_are_refused(void **state)
{
    cellar_cube *cube = sample("discrete-gaussian:sigma=2", 4);
    cellar_cube_sum *f = sum_of(cube, "sex=f"), *m = sum_of(cube, "sex=m");
    cellar_cube_finding found;
    cellar_error err = {""};
    double halves[10];
    const cellar_cube_side sides[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_question question = {sides, 2, 0};
    (void) state;
    assert_int_equal(cellar_cube_compare(cube, f, CELLAR_COMPARE_PROPORTION, m, 0.95, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cube_compare(cube, f, CELLAR_COMPARE_RATIO, f, 0.95, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cube_compare(cube, f, CELLAR_COMPARE_RATIO, NULL, 0.95, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cube_compare(cube, f, CELLAR_COMPARE_NONE, NULL, 1, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(
        cellar_cube_compare(cube, f, CELLAR_COMPARE_NONE, NULL, 1 - 1e-12, &found, &err),
        CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_cube_half_widths(cube, &question, 0.95, 0, halves, 9, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_cube_sum_free(f);
    cellar_cube_sum_free(m);
    cellar_cube_close(cube);
}

/* Cells of a table, in the order of the question, have the widths of the sets they are. */
static void widths_of_a_table(void **state)
{
    const cellar_cube_side sides[2] = {{.variable = "sex"}, {.variable = "region"}};
    const cellar_cube_question question = {sides, 2, 1};
    static const char *const sexes[] = {"sex=f", "sex=m", ""};
    static const char *const regions[] = {"region=n1", "region=n2", "region=s1",
                                          "region=s2", "region=s3", ""};
    cellar_cube *cube = sample("discrete-laplace:epsilon=0.5", 7.835396178065527);
    double single[18], together[18];
    cellar_error err = {""};
    (void) state;
    ok(cellar_cube_half_widths(cube, &question, 0.9, 0, single, 18, &err), &err);
    ok(cellar_cube_half_widths(cube, &question, 0.9, 1, together, 18, &err), &err);
    for (size_t i = 0; i < 18; i++) {
        char text[64];
        cellar_cube_finding one, all;
        snprintf(text, sizeof text, "%s%s%s", sexes[i / 6],
                 sexes[i / 6][0] != '\0' && regions[i % 6][0] != '\0' ? ";" : "", regions[i % 6]);
        one = compare(cube, text, CELLAR_COMPARE_NONE, NULL, 0.9);
        all = compare(cube, text, CELLAR_COMPARE_NONE, NULL, 1 - 0.1 / 18);
        near(single[i], one.high - one.estimate, 1e-9, text);
        near(together[i], all.high - all.estimate, 1e-9, text);
    }
    cellar_cube_close(cube);
}

/* ---- the noise of a table, drawn again ------------------------------------------------------- */

/* Sample covariances of drawn errors against the exact ones: with 20,000 draws an entry is off by
 * more than 5.5 of its standard errors with probability below 1e-7 (Laplace noise: at most 12 %
 * more than the normal one used here, 4.9 of them, below 2e-6; 110 entries). */
static void check_draws(const char *mechanism, double variance)
{
    enum { DRAWS = 20000 / CHECK_SHARE };
    static const char *const sexes[] = {"f", "m"};
    static const char *const regions[] = {"n1", "n2", "s1", "s2", "s3"};
    cellar_cube *cube = sample(mechanism, variance);
    const cube_space space = {2, {0, 1}, {2, 1}};
    const uint32_t table = cellar_cube_lattice_find(&cube->lattice, &space);
    cellar_cube_noise *noise = NULL;
    cellar_simulator simulator;
    cellar_error err = {""};
    double products[10][10] = {{0}}, errors[10];
    ok(cellar_cube_noise_create(cube, table, &noise, &err), &err);
    ok(cellar_simulator_init(&simulator, 5, 1, &err), &err);
    for (size_t d = 0; d < DRAWS; d++) {
        ok(cellar_cube_noise_draw(noise, &simulator, errors, &err), &err);
        for (size_t i = 0; i < 10; i++)
            for (size_t j = 0; j < 10; j++)
                products[i][j] += errors[i] * errors[j] / DRAWS;
    }
    for (size_t i = 0; i < 10; i++)
        for (size_t j = 0; j < 10; j++) {
            char text[2][64];
            double v[3];
            for (size_t k = 0; k < 2; k++) {
                const size_t cell = k == 0 ? i : j;
                snprintf(text[k], sizeof text[k], "region=%s; sex=%s", regions[cell / 2],
                         sexes[cell % 2]);
            }
            covariances(cube, text[0], text[1], v);
            if (fabs(products[i][j] - v[1]) > 5.5 * sqrt((v[0] * v[2] + v[1] * v[1]) / DRAWS))
                fail_msg("%s, %s with %s: %g, want %g", mechanism, text[0], text[1], products[i][j],
                         v[1]);
        }
    cellar_simulator_clear(&simulator);
    cellar_cube_noise_free(noise);
    cellar_cube_close(cube);
}

static void draws_have_the_covariances(void **state)
{
    (void) state;
    check_draws("discrete-gaussian:sigma=5", 25);                   /* drawn as normal */
    check_draws("discrete-gaussian:sigma=1", 1);                    /* exactly */
    check_draws("discrete-laplace:epsilon=0.5", 7.835396178065527); /* exactly */
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void tests_take_a_cube(void **state)
{
    const cellar_cube_side sides[2] = {{.variable = "sex"}, {.variable = "region", .level = 1}};
    cellar_cube *cube = sample("discrete-gaussian:sigma=2", 4);
    cellar_noisy *noisy = NULL;
    cellar_loglinear *test = NULL;
    cellar_cell_set *set = NULL;
    cellar_interval interval;
    const cellar_interval_options how = cellar_interval_options_default();
    cellar_interval_estimate v, naive;
    cellar_test_options options = cellar_test_options_default();
    const size_t pair[2] = {0, 1};
    double naive_v;
    cellar_error err = {""};
    (void) state;
    ok(cellar_noisy_from_cube(cube, sides, 2, &noisy, &err), &err);
    assert_string_equal(cellar_noisy_variable(noisy, 0), "sex");
    assert_string_equal(cellar_noisy_code(noisy, 1, 1), "south");
    assert_int_equal(cellar_noisy_released(noisy, 1),
                     llrint(value_of(cube, "sex=f; region=south")));
    options.n_replicates = 49;
    assert_int_equal(cellar_loglinear_create(noisy, "sex+region", NULL, &options, &test, &err),
                     CELLAR_ERR_RULE); /* chi-square does not know the correlations */
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    ok(cellar_loglinear_create(noisy, "sex+region", NULL, &options, &test, &err), &err);
    assert_true(cellar_loglinear_aware(test).p_value > 0);
    assert_true(cellar_loglinear_quality(test).chi_square_is_off);
    ok(cellar_cramers_v(noisy, 0.95, &options, &v, &naive_v, &err), &err);
    assert_true(v.low <= v.value && v.value <= v.high);
    assert_int_equal(cellar_odds_ratio(noisy, pair, pair, 0.95, &v, &naive, &err), CELLAR_ERR_RULE);
    ok(cellar_cell_set_parse(noisy, "sex=f", &set, &err), &err);
    assert_int_equal(
        cellar_interval_run(noisy, set, CELLAR_COMPARE_NONE, NULL, &how, &interval, &err),
        CELLAR_ERR_RULE);
    cellar_cell_set_free(set);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
    cellar_cube_close(cube);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static cellar_status compare_scenario(const cellar_cube *cube, cellar_error *err)
{
    const char *const codes[] = {"n1", "s2"};
    const cellar_cube_side side = {.variable = "region", .codes = codes, .n_codes = 2};
    cellar_cube_sum *sum = NULL, *other = NULL;
    cellar_cube_finding found;
    cellar_status status = cellar_cube_sum_create(cube, &side, 1, &sum, err);
    if (status == CELLAR_OK)
        status = cellar_cube_sum_parse(cube, "sex=f; region=north", &other, err);
    if (status == CELLAR_OK)
        status = cellar_cube_compare(cube, sum, CELLAR_COMPARE_RATIO, other, 0.95, &found, err);
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(other);
    return status;
}

static cellar_status scenario(void *context, cellar_error *err)
{
    const cellar_cube *cube = context;
    const cellar_cube_side sides[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_question question = {sides, 2, 0};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = NULL;
    cellar_loglinear *test = NULL;
    double halves[10];
    cellar_status status = compare_scenario(cube, err);
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.n_replicates = 2;
    options.n_threads = 1;
    if (status == CELLAR_OK)
        status = cellar_cube_half_widths(cube, &question, 0.95, 1, halves, 10, err);
    if (status == CELLAR_OK)
        status = cellar_noisy_from_cube(cube, sides, 2, &noisy, err);
    if (status == CELLAR_OK)
        status = cellar_loglinear_create(noisy, "sex+region", NULL, &options, &test, err);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cellar_cube *cube = sample("discrete-laplace:epsilon=0.5", 7.835396178065527);
    (void) state;
    check_fail_every(scenario, cube);
    cellar_cube_close(cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_are_transforms),
        cmocka_unit_test(widths_hold),
        cmocka_unit_test(other_noise_is_refused),
        cmocka_unit_test(covariances_are_exact),
        cmocka_unit_test(sets_take_the_coarsest_table),
        cmocka_unit_test(wrong_sets_are_refused),
        cmocka_unit_test(differences_know_covariances),
        cmocka_unit_test(ratios_are_fiellers),
        cmocka_unit_test(open_ratios_are_undetermined),
        cmocka_unit_test(wrong_comparisons_are_refused),
        cmocka_unit_test(widths_of_a_table),
        cmocka_unit_test(draws_have_the_covariances),
        cmocka_unit_test(tests_take_a_cube),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
