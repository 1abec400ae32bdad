/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More tables for a published cube: one least squares over both measurements, one certificate of
 * both, and nothing that was published is replaced. */
#include <math.h>
#include <stdio.h>

#include <cellar/cube_plan.h>

#include "check.h"
#include "cube/cube.h"
#include "fail_every.h"
#include "near.h"
#include "plan_place.h"
#include "plan/cube_design.h"

#define FIRST PLAN_HEAD "universe: {file: a.cube, up_to: 1}\nbudget: {rho: 0.5}\n"
#define SECOND(universe) PLAN_HEAD "universe: {file: b.cube, extends: a.cube, " universe "}\n"
#define MORE SECOND("tables: [{by: [region, sex]}]") "budget: {rho: 0.25}\n"

static cellar_status make(scratch *place, const char *text, cellar_cube_design **design,
                          cellar_error *err)
{
    const cellar_cube_build_options options = {.n_threads = 1, .date = "2026-07-01"};
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    cellar_cube_build_result built;
    cellar_status status = plan_place_parse(place, text, &plan, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &d, err);
    if (status == CELLAR_OK)
        status = cellar_cube_build(d, &options, &built, err);
    if (design != NULL && status == CELLAR_OK) {
        *design = d;
        return status; /* the plan lives as long as the test */
    }
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
    return status;
}

