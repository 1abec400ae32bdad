/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/symmetric.h"

#include <endian.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/secret.h"

enum {
    BLOCK = 1024,     /* cells drawn together */
    LANES = 8,        /* 32-bit numbers in one vector */
    TILE = 4 * LANES, /* cells compared with all thresholds at a time */
    PARTS_MAX = CELLAR_SYMMETRIC_DIGITS_MAX + 1,
    SLOTS_MAX = 64,
    THRESHOLDS_MAX = 1 << 20,
    NONE = INT32_MAX,
};

/* Vectors as GCC and clang know them on every processor: one or several registers each. */
typedef int32_t lanes __attribute__((vector_size(4 * LANES)));

/* Part 0 is the sign, the others are the digits. */
struct cellar_symmetric {
    cellar_thresholds parts[PARTS_MAX];
    int32_t weights[PARTS_MAX];
    size_t n_parts, n_slots;
    int use_vectors;
};

/* Everything secret of one block; wiped when the draws are done. The arrays are as long as the
 * longest block, which is short when few cells are drawn. */
typedef struct workspace {
    int32_t *bits[PARTS_MAX];
    int32_t *values[PARTS_MAX];
    int32_t *noise;
    uint32_t *waiting; /* an undecided cell's index, NONE for the others */
    uint64_t more_bits[SLOTS_MAX][PARTS_MAX];
} workspace;

/* An undecided cell on its way through the second comparison. */
typedef struct slot {
    uint32_t index; /* or NONE */
    uint32_t bits[PARTS_MAX];
    uint32_t ties[PARTS_MAX];
    int32_t values[PARTS_MAX];
    int32_t noise;
    uint32_t any_tie;
} slot;

/* ---- the first comparison -------------------------------------------------- */

/* values[i] = #{j : bits[i] > first[j]}; waiting[i] is ORed with all ones when bits[i] equals one
 * of them. n is a multiple of TILE. */
static inline __attribute__((always_inline)) void
scan_thresholds(const int32_t *first, size_t n_first, const int32_t *bits, size_t n,
                int32_t *values, uint32_t *undecided)
{
    for (size_t i = 0; i < n; i += TILE) {
        lanes u[4], above[4], equal[4];
        memcpy(u, bits + i, sizeof u);
        memset(above, 0, sizeof above);
        memcpy(equal, undecided + i, sizeof equal);
        for (size_t j = 0; j < n_first; j++) {
            const lanes t = (lanes){0} + first[j];
            above[0] -= u[0] > t;
            above[1] -= u[1] > t;
            above[2] -= u[2] > t;
            above[3] -= u[3] > t;
            equal[0] |= u[0] == t;
            equal[1] |= u[1] == t;
            equal[2] |= u[2] == t;
            equal[3] |= u[3] == t;
        }
        memcpy(values + i, above, sizeof above);
        memcpy(undecided + i, equal, sizeof equal);
    }
}

/* S (1 + w_1 Y_1 + ...) from the values of the parts, without a branch. */
static inline __attribute__((always_inline)) int32_t sign_and_size(int32_t sign, int32_t size)
{
    int32_t negative = -(int32_t) (sign == 0), kept = -(int32_t) (sign != 2);
    return ((size ^ negative) - negative) & kept;
}

static inline __attribute__((always_inline)) void
block_scan_body(const cellar_symmetric *s, size_t n, size_t n_padded, workspace *w)
{
    memset(w->waiting, 0, n_padded * sizeof *w->waiting);
    for (size_t p = 0; p < s->n_parts; p++)
        scan_thresholds(s->parts[p].first, s->parts[p].n_first, w->bits[p], n_padded, w->values[p],
                        w->waiting);
    for (size_t i = 0; i < n_padded; i++)
        w->noise[i] = 1;
    for (size_t p = 1; p < s->n_parts; p++)
        for (size_t i = 0; i < n_padded; i++)
            w->noise[i] += s->weights[p] * w->values[p][i];
    for (size_t i = 0; i < n_padded; i++)
        w->noise[i] = sign_and_size(w->values[0][i], w->noise[i]);
    for (size_t i = 0; i < n_padded; i++)
        w->waiting[i] = (~w->waiting[i] | (uint32_t) i) & NONE;
    for (size_t i = n; i < n_padded; i++)
        w->waiting[i] = NONE;
}

