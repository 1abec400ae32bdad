/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes in three encodings become UTF-8 or are refused whole. */
#include "check.h"

#include <string.h>

#include "data/encoding.h"

enum { UTF8 = CELLAR_ENCODING_UTF8, LATIN1 = CELLAR_ENCODING_LATIN1 };
enum { WINDOWS = CELLAR_ENCODING_WINDOWS1252 };

static const struct {
    int encoding;
    const char *bytes;
    size_t length;
    const char *want; /* NULL: refused */
} cases[] = {
    {UTF8, "", 0, ""},
    {UTF8, "plain", 5, "plain"},
    {UTF8, "Z\xc3\xbcrich \xe2\x82\xac", 11, "Z\xc3\xbcrich \xe2\x82\xac"},
    {UTF8, "\xf0\x9f\x8d\xb7", 4, "\xf0\x9f\x8d\xb7"},
    {UTF8, "Z\xfcrich", 6, NULL},    /* Latin-1 */
    {UTF8, "\xc0\xaf", 2, NULL},     /* overlong */
    {UTF8, "\xed\xa0\x80", 3, NULL}, /* surrogate */
    {UTF8, "\xe2\x82", 2, NULL},     /* cut */
    {UTF8, "a\0b", 3, NULL},
    {LATIN1, "Z\xfcrich\xff", 7, "Z\xc3\xbcrich\xc3\xbf"},
    {LATIN1, "\x80", 1, "\xc2\x80"}, /* a control code, but defined */
    {LATIN1, "\xe9\0", 2, NULL},
    {WINDOWS, "\x80 \x9f \xe9", 5, "\xe2\x82\xac \xc5\xb8 \xc3\xa9"},
    {WINDOWS, "a\x93q\x94", 4, "a\xe2\x80\x9cq\xe2\x80\x9d"},
    {WINDOWS, "ok\xe9\x81", 4, NULL},
    {WINDOWS, "\x8d", 1, NULL},
    {WINDOWS, "\x8f", 1, NULL},
    {WINDOWS, "\x90", 1, NULL},
    {WINDOWS, "\x9d", 1, NULL},
    {WINDOWS, "\0", 1, NULL},
};

static void test_cases(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_text out = {0};
        cellar_text_add_string(&out, "before|");
        int ok = cellar_encoding_to_utf8((cellar_encoding) cases[i].encoding, cases[i].bytes,
                                         cases[i].length, &out);
        assert_int_equal(ok, cases[i].want != NULL);
        assert_false(out.failed);
        assert_memory_equal(out.bytes, "before|", 7);
        assert_string_equal(out.bytes + 7, ok ? cases[i].want : "");
        assert_int_equal(out.length, strlen(out.bytes));
        cellar_text_clear(&out);
    }
}

/* Every single byte: what comes out is valid UTF-8, and distinct bytes give distinct texts. */
static void test_all_bytes(void **state)
{
    (void) state;
    for (int encoding = UTF8; encoding <= WINDOWS; encoding++) {
        char seen[256][8] = {{0}};
        int n_refused = 0;
        for (int b = 0; b < 256; b++) {
            char byte = (char) b;
            cellar_text out = {0};
            if (!cellar_encoding_to_utf8((cellar_encoding) encoding, &byte, 1, &out))
                n_refused++;
            else {
                assert_true(cellar_utf8_valid(out.bytes, out.length));
                memcpy(seen[b], out.bytes, out.length);
                for (int other = 0; other < b; other++)
                    assert_string_not_equal(seen[other], seen[b]);
            }
            cellar_text_clear(&out);
        }
        assert_int_equal(n_refused, encoding == UTF8 ? 129 : encoding == LATIN1 ? 1 : 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
