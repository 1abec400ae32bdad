/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two halves of the normaliser of every count, in long doubles and remembered for the first
 * counts: bounds in doubles of many pairs of counts are made of them. */
#ifndef CELLAR_MECHANISM_HELLINGER_SIDES_H
#define CELLAR_MECHANISM_HELLINGER_SIDES_H

#include <stdint.h>

#include <cellar/mechanism.h>

typedef struct cellar_hellinger_sides cellar_hellinger_sides;

/* sum_{b < count} e^{-rate (sqrt count - sqrt b)} and sum_{b >= count} e^{-rate (sqrt b - sqrt
 * count)}: Z(count) is their sum. */
typedef struct cellar_hellinger_side {
    long double below, above;
    long double rise; /* see cellar_hellinger_sides_log() */
} cellar_hellinger_side;

cellar_status cellar_hellinger_sides_create(long double rate, cellar_hellinger_sides **out,
                                            cellar_error *err);
void cellar_hellinger_sides_free(cellar_hellinger_sides *sides); /* NULL is fine */

/* Of a mechanism that is `hellinger`. */
cellar_hellinger_sides *cellar_hellinger_sides_of(const cellar_mechanism *m);

long double cellar_hellinger_sides_rate(const cellar_hellinger_sides *sides);
/* Within 2^-50 of the truth. Many threads may ask. */
cellar_hellinger_side cellar_hellinger_sides_at(cellar_hellinger_sides *sides, int64_t count);
/* 1 when that is remembered; it takes some ten times as long where it is not. */
int cellar_hellinger_sides_are_near(cellar_hellinger_sides *sides, int64_t count);
/* ln Z(larger) / Z(smaller). *error is no less than what it is off: very little where the two are
 * near each other, with `range` = 2 rate (sqrt larger - sqrt smaller). */
long double cellar_hellinger_sides_log(cellar_hellinger_sides *sides, int64_t smaller,
                                       int64_t larger, long double range, long double *error);
/* 1 when ln Z(a+1)/Z(a) is known to fall with a, first <= a <= last: then so does ln Z(a+s)/Z(a)
 * for a + s <= last + 1. */
int cellar_hellinger_sides_are_concave(cellar_hellinger_sides *sides, int64_t first, int64_t last);

#endif
