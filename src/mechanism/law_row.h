/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of one count in double-doubles: its probabilities and both tails, with proven
 * errors. What balls tell to any precision, this tells to about 25 digits and a hundred times as
 * fast. It is made as far as it is asked for. */
#ifndef CELLAR_MECHANISM_LAW_ROW_H
#define CELLAR_MECHANISM_LAW_ROW_H

#include <stddef.h>

#include <cellar/mechanism.h>

#include "math/run.h"

/* Of the numbers first .. first + n - 1. Entries are right to cellar_law_row_error() of themselves,
 * but for what lies outside: `before` and `after` bound it. */
typedef struct cellar_law_row {
    const struct cellar_kernel *k;
    int64_t count, first;
    size_t n, room;
    cellar_dword *p, *below; /* P(b), and sums of it up to b */
    cellar_dword *above;     /* sums of it from b on, of the first n_above as they were finished */
    size_t n_above;
    double before; /* no less than P(< first) */
    double untold; /* no less than P of all numbers that came as 0, too unlikely to be told */
    double after;  /* no less than P(>= first + n_above), when finished */
    int has_ended; /* its numbers would leave the range of double-doubles */
    cellar_run run;
} cellar_law_row;

enum { CELLAR_LAW_ROW_MAX = 1 << 19 };

/* The slot `law_row` of kernels: 0 when there is no run, or no memory. */
int cellar_kernel_law_row(const cellar_mechanism *m, int64_t count, cellar_law_row *out);
void cellar_law_row_clear(cellar_law_row *row); /* {0} is fine */

/* Goes on until it holds b: 1 when it does then. */
int cellar_law_row_reach(cellar_law_row *row, int64_t b);
/* Goes on until numbers are as unlikely as 2^-bits, bits <= 700, and bounds the rest: 1 when it
 * could. */
int cellar_law_row_finish(cellar_law_row *row, int bits);

/* No less than P(> b), where p is no less than P(b); infinite when that is not known. */
double cellar_law_row_rest(const cellar_law_row *row, int64_t b, double p);

/* Enclosures of P(B = b) and P(B <= b), of a number it holds, and of P(B >= b) of one it held when
 * it was finished. */
void cellar_law_row_pmf(const cellar_law_row *row, int64_t b, arb_t out);
void cellar_law_row_below(const cellar_law_row *row, int64_t b, arb_t out);
void cellar_law_row_above(const cellar_law_row *row, int64_t b, arb_t out);

#endif
