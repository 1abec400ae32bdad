/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/inverse_table.h"

enum {
    STEP = CELLAR_INVERSE_STEP,
    COLUMNS = CELLAR_INVERSE_COLUMNS,
    CELL_BITS = 64,
    GUARD_BITS = 32,
    EQUAL_BITS = 4096,
    LINE = 64
};

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

/* The threshold as it is stored; 0 when the ball is too wide to tell.
 *
 * A distribution function may be a multiple of 2^-64: negbin with 1/sigma whole has 1/2, 3/4, ...
 * No ball tells such a number from one a little above it. What EQUAL_BITS bits cannot tell apart is
 * taken to be equal: were it not, the law drawn would differ from the one stated by less than
 * 2^-4000. */
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
    fmpz_sub_ui(high, high, 1);
    same |= precision >= EQUAL_BITS && fmpz_equal(low, high);
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
                               "the distribution takes too many values to be drawn: it needs more "
                               "than %zu thresholds",
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

/* The next multiple of a cache line. */
static void *on_line(void *pointer)
{
    unsigned char *p = pointer;
    return p + (LINE - (uintptr_t) p % LINE) % LINE;
}

/* The first 32 bits of threshold j; all ones beyond the last. */
static int32_t half_of(const int64_t *t, size_t n, size_t j)
{
    return j < n ? (int32_t) (t[j] >> 32) : INT32_MAX;
}

/* Where the halves of a list begin and end: one that is all zeros is kept, so that bits that begin
 * like it are seen to tie. */
static void halves_range(const int64_t *t, size_t n, size_t *first, size_t *last)
{
    *first = 0;
    *last = n;
    while (*first + 1 < n && half_of(t, n, *first + 1) == INT32_MIN)
        ++*first;
    while (*last > *first && half_of(t, n, *last - 1) == INT32_MAX)
        --*last;
}

static void halves_lay(cellar_inverse *s, size_t first)
{
    s->halves_base = s->base + (int64_t) first;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t r = 0; r < s->n_rows; r++) {
            size_t j = s->n_rows * c + (r > 0 ? r : s->n_rows) - 1;
            s->halves[COLUMNS * r + c] = half_of(s->t, s->n, first + j);
        }
}

cellar_status cellar_inverse_create_list(cellar_law law, int64_t first, const int64_t *t, size_t n,
                                         cellar_inverse **out, cellar_error *err)
{
    size_t n_filled = round_up(n > 0 ? n : 1, STEP), from, to, n_rows = 0;
    cellar_inverse *s;

    *out = NULL;
    halves_range(t, n, &from, &to);
    if (n > CELLAR_INVERSE_SCANNED && to - from < CELLAR_INVERSE_HALVES)
        n_rows = (to - from) / COLUMNS + 1; /* one number at least is all ones */
    s = cellar_alloc(1, sizeof *s + (size_t) 2 * LINE + n_rows * COLUMNS * sizeof *s->halves +
                            n_filled * sizeof *s->t);
    if (s == NULL)
        return cellar_fail_memory(err, "the thresholds of a sampler");
    *s = (cellar_inverse){.law = law, .base = first, .n = n_filled, .n_rows = n_rows};
    s->first = from / STEP * STEP;
    s->n_middle = round_up(to, STEP) - s->first;
    s->halves = on_line(s->room);
    s->t = on_line(s->halves + n_rows * COLUMNS);
    memcpy(s->t, t, n * sizeof *t);
    for (size_t j = n; j < n_filled; j++)
        s->t[j] = INT64_MAX;
    if (n_rows > 0)
        halves_lay(s, from);
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
