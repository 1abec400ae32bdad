/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells are drawn class by class, so that the loops of a class are all of one length and no branch
 * is mispredicted; the order of the bits, one cell after the other, does not depend on it. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/inverse_table.h"
#include "random/secret.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    BLOCK = CELLAR_INVERSE_BLOCK,
    LANES = 4, /* 64-bit numbers in one vector */
    STEP = CELLAR_INVERSE_STEP,
    N_SHORT = CELLAR_INVERSE_SCANNED / CELLAR_INVERSE_STEP,
    CELL_BITS = 64,
};

typedef int64_t lanes __attribute__((vector_size(8 * LANES)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));
typedef int32_t halves __attribute__((vector_size(8 * LANES)));
typedef halves halves_in_memory __attribute__((aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* What a block is drawn from; everything but the laws is secret. */
typedef struct block {
    const cellar_inverse *const *laws;
    const int64_t *bits;
    int64_t *values, *ties;
    uint16_t order[BLOCK];                       /* cells by class */
    uint16_t starts[CELLAR_INVERSE_CLASSES + 1]; /* of each class in the order */
} block;

/* ---- comparisons ------------------------------------------------------------- */

/* *n_below = #{j : t[j] < u}, *tie != 0 when one equals u. n is a multiple of STEP. */
INLINE void scan(const int64_t *t, size_t n, int64_t u, int64_t *n_below, int64_t *tie)
{
    const lanes v = (lanes){0} + u;
    lanes below[2] = {{0}}, equal[2] = {{0}};
    for (size_t j = 0; j < n; j += STEP)
        for (size_t i = 0; i < STEP / LANES; i++) {
            const lanes x = *(const lanes_in_memory *) (t + j + i * LANES);
            below[i % 2] -= v > x;
            equal[i % 2] |= v == x;
        }
    below[0] += below[1];
    equal[0] |= equal[1];
    *n_below = below[0][0] + below[0][1] + below[0][2] + below[0][3];
    *tie = equal[0][0] | equal[0][1] | equal[0][2] | equal[0][3];
}

/* The same for the first halves of thresholds. */
INLINE void scan_halves(const int32_t *t, size_t n, int32_t u, int64_t *n_below, int64_t *tie)
{
    const halves v = (halves){0} + u;
    halves below[2] = {{0}}, equal[2] = {{0}};
    int32_t sum = 0, any = 0;
    for (size_t j = 0; j < n; j += STEP)
        for (size_t i = 0; i < 2; i++) {
            const halves x = *(const halves_in_memory *) (t + j + i * 2 * LANES);
            below[i] -= v > x;
            equal[i] |= v == x;
        }
    below[0] += below[1];
    equal[0] |= equal[1];
    for (size_t i = 0; i < (size_t) 2 * LANES; i++) {
        sum += below[0][i];
        any |= equal[0][i];
    }
    *n_below = sum;
    *tie = any;
}

/* All cells of a block, with comparisons for one kind of machine. Which leaf is read shows in the
 * cache: it is let go. */
#define DECIDE(name, whole, half)                                                                  \
    static void name(const block *k)                                                               \
    {                                                                                              \
        for (size_t class = 0; class < CELLAR_INVERSE_CLASSES; class ++) {                         \
            size_t n = (class + 1) * STEP, leaf = (class + 1 - N_SHORT) * STEP;                    \
            for (size_t o = k->starts[class]; o < k->starts[class + 1]; o++) {                     \
                size_t i = k->order[o];                                                            \
                const cellar_inverse *s = k->laws[i];                                              \
                int64_t below, at = 0, tie = 0, u = k->bits[i];                                    \
                if (class < N_SHORT) {                                                             \
                    whole(s->t, n, u, &below, &k->ties[i]);                                        \
                } else {                                                                           \
                    half(s->root, leaf, (int32_t) (u >> 32), &at, &tie);                           \
                    CELLAR_DECLASSIFY(at);                                                         \
                    at *= (int64_t) leaf;                                                          \
                    half(s->halves + at, leaf, (int32_t) (u >> 32), &below, &k->ties[i]);          \
                    k->ties[i] |= tie;                                                             \
                }                                                                                  \
                k->values[i] = s->base + at + below;                                               \
            }                                                                                      \
        }                                                                                          \
    }

DECIDE(decide_portable, scan, scan_halves)

#ifdef __x86_64__
__attribute__((target("avx2"))) DECIDE(decide_avx2, scan, scan_halves)

#define WIDE __attribute__((target("avx512f,popcnt")))

    /* scan() in vectors twice as long, two to a step. */
    WIDE INLINE
    void scan_wide(const int64_t *t, size_t n, int64_t u, int64_t *n_below, int64_t *tie)
{
    const __m512i v = _mm512_set1_epi64(u), one = _mm512_set1_epi64(1);
    __m512i below[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    unsigned equal = 0;
    for (size_t j = 0; j < n; j += STEP)
        for (size_t i = 0; i < 2; i++) {
            const __m512i x = _mm512_loadu_si512(t + j + 8 * i);
            below[i] =
                _mm512_mask_add_epi64(below[i], _mm512_cmpgt_epi64_mask(v, x), below[i], one);
            equal |= _mm512_cmpeq_epi64_mask(v, x);
        }
    *n_below = _mm512_reduce_add_epi64(_mm512_add_epi64(below[0], below[1]));
    *tie = equal;
}

WIDE INLINE void scan_halves_wide(const int32_t *t, size_t n, int32_t u, int64_t *n_below,
                                  int64_t *tie)
{
    const __m512i v = _mm512_set1_epi32(u);
    int64_t below = 0;
    unsigned equal = 0;
    for (size_t j = 0; j < n; j += STEP) {
        const __m512i x = _mm512_loadu_si512(t + j);
        below += __builtin_popcount(_mm512_cmpgt_epi32_mask(v, x));
        equal |= _mm512_cmpeq_epi32_mask(v, x);
    }
    *n_below = below;
    *tie = equal;
}

WIDE DECIDE(decide_avx512, scan_wide, scan_halves_wide)
#else
#define decide_avx2 decide_portable
#define decide_avx512 decide_portable
#endif

    typedef void decide_function(const block *k);

/* The same numbers on every machine; `level` is for tests. */
static decide_function *decide_best(int level)
{
#ifdef __x86_64__
    if (level >= 2 && __builtin_cpu_supports("avx512f"))
        return decide_avx512;
    if (level >= 1 && __builtin_cpu_supports("avx2"))
        return decide_avx2;
#else
    (void) level;
#endif
    return decide_portable;
}

/* ---- blocks --------------------------------------------------------------------- */

static void block_sort(block *k, size_t n)
{
    uint16_t next[CELLAR_INVERSE_CLASSES];
    memset(k->starts, 0, sizeof k->starts);
    for (size_t i = 0; i < n; i++)
        k->starts[k->laws[i]->class + 1]++;
    for (size_t c = 0; c < CELLAR_INVERSE_CLASSES; c++) {
        next[c] = k->starts[c];
        k->starts[c + 1] = (uint16_t) (k->starts[c + 1] + k->starts[c]);
    }
    for (size_t i = 0; i < n; i++)
        k->order[next[k->laws[i]->class]++] = (uint16_t) i;
}

/* The whole list, and the exact law when 64 bits do not decide. */
static cellar_status decide_exactly(const cellar_inverse *s, int64_t bits, cellar_rng *rng,
                                    int64_t *value, cellar_error *err)
{
    cellar_status status;
    int64_t below, tie;
    fmpz_t prefix;

    scan(s->t, s->n, bits, &below, &tie);
    *value = s->base + below;
    if (tie == 0)
        return CELLAR_OK;
    fmpz_init_set_ui(prefix, (uint64_t) bits ^ (UINT64_C(1) << 63));
    status = cellar_law_draw(&s->law, prefix, CELL_BITS, rng, value, err);
    fmpz_clear(prefix);
    return status;
}

cellar_status cellar_inverse_decide_many(const cellar_inverse *const *laws, size_t n,
                                         const int64_t *bits, int level, cellar_rng *rng,
                                         int64_t *values, cellar_error *err)
{
    int64_t ties[BLOCK], any = 0;
    block k = {.laws = laws, .bits = bits, .values = values, .ties = ties};
    cellar_status status = CELLAR_OK;

    CELLAR_ASSERT(n <= BLOCK);
    block_sort(&k, n);
    decide_best(level)(&k);
    for (size_t i = 0; i < n; i++)
        any |= ties[i];
    CELLAR_DECLASSIFY(any);
    for (size_t i = 0; any != 0 && i < n; i++) {
        CELLAR_DECLASSIFY(ties[i]);
        if (ties[i] != 0)
            CELLAR_TRY(decide_exactly(laws[i], bits[i], rng, &values[i], err));
    }
out:
    return status;
}

cellar_status cellar_inverse_draw_many(const cellar_inverse *const *laws, size_t n, cellar_rng *rng,
                                       int64_t *values, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t bits[BLOCK];
    size_t n_block = 0;

    for (size_t i = 0; i < n; i += n_block) {
        n_block = n - i < BLOCK ? n - i : BLOCK;
        CELLAR_TRY(cellar_rng_bytes(rng, bits, n_block * sizeof *bits, err));
        CELLAR_TRY(cellar_inverse_decide_many(laws + i, n_block, bits, CELLAR_INVERSE_BEST, rng,
                                              values + i, err));
    }
out:
    cellar_wipe(bits, (n < BLOCK ? n : BLOCK) * sizeof *bits);
    return status;
}
