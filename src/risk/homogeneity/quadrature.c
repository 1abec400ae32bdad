/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/quadrature.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

/* The Legendre polynomial of degree n and its derivative, by the recurrence. */
static double legendre(size_t n, double x, double *derivative)
{
    double before = 1, value = x;
    for (size_t k = 2; k <= n; k++) {
        double next = ((double) (2 * k - 1) * x * value - (double) (k - 1) * before) / (double) k;
        before = value;
        value = next;
    }
    *derivative = (double) n * (x * value - before) / (x * x - 1);
    return value;
}

cellar_status cellar_quadrature_make(cellar_quadrature *rule, size_t n, cellar_error *err)
{
    *rule = (cellar_quadrature){.n = n, .nodes = cellar_alloc(2 * n, sizeof *rule->nodes)};
    if (rule->nodes == NULL)
        return cellar_fail_memory(err, "a rule of integration");
    rule->weights = rule->nodes + n;
    for (size_t i = 0; i < n; i++) {
        double x = cos(M_PI * ((double) i + 0.75) / ((double) n + 0.5)), derivative, step;
        if (2 * i + 1 == n)
            x = 0;
        for (int k = 0; k < 100; k++) { /* Newton, from a guess that is nearly right */
            step = legendre(n, x, &derivative) / derivative;
            x -= step;
            if (fabs(step) < 1e-15)
                break;
        }
        legendre(n, x, &derivative);
        rule->nodes[i] = (1 + x) / 2;
        rule->weights[i] = 1 / ((1 - x * x) * derivative * derivative);
    }
    return CELLAR_OK;
}

void cellar_quadrature_clear(cellar_quadrature *rule)
{
    cellar_free(rule->nodes);
    *rule = (cellar_quadrature){0};
}
