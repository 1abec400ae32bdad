/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "fail_every.h"
#include "serve/choices.h"
#include "serve/picks.h"
#include "serve_sample.h"

enum { ARENA = 1 << 20 };

/* The picks of expressions between blanks as "code[/level]:code", or the error. */
static const char *picked(const char *expressions, size_t level, int may_coarsen, int is_time)
{
    static char found[1024];
    cellar_arena *arena = cellar_arena_create(ARENA);
    serve_picks picks = {.variable = "region",
                         .levels = sample_region_levels,
                         .n_levels = 2,
                         .level = level,
                         .may_coarsen = may_coarsen,
                         .is_time = is_time,
                         .arena = arena};
    cellar_error err = {""};
    char words[512], *word, *rest = words;
    snprintf(words, sizeof words, "%s", expressions);
    found[0] = '\0';
    while ((word = strsep(&rest, " ")) != NULL)
        if (serve_picks_add(&picks, word, &err) != CELLAR_OK)
            snprintf(found, sizeof found, "%.1000s", err.message);
    for (size_t i = 0; i < picks.n && err.message[0] == '\0'; i++) {
        const size_t n = strlen(found);
        snprintf(found + n, sizeof found - n, "%s%s%s", i > 0 ? " " : "", picks.items[i].code,
                 picks.items[i].level == 1 ? "^" : "");
        for (size_t m = 0; picks.items[i].n_members > 1 && m < picks.items[i].n_members; m++) {
            const size_t at = strlen(found);
            snprintf(found + at, sizeof found - at, "%c%u", m > 0 ? '+' : '=',
                     (unsigned) picks.items[i].members[m]);
        }
    }
    cellar_arena_free(arena);
    return found;
}

