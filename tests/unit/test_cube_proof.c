/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guarantee of a cube against enumeration: of toy universes every outcome of the measured
 * tables is listed for two neighbours, and the certificate is never exceeded. */
#include <math.h>
#include <stdio.h>

#include <cellar/cube_plan.h>
#include <cellar/mechanism.h>

#include "check.h"
#include "fail_every.h"
#include "near.h"
#include "plan_place.h"
#include "plan/cube_design.h"

#define HEAD                                                                                       \
    "plan: 1\ndata: {file: people.csv}\nunit: {name: person}\nvariables:\n"                        \
    "  - {name: region, codelist: region.csv}\n  - {name: sex, codelist: sex.csv}\n"               \
    "negatives: keep\nparameter_choice: advance\naccept: [large-epsilon]\n"

enum { CELLS_MAX = 6, COUNT = 40 };

/* Cells that a neighbour changes: the noise of each, and by how much. */
typedef struct change {
    cellar_mechanism *mechanism[CELLS_MAX];
    int by[CELLS_MAX], reach;
    size_t n;
} change;

/* Sum over all outcomes of max(0, P - e^epsilon Q), cell by cell. */
static double excess(const change *c, size_t cell, double p, double q, double factor)
{
    double sum = 0;
    if (cell == c->n)
        return fmax(0, p - factor * q);
    for (int y = -c->reach; y <= c->reach; y++)
        sum += excess(c, cell + 1, p * cellar_mechanism_pmf(c->mechanism[cell], COUNT, COUNT + y),
                      q * cellar_mechanism_pmf(c->mechanism[cell], COUNT + c->by[cell], COUNT + y),
                      factor);
    return sum;
}

/* `by`: what a unit does to the cells of each table that it changes; 0 ends it. */
static void check_universe(scratch *place, const char *text, const int *by, size_t n_tables)
{
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    const cellar_certificate *certificate;
    change c = {.n = 0};
    cellar_error err = {""};
    size_t n_measured = 0;
    if (plan_place_parse(place, text, &plan, &err) != CELLAR_OK ||
        cellar_cube_design_create(plan, &d, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
        if (table.mechanism == NULL)
            continue;
        n_measured++;
        for (const int *one = by; *one != 0; one++) {
            assert_true(c.n < CELLS_MAX);
            c.by[c.n] = *one;
            assert_int_equal(cellar_mechanism_create(table.mechanism, &c.mechanism[c.n], &err),
                             CELLAR_OK);
            c.n++;
        }
    }
    assert_int_equal(n_measured, n_tables);
    c.reach = c.n <= 2 ? 60 : c.n == 3 ? 24 : 10;
    certificate = cellar_cube_design_certificate(d);
    for (size_t i = 0; i < cellar_certificate_n_points(certificate); i++) {
        const cellar_profile_point point = cellar_certificate_point(certificate, i);
        const double found = excess(&c, 0, 1, 1, exp(point.epsilon));
        if (!(found <= point.delta * (1 + 1e-9) + 1e-12))
            fail_msg("at epsilon %g: delta %g, and the certificate says %g", point.epsilon, found,
                     point.delta);
        assert_true(found > 0.9 * point.delta - 1e-9); /* it is tight: not said too carefully */
    }
    for (size_t i = 0; i < c.n; i++)
        cellar_mechanism_free(c.mechanism[i]);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

static void enumeration_never_exceeds_the_certificate(void **state)
{
    static const int added[] = {1, 0}, removed[] = {-1, 0}, replaced[] = {-1, 1, 0};
#define OF(tables, budget) HEAD "universe: {file: a.cube, " tables "}\nbudget: {" budget "}\n"
    check_universe(*state, OF("tables: [{by: [sex]}]", "rho: 0.5"), added, 2);
    check_universe(*state, OF("tables: [{by: [sex]}]", "rho: 0.5"), removed, 2);
    check_universe(*state, OF("tables: [{by: [sex]}]", "epsilon: 1.5"), added, 1);
    check_universe(*state, OF("up_to: 1", "rho: 1"), added, 3);
    check_universe(*state, OF("up_to: 2", "rho: 6"), removed, 4);
    check_universe(*state, OF("tables: [{by: [sex]}]", "rho: 0.5") "neighbours: substitute\n",
                   replaced, 1);
}

/* ---- weights ------------------------------------------------------------------------------- */

/* A record of weight up to W moves every measured cell by up to W: W^2 times rho, W times epsilon.
 */
static void weights_cost_their_square(void **state)
{
    static const char *const budgets[] = {"rho: 0.5", "epsilon: 0.5"};
    for (size_t k = 0; k < 2; k++) {
        cellar_plan *plan = NULL;
        cellar_cube_design *d = NULL;
        const cellar_certificate *certificate;
        double cost = 0;
        char text[1000];
        cellar_error err = {""};
        snprintf(text, sizeof text,
                 "plan: 1\ndata: {file: people.csv, weight: id, max_weight: 4}\n"
                 "unit: {name: person}\nvariables:\n  - {name: sex, codelist: sex.csv}\n"
                 "negatives: keep\nparameter_choice: advance\n"
                 "universe: {file: a.cube, up_to: 1}\nbudget: {%s}\n",
                 budgets[k]);
        if (plan_place_parse(*state, text, &plan, &err) != CELLAR_OK ||
            cellar_cube_design_create(plan, &d, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        certificate = cellar_cube_design_certificate(d);
        for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
            const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
            double size = 0;
            if (table.mechanism == NULL)
                continue;
            assert_int_equal(sscanf(strchr(table.mechanism, '=') + 1, "%lf", &size), 1);
            cost += k == 0 ? 16 / (2 * size * size) : 4 * size;
        }
        assert_true(cost <= 0.5 && cost > 0.4999);
        near(k == 0 ? cellar_certificate_composition(certificate).rho
                    : cellar_certificate_pure_epsilon(certificate),
             cost, 1e-9, "the cost");
        cellar_cube_design_free(d);
        cellar_plan_free(plan);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static cellar_status design_and_build(void *context, cellar_error *err)
{
    const cellar_cube_build_options options = {.n_threads = 1, .date = "2026-07-01"};
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    cellar_cube_build_result built;
    cellar_status status;
    unlink(scratch_path(context, "a.cube"));
    status = plan_place_parse(context, OF("up_to: 1", "epsilon: 1"), &plan, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &d, err);
    if (status == CELLAR_OK)
        status = cellar_cube_build(d, &options, &built, err);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    check_fail_every(design_and_build, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enumeration_never_exceeds_the_certificate),
        cmocka_unit_test(weights_cost_their_square),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, plan_place_setup, plan_place_teardown);
}
