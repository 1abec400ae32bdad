/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ReadStat's writers put into files comes out of the readers as rows, in every format; damaged
 * files are refused. */
#include "stat_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "data/statfile.h"
#include "statread/parse.h"

/* ---- the common file in every format -------------------------------------- */

static void test_format_by_name(void **state)
{
    static const struct {
        const char *path;
        cellar_data_format want;
    } cases[] = {
        {"a.sav", CELLAR_DATA_SAV},
        {"dir/a.b.ZSAV", CELLAR_DATA_SAV},
        {"a.Por", CELLAR_DATA_POR},
        {"a.dta", CELLAR_DATA_DTA},
        {"a.sas7bdat", CELLAR_DATA_SAS},
        {"a.xpt", CELLAR_DATA_XPT},
        {"a.sav.gz", CELLAR_DATA_SAV},
        {"a.csv", CELLAR_DATA_TEXT},
        {"a.csv.gz", CELLAR_DATA_TEXT},
        {"-", CELLAR_DATA_TEXT},
        {"", CELLAR_DATA_TEXT},
        {"sav", CELLAR_DATA_TEXT},
        {"a.sav/people", CELLAR_DATA_TEXT},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cellar_statfile_format(cases[i].path), cases[i].want);
}

static void test_columns(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        stat_file bytes;
        cellar_statfile file;
        char **names;
        size_t n_names;
        cellar_error err;
        stat_make(&stat_kinds[k], 1, &bytes);
        cellar_statfile_open_memory(bytes.bytes, bytes.length, stat_kinds[k].format, &file);
        assert_int_equal(cellar_statfile_list_columns(&file, &names, &n_names, &err), CELLAR_OK);
        assert_int_equal(n_names, 3);
        assert_string_equal(names[0], "PLACE");
        assert_string_equal(names[1], "SEX");
        assert_string_equal(names[2], "INCOME");
        cellar_columns_free(names, n_names);
        stat_file_clear(&bytes);
    }
}

typedef struct expectation {
    const stat_kind *kind;
    uint64_t n_rows, stop_after;
} expectation;

static void expect_field(const cellar_field *field, const char *want)
{
    assert_int_equal(field->missing, want == NULL);
    if (want == NULL)
        return;
    assert_int_equal(field->length, strlen(want));
    assert_memory_equal(field->text, want, field->length);
}

/* Asked for as INCOME, PLACE, SEX, PLACE. */
static cellar_status expect_row(void *context, const cellar_field *fields, uint64_t row_index,
                                cellar_error *err)
{
    expectation *expected = context;
    const stat_person *person = &stat_people[expected->n_rows % N_STAT_PEOPLE];
    const char *sex = person->sex;

    assert_int_equal(row_index, expected->n_rows);
    if (sex != NULL && strcmp(sex, "9") == 0 && stat_kind_is_spss(expected->kind))
        sex = NULL; /* declared missing */
    expect_field(&fields[0], person->income);
    expect_field(&fields[1], person->place);
    expect_field(&fields[2], sex);
    expect_field(&fields[3], person->place);
    if (++expected->n_rows == expected->stop_after)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "enough");
    return CELLAR_OK;
}

static const size_t wanted[] = {2, 0, 1, 0};

static void test_rows(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        expectation expected = {.kind = &stat_kinds[k]};
        stat_file bytes;
        cellar_statfile file;
        cellar_error err;
        stat_make(&stat_kinds[k], 300, &bytes);
        cellar_statfile_open_memory(bytes.bytes, bytes.length, stat_kinds[k].format, &file);
        assert_int_equal(cellar_statfile_read_rows(&file, wanted, 4, expect_row, &expected, &err),
                         CELLAR_OK);
        assert_int_equal(expected.n_rows, 300 * N_STAT_PEOPLE);

        expected = (expectation){.kind = &stat_kinds[k], .stop_after = 9};
        assert_int_equal(cellar_statfile_read_rows(&file, wanted, 4, expect_row, &expected, &err),
                         CELLAR_ERR_CANCELLED);
        assert_int_equal(expected.n_rows, 9);
        assert_string_equal(err.message, "enough");
        stat_file_clear(&bytes);
    }
}

static cellar_status count_row(void *context, const cellar_field *fields, uint64_t row_index,
                               cellar_error *err)
{
    (void) fields;
    (void) err;
    *(uint64_t *) context = row_index + 1;
    return CELLAR_OK;
}

