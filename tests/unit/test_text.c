/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_growing(void **state)
{
    cellar_text text = {0};
    (void) state;
    cellar_text_add(&text, NULL, 0);
    assert_string_equal(text.bytes, "");
    for (int i = 0; i < 1000; i++) {
        cellar_text_add_string(&text, "ab");
        cellar_text_add_char(&text, 'c');
        cellar_text_printf(&text, "%d;", i);
    }
    assert_int_equal(text.length, 1000 * 4 + 10 + 90 * 2 + 900 * 3);
    assert_int_equal(strlen(text.bytes), text.length);
    assert_memory_equal(text.bytes, "abc0;abc1;", 10);
    cellar_text_reset(&text);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.bytes, "");
    cellar_text_add(&text, "a\0b", 3);
    assert_memory_equal(text.bytes, "a\0b", 4);
    cellar_text_add(&text, "x", SIZE_MAX); /* does not fit: remembered, and nothing follows */
    assert_true(text.failed);
    cellar_text_add_string(&text, "more");
    assert_int_equal(text.length, 3);
    cellar_text_clear(&text);
    assert_null(text.bytes);
    assert_false(text.failed);
}

/* ---- UTF-8 ---- */

/* The definition itself: a sequence is valid iff it is what encoding its code point gives. */
static int utf8_naive(const unsigned char *p, size_t n)
{
    uint32_t point;
    char again[4];
    if (n == 1)
        point = p[0];
    else {
        static const unsigned char lead_bits[5] = {0, 0, 0x1f, 0x0f, 0x07};
        point = p[0] & lead_bits[n];
        for (size_t i = 1; i < n; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (p[i] & 0x3fu);
        }
    }
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    return cellar_utf8_encode(point, again) == n && memcmp(again, p, n) == 0;
}

/* Every sequence of one, two and three bytes, where no shorter one is valid by itself first. */
static void test_utf8_short(void **state)
{
    unsigned char p[3];
    (void) state;
    for (uint32_t bits = 0; bits < 1u << 24; bits++) {
        int want;
        p[0] = (unsigned char) (bits >> 16);
        p[1] = (unsigned char) (bits >> 8);
        p[2] = (unsigned char) bits;
        if (p[0] < 0xe0 && (bits & 0xff) != 0)
            continue; /* starts with a shorter sequence: enough once each */
        if (p[0] < 0x80)
            want = utf8_naive(p, 1);
        else
            want = utf8_naive(p, p[0] < 0xe0 ? 2 : 3);
        if (cellar_utf8_valid((const char *) p, p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : 3) != want)
            fail_msg("%02x %02x %02x", p[0], p[1], p[2]);
    }
}

static void test_utf8_points(void **state)
{
    (void) state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        char bytes[4];
        size_t n = cellar_utf8_encode(point, bytes);
        int surrogate = point >= 0xd800 && point <= 0xdfff;
        assert_int_equal(cellar_utf8_valid(bytes, n), !surrogate);
        if (n > 1)
            assert_false(cellar_utf8_valid(bytes, n - 1)); /* cut short */
    }
}

static void test_utf8_four(void **state)
{
    static const struct {
        const char *bytes;
        int valid;
    } cases[] = {{"", 1},
                 {"plain", 1},
                 {"\xc3\xa9t\xc3\xa9", 1},
                 {"\xf0\x90\x80\x80", 1},
                 {"\xf4\x8f\xbf\xbf", 1},
                 {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
                 {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
                 {"\xf5\x80\x80\x80", 0},
                 {"\xf0\x90\x80", 0},
                 {"\xf0\x90\x80\xc0", 0},
                 {"\xf0\x90\x40\x80", 0},
                 {"a\x80", 0},
                 {"\xff", 0}};
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++)
        if (cellar_utf8_valid(cases[i].bytes, strlen(cases[i].bytes)) != cases[i].valid)
            fail_msg("case %zu", i);
}

/* ---- numbers ---- */

static void test_parse_integers(void **state)
{
    static const struct {
        const char *text;
        int ok;
        int64_t value;
    } cases[] = {{"0", 1, 0},
                 {"-0", 1, 0},
                 {"+7", 1, 7},
                 {"007", 1, 7},
                 {"9223372036854775807", 1, INT64_MAX},
                 {"9223372036854775808", 0, 0},
                 {"-9223372036854775808", 1, INT64_MIN},
                 {"-9223372036854775809", 0, 0},
                 {"99999999999999999999999", 0, 0},
                 {"", 0, 0},
                 {"-", 0, 0},
                 {"--1", 0, 0},
                 {" 1", 0, 0},
                 {"1 ", 0, 0},
                 {"1.0", 0, 0},
                 {"0x1", 0, 0}};
    uint64_t u;
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        int64_t value = 0;
        if (cellar_parse_i64(cases[i].text, strlen(cases[i].text), &value) != cases[i].ok ||
            value != cases[i].value)
            fail_msg("'%s'", cases[i].text);
    }
    assert_true(cellar_parse_u64("18446744073709551615", 20, &u));
    assert_true(u == UINT64_MAX);
    assert_false(cellar_parse_u64("18446744073709551616", 20, &u));
    assert_false(cellar_parse_u64("+1", 2, &u));
    assert_true(cellar_parse_u64("12x", 2, &u)); /* the length decides */
    assert_int_equal(u, 12);
}

