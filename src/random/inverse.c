/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/inverse.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/secret.h"

enum {
    BLOCK = 512, /* cells drawn together */
    LANES = 4,   /* 64-bit numbers in one vector */
    STEP = 16,   /* thresholds compared at a time */
    CELL_BITS = 64,
    GUARD_BITS = 32,
};

typedef int64_t lanes __attribute__((vector_size(8 * LANES)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));

/* Thresholds less 2^63, so that signed comparison orders them; filled up with all ones, which no
 * bits exceed. Long lists are followed by the last threshold of each leaf. */
struct cellar_inverse {
    cellar_law law;
    int64_t base;  /* the value of bits below all thresholds */
    size_t n;      /* filled up */
    size_t n_root; /* filled up; 0 for short lists */
    size_t leaf;   /* thresholds of the second step of long lists */
    int64_t t[];
};

/* ---- drawing --------------------------------------------------------------- */

/* *n_below = #{j : t[j] < u}, *tie != 0 when one equals u. n is a multiple of STEP. */
static inline __attribute__((always_inline)) void scan(const int64_t *t, size_t n, int64_t u,
                                                       int64_t *n_below, int64_t *tie)
{
    const lanes v = (lanes){0} + u;
    lanes below[2] = {{0}}, equal[2] = {{0}};
    for (size_t j = 0; j < n; j += STEP)
        for (size_t i = 0; i < STEP / LANES; i++) {
            const lanes x = *(const lanes_in_memory *) (t + j + i * LANES);
            below[i % 2] -= v > x;
            equal[i % 2] -= v == x;
        }
    below[0] += below[1];
    equal[0] += equal[1];
    *n_below = below[0][0] + below[0][1] + below[0][2] + below[0][3];
    *tie = equal[0][0] | equal[0][1] | equal[0][2] | equal[0][3];
}

/* Values of a block; answers whether any is undecided. */
static inline __attribute__((always_inline)) int64_t
draw_block_body(const cellar_inverse *const *laws, size_t n, const int64_t *bits, int64_t *values,
                int64_t *ties)
{
    int64_t any = 0;
    for (size_t i = 0; i < n; i++) {
        const cellar_inverse *s = laws[i];
        int64_t below, leaf, unused;
        if (s->n_root == 0) {
            scan(s->t, s->n, bits[i], &below, &ties[i]);
        } else {
            scan(s->t + s->n, s->n_root, bits[i], &leaf, &unused);
            leaf *= (int64_t) s->leaf;
            scan(s->t + leaf, s->leaf, bits[i], &below, &ties[i]);
            below += leaf;
        }
        values[i] = s->base + below;
        any |= ties[i];
    }
    return any;
}

static int64_t draw_block_portable(const cellar_inverse *const *laws, size_t n, const int64_t *bits,
                                   int64_t *values, int64_t *ties)
{
    return draw_block_body(laws, n, bits, values, ties);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static int64_t draw_block_avx2(const cellar_inverse *const *laws,
                                                               size_t n, const int64_t *bits,
                                                               int64_t *values, int64_t *ties)
{
    return draw_block_body(laws, n, bits, values, ties);
}

static int machine_has_vectors(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define draw_block_avx2 draw_block_portable
static int machine_has_vectors(void)
{
    return 0;
}
#endif

/* 64 bits did not decide. */
static cellar_status draw_resolve(const cellar_inverse *s, int64_t bits, cellar_rng *rng,
                                  int64_t *value, cellar_error *err)
{
    cellar_status status;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, (uint64_t) bits ^ (UINT64_C(1) << 63));
    status = cellar_law_draw(&s->law, prefix, CELL_BITS, rng, value, err);
    fmpz_clear(prefix);
    return status;
}

typedef struct workspace {
    int64_t bits[BLOCK];
    int64_t ties[BLOCK];
} workspace;

static cellar_status draw_block(const cellar_inverse *const *laws, size_t n, int use_vectors,
                                workspace *w, cellar_rng *rng, int64_t *values, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t any;

    CELLAR_TRY(cellar_rng_bytes(rng, w->bits, n * sizeof *w->bits, err));
    any = (use_vectors ? draw_block_avx2 : draw_block_portable)(laws, n, w->bits, values, w->ties);
    CELLAR_DECLASSIFY(any);
    if (any != 0)
        for (size_t i = 0; i < n; i++) {
            CELLAR_DECLASSIFY(w->ties[i]);
            if (w->ties[i] != 0)
                CELLAR_TRY(draw_resolve(laws[i], w->bits[i], rng, &values[i], err));
        }
out:
    return status;
}

cellar_status cellar_inverse_draw_many(const cellar_inverse *const *laws, size_t n, cellar_rng *rng,
                                       int64_t *values, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int use_vectors = machine_has_vectors();
    workspace w;

    for (size_t i = 0; i < n; i += BLOCK)
        CELLAR_TRY(draw_block(laws + i, n - i < BLOCK ? n - i : BLOCK, use_vectors, &w, rng,
                              values + i, err));
out:
    cellar_wipe(&w, sizeof w);
    return status;
}

/* ---- life cycle ------------------------------------------------------------ */

/* ceil(2^64 t) for t = `bound` brought into (0, 1], where every distribution function lies. */
static void cell_of_bound(const arf_t bound, arf_t scaled, fmpz_t cell)
{
    arf_mul_2exp_si(scaled, bound, CELL_BITS);
    arf_get_fmpz(cell, scaled, ARF_RND_CEIL);
    if (fmpz_sgn(cell) <= 0)
        fmpz_one(cell);
    else if (fmpz_bits(cell) > CELL_BITS) {
        fmpz_one(cell);
        fmpz_mul_2exp(cell, cell, CELL_BITS);
    }
}

/* The threshold as it is stored; 0 when the ball is too wide to tell. */
static int threshold_of_ball(const arb_t t, int64_t precision, int64_t *out)
{
    arf_t bound, scaled;
    fmpz_t low, high;
    int same;

    arf_init(bound);
    arf_init(scaled);
    fmpz_init(low);
    fmpz_init(high);
    arb_get_lbound_arf(bound, t, precision);
    cell_of_bound(bound, scaled, low);
    arb_get_ubound_arf(bound, t, precision);
    cell_of_bound(bound, scaled, high);
    same = fmpz_equal(low, high);
    fmpz_sub_ui(low, low, 1);
    *out = (int64_t) (fmpz_get_ui(low) ^ (UINT64_C(1) << 63));
    fmpz_clear(high);
    fmpz_clear(low);
    arf_clear(scaled);
    arf_clear(bound);
    return same;
}

/* Thresholds of first.. as they are stored; precision grows until all are proven. */
void cellar_inverse_prove(const cellar_law *law, int64_t first, size_t n, int64_t *out)
{
    arb_ptr t = _arb_vec_init((slong) n);
    size_t n_proven = 0;

    for (int64_t precision = CELL_BITS + GUARD_BITS; n_proven < n; precision *= 2) {
        law->cdf_balls(law->context, first + (int64_t) n_proven, n - n_proven, precision,
                       t + n_proven);
        while (n_proven < n && threshold_of_ball(t + n_proven, precision, &out[n_proven]))
            n_proven++;
        CELLAR_ASSERT(precision < 1 << 20);
    }
    _arb_vec_clear(t, (slong) n);
}

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

/* Finds where the list begins and ends: all zeros before, all ones (of which one is kept) or the
 * last value after. */
static cellar_status thresholds_list(const cellar_law *law, int64_t *low, int64_t high,
                                     size_t n_max, int64_t **list, size_t *n, cellar_error *err)
{
    int64_t beyond = law->last == INT64_MAX ? INT64_MAX : law->last; /* t_last = 1 is none */
    *list = NULL;
    for (;;) {
        high = high < beyond - 1 ? high : beyond - 1;
        *n = high >= *low ? (size_t) (high - *low) + 1 : 0;
        if (*n > n_max)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a law is too wide to be drawn: it needs more than %zu thresholds",
                               n_max);
        cellar_free(*list);
        *list = cellar_alloc(*n, sizeof **list);
        if (*list == NULL)
            return cellar_fail_memory(err, "the thresholds of a sampler");
        cellar_inverse_prove(law, *low, *n, *list);
        if (*n > 0 && *low > 0 && (*list)[0] != INT64_MIN) {
            int64_t step = (int64_t) *n;
            *low = *low > step ? *low - step : 0;
        } else if (high < beyond - 1 && (*list)[*n - 1] != INT64_MAX) {
            high += (int64_t) *n;
        } else {
            return CELLAR_OK;
        }
    }
}