static void test_no_columns_asked_for(void **state)
{
    static const size_t beyond[] = {0, 3};
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        stat_file bytes;
        cellar_statfile file;
        cellar_error err;
        uint64_t n_rows = 0;
        stat_make(&stat_kinds[k], 2, &bytes);
        cellar_statfile_open_memory(bytes.bytes, bytes.length, stat_kinds[k].format, &file);
        assert_int_equal(cellar_statfile_read_rows(&file, NULL, 0, count_row, &n_rows, &err),
                         CELLAR_OK);
        assert_int_equal(n_rows, 2 * N_STAT_PEOPLE);
        assert_int_equal(cellar_statfile_read_rows(&file, beyond, 2, count_row, &n_rows, &err),
                         CELLAR_ERR_ARGUMENT);
        stat_file_clear(&bytes);
    }
}

/* ---- damage --------------------------------------------------------------- */

/* Reads everything there is to read; answers whether all of it worked. The bytes are in a block
 * of their own, so that reading past them is seen. */
static int survives(const unsigned char *bytes, size_t length, cellar_data_format format)
{
    unsigned char *copy = cellar_alloc(length, 1);
    cellar_statfile file;
    char **names;
    size_t n_names;
    uint64_t n_rows = 0;
    cellar_error err = {""};
    cellar_status status;

    assert_non_null(copy);
    memcpy(copy, bytes, length);
    cellar_statfile_open_memory(copy, length, format, &file);
    if (cellar_statfile_list_columns(&file, &names, &n_names, &err) == CELLAR_OK)
        cellar_columns_free(names, n_names);
    status = cellar_statfile_read_rows(&file, wanted, 4, count_row, &n_rows, &err);
    assert_true(status == CELLAR_OK || err.message[0] != '\0');
    cellar_free(copy);
    return status == CELLAR_OK && n_rows == 3 * N_STAT_PEOPLE;
}

/* Where all the rows come out of a cut file, the cut is behind them: in the labels of Stata, in
 * the padding of the two formats made for tapes. A cut may never invent or silently lose rows
 * where the file says how many it has. */
static void test_cut(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        const stat_kind *kind = &stat_kinds[k];
        int tail = kind->format != CELLAR_DATA_SAV && kind->format != CELLAR_DATA_SAS;
        int whole_before = 0;
        stat_file bytes;
        size_t step;
        stat_make(kind, 3, &bytes);
        step = bytes.length / 700 + 1;
        for (size_t length = 0; length < bytes.length; length += step) {
            int whole = survives(bytes.bytes, length, kind->format);
            assert_true(!whole || tail);
            assert_true(whole >= whole_before);
            whole_before = whole;
        }
        assert_true(survives(bytes.bytes, bytes.length, kind->format));
        stat_file_clear(&bytes);
    }
}

/* A transport file is made of records of 80 bytes: a cut anywhere else is seen. */
static void test_cut_transport(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        stat_file bytes;
        if (stat_kinds[k].format != CELLAR_DATA_XPT)
            continue;
        stat_make(&stat_kinds[k], 3, &bytes);
        for (size_t cut = 1; cut <= 240; cut++) {
            cellar_statfile file;
            cellar_error err = {""};
            uint64_t n_rows = 0;
            cellar_statfile_open_memory(bytes.bytes, bytes.length - cut, CELLAR_DATA_XPT, &file);
            if (cut % 80 != 0)
                assert_int_equal(
                    cellar_statfile_read_rows(&file, wanted, 4, count_row, &n_rows, &err),
                    CELLAR_ERR_INPUT);
        }
        stat_file_clear(&bytes);
    }
}

static void test_changed_bytes(void **state)
{
    uint32_t seed = 7;
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        stat_file bytes;
        stat_make(&stat_kinds[k], 3, &bytes);
        for (int i = 0; i < 300; i++) {
            size_t at;
            unsigned char before;
            seed = seed * 1664525u + 1013904223u;
            at = (seed >> 4) % bytes.length;
            before = bytes.bytes[at];
            bytes.bytes[at] = (unsigned char) (seed >> 24);
            survives(bytes.bytes, bytes.length, stat_kinds[k].format);
            bytes.bytes[at] = before;
        }
        stat_file_clear(&bytes);
    }
}

