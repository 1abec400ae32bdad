/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers: every view of a table has the values that the cube gives, in the order asked for. */
#include <math.h>
#include <string.h>

#include <cellar/cube_inference.h>

#include "check.h"
#include "fail_every.h"
#include "serve/cuts.h"
#include "serve_place.h"
#include "serve_question.h"
#include "serve_small.h"

/* ---- against the cube --------------------------------------------------------------------------
 */

/* What the cube itself answers for one combination of picks, and half its interval of 95 %. */
static cellar_estimated_cell cube_says(const cellar_cube *cube, const asked *a, size_t cell,
                                       double *half)
{
    cellar_cube_side sides[2] = {{0}};
    cellar_cube_group groups[2] = {{0}};
    const char *codes[2][8];
    cellar_cube_question question = {.sides = sides};
    cellar_estimate *estimate = NULL;
    cellar_estimated_cell out;
    cellar_error err = {""};
    for (size_t i = a->question.n_sides; i-- > 0;) {
        const serve_side *side = &a->question.sides[i];
        const serve_variable *v = &a->question.dataset->variables[side->variable];
        const serve_pick *pick = &side->picks[cell % side->n_picks];
        const size_t s = question.n_sides;
        cell /= side->n_picks;
        if (v->is_constant)
            continue;
        for (size_t k = 0; k < pick->n_members; k++)
            codes[s][k] = v->levels[pick->level - 1].categories[pick->members[k]].code;
        groups[s] = (cellar_cube_group){"g", "g", codes[s], pick->n_members};
        sides[s] = (cellar_cube_side){
            .variable = v->code, .level = pick->level, .groups = &groups[s], .n_groups = 1};
        question.n_sides++;
    }
    if (cellar_cube_ask(cube, &question, &estimate, &err) != CELLAR_OK ||
        cellar_cube_half_widths(cube, &question, 0.95, 0, half, 1, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    out = cellar_estimate_at(estimate, 0);
    cellar_estimate_free(estimate);
    return out;
}

static void check_against_cube(const cellar_cube *cube, const asked *a)
{
    serve_answer found = ask_answer(a);
    assert_false(found.is_refused);
    assert_int_equal(found.n_values, serve_question_n_cells(&a->question));
    for (size_t i = 0; i < found.n_values; i++) {
        double half = 0;
        const cellar_estimated_cell want = cube_says(cube, a, i, &half);
        assert_true(found.values[i].count == want.value);
        assert_true(found.values[i].se == want.se);
        assert_true(fabs(found.values[i].low - (want.value - half)) < 1e-6);
        assert_true(fabs(found.values[i].high - (want.value + half)) < 1e-6);
    }
    assert_int_equal(found.decimals[SERVE_COUNT], 6);
    assert_int_equal(strlen(found.certificate_id), 32);
    assert_true(found.is_immutable);
    serve_answer_clear(&found);
}

static void values_are_those_of_the_cube(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    const serve_dataset *d = serve_find_dataset(site, "People");
    cellar_cube *cube = NULL;
    cellar_error err;
    asked a;
    assert_int_equal(cellar_cube_open(scratch_path(*state, "sample.cube"), &cube, &err), CELLAR_OK);

    ask_begin(&a, d); /* the total */
    check_against_cube(cube, &a);

    ask_begin(&a, d); /* the order of the question, not that of the cube */
    ask_side(&a, "sex");
    ask_pick(&a, 1, "m");
    ask_pick(&a, 1, "f");
    ask_side(&a, "region");
    ask_pick(&a, 2, "s3");
    ask_pick(&a, 2, "n1");
    ask_pick(&a, 2, "s3");
    check_against_cube(cube, &a);

    ask_begin(&a, d); /* two levels and a group in one selection */
    ask_side(&a, "region");
    ask_pick(&a, 2, "n2");
    ask_pick(&a, 1, "south");
    ask_pick(&a, 2, "n1,s1,s2");
    ask_pick(&a, 1, "north,south");
    ask_side(&a, "sex");
    ask_pick(&a, 1, "f");
    ask_pick(&a, 1, "f,m");
    check_against_cube(cube, &a);

    ask_begin(&a, d); /* a variable that everybody has the same value of */
    ask_side(&a, "period");
    ask_pick(&a, 1, "2026");
    ask_side(&a, "region");
    ask_pick(&a, 1, "north");
    ask_pick(&a, 2, "n1");
    check_against_cube(cube, &a);
    cellar_cube_close(cube);
    cellar_site_close(site);
}

/* ---- a table that is drawn meanwhile ----------------------------------------------------------
 */

/* Two releases: the second one is there once the first was asked. */
static cellar_status second_describe(const serve_source *source, const serve_dataset *dataset,
                                     const serve_table *table, cellar_arena *arena,
                                     serve_cover *out, cellar_error *err)
{
    const int is_second = ((const small_source *) source)->n_asked > 0;
    (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_cover){.certificate = "{}",
                         .id = is_second ? "second" : "first",
                         .guarantee = "G",
                         .origin = "O",
                         .is_immutable = is_second};
    return CELLAR_OK;
}

static void values_and_certificate_are_of_one_release(void **state)
{
    small_source source = {0};
    serve_source_ops ops = small_ops;
    serve_dataset dataset = small_dataset(SERVE_BUDGET, &source);
    serve_answer out;
    asked a;
    (void) state;
    ops.describe = second_describe;
    source.base.ops = &ops;
    ask_begin(&a, &dataset);
    ask_all(&a, "sex", 1);
    out = ask_answer(&a);
    assert_int_equal(source.n_asked, 2);
    assert_string_equal(out.certificate_id, "second");
    assert_true(out.is_immutable);
    serve_answer_clear(&out);
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

static void what_is_not_sound_is_an_error(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    serve_answer out;
    cellar_error err;
    asked a;
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "region");
    ask_pick(&a, 2, "n1,n1");
    assert_int_equal(serve_answer_question(&a.question, SERVE_TAIL, &out, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "twice"));
    serve_answer_clear(&out);
    ask_pick(&a, 2, "absent");
    a.question.sides[0].picks++;
    a.question.sides[0].n_picks = 1;
    assert_int_equal(serve_answer_question(&a.question, SERVE_TAIL, &out, &err),
                     CELLAR_ERR_ARGUMENT);
    serve_answer_clear(&out);
    cellar_site_close(site);
}

static void too_many_cells_are_refused(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    serve_answer found;
    asked a;
    site->datasets[0].max_cells = 1;
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "sex");
    ask_pick(&a, 1, "m");
    ask_pick(&a, 1, "f");
    found = ask_answer(&a);
    assert_true(found.is_refused);
    assert_string_equal(found.refusal.rule, "cells");
    assert_string_equal(found.refusal.detail,
                        "An answer has at most 1 cells; ask for it in parts.");
    serve_answer_clear(&found);
    cellar_site_close(site);
}

/* ---- tags --------------------------------------------------------------------------------------
 */

static void tags_differ_with_what_is_shown(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    serve_answer one, again, other;
    asked a;
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "sex");
    ask_pick(&a, 1, "m");
    one = ask_answer(&a);
    again = ask_answer(&a);
    assert_string_equal(one.etag, again.etag);
    assert_int_equal(strlen(one.etag), 32);
    a.question.language = 1;
    other = ask_answer(&a);
    assert_string_not_equal(one.etag, other.etag);
    serve_answer_clear(&one);
    serve_answer_clear(&again);
    serve_answer_clear(&other);
    cellar_site_close(site);
}

