/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generator whose bytes come from a function: how tests force ties, enumerate all bit strings
 * and mark bits as secret. Never secure. */
#ifndef CELLAR_RANDOM_RNG_H
#define CELLAR_RANDOM_RNG_H

#include <cellar/random.h>

typedef cellar_status cellar_rng_source(void *context, void *bytes, size_t length,
                                        cellar_error *err);

cellar_status cellar_rng_create_source(cellar_rng_source *source, void *context, cellar_rng **out,
                                       cellar_error *err);

#endif
