/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generating functions of risk/product.h at the points of the unit circle, for eight mechanisms
 * at once. There a product costs one multiplication a point, and any coefficient is a mean over
 * the points (Cauchy). The price: coefficients are right absolutely, not relatively. */
#ifndef CELLAR_RISK_HOMOGENEITY_CIRCLE_H
#define CELLAR_RISK_HOMOGENEITY_CIRCLE_H

#include "risk/homogeneity/product.h"

enum { CELLAR_CIRCLE_MAX = 1024 };

/* Coefficients are real, so the points of the upper half will do. */
typedef struct cellar_circle {
    size_t n_turn;   /* equidistant points of the whole circle: even */
    size_t n_points; /* n_turn / 2 + 1: from 1 to -1 */
    double cosine[CELLAR_CIRCLE_MAX], sine[CELLAR_CIRCLE_MAX];
} cellar_circle;

/* A function at one point: the product of the absences of all its values, and the sums over values
 * of presence / absence, of that with the count, and of the stray presence / absence; each the real
 * part, then the imaginary. Multiplied by the product, a sum has one absence replaced. */
typedef struct cellar_circle_point {
    cellar_lanes product[2], shown[2], right[2], stray[2];
} cellar_circle_point;

/* So many points that aliases of the coefficients up to `degree` of a law whose weights are those
 * of a Poisson law with that mean, or less, are below 1e-12 of its largest. */
void cellar_circle_init(cellar_circle *circle, size_t degree);

/* The factor of a value, out[n_points], from base[0..degree]. */
void cellar_circle_factor(const cellar_circle *circle, const double *base, size_t degree,
                          const cellar_lane_table *table, cellar_circle_point *out);

/* out[n_points] becomes a times b; it may be neither. */
void cellar_circle_multiply(const cellar_circle *circle, const cellar_circle_point *a,
                            const cellar_circle_point *b, cellar_circle_point *out);

/* The coefficients of x^n of the product of n_parts parts, over all counts. *largest is the number
 * at 1 of what is shown, where all terms are positive: none on the circle is larger. */
void cellar_circle_coefficient(const cellar_circle *circle, const cellar_circle_point *const *parts,
                               size_t n_parts, size_t n, cellar_lanes out[PRODUCT_N_KINDS],
                               cellar_lanes *largest);

#endif
