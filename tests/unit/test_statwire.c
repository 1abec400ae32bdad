/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of cellar-statread as a hostile file could make it give them: cut anywhere, too long, out
 * of place, and never ending. */
#include "check.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "data/statwire.h"

/* ---- frames ----------------------------------------------------------------- */

static void add_frame(cellar_text *out, char kind, const void *bytes, uint32_t length)
{
    cellar_text_add_char(out, kind);
    cellar_text_add(out, (const char *) &length, sizeof length);
    cellar_text_add(out, bytes, length);
}

static void add_u32(cellar_text *out, uint32_t value)
{
    cellar_text_add(out, (const char *) &value, sizeof value);
}

static void add_row(cellar_text *out, const char *first, const char *second)
{
    cellar_text row = {0};
    const char *fields[] = {first, second};
    for (int i = 0; i < 2; i++) {
        add_u32(&row, fields[i] != NULL ? (uint32_t) strlen(fields[i]) : CELLAR_STATWIRE_MISSING);
        if (fields[i] != NULL)
            cellar_text_add_string(&row, fields[i]);
    }
    add_frame(out, CELLAR_STATWIRE_ROW, row.bytes, (uint32_t) row.length);
    cellar_text_clear(&row);
}

static void add_label(cellar_text *out, uint64_t column, const char *code, const char *label)
{
    cellar_text frame = {0};
    cellar_text_add(&frame, (const char *) &column, sizeof column);
    add_u32(&frame, (uint32_t) strlen(code));
    cellar_text_add_string(&frame, code);
    cellar_text_add_string(&frame, label);
    add_frame(out, CELLAR_STATWIRE_LABEL, frame.bytes, (uint32_t) frame.length);
    cellar_text_clear(&frame);
}

static void add_advance(cellar_text *out, uint64_t furthest)
{
    add_frame(out, CELLAR_STATWIRE_ADVANCE, &furthest, sizeof furthest);
}

static void add_fault(cellar_text *out, uint32_t status, const char *sentence)
{
    cellar_text frame = {0};
    add_u32(&frame, status);
    cellar_text_add_string(&frame, sentence);
    add_frame(out, CELLAR_STATWIRE_FAULT, frame.bytes, (uint32_t) frame.length);
    cellar_text_clear(&frame);
}

static void add_end(cellar_text *out)
{
    add_frame(out, CELLAR_STATWIRE_END, "", 0);
}

/* ---- reading them ------------------------------------------------------------ */

static cellar_status read_columns(const char *bytes, size_t length, size_t *n, cellar_error *err)
{
    cellar_statwire wire;
    char **names;
    cellar_status status;

    cellar_statwire_open_memory(bytes, length, &wire);
    status = cellar_statwire_read_columns(&wire, 3, &names, n, err);
    assert_int_equal(status == CELLAR_OK, names != NULL);
    if (status == CELLAR_OK)
        cellar_columns_free(names, *n);
    cellar_statwire_clear(&wire);
    return status;
}

static cellar_status keep_row(void *context, const cellar_field *fields, uint64_t row_index,
                              cellar_error *err)
{
    cellar_text *seen = context;
    (void) row_index;
    (void) err;
    for (int i = 0; i < 2; i++) {
        cellar_text_add_string(seen, fields[i].missing ? "-" : "");
        cellar_text_add(seen, fields[i].text, fields[i].length);
        cellar_text_add_char(seen, i == 0 ? ',' : ';');
    }
    return CELLAR_OK;
}

static cellar_status read_rows(const char *bytes, size_t length, cellar_text *seen,
                               cellar_error *err)
{
    cellar_statwire wire;
    cellar_status status;
    cellar_statwire_open_memory(bytes, length, &wire);
    cellar_text_reset(seen);
    cellar_text_add_string(seen, "");
    status = cellar_statwire_read_rows(&wire, 2, keep_row, seen, NULL, err);
    cellar_statwire_clear(&wire);
    return status;
}