/* ---- canonical tables --------------------------------------------------------------------------
 */

static void tables_have_one_name(void **state)
{
    static const struct {
        const char *text, *name;
        uint64_t n_cells;
    } good[] = {{"total", "total", 1},
                {"sex*region", "region*sex", 10},
                {"REGION^1*sex", "region^1*sex", 4},
                {"region", "region", 5}};
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "variables between"},          {"sex*", "variables between"},
               {"age", "no variable 'age'"},       {"region^3", "no level 'region^3'"},
               {"region*region^1", "named twice"}, {"period", "no variable 'period'"}};
    cellar_site *site = serve_place_open(*state, NULL);
    const serve_dataset *d = &site->datasets[0];
    serve_table table;
    cellar_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char name[SERVE_TABLE_TEXT];
        assert_int_equal(serve_table_parse(d, good[i].text, &table, &err), CELLAR_OK);
        serve_table_text(d, &table, name);
        assert_string_equal(name, good[i].name);
        assert_int_equal(serve_table_n_cells(d, &table), good[i].n_cells);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(serve_table_parse(d, bad[i].text, &table, &err), CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, bad[i].says));
    }
    cellar_site_close(site);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static cellar_status answer_scenario(void *context, cellar_error *err)
{
    serve_answer out;
    cellar_status status =
        serve_answer_question(&((const asked *) context)->question, SERVE_TAIL, &out, err);
    serve_answer_clear(&out);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cellar_site *site = serve_place_open(*state, NULL);
    asked a;
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "region");
    ask_pick(&a, 2, "n2");
    ask_pick(&a, 1, "south");
    check_fail_every(answer_scenario, &a);
    cellar_site_close(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_cube),
        cmocka_unit_test(values_and_certificate_are_of_one_release),
        cmocka_unit_test(what_is_not_sound_is_an_error),
        cmocka_unit_test(too_many_cells_are_refused),
        cmocka_unit_test(tags_differ_with_what_is_shown),
        cmocka_unit_test(tables_have_one_name),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
