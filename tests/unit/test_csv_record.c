/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/csv_record.h"

/* All records of `bytes` as "a|b/c|d/", a quoted field written 'a', an error as "!message". */
static void render(const char *bytes, size_t length, char delimiter, cellar_text *out)
{
    cellar_csv csv;
    cellar_error err;
    int found;

    cellar_text_reset(out);
    cellar_csv_init(&csv, "f", bytes, length, delimiter);
    for (;;) {
        if (cellar_csv_next(&csv, &found, &err) != CELLAR_OK) {
            cellar_text_printf(out, "!%s", err.message);
            break;
        }
        if (!found)
            break;
        for (size_t i = 0; i < csv.n_fields; i++) {
            const char *quote = csv.fields[i].quoted ? "'" : "";
            cellar_text_printf(out, "%s%s%.*s%s", i > 0 ? "|" : "", quote,
                               (int) csv.fields[i].length, csv.fields[i].bytes, quote);
        }
        cellar_text_add_char(out, '/');
    }
    cellar_csv_clear(&csv);
}

static const struct {
    const char *label, *input;
    size_t length; /* 0: strlen */
    const char *want;
} cases[] = {
    {"nothing", "", 0, ""},
    {"plain", "a,b\nc,d\n", 0, "a|b/c|d/"},
    {"no last line end", "a,b\nc,d", 0, "a|b/c|d/"},
    {"CRLF", "a,b\r\nc,d\r\n", 0, "a|b/c|d/"},
    {"BOM",
     "\xef\xbb\xbf"
     "a,b",
     0, "a|b/"},
    {"only BOM", "\xef\xbb\xbf", 0, ""},
    {"BOM before a quote", "\xef\xbb\xbf\"a\",b", 0, "'a'|b/"},
    {"empty fields", ",\n,", 0, "|/|/"},
    {"empty at the very end", "a,", 0, "a|/"},
    {"quoted empty", "\"\",a", 0, "''|a/"},
    {"quoted delimiter", "\"a,b\",c", 0, "'a,b'|c/"},
    {"doubled quotes", "\"a\"\"b\",\"\"\"\"", 0, "'a\"b'|'\"'/"},
    {"doubled and plain quoted", "\"a\"\"\",\"b\",\"\"\"c\"", 0, "'a\"'|'b'|'\"c'/"},
    {"embedded line ends", "\"a\nb\r\nc\",d\ne,f", 0, "'a\nb\r\nc'|d/e|f/"},
    {"quoted lone CR", "\"a\rb\"", 0, "'a\rb'/"},
    {"empty lines", "\n\r\na\n\n\r\nb\n\n", 0, "a/b/"},
    {"blanks are text", " a ,\tb", 0, " a |\tb/"},
    {"umlaut", "\xc3\xa4,\"\xe2\x82\xac\"", 0, "\xc3\xa4|'\xe2\x82\xac'/"},
    {"ragged", "a,b\nc\n", 0, "a|b/!f:2: 1 fields, but the first line has 2"},
    {"ragged after lines", "a,b\n\"x\ny\",z\nc,d,e\n", 0,
     "a|b/'x\ny'|z/!f:4: 3 fields, but the first line has 2"},
    {"bare quote", "a,b\"c\n", 0,
     "!f:1: column 2: a quote inside an unquoted field; quote the field and double the quotes in "
     "it"},
    {"text after a quote", "\n\"a\"b,c\n", 0,
     "!f:2: column 1: text after the closing quote; double the quotes inside a quoted field"},
    {"open quote", "a,b\nc,\"d\ne\n", 0,
     "a|b/!f:2: column 2: the quote opened here is never closed"},
    {"open quote at the end", "\"", 0, "!f:1: column 1: the quote opened here is never closed"},
    {"open doubled quote", "\"\"\"", 0, "!f:1: column 1: the quote opened here is never closed"},
    {"lone CR", "a\rb", 0, "!f:1: column 1: a carriage return without a line feed"},
    {"CR at the end", "a\r", 0, "!f:1: column 1: a carriage return without a line feed"},
    {"NUL", "a,b\0c", 5, "!f:1: column 2: holds a NUL byte"},
    {"quoted NUL", "\"b\0c\"", 5, "!f:1: column 1: holds a NUL byte"},
    {"Latin-1", "a,\xe4\n", 0, "!f:1: column 2: is not valid UTF-8"},
    {"quoted Latin-1", "\"\xe4\"", 0, "!f:1: column 1: is not valid UTF-8"},
};

