/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far apart the means of two Sichel counts are, before the counts are drawn. */
#ifndef CELLAR_MECHANISM_FACTS_MIXING_H
#define CELLAR_MECHANISM_FACTS_MIXING_H

#include "mechanism/sichel.h"

/* The fact `mixing` of Sichel counts: encloses the sum of max(0, P - e^epsilon Q), P and Q the laws
 * of the means (from + alpha) G and (from + shift + alpha) G. */
int cellar_sichel_mixing(const cellar_mechanism *m, int64_t from, int64_t shift, int larger,
                         const arb_t epsilon, arb_t out);

#endif
