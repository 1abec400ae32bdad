/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "risk/exposure/exposure_curve.h"

double cellar_exposure_radius(const cellar_exposure_curve *curve, double delta)
{
    return sqrt(log(2 * curve->n_possible / delta) / (2 * (double) curve->n_people));
}

/* The plug-in Q' at a threshold that need not be a decimal. */
static double estimate_at(const cellar_exposure_curve *curve, double threshold)
{
    double cutoff = ceil(threshold * (double) curve->total);
    if (!(cutoff > 0))
        return 0;
    return cellar_exposure_value(curve, cutoff < 0x1p64 ? (uint64_t) cutoff : UINT64_MAX);
}

cellar_exposure_band cellar_exposure_band_published(const cellar_exposure_curve *curve,
                                                    double threshold, double radius)
{
    double slack = radius * curve->n_possible;
    return (cellar_exposure_band){fmax(0, estimate_at(curve, threshold - radius) - slack),
                                  fmin(1, estimate_at(curve, threshold + radius) + slack)};
}

/* A true share x within the radius of its estimate adds x if x < t. The most it can add is
 * min(estimate + radius, t), if it may be below t at all; the least, estimate - radius, and nothing
 * unless it is below t for certain. */
cellar_exposure_band cellar_exposure_band_rigorous(const cellar_exposure_curve *curve,
                                                   double threshold, double radius)
{
    cellar_exposure_band band = {0, 0};
    for (size_t i = 0; i < curve->n_steps; i++) {
        double x = curve_share(curve, i), n = (double) curve->steps[i].n_cells;
        if (x - radius < threshold)
            band.upper += n * fmin(x + radius, threshold);
        if (x + radius < threshold)
            band.lower += n * fmax(0, x - radius);
    }
    band.upper += cellar_exposure_n_empty(curve) * fmin(radius, fmax(0, threshold));
    band.upper = fmin(1, band.upper);
    band.lower = fmin(1, band.lower);
    return band;
}

double cellar_exposure_floor(double n_possible)
{
    return 1 / (16 * n_possible);
}
