/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two Gaussian mechanisms share: sigma, given or calibrated to (epsilon, delta). */
#ifndef CELLAR_MECHANISM_NOISE_GAUSSIAN_H
#define CELLAR_MECHANISM_NOISE_GAUSSIAN_H

#include "mechanism/parameter.h"

typedef enum cellar_gaussian_kind {
    CELLAR_GAUSSIAN_ROUNDED, /* continuous noise, rounded: calibrated as continuous noise */
    CELLAR_GAUSSIAN_DISCRETE,
} cellar_gaussian_kind;

extern const cellar_parameter_rule cellar_gaussian_parameters[];

/* Finds sigma among the parameters, or derives it and adds it. `name` is the mechanism's. */
cellar_status cellar_gaussian_sigma(cellar_parameter_list *parameters, cellar_gaussian_kind kind,
                                    const char *name, cellar_error *err);

#endif