/* A file of one format read as any other is an error. */
static void test_wrong_format(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        stat_file bytes;
        stat_make(&stat_kinds[k], 1, &bytes);
        for (size_t other = 0; other < N_STAT_KINDS; other++) {
            cellar_statfile file;
            cellar_error err = {""};
            char **names;
            size_t n_names;
            if (stat_kinds[other].format == stat_kinds[k].format)
                continue;
            cellar_statfile_open_memory(bytes.bytes, bytes.length, stat_kinds[other].format, &file);
            assert_int_not_equal(cellar_statfile_list_columns(&file, &names, &n_names, &err),
                                 CELLAR_OK);
            assert_null(names);
            assert_true(strlen(err.message) > 0);
        }
        stat_file_clear(&bytes);
    }
}

/* ---- files ---------------------------------------------------------------- */

static void test_path(void **state)
{
    char path[] = "cellar-test-XXXXXX.sav";
    const cellar_reader_options sav = {.format = CELLAR_DATA_SAV};
    expectation expected = {.kind = &stat_kinds[0]};
    stat_file bytes;
    char **names;
    size_t n_names;
    double fraction = 0;
    cellar_error err;
    int fd = mkstemps(path, 4);

    (void) state;
    assert_true(fd >= 0);
    stat_make(&stat_kinds[0], 3000, &bytes);
    assert_int_equal(write(fd, bytes.bytes, bytes.length), (ssize_t) bytes.length);
    assert_int_equal(cellar_statfile_columns(path, &sav, &names, &n_names, &err), CELLAR_OK);
    assert_int_equal(n_names, 3);
    cellar_columns_free(names, n_names);
    assert_int_equal(
        cellar_statfile_read(path, &sav, wanted, 4, expect_row, &expected, &fraction, &err),
        CELLAR_OK);
    assert_int_equal(expected.n_rows, 3000 * N_STAT_PEOPLE);
    assert_true(fraction == 1);
    assert_int_equal(pwrite(fd, "\x1f\x8b", 2, 0), 2);
    assert_int_equal(cellar_statfile_columns(path, &sav, &names, &n_names, &err),
                     CELLAR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "gzipped"));
    close(fd);
    unlink(path);
    stat_file_clear(&bytes);
}

static void test_bad_paths(void **state)
{
    const cellar_reader_options dta = {.format = CELLAR_DATA_DTA};
    static const struct {
        const char *path;
        cellar_status status;
        const char *message;
    } cases[] = {
        {"no/such.dta", CELLAR_ERR_IO,
         "no/such.dta: cannot open the file: No such file or directory"},
        {"-", CELLAR_ERR_UNSUPPORTED,
         "a Stata file cannot be read from standard input; give the name of a file"},
        {".", CELLAR_ERR_INPUT, ".: a Stata file is read out of order and must be a regular file"},
        {"/dev/null", CELLAR_ERR_INPUT,
         "/dev/null: a Stata file is read out of order and must be a regular file"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char **names;
        size_t n_names;
        cellar_error err;
        assert_int_equal(cellar_statfile_columns(cases[i].path, &dta, &names, &n_names, &err),
                         cases[i].status);
        assert_string_equal(err.message, cases[i].message);
        assert_null(names);
    }
}

#ifdef CELLAR_FAIL_ALLOCATION
static void test_no_memory(void **state)
{
    stat_file bytes;
    cellar_statfile file;
    cellar_error err;
    cellar_status status;
    int64_t allowed = 0;

    (void) state;
    stat_make(&stat_kinds[0], 1, &bytes);
    cellar_statfile_open_memory(bytes.bytes, bytes.length, CELLAR_DATA_SAV, &file);
    do {
        expectation expected = {.kind = &stat_kinds[0]};
        char **names;
        size_t n_names;
        cellar_memory_fail_after(allowed++);
        status = cellar_statfile_list_columns(&file, &names, &n_names, &err);
        if (status == CELLAR_OK) {
            cellar_columns_free(names, n_names);
            status = cellar_statfile_read_rows(&file, wanted, 4, expect_row, &expected, &err);
        }
        assert_true(status == CELLAR_OK || status == CELLAR_ERR_MEMORY);
    } while (status != CELLAR_OK);
    cellar_memory_fail_after(-1);
    assert_true(allowed > 8);
    stat_file_clear(&bytes);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_by_name),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_columns_asked_for),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cut_transport),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_wrong_format),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_bad_paths),
#ifdef CELLAR_FAIL_ALLOCATION
        cmocka_unit_test(test_no_memory),
#endif
    };
    stat_find_program();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