static void test_parse_decimal(void **state)
{
    static const struct {
        const char *text;
        int scale, ok;
        int64_t value;
        int exact;
    } cases[] = {{"12.50", 2, 1, 1250, 1},
                 {"-12.5", 1, 1, -125, 1},
                 {"+3", 0, 1, 3, 1},
                 {".5", 1, 1, 5, 1},
                 {"5.", 1, 1, 50, 1},
                 {"1e-3", 3, 1, 1, 1},
                 {"1E+2", 1, 1, 1000, 1},
                 {"12.5e-1", 2, 1, 125, 1},
                 {"1.2345e2", 2, 1, 12345, 1},
                 {"0e4096", 2, 1, 0, 1},
                 {"0.000e-4096", 2, 1, 0, 1},
                 {"2.345", 2, 1, 235, 0}, /* half away from zero */
                 {"-2.345", 2, 1, -235, 0},
                 {"2.344999999999999999999999999999999999999999", 2, 1, 234, 0},
                 {"2.3450000", 3, 1, 2345, 1},
                 {"0.5", 0, 1, 1, 0},
                 {"-0.5", 0, 1, -1, 0},
                 {"0.4999", 0, 1, 0, 0},
                 {"9.99", 1, 1, 100, 0}, /* carries */
                 {"9e-10", 2, 1, 0, 0},  /* too small to round up */
                 {"99e-4", 2, 1, 1, 0},
                 {"5e-3", 2, 1, 1, 0},
                 {"0.0000000000000000000000000000000000000000000000001", 3, 1, 0, 0},
                 {"000000000000000000000000000000000000000000000000012", 1, 1, 120, 1},
                 {"1e4096", 0, 0, 0, 0},
                 {"1e4097", 0, 0, 0, 0},
                 {"1e99999999999999999999", 0, 0, 0, 0},
                 {"", 0, 0, 0, 0},
                 {"-", 0, 0, 0, 0},
                 {".", 0, 0, 0, 0},
                 {"e5", 0, 0, 0, 0},
                 {"1e", 0, 0, 0, 0},
                 {"1e5.0", 0, 0, 0, 0},
                 {"1e5e5", 0, 0, 0, 0},
                 {"1.2.3", 0, 0, 0, 0},
                 {"1,5", 0, 0, 0, 0},
                 {"1 5", 0, 0, 0, 0},
                 {"-+1", 0, 0, 0, 0},
                 {"nan", 0, 0, 0, 0},
                 {"inf", 0, 0, 0, 0},
                 {"0x10", 0, 0, 0, 0}};
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        cellar_int128 value = 0;
        int exact = 0;
        int ok = cellar_parse_decimal(cases[i].text, strlen(cases[i].text), cases[i].scale, &value,
                                      &exact);
        if (ok != cases[i].ok || value != cases[i].value || (ok && exact != cases[i].exact))
            fail_msg("'%s' at scale %d", cases[i].text, cases[i].scale);
    }
}

static void test_parse_decimal_floor(void **state)
{
    static const struct {
        const char *text;
        int scale;
        int64_t value;
        int exact;
    } cases[] = {{"2.349", 2, 234, 0}, {"-2.341", 2, -235, 0},  {"-2.340", 2, -234, 1},
                 {"-0.001", 2, -1, 0}, {"0.009", 2, 0, 0},      {"-1e-4000", 0, -1, 0},
                 {"9.99999", 0, 9, 0}, {"-9.99999", 0, -10, 0}, {"-9", 0, -9, 1}};
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        cellar_int128 value = 0;
        int exact = 0;
        assert_true(cellar_parse_decimal_floor(cases[i].text, strlen(cases[i].text), cases[i].scale,
                                               &value, &exact));
        if (value != cases[i].value || exact != cases[i].exact)
            fail_msg("'%s' at scale %d", cases[i].text, cases[i].scale);
    }
}

