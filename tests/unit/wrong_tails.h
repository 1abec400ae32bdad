/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mechanism that contradicts itself, so that two ways to delta disagree. */
#ifndef CELLAR_TESTS_WRONG_TAILS_H
#define CELLAR_TESTS_WRONG_TAILS_H

#include <string.h>

#include "mechanism/registry.h"

/* Tails that are too small from some steps on, while single probabilities are right. */
static inline void wrong_survival(const cellar_mechanism *m, int64_t count, int64_t released,
                                  int64_t bits, arb_t out)
{
    const cellar_mechanism_ops *const *right = cellar_mechanism_registry;
    while (strcmp((*right)->name, m->ops->name) != 0)
        right++;
    (*right)->survival_ball(m, count, released, bits, out);
    if (released > count + 2)
        arb_mul_2exp_si(out, out, -1);
}

#endif
