/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the cells of one copy are from the true ones, and how these distances spread. */
#ifndef CELLAR_UTILITY_DISTANCE_H
#define CELLAR_UTILITY_DISTANCE_H

#include <cellar/utility.h>

#include "utility/frame.h"

enum { UTILITY_N_DISTANCES = 6 }; /* d1, d2, d3 of the cells not released as zero, and of all */

/* `n_cells` counts all cells, those that hold zero in both lists included. */
cellar_status cellar_utility_distances(const utility_cells *original, const utility_cells *released,
                                       uint64_t n_cells,
                                       cellar_utility_distance out[UTILITY_N_DISTANCES],
                                       cellar_error *err);

#endif
