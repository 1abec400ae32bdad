/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gauss's rule on [0,1]: exact for polynomials of degree below twice the number of nodes. */
#ifndef CELLAR_RISK_HOMOGENEITY_QUADRATURE_H
#define CELLAR_RISK_HOMOGENEITY_QUADRATURE_H

#include <stddef.h>

#include <cellar/status.h>

typedef struct cellar_quadrature {
    size_t n;
    double *nodes, *weights;
} cellar_quadrature;

cellar_status cellar_quadrature_make(cellar_quadrature *rule, size_t n, cellar_error *err);
void cellar_quadrature_clear(cellar_quadrature *rule); /* {0} is fine */

#endif
