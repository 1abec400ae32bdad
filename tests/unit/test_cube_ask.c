/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to a cube: what is shown adds, its errors are those of the sums, and intervals cover.
 */
#include <math.h>
#include <stdio.h>

#include <cellar/cube.h>
#include <cellar/mechanism.h>

#include "check.h"
#include "cube/contrast.h"
#include "cube/file.h"
#include "cube_sample.h"
#include "fail_every.h"
#include "near.h"

enum { MILLION = 1000000 };

static cellar_estimate *ask(const cellar_cube *cube, const cellar_cube_side *sides, size_t n,
                            int margins)
{
    const cellar_cube_question question = {sides, n, margins};
    cellar_estimate *out = NULL;
    cellar_error err = {""};
    if (cellar_cube_ask(cube, &question, &out, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return out;
}

static void check_refused(const cellar_cube *cube, const cellar_cube_side *sides, size_t n,
                          int margins, cellar_status want, const char *message)
{
    const cellar_cube_question question = {sides, n, margins};
    cellar_estimate *out = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_cube_ask(cube, &question, &out, &err), want);
    assert_null(out);
    if (strstr(err.message, message) == NULL)
        fail_msg("'%s' lacks '%s'", err.message, message);
}

/* A stored value in units of its last decimal: exact, as a double holds it. */
static long long units(const cellar_estimate *estimate, size_t cell)
{
    return llround(cellar_estimate_cell(estimate, cell).value * MILLION);
}

static cellar_cube *sample(void)
{
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &cube, &err), CELLAR_OK);
    for (uint32_t t = 0; t < cube->lattice.n; t++) /* as in a file: every answer checks them */
        assert_int_equal(cellar_cube_table_digest(cube, t, cube->tables[t].digest, &err),
                         CELLAR_OK);
    return cube;
}

/* ---- sums ----------------------------------------------------------------------------- */

