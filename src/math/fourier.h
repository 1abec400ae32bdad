/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The discrete Fourier transform of real numbers in doubles, with a proven bound on its error. */
#ifndef CELLAR_MATH_FOURIER_H
#define CELLAR_MATH_FOURIER_H

#include <stddef.h>

#include <cellar/status.h>

typedef struct cellar_fourier cellar_fourier; /* the roots of unity of one length; immutable */

/* n is a power of two, at least 4. On failure *out is NULL. */
cellar_status cellar_fourier_create(size_t n, cellar_fourier **out, cellar_error *err);
void cellar_fourier_free(cellar_fourier *fourier); /* NULL is fine */

/* In place: re holds x_0 .. x_{n-1} and becomes, with im, sum_j x_j e^{-2 pi i jm/n} for m = 0 ..
 * n/2, which say all. Room for n numbers in re and n/2 + 1 in im. */
void cellar_fourier_forward(const cellar_fourier *fourier, double *re, double *im);
/* The other way: re and im hold C_0 .. C_{n/2}, and re becomes sum_m C_m e^{2 pi i jm/n}, over all
 * n of them, C_{n-m} = conj C_m. */
void cellar_fourier_backward(const cellar_fourier *fourier, double *re, double *im);

/* No number that comes out is off by more than this times the sum of the absolute values of all n
 * that went in: proved in fourier.c. */
double cellar_fourier_error(size_t n);

#endif
