/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/noise/gaussian.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "mechanism/calibration/calibration.h"

#define SIGMA_MIN "0.001"
#define SIGMA_MAX "10000"

static const char *const calibrations[] = {"analytic", "pdp", "pdp-liu", "classic", NULL};

const cellar_parameter_rule cellar_gaussian_parameters[] = {
    {.name = "sigma", .at_least = SIGMA_MIN, .at_most = SIGMA_MAX},
    {.name = "epsilon", .above = "0", .at_most = "100"},
    {.name = "delta", .at_least = "1e-100", .below = "1"},
    {.name = "calibration", .kind = CELLAR_PARAMETER_WORD, .words = calibrations},
    {0},
};

static double sigma_solve(const char *calibration, cellar_gaussian_kind kind, const fmpq_t epsilon,
                          const fmpq_t delta)
{
    static const struct {
        const char *name;
        double (*solve[2])(const fmpq_t epsilon, const fmpq_t delta);
    } methods[] = {
        {"analytic", {cellar_calibrate_analytic, cellar_calibrate_discrete_analytic}},
        {"pdp", {cellar_calibrate_pdp, cellar_calibrate_discrete_pdp}},
        {"pdp-liu", {cellar_calibrate_pdp_liu, cellar_calibrate_pdp_liu}},
        {"classic", {cellar_calibrate_classic, cellar_calibrate_classic}},
    };
    size_t i = 0;
    while (i < sizeof methods / sizeof *methods && strcmp(methods[i].name, calibration) != 0)
        i++;
    CELLAR_ASSERT(i < sizeof methods / sizeof *methods); /* other words were refused before */
    return methods[i].solve[kind](epsilon, delta);
}

cellar_status cellar_gaussian_sigma(cellar_parameter_list *parameters, cellar_gaussian_kind kind,
                                    const char *name, cellar_error *err)
{
    const cellar_parameter *sigma = cellar_parameter_find(parameters, "sigma");
    const cellar_parameter *epsilon = cellar_parameter_find(parameters, "epsilon");
    const cellar_parameter *delta = cellar_parameter_find(parameters, "delta");
    const cellar_parameter *how = cellar_parameter_find(parameters, "calibration");
    const char *calibration = how != NULL ? how->text : "analytic";
    cellar_status status;
    double value;
    fmpq_t exact;

    if (sigma != NULL && epsilon == NULL && delta == NULL && how == NULL)
        return CELLAR_OK;
    if (sigma != NULL || epsilon == NULL || delta == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s needs either sigma, or epsilon and delta to calibrate it by, as in "
                           "%s:sigma=5 or %s:epsilon=1,delta=1e-6 (protect also finds sigma from "
                           "--total-epsilon and --delta)",
                           name, name, name);
    if (strcmp(calibration, "classic") == 0 && epsilon->nearest >= 1)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the classic calibration holds for epsilon < 1 only, got %s: "
                           "use calibration=analytic",
                           name, epsilon->text);
    value = sigma_solve(calibration, kind, epsilon->value, delta->value);
    if (!(value >= strtod(SIGMA_MIN, NULL)) || !(value <= strtod(SIGMA_MAX, NULL)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: epsilon=%s, delta=%s ask for sigma = %g; it must be between %s "
                           "and %s",
                           name, epsilon->text, delta->text, value, SIGMA_MIN, SIGMA_MAX);
    fmpq_init(exact);
    cellar_rational_set_double(exact, value);
    status = cellar_parameter_derive(parameters, "sigma", exact, err);
    fmpq_clear(exact);
    return status;
}
