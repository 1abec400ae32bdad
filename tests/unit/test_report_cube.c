/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page about a cube for the public. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/report.h>

#include "cube/file.h"
#include "cube_sample.h"
#include "fail_every.h"
#include "page_check.h"
#include "release/files/description.h"
#include "scratch.h"

/* What a page of a cube is made of, with a title that must not become markup. */
static cellar_cube *sample(void)
{
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    json_t *description =
        json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:f, s:s}}", "title", "<b>A & B</b>", "date",
                  "2026-07-01", "ledger", CELLAR_RELEASE_UNACCOUNTED, "protection", "guarantee",
                  "certificate", "verdict", "holds", "unit", "person", "pure_epsilon", 1.5,
                  "neighbours", "add-remove");
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &cube, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_describe(cube, description, &err), CELLAR_OK);
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        assert_int_equal(cellar_cube_table_digest(cube, t, cube->tables[t].digest, &err),
                         CELLAR_OK);
    return cube;
}

static char *page_of(scratch *place, const cellar_cube *cube, const cellar_cube_question *questions,
                     size_t n)
{
    cellar_report_options options = cellar_report_options_default();
    char *page = calloc(1, 1000000);
    const char *wrong;
    cellar_error err = {""};
    FILE *file;
    assert_non_null(page);
    options.replace = 1;
    if (cellar_report_cube(cube, questions, n, &options, scratch_path(place, "page.html"), &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    file = fopen(scratch_path(place, "page.html"), "r");
    assert_non_null(file);
    assert_true(fread(page, 1, 999999, file) > 0);
    fclose(file);
    wrong = page_problem(page);
    if (wrong != NULL)
        fail_msg("%s", wrong);
    return page;
}

static void must_have(const char *page, const char *text)
{
    if (strstr(page, text) == NULL)
        fail_msg("the page lacks '%s'", text);
}

static void shows_guarantee_tables_and_errors(void **state)
{
    cellar_cube *cube = sample();
    char *page = page_of(*state, cube, NULL, 0);
    must_have(page, "&lt;b&gt;A &amp; B&lt;/b&gt;");
    must_have(page, "epsilon = 1.5");
    must_have(page, "Unaccounted, not for publication");
    must_have(page, "Not verified");
    must_have(page, ">region by sex</h3>");
    must_have(page, "N one (n1)");
    must_have(page, ">region^1 x sex<");
    must_have(page, "discrete-gaussian:sigma=2");
    assert_true(strstr(page, "epsilon = 1.5") < strstr(page, "region by sex"));
    free(page);
    cellar_cube_close(cube);
}

/* What is asked for, and nothing else; a table of one variable is a list. */
static void shows_what_is_asked_for(void **state)
{
    const cellar_cube_side upper = {.variable = "region", .level = 1};
    const cellar_cube_question question = {&upper, 1, 1};
    const cellar_cube_side wrong = {.variable = "age"};
    const cellar_cube_question outside = {&wrong, 1, 1};
    cellar_cube *cube = sample();
    char *page = page_of(*state, cube, &question, 1);
    cellar_error err = {""};
    must_have(page, "South (south)");
    assert_null(strstr(page, ">region by sex</h3>"));
    remove(scratch_path(*state, "page.html"));
    assert_int_equal(
        cellar_report_cube(cube, &outside, 1, NULL, scratch_path(*state, "page.html"), &err),
        CELLAR_ERR_ARGUMENT);
    assert_int_equal(scratch_n_entries(*state), 0);
    free(page);
    cellar_cube_close(cube);
}

typedef struct scene {
    const cellar_cube *cube;
    const char *path;
} scene;

static cellar_status scenario(void *context, cellar_error *err)
{
    const scene *s = context;
    cellar_report_options options = cellar_report_options_default();
    options.replace = 1;
    return cellar_report_cube(s->cube, NULL, 0, &options, s->path, err);
}

static void every_allocation_may_fail(void **state)
{
    cellar_cube *cube = sample();
    scene s = {cube, scratch_path(*state, "page.html")};
    check_fail_every(scenario, &s);
    cellar_cube_close(cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shows_guarantee_tables_and_errors, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(shows_what_is_asked_for, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
