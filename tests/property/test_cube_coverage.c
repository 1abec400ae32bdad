/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals and tests from a cube, by simulation: counts are made, all tables measured with exact
 * draws of the noise, the cube estimated and asked. usage: test_cube_coverage [CUBES [TESTS]]; with
 * a number it prints what docs/inference.md reports.
 *
 * Intervals hold with at least their confidence, single or together. False alarm: 4.5 standard
 * errors each, below 1e-5 for each of the 30 checks; the seeds are fixed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/cube_inference.h>

#include "check.h"
#include "cube/file.h"
#include "cube_sample.h"
#include "inference/simulate.h"

enum { REGIONS = 5, SEXES = 2, CELLS = REGIONS * SEXES };
static size_t n_cubes = 200, n_tests = 40;
static int telling;

static void ok(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_OK)
        fail_msg("%s", err->message);
}

/* Noise of the measured tables. */
typedef struct setting {
    const char *mechanism;
    double variance;
} setting;

static const setting settings[] = {{"discrete-gaussian:sigma=5", 25},
                                   {"discrete-gaussian:sigma=1", 1},
                                   {"discrete-laplace:epsilon=0.5", 7.835396178065527},
                                   {"discrete-laplace:epsilon=2", 0.36202541145582675}};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* ---- a cube made again and again ------------------------------------------------------------- */

typedef struct world {
    const setting *setting;
    cellar_mechanism *mechanism;
    cellar_cube *cube;
    cellar_simulator simulator;
    int64_t counts[CELLS]; /* by region and sex */
} world;

static void world_open(world *w, const setting *s, uint64_t seed)
{
    cellar_error err = {""};
    *w = (world){.setting = s};
    ok(cellar_mechanism_create(s->mechanism, &w->mechanism, &err), &err);
    ok(cube_sample(s->mechanism, s->variance, &w->cube, &err), &err);
    ok(cellar_simulator_init(&w->simulator, seed, 1, &err), &err);
}

static void world_close(world *w)
{
    cellar_simulator_clear(&w->simulator);
    cellar_mechanism_free(w->mechanism);
    cellar_cube_close(w->cube);
}

/* Where a cell of the finest table lies in another. */
static size_t place(const world *w, uint32_t table, size_t cell)
{
    const cube_space *space = &w->cube->lattice.spaces[table];
    const size_t nodes[2] = {cell / SEXES, cell % SEXES};
    size_t at = 0;
    for (size_t k = 0; k < space->order; k++) {
        const cube_axis *axis = &w->cube->lattice.axes[space->variable[k]];
        uint32_t node = (uint32_t) nodes[space->variable[k]];
        for (size_t level = axis->n_levels; level > space->level[k]; level--)
            node = cube_axis_parent(axis, level, node);
        at = at * axis->n[space->level[k]] + node;
    }
    return at;
}

/* Measures the counts anew. */
static void world_measure(world *w)
{
    cellar_error err = {""};
    for (uint32_t t = 0; t < w->cube->lattice.n; t++) {
        const size_t n = (size_t) w->cube->lattice.n_cells[t];
        int64_t *measured = cellar_cube_measured_room(w->cube, t);
        memset(measured, 0, n * sizeof *measured);
        for (size_t cell = 0; cell < CELLS; cell++)
            measured[place(w, t, cell)] += w->counts[cell];
        ok(cellar_mechanism_sample_many(w->mechanism, measured, n, w->simulator.rng, measured,
                                        &err),
           &err);
    }
    cellar_cube_values_clear(&w->cube->estimates);
    ok(cellar_cube_estimate_all(w->cube, &err), &err);
    for (uint32_t t = 0; t < w->cube->lattice.n; t++)
        ok(cellar_cube_table_digest(w->cube, t, w->cube->tables[t].digest, &err), &err);
}

static void tell(const setting *s, const char *what, double covered, double n, double least)
{
    const double share = covered / n, error = sqrt(least * (1 - least) / n);
    if (telling)
        printf("%-30s %-34s %.4f +- %.4f\n", s->mechanism, what, share, error);
    if (!(share > least - 4.5 * error))
        fail_msg("%s, %s: %.4f of %.0f", s->mechanism, what, share, n);
}

/* ---- the cells of a table, with all margins
 * ------------------------------------------------------
 */

enum { WITH_MARGINS = (REGIONS + 1) * (SEXES + 1) };

static void true_table(const world *w, double *out)
{
    memset(out, 0, WITH_MARGINS * sizeof *out);
    for (size_t cell = 0; cell < CELLS; cell++)
        for (size_t r = 0; r < 2; r++)
            for (size_t s = 0; s < 2; s++)
                out[(r ? REGIONS : cell / SEXES) * (SEXES + 1) + (s ? SEXES : cell % SEXES)] +=
                    (double) w->counts[cell];
}

