/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Value labels become code lists: values as codes, in their order, missing values left out. */
#include "stat_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "statread/parse.h"

static cellar_status add_label(void *context, size_t column, const char *code, const char *label,
                               cellar_error *err)
{
    cellar_codelist **list = context;
    cellar_status status = *list == NULL ? cellar_codelist_create(list, err) : CELLAR_OK;
    assert_int_equal(column, 0);
    if (status == CELLAR_OK)
        status = cellar_codelist_add(*list, code, label[0] != '\0' ? label : NULL, NULL,
                                     CELLAR_CODE_PLAIN, err);
    return status;
}

static cellar_status labels_of(const unsigned char *bytes, size_t length, cellar_data_format format,
                               size_t column, cellar_codelist **list, cellar_error *err)
{
    cellar_statfile file;
    cellar_status status;
    cellar_statfile_open_memory(bytes, length, format, &file);
    *list = NULL;
    status = cellar_statfile_list_labels(&file, &column, 1, add_label, list, err);
    if (status == CELLAR_OK && *list != NULL)
        status = cellar_codelist_finish(*list, err);
    if (status != CELLAR_OK) {
        cellar_codelist_free(*list);
        *list = NULL;
    }
    return status;
}

static void expect_code(const cellar_codelist *list, size_t i, const char *code, const char *label)
{
    assert_string_equal(cellar_codelist_code(list, i), code);
    assert_string_equal(cellar_codelist_label(list, i, 0), label);
    assert_int_equal(cellar_codelist_role(list, i), CELLAR_CODE_PLAIN);
}

/* The common file: labels on SEX only; 9 is a category unless the file declares it missing. */
static void test_every_format(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        const stat_kind *kind = &stat_kinds[k];
        int labelled = stat_kind_is_spss(kind) || kind->format == CELLAR_DATA_DTA;
        stat_file bytes;
        cellar_codelist *list;
        cellar_error err;
        stat_make(kind, 2, &bytes);
        for (size_t column = 0; column < 4; column++) {
            size_t n_want = column != 1 || !labelled ? 0 : stat_kind_is_spss(kind) ? 2 : 3;
            assert_int_equal(
                labels_of(bytes.bytes, bytes.length, kind->format, column, &list, &err), CELLAR_OK);
            assert_int_equal(list != NULL, n_want > 0);
            if (list == NULL)
                continue;
            assert_int_equal(cellar_codelist_n_codes(list), n_want);
            expect_code(list, 0, "1", "man");
            expect_code(list, 1, "2", "woman");
            if (n_want == 3)
                expect_code(list, 2, "9", "refused");
            cellar_codelist_free(list);
        }
        stat_file_clear(&bytes);
    }
}

/* A file without rows whose single column has the labels given. */
typedef struct labelled {
    double value;
    const char *text; /* a text value, when not NULL */
    char tag;         /* a tagged missing value, when not 0 */
    const char *label;
} labelled;

static void make_labelled(const stat_kind *kind, const labelled *labels, size_t n, stat_file *file)
{
    int is_text = labels[0].text != NULL, is_stata = kind->format == CELLAR_DATA_DTA;
    readstat_type_t number = is_stata ? READSTAT_TYPE_INT32 : READSTAT_TYPE_DOUBLE;
    readstat_type_t type = is_text ? READSTAT_TYPE_STRING : number;
    readstat_writer_t *writer = stat_writer();
    readstat_variable_t *v = readstat_add_variable(writer, "V", type, is_text ? 8 : 0);
    readstat_label_set_t *set = readstat_add_label_set(writer, type, "set");
    for (size_t i = 0; i < n; i++) {
        if (is_text)
            readstat_label_string_value(set, labels[i].text, labels[i].label);
        else if (labels[i].tag != 0)
            readstat_label_tagged_value(set, labels[i].tag, labels[i].label);
        else if (is_stata)
            readstat_label_int32_value(set, (int32_t) labels[i].value, labels[i].label);
        else
            readstat_label_double_value(set, labels[i].value, labels[i].label);
    }
    readstat_variable_set_label_set(v, set);
    if (is_text)
        readstat_variable_add_missing_string_value(v, "na");
    else if (!is_stata)
        readstat_variable_add_missing_double_range(v, 90, 99);
    stat_begin(writer, kind, 1, file);
    assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
    readstat_insert_missing_value(writer, v);
    assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    stat_end(writer);
}

