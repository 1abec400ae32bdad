/* SPDX-License-Identifier: GPL-3.0-or-later */
/* e^{rate sqrt b} and its inverse for b = 0, 1, ..., which the distributions of all counts share.
 */
#ifndef CELLAR_MECHANISM_KERNELS_HELLINGER_WEIGHTS_H
#define CELLAR_MECHANISM_KERNELS_HELLINGER_WEIGHTS_H

#include <cellar/status.h>

#include "math/run.h"

typedef struct cellar_hellinger_weights cellar_hellinger_weights;

cellar_status cellar_hellinger_weights_create(cellar_hellinger_weights **out, cellar_error *err);
void cellar_hellinger_weights_free(cellar_hellinger_weights *weights); /* NULL is fine */

/* The run of P(0 | count).. far enough for its thresholds; its error is infinite where the
 * exponentials leave the range of doubles. It points into `weights`. Threads may call it at the
 * same time, always with the same rate. */
cellar_status cellar_hellinger_weights_run(cellar_hellinger_weights *weights, const arb_t rate,
                                           int64_t count, cellar_run *out, cellar_error *err);

#endif
