/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Polya's urn in whole numbers: exact draws of a multinomial law with Dirichlet shares. */
#ifndef CELLAR_RANDOM_URN_H
#define CELLAR_RANDOM_URN_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/random.h>

/* A whole number below `bound`, 0 < bound < 2^63, exactly uniform. */
cellar_status cellar_uniform_below(cellar_rng *rng, uint64_t bound, uint64_t *value,
                                   cellar_error *err);

/* Adds to n_drawn[k] how often colour k was drawn in `n_draws` draws from an urn that starts with
 * weights[k] >= 0 (not all zero; at most 2^32 colours) and gains `added` of the colour of each
 * draw. Fails with CELLAR_ERR_ARGUMENT when the weights reach 2^62. Which memory is read depends on
 * what is drawn; how much of it does not. */
cellar_status cellar_urn_draw(const uint64_t *weights, size_t n_colours, uint64_t added,
                              size_t n_draws, cellar_rng *rng, int64_t *n_drawn, cellar_error *err);

#endif