static void test_order_and_missing(void **state)
{
    static const labelled numbers[] = {
        {10, NULL, 0, "ten"},
        {2, NULL, 0, "two"},
        {95, NULL, 0, "don't know"},
        {-1, NULL, 0, "=cmd|' /C calc'!A0"},
        {2.5, NULL, 0, "a \"half\",\nnewline"},
        {1e6, NULL, 0, "Z\xc3\xbcrich"},
    };
    stat_file bytes;
    cellar_codelist *list;
    cellar_error err;

    (void) state;
    for (size_t k = 0; k < 3; k++) {
        make_labelled(&stat_kinds[k], numbers, 6, &bytes);
        assert_int_equal(labels_of(bytes.bytes, bytes.length, CELLAR_DATA_SAV, 0, &list, &err),
                         CELLAR_OK);
        assert_non_null(list);
        assert_int_equal(cellar_codelist_n_codes(list), 5);
        expect_code(list, 0, "-1", "=cmd|' /C calc'!A0");
        expect_code(list, 1, "2", "two");
        expect_code(list, 2, "2.5", "a \"half\",\nnewline");
        expect_code(list, 3, "10", "ten");
        expect_code(list, 4, "1000000", "Z\xc3\xbcrich");
        cellar_codelist_free(list);
        stat_file_clear(&bytes);
    }
}

static void test_text_values(void **state)
{
    static const labelled texts[] = {
        {0, "m", 0, "man"}, {0, "na", 0, "not told"}, {0, "f", 0, "woman"}, {0, "Z", 0, "other"}};
    stat_file bytes;
    cellar_codelist *list;
    cellar_error err;

    (void) state;
    make_labelled(&stat_kinds[0], texts, 4, &bytes);
    assert_int_equal(labels_of(bytes.bytes, bytes.length, CELLAR_DATA_SAV, 0, &list, &err),
                     CELLAR_OK);
    assert_non_null(list);
    assert_int_equal(cellar_codelist_n_codes(list), 3);
    expect_code(list, 0, "Z", "other");
    expect_code(list, 1, "f", "woman");
    expect_code(list, 2, "m", "man");
    cellar_codelist_free(list);
    stat_file_clear(&bytes);
}

/* Stata: tagged missing values are no categories; doubled values and empty labels are tamed. */
static void test_stata(void **state)
{
    static const labelled values[] = {
        {0, NULL, 'a', "refused"}, {3, NULL, 0, ""},      {1, NULL, 0, ""},
        {1, NULL, 0, "one"},       {1, NULL, 0, "again"}, {2, NULL, 0, "one"},
    };
    stat_file bytes;
    cellar_codelist *list;
    cellar_error err;

    (void) state;
    make_labelled(&stat_kinds[7], values, 6, &bytes);
    assert_int_equal(labels_of(bytes.bytes, bytes.length, CELLAR_DATA_DTA, 0, &list, &err),
                     CELLAR_OK);
    assert_non_null(list);
    assert_int_equal(cellar_codelist_n_codes(list), 3);
    expect_code(list, 0, "1", "one");
    expect_code(list, 1, "2", "one");
    expect_code(list, 2, "3", "3");
    cellar_codelist_free(list);
    stat_file_clear(&bytes);

    make_labelled(&stat_kinds[7], values, 1, &bytes); /* nothing but a missing value */
    assert_int_equal(labels_of(bytes.bytes, bytes.length, CELLAR_DATA_DTA, 0, &list, &err),
                     CELLAR_OK);
    assert_null(list);
    stat_file_clear(&bytes);
}

