/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code_lists.h"
#include "random_table.h"

#include "table/structural/structural.h"

/* ---- help ---- */

static cellar_structural_rules *parse_rules(const char *text)
{
    cellar_structural_rules *rules = NULL;
    cellar_error err;
    if (cellar_structural_rules_parse("rules", text, strlen(text), &rules, &err) != CELLAR_OK)
        fail_msg("%s\n%s", err.message, text);
    return rules;
}

/* age (child = 0-9 and 10-14) by marital status, with odd names that need quotes. */
static cellar_status make_schema(const char *rules_text, cellar_schema **out, cellar_error *err)
{
    cellar_codelist *ages = parse_list("code,parent,role\n0-9,child,\n10-14,child,\n15+,all,\n"
                                       "child,all,\nall,,total\n");
    cellar_codelist *states = parse_list("code\nsingle\nmarried\n\"a|b & \"\"c\"\"\"\n");
    cellar_schema_variable_def defs[] = {{"age", CELLAR_DOMAIN_DECLARED, ages},
                                         {"marital status", CELLAR_DOMAIN_DECLARED, states}};
    cellar_structural_rules *rules = parse_rules(rules_text);
    cellar_status status = cellar_schema_create(defs, 2, rules, out, err);
    cellar_structural_rules_free(rules);
    cellar_codelist_free(ages);
    cellar_codelist_free(states);
    return status;
}

/* ---- the file ---- */

static void test_parse_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"age", "rules:1:4: expected = or !="},
        {"\n  = x", "rules:2:3: expected the name of a variable"},
        {"age =", "rules:1:6: expected a code"},
        {"age = a |", "rules:1:10: expected a code"},
        {"age ! a", "rules:1:6: expected = or !="},
        {"age = a & # no more", "rules:1:11: expected the name of a variable"},
        {"age = a = b", "rules:1:9: expected & before"},
        {"age = \"a", "rules:1:7: the quotation has no end"},
        {"age = \"a\nb\" c", "rules:2:4: expected & before"},
        {"age = \xff", "rules: the rules are not UTF-8 text"},
    };
    (void) state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cellar_structural_rules *rules = NULL;
        cellar_error err;
        assert_int_equal(cellar_structural_rules_parse("rules", cases[k].text,
                                                       strlen(cases[k].text), &rules, &err),
                         CELLAR_ERR_INPUT);
        assert_null(rules);
        if (strncmp(err.message, cases[k].message, strlen(cases[k].message)) != 0)
            fail_msg("case %zu: %s", k, err.message);
    }
}

static void test_too_many_rules(void **state)
{
    cellar_structural_rules *rules = NULL;
    cellar_text text = {0};
    (void) state;
    for (int k = 0; k < 4097; k++)
        cellar_text_add_string(&text, "a=b\n");
    assert_int_equal(cellar_structural_rules_parse("rules", text.bytes, text.length, &rules, NULL),
                     CELLAR_ERR_INPUT);
    assert_int_equal(
        cellar_structural_rules_parse("rules", text.bytes, text.length - 4, &rules, NULL),
        CELLAR_OK);
    cellar_structural_rules_free(rules);
    cellar_text_clear(&text);
}

static void test_bind_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"agee = child", "rules:1:1: the table has no variable 'agee'; did you mean 'age'?"},
        {"# ok\nage = 0-9 | 10-15",
         "rules:2:13: variable 'age' has no code '10-15'; did you mean '10-14'?"},
        {"zzzzzz = 1", "rules:1:1: the table has no variable 'zzzzzz'"},
    };
    (void) state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cellar_schema *schema = NULL;
        cellar_error err;
        assert_int_equal(make_schema(cases[k].text, &schema, &err), CELLAR_ERR_INPUT);
        assert_null(schema);
        assert_string_equal(err.message, cases[k].message);
    }
}

/* Which of the 3 x 3 cells each file declares impossible, row by row. */
static void test_meaning(void **state)
{
    static const struct {
        const char *text, *zeros;
    } cases[] = {
        {"", "........."},
        {"# nothing\n\n  \t\r\n", "........."},
        {"age = child & marital status = married", ".x..x...."},
        {"\xef\xbb\xbf"
         "age=child&marital status=married # says the law\r\n",
         ".x..x...."},
        {"age != 15+ & \"marital status\" != single", ".xx.xx..."},
        {"marital status = \"a|b & \"\"c\"\"\"", "..x..x..x"},
        {"age = 0-9 & age = child", "xxx......"},
        {"age = 0-9 & age = 15+", "........."},
        {"age = all & marital status = single", "x..x..x.."},
        {"age = 0-9 & marital status = single\nage = 15+ & marital status = married", "x......x."},
        {"age = all", "xxxxxxxxx"},
    };
    (void) state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cellar_schema *schema = NULL;
        assert_int_equal(make_schema(cases[k].text, &schema, NULL), CELLAR_OK);
        for (uint64_t index = 0; index < 9; index++)
            if (cellar_schema_is_structural_zero(schema, index) != (cases[k].zeros[index] == 'x'))
                fail_msg("case %zu, cell %d", k, (int) index);
        cellar_schema_free(schema);
    }
}

