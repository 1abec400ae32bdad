/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How qsort() puts numbers in order. */
#ifndef CELLAR_BASE_ORDER_H
#define CELLAR_BASE_ORDER_H

#include <stdint.h>

/* Ascending. */
static inline int cellar_order_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;
    return (a > b) - (a < b);
}

#endif