/* From a cut file come all labels or none: never a list with holes. */
static void test_cut(void **state)
{
    (void) state;
    for (size_t k = 0; k < N_STAT_KINDS; k++) {
        const stat_kind *kind = &stat_kinds[k];
        size_t n_want = stat_kind_is_spss(kind) ? 2 : 3, step;
        stat_file bytes;
        stat_make(kind, 3, &bytes);
        step = bytes.length / 2000 + 1;
        for (size_t length = 0; length < bytes.length; length += step) {
            cellar_codelist *list = NULL;
            cellar_error err = {""};
            cellar_status status = labels_of(bytes.bytes, length, kind->format, 1, &list, &err);
            assert_true(status == CELLAR_OK || (list == NULL && err.message[0] != '\0'));
            assert_true(list == NULL || cellar_codelist_n_codes(list) == n_want);
            cellar_codelist_free(list);
        }
        stat_file_clear(&bytes);
    }
}

static void test_from_labels(void **state)
{
    char path[] = "cellar-test-XXXXXX.dta";
    const cellar_reader_options as_text = {.format = CELLAR_DATA_TEXT};
    stat_file bytes;
    cellar_codelist *list;
    cellar_error err;
    char want[200];
    int fd = mkstemps(path, 4);

    (void) state;
    assert_true(fd >= 0);
    stat_make(&stat_kinds[7], 1, &bytes);
    assert_int_equal(write(fd, bytes.bytes, bytes.length), (ssize_t) bytes.length);
    close(fd);
    assert_int_equal(cellar_codelist_from_labels(path, NULL, "SEX", &list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_n_codes(list), 3);
    cellar_codelist_free(list);
    assert_int_equal(cellar_codelist_from_labels(path, NULL, "PLACE", &list, &err),
                     CELLAR_ERR_INPUT);
    snprintf(want, sizeof want, "%s: column 'PLACE' has no value labels", path);
    assert_string_equal(err.message, want);
    assert_null(list);
    assert_int_equal(cellar_codelist_from_labels(path, NULL, "sex", &list, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "no column 'sex'"));
    assert_int_equal(cellar_codelist_from_labels(path, &as_text, "SEX", &list, &err),
                     CELLAR_ERR_INPUT);
    assert_int_equal(cellar_codelist_from_labels("people.csv", NULL, "SEX", &list, &err),
                     CELLAR_ERR_INPUT);
    assert_int_equal(cellar_codelist_from_labels("no/such.sav", NULL, "SEX", &list, &err),
                     CELLAR_ERR_IO);
    unlink(path);
    stat_file_clear(&bytes);
}

#ifdef CELLAR_FAIL_ALLOCATION
static void test_no_memory(void **state)
{
    stat_file bytes;
    cellar_codelist *list;
    cellar_error err;
    cellar_status status;
    int64_t allowed = 0;

    (void) state;
    stat_make(&stat_kinds[0], 1, &bytes);
    do {
        cellar_memory_fail_after(allowed++);
        status = labels_of(bytes.bytes, bytes.length, CELLAR_DATA_SAV, 1, &list, &err);
        assert_true(status == CELLAR_OK || (status == CELLAR_ERR_MEMORY && list == NULL));
    } while (status != CELLAR_OK);
    cellar_memory_fail_after(-1);
    assert_true(allowed > 5);
    cellar_codelist_free(list);
    stat_file_clear(&bytes);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format), cmocka_unit_test(test_order_and_missing),
        cmocka_unit_test(test_text_values),  cmocka_unit_test(test_stata),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_from_labels),
#ifdef CELLAR_FAIL_ALLOCATION
        cmocka_unit_test(test_no_memory),
#endif
    };
    stat_find_program();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