static void test_counted_zero_is_refused(void **state)
{
    cellar_schema *schema = NULL;
    cellar_table *table = NULL;
    cellar_cells cells = cells_make(1, 0);
    cellar_error err;
    (void) state;
    assert_int_equal(make_schema("age = child & marital status = married", &schema, NULL),
                     CELLAR_OK);
    cells.index[0] = 4;
    cells.count[0] = 7654321;
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, &err), CELLAR_ERR_INPUT);
    assert_null(table);
    assert_null(cells.index);
    assert_non_null(strstr(err.message, "rule 1"));
    assert_null(strstr(err.message, "10-14")); /* a record's categories are not told either */
    assert_null(strstr(err.message, "7654321"));
    cells = cells_make(1, RANDOM_STATUSES); /* a remark is as good as a rule */
    cells.count[0] = 1;
    cells.status[0] = CELLAR_CELL_STRUCTURAL_ZERO;
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, &err), CELLAR_ERR_INPUT);
    cellar_schema_free(schema);
}

/* ---- against enumeration ---- */

/* Random rules over the codes c0..c11 of the variables of a random schema. */
static void random_rules(uint64_t *state, const cellar_schema *schema, cellar_text *text)
{
    size_t n_rules = 1 + random_below(state, 6), n = cellar_schema_n_variables(schema);
    for (size_t r = 0; r < n_rules; r++) {
        size_t n_conditions = 1 + random_below(state, n);
        for (size_t k = 0; k < n_conditions; k++) {
            size_t v = random_below(state, n), n_words = 1 + random_below(state, 3);
            const cellar_codelist *list = cellar_schema_codelist(schema, v);
            cellar_text_printf(text, "%s%s%s", k == 0 ? "" : " & ",
                               cellar_schema_variable(schema, v),
                               random_below(state, 2) ? " = " : " != ");
            for (size_t w = 0; w < n_words; w++)
                cellar_text_printf(
                    text, "%s%s", w == 0 ? "" : " | ",
                    cellar_codelist_code(list, random_below(state, cellar_codelist_n_codes(list))));
        }
        cellar_text_add_char(text, '\n');
    }
}

/* 1 when a condition such as "a != c1 | c2" holds for the leaves; moves *at behind it. */
static int condition_holds(const cellar_schema *schema, const uint32_t *leaves, const char **at)
{
    char name[2] = {**at, '\0'};
    size_t v = cellar_schema_find_variable(schema, name);
    const cellar_codelist *list = cellar_schema_codelist(schema, v);
    int negated = (*at)[2] == '!', any = 0;
    *at += negated ? 5 : 4;
    for (;;) {
        size_t length = strcspn(*at, " \n");
        size_t code = cellar_codelist_find(list, *at, length);
        any |= is_part_of(list, cellar_codelist_leaf(list, leaves[v]), code);
        *at += length;
        if (strncmp(*at, " | ", 3) != 0)
            return any != negated;
        *at += 3;
    }
}

/* The same rules read a second way: straight from their text, one interior cell at a time. */
static int rules_hold(const cellar_schema *schema, const uint32_t *leaves, const char *text)
{
    const char *at = text;
    int found = 0;
    while (*at != '\0') {
        int all = condition_holds(schema, leaves, &at);
        while (strncmp(at, " & ", 3) == 0) {
            at += 3;
            all &= condition_holds(schema, leaves, &at);
        }
        found |= all;
        at++;
    }
    return found;
}

static cellar_schema *with_rules(const cellar_schema *schema, const char *text)
{
    cellar_structural_rules *rules = parse_rules(text);
    cellar_schema_variable_def defs[4];
    cellar_schema *out = NULL;
    size_t n = cellar_schema_n_variables(schema);
    for (size_t v = 0; v < n; v++)
        defs[v] =
            (cellar_schema_variable_def){cellar_schema_variable(schema, v), CELLAR_DOMAIN_DECLARED,
                                         cellar_schema_codelist(schema, v)};
    assert_int_equal(cellar_schema_create(defs, n, rules, &out, NULL), CELLAR_OK);
    cellar_structural_rules_free(rules);
    return out;
}

