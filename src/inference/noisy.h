/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a table of released numbers. */
#ifndef CELLAR_INFERENCE_NOISY_H
#define CELLAR_INFERENCE_NOISY_H

#include <cellar/inference.h>

#include "inference/channel.h"
#include "inference/cube_noise.h"
#include "inference/likelihood.h"
#include "inference/pooled_noise.h"

struct cellar_noisy {
    size_t n_variables, n_cells;
    size_t *n_levels;
    char **names;
    char **codes; /* of all variables, one after the other */
    int64_t *released;
    unsigned char *structural;
    int suppresses; /* 1: a 0 that is not structural is a suppressed cell */
    cellar_mechanism *mechanism;
    cellar_noise_sum *sum; /* NULL: numbers as released */
    uint64_t n_summed;
    cellar_channel channel;
    /* The table is a cube's: its noise is that of all cells together, and the channel stands in for
     * it cell by cell. */
    cellar_cube_noise *joint;
    size_t *places; /* of each cell in the cube's table */
    /* Cells are estimated from all values of a release: likewise. */
    cellar_pooled_noise *pooled;
};

/* Fails unless the table has two variables with two levels each at least. */
cellar_status cellar_noisy_check_two_way(const cellar_noisy *noisy, cellar_error *err);

/* 1 when errors of cells are correlated: of a cube, or pooled. */
int cellar_noisy_is_correlated(const cellar_noisy *noisy);

/* Fails (CELLAR_ERR_RULE) for a table with correlated errors; `what` knows the noise of independent
 * cells. */
cellar_status cellar_noisy_check_independent(const cellar_noisy *noisy, const char *what,
                                             cellar_error *err);

/* Turns counts into what would have been released for them. */
cellar_status cellar_noisy_draw(const cellar_noisy *noisy, cellar_simulator *simulator,
                                int64_t *numbers, cellar_error *err);

/* The observations of `numbers` (one per cell; structural zeros have none). */
cellar_status cellar_noisy_observe(const cellar_noisy *noisy, const int64_t *numbers,
                                   cellar_likelihood *likelihood, cellar_observation **out,
                                   cellar_error *err);

#endif