static void test_expressions(void **state)
{
    static const struct {
        const char *expressions, *want;
    } cases[] = {
        {"*", "N1 N2 S1 S2"},
        {"n1", "N1"},
        {"N1 N1 n1", "N1"},
        {"S1 N1", "S1 N1"},
        {"N*", "N1 N2"},
        {"n*", "N1 N2"},
        {"*1", "N1 S1"},
        {"*1 *", "N1 S1 N2 S2"},
        {"?2", "N2 S2"},
        {"??", "N1 N2 S1 S2"},
        {"?", ""},
        {"*1*", "N1 S1"},
        {"X*", ""},
        {"top(2)", "N1 N2"},
        {"TOP(2,1)", "N2 S1"},
        {"top(99)", "N1 N2 S1 S2"},
        {"top(99,99)", ""},
        {"Bottom(1)", "S2"},
        {"bottom(2,1)", "N2 S1"},
        {"from(S1)", "S1 S2"},
        {"TO(n2)", "N1 N2"},
        {"[range(N2,S1)]", "N2 S1"},
        {"range(S1,N2)", "N2 S1"},
        {"N", "N^"},
        {"N S1", "N^ S1"},
        {"group(mine,N1,S2)", "mine=0+3"},
        {"[group(mine,N1,S2)] N1", "mine=0+3 N1"},
        {"group(both,N,S)", "both^=0+1"},
        {"\"N1\" range(\"N2\",\"S1\")", "N1 N2 S1"},
        {"group(\"a,b\",N1,S1)", "a,b=0+2"},
        {"\"N*\"", "Variable 'region' has no category 'N*'."},
        {"\"", "Variable 'region' has no category '\"'."},
        {"X1", "Variable 'region' has no category 'X1'."},
        {"", "Variable 'region' has no category ''."},
        {"[[N1]]", "Variable 'region' has no category '[[N1]]'."},
        {"from(X)", "Variable 'region' has no category 'X'."},
        {"range(N1)", "An expression for variable 'region' should have the form "
                      "range(code,code)."},
        {"top(0)", "An expression for variable 'region' should have the form top(n) or "
                   "top(n,offset)."},
        {"top(-1)", "An expression for variable 'region' should have the form top(n) or "
                    "top(n,offset)."},
        {"top(1,2,3)", "An expression for variable 'region' should have the form top(n) or "
                       "top(n,offset)."},
        {"top(2", "An expression for variable 'region' lacks its closing parenthesis."},
        {"top(", "An expression for variable 'region' lacks its closing parenthesis."},
        {"group(N1,N2)", "A group of variable 'region' needs a name of its own, of at most 200 "
                         "bytes."},
        {"group(,N2)", "A group of variable 'region' needs a name of its own, of at most 200 "
                       "bytes."},
        {"group(mine)", "An expression for variable 'region' should have the form "
                        "group(name,code,code,...)."},
        {"group(mine,N1,N)", "Variable 'region' has no category 'N'."},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(picked(cases[i].expressions, 2, 1, 0), cases[i].want);
    assert_string_equal(picked("top(1) bottom(1)", 2, 1, 1), "S2 N1"); /* the latest first */
    assert_string_equal(picked("*", 1, 0, 0), "N^ S^");
    assert_string_equal(picked("N1", 1, 0, 0), "Variable 'region' has no category 'N1'.");
}

/* Patterns against a plain definition: a pattern fits when some way to split the code does. */
static int fits_slowly(const char *pattern, const char *code)
{
    if (*pattern == '\0')
        return *code == '\0';
    if (*pattern == '*')
        return fits_slowly(pattern + 1, code) || (*code != '\0' && fits_slowly(pattern, code + 1));
    return *code != '\0' && (*pattern == '?' || *pattern == *code) &&
           fits_slowly(pattern + 1, code + 1);
}

static void test_patterns(void **state)
{
    static const char letters[] = "ab*?";
    cellar_arena *arena = cellar_arena_create(1 << 26);
    size_t n_fits = 0;
    (void) state;
    for (size_t p = 0; p < 4 * 4 * 4 * 4; p++)
        for (size_t c = 0; c < 2 * 2 * 2 * 2 * 2; c++) {
            const char pattern[] = {letters[p % 4], letters[p / 4 % 4], letters[p / 16 % 4],
                                    letters[p / 64 % 4], '\0'};
            const char code[] = {letters[c % 2],     letters[c / 2 % 2],  letters[c / 4 % 2],
                                 letters[c / 8 % 2], letters[c / 16 % 2], '\0'};
            const serve_category category = {.code = code, .label = {(const char *const[]){code}}};
            const serve_level level = {.id = "x", .categories = &category, .n_categories = 1};
            serve_picks picks = {
                .variable = "x", .levels = &level, .n_levels = 1, .level = 1, .arena = arena};
            const cellar_status status = serve_picks_add(&picks, pattern, NULL);
            const int fits = fits_slowly(pattern, code);
            assert_int_equal(status == CELLAR_OK && picks.n == 1, fits);
            n_fits += (size_t) fits;
        }
    assert_true(n_fits > 1000);
    cellar_arena_free(arena);
}

static void test_lists(void **state)
{
    static const struct {
        const char *list, *want;
    } cases[] = {
        {"a,b", "a|b"},
        {"", ""},
        {",,a,", "a"},
        {" a , b c ", "a|b c"},
        {"a,[range(b,c)],d", "a|[range(b,c)]|d"},
        {"top(2,1),b", "top(2,1)|b"},
        {"from(a),b", "from(a)|b"},
        {"group(x,a,b),TOP(1", "group(x,a,b)|TOP(1"},
        {"[a,b", "[a|b"},
        {"a[b,c]", "a[b|c]"},
        {"\"(1,2]\",\"a\"", "\"(1,2]\"|\"a\""},
        {"[range(\"a]\",b)],c", "[range(\"a]\",b)]|c"},
        {"\"a,b", "\"a,b"},
    };
    cellar_arena *arena = cellar_arena_create(ARENA);
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *items;
        const size_t n = serve_split_list(cases[i].list, arena, &items);
        cellar_text text = {0};
        cellar_text_add_string(&text, "");
        for (size_t k = 0; k < n; k++)
            cellar_text_printf(&text, "%s%s", k > 0 ? "|" : "", items[k]);
        assert_string_equal(text.length > 0 ? text.bytes : "", cases[i].want);
        cellar_text_clear(&text);
    }
    cellar_arena_free(arena);
}