/* `cell_sums` decides what a cell sums; `impossible` tells of every interior cell. */
static void check_aggregates(const cellar_schema *plain, const cellar_schema *schema,
                             const uint8_t *impossible)
{
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
        int all = 1;
        for (uint64_t leaf = 0; leaf < cellar_schema_n_indices(plain); leaf++) {
            uint32_t leaves[4];
            cellar_schema_categories(plain, leaf, leaves);
            if (!impossible[leaf] && cell_sums(schema, index, leaves))
                all = 0;
        }
        assert_int_equal(cellar_schema_is_structural_zero(schema, index), all);
    }
}

/* Margins and slices know their structural zeros, and tell them as rules. */
static void check_derived(const cellar_table *expanded, const cellar_table *derived, size_t v,
                          size_t category)
{
    const cellar_schema *from = cellar_table_schema(expanded), *to = cellar_table_schema(derived);
    cellar_text text = {0};
    cellar_schema *again;
    cellar_schema_add_rules(to, &text);
    again = with_rules(to, text.bytes == NULL ? "" : text.bytes);
    for (uint64_t index = 0; index < cellar_schema_n_indices(to); index++) {
        uint32_t categories[4], wide[4];
        int zero = cellar_schema_is_structural_zero(to, index), interior = 1;
        cellar_schema_categories(to, index, categories);
        for (size_t k = 0, j = 0; k < cellar_schema_n_variables(from); k++)
            wide[k] = k == v ? (uint32_t) category : categories[j++];
        assert_int_equal(cellar_schema_is_structural_zero(from, cellar_schema_index(from, wide)),
                         zero);
        for (size_t k = 0; k < cellar_schema_n_variables(to); k++)
            interior &= categories[k] < cellar_schema_n_leaves(to, k);
        if (interior)
            assert_int_equal(
                cellar_schema_is_structural_zero(again, cellar_schema_index(again, categories)),
                zero);
    }
    cellar_text_clear(&text);
    cellar_schema_free(again);
}

static void check_random(uint64_t seed)
{
    uint64_t random = seed;
    size_t n = 1 + random_below(&random, 3);
    cellar_schema *plain = random_schema(&random, n, NULL), *schema;
    cellar_margins margins = {.all = 1, .hierarchies = (UINT64_C(1) << n) - 1};
    cellar_text text = {0};
    cellar_table *table, *expanded = NULL, *derived = NULL;
    uint8_t *impossible = cellar_alloc((size_t) cellar_schema_n_indices(plain), 1);

    random_rules(&random, plain, &text);
    schema = with_rules(plain, text.bytes);
    for (uint64_t index = 0; index < cellar_schema_n_indices(plain); index++) {
        uint32_t leaves[4];
        cellar_schema_categories(plain, index, leaves);
        impossible[index] = (uint8_t) rules_hold(plain, leaves, text.bytes);
        assert_int_equal(cellar_schema_is_structural_zero(schema, index), impossible[index]);
    }
    table = random_table(&random, schema, 50, 0, 0);
    assert_int_equal(cellar_table_create_expanded(table, &margins, &expanded, NULL), CELLAR_OK);
    check_aggregates(plain, cellar_table_schema(expanded), impossible);
    for (size_t v = 0; n > 1 && v < n; v++) {
        const size_t kept[] = {v == 0, 2 - (v == 2)};
        size_t total = cellar_schema_n_categories(cellar_table_schema(expanded), v) - 1;
        assert_int_equal(cellar_table_create_margin(table, kept, n - 1, &derived, NULL), CELLAR_OK);
        check_derived(expanded, derived, v, total);
        cellar_table_free(derived);
        for (size_t c = 0; c <= total; c++) {
            assert_int_equal(cellar_table_create_slice(expanded, v, c, &derived, NULL), CELLAR_OK);
            check_derived(expanded, derived, v, c);
            cellar_table_free(derived);
        }
    }
    cellar_table_free(expanded);
    cellar_table_free(table);
    cellar_free(impossible);
    cellar_text_clear(&text);
    cellar_schema_free(schema);
    cellar_schema_free(plain);
}

static void test_random_rules(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 120; seed++)
        check_random(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_too_many_rules),
        cmocka_unit_test(test_bind_errors),
        cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_counted_zero_is_refused),
        cmocka_unit_test(test_random_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
