/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Eight numbers side by side, one for each mechanism, in the widest registers there are. */
#ifndef CELLAR_RISK_HOMOGENEITY_LANES_H
#define CELLAR_RISK_HOMOGENEITY_LANES_H

enum { CELLAR_LANES = 8 };

/* Wherever doubles may lie. */
typedef double cellar_lanes __attribute__((vector_size(8 * CELLAR_LANES), aligned(8)));
typedef long long cellar_lanes_bits __attribute__((vector_size(8 * CELLAR_LANES), aligned(8)));

/* A function body is written once, inline, and wrapped in a function for each kind of processor;
 * the wrappers are chosen among by lanes_way(). */
#define LANES_INLINE __attribute__((always_inline)) static inline
#if defined(__x86_64__)
#define LANES_AVX512 __attribute__((target("avx512f,fma")))
#define LANES_AVX2 __attribute__((target("avx2,fma")))
#endif

enum { LANES_PLAIN, LANES_BY_AVX2, LANES_BY_AVX512 };

static inline int lanes_way(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma"))
        return LANES_BY_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return LANES_BY_AVX2;
#endif
    return LANES_PLAIN;
}

#endif
