/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"
#include "serve/released.h"
#include "serve/rules_parts.h"
#include "serve/suggest.h"
#include "serve_small.h"

/* A data set with rules, for one test. */
typedef struct world {
    small_source source;
    serve_dataset dataset;
    cellar_arena *arena;
} world;

static void world_open(world *w, serve_kind kind, const char *rules)
{
    cellar_error err = {""};
    *w = (world){.arena = cellar_arena_create(1 << 24)};
    w->dataset = small_dataset(kind, &w->source);
    if (rules != NULL && small_rules(rules, strlen(rules), &w->dataset, w->arena, &w->dataset.rules,
                                     &err) != CELLAR_OK)
        fail_msg("%s", err.message);
}

static void world_close(world *w)
{
    cellar_arena_free(w->arena);
}

static serve_table parse(const world *w, const char *text)
{
    serve_table table;
    cellar_error err = {""};
    if (serve_table_parse(&w->dataset, text, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

/* ---- reading ------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
    static const struct {
        const char *rules, *message;
    } cases[] = {
        {"rules: [{max_cells: 5}]", "site.yaml:1: rules[1]: 'name' is missing"},
        {"rules:\n- {name: a}", "site.yaml:2: rules[1]: expected one limit: max_variables, "
                                "max_cells, finest, forbid, allow, max_share or min_total"},
        {"rules: [{name: a, max_cells: 5, max_variables: 2}]",
         "site.yaml:1: rules[1]: expected one limit: max_variables, max_cells, finest, forbid, "
         "allow, max_share or min_total"},
        {"rules: [{name: a, max_cells: 0}]",
         "site.yaml:1: rules[1].max_cells: expected a whole number of at least 1"},
        {"rules: [{name: a, forbid: [sex, height]}]",
         "site.yaml:1: rules[1].forbid: the data set has no variable or level 'height'"},
        {"rules: [{name: a, forbid: age^7}]",
         "site.yaml:1: rules[1].forbid: the data set has no variable or level 'age^7'"},
        {"rules: [{name: a, finest: [age^1, age]}]",
         "site.yaml:1: rules[1].finest: variable 'age' is given twice"},
        {"rules: [{name: a, allow: 'sex*height'}]",
         "site.yaml:1: rules[1].allow: there is no variable 'height'"},
        {"rules: [{name: a, max_share: 0.2}]",
         "site.yaml:1: rules[1]: 'max_share' needs 'values', such as 0 or 1..2"},
        {"rules: [{name: a, max_share: 1, values: 0}]",
         "site.yaml:1: rules[1].max_share: expected a share of at least 0 and below 1"},
        {"rules: [{name: a, max_share: 0.2, values: 2..1}]",
         "site.yaml:1: rules[1].values: expected a whole number such as 0 or a range such as 1..2"},
        {"rules: [{name: a, max_share: 0.2, values: 0, of: nonzero}]",
         "site.yaml:1: rules[1].values: no cell that is not 0 has the value 0"},
        {"rules: [{name: a, max_cells: 9, values: 1}]",
         "site.yaml:1: rules[1]: 'values' and 'of' belong to 'max_share'"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_error err = {""};
        const serve_rules *rules;
        world w;
        world_open(&w, SERVE_CUBE, NULL);
        assert_int_equal(
            small_rules(cases[i].rules, strlen(cases[i].rules), &w.dataset, w.arena, &rules, &err),
            CELLAR_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        world_close(&w);
    }
}

/* ---- judging --------------------------------------------------------------------- */

static const char all_rules[] = "rules:\n"
                                "- {name: variables, max_variables: 3}\n"
                                "- {name: cells, max_cells: 100}\n"
                                "- {name: detail, finest: [age^1]}\n"
                                "- {name: small areas, when: region^3, max_variables: 2}\n"
                                "- {name: areas, when: [region^2], forbid: [work]}\n"
                                "- {name: faith, forbid: [faith, region], text: Faith is "
                                "protected by law.}\n";

static void test_judge(void **state)
{
    static const struct {
        const char *table, *detail; /* NULL: allowed */
    } cases[] = {
        {"total", NULL},
        {"region*age^1", NULL},
        {"region^2*age^1*sex", NULL},
        {"faith*sex*work", NULL},
        {"region^1*age^1*sex*work", "rule 'variables': at most 3 variables, and this table has 4"},
        {"age*work*faith", "rule 'detail': variable 'age' is shown no finer than by 'age^1'"},
        {"region*age^1*sex",
         "rule 'small areas': with region: at most 2 variables, and this table has 3"},
        {"region^2*work", "rule 'areas': with region^2: no table shows work"},
        {"region^1*work", NULL},
        {"region^1*faith",
         "rule 'faith': no table shows region and faith together. Faith is protected by law."},
    };
    world w;
    (void) state;
    world_open(&w, SERVE_BUDGET, all_rules);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        serve_table table = parse(&w, cases[i].table);
        serve_verdict verdict;
        cellar_error err;
        assert_int_equal(serve_rules_check(&w.dataset, &table, w.arena, &verdict, &err), CELLAR_OK);
        assert_int_equal(verdict.is_allowed, cases[i].detail == NULL);
        if (!verdict.is_allowed)
            assert_string_equal(verdict.refusal.detail, cases[i].detail);
    }
    world_close(&w);
}

static void test_cells_and_allow(void **state)
{
    world w;
    serve_verdict verdict;
    serve_table table;
    cellar_error err;
    (void) state;
    world_open(&w, SERVE_BUDGET,
               "rules: [{name: families, allow: ['region^1*age*sex', 'work*sex']}, {name: cells, "
               "max_cells: 35}]");
    table = parse(&w, "region^2*sex");
    assert_int_equal(serve_rules_check(&w.dataset, &table, w.arena, &verdict, &err), CELLAR_OK);
    assert_string_equal(verdict.refusal.kind, "allow");
    assert_string_equal(verdict.refusal.detail,
                        "rule 'families': only tables that add up from region^1*age*sex, sex*work");
    table = parse(&w, "region^1*age*sex"); /* 2 x 6 x 2 = 24 cells */
    assert_true(serve_rules_allow(&w.dataset, &table));
    world_close(&w);
    world_open(&w, SERVE_BUDGET, "rules: [{name: cells, max_cells: 35}]");
    table = parse(&w, "age*sex*faith");
    assert_int_equal(serve_rules_check(&w.dataset, &table, w.arena, &verdict, &err), CELLAR_OK);
    assert_string_equal(verdict.refusal.detail,
                        "rule 'cells': at most 35 cells, and this table has 36");
    world_close(&w);
}

/* ---- suggestions ------------------------------------------------------------------ */

/* Rules made up from a number: two or three of a list. */
static const char *some_rules(unsigned number, char out[1024])
{
    static const char *const parts[] = {
        "{name: a, max_variables: 2}",
        "{name: b, max_cells: 24}",
        "{name: c, finest: [age^1, region^2]}",
        "{name: d, when: region^2, max_variables: 2}",
        "{name: e, forbid: [faith, work]}",
        "{name: f, forbid: [sex]}",
        "{name: g, when: [age, sex], finest: region^1}",
        "{name: h, allow: ['region*age^1', 'work*faith*sex']}",
        "{name: i, when: faith, allow: ['faith*age']}",
        "{name: j, when: [work], max_cells: 6}",
        "{name: k, max_share: 0.3, values: 0}",
        "{name: l, min_total: 60}",
    };
    enum { N = sizeof parts / sizeof parts[0] };
    snprintf(out, 1024, "rules: [%s, %s, %s]", parts[number % N], parts[number / N % N],
             parts[number / N / N % N]);
    return out;
}

/* Many zeros in tables with faith, few people in those with work, enough in the total. */
static double uneven(const serve_table *table, const size_t *at)
{
    return table->levels[4] > 0 && at[0] == 0 ? 0 : table->levels[3] > 0 ? 3 : 100;
}

/* What was suggested for `table` is answered, and rules and source agree. */
static void check_suggestions(world *w, const serve_table *table, const serve_refusal *refusal)
{
    const serve_table *s = refusal->suggestions;
    assert_true(refusal->n_suggestions >= 1);
    assert_true(refusal->n_suggestions <= SERVE_SUGGESTIONS);
    for (size_t i = 0; i < refusal->n_suggestions; i++) {
        serve_status known;
        int passes = 1;
        assert_true(memcmp(&s[i], table, sizeof *table) != 0);
        assert_true(serve_rules_allow(&w->dataset, &s[i]));
        assert_int_equal(small_status(&w->source.base, &w->dataset, &s[i], &known, NULL),
                         CELLAR_OK);
        assert_true(known.exists || w->dataset.kind == SERVE_BUDGET);
        if (known.exists)
            assert_int_equal(serve_released_passes(&w->dataset, &s[i], &passes, NULL), CELLAR_OK);
        assert_true(passes);
        for (size_t j = 0; j < refusal->n_suggestions; j++)
            assert_true(i == j || !serve_table_is_below(&w->dataset, &s[i], &s[j]));
    }
}

/* Every table under many sets of rules: what is allowed is closed downwards, and every refusal
 * suggests something that is answered. */
static void check_all_tables(world *w, size_t *n_refused)
{
    for (size_t number = 0; number < SMALL_TABLES; number++) {
        serve_table table = small_table(number);
        serve_verdict verdict;
        int allowed = serve_rules_allow(&w->dataset, &table);
        for (size_t v = 0; v < SMALL_VARIABLES; v++) {
            serve_table coarser = table;
            coarser.levels[v] = (unsigned char) (coarser.levels[v] - (coarser.levels[v] > 0));
            assert_true(!allowed || serve_rules_allow(&w->dataset, &coarser));
        }
        assert_int_equal(serve_rules_judge(&w->dataset, &table, w->arena, &verdict, NULL),
                         CELLAR_OK);
        assert_int_equal(verdict.is_allowed, allowed);
        if (allowed)
            continue;
        ++*n_refused;
        assert_non_null(verdict.refusal.rule);
        check_suggestions(w, &table, &verdict.refusal);
    }
}

static void test_every_suggestion_is_allowed(void **state)
{
    enum { N = 144 / (CHECK_SHARE > 1 ? 4 : 1) };
    size_t n_refused = 0;
    (void) state;
    for (unsigned i = 0; i < N; i++) {
        char text[1024];
        world w;
        world_open(&w, i % 3 == 0 ? SERVE_CUBE : SERVE_BUDGET, some_rules(i * 37, text));
        w.source.value = uneven;
        if (i % 2 == 0) { /* else every table exists */
            w.source.fine[0] = parse(&w, "region^1*sex");
            w.source.fine[1] = parse(&w, "age*work");
            w.source.n_fine = 2;
        }
        check_all_tables(&w, &n_refused);
        world_close(&w);
    }
    assert_true(n_refused > 10 * N);
}

static void test_nearest_first(void **state)
{
    static const struct {
        const char *table, *suggestions;
    } cases[] = {
        {"region*age^1*sex", "region^2*age^1*sex region*age^1 region*sex"},
        {"region^1*age^1*sex*work",
         "age^1*sex*work region^1*age^1*work region^1*sex*work region^1*age^1*sex"},
        {"region^1*faith", "faith region^1 sex"},
    };
    world w;
    (void) state;
    world_open(&w, SERVE_BUDGET, all_rules);
    w.source.fine[w.source.n_fine++] = parse(&w, "sex");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        serve_table table = parse(&w, cases[i].table);
        serve_verdict verdict;
        cellar_text shown = {0};
        assert_int_equal(serve_rules_judge(&w.dataset, &table, w.arena, &verdict, NULL), CELLAR_OK);
        for (size_t k = 0; k < verdict.refusal.n_suggestions; k++) {
            char name[SERVE_TABLE_TEXT];
            serve_table_text(&w.dataset, &verdict.refusal.suggestions[k], name);
            cellar_text_printf(&shown, "%s%s", k == 0 ? "" : " ", name);
        }
        assert_string_equal(shown.bytes, cases[i].suggestions);
        cellar_text_clear(&shown);
    }
    world_close(&w);
}

/* A wide table whose rings are far larger than what is kept of one. */
static void test_wide(void **state)
{
    enum { N = 40 };
    static const char rules_text[] = "rules: [{name: a, max_variables: 2}]";
    static char codes[N][8];
    serve_level levels[N];
    serve_variable variables[N];
    world w;
    serve_table table = {{0}};
    serve_verdict verdict;
    (void) state;
    world_open(&w, SERVE_BUDGET, NULL);
    for (size_t v = 0; v < N; v++) {
        snprintf(codes[v], sizeof codes[v], "v%zu", v);
        levels[v] =
            (serve_level){.id = codes[v], .categories = small_categories, .n_categories = 2};
        variables[v] = (serve_variable){.code = codes[v], .levels = &levels[v], .n_levels = 1};
        table.levels[v] = 1;
    }
    w.dataset.variables = variables;
    w.dataset.n_variables = N;
    assert_int_equal(
        small_rules(rules_text, sizeof rules_text - 1, &w.dataset, w.arena, &w.dataset.rules, NULL),
        CELLAR_OK);
    assert_int_equal(serve_rules_judge(&w.dataset, &table, w.arena, &verdict, NULL), CELLAR_OK);
    assert_int_equal(verdict.refusal.n_suggestions, SERVE_SUGGESTIONS);
    for (size_t i = 0; i < SERVE_SUGGESTIONS; i++)
        assert_int_equal(serve_table_n_variables(&w.dataset, &verdict.refusal.suggestions[i]), 2);
    world_close(&w);
}

/* ---- released values ----------------------------------------------------------------- */

/* Ten cells that count as 0 0 1 1 2 5 5 5 5 5. */
static double mixed(const serve_table *table, const size_t *at)
{
    static const double values[] = {-3, 0.4, 1, 0.6, 2, 5, 5, 5, 5, 5};
    (void) table;
    return values[(at[0] * 5 + at[1]) % 10];
}

static void test_released(void **state)
{
    static const struct {
        const char *rule;
        int passes;
    } cases[] = {
        /* c1/(c-c0) = 2/8 and (c1+c2)/(c-c0) = 3/8, Cantabular's; zeros are 200 in a thousand */
        {"max_share: 0.25, values: 1, of: nonzero", 1},
        {"max_share: 0.24, values: 1, of: nonzero", 0},
        {"max_share: 0.375, values: 1..2, of: nonzero", 1},
        {"max_share: 0.37, values: 1..2, of: nonzero", 0},
        {"max_share: 0.2, values: 0", 1},
        {"max_share: 0.199, values: 0", 0},
        {"max_share: 0.3, values: 1..4, of: cells", 1},
        {"max_share: 0.29, values: 1..4, of: cells", 0},
        {"min_total: 26", 1}, /* -3 and the decimals count in the total, which is 26 */
        {"min_total: 27", 0},
        {"when: faith, min_total: 27", 1},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        world w;
        serve_table table;
        int passes;
        snprintf(text, sizeof text, "rules: [{name: r, %s}]", cases[i].rule);
        world_open(&w, SERVE_CUBE, text);
        w.source.value = mixed;
        table = parse(&w, "sex*work");
        assert_true(serve_rules_allow(&w.dataset, &table));
        assert_int_equal(serve_released_passes(&w.dataset, &table, &passes, NULL), CELLAR_OK);
        assert_int_equal(passes, cases[i].passes);
        assert_int_equal(serve_released_passes(&w.dataset, &table, &passes, NULL), CELLAR_OK);
        assert_int_equal(w.source.n_asked, 1); /* remembered */
        world_close(&w);
    }
}

/* Suppressed cells and structural zeros do not count. */
static void test_cells_without_value(void **state)
{
    static const serve_value cells[] = {{.count = 1},
                                        {.count = NAN, .status = CELLAR_CELL_SUPPRESSED},
                                        {.count = 0, .status = CELLAR_CELL_STRUCTURAL_ZERO},
                                        {.count = 4}};
    double n_met[1] = {0};
    serve_tally tally = {.n_met = n_met};
    world w;
    (void) state;
    world_open(&w, SERVE_CUBE, "rules: [{name: r, max_share: 0.4, values: 1}]");
    serve_tally_add(&tally, w.dataset.rules, cells, 4);
    assert_true(tally.n_cells == 2 && tally.n_nonzero == 2 && tally.total == 5 && n_met[0] == 1);
    world_close(&w);
}

static double first_of_many(const serve_table *table, const size_t *at)
{
    (void) table;
    return at[0] == 299 && at[1] == 299 && at[2] == 1 ? 1 : 0; /* the very last cell */
}

/* A table that is asked for in parts: 300 x 300 x 2 cells. */
static void test_large_released(void **state)
{
    static serve_category many[300];
    static const serve_level levels[] = {{.id = "a", .categories = many, .n_categories = 300},
                                         {.id = "b", .categories = many, .n_categories = 300},
                                         SMALL_LEVEL("c", 2)};
    const serve_variable variables[] = {{.code = "a", .levels = &levels[0], .n_levels = 1},
                                        {.code = "b", .levels = &levels[1], .n_levels = 1},
                                        {.code = "c", .levels = &levels[2], .n_levels = 1}};
    static const char rules_text[] = "rules: [{name: r, min_total: 1}]";
    world w;
    serve_table table;
    int passes;
    (void) state;
    for (size_t k = 0; k < 300; k++)
        many[k] = (serve_category){.code = "k", .parent = SIZE_MAX};
    world_open(&w, SERVE_CUBE, NULL);
    w.dataset.variables = variables;
    w.dataset.n_variables = 3;
    w.source.value = first_of_many;
    assert_int_equal(
        small_rules(rules_text, sizeof rules_text - 1, &w.dataset, w.arena, &w.dataset.rules, NULL),
        CELLAR_OK);
    table = parse(&w, "a*b*c");
    assert_int_equal(serve_released_passes(&w.dataset, &table, &passes, NULL), CELLAR_OK);
    assert_int_equal(passes, 1);
    assert_int_equal(w.source.n_asked, 300);
    world_close(&w);
}

static void test_released_refusal(void **state)
{
    world w;
    serve_table table;
    serve_verdict verdict;
    (void) state;
    world_open(&w, SERVE_CUBE,
               "rules: [{name: sparse, max_share: 0.25, values: 1..2, of: nonzero}]");
    w.source.value = mixed;
    table = parse(&w, "sex*work");
    assert_int_equal(serve_rules_judge_released(&w.dataset, &table, w.arena, &verdict, NULL),
                     CELLAR_OK);
    assert_false(verdict.is_allowed);
    assert_string_equal(verdict.refusal.detail,
                        "rule 'sparse': more than a share of 0.25 of the non-zero cells of this "
                        "table has released values of 1 to 2");
    assert_int_equal(verdict.refusal.n_suggestions, 2); /* sex; work */
    world_close(&w);
}

/* ---- memory ------------------------------------------------------------------------- */

static cellar_status whole_scenario(void *context, cellar_error *err)
{
    small_source source = {.value = mixed};
    serve_dataset dataset = small_dataset(SERVE_CUBE, &source);
    cellar_arena *arena = cellar_arena_create(1 << 24);
    serve_table table = {{0, 0, 1, 1, 0}};
    serve_verdict verdict;
    cellar_status status = CELLAR_OK;
    if (arena == NULL)
        return cellar_fail_memory(err, "a test");
    CELLAR_TRY(small_rules(context, strlen(context), &dataset, arena, &dataset.rules, err));
    CELLAR_TRY(serve_rules_judge(&dataset, &table, arena, &verdict, err));
    CELLAR_TRY(serve_rules_judge_released(&dataset, &table, arena, &verdict, err));
out:
    cellar_arena_free(arena);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(whole_scenario, (void *) (uintptr_t) "rules: [{name: a, max_variables: 1}, "
                                                          "{name: b, max_share: 0.1, values: 0}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_cells_and_allow), cmocka_unit_test(test_every_suggestion_is_allowed),
        cmocka_unit_test(test_nearest_first),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_released),        cmocka_unit_test(test_cells_without_value),
        cmocka_unit_test(test_large_released),  cmocka_unit_test(test_released_refusal),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests_name("serve_rules", tests, NULL, NULL);
}
