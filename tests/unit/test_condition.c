/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <string.h>

#include "data/condition.h"
#include "fail_every.h"

static const struct {
    const char *condition, *column, *value;
    int want;
} cases[] = {
    {"sex=F", "sex", "F", 1},
    {"sex=F", "sex", "M", 0},
    {"sex=F", "sex", "f", 0},
    {"sex=F", "sex", "", 0},
    {"sex=F", "sex", "FF", 0},
    {" sex = F ", "sex", "F", 1},
    {"marital status=a b", "marital status", "a b", 1},
    {"x=c|a|b", "x", "a", 1},
    {"x=c|a|b", "x", "c", 1},
    {"x=c|a|b", "x", "d", 0},
    {"x!=c|a", "x", "a", 0},
    {"x!=c|a", "x", "b", 1},
    {"x=\"a|b\" | c", "x", "a|b", 1},
    {"x=\"a|b\" | c", "x", "c", 1},
    {"x=\"a|b\" | c", "x", "a", 0},
    {"x=\" a\"", "x", " a", 1},
    {"x=\"\"", "x", "", 1},
    {"x=\"\"|a", "x", "", 1},
    {"x=\"say \"\"hi\"\"\"", "x", "say \"hi\"", 1},
    {"x=a\"b", "x", "a\"b", 1},
    {"x=a=b", "x", "a=b", 1},
    {"x=\"=b\"", "x", "=b", 1},
    {"\"a<b\"=1", "a<b", "1", 1},
    {"\"say \"\"hi\"\"\"=1", "say \"hi\"", "1", 1},
    {"x=1", "x", "1.0", 0}, /* as text */
    {"x<5", "x", "4.99999999999999999999999", 1},
    {"x<5", "x", "5", 0},
    {"x<5", "x", "-1e9", 1},
    {"x<5", "x", "", 0},
    {"x<5", "x", "four", 0},
    {"x<=5", "x", "5.000", 1},
    {"x<=5", "x", "5.0000000000000000000000001", 0},
    {"x<=-5", "x", "-5.0000000000000000000000001", 1},
    {"x>5", "x", "5.0000000000000000000000001", 1},
    {"x>5", "x", "5", 0},
    {"x >= 0.3", "x", "0.3", 1},
    {"x>=0.30", "x", "3e-1", 1},
    {"x>=0.3", "x", "0.29999999999999999999", 0},
    {"x>=0.3", "x", "x", 0},
    {"x>=\"3\"", "x", " 4", 1},
};

static const struct {
    const char *condition, *normal;
} normal_forms[] = {
    {"sex=F", "\"sex\"=\"F\""},
    {" sex = c | \"a\"|b |c", "\"sex\"=\"a\"|\"b\"|\"c\""},
    {"\"a<\"\"b\"!=\"\"", "\"a<\"\"b\"!=\"\""},
    {"x>=018.50", "\"x\">=18.5"},
    {"x<-1e2", "\"x\"<-100"},
    {"x>\" 3\"", "\"x\">3"},
    {"x<=3", "\"x\"<=3"},
};

static void test_normal_forms(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof normal_forms / sizeof *normal_forms; i++) {
        const char *text = normal_forms[i].condition;
        for (int again = 0; again < 2; again++) { /* the normal form parses back to itself */
            cellar_condition *condition;
            cellar_text normal = {0};
            assert_int_equal(cellar_condition_parse(text, &condition, NULL), CELLAR_OK);
            cellar_condition_add_text(condition, &normal);
            assert_string_equal(normal.bytes, normal_forms[i].normal);
            text = normal_forms[i].normal;
            cellar_text_clear(&normal);
            cellar_condition_free(condition);
        }
    }
}

static void test_conditions(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_condition *condition;
        cellar_error err;
        if (cellar_condition_parse(cases[i].condition, &condition, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        assert_string_equal(cellar_condition_column(condition), cases[i].column);
        if (cellar_condition_holds(condition, cases[i].value, strlen(cases[i].value)) !=
            cases[i].want)
            fail_msg("%s on '%s'", cases[i].condition, cases[i].value);
        cellar_condition_free(condition);
    }
    cellar_condition_free(NULL);
}

static void test_bad_conditions(void **state)
{
    static const char *const bad[] = {
        "",       "x",      "=a",    "x=",     "x=a|",  "x=|a",     "x==a",    "x=>5",
        "x<",     "x<five", "x<5|6", "x<\"\"", "x=\"a", "x=\"a\"b", "\"x=a",   "\"x\"y=a",
        "\"\"=a", "!",      "x!a",   "x<>5",   "x!==5", "  ",       "x<1e-19",
    };
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_condition *condition;
        cellar_error err = {""};
        if (cellar_condition_parse(bad[i], &condition, &err) != CELLAR_ERR_ARGUMENT ||
            condition != NULL || strncmp(err.message, "condition '", 11) != 0)
            fail_msg("%s: %s", bad[i], err.message);
    }
}

static cellar_status parse_scenario(void *context, cellar_error *err)
{
    cellar_condition *condition;
    cellar_status status = cellar_condition_parse(context, &condition, err);
    cellar_condition_free(condition);
    return status;
}

static void test_memory_ends(void **state)
{
    char list[] = "\"x\"=a|\"b\"|c|d|e|f|g|h|i|j", order[] = "x<0.5";
    (void) state;
    check_fail_every(parse_scenario, list);
    check_fail_every(parse_scenario, order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_normal_forms),
        cmocka_unit_test(test_bad_conditions),
        cmocka_unit_test(test_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