/* Many expressions over long code lists are refused, not worked through. */
static void test_work(void **state)
{
    enum { N = 100000 };
    cellar_arena *arena = cellar_arena_create(1 << 26);
    serve_category *categories = cellar_alloc(N, sizeof *categories);
    const serve_level level = {.id = "x", .categories = categories, .n_categories = N};
    serve_picks picks = {
        .variable = "x", .levels = &level, .n_levels = 1, .level = 1, .arena = arena};
    cellar_error err = {""};
    size_t n = 0;
    (void) state;
    for (size_t i = 0; i < N; i++)
        categories[i] = (serve_category){.code = "y", .label = {(const char *const[]){"y"}}};
    while (n < 1000 && serve_picks_add(&picks, "z*", &err) == CELLAR_OK)
        n++;
    assert_int_equal(n, 100);
    assert_string_equal(err.message, "There are too many expressions for variable 'x'.");
    cellar_free(categories);
    cellar_arena_free(arena);
}

/* ---- places --------------------------------------------------------------------- */

/* The axes of a question, a bar between stub and heading. */
static const char *placed(const char *const *stub, size_t n_stub, const char *const *heading,
                          size_t n_heading)
{
    static char found[1024];
    static const char *const all[] = {"*"};
    cellar_arena *arena = cellar_arena_create(ARENA);
    const serve_choices choices = {.items = {{"work", NULL, all, 1}, {"region", NULL, all, 1}},
                                   .n = 2,
                                   .stub = {stub, n_stub},
                                   .heading = {heading, n_heading}};
    serve_question question;
    cellar_error err = {""};
    found[0] = '\0';
    if (serve_choices_question(&sample_dataset, &choices, 0, arena, &question, &err) != CELLAR_OK)
        snprintf(found, sizeof found, "%.1000s", err.message);
    else
        for (size_t s = 0, axis = 0; axis <= question.n_sides; axis++) {
            const size_t n = strlen(found);
            const char *code = axis == question.contents_at
                                   ? "contents"
                                   : sample_variables[question.sides[s++].variable].code;
            snprintf(found + n, sizeof found - n, "%s%s ", axis == question.n_stub ? "| " : "",
                     code);
        }
    cellar_arena_free(arena);
    return found;
}

static void test_places(void **state)
{
    static const char *const work[] = {"WORK"}, *const contents[] = {"contentscode"},
                             *const time[] = {"Time"}, *const sex[] = {"sex"},
                             *const all[] = {"region", "period", "ContentsCode", "work"},
                             *const twice[] = {"region", "region"};
    (void) state;
    assert_string_equal(placed(NULL, 0, NULL, 0), "work region | contents period ");
    assert_string_equal(placed(work, 1, NULL, 0), "work | contents region period ");
    assert_string_equal(placed(NULL, 0, work, 1), "contents region period | work ");
    assert_string_equal(placed(contents, 1, work, 1), "contents region | work period ");
    assert_string_equal(placed(time, 1, NULL, 0), "period | contents work region ");
    assert_string_equal(placed(all, 4, NULL, 0), "region period contents work ");
    assert_string_equal(placed(sex, 1, NULL, 0), "Variable 'sex' has a place and no categories.");
    assert_string_equal(placed(twice, 2, NULL, 0), "Variable 'region' has two places.");
    assert_string_equal(placed(work, 1, work, 1), "Variable 'WORK' has two places.");
}

static cellar_status choose_scenario(void *context, cellar_error *err)
{
    static const char *const regions[] = {"N*", "[range(S1,S2)]", "group(g,N1,S1)"},
                             *const codes[] = {"count"};
    const serve_choices choices = {
        .items = {{"region", "census.region", regions, 3}, {"ContentsCode", NULL, codes, 1}},
        .n = 2};
    cellar_arena *arena = cellar_arena_create(ARENA);
    serve_question question;
    cellar_status status = CELLAR_ERR_MEMORY;
    (void) context;
    snprintf(err->message, sizeof err->message, "not enough memory for a test");
    if (arena != NULL)
        status = serve_choices_question(&sample_dataset, &choices, 0, arena, &question, err);
    cellar_arena_free(arena);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(choose_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_work),
        cmocka_unit_test(test_places),      cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