static cellar_status read_labels(const char *bytes, size_t length, size_t n_codes[2],
                                 cellar_error *err)
{
    cellar_codelist *lists[2];
    cellar_statwire wire;
    cellar_status status;
    cellar_statwire_open_memory(bytes, length, &wire);
    status = cellar_statwire_read_labels(&wire, 2, lists, err);
    for (int i = 0; i < 2; i++) {
        assert_true(status == CELLAR_OK || lists[i] == NULL);
        n_codes[i] = lists[i] != NULL ? cellar_codelist_n_codes(lists[i]) : 0;
        cellar_codelist_free(lists[i]);
    }
    cellar_statwire_clear(&wire);
    return status;
}

/* ---- good answers, and the same cut anywhere ---------------------------------- */

static void test_columns(void **state)
{
    cellar_text out = {0};
    cellar_error err;
    size_t n;

    (void) state;
    add_frame(&out, CELLAR_STATWIRE_NAME, "AGE", 3);
    add_advance(&out, 100);
    add_frame(&out, CELLAR_STATWIRE_NAME, "", 0);
    add_end(&out);
    assert_int_equal(read_columns(out.bytes, out.length, &n, &err), CELLAR_OK);
    assert_int_equal(n, 2);
    for (size_t length = 0; length < out.length; length++)
        assert_int_equal(read_columns(out.bytes, length, &n, &err), CELLAR_ERR_IO);
    cellar_text_clear(&out);
}

static void test_rows(void **state)
{
    cellar_text out = {0}, seen = {0};
    cellar_error err;

    (void) state;
    add_row(&out, "1", "abc");
    add_advance(&out, 1);
    add_row(&out, NULL, "");
    add_end(&out);
    assert_int_equal(read_rows(out.bytes, out.length, &seen, &err), CELLAR_OK);
    assert_string_equal(seen.bytes, "1,abc;-,;");
    for (size_t length = 0; length < out.length; length++)
        assert_int_equal(read_rows(out.bytes, length, &seen, &err), CELLAR_ERR_IO);
    cellar_text_clear(&seen);
    cellar_text_clear(&out);
}

static void test_labels(void **state)
{
    cellar_text out = {0};
    cellar_error err;
    size_t n[2];

    (void) state;
    add_label(&out, 1, "1", "man");
    add_label(&out, 1, "2", "");
    add_end(&out);
    assert_int_equal(read_labels(out.bytes, out.length, n, &err), CELLAR_OK);
    assert_int_equal(n[0], 0);
    assert_int_equal(n[1], 2);
    for (size_t length = 0; length < out.length; length++)
        assert_int_equal(read_labels(out.bytes, length, n, &err), CELLAR_ERR_IO);
    cellar_text_clear(&out);
}

/* ---- faults -------------------------------------------------------------------- */

static void test_faults(void **state)
{
    static const struct {
        uint32_t status;
        const char *sentence;
        cellar_status want;
        const char *message;
    } cases[] = {
        {CELLAR_ERR_INPUT, "not an SPSS file", CELLAR_ERR_INPUT, "memory: not an SPSS file"},
        {CELLAR_ERR_MEMORY, "whatever", CELLAR_ERR_MEMORY, "--reader-memory-mib"},
        {CELLAR_OK, "all is well", CELLAR_ERR_INPUT, "nonsense"},
        {CELLAR_ERR_BUDGET, "spent", CELLAR_ERR_INPUT, "nonsense"},
        {4711, "no such status", CELLAR_ERR_INPUT, "nonsense"},
        {CELLAR_ERR_INPUT, "", CELLAR_ERR_INPUT, "nonsense"},
        {CELLAR_ERR_INPUT, "two\nlines", CELLAR_ERR_INPUT, "nonsense"},
        {CELLAR_ERR_INPUT, "\033[2J", CELLAR_ERR_INPUT, "nonsense"},
        {CELLAR_ERR_INPUT, "\xff", CELLAR_ERR_INPUT, "nonsense"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_text out = {0};
        cellar_error err;
        size_t n;
        add_fault(&out, cases[i].status, cases[i].sentence);
        assert_int_equal(read_columns(out.bytes, out.length, &n, &err), cases[i].want);
        assert_non_null(strstr(err.message, cases[i].message));
        cellar_text_clear(&out);
    }
}

/* ---- nonsense ------------------------------------------------------------------ */

static void expect_nonsense_rows(cellar_text *out)
{
    cellar_text seen = {0};
    cellar_error err;
    add_end(out);
    assert_int_equal(read_rows(out->bytes, out->length, &seen, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "nonsense"));
    cellar_text_clear(&seen);
    cellar_text_clear(out);
}

static void test_nonsense_rows(void **state)
{
    static const char huge[] = {CELLAR_STATWIRE_ROW, '\xff', '\xff', '\xff', '\xff'};
    cellar_text out = {0};
    uint32_t fields[] = {0, 1}, too_many[] = {0, 0, 0}, far[] = {UINT32_MAX - 1, 0};

    (void) state;
    cellar_text_add(&out, huge, sizeof huge); /* longer than any frame */
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_ROW, "", 0); /* no fields */
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_ROW, fields, sizeof fields); /* a byte short */
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_ROW, too_many, sizeof too_many);
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_ROW, far, sizeof far); /* a field that ends far away */
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_NAME, "AGE", 3); /* not what was asked for */
    expect_nonsense_rows(&out);
    add_frame(&out, 'x', "", 0);
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_END, "x", 1);
    expect_nonsense_rows(&out);
    add_frame(&out, CELLAR_STATWIRE_ADVANCE, "x", 1);
    expect_nonsense_rows(&out);
    add_advance(&out, 5);
    add_advance(&out, 5); /* no further: could go on for ever */
    expect_nonsense_rows(&out);
    add_advance(&out, UINT64_MAX); /* beyond the end of any file */
    expect_nonsense_rows(&out);
}