static void test_decimal_limits(void **state)
{
    static const char largest[] = "170141183460469231731687303715884105727"; /* 2^127 - 1 */
    const cellar_int128 top = (cellar_int128) (~(cellar_uint128) 0 >> 1);
    cellar_int128 value;
    cellar_text text = {0};
    (void) state;
    assert_true(cellar_parse_decimal(largest, 39, 0, &value, NULL));
    assert_true(value == top);
    assert_false(
        cellar_parse_decimal("170141183460469231731687303715884105728", 39, 0, &value, NULL));
    assert_false(cellar_parse_decimal("170141183460469231731687303715884105727.5", 41, 0, &value,
                                      NULL)); /* rounds up beyond */
    assert_false(cellar_parse_decimal(largest, 39, 1, &value, NULL));
    cellar_text_add_decimal(&text, top, 0);
    assert_string_equal(text.bytes, largest);
    cellar_text_reset(&text);
    cellar_text_add_decimal(&text, -top - 1, 38);
    assert_string_equal(text.bytes, "-1.70141183460469231731687303715884105728");
    cellar_text_clear(&text);
}

static void test_add_decimal(void **state)
{
    static const struct {
        int64_t value;
        int scale;
        const char *want;
    } cases[] = {{0, 0, "0"},       {0, 5, "0"},
                 {125, 1, "12.5"},  {-125, 1, "-12.5"},
                 {1250, 2, "12.5"}, {1200, 2, "12"},
                 {100, 0, "100"},   {5, 2, "0.05"},
                 {-5, 2, "-0.05"},  {50, 2, "0.5"},
                 {-7, 0, "-7"},     {1, 6, "0.000001"},
                 {10, 1, "1"},      {INT64_MIN, 0, "-9223372036854775808"}};
    cellar_text text = {0};
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        cellar_text_reset(&text);
        cellar_text_add_decimal(&text, cases[i].value, cases[i].scale);
        assert_string_equal(text.bytes, cases[i].want);
    }
    cellar_text_clear(&text);
}

/* Writing and reading back is exact, for every scale, on a seeded walk through magnitudes. */
static void test_decimal_round_trip(void **state)
{
    cellar_text text = {0};
    uint64_t seed = 20260101;
    (void) state;
    for (int i = 0; i < 20000; i++) {
        cellar_int128 value, again;
        int scale = i % 39, exact = 0;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value = (cellar_int128) ((cellar_uint128) seed << 63 ^ seed * seed) >> (i % 127);
        cellar_text_reset(&text);
        cellar_text_add_decimal(&text, value, scale);
        assert_true(cellar_parse_decimal(text.bytes, text.length, scale, &again, &exact));
        assert_true(exact);
        assert_true(again == value);
    }
    cellar_text_clear(&text);
}

/* ---- nearest word ---- */

static void test_nearest_word(void **state)
{
    static const char *const verbs[] = {"tabulate", "describe", "protect", "risk",
                                        "--by",     "-o",       NULL};
    static const struct {
        const char *word, *want;
    } cases[] = {
        {"tabulate", "tabulate"},
        {"tabualte", "tabulate"},
        {"tabulat", "tabulate"},
        {"descibe", "describe"},
        {"rsk", "risk"},
        {"--bz", "--by"},
        {"zzzzzz", NULL},
        {"x", NULL}, /* everything is near one letter: nothing is suggested */
        {"", NULL},
        {"tabulate-the-whole-thing-with-a-very-long-word-beyond-sixty-three-letters", NULL}};
    (void) state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        const char *nearest = cellar_nearest_word(cases[i].word, verbs);
        if (cases[i].want == NULL)
            assert_null(nearest);
        else {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].want);
        }
    }
}

static cellar_status text_scenario(void *context, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text text = {0};
    (void) context;
    for (int i = 0; i < 100; i++)
        cellar_text_printf(&text, "%d,", i);
    cellar_text_add_decimal(&text, 12345, 2);
    if (text.failed)
        status = cellar_fail_memory(err, "a text");
    cellar_text_clear(&text);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(text_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_utf8_short),
        cmocka_unit_test(test_utf8_points),
        cmocka_unit_test(test_utf8_four),
        cmocka_unit_test(test_parse_integers),
        cmocka_unit_test(test_parse_decimal),
        cmocka_unit_test(test_parse_decimal_floor),
        cmocka_unit_test(test_decimal_limits),
        cmocka_unit_test(test_add_decimal),
        cmocka_unit_test(test_decimal_round_trip),
        cmocka_unit_test(test_nearest_word),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
