/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of Fourier transforms of distributions, with bounds on the error of every coefficient.
 */
#ifndef CELLAR_PRIVACY_COMPOSE_TRANSFORM_H
#define CELLAR_PRIVACY_COMPOSE_TRANSFORM_H

#include <complex.h>
#include <stdint.h>

#include "math/fourier.h"

/* A real distribution and its transform, of which one half says all. */
typedef struct cellar_transform {
    size_t n;
    double *real, *imaginary;
    double complex *product;
    double *error; /* of each coefficient of the product, absolute */
    cellar_fourier *fourier;
} cellar_transform;

/* The product of none. To be cleared on failure too. */
cellar_status cellar_transform_init(cellar_transform *t, size_t n, cellar_error *err);
void cellar_transform_clear(cellar_transform *t);

/* Multiplies the product by the transform of `real`, a distribution, to the power `times`. */
void cellar_transform_multiply(cellar_transform *t, uint64_t times);
/* The distribution itself, times n; answers the largest error of an entry of the law. */
double cellar_transform_finish(cellar_transform *t);

#endif
