/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact rationals of the decimals people type. */
#ifndef CELLAR_MATH_RATIONAL_H
#define CELLAR_MATH_RATIONAL_H

#include <stddef.h>

#include "base/text.h"
#include "math/flint.h"

/* Reads a plain decimal such as -12.50 or 1e-6, exactly. The whole text must be the number:
 * at most 100 digits after leading zeros, and an exponent of at most 400. Everything
 * cellar_rational_add() wrote of such a number reads back. 0 when it is none; `out` is untouched.
 */
int cellar_rational_parse(const char *text, size_t length, fmpq_t out);

/* Adds the one canonical decimal of a rational: "12.5", "0.001", "1e-06" is "0.000001". Rationals
 * that are no decimals (nothing parsed is one) are written as "p/q". */
void cellar_rational_add(cellar_text *text, const fmpq_t value);

/* The nearest double; with ties to even, as strtod() reads the decimal. */
double cellar_rational_double(const fmpq_t value);

/* The rational a finite double stands for. */
void cellar_rational_set_double(fmpq_t out, double value);

#endif
