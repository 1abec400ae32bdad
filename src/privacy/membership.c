/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of all tests of a level, those by the likelihood ratio have the largest power (Neyman and
 * Pearson), and the power at each level is the lowest of the lines that a guarantee allows:
 * power <= e^epsilon level + delta, and, with the hypotheses exchanged,
 * 1 - level <= e^epsilon (1 - power) + delta, so power <= 1 - e^-epsilon (1 - level - delta)
 * (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015; Dong, Roth and Su 2022). With delta at
 * every epsilon the lowest line is the power itself; on a grid it is not below. */
#include <cellar/membership.h>

#include <math.h>
#include <stdio.h>

#include "base/error.h"

enum { N_GRID = 64 };
#define GRID_MAX 12. /* beyond, e^epsilon times a level worth asking for is above 1 */

/* The lowest line so far, and its epsilon. */
typedef struct lowest {
    double power, epsilon;
} lowest;

static void lowest_try(lowest *best, double epsilon, double delta, double level)
{
    const double power =
        fmin(exp(epsilon) * level + delta, 1 - exp(-epsilon) * (1 - level - delta));
    if (power < best->power)
        *best = (lowest){power, epsilon};
}

/* Looks at N_GRID epsilons above `low`, a step apart. */
static cellar_status look(const cellar_certify_part *parts, size_t n,
                          const cellar_certify_options *options, double level, double low,
                          double step, lowest *best, cellar_error *err)
{
    char texts[N_GRID][24];
    const char *epsilons[N_GRID];
    cellar_certify_options asked = *options;
    cellar_certificate *certificate;
    cellar_status status;
    for (int i = 0; i < N_GRID; i++) {
        snprintf(texts[i], sizeof texts[i], "%.9f", low + (i + 1) * step);
        epsilons[i] = texts[i];
    }
    asked.epsilons = epsilons;
    asked.n_epsilons = N_GRID;
    asked.deltas = NULL;
    asked.n_deltas = 0;
    status = cellar_certify(parts, n, &asked, &certificate, err);
    if (status != CELLAR_OK)
        return status;
    if (isfinite(cellar_certificate_pure_epsilon(certificate)))
        lowest_try(best, cellar_certificate_pure_epsilon(certificate), 0, level);
    for (size_t i = 0; i < cellar_certificate_n_points(certificate); i++) {
        const cellar_profile_point point = cellar_certificate_point(certificate, i);
        lowest_try(best, point.epsilon, point.delta, level);
    }
    cellar_certificate_free(certificate);
    return CELLAR_OK;
}

cellar_status cellar_membership_power(const cellar_certify_part *parts, size_t n,
                                      const cellar_certify_options *options, double level,
                                      double *power, cellar_error *err)
{
    const double step = GRID_MAX / N_GRID;
    lowest best = {1, 0};
    cellar_status status;

    *power = NAN;
    if (!(level > 0) || !(level < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a level lies between 0 and 1, got %g", level);
    status = look(parts, n, options, level, 0, step, &best, err);
    if (status == CELLAR_OK) /* and closely around the lowest one seen */
        status = look(parts, n, options, level, fmax(0, best.epsilon - step), 2 * step / N_GRID,
                      &best, err);
    if (status == CELLAR_OK)
        *power = fmin(1, best.power * (1 + 1e-12));
    return status;
}
