/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sixty-four bytes at a time become three bit masks (delimiters, newlines, quotes), and the set
 * bits of the first two become positions. The masks come from AVX-512 or AVX2 where the processor
 * has them, else from plain C; the answer is the same. */
#include "data/separators.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define SEPARATORS_X86 1
#endif

enum { BLOCK = 64 };

typedef struct block_masks {
    uint64_t delimiters, newlines, quotes;
} block_masks;

/* Positions of the set bits of `mask`. Writes eight at a time, more often than there are bits, so
 * that the number of iterations is predictable; the surplus is overwritten by the next block. */
static inline size_t write_positions(uint64_t mask, uint32_t base, uint32_t *out)
{
    size_t n = (size_t) __builtin_popcountll(mask);
    for (size_t done = 0; done < n; done += 8)
        for (size_t k = 0; k < 8; k++) {
            out[done + k] = base + (uint32_t) __builtin_ctzll(mask | (uint64_t) 1 << 63);
            mask &= mask - 1;
        }
    return n;
}

static inline block_masks plain_masks(const char *text, char delimiter)
{
    block_masks m = {0, 0, 0};
    for (int i = 0; i < BLOCK; i++) {
        m.delimiters |= (uint64_t) (text[i] == delimiter) << i;
        m.newlines |= (uint64_t) (text[i] == '\n') << i;
        m.quotes |= (uint64_t) (text[i] == '"') << i;
    }
    return m;
}

/* Adds one block to the running totals. `valid` has a bit for every byte of the text. */
static inline void add_block(cellar_separators *total, block_masks m, uint64_t valid, uint32_t base,
                             uint32_t *positions)
{
    m.newlines &= valid;
    m.delimiters &= valid;
    total->has_quote |= (m.quotes & valid) != 0;
    total->n_newlines += (size_t) __builtin_popcountll(m.newlines);
    total->n += write_positions(m.delimiters | m.newlines, base, positions + total->n);
}

/* The loop around any of the mask functions; the last, partial block is masked. */
#define SEPARATORS_LOOP(masks)                                                                     \
    cellar_separators total = {0, 0, 0};                                                           \
    for (size_t at = 0; at < length; at += BLOCK) {                                                \
        uint64_t valid =                                                                           \
            length - at < BLOCK ? ((uint64_t) 1 << (length - at)) - 1 : ~(uint64_t) 0;             \
        add_block(&total, masks(text + at, delimiter), valid, (uint32_t) at, positions);           \
    }                                                                                              \
    return total

static cellar_separators find_plain(const char *text, size_t length, char delimiter,
                                    uint32_t *positions)
{
    SEPARATORS_LOOP(plain_masks);
}

#ifdef SEPARATORS_X86
__attribute__((target("avx2"))) static inline uint64_t avx2_equal(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t l = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t h = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return (uint64_t) h << 32 | l;
}

__attribute__((target("avx2"))) static inline block_masks avx2_masks(const char *text,
                                                                     char delimiter)
{
    __m256i low = _mm256_loadu_si256((const __m256i *) (const void *) text);
    __m256i high = _mm256_loadu_si256((const __m256i *) (const void *) (text + 32));
    block_masks m = {avx2_equal(low, high, delimiter), avx2_equal(low, high, '\n'),
                     avx2_equal(low, high, '"')};
    return m;
}

__attribute__((target("avx2,bmi,popcnt"))) static cellar_separators
find_avx2(const char *text, size_t length, char delimiter, uint32_t *positions)
{
    SEPARATORS_LOOP(avx2_masks);
}

/* AVX-512 compresses the numbers 0..63 by the mask, which replaces the loop over bits. */
__attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,popcnt"))) static cellar_separators
find_avx512(const char *text, size_t length, char delimiter, uint32_t *positions)
{
    const __m512i delimiters = _mm512_set1_epi8(delimiter), newlines = _mm512_set1_epi8('\n');
    const __m512i quotes = _mm512_set1_epi8('"');
    cellar_separators total = {0, 0, 0};
    uint64_t any_quote = 0;
    unsigned char numbers[BLOCK];
    __m512i ramp;

    for (int i = 0; i < BLOCK; i++)
        numbers[i] = (unsigned char) i;
    memcpy(&ramp, numbers, sizeof ramp);
    for (size_t at = 0; at < length; at += BLOCK) {
        uint64_t valid = length - at < BLOCK ? ((uint64_t) 1 << (length - at)) - 1 : ~(uint64_t) 0;
        __m512i bytes = _mm512_loadu_si512((const void *) (text + at)), packed, base;
        uint64_t newline = _mm512_mask_cmpeq_epi8_mask(valid, bytes, newlines);
        uint64_t mask = newline | _mm512_mask_cmpeq_epi8_mask(valid, bytes, delimiters);
        size_t n = (size_t) __builtin_popcountll(mask);

        any_quote |= _mm512_mask_cmpeq_epi8_mask(valid, bytes, quotes);
        packed = _mm512_maskz_compress_epi8(mask, ramp);
        base = _mm512_set1_epi32((int) at);
        for (size_t done = 0; done < n; done += 16) {
            __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
            _mm512_storeu_si512((void *) (positions + total.n + done),
                                _mm512_add_epi32(base, wide));
            packed = _mm512_alignr_epi32(packed, packed, 4);
        }
        total.n += n;
        total.n_newlines += (size_t) __builtin_popcountll(newline);
    }
    total.has_quote = any_quote != 0;
    return total;
}
#endif

static int always_works(void)
{
    return 1;
}

#ifdef SEPARATORS_X86
static int avx512_works(void)
{
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw");
}

static int avx2_works(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

const cellar_separators_way cellar_separators_ways[CELLAR_SEPARATORS_MAX_WAYS] = {
#ifdef SEPARATORS_X86
    {"avx512", avx512_works, find_avx512},
    {"avx2", avx2_works, find_avx2},
#endif
    {"plain", always_works, find_plain},
};

cellar_separators cellar_separators_find(const char *text, size_t length, char delimiter,
                                         uint32_t *positions)
{
    const cellar_separators_way *way = cellar_separators_ways;
    while (!way->works())
        way++;
    return way->find(text, length, delimiter, positions);
}
