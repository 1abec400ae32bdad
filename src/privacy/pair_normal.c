/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair_normal.h"

#include <math.h>

#include "mechanism/facts.h"
#include "mechanism/weighted.h"

/* sigma, or 0 when the noise is another. */
static double sigma_of(const cellar_mechanism *m)
{
    const cellar_weighted *w = (const cellar_weighted *) m;
    const cellar_parameter *sigma;
    if (m->ops->facts != &cellar_gaussian_facts &&
        (m->ops->facts != &cellar_weighted_facts || w->power != 2 || w->last != INT64_MAX))
        return 0;
    sigma = cellar_parameter_find(&m->parameters, "sigma");
    return sigma != NULL ? fmpq_get_d(sigma->value) : 0;
}

/* The loss is h^2/2 v (1 - h^2/12 + r), v = (x + d)^2 - x^2, |r| <= h^4/12 + h^2 Z^2/480, Z <= 1
 * (normal_sums.c). */
cellar_order cellar_pair_compare_normal(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    double x = (double) (b - pair->count[0]), d = (double) (pair->count[0] - pair->count[1]);
    double sigma, h2, z, loss, error, wanted;
    if (pair->m->ops->facts != &cellar_gaussian_facts)
        return CELLAR_ORDER_OPEN;
    sigma = sigma_of(pair->m);
    h2 = 1 / (sigma * sigma);
    z = h2 * (fabs(x) + fabs(d));
    if (!(h2 <= 0x1p-8) || z > 1 || fabs(x) + fabs(d) > 0x1p25)
        return CELLAR_ORDER_OPEN;
    loss = h2 / 2 * (d * (2 * x + d)) * (1 - h2 / 12);
    error = fabs(loss) * (1.01 * (h2 * h2 / 12 + h2 * z * z / 480) + 1e-14);
    wanted = fmpq_get_d(epsilon);
    error += wanted * 1e-15;
    return loss > wanted + error   ? CELLAR_ORDER_ABOVE
           : loss < wanted - error ? CELLAR_ORDER_BELOW
                                   : CELLAR_ORDER_OPEN;
}

/* Let k be the change, z = 45, and epsilon at least -k ln(1 - (z + 1)/sigma) >= k (z + 1)/sigma.
 *   A number x with a loss above epsilon has x >= epsilon sigma^2 / k - k/2 - 1/2 > (z - 1) sigma.
 *   A zero that stands for all noise from a on has the loss ln T(a)/T(a + k), T the tail. Of normal
 * noise that is at most k/sigma times the largest hazard, which is below y + 1 at y deviations. Of
 * discrete normal noise T(j) is no less than the integral from j on, so that q(j)/T(j) is at most
 * (y + 1)/sigma too, and T(j)/T(j + 1) is 1/(1 - q(j)/T(j)). So a zero with a loss above epsilon
 * has a + k > z sigma, a > (z - 1) sigma. Both have a probability of at most e^{-(z - 2)^2/2} <
 * e^-900. */
int cellar_normal_is_within(const cellar_reach *reach, const fmpq_t epsilon)
{
    const double z = 45;
    double sigma = sigma_of(reach->m), k = (double) reach->shift;
    return sigma > 2 * z && k <= sigma &&
           fmpq_get_d(epsilon) > -k * log1p(-(z + 1) / sigma) * (1 + 1e-9);
}