/* ---- the second comparison ------------------------------------------------- */

/* The least of the indices that wait, or NONE; by masks, where nothing is optimised too. */
static inline __attribute__((always_inline)) uint32_t first_waiting(const uint32_t *waiting,
                                                                    size_t n_padded)
{
    lanes least = (lanes){0} + NONE;
    int32_t first = NONE;
    for (size_t i = 0; i < n_padded; i += LANES) {
        lanes x, less;
        memcpy(&x, waiting + i, sizeof x);
        less = x < least;
        least = (x & less) | (least & ~less);
    }
    for (size_t i = 0; i < LANES; i++) {
        int32_t less = -(int32_t) (least[i] < first);
        first = (least[i] & less) | (first & ~less);
    }
    return (uint32_t) first;
}

/* Takes the first waiting cell out of the block by masks: every cell is read and written. */
static inline __attribute__((always_inline)) void
slot_take_body(const cellar_symmetric *s, size_t n_padded, workspace *w, slot *out)
{
    uint32_t index = first_waiting(w->waiting, n_padded);
    out->index = index;
    for (size_t p = 0; p < s->n_parts; p++) {
        uint32_t found = 0;
        for (size_t i = 0; i < n_padded; i++)
            found |= (uint32_t) w->bits[p][i] & (0u - (uint32_t) ((uint32_t) i == index));
        out->bits[p] = found ^ 0x80000000u;
    }
    for (size_t i = 0; i < n_padded; i++)
        w->waiting[i] |= (0u - (uint32_t) ((uint32_t) i == index)) & NONE;
}

static inline __attribute__((always_inline)) void slot_put_body(size_t n_padded, const slot *in,
                                                                workspace *w)
{
    uint32_t index = in->index;
    int32_t noise = in->noise;
    for (size_t i = 0; i < n_padded; i++) {
        int32_t here = -(int32_t) ((uint32_t) i == index);
        w->noise[i] = (w->noise[i] & ~here) | (noise & here);
    }
}

static void slot_decide(const cellar_symmetric *s, const uint64_t *more_bits, slot *x)
{
    int32_t size = 1;
    x->any_tie = 0;
    for (size_t p = 0; p < s->n_parts; p++) {
        x->values[p] =
            cellar_thresholds_decide(&s->parts[p], x->bits[p], more_bits[p], &x->ties[p]);
        x->any_tie |= x->ties[p];
        if (p > 0)
            size += s->weights[p] * x->values[p];
    }
    x->noise = sign_and_size(x->values[0], size);
    x->any_tie &= 0u - (uint32_t) (x->index != NONE);
}

/* ---- for this processor, and for every one --------------------------------- */

static void block_scan_portable(const cellar_symmetric *s, size_t n, size_t n_padded, workspace *w)
{
    block_scan_body(s, n, n_padded, w);
}

static void slot_take_portable(const cellar_symmetric *s, size_t n_padded, workspace *w, slot *x)
{
    slot_take_body(s, n_padded, w, x);
}

static void slot_put_portable(size_t n_padded, const slot *x, workspace *w)
{
    slot_put_body(n_padded, x, w);
}

#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2")))
WITH_AVX2 static void block_scan_avx2(const cellar_symmetric *s, size_t n, size_t n_padded,
                                      workspace *w)
{
    block_scan_body(s, n, n_padded, w);
}

WITH_AVX2 static void slot_take_avx2(const cellar_symmetric *s, size_t n_padded, workspace *w,
                                     slot *x)
{
    slot_take_body(s, n_padded, w, x);
}

WITH_AVX2 static void slot_put_avx2(size_t n_padded, const slot *x, workspace *w)
{
    slot_put_body(n_padded, x, w);
}
#else
#define block_scan_avx2 block_scan_portable
#define slot_take_avx2 slot_take_portable
#define slot_put_avx2 slot_put_portable
#endif

