/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/decimal.h"
#include "data/recode.h"
#include "fail_every.h"

static cellar_recoder *compile(const cellar_recode *recode)
{
    cellar_recoder *recoder;
    cellar_error err;
    if (cellar_recoder_create(recode, "age", &recoder, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return recoder;
}

/* The category, or what went wrong in words. */
static const char *apply(const cellar_recoder *recoder, const char *text, cellar_text *out)
{
    switch (cellar_recoder_apply(recoder, text, strlen(text), out)) {
    case CELLAR_RECODED:
        return out->bytes;
    case CELLAR_RECODED_NOT_NUMBER:
        return "not a number";
    case CELLAR_RECODED_UNMAPPED:
        return "unmapped";
    case CELLAR_RECODED_NO_MEMORY:
        break;
    }
    return "no memory";
}

/* ---- single values --------------------------------------------------------- */

static const struct {
    const char *bottom, *top, *width, *origin;
    int closed_right;
    const char *input, *want;
} cases[] = {
    {NULL, NULL, NULL, NULL, 0, " as it is ", " as it is "},
    {NULL, NULL, "5", NULL, 0, "20", "[20,25)"},
    {NULL, NULL, "5", NULL, 0, "24.999999999999999999999999", "[20,25)"},
    {NULL, NULL, "5", NULL, 0, "25", "[25,30)"},
    {NULL, NULL, "5", NULL, 0, "2.5e1", "[25,30)"},
    {NULL, NULL, "5", NULL, 0, " 25\t", "[25,30)"},
    {NULL, NULL, "5", NULL, 0, "+0", "[0,5)"},
    {NULL, NULL, "5", NULL, 0, "-0.0", "[0,5)"},
    {NULL, NULL, "5", NULL, 0, "-0.0000000000000000000000001", "[-5,0)"},
    {NULL, NULL, "5", NULL, 0, "-5", "[-5,0)"},
    {NULL, NULL, "5", NULL, 1, "20", "(15,20]"},
    {NULL, NULL, "5", NULL, 1, "20.0000000000000000000000001", "(20,25]"},
    {NULL, NULL, "5", NULL, 1, "25", "(20,25]"},
    {NULL, NULL, "5", NULL, 1, "0", "(-5,0]"},
    {NULL, NULL, "5", NULL, 1, "-5", "(-10,-5]"},
    {NULL, NULL, "5", NULL, 1, "-4.9999999999999999999", "(-5,0]"},
    {NULL, NULL, "5", "2", 0, "1", "[-3,2)"},
    {NULL, NULL, "0.1", NULL, 0, "0.3", "[0.3,0.4)"}, /* not so in floating point */
    {NULL, NULL, "0.1", NULL, 1, "0.3", "(0.2,0.3]"},
    {NULL, NULL, "2.50", "0.50", 0, "3", "[3,5.5)"},
    {NULL, NULL, "1e3", NULL, 0, "1999", "[1000,2000)"},
    {NULL, NULL, "0.000000000000000001", NULL, 0, "1", "[1,1.000000000000000001)"},
    {NULL, NULL, "10", NULL, 0, "100000000000000000000000000000000000000",
     "[100000000000000000000000000000000000000,100000000000000000000000000000000000010)"},
    {NULL, NULL, "10", NULL, 0, "1e39", "not a number"},
    {NULL, NULL, "1e38", "-1e38", 0, "1e38", "not a number"}, /* the upper edge is out of range */
    {NULL, NULL, "5", NULL, 0, "", "not a number"},
    {NULL, NULL, "5", NULL, 0, "2 5", "not a number"},
    {NULL, NULL, "5", NULL, 0, "0x10", "not a number"},
    {NULL, NULL, "5", NULL, 0, "nan", "not a number"},
    {NULL, NULL, "5", NULL, 0, "inf", "not a number"},
    {NULL, NULL, "5", NULL, 0, "1,5", "not a number"},
    {"15", "85", NULL, NULL, 0, "15", "<=15"},
    {"15", "85", NULL, NULL, 0, "15.00", "<=15"},
    {"15", "85", NULL, NULL, 0, "15.00000000000000000000001", "15.00000000000000000000001"},
    {"15", "85", NULL, NULL, 0, "84.99999999999999999999", "84.99999999999999999999"},
    {"15", "85", NULL, NULL, 0, "85", ">=85"},
    {"15", "85", NULL, NULL, 0, "-1e30", "<=15"},
    {"15", "85", NULL, NULL, 0, "1e30", ">=85"},
    {"15", "85", NULL, NULL, 0, "017", "017"},
    {"15", "85", NULL, NULL, 0, "old", "not a number"},
    {"-0.50", NULL, NULL, NULL, 0, "-1", "<=-0.5"},
    {NULL, "85", "10", NULL, 0, "84", "[80,85)"},
    {NULL, "85", "10", NULL, 1, "84", "(80,85)"},
    {NULL, "90", "10", NULL, 0, "84", "[80,90)"},
    {NULL, "90", "10", NULL, 1, "84", "(80,90)"}, /* 90 itself is top-coded */
    {"15", NULL, "10", NULL, 0, "16", "(15,20)"},
    {"15", NULL, "10", NULL, 1, "16", "(15,20]"},
    {"20", NULL, "10", NULL, 0, "21", "(20,30)"}, /* 20 itself is bottom-coded */
    {"20", NULL, "10", NULL, 1, "21", "(20,30]"},
    {"12", "18", "10", NULL, 0, "15", "(12,18)"},
};

static void test_values(void **state)
{
    cellar_text out = {0};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_recode recode = {.bottom = cases[i].bottom,
                                .top = cases[i].top,
                                .band_width = cases[i].width,
                                .band_origin = cases[i].origin,
                                .band_closed_right = cases[i].closed_right};
        cellar_recoder *recoder = compile(&recode);
        const char *got = apply(recoder, cases[i].input, &out);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("case %zu: '%s' became %s, not %s", i, cases[i].input, got, cases[i].want);
        cellar_recoder_free(recoder);
    }
    cellar_text_clear(&out);
}

static void test_bad_recodes(void **state)
{
    static const struct {
        cellar_recode recode;
        const char *want;
    } bad[] = {
        {{.band_width = "0"}, "variable 'age': the band width must be > 0"},
        {{.band_width = "-5"}, "variable 'age': the band width must be > 0"},
        {{.band_width = "five"},
         "variable 'age': band width 'five' is not a number with at most 18 decimals"},
        {{.band_width = ""},
         "variable 'age': band width '' is not a number with at most 18 decimals"},
        {{.top = "0.0000000000000000001"},
         "variable 'age': top '0.0000000000000000001' is not a number with at most 18 decimals"},
        {{.top = "1e30", .bottom = "0.000000000000000001"},
         "variable 'age': top '1e30' is too large"},
        {{.bottom = "5", .top = "5"}, "variable 'age': the bottom must lie below the top"},
        {{.bottom = "6", .top = "5"}, "variable 'age': the bottom must lie below the top"},
        {{.band_origin = "1"}, "variable 'age': the origin of bands needs a band width"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_recoder *recoder;
        cellar_error err = {"no message"};
        assert_int_not_equal(cellar_recoder_create(&bad[i].recode, "age", &recoder, &err),
                             CELLAR_OK);
        assert_null(recoder);
        assert_string_equal(err.message, bad[i].want);
    }
}

/* ---- against a search ------------------------------------------------------ */

static void add_thousandths(cellar_text *text, long value)
{
    cellar_text_add_decimal(text, value, 3);
}

/* The category of x (in thousandths) found by walking along the edges. */
static void search(long x, const long *bottom, const long *top, long width, long origin,
                   int closed_right, cellar_text *out)
{
    long low = origin;
    int low_open = closed_right, high_open = !closed_right;
    long high;

    cellar_text_reset(out);
    if (bottom != NULL && x <= *bottom) {
        cellar_text_add_string(out, "<=");
        add_thousandths(out, *bottom);
        return;
    }
    if (top != NULL && x >= *top) {
        cellar_text_add_string(out, ">=");
        add_thousandths(out, *top);
        return;
    }
    while (closed_right ? x <= low : x < low)
        low -= width;
    while (closed_right ? x > low + width : x >= low + width)
        low += width;
    high = low + width;
    if (bottom != NULL && *bottom >= low) {
        low = *bottom;
        low_open = 1;
    }
    if (top != NULL && *top <= high) {
        high = *top;
        high_open = 1;
    }
    cellar_text_add_char(out, low_open ? '(' : '[');
    add_thousandths(out, low);
    cellar_text_add_char(out, ',');
    add_thousandths(out, high);
    cellar_text_add_char(out, high_open ? ')' : ']');
}

/* Bounds are hundredths and numbers lie between them too, so that no band goes unmet. */
static void check_against_search(long bottom, long top, long width, long origin, int mask)
{
    char texts[4][32];
    long numbers[4] = {bottom, top, width, origin};
    cellar_text want = {0}, got = {0}, x_text = {0};
    cellar_recoder *recoder;
    cellar_codelist *domain;
    cellar_error err;
    size_t n_met = 0, last = CELLAR_NO_CODE;
    int has_bottom = mask & 1, has_top = mask & 2, closed_right = (mask & 4) != 0;
    cellar_recode recode = {.bottom = has_bottom ? texts[0] : NULL,
                            .top = has_top ? texts[1] : NULL,
                            .band_width = texts[2],
                            .band_origin = texts[3],
                            .band_closed_right = closed_right};

    for (int i = 0; i < 4; i++)
        snprintf(texts[i], sizeof texts[i], "%lde-3", numbers[i]);
    recoder = compile(&recode);
    assert_int_equal(cellar_recoder_domain(recoder, &domain, &err), CELLAR_OK);
    assert_int_equal(domain != NULL, has_bottom && has_top);
    for (long x = -7000; x <= 7000; x += 5) {
        cellar_text_reset(&x_text);
        add_thousandths(&x_text, x);
        search(x, has_bottom ? &bottom : NULL, has_top ? &top : NULL, width, origin, closed_right,
               &want);
        assert_string_equal(apply(recoder, x_text.bytes, &got), want.bytes);
        if (domain != NULL) { /* every category occurs, in the order of the domain */
            size_t code = cellar_codelist_find(domain, got.bytes, got.length);
            assert_true(code != CELLAR_NO_CODE);
            if (code != last) {
                assert_int_equal(code, n_met);
                if (n_met > 0)
                    assert_true(
                        cellar_category_compare(cellar_codelist_code(domain, last), got.bytes) < 0);
                n_met++;
            }
            last = code;
        }
    }
    if (domain != NULL)
        assert_int_equal(n_met, cellar_codelist_n_codes(domain));
    cellar_codelist_free(domain);
    cellar_recoder_free(recoder);
    cellar_text_clear(&want);
    cellar_text_clear(&got);
    cellar_text_clear(&x_text);
}

static void test_against_search(void **state)
{
    static const long widths[] = {30, 500, 1000, 7000}, origins[] = {-1250, 0, 10, 2500};
    (void) state;
    for (size_t w = 0; w < 4; w++)
        for (size_t o = 0; o < 4; o++)
            for (int mask = 0; mask < 8; mask++) {
                check_against_search(-3010, 4000, widths[w], origins[o], mask);
                check_against_search(-3000, 2990, widths[w], origins[o], mask);
                check_against_search(1480, 1510, widths[w], origins[o], mask);
            }
}

/* ceil(age / 5): the bins of the papers. */
static void test_papers_bins(void **state)
{
    cellar_recode recode = {.band_width = "5", .band_closed_right = 1};
    cellar_recoder *recoder = compile(&recode);
    cellar_text got = {0};
    (void) state;
    for (int age = 1; age <= 120; age++) {
        char text[16], want[32];
        int bin = (age + 4) / 5;
        snprintf(text, sizeof text, "%d", age);
        snprintf(want, sizeof want, "(%d,%d]", 5 * bin - 5, 5 * bin);
        assert_string_equal(apply(recoder, text, &got), want);
    }
    cellar_text_clear(&got);
    cellar_recoder_free(recoder);
}

static void test_domain_limit(void **state)
{
    cellar_recode recode = {.bottom = "0", .top = "1000000", .band_width = "1"};
    cellar_recoder *recoder = compile(&recode);
    cellar_codelist *domain;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_recoder_domain(recoder, &domain, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_n_codes(domain), 1000002);
    cellar_codelist_free(domain);
    cellar_recoder_free(recoder);
    recode.top = "1000000.5";
    recoder = compile(&recode);
    assert_int_equal(cellar_recoder_domain(recoder, &domain, &err), CELLAR_ERR_ARGUMENT);
    assert_null(domain);
    cellar_recoder_free(recoder);
    recode.bottom = "-1e38";
    recode.top = "1e38";
    recoder = compile(&recode);
    assert_int_equal(cellar_recoder_domain(recoder, &domain, &err), CELLAR_ERR_ARGUMENT);
    cellar_recoder_free(recoder);
}

/* ---- maps ------------------------------------------------------------------ */

static cellar_recode_map *parse_map(const char *text)
{
    cellar_recode_map *map;
    cellar_error err;
    if (cellar_recode_map_parse("m", text, strlen(text), &map, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return map;
}

static void test_map(void **state)
{
    cellar_recode_map *map = parse_map("to,from\r\nb,1\r\na,2\r\nb, 2\r\n\"x,\ny\",\"*\"\r\n");
    cellar_recode recode = {.map = map};
    cellar_recoder *recoder = compile(&recode);
    cellar_text out = {0};
    cellar_codelist *domain;
    (void) state;

    cellar_recode_map_free(map); /* the recoder holds what it needs */
    assert_string_equal(apply(recoder, "1", &out), "b");
    assert_string_equal(apply(recoder, "2", &out), "a");
    assert_string_equal(apply(recoder, " 2", &out), "b"); /* blanks count */
    assert_string_equal(apply(recoder, "2 ", &out), "x,\ny");
    assert_string_equal(apply(recoder, "*", &out), "x,\ny");
    assert_int_equal(cellar_recoder_domain(recoder, &domain, NULL), CELLAR_OK);
    assert_int_equal(cellar_codelist_n_codes(domain), 3);
    assert_string_equal(cellar_codelist_code(domain, 0), "b");
    assert_string_equal(cellar_codelist_code(domain, 1), "a");
    assert_string_equal(cellar_codelist_code(domain, 2), "x,\ny");
    cellar_codelist_free(domain);
    cellar_recoder_free(recoder);
    cellar_text_clear(&out);
}

static void test_map_then_numbers(void **state)
{
    cellar_recode_map *map = parse_map("from,to\nbaby,0\nadult,40\nold,99\nodd,none\n");
    cellar_recode recode = {.map = map, .top = "85", .band_width = "10"};
    cellar_recoder *recoder = compile(&recode);
    cellar_text out = {0};
    cellar_codelist *domain;
    (void) state;

    assert_string_equal(apply(recoder, "baby", &out), "[0,10)");
    assert_string_equal(apply(recoder, "adult", &out), "[40,50)");
    assert_string_equal(apply(recoder, "old", &out), ">=85");
    assert_string_equal(apply(recoder, "odd", &out), "not a number");
    assert_string_equal(apply(recoder, "40", &out), "unmapped");
    assert_int_equal(cellar_recoder_domain(recoder, &domain, NULL), CELLAR_OK);
    assert_null(domain);
    cellar_recoder_free(recoder);
    cellar_recode_map_free(map);
    cellar_text_clear(&out);
}

static void test_bad_maps(void **state)
{
    static const struct {
        const char *input, *want;
    } bad[] = {
        {"", "m: is empty; a header was expected"},
        {"from,to\n", "m: the map holds no values"},
        {"from\na\n", "m:1: expected a header with the two columns from,to"},
        {"from,to,note\na,b,c\n", "m:1: expected a header with the two columns from,to"},
        {"from,into\na,b\n", "m:1: expected a header with the two columns from,to"},
        {"from,to\na,b\nb,c\na,d\n", "m:4: column 'from': is already in line 2"},
        {"from,to\n*,b\n\"*\",c\n", "m:3: column 'from': is already in line 2"},
        {"from,to\n,b\n",
         "m:2: column 'from': is empty; empty fields are missing values and are not mapped"},
        {"from,to\na,\n", "m:2: column 'to': is empty; a value must become something"},
        {"from,to\na,b,c\n", "m:2: 3 fields, but the first line has 2"},
        {"from,to\na,\"b", "m:2: column 2: the quote opened here is never closed"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_recode_map *map;
        cellar_error err = {"no message"};
        assert_int_equal(
            cellar_recode_map_parse("m", bad[i].input, strlen(bad[i].input), &map, &err),
            CELLAR_ERR_INPUT);
        assert_null(map);
        assert_string_equal(err.message, bad[i].want);
    }
}

/* ---- order ----------------------------------------------------------------- */

static void test_category_order(void **state)
{
    static const char *const sorted[] = {
        "<=-5",   "<=2", "-1e1", "-7",   "(-5,0]", "0",    "0.0",    "[0,5)", "(0,5]",
        "[5,10)", "9.5", "10",   "100",  ">=9",    ">=85", "",       "(5,10", "(a,b]",
        "1 000",  "<=x", "[,)",  "[5,]", "a",      "b",    "missing"};
    enum { N = sizeof sorted / sizeof *sorted };
    (void) state;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            int got = cellar_category_compare(sorted[i], sorted[k]);
            if ((got > 0) - (got < 0) != (i > k) - (i < k))
                fail_msg("%s against %s gives %d", sorted[i], sorted[k], got);
        }
}

static void test_decimals(void **state)
{
    cellar_decimal number;
    (void) state;
    assert_int_equal(cellar_decimal_scale("5"), 0);
    assert_int_equal(cellar_decimal_scale("5.00"), 0);
    assert_int_equal(cellar_decimal_scale("0.25"), 2);
    assert_int_equal(cellar_decimal_scale("1e-18"), 18);
    assert_int_equal(cellar_decimal_scale("1e-19"), -1);
    assert_int_equal(cellar_decimal_scale("x"), -1);
    assert_true(cellar_decimal_read("-1.5", 4, 0, &number));
    assert_true(number.floor == -2 && !number.exact);
    assert_int_equal(cellar_decimal_compare(&number, -2), 1);
    assert_int_equal(cellar_decimal_compare(&number, -1), -1);
    assert_true(cellar_decimal_read(" 1.0 ", 5, 0, &number));
    assert_int_equal(cellar_decimal_compare(&number, 1), 0);
    assert_false(cellar_decimal_read("  ", 2, 0, &number));
}

/* ---- memory ends ----------------------------------------------------------- */

static cellar_status recode_scenario(void *context, cellar_error *err)
{
    static const char csv[] = "from,to\n1,20\n2,\"3\"\"0\"\n*,40\n";
    cellar_status status = CELLAR_OK;
    cellar_recode_map *map = NULL;
    cellar_recoder *recoder = NULL;
    cellar_codelist *domain = NULL;
    cellar_text out = {0};
    cellar_recode recode = {0};

    CELLAR_TRY(cellar_recode_map_parse("m", csv, sizeof csv - 1, &map, err));
    recode.map = map;
    if (context != NULL) {
        recode.bottom = "5";
        recode.top = "95";
        recode.band_width = "10";
    }
    CELLAR_TRY(cellar_recoder_create(&recode, "age", &recoder, err));
    CELLAR_TRY(cellar_recoder_domain(recoder, &domain, err));
    if (cellar_recoder_apply(recoder, "1", 1, &out) == CELLAR_RECODED_NO_MEMORY)
        status = cellar_fail_memory(err, "a category");
out:
    cellar_text_clear(&out);
    cellar_codelist_free(domain);
    cellar_recoder_free(recoder);
    cellar_recode_map_free(map);
    return status;
}

static void test_memory_ends(void **state)
{
    int banded = 1;
    (void) state;
    check_fail_every(recode_scenario, NULL);
    check_fail_every(recode_scenario, &banded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),           cmocka_unit_test(test_bad_recodes),
        cmocka_unit_test(test_against_search),   cmocka_unit_test(test_papers_bins),
        cmocka_unit_test(test_domain_limit),     cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_then_numbers), cmocka_unit_test(test_bad_maps),
        cmocka_unit_test(test_category_order),   cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
