/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide laws of an envelope in blocks of numbers: what a pair of counts does at some ratios is read
 * off some hundred blocks instead of thousands of numbers. */
#ifndef CELLAR_PRIVACY_ENVELOPE_BLOCKS_H
#define CELLAR_PRIVACY_ENVELOPE_BLOCKS_H

#include "privacy/envelope_laws.h"

/* 1 when laws are so wide, and pairs so many, that they pay. */
int cellar_law_blocks_pay(const cellar_laws *l);
/* Of each law and block, in l->blocks: bounds on its probability, and sums over all smaller counts
 * of bounds on ln P(b | count + 1) / P(b | count) for all b of the block, and of how many
 * counts there is no such bound. To be cleared on failure too. */
cellar_status cellar_law_blocks_init(cellar_laws *l, cellar_error *err);
void cellar_law_blocks_clear(cellar_law_blocks *blocks);

/* Raises the values of the nodes, which rise in g, to no less than H of the pair of these rows.
 * `log_g` are their logarithms, and `room` is for two numbers at each node, and two more. */
void cellar_law_blocks_values(const cellar_laws *l, size_t p, size_t q, cellar_curve_node *nodes,
                              const double *log_g, size_t n, double *room);

#endif