static int machine_has_vectors(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

/* ---- a block --------------------------------------------------------------- */

static cellar_status block_bits(const cellar_symmetric *s, size_t n, size_t n_padded, workspace *w,
                                cellar_rng *rng, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t p = 0; p < s->n_parts; p++) {
        CELLAR_TRY(cellar_rng_bytes(rng, w->bits[p], n * sizeof *w->bits[p], err));
        for (size_t i = 0; i < n; i++) /* the same numbers on every machine */
            w->bits[p][i] = (int32_t) le32toh((uint32_t) w->bits[p][i]);
        memset(w->bits[p] + n, 0, (n_padded - n) * sizeof *w->bits[p]);
    }
out:
    return status;
}

/* A tie at 96 bits: the exact law decides with more bits. The noise may exceed 32 bits. */
static cellar_status slot_resolve(const cellar_symmetric *s, const uint64_t *more_bits,
                                  const slot *x, cellar_rng *rng, int64_t *noise, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t values[PARTS_MAX] = {0}, size = 1;
    for (size_t p = 0; p < s->n_parts; p++) {
        values[p] = x->values[p];
        if (x->ties[p] != 0)
            CELLAR_TRY(cellar_thresholds_resolve(&s->parts[p], x->bits[p], more_bits[p], rng,
                                                 &values[p], err));
        if (p > 0)
            size += s->weights[p] * values[p];
    }
    *noise = values[0] == 2 ? 0 : values[0] == 0 ? -size : size;
out:
    return status;
}

/* Settles up to n_slots undecided cells; corrections beyond 96 bits go straight to `extra`.
 * *more says whether undecided cells remain. */
static cellar_status block_settle(const cellar_symmetric *s, size_t n_padded, workspace *w,
                                  cellar_rng *rng, int64_t *extra, int *more, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint32_t left = NONE;

    for (size_t k = 0; k < s->n_slots; k++) {
        CELLAR_TRY(
            cellar_rng_bytes(rng, w->more_bits[k], s->n_parts * sizeof w->more_bits[k][0], err));
        for (size_t p = 0; p < s->n_parts; p++)
            w->more_bits[k][p] = le64toh(w->more_bits[k][p]);
    }
    for (size_t k = 0; k < s->n_slots; k++) {
        slot x;
        (s->use_vectors ? slot_take_avx2 : slot_take_portable)(s, n_padded, w, &x);
        slot_decide(s, w->more_bits[k], &x);
        (s->use_vectors ? slot_put_avx2 : slot_put_portable)(n_padded, &x, w);
        CELLAR_DECLASSIFY(x.any_tie);
        if (x.any_tie != 0) {
            int64_t noise;
            CELLAR_DECLASSIFY(x);
            CELLAR_TRY(slot_resolve(s, w->more_bits[k], &x, rng, &noise, err));
            extra[x.index] += noise - x.noise;
        }
        cellar_wipe(&x, sizeof x);
    }
    for (size_t i = 0; i < n_padded; i++)
        left &= w->waiting[i];
    *more = left != NONE;
    CELLAR_DECLASSIFY(*more);
out:
    return status;
}

static cellar_status block_draw(const cellar_symmetric *s, const int64_t *counts, size_t n,
                                workspace *w, cellar_rng *rng, int64_t *released, cellar_error *err)
{
    size_t n_padded = (n + TILE - 1) / TILE * TILE;
    cellar_status status = CELLAR_OK;
    int more = 1;

    CELLAR_TRY(block_bits(s, n, n_padded, w, rng, err));
    (s->use_vectors ? block_scan_avx2 : block_scan_portable)(s, n, n_padded, w);
    if (released != counts)
        memcpy(released, counts, n * sizeof *counts);
    while (more)
        CELLAR_TRY(block_settle(s, n_padded, w, rng, released, &more, err));
    for (size_t i = 0; i < n; i++)
        released[i] += w->noise[i];
out:
    return status;
}

