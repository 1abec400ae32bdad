/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/rational.h"

#include <string.h>

#include "math/flint.h"

enum { DIGITS_MAX = 100, EXPONENT_MAX = 400 };

/* The digits from the first that is not 0 on, without the point, NUL-terminated, and how many
 * digits stood behind the point. */
static int rational_digits(const char *text, size_t length, char digits[DIGITS_MAX + 2],
                           long *n_fraction)
{
    size_t n = 0, n_seen = 0;
    int point = 0;
    *n_fraction = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && !point) {
            point = 1;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            return 0;
        n_seen++;
        *n_fraction += point;
        if (n == 0 && text[i] == '0')
            continue;
        if (n == DIGITS_MAX || *n_fraction > DIGITS_MAX + EXPONENT_MAX)
            return 0;
        digits[n++] = text[i];
    }
    if (n == 0)
        digits[n++] = '0';
    digits[n] = '\0';
    return n_seen > 0;
}

int cellar_rational_parse(const char *text, size_t length, fmpq_t out)
{
    char digits[DIGITS_MAX + 2];
    int64_t exponent = 0;
    long n_fraction;
    int negative = length > 0 && text[0] == '-';
    fmpz_t power;

    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    for (size_t i = 0; i < length; i++)
        if (text[i] == 'e' || text[i] == 'E') {
            if (!cellar_parse_i64(text + i + 1, length - i - 1, &exponent) ||
                exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
                return 0;
            length = i;
        }
    if (!rational_digits(text, length, digits, &n_fraction))
        return 0;
    exponent -= n_fraction;
    fmpz_init(power);
    fmpz_ui_pow_ui(power, 10, (ulong) (exponent < 0 ? -exponent : exponent));
    fmpz_set_str(fmpq_numref(out), digits, 10);
    fmpz_one(fmpq_denref(out));
    if (exponent < 0)
        fmpq_div_fmpz(out, out, power);
    else
        fmpq_mul_fmpz(out, out, power);
    if (negative)
        fmpq_neg(out, out);
    fmpz_clear(power);
    return 1;
}

/* The smallest n with 10^n a multiple of `denominator`, or -1. */
static long rational_n_decimals(const fmpz_t denominator)
{
    fmpz_t rest, two, five;
    long n_twos, n_fives, n = -1;
    fmpz_init_set(rest, denominator);
    fmpz_init_set_ui(two, 2);
    fmpz_init_set_ui(five, 5);
    n_twos = fmpz_remove(rest, rest, two);
    n_fives = fmpz_remove(rest, rest, five);
    if (fmpz_is_one(rest))
        n = n_twos > n_fives ? n_twos : n_fives;
    fmpz_clear(rest);
    fmpz_clear(two);
    fmpz_clear(five);
    return n;
}

static void rational_add_decimal(cellar_text *text, const fmpq_t value, long n_decimals)
{
    fmpz_t scaled;
    char *digits;
    long n_digits;

    fmpz_init(scaled);
    fmpz_ui_pow_ui(scaled, 10, (ulong) n_decimals);
    fmpz_divexact(scaled, scaled, fmpq_denref(value));
    fmpz_mul(scaled, scaled, fmpq_numref(value));
    if (fmpz_sgn(scaled) < 0)
        cellar_text_add_char(text, '-');
    fmpz_abs(scaled, scaled);
    digits = fmpz_get_str(NULL, 10, scaled);
    n_digits = (long) strlen(digits);
    if (n_digits > n_decimals)
        cellar_text_add(text, digits, (size_t) (n_digits - n_decimals));
    else
        cellar_text_add_char(text, '0');
    if (n_decimals > 0) {
        cellar_text_add_char(text, '.');
        for (long i = n_digits; i < n_decimals; i++)
            cellar_text_add_char(text, '0');
        cellar_text_add_string(text, digits + (n_digits > n_decimals ? n_digits - n_decimals : 0));
    }
    flint_free(digits);
    fmpz_clear(scaled);
}

void cellar_rational_add(cellar_text *text, const fmpq_t value)
{
    long n_decimals = rational_n_decimals(fmpq_denref(value));
    if (n_decimals >= 0) {
        rational_add_decimal(text, value, n_decimals);
    } else {
        char *digits = fmpq_get_str(NULL, 10, value);
        cellar_text_add_string(text, digits);
        flint_free(digits);
    }
}

double cellar_rational_double(const fmpq_t value)
{
    arf_t denominator, quotient;
    double nearest;
    arf_init(denominator);
    arf_init(quotient);
    arf_set_fmpz(denominator, fmpq_denref(value));
    /* Rounding to odd at 64 bits first would matter only for subnormal results. */
    arf_fmpz_div(quotient, fmpq_numref(value), denominator, 53, ARF_RND_NEAR);
    nearest = arf_get_d(quotient, ARF_RND_NEAR);
    arf_clear(denominator);
    arf_clear(quotient);
    return nearest;
}

void cellar_rational_set_double(fmpq_t out, double value)
{
    arf_t exact;
    arf_init(exact);
    arf_set_d(exact, value);
    arf_get_fmpq(out, exact);
    arf_clear(exact);
}
