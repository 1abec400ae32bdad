/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By the bound of Chernoff for the mean of n draws (Hoeffding 1963, Theorem 1) the chance that the
 * true share is so far from the one seen that n kl(seen, true) > doubt is at most exp(-doubt), on
 * either side. The interval is never wider than that of his Theorem 2, the radius sqrt(doubt/2n),
 * and much narrower for rare values: its width shrinks with the share. */
#include "risk/exposure/share_interval.h"

#include <math.h>

enum { N_HALVINGS = 60 };

/* The relative entropy of two coins. */
static double divergence(double x, double y)
{
    double sum = 0;
    if (x > 0)
        sum += y > 0 ? x * log(x / y) : INFINITY;
    if (x < 1)
        sum += y < 1 ? (1 - x) * log((1 - x) / (1 - y)) : INFINITY;
    return sum;
}

/* Between the share seen and `far`, what is as far as doubt allows, and not nearer. */
static double share_end(double share, double far, double n_draws, double doubt)
{
    double near = share;
    for (int i = 0; i < N_HALVINGS; i++) {
        double middle = (near + far) / 2;
        if (n_draws * divergence(share, middle) > doubt)
            far = middle;
        else
            near = middle;
    }
    return far;
}

double cellar_share_least(double share, double n_draws, double doubt)
{
    return share > 0 ? share_end(fmin(share, 1), 0, n_draws, doubt) : 0;
}

double cellar_share_most(double share, double n_draws, double doubt)
{
    return share < 1 ? share_end(fmax(share, 0), 1, n_draws, doubt) : 1;
}