/* Drops all but one of the zeros in front and of the ones behind. */
static void thresholds_trim(const int64_t *list, size_t n, size_t *first, size_t *last)
{
    *first = 0;
    *last = n;
    while (*first + 1 < n && list[*first + 1] == INT64_MIN)
        ++*first;
    while (*last > *first + 1 && list[*last - 2] == INT64_MAX)
        --*last;
}

/* About the square root of n, so that both steps are as long. */
static size_t leaf_size(size_t n)
{
    size_t leaf = STEP;
    while (leaf * leaf < n)
        leaf += STEP;
    return leaf;
}

cellar_status cellar_inverse_create_list(cellar_law law, int64_t first, const int64_t *t, size_t n,
                                         cellar_inverse **out, cellar_error *err)
{
    int is_long = n > CELLAR_INVERSE_SCANNED;
    size_t leaf = leaf_size(n), n_filled = round_up(n, is_long ? leaf : STEP);
    size_t n_leaves = n_filled / leaf;
    size_t n_root = is_long ? round_up(n_leaves, STEP) : 0;
    cellar_inverse *s = cellar_alloc(1, sizeof *s + (n_filled + n_root) * sizeof s->t[0]);

    *out = NULL;
    if (s == NULL)
        return cellar_fail_memory(err, "the thresholds of a sampler");
    *s = (cellar_inverse){.law = law, .base = first, .n = n_filled, .n_root = n_root, .leaf = leaf};
    for (size_t j = 0; j < n_filled + n_root; j++)
        s->t[j] = INT64_MAX;
    memcpy(s->t, t, n * sizeof *t);
    for (size_t j = 0; n_root > 0 && j < n_leaves; j++)
        s->t[n_filled + j] = s->t[(j + 1) * leaf - 1];
    *out = s;
    return CELLAR_OK;
}

cellar_status cellar_inverse_create(cellar_law law, int64_t low, int64_t high, size_t n_max,
                                    cellar_inverse **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t *list = NULL;
    size_t n, first, last;

    *out = NULL;
    CELLAR_TRY(thresholds_list(&law, &low, high, n_max, &list, &n, err));
    thresholds_trim(list, n, &first, &last);
    CELLAR_TRY(cellar_inverse_create_list(law, low + (int64_t) first, list + first, last - first,
                                          out, err));
out:
    cellar_free(list);
    return status;
}

void cellar_inverse_free(cellar_inverse *inverse)
{
    cellar_free(inverse);
}

size_t cellar_inverse_n_thresholds(const cellar_inverse *inverse)
{
    return inverse->n;
}

const void *cellar_inverse_context(const cellar_inverse *inverse)
{
    return inverse->law.context;
}
