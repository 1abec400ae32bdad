/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splitting multiplies the likelihood ratio e^-loss of the sum by R = prod(1 + xi_i), where given
 * the losses the xi_i are independent, of mean 0, on two points whose logarithms are `spacing`
 * apart. So delta grows by E g(c), c = e^{epsilon - loss}, g(c) = E (1 - cR)^+ - (1 - c)^+.
 *
 * Write V for the sum of spacing^2. The mean of ln R is within V/8 of 0, also under the
 * distribution weighted by R, so by Hoeffding's inequality ln R is beyond -ln c, on that side of 0,
 * with a probability of at most e^{-2 (|ln c| - V/8)^2 / V} under both distributions, which bounds
 * g too. For c >= 1, g(c) = E (1 - cR)^+ <= c E (1 - R) [R < 1/c], and for c < 1, g(c) = E (cR -
 * 1)^+ <= c E (R - 1) [R > 1/c]; both are at most (c/2) E|R - 1|. Hence (Cauchy and Schwarz) g(c)
 * <= c sqrt(Var R) min(1/2, e^{-(|ln c| - V/8)^2 / V}), Var R <= exp(sum sinh^2(spacing/2)) - 1.
 *
 * That is about losses before they were split. Whatever their sum was, it strays by at most V/8 +
 * STRAY sqrt(V) with a probability of at least 1 - 2 e^{-2 STRAY^2}. So with a bound of g that does
 * not increase with the distance from epsilon, E g is at most the same of the losses after they
 * were split, all taken to be closer to epsilon by that much, over that probability. */
#include "privacy/compose_split.h"

#include <math.h>
#include <stddef.h>

static const double STRAY = 1.3;

void cellar_split_init(cellar_split *split, double v, double spacing, double rest)
{
    /* sinh^2(s/2) <= s^2/4 (1 + s^2) for s <= 8; beyond, the bound says nothing anyway */
    double deviation = sqrt(expm1(v / 4 * (1 + spacing * spacing))), above = 0;
    double certain = 1 - 2 * exp(-2 * STRAY * STRAY);
    split->rest = rest;
    split->width = (v / 8 + sqrt(v / 2 * -log(rest))) / CELLAR_SPLIT_LAYERS;
    split->stray = v / 8 + STRAY * sqrt(v);
    for (size_t i = CELLAR_SPLIT_LAYERS; i-- > 0;) {
        double from = fmax((double) i * split->width - v / 8, 0);
        double to = (double) (i + 1) * split->width;
        double bound = deviation * exp(to) * fmin(0.5, exp(-from * from / v)) / certain;
        above = fmax(above, bound * (1 + 1e-9));
        split->most[i] = above;
    }
}

double cellar_split_reach(const cellar_split *split)
{
    return CELLAR_SPLIT_LAYERS * split->width + split->stray;
}

double cellar_split_weight(const cellar_split *split, double distance)
{
    double layer = floor((distance - split->stray) / split->width * (1 - 1e-9));
    if (layer >= CELLAR_SPLIT_LAYERS)
        return 0;
    return split->most[layer > 0 ? (size_t) layer : 0];
}
