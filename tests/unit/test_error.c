/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include <cellar/version.h>

#include "check.h"

typedef struct status_row {
    const char *name;
    int value;
    const char *text;
} status_row;

#define STATUS_ROW(name, value, text) {"CELLAR_" #name, value, text},
static const status_row rows[] = {CELLAR_STATUS_LIST(STATUS_ROW)};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void test_status_list(void **state)
{
    (void) state;
    for (int i = 0; i < N_ROWS; i++) {
        cellar_status status = (cellar_status) rows[i].value;
        assert_string_equal(cellar_status_name(status), rows[i].name);
        assert_string_equal(cellar_status_text(status), rows[i].text);
        assert_true(strlen(rows[i].text) > 5);
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(rows[i].value, rows[j].value);
            assert_string_not_equal(rows[i].text, rows[j].text);
        }
    }
    assert_int_equal(CELLAR_OK, 0);
    assert_string_equal(cellar_status_name((cellar_status) 999), "CELLAR_?");
    assert_string_equal(cellar_status_text((cellar_status) 999), "unknown status");
}

/* Values are API: these may never change, new ones come after. */
static void test_status_values(void **state)
{
    static const char *const pinned[] = {
        "CELLAR_OK",         "CELLAR_ERR_ARGUMENT",  "CELLAR_ERR_INPUT",      "CELLAR_ERR_IO",
        "CELLAR_ERR_MEMORY", "CELLAR_ERR_OVERFLOW",  "CELLAR_ERR_BUDGET",     "CELLAR_ERR_RULE",
        "CELLAR_ERR_EXISTS", "CELLAR_ERR_CANCELLED", "CELLAR_ERR_UNSUPPORTED"};
    (void) state;
    for (int i = 0; i < (int) (sizeof pinned / sizeof pinned[0]); i++)
        assert_string_equal(cellar_status_name((cellar_status) i), pinned[i]);
}

static void test_fail(void **state)
{
    cellar_error err = {"untouched"};
    char long_name[3000];
    (void) state;

    assert_int_equal(cellar_fail(NULL, CELLAR_ERR_IO, "nobody reads %s", "this"), CELLAR_ERR_IO);
    assert_string_equal(err.message, "untouched");
    assert_int_equal(cellar_fail(&err, CELLAR_ERR_INPUT, "%s:%d: no", "a.csv", 7),
                     CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "a.csv:7: no");
    cellar_fail(&err, CELLAR_ERR_INPUT, "in the list: %s", err.message);
    assert_string_equal(err.message, "in the list: a.csv:7: no");

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    cellar_fail(&err, CELLAR_ERR_INPUT, "%s", long_name);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(cellar_fail_memory(&err, "cells"), CELLAR_ERR_MEMORY);
    assert_string_equal(err.message, "not enough memory for cells");
}

static void test_fail_errno(void **state)
{
    static const struct {
        int number;
        cellar_status want;
        const char *message;
    } cases[] = {{ENOENT, CELLAR_ERR_IO, "f: cannot open it: No such file or directory"},
                 {EEXIST, CELLAR_ERR_EXISTS, "f: cannot open it: File exists"},
                 {ENOMEM, CELLAR_ERR_MEMORY, "f: cannot open it: Cannot allocate memory"},
                 {99999, CELLAR_ERR_IO, "f: cannot open it: unknown"}};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        errno = cases[i].number;
        assert_int_equal(cellar_fail_errno(&err, "f", "open it"), cases[i].want);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_version(void **state)
{
    (void) state;
    assert_string_equal(cellar_version(), CELLAR_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_list), cmocka_unit_test(test_status_values),
        cmocka_unit_test(test_fail),        cmocka_unit_test(test_fail_errno),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