static void tables_add_to_each_other(void **state)
{
    cellar_cube *cube = sample();
    const cellar_cube_side both[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_side turned[2] = {both[1], both[0]};
    const cellar_cube_side upper = {.variable = "region", .level = 1};
    cellar_estimate *cells = ask(cube, both, 2, 0), *other = ask(cube, turned, 2, 0);
    cellar_estimate *regions = ask(cube, both, 1, 0), *sexes = ask(cube, both + 1, 1, 0);
    cellar_estimate *top = ask(cube, &upper, 1, 0), *total = ask(cube, NULL, 0, 0);
    cellar_estimate *margins = ask(cube, both, 2, 1);
    (void) state;
    assert_int_equal(cellar_estimate_n_cells(cells), 10);
    assert_int_equal(cellar_estimate_n_cells(margins), 18);
    for (size_t r = 0; r < 5; r++) {
        assert_int_equal(units(cells, 2 * r) + units(cells, 2 * r + 1), units(regions, r));
        for (size_t s = 0; s < 2; s++) {
            assert_int_equal(units(cells, 2 * r + s), units(other, 5 * s + r));
            assert_int_equal(units(cells, 2 * r + s), units(margins, 3 * r + s));
        }
        assert_int_equal(units(margins, 3 * r + 2), units(regions, r));
    }
    assert_int_equal(units(regions, 0) + units(regions, 1), units(top, 0));
    assert_int_equal(units(regions, 2) + units(regions, 3) + units(regions, 4), units(top, 1));
    assert_int_equal(units(top, 0) + units(top, 1), units(total, 0));
    assert_int_equal(units(sexes, 0) + units(sexes, 1), units(total, 0));
    assert_int_equal(units(margins, 17), units(total, 0));
    cellar_estimate_free(cells);
    cellar_estimate_free(other);
    cellar_estimate_free(regions);
    cellar_estimate_free(sexes);
    cellar_estimate_free(top);
    cellar_estimate_free(total);
    cellar_estimate_free(margins);
    cellar_cube_close(cube);
}

/* A category of an upper level is the group of what is below it, and so is its error, although both
 * of them have different numbers of districts. */
static void upper_levels_have_errors_of_groups(void **state)
{
    static const char *const north[] = {"n1", "n2"}, *const south[] = {"s1", "s2", "s3"};
    const cellar_cube_group groups[2] = {{.code = "N", .codes = north, .n_codes = 2},
                                         {.code = "S", .codes = south, .n_codes = 3}};
    const cellar_cube_side upper = {.variable = "region", .level = 1};
    const cellar_cube_side grouped = {.variable = "region", .groups = groups, .n_groups = 2};
    cellar_cube *cube = sample();
    cellar_estimate *a = ask(cube, &upper, 1, 0), *b = ask(cube, &grouped, 1, 0);
    (void) state;
    for (size_t k = 0; k < 2; k++)
        near(cellar_estimate_cell(a, k).se, cellar_estimate_cell(b, k).se, 1e-6, "se");
    assert_true(fabs(cellar_estimate_cell(a, 0).se - cellar_estimate_cell(a, 1).se) > 1e-3);
    cellar_estimate_free(a);
    cellar_estimate_free(b);
    cellar_cube_close(cube);
}

/* Whatever grouping of regions is asked for, at either level of a tree that is not balanced,
 * crossed with sexes or alone: groups are exactly the sums of what they group, and add to the
 * totals. */
static void random_groupings_add(void **state)
{
    static const char *const codes[2][5] = {{"north", "south"}, {"n1", "n2", "s1", "s2", "s3"}};
    static const char *const names[3] = {"g0", "g1", "g2"};
    cellar_cube *cube = sample();
    const cellar_cube_side sex = {.variable = "sex"};
    cellar_estimate *sexes = ask(cube, &sex, 1, 0);
    uint64_t seed = 5;
    (void) state;
    for (size_t trial = 0; trial < 50; trial++) {
        const size_t level = next_random(&seed) % 2, n = level == 0 ? 2 : 5;
        const char *members[3][5];
        size_t group_of[5], n_groups = 0;
        cellar_cube_group groups[3] = {{0}}, used[3];
        cellar_cube_side sides[2] = {{.variable = "region", .level = level + 1}, sex};
        cellar_estimate *plain = ask(cube, sides, 2, 0), *grouped, *alone;
        for (size_t k = 0; k < n; k++) {
            cellar_cube_group *group = &groups[group_of[k] = next_random(&seed) % 3];
            members[group - groups][group->n_codes++] = codes[level][k];
        }
        for (size_t g = 0; g < 3; g++)
            if (groups[g].n_codes > 0)
                used[n_groups++] = (cellar_cube_group){
                    .code = names[g], .codes = members[g], .n_codes = groups[g].n_codes};
        sides[0].groups = used;
        sides[0].n_groups = n_groups;
        grouped = ask(cube, sides, 2, 1); /* with all totals: groups, then their total */
        alone = ask(cube, sides, 1, 0);
        for (size_t s = 0; s < 2; s++) {
            long long total = 0;
            for (size_t g = 0, at = 0; g < 3; g++) {
                long long sum = 0;
                for (size_t k = 0; k < n; k++)
                    sum += group_of[k] == g ? units(plain, 2 * k + s) : 0;
                if (groups[g].n_codes == 0)
                    continue;
                assert_int_equal(units(grouped, 3 * at + s), sum);
                total += sum;
                at++;
            }
            assert_int_equal(total, units(sexes, s));
            assert_int_equal(units(grouped, 3 * n_groups + s), total);
        }
        for (size_t at = 0; at < n_groups; at++) {
            assert_int_equal(units(grouped, 3 * at) + units(grouped, 3 * at + 1), units(alone, at));
            assert_int_equal(units(grouped, 3 * at + 2), units(alone, at));
        }
        cellar_estimate_free(plain);
        cellar_estimate_free(grouped);
        cellar_estimate_free(alone);
    }
    cellar_estimate_free(sexes);
    cellar_cube_close(cube);
}

/* A group is the sum of its cells, and its error that of the sum, correlations included; an upper
 * level is a group of the level below. */
static void groups_are_sums(void **state)
{
    const char *const north[] = {"n1", "n2"}, *const mixed[] = {"s3", "n1"};
    const cellar_cube_group groups[2] = {{"north", "the north", north, 2},
                                         {"mixed", NULL, mixed, 2}};
    const cellar_cube_side sides[2] = {{.variable = "region", .groups = groups, .n_groups = 2},
                                       {.variable = "sex"}};
    const cellar_cube_side plain[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_side upper[2] = {{.variable = "region", .level = 1}, {.variable = "sex"}};
    cellar_cube *cube = sample();
    cellar_estimate *grouped = ask(cube, sides, 2, 0), *cells = ask(cube, plain, 2, 0);
    cellar_estimate *top = ask(cube, upper, 2, 0);
    const double n1_s3[5] = {1, 0, 0, 0, 1}, female[2] = {1, 0};
    const double *u[2] = {n1_s3, female};
    double variance;
    (void) state;
    for (size_t s = 0; s < 2; s++) {
        assert_int_equal(units(grouped, s), units(cells, s) + units(cells, 2 + s));
        assert_int_equal(units(grouped, 2 + s), units(cells, s) + units(cells, 8 + s));
        assert_int_equal(units(grouped, s), units(top, s));
        near(cellar_estimate_cell(grouped, s).se, cellar_estimate_cell(top, s).se, 2e-6, "a level");
    }
    assert_int_equal(
        cellar_cube_covariance(&cube->lattice, cube->w, cube->tau, 5, u, u, &variance, NULL),
        CELLAR_OK);
    near(cellar_estimate_cell(grouped, 2).se, sqrt(variance), 2e-6, "a group");
    cellar_estimate_free(grouped);
    cellar_estimate_free(cells);
    cellar_estimate_free(top);
    cellar_cube_close(cube);
}

static void categories_can_be_chosen(void **state)
{
    const char *const codes[] = {"s2", "n1"}, *const upper[] = {"north"};
    const cellar_cube_side some = {.variable = "region", .codes = codes, .n_codes = 2};
    const cellar_cube_side all = {.variable = "region"};
    const cellar_cube_side wrong = {.variable = "region", .codes = upper, .n_codes = 1};
    const cellar_cube_side level = {.variable = "region", .level = 3};
    const cellar_cube_side name = {.variable = "regoin"};
    const cellar_cube_side twice[2] = {all, all};
    cellar_cube *cube = sample();
    cellar_estimate *chosen = ask(cube, &some, 1, 0), *whole = ask(cube, &all, 1, 0);
    (void) state;
    assert_int_equal(cellar_estimate_n_cells(chosen), 2);
    assert_int_equal(units(chosen, 0), units(whole, 0)); /* in the order of the code list */
    assert_int_equal(units(chosen, 1), units(whole, 3));
    check_refused(cube, &some, 1, 1, CELLAR_ERR_ARGUMENT, "all its categories");
    check_refused(cube, &wrong, 1, 0, CELLAR_ERR_ARGUMENT, "no category 'north' at level 2");
    check_refused(cube, &level, 1, 0, CELLAR_ERR_ARGUMENT, "has 2 levels");
    check_refused(cube, &name, 1, 0, CELLAR_ERR_ARGUMENT, "has region, sex");
    check_refused(cube, twice, 2, 0, CELLAR_ERR_ARGUMENT, "twice");
    cellar_estimate_free(chosen);
    cellar_estimate_free(whole);
    cellar_cube_close(cube);
}

/* ---- whole numbers ---------------------------------------------------------------------- */

/* Most true counts are 0 and half of the estimates negative. */
static void make_sparse(cellar_cube *cube)
{
    for (uint32_t t = 0; t < cube->lattice.n; t++) {
        const size_t n = (size_t) cube->lattice.n_cells[t];
        for (size_t i = 0; i < n; i++)
            cellar_cube_measured_room(cube, t)[i] %= 40 / (int64_t) (n > 4 ? 4 : 1);
    }
    cellar_cube_values_clear(&cube->estimates);
    assert_int_equal(cellar_cube_estimate_all(cube, NULL), CELLAR_OK);
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        assert_int_equal(cellar_cube_table_digest(cube, t, cube->tables[t].digest, NULL),
                         CELLAR_OK);
}

static int64_t whole(const cellar_estimate *estimate, size_t cell)
{
    return cellar_estimate_cell(estimate, cell).whole;
}

/* Whole numbers are not negative, add in every margin, have the estimated total, and leave the
 * estimates and their errors as they are. */
static void whole_numbers_add_within_a_table(void **state)
{
    const cellar_cube_side both[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_question question = {both, 2, 1};
    cellar_cube *cube = sample();
    cellar_estimate *plain, *rounded = NULL;
    size_t n_negative = 0;
    int64_t sexes[3] = {0};
    (void) state;
    make_sparse(cube);
    plain = ask(cube, both, 2, 1);
    assert_int_equal(cellar_cube_ask_whole(cube, &question, &rounded, NULL), CELLAR_OK);
    assert_true(cellar_estimate_has_whole(rounded) && !cellar_estimate_has_whole(plain));
    for (size_t i = 0; i < 18; i++) {
        const cellar_estimated_cell a = cellar_estimate_cell(plain, i);
        const cellar_estimated_cell b = cellar_estimate_cell(rounded, i);
        assert_true(a.index == b.index && a.value == b.value && a.se == b.se && b.whole >= 0);
        n_negative += a.value < 0;
    }
    assert_true(n_negative >= 2); /* else this shows little */
    for (size_t r = 0; r < 6; r++) {
        assert_int_equal(whole(rounded, 3 * r) + whole(rounded, 3 * r + 1),
                         whole(rounded, 3 * r + 2));
        for (size_t s = 0; r < 5 && s < 3; s++)
            sexes[s] += whole(rounded, 3 * r + s);
    }
    for (size_t s = 0; s < 3; s++)
        assert_int_equal(sexes[s], whole(rounded, 15 + s));
    assert_true(fabs((double) whole(rounded, 17) - cellar_estimate_cell(plain, 17).value) < 1);
    assert_non_null(strstr(cellar_estimate_description(rounded), "within this table"));
    cellar_estimate_free(plain);
    cellar_estimate_free(rounded);
    cellar_cube_close(cube);
}

static void overlapping_groups_have_no_whole_numbers(void **state)
{
    const char *const some[] = {"n1", "n2"}, *const more[] = {"n2", "s1"};
    const cellar_cube_group groups[2] = {{"a", NULL, some, 2}, {"b", NULL, more, 2}};
    const cellar_cube_side side = {.variable = "region", .groups = groups, .n_groups = 2};
    const cellar_cube_question question = {&side, 1, 0};
    cellar_cube *cube = sample();
    cellar_estimate *out = NULL;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(cellar_cube_ask_whole(cube, &question, &out, &err), CELLAR_ERR_ARGUMENT);
    assert_null(out);
    assert_non_null(strstr(err.message, "share a category"));
    cellar_cube_close(cube);
}

/* ---- memory --------------------------------------------------------------------------- */

static cellar_status scenario(void *context, cellar_error *err)
{
    const char *const codes[] = {"n1", "s2"}, *const upper[] = {"south"};
    const cellar_cube_group groups[1] = {{"a", "A", codes, 2}};
    const cellar_cube_side plain[2] = {{.variable = "region"}, {.variable = "sex"}};
    const cellar_cube_side grouped[2] = {{.variable = "region", .groups = groups, .n_groups = 1},
                                         {.variable = "sex"}};
    const cellar_cube_side chosen = {
        .variable = "region", .level = 1, .codes = upper, .n_codes = 1};
    const cellar_cube_question questions[] = {
        {plain, 2, 1}, {grouped, 2, 0}, {&chosen, 1, 0}, {NULL, 0, 0}};
    cellar_status status = CELLAR_OK;
    for (size_t q = 0; q < 4 && status == CELLAR_OK; q++) {
        cellar_estimate *out = NULL;
        status = cellar_cube_ask(context, &questions[q], &out, err);
        cellar_estimate_free(out);
        if (status == CELLAR_OK)
            status = cellar_cube_ask_whole(context, &questions[q], &out, err);
        cellar_estimate_free(out);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cellar_cube *cube = sample();
    (void) state;
    check_fail_every(scenario, cube);
    cellar_cube_close(cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_add_to_each_other),
        cmocka_unit_test(upper_levels_have_errors_of_groups),
        cmocka_unit_test(random_groupings_add),
        cmocka_unit_test(groups_are_sums),
        cmocka_unit_test(categories_can_be_chosen),

        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(whole_numbers_add_within_a_table),
        cmocka_unit_test(overlapping_groups_have_no_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
