/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists as options take them, and lists of results: what is read, what is refused. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "message.h"

/* The numbers of a list of whole numbers as text, "refused", or "" for none. */
static const char *counts_of(const char *text, char *room, size_t size)
{
    uint64_t *counts = NULL;
    size_t n = 0, at = 0;
    int result = cli_list_counts("k", text, 1, &counts, &n);
    room[0] = '\0';
    for (size_t i = 0; i < n && result == CLI_GO_ON; i++)
        at += (size_t) snprintf(room + at, size - at, "%s%llu", i > 0 ? " " : "",
                                (unsigned long long) counts[i]);
    free(counts);
    return result == CLI_GO_ON ? room : "refused";
}

static void whole_numbers(void **state)
{
    const struct {
        const char *text, *want;
    } cases[] = {{"5", "5"},
                 {"2,5,10", "2 5 10"},
                 {"2..5,9", "2 3 4 5 9"},
                 {"3..3", "3"},
                 {"", "refused"},
                 {",", "refused"},
                 {"5,", "refused"},
                 {"0", "refused"},
                 {"-1", "refused"},
                 {"5..2", "refused"},
                 {"1.5", "refused"},
                 {"1..", "refused"},
                 {"1..2..3", "refused"},
                 {"99999999999999999999", "refused"},
                 {"1..100001", "refused"},
                 {"1..18446744073709551615", "refused"},
                 {"18446744073709551615", "18446744073709551615"},
                 {"18446744073709551614..18446744073709551615",
                  "18446744073709551614 18446744073709551615"}};
    char room[256];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(counts_of(cases[i].text, room, sizeof room), cases[i].want);
}

static void decimals(void **state)
{
    const struct {
        const char *text;
        size_t n; /* 0: refused */
    } cases[] = {{"0.1", 1},
                 {"0.1,1e-3", 2},
                 {"0.01..1/3", 3},
                 {"0.1,0.01..1/50", 51},
                 {"", 0},
                 {"x", 0},
                 {"0x1p3", 0},
                 {"nan", 0},
                 {"inf", 0},
                 {"1,,2", 0},
                 {"0.1..1", 0},
                 {"0..1/3", 0},
                 {"1..0.1/3", 0},
                 {"0.1..1/1", 0},
                 {"0.1..1/1e9", 0},
                 {"1e999", 0},
                 {"0.1..1/", 0},
                 {"../2", 0},
                 {"1e-5..1/100000", 100000}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_words words = {0};
        int result = cli_list_decimals("threshold", cases[i].text, &words);
        assert_int_equal(result == CLI_GO_ON ? words.n : 0, cases[i].n);
        cli_words_clear(&words);
    }
}

/* A grid begins and ends where it says. */
static void grids_end_exactly(void **state)
{
    cli_words words = {0};
    (void) state;
    assert_int_equal(cli_list_decimals("threshold", "0.001..0.3/7", &words), CLI_GO_ON);
    assert_true(strtod(words.items[0], NULL) == 0.001);
    assert_true(strtod(words.items[6], NULL) == 0.3);
    for (size_t i = 1; i < words.n; i++)
        assert_true(strtod(words.items[i], NULL) > strtod(words.items[i - 1], NULL));
    cli_words_clear(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(decimals),
        cmocka_unit_test(grids_end_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