static void check_tables(const setting *s)
{
    const cellar_cube_side sides[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_question question = {sides, 2, 1};
    world w;
    cellar_error err = {""};
    double single[WITH_MARGINS], together[WITH_MARGINS], truth[WITH_MARGINS];
    double covered[4] = {0}; /* an inner cell, a region, the total; all of them */
    static const size_t watched[3] = {1, 2, WITH_MARGINS - 1};
    static const char *const names[4] = {"a cell", "a margin", "the total", "18 cells together"};
    world_open(&w, s, 11);
    for (size_t cell = 0; cell < CELLS; cell++)
        w.counts[cell] = (int64_t) (7 * cell);
    true_table(&w, truth);
    world_measure(&w);
    ok(cellar_cube_half_widths(w.cube, &question, 0.95, 0, single, WITH_MARGINS, &err), &err);
    ok(cellar_cube_half_widths(w.cube, &question, 0.95, 1, together, WITH_MARGINS, &err), &err);
    for (size_t c = 0; c < n_cubes; c++) {
        cellar_estimate *estimate = NULL;
        int all = 1;
        world_measure(&w);
        ok(cellar_cube_ask(w.cube, &question, &estimate, &err), &err);
        for (size_t i = 0; i < WITH_MARGINS; i++) {
            const double away = fabs(cellar_estimate_cell(estimate, i).value - truth[i]) - 1e-6;
            all &= away <= together[i];
            for (size_t k = 0; k < 3; k++)
                covered[k] += watched[k] == i && away <= single[i];
        }
        covered[3] += all;
        cellar_estimate_free(estimate);
    }
    for (size_t k = 0; k < 4; k++)
        tell(s, names[k], covered[k], (double) n_cubes, 0.95);
    world_close(&w);
}

/* ---- comparisons
 * ----------------------------------------------------------------------------------
 */

typedef struct question {
    const char *name, *of, *other;
    cellar_comparison comparison;
    double truth;
} question;

static void check_comparisons(const setting *s)
{
    /* The counts are 0, 7, ..., 63: n1 f 0, n1 m 7, n2 f 14, ... s3 m 63. */
    static const question questions[] = {
        {"a difference", "region=s3; sex=f", "region=s3; sex=m", CELLAR_COMPARE_DIFFERENCE, -7},
        {"a difference between tables", "region=south", "sex=f", CELLAR_COMPARE_DIFFERENCE,
         28 + 35 + 42 + 49 + 56 + 63 - (0 + 14 + 28 + 42 + 56)},
        {"a ratio", "region=s1", "region=s2; sex=f", CELLAR_COMPARE_RATIO, (28 + 35) / 42.0},
        {"a ratio to few", "region=s1", "region=n1", CELLAR_COMPARE_RATIO, (28 + 35) / 7.0},
        {"a proportion", "region=n1; sex=m", "region=n1,n2", CELLAR_COMPARE_PROPORTION, 7 / 42.0}};
    enum { N = sizeof questions / sizeof *questions };
    world w;
    cellar_error err = {""};
    double covered[N] = {0};
    world_open(&w, s, 12);
    for (size_t cell = 0; cell < CELLS; cell++)
        w.counts[cell] = (int64_t) (7 * cell);
    for (size_t c = 0; c < n_cubes / 8 + 1; c++) {
        world_measure(&w);
        for (size_t i = 0; i < N; i++) {
            cellar_cube_sum *sum = NULL, *other = NULL;
            cellar_cube_finding found;
            ok(cellar_cube_sum_parse(w.cube, questions[i].of, &sum, &err), &err);
            ok(cellar_cube_sum_parse(w.cube, questions[i].other, &other, &err), &err);
            ok(cellar_cube_compare(w.cube, sum, questions[i].comparison, other, 0.95, &found, &err),
               &err);
            covered[i] +=
                found.low - 1e-6 <= questions[i].truth && questions[i].truth <= found.high + 1e-6;
            cellar_cube_sum_free(sum);
            cellar_cube_sum_free(other);
        }
    }
    for (size_t i = 0; i < N; i++)
        tell(s, questions[i].name, covered[i], (double) (n_cubes / 8 + 1), 0.95);
    world_close(&w);
}

/* ---- the level of the test of independence
 * --------------------------------------------------------
 */

static void check_level(const setting *s)
{
    const cellar_cube_side sides[2] = {{.variable = "region"}, {.variable = "sex"}};
    static const double rows[REGIONS] = {20, 35, 60, 90, 45}, columns[SEXES] = {0.4, 0.6};
    cellar_test_options options = cellar_test_options_default();
    world w;
    cellar_error err = {""};
    double kept = 0;
    options.reference = CELLAR_REFERENCE_BOOTSTRAP;
    options.n_replicates = 99;
    world_open(&w, s, 13);
    for (size_t c = 0; c < n_tests; c++) {
        cellar_noisy *noisy = NULL;
        cellar_loglinear *test = NULL;
        options.seed = c + 1;
        for (size_t cell = 0; cell < CELLS; cell++)
            w.counts[cell] =
                cellar_simulate_poisson(&w.simulator, rows[cell / SEXES] * columns[cell % SEXES]);
        world_measure(&w);
        ok(cellar_noisy_from_cube(w.cube, sides, 2, &noisy, &err), &err);
        ok(cellar_loglinear_create(noisy, "region+sex", NULL, &options, &test, &err), &err);
        kept += cellar_loglinear_aware(test).p_value > 0.05;
        cellar_loglinear_free(test);
        cellar_noisy_free(noisy);
    }
    tell(s, "independence not rejected", kept, (double) n_tests, 0.95);
    world_close(&w);
}

static void intervals_and_tests_hold(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        check_tables(&settings[i]);
        check_comparisons(&settings[i]);
        check_level(&settings[i]);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_and_tests_hold)};
    if (argc > 1) {
        telling = 1;
        n_cubes = strtoul(argv[1], NULL, 10);
        n_tests = argc > 2 ? strtoul(argv[2], NULL, 10) : n_cubes;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
