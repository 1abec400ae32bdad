/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a plan to a cube: its certificate, its wishes, and what is counted. */
#include <math.h>
#include <stdio.h>

#include <cellar/cube.h>
#include <cellar/cube_plan.h>
#include <cellar/mechanism.h>

#include "check.h"
#include "near.h"
#include "plan_place.h"
#include "privacy/certificate.h"

#define UNIVERSE PLAN_HEAD "universe: {file: a.cube, up_to: 2}\n"

static cellar_cube_design *design(scratch *place, const char *text, cellar_plan **plan)
{
    cellar_cube_design *out = NULL;
    cellar_error err = {""};
    if (plan_place_parse(place, text, plan, &err) != CELLAR_OK ||
        cellar_cube_design_create(*plan, &out, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return out;
}

/* ---- certificates ----------------------------------------------------------------------- */

/* The certificate of a cube is that of one cell of each measured table. */
static void check_certificate(scratch *place, const char *text, const char *delta)
{
    cellar_plan *plan = NULL;
    cellar_cube_design *d = design(place, text, &plan);
    cellar_certify_part parts[16];
    cellar_mechanism *mechanisms[16] = {NULL};
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *want = NULL;
    const cellar_certificate *got = cellar_cube_design_certificate(d);
    size_t n = 0;
    cellar_error err = {""};
    for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
        if (table.mechanism == NULL)
            continue;
        assert_true(n < 16);
        assert_int_equal(cellar_mechanism_create(table.mechanism, &mechanisms[n], &err), CELLAR_OK);
        parts[n] = (cellar_certify_part){mechanisms[n], 1};
        n++;
    }
    assert_int_equal(n, cellar_cube_design_n_measured(d));
    options.deltas = delta != NULL ? &delta : NULL;
    options.n_deltas = delta != NULL;
    assert_int_equal(cellar_certify(parts, n, &options, &want, &err), CELLAR_OK);
    if (delta != NULL)
        near(cellar_certificate_epsilon_at(got, 0).epsilon,
             cellar_certificate_epsilon_at(want, 0).epsilon, 1e-3, "epsilon at delta");
    else
        near(cellar_certificate_pure_epsilon(got), cellar_certificate_pure_epsilon(want), 1e-9,
             "pure epsilon");
    if (isfinite(cellar_certificate_composition(want).rho))
        near(cellar_certificate_composition(got).rho, cellar_certificate_composition(want).rho,
             1e-9, "rho");
    cellar_certificate_free(want);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

static void certificate_is_that_of_its_mechanisms(void **state)
{
    check_certificate(*state, UNIVERSE "budget: {epsilon: 1}\n", NULL);
    check_certificate(*state, UNIVERSE "budget: {epsilon: 1, delta: 1e-6}\n", "1e-6");
    check_certificate(*state,
                      UNIVERSE "budget: {rho: 0.5}\nledger: {delta: 1e-6, file: l, "
                               "dataset: d, request: r}\n",
                      "1e-6");
}

/* ---- invariants --------------------------------------------------------------------------- */

/* Under substitution the number of records is exact; what the plan names is exact too, and the
 * certificate names both and is that of the rest, twice: out of a cell and into another. */
static void invariants_are_exact_and_named(void **state)
{
    cellar_plan *plan = NULL;
    cellar_cube_design *d =
        design(*state,
               PLAN_HEAD "neighbours: substitute\n"
                         "universe: {file: a.cube, up_to: 2, invariants: [region, total]}\n"
                         "budget: {rho: 0.5}\n",
               &plan);
    const cellar_certificate *c = cellar_cube_design_certificate(d);
    double rho = 0;
    for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
        const int is_exact = strcmp(table.name, "total") == 0 ||
                             (strncmp(table.name, "region", 6) == 0 && table.n_variables == 1);
        double sigma = 0;
        assert_int_equal(table.is_exact, is_exact);
        assert_true(is_exact ? table.sd == 0 && table.mechanism == NULL : table.sd > 0);
        if (table.mechanism != NULL) {
            assert_int_equal(sscanf(table.mechanism, "discrete-gaussian:sigma=%lf", &sigma), 1);
            rho += 1 / (sigma * sigma);
        }
    }
    near(cellar_certificate_composition(c).rho, rho, 1e-9, "rho");
    assert_true(rho <= 0.5 && rho > 0.4999);
    assert_int_equal(c->n_invariants, 2);
    assert_string_equal(c->invariants[0], "total");
    assert_string_equal(c->invariants[1], "region");
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

static void check_refused(scratch *place, const char *text, const char *message)
{
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    cellar_error err = {""};
    assert_int_equal(plan_place_parse(place, text, &plan, &err), CELLAR_OK);
    assert_int_not_equal(cellar_cube_design_create(plan, &d, &err), CELLAR_OK);
    assert_null(d);
    if (strstr(err.message, message) == NULL)
        fail_msg("'%s' lacks '%s'", err.message, message);
    cellar_plan_free(plan);
}

static void invariants_that_protect_nothing_are_refused(void **state)
{
    check_refused(*state,
                  PLAN_HEAD "universe: {file: a.cube, up_to: 2, invariants: [region]}\n"
                            "budget: {rho: 0.5}\n",
                  "substitute");
    check_refused(*state,
                  PLAN_HEAD "neighbours: substitute\nuniverse: {file: a.cube, up_to: 2, "
                            "invariants: ['region*sex']}\nbudget: {rho: 0.5}\n",
                  "nothing is left");
    check_refused(*state,
                  PLAN_HEAD "neighbours: substitute\nuniverse: {file: a.cube, up_to: 2, "
                            "invariants: [age]}\nbudget: {rho: 0.5}\n",
                  "no variable 'age'");
}

/* ---- budgets ---------------------------------------------------------------------------- */

static void budgets_are_kept_and_used(void **state)
{
    cellar_plan *plan = NULL;
    cellar_cube_design *d = design(*state, UNIVERSE "budget: {rho: 0.5}\n", &plan);
    double rho = cellar_certificate_composition(cellar_cube_design_certificate(d)).rho;
    assert_true(rho <= 0.5 && rho > 0.4999);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
    d = design(*state, UNIVERSE "budget: {epsilon: 1}\n", &plan);
    rho = cellar_certificate_pure_epsilon(cellar_cube_design_certificate(d));
    assert_true(rho <= 1 && rho > 0.9999);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
    d = design(*state, UNIVERSE "budget: {epsilon: 1, delta: 1e-6}\n", &plan);
    rho = cellar_certificate_epsilon_at(cellar_cube_design_certificate(d), 0).epsilon;
    assert_true(rho <= 1 && rho > 0.998);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

static void budgets_without_noise_or_with_too_much_are_refused(void **state)
{
    cellar_plan *plan = NULL;
    check_refused(*state, UNIVERSE "budget: {rho: 100000}\n", "no noise in practice");
    check_refused(*state, UNIVERSE "budget: {epsilon: 10000}\n", "no noise in practice");
    check_refused(*state, UNIVERSE "budget: {rho: 1e-9}\n", "at least rho: 5.23e-08");
    cellar_cube_design_free(design(*state, UNIVERSE "budget: {rho: 5.23e-08}\n", &plan));
    cellar_plan_free(plan);
}

/* A hierarchy that is not balanced: the wish is about the worst cell of its table. */
static void wishes_are_met(void **state)
{
    const char *text = PLAN_HEAD "universe: {file: a.cube, up_to: 2, tables: [{by: [region, sex], "
                                 "largest_sd: 1.6}]}\nbudget: {rho: 0.5}\n";
    cellar_plan *plan = NULL;
    cellar_cube_design *d;
    size_t found = 0;
    scratch_write(*state, "region.csv",
                  "code,parent\nNorth,\nSouth,\nN,North\nS,South\nS2,South\nS3,South\n");
    d = design(*state, text, &plan);
    for (size_t t = 0; t < cellar_cube_design_n_tables(d); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(d, t);
        if (strcmp(table.name, "region x sex") != 0)
            continue;
        found++;
        if (!(table.sd <= 1.6 * 1.0002))
            fail_msg("a standard deviation of %g", table.sd);
    }
    assert_int_equal(found, 1);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

/* The budget that a refusal names is enough: asked again with it, the plan is accepted. */
static void check_named_budget(scratch *place, const char *sd, const char *key, const char *first,
                               const char *rest)
{
    char text[1024], named[64], *at;
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    cellar_error err = {""};
    snprintf(named, sizeof named, "%s", first);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 PLAN_HEAD "universe: {file: a.cube, up_to: 2, tables: [{by: [region, sex], "
                           "largest_sd: %s}]}\nbudget: {%s: %s%s}\n",
                 sd, key, named, rest);
        if (i == 1)
            break;
        assert_int_equal(plan_place_parse(place, text, &plan, &err), CELLAR_OK);
        assert_int_equal(cellar_cube_design_create(plan, &d, &err), CELLAR_ERR_RULE);
        cellar_plan_free(plan);
        at = strstr(err.message, key);
        if (at == NULL || sscanf(at + strlen(key), ": %63s", named) != 1)
            fail_msg("'%s' names no %s", err.message, key);
    }
    d = design(place, text, &plan);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
}

static void named_budgets_are_enough(void **state)
{
    check_named_budget(*state, "1", "rho", "0.1", "");
    check_named_budget(*state, "0.5", "rho", "0.5", "");
    check_named_budget(*state, "3", "rho", "0.01", "");
    check_named_budget(*state, "0.8", "epsilon", "1", ", delta: 1e-6");
    check_named_budget(*state, "0.8", "epsilon", "1", "");
}

/* ---- building ---------------------------------------------------------------------------------
 */

static cellar_status build(scratch *place, cellar_error *err)
{
    const cellar_cube_build_options options = {.n_threads = 1, .date = "2026-07-01"};
    cellar_plan *plan = NULL;
    cellar_cube_design *d = NULL;
    cellar_cube_build_result built;
    cellar_status status;
    unlink(scratch_path(place, "a.cube"));
    status = plan_place_parse(place,
                              PLAN_HEAD "universe: {file: a.cube, tables: [{by: [sex]}]}\n"
                                        "budget: {epsilon: 1}\n",
                              &plan, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &d, err);
    if (status == CELLAR_OK)
        status = cellar_cube_build(d, &options, &built, err);
    cellar_cube_design_free(d);
    cellar_plan_free(plan);
    return status;
}

static void a_cube_is_built_and_whole(void **state)
{
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    assert_int_equal(build(*state, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_open(scratch_path(*state, "a.cube"), &cube, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_verify(cube, "a.cube", &err), CELLAR_OK);
    cellar_cube_close(cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_are_exact_and_named),
        cmocka_unit_test(invariants_that_protect_nothing_are_refused),
        cmocka_unit_test(certificate_is_that_of_its_mechanisms),
        cmocka_unit_test(budgets_are_kept_and_used),
        cmocka_unit_test(a_cube_is_built_and_whole),
        cmocka_unit_test(budgets_without_noise_or_with_too_much_are_refused),
        cmocka_unit_test(named_budgets_are_enough),
        cmocka_unit_test(wishes_are_met), /* the last: it has regions of its own */
    };
    return cmocka_run_group_tests(tests, plan_place_setup, plan_place_teardown);
}
