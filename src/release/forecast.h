/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mechanism is expected to do to a table. */
#ifndef CELLAR_RELEASE_FORECAST_H
#define CELLAR_RELEASE_FORECAST_H

#include <cellar/release.h>

#include "release/draw/zeros.h"

/* P(a cell of `count` is listed), and the mean of what is released for it. */
double cellar_forecast_listed(const cellar_mechanism *mechanism, const cellar_listing *listing,
                              int64_t count);

/* Fills size, false_positives and bias; n_possible and empty_size are there. */
cellar_status cellar_forecast_fill(const cellar_table *table, const cellar_mechanism *mechanism,
                                   const cellar_listing *listing, cellar_forecast *out,
                                   cellar_error *err);

#endif
