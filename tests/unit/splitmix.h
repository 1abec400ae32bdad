/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generator of the tests' own, so that random tables never change: splitmix64. */
#ifndef CELLAR_TESTS_SPLITMIX_H
#define CELLAR_TESTS_SPLITMIX_H

#include <stdint.h>

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