static void test_nonsense_names(void **state)
{
    static const struct {
        const char *name;
        uint32_t length;
    } bad[] = {{"A\0B", 3}, {"\xc3", 1}, {"\xff", 1}};
    cellar_error err;
    size_t n;

    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_text out = {0};
        add_frame(&out, CELLAR_STATWIRE_NAME, bad[i].name, bad[i].length);
        add_end(&out);
        assert_int_equal(read_columns(out.bytes, out.length, &n, &err), CELLAR_ERR_INPUT);
        cellar_text_clear(&out);
    }
}

static void test_how_many_columns(void **state)
{
    cellar_text out = {0};
    cellar_error err;
    size_t n;

    (void) state;
    add_end(&out); /* none */
    assert_int_equal(read_columns(out.bytes, out.length, &n, &err), CELLAR_ERR_INPUT);
    cellar_text_reset(&out);
    for (int i = 0; i < 4; i++)
        add_frame(&out, CELLAR_STATWIRE_NAME, "A", 1);
    add_end(&out);
    assert_int_equal(read_columns(out.bytes, out.length, &n, &err), CELLAR_ERR_MEMORY);
    assert_string_equal(err.message, "memory: the file has more than 3 columns; --max-columns "
                                     "raises that limit");
    cellar_text_clear(&out);
}

static void test_nonsense_labels(void **state)
{
    static const struct {
        uint64_t column;
        const char *code, *label;
    } bad[] = {
        {2, "1", "x"}, {UINT64_MAX, "1", "x"}, {0, "", "x"}, {0, "\xff", "x"}, {0, "1", "\xff"}};
    cellar_error err;
    size_t n[2];

    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_text out = {0};
        add_label(&out, bad[i].column, bad[i].code, bad[i].label);
        add_end(&out);
        assert_int_equal(read_labels(out.bytes, out.length, n, &err), CELLAR_ERR_INPUT);
        cellar_text_clear(&out);
    }
}

/* ---- a program that says nothing ------------------------------------------------ */

static void test_stall(void **state)
{
    cellar_statwire wire;
    cellar_error err;
    char **names;
    size_t n;
    int ends[2];

    (void) state;
    assert_int_equal(pipe(ends), 0);
    cellar_statwire_open("a.sav", CELLAR_DATA_SAV, 100, ends[0], 5, &wire);
    assert_int_equal(cellar_statwire_read_columns(&wire, 10, &names, &n, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "made no progress"));
    assert_false(wire.over);
    close(ends[1]);
    assert_int_equal(cellar_statwire_read_columns(&wire, 10, &names, &n, &err), CELLAR_ERR_IO);
    assert_true(wire.over);
    cellar_statwire_clear(&wire);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_nonsense_rows),
        cmocka_unit_test(test_nonsense_names),
        cmocka_unit_test(test_how_many_columns),
        cmocka_unit_test(test_nonsense_labels),
        cmocka_unit_test(test_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
