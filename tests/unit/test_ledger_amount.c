/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Amounts: decimals and bounds become whole numbers, always rounded up. */
#include "ledger_place.h"

#include <math.h>

static void test_amounts_round_up(void **state)
{
    static const struct {
        const char *epsilon, *delta;
        int64_t nano, atto;
    } cases[] = {
        {"0.5", "1e-6", 500000000, 1000000000000},
        {"0.1", "1e-18", 100000000, 1},
        {"0.0000000001", "1e-300", 1, 1},
        {"1.0000000001", "0.0000000000000000011", 1000000001, 2},
        {"0", "0", 0, 0},
        {"9223372036.8547758", "9.2", 9223372036854775800, 9200000000000000000},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_amounts amounts;
        CHECK_OK(cellar_amounts_parse(cases[i].epsilon, cases[i].delta, NULL, &amounts, &err));
        assert_int_equal(amounts.epsilon_nano, cases[i].nano);
        assert_int_equal(amounts.delta_atto, cases[i].atto);
        assert_int_equal(amounts.rho_nano, CELLAR_NO_RHO);
    }
}

static void test_amounts_of_doubles(void **state)
{
    static const struct {
        double epsilon, delta, rho;
        int64_t nano, atto, rho_nano;
    } cases[] = {
        {0.5, 0x1p-30, 2, 500000000, 931322575, 2000000000}, /* 2^-30 = 931322574.6.. atto */
        {0.1, 1e-300, NAN, 100000001, 1, CELLAR_NO_RHO},     /* the double lies above 0.1 */
        {0, 0, 0, 0, 0, 0},
        {3, 1, 0x1p-100, 3000000000, 1000000000000000000, 1},
        {5e-324, 5e-324, 5e-324, 1, 1, 1},
        {9223372035.0, 9.0, 4.5, 9223372035000000000, 9000000000000000000, 4500000000},
    };
    static const double bad[] = {-1, NAN, INFINITY, 1e10, 1e300};
    cellar_amounts amounts;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(cellar_amounts_from_bounds(cases[i].epsilon, cases[i].delta, cases[i].rho,
                                            &amounts, &err));
        assert_int_equal(amounts.epsilon_nano, cases[i].nano);
        assert_int_equal(amounts.delta_atto, cases[i].atto);
        assert_int_equal(amounts.rho_nano, cases[i].rho_nano);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cellar_amounts_from_bounds(bad[i], 0, NAN, &amounts, &err),
                         CELLAR_ERR_ARGUMENT);
}

static void test_amounts_refused(void **state)
{
    static const char *const bad[] = {"-1", "", "x", "1e30", "nan", "inf", "1,5", "0x1"};
    cellar_amounts amounts;
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cellar_amounts_parse(bad[i], NULL, NULL, &amounts, &err),
                         CELLAR_ERR_ARGUMENT);
}

/* A cap is what may be spent at most: rounded down, whatever the charges are. */
static void test_caps_round_down(void **state)
{
    static const struct {
        const char *epsilon, *delta, *rho;
        int64_t nano, atto, rho_nano;
    } cases[] = {
        {"0.5", "1e-6", NULL, 500000000, 1000000000000, CELLAR_NO_RHO},
        {"1.0000000009", "0.0000000000000000019", NULL, 1000000000, 1, CELLAR_NO_RHO},
        {"0.0000000009", "1e-19", "0.1234567899", 0, 0, 123456789},
        {"9223372036.8547758079", NULL, NULL, INT64_MAX, 0, CELLAR_NO_RHO},
    };
    cellar_amounts cap;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(
            cellar_amounts_parse_cap(cases[i].epsilon, cases[i].delta, cases[i].rho, &cap, &err));
        assert_int_equal(cap.epsilon_nano, cases[i].nano);
        assert_int_equal(cap.delta_atto, cases[i].atto);
        assert_int_equal(cap.rho_nano, cases[i].rho_nano);
    }
    assert_int_equal(cellar_amounts_parse_cap("9223372036.854775808", NULL, NULL, &cap, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_amounts_parse_cap("-1", NULL, NULL, &cap, &err), CELLAR_ERR_ARGUMENT);
}

/* A sum that does not fit is more than any cap. */
static void test_sums_do_not_start_again(void **state)
{
    cellar_amounts sum = {INT64_MAX - 1, INT64_MAX - 1, INT64_MAX - 1};
    const cellar_amounts more = {2, 2, 2};
    (void) state;
    cellar_amounts_add(&sum, &more);
    assert_int_equal(sum.epsilon_nano, INT64_MAX);
    assert_int_equal(sum.delta_atto, INT64_MAX);
    assert_int_equal(sum.rho_nano, INT64_MAX);
}

static void test_amount_texts(void **state)
{
    static const struct {
        int64_t value;
        const char *nano, *atto;
    } cases[] = {{0, "0", "0"},
                 {1, "0.000000001", "0.000000000000000001"},
                 {1500000000, "1.5", "0.0000000015"},
                 {INT64_MAX, "9223372036.854775807", "9.223372036854775807"}};
    char text[CELLAR_AMOUNT_TEXT];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_amount_text_nano(cases[i].value, text);
        assert_string_equal(text, cases[i].nano);
        cellar_amount_text_atto(cases[i].value, text);
        assert_string_equal(text, cases[i].atto);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_round_up),        cmocka_unit_test(test_amounts_of_doubles),
        cmocka_unit_test(test_amounts_refused),         cmocka_unit_test(test_caps_round_down),
        cmocka_unit_test(test_sums_do_not_start_again), cmocka_unit_test(test_amount_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
