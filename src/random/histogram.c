/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/histogram.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/urn.h"

enum {
    UNIT_BITS = 61,    /* heights are multiples of 2^-61 */
    STAGE_BLOCKS = 16, /* blocks before they get twice as wide */
    BLOCKS_MAX = 4096,
    P_BITS = 96,
};

static const int64_t VALUE_MAX = INT64_C(1) << 60;

typedef struct block {
    int64_t first, width;
    uint64_t height; /* in units of 2^-61, at least 1 */
    uint64_t start;  /* the weight of all blocks before */
} block;

struct cellar_histogram {
    cellar_wide_law law;
    block blocks[BLOCKS_MAX];
    size_t n;
    uint64_t weight, tail_weight; /* of the blocks; of all beyond tail_first */
    int64_t tail_first;
    uint64_t tail_height;
};

/* ---- making it -------------------------------------------------------------- */

/* ceil(2^61 P(b)) or a little more, at least 1. */
static uint64_t height_at(const cellar_wide_law *law, int64_t b)
{
    arb_t p;
    arf_t bound;
    fmpz_t units;
    uint64_t height;
    arb_init(p);
    arf_init(bound);
    fmpz_init(units);
    law->p_balls(law->context, b, 1, P_BITS, p);
    arb_mul_2exp_si(p, p, UNIT_BITS);
    arb_get_ubound_arf(bound, p, P_BITS);
    arf_get_fmpz(units, bound, ARF_RND_CEIL);
    height = fmpz_get_ui(units);
    fmpz_clear(units);
    arf_clear(bound);
    arb_clear(p);
    return height > 0 ? height : 1;
}

/* 1 when P(b) < P(b + 1), proven; P may be equal at two places, and then b is a mode. */
static int rises(const cellar_wide_law *law, int64_t b)
{
    arb_struct p[2];
    int answer = -1;
    arb_init(p);
    arb_init(p + 1);
    for (int64_t bits = P_BITS; answer < 0; bits *= 2) {
        law->p_balls(law->context, b, 2, bits, p);
        if (arb_lt(p, p + 1))
            answer = 1;
        else if (arb_le(p + 1, p) || bits > 2048) /* equal, as far as anybody can tell */
            answer = 0;
    }
    arb_clear(p + 1);
    arb_clear(p);
    return answer;
}

