/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <fcntl.h>

#include "base/memory.h"
#include "fail_every.h"
#include "scratch.h"

static void test_read(void **state)
{
    scratch *place = *state;
    static char large[300001];
    char *bytes = NULL;
    size_t length = 0;

    memset(large, 'x', sizeof large - 1);
    scratch_write(place, "empty", "");
    scratch_write(place, "small", "a,b\n1,2\n");
    scratch_write(place, "large", large);
    assert_int_equal(cellar_file_read(scratch_path(place, "empty"), 0, &bytes, &length, NULL), 0);
    assert_int_equal(length, 0);
    assert_string_equal(bytes, "");
    cellar_free(bytes);
    assert_int_equal(cellar_file_read(scratch_path(place, "small"), 8, &bytes, &length, NULL), 0);
    assert_int_equal(length, 8);
    assert_string_equal(bytes, "a,b\n1,2\n");
    cellar_free(bytes);
    assert_int_equal(
        cellar_file_read(scratch_path(place, "large"), SIZE_MAX, &bytes, &length, NULL), 0);
    assert_int_equal(length, 300000);
    assert_string_equal(bytes, large);
    cellar_free(bytes);
}

static void test_limit(void **state)
{
    scratch *place = *state;
    char *bytes = NULL;
    size_t length = 7;
    cellar_error err;
    scratch_write(place, "small", "a,b\n1,2\n");
    assert_int_equal(cellar_file_read(scratch_path(place, "small"), 7, &bytes, &length, &err),
                     CELLAR_ERR_MEMORY);
    assert_null(bytes);
    assert_int_equal(length, 0);
    assert_non_null(strstr(err.message, "larger than the 7 bytes"));
    /* endless input ends at the limit, too */
    assert_int_equal(cellar_file_read("/dev/zero", 1 << 20, &bytes, &length, &err),
                     CELLAR_ERR_MEMORY);
    assert_null(bytes);
}

static void test_errors(void **state)
{
    char *bytes = NULL;
    size_t length;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_file_read("no/such", 9, &bytes, &length, &err), CELLAR_ERR_IO);
    assert_string_equal(err.message, "no/such: cannot open the file: No such file or directory");
    assert_int_equal(cellar_file_read("/", 9, &bytes, &length, &err), CELLAR_ERR_IO);
    assert_string_equal(err.message, "/: cannot read the file: Is a directory");
    assert_null(bytes);
}

static void test_stdin(void **state)
{
    scratch *place = *state;
    char *bytes = NULL;
    size_t length;
    int fd, kept = dup(STDIN_FILENO);
    scratch_write(place, "small", "from stdin");
    fd = open(scratch_path(place, "small"), O_RDONLY);
    assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(cellar_file_read("-", 100, &bytes, &length, NULL), CELLAR_OK);
    assert_string_equal(bytes, "from stdin");
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* left open */
    cellar_free(bytes);
    close(fd);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

static cellar_status read_scenario(void *context, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = cellar_file_read(context, SIZE_MAX, &bytes, &length, err);
    cellar_free(bytes);
    return status;
}

static void test_fail_every(void **state)
{
    scratch *place = *state;
    static char large[200001], path[400];
    memset(large, 'x', sizeof large - 1);
    scratch_write(place, "large", large);
    snprintf(path, sizeof path, "%s", scratch_path(place, "large"));
    check_fail_every(read_scenario, path);
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_read),  SCRATCH_TEST(test_limit),      SCRATCH_TEST(test_errors),
        SCRATCH_TEST(test_stdin), SCRATCH_TEST(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