static void test_records(void **state)
{
    cellar_text got = {0};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = cases[i].length > 0 ? cases[i].length : strlen(cases[i].input);
        render(cases[i].input, length, ',', &got);
        if (strcmp(got.bytes != NULL ? got.bytes : "", cases[i].want) != 0)
            fail_msg("%s: got \"%s\"", cases[i].label, got.bytes);
    }
    render("a;b,c\n", 6, ';', &got);
    assert_string_equal(got.bytes, "a|b,c/");
    cellar_text_clear(&got);
}

static void test_lines_of_fields(void **state)
{
    static const char bytes[] = "h,i,j\r\n\"a\nb\",\"c\n\",d\ne,f,g";
    cellar_csv csv;
    cellar_error err;
    int found;
    (void) state;

    cellar_csv_init(&csv, "f", bytes, sizeof bytes - 1, ',');
    assert_int_equal(cellar_csv_read_header(&csv, &err), CELLAR_OK);
    assert_int_equal(cellar_csv_find_column(&csv, "j"), 2);
    assert_true(cellar_csv_find_column(&csv, "k") == CELLAR_CSV_NO_COLUMN);
    assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
    assert_int_equal(csv.fields[0].line, 2);
    assert_int_equal(csv.fields[1].line, 3);
    assert_int_equal(csv.fields[2].line, 4);
    assert_int_equal(cellar_csv_line(&csv), 2);
    assert_int_equal(cellar_csv_fail(&csv, 2, &err, "is %d", 7), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "f:4: column 'j': is 7");
    assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
    assert_int_equal(cellar_csv_line(&csv), 5);
    assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
    assert_int_equal(found, 0);
    cellar_csv_clear(&csv);
}

static void test_headers(void **state)
{
    static const struct {
        const char *input, *want;
    } headers[] = {
        {"", "f: is empty; a header was expected"},
        {"a,,b", "f:1: column 2 has no name"},
        {"a,b,a", "f:1: columns 1 and 3 have the same name"},
    };
    cellar_csv csv;
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        cellar_csv_init(&csv, "f", headers[i].input, strlen(headers[i].input), ',');
        assert_int_equal(cellar_csv_read_header(&csv, &err), CELLAR_ERR_INPUT);
        assert_string_equal(err.message, headers[i].want);
        cellar_csv_clear(&csv);
    }
}

static void test_too_many_columns(void **state)
{
    char commas[CELLAR_CSV_MAX_COLUMNS + 1];
    cellar_csv csv;
    cellar_error err;
    int found;
    (void) state;

    memset(commas, ',', sizeof commas);
    cellar_csv_init(&csv, "f", commas, CELLAR_CSV_MAX_COLUMNS - 1, ',');
    assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
    assert_int_equal(csv.n_fields, CELLAR_CSV_MAX_COLUMNS);
    cellar_csv_clear(&csv);
    cellar_csv_init(&csv, "f", commas, CELLAR_CSV_MAX_COLUMNS, ',');
    assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_ERR_INPUT);
    cellar_csv_clear(&csv);
}

/* Every string over an alphabet of trouble comes back as it was written. */
static void test_round_trip(void **state)
{
    static const char alphabet[] = {'a', ',', '"', '\n', '\r', ' ', '='};
    enum { N = sizeof alphabet, LENGTH = 5 };
    cellar_text text = {0};
    char field[LENGTH + 1];
    (void) state;

    for (size_t length = 0; length <= LENGTH; length++) {
        size_t n_strings = 1;
        for (size_t k = 0; k < length; k++)
            n_strings *= N;
        for (size_t s = 0; s < n_strings; s++) {
            cellar_csv csv;
            cellar_error err;
            size_t rest = s;
            int found;
            for (size_t k = 0; k < length; k++, rest /= N)
                field[k] = alphabet[rest % N];
            field[length] = '\0';
            cellar_text_reset(&text);
            cellar_csv_add_field(&text, field, ',');
            cellar_text_add_char(&text, ',');
            cellar_csv_add_field(&text, field, ',');
            cellar_text_add_char(&text, '\n');
            cellar_csv_init(&csv, "f", text.bytes, text.length, ',');
            assert_int_equal(cellar_csv_next(&csv, &found, &err), CELLAR_OK);
            assert_int_equal(csv.n_fields, 2);
            assert_true(cellar_csv_field_is(&csv.fields[0], field));
            assert_true(cellar_csv_field_is(&csv.fields[1], field));
            cellar_csv_clear(&csv);
        }
    }
    cellar_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),    cmocka_unit_test(test_lines_of_fields),
        cmocka_unit_test(test_headers),    cmocka_unit_test(test_too_many_columns),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
