/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a table of released numbers is put together, piece by piece. */
#ifndef CELLAR_INFERENCE_NOISY_BUILD_H
#define CELLAR_INFERENCE_NOISY_BUILD_H

#include "inference/noisy.h"

/* Room for a table of that shape. Whatever fails, cellar_noisy_free() frees what there is. */
cellar_status cellar_noisy_shape(cellar_noisy *noisy, const size_t *n_levels, size_t n_variables,
                                 cellar_error *err);
cellar_status cellar_noisy_set_text(char **place, const char *text, cellar_error *err);
cellar_status cellar_noisy_set_channel(cellar_noisy *noisy, const char *spec,
                                       cellar_negatives negatives, int64_t threshold,
                                       cellar_error *err);

#endif