static void workspace_lay_out(workspace *w, size_t n_parts, int32_t *memory, size_t length)
{
    for (size_t p = 0; p < n_parts; p++, memory += 2 * length) {
        w->bits[p] = memory;
        w->values[p] = memory + length;
    }
    w->noise = memory;
    w->waiting = (uint32_t *) memory + length;
}

cellar_status cellar_symmetric_add_noise(const cellar_symmetric *s, const int64_t *counts, size_t n,
                                         cellar_rng *rng, int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    _Alignas(64) int32_t few[2 * (PARTS_MAX + 1) * TILE];
    size_t length = n < BLOCK ? (n + TILE - 1) / TILE * TILE : BLOCK;
    size_t size = 2 * (s->n_parts + 1) * length * sizeof few[0];
    int32_t *memory = size <= sizeof few ? few : cellar_alloc_pages(size);
    workspace w;

    if (memory == NULL)
        return cellar_fail_memory(err, "noise");
    workspace_lay_out(&w, s->n_parts, memory, length);
    for (size_t i = 0; i < n; i += BLOCK)
        CELLAR_TRY(
            block_draw(s, counts + i, n - i < BLOCK ? n - i : BLOCK, &w, rng, released + i, err));
out:
    cellar_wipe(memory, size);
    cellar_wipe(w.more_bits, s->n_slots * sizeof w.more_bits[0]);
    if (memory != few)
        cellar_free(memory);
    return status;
}

/* ---- life cycle ------------------------------------------------------------ */

/* The smallest number of slots that a block overfills less often than once in 2^72. Undecided
 * cells are fewer than Poisson(lambda): P(more than k) < lambda^(k+1) / (k+1)!. Plain products of
 * doubles, so that every machine draws the same bits. */
static size_t symmetric_slots(const cellar_symmetric *s)
{
    double lambda = 0, bound;
    size_t k = 0;
    for (size_t p = 0; p < s->n_parts; p++)
        lambda += (double) s->parts[p].n_first * BLOCK / 4294967296.0;
    bound = lambda;
    while (bound > 0x1p-72 && k + 1 < SLOTS_MAX) {
        k++;
        bound *= lambda / (double) (k + 1);
    }
    return k > 0 ? k : 1;
}

cellar_status cellar_symmetric_create(cellar_law sign, const cellar_law *digits,
                                      const int64_t *weights, size_t n_digits,
                                      cellar_symmetric **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t largest = 1;
    cellar_symmetric *s;

    *out = NULL;
    CELLAR_ASSERT(n_digits <= CELLAR_SYMMETRIC_DIGITS_MAX);
    s = cellar_alloc(1, sizeof *s);
    if (s == NULL)
        return cellar_fail_memory(err, "a sampler");
    s->n_parts = n_digits + 1;
    s->use_vectors = machine_has_vectors();
    CELLAR_TRY(cellar_thresholds_init(&s->parts[0], sign, 2, err));
    for (size_t p = 1; p <= n_digits; p++) {
        CELLAR_TRY(cellar_thresholds_init(&s->parts[p], digits[p - 1], THRESHOLDS_MAX, err));
        s->weights[p] = (int32_t) weights[p - 1];
        largest += weights[p - 1] * (int64_t) s->parts[p].n_second;
    }
    if (largest > INT32_MAX)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_ARGUMENT, "this noise takes too many values to be drawn"));
    s->n_slots = symmetric_slots(s);
    *out = s;
    s = NULL;
out:
    cellar_symmetric_free(s);
    return status;
}

void cellar_symmetric_free(cellar_symmetric *s)
{
    if (s == NULL)
        return;
    for (size_t p = 0; p < s->n_parts; p++)
        cellar_thresholds_clear(&s->parts[p]);
    cellar_free(s);
}

size_t cellar_symmetric_n_slots(const cellar_symmetric *s)
{
    return s->n_slots;
}

void cellar_symmetric_use_vectors(cellar_symmetric *s, int use)
{
    s->use_vectors = use && machine_has_vectors();
}
