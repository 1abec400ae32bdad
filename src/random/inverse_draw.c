/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of short lists are drawn class by class, so that the loops of a class are all of one length
 * and no branch is mispredicted; those of long lists law by law, so that a list is read once for
 * many. The order of the bits, one cell after the other, does not depend on it. */
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
    COLUMNS = CELLAR_INVERSE_COLUMNS,
    N_CLASSES = CELLAR_INVERSE_SCANNED / CELLAR_INVERSE_STEP, /* of short lists, by length */
    WIDE_LANES = 16,
    FEW = 512, /* cells whose bits lie on the stack */
    CELL_BITS = 64,
};

typedef int64_t lanes __attribute__((vector_size(8 * LANES)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));
typedef int32_t halves __attribute__((vector_size(8 * LANES)));
typedef halves halves_in_memory __attribute__((aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Cells of one law with a long list. */
typedef struct group {
    const cellar_inverse *law;
    size_t n;
    uint16_t *cells;
} group;

/* What a block is drawn from; everything but the laws is secret. */
typedef struct block {
    const cellar_inverse *const *laws;
    const int64_t *bits;
    int64_t *values, *ties;
    size_t starts[N_CLASSES + 1]; /* of each class in the order */
    uint16_t *order; /* cells of short lists by class, then those of long ones by law */
    uint16_t *lists; /* of each cell its class, or N_CLASSES + its group */
    uint16_t *slots; /* 1 + group: a table of open addresses */
    group *groups;
    size_t n_slots, n_groups;
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

/* The cells of a group that has halves, one after the other. */
INLINE void scan_group(const block *k, const group *g)
{
    const cellar_inverse *s = g->law;
    for (size_t j = 0; j < g->n; j++) {
        size_t i = g->cells[j];
        int64_t below;
        scan_halves(s->halves, COLUMNS * s->n_rows, (int32_t) (k->bits[i] >> 32), &below,
                    &k->ties[i]);
        k->values[i] = s->halves_base + below;
    }
}

/* Whether the first 32 bits are all zeros or all ones: they may lie beyond the middle of a list. */
INLINE int64_t at_end(int64_t bits)
{
    int64_t half = bits >> 32;
    return (half == INT32_MIN) | (half == INT32_MAX);
}

/* All cells of a block, with comparisons for one kind of machine. */
#define DECIDE(name, whole, by_halves)                                                             \
    static void name(const block *k)                                                               \
    {                                                                                              \
        int64_t below;                                                                             \
        for (size_t class = 0; class < N_CLASSES; class ++)                                        \
            for (size_t o = k->starts[class]; o < k->starts[class + 1]; o++) {                     \
                size_t i = k->order[o];                                                            \
                whole(k->laws[i]->t, (class + 1) * STEP, k->bits[i], &below, &k->ties[i]);         \
                k->values[i] = k->laws[i]->base + below;                                           \
            }                                                                                      \
        for (const group *g = k->groups; g < k->groups + k->n_groups; g++) {                       \
            if (g->law->n_rows > 0) {                                                              \
                by_halves(k, g);                                                                   \
                continue;                                                                          \
            }                                                                                      \
            for (size_t j = 0; j < g->n; j++) {                                                    \
                size_t i = g->cells[j];                                                            \
                whole(g->law->t + g->law->first, g->law->n_middle, k->bits[i], &below,             \
                      &k->ties[i]);                                                                \
                k->values[i] = g->law->base + (int64_t) g->law->first + below;                     \
                k->ties[i] |= at_end(k->bits[i]);                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DECIDE(decide_portable, scan, scan_group)

#ifdef __x86_64__
__attribute__((target("avx2"))) DECIDE(decide_avx2, scan, scan_group)

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

/* scan_group() for up to 16 cells at once, one in each lane. The first row tells a cell's column;
 * of every other row it takes that column's number, both by permutations of registers. */
WIDE INLINE void scan_lanes(const block *k, const cellar_inverse *s, const uint16_t *cells,
                            size_t n)
{
    const int32_t *rows = s->halves;
    const __m512i one = _mm512_set1_epi32(1);
    __m512i low = _mm512_load_si512(rows), high = _mm512_load_si512(rows + WIDE_LANES);
    __m512i u, below, column = _mm512_setzero_si512(), nearest = _mm512_set1_epi32(-1);
    __mmask16 equal = 0;
    int32_t lane[WIDE_LANES] = {0};

    for (size_t j = 0; j < n; j++)
        lane[j] = (int32_t) (k->bits[cells[j]] >> 32);
    u = _mm512_loadu_si512(lane);
    for (int step = COLUMNS / 2; step > 0; step /= 2) {
        __m512i i = _mm512_add_epi32(column, _mm512_set1_epi32(step - 1));
        __m512i x = _mm512_permutex2var_epi32(low, i, high);
        equal |= _mm512_cmpeq_epi32_mask(u, x);
        column = _mm512_mask_add_epi32(column, _mm512_cmpgt_epi32_mask(u, x), column,
                                       _mm512_set1_epi32(step));
    }
    below = _mm512_mullo_epi32(column, _mm512_set1_epi32((int) s->n_rows));
    for (size_t r = 1; r < s->n_rows; r++) {
        __m512i x;
        low = _mm512_load_si512(rows + COLUMNS * r);
        high = _mm512_load_si512(rows + COLUMNS * r + WIDE_LANES);
        x = _mm512_permutex2var_epi32(low, column, high);
        nearest = _mm512_min_epu32(nearest, _mm512_sub_epi32(x, u));
        below = _mm512_mask_add_epi32(below, _mm512_cmpgt_epi32_mask(u, x), below, one);
    }
    equal |= _mm512_testn_epi32_mask(nearest, nearest);
    _mm512_storeu_si512(lane, below);
    for (size_t j = 0; j < n; j++) {
        k->values[cells[j]] = s->halves_base + lane[j];
        k->ties[cells[j]] = equal >> j & 1;
    }
}

WIDE INLINE void scan_group_wide(const block *k, const group *g)
{
    for (size_t j = 0; j < g->n; j += WIDE_LANES)
        scan_lanes(k, g->law, g->cells + j, g->n - j < WIDE_LANES ? g->n - j : WIDE_LANES);
}

WIDE DECIDE(decide_avx512, scan_wide, scan_group_wide)
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

/* The short lists' class; N_CLASSES for all long ones. */
static size_t class_of(const cellar_inverse *s)
{
    return s->n <= CELLAR_INVERSE_SCANNED ? s->n / STEP - 1 : N_CLASSES;
}

/* The group of a law, a new one perhaps. */
static size_t block_group(block *k, const cellar_inverse *s)
{
    size_t i = (size_t) ((uintptr_t) s * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (k->n_slots - 1);
    while (k->slots[i] != 0 && k->groups[k->slots[i] - 1].law != s)
        i = (i + 1) & (k->n_slots - 1);
    if (k->slots[i] == 0) {
        k->groups[k->n_groups++] = (group){.law = s};
        k->slots[i] = (uint16_t) k->n_groups;
    }
    return k->slots[i] - (size_t) 1;
}

/* Finds each cell's list; sizes[class] is how many a class has. */
static void block_list(block *k, size_t n, size_t *sizes)
{
    memset(k->slots, 0, k->n_slots * sizeof *k->slots);
    k->n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        size_t list = class_of(k->laws[i]);
        if (list == N_CLASSES) {
            size_t g = block_group(k, k->laws[i]);
            k->groups[g].n++;
            list += g;
        } else {
            sizes[list]++;
        }
        k->lists[i] = (uint16_t) list;
    }
}

static void block_sort(block *k, size_t n)
{
    size_t sizes[N_CLASSES] = {0}, next[N_CLASSES], start = 0;

    block_list(k, n, sizes);
    for (size_t c = 0; c < N_CLASSES; c++) {
        next[c] = k->starts[c] = start;
        start += sizes[c];
    }
    k->starts[N_CLASSES] = start;
    for (size_t g = 0; g < k->n_groups; g++) {
        k->groups[g].cells = k->order + start;
        start += k->groups[g].n;
        k->groups[g].n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (k->lists[i] < N_CLASSES) {
            k->order[next[k->lists[i]]++] = (uint16_t) i;
        } else {
            group *g = &k->groups[k->lists[i] - N_CLASSES];
            g->cells[g->n++] = (uint16_t) i;
        }
    }
}

/* Room for n cells, not cleared. */
static cellar_status block_init(block *k, size_t n, cellar_error *err)
{
    *k = (block){.n_slots = 2};
    while (k->n_slots < 2 * n)
        k->n_slots *= 2;
    k->groups =
        cellar_realloc(NULL, n + 1, sizeof *k->groups + sizeof *k->ties + 6 * sizeof *k->order);
    if (k->groups == NULL)
        return cellar_fail_memory(err, "a sampler");
    k->ties = (int64_t *) (k->groups + n);
    k->order = (uint16_t *) (k->ties + n);
    k->lists = k->order + n;
    k->slots = k->lists + n;
    return CELLAR_OK;
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
    cellar_status status = CELLAR_OK;
    int64_t any = 0;
    block k;

    CELLAR_ASSERT(n <= BLOCK);
    CELLAR_TRY(block_init(&k, n, err));
    k.laws = laws;
    k.bits = bits;
    k.values = values;
    block_sort(&k, n);
    decide_best(level)(&k);
    for (size_t i = 0; i < n; i++)
        any |= k.ties[i];
    CELLAR_DECLASSIFY(any);
    for (size_t i = 0; any != 0 && i < n; i++) {
        CELLAR_DECLASSIFY(k.ties[i]);
        if (k.ties[i] != 0)
            CELLAR_TRY(decide_exactly(laws[i], bits[i], rng, &values[i], err));
    }
out:
    cellar_free(k.groups);
    return status;
}

cellar_status cellar_inverse_draw_many(const cellar_inverse *const *laws, size_t n, cellar_rng *rng,
                                       int64_t *values, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t bits[FEW];
    size_t n_block = 0;

    for (size_t i = 0; i < n; i += n_block) {
        n_block = n - i < FEW ? n - i : FEW;
        CELLAR_TRY(cellar_rng_bytes(rng, bits, n_block * sizeof *bits, err));
        CELLAR_TRY(cellar_inverse_decide_many(laws + i, n_block, bits, CELLAR_INVERSE_BEST, rng,
                                              values + i, err));
    }
out:
    cellar_wipe(bits, (n < FEW ? n : FEW) * sizeof *bits);
    return status;
}
