/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of SPSS, Stata and SAS files as text: numbers, and what only single formats have. */
#include "stat_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/statfile.h"
#include "statread/parse.h"

/* ---- numbers -------------------------------------------------------------- */

static void test_numbers(void **state)
{
    static const struct {
        double number;
        const char *want;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {7, "7"},
        {-12, "-12"},
        {2.5, "2.5"},
        {0.1, "0.1"},
        {-0.1, "-0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {123456.789, "123456.789"},
        {1e-7, "0.0000001"},
        {1.5e-8, "1.5e-8"},
        {99999999999999, "99999999999999"},
        {1e15, "1000000000000000"},
        {9007199254740993.0, "9007199254740992"},
        {-1.25e17, "-125000000000000000"},
        {1e18, "1e18"},
        {1.5e300, "1.5e300"},
        {4.9406564584124654e-324, "4.94065645841247e-324"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_text text = {0};
        cellar_text_add_number(&text, cases[i].number, 0);
        assert_string_equal(text.bytes, cases[i].want);
        assert_true(strtod(text.bytes, NULL) == cases[i].number);
        cellar_text_clear(&text);
    }
}

/* Random bit patterns and random short decimals read back as the same number; a decimal of up to
 * 15 (6) digits comes back as it was written. */
static void test_numbers_read_back(void **state)
{
    uint64_t seed = 42;
    (void) state;
    for (int i = 0; i < 20000; i++) {
        cellar_text text = {0};
        double number;
        float single;
        uint32_t low;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&number, &seed, sizeof number);
        low = (uint32_t) (seed >> 32);
        memcpy(&single, &low, sizeof single);
        if (isfinite(number)) {
            cellar_text_add_number(&text, number, 0);
            assert_true(strtod(text.bytes, NULL) == number);
        }
        if (isfinite(single)) {
            cellar_text_reset(&text);
            cellar_text_add_number(&text, (double) single, 1);
            assert_true(strtof(text.bytes, NULL) == single);
        }
        cellar_text_reset(&text);
        char written[32];
        snprintf(written, sizeof written, "%d.%03d7", (int) (low % 100), (int) (low % 997));
        cellar_text_add_number(&text, (double) strtof(written, NULL), 1);
        assert_string_equal(text.bytes, written);
        cellar_text_clear(&text);
    }
}

/* ---- what single formats have --------------------------------------------- */

typedef struct first_row {
    char text[4][1200];
    int missing[4];
    size_t n;
} first_row;

static cellar_status keep_row(void *context, const cellar_field *fields, uint64_t row_index,
                              cellar_error *err)
{
    first_row *row = context;
    (void) err;
    for (size_t i = 0; row_index == 0 && i < row->n; i++) {
        assert_true(fields[i].length < sizeof row->text[i]);
        memcpy(row->text[i], fields[i].text, fields[i].length + 1);
        row->missing[i] = fields[i].missing;
    }
    return CELLAR_OK;
}

static cellar_status read_first(const stat_file *bytes, cellar_data_format format, size_t n,
                                first_row *row, cellar_error *err)
{
    static const size_t all[] = {0, 1, 2, 3};
    cellar_statfile file;
    *row = (first_row){.n = n};
    cellar_statfile_open_memory(bytes->bytes, bytes->length, format, &file);
    return cellar_statfile_read_rows(&file, all, n, keep_row, row, err);
}

/* Stata: small integers, single precision, tagged missing values, long strings by reference. */
static void test_stata(void **state)
{
    static const stat_kind kind = {".dta", CELLAR_DATA_DTA, 118, READSTAT_COMPRESS_NONE};
    readstat_writer_t *writer = stat_writer();
    readstat_variable_t *v[4];
    stat_file bytes;
    first_row row;
    cellar_error err;

    (void) state;
    v[0] = readstat_add_variable(writer, "small", READSTAT_TYPE_INT8, 0);
    v[1] = readstat_add_variable(writer, "single", READSTAT_TYPE_FLOAT, 0);
    v[2] = readstat_add_variable(writer, "tagged", READSTAT_TYPE_INT32, 0);
    v[3] = readstat_add_variable(writer, "essay", READSTAT_TYPE_STRING_REF, 0);
    readstat_string_ref_t *ref = readstat_add_string_ref(writer, "a Z\xc3\xbcrich of any length  ");
    stat_begin(writer, &kind, 1, &bytes);
    assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
    readstat_insert_int8_value(writer, v[0], -100);
    readstat_insert_float_value(writer, v[1], 0.1f);
    readstat_insert_tagged_missing_value(writer, v[2], 'b');
    readstat_insert_string_ref(writer, v[3], ref);
    readstat_end_row(writer);
    stat_end(writer);
    assert_int_equal(read_first(&bytes, CELLAR_DATA_DTA, 4, &row, &err), CELLAR_OK);
    assert_string_equal(row.text[0], "-100");
    assert_string_equal(row.text[1], "0.1");
    assert_int_equal(row.missing[2], 1);
    assert_string_equal(row.text[3], "a Z\xc3\xbcrich of any length");
    stat_file_clear(&bytes);
}

/* SPSS: strings longer than the format's own 255 bytes, and strings declared missing. */
static void test_spss_strings(void **state)
{
    char text[1001];
    (void) state;
    memset(text, 'x', 1000);
    text[1000] = '\0';
    for (size_t k = 0; k < 3; k++) {
        readstat_writer_t *writer = stat_writer();
        readstat_variable_t *v[3];
        stat_file bytes;
        first_row row;
        cellar_error err;
        v[0] = readstat_add_variable(writer, "LONG", READSTAT_TYPE_STRING, 1000);
        v[1] = readstat_add_variable(writer, "CODE", READSTAT_TYPE_STRING, 4);
        v[2] = readstat_add_variable(writer, "AFTER", READSTAT_TYPE_DOUBLE, 0);
        readstat_variable_add_missing_string_value(v[1], "NA");
        stat_begin(writer, &stat_kinds[k], 1, &bytes);
        assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
        readstat_insert_string_value(writer, v[0], text);
        readstat_insert_string_value(writer, v[1], "NA");
        readstat_insert_double_value(writer, v[2], 3);
        readstat_end_row(writer);
        stat_end(writer);
        assert_int_equal(read_first(&bytes, CELLAR_DATA_SAV, 3, &row, &err), CELLAR_OK);
        assert_string_equal(row.text[0], text);
        assert_int_equal(row.missing[1], 1);
        assert_string_equal(row.text[2], "3");
        stat_file_clear(&bytes);
    }
}

/* Transport files do not tell their encoding: UTF-8 where it is well-formed, else Windows-1252.
 * A Stata file of version 118 is UTF-8 by definition, and nothing else will do. */
static void test_encodings(void **state)
{
    static const struct {
        size_t kind;
        const char *written, *want; /* NULL: an error */
    } cases[] = {
        {0, "Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {10, "Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {10, "Z\xfcrich", "Z\xc3\xbcrich"},
        {10, "\x80", "\xe2\x82\xac"},
        {10, "\x81", NULL},
        {8, "Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {7, "Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {7, "Z\xfcrich", NULL},
        {5, "Z\xfcrich", "Z\xc3\xbcrich"},
        {5, "\xc3\xbc", "\xc3\x83\xc2\xbc"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const stat_kind *kind = &stat_kinds[cases[i].kind];
        readstat_writer_t *writer = stat_writer();
        readstat_variable_t *v = readstat_add_variable(writer, "PLACE", READSTAT_TYPE_STRING, 10);
        stat_file bytes;
        first_row row;
        cellar_error err = {""};
        stat_begin(writer, kind, 1, &bytes);
        assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
        readstat_insert_string_value(writer, v, cases[i].written);
        readstat_end_row(writer);
        stat_end(writer);
        cellar_status status = read_first(&bytes, kind->format, 1, &row, &err);
        assert_int_equal(status, cases[i].want != NULL ? CELLAR_OK : CELLAR_ERR_INPUT);
        if (cases[i].want != NULL)
            assert_string_equal(row.text[0], cases[i].want);
        stat_file_clear(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_stata),     cmocka_unit_test(test_spss_strings),
        cmocka_unit_test(test_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
