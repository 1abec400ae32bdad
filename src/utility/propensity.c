/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With a saturated model the propensity of a record depends on its cell alone, so that all of these
 * are sums over cells. Raab, Nowok and Dibben (2021), "Assessing, visualizing and improving the
 * utility of synthetic data", have the formulas and the expectations of pMSE; Snoke and others
 * (2018) introduced the latter. Negative released values are taken for zero. */
#include "utility/propensity.h"

#include <math.h>

typedef struct totals {
    double original, released, cells; /* cells that one of the tables has */
} totals;

static double positive(int64_t value)
{
    return value > 0 ? (double) value : 0;
}

static totals add_up(const utility_cells *original, const utility_cells *released)
{
    utility_walk walk = {0};
    totals t = {0};
    while (utility_walk_next(&walk, original, released)) {
        t.original += positive(walk.count);
        t.released += positive(walk.released);
        t.cells += walk.count > 0 || walk.released > 0;
    }
    return t;
}

/* p log2(p / m), m the mean of both shares. */
static double divergence(double p, double q)
{
    return p > 0 ? p * log2(2 * p / (p + q)) : 0;
}

void cellar_utility_propensity(const utility_cells *original, const utility_cells *released,
                               double out[UTILITY_N_PROPENSITY])
{
    const totals t = add_up(original, released);
    const double n = t.original + t.released, c = t.released / n, df = t.cells - 1;
    const double expected = df * (1 - c) * (1 - c) * c / n;
    double pmse = 0, freeman_tukey = 0, jensen_shannon = 0;
    utility_walk walk = {0};

    while (utility_walk_next(&walk, original, released)) {
        const double a = positive(walk.count), b = positive(walk.released);
        const double p = a / t.original, q = b / t.released;
        const double root = sqrt(b) - sqrt(p * t.released);
        if (a + b > 0)
            pmse += (a + b) * (b / (a + b) - c) * (b / (a + b) - c) / n;
        freeman_tukey += 4 * root * root;
        jensen_shannon += (divergence(p, q) + divergence(q, p)) / 2;
    }
    for (int i = 0; i < UTILITY_N_PROPENSITY; i++)
        out[i] = NAN;
    if (!(t.original > 0 && t.released > 0))
        return;
    out[0] = pmse;
    if (df > 0) {
        out[1] = pmse / expected;
        out[2] = (pmse / expected - 1) * sqrt(df / 2);
    }
    out[3] = pmse * n / (c * (1 - c) * (1 - c));
    out[4] = freeman_tukey;
    out[5] = jensen_shannon;
}
