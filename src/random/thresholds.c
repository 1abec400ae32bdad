/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/thresholds.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"

enum { CELL_BITS = 96, MORE_BITS = 64, CHUNK_FIRST = 64 };

/* ---- exact, lazily --------------------------------------------------------- */

/* Bits drawn so far: u lies in [prefix, prefix + 1) 2^-bits. */
typedef struct lazy_uniform {
    fmpz_t prefix;
    int64_t bits;
    cellar_rng *rng;
} lazy_uniform;

static cellar_status lazy_extend(lazy_uniform *u, cellar_error *err)
{
    unsigned char bytes[MORE_BITS / 8];
    cellar_status status = cellar_rng_bytes(u->rng, bytes, sizeof bytes, err);
    for (size_t i = 0; status == CELLAR_OK && i < sizeof bytes; i++) {
        fmpz_mul_2exp(u->prefix, u->prefix, 8);
        fmpz_add_ui(u->prefix, u->prefix, bytes[i]);
    }
    u->bits += MORE_BITS;
    cellar_wipe(bytes, sizeof bytes);
    return status;
}

/* 1 when u < t for every t in the ball, 0 when u >= t, -1 when it cannot be told yet. */
static int lazy_order(const lazy_uniform *u, const arb_t ball)
{
    arb_t scaled;
    fmpz_t end;
    int order = -1;

    arb_init(scaled);
    arb_mul_2exp_si(scaled, ball, u->bits);
    fmpz_init(end);
    fmpz_add_ui(end, u->prefix, 1);
    arb_sub_fmpz(scaled, scaled, end, ARF_PREC_EXACT);
    if (arb_is_nonnegative(scaled)) {
        order = 1; /* u < (prefix + 1) 2^-bits <= t */
    } else {
        arb_add_ui(scaled, scaled, 1, ARF_PREC_EXACT);
        if (arb_is_nonpositive(scaled))
            order = 0; /* t <= prefix 2^-bits <= u */
    }
    fmpz_clear(end);
    arb_clear(scaled);
    return order;
}

/* *below = 1 when u < t_j, 0 when u >= t_j; draws bits, and encloses t_j more tightly, until one
 * of them is certain. */
static cellar_status lazy_compare(lazy_uniform *u, const cellar_law *law, int64_t j, int *below,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    arb_t t;

    arb_init(t);
    for (;;) {
        law->cdf_balls(law->context, j, 1, u->bits + 32, t);
        *below = lazy_order(u, t);
        if (*below >= 0)
            break;
        CELLAR_TRY(lazy_extend(u, err));
    }
out:
    arb_clear(t);
    return status;
}

/* The smallest j with u < t_j, by doubling and bisection. */
static cellar_status lazy_search(lazy_uniform *u, const cellar_law *law, int64_t *value,
                                 cellar_error *err)
{
    int64_t low = -1, step = 1, high; /* u >= t_low, with t_-1 = 0 */
    int below = 0;
    cellar_status status = CELLAR_OK;

    for (;;) {
        high = low > INT64_MAX / 4 ? INT64_MAX / 2 : low + step;
        if (high >= law->last) {
            high = law->last;
            break; /* t_last = 1 */
        }
        CELLAR_TRY(lazy_compare(u, law, high, &below, err));
        if (below)
            break;
        low = high;
        step *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        CELLAR_TRY(lazy_compare(u, law, middle, &below, err));
        if (below)
            high = middle;
        else
            low = middle;
    }
    *value = high;
out:
    return status;
}

cellar_status cellar_law_draw(const cellar_law *law, const fmpz_t prefix, int64_t bits,
                              cellar_rng *rng, int64_t *value, cellar_error *err)
{
    lazy_uniform u = {.bits = bits, .rng = rng};
    cellar_status status;
    fmpz_init_set(u.prefix, prefix);
    status = lazy_search(&u, law, value, err);
    fmpz_clear(u.prefix);
    return status;
}

cellar_status cellar_thresholds_resolve(const cellar_thresholds *thresholds, uint32_t high,
                                        uint64_t low, cellar_rng *rng, int64_t *value,
                                        cellar_error *err)
{
    cellar_status status;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, high);
    fmpz_mul_2exp(prefix, prefix, 64);
    fmpz_add_ui(prefix, prefix, low);
    status = cellar_law_draw(&thresholds->law, prefix, CELL_BITS, rng, value, err);
    fmpz_clear(prefix);
    return status;
}

/* ---- the table ------------------------------------------------------------- */

