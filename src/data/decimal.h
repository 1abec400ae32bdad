/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a field against bounds that someone typed: exact, whatever digits the field has. */
#ifndef CELLAR_DATA_DECIMAL_H
#define CELLAR_DATA_DECIMAL_H

#include <stddef.h>

#include "base/text.h"

enum { CELLAR_DECIMAL_MAX_SCALE = 18 };

/* A number as seen from multiples of 10^-scale: the largest that is not above it, and whether
 * they are equal. Bounds are such multiples, so this is all a comparison needs. */
typedef struct cellar_decimal {
    cellar_int128 floor;
    int exact;
} cellar_decimal;

/* Reads a field, blanks around the number allowed. 0 when it is no number or too large. */
int cellar_decimal_read(const char *text, size_t length, int scale, cellar_decimal *out);

/* The smallest scale (0 to 18) that holds a typed decimal exactly, or -1. */
int cellar_decimal_scale(const char *text);

/* Like strcmp for a number and a bound of the same scale. */
int cellar_decimal_compare(const cellar_decimal *number, cellar_int128 bound);

#endif