static cellar_cube *built(scratch *place, const char *text, const char *file)
{
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    unlink(scratch_path(place, file));
    if (make(place, text, NULL, &err) != CELLAR_OK ||
        cellar_cube_open(scratch_path(place, file), &cube, &err) != CELLAR_OK ||
        cellar_cube_verify(cube, file, &err) != CELLAR_OK ||
        cellar_cube_recertify(cube, file, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return cube;
}

/* ---- least squares -------------------------------------------------------------------------- */

enum { CELLS = 4 }; /* of region by sex, which is the table of all variables */

/* The cell of a table that a cell of region by sex lies in. */
static size_t cell_of(const cellar_cube *cube, const cube_space *space, size_t full)
{
    const uint32_t leaf[2] = {(uint32_t) full / 2, (uint32_t) full % 2};
    size_t at = 0;
    for (size_t i = 0; i < space->order; i++) {
        const cube_axis *axis = &cube->variables[space->variable[i]].axis;
        uint32_t node = leaf[space->variable[i]];
        for (size_t level = axis->n_levels; level > space->level[i]; level--)
            node = cube_axis_parent(axis, level, node);
        at = at * axis->n[space->level[i]] + node;
    }
    return at;
}

/* Solves the normal equations of all measured tables by elimination: X'WX x = X'W y. */
static void dense(const cellar_cube *cube, double x[CELLS])
{
    double m[CELLS][CELLS + 1] = {{0}};
    for (size_t t = 0; t < cube->lattice.n; t++)
        for (size_t i = 0; cube->w[t] > 0 && i < CELLS; i++) {
            const size_t cell = cell_of(cube, &cube->lattice.spaces[t], i);
            for (size_t j = 0; j < CELLS; j++)
                if (cell_of(cube, &cube->lattice.spaces[t], j) == cell)
                    m[i][j] += 1 / cube->tables[t].variance;
            m[i][CELLS] += (double) cube->tables[t].measured[cell] / cube->tables[t].variance;
        }
    for (size_t i = 0; i < CELLS; i++)
        for (size_t k = 0; k < CELLS; k++) {
            const double factor = k == i ? 0 : m[k][i] / m[i][i];
            for (size_t j = i; j <= CELLS; j++)
                m[k][j] -= factor * m[i][j];
        }
    for (size_t i = 0; i < CELLS; i++)
        x[i] = m[i][CELLS] / m[i][i];
}

static void both_measurements_are_one_least_squares(void **state)
{
    cellar_cube *first = built(*state, FIRST, "a.cube"), *both = built(*state, MORE, "b.cube");
    double x[CELLS];
    size_t n_more = 0, n_changed = 0;
    dense(both, x);
    for (uint32_t t = 0; t < both->lattice.n; t++) {
        const size_t n = (size_t) both->lattice.n_cells[t];
        const uint32_t old = cellar_cube_lattice_find(&first->lattice, &both->lattice.spaces[t]);
        double want[CELLS] = {0};
        for (size_t i = 0; i < CELLS; i++)
            want[cell_of(both, &both->lattice.spaces[t], i)] += x[i];
        /* Noise puts values near 0: digits are the measure. Cells are rounded and add up. */
        for (size_t i = 0; i < n; i++) {
            const double got = (double) both->tables[t].values[i];
            if (!(fabs(got - want[i] * pow(10, both->decimals)) <= 0.5 * CELLS + 1e-3))
                fail_msg("a value: got %.17g in its last digits, want %.17g", got, want[i]);
        }
        if (old == CUBE_NO_SPACE) {
            n_more += both->w[t] > 0;
            continue;
        }
        /* what was measured stays as it was published, and what is estimated changes */
        if (first->w[old] > 0) {
            assert_memory_equal(first->tables[old].measured, both->tables[t].measured,
                                n * sizeof(int64_t));
            assert_string_equal(first->tables[old].mechanism, both->tables[t].mechanism);
        }
        for (size_t i = 0; i < n; i++)
            n_changed += first->tables[old].values[i] != both->tables[t].values[i];
    }
    assert_true(n_more >= 1 && n_changed > 0);
    assert_int_equal(json_array_size(json_object_get(both->description, "measurements")), 2);
    cellar_cube_close(first);
    cellar_cube_close(both);
}

/* ---- certificates ---------------------------------------------------------------------------- */

static void the_certificate_is_that_of_both(void **state)
{
    cellar_cube_design *d = NULL;
    cellar_error err = {""};
    const cellar_plan *plan;
    double rho_alone, rho_together, sum = 0;
    cellar_cube_close(built(*state, FIRST, "a.cube"));
    unlink(scratch_path(*state, "b.cube"));
    assert_int_equal(make(*state, MORE, &d, &err), CELLAR_OK);
    rho_alone = cellar_certificate_composition(cellar_cube_design_certificate(d)).rho;
    rho_together = cellar_certificate_composition(cellar_cube_design_together(d)).rho;
    for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
        double sigma;
        assert_true(!(table.before_sd < table.sd)); /* no table loses */
        if (table.mechanism != NULL) {
            assert_int_equal(sscanf(table.mechanism, "discrete-gaussian:sigma=%lf", &sigma), 1);
            sum += 1 / (2 * sigma * sigma);
        }
    }
    assert_true(rho_alone <= 0.25 && rho_alone > 0.2499);
    near(rho_together, sum, 1e-9, "rho of both");
    assert_true(rho_together > 0.7498 && rho_together <= 0.75);
    plan = d->plan;
    cellar_cube_design_free(d);
    cellar_plan_free((cellar_plan *) plan);
}

/* A pure epsilon and a rho compose as well. */
static void noises_of_two_kinds_are_pooled(void **state)
{
    cellar_cube *both;
    size_t n_laplace = 0, n_gaussian = 0;
    cellar_cube_close(built(
        *state, PLAN_HEAD "universe: {file: a.cube, up_to: 1}\nbudget: {epsilon: 1}\n", "a.cube"));
    both = built(*state, MORE, "b.cube");
    for (size_t t = 0; t < both->lattice.n; t++)
        if (both->w[t] > 0) {
            n_laplace += strstr(both->tables[t].mechanism, "laplace") != NULL;
            n_gaussian += strstr(both->tables[t].mechanism, "gaussian") != NULL;
        }
    assert_true(n_laplace > 0 && n_gaussian > 0);
    cellar_cube_close(both);
    cellar_cube_close(
        built(*state, SECOND("tables: [{by: [region, sex]}]") "budget: {epsilon: 1}\n", "b.cube"));
}

/* Under substitution the exact total is taken over, and stays the only exact table. */
static void what_is_exact_stays_exact(void **state)
{
    cellar_cube *both;
    const json_t *certificate;
    cellar_cube_close(built(*state, FIRST "neighbours: substitute\n", "a.cube"));
    both = built(*state, MORE "neighbours: substitute\n", "b.cube");
    certificate = json_object_get(both->description, "certificate");
    assert_int_equal(both->tables[0].values[0], 4000000);
    assert_int_equal(json_array_size(json_object_get(certificate, "invariants")), 1);
    cellar_cube_close(both);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_refused(scratch *place, const char *text, cellar_status want, const char *message)
{
    cellar_error err = {""};
    const cellar_status status = make(place, text, NULL, &err);
    if (status != want || strstr(err.message, message) == NULL)
        fail_msg("'%s' (%d) lacks '%s'", err.message, (int) status, message);
}

static void other_people_and_variables_are_refused(void **state)
{
    cellar_cube_close(built(*state, FIRST, "a.cube"));
    unlink(scratch_path(*state, "b.cube"));
    check_refused(*state, MORE "neighbours: substitute\n", CELLAR_ERR_INPUT, "'neighbours'");
    check_refused(*state, SECOND("up_to: 1") "budget: {rho: 0.5}\n", CELLAR_ERR_RULE,
                  "every table");
    check_refused(*state,
                  SECOND("tables: [{by: [region, sex], largest_sd: 0.2}]") "budget: {rho: 0.25}\n",
                  CELLAR_ERR_RULE, "would be enough");
    check_refused(*state,
                  PLAN_HEAD "universe: {file: a.cube, extends: a.cube, up_to: 2}\n"
                            "budget: {rho: 0.5}\n",
                  CELLAR_ERR_INPUT, "never replaced");
    scratch_write(*state, "sex.csv", "code,role\n_T,total\nF,\nM,\nX,\n");
    check_refused(*state, MORE, CELLAR_ERR_INPUT, "'sex' has other categories");
    scratch_write(*state, "sex.csv", "code,role\n_T,total\nF,\nM,\n");
    assert_int_not_equal(access(scratch_path(*state, "b.cube"), F_OK), 0);
}

static cellar_status extend(void *context, cellar_error *err)
{
    unlink(scratch_path(context, "b.cube"));
    return make(context, SECOND("tables: [{by: [region, sex]}]") "budget: {epsilon: 1}\n", NULL,
                err);
}

static void every_allocation_may_fail(void **state)
{
    cellar_cube_close(built(*state,
                            PLAN_HEAD "universe: {file: a.cube, tables: [{by: [sex]}]}\n"
                                      "budget: {epsilon: 1}\n",
                            "a.cube"));
    check_fail_every(extend, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_measurements_are_one_least_squares),
        cmocka_unit_test(the_certificate_is_that_of_both),
        cmocka_unit_test(noises_of_two_kinds_are_pooled),
        cmocka_unit_test(what_is_exact_stays_exact),
        cmocka_unit_test(other_people_and_variables_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, plan_place_setup, plan_place_teardown);
}
