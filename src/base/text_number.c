/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Floating-point numbers as decimals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

enum { NUMBER_DIGITS = 17, NUMBER_EXPONENT_MIN = -7, NUMBER_EXPONENT_MAX = 17 };

/* The fewest digits that read back as the same number: any decimal of 15 (6) digits survives the
 * way through a double (float) and back, and 17 (9) always suffice. The digits are picked out one
 * by one because the point between them depends on the locale. */
static size_t number_digits(double number, int single, char digits[NUMBER_DIGITS], int *exponent)
{
    char text[64];
    size_t n = 0;
    const char *p = text;

    for (int precision = single ? 6 : 15; precision <= (single ? 9 : NUMBER_DIGITS); precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, number);
        if (single ? strtof(text, NULL) == (float) number : strtod(text, NULL) == number)
            break;
    }
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    *exponent = (int) strtol(p + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

static void number_add_fraction(cellar_text *out, double magnitude, int single)
{
    char digits[NUMBER_DIGITS];
    int exponent;
    size_t n = number_digits(magnitude, single, digits, &exponent);
    size_t n_whole = 1; /* digits before the point */

    if (exponent < 0 && exponent >= NUMBER_EXPONENT_MIN) {
        cellar_text_add_string(out, "0.");
        for (int i = exponent; i < -1; i++)
            cellar_text_add_char(out, '0');
        cellar_text_add(out, digits, n);
        return;
    }
    if (exponent >= 0 && exponent <= NUMBER_EXPONENT_MAX)
        n_whole = (size_t) exponent + 1;
    for (size_t i = 0; i < n || i < n_whole; i++) {
        if (i == n_whole)
            cellar_text_add_char(out, '.');
        cellar_text_add_char(out, i < n ? digits[i] : '0');
    }
    if (exponent < 0 || exponent > NUMBER_EXPONENT_MAX)
        cellar_text_printf(out, "e%d", exponent);
}

void cellar_text_add_number(cellar_text *out, double number, int single)
{
    if (fabs(number) < 1e15 && number == trunc(number)) {
        cellar_text_add_decimal(out, (cellar_int128) number, 0);
        return;
    }
    if (number < 0)
        cellar_text_add_char(out, '-');
    if (isinf(number))
        cellar_text_add_string(out, "inf");
    else if (isnan(number))
        cellar_text_add_string(out, "nan");
    else
        number_add_fraction(out, fabs(number), single);
}