/* Splits a cell of 96 bits into its first 32 and its last 64. */
static void cell_split(fmpz_t cell, uint32_t *high, uint64_t *low)
{
    fmpz_t part;
    fmpz_init(part);
    fmpz_fdiv_q_2exp(part, cell, 64);
    *high = (uint32_t) fmpz_get_ui(part);
    fmpz_fdiv_r_2exp(part, cell, 64);
    *low = fmpz_get_ui(part);
    fmpz_clear(part);
}

/* The cells of t_first..; precision grows until all are proven. A threshold on the grid itself is
 * proven by an exact ball only: 0 when some law has one and no exact ball for it. */
static int cells_prove(const cellar_law *law, int64_t first, size_t n, uint32_t *high,
                       uint64_t *low)
{
    arb_ptr t = _arb_vec_init((slong) n);
    fmpz_t cell;
    size_t n_proven = 0;

    fmpz_init(cell);
    for (int64_t precision = CELL_BITS + 32; n_proven < n && precision < 1 << 14; precision *= 2) {
        law->cdf_balls(law->context, first + (int64_t) n_proven, n - n_proven, precision,
                       t + n_proven);
        for (; n_proven < n && cellar_ball_cell(t + n_proven, CELL_BITS, cell); n_proven++)
            cell_split(cell, &high[n_proven], &low[n_proven]);
    }
    fmpz_clear(cell);
    _arb_vec_clear(t, (slong) n);
    return n_proven == n;
}

/* Adds the next chunk; *done when the last threshold needed is among them. */
static cellar_status table_grow(cellar_thresholds *t, size_t n_max, int *done, cellar_error *err)
{
    size_t n = t->n_second == 0 ? CHUNK_FIRST : t->n_second, old = t->n_second;
    uint32_t *high;
    uint64_t *low;

    if (t->law.last != INT64_MAX && (uint64_t) t->law.last - old < n) {
        n = (size_t) t->law.last - old; /* t_last = 1 is no threshold */
        *done = 1;
    }
    high = cellar_realloc(t->high, old + n, sizeof *high);
    if (high != NULL)
        t->high = high;
    low = cellar_realloc(t->low, old + n, sizeof *low);
    if (low != NULL)
        t->low = low;
    if (high == NULL || low == NULL)
        return cellar_fail_memory(err, "the thresholds of a sampler");
    if (!cells_prove(&t->law, (int64_t) old, n, high + old, low + old))
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "a threshold of this distribution is too close to a grid point to be "
                           "separated from it");
    for (size_t j = old; j < old + n; j++) {
        t->n_second = j + 1;
        if (high[j] == UINT32_MAX && low[j] == UINT64_MAX) {
            *done = 1;
            break;
        }
    }
    if (t->n_second > n_max)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "this noise takes too many values to be drawn: it needs more than %zu thresholds",
            n_max);
    return CELLAR_OK;
}

static cellar_status table_first(cellar_thresholds *t, cellar_error *err)
{
    t->first = cellar_alloc(t->n_second, sizeof *t->first);
    if (t->first == NULL)
        return cellar_fail_memory(err, "the thresholds of a sampler");
    while (t->n_first < t->n_second) {
        uint32_t top = t->high[t->n_first];
        t->first[t->n_first++] = (int32_t) (top ^ 0x80000000u);
        if (top == UINT32_MAX)
            break;
    }
    return CELLAR_OK;
}

cellar_status cellar_thresholds_init(cellar_thresholds *out, cellar_law law, size_t n_max,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int done = 0;

    *out = (cellar_thresholds){.law = law};
    while (!done)
        CELLAR_TRY(table_grow(out, n_max, &done, err));
    CELLAR_TRY(table_first(out, err));
out:
    if (status != CELLAR_OK)
        cellar_thresholds_clear(out);
    return status;
}

void cellar_thresholds_clear(cellar_thresholds *t)
{
    cellar_free(t->first);
    cellar_free(t->high);
    cellar_free(t->low);
    *t = (cellar_thresholds){0};
}

int32_t cellar_thresholds_decide(const cellar_thresholds *t, uint32_t high, uint64_t low,
                                 uint32_t *tie)
{
    uint32_t n_below = 0, n_equal = 0;
    for (size_t j = 0; j < t->n_second; j++) {
        uint32_t same = t->high[j] == high;
        n_below += (t->high[j] < high) | (same & (t->low[j] < low));
        n_equal += same & (t->low[j] == low);
    }
    *tie = 0u - (uint32_t) (n_equal != 0);
    return (int32_t) n_below;
}