/* The first b from which P does not rise, or one beyond what can be drawn. */
static int64_t mode_of(const cellar_wide_law *law)
{
    int64_t low = -1, high = 0, step = 1;
    while (high <= VALUE_MAX && rises(law, high)) {
        low = high;
        high += step;
        step *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rises(law, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The smallest power of two s with P(mode +- s) at most half of P(mode), in whole units. */
static int64_t half_width(const cellar_wide_law *law, int64_t mode, uint64_t top, int up)
{
    int64_t s = 1;
    while ((up ? s <= VALUE_MAX - mode : s < mode) &&
           height_at(law, up ? mode + s : mode - s) > top / 2)
        s *= 2;
    return s;
}

static cellar_status histogram_too_wide(cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "the distribution takes too many values to be drawn");
}

static cellar_status histogram_add(cellar_histogram *h, int64_t first, int64_t width,
                                   uint64_t height, cellar_error *err)
{
    uint64_t weight, all;
    if (h->n == BLOCKS_MAX || __builtin_mul_overflow((uint64_t) width, height, &weight) ||
        __builtin_add_overflow(h->weight, weight, &all) || all >> 62 != 0)
        return histogram_too_wide(err);
    h->blocks[h->n++] = (block){first, width, height, h->weight};
    h->weight = all;
    return CELLAR_OK;
}

/* Blocks from the mode up, until heights are one unit and the law settles. */
static cellar_status histogram_up(cellar_histogram *h, int64_t mode, uint64_t top,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t width = half_width(&h->law, mode, top, 1) / STAGE_BLOCKS, first = mode;
    uint64_t height = top;

    width = width > 0 ? width : 1;
    for (int i = 1; height > 1 || !h->law.settles(h->law.context, first); i++) {
        CELLAR_TRY(histogram_add(h, first, width, height, err));
        first += width;
        if (first > VALUE_MAX)
            return histogram_too_wide(err);
        if (i % STAGE_BLOCKS == 0)
            width *= 2;
        height = height_at(&h->law, first);
    }
    h->tail_first = first;
    h->tail_height = height;
    h->tail_weight = 2 * (uint64_t) first * height;
out:
    return status;
}

/* Blocks from the mode down; a block's height is that of its last value. */
static cellar_status histogram_down(cellar_histogram *h, int64_t mode, uint64_t top,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t width = mode > 0 ? half_width(&h->law, mode, top, 0) / STAGE_BLOCKS : 1, end = mode;

    width = width > 0 ? width : 1;
    for (int i = 1; end > 0; i++) {
        uint64_t height = height_at(&h->law, end - 1);
        if (width > end || height == 1)
            width = end;
        CELLAR_TRY(histogram_add(h, end - width, width, height, err));
        end -= width;
        if (i % STAGE_BLOCKS == 0)
            width *= 2;
    }
out:
    return status;
}

cellar_status cellar_histogram_create(cellar_wide_law law, cellar_histogram **out,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_histogram *h = cellar_alloc(1, sizeof *h);
    int64_t mode;
    uint64_t top;

    *out = NULL;
    if (h == NULL)
        return cellar_fail_memory(err, "a sampler");
    h->law = law;
    mode = mode_of(&law);
    if (mode > VALUE_MAX) {
        status = histogram_too_wide(err);
        goto out;
    }
    top = height_at(&law, mode);
    CELLAR_TRY(histogram_up(h, mode, top, err));
    CELLAR_TRY(histogram_down(h, mode, top, err));
    *out = h;
    h = NULL;
out:
    cellar_histogram_free(h);
    return status;
}

void cellar_histogram_free(cellar_histogram *h)
{
    cellar_free(h);
}

double cellar_histogram_acceptance(const cellar_histogram *h)
{
    return 0x1p61 / (double) (h->weight + h->tail_weight);
}

/* ---- drawing ---------------------------------------------------------------- */

/* One trial: b, and (rest + v) 2^-(61 + shift) uniform below the histogram at b, v uniform on
 * [0,1). */
typedef struct trial {
    int64_t b;
    uint64_t rest;
    int64_t shift;
} trial;

static const block *block_of(const cellar_histogram *h, uint64_t u)
{
    const block *first = h->blocks;
    for (size_t n = h->n; n > 1;) { /* as many steps for every u */
        size_t half = n / 2;
        first += first[half].start <= u ? half : 0;
        n -= half;
    }
    return first;
}

/* Beyond tail_first = H, the j-th stretch [2^j H, 2^{j+1} H) has half the weight of the one before
 * it, which is 4^-j of the height at H. *is_beyond: past all that is released. */
static cellar_status trial_tail(const cellar_histogram *h, cellar_rng *rng, trial *t,
                                int *is_beyond, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t bit = 0, offset;
    int64_t first = h->tail_first;

    t->shift = 0;
    for (;;) {
        CELLAR_TRY(cellar_uniform_below(rng, 2, &bit, err));
        if (bit == 0)
            break;
        *is_beyond = first > VALUE_MAX / 2;
        if (*is_beyond)
            return CELLAR_OK;
        first *= 2;
        t->shift += 2;
    }
    CELLAR_TRY(cellar_uniform_below(rng, (uint64_t) first, &offset, err));
    CELLAR_TRY(cellar_uniform_below(rng, h->tail_height, &t->rest, err));
    t->b = first + (int64_t) offset;
out:
    return status;
}

static cellar_status trial_draw(const cellar_histogram *h, cellar_rng *rng, trial *t,
                                int *is_beyond, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const block *k;
    uint64_t u;

    *is_beyond = 0;
    CELLAR_TRY(cellar_uniform_below(rng, h->weight + h->tail_weight, &u, err));
    if (u >= h->weight)
        return trial_tail(h, rng, t, is_beyond, err);
    k = block_of(h, u);
    u -= k->start;
    *t = (trial){k->first + (int64_t) (u / k->height), u % k->height, 0};
out:
    return status;
}

/* *accepted = (rest + v < 2^(61 + shift) P(b)), with as many bits of v as it takes. */
static cellar_status trial_decide(const cellar_histogram *h, const trial *t, cellar_rng *rng,
                                  int *accepted, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t n_bits = 0; /* of v */
    uint64_t more;
    fmpz_t low;
    arb_t p;

    fmpz_init_set_ui(low, t->rest);
    arb_init(p);
    for (*accepted = -1;;) {
        h->law.p_balls(h->law.context, t->b, 1, P_BITS + n_bits, p);
        arb_mul_2exp_si(p, p, UNIT_BITS + t->shift + n_bits);
        arb_sub_fmpz(p, p, low, ARF_PREC_EXACT);
        if (arb_is_nonpositive(p))
            *accepted = 0;
        arb_sub_ui(p, p, 1, ARF_PREC_EXACT);
        if (arb_is_nonnegative(p))
            *accepted = 1;
        if (*accepted >= 0)
            break;
        CELLAR_TRY(cellar_rng_bytes(rng, &more, sizeof more, err));
        fmpz_mul_2exp(low, low, 64);
        fmpz_add_ui(low, low, more);
        n_bits += 64;
    }
out:
    arb_clear(p);
    fmpz_clear(low);
    return status;
}

cellar_status cellar_histogram_draw(const cellar_histogram *h, cellar_rng *rng, int64_t *value,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int accepted = 0, is_beyond;
    trial t;

    while (!accepted) {
        CELLAR_TRY(trial_draw(h, rng, &t, &is_beyond, err));
        if (!is_beyond)
            CELLAR_TRY(trial_decide(h, &t, rng, &accepted, err));
    }
    *value = t.b;
    cellar_wipe(&t, sizeof t);
out:
    return status;
}
