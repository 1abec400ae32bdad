/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One or two sums of cells, each with noise that is a weighted sum: intervals, differences, ratios.
 */
#ifndef CELLAR_INFERENCE_COMPARE_H
#define CELLAR_INFERENCE_COMPARE_H

#include <cellar/cube_inference.h>

#include "inference/cube_terms.h"

/* The finding about values[0] (CELLAR_COMPARE_NONE), or about two. Intervals miss with probability
 * `tail`, which is at least CELLAR_SMALLEST_TAIL. */
cellar_status cellar_compare_sums(const cube_terms *terms, const double *values,
                                  cellar_comparison comparison, double tail,
                                  cellar_cube_finding *out, cellar_error *err);

#endif
